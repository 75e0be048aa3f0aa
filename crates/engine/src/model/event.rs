//! What an agent is about to do, or has done, in words that belong to no agent.

use crate::model::vouched::Vouched;
use reflex_shell::Language;
use reflex_shell::patch::Part;

/// A call of one agent at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The agent's own name for the session; empty if it has none.
    pub session: String,
    /// The coding agent: `claude`, `codex`, …
    pub client: String,
    /// The coding agent's version, if it tells it.
    pub version: Option<String>,
    /// The agent's own word for the event; empty if it has none.
    pub word: String,
    /// The role of the (sub)agent, if it has one.
    pub role: Option<String>,
    /// The agent's own name for this one subagent, where several of one role work beside each other.
    pub subagent: Option<String>,
    /// The task as the call itself names it.
    pub task: Option<String>,
    /// What the call itself says that it is for. Whoever says it may be an agent, so it only tightens.
    pub claimed: Purpose,
    /// The task that a person declared.
    pub declared: Option<Task>,
    /// The agent's permission mode, in its own word.
    pub mode: Option<String>,
    /// The folder in which the call happens, absolute.
    pub cwd: String,
    /// The root of the project, absolute.
    pub workspace: String,
    /// The user's home folder, absolute.
    pub home: String,
    /// When in the agent's work this is.
    pub moment: Moment,
    /// The tool in the agent's own word; empty where there is none.
    pub tool: String,
    /// What the call does; several for a patch or a batch.
    pub actions: Vec<Action>,
    /// The agent's own name for this one call; empty if it has none. Several hooks that are asked about one call are told
    /// the same.
    pub call: String,
    /// How it ended, after a tool.
    pub outcome: Option<Outcome>,
    /// Whether the agent is at work because a hook kept it from stopping.
    pub goes_on: bool,
    /// Whether its actions are done already, and what they leave is judged before others get it: a commit, a push. Nothing
    /// is lost by them any more, and they are no steps of a session.
    pub is_done: bool,
}

/// A task as a person has declared it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// The folder from which its scope is meant, absolute.
    pub root: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether a person stands behind what it loosens; its scope tightens in any case.
    pub vouched: Vouched,
}

/// What some work is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purpose {
    /// In a person's words; empty if nothing is said.
    pub intent: String,
    /// Patterns of the paths that it changes, from the root on; none stands for all.
    pub scope: Vec<String>,
}

/// When in an agent's work an event happens.
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
    /// Anything else an agent reports (compaction, notifications, configuration).
    Other,
}

impl Event {
    /// A command that an agent would run in the root of a project; both folders are absolute.
    pub fn shell(command: &str, workspace: &str, home: &str) -> Event {
        Event {
            cwd: workspace.into(),
            workspace: workspace.into(),
            home: home.into(),
            actions: vec![Action::Shell { command: command.into(), language: Language::default() }],
            ..Event::default()
        }
    }

    /// The name of the task to which the call belongs: a person's word counts more than the call's own.
    pub fn task_name(&self) -> Option<&str> {
        self.declared.as_ref().map(|task| task.id.as_str()).or(self.task.as_deref())
    }
}

impl Moment {
    /// Whether a refusal can still keep the call from running.
    pub fn is_before_execution(self) -> bool {
        matches!(self, Moment::BeforeTool | Moment::PermissionRequest)
    }
}

/// One thing that a tool call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a text in a shell.
    Shell {
        /// The text.
        command: String,
        /// In what it is written.
        language: Language,
    },
    /// Reads a file or folder.
    Read {
        /// What is read.
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
        /// The text that comes in.
        content: String,
        /// The text that goes out for it, where the agent tells it: what stands in both is no change.
        gone: String,
        /// Its single changes, where there are several or the agent tells what stands around them.
        parts: Vec<Part>,
    },
    /// Deletes a file.
    Delete {
        /// The file.
        path: AgentPath,
    },
    /// Searches file names or contents.
    Search {
        /// Where.
        path: AgentPath,
        /// What for and how, as the tool is told: its arguments as JSON.
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
        /// Its task.
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
    /// A tool that Reflex does not know.
    Other {
        /// The arguments as JSON.
        arguments: String,
    },
}

impl Action {
    /// The file or folder that it names.
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

    /// The text that it puts into a file.
    pub fn content(&self) -> Option<&str> {
        let (Action::Write { content, .. } | Action::Edit { content, .. }) = self else { return None };
        Some(content)
    }

    /// Whether it changes nothing and sends nothing but a question.
    pub fn only_looks(&self) -> bool {
        matches!(self, Action::Read { .. } | Action::Search { .. } | Action::Fetch { .. } | Action::Prompt { .. })
    }
}

/// A path as an agent wrote it. Payloads of one system may be judged on another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentPath {
    /// The text.
    pub text: String,
    /// How its parts are divided.
    pub flavour: Flavour,
}

/// How a path is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// `/home/me/x`
    #[default]
    Posix,
    /// `C:\Users\me\x`
    Windows,
}

impl AgentPath {
    /// A path whose flavour is told from its text: a drive letter or a backslash without a slash is Windows.
    pub fn new(text: impl Into<String>) -> AgentPath {
        let text = text.into();
        let bytes = text.as_bytes();
        let drive = matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
        let windows = drive || text.starts_with("\\\\");
        let flavour = if windows { Flavour::Windows } else { Flavour::Posix };
        AgentPath { text, flavour }
    }

    /// The path with slashes.
    pub fn with_slashes(&self) -> String {
        match self.flavour {
            Flavour::Posix => self.text.clone(),
            Flavour::Windows => self.text.replace('\\', "/"),
        }
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// What it printed or returned.
    pub output: String,
    /// Its exit status, if the agent tells it.
    pub exit_code: Option<i64>,
    /// Whether the agent reports it as failed.
    pub failed: bool,
}
