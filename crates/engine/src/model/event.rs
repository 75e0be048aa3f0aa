//! The agent-independent description of an action that an agent is about to take or has taken.

use crate::model::vouched::Vouched;
use reflex_shell::Language;
use reflex_shell::patch::Part;

/// A call of one agent at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The agent's id of the session; empty if it has none.
    pub session: String,
    /// The coding agent: `claude`, `codex`, …
    pub client: String,
    /// The coding agent's version, if reported.
    pub version: Option<String>,
    /// The agent's name for the event; empty if it has none.
    pub word: String,
    /// The role of the (sub)agent, if it has one.
    pub role: Option<String>,
    /// The agent's id of this subagent, to distinguish parallel subagents of the same role.
    pub subagent: Option<String>,
    /// The task that the call names.
    pub task: Option<String>,
    /// The purpose that the call claims. The claim may come from an agent, so it can only tighten the judgement.
    pub claimed: Purpose,
    /// The task declared by a person.
    pub declared: Option<Task>,
    /// The agent's permission mode, as the agent names it.
    pub mode: Option<String>,
    /// Working directory of the call, absolute.
    pub cwd: String,
    /// Root of the project, absolute.
    pub workspace: String,
    /// Home folder of the user, absolute.
    pub home: String,
    /// The moment in the agent's work.
    pub moment: Moment,
    /// The tool's name, as the agent names it; empty without a tool.
    pub tool: String,
    /// The actions of the call; several for a patch or a batch.
    pub actions: Vec<Action>,
    /// The agent's id of this call; empty if it has none. Several hooks for the same call receive the same id.
    pub call: String,
    /// The outcome, after a tool ran.
    pub outcome: Option<Outcome>,
    /// Whether the agent continues because a hook prevented it from stopping.
    pub goes_on: bool,
    /// Whether the actions are done, and their result is judged before it is passed on: a commit, a push. Such actions
    /// can no longer lose data and are not steps of a session.
    pub is_done: bool,
    /// Set if a supervisor reports the start of a program; `None` for an agent's call. Starts are excluded from the
    /// session's history.
    pub started: Option<Started>,
}

/// The start of a program below an agent, as a supervisor sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Started {
    /// The id of its record.
    pub id: String,
    /// The records of the starts that it comes from, the nearest first, and last that of the call which caused them.
    pub causes: Vec<String>,
    /// The process that becomes the program.
    pub process: u64,
    /// The variables that differ from those of the supervisor.
    pub environment: Vec<(String, String)>,
    /// Whether a refusal is read by a person at a terminal rather than by an agent.
    pub is_for_person: bool,
}

/// A task declared by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The name of the task.
    pub id: String,
    /// The folder that its scope is relative to, absolute.
    pub root: String,
    /// The purpose of the task.
    pub purpose: Purpose,
    /// Whether a person vouches for its loosening effects; its scope tightens in any case.
    pub vouched: Vouched,
}

/// The purpose of some work.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purpose {
    /// The intent in a person's words; may be empty.
    pub intent: String,
    /// Patterns of the paths that it changes, relative to the root; empty for all paths.
    pub scope: Vec<String>,
}

/// The moment of an event in an agent's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Moment {
    /// Before a tool runs.
    #[default]
    BeforeTool,
    /// After a tool ran or failed.
    AfterTool,
    /// The agent asks a person for permission.
    PermissionRequest,
    /// A person submits a prompt.
    Prompt,
    /// A session begins.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The agent stops working.
    Stop,
    /// A subagent begins or ends.
    Subagent,
    /// The agent is about to read settings that changed while it runs.
    SettingsChange,
    /// Any other event that an agent reports (compaction, notifications, configuration).
    Other,
}

impl Event {
    /// Whether a refusal is read by a person at a terminal rather than by an agent.
    pub fn is_for_person(&self) -> bool {
        self.started.as_ref().is_some_and(|started| started.is_for_person)
    }

    /// Returns the event of an agent that runs a command in the root of a project; both folders are absolute.
    pub fn shell(command: &str, workspace: &str, home: &str) -> Event {
        Event {
            cwd: workspace.into(),
            workspace: workspace.into(),
            home: home.into(),
            actions: vec![Action::Shell { command: command.into(), language: Language::default() }],
            ..Event::default()
        }
    }

    /// Returns the name of the call's task; a person's declaration takes precedence over the call's own.
    pub fn task_name(&self) -> Option<&str> {
        self.declared.as_ref().map(|task| task.id.as_str()).or(self.task.as_deref())
    }
}

impl Moment {
    /// Whether a refusal can still prevent the call from running.
    pub fn is_before_execution(self) -> bool {
        matches!(self, Moment::BeforeTool | Moment::PermissionRequest | Moment::SettingsChange)
    }
}

/// One action of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a text in a shell.
    Shell {
        /// The text.
        command: String,
        /// The shell language.
        language: Language,
    },
    /// Reads a file or folder.
    Read {
        /// The file or folder.
        path: AgentPath,
    },
    /// Replaces a file's content.
    Write {
        /// The file.
        path: AgentPath,
        /// The new content.
        content: String,
    },
    /// Changes a part of a file.
    Edit {
        /// The file.
        path: AgentPath,
        /// The inserted text.
        content: String,
        /// The replaced text, if the agent reports it; text in both is unchanged.
        removed: String,
        /// The individual edits, if there are several or the agent reports their context.
        parts: Vec<Part>,
    },
    /// Deletes a file.
    Delete {
        /// The file.
        path: AgentPath,
    },
    /// Searches file names or contents.
    Search {
        /// The place to search.
        path: AgentPath,
        /// The tool's arguments as JSON: the query and its options.
        arguments: String,
    },
    /// Fetches a URL.
    Fetch {
        /// The URL.
        url: String,
    },
    /// Calls a tool of an MCP server.
    McpCall {
        /// The server.
        server: String,
        /// Its tool.
        tool: String,
        /// The arguments as JSON.
        arguments: String,
    },
    /// A person's prompt.
    Prompt {
        /// The text.
        text: String,
    },
    /// Starts another agent.
    SpawnAgent {
        /// The prompt of the agent.
        prompt: String,
    },
    /// Uses a skill.
    Skill {
        /// The skill's name.
        name: String,
    },
    /// Types text into a running program.
    Input {
        /// The text.
        text: String,
    },
    /// A tool unknown to Reflex.
    Other {
        /// The arguments as JSON.
        arguments: String,
    },
}

impl Action {
    /// Returns the file or folder that it names.
    pub fn path(&self) -> Option<&AgentPath> {
        let (Action::Read { path }
        | Action::Write { path, .. }
        | Action::Edit { path, .. }
        | Action::Delete { path }
        | Action::Search { path, .. }) = self
        else {
            return None;
        };
        Some(path)
    }

    /// Returns the text that it writes to a file.
    pub fn content(&self) -> Option<&str> {
        let (Action::Write { content, .. } | Action::Edit { content, .. }) = self else { return None };
        Some(content)
    }

    /// Whether it changes nothing and sends nothing but a query.
    pub fn only_looks(&self) -> bool {
        matches!(self, Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Prompt { .. })
    }
}

/// A path as an agent wrote it. Payloads of one system may be judged on another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentPath {
    /// The path as written.
    pub text: String,
    /// The path syntax.
    pub flavour: Flavour,
}

/// A path syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// `/home/me/x`
    #[default]
    Posix,
    /// `C:\Users\me\x`
    Windows,
}

impl AgentPath {
    /// Returns a path with the flavour inferred from its text: a drive prefix (`C:\`, `C:/`) or a leading `\\` means
    /// Windows.
    pub fn new(text: impl Into<String>) -> AgentPath {
        let text = text.into();
        let bytes = text.as_bytes();
        let drive = matches!(bytes, [ch, b':', b'\\' | b'/', ..] if ch.is_ascii_alphabetic());
        let windows = drive || text.starts_with("\\\\");
        let flavour = if windows { Flavour::Windows } else { Flavour::Posix };
        AgentPath { text, flavour }
    }

    /// Returns the path with slashes as separators.
    pub fn with_slashes(&self) -> String {
        match self.flavour {
            Flavour::Posix => self.text.clone(),
            Flavour::Windows => self.text.replace('\\', "/"),
        }
    }
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The output or the returned value.
    pub output: String,
    /// The exit status, if the agent reports it.
    pub exit_code: Option<i64>,
    /// Whether the agent reports a failure.
    pub failed: bool,
}
