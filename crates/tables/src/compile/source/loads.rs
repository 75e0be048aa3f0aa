//! What a run reads next from disk: an entry of `library/loads`.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How the texts of a language name the files that they load, or which files programs read by themselves.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Loads {
    #[serde(default)]
    pub(super) language: String,
    #[serde(default)]
    pub(super) programs: Vec<String>,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    /// Functions that load the file which their first argument names; `import` for statements.
    #[serde(default)]
    functions: Vec<String>,
    /// What stands behind the name in the file's path; a name that has it already stays as it is.
    #[serde(default)]
    endings: Vec<String>,
    /// Folders below the project's root in which files are looked for too.
    #[serde(default)]
    folders: Vec<String>,
    /// Dots part the folders of a name.
    #[serde(default)]
    dots: bool,
    /// A name of a file begins with a dot or a slash; any other is that of a package.
    #[serde(default)]
    relative: bool,
    /// The program reads them only with one of these words, …
    #[serde(default)]
    when: Vec<String>,
    /// … and with none of these.
    #[serde(default)]
    unless: Vec<String>,
    /// Files from the folder in which the program runs; a part of a pattern may hold stars.
    #[serde(default)]
    files: Vec<String>,
    /// They are looked for in the folders above too.
    #[serde(default)]
    above: bool,
    /// They are looked for beside the files and in the folders that are named too.
    #[serde(default)]
    beside: bool,
    /// Files among its words, by how they end.
    #[serde(default)]
    named: Vec<String>,
    /// How such a file is read.
    #[serde(default, rename = "as")]
    form: String,
    /// Only the tasks that are named run.
    #[serde(default)]
    tasks: bool,
    /// What a task of Python is given.
    #[serde(default)]
    given: String,
    /// Where its commands run, if that is not this machine: `remote`, `container`.
    #[serde(default)]
    site: String,
    /// Of a file that is only written all that it does counts, not only what it takes from others and gives to them.
    #[serde(default)]
    whole: bool,
    /// How such a file is read when it is only written, if that is not how it is read for a run; nothing where a class
    /// of files is understood by itself.
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

    /// The files that run or say what runs, for when one of them is written: their paths, and how they are read.
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
        of_programs.then(|| (files, json!({"forms": forms, "site": self.site, "whole": whole})))
    }
}

/// All such files: what is read by a name alone is found by it, the rest by patterns.
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
