//! The verdict of `reflex eval`.

use crate::error::{Code, Error};
use reflex_eval::Judge;
use serde_json::Value;

/// Returns the verdict on a universal event, as JSON. `home` is the home folder of an event that names none. An event
/// that cannot be read is denied, with `error` in the verdict.
///
/// ```
/// let verdict = reflex_bindings::judge(r#"{"event": "pre-command", "command": "rm -rf ~"}"#, "balanced", "/home/user");
/// assert!(verdict.unwrap().contains(r#""decision":"block""#));
/// ```
///
/// # Errors
/// `mode` is unknown.
pub fn judge(event: &str, mode: &str, home: &str) -> Result<String, Error> {
    let Some(judge) = Judge::new(mode, home) else {
        return Err(Error::new(Code::InvalidArgument, format!("unknown mode `{mode}`")));
    };
    Ok(Value::Object(judge.line(event.as_bytes())).to_string())
}
