//! A layer of compiled rules and policies.

use super::files::Place;
use reflex_engine::Layer;
use serde_json::{Value, json};

/// The compiled files of one place, as they count now.
pub struct Loaded {
    /// The layer as the engine takes it.
    pub layer: Layer,
    /// The place of the files.
    pub place: Place,
    /// The digest of all their contents.
    pub digest: String,
    /// The reason why the layer may only tighten; `None` if it may loosen.
    pub why_tight: Option<String>,
}

/// Which of the folders for rules and policies exist, looked up once per call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresentFolders {
    /// `.reflex` at the workspace's root.
    pub project: bool,
    /// The user's folder.
    pub user: bool,
}

impl Loaded {
    /// A copy of this layer.
    pub fn again(&self) -> Loaded {
        Loaded {
            layer: self.layer.clone(),
            place: self.place.clone(),
            digest: self.digest.clone(),
            why_tight: self.why_tight.clone(),
        }
    }
}

/// The layers in force, for the record.
pub(crate) fn record(loaded: &[Loaded]) -> Value {
    let short = |digest: &str| digest.get(..16).unwrap_or("").to_owned();
    loaded
        .iter()
        .map(|one| json!({"layer": one.layer.authority.name(), "digest": short(&one.digest), "loosens": one.layer.loosens.so_far()}))
        .collect()
}
