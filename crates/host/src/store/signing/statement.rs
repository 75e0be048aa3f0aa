//! The signed content of a file: all fields except those that change with its use.

use crate::system::hex;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde_json::{Map, Value};
use std::path::Path;

/// The kind of a person's statement. It is signed too, so that one kind cannot be replayed as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An approval or refusal of a call.
    Grant,
    /// A pause of the guard.
    Pause,
    /// An approval of files.
    Trust,
    /// A task.
    Task,
    /// A temporary mode.
    Mode,
}

const SIGNATURE: &str = "signature";

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Grant => "grant",
            Kind::Pause => "off",
            Kind::Trust => "trust",
            Kind::Task => "task",
            Kind::Mode => "mode",
        }
    }

    /// The name in a sentence.
    pub(super) fn description(self) -> &'static str {
        match self {
            Kind::Grant => "an approval",
            Kind::Pause => "a pause of the guard",
            Kind::Trust => "an approval of files",
            Kind::Task => "a task",
            Kind::Mode => "a mode",
        }
    }

    /// The fields that change with each use. Resetting them replays an approval, until it expires.
    fn changing(self) -> &'static [&'static str] {
        match self {
            Kind::Grant => &["uses", "used_for", "used"],
            Kind::Pause | Kind::Trust | Kind::Task | Kind::Mode => &[],
        }
    }
}

/// Signs with this key for this state folder.
pub(super) fn sign(key: &SigningKey, kind: Kind, state: &Path, fields: &mut Map<String, Value>) {
    let signature = key.sign(&message(kind, state, fields));
    fields.insert(SIGNATURE.into(), hex::encode(&signature.to_bytes()).into());
}

/// Whether this key has signed all of it for this state folder.
pub(super) fn holds(key: &VerifyingKey, kind: Kind, state: &Path, fields: &Map<String, Value>) -> bool {
    let signature = fields.get(SIGNATURE).and_then(Value::as_str).and_then(hex::decode);
    let signature = signature.and_then(|bytes| Signature::from_slice(&bytes).ok());
    signature.is_some_and(|signature| key.verify_strict(&message(kind, state, fields), &signature).is_ok())
}

/// One line of JSON per field, sorted by name, after lines with the kind and the folder. JSON strings contain no line
/// breaks, so different statements have different texts.
fn message(kind: Kind, state: &Path, fields: &Map<String, Value>) -> Vec<u8> {
    let mut entries: Vec<(&String, &Value)> =
        fields.iter().filter(|(name, _)| *name != SIGNATURE && !kind.changing().contains(&name.as_str())).collect();
    entries.sort_by_key(|(name, _)| *name);
    let mut message = format!("reflex/signed-v1\n{}\n{:?}\n", kind.name(), state.display().to_string());
    for (name, value) in entries {
        message.push_str(&Value::from(name.as_str()).to_string());
        message.push(':');
        message.push_str(&value.to_string());
        message.push('\n');
    }
    message.into_bytes()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;
    use serde_json::json;

    fn fields() -> Map<String, Value> {
        json!({"exact": "ab", "uses": 0, "expires": 5, "list": [1, "x"], "text": "two\nlines"})
            .as_object()
            .unwrap()
            .clone()
    }

    #[test]
    fn every_change_of_what_was_signed_is_seen() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let (public, state) = (key.verifying_key(), Path::new("/s"));
        let mut signed = fields();
        sign(&key, Kind::Grant, state, &mut signed);
        let holds = |fields: &Map<String, Value>| super::holds(&public, Kind::Grant, state, fields);
        assert!(holds(&signed));
        // The order of fields and the fields that change with use do not matter.
        let turned: Map<String, Value> = signed.clone().into_iter().rev().collect();
        assert!(holds(&turned));
        let mut used = signed.clone();
        used.insert("uses".into(), 3.into());
        assert!(holds(&used));
        for name in ["exact", "expires", "list", "text"] {
            let (mut changed, mut removed) = (signed.clone(), signed.clone());
            changed.insert(name.into(), 6.into());
            removed.remove(name);
            assert!(!holds(&changed) && !holds(&removed), "{name}");
        }
        let mut more = signed.clone();
        more.insert("scope".into(), "session".into());
        assert!(!holds(&more) && !holds(&fields()));
        assert!(!super::holds(&public, Kind::Trust, state, &signed));
        assert!(!super::holds(&public, Kind::Grant, Path::new("/other"), &signed));
        let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
        assert!(!super::holds(&other, Kind::Grant, state, &signed));
    }
}
