//! Types for text that may be stored: [`Clean`] text without secrets, and documents ([`Kept`]) built only from it.
//!
//! Both types are constructed only in this module, and every writer of a state file takes one of them, so no field can
//! bypass redaction. The secrets of a call are detected once, in all of its text; each one is then removed, in any form
//! in which it occurs, from everything that is written about the call.

use super::state::Store;
use crate::system::files::put_as_it_is;
use crate::system::hex;
use reflex_engine::{
    Action, Analysis, EffectKind, Event, Judgement, Reason, Verdict, find_secrets, passwords, redact_known, unescaped,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// Maximum length of a stored text of a call, in bytes.
pub(crate) const MAX_TEXT: usize = 4096;

/// Number of bytes inspected beyond the stored part. A secret cut in two at the end would not be recognized.
const BEYOND: usize = 1024;

/// Maximum number of bytes of a text that are searched for secrets.
const MAX_LOOKED_THROUGH: usize = 64 * 1024;

/// Marks a truncated text; the original length follows.
const CUT: &str = "… (";

/// Whether a text of a record was truncated.
pub(crate) fn is_cut(text: &str) -> bool {
    text.ends_with(" bytes)") && text.contains(CUT)
}

/// Text without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default, PartialOrd, Ord)]
pub(crate) struct Clean(Cow<'static, str>);

impl Deref for Clean {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Clean> for String {
    fn from(clean: Clean) -> String {
        clean.0.into_owned()
    }
}

impl From<Clean> for Value {
    fn from(clean: Clean) -> Value {
        clean.0.into_owned().into()
    }
}

impl Clean {
    fn new(text: impl Into<String>) -> Clean {
        Clean(Cow::Owned(text.into()))
    }

    /// A literal of this program.
    pub(crate) fn word(word: &'static str) -> Clean {
        Clean(Cow::Borrowed(word))
    }

    /// A number, which never needs redaction.
    pub(crate) fn number(number: u64) -> Clean {
        Clean(Cow::Owned(number.to_string()))
    }

    /// Joins texts with a separator. Occurrences of the separator inside a text become spaces.
    pub(crate) fn joined(parts: impl Iterator<Item = Clean>, between: char) -> Clean {
        let mut all = String::new();
        for (index, part) in parts.enumerate() {
            if index > 0 {
                all.push(between);
            }
            all.extend(part.0.chars().map(|ch| if ch == between { ' ' } else { ch }));
        }
        Clean::new(all)
    }
}

/// Content that may be written to a file of the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept(String);

impl From<Clean> for Kept {
    fn from(clean: Clean) -> Kept {
        Kept(clean.0.into_owned())
    }
}

impl Kept {
    /// Content computed by this program, such as times, digests and numbers; never input from outside.
    pub(crate) fn trusted(text: impl Into<String>) -> Kept {
        Kept(text.into())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// A line of fields, divided by a separator.
    pub(crate) fn line(fields: &[Clean], between: char) -> Kept {
        let divides = |ch: char| ch == between || matches!(ch, '\t' | '\n' | '\r');
        let mut line = String::new();
        for field in fields {
            line.extend(field.0.chars().map(|ch| if divides(ch) { ' ' } else { ch }));
            line.push(between);
        }
        line.pop();
        line.push('\n');
        Kept(line)
    }

    /// Concatenates documents with a separator.
    pub(crate) fn joined(parts: &[Kept], between: &str) -> Kept {
        Kept(parts.iter().map(Kept::text).collect::<Vec<_>>().join(between))
    }
}

/// Writes a small file atomically.
pub(crate) fn put(path: &Path, kept: &Kept) -> io::Result<()> {
    put_as_it_is(path, kept.text())
}

/// Replaces secrets by tags before anything is written.
pub(crate) struct Redactor<'a> {
    store: &'a Store,
    key: OnceCell<Vec<u8>>,
    /// Whether records omit texts.
    structure_only: bool,
    /// The secrets of the call, longest first. An excerpt of the call may contain a secret without the context by which
    /// it was recognized.
    known: Vec<String>,
    /// Secrets collected while the call is inspected.
    found: RefCell<Vec<String>>,
    /// The texts of the actions with their clean form, because each is written more than once.
    texts: Vec<(&'a str, Clean)>,
}

impl<'a> Redactor<'a> {
    pub(crate) fn new(store: &'a Store) -> Redactor<'a> {
        Redactor {
            store,
            key: OnceCell::new(),
            structure_only: store.structure_only(),
            known: Vec::new(),
            found: RefCell::default(),
            texts: Vec::new(),
        }
    }

    /// A redactor for the record of this call.
    pub(crate) fn of_call(store: &'a Store, event: &'a Event, judgement: &Judgement) -> Redactor<'a> {
        let (analysis, step) = (&judgement.analysis, &judgement.step);
        let mut redactor = Redactor::new(store);
        for action in &event.actions {
            let text = subject(action).2;
            // The judgement has redacted short texts already: an unchanged one holds no secret.
            let is_clean = text == step.text;
            let clean = if is_clean { Clean::new(text) } else { redactor.redacted(cut(text, MAX_LOOKED_THROUGH)) };
            if text.len() <= MAX_TEXT {
                redactor.texts.push((text, clean));
            }
        }
        if let Some(outcome) = event.outcome.as_ref().filter(|outcome| outcome.failed) {
            redactor.redacted(end_of(&outcome.output, MAX_LOOKED_THROUGH));
        }
        for text in [&event.tool, &event.cwd, &event.workspace] {
            redactor.clean(text);
        }
        let names = [Some(&event.tool), event.role.as_ref(), event.task.as_ref(), event.mode.as_ref()];
        let parts = names.into_iter().flatten().filter(|name| !is_plain_name(name)).flat_map(|name| no_words(name));
        redactor.found.borrow_mut().extend(parts);
        let exposed = redactor.exposed(event, analysis);
        let placed = passwords(analysis, reflex_library::tables());
        let found = redactor.found.take();
        redactor.known = known(found, [exposed, placed].concat());
        if !redactor.known.is_empty() {
            redactor.texts.clear();
        }
        redactor
    }

    /// The secrets in the text and content of the call, if the judgement found that it exposes any.
    fn exposed(&self, event: &Event, analysis: &Analysis) -> Vec<String> {
        let exposes = analysis.effects.iter().any(|effect| effect.kind == EffectKind::ExposeSecret);
        let actions = event.actions.iter().filter(|_| exposes);
        let texts = actions.flat_map(|action| [subject(action).2, action.content().unwrap_or_default()]);
        let secrets = texts.flat_map(|text| {
            let plain = Some(unescaped(text)).filter(|plain| matches!(plain, Cow::Owned(_)));
            let readings = std::iter::once(Cow::Borrowed(text)).chain(plain);
            readings.flat_map(|text| {
                let found = find_secrets(&text, reflex_library::tables()).into_iter();
                found.filter_map(|secret| text.get(secret.span).map(str::to_owned)).collect::<Vec<_>>()
            })
        });
        secrets.collect()
    }

    /// Whether records omit texts.
    pub(crate) fn structure_only(&self) -> bool {
        self.structure_only
    }

    pub(crate) fn store(&self) -> &'a Store {
        self.store
    }

    /// Whether the call contains a secret.
    pub(crate) fn knows_secrets(&self) -> bool {
        !self.known.is_empty()
    }

    /// The text without secrets. Equal secrets have equal tags on this machine.
    pub(crate) fn clean(&self, text: &str) -> Clean {
        self.cleaned(text, MAX_TEXT)
    }

    /// Like [`Redactor::clean`], truncated to `limit` bytes; a truncated text ends with its original length.
    pub(crate) fn cleaned(&self, text: &str, limit: usize) -> Clean {
        if text.len() <= limit {
            return self.redacted(text);
        }
        let redacted = self.redacted(cut(text, limit + BEYOND));
        let kept = cut(&redacted, limit.min(redacted.len().saturating_sub(BEYOND)));
        Clean::new(format!("{kept}{CUT}{} bytes)", text.len()))
    }

    /// Removes the secrets of the rest of the call from a text that the judgement has redacted.
    pub(crate) fn once_more(&self, redacted: &str) -> Clean {
        if self.known.is_empty() { Clean::new(redacted) } else { self.clean(redacted) }
    }

    /// The last `limit` bytes of a text, without secrets.
    pub(crate) fn cleaned_end(&self, text: &str, limit: usize) -> Clean {
        let clean = self.redacted(end_of(text, MAX_LOOKED_THROUGH));
        Clean::new(end_of(&clean, limit))
    }

    /// A name from outside: an id, a role, a version. A text that does not look like a name becomes a tag.
    pub(crate) fn name(&self, text: &str) -> Clean {
        let plain = is_plain_name(text) || is_tag(text) || is_call_id(text);
        if plain && self.known.iter().all(|secret| !text.contains(secret.as_str())) {
            return Clean::new(text);
        }
        let mark = self.digest(text);
        Clean::new(format!("[name:{}]", mark.get(..12).unwrap_or("")))
    }

    /// A digest computed by this program: hexadecimal digits and separators. Any other text is treated as a name.
    pub(crate) fn digest_made(&self, text: &str) -> Clean {
        let made = text.bytes().all(|byte| byte.is_ascii_hexdigit() || b"~: +".contains(&byte));
        if made { Clean::new(text) } else { self.name(text) }
    }

    /// A path without secrets: the path, or its nearest ancestor that contains none.
    pub(crate) fn path(&self, path: &str) -> Option<Clean> {
        let mut above = path;
        loop {
            let clean = self.clean(above);
            if &*clean == above {
                return Some(clean);
            }
            above = above.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty())?;
        }
    }

    /// The name of a tool, which may consist of arbitrary words.
    pub(crate) fn tool(&self, text: &str) -> Clean {
        let parts = text.split("__");
        if parts.clone().all(|part| is_plain_name(part) || part.contains(' ')) {
            self.clean(text)
        } else {
            self.name(text)
        }
    }

    /// A document whose texts are all clean, including the keys. Digests of this program are kept.
    pub(crate) fn kept(&self, value: &Value) -> Kept {
        Kept(self.document(value, "").to_string())
    }

    fn document(&self, value: &Value, key: &str) -> Value {
        match value {
            Value::String(text) if is_digest(key, text) => text.as_str().into(),
            Value::String(text) => self.cleaned(text, usize::MAX).into(),
            Value::Array(items) => items.iter().map(|item| self.document(item, key)).collect(),
            Value::Object(fields) => {
                let field =
                    |(name, value): (&String, &Value)| (String::from(self.redacted(name)), self.document(value, name));
                Value::Object(fields.iter().map(field).collect::<Map<String, Value>>())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn redacted(&self, text: &str) -> Clean {
        if self.known.is_empty() {
            if is_harmless(text) {
                return Clean::new(text);
            }
            if let Some((_, clean)) = self.texts.iter().find(|(known, _)| *known == text) {
                return clean.clone();
            }
        }
        let mark = |secret: &str| {
            self.found.borrow_mut().push(secret.to_owned());
            self.mark(secret)
        };
        let clean = redact_known(text, reflex_library::tables(), &self.known, &mark);
        Clean::new(self.without_begun(clean))
    }

    /// A text that was truncated earlier may end with the beginning of a secret.
    fn without_begun(&self, mut text: String) -> String {
        const LEAST: usize = 4;
        const MARK: char = '…';
        for secret in &self.known {
            let Some(end) = text.rfind(MARK) else { break };
            let before = text.get(..end).unwrap_or("");
            let lengths = (LEAST..secret.len()).rev().filter(|length| secret.is_char_boundary(*length));
            let begun = lengths.filter_map(|length| secret.get(..length)).find(|start| before.ends_with(start));
            if let Some(begun) = begun {
                text.replace_range(end - begun.len()..end, &format!("[secret{}]", self.mark(secret)));
            }
        }
        text
    }

    /// Removes the secrets of the call from the texts of its verdict.
    pub(crate) fn silence(&self, verdict: &mut Verdict) {
        if !self.knows_secrets() {
            return;
        }
        let findings = verdict.findings.iter_mut().flat_map(|finding| [&mut finding.command, &mut finding.message]);
        let advice = verdict.advice.iter_mut().map(|advice| &mut advice.reason);
        let texts = verdict.reasons.iter_mut().chain(advice).flat_map(Reason::texts_mut);
        texts.chain(&mut verdict.chain).chain(findings).for_each(|text| *text = self.cleaned(text, usize::MAX).into());
    }

    /// A tag that is equal for equal secrets on this machine.
    fn mark(&self, secret: &str) -> String {
        format!(":{}", self.digest(secret).get(..6).unwrap_or(""))
    }

    fn digest(&self, secret: &str) -> String {
        let mut digest = Sha256::new();
        digest.update(self.key.get_or_init(|| self.store.key()));
        digest.update(secret.as_bytes());
        hex::encode(&digest.finalize())
    }
}

/// The kind of an action, the name of its main text, and the text.
pub(crate) fn subject(action: &Action) -> (&'static str, &'static str, &str) {
    match action {
        Action::Shell { command, .. } => ("shell", "command", command),
        Action::Read { path } => ("read", "path", &path.text),
        Action::Write { path, .. } => ("write", "path", &path.text),
        Action::Edit { path, .. } => ("edit", "path", &path.text),
        Action::Delete { path } => ("delete", "path", &path.text),
        Action::Search { path, .. } => ("search", "path", &path.text),
        Action::Fetch { url } => ("fetch", "url", url),
        Action::McpCall { arguments, .. } => ("mcp", "arguments", arguments),
        Action::Prompt { text } => ("prompt", "text", text),
        Action::SpawnAgent { prompt } => ("spawn", "prompt", prompt),
        Action::Skill { name } => ("skill", "name", name),
        Action::Input { text } => ("input", "text", text),
        Action::Other { arguments } => ("other", "arguments", arguments),
    }
}

impl Store {
    /// The event with session, subagent and call ids that may be written to state files; an id that does not look like
    /// a name is replaced by a tag.
    pub(crate) fn named(&self, mut event: Event) -> Event {
        for name in [Some(&mut event.session), Some(&mut event.call), event.subagent.as_mut()].into_iter().flatten() {
            if !is_plain_name(name) && !is_call_id(name) {
                *name = Redactor::new(self).name(name).into();
            }
        }
        event
    }
}

/// The list of texts to remove: `found` are the ones recognized by form, `certain` the ones in the place of a password.
fn known(found: Vec<String>, certain: Vec<String>) -> Vec<String> {
    const LEAST: usize = 6;
    const PART: usize = 16;
    // A text recognized only by the word before it may be an ordinary word, which would then be removed everywhere.
    let is_noteworthy = |text: &str| {
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || b"./-_:".contains(&byte));
        text.len() >= LEAST && !plain && !text.starts_with(['/', '[', '$', '.', '-'])
    };
    let mut known: Vec<String> = found.into_iter().filter(|text| is_noteworthy(text)).chain(certain).collect();
    let mut further: Vec<String> = Vec::new();
    for secret in &known {
        // Adds the password of a login, the lines of a block, and the unquoted form of a quoted secret.
        further
            .extend(secret.split_once(':').map(|(_, password)| password.to_owned()).filter(|text| is_noteworthy(text)));
        if secret.contains('\n') {
            further.extend(secret.lines().map(str::trim).filter(|line| line.len() >= PART).map(str::to_owned));
        }
        if let Cow::Owned(plain) = unescaped(secret) {
            further.push(plain);
        }
        further.push(secret.trim_matches(['"', '\'', '\\']).to_owned());
    }
    known.extend(further);
    known.retain(|secret| secret.len() >= 4);
    known.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    known.dedup();
    known
}

/// The last bytes of an output, which nearly always hold the reason of a failure.
fn end_of(output: &str, limit: usize) -> &str {
    let output = output.trim_end();
    let from = (output.len().saturating_sub(limit)..=output.len()).find(|at| output.is_char_boundary(*at));
    output.get(from.unwrap_or(0)..).unwrap_or("")
}

/// The beginning of a text, at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or("")
}

/// Whether a text cannot contain a secret: lowercase words, or short ones, separated only by slashes and dots. Most
/// texts of most records match.
fn is_harmless(text: &str) -> bool {
    const SHORT: usize = 12;
    let (mut length, mut mixed) = (0, false);
    for byte in text.bytes() {
        match byte {
            b'/' | b'.' => (length, mixed) = (0, false),
            b'a'..=b'z' | b'_' | b'-' => length += 1,
            b'0'..=b'9' | b'A'..=b'Z' => (length, mixed) = (length + 1, true),
            _ => return false,
        }
        if mixed && length > SHORT {
            return false;
        }
    }
    true
}

/// Whether a text is the tag of a redacted name.
fn is_tag(text: &str) -> bool {
    let mark = text.strip_prefix("[name:").and_then(|rest| rest.strip_suffix(']'));
    mark.is_some_and(|mark| mark.len() == 12 && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a text looks like a name: words and numbers divided by separators, or a UUID.
pub(crate) fn is_plain_name(text: &str) -> bool {
    const MAX_LENGTH: usize = 80;
    const WORD: usize = 24;
    let plain = |part: &str| {
        let chars = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let digits = part.len() - chars;
        let numbers = part.bytes().skip(chars).all(|byte| byte.is_ascii_digit());
        // `getLibraryDocs` is a name, `WpLlKQzOUnqQksfJPH` is not.
        let capitals = part.bytes().filter(u8::is_ascii_uppercase).count();
        let chance = part.len() > 12 && capitals * 3 > part.len();
        // `session1`, `v2` and `2026`, but not `hunter22x`.
        !chance && numbers && chars <= WORD && if chars > 0 { digits <= 3 } else { digits <= 20 }
    };
    text.len() <= MAX_LENGTH && (is_uuid(text.as_bytes()) || text.split(['-', '_', '.', ':', '/', '@']).all(plain))
}

/// Whether a text is a call id assigned by a model's server: a known prefix followed by random digits. (`toolu_`:
/// Anthropic Messages, `call_`: OpenAI Chat, `fc_`: OpenAI Responses.)
fn is_call_id(text: &str) -> bool {
    const PREFIXES: [&str; 3] = ["toolu_", "call_", "fc_"];
    const MAX_LENGTH: usize = 52;
    let digits = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix));
    digits.is_some_and(|digits| digits.len() <= MAX_LENGTH && digits.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The parts of a name that do not look like a name.
fn no_words(name: &str) -> impl Iterator<Item = String> {
    const LEAST: usize = 8;
    let parts = name.split(|ch: char| !ch.is_ascii_alphanumeric());
    parts.filter(|part| part.len() >= LEAST && !is_plain_name(part)).map(str::to_owned)
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(text: &[u8]) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| if dash(at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
}

/// Whether a value is a digest computed by this program, by the name of its field.
fn is_digest(field: &str, text: &str) -> bool {
    ["digest", "exact", "lasting", "sha256", "hash", "library"].contains(&field)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'+')
}

/// A JSON object under construction, field by field. A missing field has its default, which is empty or the most common
/// value: a log holds millions of records.
#[derive(Default)]
pub(crate) struct Record(String);

impl Record {
    /// A record with the capacity of a log line.
    pub(crate) fn long() -> Record {
        Record(String::with_capacity(2048))
    }

    /// Adds a nested document.
    pub(crate) fn part(&mut self, key: &'static str, value: &Kept) {
        self.key(key);
        self.0.push_str(&value.0);
    }

    pub(crate) fn number(&mut self, key: &'static str, value: impl Into<u64>) {
        self.key(key);
        self.0.push_str(&value.into().to_string());
    }

    pub(crate) fn flag(&mut self, key: &'static str) {
        self.key(key);
        self.0.push_str("true");
    }

    /// Adds a literal of this program.
    pub(crate) fn word(&mut self, key: &'static str, value: &'static str) {
        self.key(key);
        quote(&mut self.0, value);
    }

    /// Adds an id, a digest or a time made by this program. Any other value becomes an empty string.
    pub(crate) fn made(&mut self, key: &'static str, value: &str) {
        const SHORT: usize = 8;
        let short = value.len() <= SHORT && value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let digits = |byte: u8| byte.is_ascii_hexdigit() || b"-+:.TZ".contains(&byte);
        self.key(key);
        quote(&mut self.0, if short || value.bytes().all(digits) { value } else { "" });
    }

    pub(crate) fn text(&mut self, key: &'static str, value: &Clean) {
        self.key(key);
        quote(&mut self.0, value);
    }

    /// Adds a list of texts, unless it is empty.
    pub(crate) fn texts(&mut self, key: &'static str, values: impl Iterator<Item = Clean>) {
        let mut begun = false;
        for value in values {
            if begun {
                self.0.push(',');
            } else {
                self.key(key);
                self.0.push('[');
                begun = true;
            }
            quote(&mut self.0, &value);
        }
        self.0.push_str(if begun { "]" } else { "" });
    }

    /// Adds a list of documents.
    pub(crate) fn parts(&mut self, key: &'static str, values: &[Kept]) {
        self.part(key, &Kept(format!("[{}]", Kept::joined(values, ",").0)));
    }

    /// Adds the fields of an object.
    pub(crate) fn fields(&mut self, fields: &Kept) {
        let inner = fields.0.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or("");
        if !inner.is_empty() {
            self.0.push(if self.0.is_empty() { '{' } else { ',' });
            self.0.push_str(inner);
        }
    }

    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        quote(&mut self.0, key);
        self.0.push(':');
    }

    /// Closes the object.
    pub(crate) fn finish(mut self) -> Kept {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        Kept(self.0)
    }
}

/// Appends a text as a JSON string. Few texts contain a character that must be escaped.
fn quote(into: &mut String, text: &str) {
    if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        into.push_str(&Value::from(text).to_string());
        return;
    }
    into.push('"');
    into.push_str(text);
    into.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_numbers() {
        for name in
            ["s1", "9c1c3a4e-1111-4222-8333-aaaabbbbcccc", "mcp__context7__get-library-docs", "session-12", "2.1.4", ""]
        {
            assert!(is_plain_name(name), "{name}");
        }
        for name in [
            "ghp_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZ1234",
            "Tr0ub4dor",
            "k3J8mQz92vT",
            "a b",
            "AKIAIOSF0DNN7EXAMPLE",
            "pw!",
        ] {
            assert!(!is_plain_name(name), "{name}");
        }
    }

    #[test]
    fn what_cannot_hold_a_secret_is_not_looked_through() {
        for text in ["/srv/repo/crates/engine/src/lib.rs", "git", "after-tool", "node_modules/x2"] {
            assert!(is_harmless(text), "{text}");
        }
        for text in
            ["a b", "sk_live_tfJTNCcgxKpWpjtizpZLZwGR", "/srv/AKIA2OSF0DNN7QWERTYU/x", "token=x", "k3J8mQz92vTaa"]
        {
            assert!(!is_harmless(text), "{text}");
        }
    }
}
