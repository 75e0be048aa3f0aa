//! What modules are given and what they give back: any context arrives as it is, any module ends, and none speaks for
//! the one behind it.

use reflex_script::{Call, Chain, Limits, Module, ModuleDecision, javascript};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// A module that gives back what it was shown.
const MIRROR: &str = "export default { onToolCall: (ctx) => ({ action: 'deny', reason: JSON.stringify(ctx) }) }";

/// The first half of the bytes is a context, the second a module.
pub fn bridge(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(2048)];
    let (context, module) = bytes.split_at(bytes.len() / 2);
    let mut left = context.iter();
    let mut fields = Map::from_iter([("event".to_owned(), json!("onToolCall")), ("paths".to_owned(), json!([]))]);
    fields.insert("raw".into(), value(&mut left, 0));
    fields.insert("command".into(), String::from_utf8_lossy(left.as_slice()).into());
    let context = Value::Object(fields);
    let text = String::from_utf8_lossy(module);
    let body = format!("export default {{ onToolCall(ctx) {{ {text} }} }}");
    let plain = javascript("a.ts", &body).map(|plain| plain.into_owned()).unwrap_or_default();
    let modules = [&*text, &body, &plain, MIRROR].iter().map(|source| Module::single("m", source)).collect();
    // Interpreters that are left as they are begin from each other's memory; they cost a little of ours, so not every time.
    let leave = bytes.len().is_multiple_of(8);
    let limits = Limits { ticks: 20, memory: 4 << 20, watchdog: Duration::from_secs(20), leave, ..Limits::default() };
    let outcome = Chain::new(modules, limits).run(Call::tool_call(context.clone()));
    // Only where a hostile module decided, the mirror may not have been asked.
    let Some(mirror) = outcome.reports.iter().find(|report| report.index == 3) else {
        assert!(outcome.by.is_some_and(|by| by < 3), "{outcome:?}");
        return;
    };
    let Some(Ok(ModuleDecision::Deny { reason })) = &mirror.decision else { panic!("{mirror:?} for {context}") };
    assert_eq!(serde_json::from_str::<Value>(reason).unwrap(), context);
}

/// Any value, as the bytes say.
fn value(bytes: &mut std::slice::Iter<'_, u8>, depth: usize) -> Value {
    let Some(kind) = bytes.next() else { return Value::Null };
    let many = usize::from(kind >> 4);
    match kind % 7 {
        0 => Value::Null,
        1 => Value::Bool(kind & 16 == 0),
        2 => json!(i64::from(*kind) - 128),
        3 => json!(f64::from(*kind) + 0.5),
        4 if depth < 20 => (0..many).map(|_| value(bytes, depth + 1)).collect(),
        5 if depth < 20 => Value::Object((0..many).map(|_| (text(bytes, 3), value(bytes, depth + 1))).collect()),
        _ => Value::String(text(bytes, many)),
    }
}

fn text(bytes: &mut std::slice::Iter<'_, u8>, length: usize) -> String {
    let words = ["__proto__", "toJSON", "constructor", "then", "\u{0}", "\u{2028}"];
    match bytes.next() {
        Some(first) if usize::from(*first) < words.len() => words[usize::from(*first)].to_owned(),
        first => {
            String::from_utf8_lossy(&first.into_iter().chain(bytes.take(length)).copied().collect::<Vec<_>>()).into()
        }
    }
}
