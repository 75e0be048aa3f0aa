//! The functions that a script defines: their definitions, and the walk over their bodies.
//!
//! A body is walked for each call with its arguments, and once with unknown ones if it is never called.

use super::datum::{Function, ScriptValue};
use super::token::Kind;
use super::walker::ExprInterpreter;
use crate::model::language::Language;
use crate::model::value::UnknownReason;
use std::rc::Rc;

/// Maximum number of activations of a recursive function.
const MAX_RECURSION: usize = 2;

impl ExprInterpreter<'_, '_> {
    /// Whether the keyword at the cursor defines a function in this language.
    pub(super) fn begins_function(&self) -> bool {
        let language = self.vocabulary.dialect.language;
        match self.word() {
            "def" => matches!(language, Language::Python | Language::Ruby),
            "function" => matches!(language, Language::JavaScript | Language::Php | Language::Lua),
            "fn" => language == Language::Php && self.is_call(),
            "sub" => language == Language::Perl,
            _ => false,
        }
    }

    /// Defines a function and assigns it to its name, if it has one.
    pub(super) fn define(&mut self) -> ScriptValue {
        let opener = self.at;
        let language = self.vocabulary.dialect.language;
        self.at += usize::from(matches!(self.word(), "def" | "function" | "fn" | "sub"));
        self.takes_symbol("*");
        let mut name = String::new();
        while !self.word().is_empty() {
            name = self.word().to_owned();
            self.at += 1;
            if !self.vocabulary.dialect.member.contains(&self.symbol()) {
                break;
            }
            self.at += 1;
        }
        let mut parameters = if self.opens('(') { self.parameters() } else { Vec::new() };
        if language == Language::Perl && parameters.is_empty() {
            parameters.push("*$_".into());
        }
        if matches!(parameters.first().map(String::as_str), Some("self" | "cls")) {
            parameters.remove(0);
        }
        let container = self.container.take();
        let function = self.defined(opener, parameters);
        if !name.is_empty() {
            self.assign(&name, function.clone());
            if let Some(container) = container.as_ref().filter(|container| !container.is_empty()) {
                self.set(&format!("{container}.{name}"), function.clone());
            }
        }
        self.container = container;
        function
    }

    fn defined(&mut self, opener: usize, parameters: Vec<String>) -> ScriptValue {
        let dialect = self.vocabulary.dialect;
        let end = self.tokens.0.len();
        if dialect.indents {
            self.at = self.at.saturating_sub(1);
            self.evaluate_to(":", end);
            let body = self.suite(end);
            self.at = body.end;
            return self.function(parameters, body, false);
        }
        if dialect.blocks_end && self.close_of(opener) > opener {
            let close = self.close_of(opener);
            let begin = self.at;
            self.at = (close + 1).min(end);
            return self.function(parameters, begin..close, false);
        }
        // `use ($x)`, `: string`, `=>`
        while self.at < end && !self.opens('{') && !matches!(self.kind(), None | Some(Kind::End | Kind::Close(_))) {
            if self.takes_symbol("=>") {
                let begin = self.at;
                while self.at < end
                    && !matches!(self.kind(), None | Some(Kind::End | Kind::Close(_) | Kind::Symbol(",")))
                {
                    self.at = self.close_of(self.at) + 1;
                }
                return self.function(parameters, begin..self.at, true);
            }
            self.at = self.close_of(self.at) + 1;
        }
        let close = self.close_of(self.at);
        let begin = (self.at + 1).min(close);
        self.at = (close + 1).min(end);
        self.function(parameters, begin..close, false)
    }

    /// Walks a function's body with the given arguments and returns its value.
    pub(super) fn invoke(&mut self, function: &Rc<Function>, arguments: Vec<ScriptValue>) -> ScriptValue {
        self.in_module(function.module, |this| this.invoke_here(function, arguments))
    }

    fn invoke_here(&mut self, function: &Rc<Function>, arguments: Vec<ScriptValue>) -> ScriptValue {
        if let Some((_, called)) = self.functions.iter().find(|(known, _)| Rc::ptr_eq(known, function)) {
            called.set(true);
        }
        let unknown = self.unknown();
        // A recursive function has been walked at this point; the result of a deeper call is unknown.
        if self.active.iter().filter(|known| Rc::ptr_eq(known, function)).count() >= MAX_RECURSION {
            return unknown;
        }
        self.active.push(function.clone());
        let last = self.deeper(unknown, |this| {
            let before = this.names.clone();
            let (tokens, at) = (std::mem::replace(&mut this.tokens, function.tokens.clone()), this.at);
            let conditional = std::mem::take(&mut this.conditional);
            let returned = std::mem::take(&mut this.returned);
            for (index, name) in function.parameters.iter().enumerate() {
                let unknown = this.unknown();
                match name.strip_prefix('*') {
                    Some(rest) => this.set(rest, ScriptValue::list(arguments.iter().skip(index).cloned().collect())),
                    None => this.set(name, arguments.get(index).cloned().unwrap_or(unknown)),
                }
            }
            this.at = function.begin;
            let mut last = if function.expression { this.expression() } else { this.statements(function.end) };
            let all = std::mem::replace(&mut this.returned, returned);
            if !all.is_empty() {
                last = ScriptValue::any(all);
            }
            (this.tokens, this.at, this.conditional) = (tokens, at, conditional);
            this.leave(before, &function.parameters);
            last
        });
        self.active.pop();
        last
    }

    /// Walks each function that is never called, with unknown arguments, since code that is not seen may call it.
    pub(super) fn uncalled(&mut self) {
        let mut at = 0;
        while let Some((function, called)) = self.functions.get(at) {
            at += 1;
            if !called.get() {
                let function = function.clone();
                let unknown = ScriptValue::unknown(UnknownReason::NotEvaluated, self.origin);
                let arguments = vec![unknown; function.parameters.len()];
                self.invoke(&function, arguments);
            }
        }
    }
}
