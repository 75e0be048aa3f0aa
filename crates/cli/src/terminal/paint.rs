//! Colors for people: only on a terminal, and never if `NO_COLOR` is set.

use std::io::IsTerminal;

/// Whether standard output is colored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Decides about colors. `NO_COLOR` overrides `CLICOLOR_FORCE`, which overrides the terminal check.
    pub(crate) fn of_stdout() -> Paint {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint(!set("NO_COLOR") && (forced || (std::io::stdout().is_terminal() && !dumb)))
    }

    /// Whether output is colored.
    pub(crate) fn is_on(self) -> bool {
        self.0
    }

    fn code(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.code("2", text)
    }

    pub(crate) fn added(self, text: &str) -> String {
        self.code("32", text)
    }

    pub(crate) fn removed(self, text: &str) -> String {
        self.code("31", text)
    }

    /// Colors a decision's name.
    pub(crate) fn decision(self, word: &str) -> String {
        self.decision_as(word, word)
    }

    /// Colors a text like a decision.
    pub(crate) fn decision_as(self, word: &str, text: &str) -> String {
        let code = match word {
            "block" => "1;31",
            "ask" => "1;33",
            "warn" => "33",
            "keep" => "36",
            _ => "32",
        };
        self.code(code, text)
    }
}
