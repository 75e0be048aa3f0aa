//! The command that stands in a hook entry: this binary, asked by this agent at this event.

use super::guard_line::quoted;

/// What every hook entry of one wiring has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookCommand<'a> {
    /// The absolute path of the guard's binary.
    pub binary: &'a str,
    /// The home below which the guard keeps its files. An entry that several people share names none: each of them has
    /// the home that the user database names.
    pub home: Option<&'a str>,
    /// The public key with which a person's yes is signed, as hexadecimal digits; none in an entry that several people
    /// share.
    pub key: Option<&'a str>,
}

impl<'a> HookCommand<'a> {
    /// A command for an entry that several people share.
    pub fn shared(binary: &'a str) -> HookCommand<'a> {
        HookCommand { binary, home: None, key: None }
    }

    /// The arguments of the binary.
    pub(crate) fn arguments(self, agent: &str, event: &str) -> Vec<String> {
        let words = ["hook", "--agent", agent, "--event", event].into_iter();
        let words = words.chain(self.home.into_iter().flat_map(|home| ["--home", home]));
        words.chain(self.key.into_iter().flat_map(|key| ["--key", key])).map(str::to_owned).collect()
    }

    /// A line for any shell.
    pub(crate) fn line(self, agent: &str, event: &str) -> String {
        let words = std::iter::once(self.binary.to_owned()).chain(self.arguments(agent, event));
        words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
    }

    /// A line for any shell that refuses, with words on standard error, if the guard cannot: missing, crashed or killed.
    /// The inner shell is POSIX's, whatever the user's is.
    pub(crate) fn guarded_line(self, agent: &str, event: &str) -> String {
        self.behind_a_shell(
            (agent, event),
            "|| { c=$?; [ $c -eq 2 ] || echo \"Blocked: reflex failed ($c), so this call does not run\" >&2; exit 2; }",
        )
    }

    /// A line for any shell that goes on if the guard cannot.
    pub(crate) fn lenient_line(self, agent: &str, event: &str) -> String {
        self.behind_a_shell((agent, event), "|| :")
    }

    fn behind_a_shell(self, (agent, event): (&str, &str), otherwise: &str) -> String {
        let (place, home) = match self.home {
            Some(home) => (" --home \"$1\"", format!(" {}", quoted(home))),
            None => ("", String::new()),
        };
        let key = self.key.map(|key| format!(" --key {key}")).unwrap_or_default();
        let binary = quoted(self.binary);
        format!("/bin/sh -c '\"$0\" hook --agent {agent} --event {event}{place}{key} {otherwise}' {binary}{home}")
    }
}
