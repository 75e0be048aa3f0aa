//! The role of each word of a command: subcommand, option, option value, operand.

use super::program::{Follows, Program, Style};
use crate::model::value::Value;
use std::ops::Range;

/// The words of a command, parsed by the grammar of its program.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Names of the subcommands, outermost first; empty without any.
    pub path: Vec<&'static str>,
    /// The grammars: that of the program, then that of each subcommand.
    pub grammars: Vec<Program>,
    /// The options in their order on the command line.
    pub options: Vec<Argument>,
    /// Indexes of the operands among the words.
    pub operands: Vec<usize>,
    /// The number of operands before `--`, if it is present.
    pub dashes: Option<usize>,
    /// Indexes of words that look like options and are not in the grammar. The next word may be their value.
    pub unknown: Vec<usize>,
}

/// One option of an invocation.
#[derive(Debug, Clone)]
pub struct Argument {
    /// Its key in the grammar.
    pub key: &'static str,
    /// The index of its word.
    pub word: usize,
    /// Its value, if it takes and has one.
    pub value: Option<Value>,
    /// The words that belong to it, for an option with several.
    pub words: Range<usize>,
}

impl Invocation {
    /// Whether an option of this key is given.
    pub fn has(&self, key: &str) -> bool {
        self.options.iter().any(|option| option.key == key)
    }

    /// Whether a condition of `when:` or `unless:` holds: an option's key, `operands` (at least one), `several` (more
    /// than one), `program` (more than the wrapper's own), `subcommand` (one of the grammar's is named), `nested` (a
    /// subcommand of a subcommand is named), `revision` (operands before `--` name a commit), `undivided` (of several
    /// operands without `--`, the first may name a commit), `pathspecs` (operands can only be paths by their position).
    pub fn has_option(&self, key: &str) -> bool {
        match key {
            "operands" => !self.operands.is_empty(),
            "several" => self.operands.len() > 1,
            "program" => self.operands.len() > self.grammar().map_or(0, Program::leading),
            "subcommand" => !self.path.is_empty(),
            "nested" => self.path.len() > 1,
            "revision" => self.dashes.is_some_and(|before| before > 0),
            "undivided" => self.dashes.is_none() && self.operands.len() > 1,
            "pathspecs" => self.operands.len() > self.dashes.unwrap_or(1),
            key => self.has(key),
        }
    }

    /// Whether the command only prints its help: the program, names of subcommands and one word that asks for help. A
    /// program that runs others may pass that word to them, and one without subcommands may have acted on its operands
    /// before.
    pub fn asks_help(&self, words: &[Value]) -> bool {
        let Some(last) = words.last().filter(|word| word.prefix().starts_with('-')).and_then(Value::literal) else {
            return false;
        };
        let is_own = |grammar: &Program| grammar.option(&last).is_none_or(|(key, _)| key == "help");
        let asks = match &*last {
            "--help" | "--longhelp" | "--version" | "--usage" => true,
            "-h" | "-help" | "-?" => self.grammars.iter().all(is_own),
            _ => false,
        };
        let is_name = |word: &Value| {
            let named =
                |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'0'..=b'9'));
            word.literal()
                .is_some_and(|text| text.starts_with(|first: char| first.is_ascii_lowercase()) && named(&text))
        };
        let mut between = words.iter().skip(1).rev().skip(1).peekable();
        asks && !self.grammars.iter().any(|grammar| grammar.runs_code())
            && (between.peek().is_none() || self.grammars.iter().any(|grammar| grammar.names_subcommands()))
            && between.all(is_name)
    }

    /// Returns the values of the options of this key, including those of several words.
    pub fn values(&self, key: &str, words: &[Value]) -> Vec<Value> {
        let of_key = self.options.iter().filter(|option| option.key == key);
        of_key
            .flat_map(|option| option.value.iter().chain(words.get(option.words.clone()).unwrap_or(&[])))
            .cloned()
            .collect()
    }

    /// Returns the kind of text that the command prints; empty if the grammar does not specify one.
    pub(crate) fn prints(&self) -> &'static str {
        self.grammar().map_or("", |grammar| grammar.prints(|option| self.has_option(option)))
    }

    /// Returns the grammar of the innermost subcommand.
    pub fn grammar(&self) -> Option<Program> {
        self.grammars.last().copied()
    }

    pub(crate) fn read(program: Program, words: &[Value]) -> Invocation {
        let mut reader = Reader {
            words,
            at: 1,
            style: program.style(),
            invocation: Invocation {
                path: Vec::new(),
                grammars: vec![program],
                options: Vec::new(),
                operands: Vec::new(),
                dashes: None,
                unknown: Vec::new(),
            },
        };
        reader.read();
        reader.invocation
    }
}

struct Reader<'w> {
    words: &'w [Value],
    at: usize,
    /// The syntax of the innermost subcommand's words.
    style: Style,
    invocation: Invocation,
}

impl Reader<'_> {
    fn read(&mut self) {
        if self.style.is_windows() {
            return self.read_windows();
        }
        let words = self.words;
        while let Some(word) = words.get(self.at) {
            let text = word.prefix();
            if text == "--" && self.style != Style::SingleDash {
                self.at += 1;
                self.invocation.dashes = Some(self.invocation.operands.len());
                return self.operands();
            }
            let named = text.starts_with(['-', '+']) && self.find(&text).is_some();
            if named || (text.len() > 1 && text.starts_with('-')) {
                self.option(&text);
            } else if self.descend(&text) || self.assigned_option(&text) {
                self.at += 1;
            } else if self.style == Style::PosixlyCorrect && self.leads() {
                return self.operands();
            } else {
                self.invocation.operands.push(self.at);
                self.at += 1;
            }
        }
    }

    /// Parses options in Windows syntax: case-insensitive names after a dash or a slash.
    fn read_windows(&mut self) {
        while let Some(word) = self.words.get(self.at) {
            let text = word.prefix().to_lowercase();
            let is_option = match self.style {
                Style::Slash | Style::SlashFirst => self.slashed(&text),
                Style::PowerShell | Style::PowerShellFirst => self.parameter(&text),
                Style::Mixed | Style::PosixlyCorrect | Style::SingleDash => false,
            };
            if is_option {
                continue;
            }
            if self.descend(&text) {
                self.at += 1;
            } else if matches!(self.style, Style::PowerShellFirst | Style::SlashFirst) {
                return self.operands();
            } else {
                self.invocation.operands.push(self.at);
                self.at += 1;
            }
        }
    }

    /// `-Name value`, `-Name:value`, `-Name`; names may be abbreviated. Returns whether the word was a parameter.
    fn parameter(&mut self, text: &str) -> bool {
        let name = text.split(':').next().unwrap_or(text);
        let known = self.find(name);
        let dashed = name.strip_prefix('-').is_some_and(|name| name.starts_with(|ch: char| ch.is_alphabetic()));
        if known.is_none() && !dashed {
            return false;
        }
        let begun = || self.invocation.grammars.iter().rev().find_map(|grammar| grammar.begun_option(name));
        let Some((key, follows)) = known.or_else(begun) else {
            // Unknown parameters are mostly switches.
            self.at += 1;
            return true;
        };
        if text.len() == name.len() {
            self.found(key, follows);
            return true;
        }
        let value = self.words.get(self.at).map(|word| word.without_prefix(name.len() + 1));
        let off = value
            .as_ref()
            .and_then(Value::literal)
            .is_some_and(|value| value.eq_ignore_ascii_case("false") || value == "$false");
        if !(off && follows == Follows::Nothing) {
            self.push(key, value);
        }
        self.at += 1;
        true
    }

    /// `/s`, `/s/q`, `/t:5`, `/v NAME`; with a dash too, if the grammar has it. Returns whether the word was an option.
    fn slashed(&mut self, text: &str) -> bool {
        if text.starts_with('-') {
            return self.slash_option(text, 0);
        }
        let Some(inside) = text.strip_prefix('/').filter(|inside| !inside.is_empty()) else { return false };
        let names = inside.trim_start_matches('/').split('/').map(|part| part.split(':').next().unwrap_or(part));
        let known = |name: &str| self.find(&format!("/{name}")).is_some();
        if names.clone().count() == 1 || !names.clone().all(known) {
            let skipped = text.len() - inside.trim_start_matches('/').len() - 1;
            let found = self.slash_option(text.get(skipped..).unwrap_or(text), skipped);
            // An unknown option is a switch, unless it may be a path.
            let is_switch = !found && !inside.contains(['/', '\\']) && !inside.is_empty();
            self.at += usize::from(is_switch);
            return found || is_switch;
        }
        for name in names {
            if let Some((key, _)) = self.find(&format!("/{name}")) {
                self.push(key, None);
            }
        }
        self.at += 1;
        true
    }

    fn slash_option(&mut self, text: &str, skipped: usize) -> bool {
        if let Some((key, follows)) = self.find(text) {
            self.found(key, follows);
            return true;
        }
        let colon = text.find(':').filter(|colon| self.find(text.get(..*colon).unwrap_or("")).is_some());
        // `cmd /cdir`: an option that takes all that follows also takes the text attached to it.
        let glued = || self.find(text.get(..2)?).filter(|(_, follows)| *follows == Follows::Rest).map(|_| 2);
        let Some(end) = colon.or_else(glued) else { return false };
        let Some((key, follows)) = self.find(text.get(..end).unwrap_or("")) else { return false };
        let after = skipped + end + usize::from(colon.is_some());
        let value = self.words.get(self.at).map(|word| word.without_prefix(after));
        let word = self.at;
        self.at += 1;
        let words = if follows == Follows::Rest { self.at..self.words.len() } else { 0..0 };
        self.at = self.at.max(words.end);
        self.invocation.options.push(Argument { key, word, value, words });
        true
    }

    /// Whether all of the wrapper's own operands are present.
    fn leads(&self) -> bool {
        self.invocation.operands.len() >= self.invocation.grammar().map_or(0, Program::leading)
    }

    fn operands(&mut self) {
        self.invocation.operands.extend(self.at..self.words.len());
        self.at = self.words.len();
    }

    /// Enters the subcommand that the first operand names, if the program has subcommands.
    fn descend(&mut self, text: &str) -> bool {
        if !self.invocation.operands.is_empty() {
            return false;
        }
        let Some(grammar) = self.invocation.grammar().filter(|grammar| grammar.has_subcommands()) else { return false };
        let Some((name, subcommand)) = grammar.subcommand(text) else { return false };
        self.invocation.path.push(name);
        self.style = subcommand.style();
        self.invocation.grammars.push(subcommand);
        true
    }

    /// `of=FILE`, as dd takes it.
    fn assigned_option(&mut self, text: &str) -> bool {
        let Some(end) = text.find('=') else { return false };
        let name = text.get(..=end).unwrap_or("");
        let Some((key, _)) = self.find(name) else { return false };
        let value = self.words.get(self.at).map(|word| word.without_prefix(name.len()));
        self.push(key, value);
        true
    }

    fn find(&self, name: &str) -> Option<(&'static str, Follows)> {
        self.invocation.grammars.iter().rev().find_map(|grammar| grammar.option(name))
    }

    fn find_shortened(&self, name: &str) -> Option<(&'static str, Follows)> {
        self.invocation.grammars.iter().rev().find_map(|grammar| grammar.shortened_option(name))
    }

    fn push(&mut self, key: &'static str, value: Option<Value>) {
        self.invocation.options.push(Argument { key, word: self.at, value, words: 0..0 });
    }

    fn option(&mut self, text: &str) {
        if let Some((key, follows)) = self.find(text) {
            // `-o"$HOME"`: the unknown part of the word is the value.
            let glued = self.words.get(self.at).map(|word| word.without_prefix(text.len()));
            let glued = glued.filter(|rest| !rest.pieces.is_empty());
            if glued.is_some() && matches!(follows, Follows::Value | Follows::JoinedValue) {
                self.push(key, glued);
                self.at += 1;
                return;
            }
            return self.found(key, follows);
        }
        if text.bytes().skip(1).all(|byte| byte.is_ascii_digit())
            && let Some((key, _)) = self.find("-NUM")
        {
            self.push(key, self.words.get(self.at).cloned());
            self.at += 1;
            return;
        }
        if text.starts_with("--") || self.style == Style::SingleDash {
            self.long(text);
        } else {
            self.cluster(text);
        }
        self.at += 1;
    }

    /// Reads an option that fills its word.
    fn found(&mut self, key: &'static str, follows: Follows) {
        let word = self.at;
        self.at += 1;
        // npm reads `--dry-run false` as `--dry-run=false`.
        let is_false = |word: &Value| word.literal().as_deref() == Some("false");
        if key == DRY_RUN && self.words.get(self.at).is_some_and(is_false) {
            return self.invocation.options.retain(|option| option.key != key);
        }
        let mut argument = Argument { key, word, value: None, words: 0..0 };
        match follows {
            Follows::Nothing | Follows::JoinedValue => {}
            Follows::Value => {
                argument.value = self.words.get(self.at).cloned();
                self.at += 1;
            }
            Follows::Several(count) => {
                argument.words = self.at..(self.at + count).min(self.words.len());
                self.at = argument.words.end;
            }
            Follows::Rest => {
                argument.words = self.at..self.words.len();
                self.at = self.words.len();
            }
            Follows::UntilSemicolon => {
                let ends = |word: &Value| matches!(word.literal().as_deref(), Some(";" | "+"));
                let rest = self.words.get(self.at..).unwrap_or(&[]);
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                argument.words = self.at..self.at + length;
                self.at += length + 1;
            }
        }
        self.invocation.options.push(argument);
    }

    /// `--name=value`, or an abbreviated name.
    fn long(&mut self, text: &str) {
        let name = text.split('=').next().unwrap_or(text);
        let Some((key, follows)) = self.find(name).or_else(|| self.find_shortened(name)) else {
            return self.not_found(name, text);
        };
        if text.len() > name.len() {
            let value = self.words.get(self.at).map(|word| word.without_prefix(name.len() + 1));
            if is_off(key, follows, value.as_ref()) {
                return self.invocation.options.retain(|option| option.key != key);
            }
            self.push(key, value);
            return self.take_rest(follows);
        }
        let takes_next = follows == Follows::Value;
        let value = if takes_next { self.words.get(self.at + 1).cloned() } else { None };
        self.push(key, value);
        self.at += usize::from(takes_next);
    }

    /// `--program=rm -rf x`: an option that takes all that follows does so after a joined value, too.
    fn take_rest(&mut self, follows: Follows) {
        if let Some(last) = self.invocation.options.last_mut().filter(|_| follows == Follows::Rest) {
            last.words = self.at + 1..self.words.len();
            self.at = self.words.len();
        }
    }

    /// `--no-NAME` removes `--NAME`.
    fn not_found(&mut self, name: &str, text: &str) {
        let undone = name.strip_prefix("--no-").and_then(|rest| self.find(&format!("--{rest}")));
        match undone {
            Some((key, _)) => self.invocation.options.retain(|option| option.key != key),
            None if text.contains('=') => {}
            None => self.invocation.unknown.push(self.at),
        }
    }

    /// `-rf`, `-n5`: each character is an option until one takes the rest as its value.
    fn cluster(&mut self, text: &str) {
        let mut name = String::from("-");
        for (offset, ch) in text.char_indices().skip(1) {
            name.truncate(1);
            name.push(ch);
            let Some((key, follows)) = self.find(&name) else {
                if offset + ch.len_utf8() == text.len() {
                    self.invocation.unknown.push(self.at);
                }
                continue;
            };
            if follows == Follows::Nothing {
                self.push(key, None);
                continue;
            }
            let after = offset + ch.len_utf8();
            let joined = self.words.get(self.at).map(|word| word.without_prefix(after));
            let joined = joined.filter(|value| !value.pieces.is_empty());
            let separate = joined.is_none() && follows == Follows::Value;
            let value = if separate { self.words.get(self.at + 1).cloned() } else { joined };
            self.push(key, value);
            self.at += usize::from(separate);
            return;
        }
    }
}

/// The key of an option with which a program only says what it would do, in every grammar.
const DRY_RUN: &str = "dry-run";

/// The values with which a dry run is one, in lower case: booleans of pflag and nopt, and the places of kubectl and helm.
const DRY: [&str; 8] = ["true", "t", "1", "yes", "y", "on", "client", "server"];

/// Returns whether a joined value removes a flag: `--force=false`. A dry run makes a call harmless, so any value removes it
/// that is not known to ask for one: `--dry-run=none`, `--dry-run=$MODE`.
fn is_off(key: &str, follows: Follows, value: Option<&Value>) -> bool {
    let literal = value.and_then(Value::literal).map(|text| text.to_ascii_lowercase());
    if key == DRY_RUN {
        return literal.is_none_or(|text| !DRY.contains(&text.as_str()));
    }
    follows == Follows::Nothing && matches!(literal.as_deref(), Some("false" | "no" | "off" | "0"))
}
