//! The state of the walk over a script: the cursor in its tokens, the values of its names, and the limits. It calls none
//! of the files that walk: `statements`, `functions`, `expression`, `bindings`, `calls`, `methods`.

use super::datum::{Function, Names, ScriptValue, Text, Tokens};
use super::lexer;
use super::scopes::Modules;
use super::token::{Kind, Token};
use super::vocabulary::{Constant, Vocabulary};
use crate::interpret::interpreter::Interpreter;
use crate::interpret::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};
use reflex_work as work;
use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

/// Maximum nesting depth of functions, brackets and code inside strings.
const MAX_DEPTH: u32 = 48;

/// Steps available to any script, in addition to four for each token. Loops and functions are walked repeatedly.
const FREE_STEPS: usize = 20_000;

pub(super) struct ExprInterpreter<'w, 'a> {
    pub(super) interpreter: &'w mut Interpreter<'a>,
    pub(super) vocabulary: Vocabulary,
    pub(super) origin: Origin,
    pub(super) tokens: Tokens,
    pub(super) at: usize,
    pub(super) names: Names,
    pub(super) functions: Vec<(Rc<Function>, Cell<bool>)>,
    /// Number of enclosing blocks that may not run.
    pub(super) conditional: u32,
    pub(super) returned: Vec<ScriptValue>,
    /// The output; `None` once it is unknown.
    pub(super) printed: Option<Value>,
    /// The address of a network connection, once one is open.
    pub(super) connection: Option<Value>,
    /// The calls made so far, by position and words, so that a loop does not repeat the same call.
    pub(super) seen: HashSet<(usize, Vec<Value>)>,
    pub(super) stdin: Stream,
    /// Whether a shell was started that reads the output of this script.
    pub(super) gives_shell: bool,
    /// Modules imported with all their names: `from os import *`.
    pub(super) stars: Vec<String>,
    /// Whether a statement begins here, so that commas may separate assignment targets.
    pub(super) at_statement: bool,
    /// The loaded files.
    pub(super) modules: Modules,
    /// The class or module whose body is being walked.
    pub(super) container: Option<String>,
    /// The functions whose bodies are being walked, innermost last.
    pub(super) active: Vec<Rc<Function>>,
    depth: u32,
    steps: usize,
    max_steps: usize,
}

impl<'w, 'a> ExprInterpreter<'w, 'a> {
    pub(super) fn new(
        interpreter: &'w mut Interpreter<'a>,
        vocabulary: Vocabulary,
        origin: Origin,
        stdin: &Stream,
    ) -> Self {
        let modules = Modules::of(interpreter.surroundings.source.path);
        ExprInterpreter {
            interpreter,
            vocabulary,
            origin,
            tokens: Tokens([].into()),
            at: 0,
            names: Names::default(),
            functions: Vec::new(),
            conditional: 0,
            returned: Vec::new(),
            printed: Some(Value::default()),
            connection: None,
            seen: HashSet::new(),
            stdin: stdin.clone(),
            gives_shell: false,
            stars: Vec::new(),
            at_statement: true,
            modules,
            container: None,
            active: Vec::new(),
            depth: 0,
            steps: 0,
            max_steps: FREE_STEPS,
        }
    }

    /// Returns the output.
    pub(super) fn finish(self) -> Value {
        let name = self.vocabulary.dialect.language.name();
        self.printed.unwrap_or_else(|| Value::piece(Piece::Output(Printed::Program(name.into())), self.origin))
    }

    pub(super) fn load(&mut self, text: &str) {
        let tokens = lexer::tokens(self.vocabulary.dialect, text);
        work::spend(tokens.len() as u64 / 2);
        self.max_steps = self.max_steps.saturating_add(4 * tokens.len());
        self.tokens = Tokens(tokens.into());
        self.at = 0;
    }

    pub(super) fn kind(&self) -> Option<&Kind> {
        self.tokens.0.get(self.at).map(|token| &token.kind)
    }

    pub(super) fn token_at(&self, at: usize) -> Option<&Token> {
        self.tokens.0.get(at)
    }

    pub(super) fn word_at(&self, at: usize) -> &str {
        match self.tokens.0.get(at).map(|token| &token.kind) {
            Some(Kind::Word(word)) => word,
            _ => "",
        }
    }

    pub(super) fn word(&self) -> &str {
        self.word_at(self.at)
    }

    pub(super) fn symbol_at(&self, at: usize) -> &'static str {
        match self.tokens.0.get(at).map(|token| &token.kind) {
            Some(Kind::Symbol(symbol)) => symbol,
            _ => "",
        }
    }

    pub(super) fn symbol(&self) -> &'static str {
        self.symbol_at(self.at)
    }

    pub(super) fn takes_symbol(&mut self, symbol: &str) -> bool {
        let takes = self.symbol() == symbol;
        self.at += usize::from(takes);
        takes
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let takes = self.word() == word;
        self.at += usize::from(takes);
        takes
    }

    pub(super) fn opens(&self, bracket: char) -> bool {
        self.kind() == Some(&Kind::Open(bracket))
    }

    /// Returns the token that closes the bracket or block opened by this token.
    pub(super) fn close_of(&self, at: usize) -> usize {
        self.tokens.0.get(at).map_or(at, |token| token.close.max(at))
    }

    /// Counts a step, and returns whether another one is allowed. Beyond the limit, the walk ends.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        if !work::spend(2) {
            self.steps = self.steps.max(self.max_steps);
            self.interpreter.exhaust(self.origin);
        }
        if self.steps == self.max_steps {
            self.interpreter.gap(self.origin, UnknownReason::Limit);
        }
        if self.steps >= self.max_steps {
            self.at = self.tokens.0.len();
        }
        self.steps < self.max_steps
    }

    /// Runs `walk` one level deeper; returns `otherwise` at the maximum depth.
    pub(super) fn deeper<T>(&mut self, otherwise: T, walk: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.interpreter.gap(self.origin, UnknownReason::Limit);
            self.at = self.close_of(self.at) + 1;
            return otherwise;
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        result
    }

    pub(super) fn unknown(&self) -> ScriptValue {
        ScriptValue::unknown(UnknownReason::NotEvaluated, self.origin)
    }

    pub(super) fn text_datum(&self, text: impl Into<String>) -> ScriptValue {
        Value::text(text, self.origin).into()
    }

    /// Returns the value of a name that the script has set.
    pub(super) fn variable(&self, name: &str) -> Option<ScriptValue> {
        self.names.get(name).cloned()
    }

    pub(super) fn assign(&mut self, name: &str, datum: ScriptValue) {
        let before = self.names.get(name).filter(|_| self.conditional > 0).cloned();
        let datum = match before {
            Some(before) if before != datum => ScriptValue::any(vec![before, datum]),
            _ => datum,
        };
        self.set(name, datum);
    }

    /// Sets the value of a name and discards the previous one.
    pub(super) fn set(&mut self, name: &str, datum: ScriptValue) {
        const MAX_NAMES: usize = 2000;
        if self.names.len() < MAX_NAMES || self.names.contains_key(name) {
            Rc::make_mut(&mut self.names).insert(name.to_owned(), datum);
        }
    }

    /// Returns the step counters, for [`Self::leave_steps`].
    pub(super) fn steps_left(&self) -> (usize, usize) {
        (self.steps, self.max_steps)
    }

    /// Restores the step counters, so that the steps taken since then do not count.
    pub(super) fn leave_steps(&mut self, (steps, max): (usize, usize)) {
        (self.steps, self.max_steps) = (steps, max);
    }

    /// Merges the names after a function with those before it: both values are possible. The parameters are dropped.
    pub(super) fn leave(&mut self, before: Names, parameters: &[String]) {
        if Rc::ptr_eq(&before, &self.names) {
            return;
        }
        let after = std::mem::replace(&mut self.names, before);
        for (name, datum) in after.iter().filter(|(name, _)| !parameters.contains(name)) {
            match self.names.get(name) {
                Some(known) if known == datum => {}
                Some(known) => {
                    let both = ScriptValue::any(vec![known.clone(), datum.clone()]);
                    self.set(name, both);
                }
                None => self.set(name, datum.clone()),
            }
        }
        self.steps += after.len() / 8;
    }

    /// Merges the names with those before: assignments since then may or may not have happened.
    pub(super) fn leave_open(&mut self, before: Names) {
        self.leave(before, &[]);
    }

    pub(super) fn constant(&mut self, constant: Constant) -> ScriptValue {
        let piece = |piece| Value::piece(piece, self.origin).into();
        match constant {
            Constant::Text(text) => self.text_datum(text),
            Constant::Home => piece(Piece::Home(String::new())),
            Constant::BelowHome(folder) => {
                let mut home = Value::piece(Piece::Home(String::new()), self.origin);
                home.push_text(folder, self.origin);
                home.into()
            }
            Constant::WorkingDirectory => self.interpreter.state.folder_value(self.origin).into(),
            Constant::Source if self.modules.path.is_empty() => self.input(),
            Constant::Source => self.text_datum(&*self.modules.path.clone()),
            Constant::SourceFolder => match self.modules.path.rsplit_once('/') {
                Some((folder, _)) => self.text_datum(folder),
                None => self.interpreter.state.folder_value(self.origin).into(),
            },
            Constant::Temporary => piece(Piece::Output(Printed::Temporary)),
            Constant::Input => self.input(),
            Constant::Arguments(skip) => self.arguments(skip),
            Constant::Environment => ScriptValue::name(super::datum::ENVIRONMENT),
            Constant::Names => ScriptValue::name(""),
        }
    }

    fn input(&self) -> ScriptValue {
        if self.stdin.present {
            return ScriptValue::Text(Text {
                value: self.stdin.text.clone(),
                from: self.stdin.commands.clone(),
                files: Vec::new(),
            });
        }
        ScriptValue::unknown(UnknownReason::Input, self.origin)
    }

    fn arguments(&self, skip: usize) -> ScriptValue {
        let parameters = &self.interpreter.state.parameters;
        let program = parameters.iter().take(1).cloned();
        // `node FILE X` has the program and the file before the first argument, `node -e CODE X` only the program.
        let is_node_file = self.vocabulary.dialect.language == Language::JavaScript && !self.modules.path.is_empty();
        let skip = skip + usize::from(is_node_file && skip > 0);
        let before = program.cycle().take(if parameters.is_empty() { 0 } else { skip });
        let rest = parameters.iter().skip(1).cloned();
        ScriptValue::list(before.chain(rest).map(ScriptValue::from).collect())
    }
}
