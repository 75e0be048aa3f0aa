//! The results of `test`, `[[ … ]]` and `(( … ))`, as far as the text determines them.

use super::interpreter::Interpreter;
use crate::model::value::Value;
use crate::syntax::tree::{Part, Test, Word};

impl Interpreter<'_> {
    /// Evaluates `[[ … ]]` and `(( … ))`, which only run the substitutions in them. Returns the result, if known.
    pub(super) fn test_node(&mut self, test: &Test) -> Option<bool> {
        match test {
            Test::Arithmetic(word) => self.arithmetic_word(word).map(|number| number != 0),
            Test::Words { words, joined } => {
                let negated = words.iter().take_while(|word| plain_text(word) == Some("!")).count();
                let holds = self.test_words(words.get(negated..).unwrap_or(&[]))?;
                (!joined).then_some(holds != (negated % 2 == 1))
            }
        }
    }

    fn test_words(&mut self, words: &[Word]) -> Option<bool> {
        for (index, word) in words.iter().enumerate() {
            let operator = |word: Option<&Word>| word.and_then(plain_text).unwrap_or("").to_owned();
            let before = index.checked_sub(1).map_or(String::new(), |index| operator(words.get(index)));
            let after = operator(words.get(index + 1));
            let value = self.expand_fully(word);
            if compare(&before, 0, 0).is_some() || compare(&after, 0, 0).is_some() {
                self.evaluate(&value);
            } else if matches!(before.as_str(), "-v" | "-R") {
                self.run_subscript(&value);
            }
        }
        match words {
            [left, operator, right] => {
                let operator = plain_text(operator)?.to_owned();
                let left = self.quiet_value(left);
                if compare(&operator, 0, 0).is_some() {
                    let right = self.quiet_value(right);
                    return self.quietly(|this| compare(&operator, this.evaluate(&left)?, this.evaluate(&right)?));
                }
                let pattern = self.quietly(|this| this.pattern(right));
                let matches = pattern?.matches(&left.literal()?)?;
                match operator.as_str() {
                    "=" | "==" => Some(matches),
                    "!=" => Some(!matches),
                    _ => None,
                }
            }
            [operator, word] => {
                let operator = plain_text(operator)?.to_owned();
                unary(&operator, &self.quiet_value(word))
            }
            [word] => unary("-n", &self.quiet_value(word)),
            _ => None,
        }
    }

    /// Returns the value of a word whose substitutions have already run.
    fn quiet_value(&mut self, word: &Word) -> Value {
        self.quietly(|this| this.expand_fully(word))
    }

    /// Walks without listing commands or gaps, and restores the state.
    fn quietly<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let marks = (self.reading.commands.len(), self.reading.gaps.len());
        let before = self.state.clone();
        let result = walk(self);
        self.state = before;
        self.reading.commands.truncate(marks.0);
        self.reading.gaps.truncate(marks.1);
        result
    }

    /// Evaluates `test` and `[`, whose operators are ordinary words.
    pub(super) fn test_command(&mut self, name: &str, words: &[Value]) -> Option<bool> {
        let mut words = words;
        if name == "[" {
            words = words.split_last().filter(|(last, _)| last.literal().as_deref() == Some("]"))?.1;
        }
        for pair in words.windows(2) {
            if let [operator, name] = pair
                && matches!(operator.literal().as_deref(), Some("-v" | "-R"))
            {
                self.run_subscript(name);
            }
        }
        match words {
            [] => Some(false),
            [word] => unary("-n", word),
            [operator, word] if operator.literal().as_deref() == Some("!") => unary("-n", word).map(|holds| !holds),
            [operator, word] => unary(&operator.literal()?, word),
            [left, operator, right] => {
                let (left, operator, right) = (left.literal()?, operator.literal()?, right.literal()?);
                match &*operator {
                    "=" | "==" => Some(left == right),
                    "!=" => Some(left != right),
                    operator => compare(operator, left.trim().parse().ok()?, right.trim().parse().ok()?),
                }
            }
            _ => None,
        }
    }
}

fn plain_text(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, quoted: false, .. }] => Some(text),
        _ => None,
    }
}

fn unary(operator: &str, word: &Value) -> Option<bool> {
    // An unknown piece may be empty, but text next to it is not.
    let text = word.pieces.iter().any(|(piece, _)| piece.as_text().is_some_and(|text| !text.is_empty()));
    let empty = if text { Some(false) } else { word.literal().map(|_| true) };
    match operator {
        "-n" => empty.map(|empty| !empty),
        "-z" => empty,
        _ => None,
    }
}

fn compare(operator: &str, left: i64, right: i64) -> Option<bool> {
    Some(match operator {
        "-eq" => left == right,
        "-ne" => left != right,
        "-lt" => left < right,
        "-le" => left <= right,
        "-gt" => left > right,
        "-ge" => left >= right,
        _ => return None,
    })
}
