//! Files that a program reads commands from by default: an entry of `library/inputs`.

use serde::Deserialize;
use serde_json::{Value, json};

/// Files that programs read commands from by default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputFiles {
    pub(super) programs: Vec<String>,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    /// Paths relative to the working directory of the program or to the home folder; the last part may contain a star.
    files: Vec<String>,
    /// Keys of options that name another folder to search.
    #[serde(default)]
    folders: Vec<String>,
    /// Whether the folders above are searched too.
    #[serde(default)]
    above: bool,
    /// Whether the files are the program itself.
    #[serde(default)]
    runs: bool,
    /// Whether files among the program's words may contain commands.
    #[serde(default = "default_true")]
    words: bool,
    /// Whether the program follows a repository's git settings.
    #[serde(default)]
    git: bool,
    /// Environment variables that name such files, separated by colons.
    #[serde(default)]
    variables: Vec<String>,
    /// Syntax by which such a file includes others: the word that begins the line, and the file that it refers to.
    #[serde(default)]
    includes: Vec<String>,
    /// Options whose value is the name of a module known to `includes`.
    #[serde(default)]
    modules: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    examples: Vec<Value>,
}

fn default_true() -> bool {
    true
}

impl InputFiles {
    pub(super) fn lower(&self) -> Value {
        json!({"files": self.files, "folders": self.folders, "above": self.above, "runs": self.runs,
            "words": self.words, "git": self.git, "variables": self.variables, "includes": self.includes,
            "modules": self.modules})
    }
}
