//! Values of expressions: strings, names, calls, and the methods of their results.

use super::reader::Reader;
use super::tokens::Token;
use super::values;

/// Maximum nesting depth of values.
const MAX_LEVELS: usize = 12;

/// A value, if it is known, and the position of the token after it.
type Valued = (Option<String>, usize);

impl Reader {
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
}
