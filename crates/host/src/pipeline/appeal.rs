//! Appeals: a refused call is judged again with the facts of now, and the request is shown to a person with the result.
//!
//! An appeal only asks: its text is shown to the person and has no influence on the verdict.

use super::host::Host;
use crate::audit::record;
use crate::store::Store;
use crate::store::appeal::{Appeal, MAX_APPEALS};
use crate::store::approvals::Pending;
use crate::store::redact::Redactor;
use crate::store::session::session_key;
use crate::system::clock;
use reflex_agents::universal;
use reflex_engine::shell::Language;
use reflex_engine::{Action, Decision, Event, Judgement, Reason};
use serde_json::{Map, Value, json};
use std::io;

/// Maximum length of a reason, in bytes.
const MAX_REASON: usize = 400;

/// The call as a universal event. `None` if the event does not hold all of the call or contains a secret, because the
/// call judged again must be the one judged before.
pub(crate) fn call(event: &Event, redactor: &Redactor<'_>) -> Option<Map<String, Value>> {
    let [action] = event.actions.as_slice() else { return None };
    let (kind, mut call) = match action {
        Action::Shell { command, language } if *language == Language::Shell => {
            ("pre-command", json!({"command": command}))
        }
        Action::Read { path } => ("pre-read", json!({"files": [path.text]})),
        Action::Write { path, content } => ("pre-write", json!({"files": [path.text], "content": content})),
        Action::Edit { path, content, removed, .. } => {
            ("pre-edit", json!({"files": [path.text], "content": content, "old_string": removed}))
        }
        Action::Delete { path } => ("pre-delete", json!({"files": [path.text]})),
        Action::Fetch { url } => ("pre-fetch", json!({"url": url})),
        Action::Shell { .. }
        | Action::Search { .. }
        | Action::McpCall { .. }
        | Action::Prompt { .. }
        | Action::SpawnAgent { .. }
        | Action::Skill { .. }
        | Action::Input { .. }
        | Action::Other { .. } => return None,
    };
    let call = call.as_object_mut()?;
    let texts = [
        ("event", kind),
        ("engine", &event.client),
        ("session", &event.session),
        ("tool", &event.tool),
        ("cwd", &event.cwd),
        ("workspace", &event.workspace),
        ("home", &event.home),
    ];
    texts.iter().for_each(|(key, text)| drop(call.insert((*key).into(), (*text).into())));
    let names = [Some(&event.client), Some(&event.tool), event.role.as_ref(), event.subagent.as_ref()];
    let names = names.into_iter().chain([event.task.as_ref(), event.mode.as_ref()]).flatten();
    if names.into_iter().any(|name| *redactor.name(name) != **name) {
        return None;
    }
    let further =
        [("agent", &event.role), ("agentId", &event.subagent), ("taskId", &event.task), ("mode", &event.mode)];
    for (key, text) in further {
        text.as_ref().map(|text| call.insert(key.into(), text.as_str().into()));
    }
    let value = Value::Object(std::mem::take(call));
    let text = value.to_string();
    (*redactor.kept(&value).text() == *text).then(|| value.as_object().cloned()).flatten()
}

/// A command in place of a refused one, as a message to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instead {
    /// The message to the agent.
    pub message: String,
    /// The verdict about the command, in words.
    pub verdict: String,
}

impl Host {
    /// Judges a refused call again, with the current facts, rules and session; `None` if the call was not
    /// kept completely.
    pub fn judge_again(&self, pending: &Pending) -> Option<Judgement> {
        let event = self.settled(universal::read(pending.again.as_ref()?).ok()?);
        let loaded = self.layers(&event.workspace);
        let store = self.store();
        let world = self.world(&event, &loaded).in_session(&store, session_key(&event));
        Some(self.judge_in(&event, &world, &loaded))
    }
}

/// The reason why a command cannot run in place of a call.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotInstead {
    /// The call is not a command, or was cut.
    #[error("only a command that was kept whole can be edited")]
    Incomplete,
    /// The facts for a judgement are missing.
    #[error("this cannot be judged again")]
    Unjudged,
    /// The other command would be stopped; the reason.
    #[error("that would be stopped too: {0}")]
    Stopped(String),
}

impl Host {
    /// The text that directs an agent to run another command instead of this call, if that command would run without a
    /// prompt.
    ///
    /// # Errors
    /// The reason why it would not.
    pub fn instead(&self, call: &Pending, command: &str) -> Result<Instead, NotInstead> {
        let mut other = call.clone();
        let Some(again) = &mut other.again else {
            return Err(NotInstead::Incomplete);
        };
        again.insert("command".into(), command.into());
        let judgement = self.judge_again(&other).ok_or(NotInstead::Unjudged)?;
        if judgement.verdict.decision != Decision::Pass {
            let why = judgement.verdict.reasons.first().map(Reason::brief).unwrap_or_default();
            return Err(NotInstead::Stopped(why));
        }
        let warnings: Vec<String> = judgement.verdict.advice.iter().map(|advice| advice.reason.brief()).collect();
        let verdict = if warnings.is_empty() {
            "it runs without a question".into()
        } else {
            format!("it runs, with a warning: {}", warnings.join(" "))
        };
        Ok(Instead { message: format!("run exactly `{command}` instead"), verdict })
    }
}

impl Store {
    /// Keeps an appeal with the call, and in the log under the id of the call's record. `None` if it has too many
    /// already.
    ///
    /// # Errors
    /// The appeal cannot be written.
    pub fn appeal(
        &self,
        mut pending: Pending,
        by: &str,
        because: &str,
        now: Option<&Judgement>,
    ) -> io::Result<Option<Appeal>> {
        if pending.appeals.len() >= MAX_APPEALS {
            return Ok(None);
        }
        let redactor = Redactor::new(self);
        let chain =
            now.map(|now| now.verdict.chain.iter().map(|step| String::from(redactor.clean(step))).collect::<Vec<_>>());
        let appeal = Appeal {
            time: clock::now(),
            by: by.into(),
            because: redactor.cleaned(because.trim(), MAX_REASON).into(),
            now: now.map(|now| record::decision(now.verdict.decision)).unwrap_or_default().into(),
        };
        let fields = json!({
            "pending": pending.id, "of": pending.record, "by": appeal.by, "reason": appeal.because,
            "was": pending.decision, "decision": appeal.now,
            "chain": chain.unwrap_or_default(),
        });
        self.note("appeal", fields)?;
        pending.appeals.push(appeal.clone());
        self.put_pending(&pending)?;
        Ok(Some(appeal))
    }
}
