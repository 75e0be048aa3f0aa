//! AppleScript: `do shell script`, and the commands sent to the Finder and other applications.

use super::calls::Arguments;
use super::datum::ScriptValue;
use super::token::{Kind, Token};
use super::vocabulary::Constant;
use super::walker::ExprInterpreter;

impl ExprInterpreter<'_, '_> {
    /// Walks the statements of a script in order.
    pub(super) fn applescript(&mut self, text: &str) {
        self.load(text);
        let end = self.tokens.0.len();
        while self.at < end && self.step() {
            let before = self.at;
            match (self.word(), self.word_at(self.at + 1)) {
                ("do", "shell") => {
                    self.at += 3;
                    let text = self.expression();
                    let raises = self.word() == "with" && self.word_at(self.at + 1) == "administrator";
                    let named = vec![("administrator".to_owned(), ScriptValue::Ternary(raises))];
                    self.call("do shell script", Arguments { positional: vec![text], named });
                }
                ("do", "script") => {
                    self.at += 2;
                    let text = self.expression();
                    self.call("do shell script", Arguments::from_positional(vec![text]));
                }
                ("run" | "load", "script") => {
                    self.at += 2;
                    let text = self.expression();
                    self.call("run script", Arguments::from_positional(vec![text]));
                }
                ("empty", "trash" | "the") => drop(self.call("empty trash", Arguments::default())),
                ("delete", _) => self.finder("delete"),
                ("display", "dialog") => self.dialog(),
                ("execute", _) => self.browser_script(),
                ("clipboard", next) if next != "to" => drop(self.call("clipboard", Arguments::default())),
                ("login", "item") => self.login_item(),
                ("keystroke", _) => {
                    self.at += 1;
                    let text = self.expression();
                    self.call("keystroke", Arguments::from_positional(vec![text]));
                }
                ("set", _) => self.set_name(),
                _ => {}
            }
            self.at = self.at.max(before + 1);
        }
    }

    /// Returns the position of a word in the rest of the statement.
    fn finds(&mut self, wanted: &str) -> Option<usize> {
        let mut at = self.at;
        let ends = |token: Option<&Token>| token.is_none_or(|token| token.kind == Kind::End);
        while !ends(self.token_at(at)) && self.step() {
            if self.word_at(at) == wanted {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Moves to a word in the rest of the statement, and returns whether it was found.
    fn ahead(&mut self, wanted: &str) -> bool {
        let found = self.finds(wanted);
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// `execute tab javascript "…"`
    fn browser_script(&mut self) {
        if self.ahead("javascript") {
            self.at += 1;
            let text = self.expression();
            self.call("browser javascript", Arguments::from_positional(vec![text]));
        }
    }

    /// `make login item at end with properties {…}`
    fn login_item(&mut self) {
        if self.ahead("properties") {
            self.call("login item", Arguments::default());
        }
    }

    /// `display dialog "…" default answer "" with hidden answer`: the hidden input is a password.
    fn dialog(&mut self) {
        self.at += 2;
        let text = self.expression();
        if self.ahead("hidden") {
            self.call("ask for a password", Arguments::from_positional(vec![text]));
        }
    }

    /// `set x to "…"`
    fn set_name(&mut self) {
        let name = self.word_at(self.at + 1).to_owned();
        if self.word_at(self.at + 2) != "to" || self.word_at(self.at + 3) == "do" || self.finds("dialog").is_some() {
            return;
        }
        self.at += 3;
        let datum = self.expression();
        self.assign(&name, datum);
    }

    /// `delete every item of folder "Downloads" of home`, `delete POSIX file "/x"`.
    fn finder(&mut self, verb: &str) {
        let mut parts: Vec<ScriptValue> = Vec::new();
        let mut everything = false;
        self.at += 1;
        while !matches!(self.kind(), None | Some(Kind::End)) && self.step() {
            match self.kind().cloned() {
                Some(Kind::Text(chunks)) => {
                    let part = self.chunks(&chunks);
                    parts.push(part);
                }
                Some(Kind::Word(word)) if &*word == "home" => {
                    let home = self.constant(Constant::Home);
                    parts.push(home);
                }
                Some(Kind::Word(word)) if &*word == "every" => everything = true,
                Some(Kind::Word(word)) if self.variable(&word).is_some() => parts.extend(self.variable(&word)),
                _ => {}
            }
            self.at += 1;
        }
        // AppleScript names the innermost part of a path first.
        parts.reverse();
        let mut path = super::fold::join_path(&parts, self.origin);
        if everything {
            let all = super::fold::glob(&self.text_datum("*"), self.origin);
            let all = all.items().and_then(<[ScriptValue]>::first).cloned().unwrap_or(ScriptValue::Ternary(false));
            path = super::fold::join_path(&[path, all], self.origin);
        }
        self.call(verb, Arguments::from_positional(vec![path]));
    }
}
