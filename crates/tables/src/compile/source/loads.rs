//! Files that a program or script loads from disk when it runs: an entry of `library/loads`.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The syntax by which a language names the files that it loads, or the files that programs read on their own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Loads {
    #[serde(default)]
    pub(super) language: String,
    #[serde(default)]
    pub(super) programs: Vec<String>,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    /// Functions that load the file named by their first argument; `import` for statements.
    #[serde(default)]
    functions: Vec<String>,
    /// Suffixes appended to the name to get the file's path; a name that already has one is left unchanged.
    #[serde(default)]
    endings: Vec<String>,
    /// Folders below the project's root that are searched too.
    #[serde(default)]
    folders: Vec<String>,
    /// Whether dots separate the folders of a name.
    #[serde(default)]
    dots: bool,
    /// Whether the name of a file must begin with a dot or a slash; any other name is that of a package.
    #[serde(default)]
    relative: bool,
    /// Words of which one must be present for the program to read the files, …
    #[serde(default)]
    when: Vec<String>,
    /// … and words of which none may be present.
    #[serde(default)]
    unless: Vec<String>,
    /// Files, relative to the program's working directory; a part of a pattern may contain stars.
    #[serde(default)]
    files: Vec<String>,
    /// Whether the folders above are searched too.
    #[serde(default)]
    above: bool,
    /// Whether the folders of named files and named folders are searched too.
    #[serde(default)]
    beside: bool,
    /// Suffixes of files among the program's words.
    #[serde(default)]
    named: Vec<String>,
    /// Format in which such a file is read.
    #[serde(default, rename = "as")]
    form: String,
    /// Whether only the tasks among the command's operands run, not the entire file.
    #[serde(default)]
    tasks: bool,
    /// Python expression for the argument that a task is called with.
    #[serde(default)]
    given: String,
    /// Site where its commands run, if not on this machine: `remote`, `container`.
    #[serde(default)]
    site: String,
    /// Whether every effect of a file that is only written counts, not only its transfers from and to others.
    #[serde(default)]
    whole: bool,
    /// Whether a client or tool runs such a file by itself, without a call that would be judged: every effect counts, as
    /// in a call.
    #[serde(default)]
    unasked: bool,
    /// Format in which such a file is read when it is only written, if it differs from the format for a run; empty for
    /// a class of files that is recognized on its own.
    written: Option<Vec<String>>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    examples: Vec<Value>,
}

impl Loads {
    pub(super) fn lower(&self) -> Value {
        json!({"functions": self.functions, "endings": self.endings, "folders": self.folders, "dots": self.dots,
            "relative": self.relative, "when": self.when, "unless": self.unless, "files": self.files,
            "above": self.above, "beside": self.beside, "named": self.named, "form": self.form,
            "tasks": self.tasks, "given": self.given})
    }

    /// The files that run or determine what runs, checked when one of them is written: their paths and formats.
    pub(super) fn files(&self) -> Option<(Vec<String>, Value)> {
        let forms = self.written.clone().unwrap_or_else(|| vec![self.form.clone()]);
        let of_programs = self.language.is_empty() && !forms.is_empty() && !self.files.is_empty();
        let each = |file: &String| -> Vec<String> {
            if !file.contains("{program}") {
                return vec![file.clone()];
            }
            self.programs.iter().map(|program| file.replace("{program}", program)).collect()
        };
        let files: Vec<String> = self.files.iter().flat_map(each).collect();
        let whole = if self.whole { json!(true) } else { Value::Null };
        let unasked = if self.unasked { json!(true) } else { Value::Null };
        of_programs.then(|| (files, json!({"forms": forms, "site": self.site, "whole": whole, "unasked": unasked})))
    }
}

/// Index of all such files: an exact file name is looked up, every other pattern is matched.
pub(super) fn index(all: Vec<(Vec<String>, Value)>) -> Value {
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut patterns, mut entries) = (Vec::new(), Vec::new());
    for (at, (files, entry)) in all.into_iter().enumerate() {
        for file in files {
            if file.contains(['/', '*']) {
                patterns.push(json!({"path": file, "entry": at}));
            } else {
                names.entry(file).or_default().push(at);
            }
        }
        entries.push(entry);
    }
    json!({"names": names, "patterns": patterns, "entries": entries})
}
