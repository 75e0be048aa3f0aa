//! A client that can be launched once with a local scripted model: plain data.

use serde_json::Value;

/// A client that can be launched once with a local scripted model.
pub struct Live {
    /// Name of the agent.
    pub agent: &'static str,
    /// Name of its program on the `PATH`.
    pub program: &'static str,
    /// Variables that locate its settings. The client gets these and the usual variables, and no others.
    pub variables: &'static [&'static str],
    /// Settings files that the client reads.
    pub sources: &'static [Source],
    /// Evaluates the texts of these files for such a launch.
    pub standing: fn(texts: &[Text]) -> Standing,
    /// Builds the command line and environment.
    pub launch: fn(stage: &Stage<'_>) -> Launch,
    /// Name of the tool that runs a command.
    pub tool: &'static str,
    /// Builds the arguments of that tool.
    pub input: fn(command: &str) -> Value,
    /// Files that the client leaves on disk after such a launch; empty if none.
    pub leaves: &'static str,
}

/// A file that a client reads. A name that begins with `*` matches every file with that suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A file below the home directory, or in the folder that a variable names.
    User {
        /// The variable that names another folder.
        variable: Option<&'static str>,
        /// The default folder.
        folder: &'static str,
        /// The file in that folder.
        name: &'static str,
    },
    /// A file in the working directory of the client, or at the root of the project.
    Project(&'static str),
    /// An administrator's file, or the file that a variable names.
    System {
        /// The variable that names another file.
        variable: Option<&'static str>,
        /// The default file.
        file: &'static str,
    },
}

/// An existing settings file.
#[derive(Debug, Clone)]
pub struct Text {
    /// The entry of `sources` that it matches.
    pub source: Source,
    /// Its path.
    pub file: String,
    /// Its contents.
    pub text: String,
}

/// The result of checking a client's settings for a launch with a scripted model.
#[derive(Debug, Default)]
pub struct Standing {
    /// Settings that name another model, key or login. The client is not launched if it has any.
    pub against: Vec<Against>,
    /// Hooks, plugins and servers that the launch would run as well, because no flag disables them.
    pub beside: Vec<String>,
}

/// A setting that names another model, key or login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Against {
    /// Path of the file.
    pub file: String,
    /// Key in the file.
    pub key: String,
}

/// Inputs of such a launch.
pub struct Stage<'a> {
    /// URL of the model.
    pub model: &'a str,
    /// Command that the model will call for.
    pub command: &'a str,
    /// Folder for temporary files of this launch.
    pub folder: &'a str,
    /// The client's settings files.
    pub texts: &'a [Text],
}

/// The command line and environment of a launch.
#[derive(Debug, Default)]
pub struct Launch {
    /// Command-line arguments.
    pub arguments: Vec<String>,
    /// Environment variables, in addition to those that locate the settings.
    pub variables: Vec<(String, String)>,
    /// Files to create in the launch folder, as pairs of name and contents.
    pub files: Vec<(String, String)>,
}

/// The prompt for the client. The scripted model ignores it.
pub(super) const PROMPT: &str =
    "Reflex verifies that it checks your tool calls. The model in this session is a script.";

/// A dummy API key.
pub(super) const NO_KEY: &str = "none";

impl Launch {
    pub(super) fn set(&mut self, variables: &[(&str, &str)]) {
        self.variables.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    }

    pub(super) fn argue<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        self.arguments.extend(words.into_iter().map(str::to_owned));
    }
}
