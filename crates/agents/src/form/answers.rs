//! Answers in the form of Claude Code's hooks.

use crate::model::reply::Reply;
use reflex_engine::{Event, Moment};
use serde_json::{Value, json};

/// One JSON object and nothing else on standard output.
pub(crate) fn print(output: &Value) -> Reply {
    Reply { stdout: format!("{output}\n"), ..Reply::default() }
}

/// The refusal of a tool call in native JSON, with the reason on standard error and exit status 2 beside it, so that it
/// holds even where a client honours only one of them. An empty reason is taken for none, so there always is one.
pub(crate) fn refused_with(output: &Value, reason: &str) -> Reply {
    Reply { stderr: format!("{reason}\n"), code: 2, ..print(output) }
}

/// The answer before a tool: a decision with its reason.
pub(crate) fn decided(decision: &str, reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        },
    })
}

/// Words without a decision, for the model. The person reads them too where they are about what is to come: a call, a
/// prompt, a session.
pub(crate) fn advised(event: &Event, reason: &str) -> Reply {
    let word = if event.moment == Moment::BeforeTool { "PreToolUse" } else { event.word.as_str() };
    let said = json!({"hookEventName": word, "additionalContext": reason});
    if matches!(event.moment, Moment::BeforeTool | Moment::Prompt | Moment::SessionStart) {
        return print(&json!({"systemMessage": reason, "hookSpecificOutput": said}));
    }
    print(&json!({"hookSpecificOutput": said}))
}

/// Another call in place of this one, with words about it for the person and the model. There is no decision in it: the
/// client asks its own permissions about the new call.
pub(crate) fn replaced(arguments: &Value, reason: &str) -> Value {
    json!({
        "systemMessage": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "updatedInput": arguments, "additionalContext": reason,
        },
    })
}

/// A refusal after which the turn ends.
pub(crate) fn ended(reason: &str) -> Value {
    let mut answer = decided("deny", reason);
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("continue".into(), false.into());
        answer.insert("stopReason".into(), reason.into());
    }
    answer
}

/// Words for the person, where the agent can be told nothing: it has stopped.
pub(crate) fn noted(reason: &str) -> Reply {
    print(&json!({"systemMessage": reason}))
}

/// Keeps an agent at work that would stop. Only a judgement does: who cannot judge lets it stop.
pub(crate) fn kept_at_work(reason: &str) -> Reply {
    print(&json!({"decision": "block", "reason": reason}))
}

/// The refusal at each moment at which one is honoured.
pub(crate) fn refuse(_word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => refused_with(&decided("deny", reason), reason),
        Moment::PermissionRequest => print(&json!({
            "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "message": reason},
            },
        })),
        Moment::Prompt => print(&json!({"decision": "block", "reason": reason})),
        Moment::AfterTool
        | Moment::SessionStart
        | Moment::SessionEnd
        | Moment::Stop
        | Moment::Subagent
        | Moment::Other => Reply::default(),
    }
}
