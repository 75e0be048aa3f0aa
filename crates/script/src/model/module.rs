//! A module as it is run: its files as JavaScript, its manifest, its options.

use super::manifest::{Capabilities, Manifest};
use reflex_types::{Code, Needs};
use serde_json::Value;

/// One reflex.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// How it is reported.
    pub name: String,
    /// Its files: the path below its folder, with slashes, and the text. JavaScript or JSON; types are stripped already,
    /// and the path still says `.ts`.
    pub files: Vec<(String, String)>,
    /// The path of the file whose default export is the reflex.
    pub entry: String,
    /// Its manifest, if it has one.
    pub manifest: Option<Manifest>,
    /// `with` of its entry: `ctx.options`.
    pub options: Value,
    /// What holds if it fails.
    pub on_error: OnError,
    /// What a person granted of what its manifest asks for.
    pub granted: Capabilities,
    /// Its code, if that is there already; then the texts of its files are not needed.
    pub code: Option<Code>,
    /// Whether it is part of the program: such modules share an interpreter, one after the other.
    pub is_ours: bool,
    /// Whether its code should be reported once it has answered, for the next call.
    pub is_to_keep: bool,
}

/// What holds if a module fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// A question for a module that may stop a call, before what runs or writes; else nothing.
    #[default]
    Default,
    /// The call does not run.
    Deny,
    /// A person decides.
    Ask,
    /// Nothing.
    Skip,
}

impl OnError {
    /// The outcome of this word.
    pub fn named(word: &str) -> Option<OnError> {
        match word {
            "deny" | "block" => Some(OnError::Deny),
            "ask" => Some(OnError::Ask),
            "skip" => Some(OnError::Skip),
            _ => None,
        }
    }
}

impl Module {
    /// A module of one file without a manifest.
    pub fn single(name: &str, source: &str) -> Module {
        Module {
            name: name.into(),
            files: vec![("index.js".into(), source.into())],
            entry: "index.js".into(),
            manifest: None,
            options: Value::Null,
            on_error: OnError::Default,
            granted: Capabilities::default(),
            code: None,
            is_ours: false,
            is_to_keep: false,
        }
    }

    /// What it names in any of its files.
    pub(crate) fn needs(&self) -> Needs {
        let of_text = |needs: Needs, (_, text): &(String, String)| needs.and(Needs::from_source(text));
        self.code.map_or_else(|| self.files.iter().fold(Needs::default(), of_text), |code| code.needs)
    }

    /// Whether it is shown this field of the context. Where the call happens says nothing about it, and upstream's own
    /// manifests leave it out; options that the manifest describes are the module's own.
    pub fn sees(&self, field: &str) -> bool {
        let Some(manifest) = &self.manifest else { return true };
        let Some(reads) = &manifest.capabilities.reads else { return true };
        ["event", "agent", "tool", "cwd"].contains(&field)
            || reads.iter().any(|read| read == field)
            || (field == "options" && !manifest.options.is_empty())
    }

    /// Whether it may stop a call: it says so, or does not say what it does.
    pub fn enforces(&self) -> bool {
        let declared = self.manifest.as_ref().map(|manifest| &manifest.capabilities.decisions);
        declared.is_none_or(|words| words.iter().any(|word| word == "deny" || word == "ask"))
    }
}
