//! Calls: the postfix operators of a value, the function that a value names, and the command that a call becomes.

use super::datum::{MAX_ALTERNATIVES, ScriptValue, Text};
use super::fold;
use super::token::Kind;
use super::vocabulary::{CallMeaning, Constant};
use super::walker::ExprInterpreter;
use crate::cli_grammar::entry::applies;
use crate::cli_grammar::program::Program;
use crate::cli_grammar::selector::Selector;
use crate::interpret::draft::Draft;
use crate::interpret::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Piece, Printed, UnknownReason, Value};
use crate::reading::{Code, CommandId};
use reflex_tables::views::EffectEntry;
use std::sync::Arc;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<ScriptValue>,
    pub(super) named: Vec<(String, ScriptValue)>,
}

impl Arguments {
    pub(super) fn from_positional(positional: Vec<ScriptValue>) -> Arguments {
        Arguments { positional, named: Vec::new() }
    }

    pub(super) fn first(&self) -> Option<&ScriptValue> {
        self.positional.first()
    }

    pub(super) fn named(&self, name: &str) -> Option<&ScriptValue> {
        self.named.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl ExprInterpreter<'_, '_> {
    /// Applies the members, elements and calls that follow a value.
    pub(super) fn after(&mut self, mut datum: ScriptValue, mut place: Option<String>) -> ScriptValue {
        let language = self.vocabulary.dialect.language;
        while self.step() {
            let spaced = self.token_at(self.at).is_some_and(|token| token.spaced);
            let kind = self.kind().cloned();
            match kind {
                Some(Kind::Symbol(symbol)) if self.is_member(symbol) => {
                    self.at += 1;
                    datum = self.member(datum, &mut place);
                }
                Some(Kind::Open('(')) if !(spaced && self.vocabulary.dialect.indents) => {
                    let arguments = self.bracketed_arguments();
                    datum = self.apply(datum, arguments);
                    place = None;
                }
                Some(Kind::Open(bracket @ ('[' | '{'))) if self.is_element(bracket, spaced, &datum) => {
                    let close = self.close_of(self.at);
                    self.at += 1;
                    let key = self.element_key(close);
                    self.at = (close + 1).min(self.tokens.0.len());
                    if matches!(self.symbol(), "=" | "+=" | ".=" | "||=") {
                        self.set_element(place.as_deref(), &key);
                    }
                    datum = fold::element(&datum, &key, self.vocabulary.dialect.language, self.origin);
                    datum = self.environment(datum);
                    place = None;
                }
                Some(Kind::Open('{'))
                    if language == Language::Ruby && matches!(datum, ScriptValue::Name(_)) && spaced =>
                {
                    let block = self.ruby_block();
                    datum = self.apply(datum, Arguments::from_positional(block.into_iter().collect()));
                    place = None;
                }
                Some(Kind::Word(word))
                    if &*word == "do" && language == Language::Ruby && matches!(datum, ScriptValue::Name(_)) =>
                {
                    let block = self.ruby_block();
                    datum = self.apply(datum, Arguments::from_positional(block.into_iter().collect()));
                    place = None;
                }
                // TypeScript: `process.env.OUT!`
                Some(Kind::Symbol("!")) if language == Language::JavaScript && !spaced => self.at += 1,
                // A template after a name is its argument: $`ls`.
                Some(Kind::Text(chunks))
                    if language == Language::JavaScript && !spaced && matches!(datum, ScriptValue::Name(_)) =>
                {
                    self.at += 1;
                    let text = self.chunks(&chunks);
                    datum = self.apply(datum, Arguments::from_positional(vec![text]));
                    place = None;
                }
                Some(kind) if self.is_bare_call(&datum, &kind, spaced) => {
                    let arguments = self.bare_arguments();
                    datum = self.apply(datum, arguments);
                    place = None;
                }
                _ => break,
            }
        }
        self.ended(datum)
    }

    /// Calls a name that has no arguments. Ruby and Perl treat such names as calls: `Dir.pwd`, `fork`.
    fn ended(&mut self, datum: ScriptValue) -> ScriptValue {
        let calls = matches!(self.vocabulary.dialect.language, Language::Ruby | Language::Perl);
        let ScriptValue::Name(name) = &datum else { return datum };
        if !calls || matches!(self.symbol(), "=" | "::" | "=>") || name.ends_with("()") {
            return datum;
        }
        let canonical = self.vocabulary.canonical(name);
        let known = self.vocabulary.has_call(&canonical) || self.program(&canonical).is_some() || name.contains('.');
        // `User.delete_all`
        let member = name.rsplit_once('.').map(|(_, member)| format!(".{member}"));
        let member = member.filter(|member| !self.knows(&canonical) && self.program(member).is_some());
        match member {
            Some(member) => self.call(&member, Arguments::from_positional(vec![self.unknown()])),
            None if known => self.call_name(&name.clone(), Arguments::default()),
            None => datum,
        }
    }

    fn is_member(&self, symbol: &str) -> bool {
        if !self.vocabulary.dialect.member.contains(&symbol) {
            return false;
        }
        match self.token_at(self.at + 1).map(|token| &token.kind) {
            Some(Kind::Word(_)) => symbol != ":" || self.vocabulary.dialect.language == Language::Lua,
            Some(Kind::Open(_)) => matches!(symbol, "?." | "->" | "?->" | "."),
            _ => false,
        }
    }

    /// Parses the part after a dot: a member, or a call or element without a name.
    fn member(&mut self, datum: ScriptValue, place: &mut Option<String>) -> ScriptValue {
        let Some(Kind::Word(word)) = self.kind().cloned() else {
            *place = None;
            // `x->(…)`, `x?.[…]`, `x->[0]`: the bracket that follows is applied to the value; `x.()` is a call.
            return datum;
        };
        self.at += 1;
        let qualified = place.take().filter(|place| place.len() < 256).map(|place| format!("{place}.{word}"));
        if let Some(known) = qualified.as_deref().and_then(|name| self.variable(name)) {
            // A bare name is a call in Ruby.
            let is_call = self.vocabulary.dialect.language == Language::Ruby
                && !self.opens('(')
                && !matches!(self.symbol(), "=" | "+=" | "||=");
            if let (ScriptValue::Function(function), true) = (&known, is_call) {
                let takes = self.takes_bare_argument();
                let arguments = if takes { self.bare_arguments() } else { Arguments::default() };
                return self.invoke(&function.clone(), arguments.positional);
            }
            *place = qualified;
            return known;
        }
        *place = qualified;
        if self.opens('(') || self.takes_bare_argument() {
            let arguments = if self.opens('(') { self.bracketed_arguments() } else { self.bare_arguments() };
            let base = place.take().and_then(|name| name.strip_suffix(&format!(".{word}")).map(str::to_owned));
            return self.method(datum, &word, arguments, base.as_deref());
        }
        self.attribute(&datum, &word)
    }

    /// Whether an argument without parentheses follows a method.
    fn takes_bare_argument(&self) -> bool {
        let spaced = self.token_at(self.at).is_some_and(|token| token.spaced);
        self.vocabulary.dialect.bare_calls
            && match self.kind() {
                Some(Kind::Text(_) | Kind::Words(_) | Kind::Number(_)) => {
                    spaced || self.vocabulary.dialect.language == Language::Lua
                }
                Some(Kind::Word(word)) if &**word == "do" => self.close_of(self.at) > self.at,
                Some(Kind::Word(word)) => spaced && !is_operator(word),
                Some(Kind::Open('[')) => spaced,
                Some(Kind::Open('{')) => self.vocabulary.dialect.language == Language::Ruby,
                _ => false,
            }
    }

    fn is_element(&self, bracket: char, spaced: bool, datum: &ScriptValue) -> bool {
        let language = self.vocabulary.dialect.language;
        match bracket {
            '[' => {
                !(spaced && (language == Language::Ruby || language == Language::Python))
                    || !matches!(datum, ScriptValue::Name(_))
            }
            // `$h{key}`, `$h->{key}`
            _ => {
                language == Language::Perl && !spaced && self.at > 0 && {
                    let before = self.word_at(self.at - 1);
                    before.starts_with('$')
                        || self.symbol_at(self.at - 1) == "->"
                        || matches!(self.token_at(self.at - 1).map(|t| &t.kind), Some(Kind::Close(']' | '}')))
                }
            }
        }
    }

    /// Parses the key between brackets; two or three numbers with colons are a slice.
    fn element_key(&mut self, close: usize) -> Vec<Option<ScriptValue>> {
        let bare =
            self.vocabulary.dialect.language == Language::Perl && self.at + 1 == close && !self.word().is_empty();
        if bare && !self.word().starts_with('$') {
            let word = self.word().to_owned();
            return vec![Some(self.text_datum(word))];
        }
        let mut parts = Vec::new();
        let mut part = None;
        while self.at < close && self.step() {
            let before = self.at;
            if self.takes_symbol(":") || self.takes_symbol("::") {
                let doubled = self.symbol_at(self.at - 1) == "::";
                parts.push(part.take());
                parts.extend(doubled.then_some(None));
                continue;
            }
            part = Some(self.expression());
            self.at = self.at.max(before + 1);
        }
        parts.push(part);
        parts
    }

    /// Assigns to an element. The variable becomes unknown if it is a list or unset, or if the key is unknown.
    fn set_element(&mut self, place: Option<&str>, key: &[Option<ScriptValue>]) {
        let Some(place) = place else { return };
        let key = key.first().and_then(|key| key.as_ref()?.literal());
        match (self.variable(place), key) {
            (Some(ScriptValue::List(_)) | None, _) | (_, None) => {
                let unknown = self.unknown();
                self.set(place, unknown);
            }
            (Some(_), Some(_)) => {}
        }
    }

    /// Resolves the name `environment.X` to the value of the variable `X`; anything else is returned unchanged.
    fn environment(&mut self, datum: ScriptValue) -> ScriptValue {
        let variable = datum.as_name().and_then(|name| name.strip_prefix("environment."));
        match variable {
            Some(variable) => self.environment_variable(variable),
            None => datum,
        }
    }

    pub(super) fn environment_variable(&mut self, name: &str) -> ScriptValue {
        if let Some([value]) = self.interpreter.state.variable(name) {
            return value.clone().into();
        }
        if name == "HOME" || name == "USERPROFILE" {
            return self.constant(Constant::Home);
        }
        if name == "PWD" {
            return self.constant(Constant::WorkingDirectory);
        }
        Value::piece(Piece::Variable(name.into()), self.origin).into()
    }

    /// Whether arguments without parentheses follow a function: `print "x"`, `unlink $x`, `require 'y'`.
    fn is_bare_call(&self, datum: &ScriptValue, kind: &Kind, spaced: bool) -> bool {
        let ScriptValue::Name(name) = datum else { return false };
        let dialect = self.vocabulary.dialect;
        let python = dialect.indents && matches!(&**name, "print" | "exec");
        let php = matches!(&**name, "echo" | "print" | "include" | "include_once" | "require" | "require_once");
        if !(dialect.bare_calls || python || php && dialect.language == Language::Php) {
            return false;
        }
        match kind {
            Kind::Text(_) => spaced || !python,
            Kind::Number(_) | Kind::Words(_) | Kind::Run(_) => spaced && dialect.language != Language::Lua,
            Kind::Word(word) => {
                (spaced || word.starts_with('$')) && !is_operator(word) && dialect.language != Language::Lua
            }
            Kind::Open('[') => spaced && dialect.language == Language::Ruby,
            Kind::Open('{') => {
                dialect.language == Language::Lua
                    || (dialect.language == Language::Perl && matches!(&**name, "exec" | "system"))
            }
            Kind::Symbol(symbol) => {
                let tight = self.token_at(self.at + 1).is_some_and(|token| !token.spaced);
                let perl = dialect.language == Language::Perl && matches!(*symbol, "<" | "\\");
                spaced
                    && tight
                    && dialect.language != Language::Lua
                    && (matches!(*symbol, "*" | "&" | "@" | "::") || perl)
            }
            Kind::Open(_) | Kind::Close(_) | Kind::Pattern | Kind::End => false,
        }
    }

    fn bracketed_arguments(&mut self) -> Arguments {
        self.at_statement = false;
        let close = self.close_of(self.at);
        self.at += 1;
        let arguments = self.deeper(Arguments::default(), |this| this.arguments_to(close));
        self.at = (close + 1).min(self.tokens.0.len());
        let mut arguments = arguments;
        if self.vocabulary.dialect.language == Language::Ruby
            && (self.opens('{') || self.word() == "do")
            && let Some(block) = self.ruby_block()
        {
            arguments.positional.push(block);
        }
        arguments
    }

    /// Parses the arguments up to the closing bracket.
    fn arguments_to(&mut self, close: usize) -> Arguments {
        let mut arguments = Arguments::default();
        if self.comprehends_arguments(close) {
            let list = self.comprehension(close);
            arguments.positional.push(list);
            return arguments;
        }
        while self.at < close && self.step() {
            let before = self.at;
            self.argument(&mut arguments);
            if self.at == before {
                self.at += 1;
            }
        }
        arguments
    }

    fn comprehends_arguments(&self, close: usize) -> bool {
        self.vocabulary.dialect.indents && self.find_word("for", close).is_some()
    }

    /// Parses one argument: `x`, `key=x`, `key: x`, `:key => x`, `*list`, `{options}`.
    fn argument(&mut self, arguments: &mut Arguments) {
        if self.takes_symbol(",") {
            return;
        }
        let named = match (self.word(), self.symbol_at(self.at + 1)) {
            ("", _) => None,
            (word, "=") if self.vocabulary.dialect.indents => Some(word.to_owned()),
            (word, ":")
                if self.vocabulary.dialect.language == Language::Ruby
                    || self.vocabulary.dialect.language == Language::Php =>
            {
                Some(word.to_owned())
            }
            _ => None,
        };
        if let Some(name) = named {
            self.at += 2;
            let value = self.expression();
            arguments.named.push((name, value));
            return;
        }
        let spreads = self.spreads();
        let pairs = matches!(self.kind(), Some(Kind::Open('{'))) || self.symbol() == "**";
        let datum = self.expression();
        if self.takes_symbol("=>") {
            let value = self.expression();
            arguments.named.push((datum.literal().unwrap_or_default(), value));
            return;
        }
        let options = pairs || self.vocabulary.dialect.language == Language::JavaScript;
        if let (ScriptValue::List(items), true) = (&datum, spreads) {
            arguments.positional.extend(items.iter().cloned());
        } else if let (ScriptValue::Map(fields), true) = (&datum, options) {
            arguments.named.extend(fields.iter().cloned());
        } else {
            arguments.positional.push(datum);
        }
    }

    /// Parses arguments without parentheses. They end with the statement, at a word such as `if`, or at a block.
    fn bare_arguments(&mut self) -> Arguments {
        self.at_statement = false;
        let mut arguments = Arguments::default();
        while self.step() {
            let before = self.at;
            match self.kind() {
                None | Some(Kind::End | Kind::Close(_)) => break,
                Some(Kind::Symbol("?" | ":" | "||" | "&&" | "==" | "=~" | ".." | "=")) => break,
                Some(Kind::Open('{')) if self.vocabulary.dialect.language == Language::Ruby => {
                    arguments.positional.extend(self.ruby_block());
                    break;
                }
                Some(Kind::Word(word)) if &**word == "do" => {
                    arguments.positional.extend(self.ruby_block());
                    break;
                }
                Some(Kind::Word(word)) if is_operator(word) => break,
                Some(_) => self.argument(&mut arguments),
            }
            // `system {"sh"} "-c", …`, `print STDERR "x"`, `printf $f "x"`: no comma separates the first two.
            if self.at == before {
                self.at += 1;
            }
            if self.vocabulary.dialect.language == Language::Lua {
                break;
            }
        }
        arguments
    }

    /// `{ |x| … }`, `do |x| … end`
    fn ruby_block(&mut self) -> Option<ScriptValue> {
        let close = self.close_of(self.at);
        let mut begin = self.at + 1;
        let mut parameters = Vec::new();
        if self.symbol_at(begin) == "|" {
            self.at = begin + 1;
            let last = (self.at..self.at + 32).find(|at| self.symbol_at(*at) == "|")?;
            parameters = self.parameter_names(last);
            begin = last + 1;
        }
        self.at = (close + 1).min(self.tokens.0.len());
        Some(self.function(parameters, begin..close, false))
    }

    /// Calls the function that a value denotes.
    pub(super) fn apply(&mut self, callee: ScriptValue, arguments: Arguments) -> ScriptValue {
        match callee {
            ScriptValue::Name(name) => self.call_name(&name, arguments),
            ScriptValue::Function(function) => self.invoke(&function, arguments.positional),
            ScriptValue::Any(all) => {
                let unknown = self.unknown();
                self.deeper(unknown, |this| {
                    ScriptValue::any(all.iter().map(|one| this.apply(one.clone(), arguments.clone())).collect())
                })
            }
            ScriptValue::Text(text) => self.unknown_callee(text, arguments),
            ScriptValue::Number(_)
            | ScriptValue::Ternary(_)
            | ScriptValue::List(_)
            | ScriptValue::Map(_)
            | ScriptValue::File(_) => {
                self.callbacks(&arguments, &self.unknown());
                self.unknown()
            }
        }
    }

    /// Calls a value that is not a function. In PHP and Perl a text names a function; calling an unknown value has no
    /// known effect.
    fn unknown_callee(&mut self, callee: Text, arguments: Arguments) -> ScriptValue {
        let by_name = matches!(self.vocabulary.dialect.language, Language::Php | Language::Perl);
        if let (true, Some(name)) = (by_name, callee.value.literal()) {
            let name = name.into_owned();
            return self.call_name(&name, arguments);
        }
        let unknown = self.unknown();
        self.callbacks(&arguments, &unknown);
        self.mixed(Some(&ScriptValue::Text(callee)), &arguments)
    }

    /// Calls a function by its name.
    pub(super) fn call_name(&mut self, name: &str, arguments: Arguments) -> ScriptValue {
        if let Some(ScriptValue::Function(function)) = self.variable(name) {
            return self.invoke(&function, arguments.positional);
        }
        let canonical = self.vocabulary.canonical(name);
        self.call(&canonical, arguments)
    }

    /// Calls a function by its qualified name: makes a command if the library knows the function, else computes its
    /// value.
    pub(super) fn call(&mut self, name: &str, mut arguments: Arguments) -> ScriptValue {
        let starts = arguments.named("target").is_some();
        if arguments.positional.is_empty() && self.vocabulary.dialect.indents && !starts {
            named_first(&mut arguments);
        }
        if let Some(datum) = self.loaded(name, arguments.first()) {
            return datum;
        }
        if let Some(at) = self.vocabulary.mode_argument(name) {
            return self.open(name, at, arguments);
        }
        if self.program(name).is_some() {
            return self.make(name, arguments);
        }
        match self.vocabulary.call(name) {
            Some(CallMeaning::Function(function)) => return self.compute(function, name, &arguments),
            Some(CallMeaning::Constant(constant)) => return self.constant(constant),
            None => {}
        }
        if let Some(star) =
            self.stars.iter().map(|star| format!("{star}.{name}")).find(|qualified| self.knows(qualified))
        {
            return self.call(&star, arguments);
        }
        let unknown = self.unknown();
        self.callbacks(&arguments, &unknown);
        // `Thread(target=f, args=(x,))`
        if let Some(target) = arguments.named("target").or(arguments.named("func")).cloned() {
            let values = arguments.named("args").and_then(ScriptValue::items).unwrap_or(&[]).to_vec();
            self.apply(target, Arguments::from_positional(values));
        }
        let mixed = self.mixed(None, &arguments);
        if let (ScriptValue::Text(text), true) =
            (&mixed, arguments.positional.iter().any(|one| matches!(one, ScriptValue::File(_))))
        {
            self.hand_out(text);
        }
        let holds = matches!(&mixed, ScriptValue::Text(text) if !text.from.is_empty() || !text.files.is_empty());
        if holds || name.len() > 256 { mixed } else { ScriptValue::name(format!("{name}()")) }
    }

    /// Whether a function of this name is known.
    fn knows(&self, name: &str) -> bool {
        self.vocabulary.mode_argument(name).is_some() || self.program(name).is_some() || self.vocabulary.has_call(name)
    }

    pub(super) fn program(&self, name: &str) -> Option<Program> {
        let name = format!("{}:{name}", self.vocabulary.dialect.language.name());
        Program::find(self.interpreter.surroundings.programs, &name)
    }

    /// Returns an unknown value tainted with the receiver and the arguments.
    pub(super) fn mixed(&self, receiver: Option<&ScriptValue>, arguments: &Arguments) -> ScriptValue {
        let mut text =
            Text { value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), self.origin), ..Text::default() };
        let named = arguments.named.iter().map(|(_, value)| value);
        for datum in receiver.into_iter().chain(&arguments.positional).chain(named) {
            text.taint(&datum.text(self.origin));
        }
        ScriptValue::Text(text)
    }

    /// Calls the functions among the arguments with `given`, since the callee may call them.
    pub(super) fn callbacks(&mut self, arguments: &Arguments, value: &ScriptValue) {
        for argument in &arguments.positional {
            if let ScriptValue::Function(function) = argument {
                drop(self.invoke(&function.clone(), vec![value.clone(); function.parameters.len()]));
            }
            if let ScriptValue::Name(name) = argument
                && self.program(&self.vocabulary.canonical(name)).is_some()
            {
                self.call_name(&name.clone(), Arguments::from_positional(vec![value.clone()]));
            }
        }
    }

    /// `open(path, mode)`: reading, writing and appending become options, since languages spell the modes differently.
    fn open(&mut self, name: &str, at: usize, mut arguments: Arguments) -> ScriptValue {
        let argument = arguments.positional.get(at).or(arguments.named("mode")).or(arguments.named("flag")).cloned();
        let mode = argument.as_ref().map_or(Some("r".to_owned()), ScriptValue::literal);
        let perl = self.vocabulary.dialect.language == Language::Perl;
        let path = if perl { 2 } else { 0 };
        let mut path_datum = arguments.positional.get(path).cloned().unwrap_or_else(|| self.unknown());
        let mut mode = mode.unwrap_or_else(|| "r+".into());
        if perl && arguments.positional.len() == 2 {
            // `open(F, ">x")`, `open(F, "ls|")`: one text holds mode and path.
            let (how, rest) = fold::perl_mode(arguments.positional.get(1), self.origin);
            (mode, path_datum) = (how, rest);
        }
        let runs = perl && mode.contains('|');
        let flag = |wanted: bool, flag: &str| wanted.then(|| (flag.to_owned(), ScriptValue::Ternary(true)));
        let adds = mode.contains('a') || mode.starts_with(">>");
        let writes = mode.contains(['w', 'x']) || (mode.starts_with(['>', '+']) && !adds);
        let changes = mode.contains('+') && !writes && !adds;
        let flags = [
            flag(runs, "run"),
            flag(adds && !runs, "append"),
            flag((writes || changes) && !runs, "write"),
            flag(!runs && !adds && !writes, "read"),
        ];
        let mut operands = vec![path_datum.clone()];
        if runs {
            operands.extend(arguments.positional.drain(..).skip(3));
        }
        let mut made = Arguments { positional: operands, named: flags.into_iter().flatten().collect() };
        if mode.starts_with('|') {
            made.named.push(("stdin".into(), ScriptValue::name("pipe")));
        }
        let handle = arguments.positional.first().cloned();
        let printed = self.make(name, made);
        if runs {
            return printed;
        }
        let file = path_datum.each(|path| ScriptValue::File(Box::new(path.text(self.origin))));
        if let (true, Some(ScriptValue::Name(name))) = (perl, handle) {
            self.set(&name, file.clone());
        }
        // A block receives the file.
        let block: Vec<ScriptValue> =
            arguments.positional.iter().filter(|one| matches!(one, ScriptValue::Function(_))).cloned().collect();
        self.callbacks(&Arguments::from_positional(block), &file);
        file
    }

    /// Makes the commands of a call that the library knows: one for each alternative of the arguments.
    pub(super) fn make(&mut self, name: &str, arguments: Arguments) -> ScriptValue {
        let all = arguments.positional.iter().chain(arguments.named.iter().map(|(_, value)| value));
        let rounds = all.map(|datum| datum.alternatives().len()).max().unwrap_or(1).clamp(1, MAX_ALTERNATIVES);
        let mut results = Vec::new();
        for round in 0..rounds {
            let one = |datum: &ScriptValue| {
                let all = datum.alternatives();
                all.get(round).or(all.last()).cloned().unwrap_or(ScriptValue::Ternary(false))
            };
            let chosen = Arguments {
                positional: arguments.positional.iter().map(one).collect(),
                named: arguments.named.iter().map(|(name, datum)| (name.clone(), one(datum))).collect(),
            };
            results.push(self.make_one(name, &chosen));
        }
        let block: Vec<ScriptValue> =
            arguments.positional.into_iter().filter(|one| matches!(one, ScriptValue::Function(_))).collect();
        let result = ScriptValue::any(results);
        self.callbacks(&Arguments::from_positional(block), &result);
        result
    }

    fn make_one(&mut self, name: &str, arguments: &Arguments) -> ScriptValue {
        let mut text = Text::default();
        let words = self.words(name, arguments, &mut text);
        if !self.seen.insert((self.at, words.clone())) {
            return self.unknown();
        }
        if text.holds_environment() && self.writes(name) {
            self.hand_out(&text);
        }
        let first = self.interpreter.reading.commands.len();
        let stdin = ["input", "stdin_data"].iter().find_map(|key| arguments.named(key));
        let fed = |name: &str| !name.ends_with("DEVNULL");
        let unknown = Value::piece(Piece::Unknown(UnknownReason::Input), self.origin);
        let stdin = match (stdin, arguments.named("stdin")) {
            (Some(datum), _) => Some(Stream::new(datum.text(self.origin).value, text.from.clone())),
            // Later writes to the standard input are not followed.
            (None, Some(ScriptValue::Name(name))) if fed(name) => Some(Stream::new(unknown, Vec::new())),
            (None, _) => None,
        };
        let before = self.interpreter.state.clone();
        if let Some(folder) = arguments.named("cwd").or(arguments.named("chdir")).filter(|folder| !folder.is_false()) {
            self.interpreter.state.folders.change(folder.text(self.origin).value);
        }
        let lowest = text.from.iter().min().copied().unwrap_or(first);
        let printed = self.interpreter.command(Draft {
            words: Arc::new(words.clone()),
            assignments: Vec::new(),
            redirects: Vec::new(),
            stdin: stdin.unwrap_or_else(|| self.stdin.clone()),
            expanded: lowest..text.from.iter().max().map_or(lowest, |last| last + 1),
            origin: self.origin,
            by_program: true,
        });
        self.interpreter.state = before;
        self.connect(first);
        self.result(first, printed, text)
    }

    fn writes(&self, name: &str) -> bool {
        let is_write = |entry: EffectEntry<'_>| matches!(entry.kind(), "overwrite" | "append");
        self.program(name).is_some_and(|program| program.effects().any(is_write))
    }

    /// Builds the words of the command: its name, `--key=value` for each named argument that is not false, `--`, then
    /// the positional arguments.
    fn words(&self, name: &str, arguments: &Arguments, text: &mut Text) -> Vec<Value> {
        let origin = self.origin;
        let language = self.vocabulary.dialect.language.name();
        let mut words = vec![Value::text(format!("{language}:{name}"), origin)];
        let mut operands: Vec<Value> = Vec::new();
        for datum in &arguments.positional {
            text.taint(&datum.text(origin));
            operands.extend(datum.words(origin));
        }
        for (key, datum) in arguments.named.iter().filter(|(_, datum)| !datum.is_false()) {
            let value = datum.text(origin);
            // The environment of a started program does not count as data sent to it.
            match key.as_str() {
                "env" => text.taint(&Text { files: Vec::new(), ..value }),
                _ => text.taint(&value),
            }
            // `new Deno.Command("ls", {args: ["-l"]})`
            if let (ScriptValue::List(_), Language::JavaScript, "args" | "cmd") =
                (datum, self.vocabulary.dialect.language, key.as_str())
            {
                operands.extend(datum.words(origin));
            }
            let mut word = Value::text(format!("--{key}="), origin);
            if matches!(datum, ScriptValue::Ternary(_)) {
                word.push_text("true", origin);
            } else {
                word.push(datum.text(origin).value);
            }
            words.push(word);
        }
        for file in &text.files {
            let mut word = Value::text("--content-of=", origin);
            word.push(file.clone());
            words.push(word);
        }
        words.push(Value::text("--", origin));
        words.extend(operands);
        words
    }

    /// Returns the value of a call: the output of its program, the content of a file that it reads, or an unknown
    /// value.
    fn result(&mut self, first: CommandId, printed: Stream, mut text: Text) -> ScriptValue {
        let last = self.interpreter.reading.commands.len();
        let Some(command) = self.interpreter.reading.commands.get(first) else { return self.unknown() };
        let mut read = Vec::new();
        if let Some(invocation) = &command.invocation {
            let entries = invocation.grammars.iter().flat_map(|grammar| grammar.effects());
            for entry in entries.filter(|entry| entry.kind() == "read" && applies(entry.conditions(), invocation)) {
                read.extend(Selector(entry.to().unwrap_or_default()).values(invocation, &command.words));
            }
        }
        let is_program_output = printed
            .text
            .pieces
            .iter()
            .all(|(piece, _)| matches!(piece, Piece::Output(Printed::Program(name)) if name.contains(':')));
        text.value = match is_program_output {
            true => Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), self.origin),
            false => printed.text,
        };
        text.files.extend(read);
        self.remember_written(first, &text.from.clone());
        (first..last).for_each(|id| text.taint(&Text { from: vec![id], ..Text::default() }));
        ScriptValue::Text(text)
    }

    /// Records the content of a file that a call overwrites: the call's second operand.
    fn remember_written(&mut self, id: CommandId, from: &[CommandId]) {
        let Some(command) = self.interpreter.reading.commands.get(id) else { return };
        let Some(invocation) = &command.invocation else { return };
        let mut effects = invocation.grammars.iter().flat_map(|grammar| grammar.effects());
        let replaces = effects.next().is_some_and(|entry| entry.kind() == "overwrite") && effects.next().is_none();
        let operand = |at: usize| command.words.get(*invocation.operands.get(at)?).cloned();
        if let (true, Some(path), Some(content)) = (replaces, operand(0), operand(1)) {
            self.interpreter.write(&path, Stream::new(content, from.to_vec()));
        }
    }

    /// Records a shell that reads from a network connection.
    fn connect(&mut self, first: CommandId) {
        let commands = self.interpreter.reading.commands.get(first..).unwrap_or(&[]);
        let is_shell = commands.iter().any(|command| {
            let grammar = command.invocation.as_ref().and_then(|invocation| invocation.grammar());
            let has = |key| command.invocation.as_ref().is_some_and(|invocation| invocation.has_option(key));
            let bare = command.unread.iter().all(|(code, _)| matches!(code, Code::Stdin(_)));
            grammar.is_some_and(Program::reads_script)
                && !has("command")
                && !has("operands")
                && bare
                && !command.name.contains(':')
        });
        let connects = commands.first().and_then(|command| {
            let invocation = command.invocation.as_ref()?;
            let mut entries = invocation.grammar()?.effects();
            let opens = |entry: &EffectEntry<'_>| entry.set().iter().any(|word| word == "connection");
            let entry = entries.find(|entry| opens(entry) && applies(entry.conditions(), invocation))?;
            Some(
                Selector(entry.to().unwrap_or_default())
                    .values(invocation, &command.words)
                    .into_iter()
                    .next()
                    .unwrap_or_default(),
            )
        });
        if let Some(host) = connects {
            self.connection = Some(host);
        }
        self.gives_shell |= is_shell;
        if self.gives_shell
            && let Some(host) = self.connection.take()
        {
            let words = vec![
                Value::text(format!("{}:connected shell", self.vocabulary.dialect.language.name()), self.origin),
                Value::text("--", self.origin),
                host,
            ];
            let stdin = Stream::default();
            let (assignments, redirects, expanded, origin) = (Vec::new(), Vec::new(), 0..0, self.origin);
            self.interpreter.command(Draft {
                words: Arc::new(words),
                assignments,
                redirects,
                stdin,
                expanded,
                origin,
                by_program: true,
            });
        }
    }
}

/// Makes named arguments positional, in the order in which most functions take them.
fn named_first(arguments: &mut Arguments) {
    const FIRST: [&str; 12] =
        ["args", "path", "command", "cmd", "file", "filename", "url", "source", "src", "dst", "code", "name"];
    for key in FIRST {
        if let Some(at) = arguments.named.iter().position(|(name, _)| name == key) {
            let (_, value) = arguments.named.remove(at);
            arguments.positional.push(value);
        }
    }
}

/// Whether a word ends the arguments of a call without parentheses.
fn is_operator(word: &str) -> bool {
    const WORDS: [&str; 20] = [
        "if", "unless", "while", "until", "for", "foreach", "and", "or", "in", "is", "eq", "ne", "x", "then", "do",
        "end", "else", "elsif", "rescue", "cmp",
    ];
    WORDS.contains(&word)
}
