//! Which content a command's output holds something of: through pipes, words, variables, files and archives of one text.

use crate::analysis::effects::EffectExtractor;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::path::is_within;
use reflex_shell::{Command, CommandId, Origin, Piece, Reading, Selector, Stdin, UnknownReason, Value, work};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A chain of files and loops against the order of the text is followed over this many of its links.
const MAX_ROUNDS: usize = 8;

/// Something whose content flows: an effect of the text that gives it, by its place, or a variable that holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A file that is read or moved, a store that gives out a key, the whole environment.
    Effect(usize),
    /// A variable of the environment, by its name.
    Variable(String),
    /// A variable that a file of settings sets, by its name: nobody knows whose key it is.
    Setting(String),
}

/// Places in the list of sources.
pub(super) type Labels = BTreeSet<usize>;

/// What flows from where to where within one text.
pub(super) struct Graph {
    pub(super) sources: Vec<Source>,
    /// What a command gives by itself.
    gives: HashMap<CommandId, Labels>,
    /// What the output of a command holds something of.
    out: Vec<Labels>,
    /// The commands by the place from which what they print is named.
    printing: HashMap<Origin, Vec<CommandId>>,
    /// The groups whose file each command reads from.
    groups: HashMap<CommandId, Vec<CommandId>>,
    files: BTreeMap<String, Labels>,
    /// The first command whose output holds something of a source.
    first: Vec<CommandId>,
    /// The commands that read what a command prints.
    readers: HashMap<CommandId, Vec<CommandId>>,
}

/// A text through which content is followed.
struct Text<'a, 'e> {
    extractor: &'a EffectExtractor<'e>,
    /// How many effects there were before it.
    before: usize,
    commands: &'a [Command],
    shows: &'a [Shows],
    /// The files that it writes, with who writes them.
    written: Vec<(CommandId, String)>,
    /// The commands that ask a host.
    asks: BTreeSet<CommandId>,
}

/// What a command lets through of what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shows {
    /// Numbers, a digest, whether something is there.
    Nothing,
    /// The names of what is set, without the values.
    Names,
    /// It may be everything.
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

    /// The sources and what gives them.
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

    /// One step further everywhere; whether something came along.
    fn round(&mut self, text: &Text<'_, '_>) -> bool {
        let Text { extractor, before, commands, shows, written, asks } = text;
        let mut grown = false;
        for (id, command) in commands.iter().enumerate() {
            if shows.get(id).is_some_and(|shows| *shows != Shows::Content) {
                continue;
            }
            let mut labels = self.gives.get(&id).cloned().unwrap_or_default();
            // What a host answers is not what it was sent.
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

    /// A file holds what the command that writes it prints or reads.
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

    /// Who reads a file gives what it holds.
    fn read_back(&mut self, extractor: &EffectExtractor<'_>, before: usize) -> bool {
        if self.files.is_empty() {
            return false;
        }
        let mut grown = false;
        for effect in extractor.effects.iter().skip(before).filter(|effect| effect.kind == EffectKind::Read) {
            let Some(command) = effect.command else { continue };
            let held: Labels =
                effect.targets.iter().filter_map(Target::path).flat_map(|path| self.held(path)).collect();
            let given = self.gives.entry(command).or_default();
            let count = given.len();
            given.extend(held);
            grown |= given.len() > count;
        }
        grown
    }

    /// Whether the text writes what it has read.
    pub(super) fn has_files(&self) -> bool {
        !self.files.is_empty()
    }

    /// What a file of the text holds, also below a folder, in an archive or in a part of it.
    pub(super) fn held(&self, path: &str) -> Labels {
        self.held_where(path, &|_| true)
    }

    /// The same, of those files only.
    pub(super) fn held_where(&self, path: &str, counts: &dyn Fn(&str) -> bool) -> Labels {
        work::spend(1 + self.files.len() as u64 / 4);
        let holds = |file: &str| is_within(path, file) || is_within(file, path) || is_made_of(path, file);
        let files = self.files.iter().filter(|(file, _)| holds(file) && counts(file));
        files.flat_map(|(_, labels)| labels.iter().copied()).collect()
    }

    /// What a command reads from its input.
    pub(super) fn fed(&self, id: CommandId, command: &Command, commands: &[Command]) -> Labels {
        let parent = command.parent.and_then(|parent| commands.get(parent));
        let from = command.stdin.sources().iter().chain(parent.into_iter().flat_map(|parent| parent.stdin.sources()));
        let mut labels: Labels = from.filter_map(|source| self.out.get(*source)).flatten().copied().collect();
        for group in self.groups.get(&id).into_iter().flatten() {
            labels.extend(self.gives.get(group).into_iter().flatten());
        }
        labels
    }

    /// What the words of a command hold, and a text that it is fed.
    fn in_words(&self, id: CommandId, command: &Command) -> Labels {
        values(command).flat_map(|value| self.in_value(id, value)).collect()
    }

    /// What a value of a command holds.
    pub(super) fn in_value(&self, id: CommandId, value: &Value) -> Labels {
        let mut labels = Labels::new();
        for (piece, origin) in &value.pieces {
            let printing = self.printing.get(origin).into_iter().flatten();
            match piece {
                Piece::Output(_) => {
                    labels.extend(printing.filter_map(|id| self.out.get(*id)).flatten());
                }
                Piece::Unknown(UnknownReason::Arithmetic) | Piece::Text(_) | Piece::Glob(_) | Piece::Home(_) => {}
                // What it is was said before: by a command that stands there, or by the file that a loop reads.
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

    /// The commands that read what a command prints.
    pub(super) fn readers(&self, id: CommandId) -> &[CommandId] {
        self.readers.get(&id).map_or(&[], Vec::as_slice)
    }

    /// What a command holds of its own, whatever it prints.
    pub(super) fn given(&self, id: CommandId) -> Labels {
        self.gives.get(&id).cloned().unwrap_or_default()
    }

    /// What the output of a command holds.
    pub(super) fn printed(&self, id: CommandId) -> Labels {
        self.out.get(id).cloned().unwrap_or_default()
    }

    /// The commands whose output holds something of a source.
    pub(super) fn holders(&self, source: usize) -> impl Iterator<Item = CommandId> {
        work::spend(1 + self.out.len() as u64 / 16);
        self.out.iter().enumerate().filter(move |(_, labels)| labels.contains(&source)).map(|(id, _)| id)
    }
}

/// The words of a command and what it is fed as a text.
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

/// The commands that send to a host or fetch from one.
fn asking(extractor: &EffectExtractor<'_>, before: usize) -> BTreeSet<CommandId> {
    let asks = |effect: &&Effect| matches!(effect.kind, EffectKind::Fetch | EffectKind::Send);
    extractor.effects.iter().skip(before).filter(asks).filter_map(|effect| effect.command).collect()
}

/// The files that the text's commands write, with who writes them.
fn written(extractor: &EffectExtractor<'_>, before: usize, commands: &[Command]) -> Vec<(CommandId, String)> {
    const WRITING: [EffectKind; 3] = [EffectKind::Overwrite, EffectKind::Append, EffectKind::Populate];
    let own = extractor.effects.iter().skip(before).filter(|effect| WRITING.contains(&effect.kind));
    let mut written: Vec<(CommandId, String)> = Vec::new();
    for effect in own {
        let paths = effect.targets.iter().filter_map(Target::path);
        written.extend(effect.command.into_iter().flat_map(|id| paths.clone().map(move |path| (id, path.to_owned()))));
    }
    for (id, command) in commands.iter().enumerate() {
        let Some(invocation) = &command.invocation else { continue };
        for entry in invocation.grammars.iter().flat_map(|grammar| grammar.copies()) {
            if !reflex_shell::applies(entry, invocation) {
                continue;
            }
            let mut values = Selector(entry.get("to").text()).values(invocation, &command.words);
            reflex_shell::narrow(entry, &mut values);
            let folder = extractor.folder(command);
            let targets = values.into_iter().map(|value| extractor.path_target(value, folder.as_deref()));
            written.extend(targets.filter_map(|target| Some((id, target.path()?.to_owned()))));
        }
    }
    written
}

/// Whether a file's name says that it was made of another one: `a.gz` of `a`, `part_aa` of `part_`.
fn is_made_of(path: &str, file: &str) -> bool {
    let rest = path.strip_prefix(file).unwrap_or("");
    rest.starts_with('.') || (file.ends_with(['_', '-', '.']) && !rest.is_empty() && !rest.contains('/'))
}
