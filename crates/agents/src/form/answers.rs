//! Answers in the format of Claude Code's hooks.

use crate::model::reply::Reply;
use reflex_engine::{Event, Moment};
use serde_json::{Value, json};

/// Prints one JSON object and nothing else on standard output.
pub(crate) fn print(output: &Value) -> Reply {
    Reply { stdout: format!("{output}\n"), ..Reply::default() }
}

/// Refuses a tool call in native JSON, and also with the reason on standard error and exit status 2, so that a client
/// that honors only one of them refuses too. The reason must not be empty, as clients ignore an empty one.
pub(crate) fn refused_with(output: &Value, reason: &str) -> Reply {
    Reply { stderr: format!("{reason}\n"), code: 2, ..print(output) }
}

/// Returns the answer before a tool: a decision with its reason.
pub(crate) fn decided(decision: &str, reason: &str) -> Value {
    decided_for("PreToolUse", decision, reason)
}

/// Returns the same for another event that precedes a command. The client ignores an answer that names another event.
fn decided_for(event: &str, decision: &str, reason: &str) -> Value {
    json!({
        "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        },
    })
}

/// Returns text without a decision, for the model. The person also reads it if it concerns an upcoming call, prompt or
/// session.
pub(crate) fn advised(event: &Event, reason: &str) -> Reply {
    let word = if event.moment == Moment::BeforeTool { "PreToolUse" } else { event.word.as_str() };
    let output = json!({"hookEventName": word, "additionalContext": reason});
    if matches!(event.moment, Moment::BeforeTool | Moment::Prompt | Moment::SessionStart) {
        return print(&json!({"systemMessage": reason, "hookSpecificOutput": output}));
    }
    print(&json!({"hookSpecificOutput": output}))
}

/// Returns the replacement of a call, with a text for the person and the model. It contains no decision: the client
/// applies its own permissions to the new call.
pub(crate) fn replaced(arguments: &Value, reason: &str) -> Value {
    json!({
        "systemMessage": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "updatedInput": arguments, "additionalContext": reason,
        },
    })
}

/// Returns a refusal that ends the turn.
pub(crate) fn ended(reason: &str) -> Value {
    let mut answer = decided("deny", reason);
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("continue".into(), false.into());
        answer.insert("stopReason".into(), reason.into());
    }
    answer
}

/// Returns text for the person, where the agent itself reads nothing because it has stopped.
pub(crate) fn noted(reason: &str) -> Reply {
    print(&json!({"systemMessage": reason}))
}

/// Keeps a stopping agent at work. Only a verdict does; without one the agent may stop.
pub(crate) fn kept_at_work(reason: &str) -> Reply {
    print(&json!({"decision": "block", "reason": reason}))
}

/// Returns the refusal for each moment that honors one.
pub(crate) fn refuse(word: &str, moment: Moment, reason: &str) -> Reply {
    match moment {
        Moment::BeforeTool => {
            let event = if word == "PreSkillShellCommand" { word } else { "PreToolUse" };
            refused_with(&decided_for(event, "deny", reason), reason)
        }
        // With this status the client keeps its old settings.
        Moment::SettingsChange => Reply { stderr: format!("{reason}\n"), code: 2, ..Reply::default() },
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
