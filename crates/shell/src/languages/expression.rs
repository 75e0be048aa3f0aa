//! Evaluates expressions as far as they are known. Every call in an expression is made, even if its operands are
//! unknown.

use super::calls::Arguments;
use super::datum::{Function, ScriptValue, Text, Tokens};
use super::fold;
use super::token::{Chunk, Kind};
use super::walker::ExprInterpreter;
use crate::model::language::Language;
use crate::model::value::{Piece, UnknownReason, Value};
use std::rc::Rc;

/// The effect of an operator on known values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Assign,
    Condition,
    Or,
    And,
    Compare,
    Append,
    Join,
    Add,
    Times,
    Path,
    Format,
    Bits(char),
    Range,
    Other,
}

impl ExprInterpreter<'_, '_> {
    /// Evaluates an expression, up to a comma.
    pub(super) fn expression(&mut self) -> ScriptValue {
        let unknown = self.unknown();
        self.deeper(unknown, |this| match this.assignment() {
            Some(datum) => datum,
            None => this.operation(0),
        })
    }

    /// Evaluates operators that bind at least as tightly as `level`.
    fn operation(&mut self, level: u8) -> ScriptValue {
        let mut left = self.operand();
        while let Some((operator, power, length)) = self.operator() {
            if power < level || !self.step() {
                break;
            }
            self.at += length;
            left = if operator == Operator::Condition {
                self.condition(left)
            } else if operator == Operator::Assign {
                self.expression()
            } else {
                let right = self.deeper_operation(power + 1);
                self.operate(operator, left, right)
            };
        }
        left
    }

    fn deeper_operation(&mut self, level: u8) -> ScriptValue {
        let unknown = self.unknown();
        self.deeper(unknown, |this| this.operation(level))
    }

    /// Returns the next operator, its precedence, and its number of tokens.
    fn operator(&self) -> Option<(Operator, u8, usize)> {
        let language = self.vocabulary.dialect.language;
        let found = match self.kind()? {
            Kind::Word(word) => match word.as_ref() {
                "if" if language == Language::Python => (Operator::Condition, 1),
                "or" | "||" => (Operator::Or, 2),
                "and" => (Operator::And, 3),
                "in" | "is" | "not" | "instanceof" | "eq" | "ne" | "isa" if language != Language::AppleScript => {
                    (Operator::Compare, 4)
                }
                "x" if language == Language::Perl => (Operator::Times, 8),
                _ => return None,
            },
            Kind::Symbol(symbol) if self.vocabulary.dialect.concat.contains(symbol) => (Operator::Add, 7),
            Kind::Symbol(symbol) => match *symbol {
                "=" | "+=" | "-=" | "*=" | "/=" | ".=" | "||=" | "&&=" | "??=" | "|=" | "%=" | "**=" | "//=" => {
                    (Operator::Assign, 0)
                }
                "=>" if self.vocabulary.dialect.language == Language::Perl => return None,
                "?" => (Operator::Condition, 1),
                "||" | "??" => (Operator::Or, 2),
                "//" if language == Language::Perl => (Operator::Or, 2),
                "&&" => (Operator::And, 3),
                "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "=~" | "!~" | "<=>" | "~=" => {
                    (Operator::Compare, 4)
                }
                "<<" if language == Language::Ruby => (Operator::Append, 5),
                ".." | "..." => (Operator::Range, 4),
                "|" => (Operator::Bits('|'), 5),
                "&" => (Operator::Bits('&'), 5),
                "^" => (Operator::Bits('^'), 5),
                "<<" => (Operator::Bits('<'), 6),
                ">>" | ">>>" => (Operator::Bits('>'), 6),
                "+" => (Operator::Join, 7),
                "-" => (Operator::Bits('-'), 7),
                "*" => (Operator::Times, 8),
                "/" => (Operator::Path, 8),
                "//" => (Operator::Other, 8),
                "%" => (Operator::Format, 8),
                "**" => (Operator::Other, 9),
                _ => return None,
            },
            Kind::Number(_)
            | Kind::Text(_)
            | Kind::Run(_)
            | Kind::Words(_)
            | Kind::Pattern
            | Kind::Open(_)
            | Kind::Close(_)
            | Kind::End => return None,
        };
        let two = matches!((self.word(), self.word_at(self.at + 1)), ("not", "in") | ("is", "not"));
        Some((found.0, found.1, if two { 2 } else { 1 }))
    }

    /// Evaluates the rest of a conditional expression. In Python, `left` is the value if the condition holds; elsewhere
    /// it is the condition.
    fn condition(&mut self, left: ScriptValue) -> ScriptValue {
        let python = self.vocabulary.dialect.language == Language::Python;
        if python {
            self.deeper_operation(2);
            if !self.takes_word("else") {
                return left;
            }
            let otherwise = self.expression();
            return ScriptValue::any(vec![left, otherwise]);
        }
        let one = self.expression();
        if !self.takes_symbol(":") {
            return one;
        }
        let other = self.expression();
        ScriptValue::any(vec![one, other])
    }

    fn operate(&mut self, operator: Operator, left: ScriptValue, right: ScriptValue) -> ScriptValue {
        let origin = self.origin;
        match operator {
            Operator::Or => fold::or(&left, right),
            Operator::And => ScriptValue::any(vec![right]),
            Operator::Compare => ScriptValue::unknown(UnknownReason::Branches, origin),
            Operator::Add | Operator::Join | Operator::Append => fold::add(&left, &right, origin),
            Operator::Times => fold::times(&left, &right, origin),
            Operator::Path => fold::path(&left, &right, origin),
            Operator::Format => fold::format_percent(&left, &right, origin),
            Operator::Bits(sign) => fold::bits(sign, &left, &right).unwrap_or_else(|| self.unknown()),
            Operator::Range => fold::range(&[left, right]).unwrap_or_else(|| self.unknown()),
            Operator::Assign | Operator::Condition | Operator::Other => {
                let mut text = left.text(origin);
                text.taint(&right.text(origin));
                text.value = Value::piece(Piece::Unknown(UnknownReason::Arithmetic), origin);
                ScriptValue::Text(text)
            }
        }
    }

    /// Evaluates an operand with its prefix operators and the calls after it.
    fn operand(&mut self) -> ScriptValue {
        if !self.step() {
            return self.unknown();
        }
        let unknown = self.unknown();
        let Some(kind) = self.kind().cloned() else { return unknown };
        match kind {
            Kind::Symbol(symbol) => self.signed(symbol),
            Kind::Word(word) => self.named(&word),
            Kind::Number(number) => {
                self.at += 1;
                self.after(ScriptValue::Number(number), None)
            }
            Kind::Text(chunks) => {
                let mut text = ScriptValue::Text(Text::default());
                // Adjacent string literals are concatenated.
                let mut next = Some(chunks);
                while let Some(chunks) = next.take() {
                    self.at += 1;
                    let more = self.chunks(&chunks);
                    text = fold::concat(&text, &more, self.origin);
                    next = match self.kind() {
                        Some(Kind::Text(chunks)) => Some(chunks.clone()),
                        _ => None,
                    };
                }
                self.after(text, None)
            }
            Kind::Run(chunks) => {
                self.at += 1;
                let text = self.chunks(&chunks);
                let result = self.call("`", Arguments::from_positional(vec![text]));
                self.after(result, None)
            }
            Kind::Words(words) => {
                self.at += 1;
                let words = words.split_whitespace().map(|word| self.text_datum(word)).collect();
                self.after(ScriptValue::list(words), None)
            }
            Kind::Pattern => {
                self.at += 1;
                self.after(unknown, None)
            }
            Kind::Open(bracket) => self.bracket(bracket),
            Kind::Close(_) | Kind::End => unknown,
        }
    }

    fn signed(&mut self, symbol: &str) -> ScriptValue {
        self.at += 1;
        match symbol {
            "-" => {
                let operand = self.signed_operand();
                operand.number().map_or(operand, |number| ScriptValue::Number(number.wrapping_neg()))
            }
            // `-> (x) { … }`
            "->" if self.vocabulary.dialect.language == Language::Ruby => {
                let parameters = if self.opens('(') { self.parameters() } else { Vec::new() };
                self.block_function(parameters).unwrap_or_else(|| self.unknown())
            }
            "!" | "~" => {
                self.signed_operand();
                ScriptValue::unknown(UnknownReason::Branches, self.origin)
            }
            "..." | "*" | "**" | "&" | "@" | "\\" | "+" | ":" | "::" | "++" | "--" | "." => self.signed_operand(),
            _ => self.unknown(),
        }
    }

    fn signed_operand(&mut self) -> ScriptValue {
        let unknown = self.unknown();
        self.deeper(unknown, ExprInterpreter::operand)
    }

    /// Evaluates a bracket: a group, a list, a map or a comprehension.
    fn bracket(&mut self, bracket: char) -> ScriptValue {
        let begin = self.at;
        if let Some(function) = self.arrow() {
            return self.after(function, None);
        }
        let close = self.close_of(self.at);
        self.at += 1;
        self.at_statement = false;
        let unknown = self.unknown();
        let datum = self.deeper(unknown, |this| match bracket {
            '{' if this.vocabulary.dialect.language == Language::Lua => ScriptValue::list(this.list(close)),
            '{' if !this.comprehends(close) => this.map(close),
            _ if this.comprehends(close) => this.comprehension(close),
            '(' => this.group(close),
            _ => ScriptValue::list(this.list(close)),
        });
        self.at = (close + 1).max(begin + 1).min(self.tokens.0.len());
        self.after(datum, None)
    }

    /// `(a)` is `a`; `(a, b)` is a list.
    fn group(&mut self, close: usize) -> ScriptValue {
        let mut items = self.list(close);
        let ends_with_comma = close > 0 && self.symbol_at(close - 1) == ",";
        let is_list = ends_with_comma && self.vocabulary.dialect.language == Language::Python;
        if self.vocabulary.dialect.language == Language::JavaScript {
            // `(0, f)` is `f`.
            return items.pop().unwrap_or(ScriptValue::Ternary(false));
        }
        if items.len() == 1 && !is_list { items.swap_remove(0) } else { ScriptValue::list(items) }
    }

    /// Evaluates the items up to the closing bracket.
    pub(super) fn list(&mut self, close: usize) -> Vec<ScriptValue> {
        let mut items = Vec::new();
        while self.at < close && self.step() {
            if self.takes_symbol(",") || self.takes_symbol("=>") {
                continue;
            }
            let before = self.at;
            let spreads = self.spreads();
            let item = self.expression();
            if self.at == before {
                self.at += 1;
                continue;
            }
            match item.items() {
                Some(inner) if spreads => items.extend(inner.iter().cloned()),
                _ => items.push(item),
            }
        }
        items
    }

    /// Whether the items of the next list are spliced into the list around it.
    pub(super) fn spreads(&self) -> bool {
        matches!(self.symbol(), "*" | "...") || self.word().starts_with('$') && self.vocabulary.dialect.quote_words
    }

    /// `{a: 1, 'b' => 2, c}`
    pub(super) fn map(&mut self, close: usize) -> ScriptValue {
        let mut fields = Vec::new();
        while self.at < close && self.step() {
            let before = self.at;
            let key = match (self.word(), self.symbol_at(self.at + 1)) {
                ("", _) => None,
                (word, ":" | "=>" | "," | "") if !word.starts_with('$') => Some(word.to_owned()),
                _ => None,
            };
            // `{ a }` is short for `{ a: a }`.
            let short = key.is_some() && !matches!(self.symbol_at(self.at + 1), ":" | "=>");
            let first = if key.is_some() && !short {
                self.at += 1;
                self.unknown()
            } else {
                self.operation(1)
            };
            let key = key.or_else(|| first.literal()).unwrap_or_default();
            if self.takes_symbol(":") || self.takes_symbol("=>") {
                let value = self.expression();
                fields.push((key, value));
            } else {
                fields.push((key, first));
            }
            self.at = self.at.max(before + 1);
            self.takes_symbol(",");
        }
        ScriptValue::Map(Rc::new(fields))
    }

    /// Whether this bracket is a Python comprehension: `… for x in …`.
    fn comprehends(&self, close: usize) -> bool {
        self.vocabulary.dialect.indents && self.find_word("for", close).is_some()
    }

    /// Returns the position of a word inside this bracket, outside nested brackets.
    pub(super) fn find_word(&self, word: &str, close: usize) -> Option<usize> {
        const FURTHEST: usize = 256;
        let mut at = self.at;
        for _ in 0..FURTHEST {
            if at >= close {
                return None;
            }
            if self.word_at(at) == word {
                return Some(at);
            }
            at = self.close_of(at) + 1;
        }
        None
    }

    /// Evaluates the element of a comprehension for each item of its lists.
    pub(super) fn comprehension(&mut self, close: usize) -> ScriptValue {
        let element = self.at;
        let Some(at) = self.find_word("for", close) else { return self.unknown() };
        self.at = at + 1;
        let target = self.loop_target();
        self.takes_word("in");
        let items = self.operation(2);
        let rest = self.at;
        let mut results = Vec::new();
        for item in self.rounds(&items) {
            self.bind(&target, item);
            self.at = rest;
            if let Some(inner) = self.find_word("for", close).filter(|at| *at == rest) {
                self.at = inner + 1;
                let target = self.loop_target();
                self.takes_word("in");
                let items = self.operation(2);
                for item in self.rounds(&items) {
                    self.bind(&target, item);
                    self.at = element;
                    results.push(self.expression());
                }
                continue;
            }
            while self.at < close && self.takes_word("if") && self.step() {
                self.operation(2);
            }
            self.at = element;
            let key = self.expression();
            let value = if self.takes_symbol(":") { self.expression() } else { key };
            results.push(value);
        }
        self.at = close;
        self.part_of(&items, ScriptValue::list(results))
    }

    /// `(a, b) => x`, `x => y`, `lambda a: x`, `function (a) { … }`.
    fn arrow(&mut self) -> Option<ScriptValue> {
        let close = self.close_of(self.at);
        if self.vocabulary.dialect.language != Language::JavaScript || self.symbol_at(close + 1) != "=>" {
            return None;
        }
        let parameters = if self.opens('(') { self.parameters() } else { vec![self.word().to_owned()] };
        self.at = close + 2;
        Some(self.body(parameters))
    }

    /// Reads the names between brackets; `*rest` takes all remaining arguments.
    pub(super) fn parameters(&mut self) -> Vec<String> {
        let close = self.close_of(self.at);
        self.at += 1;
        self.parameter_names(close)
    }

    /// Reads the names up to `close`.
    pub(super) fn parameter_names(&mut self, close: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut fresh = true;
        let mut rest = false;
        while self.at < close && self.step() {
            match self.kind() {
                Some(Kind::Word(word)) if fresh => {
                    names.push(format!("{}{word}", if rest { "*" } else { "" }));
                    fresh = false;
                }
                Some(Kind::Symbol("*" | "...")) if fresh => rest = true,
                Some(Kind::Symbol(",")) => (fresh, rest) = (true, false),
                Some(Kind::Open(_)) => self.at = self.close_of(self.at),
                _ => {}
            }
            self.at += 1;
        }
        self.at = close + 1;
        names
    }

    /// Returns a function whose body, a block or one expression, begins here, and moves past the body.
    fn body(&mut self, parameters: Vec<String>) -> ScriptValue {
        if let Some(function) = self.block_function(parameters.clone()) {
            return function;
        }
        let begin = self.at;
        self.pass_expression();
        self.function(parameters, begin..self.at, true)
    }

    /// Returns a function whose body is the block at the cursor.
    pub(super) fn block_function(&mut self, parameters: Vec<String>) -> Option<ScriptValue> {
        if !(self.opens('{') || self.word() == "do" && self.vocabulary.dialect.blocks_end) {
            return None;
        }
        let close = self.close_of(self.at);
        let begin = self.at + 1;
        self.at = (close + 1).min(self.tokens.0.len());
        Some(self.function(parameters, begin..close, false))
    }

    pub(super) fn function(
        &mut self,
        parameters: Vec<String>,
        body: std::ops::Range<usize>,
        expression: bool,
    ) -> ScriptValue {
        let tokens: Tokens = self.tokens.clone();
        let module = self.modules.current;
        let function = Rc::new(Function { parameters, tokens, begin: body.start, end: body.end, expression, module });
        // A function defined in a loop or in another function is the same each time.
        match self.functions.iter().rev().take(64).find(|(known, _)| **known == *function) {
            Some((known, _)) => ScriptValue::Function(known.clone()),
            None => {
                self.functions.push((function.clone(), std::cell::Cell::new(false)));
                ScriptValue::Function(function)
            }
        }
    }

    /// Moves past an expression without evaluating it.
    fn pass_expression(&mut self) {
        while let Some(kind) = self.kind() {
            match kind {
                Kind::End | Kind::Close(_) | Kind::Symbol(",") => break,
                Kind::Open(_) => self.at = self.close_of(self.at) + 1,
                Kind::Word(_)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Run(_)
                | Kind::Words(_)
                | Kind::Pattern
                | Kind::Symbol(_) => self.at += 1,
            }
        }
    }

    /// Evaluates a name, a keyword or a function.
    fn named(&mut self, word: &str) -> ScriptValue {
        let language = self.vocabulary.dialect.language;
        if self.symbol_at(self.at + 1) == "=>"
            && let Some(function) = self.arrow()
        {
            return function;
        }
        match word {
            "lambda" if language == Language::Python => {
                self.at += 1;
                let close = (self.at..self.at + 64).find(|at| self.symbol_at(*at) == ":").unwrap_or(self.at);
                let parameters = self.parameter_names(close);
                let begin = self.at;
                self.pass_expression();
                return self.function(parameters, begin..self.at, true);
            }
            "function" | "fn" | "sub" | "def" | "proc" if self.begins_function() => {
                let function = self.define();
                return self.after(function, None);
            }
            "not" => {
                self.at += 1;
                self.signed_operand();
                return ScriptValue::unknown(UnknownReason::Branches, self.origin);
            }
            "True" | "true" => {
                self.at += 1;
                return ScriptValue::Ternary(true);
            }
            "False" | "false" | "None" | "null" | "undefined" | "nil" | "undef" | "NULL" => {
                self.at += 1;
                return ScriptValue::Ternary(false);
            }
            // Evaluate the rest as if the word were absent.
            _ if self.vocabulary.dialect.noise.contains(&word) => {
                self.at += 1;
                let ends = matches!(self.kind(), None | Some(Kind::End | Kind::Close(_)));
                return if ends { ScriptValue::Ternary(false) } else { self.signed_operand() };
            }
            _ => {}
        }
        self.at += 1;
        let datum = self.meaning(word);
        self.after(datum, Some(word.to_owned()))
    }

    /// Returns the value of a name.
    pub(super) fn meaning(&mut self, name: &str) -> ScriptValue {
        if let Some(known) = self.variable(name) {
            // `from os import environ`
            let full_name = known.as_name().map(|full_name| self.vocabulary.canonical(full_name));
            let constant = full_name.and_then(|full_name| self.vocabulary.constant(&full_name));
            return constant.map_or(known, |constant| self.constant(constant));
        }
        let canonical = self.vocabulary.canonical(name);
        if let Some(constant) = self.vocabulary.constant(&canonical) {
            return self.constant(constant);
        }
        if name.starts_with(|ch: char| ('\u{f0000}'..='\u{ffffd}').contains(&ch)) {
            return self.interpreter.with_holes(name, self.origin).into();
        }
        ScriptValue::name(name)
    }

    /// Returns the value of a string literal.
    pub(super) fn chunks(&mut self, chunks: &[Chunk]) -> ScriptValue {
        let mut texts = vec![Text::default()];
        for chunk in chunks {
            let parts: Vec<Text> = match chunk {
                Chunk::Text(text) => {
                    vec![Text { value: self.interpreter.with_holes(text, self.origin), ..Text::default() }]
                }
                Chunk::Code(code) => {
                    let datum = self.code(code);
                    datum.alternatives().iter().map(|datum| self.shown(datum)).collect()
                }
            };
            texts = fold::product(&texts, &parts);
        }
        ScriptValue::any(texts.into_iter().map(ScriptValue::Text).collect())
    }

    /// Converts a value for interpolation into a text: the items of a list are joined with blanks.
    fn shown(&self, datum: &ScriptValue) -> Text {
        if let ScriptValue::List(items) = datum {
            return fold::joined(items, " ", self.origin);
        }
        datum.text(self.origin)
    }

    /// Walks code embedded in a string and returns the value of its last expression.
    fn code(&mut self, code: &str) -> ScriptValue {
        let unknown = self.unknown();
        self.deeper(unknown, |this| {
            let (tokens, at) = (this.tokens.clone(), this.at);
            this.load(code);
            let end = this.tokens.0.len();
            let mut last = ScriptValue::Ternary(false);
            while this.at < end && this.step() {
                let before = this.at;
                last = this.expression();
                this.at = this.at.max(before + 1);
            }
            (this.tokens, this.at) = (tokens, at);
            last
        })
    }
}
