//! The grammar of a program: its options, its subcommands, the commands that it runs, and its effects.

use reflex_tables::views::{self, CopyEntry, EffectEntry, LanguageNames, Members, ProgramOption, RunEntry, Variable};
use reflex_tables::{Map, Tables};

/// The grammars of all known programs, by name, and the names of the languages in which scripts are written.
#[derive(Debug, Clone, Copy)]
pub struct Programs {
    library: Tables,
    grammars: Map<'static, views::Program<'static>>,
    variables: Map<'static, Variable<'static>>,
}

impl Programs {
    /// No grammars: commands have words only.
    pub const NONE: Programs = Programs { library: Tables::EMPTY, grammars: Map::ABSENT, variables: Map::ABSENT };

    /// Returns the grammars of a library.
    pub fn new(library: Tables) -> Programs {
        Programs { library, grammars: library.library().programs(), variables: library.library().variables() }
    }

    pub(crate) fn entries(self) -> impl Iterator<Item = (&'static str, Program)> {
        self.grammars.entries().map(|(name, grammar)| (name, Program(grammar)))
    }

    /// Returns the entry of an environment variable that names a program.
    pub(crate) fn variable(self, name: &str) -> Option<Variable<'static>> {
        self.variables.find(name)
    }

    /// Returns the names of a language that compute a value.
    pub(crate) fn names(self, language: &str) -> LanguageNames<'static> {
        self.library.library().languages().get(language)
    }

    /// Returns the members of values in all languages.
    pub(crate) fn members(self) -> Members<'static> {
        self.library.library().members()
    }
}

/// The grammar of a program or of one of its subcommands.
#[derive(Debug, Clone, Copy)]
pub struct Program(views::Program<'static>);

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
        programs.grammars.find(name).map(Program)
    }

    pub(crate) fn style(self) -> Style {
        match self.0.style() {
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
        self.0.leading() as usize
    }

    pub(crate) fn subcommand(self, name: &str) -> Option<(&'static str, Program)> {
        self.0.commands().entry(name).map(|(name, grammar)| (name, Program(grammar)))
    }

    pub(crate) fn has_subcommands(self) -> bool {
        !self.0.commands().is_empty()
    }

    /// Whether its first operands select what it does: it has subcommands, or effects that apply only to certain words.
    pub(crate) fn names_subcommands(self) -> bool {
        self.has_subcommands() || self.effects().any(|entry| !entry.word().is_absent())
    }

    /// Returns the key of an option by its name, and the words that it takes.
    pub(crate) fn option(self, name: &str) -> Option<(&'static str, Follows)> {
        self.0.options().find(name).map(|option| (option.key(), follows(option)))
    }

    /// Returns a long option by a prefix of its name, if the prefix is unambiguous.
    pub(crate) fn shortened_option(self, start: &str) -> Option<(&'static str, Follows)> {
        let mut found = self.0.options().entries().filter(|(name, _)| name.starts_with(start));
        let (_, option) = found.next()?;
        found.all(|(_, other)| other.key() == option.key()).then(|| (option.key(), follows(option)))
    }

    /// The entries that find the commands it runs in its arguments.
    pub fn runs(self) -> impl Iterator<Item = RunEntry<'static>> {
        self.0.runs().iter()
    }

    /// The entries for the files that it fills, with the sources of their content.
    pub fn copies(self) -> impl Iterator<Item = CopyEntry<'static>> {
        self.0.copies().iter()
    }

    /// The word that separates its commands, if it takes several.
    pub(crate) fn separator(self) -> Option<&'static str> {
        Some(self.0.separator()).filter(|word| !word.is_empty())
    }

    /// The configuration keys whose values it runs.
    pub(crate) fn settings(self) -> Map<'static, &'static str> {
        self.0.settings()
    }

    /// Whether it runs its standard input as a script: a shell.
    pub fn reads_script(self) -> bool {
        self.runs().any(|entry| entry.stdin() == Some("script"))
    }

    /// Whether it runs its standard input as a shell text.
    pub fn reads_shell_text(self) -> bool {
        self.runs().any(|entry| entry.stdin() == Some("script") && entry.language().is_none())
    }

    /// Whether its operands are texts or names. Paths among them are not opened.
    pub fn has_opaque_operands(self) -> bool {
        self.0.opaque_operands()
    }

    /// Whether it runs its operands, which are then judged as commands of their own.
    pub fn runs_operands(self) -> bool {
        let is_operands = |selector: Option<&str>| selector.is_some_and(|selector| selector.starts_with("operands"));
        self.runs().any(|entry| [entry.argv(), entry.script(), entry.file()].into_iter().any(is_operands))
    }

    /// Whether its name is distinctive: not a word that other programs take as an argument.
    pub(crate) fn is_distinct(self) -> bool {
        self.0.distinct()
    }

    /// Whether project scripts often have the same name.
    pub(crate) fn is_common(self) -> bool {
        self.0.common()
    }

    /// Whether it runs code of any language.
    pub fn runs_code(self) -> bool {
        self.runs().next().is_some()
    }

    /// The sources of the host, context or account that it works on.
    pub fn points(self) -> impl Iterator<Item = &'static str> {
        self.0.points().iter()
    }

    /// The subcommands whose words reach other people or agents: a message, a comment, a prompt; `*` for all.
    pub fn publishes(self) -> impl Iterator<Item = &'static str> {
        self.0.publishes().iter()
    }

    /// The operands and options that name its resource, and may tell production from other systems.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.0.names().iter()
    }

    /// The command that dumps the database on which the program of this name works; empty if unknown.
    pub fn dump(self, name: &str) -> &'static str {
        self.0.dump().get(name)
    }

    /// The selector of the file that holds the database on which the program works; empty if it is not a file.
    pub fn database(self) -> &'static str {
        self.0.database()
    }

    /// The effects of the program, one entry each.
    pub fn effects(self) -> impl Iterator<Item = EffectEntry<'static>> {
        self.0.effects().iter()
    }

    /// The parameter that receives PowerShell pipeline input; empty if none does.
    pub(crate) fn piped(self) -> &'static str {
        self.0.piped()
    }

    /// Returns the first option with this prefix. An ambiguous prefix is an error, so the choice does not matter.
    pub(crate) fn begun_option(self, start: &str) -> Option<(&'static str, Follows)> {
        let mut found = self.0.options().entries().filter(|(name, _)| name.starts_with(start));
        found.next().map(|(_, option)| (option.key(), follows(option)))
    }

    /// The kind of text that it prints with these options; empty if unknown.
    pub(crate) fn prints(self, has_option: impl Fn(&str) -> bool) -> &'static str {
        let mut entries = self.0.prints().iter();
        entries.find(|entry| entry.conditions().hold(&has_option)).map_or("", |entry| entry.what())
    }
}

fn follows(option: ProgramOption<'static>) -> Follows {
    match option.value() {
        "one" => Follows::Value,
        "joined" => Follows::JoinedValue,
        "until" => Follows::UntilSemicolon,
        "rest" => Follows::Rest,
        "several" => Follows::Several(option.count() as usize),
        _ => Follows::Nothing,
    }
}
