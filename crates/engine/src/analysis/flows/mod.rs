//! Flow of content: what a call reads from secret files and stores, and what of it leaves this machine, becomes part of
//! a message to others, or is shown. The flow is followed by value, whether it passes through a word, a pipe, a file or
//! an archive.

mod graph;
mod names;
mod owners;
mod remotes;

pub(super) use self::graph::Shows;
use self::graph::{Graph, Labels, Source, values};
pub(super) use self::names::shows;
pub(super) use self::owners::is_key_name;
use self::owners::{Owner, Seen, is_key_position};
use super::effects::{EffectExtractor, Ran, Text};
use super::secret_exposure::keeps_message;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::words::WordList;
use crate::text::url;
use reflex_shell::{Access, Command, CommandId, ENTIRE_ENVIRONMENT, Origin, Piece, Reading, Value};
use std::collections::BTreeSet;

/// Maximum number of sending commands examined in one text.
const MAX_COMMANDS: usize = 256;

/// Follows content through the text. Sent content becomes a `send-file` effect of the file that it comes from, by
/// whatever route. A key from a store gets the flag `sent`, and `shown` if the agent would see it.
pub(super) fn follow(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (before, reading) = (text.first, text.reading);
    let commands = &reading.commands;
    extractor.pushes(before, commands);
    let sinks = extractor.sinks(before, commands);
    let effects = extractor.effects.get(before..).unwrap_or(&[]);
    let takes = |command: &Command| command.name == "git" && keeps_message(command);
    let stages = effects.iter().any(writes)
        && (effects.iter().any(|effect| effect.kind == EffectKind::Stage) || commands.iter().any(takes));
    let reveals = effects.iter().any(|effect| effect.kind == EffectKind::RevealSecret);
    let settings =
        effects.iter().any(|effect| effect.kind == EffectKind::Read && effect.targets.iter().any(is_settings));
    if sinks.is_empty() && !stages && !reveals && !settings {
        return;
    }
    let shows: Vec<Shows> = commands.iter().map(shows).collect();
    let graph = Graph::new(extractor, before, reading, &shows);
    extractor.mark_names(&graph, commands, &shows);
    extractor.mark_shown(&graph, commands);
    if sinks.len() > MAX_COMMANDS {
        reflex_shell::work::cut(|| format!("more than {MAX_COMMANDS} commands of one text send something"));
    }
    for id in sinks.into_iter().take(MAX_COMMANDS) {
        extractor.leaks(&graph, before, id, commands);
    }
    extractor.staged(&graph, before, commands);
}

impl EffectExtractor<'_> {
    /// Returns the commands that reach others.
    fn sinks(&self, before: usize, commands: &[Command]) -> BTreeSet<CommandId> {
        let sending = self.effects.iter().skip(before).filter(|effect| goes_out(effect));
        let mut sinks: BTreeSet<CommandId> = sending.filter_map(|effect| effect.command).collect();
        sinks.extend(commands.iter().enumerate().filter(|(_, command)| keeps_message(command)).map(|(id, _)| id));
        sinks
    }

    /// Returns the keys in environment variables, and those set by a settings file.
    fn keys_of(&self, value: &Value, reading: &Reading) -> Vec<Source> {
        let mut found = Vec::new();
        for (piece, origin) in &value.pieces {
            match piece {
                Piece::Variable(name) if is_key_name(name) => found.push(Source::Variable(name.clone())),
                Piece::Text(text) if origin.derivation.is_some() && reading.is_loaded(*origin) => {
                    let set = |name: &str, value: &Value| {
                        (is_key_name(name) || url::has(text, "password")) && value.literal().as_deref() == Some(text)
                    };
                    reflex_shell::work::spend(1 + reading.settings.len() as u64 / 16);
                    let setting = reading.settings.iter().find(|setting| {
                        reading.is_loaded(setting.origin)
                            && setting.value.as_ref().is_some_and(|value| set(&setting.name, value))
                    });
                    found.extend(setting.map(|setting| Source::Setting(setting.name.clone())));
                }
                Piece::Variable(_)
                | Piece::Text(_)
                | Piece::Glob(_)
                | Piece::Home(_)
                | Piece::Output(_)
                | Piece::Resolved
                | Piece::Unknown(_) => {}
            }
        }
        found
    }

    /// Returns the names of the keys in a value.
    pub(super) fn key_names(&self, value: &Value, reading: &Reading) -> Vec<String> {
        let name = |source| match source {
            Source::Variable(name) | Source::Setting(name) => Some(name),
            Source::Effect(_) => None,
        };
        self.keys_of(value, reading).into_iter().filter_map(name).collect()
    }

    /// Marks reads that show only the names of settings, not their values.
    fn mark_names(&mut self, graph: &Graph, commands: &[Command], shows: &[Shows]) {
        let shown = |id: CommandId| shows.get(id).copied().unwrap_or(Shows::Content);
        let narrowed = |id: CommandId| {
            let readers = graph.readers(id);
            reflex_shell::work::spend(1 + readers.len() as u64 / 8);
            let piped = commands.get(id).is_some_and(|command| command.is_collected && !prints_to_file(command));
            piped && !readers.is_empty() && readers.iter().all(|other| shown(*other) != Shows::Content)
        };
        for source in &graph.sources {
            let Source::Effect(index) = source else { continue };
            let Some((effect, id)) = self.effects.get(*index).and_then(|effect| Some((effect, effect.command?))) else {
                continue;
            };
            let only_names = shown(id) == Shows::Names || narrowed(id);
            if only_names && effect.targets.iter().all(|target| self.has_names_on_all_lines(target)) {
                self.effects.get_mut(*index).into_iter().for_each(|effect| effect.flags.push("names"));
            }
        }
    }

    /// Returns whether every line has a name and a value. A filter by name would show a line without `=` completely.
    fn has_names_on_all_lines(&self, target: &Target) -> bool {
        let text = target.path().and_then(|path| self.world.content(path)).unwrap_or_default();
        text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#') || line.contains('='))
    }

    /// Marks keys from stores that the agent would see.
    fn mark_shown(&mut self, graph: &Graph, commands: &[Command]) {
        let filters = WordList::ContentFilters.read(self.tables);
        for (at, source) in graph.sources.iter().enumerate() {
            let Source::Effect(index) = source else { continue };
            let Some(effect) = self.effects.get_mut(*index).filter(|effect| effect.kind == EffectKind::RevealSecret)
            else {
                continue;
            };
            let is_seen = |id: CommandId| {
                let command = commands.get(id);
                let prints = command.is_some_and(|one| !one.is_collected && !prints_to_file(one));
                prints && (effect.command == Some(id) || command.is_some_and(|one| filters.has(&one.name)))
            };
            if !effect.flags.contains(&"names") && graph.holders(at).any(is_seen) {
                effect.flags.push("shown");
            }
        }
    }

    /// Adds the leaks by one command.
    fn leaks(&mut self, graph: &Graph, before: usize, id: CommandId, commands: &[Command]) {
        let Some(command) = commands.get(id) else { return };
        let mut carried: Vec<(Labels, bool, &'static str)> = Vec::new();
        let provided = graph.provided(id);
        let is_variable =
            |label: &usize| matches!(graph.sources.get(*label), Some(Source::Variable(_) | Source::Setting(_)));
        let in_key_positions = || self.keys_only_in_key_positions(command);
        let variables: Labels = provided.iter().copied().filter(is_variable).collect();
        let keyed = !variables.is_empty() && in_key_positions();
        carried.push((variables, keyed, "carried"));
        let mut piped = graph.fed(id, command, commands);
        let connects = |effect: &Effect| effect.command == Some(id) && effect.kind == EffectKind::Connect;
        if self.effects.iter().skip(before).any(connects) {
            piped.extend(graph.printed(id));
        }
        for value in values(command).skip(command.words.len().saturating_sub(1)) {
            piped.extend(graph.in_value(id, value));
        }
        // A group only holds its commands together, and a command that only fetches does not send its input.
        let of_command = |effect: &&Effect| effect.command == Some(id) && goes_out(effect);
        let only_fetches =
            self.effects.iter().skip(before).filter(of_command).all(|effect| effect.kind == EffectKind::Fetch);
        let fetches = only_fetches && !keeps_message(command);
        if !fetches && !command.words.is_empty() && command.stdin.sources().is_empty() {
            piped.extend(provided.iter().filter(|label| !is_variable(label)).copied());
        }
        let sent = self.effects.iter().skip(before).filter(|effect| {
            effect.command == Some(id) && matches!(effect.kind, EffectKind::SendFile | EffectKind::Send)
        });
        let paths: Vec<String> =
            sent.flat_map(|effect| &effect.targets).filter_map(Target::path).map(str::to_owned).collect();
        piped.extend(paths.iter().flat_map(|path| graph.held(path)));
        carried.push((piped, false, if keeps_message(command) { "carried" } else { "piped" }));
        for (at, word) in command.words.iter().enumerate().skip(1) {
            let how = if self.is_address(before, id, word) { "addressed" } else { "carried" };
            carried.push((graph.in_value(id, word), is_key_position(command, at), how));
        }
        let owner = Owner::new(self, before, id, keeps_message(command));
        let mut reported = Labels::new();
        for (labels, in_key_position, how) in carried {
            for label in labels {
                if !reported.contains(&label)
                    && owner.is_stranger(Seen { extractor: self, graph, commands }, label, in_key_position)
                {
                    reported.insert(label);
                    self.leak(graph, label, Ran { id, command, folder: None }, how);
                }
            }
        }
        self.mark_strangers(&owner, before, id);
    }

    /// Returns whether a word of a command is an address that it asks, so that what the word holds reaches its host.
    fn is_address(&self, before: usize, id: CommandId, word: &Value) -> bool {
        let asks = |effect: &&Effect| {
            effect.command == Some(id) && matches!(effect.kind, EffectKind::Fetch | EffectKind::LookUp)
        };
        self.effects.iter().skip(before).filter(asks).flat_map(|effect| &effect.targets).any(|to| to.value == *word)
    }

    /// Marks files sent to a host that is neither this machine nor one of the project's remotes with the flag
    /// `stranger`. A container does not count as another host.
    fn mark_strangers(&mut self, owner: &Owner, before: usize, id: CommandId) {
        let sends_file = |effect: &Effect| {
            effect.command == Some(id)
                && effect.kind == EffectKind::SendFile
                && !effect.flags.contains(&"into-container")
        };
        if !self.effects.iter().skip(before).any(sends_file) || !owner.is_foreign(self) {
            return;
        }
        let sent = self.effects.iter_mut().skip(before).filter(|effect| sends_file(effect));
        sent.for_each(|effect| effect.flags.push("stranger"));
    }

    fn keys_only_in_key_positions(&self, command: &Command) -> bool {
        let holds = |word: &Value| {
            word.pieces.iter().any(|(piece, origin)| match piece {
                Piece::Variable(name) => is_key_name(name),
                Piece::Text(_) => origin.derivation.is_some(),
                Piece::Glob(_) | Piece::Home(_) | Piece::Output(_) | Piece::Resolved | Piece::Unknown(_) => false,
            })
        };
        let mut holding = command.words.iter().enumerate().skip(1).filter(|(_, word)| holds(word));
        holding.all(|(at, _)| is_key_position(command, at))
    }

    /// Adds the effect of content of a source leaving by a command.
    fn leak(&mut self, graph: &Graph, label: usize, ran: Ran<'_>, how: &'static str) {
        match graph.sources.get(label) {
            Some(Source::Variable(name) | Source::Setting(name)) => {
                self.push(self.reveal(ran, name).mark("carried"));
            }
            Some(Source::Effect(index)) => {
                let Some(effect) = self.effects.get(*index).cloned() else { return };
                if effect.kind == EffectKind::RevealSecret {
                    self.effects.get_mut(*index).into_iter().for_each(|effect| effect.flags.push("sent"));
                } else if effect.kind == EffectKind::PrintEnvironment {
                    let all = Value::text(ENTIRE_ENVIRONMENT, Origin::default());
                    let targets = vec![self.target(EffectKind::SendFile, all, "/")];
                    self.send_file(&Effect { targets, ..effect }, ran, how);
                } else {
                    self.send_file(&effect, ran, how);
                }
            }
            None => {}
        }
    }

    /// Adds a `send-file` effect for a file whose content is sent.
    fn send_file(&mut self, read: &Effect, ran: Ran<'_>, how: &'static str) {
        let known = |target: &Target, effect: &Effect| {
            effect.kind == EffectKind::SendFile
                && effect.command == Some(ran.id)
                && effect.targets.iter().any(|other| other.path() == target.path())
        };
        let fresh = |target: &&Target| target.path().is_some() && !self.effects.iter().any(|one| known(target, one));
        let targets: Vec<Target> = read.targets.iter().filter(fresh).cloned().collect();
        if targets.is_empty() {
            return;
        }
        let names = read.flags.contains(&"names").then_some("names");
        let effect = self.effect_of(Ran { folder: read.folder.as_deref(), ..ran }, EffectKind::SendFile);
        self.push(effect.targets(targets).mark(how).marks(names).on(read.site));
    }

    /// Adds the files whose content is held by files of the text that go into a commit: they are committed as well.
    fn staged(&mut self, graph: &Graph, before: usize, commands: &[Command]) {
        let is_stage = |effect: &&Effect| effect.kind == EffectKind::Stage;
        let mut stages: Vec<Effect> =
            self.effects.iter().skip(before).filter(is_stage).take(MAX_COMMANDS).cloned().collect();
        stages.extend(self.commits_of_all(graph, commands));
        for stage in stages {
            let (forced, tracked) = (stage.flags.contains(&"force"), stage.flags.contains(&"all-tracked"));
            let paths: Vec<&str> = stage.targets.iter().filter_map(Target::path).collect();
            let goes = |file: &str| match tracked {
                true => self.world.is_tracked(file) != Some(false),
                false => forced || self.world.is_ignored(file) != Some(true),
            };
            let labels: Labels = paths.iter().flat_map(|path| graph.held_where(path, &goes)).collect();
            for label in labels {
                let Some(Source::Effect(index)) = graph.sources.get(label) else { continue };
                let Some(read) = self.effects.get(*index).filter(|effect| effect.kind != EffectKind::RevealSecret)
                else {
                    continue;
                };
                let targets = read.targets.clone();
                let flags = [stage.flags.as_slice(), &["held"]].concat();
                if !targets.is_empty() && !read.flags.contains(&"names") {
                    self.effects.push(Effect { targets, flags, ..stage.clone() });
                }
            }
        }
    }

    /// Returns the stages of `git commit -a`, which includes all tracked files.
    fn commits_of_all(&self, graph: &Graph, commands: &[Command]) -> Vec<Effect> {
        let mut stages = Vec::new();
        for (id, command) in commands.iter().enumerate().filter(|_| graph.has_files()) {
            let git = command.invocation.as_ref().filter(|_| command.name == "git");
            if git.is_none_or(|git| git.path.first() != Some(&"commit") || !git.has("all")) {
                continue;
            }
            let workspace = Value::text(self.event.workspace.clone(), command.origin);
            let target = self.target(EffectKind::Stage, workspace, "/");
            // Only the content that it holds of other files matters.
            let ran = Ran { id, command, folder: None };
            stages.push(self.effect_of(ran, EffectKind::Stage).target(target).mark("all-tracked"));
        }
        stages
    }

    /// Returns the effect of showing a variable.
    pub(super) fn reveal(&self, ran: Ran<'_>, name: &str) -> Effect {
        let value = Value::text(format!("${name}"), Origin::default());
        self.effect_of(ran, EffectKind::RevealSecret).target(Target::new(value, TargetPath::None))
    }
}

fn writes(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append)
}

/// Returns whether the name is that of a settings file, of which a filter may show only the names.
fn is_settings(target: &Target) -> bool {
    target.path().is_some_and(|path| path.contains("/.env"))
}

fn prints_to_file(command: &Command) -> bool {
    command.redirects.iter().any(|file| file.descriptor == 1 && file.access != Access::Read)
}

/// Returns whether the effect reaches a host other than this one.
pub(super) fn goes_out(effect: &Effect) -> bool {
    let reaches = matches!(
        effect.kind,
        EffectKind::Send
            | EffectKind::Fetch
            | EffectKind::Connect
            | EffectKind::RemoteAccess
            | EffectKind::SendFile
            | EffectKind::LookUp
    );
    // A copy reaches another host only if it names one.
    let copied = effect.kind == EffectKind::Send && effect.flags.contains(&"copied");
    let named = !copied || effect.targets.iter().any(|target| target.shown().contains(':'));
    reaches && named && (effect.targets.is_empty() || !effect.targets.iter().all(is_of_this_machine))
}

/// Returns whether a host is this machine.
pub(super) fn is_of_this_machine(target: &Target) -> bool {
    let host = target.shown();
    url::has(&host, "own") || host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("::1")
}
