//! The values of parameters, and the results of the operators of `${…}`.

use super::fields::{Raw, number, push_value, text_of};
use super::operators::{change_case, cut, from_end, is_list, length, quoted, replace};
use crate::interpret::interpreter::Interpreter;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::syntax::parser::Placement;
use crate::syntax::tree::{Element, Operator, Parameter, Part, Word};

impl Interpreter<'_> {
    pub(super) fn raw_parameter(&mut self, parameter: &Parameter, quoted: bool, origin: Origin, raw: &mut Vec<Raw>) {
        let Some(name) = self.element_name(parameter, origin) else {
            self.run_operand(&parameter.operator);
            return push_value(raw, Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin), false);
        };
        if let Some(word) = self.replacement(&name, &parameter.operator).filter(|_| !quoted) {
            if let Operator::Assign { .. } = parameter.operator {
                let value = self.expand_fully(&word);
                self.state.assign(&parameter.name, vec![value.clone()]);
                return push_value(raw, value, true);
            }
            return self.raw_operand(&word, raw);
        }
        let values = self.parameter(parameter, &name, origin);
        let separate = !quoted || name == "@" || name.ends_with("[@]");
        if !separate && values.is_empty() {
            push_value(raw, Value::default(), false);
        }
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                let joint = self.separators().chars().take(1).collect();
                raw.push(if separate { Raw::Break } else { text_of(joint, origin) });
            }
            let value = self.spend(value);
            push_value(raw, value, !quoted);
        }
    }

    /// Returns the name with its subscript evaluated: `a[@]`, `a[2]`; `None` if the subscript is unknown.
    fn element_name(&mut self, parameter: &Parameter, origin: Origin) -> Option<String> {
        let name = &parameter.name;
        match &parameter.element {
            Element::None => Some(name.clone()),
            Element::Each => Some(format!("{name}[@]")),
            Element::Joined => Some(format!("{name}[*]")),
            Element::At(word) => {
                let subscript = self.expand_fully(word);
                let named = format!("{name}[{}]", subscript.literal()?);
                if self.state.variable(&named).is_some() {
                    return Some(named);
                }
                let index = self.evaluate(&subscript)?;
                if self.state.is_table(name) {
                    return None;
                }
                if index >= 0 {
                    return Some(format!("{name}[{index}]"));
                }
                let count = self.lookup(&format!("{name}[@]"), origin)?.len();
                let back = usize::try_from(index.unsigned_abs()).ok()?;
                Some(format!("{name}[{}]", count.checked_sub(back)?))
            }
        }
    }

    /// Expands the operand of an operator whose result is not evaluated, as the shell expands it anyway.
    fn run_operand(&mut self, operator: &Operator) {
        match operator {
            Operator::Default { word, .. }
            | Operator::Assign { word, .. }
            | Operator::Alternative { word, .. }
            | Operator::Required(word)
            | Operator::Slice(word)
            | Operator::Cut { pattern: word, .. }
            | Operator::Other(word) => drop(self.expand_fully(word)),
            Operator::Replace { pattern, with, .. } => {
                self.expand_fully(pattern);
                self.expand_fully(with);
            }
            Operator::Plain
            | Operator::Length
            | Operator::Indirect
            | Operator::Case { .. }
            | Operator::Prompt
            | Operator::Quoted => {}
        }
    }

    /// Returns the word that replaces the parameter, if one does: the default of an unset one.
    fn replacement(&mut self, name: &str, operator: &Operator) -> Option<Word> {
        let is_set = |this: &mut Self, of_empty: bool| {
            let set = this.lookup(name, Origin::default());
            set.is_some_and(|values| counts_as_set(&values, of_empty))
        };
        match operator {
            Operator::Default { of_empty, word } | Operator::Assign { of_empty, word } => {
                (!is_set(self, *of_empty)).then(|| word.clone())
            }
            Operator::Alternative { of_empty: false, word } => is_set(self, false).then(|| word.clone()),
            Operator::Plain
            | Operator::Length
            | Operator::Indirect
            | Operator::Alternative { of_empty: true, .. }
            | Operator::Required(_)
            | Operator::Cut { .. }
            | Operator::Replace { .. }
            | Operator::Slice(_)
            | Operator::Case { .. }
            | Operator::Prompt
            | Operator::Quoted
            | Operator::Other(_) => None,
        }
    }

    /// Expands an unquoted operand, in which only the quoted parts are not split.
    fn raw_operand(&mut self, word: &Word, raw: &mut Vec<Raw>) {
        for part in &word.parts {
            if let Part::Text { text, quoted: false, origin } = part {
                push_value(raw, self.with_holes(text, *origin), true);
            } else {
                self.raw_part(part, raw);
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter, name: &str, origin: Origin) -> Vec<Value> {
        let set = self.lookup(name, origin);
        let unset = || vec![Value::piece(Piece::Variable(name.to_owned()), origin)];
        let unknown = |why| vec![Value::piece(Piece::Unknown(why), origin)];
        match &parameter.operator {
            Operator::Plain => set.unwrap_or_else(unset),
            Operator::Required(word) => {
                self.expand_fully(word);
                set.unwrap_or_else(unset)
            }
            Operator::Length => vec![length(name, set, origin)],
            Operator::Default { of_empty, word } | Operator::Assign { of_empty, word } => {
                let value = set.filter(|values| counts_as_set(values, *of_empty));
                value.unwrap_or_else(|| {
                    let fallback = self.expand_fully(word);
                    if let Operator::Assign { .. } = parameter.operator {
                        self.state.assign(&parameter.name, vec![fallback.clone()]);
                    }
                    vec![fallback]
                })
            }
            Operator::Alternative { of_empty, word } => {
                let alternative = self.expand_fully(word);
                let set = set.filter(|values| counts_as_set(values, *of_empty));
                match set {
                    Some(values) if *of_empty && values.iter().all(|value| value.literal().is_none()) => {
                        unknown(UnknownReason::NotEvaluated)
                    }
                    Some(_) => vec![alternative],
                    None => Vec::new(),
                }
            }
            Operator::Indirect => self.indirect(name, set, origin),
            Operator::Slice(word) => {
                self.slice(name, set, word).unwrap_or_else(|| unknown(UnknownReason::NotEvaluated))
            }
            Operator::Cut { front, longest, pattern } => {
                let pattern = self.pattern(pattern).filter(|pattern| self.state.extended || !pattern.is_extended());
                self.map(set, origin, |value| cut(value, pattern.as_ref()?, *front, *longest))
            }
            Operator::Replace { which, pattern, with } => {
                let pattern = self.pattern(pattern).filter(|pattern| self.state.extended || !pattern.is_extended());
                let with = self.expand_fully(with);
                self.map(set, origin, |value| replace(value, pattern.as_ref()?, &with, *which))
            }
            Operator::Quoted => self.map(set, origin, quoted),
            Operator::Case { to, first } => self.map(set, origin, |value| change_case(value, *to, *first)),
            Operator::Prompt => match set {
                Some(values) => values.iter().map(|value| self.expand_again(value)).collect(),
                None => unknown(UnknownReason::Input),
            },
            Operator::Other(word) => {
                self.expand_fully(word);
                unknown(UnknownReason::NotEvaluated)
            }
        }
    }

    /// `${!name}`; for a reference, the name that it refers to.
    fn indirect(&mut self, name: &str, set: Option<Vec<Value>>, origin: Origin) -> Vec<Value> {
        if let Some(other) = self.state.reference(name) {
            return vec![Value::text(other, origin)];
        }
        let unknown = vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)];
        if name == "#" {
            // The last parameter; without any, the name of the shell.
            let last = self.state.parameters.last().filter(|_| self.state.parameters.len() > 1).cloned();
            let shell_name = || self.lookup("0", origin).and_then(|values| values.into_iter().next());
            return vec![last.or_else(shell_name).unwrap_or_else(|| Value::piece(Piece::Variable("0".into()), origin))];
        }
        if matches!(name, "*" | "@") && set.as_deref() == Some(&[]) {
            return Vec::new();
        }
        let Some([value]) = set.as_deref() else { return unknown };
        self.run_subscript(value);
        match value.literal() {
            Some(name) => self.lookup(&name, origin).unwrap_or(unknown),
            None => unknown,
        }
    }

    /// `${name@P}`: expands the value as a prompt, including its substitutions.
    fn expand_again(&mut self, value: &Value) -> Value {
        let origin = value.origin();
        let text = value.literal();
        let Some(text) = text.filter(|_| self.descend()) else {
            return Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin);
        };
        let derivation = self.derive("prompt", &text, value.origin());
        let placement = Placement::From(Origin { span: value.span(), derivation });
        let parts = self.parse(&text, placement, |parser| parser.heredoc_parts());
        let expanded = self.expand_fully(&Word { parts, origin });
        self.ascend();
        // Backslash escapes of prompts are not evaluated.
        if text.contains('\\') { Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin) } else { expanded }
    }

    fn map(&mut self, set: Option<Vec<Value>>, origin: Origin, change: impl Fn(&Value) -> Option<Value>) -> Vec<Value> {
        let unknown = |why: UnknownReason| Value::piece(Piece::Unknown(why), origin);
        match set {
            Some(values) => values
                .iter()
                .map(|value| change(value).unwrap_or_else(|| unknown(UnknownReason::NotEvaluated)))
                .collect(),
            // The value comes from the environment.
            None => vec![unknown(UnknownReason::Input)],
        }
    }

    fn slice(&mut self, name: &str, set: Option<Vec<Value>>, word: &Word) -> Option<Vec<Value>> {
        let bounds = self.expand_fully(word);
        let text = bounds.literal()?.into_owned();
        let (start, length) = text.split_once(':').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        let mut number = |text: &str| self.evaluate(&Value::text(text, bounds.origin()));
        let start = if start.trim().is_empty() { 0 } else { number(start)? };
        let length = match length {
            Some(length) => Some(number(length)?),
            None => None,
        };
        let values = set?;
        if values.iter().any(|value| value.literal().is_none()) {
            // An unknown value may expand to several.
            return None;
        }
        let taken = |count: usize, start: usize| match length {
            Some(length) => usize::try_from(length).ok(),
            None => Some(count.saturating_sub(start)),
        };
        match name {
            // Positional parameters are numbered from one.
            "@" | "*" if start > 0 => {
                let start = usize::try_from(start).ok()? - 1;
                let length = taken(values.len(), start)?;
                return Some(values.into_iter().skip(start).take(length).collect());
            }
            "@" | "*" => return None,
            _ if is_list(name) => {
                let start = from_end(start, values.len());
                let length = taken(values.len(), start)?;
                return Some(values.into_iter().skip(start).take(length).collect());
            }
            _ => {}
        }
        let [value] = values.as_slice() else { return None };
        let text = value.literal()?;
        let count = text.chars().count();
        let start = from_end(start, count);
        let length = match length {
            // A negative length is counted from the end.
            Some(length) if length < 0 => from_end(length, count).checked_sub(start)?,
            _ => taken(count, start)?,
        };
        Some(vec![Value::text(text.chars().skip(start).take(length).collect::<String>(), value.origin())])
    }

    /// Returns the values of a parameter; `None` if the text does not set it.
    pub(crate) fn lookup(&mut self, name: &str, origin: Origin) -> Option<Vec<Value>> {
        let one = |piece| Some(vec![Value::piece(piece, origin)]);
        match name {
            "@" | "*" => return Some(self.state.parameters.iter().skip(1).cloned().collect()),
            "#" if self.state.counts_parameters() => {
                return one(Piece::Text((self.state.parameters.len() - 1).to_string()));
            }
            "#" | "?" | "$" | "!" => return one(number()),
            "-" => return one(Piece::Text(String::new())),
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            let known = self.state.counts_parameters();
            let value = self.state.parameters.get(index).map(|value| vec![value.clone()]);
            return value.or(known.then(Vec::new));
        }
        if let Some(values) = self.state.variable(name).filter(|_| name.contains('[')) {
            return Some(values.to_vec());
        }
        let (bare, element) = name.split_once('[').unwrap_or((name, ""));
        if let Some(values) = self.state.variable(bare) {
            if is_list(name) {
                return Some(values.to_vec());
            }
            let index = element.trim_end_matches(']').parse().unwrap_or(0);
            return match values {
                // A variable that differs between branches may have been an array.
                [value] if value.literal().is_none() => Some(values.to_vec()),
                values => Some(values.iter().skip(index).take(1).cloned().collect()),
            };
        }
        match bare {
            "HOME" => one(Piece::Home(String::new())),
            "PWD" => Some(vec![self.state.folder_value(origin)]),
            "BASH_SOURCE" if !self.source.is_empty() => one(Piece::Text(self.source.clone())),
            "BASH_SOURCE" => Some(self.state.parameters.first().cloned().into_iter().collect()),
            "OLDPWD" => self.state.folders.value_before(origin).map(|folder| vec![folder]),
            "IFS" => one(Piece::Text(" \t\n".into())),
            "RANDOM" | "SECONDS" | "UID" | "EUID" | "PPID" | "BASHPID" => one(number()),
            _ if (self.surroundings.variable)(bare).is_some() => one(Piece::Variable(bare.into())),
            _ => None,
        }
    }
}

/// Whether the values count as set. With `of_empty`, empty values do not.
fn counts_as_set(values: &[Value], of_empty: bool) -> bool {
    if of_empty { !values.iter().all(is_empty) } else { !values.is_empty() }
}

fn is_empty(value: &Value) -> bool {
    value.literal().is_some_and(|text| text.is_empty())
}
