//! A program as tokens, what is known of its names, and the lines found so far.

use super::tokens::Token;
use std::collections::BTreeMap;

pub(super) struct Reader {
    pub(super) tokens: Vec<Token>,
    /// Known values of names.
    pub(super) names: BTreeMap<String, String>,
    pub(super) lines: Vec<String>,
    /// Files that were read before.
    pub(super) read: Vec<String>,
}

impl Reader {
    /// Returns the bracket that opens here, possibly after the `!` of a macro.
    pub(super) fn opens(&self, at: usize) -> Option<usize> {
        match self.tokens.get(at) {
            Some(Token::Sign('(')) => Some(at),
            Some(Token::Sign('!')) if self.tokens.get(at + 1) == Some(&Token::Sign('(')) => Some(at + 1),
            Some(Token::Sign(_) | Token::Text(_) | Token::Name(_)) | None => None,
        }
    }

    pub(super) fn comma(&self, from: usize, close: usize) -> usize {
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
