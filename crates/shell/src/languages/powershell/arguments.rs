//! The words of a command: parameters, lists, splats, redirections.

use super::reader::{Items, Reader};
use super::{scan, strings};
use crate::model::value::Value;
use crate::reading::{Access, Redirection};
use crate::text_tools::windows_words;

/// The arguments of a command.
#[derive(Default)]
pub(super) struct Arguments {
    /// The words; a list of several values is one word.
    pub(super) words: Vec<Value>,
    pub(super) redirects: Vec<Redirection>,
}

impl<'a> Reader<'_, '_, 'a> {
    /// Reads words and redirections to the end of the command.
    pub(super) fn arguments(&mut self) -> Arguments {
        let mut arguments = Arguments::default();
        loop {
            self.skip(false);
            let start = self.at;
            match self.ch() {
                None | Some('\n' | '\r' | ';' | '|' | ')' | '}') => return arguments,
                Some('&') => return arguments,
                Some('<') => self.bump(),
                Some('-') if self.rest().starts_with("--%") => self.verbatim(&mut arguments.words),
                Some(_) if self.redirection(&mut arguments.redirects) => {}
                Some('@') if self.peek_at(1).is_some_and(strings::begins_name) => {
                    self.bump();
                    let name = self.take(|ch| strings::begins_name(ch) || ch == ':').to_owned();
                    arguments.words.extend(self.variable(&name, start));
                }
                Some(_) => {
                    let word = self.argument();
                    arguments.words.push(word);
                }
            }
            if self.at == start {
                self.bump();
            }
        }
    }

    /// Reads one word: elements separated by commas.
    fn argument(&mut self) -> Value {
        let start = self.at;
        let parameter = self.ch() == Some('-');
        let mut values = self.element_of_list();
        if parameter && values.last().is_some_and(|value| value.prefix().ends_with(':')) {
            self.skip(false);
            let mut joined = values.pop().unwrap_or_default();
            joined.push(windows_words::list(self.element_of_list()));
            values.push(joined);
        }
        loop {
            let before = self.at;
            self.skip(false);
            if self.ch() != Some(',') {
                self.at = before;
                break;
            }
            self.bump();
            self.skip(true);
            values.extend(self.element_of_list());
        }
        if values.is_empty() {
            return Value::text("", self.origin_from(start));
        }
        windows_words::list(values)
    }

    fn element_of_list(&mut self) -> Vec<Value> {
        let start = self.at;
        let values = match self.ch() {
            Some('(') => {
                let part = self.bracket();
                let values = self.inside(part).values;
                return self.members(values, None, start);
            }
            Some('@') if self.peek_at(1).is_some_and(|ch| "({'\"".contains(ch)) => {
                let values = self.at_sign();
                return self.members(values, None, start);
            }
            Some('{') => return self.block().into_iter().collect(),
            Some('$') if self.peek_at(1).is_some_and(|ch| strings::begins_name(ch) || "({$?^".contains(ch)) => {
                let values = self.dollar(false);
                self.members(values, None, start)
            }
            Some('"') => {
                let value = self.double_quoted();
                self.members(vec![value], None, start)
            }
            Some('\'') => {
                let value = self.single_quoted();
                self.members(vec![value], None, start)
            }
            _ => Vec::new(),
        };
        if !self.is_in_word() {
            return values;
        }
        let mut word = windows_words::list(values);
        self.word(&mut word);
        vec![self.finish(word, start)]
    }

    fn is_in_word(&self) -> bool {
        self.ch().is_some_and(|ch| !ch.is_whitespace() && !";|&(){},<>".contains(ch))
    }

    /// Reads an unquoted word; quotes inside it are removed.
    pub(super) fn word(&mut self, value: &mut Value) {
        while self.is_in_word() {
            match self.ch() {
                Some('"') => value.push(self.double_quoted()),
                Some('\'') => value.push(self.single_quoted()),
                Some('$') => self.expansion(value),
                Some('`') => {
                    self.bump();
                    if let Some(ch) = self.rest().chars().next() {
                        self.string_char(value, ch);
                    }
                }
                Some(ch) => self.string_char(value, ch),
                None => return,
            }
        }
    }

    /// Reads `--%`, after which the rest is passed verbatim.
    fn verbatim(&mut self, words: &mut Vec<Value>) {
        self.at += 3;
        let start = self.at;
        let end =
            self.text.get(start..).and_then(|rest| rest.find(['\n', '|'])).map_or(self.text.len(), |end| start + end);
        self.at = end;
        let origin = self.origin_from(start);
        let raw = self.text.get(start..end).unwrap_or("");
        words.extend(raw.split_whitespace().map(|word| Value::text(word.trim_matches('"'), origin)));
    }

    /// Reads `>`, `>>`, `2>`, `*>` or `2>&1`, and returns whether a redirection was found.
    pub(super) fn redirection(&mut self, redirects: &mut Vec<Redirection>) -> bool {
        let before = self.at;
        let number = self.ch().and_then(|ch| ch.to_digit(10));
        if number.is_some() || self.ch() == Some('*') {
            self.bump();
        }
        if self.ch() != Some('>') {
            self.at = before;
            return false;
        }
        self.bump();
        let access = if self.eat(">") { Access::Append } else { Access::Overwrite };
        if self.ch() == Some('&') {
            self.bump();
            self.bump();
            return true;
        }
        self.skip(false);
        for target in self.element_of_list() {
            if !target.literal().is_some_and(|name| name.is_empty() || name.eq_ignore_ascii_case("nul")) {
                redirects.push(Redirection { access, descriptor: number.unwrap_or(1), target });
            }
        }
        true
    }

    /// Writes the value of an expression to its redirections.
    pub(super) fn redirect_expression(&mut self, items: &mut Items, start: usize) {
        let mut redirects = Vec::new();
        loop {
            let before = self.at;
            self.skip(false);
            if self.at >= self.text.len() || !self.redirection(&mut redirects) {
                self.at = before;
                break;
            }
        }
        if redirects.is_empty() {
            return;
        }
        let origin = self.origin_from(start);
        let mut output = std::mem::take(items).stream();
        self.on.redirected_group(redirects, origin, &mut output);
        items.commands = output.commands;
    }

    /// Whether `.` or `&` at the cursor calls the command that follows.
    pub(super) fn calls(&self) -> bool {
        let second = self.rest().chars().nth(1).map(scan::plain);
        match self.ch() {
            Some('&') => second != Some('&'),
            Some('.') => second.is_none_or(|ch| ch.is_whitespace() || "$\"'({".contains(ch)),
            _ => false,
        }
    }

    /// Reads the name after `.` or `&`, or the word that begins a command.
    pub(super) fn command_name(&mut self) -> Vec<Value> {
        if self.calls() {
            self.bump();
            self.skip(false);
        }
        let start = self.at;
        // `%{ … }` and `?{ … }` need no blank before the block.
        if matches!(self.ch(), Some('%' | '?')) && !self.peek_at(1).is_some_and(strings::begins_name) {
            let sign = if self.ch() == Some('%') { "%" } else { "?" };
            self.bump();
            return vec![Value::text(sign, self.origin_from(start))];
        }
        self.element_of_list()
    }
}
