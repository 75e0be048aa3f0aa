//! What the table knows about a program: its options, its subcommands, what it runs and what it does.

use crate::invocation::Invocation;
use crate::value::{Origin, Piece, Value};
use reflex_tables::Node;

/// The grammar of a program or of one of its subcommands.
#[derive(Debug, Clone, Copy)]
pub struct Program(pub Node<'static>);

/// How the words of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Mixed,
    OptionsFirst,
    SingleDash,
}

/// What follows an option's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    Nothing,
    Value,
    JoinedValue,
    UntilSemicolon,
    Rest,
}

impl Program {
    /// The program of this name, if the table has it.
    pub fn find(programs: Node<'static>, name: &str) -> Option<Program> {
        let node = programs.get(name);
        (!node.is_nil()).then_some(Program(node))
    }

    pub(crate) fn style(self) -> Style {
        match self.0.get("style").text() {
            "options-first" => Style::OptionsFirst,
            "single-dash" => Style::SingleDash,
            _ => Style::Mixed,
        }
    }

    pub(crate) fn subcommand(self, name: &str) -> Option<(&'static str, Program)> {
        let commands = self.0.get("commands");
        let node = commands.get(name);
        if node.is_nil() {
            return None;
        }
        commands.entries().find(|(key, _)| *key == name).map(|(key, _)| (key, Program(node)))
    }

    pub(crate) fn has_subcommands(self) -> bool {
        !self.0.get("commands").is_empty()
    }

    /// The key of an option's name and what follows it.
    pub(crate) fn option(self, name: &str) -> Option<(&'static str, Follows)> {
        let node = self.0.get("options").get(name);
        (!node.is_nil()).then(|| (node.get("key").text(), follows(node)))
    }

    /// A long option may be shortened as long as it stays the only one.
    pub(crate) fn shortened_option(self, start: &str) -> Option<(&'static str, Follows)> {
        let mut found = self.0.get("options").entries().filter(|(name, _)| name.starts_with(start));
        let (_, node) = found.next()?;
        let key = node.get("key").text();
        found.all(|(_, other)| other.get("key").text() == key).then(|| (key, follows(node)))
    }

    /// How the commands that it runs are found in its arguments.
    pub(crate) fn inner(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("inner").items()
    }

    /// Whether it runs what it reads: a shell.
    pub fn reads_script(self) -> bool {
        self.inner().any(|entry| entry.get("stdin").text() == "script")
    }

    /// What it does: one entry per effect.
    pub fn effects(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("effects").items()
    }

    /// What kind of text it prints.
    pub(crate) fn prints(self) -> &'static str {
        self.0.get("prints").text()
    }
}

fn follows(node: Node<'static>) -> Follows {
    match node.get("value").text() {
        "one" => Follows::Value,
        "joined" => Follows::JoinedValue,
        "until" => Follows::UntilSemicolon,
        "rest" => Follows::Rest,
        _ => Follows::Nothing,
    }
}

/// Whether an entry of a grammar applies: one of `when`, all of `and`, none of `unless` is given.
pub fn applies(entry: Node<'static>, invocation: &Invocation) -> bool {
    let when = entry.get("when");
    (when.is_nil() || when.texts().any(|key| invocation.given(key)))
        && entry.get("and").texts().all(|key| invocation.given(key))
        && !entry.get("unless").texts().any(|key| invocation.given(key))
}

/// `starting: X` keeps the values that begin so, without it; `behind: X` what stands behind it in them; `after-last: X`
/// cuts off what stands before it.
pub fn narrow(entry: Node<'static>, values: &mut Vec<Value>) {
    let starting = entry.get("starting").text();
    if !starting.is_empty() {
        values.retain(|value| value.prefix().starts_with(starting));
        values.iter_mut().for_each(|value| *value = value.without_prefix(starting.len()));
    }
    let after_last = entry.get("after-last").text();
    if !after_last.is_empty() {
        let cut =
            |value: &Value| value.prefix().rfind(after_last).map(|at| value.without_prefix(at + after_last.len()));
        values.iter_mut().for_each(|value| *value = cut(value).unwrap_or_else(|| value.clone()));
    }
    let behind = entry.get("behind").text();
    if !behind.is_empty() {
        let cut = |value: &Value| value.prefix().find(behind).map(|at| value.without_prefix(at + behind.len()));
        *values = values.iter().filter_map(cut).collect();
    }
}

/// Which words of an invocation are meant: `operands`, `operands[1..]`, `operands[..-1]`, `operands[0]`, `last`,
/// `last-word`, `paths`, `roots`, `found`, `option:KEY`, `folder`.
#[derive(Debug, Clone, Copy)]
pub struct Selector<'t>(pub &'t str);

impl Selector<'_> {
    /// The values that the selector means.
    pub fn values(self, invocation: &Invocation, words: &[Value]) -> Vec<Value> {
        let operands = || invocation.operands.iter().filter_map(|index| words.get(*index)).cloned();
        match self.0 {
            "operands" => operands().collect(),
            "last" => operands().next_back().into_iter().collect(),
            "paths" => paths(invocation, words),
            "last-word" => words.last().cloned().into_iter().collect(),
            "roots" => or_here(operands().collect(), words),
            "found" => found(or_here(operands().collect(), words), &invocation.values("name", words)),
            "folder" => or_here(Vec::new(), words),
            other => match other.strip_prefix("option:") {
                Some(key) => invocation.values(key, words),
                None => range(other, operands().collect()),
            },
        }
    }
}

/// Operands behind `--`, and those before it that can only be paths.
fn paths(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let is_path = |(index, word): &(usize, &Value)| {
        invocation.dashes.is_some_and(|dashes| *index >= dashes) || looks_like_path(word)
    };
    let operands = invocation.operands.iter().filter_map(|index| words.get(*index)).enumerate();
    operands.filter(is_path).map(|(_, word)| word.clone()).collect()
}

fn looks_like_path(word: &Value) -> bool {
    let text = word.prefix();
    let piece = word.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(_) | Piece::Home(_)));
    piece || text == "." || ["./", "..", "/", ":/"].iter().any(|start| text.starts_with(start))
}

/// What a search below the roots may find: anything, or what its name patterns allow.
fn found(roots: Vec<Value>, names: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    for root in roots {
        let origin = root.origin();
        let separator = if root.prefix().ends_with('/') { "" } else { "/" };
        let below = |name: Option<&Value>| {
            let mut value = root.clone();
            value.push_text(separator, origin);
            value.pieces.push((Piece::Glob("**".into()), origin));
            if let Some(name) = name {
                value.push_text("/", origin);
                value.pieces.push((Piece::Glob(name.shown()), origin));
            }
            value
        };
        found.extend(names.iter().map(|name| below(Some(name))));
        if names.is_empty() {
            found.push(below(None));
        }
    }
    found
}

/// The working folder where nothing else is named.
fn or_here(values: Vec<Value>, words: &[Value]) -> Vec<Value> {
    if !values.is_empty() {
        return values;
    }
    vec![Value::text(".", words.first().map_or(Origin::default(), Value::origin))]
}

fn range(selector: &str, mut operands: Vec<Value>) -> Vec<Value> {
    let Some(inside) = selector.strip_prefix("operands[").and_then(|rest| rest.strip_suffix(']')) else {
        return Vec::new();
    };
    if inside == "..-1" {
        operands.pop();
        return operands;
    }
    match inside.strip_suffix("..") {
        Some(from) => operands.into_iter().skip(from.parse().unwrap_or(0)).collect(),
        None => operands.into_iter().nth(inside.parse().unwrap_or(0)).into_iter().collect(),
    }
}
