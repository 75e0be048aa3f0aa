//! Shell arithmetic: `$(( … ))`, `let`, subscripts, counting loops.

use super::fields;
use crate::interpret::interpreter::Interpreter;
use crate::model::value::{Origin, Value};
use crate::syntax::parser::Placement;
use crate::syntax::tree::Word;

/// Maximum nesting of expressions, and of variables that contain expressions.
const MAX_DEPTH: u32 = 24;

/// Maximum length in bytes of an expression; the result of a longer one is unknown.
const MAX_LENGTH: usize = 4096;

impl Interpreter<'_> {
    /// Evaluates the inside of `(( … ))` with its assignments. Returns the result, if known.
    pub(crate) fn arithmetic_word(&mut self, word: &Word) -> Option<i64> {
        if word.parts.is_empty() {
            return Some(0);
        }
        let value = self.expand_fully(word);
        self.evaluate(&value)
    }

    /// Evaluates a text that a shell takes as arithmetic. Returns the result, if known.
    pub(crate) fn evaluate(&mut self, value: &Value) -> Option<i64> {
        let Some(text) = value.literal() else {
            self.run_subscript(value);
            return None;
        };
        self.evaluate_text(&text, value.origin(), 0)
    }

    /// Returns the result as text, or a pattern of digits if it is unknown.
    pub(crate) fn number_value(&mut self, value: &Value) -> Value {
        match self.evaluate(value) {
            Some(result) => Value::text(result.to_string(), value.origin()),
            None => Value::piece(fields::number(), value.origin()),
        }
    }

    fn evaluate_text(&mut self, text: &str, origin: Origin, depth: u32) -> Option<i64> {
        if text.len() > MAX_LENGTH || depth > MAX_DEPTH {
            return None;
        }
        self.run_substitutions(text, origin);
        // The shell removes quotes in a subscript before it evaluates it.
        let chars: Vec<char> = text.chars().filter(|ch| *ch != '"').collect();
        let mut expression = Expression { chars: &chars, at: 0, depth, idle: 0, origin };
        let result = expression.comma(self)?;
        expression.blanks();
        (expression.at == chars.len()).then_some(result)
    }

    /// Runs the substitutions in the subscript of a name, which the shell expands even if the name was quoted.
    pub(crate) fn run_subscript(&mut self, name: &Value) {
        if !name.pieces.iter().any(|(piece, _)| piece.as_text().is_some_and(|text| text.contains('['))) {
            return;
        }
        if let Some(text) = name.literal() {
            self.run_substitutions(&text, name.origin());
        }
    }

    fn run_substitutions(&mut self, text: &str, origin: Origin) {
        if !text.contains("$(") && !text.contains('`') {
            return;
        }
        if !self.descend() {
            return;
        }
        let derivation = self.derive("subscript", text, origin);
        let placement = Placement::From(Origin { span: origin.span, derivation });
        let parts = self.parse(text, placement, |parser| parser.heredoc_parts());
        let _ = self.expand_fully(&Word { parts, origin });
        self.ascend();
    }

    fn variable_number(&mut self, name: &str, element: Option<i64>, origin: Origin, depth: u32) -> Option<i64> {
        let name = match element {
            Some(index) => format!("{name}[{index}]"),
            None => name.to_owned(),
        };
        let values = self.lookup(&name, origin)?;
        let Some(value) = values.first() else { return Some(0) };
        let text = value.literal()?.trim().to_owned();
        if text.is_empty() {
            return Some(0);
        }
        match text.parse::<i64>() {
            Ok(number) if !text.starts_with('0') || text == "0" => Some(number),
            _ => self.evaluate_text(&text, origin, depth + 1),
        }
    }
}

/// An expression that is evaluated while it is parsed.
struct Expression<'t> {
    chars: &'t [char],
    at: usize,
    depth: u32,
    /// Positive in parts whose result is unused. Assignments have no effect there.
    idle: u32,
    origin: Origin,
}

/// A variable or element that can be assigned.
struct Place {
    name: String,
    element: Option<i64>,
    known: bool,
}

/// Binary operators by precedence, lowest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

const ASSIGNING: [&str; 11] = ["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "="];

impl Expression<'_> {
    fn blanks(&mut self) {
        while self.chars.get(self.at).is_some_and(|ch| ch.is_whitespace()) {
            self.at += 1;
        }
    }

    fn next_is(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, ch)| self.chars.get(self.at + offset) == Some(&ch))
    }

    fn eat(&mut self, text: &str) -> bool {
        self.blanks();
        let found = self.next_is(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn comma(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        let mut result = self.assigned(shell);
        while self.eat(",") {
            result = self.assigned(shell);
        }
        result
    }

    fn assigned(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        self.depth += 1;
        let result = if self.depth > MAX_DEPTH { None } else { self.assigned_here(shell) };
        self.depth -= 1;
        result
    }

    fn assigned_here(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        let start = self.at;
        if let Some(place) = self.place(shell) {
            self.blanks();
            let operator = ASSIGNING.iter().find(|operator| self.next_is(operator) && !self.next_is("=="));
            if let Some(operator) = operator {
                self.at += operator.len();
                let right = self.assigned(shell);
                let binary = operator.strip_suffix('=').unwrap_or("");
                let result = if binary.is_empty() {
                    right
                } else {
                    let left = self.read_place(shell, &place);
                    left.zip(right).and_then(|(left, right)| apply(binary, left, right))
                };
                self.write_place(shell, &place, result);
                return result;
            }
        }
        self.at = start;
        self.conditional(shell)
    }

    fn conditional(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        let condition = self.binary(shell, 0);
        if !self.eat("?") {
            return condition;
        }
        self.idle += u32::from(condition == Some(0));
        let if_true = self.assigned(shell);
        self.idle -= u32::from(condition == Some(0));
        if !self.eat(":") {
            return None;
        }
        let skipped = u32::from(condition.is_some_and(|condition| condition != 0));
        self.idle += skipped;
        let if_false = self.assigned(shell);
        self.idle -= skipped;
        if condition? != 0 { if_true } else { if_false }
    }

    fn binary(&mut self, shell: &mut Interpreter<'_>, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.power(shell) };
        let mut left = self.binary(shell, level + 1);
        loop {
            self.blanks();
            let operator = operators.iter().find(|operator| self.next_is(operator) && !self.is_longer(operator));
            let Some(operator) = operator else { return left };
            self.at += operator.len();
            let skips = match *operator {
                "&&" => left == Some(0),
                "||" => left.is_some_and(|left| left != 0),
                _ => false,
            };
            self.idle += u32::from(skips);
            let right = self.binary(shell, level + 1);
            self.idle -= u32::from(skips);
            left = match *operator {
                "&&" | "||" if skips => Some(i64::from(*operator == "||")),
                "&&" | "||" => left.and(right).map(|right| i64::from(right != 0)),
                operator => left.zip(right).and_then(|(left, right)| apply(operator, left, right)),
            };
        }
    }

    /// Whether the text at the cursor is a longer operator than this one.
    fn is_longer(&self, operator: &str) -> bool {
        let longer = ["||", "&&", "<<", ">>", "<=", ">=", "==", "**", "|=", "&=", "^=", "+=", "-=", "*=", "/=", "%="];
        longer.iter().any(|long| long.len() > operator.len() && long.starts_with(operator) && self.next_is(long))
            || (matches!(operator, "<<" | ">>") && self.chars.get(self.at + 2) == Some(&'='))
    }

    fn power(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        let base = self.unary(shell);
        if !self.eat("**") {
            return base;
        }
        self.depth += 1;
        let exponent = if self.depth > MAX_DEPTH { None } else { self.power(shell) };
        self.depth -= 1;
        base.zip(exponent).and_then(|(base, exponent)| Some(base.wrapping_pow(u32::try_from(exponent).ok()?)))
    }

    fn unary(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        self.blanks();
        for (step, operator) in [(1, "++"), (-1, "--")] {
            let start = self.at;
            if self.eat(operator) {
                if let Some(place) = self.place(shell) {
                    let result = self.read_place(shell, &place).map(|number| number.wrapping_add(step));
                    self.write_place(shell, &place, result);
                    return result;
                }
                self.at = start;
            }
        }
        let operator = self.chars.get(self.at).copied().filter(|ch| matches!(ch, '!' | '~' | '+' | '-'));
        let Some(operator) = operator else { return self.primary(shell) };
        self.at += 1;
        self.depth += 1;
        let number = if self.depth > MAX_DEPTH { None } else { self.unary(shell) };
        self.depth -= 1;
        let number = number?;
        Some(match operator {
            '!' => i64::from(number == 0),
            '~' => !number,
            '-' => number.wrapping_neg(),
            _ => number,
        })
    }

    fn primary(&mut self, shell: &mut Interpreter<'_>) -> Option<i64> {
        self.blanks();
        if self.eat("(") {
            self.depth += 1;
            let inner = if self.depth > MAX_DEPTH { None } else { self.comma(shell) };
            self.depth -= 1;
            return if self.eat(")") { inner } else { None };
        }
        if self.chars.get(self.at).is_some_and(char::is_ascii_digit) {
            return self.number();
        }
        let place = self.place(shell)?;
        let number = self.read_place(shell, &place);
        for (step, operator) in [(1, "++"), (-1, "--")] {
            if self.eat(operator) {
                self.write_place(shell, &place, number.map(|number| number.wrapping_add(step)));
            }
        }
        number
    }

    /// `12`, `0x1f`, `017`, `2#101`
    fn number(&mut self) -> Option<i64> {
        let is_part = |ch: &&char| ch.is_ascii_alphanumeric() || matches!(ch, '#' | '@' | '_');
        let text: String = self.chars.get(self.at..)?.iter().take_while(is_part).collect();
        self.at += text.len();
        if let Some((base, digits)) = text.split_once('#') {
            return in_base(base.parse().ok().filter(|base| (2..=64).contains(base))?, digits);
        }
        if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
            return i64::from_str_radix(digits, 16).ok();
        }
        let octal = text.len() > 1 && text.starts_with('0');
        if octal { i64::from_str_radix(&text, 8).ok() } else { text.parse().ok() }
    }

    fn place(&mut self, shell: &mut Interpreter<'_>) -> Option<Place> {
        self.blanks();
        let first = self.chars.get(self.at)?;
        if !first.is_ascii_alphabetic() && *first != '_' {
            return None;
        }
        let is_part = |ch: &&char| ch.is_ascii_alphanumeric() || **ch == '_';
        let name: String = self.chars.get(self.at..)?.iter().take_while(is_part).collect();
        self.at += name.len();
        if self.chars.get(self.at) != Some(&'[') {
            return Some(Place { name, element: None, known: true });
        }
        self.at += 1;
        let element = self.comma(shell);
        // A subscript that is not arithmetic is the name of an element.
        while self.chars.get(self.at).is_some_and(|ch| *ch != ']') {
            self.at += 1;
        }
        self.at += 1;
        Some(Place { name, element, known: element.is_some() })
    }

    fn read_place(&mut self, shell: &mut Interpreter<'_>, place: &Place) -> Option<i64> {
        if !place.known {
            return None;
        }
        shell.variable_number(&place.name, place.element, self.origin, self.depth)
    }

    fn write_place(&mut self, shell: &mut Interpreter<'_>, place: &Place, number: Option<i64>) {
        if self.idle > 0 {
            return;
        }
        let value = match number {
            Some(number) => Value::text(number.to_string(), self.origin),
            None => Value::piece(fields::number(), self.origin),
        };
        match (place.known, place.element) {
            (true, None) => shell.state.assign(&place.name, vec![value]),
            (_, element) => {
                let index = element.and_then(|index| usize::try_from(index).ok());
                shell.state.assign_element(&place.name, index, value);
            }
        }
    }
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.wrapping_shl(u32::try_from(right).ok()?),
        ">>" => left.wrapping_shr(u32::try_from(right).ok()?),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}

/// Parses a number in this base. Digits, lower case, upper case, `@` and `_` have the values 0 to 63; up to base 36,
/// case does not matter.
fn in_base(base: i64, digits: &str) -> Option<i64> {
    let worth = |ch: char| match ch {
        '0'..='9' => Some(i64::from(u32::from(ch) - u32::from('0'))),
        'a'..='z' => Some(i64::from(u32::from(ch) - u32::from('a')) + 10),
        'A'..='Z' if base <= 36 => Some(i64::from(u32::from(ch) - u32::from('A')) + 10),
        'A'..='Z' => Some(i64::from(u32::from(ch) - u32::from('A')) + 36),
        '@' => Some(62),
        '_' => Some(63),
        _ => None,
    };
    digits
        .chars()
        .try_fold(0_i64, |sum, ch| sum.checked_mul(base)?.checked_add(worth(ch).filter(|value| *value < base)?))
}
