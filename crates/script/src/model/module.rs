//! An executable module: its files as JavaScript, its manifest, its options.

use super::manifest::{Capabilities, Manifest};
use reflex_types::{Code, Needs};
use serde_json::Value;

/// One reflex.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// Name in reports.
    pub name: String,
    /// Its files, as pairs of a path below its folder, with slashes, and the text. The text is JavaScript or JSON:
    /// types are already stripped, although the path still ends in `.ts`.
    pub files: Vec<(String, String)>,
    /// Path of the file whose default export is the reflex.
    pub entry: String,
    /// Its manifest, if it has one.
    pub manifest: Option<Manifest>,
    /// `with` of its entry, exposed as `ctx.options`.
    pub options: Value,
    /// The decision if the module fails.
    pub on_error: OnError,
    /// The capabilities of its manifest that a person granted.
    pub granted: Capabilities,
    /// Its bytecode, if available; the texts of its files are then not required.
    pub code: Option<Code>,
    /// Whether it is part of the program. Such modules run one after the other in a shared interpreter.
    pub is_ours: bool,
    /// Whether its bytecode is reported after it has answered, to be cached for the next call.
    pub is_to_keep: bool,
}

/// The decision if a module fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// A question, if the module may stop a call and the call runs or writes something; otherwise a pass.
    #[default]
    Default,
    /// The call does not run.
    Deny,
    /// A person decides.
    Ask,
    /// The module is skipped.
    Skip,
}

impl OnError {
    /// Parses the name in a configuration.
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
    /// Returns a module of one file without a manifest.
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

    /// Returns the features that its files name.
    pub(crate) fn needs(&self) -> Needs {
        let of_text = |needs: Needs, (_, text): &(String, String)| needs.and(Needs::from_source(text));
        self.code.map_or_else(|| self.files.iter().fold(Needs::default(), of_text), |code| code.needs)
    }

    /// Returns whether it sees this field of the context. The fields that describe only the origin of a call are always
    /// visible, as upstream's own manifests omit them; options that the manifest describes are the module's own.
    pub fn sees(&self, field: &str) -> bool {
        let Some(manifest) = &self.manifest else { return true };
        let Some(reads) = &manifest.capabilities.reads else { return true };
        ["event", "agent", "tool", "cwd"].contains(&field)
            || reads.iter().any(|read| read == field)
            || (field == "options" && !manifest.options.is_empty())
    }

    /// Returns whether it may stop a call: it declares such a decision, or declares no decisions.
    pub fn enforces(&self) -> bool {
        let declared = self.manifest.as_ref().map(|manifest| &manifest.capabilities.decisions);
        declared.is_none_or(|words| words.iter().any(|word| word == "deny" || word == "ask"))
    }
}
