//! Walks statements: blocks, conditions, loops, definitions.
//!
//! Every statement is evaluated, whatever its condition; a name that differs between branches has several alternatives.

use super::bindings::Target;
use super::datum::ScriptValue;
use super::token::Kind;
use super::walker::ExprInterpreter;
use crate::model::language::Language;
use std::ops::Range;

impl ExprInterpreter<'_, '_> {
    /// Walks a script.
    pub(super) fn text(&mut self, text: &str) {
        self.load(text);
        let end = self.tokens.0.len();
        self.statements(end);
        self.uncalled();
    }

    /// Walks all statements up to `end`; returns the value of the last one.
    pub(super) fn statements(&mut self, end: usize) -> ScriptValue {
        let mut last = ScriptValue::Ternary(false);
        while self.at < end && self.step() {
            let before = self.at;
            if self.kind() == Some(&Kind::End) {
                self.at += 1;
                continue;
            }
            self.at_statement = true;
            let unknown = self.unknown();
            last = self.deeper(unknown, |this| this.statement(end));
            if self.at == before {
                self.at += 1;
            }
        }
        self.at = self.at.max(end);
        last
    }

    fn statement(&mut self, end: usize) -> ScriptValue {
        let language = self.vocabulary.dialect.language;
        let word = self.word().to_owned();
        if matches!(self.kind(), Some(Kind::End | Kind::Close(_))) {
            self.at += 1;
            return ScriptValue::Ternary(false);
        }
        if self.opens('{') && !self.vocabulary.dialect.indents {
            let close = self.close_of(self.at);
            self.at += 1;
            return self.statements(close.min(end));
        }
        match word.as_str() {
            "import" if language == Language::Python => self.python_import(false),
            "from" if language == Language::Python => self.python_import(true),
            "import" if language == Language::JavaScript && self.symbol_at(self.at + 1) != "." && !self.is_call() => {
                self.module_import();
            }
            "export" if language == Language::JavaScript => return self.export(end),
            "use" | "package" | "namespace" | "no" if language == Language::Perl || language == Language::Php => {
                self.pass_statement(end);
            }
            "return" => {
                self.at += 1;
                let datum = self.expression();
                self.returned.push(datum.clone());
                return datum;
            }
            "for" | "foreach" if self.loops(end) => {}
            "with" if language == Language::Python => self.with(end),
            "class" if language == Language::Python => {
                let outer = self.contained();
                self.evaluate_to(":", end);
                let body = self.suite(end);
                self.at = body.start;
                self.statements(body.end);
                self.container = outer;
            }
            "def" | "function" | "sub" if self.begins_function() => drop(self.define()),
            "class" | "module"
                if self.vocabulary.dialect.conditions.contains(&"class")
                    && (word == "class" || language == Language::Ruby) =>
            {
                let outer = self.contained();
                self.class_body(end);
                self.container = outer;
            }
            _ if self.vocabulary.dialect.conditions.contains(&word.as_str()) => self.condition_block(end),
            _ if language == Language::JavaScript && self.is_method() => drop(self.define()),
            _ => return self.simple(end),
        }
        ScriptValue::Ternary(false)
    }

    /// Walks the body of a class or module: `class A extends B {`, or up to its `end`.
    fn class_body(&mut self, end: usize) {
        let open = (self.at..end.min(self.at + 32))
            .find(|at| self.token_at(*at).is_some_and(|token| matches!(token.kind, Kind::Open('{') | Kind::End)));
        match open.filter(|at| self.token_at(*at).is_some_and(|token| token.kind == Kind::Open('{'))) {
            Some(open) if self.vocabulary.dialect.language != Language::Ruby => {
                let close = self.close_of(open);
                self.at = open + 1;
                self.statements(close.min(end));
            }
            _ => self.condition_block(end),
        }
    }

    /// Walks an export: `export const a = 1`, `export default x`, `export {a} from 'm'`.
    fn export(&mut self, end: usize) -> ScriptValue {
        self.at += 1;
        if self.takes_word("default") {
            let datum = self.expression();
            self.set("default", datum.clone());
            return datum;
        }
        let lists = self.symbol() == "*" || self.opens('{');
        let close = if self.opens('{') { self.close_of(self.at) } else { self.at };
        let is_from = (close..close + 4).any(|at| self.word_at(at) == "from");
        if lists && is_from {
            // Treated as an import: the imported names become names of this module.
            self.at -= 1;
            self.module_import();
        } else if lists {
            self.at += 1;
            for (name, exported) in self.members(close) {
                let datum = self.meaning(&name);
                self.set(&exported, datum);
            }
            self.at = close + 1;
        } else if self.at < end {
            return self.statement(end);
        }
        ScriptValue::Ternary(false)
    }

    /// Enters a class or module and defines its name; returns the enclosing one.
    fn contained(&mut self) -> Option<String> {
        let name = self.word_at(self.at + 1).to_owned();
        if !name.is_empty() && self.vocabulary.dialect.language != Language::Ruby {
            self.assign(&name, ScriptValue::name(name.as_str()));
        }
        self.container.replace(name)
    }

    pub(super) fn is_call(&self) -> bool {
        self.token_at(self.at + 1).is_some_and(|token| token.kind == Kind::Open('('))
    }

    /// `name(parameters) { … }` in a class.
    fn is_method(&self) -> bool {
        if self.word().is_empty() || !self.is_call() {
            return false;
        }
        let close = self.close_of(self.at + 1);
        self.token_at(close + 1).is_some_and(|token| token.kind == Kind::Open('{'))
    }

    /// Walks one or more expressions separated by commas, and a modifier after them.
    fn simple(&mut self, end: usize) -> ScriptValue {
        let before = self.names.clone();
        if self.loops_after(end) {
            return ScriptValue::Ternary(false);
        }
        let mut datum = self.expression();
        self.at_statement = false;
        while self.at < end && self.takes_symbol(",") && self.step() {
            datum = self.expression();
        }
        let modifies = matches!(self.word(), "if" | "unless" | "while" | "until" | "rescue");
        if modifies && self.vocabulary.dialect.bare_calls {
            self.at += 1;
            self.expression();
            self.leave_open(before);
        }
        datum
    }

    /// `unlink $_ for @list`
    fn loops_after(&mut self, end: usize) -> bool {
        if self.vocabulary.dialect.language != Language::Perl || self.word() == "for" {
            return false;
        }
        let begin = self.at;
        let stop = (begin..end.min(begin + 256))
            .find(|at| self.token_at(*at).is_some_and(|token| token.kind == Kind::End))
            .unwrap_or(end);
        let Some(at) = self.find_word("for", stop).or_else(|| self.find_word("foreach", stop)) else { return false };
        self.at = at + 1;
        let items = self.expression();
        self.each_round(&Target::Name("$_".into()), &items, begin..at);
        self.at = stop;
        true
    }

    fn pass_statement(&mut self, end: usize) {
        while self.at < end && !matches!(self.kind(), None | Some(Kind::End)) && self.step() {
            self.at = self.close_of(self.at) + 1;
        }
    }

    /// Evaluates everything up to `symbol`, which is consumed, or to the end of the statement.
    pub(super) fn evaluate_to(&mut self, symbol: &str, end: usize) {
        self.at += 1;
        while self.at < end && self.step() && !matches!(self.kind(), None | Some(Kind::End)) {
            if self.takes_symbol(symbol) {
                return;
            }
            let before = self.at;
            self.at_statement = false;
            self.expression();
            self.at = self.at.max(before + 1);
        }
    }

    /// Returns the tokens of a Python block after its header, including a body on the header's line.
    pub(super) fn suite(&mut self, end: usize) -> Range<usize> {
        if !matches!(self.kind(), None | Some(Kind::End)) {
            let stop = (self.at..end)
                .find(|at| self.token_at(*at).is_some_and(|token| token.indent.is_some() && *at > self.at));
            return self.at..stop.unwrap_or(end);
        }
        let header = (0..self.at).rev().find_map(|at| self.token_at(at).and_then(|token| token.indent)).unwrap_or(0);
        let begin = self.at;
        let inside =
            |at: &usize| self.token_at(*at).is_some_and(|token| token.indent.is_some_and(|indent| indent <= header));
        let stop = (begin..end).find(inside).unwrap_or(end);
        begin..stop
    }

    /// `if`, `while`, `try` and similar: the block may run never or several times.
    fn condition_block(&mut self, end: usize) {
        let dialect = self.vocabulary.dialect;
        let repeats = matches!(self.word(), "while" | "until" | "repeat" | "loop");
        let close = self.close_of(self.at);
        let body = if dialect.indents {
            self.evaluate_to(":", end);
            self.suite(end)
        } else if dialect.blocks_end && close > self.at {
            self.at += 1;
            self.at..close
        } else {
            self.at += 1;
            if self.opens('(') {
                let close = self.close_of(self.at);
                self.at += 1;
                self.at_statement = false;
                self.statements(close);
                self.at = close + 1;
            }
            if !self.opens('{') {
                // A single statement, or a word such as `else`.
                return self.conditionally(|this| drop(this.statement(end)));
            }
            self.at + 1..self.close_of(self.at)
        };
        let before = self.names.clone();
        self.conditionally(|this| {
            this.at = body.start;
            this.statements(body.end);
            // Assignments of one round are visible in the next.
            if repeats && this.names != before {
                this.at = body.start;
                this.statements(body.end);
            }
        });
        self.at = body.end;
    }

    fn conditionally(&mut self, walk: impl FnOnce(&mut Self)) {
        self.conditional += 1;
        walk(self);
        self.conditional -= 1;
    }

    /// `with open(x) as f:`
    fn with(&mut self, end: usize) {
        self.at += 1;
        while self.at < end && self.step() && !matches!(self.kind(), None | Some(Kind::End)) {
            if self.takes_symbol(":") {
                break;
            }
            let before = self.at;
            self.at_statement = false;
            let datum = self.expression();
            if self.takes_word("as") {
                let name = self.word().to_owned();
                self.at += 1;
                self.assign(&name, datum);
            }
            self.at = self.at.max(before + 1);
        }
        let body = self.suite(end);
        self.at = body.start;
        self.statements(body.end);
    }

    /// Walks a loop. A loop that does not iterate over items is walked as a block that may run several times.
    fn loops(&mut self, end: usize) -> bool {
        let begin = self.at;
        self.at += 1;
        let found = match self.vocabulary.dialect.language {
            Language::Python => self.python_loop(end),
            Language::Ruby | Language::Lua => self.worded_loop(begin),
            Language::Perl => self.perl_loop(),
            Language::JavaScript
            | Language::Php
            | Language::Shell
            | Language::PowerShell
            | Language::Cmd
            | Language::AppleScript
            | Language::Awk
            | Language::Sed
            | Language::Makefile
            | Language::Crontab
            | Language::Patch
            | Language::Other => self.bracketed_loop(end),
        };
        let Some((target, items, body)) = found else {
            self.at = begin;
            self.condition_block(end);
            return true;
        };
        self.each_round(&target, &items, body);
        true
    }

    fn python_loop(&mut self, end: usize) -> Option<(Target, ScriptValue, Range<usize>)> {
        let target = self.loop_target();
        self.takes_word("in");
        self.at_statement = false;
        let mut items = self.expression();
        if self.symbol() == "," {
            let mut all = vec![items];
            while self.takes_symbol(",") && self.symbol() != ":" && self.step() {
                all.push(self.expression());
            }
            items = ScriptValue::list(all);
        }
        self.at -= 1;
        self.evaluate_to(":", end);
        let body = self.suite(end);
        Some((target, items, body))
    }

    /// `for x in list do … end`
    fn worded_loop(&mut self, begin: usize) -> Option<(Target, ScriptValue, Range<usize>)> {
        let close = self.close_of(begin);
        self.find_word("in", close)?;
        let target = self.loop_target();
        self.takes_word("in");
        self.at_statement = false;
        let mut items = self.expression();
        let lua = self.vocabulary.dialect.language == Language::Lua;
        // `ipairs(list)` yields an index with each item.
        if let (true, ScriptValue::List(list)) = (lua, &items) {
            let row = |item: &ScriptValue| ScriptValue::list(vec![self.unknown(), item.clone()]);
            items = ScriptValue::list(list.iter().map(row).collect());
        }
        self.takes_word("do");
        Some((target, items, self.at..close))
    }

    /// `foreach my $x (list) { … }`
    fn perl_loop(&mut self) -> Option<(Target, ScriptValue, Range<usize>)> {
        while matches!(self.word(), "my" | "our") {
            self.at += 1;
        }
        let mut name = "$_".to_owned();
        if self.word().starts_with('$') {
            name = self.word().to_owned();
            self.at += 1;
        }
        if !self.opens('(') {
            return None;
        }
        let close = self.close_of(self.at);
        if (self.at..close).take(256).any(|at| self.token_at(at).is_some_and(|token| token.kind == Kind::End)) {
            return None;
        }
        self.at += 1;
        self.at_statement = false;
        let mut items = self.list(close);
        if let [ScriptValue::List(_)] = items.as_slice() {
            items = items.first().and_then(ScriptValue::items).unwrap_or(&[]).to_vec();
        }
        self.at = close + 1;
        let block = self.at + 1..self.close_of(self.at);
        self.opens('{').then_some((Target::Name(name), ScriptValue::list(items), block))
    }

    /// `for (const x of list) …`, `foreach ($list as $x) …`
    fn bracketed_loop(&mut self, end: usize) -> Option<(Target, ScriptValue, Range<usize>)> {
        self.takes_word("await");
        if !self.opens('(') {
            return None;
        }
        let close = self.close_of(self.at);
        self.at += 1;
        let (target, items) = if self.find_word("as", close).is_some() {
            self.at_statement = false;
            let items = self.expression();
            self.takes_word("as");
            let pairs = self.find_symbol("=>", close);
            self.at = pairs.map_or(self.at, |at| at + 1);
            (self.loop_target(), items)
        } else if self.find_word("of", close).or_else(|| self.find_word("in", close)).is_some() {
            let target = self.loop_target();
            self.at += 1;
            self.at_statement = false;
            (target, self.expression())
        } else {
            return None;
        };
        self.at = close + 1;
        if self.opens('{') {
            return Some((target, items, self.at + 1..self.close_of(self.at)));
        }
        let stop =
            (self.at..end).find(|at| self.token_at(*at).is_some_and(|token| token.kind == Kind::End)).unwrap_or(end);
        Some((target, items, self.at..stop))
    }

    fn find_symbol(&self, symbol: &str, close: usize) -> Option<usize> {
        (self.at..close.min(self.at + 16)).find(|at| self.symbol_at(*at) == symbol)
    }
}
