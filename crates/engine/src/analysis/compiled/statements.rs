//! Reads a program token by token: the values of its names, and the calls that it makes.

use super::reader::Reader;
use super::tokens::Token;
use super::values;

impl Reader {
    pub(super) fn token(&mut self, at: usize) {
        match self.tokens.get(at) {
            Some(Token::Sign('=')) => self.binding(at),
            Some(Token::Name(name)) => {
                let name = name.clone();
                match self.opens(at + 1) {
                    Some(open) => self.call(&name, open),
                    None => self.bare_call(&name, at + 1),
                }
            }
            Some(Token::Sign(_) | Token::Text(_)) | None => {}
        }
    }

    /// Reads `delete x` and `commandLine 'a', 'b'` of Gradle.
    fn bare_call(&mut self, name: &str, at: usize) {
        const MAX_WORDS: usize = 64;
        if !matches!(name, "delete" | "commandLine") {
            return;
        }
        let (first, mut at) = self.value(at, 0);
        let mut words: Vec<String> = first.into_iter().map(|value| values::word(&value)).collect();
        while self.tokens.get(at) == Some(&Token::Sign(',')) && !words.is_empty() && words.len() < MAX_WORDS {
            let (value, after) = self.value(at + 1, 0);
            words.extend(value.map(|value| values::word(&value)));
            at = after;
        }
        match name {
            "delete" => self.lines.extend(words.iter().map(|path| format!("rm -rf -- {path}"))),
            _ if !words.is_empty() => self.lines.push(words.join(" ")),
            _ => {}
        }
    }

    /// Reads `h, _ := f()`, `let h: String = f()` or `char *h = "x"`: binds the name to the value, or unbinds it if the
    /// value is unknown.
    fn binding(&mut self, at: usize) {
        let Some(target) = self.bound(at) else { return };
        let (value, _) = self.value(at + 1, 0);
        match value {
            Some(value) => self.names.insert(target, value),
            None => self.names.remove(&target),
        };
    }

    fn bound(&self, at: usize) -> Option<String> {
        let name = |at: usize| match self.tokens.get(at) {
            Some(Token::Name(name)) => Some(name.clone()),
            Some(Token::Sign(_) | Token::Text(_)) | None => None,
        };
        let mut last = at.checked_sub(1)?;
        while matches!(self.tokens.get(last), Some(Token::Sign(':' | '[' | ']'))) {
            last = last.checked_sub(1)?;
        }
        let typed = last.checked_sub(2).filter(|_| matches!(self.tokens.get(last - 1), Some(Token::Sign(':' | ','))));
        typed.and_then(name).or_else(|| name(last))
    }
}
