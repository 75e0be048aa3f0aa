//! The policy keys for a question that the agent itself cannot ask.

use super::loaded::Loaded;
use reflex_engine::Authority;
use reflex_tables::views;
use std::time::Duration;

/// Maximum time that a hook waits for a person if its agent runs a call whose hook takes too long. The entries that
/// `init` writes give a hook ten times this.
const WAIT: Duration = Duration::from_secs(30);

/// Usual time if the agent refuses such a call, and the longest time that a person who has begun an answer may take.
const LONG_WAIT: Duration = Duration::from_secs(290);

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
    /// Maximum time that a hook waits, as the policies say.
    wait: Option<Duration>,
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
    fn take(&mut self, notify: views::Notify<'_>) {
        self.desktop |= notify.desktop();
        let hook = notify.webhook();
        let texts =
            [(&mut self.command, notify.command()), (&mut self.webhook, hook.url()), (&mut self.format, hook.format())];
        for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            *field = text.into();
        }
    }
}

impl Asking {
    /// Maximum time that a hook waits. `refuses_late` is whether its agent refuses a call whose hook takes too long.
    pub(crate) fn wait(&self, refuses_late: bool) -> Duration {
        match (refuses_late, self.wait) {
            (true, wait) => wait.unwrap_or(LONG_WAIT),
            (false, wait) => wait.map_or(WAIT, |wait| wait.min(WAIT)),
        }
    }

    /// Maximum time that a hook waits if a person has begun an answer: what the policies say, else as long as the entries
    /// that `init` writes allow with every client.
    pub(crate) fn longest_wait(&self, refuses_late: bool) -> Duration {
        match self.wait {
            Some(wait) if refuses_late => wait,
            wait => wait.map_or(LONG_WAIT, |wait| wait.min(LONG_WAIT)),
        }
    }

    /// Merges the layers. The shortest wait counts, and a project's may not lengthen the usual one. `unattended` is the
    /// administrator's, else the user's, and only layers that may loosen can let a call run.
    pub(crate) fn from_layers(loaded: &[Loaded]) -> Asking {
        let mut asking = Asking { wait: None, unattended: Unattended::default(), notify: Notify::default() };
        let mut decided_by = Authority::Project;
        for one in loaded {
            let policy = one.layer.tables.policy();
            if let Some(seconds) = policy.ask().wait() {
                let written = Duration::from_secs(seconds.into());
                let wait = if one.layer.authority == Authority::Project { written.min(LONG_WAIT) } else { written };
                asking.wait = Some(asking.wait.map_or(wait, |known| known.min(wait)));
            }
            if one.layer.authority == Authority::User && one.layer.loosens.holds() {
                asking.notify.take(policy.notify());
            }
            let unattended = match policy.ask().unattended() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_waits_long_where_a_late_one_is_a_refusal() {
        let of = |wait: Option<u64>| {
            let wait = wait.map(Duration::from_secs);
            Asking { wait, unattended: Unattended::default(), notify: Notify::default() }
        };
        for (wait, late, open) in [(None, 290, 30), (Some(20), 20, 20), (Some(600), 600, 30), (Some(0), 0, 0)] {
            assert_eq!((of(wait).wait(true).as_secs(), of(wait).wait(false).as_secs()), (late, open), "{wait:?}");
            let longest = [true, false].map(|late| of(wait).longest_wait(late).as_secs());
            assert_eq!(longest, [late, wait.map_or(290, |wait| wait.min(290))], "{wait:?}");
        }
    }
}
