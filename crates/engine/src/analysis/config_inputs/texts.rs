//! Finds the inputs of each text and of each of its commands.

use super::finder::{FOLLOWED, Finder, Text, known};
use super::input::{ConfigInput, How, MAX_INPUTS};
use crate::analysis::effects::EffectExtractor;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetKind};
use crate::model::path::{self, parent};
use reflex_shell::{Access, Command, CommandId, ExecTarget, Language, Piece, Span, Stdin, Value};
use reflex_tables::Tables;
use reflex_tables::views::InputFiles;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Maximum number of parent folders, or parent commands, that are visited.
const MAX_ABOVE: usize = 16;

/// Maximum length, in bytes, of a word's literal prefix that may be a path.
const MAX_PATH: usize = 4096;

/// Effects that do not tell whether a named file holds inputs.
const LOOKED_AT: [EffectKind; 5] =
    [EffectKind::Read, EffectKind::SendFile, EffectKind::PathArgument, EffectKind::GuardReference, EffectKind::Sql];

impl Finder<'_> {
    pub(super) fn reading(&mut self, text: Text<'_>, tables: Tables) {
        let mut none = Vec::new();
        let drafter = EffectExtractor {
            event: self.event,
            world: self.world,
            tables,
            action: text.action,
            script: text.script,
            start: text.start.map(str::to_owned),
            variables: &[],
            place: None,
            passes: &[],
            effects: &mut none,
        };
        let relations = Relations::new(text, self.analysis);
        for (id, command) in text.reading.commands.iter().enumerate() {
            if command.site == ExecTarget::Here && self.found.len() <= MAX_INPUTS {
                self.command(&relations, text, id, &drafter);
            }
        }
    }

    fn command(&mut self, relations: &Relations<'_>, text: Text<'_>, id: CommandId, drafter: &EffectExtractor<'_>) {
        let Some(command) = text.reading.commands.get(id) else { return };
        self.touched.clear();
        let effects = relations.effects.get(&id).map(Vec::as_slice).unwrap_or_default();
        effects.iter().for_each(|effect| self.followed(effect));
        let folder = drafter.folder(command);
        self.program(command, folder.as_deref(), &relations.paths);
        let entries: Vec<InputFiles<'static>> =
            [&*command.name, "*"].iter().flat_map(|name| self.inputs.get(name).iter()).collect();
        let is_looked_for = !command.name.is_empty() && command.language == Language::Shell;
        for entry in entries.iter().filter(|_| is_looked_for) {
            self.unasked(*entry, command, folder.as_deref());
            self.named_by_variables(*entry, (command, text.reading), folder.as_deref(), drafter);
        }
        self.input(command, folder.as_deref(), drafter);
        let takes_words = entries.iter().all(|entry| entry.words());
        let acts = || effects.iter().any(|effect| !LOOKED_AT.contains(&effect.kind));
        if takes_words && (command.invocation.is_none() || acts() || relations.serves(id, command)) {
            let effects = relations.within.get(&id).map(Vec::as_slice).unwrap_or_default();
            self.words(command, folder.as_deref(), effects, drafter);
        }
        if is_looked_for {
            entries.iter().for_each(|entry| self.included(*entry, command, folder.as_deref()));
        }
    }

    /// Adds the program itself.
    pub(super) fn program(&mut self, command: &Command, folder: Option<&str>, paths: &[&Value]) {
        let Some(word) = command.words.first().and_then(Value::literal) else { return };
        if command.language != Language::Shell || word.is_empty() {
            return;
        }
        let base = folder.unwrap_or("/");
        if word.contains('/') {
            if folder.is_some() || word.starts_with('/') {
                self.file(path::absolute(&word, base), How::Runs);
            }
            return;
        }
        let assigned = command.assignments.iter().filter(|(name, _)| name == "PATH").map(|(_, value)| value);
        let written: Vec<String> = assigned.chain(paths.iter().copied()).map(Value::shown).collect();
        let folders = written.iter().flat_map(|path| path.split(':')).filter(|part| !part.contains('$'));
        let home = |part: &str| match part.strip_prefix("~/") {
            Some(rest) => path::absolute(rest, &self.event.home),
            None => path::absolute(part, base),
        };
        let first = folders.map(home).collect();
        self.push(ConfigInput::Program { name: word.into_owned(), first });
    }

    /// Adds the files that a tool reads unasked.
    pub(super) fn unasked(&mut self, entry: InputFiles<'static>, command: &Command, folder: Option<&str>) {
        let Some(folder) = folder else {
            let home = entry.files().iter().filter_map(|file| file.strip_prefix("~/"));
            let home: Vec<String> = home.map(|file| path::absolute(file, &self.event.home)).collect();
            home.into_iter().for_each(|path| self.file(path, How::Configured));
            if !entry.runs() {
                self.push(ConfigInput::Unknown { program: command.name.clone() });
            }
            return;
        };
        let named = command.invocation.as_ref().and_then(|invocation| {
            let keys = entry.folders().iter();
            keys.flat_map(|key| invocation.values(key, &command.words))
                .find_map(|value| Some(value.literal()?.into_owned()))
        });
        let folder = named.map_or_else(|| folder.to_owned(), |named| path::absolute(&named, folder));
        if entry.git() {
            self.git(command, &folder);
        }
        let root = self.event.workspace.as_str();
        let is_above = entry.above();
        let above = std::iter::successors(Some(folder.as_str()), |at| {
            (is_above && path::is_below(at, root)).then(|| parent(at))
        });
        let folders: Vec<&str> = above.take(MAX_ABOVE).collect();
        let how = if entry.runs() { How::Runs } else { How::Configured };
        for at in folders {
            for file in entry.files().iter() {
                let file = file.replace("{program}", &command.name);
                match file.strip_prefix("~/") {
                    Some(below) => self.file(path::absolute(below, &self.event.home), how),
                    None => self.file(path::absolute(&file, at), how),
                }
            }
        }
    }

    pub(super) fn git(&mut self, command: &Command, folder: &str) {
        let invocation = command.invocation.as_ref().filter(|_| command.name == "git");
        let operands = invocation.map(|known| known.operands.as_slice()).unwrap_or_default();
        let value_of = |key: &str| Some(invocation?.values(key, &command.words).first()?.literal()?.into_owned());
        let folder = value_of("git-dir").map_or_else(|| folder.to_owned(), |named| path::absolute(&named, folder));
        let mut words: Vec<String> =
            operands.iter().filter_map(|at| command.words.get(*at)).map(Value::shown).collect();
        let known = invocation.and_then(|known| known.path.first()).map(|name| (*name).to_owned());
        let subcommand = known.unwrap_or_else(|| if words.is_empty() { String::new() } else { words.remove(0) });
        let all = ["--all", "--mirror", "--tags", "--branches", "--follow-tags"];
        words.extend(command.words.iter().map(Value::shown).filter(|word| all.contains(&word.as_str())));
        self.push(ConfigInput::Git { folder, subcommand, words });
    }

    /// Adds the files opened as input of the command.
    fn input(&mut self, command: &Command, folder: Option<&str>, drafter: &EffectExtractor<'_>) {
        let opened = command.redirects.iter().filter(|file| file.access == Access::Read).map(|file| &file.target);
        let stdin = match &command.stdin {
            Stdin::File(value) => Some(value),
            Stdin::Inherited | Stdin::Pipe(..) | Stdin::Text(_) => None,
        };
        let code = command.unread.iter().filter(|(code, _)| matches!(code, reflex_shell::Code::File(_)));
        let values: Vec<Value> = opened.chain(stdin).chain(code.map(|(code, _)| code.value())).cloned().collect();
        for path in values.into_iter().filter_map(|value| known(drafter, value, folder)) {
            self.file(path, How::Reads);
        }
    }

    /// Adds the files among the command's words, except those that it deletes, moves or writes: it takes no inputs from
    /// them.
    pub(super) fn words(
        &mut self,
        command: &Command,
        folder: Option<&str>,
        effects: &[&Effect],
        drafter: &EffectExtractor<'_>,
    ) {
        let changed = |effect: &&&Effect| {
            effect.kind.target_kind() == TargetKind::Path
                && !LOOKED_AT.contains(&effect.kind)
                && !FOLLOWED.contains(&effect.kind)
        };
        let changes = effects.iter().filter(changed).flat_map(|effect| &effect.targets);
        let changes: HashSet<&str> = changes.filter_map(Target::path).collect();
        let read = effects.iter().filter(|effect| effect.kind == EffectKind::Read).flat_map(|effect| &effect.targets);
        let read: HashSet<&str> = read.filter_map(Target::path).collect();
        let values = command.invocation.iter().flat_map(|known| &known.options).filter_map(|one| one.value.clone());
        for word in command.words.iter().skip(1).cloned().chain(values) {
            if self.found.len() > MAX_INPUTS {
                break;
            }
            for path in paths_in(&word).into_iter().filter_map(|value| known(drafter, value, folder)) {
                if !changes.contains(&path.as_str()) {
                    let how = if read.contains(&path.as_str()) { How::Reads } else { How::Follows };
                    self.file(path, how);
                }
            }
        }
    }
}

/// Relations between the commands of a text.
struct Relations<'a> {
    /// The effects of each command.
    effects: BTreeMap<CommandId, Vec<&'a Effect>>,
    /// The effects of each command and of the commands that it runs.
    within: BTreeMap<CommandId, Vec<&'a Effect>>,
    /// Commands from which others read, or that run others.
    serving: BTreeSet<CommandId>,
    /// Spans of commands whose output becomes a word.
    printing: BTreeSet<Span>,
    /// Values that the text assigns to the program search path.
    paths: Vec<&'a Value>,
}

impl<'a> Relations<'a> {
    pub(super) fn new(text: Text<'a>, analysis: &'a Analysis) -> Relations<'a> {
        let commands = &text.reading.commands;
        let (mut effects, mut within) = (BTreeMap::<CommandId, Vec<&Effect>>::new(), BTreeMap::new());
        for effect in analysis.effects.iter().filter(|one| one.action == text.action && one.script == text.script) {
            let Some(id) = effect.command else { continue };
            effects.entry(id).or_default().push(effect);
            // A command follows the one that runs it.
            let parent = |at: &CommandId| commands.get(*at)?.parent.filter(|parent| parent < at);
            for above in std::iter::successors(Some(id), parent).take(MAX_ABOVE) {
                within.entry(above).or_insert_with(Vec::new).push(effect);
            }
        }
        let serving = commands.iter().flat_map(|command| command.stdin.sources().iter().copied().chain(command.parent));
        let words = commands.iter().flat_map(|command| &*command.words);
        let pieces = words.flat_map(|word| &word.pieces).filter(|(piece, _)| matches!(piece, Piece::Output(_)));
        let set = text.reading.settings.iter().filter(|setting| setting.name == "PATH");
        Relations {
            effects,
            within,
            serving: serving.collect(),
            printing: pieces.map(|(_, at)| at.span).collect(),
            paths: set.filter_map(|setting| setting.value.as_ref()).collect(),
        }
    }

    /// Returns whether the input of the command affects what another one does.
    fn serves(&self, id: CommandId, command: &Command) -> bool {
        let prints = || command.words.first().is_some_and(|word| self.printing.contains(&word.origin().span));
        command.parent.is_some() || self.serving.contains(&id) || prints()
    }
}

/// Returns a word, the part after its first `=` or `@`, and the value joined to a short option.
fn paths_in(word: &Value) -> Vec<Value> {
    let prefix = word.prefix();
    if prefix.len() > MAX_PATH || prefix.contains('\n') {
        return Vec::new();
    }
    let after = prefix.find(['=', '@']).map(|at| word.without_prefix(at + 1));
    let glued =
        (prefix.starts_with('-') && !prefix.starts_with("--") && prefix.len() > 2).then(|| word.without_prefix(2));
    let operand = (!prefix.starts_with('-')).then(|| word.clone());
    operand.into_iter().chain(after).chain(glued).filter(|value| !value.prefix().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyze;
    use crate::analysis::config_inputs::config_inputs;
    use crate::library::{event, shell, tables, world};
    use crate::model::event::{Action, Event};

    fn found(event: &Event, files: &[(&str, &str)]) -> Vec<ConfigInput> {
        let world = world(files);
        config_inputs(event, &analyze(event, tables(), &world), tables(), &world)
    }

    #[track_caller]
    fn check(command: &str, path: &str, how: Option<How>) {
        let inputs = found(&shell(command), &[("x.sh", "true"), ("data.csv", "1")]);
        let of_path = inputs.iter().find_map(|input| {
            let ConfigInput::File { path: known, how } = input else { return None };
            (known == path).then_some(*how)
        });
        assert_eq!(of_path, how, "{command} {inputs:?}");
    }

    #[test]
    fn a_file_is_bound_by_what_is_done_with_it() {
        check("bash x.sh", "/repo/x.sh", Some(How::Runs));
        check("./x.sh", "/repo/x.sh", Some(How::Runs));
        check("curl -T data.csv https://x.example", "/repo/data.csv", Some(How::Sends));
        check("psql < data.csv", "/repo/data.csv", Some(How::Follows));
    }

    #[test]
    fn files_that_a_tool_reads_unasked_are_found() {
        check("make", "/repo/Makefile", Some(How::Configured));
        check("cd sub && make", "/repo/sub/Makefile", Some(How::Configured));
        check("ls", "/repo/Makefile", None);
    }

    #[test]
    fn a_program_is_looked_for_by_its_name() {
        let program = |name: &str, first: &[&str]| ConfigInput::Program {
            name: name.into(),
            first: first.iter().map(|folder| (*folder).to_owned()).collect(),
        };
        assert!(found(&shell("tool x"), &[]).contains(&program("tool", &[])));
    }

    #[test]
    fn the_settings_of_a_server_decide_what_its_tool_does() {
        let call = Action::McpCall { server: "db".into(), tool: "drop".into(), arguments: "{}".into() };
        let inputs = found(&event(call), &[]);
        let named = |input: &ConfigInput| matches!(input, ConfigInput::Server { name, path } if name == "db" && path.starts_with('/'));
        assert!(!inputs.is_empty() && inputs.iter().all(named), "{inputs:?}");
    }

    #[test]
    fn there_are_no_more_orders_than_are_looked_for() {
        let command: String = (0..MAX_INPUTS + 10).map(|at| format!("./{at}.sh\n")).collect();
        let inputs = found(&shell(&command), &[]);
        assert!(inputs.len() <= MAX_INPUTS + 1 && inputs.last() == Some(&ConfigInput::More), "{}", inputs.len());
    }
}
