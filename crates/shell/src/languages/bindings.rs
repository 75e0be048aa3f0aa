//! Names that receive values: assignments, loops over lists, imports.

use super::datum::{MAX_ALTERNATIVES, ScriptValue};
use super::fold;
use super::token::Kind;
use super::walker::ExprInterpreter;
use crate::model::language::Language;

/// The target of an assignment.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Name(String),
    /// Several targets; each takes an item.
    Names(Vec<Target>),
    /// Several names; each takes a member, given as key and name.
    Members(Vec<(String, String)>),
    /// A target that is not tracked.
    Other,
}

impl ExprInterpreter<'_, '_> {
    /// Evaluates an assignment, if one begins here; otherwise leaves the cursor unchanged.
    pub(super) fn assignment(&mut self) -> Option<ScriptValue> {
        let begin = self.at;
        let found = self.assigned();
        if found.is_none() {
            self.at = begin;
        }
        found
    }

    fn assigned(&mut self) -> Option<ScriptValue> {
        while matches!(self.word(), "const" | "let" | "var" | "my" | "our" | "local" | "static" | "state" | "global") {
            self.at += 1;
        }
        let target = self.target()?;
        let sign = self.symbol();
        let language = self.vocabulary.dialect.language;
        let assigns = matches!(sign, "=" | "+=" | ".=" | "||=" | "??=" | ":=" | "*=" | "-=" | "//=" | "<<=" | "|=");
        // `(a) =~`, `{a: 1}` and `[a] == b` are not assignments; `key = value` between brackets is a named argument of
        // Python.
        if !assigns || (sign == "//=" && language != Language::Perl) {
            return None;
        }
        self.at += 1;
        let mut right = self.expression();
        if self.symbol() == "," && matches!(target, Target::Names(_)) && language != Language::JavaScript {
            let mut items = vec![right];
            while self.takes_symbol(",") && self.step() {
                items.push(self.expression());
            }
            right = ScriptValue::list(items);
        }
        let Target::Name(name) = &target else {
            self.bind(&target, right.clone());
            return Some(right);
        };
        let old = self.variable(name).unwrap_or_else(|| self.unknown());
        let datum = match sign {
            "=" | ":=" => right,
            "+=" | ".=" => fold::add(&old, &right, self.origin),
            "||=" | "??=" | "//=" => match self.variable(name) {
                Some(old) => fold::or(&old, right),
                None => right,
            },
            "*=" => fold::times(&old, &right, self.origin),
            _ => self.unknown(),
        };
        self.assign(&name.clone(), datum.clone());
        Some(datum)
    }

    /// Reads an assignment target, if one begins here: names, or brackets of names.
    fn target(&mut self) -> Option<Target> {
        let first = self.one_target()?;
        let several = matches!(self.vocabulary.dialect.language, Language::Python | Language::Ruby | Language::Lua);
        if self.symbol() != "," || !several || !self.at_statement {
            return Some(first);
        }
        let mut all = vec![first];
        while self.takes_symbol(",") && all.len() < MAX_ALTERNATIVES {
            self.takes_symbol("*");
            all.push(self.one_target()?);
        }
        Some(Target::Names(all))
    }

    fn one_target(&mut self) -> Option<Target> {
        match self.kind()?.clone() {
            Kind::Word(word) => {
                let mut name = word.to_string();
                self.at += 1;
                while self.vocabulary.dialect.member.contains(&self.symbol()) && !self.word_at(self.at + 1).is_empty() {
                    if name.len() > 256 {
                        return None;
                    }
                    name = format!("{name}.{}", self.word_at(self.at + 1));
                    self.at += 2;
                }
                self.annotation();
                Some(Target::Name(name))
            }
            Kind::Open('{') if self.vocabulary.dialect.language == Language::JavaScript => {
                let close = self.close_of(self.at);
                if self.symbol_at(close + 1) != "=" && !matches!(self.word_at(close + 1), "of" | "from") {
                    return None;
                }
                self.at += 1;
                let members = self.members(close);
                self.at = close + 1;
                Some(Target::Members(members))
            }
            Kind::Open('[' | '(') => {
                let close = self.close_of(self.at);
                let follows = self.symbol_at(close + 1);
                if follows != "=" && !matches!(self.word_at(close + 1), "of" | "in" | "as") {
                    return None;
                }
                self.at += 1;
                let mut all = Vec::new();
                while self.at < close && all.len() < MAX_ALTERNATIVES {
                    if !self.takes_symbol(",") && !self.takes_symbol("*") && !self.takes_symbol("...") {
                        all.push(self.inner_target());
                    }
                }
                self.at = close + 1;
                Some(Target::Names(all))
            }
            Kind::Open(_)
            | Kind::Close(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::Run(_)
            | Kind::Words(_)
            | Kind::Pattern
            | Kind::Symbol(_)
            | Kind::End => None,
        }
    }

    /// Reads a name inside brackets; nested brackets are skipped.
    fn inner_target(&mut self) -> Target {
        let word = self.word().to_owned();
        if word.is_empty() {
            self.at = self.close_of(self.at) + 1;
            return Target::Other;
        }
        self.at += 1;
        Target::Name(word)
    }

    /// `x: int = 1`
    fn annotation(&mut self) {
        let typed = matches!(self.vocabulary.dialect.language, Language::Python | Language::JavaScript);
        if !typed || !self.at_statement || self.symbol() != ":" || self.word_at(self.at + 1).is_empty() {
            return;
        }
        let mut at = self.at + 2;
        while matches!(self.symbol_at(at), "." | "|")
            || matches!(self.token_at(at).map(|token| &token.kind), Some(Kind::Open('[')))
        {
            at = if self.symbol_at(at).is_empty() { self.close_of(at) + 1 } else { at + 2 };
        }
        if self.symbol_at(at) == "=" {
            self.at = at;
        }
    }

    /// `{ a, b: c, d = 1 }`
    pub(super) fn members(&mut self, close: usize) -> Vec<(String, String)> {
        let mut members = Vec::new();
        let mut fresh = true;
        while self.at < close && self.step() {
            let word = self.word().to_owned();
            if !word.is_empty() && fresh {
                let renamed = matches!(self.symbol_at(self.at + 1), ":") || self.word_at(self.at + 1) == "as";
                let name = if renamed { self.word_at(self.at + 2).to_owned() } else { word.clone() };
                self.at += if renamed { 2 } else { 0 };
                members.push((word, name));
                fresh = false;
            } else if self.symbol() == "," {
                fresh = true;
            }
            self.at += 1;
        }
        members
    }

    /// Assigns a value to a target.
    pub(super) fn bind(&mut self, target: &Target, datum: ScriptValue) {
        match target {
            Target::Name(name) => self.assign(name, datum),
            Target::Names(all) => {
                for (index, one) in all.iter().enumerate() {
                    let at = ScriptValue::Number(index as i64);
                    let item = fold::element(&datum, &[Some(at)], Language::Python, self.origin);
                    let Target::Name(name) = one else { continue };
                    // `my ($self, @rest) = @_`
                    self.assign(name, item);
                }
            }
            Target::Members(members) => {
                for (key, name) in members {
                    let member = self.attribute(&datum, key);
                    self.assign(name, member);
                }
            }
            Target::Other => {}
        }
    }

    /// Reads the target of a loop, up to `in` or `of`.
    pub(super) fn loop_target(&mut self) -> Target {
        while matches!(self.word(), "const" | "let" | "var" | "my" | "our") {
            self.at += 1;
        }
        let mut all = Vec::new();
        let mut brackets = 0;
        while self.step() && all.len() < MAX_ALTERNATIVES {
            match self.kind() {
                Some(Kind::Open('{')) => {
                    let close = self.close_of(self.at);
                    self.at += 1;
                    let members = self.members(close);
                    self.at = close + 1;
                    return Target::Members(members);
                }
                Some(Kind::Open(_)) => {
                    brackets += 1;
                    self.at += 1;
                }
                Some(Kind::Word(word)) if !matches!(&**word, "in" | "of" | "as") => {
                    all.push(Target::Name(word.to_string()));
                    self.at += 1;
                }
                Some(Kind::Close(_)) if brackets > 0 => {
                    brackets -= 1;
                    self.at += 1;
                }
                Some(Kind::Symbol(",")) => self.at += 1,
                _ => break,
            }
        }
        if all.len() == 1 { all.swap_remove(0) } else { Target::Names(all) }
    }

    /// Returns the values that a loop iterates over; unknown items are one value that represents all.
    pub(super) fn rounds(&self, items: &ScriptValue) -> Vec<ScriptValue> {
        let known = match items {
            ScriptValue::List(items) => Some(items.to_vec()),
            ScriptValue::Map(fields) => {
                fold::fields(fields, fold::MapPart::Keys, self.origin).items().map(<[ScriptValue]>::to_vec)
            }
            ScriptValue::Text(text) if fold::has_lines(&text.value) => Some(fold::lines(text)),
            ScriptValue::Text(_) if self.vocabulary.dialect.bare_calls => Some(vec![items.clone()]),
            ScriptValue::Text(_) => fold::chars(items, self.origin),
            ScriptValue::Number(_)
            | ScriptValue::Ternary(_)
            | ScriptValue::Any(_)
            | ScriptValue::Name(_)
            | ScriptValue::Function(_)
            | ScriptValue::File(_) => None,
        };
        match known {
            Some(known) if known.len() <= MAX_ALTERNATIVES => known,
            Some(known) => vec![ScriptValue::any(known)],
            None => vec![self.item_of(items)],
        }
    }

    /// Walks the body of a loop for each of its values. After the loop, the target may have any of them.
    pub(super) fn each_round(&mut self, target: &Target, items: &ScriptValue, body: std::ops::Range<usize>) {
        let rounds = self.rounds(items);
        let exact = items.items().is_some() && rounds.len() > 1;
        let outer = self.conditional;
        for item in &rounds {
            self.conditional = 0;
            self.bind(target, item.clone());
            self.conditional = if exact { outer } else { outer + 1 };
            self.at = body.start;
            self.statements(body.end);
        }
        self.conditional = 0;
        self.bind(target, ScriptValue::any(rounds));
        self.conditional = outer;
        self.at = body.end;
    }

    /// `import a.b as c`, `from a import b as c`
    pub(super) fn python_import(&mut self, from: bool) {
        self.at += 1;
        let module = if from { self.module_name() } else { String::new() };
        let mut exports = None;
        if from {
            self.takes_word("import");
            exports = self.import_module(&module);
            exports.iter().for_each(|exports| self.take_methods(exports));
        }
        while !matches!(self.kind(), None | Some(Kind::End)) && self.step() {
            if self.symbol() == "*" {
                self.stars.push(module.clone());
                if let Some(ScriptValue::Map(fields)) = &exports {
                    fields.iter().for_each(|(name, datum)| self.assign(name, datum.clone()));
                }
            }
            let name = self.dotted();
            if name.is_empty() {
                self.at += 1;
                continue;
            }
            let dot = if module.ends_with('.') { "" } else { "." };
            let full_name = if from { format!("{module}{dot}{name}") } else { name.clone() };
            let known = exports.as_ref().and_then(|exports| exports.field(&name).cloned());
            let known = known.or_else(|| {
                let imported = self.import_module(&full_name)?;
                self.take_methods(&imported);
                Some(imported)
            });
            let is_known = known.is_some();
            let datum = known.unwrap_or_else(|| ScriptValue::name(full_name));
            if self.takes_word("as") {
                let alias = self.dotted();
                self.assign(&alias, datum);
            } else if from || is_known {
                self.assign(&name, datum);
            }
        }
    }

    /// `a.b`, `.a`, `..`
    fn module_name(&mut self) -> String {
        let mut name = String::new();
        while matches!(self.symbol(), "." | ".." | "...") && name.len() < MAX_ALTERNATIVES {
            name.push_str(self.symbol());
            self.at += 1;
        }
        name + &self.dotted()
    }

    fn dotted(&mut self) -> String {
        let mut name = String::new();
        while !self.word().is_empty() && !matches!(self.word(), "import" | "as") {
            name.push_str(self.word());
            self.at += 1;
            if self.symbol() != "." {
                break;
            }
            self.at += 1;
            name.push('.');
        }
        name
    }

    /// `import a, {b as c} from 'm'`, `import * as d from 'm'`
    pub(super) fn module_import(&mut self) {
        self.at += 1;
        let mut names: Vec<(Option<String>, String)> = Vec::new();
        while self.step() {
            match self.kind().cloned() {
                Some(Kind::Word(word)) if &*word != "from" && &*word != "as" && &*word != "type" => {
                    names.push((None, word.to_string()));
                    self.at += 1;
                }
                Some(Kind::Open('{')) => {
                    let close = self.close_of(self.at);
                    self.at += 1;
                    names.extend(self.members(close).into_iter().map(|(key, name)| (Some(key), name)));
                    self.at = close + 1;
                }
                Some(Kind::Text(chunks)) => {
                    self.at += 1;
                    let module = self.chunks(&chunks).literal().unwrap_or_default();
                    let exports = self.import_module(&module);
                    exports.iter().for_each(|exports| self.take_methods(exports));
                    for (member, name) in names {
                        if let Some(exports) = &exports {
                            let key = member.as_deref().unwrap_or("default");
                            let field = exports.field(key).cloned();
                            let default = (key == "default").then(|| exports.clone());
                            let datum = field.or(default).unwrap_or_else(|| self.unknown());
                            self.assign(&name, datum);
                            continue;
                        }
                        let full_name = member
                            .filter(|key| key != "default")
                            .map_or(module.clone(), |key| format!("{module}.{key}"));
                        self.assign(&name, ScriptValue::name(full_name));
                    }
                    return;
                }
                Some(Kind::Word(_) | Kind::Symbol(_)) => self.at += 1,
                _ => return,
            }
        }
    }
}
