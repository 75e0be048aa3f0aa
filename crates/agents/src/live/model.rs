//! A client that can be started once with a model of ours: plain data.

use serde_json::Value;

/// A client that can be started once with a model of ours.
pub struct Live {
    /// The agent's name.
    pub agent: &'static str,
    /// Its program, as it stands on the `PATH`.
    pub program: &'static str,
    /// Variables that say where its settings stand: the client is given them, and no others but the usual ones.
    pub variables: &'static [&'static str],
    /// The files that it reads.
    pub sources: &'static [Source],
    /// What the texts of these files mean for such a start.
    pub standing: fn(texts: &[Text]) -> Standing,
    /// How it is started.
    pub launch: fn(stage: &Stage<'_>) -> Launch,
    /// Its tool that runs a command.
    pub tool: &'static str,
    /// The arguments of that tool.
    pub input: fn(command: &str) -> Value,
    /// What it leaves behind of such a start; empty if nothing.
    pub leaves: &'static str,
}

/// A file that a client reads; a name that begins with `*` is every file with that ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Below the home folder, or in the folder that a variable names.
    User {
        /// The variable that names another folder.
        variable: Option<&'static str>,
        /// The folder without it.
        folder: &'static str,
        /// The file in that folder.
        name: &'static str,
    },
    /// In the folder where the client is started, or at the top of the project.
    Project(&'static str),
    /// An administrator's, or the file that a variable names.
    System {
        /// The variable that names another file.
        variable: Option<&'static str>,
        /// The file without it.
        file: &'static str,
    },
}

/// A file that is there.
#[derive(Debug, Clone)]
pub struct Text {
    /// Which of the client's files it is.
    pub source: Source,
    /// Its path.
    pub file: String,
    /// What it holds.
    pub text: String,
}

/// What a client's settings mean for a start with a model of ours.
#[derive(Debug, Default)]
pub struct Standing {
    /// What names another model, key or login, so that the client is not started.
    pub against: Vec<Against>,
    /// What would run beside it and cannot be switched off by a flag.
    pub beside: Vec<String>,
}

/// A setting that names another model, key or login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Against {
    /// The file.
    pub file: String,
    /// The key in it.
    pub key: String,
}

/// What a client is given for such a start.
pub struct Stage<'a> {
    /// The address of the model.
    pub model: &'a str,
    /// What the model will ask for.
    pub command: &'a str,
    /// A folder for files of this start.
    pub folder: &'a str,
    /// The client's files.
    pub texts: &'a [Text],
}

/// How a client is started.
#[derive(Debug, Default)]
pub struct Launch {
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables, beside those that say where settings stand.
    pub variables: Vec<(String, String)>,
    /// Files in the folder of this start: name and text.
    pub files: Vec<(String, String)>,
}

/// What the client is asked; the model does what it does whatever stands here.
pub(super) const PROMPT: &str = "Reflex proves that it stands before your tools. The model behind this is a script.";

/// A key that opens nothing.
pub(super) const NO_KEY: &str = "none";

impl Launch {
    pub(super) fn set(&mut self, variables: &[(&str, &str)]) {
        self.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    }

    pub(super) fn argue<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        self.arguments.extend(words.into_iter().map(str::to_owned));
    }
}
