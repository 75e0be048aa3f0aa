//! A layer of compiled rules and policies.

use super::files::Place;
use reflex_engine::Layer;
use serde_json::{Value, json};

/// The compiled files of one place, as they count now.
pub struct Loaded {
    /// What the engine is given.
    pub layer: Layer,
    /// Where the files lie.
    pub place: Place,
    /// The digest of all their contents.
    pub digest: String,
    /// Why the layer may only tighten, where it may not loosen.
    pub why_tight: Option<String>,
}

/// Which of the folders are there in which people keep what is theirs: looked up once a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct There {
    /// `.reflex` at the workspace's root.
    pub project: bool,
    /// The user's folder.
    pub user: bool,
}

impl Loaded {
    /// The same layer, to be judged by.
    pub fn again(&self) -> Loaded {
        Loaded {
            layer: self.layer.clone(),
            place: self.place.clone(),
            digest: self.digest.clone(),
            why_tight: self.why_tight.clone(),
        }
    }
}

/// Which files were in force, for the record.
pub(crate) fn record(loaded: &[Loaded]) -> Value {
    let short = |digest: &str| digest.get(..16).unwrap_or("").to_owned();
    loaded
        .iter()
        .map(|one| json!({"layer": one.layer.authority.name(), "digest": short(&one.digest), "loosens": one.layer.loosens.so_far()}))
        .collect()
}
