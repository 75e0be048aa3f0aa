//! Reads a program token by token: the values of its names, and the calls that it makes.

use super::tokens::Token;
use super::values;
use std::collections::BTreeMap;

/// Maximum nesting depth of values.
const MAX_LEVELS: usize = 12;

pub(super) struct Reader {
    pub(super) tokens: Vec<Token>,
    /// Known values of names.
    pub(super) names: BTreeMap<String, String>,
    pub(super) lines: Vec<String>,
    /// Files that were read before.
    pub(super) read: Vec<String>,
}

/// A value, if it is known, and the position of the token after it.
type Valued = (Option<String>, usize);

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

    /// Returns the bracket that opens here, possibly after the `!` of a macro.
    fn opens(&self, at: usize) -> Option<usize> {
        match self.tokens.get(at) {
            Some(Token::Sign('(')) => Some(at),
            Some(Token::Sign('!')) if self.tokens.get(at + 1) == Some(&Token::Sign('(')) => Some(at + 1),
            Some(Token::Sign(_) | Token::Text(_) | Token::Name(_)) | None => None,
        }
    }

    /// Reads strings and names joined by `+`.
    pub(super) fn value(&mut self, at: usize, level: usize) -> Valued {
        let (mut value, mut at) = self.term(at, level);
        while matches!(self.tokens.get(at), Some(Token::Sign('+'))) {
            let (next, after) = self.term(at + 1, level);
            value = value.zip(next).map(|(value, next)| value + &next);
            at = after;
        }
        (value, at)
    }

    fn term(&mut self, at: usize, level: usize) -> Valued {
        if level > MAX_LEVELS {
            return (None, at + 1);
        }
        match self.tokens.get(at).cloned() {
            Some(Token::Text(text)) => {
                let mut text = text;
                let mut at = at + 1;
                while let Some(Token::Text(more)) = self.tokens.get(at) {
                    text.push_str(more);
                    at += 1;
                }
                self.chain(Some(text), at, level)
            }
            Some(Token::Sign('&' | '*')) => self.term(at + 1, level + 1),
            Some(Token::Sign('(')) => {
                let (value, _) = self.value(at + 1, level + 1);
                let close = self.close(at);
                self.chain(value, close + 1, level)
            }
            Some(Token::Name(word)) if matches!(word.as_str(), "new" | "await" | "try" | "return") => {
                self.term(at + 1, level + 1)
            }
            // `atPath: x`
            Some(Token::Name(_)) if matches!(self.tokens.get(at + 1), Some(Token::Sign(':'))) => {
                self.term(at + 2, level + 1)
            }
            Some(Token::Name(name)) => match self.opens(at + 1) {
                Some(open) => {
                    let arguments = self.arguments(open, level + 1);
                    let value = self.function(&name, &arguments, open);
                    let close = self.close(open);
                    self.chain(value, close + 1, level)
                }
                None => {
                    let value = self.names.get(&name).cloned();
                    self.chain(value, at + 1, level)
                }
            },
            Some(Token::Sign(_)) | None => (None, at + 1),
        }
    }

    /// Reads the method calls after a value: `.join("x").unwrap()`.
    fn chain(&mut self, mut value: Option<String>, mut at: usize, level: usize) -> Valued {
        while let (Some(Token::Sign('.' | '?')), Some(Token::Name(method))) =
            (self.tokens.get(at), self.tokens.get(at + 1))
        {
            let method = method.clone();
            at += 2;
            if let Some(open) = self.opens(at) {
                let arguments = self.arguments(open, level + 1);
                value = value.and_then(|value| values::method(value, &method, &arguments));
                at = self.close(open) + 1;
            }
        }
        (value, at)
    }

    /// Returns the values between brackets.
    pub(super) fn arguments(&mut self, open: usize, level: usize) -> Vec<Option<String>> {
        let close = self.close(open);
        let mut values = Vec::new();
        let mut at = open + 1;
        while at < close && level <= MAX_LEVELS {
            let (value, _) = self.value(at, level);
            values.push(value);
            at = self.comma(at, close) + 1;
        }
        values
    }

    fn comma(&self, from: usize, close: usize) -> usize {
        let mut at = from;
        while at < close {
            match self.tokens.get(at) {
                Some(Token::Sign(',')) => return at,
                Some(Token::Sign('(' | '[' | '{')) => at = self.close(at).max(at),
                Some(Token::Sign(_) | Token::Text(_) | Token::Name(_)) | None => {}
            }
            at += 1;
        }
        close
    }

    pub(super) fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Sign(_) | Token::Text(_) | Token::Name(_) => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len()
    }

    /// Returns the method called on a value, with its opening bracket.
    pub(super) fn method_at(&self, at: usize) -> Option<(String, usize)> {
        let (Some(Token::Sign('.' | '?')), Some(Token::Name(method))) = (self.tokens.get(at), self.tokens.get(at + 1))
        else {
            return None;
        };
        Some((method.clone(), self.opens(at + 2)?))
    }

    /// Returns every name between brackets, or of the program if `open` is 0.
    pub(super) fn names_in(&self, open: usize) -> impl Iterator<Item = &str> {
        let end = if open == 0 { self.tokens.len() } else { self.close(open) };
        self.tokens.get(open..end).unwrap_or(&[]).iter().filter_map(|token| match token {
            Token::Name(name) => Some(name.as_str()),
            Token::Sign(_) | Token::Text(_) => None,
        })
    }

    /// Returns every string between brackets, nested ones included.
    pub(super) fn texts(&self, open: usize) -> Vec<String> {
        let inside = self.tokens.get(open..self.close(open)).unwrap_or(&[]);
        let text = |token: &Token| match token {
            Token::Text(text) => Some(text.clone()),
            Token::Sign(_) | Token::Name(_) => None,
        };
        inside.iter().filter_map(text).collect()
    }
}
