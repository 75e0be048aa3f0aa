//! The languages of texts.

/// A language that is read. Each has its own reader; all readers produce the same kind of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// Unix shells: sh, bash, zsh and related ones.
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
    /// Makefiles: their recipes and the commands of `$(shell …)`.
    Makefile,
    /// Crontabs.
    Crontab,
    /// Patches of the tool `apply_patch`.
    Patch,
    /// JavaScript and TypeScript.
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
    /// A language without a reader (Julia, R, Tcl, …): only the origin of its texts is known.
    Other,
}

impl Language {
    /// Every language with its name in the library.
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

    /// Returns the language of this name.
    pub fn named(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|(_, word)| *word == name).map(|(language, _)| language)
    }

    /// Returns the language's name in the library, which is also the prefix of the names of its calls.
    pub fn name(self) -> &'static str {
        Language::ALL.into_iter().find(|(language, _)| *language == self).map_or("shell", |(_, name)| name)
    }

    /// Whether names are case-insensitive and paths use backslashes.
    pub fn is_windows(self) -> bool {
        matches!(self, Language::PowerShell | Language::Cmd)
    }

    /// Returns the name of the derivation step for a text of this language.
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
