//! The languages in which a text may be written.

/// A language that is read. Each has its own reader; all give the same commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// The shells of Unix: sh, bash, zsh and their kin.
    #[default]
    Shell,
    /// PowerShell, on any system.
    PowerShell,
    /// cmd.exe: command lines and batch files.
    Cmd,
    /// Python.
    Python,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// Makefiles: their recipes and what `$(shell …)` runs.
    Makefile,
    /// Tables of cron.
    Crontab,
    /// Patches of the tool `apply_patch`.
    Patch,
    /// JavaScript, also with types.
    JavaScript,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// AppleScript.
    AppleScript,
    /// A language without a reader (Julia, R, Tcl, …): only where its texts come from is known.
    Other,
}

impl Language {
    /// Every language, with the word that the library uses for it.
    pub const ALL: [(Language, &'static str); 16] = [
        (Language::Shell, "shell"),
        (Language::PowerShell, "powershell"),
        (Language::Cmd, "cmd"),
        (Language::Python, "python"),
        (Language::Awk, "awk"),
        (Language::Sed, "sed"),
        (Language::Makefile, "makefile"),
        (Language::Crontab, "crontab"),
        (Language::Patch, "patch"),
        (Language::JavaScript, "javascript"),
        (Language::Perl, "perl"),
        (Language::Ruby, "ruby"),
        (Language::Php, "php"),
        (Language::Lua, "lua"),
        (Language::AppleScript, "applescript"),
        (Language::Other, "other"),
    ];

    /// The language of this word.
    pub fn named(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|(_, word)| *word == name).map(|(language, _)| language)
    }

    /// The word that the library uses for it; the names of its calls begin with it.
    pub fn name(self) -> &'static str {
        Language::ALL.into_iter().find(|(language, _)| *language == self).map_or("shell", |(_, name)| name)
    }

    /// Whether names have no case in it, and backslashes divide paths.
    pub fn is_windows(self) -> bool {
        matches!(self, Language::PowerShell | Language::Cmd)
    }

    /// What a text of it is called as a step of derivation.
    pub(crate) fn step(self) -> &'static str {
        match self {
            Language::Shell => "shell text",
            Language::PowerShell => "powershell text",
            Language::Cmd => "cmd text",
            Language::Python => "python text",
            Language::Awk => "awk text",
            Language::Sed => "sed text",
            Language::Makefile => "makefile",
            Language::Crontab => "crontab",
            Language::Patch => "patch",
            Language::JavaScript => "javascript text",
            Language::Perl => "perl text",
            Language::Ruby => "ruby text",
            Language::Php => "php text",
            Language::Lua => "lua text",
            Language::AppleScript => "applescript text",
            Language::Other => "program text",
        }
    }
}
