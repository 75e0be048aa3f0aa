//! Notifies the user of a waiting call: on the desktop, by a command, by a webhook. It only informs and takes no
//! answer.

use crate::config::asking::Notify;
use crate::store::Store;
use crate::store::approvals::Pending;
use crate::system::clock;
use crate::system::files::make_folder;
use crate::system::http::{Bounds, Request, send};
use crate::system::os::{self, End, Purpose};
use serde_json::json;
use std::fs::TryLockError;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of each channel.
const MAX_TIME: Duration = Duration::from_secs(4);

/// Time limit of all channels together, in seconds.
pub(super) const MAX_SECONDS: u64 = 12;

/// Minimum time between two messages, in milliseconds: a burst of calls is one message.
const QUIET: u64 = 20_000;

/// Maximum length of a call's text in a message, in characters.
const MAX_CHARACTERS: usize = 160;

/// The message about a call.
struct Notice<'c> {
    call: &'c Pending,
    project: String,
    /// One line, without secrets and control characters.
    line: String,
}

/// Notifies the user of a waiting call. Returns whether a message reached them, now or within the last [`QUIET`]
/// milliseconds.
pub(super) fn deliver(store: &Store, notify: &Notify, call: &Pending) -> bool {
    if *notify == Notify::default() || make_folder(store.state()).is_err() {
        return false;
    }
    let Ok(mut last) = os::open(&store.state().join("notified"), Purpose::Head) else { return false };
    match last.try_lock() {
        Ok(()) => {}
        // Another hook is sending its message right now.
        Err(TryLockError::WouldBlock) => return true,
        Err(TryLockError::Error(_)) => return false,
    }
    let mut text = String::new();
    let context = last.read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u64>().ok()).unwrap_or(0);
    let now = clock::now();
    if context <= now && now - context < QUIET {
        return true;
    }
    let reached = Notice::new(call, store.waiting().len()).send(notify);
    if reached {
        let _ = os::write_at(&last, format!("{now:020}").as_bytes(), 0);
    }
    reached
}

impl Notice<'_> {
    fn new(call: &Pending, waiting: usize) -> Notice<'_> {
        let seen = |ch: &char| !ch.is_control();
        let first = call.text.lines().next().unwrap_or("");
        let line: String = first.chars().filter(seen).take(MAX_CHARACTERS).collect();
        let project = call.workspace.rsplit('/').next().unwrap_or("").to_owned();
        let more = if waiting > 1 { format!("{waiting} calls wait; the newest: ") } else { String::new() };
        Notice { call, project, line: format!("{more}{line}") }
    }

    /// The message in one line.
    fn text(&self) -> String {
        format!(
            "{} in {} waits for you: {} (reflex approve {})",
            self.call.client, self.project, self.line, self.call.id
        )
    }

    fn send(&self, notify: &Notify) -> bool {
        let mut reached = false;
        if notify.desktop {
            let command = os::desktop_notice(&format!("Reflex: {} waits", self.call.client), &self.text());
            reached |= command.is_some_and(ran);
        }
        if !notify.command.is_empty() {
            reached |= ran(self.command(&notify.command));
        }
        if !notify.webhook.is_empty() {
            reached |= self.post(&notify.webhook, &notify.format);
        }
        reached
    }

    fn command(&self, line: &str) -> Command {
        let mut command = os::shell(line);
        let call = self.call;
        command.envs([
            ("REFLEX_ID", &call.id),
            ("REFLEX_AGENT", &call.client),
            ("REFLEX_PROJECT", &self.project),
            ("REFLEX_LINE", &self.line),
        ]);
        command
    }

    fn post(&self, url: &str, format: &str) -> bool {
        let is_local = !url.starts_with("https://");
        let bounds = Bounds { within: MAX_TIME, bytes: 64 * 1024, redirects: 0, is_local, is_encrypted: !is_local };
        let (kind, body) = self.body(format);
        let request = Request { method: "POST", url, headers: &[], body: Some((kind, &body)) };
        send(request, bounds).is_ok_and(|answer| (200..300).contains(&answer.status))
    }

    /// The body in the format of a service. The text cannot mention people there.
    fn body(&self, format: &str) -> (&'static str, String) {
        let text = self.text();
        let body = match format {
            "ntfy" => return ("text/plain; charset=utf-8", text),
            "slack" => {
                let plain = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                json!({"text": plain})
            }
            "discord" => json!({"content": text, "allowed_mentions": {"parse": []}}),
            _ => json!({
                "schema": "reflex/notice-v1", "id": self.call.id, "agent": self.call.client, "project": self.project,
                "text": self.line,
            }),
        };
        ("application/json", body.to_string())
    }
}

/// Runs a command and returns whether it succeeded in time. A command that takes longer is killed.
fn ran(mut command: Command) -> bool {
    os::in_new_process_group(&mut command);
    command.current_dir(Path::new("/")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let begun = Instant::now();
    while begun.elapsed() < MAX_TIME {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(10)),
            Err(_) => return false,
        }
    }
    os::end_group(child.id(), End::AtOnce);
    let _ = child.wait();
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_in_the_form_of_the_service() {
        let call = Pending {
            id: "abc2345".into(),
            client: "codex".into(),
            workspace: "/home/me/shop".into(),
            text: "echo <!everyone> \u{1b}[2J\nsecond".into(),
            ..Pending::default()
        };
        let body = |format, waiting| Notice::new(&call, waiting).body(format).1;
        assert_eq!(body("ntfy", 1), "codex in shop waits for you: echo <!everyone> [2J (reflex approve abc2345)");
        assert!(body("slack", 1).contains("&lt;!everyone&gt;"));
        assert!(body("discord", 1).contains("\"parse\":[]"));
        assert!(body("json", 3).contains("\"text\":\"3 calls wait; the newest: echo"));
        assert!(Notice::new(&call, 1).line.chars().count() <= MAX_CHARACTERS);
    }
}
