//! The list of waiting calls, as sent to the page.

use reflex_host::answers::{counts, covers, obstacle, once, scoped, usual_length, usual_length_in_words, waiting};
use reflex_host::is_hidden;
use reflex_host::person::Person;
use reflex_host::store::Store;
use reflex_host::store::approvals::{Pending, Scope};
use serde_json::{Value, json};

/// Maximum number of listed calls. The rest appears once some of these are answered.
const MAX_LISTED: usize = 500;

/// The waiting calls, newest first, each with the effect of an approval.
pub(crate) fn listed(store: &Store, person: &Person) -> Value {
    let all = waiting(store);
    let rows: Vec<Value> = all.iter().take(MAX_LISTED).map(|call| row(call, person)).collect();
    let (waits, _) = counts(&all);
    json!({
        "schema": "reflex/waiting-v1", "now": reflex_host::now(), "waiting_now": waits, "count": all.len(),
        "calls": rows,
    })
}

fn row(call: &Pending, person: &Person) -> Value {
    let shown = |texts: &[String]| texts.iter().map(|text| visible(text)).collect::<Vec<_>>();
    let bound: Vec<String> = call.bound.iter().map(|bound| visible(&bound.shown)).collect();
    let appeals: Vec<Value> = call
        .appeals
        .iter()
        .map(|appeal| json!({"by": visible(&appeal.by), "because": visible(&appeal.because), "time": appeal.time}))
        .collect();
    let command = call.again.as_ref().and_then(|again| again.get("command")).and_then(Value::as_str);
    json!({
        "id": call.id, "exact": call.exact, "record": call.record, "time": call.time, "until": call.until,
        "decision": call.decision, "core": call.core, "agent": visible(&call.client), "session": visible(&call.session),
        "task": visible(&call.task), "workspace": visible(&call.workspace), "cwd": visible(&call.cwd),
        "tool": visible(&call.tool), "risk": call.risk, "kept": call.kept, "keeping": call.keeping(), "diff": visible(&call.diff),
        "waits": call.waits(), "text": visible(&call.text), "guilty": shown(&call.guilty), "parts": shown(&call.parts),
        "effects": shown(&call.effects), "bound": bound, "reasons": shown(&call.reasons), "findings": call.findings,
        "appeals": appeals, "command": command, "obstacle": obstacle(call).map(|why| visible(&why)),
        "scopes": Scope::ALL.iter().map(|(scope, name)| choice(call, person, *scope, name)).collect::<Vec<_>>(),
    })
}

/// Describes what an approval of this scope would let run, or why it is not possible.
fn choice(call: &Pending, person: &Person, scope: Scope, name: &str) -> Value {
    // An approval requires a reason, which is not known yet; a placeholder lets the other requirements be checked.
    let approval = scoped(once(call, person, "…"), call, scope, usual_length(scope));
    let (grant, problem) = match approval {
        Ok(grant) => (Some(visible(&covers(&grant))), None),
        Err(problem) => (None, Some(visible(&problem.to_string()))),
    };
    json!({"scope": name, "usual": usual_length_in_words(scope), "grant": grant, "problem": problem})
}

/// Replaces invisible characters by their code points, so that the text shows what would run. Line breaks are kept.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '\n' | '\t' => shown.push(ch),
            hidden if hidden < ' ' || hidden == '\u{7f}' || is_hidden(hidden) => {
                shown.push_str(&format!("<U+{:04X}>", hidden as u32));
            }
            plain => shown.push(plain),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_hides_or_turns_text_is_named() {
        assert_eq!(visible("rm \u{202e}x\u{200b}\u{1b}[2J\r\n\tend"), "rm <U+202E>x<U+200B><U+001B>[2J<U+000D>\n\tend");
    }
}
