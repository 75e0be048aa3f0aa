//! The command in a hook entry: this binary with the agent and the event as arguments.

use super::guard_line::quoted;

/// The parts shared by all hook entries of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookCommand<'a> {
    /// Absolute path of the guard's binary.
    pub binary: &'a str,
    /// Home directory that holds the guard's files. An entry shared by several users has none: the home of each is
    /// taken from the user database.
    pub home: Option<&'a str>,
    /// Public key, in hexadecimal digits, that verifies a person's approval. `None` in an entry shared by several
    /// users.
    pub key: Option<&'a str>,
    /// Seconds that a hook may wait for a person where the agent refuses a call whose hook takes too long.
    pub wait: u32,
    /// Version of the client whose settings hold the entry, if known.
    pub client: Option<&'a str>,
}

impl<'a> HookCommand<'a> {
    /// Returns a command for an entry shared by several users.
    pub fn shared(binary: &'a str) -> HookCommand<'a> {
        HookCommand { binary, home: None, key: None, wait: 0, client: None }
    }

    /// Returns the arguments of the binary.
    pub(crate) fn arguments(self, agent: &str, event: &str) -> Vec<String> {
        let words = ["hook", "--agent", agent, "--event", event].into_iter();
        let words = words.chain(self.home.into_iter().flat_map(|home| ["--home", home]));
        words.chain(self.key.into_iter().flat_map(|key| ["--key", key])).map(str::to_owned).collect()
    }

    /// Returns a command line for any shell.
    pub(crate) fn line(self, agent: &str, event: &str) -> String {
        let words = std::iter::once(self.binary.to_owned()).chain(self.arguments(agent, event));
        words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
    }

    /// Returns a command line for any shell that refuses, with a message on standard error, if the guard is missing,
    /// crashes or is killed. The inner shell is POSIX `sh`, regardless of the user's shell.
    pub(crate) fn guarded_line(self, agent: &str, event: &str) -> String {
        self.shell_line(
            (agent, event),
            "|| { c=$?; [ $c -eq 2 ] || echo \"Blocked: reflex failed ($c), so this call does not run\" >&2; exit 2; }",
        )
    }

    /// Returns a command line for any shell that succeeds even if the guard fails.
    pub(crate) fn lenient_line(self, agent: &str, event: &str) -> String {
        self.shell_line((agent, event), "|| :")
    }

    fn shell_line(self, (agent, event): (&str, &str), otherwise: &str) -> String {
        let (place, home) = match self.home {
            Some(home) => (" --home \"$1\"", format!(" {}", quoted(home))),
            None => ("", String::new()),
        };
        let key = self.key.map(|key| format!(" --key {key}")).unwrap_or_default();
        let binary = quoted(self.binary);
        format!("/bin/sh -c '\"$0\" hook --agent {agent} --event {event}{place}{key} {otherwise}' {binary}{home}")
    }
}
