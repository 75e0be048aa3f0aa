//! The tool that wrote a file.

/// The tool that wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `permissions` of Claude Code's settings.
    Claude,
    /// Codex CLI's prefix rules.
    Codex,
    /// Gemini CLI's policies.
    Gemini,
    /// Hookify's markdown.
    Hookify,
    /// cc-safety-net's own rules.
    SafetyNet,
    /// Allowlists of destructive_command_guard.
    Dcg,
}

impl Source {
    /// Every source with its name.
    pub const ALL: [(Source, &'static str); 6] = [
        (Source::Claude, "claude"),
        (Source::Codex, "codex"),
        (Source::Gemini, "gemini"),
        (Source::Hookify, "hookify"),
        (Source::SafetyNet, "safety-net"),
        (Source::Dcg, "dcg"),
    ];

    /// The source with this name.
    pub fn named(name: &str) -> Option<Source> {
        Source::ALL.iter().find(|(_, known)| *known == name).map(|(source, _)| *source)
    }

    /// The source, guessed from the file's name.
    pub fn of_file(path: &str) -> Option<Source> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ends = |end: &str| name.ends_with(end);
        Some(match () {
            () if ends(".md") => Source::Hookify,
            () if ends(".rules") || ends(".codexpolicy") => Source::Codex,
            () if name == "allowlist.toml" => Source::Dcg,
            () if ends(".toml") => Source::Gemini,
            () if name == ".safety-net.json" || path.contains("cc-safety-net") => Source::SafetyNet,
            () if ends(".json") => Source::Claude,
            () => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        Source::ALL.iter().find(|(source, _)| *source == self).map_or("", |(_, name)| name)
    }
}
