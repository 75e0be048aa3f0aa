//! The policy keys for a question that the agent itself cannot ask.

use super::loaded::Loaded;
use reflex_engine::Authority;
use reflex_tables::Node;
use std::time::Duration;

/// Maximum time that a hook waits for a person; a policy may shorten it. Most agents run a call whose hook takes too
/// long, and the entries that `init` writes give it ten times this.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);

/// The outcome of a question when no person is available to answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Unattended {
    /// The call runs if every finding is of medium severity or less and none is of a core rule.
    AllowLow,
    /// The call is refused, and the user is notified.
    Park,
    /// The call is refused.
    #[default]
    Deny,
}

/// The way to ask a person who is not at the agent's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asking {
    /// Maximum time that a hook waits.
    pub(crate) wait: Duration,
    /// The outcome if no person is available.
    pub(crate) unattended: Unattended,
    /// The ways to notify the user, from their own policy only.
    pub(crate) notify: Notify,
}

/// The ways to notify the user of a waiting call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Notify {
    /// Whether to show a desktop notification.
    pub(crate) desktop: bool,
    /// A shell command line; empty for none.
    pub(crate) command: String,
    /// The URL of a webhook; empty for none.
    pub(crate) webhook: String,
    /// The format of the webhook's payload: `json`, `ntfy`, `slack` or `discord`.
    pub(crate) format: String,
}

impl Notify {
    fn take(&mut self, node: Node<'_>) {
        self.desktop |= node.get("desktop").is_true();
        let hook = node.get("webhook");
        let texts = [
            (&mut self.command, node.get("command")),
            (&mut self.webhook, hook.get("url")),
            (&mut self.format, hook.get("as")),
        ];
        for (field, value) in texts.into_iter().filter(|(_, value)| !value.text().is_empty()) {
            *field = value.text().into();
        }
    }
}

impl Asking {
    /// Merges the layers. Each may shorten the wait. `unattended` is the administrator's, else the user's, and only
    /// layers that may loosen can let a call run.
    pub(crate) fn from_layers(loaded: &[Loaded]) -> Asking {
        let mut asking = Asking { wait: MAX_WAIT, unattended: Unattended::default(), notify: Notify::default() };
        let mut decided_by = Authority::Project;
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
            if authority > decided_by {
                (asking.unattended, decided_by) = (unattended, authority);
            } else if authority == decided_by && decided_by > Authority::Project {
                asking.unattended = asking.unattended.max(unattended);
            }
        }
        asking
    }
}
