//! A deletion of `victim`, inside of whatever runs it: the wrappers that the library's programs show in their examples,
//! with other names, options and quotes, and those of the shell's own grammar.

use super::grammar::Chance;
use super::library;
use reflex_engine::{Action, EffectKind, Event, FakeWorld};
use reflex_tables::compile::{Entry, Kind};
use serde_json::Value;
use std::sync::OnceLock;

/// A wrapped deletion, spelled by chance.
pub(crate) fn wrapped(chance: &mut Chance<'_>, count: usize) -> String {
    let mut inner = Inner::Program(chance.pick(&DELETIONS).to_owned());
    for depth in 0..count {
        inner = match chance.next(2) {
            0 => by_grammar(chance, &inner, depth),
            _ => by_program(chance, &inner),
        };
    }
    inner.text().to_owned()
}

const DELETIONS: [&str; 12] = [
    "rm victim",
    "rm -rf victim",
    "rm -- victim",
    "r\"\"m 'victim'",
    "/bin/rm -f victim",
    "\\rm -r victim",
    "unlink victim",
    "rm \\\n victim",
    "rm \"victim\" >/dev/null 2>&1",
    "rm ${none:-victim}",
    "$'\\x72m' victim",
    "find victim -delete",
];

/// What is wrapped: a program with its arguments, which a wrapper can run itself, or a text that wants a shell.
enum Inner {
    Program(String),
    Text(String),
}

impl Inner {
    fn text(&self) -> &str {
        match self {
            Inner::Program(text) | Inner::Text(text) => text,
        }
    }
}

/// Each `{}` is the text, `{q}` the text as a word, `{b}` its base64, `{n}` a number of its own.
const OF_GRAMMAR: [&str; 44] = [
    "( {} )",
    "{ {}; }",
    "true && {}",
    "false || {}",
    "ls; {}",
    "{} &",
    "! {}",
    "if true; then {}; fi",
    "if {}; then :; fi",
    "if a; then b; elif c; then {}; else d; fi",
    "if a; then b; else {}\nfi",
    "for i in 1 2; do {}; done",
    "for ((i = 0; i < 2; i++)); do {}; done",
    "while true; do {}; done",
    "until {}; do :; done",
    "select i in a b; do {}; done",
    "case a in b) :;; a) {} ;; esac",
    "f{n}() { {}; }; f{n}",
    "function f{n} { {}; }\nf{n} a",
    "f{n}() ( {} ); f{n} | cat",
    "x=$( {} )",
    "echo \"a $( {} ) b\"",
    "echo a | while read -r x; do {}; done",
    "cat <( {} )",
    "[[ -n $( {} ) ]]",
    "echo $(( 1 + $( {} ) ))",
    "echo ${none:-$( {} )}",
    "cat <<E{n}\n$( {} )\nE{n}",
    "bash <<'E{n}'\n{}\nE{n}",
    "sh -s a <<'E{n}'\n{}\nE{n}",
    "eval {q}",
    "x{n}={q}; eval \"$x{n}\"",
    "x{n}={q} && sh -c \"$x{n}\"",
    "x{n}={q}; bash <<< \"$x{n}\"",
    "set -- {q}; eval \"$1\"",
    "a{n}=(-c {q}); bash \"${a{n}[@]}\"",
    "printf '%s\\n' {q} | sh",
    "printf %s {q} | tee log | bash -s",
    "echo {b} | base64 -d | sh",
    "bash <(printf %s {q})",
    "source <(printf %s {q})",
    // A trap that is set while one runs is for nothing.
    "( trap {q} EXIT )",
    "coproc { {}; }",
    "time {}",
];

fn by_grammar(chance: &mut Chance<'_>, inner: &Inner, depth: usize) -> Inner {
    let template = chance.pick(&OF_GRAMMAR);
    let text = inner.text();
    let filled = template
        .replace("{q}", &quoted(chance, text))
        .replace("{b}", &base64(text.as_bytes()))
        .replace("{n}", &depth.to_string())
        .replace("{}", text);
    Inner::Text(filled)
}

fn by_program(chance: &mut Chance<'_>, inner: &Inner) -> Inner {
    let all = of_programs();
    let wrapper = &all[chance.next(all.len())];
    let inside = match (&wrapper.slot, inner) {
        (Slot::Program, Inner::Program(text)) => text.clone(),
        (Slot::Program, Inner::Text(text)) => format!("sh -c {}", quoted(chance, text)),
        (Slot::Text { before, after }, inner) => {
            // Behind a word of its own a program takes one line.
            let text = if before.is_empty() { inner.text().to_owned() } else { one_line(inner.text()) };
            quoted(chance, &format!("{before}{text}{after}"))
        }
        (Slot::Line, inner) => inner.text().to_owned(),
    };
    let name = wrapper.name(chance);
    let options = wrapper.options(chance);
    let text = format!("{}{name}{options}{}{inside}{}", wrapper.begin, wrapper.before, wrapper.after);
    match wrapper.slot {
        Slot::Program if wrapper.begin.is_empty() && wrapper.after.is_empty() => Inner::Program(text),
        Slot::Program | Slot::Text { .. } | Slot::Line => Inner::Text(text),
    }
}

/// An example of a program that deletes `x`, with a hole where `rm x` stood.
struct Wrapper {
    names: Vec<String>,
    /// What can stand behind the name and changes nothing of what is run.
    flags: Vec<String>,
    begin: String,
    before: String,
    slot: Slot,
    after: String,
}

enum Slot {
    /// The arguments of the program.
    Program,
    /// One word, with what stands in it around the text.
    Text { before: String, after: String },
    /// Lines of a heredoc.
    Line,
}

impl Wrapper {
    fn name(&self, chance: &mut Chance<'_>) -> String {
        let name = &self.names[chance.next(self.names.len())];
        match chance.next(8) {
            0 => format!("/usr/bin/{name}"),
            1 => format!("\\{name}"),
            2 => format!("\"{name}\""),
            3 => name.chars().map(|ch| format!("{ch}''")).collect(),
            4 => format!("$(echo {name})"),
            _ => name.clone(),
        }
    }

    fn options(&self, chance: &mut Chance<'_>) -> String {
        if self.flags.is_empty() {
            return String::new();
        }
        (0..chance.next(3)).map(|_| format!(" {}", self.flags[chance.next(self.flags.len())])).collect()
    }
}

/// Every wrapper that the library knows.
fn of_programs() -> &'static [Wrapper] {
    static WRAPPERS: OnceLock<Vec<Wrapper>> = OnceLock::new();
    WRAPPERS.get_or_init(|| {
        let programs = library::entries().iter().filter(|entry| entry.kind == Kind::Programs);
        programs.flat_map(wrappers_of).collect()
    })
}

fn wrappers_of(entry: &Entry) -> Vec<Wrapper> {
    let deletes = |example: &&Value| texts(&example["does"]).iter().any(|effect| effect.starts_with("delete x"));
    let examples = entry.value["examples"].as_array().into_iter().flatten().filter(deletes);
    examples.filter_map(|example| wrapper(entry, example["run"].as_str()?)).collect()
}

fn wrapper(entry: &Entry, run: &str) -> Option<Wrapper> {
    let (before, after) = run.split_once("rm x")?;
    // An alias inside of another of the same name calls itself.
    if before.contains("alias.")
        || after.contains("rm x")
        || !(after.is_empty() || after.starts_with([' ', '\'', '"', '\n']))
    {
        return None;
    }
    let mut names = texts(&entry.value["aliases"]);
    names.push(entry.name.clone());
    // A word of the grammar, which takes no options.
    names.retain(|name| name != "coproc");
    // The name stands at the front of the last list member before the hole: `echo a | xargs rm x`.
    let start = ["| ", "; "].iter().filter_map(|joint| before.rfind(joint)).max().map_or(0, |at| at + 2);
    let named = before.get(start..)?.split([' ', '\n']).next()?;
    if !names.iter().any(|name| name == named) {
        return None;
    }
    let rest = before.get(start + named.len()..)?;
    let (rest, slot, after) = slot(entry, rest, after)?;
    let begin = before.get(..start)?.to_owned();
    Some(Wrapper { flags: flags(entry), names, begin, before: rest, slot, after })
}

fn slot(entry: &Entry, before: &str, after: &str) -> Option<(String, Slot, String)> {
    if before.ends_with('\n') {
        return Some((before.into(), Slot::Line, after.into()));
    }
    if before.contains('\n') {
        return None;
    }
    for quote in ['\'', '"'] {
        if before.matches(quote).count() % 2 == 1 {
            let (before, prefix) = before.rsplit_once(quote)?;
            let (suffix, after) = after.split_once(quote)?;
            // A text of another language, or words that no shell reads.
            let inner = entry.value.to_string();
            if prefix.contains(['"', '\'', '('])
                || prefix.contains("::")
                || inner.contains("\"language\"")
                || inner.contains("\"again\"")
            {
                return None;
            }
            let slot = Slot::Text { before: prefix.into(), after: suffix.into() };
            return Some((before.into(), slot, after.into()));
        }
    }
    let inner = entry.value.to_string();
    let takes_program = inner.contains("\"argv\"");
    let slot = if takes_program { Slot::Program } else { Slot::Text { before: String::new(), after: String::new() } };
    Some((before.into(), slot, after.into()))
}

/// Options that nothing in the entry asks about. Programs with subcommands take theirs elsewhere.
fn flags(entry: &Entry) -> Vec<String> {
    let options = entry.value["options"].as_object();
    if entry.value["style"] != "posixly-correct" || entry.value["commands"].is_object() {
        return Vec::new();
    }
    let asked = format!("{} {}", entry.value["runs"], entry.value["effects"]);
    let mut flags = Vec::new();
    for (key, spelling) in options.into_iter().flatten() {
        if !asked.contains(&format!("\"{key}\"")) && !asked.contains(&format!("option:{key}\"")) {
            flags.extend(spellings(spelling.as_str().unwrap_or("")));
        }
    }
    flags
}

fn spellings(written: &str) -> Vec<String> {
    let words: Vec<&str> = written.split(' ').collect();
    let names = || words.iter().filter(|word| word.starts_with('-') && !matches!(**word, "-" | "--"));
    match words.last() {
        Some(last) if last.starts_with(|first: char| first.is_ascii_uppercase()) => names()
            .flat_map(|name| match name.strip_prefix("--") {
                Some(_) => [format!("{name} 7"), format!("{name}=7")],
                None => [format!("{name} 7"), format!("{name} '7'")],
            })
            .collect(),
        Some(last) if last.starts_with('-') => names().map(|name| (*name).to_owned()).collect(),
        Some(_) | None => Vec::new(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The text as one word, in one of the ways to quote.
fn quoted(chance: &mut Chance<'_>, text: &str) -> String {
    match chance.next(4) {
        0 => {
            let escaped: String =
                text.chars().flat_map(|ch| if "\"\\$`".contains(ch) { vec!['\\', ch] } else { vec![ch] }).collect();
            format!("\"{escaped}\"")
        }
        1 => ansi_c(text),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn one_line(text: &str) -> String {
    if text.contains('\n') { format!("eval {}", ansi_c(text)) } else { text.to_owned() }
}

fn ansi_c(text: &str) -> String {
    format!("$'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let number = chunk.iter().chain(&[0, 0]).take(3).fold(0usize, |number, byte| number << 8 | usize::from(*byte));
        let digit = |place: usize| char::from(DIGITS[number >> (18 - 6 * place) & 63]);
        (0..4).map(|place| if place <= chunk.len() { digit(place) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// What is known of the deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is an effect of the call.
    Deleted,
    /// Something in the call is not known, and is said not to be.
    Unknown,
    /// Nothing is said.
    Hidden,
}

impl Found {
    /// Whether whoever asks is told.
    pub(crate) fn is_seen(self) -> bool {
        self != Found::Hidden
    }
}

/// Whether the deletion of `victim` is found in a text.
pub(crate) fn found(text: &str) -> Found {
    let event = Event {
        cwd: "/repo".into(),
        workspace: "/repo".into(),
        home: "/home/me".into(),
        actions: vec![Action::Shell { command: text.into(), language: Default::default() }],
        ..Event::default()
    };
    let analysis = reflex_engine::analyze(&event, library::tables(), &FakeWorld::default());
    let deletes = |target: &reflex_engine::Target| target.value.shown().contains("victim");
    let kinds = [
        EffectKind::Unreadable,
        EffectKind::ExceedLimit,
        EffectKind::RunUnknown,
        EffectKind::RunDecoded,
        EffectKind::RunFile,
    ];
    if analysis.effects.iter().any(|effect| effect.kind == EffectKind::Delete && effect.targets.iter().any(deletes)) {
        return Found::Deleted;
    }
    if analysis.effects.iter().any(|effect| kinds.contains(&effect.kind)) { Found::Unknown } else { Found::Hidden }
}
