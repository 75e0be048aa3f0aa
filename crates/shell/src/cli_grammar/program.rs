//! The grammar of a program: its options, its subcommands, the commands that it runs, and its effects.

use reflex_tables::{Node, Tables};

/// The grammars of all known programs, by name.
#[derive(Debug, Clone, Copy)]
pub struct Programs(Node<'static>);

impl Programs {
    /// No grammars: commands have words only.
    pub const NONE: Programs = Programs(Node::NIL);

    /// Returns the grammars of a library.
    pub fn new(library: Tables) -> Programs {
        Programs(library.get("programs"))
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = (&'static str, Program)> {
        self.0.entries().map(|(name, node)| (name, Program(node)))
    }

    /// Returns the entry of an environment variable that names a program.
    pub(crate) fn variable(self, name: &str) -> Node<'static> {
        self.0.get(&format!("${name}"))
    }
}

/// The grammar of a program or of one of its subcommands.
#[derive(Debug, Clone, Copy)]
pub struct Program(pub(crate) Node<'static>);

/// The syntax of a program's command line.
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
    /// Whether it is a Windows syntax: names of the program and its options are case-insensitive.
    pub(crate) fn is_windows(self) -> bool {
        matches!(self, Style::PowerShell | Style::PowerShellFirst | Style::Slash | Style::SlashFirst)
    }
}

/// The words that an option takes after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follows {
    Nothing,
    Value,
    JoinedValue,
    UntilSemicolon,
    Rest,
    /// This number of words.
    Several(usize),
}

impl Program {
    /// Returns the program of this name, if the table has it.
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

    /// The number of the program's own operands before the program that it runs.
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

    /// Whether its first operands select what it does: it has subcommands, or effects that apply only to certain words.
    pub(crate) fn names_subcommands(self) -> bool {
        self.has_subcommands() || self.effects().any(|entry| !entry.get("word").is_nil())
    }

    /// Returns the key of an option by its name, and the words that it takes.
    pub(crate) fn option(self, name: &str) -> Option<(&'static str, Follows)> {
        let node = self.0.get("options").get(name);
        (!node.is_nil()).then(|| (node.get("key").text(), follows(node)))
    }

    /// Returns a long option by a prefix of its name, if the prefix is unambiguous.
    pub(crate) fn shortened_option(self, start: &str) -> Option<(&'static str, Follows)> {
        let mut found = self.0.get("options").entries().filter(|(name, _)| name.starts_with(start));
        let (_, node) = found.next()?;
        let key = node.get("key").text();
        found.all(|(_, other)| other.get("key").text() == key).then(|| (key, follows(node)))
    }

    /// The entries that find the commands it runs in its arguments.
    pub fn runs(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("runs").items()
    }

    /// The entries for the files that it fills, with the sources of their content.
    pub fn copies(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("copies-to").items()
    }

    /// The word that separates its commands, if it takes several.
    pub(crate) fn separator(self) -> Option<&'static str> {
        Some(self.0.get("separator").text()).filter(|word| !word.is_empty())
    }

    /// The configuration keys whose values it runs.
    pub(crate) fn settings(self) -> Node<'static> {
        self.0.get("settings")
    }

    /// Whether it runs its standard input as a script: a shell.
    pub fn reads_script(self) -> bool {
        self.runs().any(|entry| entry.get("stdin").text() == "script")
    }

    /// Whether it runs its standard input as a shell text.
    pub fn reads_shell_text(self) -> bool {
        self.runs().any(|entry| entry.get("stdin").text() == "script" && entry.get("language").is_nil())
    }

    /// Whether its operands are texts or names. Paths among them are not opened.
    pub fn has_opaque_operands(self) -> bool {
        self.0.get("opaque-operands").is_true()
    }

    /// Whether it runs its operands, which are then judged as commands of their own.
    pub fn runs_operands(self) -> bool {
        let of_operands = |entry: Node<'static>, key: &str| entry.get(key).text().starts_with("operands");
        self.runs().any(|entry| ["argv", "script", "file"].iter().any(|key| of_operands(entry, key)))
    }

    /// Whether its name is distinctive: not a word that other programs take as an argument.
    pub(crate) fn is_distinct(self) -> bool {
        self.0.get("distinct").is_true()
    }

    /// Whether project scripts often have the same name.
    pub(crate) fn is_common(self) -> bool {
        self.0.get("common").is_true()
    }

    /// Whether it runs code of any language.
    pub fn runs_code(self) -> bool {
        self.runs().next().is_some()
    }

    /// The sources of the host, context or account that it works on.
    pub fn points(self) -> impl Iterator<Item = &'static str> {
        self.0.get("points").texts()
    }

    /// The subcommands whose words reach other people or agents: a message, a comment, a prompt; `*` for all.
    pub fn publishes(self) -> impl Iterator<Item = &'static str> {
        self.0.get("publishes").texts()
    }

    /// The operands and options that name its resource, and may tell production from other systems.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.get("names").texts()
    }

    /// The command that dumps the database on which the program of this name works; empty if unknown.
    pub fn dump(self, name: &str) -> &'static str {
        self.0.get("dump").get(name).text()
    }

    /// The selector of the file that holds the database on which the program works; empty if it is not a file.
    pub fn database(self) -> &'static str {
        self.0.get("database").text()
    }

    /// The effects of the program, one entry each.
    pub fn effects(self) -> impl Iterator<Item = Node<'static>> {
        self.0.get("effects").items()
    }

    /// The parameter that receives PowerShell pipeline input; empty if none does.
    pub(crate) fn piped(self) -> &'static str {
        self.0.get("piped").text()
    }

    /// Returns the first option with this prefix. An ambiguous prefix is an error, so the choice does not matter.
    pub(crate) fn begun_option(self, start: &str) -> Option<(&'static str, Follows)> {
        let mut found = self.0.get("options").entries().filter(|(name, _)| name.starts_with(start));
        found.next().map(|(_, node)| (node.get("key").text(), follows(node)))
    }

    /// The kinds of text that it prints: one kind, or a list of which the first with a matching condition applies.
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
