//! The actions of a call, from its verb and the texts of one argument object.

use super::name::{Name, Way, words};
use super::named;
use super::operations::{self, CallWords};
use super::slots::Slots;
use super::texts;
use crate::model::event::{Action, AgentPath};
use crate::text::patches;
use reflex_shell::patch::{self, FileChange};
use reflex_shell::{Language, Programs};
use reflex_tables::Tables;
use reflex_tables::views::Tools;

/// The meaning of one argument object.
pub(super) struct Acts {
    /// Whether the object is understood.
    pub(super) is_judged: bool,
    /// Statements for a database.
    pub(super) statements: Vec<String>,
    /// The actions of the object.
    pub(super) actions: Vec<Action>,
}

/// The context of one argument object.
#[derive(Debug, Clone)]
pub(super) struct Context<'n> {
    name: &'n Name,
    /// Verbs in the surrounding arguments.
    verbs: Vec<String>,
    pub(super) way: Option<Way>,
    language: Option<String>,
    place: Option<String>,
    paths: Vec<String>,
    far: bool,
    deep: bool,
}

impl<'n> Context<'n> {
    /// Returns the context given by the tool's name alone.
    pub(super) fn new(name: &'n Name) -> Context<'n> {
        let (language, place, paths) = (None, None, Vec::new());
        Context { name, verbs: Vec::new(), way: name.way, language, place, paths, far: false, deep: name.is("folder") }
    }

    /// Returns the context within an object that may name the operation more exactly.
    pub(super) fn within(&self, slots: &Slots<'_>, tools: Tools<'static>) -> Context<'n> {
        let mut context = self.clone();
        let verb = slots.verb.as_deref().or_else(|| self.subcommand(slots, tools));
        let way = verb.and_then(|verb| Way::of_word(verb, tools));
        // A tool for messages or web pages stays one, whatever verb the arguments name.
        if !(self.name.is("web") || self.way == Some(Way::Communicates) && self.name.is("spoken")) {
            context.way = match way {
                Some(Way::Starts) | None => self.way,
                Some(Way::Runs) if !self.may_run(slots) => self.way,
                Some(way) => Some(way),
            };
        }
        context.verbs.extend(slots.verb.iter().filter(|verb| verb.len() <= MAX_VERB).flat_map(|verb| words(verb)));
        context.language = slots.language.clone().or(context.language);
        context.place = slots.place.clone().or(context.place);
        context.far |= slots.far;
        context.deep |= slots.deep;
        context
    }

    /// `{"command": "str_replace", "path": …}`: a subcommand of an editor is not a command line.
    fn subcommand<'s>(&self, slots: &'s Slots<'_>, tools: Tools<'static>) -> Option<&'s str> {
        let [command] = slots.commands.as_slice() else { return None };
        let names_file = !(slots.paths.is_empty() && slots.contents.is_empty());
        (names_file && Way::of_word(command, tools).is_some()).then_some(command.as_str())
    }

    /// Returns the command line of the program operation that the call is equivalent to.
    fn operation(&self, slots: &Slots<'_>, tables: Tables) -> Option<String> {
        let looks = |way: Option<Way>| matches!(way, Some(Way::Looks | Way::Reads | Way::Gets));
        if looks(self.name.way) || looks(self.way) {
            return None;
        }
        let words = [self.name.words.as_slice(), self.verbs.as_slice()].concat();
        operations::line(CallWords { tool_words: self.name.tool_words(), words: &words, fields: slots.fields? }, tables)
    }

    fn may_run(&self, slots: &Slots<'_>) -> bool {
        !(slots.commands.is_empty() && slots.programs.is_empty() && slots.codes.is_empty())
            || self.way == Some(Way::Runs)
    }

    /// Returns whether the arguments may contain a call that the tool passes on.
    pub(super) fn may_hand_on(&self) -> bool {
        matches!(self.way, None | Some(Way::Runs | Way::Starts))
    }

    /// Returns the context for objects nested in this one.
    pub(super) fn handed_down(&self, slots: &Slots<'_>) -> Context<'n> {
        let paths = if slots.paths.is_empty() { self.paths.clone() } else { slots.paths.clone() };
        Context { paths, ..self.clone() }
    }

    /// Returns the actions of one object.
    pub(super) fn act(&self, slots: &Slots<'_>, tables: Tables, cwd: &str) -> Acts {
        let programs = Programs::new(tables);
        let work = Work { context: self, slots, programs, cwd };
        let statements = work.statements();
        let operation = self.operation(slots, tables).map(|line| vec![work.shell(&line)]);
        let actions = if let Some(actions) = operation {
            actions
        } else if self.far && !matches!(self.way, Some(Way::Runs | Way::Permits)) {
            Vec::new()
        } else {
            work.actions()
        };
        let looks = matches!(self.way, Some(Way::Looks | Way::Reads));
        let is_judged = looks || self.far || !actions.is_empty() || !statements.is_empty();
        Acts { is_judged, statements, actions }
    }
}

/// Maximum length of a verb in bytes. A longer text does not name an operation.
const MAX_VERB: usize = 32;

/// One argument object and its context.
struct Work<'w> {
    context: &'w Context<'w>,
    slots: &'w Slots<'w>,
    programs: Programs,
    cwd: &'w str,
}

impl Work<'_> {
    fn actions(&self) -> Vec<Action> {
        let named = named::lines(self.context.name, self.slots, self.programs);
        if !named.is_empty() && self.context.way != Some(Way::Looks) {
            return named.iter().map(|line| self.shell(line)).collect();
        }
        or_else(self.by_way(), || self.typed())
    }

    /// `{"type": "type", "text": "rm -rf ~\n"}`: a typed and terminated line is a shell line, if it has the form of
    /// one.
    fn typed(&self) -> Vec<Action> {
        let slots = self.slots;
        let types = |word: String| matches!(word.as_str(), "type" | "keys" | "key" | "paste" | "input" | "write");
        let verb = slots.verb.as_deref().filter(|verb| verb.len() <= MAX_VERB);
        if self.context.name.is("web") || !verb.is_some_and(|verb| words(verb).into_iter().any(types)) {
            return Vec::new();
        }
        let texts = slots.contents.iter().chain(&slots.others).filter(|text| text.ends_with(['\n', '\r']));
        texts.filter(|text| texts::is_clear_command(text, self.programs)).map(|text| self.shell(text)).collect()
    }

    fn by_way(&self) -> Vec<Action> {
        match self.context.way {
            Some(Way::Communicates) => Vec::new(),
            Some(Way::Looks) => {
                let search = |path| Action::Search { path, arguments: self.slots.others.join("\u{1f}") };
                self.paths().into_iter().map(search).collect()
            }
            Some(Way::Runs) => or_else(self.run(), || self.unknown()),
            Some(Way::Deletes) => self.and_commands(self.deleted()),
            Some(Way::Moves) => self.and_commands(self.moved("mv --", "Move-Item -Force")),
            Some(Way::Copies) => self.and_commands(self.moved("cp -r --", "Copy-Item -Recurse -Force")),
            Some(Way::Links) => self.and_commands(self.linked()),
            Some(Way::Permits) => self.and_commands(self.permitted()),
            Some(Way::Writes | Way::Edits) => self.and_commands(self.filled()),
            Some(Way::Makes) => {
                self.and_commands(if self.context.name.is("folder") { Vec::new() } else { self.filled() })
            }
            Some(Way::Gets) => self.and_commands(self.fetched()),
            Some(Way::Reads) => self.and_commands(self.opened()),
            Some(Way::Starts) | None => self.unknown(),
        }
    }

    /// Returns the actions, or if they are empty the command lines under command keys, which run whatever else the tool
    /// does.
    fn and_commands(&self, actions: Vec<Action>) -> Vec<Action> {
        if actions.is_empty() { self.clear_commands() } else { actions }
    }

    fn clear_commands(&self) -> Vec<Action> {
        let lines = self.slots.lines();
        lines.into_iter().filter(|line| texts::is_command(line, self.programs)).map(|line| self.shell(&line)).collect()
    }

    /// Returns the actions of a tool whose name does not indicate its operation, by the form of its arguments.
    fn unknown(&self) -> Vec<Action> {
        let slots = self.slots;
        let codes = || if slots.language.is_some() { self.codes() } else { Vec::new() };
        let started = || {
            let lines = self.started_file().into_iter().filter(|line| texts::is_command(line, self.programs));
            lines.map(|line| self.shell(&line)).collect()
        };
        let found = or_else(or_else(or_else(self.clear_commands(), started), codes), || self.patched());
        let found = or_else(found, || {
            let has_content = !(slots.contents.is_empty() && slots.removed.is_empty() && slots.parts.is_empty());
            if has_content && !slots.paths.is_empty() { self.filled() } else { self.opened() }
        });
        or_else(found, || self.clear_texts())
    }

    fn clear_texts(&self) -> Vec<Action> {
        let slots = self.slots;
        let texts = slots.others.iter().chain(&slots.contents).chain(&slots.codes).chain(&slots.sources);
        texts.filter(|text| texts::is_clear_command(text, self.programs)).map(|text| self.shell(text)).collect()
    }

    fn run(&self) -> Vec<Action> {
        let slots = self.slots;
        let mut lines = or_else_lines(self.encoded(), || or_else_lines(self.started_file(), || slots.lines()));
        lines.retain(|line| !line.trim().is_empty());
        let commands: Vec<Action> = lines.iter().map(|line| self.shell(line)).collect();
        let found = or_else(commands, || self.codes());
        let found = or_else(found, || self.loose_codes());
        let found = or_else(found, || self.loose_texts());
        or_else(found, || self.run_files())
    }

    /// `{"encoding": "base64", "payload": …}`
    fn encoded(&self) -> Vec<String> {
        let slots = self.slots;
        if !slots.is_encoded() {
            return Vec::new();
        }
        let texts = slots.commands.iter().chain(&slots.codes).chain(&slots.contents).chain(&slots.others);
        texts
            .filter(|text| !text.eq_ignore_ascii_case("base64"))
            .filter_map(|text| reflex_shell::base64(text))
            .collect()
    }

    /// `{"file": "/bin/rm", "args": ["-rf", "/"]}`
    fn started_file(&self) -> Vec<String> {
        let slots = self.slots;
        let names_none = slots.commands.is_empty() && slots.programs.is_empty() && slots.codes.is_empty();
        let [file] = slots.paths.as_slice() else { return Vec::new() };
        if !names_none || slots.arguments.is_empty() || texts::language_of_file(file).is_some() {
            return Vec::new();
        }
        let is_one = slots.arguments.len() == 1;
        let word = |word: &String| if is_one { word.clone() } else { texts::word(word) };
        let words = std::iter::once(texts::word(file)).chain(slots.arguments.iter().map(word));
        vec![words.collect::<Vec<_>>().join(" ")]
    }

    /// Returns code under keys not known as code, for a tool whose name or argument gives the language.
    fn loose_codes(&self) -> Vec<Action> {
        let slots = self.slots;
        let shells = [Language::Shell, Language::PowerShell, Language::Cmd];
        let Some(language) = self.language().filter(|language| !shells.contains(language)) else { return Vec::new() };
        let statements = slots.statements.iter().map(|(text, _)| text).filter(|text| !texts::is_statement(text));
        let texts = slots.others.iter().chain(&slots.contents).chain(&slots.sources).chain(statements);
        let is_code = |text: &&String| text.contains(['(', '\n', ' ']);
        let texts: Vec<&String> = texts.filter(is_code).collect();
        let shell = texts.iter().flat_map(|text| texts::shell_lines(text)).map(|line| self.shell(line));
        texts.iter().map(|text| Action::Shell { command: (*text).clone(), language }).chain(shell).collect()
    }

    /// Returns commands under keys not known as commands, for a tool that runs its input.
    fn loose_texts(&self) -> Vec<Action> {
        let slots = self.slots;
        let is_runner = self.context.name.is("runner");
        let statements = slots.statements.iter().map(|(text, _)| text).filter(|text| !texts::is_statement(text));
        let texts = slots.others.iter().chain(&slots.contents).chain(&slots.sources).chain(statements);
        let is_line = |text: &&String| {
            let several = is_runner && text.trim().contains(char::is_whitespace);
            several || texts::is_command(text, self.programs)
        };
        let texts = texts.chain(slots.arguments.first().filter(|_| slots.programs.is_empty()));
        texts.filter(is_line).map(|text| self.shell(text)).collect()
    }

    /// `run_script {"path": "./x.sh"}`
    fn run_files(&self) -> Vec<Action> {
        let name = self.context.name;
        if !(name.is("runner") || name.is("file") || name.is("code")) || name.way != Some(Way::Runs) {
            return Vec::new();
        }
        let runs = name
            .words
            .iter()
            .any(|word| matches!(word.as_str(), "run" | "exec" | "execute" | "launch" | "start" | "spawn"));
        let before = match self.language() {
            Some(Language::Python) => "python3 ",
            Some(Language::JavaScript) => "node ",
            Some(Language::Ruby) => "ruby ",
            Some(Language::Perl) => "perl ",
            Some(Language::Php) => "php ",
            Some(Language::Shell) => "bash ",
            _ => "",
        };
        let arguments = self.slots.arguments.iter().map(|word| format!(" {}", texts::word(word))).collect::<String>();
        let line = |path: &String| {
            let (word, _) = texts::path_word(path);
            let word = if word.contains('/') || !before.is_empty() { word } else { format!("./{word}") };
            self.shell(&format!("{before}{word}{arguments}"))
        };
        self.slots.paths.iter().filter(|path| runs && !texts::is_elsewhere(path)).map(line).collect()
    }

    /// Returns the language given by an argument or by the name.
    fn language(&self) -> Option<Language> {
        let named = self.context.language.as_deref().map(|named| named.rsplit('/').next().unwrap_or(named));
        let named = named
            .and_then(|named| texts::language(named.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.')));
        named.or_else(|| self.context.name.words.iter().find_map(|word| texts::language(word)))
    }

    fn codes(&self) -> Vec<Action> {
        let of_file = || self.slots.paths.first().and_then(|path| texts::language_of_file(path));
        let known = self.language().or_else(of_file);
        let shell = || self.slots.codes.iter().flat_map(|code| texts::shell_lines(code)).map(|line| self.shell(line));
        let one = |code: &String| {
            let language = known.unwrap_or_else(|| texts::guessed(code, self.programs));
            if matches!(language, Language::Shell | Language::PowerShell | Language::Cmd) {
                return self.shell(code);
            }
            Action::Shell { command: code.clone(), language }
        };
        self.slots.codes.iter().filter(|code| !code.trim().is_empty()).map(one).chain(shell()).collect()
    }

    /// Returns a command line, run in the folder that the call names.
    fn shell(&self, line: &str) -> Action {
        let language = self.language().filter(|language| matches!(language, Language::PowerShell | Language::Cmd));
        let language = language.unwrap_or_default();
        let place =
            self.context.place.as_deref().filter(|place| !place.is_empty() && *place != "." && *place != self.cwd);
        let place = place
            .filter(|place| AgentPath::new(*place) == AgentPath { text: (*place).to_owned(), ..AgentPath::default() });
        let command = match place.map(texts::path_word) {
            Some((place, _)) if language == Language::Shell => format!("cd -- {place} && {line}"),
            Some((place, _)) if language == Language::PowerShell => format!("Set-Location {place}; {line}"),
            Some(_) | None => line.to_owned(),
        };
        Action::Shell { command, language }
    }

    fn statements(&self) -> Vec<String> {
        let name = self.context.name;
        let runs = matches!(self.context.way, Some(Way::Runs | Way::Starts) | None);
        let counts =
            |(text, is_sql): &&(String, bool)| name.is("stored") || *is_sql || (runs && texts::is_statement(text));
        let slots = self.slots;
        let loose = slots.codes.iter().chain(&slots.others).chain(&slots.contents).chain(&slots.commands);
        let codes = loose.filter(|text| name.is("stored") && texts::is_statement(text)).cloned();
        let is_judged = self.context.way != Some(Way::Communicates) || name.is("stored");
        let statements = self.slots.statements.iter().filter(counts).map(|(text, _)| text.clone());
        statements.chain(codes).filter(|_| is_judged).collect()
    }

    /// Returns the files named here or around; if no key names one, the texts in the form of a path.
    fn paths(&self) -> Vec<AgentPath> {
        self.files(&[&self.slots.paths]).into_iter().map(AgentPath::new).collect()
    }

    fn files(&self, named: &[&Vec<String>]) -> Vec<String> {
        let here = |path: &&String| !texts::is_elsewhere(path) && !path.trim().is_empty();
        let found: Vec<String> = named.iter().copied().flatten().filter(here).cloned().collect();
        let slots = self.slots;
        let formed = || {
            let texts = slots.others.iter().chain(&slots.sources).chain(&slots.destinations).chain(&slots.codes);
            texts.filter(|text| texts::is_path(text)).cloned().collect()
        };
        if found.is_empty() { formed() } else { found }
    }

    fn opened(&self) -> Vec<Action> {
        let urls = self.fetches();
        let reads = self.paths().into_iter().map(|path| Action::Read { path });
        urls.into_iter().chain(reads).collect()
    }

    fn fetches(&self) -> Vec<Action> {
        let slots = self.slots;
        let urls = slots.urls.iter().chain(&slots.paths).chain(&slots.others).filter(|url| texts::is_url(url));
        urls.map(|url| Action::Fetch { url: url.clone() }).collect()
    }

    /// A fetch to a file writes that file.
    fn fetched(&self) -> Vec<Action> {
        let urls = self.fetches();
        let paths = self.files(&[&self.slots.paths, &self.slots.destinations]).into_iter().map(AgentPath::new);
        let written = |path| Action::Write { path, content: String::new() };
        let files: Vec<Action> = match urls.is_empty() {
            true => paths.map(|path| Action::Read { path }).collect(),
            false => paths.map(written).collect(),
        };
        urls.into_iter().chain(files).collect()
    }

    /// Returns the edits of a patch, or the files with their new content.
    fn filled(&self) -> Vec<Action> {
        let slots = self.slots;
        let named =
            [&slots.paths, &slots.destinations, &self.context.paths].into_iter().find(|named| !named.is_empty());
        or_else(self.patched(), || {
            let paths = self.files(named.as_slice());
            paths.into_iter().map(|path| self.filled_file(AgentPath::new(path))).collect()
        })
    }

    fn filled_file(&self, path: AgentPath) -> Action {
        let slots = self.slots;
        let contents = slots.contents.iter().chain(slots.parts.iter().map(|part| &part.content));
        let mut content = contents.cloned().collect::<Vec<_>>().join("\n");
        if content.is_empty() && !self.context.name.is("part") {
            let is_text = |text: &&String| **text != path.text;
            let texts = slots.codes.iter().chain(&slots.patches).chain(&slots.others).filter(is_text);
            content = texts.cloned().collect::<Vec<_>>().join("\n");
        }
        let removed = slots
            .removed
            .iter()
            .chain(slots.parts.iter().map(|part| &part.removed))
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        let edits = self.context.way == Some(Way::Edits) || !removed.is_empty() || !slots.parts.is_empty();
        if edits {
            return Action::Edit { path, content, removed, parts: slots.parts.clone() };
        }
        Action::Write { path, content }
    }

    fn patched(&self) -> Vec<Action> {
        let slots = self.slots;
        let is_patch =
            |text: &&String| text.contains("*** Begin Patch") || text.contains("\n+++ ") || text.starts_with("--- ");
        let loose = slots.others.iter().chain(&slots.contents).chain(&slots.commands).filter(is_patch);
        let texts = slots.patches.iter().chain(loose);
        texts
            .flat_map(|text| or_else(patch::changes(text).into_iter().flat_map(changed).collect(), || unified(text)))
            .collect()
    }

    fn deleted(&self) -> Vec<Action> {
        let slots = self.slots;
        let named = [&slots.paths, &slots.sources];
        let paths = self.files(if slots.paths.is_empty() { &named } else { &named[..1] });
        let deep = self.context.deep || self.context.name.is("folder");
        let one = |path: String| {
            if !deep {
                return Action::Delete { path: AgentPath::new(path) };
            }
            match texts::path_word(&path) {
                (word, Language::PowerShell) => powershell(format!("Remove-Item -Recurse -LiteralPath {word}")),
                (word, _) => posix(format!("rm -r -- {word}")),
            }
        };
        paths.into_iter().map(one).collect()
    }

    /// Returns the source and the destination of a move, whatever the tool calls them.
    fn pair(&self) -> Option<(String, String)> {
        let slots = self.slots;
        let from = slots.sources.first().or(slots.paths.first());
        let renamed = slots.new_names.first().map(|name| match from.and_then(|from| from.rsplit_once('/')) {
            Some((folder, _)) if !name.contains('/') => format!("{folder}/{name}"),
            Some(_) | None => name.clone(),
        });
        let second = if slots.sources.is_empty() { slots.paths.get(1) } else { slots.paths.first() };
        let to = slots.destinations.first().cloned().or(renamed).or(second.cloned());
        let (from, to) = (from?.clone(), to?);
        (!texts::is_elsewhere(&from) && !texts::is_elsewhere(&to)).then_some((from, to))
    }

    fn moved(&self, posix_command: &str, windows: &str) -> Vec<Action> {
        let Some((from, to)) = self.pair() else {
            let paths = self.paths().into_iter();
            return paths
                .map(|path| Action::Edit { path, content: String::new(), removed: String::new(), parts: Vec::new() })
                .collect();
        };
        let symbol = ["symbol", "refactoring", "variable", "method"];
        if self.context.name.words.iter().any(|word| symbol.contains(&word.as_str())) {
            return vec![Action::Edit {
                path: AgentPath::new(from),
                content: String::new(),
                removed: String::new(),
                parts: Vec::new(),
            }];
        }
        let command = |program: &str, from: &str, to: &str| format!("{program} {from} {to}");
        match (texts::path_word(&from), texts::path_word(&to)) {
            ((from, Language::PowerShell), (to, _)) => vec![powershell(command(windows, &from, &to))],
            ((from, _), (to, _)) => vec![posix(command(posix_command, &from, &to))],
        }
    }

    fn linked(&self) -> Vec<Action> {
        let slots = self.slots;
        let named = slots.paths.first().zip(slots.urls.first().or(slots.others.first()));
        let named = named.map(|(target, link)| (target.clone(), link.clone()));
        let Some((target, link)) = self.pair().or(named) else { return Vec::new() };
        vec![posix(format!("ln -s -- {} {}", texts::path_word(&target).0, texts::path_word(&link).0))]
    }

    fn permitted(&self) -> Vec<Action> {
        let slots = self.slots;
        let owner = self.context.name.words.iter().find(|word| matches!(word.as_str(), "chown" | "chgrp"));
        let program = owner.map_or("chmod", String::as_str);
        let mode = slots.mode.as_ref().or(slots.contents.first()).or(slots.others.first());
        let mode = mode.map_or_else(|| "0".to_owned(), |mode| texts::word(mode));
        let deep = if self.context.deep { " -R" } else { "" };
        let paths = self.files(&[&slots.paths]);
        paths.iter().map(|path| posix(format!("{program}{deep} {mode} -- {}", texts::path_word(path).0))).collect()
    }
}

fn or_else_lines(found: Vec<String>, other: impl FnOnce() -> Vec<String>) -> Vec<String> {
    if found.is_empty() { other() } else { found }
}

fn or_else(found: Vec<Action>, other: impl FnOnce() -> Vec<Action>) -> Vec<Action> {
    if found.is_empty() { other() } else { found }
}

fn posix(command: String) -> Action {
    Action::Shell { command, language: Language::Shell }
}

fn powershell(command: String) -> Action {
    Action::Shell { command, language: Language::PowerShell }
}

/// A moved file is edited at its old path and written at the new one; its content is not lost.
fn changed(change: FileChange) -> Vec<Action> {
    let path = AgentPath::new;
    match change {
        FileChange::Add { path: file, content } => vec![Action::Write { path: path(file), content }],
        FileChange::Delete { path: file } => vec![Action::Delete { path: path(file) }],
        FileChange::Update { path: file, added, parts, moved } => {
            let removed = parts.iter().map(|part| part.removed.as_str()).collect();
            let edit = Action::Edit { path: path(file), content: added.clone(), removed, parts };
            let written = moved.map(|to| Action::Write { path: path(to), content: added });
            [edit].into_iter().chain(written).collect()
        }
    }
}

/// Returns the file edits of a patch in the format of git and diff.
fn unified(text: &str) -> Vec<Action> {
    let one = |file: patches::Changed| Action::Edit {
        path: AgentPath::new(file.path),
        content: file.comes,
        removed: file.goes,
        parts: Vec::new(),
    };
    patches::changed(text).into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::tool_call::call::{Call, Called};
    use crate::analysis::tool_call::read;
    use crate::library::tables;
    use crate::model::event::{Action, AgentPath};
    use reflex_shell::Language;

    fn call(server: &str, tool: &str, arguments: &str) -> Call {
        read(Called { server, tool, arguments, cwd: "/repo" }, tables())
    }

    #[track_caller]
    fn check(tool: &str, arguments: &str, expected: &[Action]) {
        assert_eq!(call("", tool, arguments).actions, expected, "{tool} {arguments}");
    }

    fn shell(command: &str) -> Action {
        Action::Shell { command: command.into(), language: Language::Shell }
    }

    #[test]
    fn a_renamed_shell_is_a_shell() {
        check("run_command", r#"{"command": "rm -rf x"}"#, &[shell("rm -rf x")]);
        check("terminal", r#"{"input": {"cmd": "rm -rf x"}}"#, &[shell("rm -rf x")]);
        check("execute", r#"{"command": ["rm", "-rf", "a b"]}"#, &[shell("rm -rf 'a b'")]);
    }

    #[test]
    fn a_file_tool_does_to_the_path_what_its_name_says() {
        let path = || AgentPath::new("a/b");
        check(
            "write_file",
            r#"{"path": "a/b", "content": "x"}"#,
            &[Action::Write { path: path(), content: "x".into() }],
        );
        check("read_file", r#"{"path": "a/b"}"#, &[Action::Read { path: path() }]);
        let deleted = call("files", "delete_file", r#"{"path": "a/b"}"#).actions;
        assert!(matches!(deleted.as_slice(), [Action::Delete { .. } | Action::Shell { .. }]), "{deleted:?}");
    }

    #[test]
    fn what_only_looks_is_judged_and_does_nothing() {
        let call = call("calendar", "list_events", "{}");
        assert!(call.is_judged && call.actions.is_empty(), "{call:?}");
    }

    #[test]
    fn of_what_nothing_is_known_nothing_is_reported() {
        let call = call("x", "frobnicate", r#"{"level": 3}"#);
        assert!(!call.is_judged && call.actions.is_empty() && call.statements.is_empty(), "{call:?}");
    }

    #[test]
    fn a_statement_for_a_database_is_none_for_a_shell() {
        let call = call("postgres", "query", r#"{"sql": "DROP TABLE users"}"#);
        assert_eq!((call.statements, call.actions), (vec!["DROP TABLE users".to_owned()], Vec::new()));
    }

    #[test]
    fn arguments_are_read_at_any_depth() {
        for depth in [12, 100, 300] {
            let deep = format!("{}{}{}", r#"{"input": "#.repeat(depth), r#"{"command": "rm x"}"#, "}".repeat(depth));
            let read = call("", "run", &deep);
            assert_eq!((read.is_cut, read.actions.len()), (false, 1), "{depth}: {read:?}");
        }
    }
}
