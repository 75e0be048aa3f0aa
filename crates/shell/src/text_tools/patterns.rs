//! Shell patterns: `*`, `?`, `[a-z]`, `@(a|b)`, matched against a known text.

use crate::model::value::{Piece, Value};
use reflex_work as work;
use std::cell::Cell;

/// Maximum nesting depth of patterns.
const MAX_DEPTH: u32 = 8;

/// Maximum number of steps of a pattern over all matches; beyond it, the answers are unknown.
const MAX_STEPS: u32 = 100_000;

/// A pattern that is completely known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    tokens: Vec<Token>,
    /// Whether `*` and `?` do not match a slash.
    of_path: bool,
    steps: Cell<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    Many,
    Set {
        chars: Vec<(char, char)>,
        negated: bool,
    },
    /// `@(…)` and its variants: the mark, and the alternatives between its bars.
    Choice {
        mark: char,
        options: Vec<Vec<Token>>,
    },
}

impl Pattern {
    /// Creates a pattern for names; `None` if a piece is unknown.
    pub(crate) fn from_value(value: &Value) -> Option<Pattern> {
        let mut tokens = Vec::new();
        for (piece, _) in &value.pieces {
            match piece {
                Piece::Text(text) => tokens.extend(text.chars().map(Token::Char)),
                Piece::Glob(text) => tokens.extend(parse(text)?),
                Piece::Resolved => {}
                Piece::Home(_) | Piece::Variable(_) | Piece::Output(_) | Piece::Unknown(_) => return None,
            }
        }
        Some(Pattern { tokens, of_path: false, steps: Cell::new(0) })
    }

    /// Creates a pattern whose `*` and `?` do not match a slash.
    pub(crate) fn of_path(value: &Value) -> Option<Pattern> {
        Pattern::from_value(value).map(|pattern| Pattern { of_path: true, ..pattern })
    }

    /// Whether the pattern matches the complete text; `None` if the step limit is reached.
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        let chars: Vec<char> = text.chars().collect();
        let fits = self.fits(&chars);
        (!self.is_exhausted()).then_some(fits)
    }

    /// Whether the step limit is reached, so that the answers are unknown.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    fn fits(&self, chars: &[char]) -> bool {
        let mut matcher = Matcher { of_path: self.of_path, steps: self.steps.get() };
        let fits = matcher.fits(&self.tokens, chars);
        work::spend(u64::from(matcher.steps - self.steps.get()) / 40);
        self.steps.set(matcher.steps);
        fits
    }

    /// Whether the pattern is `*`.
    pub(crate) fn fits_all(&self) -> bool {
        !self.tokens.is_empty() && self.tokens.iter().all(|token| *token == Token::Many)
    }

    /// Whether the pattern contains `@(a|b)` or one of its variants.
    pub(crate) fn is_extended(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Choice { .. }))
    }

    /// Returns the text that the pattern matches, if it has no wildcards.
    pub(crate) fn text(&self) -> Option<String> {
        let ch = |token: &Token| match token {
            Token::Char(ch) => Some(*ch),
            Token::One | Token::Many | Token::Set { .. } | Token::Choice { .. } => None,
        };
        self.tokens.iter().map(ch).collect()
    }

    /// Returns the length in characters of the longest or shortest prefix of the text that matches.
    pub(crate) fn front(&self, chars: &[char], longest: bool) -> Option<usize> {
        let fits = |length: &usize| self.is_exhausted() || chars.get(..*length).is_some_and(|part| self.fits(part));
        if longest { (0..=chars.len()).rev().find(fits) } else { (0..=chars.len()).find(fits) }
    }

    /// Returns the start of the longest or shortest suffix of the text that matches, in characters.
    pub(crate) fn back(&self, chars: &[char], longest: bool) -> Option<usize> {
        let fits = |start: &usize| self.is_exhausted() || chars.get(*start..).is_some_and(|part| self.fits(part));
        if longest { (0..=chars.len()).find(fits) } else { (0..=chars.len()).rev().find(fits) }
    }
}

struct Matcher {
    of_path: bool,
    steps: u32,
}

impl Matcher {
    fn fits(&mut self, tokens: &[Token], chars: &[char]) -> bool {
        let (mut token, mut ch) = (0, 0);
        // The token index of the last `*`, and the end of the text that it matches.
        let mut star: Option<(usize, usize)> = None;
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return false;
            }
            let rest = chars.get(ch..).unwrap_or(&[]);
            match tokens.get(token) {
                Some(Token::Choice { mark, options })
                    if self.choice(*mark, options, tokens.get(token + 1..).unwrap_or(&[]), rest) =>
                {
                    return true;
                }
                Some(Token::Many) => {
                    star = Some((token, ch));
                    token += 1;
                    continue;
                }
                Some(one) if rest.first().is_some_and(|next| self.is_one(one, *next)) => {
                    token += 1;
                    ch += 1;
                    continue;
                }
                None if rest.is_empty() => return true,
                Some(_) | None => {}
            }
            let Some((at, reach)) = star else { return false };
            match chars.get(reach) {
                Some('/') if self.of_path => return false,
                Some(_) => {
                    star = Some((at, reach + 1));
                    token = at + 1;
                    ch = reach + 1;
                }
                None => return false,
            }
        }
    }

    fn is_one(&self, token: &Token, ch: char) -> bool {
        match token {
            Token::Char(known) => *known == ch,
            Token::One => !(self.of_path && ch == '/'),
            Token::Set { chars, negated } => chars.iter().any(|(from, to)| (*from..=*to).contains(&ch)) != *negated,
            Token::Many | Token::Choice { .. } => false,
        }
    }

    fn choice(&mut self, mark: char, options: &[Vec<Token>], rest: &[Token], chars: &[char]) -> bool {
        if matches!(mark, '?' | '*') && self.fits(rest, chars) {
            return true;
        }
        for length in 0..=chars.len() {
            let (front, back) = chars.split_at(length);
            let fits = options.iter().any(|option| self.fits(option, front));
            let taken = if mark == '!' { !fits } else { fits };
            let repeats = matches!(mark, '*' | '+') && length > 0;
            if taken && (self.fits(rest, back) || (repeats && self.choice('*', options, rest, back))) {
                return true;
            }
            if self.steps > MAX_STEPS {
                return false;
            }
        }
        false
    }
}

/// Parses a pattern; `None` if it is not understood.
fn parse(text: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    tokens(&chars, &mut at, 0)
}

fn tokens(chars: &[char], at: &mut usize, depth: u32) -> Option<Vec<Token>> {
    let mut found = Vec::new();
    while let Some(ch) = chars.get(*at).copied() {
        if depth > 0 && matches!(ch, '|' | ')') {
            break;
        }
        let choice = matches!(ch, '@' | '?' | '*' | '+' | '!') && chars.get(*at + 1) == Some(&'(');
        *at += 1;
        found.push(match ch {
            _ if choice => choice_token(ch, chars, at, depth)?,
            '*' => Token::Many,
            '?' => Token::One,
            '[' => set(chars, at)?,
            '\\' => {
                *at += 1;
                Token::Char(chars.get(*at - 1).copied()?)
            }
            ch => Token::Char(ch),
        });
    }
    Some(found)
}

fn choice_token(mark: char, chars: &[char], at: &mut usize, depth: u32) -> Option<Token> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let mut options = Vec::new();
    loop {
        *at += 1;
        options.push(tokens(chars, at, depth + 1)?);
        match chars.get(*at) {
            Some('|') => {}
            Some(_) => break,
            None => return None,
        }
    }
    *at += 1;
    Some(Token::Choice { mark, options })
}

/// Parses the inside of `[…]`, after the opening bracket. Named classes are those of the C locale.
fn set(chars: &[char], at: &mut usize) -> Option<Token> {
    let negated = matches!(chars.get(*at), Some('!' | '^'));
    *at += usize::from(negated);
    let mut found: Vec<(char, char)> = Vec::new();
    let first = *at;
    loop {
        let ch = chars.get(*at).copied()?;
        if ch == ']' && *at > first {
            *at += 1;
            return Some(Token::Set { chars: found, negated });
        }
        if ch == '[' && chars.get(*at + 1) == Some(&':') {
            let end = chars.iter().skip(*at + 2).position(|ch| *ch == ':')? + *at + 2;
            let name: String = chars.get(*at + 2..end)?.iter().collect();
            found.extend(class(&name)?);
            *at = end + 2;
            continue;
        }
        let from = if ch == '\\' {
            *at += 1;
            chars.get(*at).copied()?
        } else {
            ch
        };
        *at += 1;
        match (chars.get(*at), chars.get(*at + 1)) {
            (Some('-'), Some(to)) if *to != ']' => {
                found.push((from, *to));
                *at += 2;
            }
            _ => found.push((from, from)),
        }
    }
}

/// Returns the character ranges of a named class.
pub(crate) fn class(name: &str) -> Option<Vec<(char, char)>> {
    Some(match name {
        "alpha" => vec![('A', 'Z'), ('a', 'z')],
        "digit" => vec![('0', '9')],
        "alnum" => vec![('0', '9'), ('A', 'Z'), ('a', 'z')],
        "upper" => vec![('A', 'Z')],
        "lower" => vec![('a', 'z')],
        "space" => vec![(' ', ' '), ('\t', '\r')],
        "blank" => vec![(' ', ' '), ('\t', '\t')],
        "xdigit" => vec![('0', '9'), ('A', 'F'), ('a', 'f')],
        "punct" => vec![('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "print" => vec![(' ', '~')],
        "graph" => vec![('!', '~')],
        "cntrl" => vec![('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::value::Origin;

    #[track_caller]
    fn check(pattern: &str, text: &str, fits: bool) {
        let value = Value::piece(Piece::Glob(pattern.into()), Origin::default());
        assert_eq!(
            Pattern::from_value(&value).and_then(|pattern| pattern.matches(text)),
            Some(fits),
            "{pattern} {text}"
        );
    }

    #[test]
    fn patterns_are_those_of_bash() {
        check("a*c", "abbc", true);
        check("a*c", "abbd", false);
        check("[a-c]?", "bx", true);
        check("[!a-c]", "b", false);
        check("[[:digit:]x]", "7", true);
        check("@(rm|ls)", "ls", true);
        check("+(ab)", "ababab", true);
        check("!(rm)", "rm", false);
        check("!(rm)", "rmx", true);
        check("*(a|b)c", "abbac", true);
        check("?(a)b", "b", true);
    }

    #[test]
    fn matching_ends_on_every_pattern() {
        check(&"*a".repeat(50), &"a".repeat(60), true);
        let value = Value::piece(Piece::Glob(format!("{}b", "*(a|aa)".repeat(20))), Origin::default());
        assert_eq!(Pattern::from_value(&value).and_then(|pattern| pattern.matches(&"a".repeat(60))), None);
    }
}
