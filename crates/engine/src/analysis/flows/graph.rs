//! The flow of content into each command's output: through pipes, words, variables, files and archives of one text.

use crate::analysis::effects::EffectExtractor;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::path::is_within;
use reflex_shell::{Command, CommandId, Origin, Piece, Reading, Selector, Stdin, UnknownReason, Value, work};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of passes over the text. It bounds chains of files and loops that run against the order of the text.
const MAX_ROUNDS: usize = 8;

/// A source of content: an effect of the text, by its index, or a variable that holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A file that is read or moved, a store that gives out a key, or the complete environment.
    Effect(usize),
    /// An environment variable, by name.
    Variable(String),
    /// A variable set by a file of settings, by name. The owner of its key is unknown.
    Setting(String),
}

/// Indexes into the list of sources.
pub(super) type Labels = BTreeSet<usize>;

/// The flow of content within one text.
pub(super) struct Graph {
    pub(super) sources: Vec<Source>,
    /// Sources that a command itself provides.
    gives: HashMap<CommandId, Labels>,
    /// Sources contained in each command's output.
    out: Vec<Labels>,
    /// Commands by the origin of the word that names their output.
    printing: HashMap<Origin, Vec<CommandId>>,
    /// The groups from whose file each command reads.
    groups: HashMap<CommandId, Vec<CommandId>>,
    files: BTreeMap<String, Labels>,
    /// The first command whose output contains each source.
    first: Vec<CommandId>,
    /// The commands that read the output of a command.
    readers: HashMap<CommandId, Vec<CommandId>>,
}

/// A text through which content is followed.
struct Text<'a, 'e> {
    extractor: &'a EffectExtractor<'e>,
    /// Number of effects before the text's own.
    before: usize,
    commands: &'a [Command],
    shows: &'a [Shows],
    /// Files that the text writes, each with the command that writes it.
    written: Vec<(CommandId, String)>,
    /// The commands that contact a host.
    asks: BTreeSet<CommandId>,
}

/// The part of its input that a command shows in its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shows {
    /// No content: numbers, a digest, whether something exists.
    Nothing,
    /// The names of set variables, without their values.
    Names,
    /// Possibly all of it.
    Content,
}

impl Graph {
    pub(super) fn new(extractor: &EffectExtractor<'_>, before: usize, reading: &Reading, shows: &[Shows]) -> Graph {
        let commands = &reading.commands;
        let mut graph = Graph {
            sources: Vec::new(),
            gives: HashMap::new(),
            out: vec![Labels::new(); commands.len()],
            printing: HashMap::new(),
            groups: HashMap::new(),
            files: BTreeMap::new(),
            first: Vec::new(),
            readers: HashMap::new(),
        };
        for (id, command) in commands.iter().enumerate() {
            for source in command.stdin.sources() {
                graph.readers.entry(*source).or_default().push(id);
            }
            if let Some(first) = command.words.first() {
                graph.printing.entry(first.origin()).or_default().push(id);
            } else {
                for inner in command.stdin.sources() {
                    graph.groups.entry(*inner).or_default().push(id);
                }
            }
        }
        graph.begin(extractor, before, reading);
        graph.first = vec![CommandId::MAX; graph.sources.len()];
        let (written, asks) = (written(extractor, before, commands), asking(extractor, before));
        let text = Text { extractor, before, commands, shows, written, asks };
        for _ in 0..MAX_ROUNDS {
            if !graph.round(&text) || work::is_over() {
                break;
            }
        }
        graph
    }

    /// Collects the sources and the commands that provide them.
    fn begin(&mut self, extractor: &EffectExtractor<'_>, before: usize, reading: &Reading) {
        for (index, effect) in extractor.effects.iter().enumerate().skip(before) {
            if let (true, Some(command)) = (is_giving(effect), effect.command) {
                self.gives.entry(command).or_default().insert(self.sources.len());
                self.sources.push(Source::Effect(index));
            }
        }
        for (id, command) in reading.commands.iter().enumerate() {
            for source in values(command).flat_map(|value| extractor.keys_of(value, reading)) {
                let at = self.sources.iter().position(|known| *known == source).unwrap_or(self.sources.len());
                if at == self.sources.len() {
                    self.sources.push(source);
                }
                self.gives.entry(id).or_default().insert(at);
            }
        }
    }

    /// Propagates content by one step at every command. Returns whether any label was added.
    fn round(&mut self, text: &Text<'_, '_>) -> bool {
        let Text { extractor, before, commands, shows, written, asks } = text;
        let mut grown = false;
        for (id, command) in commands.iter().enumerate() {
            if shows.get(id).is_some_and(|shows| *shows != Shows::Content) {
                continue;
            }
            let mut labels = self.gives.get(&id).cloned().unwrap_or_default();
            // The response of a host does not contain what was sent to it.
            if !asks.contains(&id) {
                labels.extend(self.fed(id, command, commands));
            }
            if !asks.contains(&id) {
                labels.extend(self.in_words(id, command));
            } else {
                labels.retain(|label| matches!(self.sources.get(*label), Some(Source::Effect(_))));
            }
            work::spend(1 + labels.len() as u64 / 8);
            if self.out.get(id).is_some_and(|out| out.len() < labels.len()) {
                for label in &labels {
                    self.first.get_mut(*label).into_iter().for_each(|first| *first = id.min(*first));
                }
                self.out.get_mut(id).into_iter().for_each(|out| out.clone_from(&labels));
                grown = true;
            }
        }
        for (id, path) in written {
            grown |= self.fill(*id, path);
        }
        grown | self.read_back(extractor, *before)
    }

    /// Adds the output of a command to the file that it writes. Returns whether any label was added.
    fn fill(&mut self, id: CommandId, path: &str) -> bool {
        let labels = self.out.get(id).cloned().unwrap_or_default();
        if labels.is_empty() {
            return false;
        }
        work::spend(1 + labels.len() as u64 / 8);
        let known = self.files.entry(path.to_owned()).or_default();
        let count = known.len();
        known.extend(labels);
        known.len() > count
    }

    /// Adds the content of files to the commands that read them. Returns whether any label was added.
    fn read_back(&mut self, extractor: &EffectExtractor<'_>, before: usize) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let mut grown = false;
        for effect in extractor.effects.iter().skip(before).filter(|effect| effect.kind == EffectKind::Read) {
            let Some(command) = effect.command else { continue };
            let held: Labels =
                effect.targets.iter().filter_map(Target::path).flat_map(|path| self.held(path)).collect();
            let labels = self.gives.entry(command).or_default();
            let count = labels.len();
            labels.extend(held);
            grown |= labels.len() > count;
        }
        grown
    }

    /// Returns whether the text writes content that it has read.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// Returns the sources held by a file of the text, including files below a folder, in an archive or in a part of
    /// it.
    pub(super) fn held(&self, path: &str) -> Labels {
        self.held_where(path, &|_| true)
    }

    /// Like [`Self::held`], for the files that `counts` accepts.
    pub(super) fn held_where(&self, path: &str, counts: &dyn Fn(&str) -> bool) -> Labels {
        work::spend(1 + self.files.len() as u64 / 4);
        let holds = |file: &str| is_within(path, file) || is_within(file, path) || is_made_of(path, file);
        let files = self.files.iter().filter(|(file, _)| holds(file) && counts(file));
        files.flat_map(|(_, labels)| labels.iter().copied()).collect()
    }

    /// Returns the sources that a command reads on standard input.
    pub(super) fn fed(&self, id: CommandId, command: &Command, commands: &[Command]) -> Labels {
        let parent = command.parent.and_then(|parent| commands.get(parent));
        let from = command.stdin.sources().iter().chain(parent.into_iter().flat_map(|parent| parent.stdin.sources()));
        let mut labels: Labels = from.filter_map(|source| self.out.get(*source)).flatten().copied().collect();
        for group in self.groups.get(&id).into_iter().flatten() {
            labels.extend(self.gives.get(group).into_iter().flatten());
        }
        labels
    }

    /// Returns the sources held by a command's words and by a text on its standard input.
    fn in_words(&self, id: CommandId, command: &Command) -> Labels {
        values(command).flat_map(|value| self.in_value(id, value)).collect()
    }

    /// Returns the sources held by a value of a command.
    pub(super) fn in_value(&self, id: CommandId, value: &Value) -> Labels {
        let mut labels = Labels::new();
        for (piece, origin) in &value.pieces {
            let printing = self.printing.get(origin).into_iter().flatten();
            match piece {
                Piece::Output(_) => {
                    labels.extend(printing.filter_map(|id| self.out.get(*id)).flatten());
                }
                Piece::Unknown(UnknownReason::Arithmetic)
                | Piece::Text(_)
                | Piece::Glob(_)
                | Piece::Home(_)
                | Piece::Resolved => {}
                // The value comes from an earlier command, or from the file that a loop reads.
                Piece::Unknown(_) => {
                    work::spend(1 + self.first.len() as u64 / 16);
                    labels.extend(self.first.iter().enumerate().filter(|(_, first)| **first < id).map(|(at, _)| at));
                    let groups = self.groups.get(&id).into_iter().flatten();
                    labels.extend(groups.filter_map(|group| self.gives.get(group)).flatten());
                }
                Piece::Variable(_) => {}
            }
        }
        labels
    }

    /// Returns the commands that read the output of a command.
    pub(super) fn readers(&self, id: CommandId) -> &[CommandId] {
        self.readers.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns the sources that a command itself provides, whatever it prints.
    pub(super) fn provided(&self, id: CommandId) -> Labels {
        self.gives.get(&id).cloned().unwrap_or_default()
    }

    /// Returns the sources held by a command's output.
    pub(super) fn printed(&self, id: CommandId) -> Labels {
        self.out.get(id).cloned().unwrap_or_default()
    }

    /// Returns the commands whose output holds the source.
    pub(super) fn holders(&self, source: usize) -> impl Iterator<Item = CommandId> {
        work::spend(1 + self.out.len() as u64 / 16);
        self.out.iter().enumerate().filter(move |(_, labels)| labels.contains(&source)).map(|(id, _)| id)
    }
}

/// Returns the words of a command after its name, and a text on its standard input.
pub(super) fn values(command: &Command) -> impl Iterator<Item = &Value> {
    let fed = match &command.stdin {
        Stdin::Text(text) | Stdin::Pipe(_, text) => Some(text),
        Stdin::Inherited | Stdin::File(_) => None,
    };
    command.words.iter().skip(1).chain(fed)
}

fn is_giving(effect: &Effect) -> bool {
    let kinds = [EffectKind::Read, EffectKind::Move, EffectKind::RevealSecret, EffectKind::PrintEnvironment];
    kinds.contains(&effect.kind) && !effect.flags.contains(&"measured")
}

/// Returns the commands that send to a host or fetch from one.
fn asking(extractor: &EffectExtractor<'_>, before: usize) -> BTreeSet<CommandId> {
    let asks = |effect: &&Effect| matches!(effect.kind, EffectKind::Fetch | EffectKind::Send);
    extractor.effects.iter().skip(before).filter(asks).filter_map(|effect| effect.command).collect()
}

/// Returns the files that the text's commands write, each with the command that writes it.
fn written(extractor: &EffectExtractor<'_>, before: usize, commands: &[Command]) -> Vec<(CommandId, String)> {
    const WRITING: [EffectKind; 3] = [EffectKind::Overwrite, EffectKind::Append, EffectKind::Populate];
    let writing = extractor.effects.iter().skip(before).filter(|effect| WRITING.contains(&effect.kind));
    let mut written: Vec<(CommandId, String)> = Vec::new();
    for effect in writing {
        let paths = effect.targets.iter().filter_map(Target::path);
        written.extend(effect.command.into_iter().flat_map(|id| paths.clone().map(move |path| (id, path.to_owned()))));
    }
    for (id, command) in commands.iter().enumerate() {
        let Some(invocation) = &command.invocation else { continue };
        for entry in invocation.grammars.iter().flat_map(|grammar| grammar.copies()) {
            if !reflex_shell::applies(entry.conditions(), invocation) {
                continue;
            }
            let mut values = Selector(entry.to()).values(invocation, &command.words);
            reflex_shell::narrow(entry.narrowing(), &mut values);
            let folder = extractor.folder(command);
            let targets = values.into_iter().map(|value| extractor.path_target(value, folder.as_deref()));
            written.extend(targets.filter_map(|target| Some((id, target.path()?.to_owned()))));
        }
    }
    written
}

/// Returns whether a file's name suggests that it was made from another one: `a.gz` from `a`, `part_aa` from `part_`.
fn is_made_of(path: &str, file: &str) -> bool {
    let rest = path.strip_prefix(file).unwrap_or("");
    rest.starts_with('.') || (file.ends_with(['_', '-', '.']) && !rest.is_empty() && !rest.contains('/'))
}
