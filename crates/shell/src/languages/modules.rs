//! Files of code that a script loads: their effects are effects of the script, and their names are known to it.
//!
//! The surroundings resolve the name of a module to a file and decide which functions load one. A module of Python or
//! JavaScript has its own names; in the other languages the file is walked as if it were written at the place where it
//! is loaded.

use super::datum::{Names, ScriptValue};
use super::php;
use super::scopes::Scope;
use super::walker::ExprInterpreter;
use crate::model::language::Language;
use crate::model::value::Origin;
use crate::reading::{LOADED, UNCHANGED};
use crate::surroundings::{Module, ModuleName};
use reflex_work as work;
use std::rc::Rc;

impl ExprInterpreter<'_, '_> {
    /// Walks the file that a call loads, if it loads one.
    pub(super) fn loaded(&mut self, function: &str, first: Option<&ScriptValue>) -> Option<ScriptValue> {
        self.interpreter.surroundings.source.load?;
        let name = first?.literal().filter(|name| !name.is_empty() && name.len() <= 1024)?;
        self.load_module(function, &name)
    }

    /// Walks the file that a statement imports, if it exists.
    pub(super) fn import_module(&mut self, name: &str) -> Option<ScriptValue> {
        if name.is_empty() { None } else { self.load_module("import", name) }
    }

    fn load_module(&mut self, function: &str, name: &str) -> Option<ScriptValue> {
        let load = self.interpreter.surroundings.source.load?;
        let from = self.modules.path.clone();
        let language = self.vocabulary.dialect.language;
        if !work::spend(20) {
            return None;
        }
        let module = load(&ModuleName { language, from: &from, function, name })?;
        if let Some((_, known)) = self.modules.loaded.iter().find(|(path, _)| *path == module.path) {
            return Some(known.clone());
        }
        let place = self.modules.loaded.len();
        // A module that is loaded again while it is being walked has no known names yet.
        self.modules.loaded.push((module.path.clone(), ScriptValue::Map(Rc::default())));
        let value = self.walk_module(&module);
        if let Some(known) = self.modules.loaded.get_mut(place) {
            known.1 = value.clone();
        }
        Some(value)
    }

    /// Walks a file in its own scope and returns its exports.
    fn walk_module(&mut self, module: &Module) -> ScriptValue {
        let language = self.vocabulary.dialect.language;
        let is_apart = matches!(language, Language::Python | Language::JavaScript);
        let step = if module.is_unchanged { UNCHANGED } else { LOADED };
        let derivation = self.interpreter.derive(step, &module.path, self.origin);
        let origin = Origin { span: self.origin.span, derivation };
        let first = self.functions.len();
        let gaps = self.interpreter.reading.gaps.len();
        let (tokens, at, at_statement) = (self.tokens.clone(), self.at, self.at_statement);
        let container = self.container.take();
        let steps = self.steps_left();
        let returned = std::mem::take(&mut self.returned);
        let outer = (self.origin, self.modules.current, self.modules.path.clone(), self.conditional);
        (self.origin, self.modules.path) = (origin, module.path.as_str().into());
        if is_apart {
            self.store_scope();
            self.modules.current = self.modules.scopes.len();
            self.modules.scopes.push(Scope { names: Names::default(), origin, path: self.modules.path.clone() });
            (self.names, self.conditional) = (Names::default(), 0);
        }
        let text = if language == Language::Php { php::tagged(&module.text) } else { module.text.clone() };
        self.load(&text);
        let end = self.tokens.0.len();
        let unknown = self.unknown();
        let last = self.deeper(unknown, |this| this.statements(end));
        let values = std::mem::replace(&mut self.returned, returned);
        let value = if is_apart {
            self.exports()
        } else {
            ScriptValue::any(if values.is_empty() { vec![last] } else { values })
        };
        if is_apart {
            self.store_scope();
        }
        (self.origin, self.modules.current, self.modules.path, self.conditional) = outer;
        if is_apart {
            self.names =
                self.modules.scopes.get(self.modules.current).map(|scope| scope.names.clone()).unwrap_or_default();
        }
        (self.tokens, self.at, self.at_statement) = (tokens, at, at_statement);
        self.container = container;
        if module.is_unchanged {
            self.leave_steps(steps);
            // A committed file is checked only for its effects, not for its unknown parts.
            self.interpreter.reading.gaps.truncate(gaps);
            self.functions.iter().skip(first).for_each(|(_, called)| called.set(true));
        }
        value
    }

    /// Returns the exports of the file that has just been walked.
    fn exports(&mut self) -> ScriptValue {
        let names = self.names.clone();
        let module = names.get("module.exports").cloned();
        if let Some(module) =
            module.clone().filter(|module| !matches!(module, ScriptValue::Map(_) | ScriptValue::Any(_)))
        {
            return module;
        }
        let mut fields: Vec<(String, ScriptValue)> = names
            .iter()
            .map(|(name, datum)| {
                let exported = name.strip_prefix("module.exports.").or_else(|| name.strip_prefix("exports."));
                (exported.unwrap_or(name).to_owned(), datum.clone())
            })
            .collect();
        for one in module.iter().flat_map(|module| module.alternatives().to_vec()) {
            if let ScriptValue::Map(exported) = one {
                fields.extend(exported.iter().cloned());
            }
        }
        ScriptValue::Map(Rc::new(fields))
    }

    /// Defines the methods of a module's classes, by any receiver.
    pub(super) fn take_methods(&mut self, exports: &ScriptValue) {
        let ScriptValue::Map(fields) = exports else { return };
        for (name, datum) in fields.iter() {
            if name.contains('.') && matches!(datum, ScriptValue::Function(_)) && self.variable(name).is_none() {
                self.set(name, datum.clone());
            }
        }
    }

    /// Stores the current names for functions that are called from other modules.
    fn store_scope(&mut self) {
        let scope = Scope { names: self.names.clone(), origin: self.origin, path: self.modules.path.clone() };
        match self.modules.scopes.get_mut(self.modules.current) {
            Some(known) => *known = scope,
            None => self.modules.scopes.push(scope),
        }
    }

    /// Walks code in the scope of another module.
    pub(super) fn in_module<T>(&mut self, module: usize, walk: impl FnOnce(&mut Self) -> T) -> T {
        if module == self.modules.current {
            return walk(self);
        }
        self.store_scope();
        let scope = self.modules.scopes.get(module).cloned().unwrap_or_default();
        let outer = (self.modules.current, self.names.clone(), self.origin, self.modules.path.clone());
        (self.modules.current, self.names, self.origin, self.modules.path) =
            (module, scope.names, scope.origin, scope.path);
        let result = walk(self);
        self.store_scope();
        (self.modules.current, self.names, self.origin, self.modules.path) = outer;
        result
    }
}
