//! Members of values and types: those that compute texts are evaluated, those in the library are commands.

use super::reader::Reader;
use super::strings::{as_block, is_block};
use super::{operators, scan};
use crate::cli_grammar::program::Program;
use crate::languages::windows::environment;
use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};
use crate::text_tools::decode;

/// `value.name(arguments)`, `[type]::name(arguments)`.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) type_name: Option<String>,
    pub(super) values: Vec<Value>,
    /// `None` for a property.
    pub(super) arguments: Option<Vec<Vec<Value>>>,
}

impl Member {
    fn argument(&self, index: usize) -> Option<&Value> {
        self.arguments.as_ref()?.get(index)?.first()
    }

    fn text(&self, index: usize) -> Option<String> {
        self.argument(index)?.literal().map(|text| text.into_owned())
    }

    fn number(&self, index: usize) -> Option<usize> {
        self.text(index).and_then(|text| operators::number(&text)).and_then(|number| usize::try_from(number).ok())
    }

    fn all(&self) -> Vec<Value> {
        self.arguments.iter().flatten().flatten().cloned().collect()
    }
}

impl<'a> Reader<'_, '_, 'a> {
    pub(super) fn member(&mut self, mut member: Member, start: usize) -> Vec<Value> {
        let origin = self.origin_from(start);
        let name = member.name.to_lowercase();
        let of_type = member.type_name.as_deref().map(Self::type_of);
        let known = match &of_type {
            Some(type_name) => self.of_type(type_name, &name, &member, origin),
            None => self.of_value(&name, &member, origin),
        };
        if let Some(values) = known {
            return values;
        }
        if let Some(values) = self.called(&of_type, &name, &member, origin) {
            return values;
        }
        // An unknown method may run the blocks among its arguments.
        for block in member.all().iter().filter(|value| is_block(value)) {
            self.walk(block, &[]);
        }
        let kept = member.values.iter().all(|value| value.literal().is_none()) && !member.values.is_empty();
        if of_type.is_none() && kept && member.arguments.as_ref().is_none_or(Vec::is_empty) {
            // A member of a value with a known kind has the same kind.
            return std::mem::take(&mut member.values);
        }
        vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin)]
    }

    /// Records a command for a member in the library: `powershell:io.file.delete`, `powershell:.downloadstring`.
    fn called(&mut self, of_type: &Option<String>, name: &str, member: &Member, origin: Origin) -> Option<Vec<Value>> {
        let program = format!("powershell:{}.{name}", of_type.as_deref().unwrap_or(""));
        let grammar = Program::find(self.on.surroundings.programs, &program)?;
        member.arguments.as_ref()?;
        let receiver = member.values.iter().filter(|_| of_type.is_none()).take(1).cloned();
        let mut words = vec![Value::text(program.clone(), origin), Value::text("--", origin)];
        words.extend(receiver.chain(member.all()));
        let printed = self.run(words, origin);
        let nothing = grammar.prints(|_| false) == "nothing";
        let value = Value::piece(Piece::Output(Printed::Program(program)), origin);
        drop(printed);
        Some(if nothing { Vec::new() } else { vec![value] })
    }

    /// Evaluates static members that compute values.
    fn of_type(&mut self, type_name: &str, name: &str, member: &Member, origin: Origin) -> Option<Vec<Value>> {
        let text = |text: String| Some(vec![Value::text(text, origin)]);
        match (type_name, name) {
            ("string", "join") => {
                let arguments = member.arguments.as_ref()?;
                let between = member.text(0)?;
                let parts: Vec<Value> = arguments.get(1..)?.iter().flatten().cloned().collect();
                Some(vec![self.joined(&parts, &between, origin)])
            }
            ("string", "concat") => Some(vec![self.joined(&member.all(), "", origin)]),
            ("string", "format") => {
                let all = member.all();
                let (format, rest) = all.split_at(1.min(all.len()));
                self.formatted(format, rest, origin)
            }
            ("convert", "frombase64string") => {
                let bytes = decode::base64_bytes(&member.text(0)?)?;
                text(bytes.into_iter().map(char::from).collect())
            }
            ("convert", "tochar") => Some(self.cast("char", member.all(), origin)),
            ("convert", "toint32" | "tobyte" | "toint16") => {
                let radix =
                    u32::try_from(member.number(1).unwrap_or(10)).ok().filter(|radix| (2..=36).contains(radix))?;
                text(i64::from_str_radix(&member.text(0)?, radix).ok()?.to_string())
            }
            ("scriptblock", "create") => Some(vec![as_block(member.argument(0)?)]),
            ("regex", "unescape") => text(decode::escapes(&member.text(0)?)),
            ("environment", "getenvironmentvariable") => {
                Some(vec![environment(&self.on.state, &member.text(0)?, origin)])
            }
            ("environment", "getfolderpath") => Some(vec![folder(&member.text(0)?, origin)]),
            ("io.path", "combine") => Some(vec![self.joined(&member.all(), "/", origin)]),
            ("io.path", "gettemppath") => Some(vec![Value::piece(Piece::Variable("TEMP".into()), origin)]),
            ("io.path", "gettempfilename") => Some(vec![Value::piece(Piece::Output(Printed::Temporary), origin)]),
            ("io.path", "getfullpath") => Some(member.all()),
            ("array", "reverse") => {
                self.reverse(member);
                Some(Vec::new())
            }
            (encoding, "default" | "ascii" | "utf8" | "unicode" | "bigendianunicode" | "utf32")
                if encoding.ends_with("encoding") && member.arguments.is_none() =>
            {
                text(format!("[encoding]{name}"))
            }
            _ => None,
        }
    }

    /// Evaluates `[array]::Reverse($x)`, which reverses the variable in place. The variable is the one that holds these
    /// values.
    fn reverse(&mut self, member: &Member) {
        let mut values = member.all();
        let name = self.on.state.name_of(&values);
        values.reverse();
        if let Some(name) = name {
            self.on.state.assign(&name, values);
        }
    }

    /// Evaluates members of values that compute values.
    fn of_value(&mut self, name: &str, member: &Member, origin: Origin) -> Option<Vec<Value>> {
        if member.arguments.is_none() {
            return self.property(name, member, origin);
        }
        match name {
            "invoke" | "invokereturnasis" | "getnewclosure" => {
                let Some(block) = Self::block_of(&member.values) else {
                    self.on.gap(origin, UnknownReason::NotEvaluated);
                    return None;
                };
                if name == "getnewclosure" {
                    return Some(vec![block]);
                }
                return Some(self.walk(&block, &member.all()).values);
            }
            "newscriptblock" => return Some(vec![as_block(member.argument(0)?)]),
            "invokescript" | "addscript" | "addcommand" => {
                let block = as_block(member.argument(0)?);
                if block.literal().is_none() {
                    let words = vec![Value::text("Invoke-Expression", origin), member.argument(0)?.clone()];
                    self.run(words, origin);
                    return Some(Vec::new());
                }
                return Some(self.walk(&block, &[]).values);
            }
            "getstring" => {
                let encoding = member.values.first()?.literal()?.into_owned();
                let decoded = decoded(&encoding, &member.text(0)?)?;
                return Some(vec![self.derived("base64", decoded, origin)]);
            }
            "getenumerator" | "toarray" => return Some(member.values.clone()),
            "tostring" if member.values.iter().any(is_block) => {
                let block = Self::block_of(&member.values)?;
                let text = block.literal()?.into_owned();
                return Some(vec![Value::text(scan::inside_braces(&text)?, block.origin())]);
            }
            _ => {}
        }
        let mut made = Vec::new();
        for value in &member.values {
            let text = value.literal()?.into_owned();
            for changed in changed(name, &text, member)? {
                made.push(self.derived("text method", changed, value.origin()));
            }
        }
        Some(made)
    }

    fn property(&mut self, name: &str, member: &Member, origin: Origin) -> Option<Vec<Value>> {
        if let Some(value) = operators::entry(&member.values, name) {
            return Some(value.listed());
        }
        match name {
            "fullname" | "path" | "pspath" | "providerpath" | "name" | "value" | "content" | "definition"
            | "source" | "line" | "root" | "text" | "key" => Some(member.values.clone()),
            "length" | "count" => {
                let count = match member.values.as_slice() {
                    [one] => one.literal()?.chars().count(),
                    many => many.len(),
                };
                Some(vec![Value::text(count.to_string(), origin)])
            }
            _ => None,
        }
    }
}

/// Returns the result of a method of a known text: one text, or several.
fn changed(name: &str, text: &str, member: &Member) -> Option<Vec<String>> {
    let chars: Vec<char> = text.chars().collect();
    let cut = |index: usize, length: usize| chars.iter().skip(index).take(length).collect::<String>();
    let one = match name {
        "replace" => text.replace(&member.text(0).filter(|from| !from.is_empty())?, &member.text(1)?),
        "substring" => match member.number(1) {
            Some(length) => cut(member.number(0)?, length),
            None if member.argument(1).is_some() => return None,
            None => cut(member.number(0)?, usize::MAX),
        },
        "remove" => {
            let at = member.number(0)?;
            let length = member.number(1).unwrap_or(chars.len());
            format!("{}{}", cut(0, at), cut(at.saturating_add(length), usize::MAX))
        }
        "insert" => {
            let at = member.number(0)?;
            format!("{}{}{}", cut(0, at), member.text(1)?, cut(at, usize::MAX))
        }
        "tolower" | "tolowerinvariant" => text.to_lowercase(),
        "toupper" | "toupperinvariant" => text.to_uppercase(),
        "trim" if member.argument(0).is_none() => text.trim().to_owned(),
        "trimstart" if member.argument(0).is_none() => text.trim_start().to_owned(),
        "trimend" if member.argument(0).is_none() => text.trim_end().to_owned(),
        "trim" | "trimstart" | "trimend" => {
            let set: Vec<char> = member.text(0)?.chars().collect();
            let begun = if name == "trimend" { text } else { text.trim_start_matches(set.as_slice()) };
            if name == "trimstart" { begun.to_owned() } else { begun.trim_end_matches(set.as_slice()).to_owned() }
        }
        "tostring" | "normalize" | "clone" => text.to_owned(),
        "tochararray" => return Some(chars.iter().map(char::to_string).collect()),
        "split" => {
            let set: Vec<char> = member.text(0)?.chars().collect();
            return Some(text.split(set.as_slice()).map(str::to_owned).collect());
        }
        _ => return None,
    };
    Some(vec![one])
}

/// Decodes bytes, given as characters below U+0100, in an encoding.
fn decoded(encoding: &str, bytes: &str) -> Option<String> {
    let bytes: Vec<u8> = bytes.chars().map(|ch| u8::try_from(u32::from(ch)).ok()).collect::<Option<_>>()?;
    match encoding.strip_prefix("[encoding]")? {
        "unicode" => decode::utf16(&bytes),
        "ascii" | "utf8" | "default" => String::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn folder(name: &str, origin: Origin) -> Value {
    let mut home = Value::piece(Piece::Home(String::new()), origin);
    match name.to_lowercase().as_str() {
        "userprofile" => {}
        "desktop" | "desktopdirectory" => home.push_text("/Desktop", origin),
        "mydocuments" | "personal" => home.push_text("/Documents", origin),
        "applicationdata" => home.push_text("/AppData/Roaming", origin),
        "localapplicationdata" => home.push_text("/AppData/Local", origin),
        "startup" => {
            home.push_text("/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup", origin);
        }
        "system" => return Value::text("C:\\Windows\\System32", origin),
        "windows" => return Value::text("C:\\Windows", origin),
        "programfiles" => return Value::text("C:\\Program Files", origin),
        _ => return Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin),
    }
    home
}
