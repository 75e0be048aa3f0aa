//! Which files a program takes orders from without being told: an entry of `library/orders`.

use serde::Deserialize;
use serde_json::{Value, json};

/// Files that programs take orders from without being told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderFiles {
    pub(super) programs: Vec<String>,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    /// Paths from the folder in which the program runs, or from the home; the last part may hold a star.
    files: Vec<String>,
    /// Keys of options that name another folder to look in.
    #[serde(default)]
    folders: Vec<String>,
    /// Whether they are looked for in the folders above too.
    #[serde(default)]
    above: bool,
    /// Whether they are the program itself.
    #[serde(default)]
    runs: bool,
    /// Whether files among its words may hold orders.
    #[serde(default = "yes")]
    words: bool,
    /// Whether it goes by a repository's settings.
    #[serde(default)]
    git: bool,
    /// Environment variables that name such files, several parted by colons.
    #[serde(default)]
    variables: Vec<String>,
    /// How one of these files names others: the word that begins such a line, and the file it stands for.
    #[serde(default)]
    includes: Vec<String>,
    /// Options behind which a module's name stands that `includes` know.
    #[serde(default)]
    modules: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    examples: Vec<Value>,
}

fn yes() -> bool {
    true
}

impl OrderFiles {
    pub(super) fn lower(&self) -> Value {
        json!({"files": self.files, "folders": self.folders, "above": self.above, "runs": self.runs,
            "words": self.words, "git": self.git, "variables": self.variables, "includes": self.includes,
            "modules": self.modules})
    }
}
