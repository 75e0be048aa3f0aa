//! Results of pure functions, and the members of known values.

use super::calls::Arguments;
use super::datum::{ENVIRONMENT, ScriptValue, Text};
use super::fold::{self, MapPart};
use super::vocabulary::{Attribute, Constant, Function, ListChange, Method};
use super::walker::ExprInterpreter;
use crate::interpret::draft::Draft;
use crate::interpret::streams::Stream;
use crate::model::language::Language;
use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};
use crate::text_tools::decode;
use std::sync::Arc;

/// Maximum length in bytes of a qualified name. No known name is longer.
const MAX_NAME: usize = 256;

impl ExprInterpreter<'_, '_> {
    /// Returns the result of a function.
    #[expect(clippy::too_many_lines, reason = "one short arm for each function")]
    pub(super) fn compute(&mut self, function: Function, name: &str, arguments: &Arguments) -> ScriptValue {
        let origin = self.origin;
        let unknown = self.unknown();
        let first = arguments.first().cloned().unwrap_or_else(|| unknown.clone());
        let all = &arguments.positional;
        match function {
            Function::Same => first,
            Function::Resolved => resolved(&first, origin),
            Function::Text => first.each(|one| ScriptValue::Text(one.text(origin))),
            Function::JoinPath => paths(all, origin),
            Function::ExpandHome => first.each(|one| expand_home(one, origin)),
            // `getenv()` of PHP
            Function::Variable if all.is_empty() => self.constant(Constant::Environment),
            Function::Variable => self.environment_or(&first, all.get(1)),
            Function::FromCharCodes => self.chars_of(all),
            Function::Pack => match all.get(1..) {
                Some([text]) if first.literal().is_some_and(|how| how.starts_with(['H', 'h'])) => {
                    self.decoded("hexadecimal", text, decode::hexadecimal)
                }
                Some(numbers) if !numbers.is_empty() => self.chars_of(numbers),
                _ => unknown,
            },
            Function::Base64 => self.decoded("base64", &first, decode::base64),
            Function::Hexadecimal => self.decoded("hexadecimal", &first, decode::hexadecimal),
            Function::Url => fold::change(&first, origin, fold::url),
            Function::Rotate13 => self.decoded("rot13", &first, |text| Some(fold::rotate13(text))),
            Function::Decode => self.decode(&first, all.get(1)),
            Function::List => match fold::chars(&first, origin) {
                Some(chars) if first.items().is_none() && !matches!(first, ScriptValue::Number(_)) => {
                    ScriptValue::list(chars)
                }
                _ => first,
            },
            Function::Reversed => reversed(&first, origin),
            Function::Range => fold::range(all).unwrap_or(unknown),
            Function::Zip => fold::zip(all, origin).unwrap_or(unknown),
            Function::Enumerate => match first.items() {
                Some(items) => {
                    let row = |(at, item): (usize, &ScriptValue)| {
                        ScriptValue::list(vec![ScriptValue::Number(at as i64), item.clone()])
                    };
                    ScriptValue::list(items.iter().enumerate().map(row).collect())
                }
                None => ScriptValue::list(vec![ScriptValue::list(vec![unknown, self.item_of(&first)])]),
            },
            Function::Map => self.map_over(&first, all.get(1)),
            Function::Glob => fold::glob(&first, origin),
            Function::Member => self.member_of(&first, all.get(1)),
            Function::Module => first.each(|one| one.literal().map_or(self.unknown(), ScriptValue::name)),
            Function::Number => first.number().map_or(unknown, ScriptValue::Number),
            Function::Ordinal => {
                let ch = first.literal().and_then(|text| text.chars().next());
                ch.map_or(unknown, |ch| ScriptValue::Number(i64::from(u32::from(ch))))
            }
            Function::Join => match first.items() {
                Some(items) => ScriptValue::Text(fold::joined(items, " ", origin)),
                None => unknown,
            },
            Function::JoinWith => self.joined_with(&first, all),
            Function::Split => split(&first, None, origin),
            Function::Quote => first.each(|one| fold::quoted(one, origin)),
            Function::Format => {
                fold::format_percent(&first, &ScriptValue::list(all.iter().skip(1).cloned().collect()), origin)
            }
            Function::Replace => {
                replace(all.get(2).unwrap_or(&unknown), &first, all.get(1).unwrap_or(&unknown), origin)
            }
            Function::Folder => folder(&first, origin),
            Function::FileName => file_name(&first, origin),
            Function::Print => self.print(all, ""),
            Function::PrintLine => self.print(all, "\n"),
            Function::ChangeFolder => {
                self.interpreter.state.folders.change(first.text(origin).value);
                ScriptValue::Ternary(false)
            }
            Function::Nothing => {
                self.callbacks(arguments, &unknown);
                ScriptValue::name(format!("{name}()"))
            }
            Function::Assign if matches!(&first, ScriptValue::Name(name) if **name == *ENVIRONMENT) => first,
            Function::Assign => ScriptValue::Map(std::rc::Rc::new(arguments.named.clone())),
            Function::All => ScriptValue::list(all.clone()),
            Function::SplitBy => split(all.get(1).unwrap_or(&unknown), Some(&first), origin),
            Function::Repeat => fold::times(&first, all.get(1).unwrap_or(&unknown), origin),
            Function::Table => {
                let between = all.get(1).and_then(ScriptValue::literal).unwrap_or_default();
                ScriptValue::Text(fold::joined(first.items().unwrap_or(&[]), &between, origin))
            }
            Function::MapBack => self.map_over(all.get(1).unwrap_or(&unknown), Some(&first)),
            Function::Call => {
                let rest = all.iter().skip(1).flat_map(|one| one.items().unwrap_or(std::slice::from_ref(one)).to_vec());
                let rest = Arguments { positional: rest.collect(), named: arguments.named.clone() };
                match first.literal() {
                    Some(name) => self.call_name(&name, rest),
                    None => self.apply(first, rest),
                }
            }
            Function::Apply => {
                let list = all.get(2).and_then(ScriptValue::items).unwrap_or(&[]).to_vec();
                self.apply(first, Arguments::from_positional(list))
            }
            Function::DeclareOption => self.declare_option(arguments),
            Function::ParsedOptions => self.parsed_options(),
            Function::Shift => {
                let list = self.variable("$_").filter(|list| list.items().is_some());
                let list = list.unwrap_or_else(|| self.meaning("$ARGV"));
                list.items().and_then(<[ScriptValue]>::first).cloned().unwrap_or(unknown)
            }
        }
    }

    /// `join between, list`
    fn joined_with(&self, first: &ScriptValue, all: &[ScriptValue]) -> ScriptValue {
        let between = first.literal().unwrap_or_default();
        let rest = all.get(1..).unwrap_or(&[]);
        let items = rest.iter().flat_map(|one| one.items().unwrap_or(std::slice::from_ref(one)).to_vec());
        ScriptValue::Text(fold::joined(&items.collect::<Vec<_>>(), &between, self.origin))
    }

    fn environment_or(&mut self, name: &ScriptValue, otherwise: Option<&ScriptValue>) -> ScriptValue {
        let Some(name) = name.literal() else { return self.unknown() };
        let value = self.environment_variable(&name);
        match otherwise {
            Some(otherwise) => fold::or(&value, otherwise.clone()),
            None => value,
        }
    }

    fn chars_of(&self, numbers: &[ScriptValue]) -> ScriptValue {
        let mut text = Text::default();
        for item in numbers.iter().flat_map(|one| one.items().unwrap_or(std::slice::from_ref(one))) {
            match item.number() {
                Some(number) => text.push(fold::ch(number, self.origin)),
                None => text.push(self.unknown().text(self.origin)),
            }
        }
        ScriptValue::Text(text)
    }

    /// Decodes a text and records the step as a derivation, since the code that runs then differs from the source text.
    fn decoded(
        &mut self,
        step: &'static str,
        text: &ScriptValue,
        change: impl Fn(&str) -> Option<String>,
    ) -> ScriptValue {
        let decoded = fold::change(text, self.origin, change);
        let Some(literal) = decoded.literal() else { return decoded };
        let derivation = self.interpreter.derive(step, &literal, self.origin);
        ScriptValue::Text(Text {
            value: Value::text(literal, Origin { derivation, ..self.origin }),
            ..decoded.text(self.origin)
        })
    }

    /// Decodes a text or bytes by the name of an encoding.
    fn decode(&mut self, first: &ScriptValue, encoding: Option<&ScriptValue>) -> ScriptValue {
        let encoding =
            encoding.and_then(ScriptValue::literal).unwrap_or_default().to_lowercase().replace(['-', '_'], "");
        if first.items().is_some() {
            return self.chars_of(std::slice::from_ref(first));
        }
        match encoding.as_str() {
            "base64" | "base64url" => self.decoded("base64", first, decode::base64),
            "hex" => self.decoded("hexadecimal", first, decode::hexadecimal),
            "rot13" => self.decoded("rot13", first, |text| Some(fold::rotate13(text))),
            "unicodeescape" => fold::change(first, self.origin, |text| Some(decode::escapes(text))),
            _ => first.clone(),
        }
    }

    fn map_over(&mut self, function: &ScriptValue, list: Option<&ScriptValue>) -> ScriptValue {
        let Some(list) = list else { return self.unknown() };
        let items = match list.items() {
            Some(items) => items.to_vec(),
            None => fold::chars(list, self.origin).unwrap_or_else(|| vec![self.item_of(list)]),
        };
        let results =
            items.into_iter().map(|item| self.apply(function.clone(), Arguments::from_positional(vec![item])));
        let results = ScriptValue::list(results.collect());
        self.part_of(list, results)
    }

    /// `getattr(os, "system")`
    fn member_of(&mut self, object: &ScriptValue, name: Option<&ScriptValue>) -> ScriptValue {
        let Some(name) = name.and_then(ScriptValue::literal) else { return self.unknown() };
        self.attribute(object, &name)
    }

    /// Returns an item of a value that a loop iterates over.
    pub(super) fn item_of(&self, datum: &ScriptValue) -> ScriptValue {
        match datum {
            ScriptValue::List(items) => ScriptValue::any(items.to_vec()),
            ScriptValue::Name(name) if **name == *ENVIRONMENT => ScriptValue::Text(datum.text(self.origin)),
            ScriptValue::Map(_)
            | ScriptValue::Number(_)
            | ScriptValue::Ternary(_)
            | ScriptValue::Name(_)
            | ScriptValue::Function(_) => self.unknown(),
            ScriptValue::Text(text) => ScriptValue::Text(Text {
                value: Value::piece(Piece::Unknown(UnknownReason::Branches), self.origin),
                ..text.clone()
            }),
            ScriptValue::File(_) => ScriptValue::Text(datum.text(self.origin)),
            ScriptValue::Any(all) => {
                ScriptValue::any(all.iter().flat_map(|one| one.items().unwrap_or(&[])).cloned().collect())
            }
        }
    }

    fn print(&mut self, all: &[ScriptValue], end: &str) -> ScriptValue {
        let text = fold::joined(all, " ", self.origin);
        self.hand_out(&text);
        match &mut self.printed {
            Some(printed) if text.value.literal().is_some() && self.conditional == 0 => {
                text.value.pieces.into_iter().for_each(|(piece, origin)| {
                    printed.push_text(piece.as_text().unwrap_or(""), origin);
                });
                printed.push_text(end, self.origin);
            }
            _ => self.printed = None,
        }
        ScriptValue::Ternary(false)
    }

    /// Records a command if the text contains the complete environment: printing or writing it has the effect of
    /// `printenv`.
    pub(super) fn hand_out(&mut self, text: &Text) {
        if !text.holds_environment() {
            return;
        }
        let name = format!("{}:whole environment", self.vocabulary.dialect.language.name());
        self.interpreter.command(Draft {
            words: Arc::new(vec![Value::text(name, self.origin)]),
            assignments: Vec::new(),
            redirects: Vec::new(),
            stdin: Stream::default(),
            expanded: 0..0,
            origin: self.origin,
            by_program: true,
        });
    }

    /// Returns a member that is not called.
    pub(super) fn attribute(&mut self, datum: &ScriptValue, name: &str) -> ScriptValue {
        datum.each(|one| match one {
            ScriptValue::Name(object) => {
                let full_name = if object.is_empty() { name.to_owned() } else { format!("{object}.{name}") };
                if full_name.len() > MAX_NAME {
                    return self.unknown();
                }
                match self.variable(&full_name) {
                    // A bare name is a call in Ruby.
                    Some(ScriptValue::Function(function)) if self.vocabulary.dialect.language == Language::Ruby => {
                        return self.invoke(&function, Vec::new());
                    }
                    Some(known) => return known,
                    None => {}
                }
                if **object == *ENVIRONMENT {
                    // `ENV.to_h` is a call.
                    if self.vocabulary.dialect.language == Language::Ruby {
                        return self.part_of(one, one.clone());
                    }
                    return self.environment_variable(name);
                }
                let canonical = self.vocabulary.canonical(&full_name);
                match self.vocabulary.constant(&canonical) {
                    Some(constant) => self.constant(constant),
                    None => ScriptValue::name(full_name),
                }
            }
            ScriptValue::Map(_) => one.field(name).cloned().unwrap_or_else(|| self.unknown()),
            ScriptValue::Text(text) => match self.vocabulary.attribute(name) {
                Some(Attribute::Folder) => folder(one, self.origin),
                Some(Attribute::FileName) => file_name(one, self.origin),
                Some(Attribute::Same) => one.clone(),
                Some(Attribute::Method) => {
                    self.text_method(one, name, &Arguments::default()).unwrap_or_else(|| one.clone())
                }
                None => ScriptValue::Text(Text {
                    value: Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), self.origin),
                    ..text.clone()
                }),
            },
            ScriptValue::List(_) if name == "length" => self.unknown(),
            ScriptValue::List(_) => {
                self.text_method(one, name, &Arguments::default()).unwrap_or_else(|| self.unknown())
            }
            ScriptValue::File(_) => one.clone(),
            ScriptValue::Number(_) => {
                self.text_method(one, name, &Arguments::default()).unwrap_or_else(|| self.unknown())
            }
            ScriptValue::Ternary(_) | ScriptValue::Any(_) | ScriptValue::Function(_) => self.unknown(),
        })
    }

    /// Calls a member. `place` is the name of the variable that holds the receiver.
    pub(super) fn method(
        &mut self,
        receiver: ScriptValue,
        name: &str,
        arguments: Arguments,
        place: Option<&str>,
    ) -> ScriptValue {
        match &receiver {
            ScriptValue::Name(object) if object.len() <= MAX_NAME => {
                let full_name = format!("{object}.{name}");
                return self.named_method(&full_name, &receiver, name, arguments);
            }
            ScriptValue::Function(_) if matches!(name, "call" | "apply" | "()" | "bind" | "__call__") => {
                let skip = usize::from(self.vocabulary.dialect.language == Language::JavaScript);
                let rest = arguments.positional.into_iter().skip(skip).collect();
                return self.apply(receiver, Arguments::from_positional(rest));
            }
            ScriptValue::Any(all) if all.len() <= super::datum::MAX_ALTERNATIVES => {
                let unknown = self.unknown();
                let all = all.clone();
                return self.deeper(unknown, |this| {
                    let one = |one: &ScriptValue| this.method(one.clone(), name, arguments.clone(), None);
                    ScriptValue::any(all.iter().map(one).collect())
                });
            }
            ScriptValue::Map(_) => {
                if let Some(function @ (ScriptValue::Function(_) | ScriptValue::Name(_))) =
                    receiver.field(name).cloned()
                {
                    return self.apply(function, arguments);
                }
            }
            ScriptValue::Text(_)
            | ScriptValue::Number(_)
            | ScriptValue::Ternary(_)
            | ScriptValue::List(_)
            | ScriptValue::Name(_)
            | ScriptValue::Function(_)
            | ScriptValue::File(_)
            | ScriptValue::Any(_) => {}
        }
        if let Some(place) = place
            && let Some(changed) = self.mutated(&receiver, name, &arguments)
        {
            self.assign(place, changed.clone());
            return changed;
        }
        if let Some(datum) = self.text_method(&receiver, name, &arguments) {
            return datum;
        }
        let member = format!(".{name}");
        if self.program(&member).is_some() || self.vocabulary.mode_argument(&member).is_some() {
            return self.make_method(&member, receiver, arguments);
        }
        self.callbacks(&arguments, &self.item_of(&receiver));
        self.mixed(Some(&receiver), &arguments)
    }

    /// Calls a method of a named object: `os.remove`, `fs.promises.rm`, `client.post`.
    fn named_method(
        &mut self,
        full_name: &str,
        receiver: &ScriptValue,
        name: &str,
        arguments: Arguments,
    ) -> ScriptValue {
        if let Some(ScriptValue::Function(function)) = self
            .variable(name)
            .filter(|_| full_name.starts_with("self.") || full_name.starts_with("this.") || full_name.contains("()"))
        {
            return self.invoke(&function, arguments.positional);
        }
        // `Class.method()`, `Class().method()`
        if let Some(ScriptValue::Function(function)) = self.variable(&full_name.replace("()", "")) {
            return self.invoke(&function, arguments.positional);
        }
        let canonical = self.vocabulary.canonical(full_name);
        let known = self.program(&canonical).is_some()
            || self.vocabulary.has_call(&canonical)
            || self.vocabulary.mode_argument(&canonical).is_some();
        // `child_process.exec.call(null, …)`
        if name == "__call__" {
            return self.apply(receiver.clone(), arguments);
        }
        if !known && matches!(name, "call" | "apply" | "bind") && self.vocabulary.dialect.patterns {
            let javascript = self.vocabulary.dialect.language == Language::JavaScript;
            let rest = arguments.positional.iter().skip(usize::from(javascript));
            let flat = rest.flat_map(|one| one.items().unwrap_or(std::slice::from_ref(one)).to_vec()).collect();
            return match arguments.positional.len() {
                1 if name == "bind" && javascript => receiver.clone(),
                _ => self.apply(receiver.clone(), Arguments::from_positional(flat)),
            };
        }
        if !known && matches!(receiver, ScriptValue::Name(object) if **object == *ENVIRONMENT) {
            self.callbacks(&arguments, &self.item_of(receiver));
            return if name == "copy" { receiver.clone() } else { self.mixed(Some(receiver), &arguments) };
        }
        let member = format!(".{name}");
        let by_member = self.program(&member).is_some() || self.vocabulary.mode_argument(&member).is_some();
        if !known && by_member {
            return self.make_method(&member, self.unknown(), arguments);
        }
        // `User.objects.all().delete()`: the last two names identify a method that the last one alone does not.
        let pair = full_name.rsplit('.').nth(1).map(|before| format!(".{before}.{name}"));
        if let Some(pair) = pair.filter(|pair| !known && self.program(pair).is_some()) {
            return self.make_method(&pair, self.unknown(), arguments);
        }
        self.call_name(full_name, arguments)
    }

    fn make_method(&mut self, member: &str, receiver: ScriptValue, mut arguments: Arguments) -> ScriptValue {
        arguments.positional.insert(0, receiver);
        self.call(member, arguments)
    }

    /// Returns the list as a method that changes it leaves it.
    fn mutated(&self, receiver: &ScriptValue, name: &str, arguments: &Arguments) -> Option<ScriptValue> {
        let items = receiver.items()?;
        let first = arguments.first();
        let change = self.vocabulary.list_change(name)?;
        let more: Vec<ScriptValue> = match change {
            ListChange::Append | ListChange::Prepend => arguments.positional.clone(),
            ListChange::Insert => arguments.positional.iter().skip(1).cloned().collect(),
            ListChange::Extend => first?.items().map(<[ScriptValue]>::to_vec).unwrap_or_else(|| vec![self.unknown()]),
            ListChange::Reverse if arguments.positional.is_empty() => {
                return Some(ScriptValue::list(items.iter().rev().cloned().collect()));
            }
            ListChange::Reverse => return None,
        };
        let at_start = change == ListChange::Insert && first.and_then(ScriptValue::number) == Some(0);
        let front = change == ListChange::Prepend || at_start;
        let (before, after) = if front { (more.as_slice(), items) } else { (items, more.as_slice()) };
        Some(ScriptValue::list(before.iter().chain(after).take(1024).cloned().collect()))
    }

    /// Methods of texts, lists, maps and files that the library knows. `None` if a method does not apply to its receiver
    /// and arguments.
    #[expect(clippy::too_many_lines, reason = "one short arm for each method")]
    fn text_method(&mut self, receiver: &ScriptValue, name: &str, arguments: &Arguments) -> Option<ScriptValue> {
        let origin = self.origin;
        let first = arguments.first();
        let second = arguments.positional.get(1);
        let is_number = matches!(receiver, ScriptValue::Number(_));
        Some(match self.vocabulary.method(name)? {
            Method::Same | Method::Read | Method::Decode | Method::Trim | Method::Resolved if is_number => return None,
            Method::Same | Method::Itself => receiver.clone(),
            Method::Read if matches!(receiver, ScriptValue::File(_)) => ScriptValue::Text(receiver.text(origin)),
            Method::Read => receiver.clone(),
            Method::Write => return self.write_to(receiver, first?),
            Method::Decode => match first.and_then(ScriptValue::literal) {
                Some(encoding) => self.decode(receiver, Some(&self.text_datum(encoding))),
                None => receiver.clone(),
            },
            Method::Trim => match (first.and_then(ScriptValue::literal), receiver.literal()) {
                (None, Some(text)) => self.text_datum(text.trim()),
                _ => receiver.clone(),
            },
            Method::Resolved => match (first.and_then(ScriptValue::literal), receiver) {
                (None, ScriptValue::Text(_)) => resolved(receiver, origin),
                _ => receiver.clone(),
            },
            Method::Join => self.join(receiver, first, &arguments.positional),
            Method::Split if first.is_some() || receiver.items().is_none() => split(receiver, first, origin),
            Method::Characters => {
                receiver.each(|one| fold::chars(one, origin).map_or(self.unknown(), ScriptValue::list))
            }
            Method::Replace => replace(receiver, first?, second?, origin),
            Method::Concatenate if receiver.items().is_none() => fold::concat(receiver, first?, origin),
            Method::Format => match receiver.literal() {
                Some(format) => fold::format_braces(&format, &arguments.positional, &arguments.named, origin),
                None => self.mixed(Some(receiver), arguments),
            },
            Method::LowerCase => fold::change(receiver, origin, |text| Some(text.to_lowercase())),
            Method::UpperCase => fold::change(receiver, origin, |text| Some(text.to_uppercase())),
            Method::Reversed => reversed(receiver, origin),
            Method::Repeat => fold::times(receiver, first?, origin),
            Method::Slice => {
                let bounds: Vec<Option<ScriptValue>> =
                    arguments.positional.iter().cloned().map(Some).chain([None]).take(2).collect();
                fold::element(receiver, &bounds, self.vocabulary.dialect.language, origin)
            }
            Method::Element if first.is_some() && !matches!(receiver, ScriptValue::File(_)) => {
                fold::element(receiver, &[first.cloned()], self.vocabulary.dialect.language, origin)
            }
            Method::Ordinal => {
                let ch = receiver.literal()?.chars().nth(first.and_then(ScriptValue::number).unwrap_or(0) as usize)?;
                ScriptValue::Number(i64::from(u32::from(ch)))
            }
            Method::FromCharCode => ScriptValue::Text(fold::ch(receiver.number()?, origin)),
            Method::ExpandHome => receiver.each(|one| expand_home(one, origin)),
            Method::JoinPath => paths(&[std::slice::from_ref(receiver), &arguments.positional].concat(), origin),
            Method::WithName => fold::change(receiver, origin, |path| {
                Some(format!(
                    "{}{}",
                    path.rsplit_once('/').map_or(String::new(), |(f, _)| format!("{f}/")),
                    first?.literal()?
                ))
            }),
            method @ (Method::Glob | Method::GlobBelow) if receiver.items().is_none() => {
                let pattern = match (method, first) {
                    (Method::GlobBelow, Some(pattern)) => fold::concat(&self.text_datum("**/"), pattern, origin),
                    (_, Some(pattern @ ScriptValue::Text(_))) => pattern.clone(),
                    _ => self.text_datum("*"),
                };
                let items = fold::glob(&paths(&[receiver.clone(), pattern], origin), origin);
                self.callbacks(arguments, &self.item_of(&items));
                items
            }
            Method::EachItem => self.each_item(receiver, arguments),
            Method::EachCallback => self.each_callback(receiver, arguments),
            Method::Unpack if first.and_then(ScriptValue::literal).is_some_and(|how| how.starts_with('m')) => {
                self.decoded("base64", receiver, decode::base64)
            }
            Method::Pack => self.chars_of(std::slice::from_ref(receiver)),
            Method::Pairs => map_part(receiver, MapPart::Pairs, origin),
            Method::Keys => map_part(receiver, MapPart::Keys, origin),
            Method::Values => map_part(receiver, MapPart::Values, origin),
            Method::Split
            | Method::Concatenate
            | Method::Element
            | Method::Glob
            | Method::GlobBelow
            | Method::Unpack => return None,
        })
    }

    /// `file.write(text)`
    fn write_to(&mut self, file: &ScriptValue, text: &ScriptValue) -> Option<ScriptValue> {
        let ScriptValue::File(path) = file else { return None };
        let text = text.text(self.origin);
        self.hand_out(&text);
        self.interpreter.append(&path.value, Stream::new(text.value, text.from));
        Some(ScriptValue::Ternary(true))
    }

    /// `" ".join(list)` of Python, `list.join(" ")` elsewhere.
    fn join(&self, receiver: &ScriptValue, first: Option<&ScriptValue>, all: &[ScriptValue]) -> ScriptValue {
        let python = self.vocabulary.dialect.indents;
        let (items, between) = if python { (first, Some(receiver)) } else { (Some(receiver), first) };
        let Some(items) = items else { return self.unknown() };
        let Some(list) = items.items() else {
            if !python && receiver.items().is_none() {
                // `Pathname#join`, or `path.join` of an object.
                return paths(&[std::slice::from_ref(receiver), all].concat(), self.origin);
            }
            let chars = fold::chars(items, self.origin);
            return chars
                .map_or_else(|| items.clone(), |chars| ScriptValue::Text(fold::joined(&chars, "", self.origin)));
        };
        let between = match between {
            Some(between) => between.literal().unwrap_or_else(|| " ".into()),
            None if self.vocabulary.dialect.bare_calls => String::new(),
            None => ",".into(),
        };
        let mut texts = vec![Text::default()];
        for (index, item) in list.iter().enumerate() {
            let gap = Text {
                value: Value::text(if index > 0 { between.as_str() } else { "" }, self.origin),
                ..Text::default()
            };
            let parts: Vec<Text> = item.alternatives().iter().map(|one| one.text(self.origin)).collect();
            texts = fold::product(&fold::product(&texts, &[gap]), &parts);
            texts.truncate(super::datum::MAX_ALTERNATIVES);
        }
        ScriptValue::any(texts.into_iter().map(ScriptValue::Text).collect())
    }

    /// Calls a function for each item of the receiver.
    fn each_item(&mut self, receiver: &ScriptValue, arguments: &Arguments) -> ScriptValue {
        let Some(function) = arguments
            .positional
            .iter()
            .find(|one| matches!(one, ScriptValue::Function(_) | ScriptValue::Name(_)))
            .cloned()
        else {
            return receiver.clone();
        };
        let items = match receiver.items() {
            Some(items) if items.len() <= super::datum::MAX_ALTERNATIVES => items.to_vec(),
            _ => vec![self.item_of(receiver)],
        };
        let results = items.into_iter().map(|item| {
            let several = matches!(&function, ScriptValue::Function(one) if one.parameters.len() > 1);
            let values = item.items().filter(|_| several).map_or_else(|| vec![item.clone()], <[ScriptValue]>::to_vec);
            self.apply(function.clone(), Arguments::from_positional(values))
        });
        let results = ScriptValue::list(results.collect());
        self.part_of(receiver, results)
    }

    /// Marks a value made from the variables of the environment as containing the environment, whatever was done with
    /// it.
    pub(super) fn part_of(&self, source: &ScriptValue, made: ScriptValue) -> ScriptValue {
        let mut text = ScriptValue::name(ENVIRONMENT).text(self.origin);
        if let ScriptValue::Text(source) = source
            && source.holds_environment()
        {
            text.taint(source);
        } else if source.as_name() != Some(ENVIRONMENT) {
            return made;
        }
        text.taint(&made.text(self.origin));
        ScriptValue::Text(text)
    }

    /// `promise.then(function)`: calls each function with the receiver.
    fn each_callback(&mut self, receiver: &ScriptValue, arguments: &Arguments) -> ScriptValue {
        let mut last = receiver.clone();
        for argument in &arguments.positional {
            if matches!(argument, ScriptValue::Function(_) | ScriptValue::Name(_)) {
                last = self.apply(argument.clone(), Arguments::from_positional(vec![receiver.clone()]));
            }
        }
        last
    }
}

/// Returns the keys or values of a map; any other value is returned unchanged.
fn map_part(map: &ScriptValue, part: MapPart, origin: Origin) -> ScriptValue {
    let ScriptValue::Map(fields) = map else { return map.clone() };
    fold::fields(fields, part, origin)
}

/// Returns the folder of a path.
fn folder(path: &ScriptValue, origin: Origin) -> ScriptValue {
    fold::change(path, origin, |path| Some(path.rsplit_once('/').map_or(".", |(folder, _)| folder).into()))
}

/// Returns the last part of a path.
fn file_name(path: &ScriptValue, origin: Origin) -> ScriptValue {
    fold::change(path, origin, |path| Some(path.rsplit('/').next().unwrap_or("").into()))
}

/// Returns a path with its symlinks resolved.
fn resolved(path: &ScriptValue, origin: Origin) -> ScriptValue {
    path.each(|one| match matches!(one, ScriptValue::Text(_)) {
        true => one.text(origin).value.resolved().into(),
        false => one.clone(),
    })
}

fn paths(parts: &[ScriptValue], origin: Origin) -> ScriptValue {
    let mut combined: Vec<Vec<ScriptValue>> = vec![Vec::new()];
    for part in parts {
        let mut longer = Vec::new();
        for before in &combined {
            for one in part.alternatives().iter().take(super::datum::MAX_ALTERNATIVES / combined.len() + 1) {
                longer.push([before.as_slice(), std::slice::from_ref(one)].concat());
            }
        }
        combined = longer;
    }
    ScriptValue::any(combined.iter().map(|parts| fold::join_path(parts, origin)).collect())
}

/// `~/x`
fn expand_home(datum: &ScriptValue, origin: Origin) -> ScriptValue {
    let mut text = datum.text(origin);
    if text.value.prefix().starts_with('~') {
        let rest = text.value.without_prefix(1);
        let user = rest.prefix().split('/').next().unwrap_or("").to_owned();
        let mut value = Value::piece(Piece::Home(user.clone()), origin);
        value.push(rest.without_prefix(user.len()));
        text.value = value;
    }
    ScriptValue::Text(text)
}

fn reversed(datum: &ScriptValue, origin: Origin) -> ScriptValue {
    match datum.items() {
        Some(items) => ScriptValue::list(items.iter().rev().cloned().collect()),
        None => fold::change(datum, origin, |text| Some(text.chars().rev().collect())),
    }
}

fn split(datum: &ScriptValue, between: Option<&ScriptValue>, origin: Origin) -> ScriptValue {
    let Some(text) = datum.literal() else {
        let ScriptValue::Text(text) = datum else { return ScriptValue::unknown(UnknownReason::NotEvaluated, origin) };
        let between = between.map(ScriptValue::literal);
        if between == Some(Some("\n".into())) && fold::has_lines(&text.value) {
            return ScriptValue::list(fold::lines(text));
        }
        if between.is_none_or(|between| between.as_deref() == Some(" ")) {
            return ScriptValue::list(
                text.value.split(&[' ', '\t', '\n']).into_iter().map(ScriptValue::from).collect(),
            );
        }
        return ScriptValue::list(vec![ScriptValue::Text(Text {
            value: Value::piece(Piece::Output(Printed::Program("split".into())), origin),
            ..text.clone()
        })]);
    };
    let item = |text: &str| ScriptValue::from(Value::text(text, origin));
    match between.and_then(ScriptValue::literal) {
        Some(between) if between.is_empty() => {
            ScriptValue::list(text.chars().map(|ch| item(&ch.to_string())).collect())
        }
        Some(between) if between != " " => {
            ScriptValue::list(text.split(between.as_str()).take(1024).map(item).collect())
        }
        _ => ScriptValue::list(text.split_whitespace().take(1024).map(item).collect()),
    }
}

fn replace(text: &ScriptValue, from: &ScriptValue, to: &ScriptValue, origin: Origin) -> ScriptValue {
    match (from.literal(), to.literal()) {
        (Some(from), Some(to)) if !from.is_empty() => fold::change(text, origin, |text| {
            const MAX_BYTES: usize = 256 * 1024;
            let bound = text.len() + text.matches(from.as_str()).count().saturating_mul(to.len());
            (bound <= MAX_BYTES).then(|| text.replace(&from, &to))
        }),
        _ => fold::change(text, origin, |_| None),
    }
}
