//! Texts that run because a variable or a program's configuration contains them: `PAGER`, `git -c core.editor=…`,
//! aliases.

use super::draft::{Draft, program_name};
use super::interpreter::{Interpreter, MAX_DEPTH};
use super::streams::Stream;
use super::wrapped::Run;
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::program::Program;
use crate::cli_grammar::selector::Selector;
use crate::model::language::Language;
use crate::model::value::{Origin, UnknownReason, Value};
use crate::reading::{Code, CommandId};
use crate::text_tools::quoting;
use reflex_tables::Map;

/// Maximum number of `GIT_CONFIG_KEY_…` pairs read.
const MAX_PAIRS: usize = 4096;

impl Interpreter<'_> {
    /// Runs values that a program executes when it finds them in its environment. Which program does so is not always
    /// known, so the command for which they are set represents everything that it starts.
    pub(super) fn code_variables(&mut self, id: Option<CommandId>, variables: &[(String, Value)], origin: Origin) {
        for (name, value) in variables {
            let entry = self.surroundings.programs.variable(name);
            if value.pieces.is_empty() || self.depth >= MAX_DEPTH {
                continue;
            }
            let command = if entry.is_none() && id.is_some() { self.command_in(value) } else { None };
            if entry.is_none() && command.is_none() {
                continue;
            }
            let text = |text: &str| Value::text(text, origin);
            let lines = match entry.map_or("", |variable| variable.how()) {
                "" if command.is_some() => vec![vec![text("sh"), text("-c"), command.unwrap_or_default()]],
                "script" if self.readable(value).is_none() => Vec::new(),
                // `LESSOPEN='|lesspipe %s'`: the program reads the output of the command.
                "script" => {
                    let bar = value.prefix().len() - value.prefix().trim_start_matches(['|', '-']).len();
                    vec![vec![text("sh"), text("-c"), value.without_prefix(bar)]]
                }
                "program" => vec![vec![value.clone()]],
                "options" => vec![
                    [vec![text(entry.map_or("", |variable| variable.program()))], super::xargs::words_of(value)]
                        .concat(),
                ],
                // `ENV=production` has another meaning to most programs.
                _ => {
                    let files = value.split(&[':', ' ']).into_iter();
                    let files = files.filter(|file| file.shown().contains('/') || self.content(file).is_some());
                    files.map(|file| vec![text("sh"), file]).collect()
                }
            };
            let parent = self.parent;
            self.parent = id.or(parent);
            self.depth += 1;
            for words in lines {
                self.isolated(|this| this.command(Draft::of_program(words, origin)));
            }
            self.depth -= 1;
            self.parent = parent;
        }
    }

    /// Runs the commands in a program's configuration: given on the command line, in the environment or by an earlier
    /// command.
    pub(super) fn settings(&mut self, id: CommandId, invocation: &Invocation, draft: &Draft) -> Option<Stream> {
        let kinds = invocation.grammars.first()?.settings();
        if kinds.is_absent() {
            return None;
        }
        if self.depth >= MAX_DEPTH {
            self.gap(draft.origin, UnknownReason::Limit);
            return None;
        }
        let mut settings = self.configured_settings(invocation, draft);
        if let Some((key, value)) = written_setting(invocation, draft) {
            self.settings.push((key.clone(), value.clone()));
            settings.push((key, value));
        }
        let parent = self.parent.replace(id);
        self.depth += 1;
        for (key, value) in &settings {
            self.setting(kind(kinds, key), value, id, draft);
        }
        let printed = self.aliased_command(&settings, id, invocation, draft);
        self.depth -= 1;
        self.parent = parent;
        printed
    }

    /// Returns the command that a value is to any program that reads it: `rm -rf x`, `!rm -rf x`, `silent !rm -rf x`. A
    /// text that merely starts with the name of a program, such as a title, lacks the signs of a command: an option, a
    /// path, a pipe.
    fn command_in(&self, value: &Value) -> Option<Value> {
        const MAX_BYTES: usize = 4096;
        const SIGNS: [char; 6] = ['|', ';', '&', '>', '$', '`'];
        let text = value.literal().filter(|text| text.len() <= MAX_BYTES)?;
        let text = text.split_once('!').map_or(&*text, |(_, command)| command).trim_start_matches(['|', ' ']);
        let mut words = text.split_ascii_whitespace();
        let name = words.next()?.rsplit('/').next()?;
        let is_sign = |word: &str| word.starts_with(['-', '/', '~', '.']) || word.contains(SIGNS);
        let is_known = Program::find(self.surroundings.programs, name).is_some();
        (is_known && words.any(is_sign)).then(|| Value::text(text, value.origin()))
    }

    /// Runs option values that are commands, for a program that runs some of them: `-toolexec 'sh -c x'`, `KEY="x -y"`,
    /// `KEY=["sh", "-c", "x"]`. In operands, only `#(x -y)` is a command.
    pub(super) fn commands_in_words(
        &mut self,
        id: CommandId,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        const MAX_SIGNS: usize = 4;
        for (index, word) in draft.words.iter().enumerate().skip(1) {
            let Some(text) = word.literal() else { continue };
            let is_option = !invocation.operands.contains(&index);
            let values = text.match_indices('=').take(MAX_SIGNS).filter_map(|(at, _)| text.get(at + 1..));
            let values = std::iter::once(&*text).chain(values).filter(|_| is_option);
            let inner = text.split("#(").skip(1).filter_map(|rest| rest.rsplit_once(')')).map(|(inner, _)| inner);
            let texts = values.chain(inner).map(|text| match listed(text) {
                Some(words) => words,
                None => text.trim_matches(['"', '\'']).to_owned(),
            });
            let command = texts.map(|text| Value::text(text, word.origin())).find_map(|text| self.command_in(&text));
            if let Some(command) = command {
                let run = Run { id, language: Language::Shell, parameters: Vec::new(), lasting: false };
                self.script_value(command, run, draft);
            }
        }
        None
    }

    fn setting(&mut self, kind: &str, value: &Value, id: CommandId, draft: &Draft) {
        let starts = |start: &str| value.prefix().starts_with(start);
        if value.literal().is_some_and(|text| text.trim().is_empty()) {
            // An empty value switches the program off.
            return;
        }
        let text = match kind {
            "script" => value.clone(),
            "helper" if starts("!") => value.without_prefix(1),
            "helper" if starts("/") => value.clone(),
            "file" if !starts("/dev/null") => return self.code(id, Code::File(value.clone()), Vec::new()),
            "" => match self.command_in(value) {
                Some(command) => command,
                None => return,
            },
            _ => return,
        };
        self.script_value(text, Run { id, language: Language::Shell, parameters: Vec::new(), lasting: false }, draft);
    }

    /// Returns the settings of `-c KEY=VALUE`, `--config-env KEY=VARIABLE`, and `GIT_CONFIG_COUNT` with its pairs.
    fn configured_settings(&self, invocation: &Invocation, draft: &Draft) -> Vec<(String, Value)> {
        let variable = |name: &str| self.state.variable(name).and_then(<[Value]>::first).cloned();
        let mut settings: Vec<(String, Value)> =
            invocation.values("config", &draft.words).iter().filter_map(setting_of).collect();
        let by_name = invocation.values("config-env", &draft.words);
        settings.extend(by_name.iter().filter_map(setting_of).filter_map(|(key, name)| {
            let value = variable(&name.literal()?)?;
            Some((key, value))
        }));
        let count = variable("GIT_CONFIG_COUNT").and_then(|count| count.literal()?.trim().parse::<usize>().ok());
        settings.extend((0..count.unwrap_or(0).min(MAX_PAIRS)).filter_map(|index| {
            let key = variable(&format!("GIT_CONFIG_KEY_{index}"))?;
            Some((key.literal()?.to_lowercase(), variable(&format!("GIT_CONFIG_VALUE_{index}"))?))
        }));
        settings
    }

    /// Returns the user's alias for a subcommand that the program does not have.
    fn users_alias(&self, name: &str, draft: &Draft) -> Option<Value> {
        let program = program_name(draft.words.first()?, self.language.is_windows());
        Some(Value::text((self.surroundings.alias)(&program, name)?, draft.origin))
    }

    /// Runs a subcommand that is an alias: a shell text after `!`, or words of the program itself.
    fn aliased_command(
        &mut self,
        settings: &[(String, Value)],
        id: CommandId,
        invocation: &Invocation,
        draft: &Draft,
    ) -> Option<Stream> {
        let operands = Selector("operands").values(invocation, &draft.words);
        let name = operands.first().filter(|_| invocation.path.is_empty())?.literal()?.to_lowercase();
        let key = format!("alias.{name}");
        let alias = settings.iter().chain(&self.settings).rev().find(|(known, _)| *known == key);
        let value = alias.map(|(_, value)| value.clone()).or_else(|| self.users_alias(&name, draft))?;
        // Recorded for reports only: the words keep their own origins.
        let from = operands.first().map_or(draft.origin, Value::origin);
        self.derive("alias", &value.shown(), from);
        let arguments = operands.get(1..).unwrap_or(&[]);
        if value.prefix().starts_with('!') {
            let mut text = value.without_prefix(1);
            for argument in arguments {
                text.push_text(" ", argument.origin());
                text.push(argument.clone());
            }
            return self.script_value(
                text,
                Run { id, language: Language::Shell, parameters: Vec::new(), lasting: false },
                draft,
            );
        }
        let program = draft.words.first().cloned();
        let words =
            program.into_iter().chain(super::xargs::words_of(&value)).chain(arguments.iter().cloned()).collect();
        let mut again = Draft::of_program(words, draft.origin);
        again.stdin = draft.stdin.clone();
        Some(self.isolated(|this| this.command(again)))
    }
}

/// Converts `["sh", "-c", "x"]` to a command line.
fn listed(text: &str) -> Option<String> {
    let items = text.strip_prefix('[')?.strip_suffix(']')?;
    let words: Vec<String> = items.split('"').skip(1).step_by(2).map(quoting::as_word).collect();
    Some(words.join(" "))
}

/// Returns the key and value of `git config [set] KEY VALUE`.
fn written_setting(invocation: &Invocation, draft: &Draft) -> Option<(String, Value)> {
    if invocation.path.last() != Some(&"config") {
        return None;
    }
    let operands = Selector("operands").values(invocation, &draft.words);
    let is_verb = operands.first()?.literal().as_deref() == Some("set");
    let [key, value, ..] = operands.get(usize::from(is_verb)..)? else { return None };
    Some((key.literal()?.to_lowercase(), value.clone()))
}

fn setting_of(value: &Value) -> Option<(String, Value)> {
    let prefix = value.prefix();
    let (key, _) = prefix.split_once('=')?;
    Some((key.to_lowercase(), value.without_prefix(key.len() + 1)))
}

/// Returns the kind of a key, which determines how its value runs; empty if it does not run.
fn kind(kinds: Map<'static, &'static str>, key: &str) -> &'static str {
    let fits = |pattern: &str| match pattern.split_once('*') {
        Some((start, end)) => key.len() >= start.len() + end.len() && key.starts_with(start) && key.ends_with(end),
        None => pattern == key,
    };
    kinds.entries().find(|(pattern, _)| fits(pattern)).map_or("", |(_, how)| how)
}
