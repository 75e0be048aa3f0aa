//! What the table knows about a program: its options, its subcommands, what it runs and what it does.

use crate::invocation::Invocation;
use crate::model::value::{Origin, Piece, Value};
use crate::search;
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
    PowerShell,
    PowerShellFirst,
    Slash,
    SlashFirst,
}

impl Style {
    /// Whether it is a program of Windows: names of it and of its options have no case.
    pub(crate) fn is_windows(self) -> bool {
        matches!(self, Style::PowerShell | Style::PowerShellFirst | Style::Slash | Style::SlashFirst)
    }
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
            "powershell" => Style::PowerShell,
            "powershell-first" => Style::PowerShellFirst,
            "slash" => Style::Slash,
            "slash-first" => Style::SlashFirst,
            _ => Style::Mixed,
        }
    }

    /// How many operands are its own before the program that it runs.
    pub(crate) fn leading(self) -> usize {
        self.0.get("leading").number() as usize
    }

    pub(crate) fn subcommand(self, name: &str) -> Option<(&'static str, Program)> {
        let (name, node) = self.0.get("commands").entry(name)?;
        Some((name, Program(node)))
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
    pub fn inner(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("inner").items()
    }

    /// Which files it fills, and from where.
    pub(crate) fn flows(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("flows").items()
    }

    /// The word between several of its commands, if it takes several.
    pub(crate) fn separator(self) -> Option<&'static str> {
        Some(self.0.get("separator").text()).filter(|word| !word.is_empty())
    }

    /// Keys of its configuration whose values it runs.
    pub(crate) fn settings(self) -> Node<'static> {
        self.0.get("settings")
    }

    /// Whether it runs what it reads: a shell.
    pub fn reads_script(self) -> bool {
        self.inner().any(|entry| entry.get("stdin").text() == "script")
    }

    /// Whether it runs what it reads as a text of the shell.
    pub fn reads_shell_text(self) -> bool {
        self.inner().any(|entry| entry.get("stdin").text() == "script" && entry.get("language").is_nil())
    }

    /// Whether its operands are texts or names, and paths among them are not opened.
    pub fn takes_texts(self) -> bool {
        self.0.get("texts").is_true()
    }

    /// Whether operands are run: they are judged as commands of their own.
    pub fn runs_operands(self) -> bool {
        let of_operands = |entry: Node<'static>, key: &str| entry.get(key).text().starts_with("operands");
        self.inner().any(|entry| ["argv", "script", "file"].iter().any(|key| of_operands(entry, key)))
    }

    /// Whether its name is no word of other programs.
    pub(crate) fn is_distinct(self) -> bool {
        self.0.get("distinct").is_true()
    }

    /// Whether scripts of projects often have its name too.
    pub(crate) fn is_common(self) -> bool {
        self.0.get("common").is_true()
    }

    /// Whether it runs code of whatever language.
    pub fn runs_code(self) -> bool {
        self.inner().next().is_some()
    }

    /// Where it looks for the host, context or account that it works on.
    pub fn points(self) -> impl Iterator<Item = &'static str> {
        self.0.get("points").texts()
    }

    /// Its subcommands whose words reach other people or agents: a message, a comment, a prompt; `*` if all do.
    pub fn speaks(self) -> impl Iterator<Item = &'static str> {
        self.0.get("speaks").texts()
    }

    /// What else may tell production from the rest.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.get("names").texts()
    }

    /// What it does: one entry per effect.
    pub fn effects(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("effects").items()
    }

    /// The parameter that takes what comes through PowerShell's pipe; empty if none does.
    pub(crate) fn piped(self) -> &'static str {
        self.0.get("piped").text()
    }

    /// The first option whose name begins so: an ambiguous one runs nothing.
    pub(crate) fn begun_option(self, start: &str) -> Option<(&'static str, Follows)> {
        let mut found = self.0.get("options").entries().filter(|(name, _)| name.starts_with(start));
        found.next().map(|(_, node)| (node.get("key").text(), follows(node)))
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

/// What of the values is meant: `each-line` takes their lines one by one; `starting` keeps those that begin with one of
/// these texts, without it; `behind` what stands behind one of them; `quoted` the quoted texts that follow them;
/// `after-last` cuts off what stands before it. With `any-case` letters fit in either case.
pub fn narrow(entry: Node<'static>, values: &mut Vec<Value>) {
    if entry.get("each-line").is_true() {
        let lines = values.iter().flat_map(|value| value.split(&['\n']));
        *values = lines.map(|line| line.without_prefix(blanks(&line.prefix()))).collect();
    }
    let any_case = entry.get("any-case").is_true();
    let find = |text: &str, wanted: &str| match any_case {
        true => text.to_ascii_lowercase().find(&wanted.to_ascii_lowercase()),
        false => text.find(wanted),
    };
    let starting = entry.get("starting");
    if !starting.is_nil() {
        let cut = |value: &Value| {
            let prefix = value.prefix();
            let start = starting.texts().find(|start| find(&prefix, start) == Some(0))?;
            Some(value.without_prefix(start.len()))
        };
        *values = values.iter().filter_map(cut).collect();
    }
    let after_last = entry.get("after-last").text();
    if !after_last.is_empty() {
        let cut =
            |value: &Value| value.prefix().rfind(after_last).map(|at| value.without_prefix(at + after_last.len()));
        values.iter_mut().for_each(|value| *value = cut(value).unwrap_or_else(|| value.clone()));
    }
    let behind = entry.get("behind");
    if !behind.is_nil() {
        let cut = |value: &Value, wanted: &str| {
            find(&value.prefix(), wanted).map(|at| value.without_prefix(at + wanted.len()))
        };
        let whole = entry.get("quoted-words").is_true();
        let every = whole || entry.get("quoted").is_true();
        *values = values
            .iter()
            .flat_map(|value| {
                behind
                    .texts()
                    .flat_map(|wanted| {
                        let mut found: Vec<Value> = cut(value, wanted).into_iter().collect();
                        while let Some(next) = found
                            .last()
                            .filter(|_| every && found.len() < MOST_QUOTED)
                            .and_then(|last| cut(last, wanted))
                        {
                            found.push(next);
                        }
                        found
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        if whole {
            *values = values.iter().filter_map(quoted_words).collect();
        } else if every {
            *values = values.iter().filter_map(quoted).collect();
        }
    }
}

/// So many quoted texts of one value are looked at.
const MOST_QUOTED: usize = 64;

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The quoted texts of one call as the words of one command: `cmd("rm", ["-r", "x"])` is `rm -r x`.
fn quoted_words(value: &Value) -> Option<Value> {
    let prefix = value.prefix();
    let mut rest = prefix.as_ref();
    let mut text = String::new();
    for _ in 0..MOST_QUOTED {
        let end = rest.find([';', '\n', '|']).unwrap_or(rest.len());
        let Some(start) = rest.find(['"', '\'']).filter(|start| *start < end) else { break };
        let next = quoted(&Value::text(rest.get(start..)?, value.origin()))?;
        let word = next.literal()?.into_owned();
        let blank = if text.is_empty() { "" } else { " '" };
        text.push_str(blank);
        // What is one text there is one word here.
        text.push_str(&word.replace('\'', ""));
        text.push_str(if blank.is_empty() { "" } else { "'" });
        rest = rest.get(start + 2 + word.len()..).unwrap_or("");
    }
    (!text.is_empty()).then(|| Value::text(text, value.origin()))
}

/// The first quoted text in the value, with what is not known in it; all that follows the quote if it has no end.
fn quoted(value: &Value) -> Option<Value> {
    let prefix = value.prefix();
    let start = prefix.find(['"', '\''])?;
    let quote = prefix.get(start..)?.chars().next()?;
    let mut text = String::new();
    let mut letters = prefix.get(start + 1..)?.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            letter if letter == quote => return Some(Value::text(text, value.origin())),
            letter => text.push(letter),
        }
    }
    value.without_prefix(start + 1).split(&[quote]).into_iter().next()
}

/// Which words of an invocation are meant: `operands`, `operands[1..]`, `operands[..-1]`, `operands[0]`, `last`,
/// `last-word`, `dashed` (operands behind `--`, all if it is not there), `paths`, `roots`, `found`, `found-behind` (below the operands behind the first, by its pattern),
/// `option:KEY`, `folder`; several of them with blanks between.
#[derive(Debug, Clone, Copy)]
pub struct Selector<'t>(pub &'t str);

impl Selector<'_> {
    /// The values that the selector means; several selectors, with blanks between them, mean one after the other.
    pub fn values(self, invocation: &Invocation, words: &[Value]) -> Vec<Value> {
        let values = self.0.split(' ').flat_map(|one| Selector(one).selected(invocation, words));
        if invocation.grammar().is_some_and(|grammar| grammar.style() == Style::PowerShell) {
            return values.flat_map(|value| value.listed()).collect();
        }
        values.collect()
    }

    fn selected(self, invocation: &Invocation, words: &[Value]) -> Vec<Value> {
        let operands = || invocation.operands.iter().filter_map(|index| words.get(*index)).cloned();
        match self.0 {
            "operands" => operands().collect(),
            "last" => operands().next_back().into_iter().collect(),
            "dashed" => operands().skip(invocation.dashes.unwrap_or(0)).collect(),
            "paths" => paths(invocation, words),
            "subcommand" => subcommand(invocation, words),
            "last-word" => words.last().cloned().into_iter().collect(),
            "roots" => search::roots(invocation, words),
            "found" => search::found(search::roots(invocation, words), search::names(invocation, words).as_deref()),
            "found-behind" => {
                let names = Some(patterns(invocation, words)).filter(|names| !names.is_empty());
                search::found(or_here(operands().skip(1).collect(), words), names.as_deref())
            }
            "folder" => or_here(Vec::new(), words),
            other => match other.strip_prefix("option:") {
                Some(key) => invocation.values(key, words),
                None => range(other, operands().collect()),
            },
        }
    }
}

/// The subcommand's own word and all that follow: a program of that name is run with them.
fn subcommand(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let Some(name) = invocation.path.first() else { return Vec::new() };
    words.iter().skip(1).skip_while(|word| word.literal().as_deref() != Some(*name)).cloned().collect()
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

/// The names that a search by extension or by a part of the name may find.
fn patterns(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let around = |before: &str, word: &Value, after: &str| {
        let mut name = Value::text(before, word.origin());
        name.push(word.clone());
        name.push_text(after, word.origin());
        name
    };
    let extensions = invocation.values("extension", words);
    if !extensions.is_empty() {
        return extensions.iter().map(|extension| around("*.", extension, "")).collect();
    }
    let is_plain = |word: &&Value| {
        word.literal().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    let pattern = invocation.operands.first().and_then(|index| words.get(*index)).filter(is_plain);
    pattern.map(|word| around("*", word, "*")).into_iter().collect()
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
