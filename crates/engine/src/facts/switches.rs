//! The effect of a settings change on an agent's hooks, from the text before and after and the words in
//! `library/places`. If the client's format is known, a text is interpreted as that client interprets it.

use crate::facts::agent_settings::SettingsFormat;
use crate::text::glob;
use crate::text::json::without_comments;
use reflex_tables::List;
use reflex_tables::views::Place;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of entries that are examined.
const MAX_ENTRIES: usize = 4096;

/// Maximum number of enclosing maps and lists that a key names: no setting lies deeper, and the keys of a nest would
/// grow with the square of its depth.
const MAX_DEPTH: usize = 64;

/// Maximum depth of quoted texts within quoted texts.
const MAX_QUOTES: usize = 3;

/// The effect of a change on the programs that the agent runs, on its prompts and its trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// No relevant setting is touched.
    Beside,
    /// A relevant setting is touched, or may be.
    Within,
    /// Hooks are switched off, or those of the guard are removed.
    Off,
}

/// A key with all enclosing keys, and one of its values: `hooks.PreToolUse.matcher`, `*`.
type Entry = (String, String);

/// Returns the effect on the hooks if a file of the class gets a new text. `before` is `None` without an old text or if
/// it is unknown; `form` is the client's format of the file, if known.
pub(crate) fn of_texts(
    class: List<'_, Place<'_>>,
    form: Option<SettingsFormat>,
    (before, after): (Option<&str>, &str),
) -> Change {
    // A client that rejected the old text applied none of its settings.
    let was_read = |text: &&str| form.is_none_or(|form| form.load(text.as_bytes()).is_ok());
    let old = before.filter(was_read).map(|text| meant(form, text)).unwrap_or_default();
    let new = meant(form, after);
    let was: HashSet<&Entry> = old.iter().collect();
    let off = Switches::off(class);
    if new.iter().any(|entry| !was.contains(entry) && off.has(entry)) {
        return Change::Off;
    }
    let is_lost = |form: SettingsFormat| form.stops() && form.load(after.as_bytes()).is_err();
    let Some(before) = before else { return if form.is_some_and(is_lost) { Change::Off } else { Change::Within } };
    let loss = loses_file(form, before, after);
    if loses_guard(&old, &new) || loss == Change::Off {
        return Change::Off;
    }
    let old = meant(form, before);
    let [was, is] = [&old, &new].map(|all| all.iter().collect::<HashSet<&Entry>>());
    let mut differs = was.symmetric_difference(&is);
    // The inner keys of a deep nest are not named, so they may be anything.
    let is_deep = |(key, _): &Entry| key.bytes().filter(|byte| *byte == b'.').count() >= MAX_DEPTH;
    let careful = differs.any(|entry| is_careful(class, &entry.0) || is_deep(entry));
    if careful || new.len() >= MAX_ENTRIES { Change::Within } else { loss }
}

/// Returns the effect on hooks if a file of variables gets a new text; a variable that was already set does not count.
pub(crate) fn of_variables(class: List<'_, Place<'_>>, before: Option<&str>, after: &str) -> Change {
    let old = entries(before.unwrap_or(""));
    let old: HashSet<&Entry> = old.iter().collect();
    let off = Switches::off(class);
    if entries(after).iter().any(|entry| !old.contains(entry) && off.has(entry)) { Change::Off } else { Change::Beside }
}

/// Returns the entries as the client interprets them: the last of duplicate keys counts, and escapes are decoded.
fn meant(form: Option<SettingsFormat>, text: &str) -> Vec<Entry> {
    match form.and_then(|form| form.load(text.as_bytes()).ok()).filter(Value::is_object) {
        Some(value) => entries(&value.to_string()),
        None => entries(&without_comments(text)),
    }
}

/// Returns the loss if the client no longer accepts a file: the guard if the file contains it, every hook if the client
/// does not start, else the permissions in the file.
fn loses_file(form: Option<SettingsFormat>, before: &str, after: &str) -> Change {
    let Some(form) = form else { return if breaks(before, after) { Change::Off } else { Change::Beside } };
    let is_taken = |text: &str| form.load(text.as_bytes()).is_ok();
    if is_taken(after) || !is_taken(before) {
        return Change::Beside;
    }
    if names_guard(before) || form.stops() { Change::Off } else { Change::Within }
}

/// Returns the effect of a text that changes such a file in an unknown way, such as a program's argument or code.
/// Quoted texts within it are examined too.
pub(crate) fn of_program(class: List<'_, Place<'_>>, text: &str) -> Change {
    let mut texts = vec![Cow::from(text)];
    let (off, dropped) =
        (Switches::off(class), Switches::from_texts(class.iter().flat_map(|place| place.dropped().iter())));
    for _ in 0..MAX_QUOTES {
        let sets = |entry: &Entry| off.has(entry) || dropped.has(entry);
        if texts.iter().any(|text| takes_guard_out(text) || entries(text).iter().any(sets)) {
            return Change::Off;
        }
        let inner = texts.iter().flat_map(|text| tokens(text)).filter_map(|token| match token {
            Token::Text(text) if text.contains([':', '=', '(']) => Some(Cow::from(text)),
            Token::Text(_) | Token::Word(_) | Token::Sign(_) => None,
        });
        texts = inner.collect();
    }
    Change::Within
}

/// The option of a hook entry that carries the key for recognizing a person's approval.
const KEY: &str = "--key";

/// Whether a text that is more than a path concerns the guard: a `sed` address, a filter, code.
fn takes_guard_out(text: &str) -> bool {
    let is_address = text.contains('/') && text.ends_with('d') && !text.contains('.');
    let is_code = is_address || text.contains([' ', '(', '|', '"', '\'', '=', ';', '[']);
    let mut words = text.split(|ch: char| !ch.is_alphanumeric() && ch != '_' && ch != '-');
    is_code && words.any(|word| crate::model::guard::GUARD_PROGRAMS.contains(&word) || word == KEY)
}

/// Whether a text alone switches hooks off.
pub(crate) fn switches_off(class: List<'_, Place<'_>>, text: &str) -> bool {
    let off = Switches::off(class);
    entries(&without_comments(text)).iter().any(|entry| off.has(entry))
}

/// The entries of a list of a class, such as `hooksConfig.enabled=false`, with `*` for any text.
struct Switches {
    /// The patterns of the key, of a key within others, and of the value.
    patterns: Vec<[String; 3]>,
}

impl Switches {
    /// The entries that switch hooks off.
    fn off(class: List<'_, Place<'_>>) -> Switches {
        Switches::from_texts(class.iter().flat_map(|place| place.off().iter()))
    }

    fn from_texts<'t>(switches: impl Iterator<Item = &'t str>) -> Switches {
        let split = switches.filter_map(|switch| switch.split_once('='));
        let patterns = split.map(|(key, value)| [comparable(key), comparable(&format!("*.{key}")), comparable(value)]);
        Switches { patterns: patterns.collect() }
    }

    fn has(&self, (key, value): &Entry) -> bool {
        let value = value.trim_matches(|ch: char| !ch.is_alphanumeric() && !"{}[]*".contains(ch));
        let (key, value) = (comparable(key), comparable(value));
        let fits = |pattern: &str, text: &str| glob::glob(pattern.as_bytes(), text.as_bytes());
        let is_it =
            |[whole, within, state]: &[String; 3]| fits(state, &value) && (fits(whole, &key) || fits(within, &key));
        self.patterns.iter().any(is_it)
    }
}

/// The text in lower case and without `/`, at which `*` would end.
fn comparable(text: &str) -> String {
    text.to_lowercase().replace('/', "\u{1}")
}

/// Whether a key concerns the programs that the agent runs, its prompts or its trust: it contains such a word.
fn is_careful(class: List<'_, Place<'_>>, key: &str) -> bool {
    let key = key.to_lowercase();
    class.iter().any(|place| place.careful().iter().any(|word| key.contains(word)))
}

/// Whether a handler of the guard is removed, or part of its event: a matcher, another handler's position. Additional
/// entries remove nothing.
fn loses_guard(old: &[Entry], new: &[Entry]) -> bool {
    let event = |key: &str| key.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let guarded: BTreeSet<String> =
        old.iter().filter(|(_, value)| names_guard(value)).map(|(key, _)| event(key)).collect();
    let is_within =
        |key: &str, event: &str| key.strip_prefix(event).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let is_guarded = |entry: &&Entry| guarded.iter().any(|event| is_within(&entry.0, event));
    let mut left: HashMap<&Entry, usize> = HashMap::new();
    new.iter().for_each(|entry| *left.entry(entry).or_default() += 1);
    // Each entry takes one of its equals.
    !old.iter().filter(is_guarded).all(|entry| {
        let count = left.get_mut(entry).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    })
}

/// Whether a word of the text is the guard's program.
pub(crate) fn names_guard(text: &str) -> bool {
    let mut words = text.split(|ch: char| ch.is_whitespace() || "\"'`()[]{};,|&<>=:".contains(ch));
    words.any(|word| {
        let name = word.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or("");
        crate::model::guard::GUARD_PROGRAMS.contains(&name.strip_suffix(".exe").unwrap_or(name))
    })
}

/// Whether a new line is not valid TOML; a client does not start with such a file. A line in a list or multi-line
/// string can be misjudged.
pub(crate) fn leaves_toml(before: &str, after: &str) -> bool {
    let is_line = |line: &str| {
        let line = line.trim();
        let sets = line.split_once('=').is_some_and(|(key, value)| !key.trim().is_empty() && !value.trim().is_empty());
        line.is_empty() || line.starts_with('#') || (line.starts_with('[') && line.contains(']')) || sets
    };
    let known: Vec<&str> = before.lines().collect();
    after.lines().any(|line| !is_line(line) && !known.contains(&line))
}

/// Whether a file that was valid JSON no longer is: an agent ignores such a file completely.
fn breaks(before: &str, after: &str) -> bool {
    let is_json = |text: &str| crate::text::json::lenient_json(text).is_some();
    before.contains("hook") && is_json(before) && !is_json(after)
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// An unquoted word.
    Word(String),
    /// A quoted text.
    Text(String),
    /// Any other character, including a line end.
    Sign(char),
}

/// Returns every key with its values: from JSON, TOML, fragments of either, and code that sets them.
fn entries(text: &str) -> Vec<Entry> {
    let mut reader = Reader::default();
    let tokens = tokens(text);
    for (index, token) in tokens.iter().enumerate() {
        if reader.found.len() < MAX_ENTRIES {
            reader.take(token, tokens.get(index + 1));
        }
    }
    reader.end();
    reader.found
}

/// The state of reading a text.
#[derive(Default)]
struct Reader {
    found: Vec<Entry>,
    /// The open maps and lists, each with its key and whether it is empty.
    open: Vec<Open>,
    /// The TOML table of the current lines.
    table: String,
    /// The last words, which may be a key.
    operand: String,
    /// The key that awaits its value.
    waiting: Option<String>,
    /// Whether the next word continues the last ones: after a dot or within brackets.
    joined: bool,
    /// Whether the next operand is deleted.
    deleting: bool,
    /// Whether the line has a token already.
    begun: bool,
    /// The table header that is being read.
    header: Option<String>,
}

/// An open map or list.
struct Open {
    key: String,
    is_list: bool,
    is_empty: bool,
}

impl Reader {
    fn take(&mut self, token: &Token, next: Option<&Token>) {
        if let Some(header) = &mut self.header {
            match token {
                Token::Word(text) | Token::Text(text) => header.push_str(text),
                Token::Sign(']' | '\n') => self.close_header(),
                Token::Sign('[') => {}
                Token::Sign(sign) => header.push(*sign),
            }
            return;
        }
        match token {
            Token::Word(text) => self.word(text),
            Token::Text(text) => self.operand(text, matches!(next, Some(Token::Sign(']')))),
            Token::Sign(sign) => self.sign(*sign, next),
        }
        self.begun = !matches!(token, Token::Sign('\n'));
    }

    fn word(&mut self, text: &str) {
        if ["del", "delete", "unset"].contains(&text) {
            self.deleting = true;
            return;
        }
        let (path, pops) = text.strip_suffix(".pop").map_or((text, false), |path| (path, true));
        self.operand(path, false);
        if pops {
            (self.deleting, self.joined) = (true, true);
        }
    }

    fn operand(&mut self, text: &str, indexed: bool) {
        if let Some(key) = self.waiting.take() {
            self.fill();
            self.found.push((key, text.to_owned()));
            self.operand.clear();
            return;
        }
        let text = text.trim_start_matches('.');
        if (self.joined || indexed) && !self.operand.is_empty() {
            self.operand.push('.');
            self.operand.push_str(text);
        } else {
            self.operand = text.to_owned();
        }
        self.joined = false;
    }

    fn sign(&mut self, sign: char, next: Option<&Token>) {
        match sign {
            '[' if !self.begun && self.waiting.is_none() && self.open.is_empty() => self.header = Some(String::new()),
            '[' if self.waiting.is_none() && !self.operand.is_empty() && matches!(next, Some(Token::Text(_))) => {
                self.joined = true;
            }
            '[' | '{' => self.open(sign == '['),
            ']' if !self.operand.is_empty() && self.waiting.is_none() => {}
            ']' | '}' => self.close(),
            '.' => self.joined = true,
            '(' if !self.deleting => self.operand.clear(),
            ')' => self.delete(),
            ':' | '=' => self.name(),
            ',' | ';' | '\n' => self.separate(sign),
            _ => {}
        }
    }

    fn name(&mut self) {
        if !self.operand.is_empty() {
            let key = self.full(&self.operand);
            self.waiting = Some(key);
            self.operand.clear();
        }
    }

    fn separate(&mut self, sign: char) {
        self.delete();
        let list = self.open.last().filter(|open| open.is_list).map(|open| open.key.clone());
        match list {
            Some(key) => self.waiting = Some(key),
            None if sign != '\n' => self.waiting = None,
            None => {}
        }
        self.operand.clear();
        self.joined = false;
    }

    fn open(&mut self, is_list: bool) {
        self.fill();
        let key = self.waiting.take().unwrap_or_else(|| self.full(""));
        if is_list {
            self.waiting = Some(key.clone());
        }
        self.open.push(Open { key, is_list, is_empty: true });
        self.operand.clear();
    }

    fn close(&mut self) {
        self.waiting = None;
        self.operand.clear();
        if let Some(open) = self.open.pop().filter(|open| open.is_empty) {
            self.found.push((open.key, if open.is_list { "[]" } else { "{}" }.into()));
        }
        self.fill();
    }

    fn fill(&mut self) {
        self.open.last_mut().into_iter().for_each(|open| open.is_empty = false);
    }

    fn delete(&mut self) {
        if self.deleting && !self.operand.is_empty() {
            let key = self.full(&self.operand);
            self.found.push((key, "null".into()));
            self.operand.clear();
        }
        self.deleting = false;
    }

    fn close_header(&mut self) {
        if let Some(header) = self.header.take().filter(|header| !header.is_empty()) {
            self.table = header;
        }
    }

    fn end(&mut self) {
        self.delete();
        while !self.open.is_empty() {
            self.close();
        }
    }

    fn full(&self, key: &str) -> String {
        let around = self.open.last().map_or(self.table.as_str(), |open| open.key.as_str());
        if self.open.len() > MAX_DEPTH {
            return around.to_owned();
        }
        let parts: Vec<&str> = [around, key].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(".")
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        if ch == '"' || ch == '\'' {
            tokens.push(Token::Text(quoted(ch, &mut chars)));
        } else if is_of_word(ch) {
            let mut word = String::from(ch);
            while let Some(more) = chars.next_if(|ch| is_of_word(*ch)) {
                word.push(more);
            }
            tokens.push(Token::Word(word));
        } else if ch == '#' {
            let _ = chars.by_ref().find(|ch| *ch == '\n');
            tokens.push(Token::Sign('\n'));
        } else if ch == '\n' || !ch.is_whitespace() {
            tokens.push(Token::Sign(ch));
        }
    }
    tokens
}

fn is_of_word(ch: char) -> bool {
    ch.is_alphanumeric() || "_-./$@".contains(ch)
}

/// Reads the text up to the closing quote and decodes its escapes.
fn quoted(quote: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(ch) = chars.next() {
        match ch {
            ch if ch == quote => break,
            '\\' => match chars.next() {
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    text.push(code.unwrap_or('\u{fffd}'));
                }
                Some('n') => text.push('\n'),
                Some(ch) => text.push(ch),
                None => {}
            },
            ch => text.push(ch),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = entries(text).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn keys_and_values_of_every_form_are_read() {
        check(r#"{"a": {"b": [1, "x"], "c": {}}, "d": true}"#, &["a.b=1", "a.b=x", "a.c={}", "d=true"]);
        check(r#"{"h": [{"m": "*", "k": [{"c": "x", "t": 5}]}]}"#, &["h.m=*", "h.k.c=x", "h.k.t=5"]);
        check(r#""dis\u0061ble": true"#, &["disable=true"]);
        check("[features]\nhooks = false\n[[a.b]]\nc = \"d\"\n", &["features.hooks=false", "a.b.c=d"]);
        check("features.hooks=false", &["features.hooks=false"]);
        check(".a.b = true | .c |= false", &["a.b=true", "c=false"]);
        check("d['a']['b'] = False; x.y = 1", &["d.a.b=False", "x.y=1"]);
        check("del(.hooks.x)", &["hooks.x=null"]);
        check("del d['hooks']\nd.pop('h', None)", &["d.hooks=null", "d.h=null"]);
        check("delete s.hooks;", &["s.hooks=null"]);
        check(r#"s/"a": false/"a": true/"#, &["a=false/", "a=true/"]);
    }

    #[test]
    fn a_line_that_is_none_of_toml_is_seen_where_it_comes_in() {
        for (before, after, leaves) in [
            ("", "a = 1\n[b]\n# c\n[[d]]\n\n", false),
            ("a = 1\n", "a = 1\nb = \n", true),
            ("", "a = 1\nnonsense\n", true),
            ("a = [\n  1,\n]\n", "a = [\n  1,\n]\nb = 2\n", false),
        ] {
            assert_eq!(leaves_toml(before, after), leaves, "{after}");
        }
    }
}
