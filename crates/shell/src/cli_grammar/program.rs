//! What the table knows about a program: its options, its subcommands, what it runs and what it does.

use reflex_tables::{Node, Tables};

/// The grammars of all programs that are known, by name.
#[derive(Debug, Clone, Copy)]
pub struct Programs(Node<'static>);

impl Programs {
    /// No grammars: of each command only its words are known.
    pub const NONE: Programs = Programs(Node::NIL);

    /// Those of a library.
    pub fn new(library: Tables) -> Programs {
        Programs(library.get("programs"))
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = (&'static str, Program)> {
        self.0.entries().map(|(name, node)| (name, Program(node)))
    }

    /// What is known of an environment variable that names a program.
    pub(crate) fn variable(self, name: &str) -> Node<'static> {
        self.0.get(&format!("${name}"))
    }
}

/// The grammar of a program or of one of its subcommands.
#[derive(Debug, Clone, Copy)]
pub struct Program(pub(crate) Node<'static>);

/// How the words of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Mixed,
    PosixlyCorrect,
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
    /// So many words.
    Several(usize),
}

impl Program {
    /// The program of this name, if the table has it.
    pub fn find(programs: Programs, name: &str) -> Option<Program> {
        let node = programs.0.get(name);
        (!node.is_nil()).then_some(Program(node))
    }

    pub(crate) fn style(self) -> Style {
        match self.0.get("style").text() {
            "posixly-correct" => Style::PosixlyCorrect,
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

    /// Whether its first words say what it does: subcommands, or words that its effects ask for.
    pub(crate) fn names_subcommands(self) -> bool {
        self.has_subcommands() || self.effects().any(|entry| !entry.get("word").is_nil())
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
    pub fn runs(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("runs").items()
    }

    /// Which files it fills, and from where.
    pub fn copies(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("copies-to").items()
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
        self.runs().any(|entry| entry.get("stdin").text() == "script")
    }

    /// Whether it runs what it reads as a text of the shell.
    pub fn reads_shell_text(self) -> bool {
        self.runs().any(|entry| entry.get("stdin").text() == "script" && entry.get("language").is_nil())
    }

    /// Whether its operands are texts or names, and paths among them are not opened.
    pub fn has_opaque_operands(self) -> bool {
        self.0.get("opaque-operands").is_true()
    }

    /// Whether operands are run: they are judged as commands of their own.
    pub fn runs_operands(self) -> bool {
        let of_operands = |entry: Node<'static>, key: &str| entry.get(key).text().starts_with("operands");
        self.runs().any(|entry| ["argv", "script", "file"].iter().any(|key| of_operands(entry, key)))
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
        self.runs().next().is_some()
    }

    /// Where it looks for the host, context or account that it works on.
    pub fn points(self) -> impl Iterator<Item = &'static str> {
        self.0.get("points").texts()
    }

    /// Its subcommands whose words reach other people or agents: a message, a comment, a prompt; `*` if all do.
    pub fn publishes(self) -> impl Iterator<Item = &'static str> {
        self.0.get("publishes").texts()
    }

    /// What else may tell production from the rest.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.get("names").texts()
    }

    /// The command that keeps a copy of the database on which the program of this name works; empty if none is known.
    pub fn dump(self, name: &str) -> &'static str {
        self.0.get("dump").get(name).text()
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

    /// What kinds of text it prints: one, or the first whose condition holds.
    pub(crate) fn prints(self) -> Node<'static> {
        self.0.get("prints")
    }
}

fn follows(node: Node<'static>) -> Follows {
    match node.get("value").text() {
        "one" => Follows::Value,
        "joined" => Follows::JoinedValue,
        "until" => Follows::UntilSemicolon,
        "rest" => Follows::Rest,
        "several" => Follows::Several(node.get("count").number() as usize),
        _ => Follows::Nothing,
    }
}
