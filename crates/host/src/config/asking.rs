//! What people's policies say about a question that the agent itself cannot ask.

use super::loaded::Loaded;
use reflex_engine::Authority;
use reflex_tables::Node;
use std::time::Duration;

/// A hook waits so long for a person, if a policy says no less. Most agents run a call whose hook takes too long, and
/// the entries that `init` writes give it ten times this.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);

/// What becomes of a question that nobody can answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Unattended {
    /// The call runs if all that was found about it is of medium severity or less, and nothing of the core.
    AllowLow,
    /// It is refused, and the person is told of it.
    Park,
    /// It is refused.
    #[default]
    Deny,
}

/// How a person who is not at the agent's prompt is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asking {
    /// So long a hook waits.
    pub(crate) wait: Duration,
    /// What becomes of the question otherwise.
    pub(crate) unattended: Unattended,
    /// How the user is told of it; only their own policy says so.
    pub(crate) notify: Notify,
}

/// How the user is told that a call waits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Notify {
    /// By the desktop's own means.
    pub(crate) desktop: bool,
    /// A line for the shell.
    pub(crate) command: String,
    /// The address of a webhook.
    pub(crate) webhook: String,
    /// What it is sent: `json`, `ntfy`, `slack` or `discord`.
    pub(crate) format: String,
}

impl Notify {
    fn take(&mut self, said: Node<'_>) {
        self.desktop |= said.get("desktop").is_true();
        let hook = said.get("webhook");
        let texts = [
            (&mut self.command, said.get("command")),
            (&mut self.webhook, hook.get("url")),
            (&mut self.format, hook.get("as")),
        ];
        for (own, said) in texts.into_iter().filter(|(_, said)| !said.text().is_empty()) {
            *own = said.text().into();
        }
    }
}

impl Asking {
    /// Every layer may shorten the wait; what becomes of the question the administrator says, else the user, and only
    /// they may let a call run.
    pub(crate) fn from_layers(loaded: &[Loaded]) -> Asking {
        let mut asking = Asking { wait: MAX_WAIT, unattended: Unattended::default(), notify: Notify::default() };
        let mut said = Authority::Project;
        for one in loaded {
            let ask = one.layer.tables.get("policy").get("ask");
            if !ask.get("wait").is_nil() {
                asking.wait = asking.wait.min(Duration::from_secs(ask.get("wait").number().into()));
            }
            if one.layer.authority == Authority::User && one.layer.loosens.holds() {
                asking.notify.take(one.layer.tables.get("policy").get("notify"));
            }
            let unattended = match ask.get("unattended").text() {
                "deny" => Unattended::Deny,
                "park" => Unattended::Park,
                "allow-low" if one.layer.loosens.holds() => Unattended::AllowLow,
                _ => continue,
            };
            let authority = one.layer.authority;
            if authority > said {
                (asking.unattended, said) = (unattended, authority);
            } else if authority == said && said > Authority::Project {
                asking.unattended = asking.unattended.max(unattended);
            }
        }
        asking
    }
}
