//! Detects whether a person sits at a terminal, or an agent runs this process.

use super::os;
use reflex_engine::WordList;
use std::io::IsTerminal;

/// A person who may approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The user id and the terminal.
    pub name: String,
}

/// The evidence that no person sits here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPerson {
    /// The process has no terminal.
    #[error("no terminal is available, so no person can be asked")]
    NoTerminal,
    /// The process reads something else.
    #[error("standard input is not a terminal, so no person can be asked")]
    OtherInput,
    /// The system does not tell who the user is.
    #[error("it is not known who sits here")]
    UnknownUser,
    /// A variable of an agent is set.
    #[error("an agent started this (`{0}` is set)")]
    Variable(&'static str),
    /// An agent is among the ancestors of this process.
    #[error("an agent started this ({0} is among the processes above it)")]
    Agent(&'static str),
    /// A variable of an agent is set in an ancestor of this process.
    #[error("an agent started this (`{0}` is set in a process above it)")]
    VariableAbove(&'static str),
    /// The system does not show the ancestors.
    #[error("on {} the programs that started this one cannot be seen yet", std::env::consts::OS)]
    UnseenAncestors,
}

/// Variables that agents set for their child processes. They are a class of the library, which also judges commands
/// that unset them.
fn variables() -> impl Iterator<Item = &'static str> {
    let places = reflex_library::tables().library().places().get("agent-variable").iter();
    places.flat_map(|place| place.paths().iter())
}

/// Maximum number of ancestors that are examined.
const MAX_ANCESTORS: usize = 64;

/// Returns the person at the terminal.
///
/// # Errors
/// The evidence that this is not a person: no terminal, or an agent among the ancestors of this process.
pub fn at_terminal() -> Result<Person, NoPerson> {
    let terminal = os::terminal().map_err(|_| NoPerson::NoTerminal)?;
    if !terminal.is_terminal() || !std::io::stdin().is_terminal() {
        return Err(NoPerson::OtherInput);
    }
    no_agent_above()?;
    let place = os::terminal_of_input().unwrap_or_default();
    let user = os::user().ok_or(NoPerson::UnknownUser)?;
    Ok(Person { name: format!("uid {user} at {place}") })
}

/// Checks that no agent runs this process, as far as that is visible.
///
/// # Errors
/// The evidence of an agent.
pub fn no_agent_above() -> Result<(), NoPerson> {
    if let Some(variable) = agent_variable() {
        return Err(NoPerson::Variable(variable));
    }
    let above = ancestors()?;
    if let Some(agent) = above.iter().find_map(|process| agent_named(&process.words, &process.program)) {
        return Err(NoPerson::Agent(agent));
    }
    // A process that unsets the variable for itself leaves it in its ancestors.
    if let Some(variable) = above.iter().find_map(|process| process.mark) {
        return Err(NoPerson::VariableAbove(variable));
    }
    Ok(())
}

/// The variable of an agent that is set for this process, if any.
pub fn agent_variable() -> Option<&'static str> {
    variables().find(|name| std::env::var_os(name).is_some())
}

/// Whether a program of this name is an agent.
pub(crate) fn is_agent(program: &str) -> bool {
    agent_named(&[program.to_owned()], "").is_some()
}

/// Number of agents among the ancestors. An agent of several consecutive processes counts once.
pub(crate) fn agents_above() -> u64 {
    let named =
        ancestors().unwrap_or_default().into_iter().map(|process| agent_named(&process.words, &process.program));
    let mut runs: Vec<Option<&str>> = named.collect();
    runs.dedup();
    u64::try_from(runs.iter().flatten().count()).unwrap_or(u64::MAX)
}

/// An ancestor of this process.
struct Process {
    /// The first arguments of its command line.
    words: Vec<String>,
    /// The path of its program.
    program: String,
    /// The variable of an agent in its initial environment.
    mark: Option<&'static str>,
}

/// The ancestors of this process, nearest first.
///
/// # Errors
/// This system does not show them.
fn ancestors() -> Result<Vec<Process>, NoPerson> {
    let mut found = Vec::new();
    let mut next = os::parent().map_err(|_| NoPerson::UnseenAncestors)?;
    while let Some(process) = next.filter(|_| found.len() < MAX_ANCESTORS).and_then(os::Process::of) {
        let mark = mark_in(&process.environment());
        found.push(Process { words: process.words(3), program: process.program(), mark });
        next = process.parent();
    }
    Ok(found)
}

/// The first variable of an agent in a block of `NAME=value`, each ended by a zero byte.
fn mark_in(environment: &[u8]) -> Option<&'static str> {
    let names = environment.split(|byte| *byte == 0).filter_map(|entry| entry.split(|byte| *byte == b'=').next());
    let names: Vec<&[u8]> = names.collect();
    variables().find(|variable| names.contains(&variable.as_bytes()))
}

/// This process and its ancestors, nearest first.
pub(crate) fn line_of_processes() -> impl Iterator<Item = os::Pid> {
    let parent = |process: &os::Pid| os::Process::of(*process).and_then(|process| process.parent());
    std::iter::successors(Some(std::process::id()), parent).take(MAX_ANCESTORS)
}

/// Whether this process or one of its ancestors has this id.
pub(crate) fn is_below(number: os::Pid) -> bool {
    line_of_processes().any(|process| process == number)
}

/// Whether the parent of this process and its nearest ancestors have no terminal, as far as that is visible: the agent
/// then works without a person. Some agents detach their hooks from the terminal, so that this process's own proves
/// nothing.
pub(crate) fn no_terminal_above() -> bool {
    const NEAR: usize = 4;
    let mut seen = false;
    let mut next = os::parent().ok().flatten();
    for _ in 0..NEAR {
        let Some(process) = next.and_then(os::Process::of) else { break };
        match process.has_terminal() {
            Some(false) => seen = true,
            Some(true) => return false,
            None => break,
        }
        next = process.parent();
    }
    seen
}

/// The agent that this command line starts: by the file name of the program, or by a component of the path of the
/// script that an interpreter runs (`node …/@google/gemini-cli/dist/index.js`).
fn agent_named(words: &[String], program: &str) -> Option<&'static str> {
    let agents = WordList::AgentPrograms.read(reflex_library::tables());
    let is_agent = |part: &str| {
        agents.iter().find(|agent| {
            part.strip_prefix(*agent).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
                || part.split(['-', '.', '_']).any(|piece| piece == *agent)
        })
    };
    let interpreted = words.first().is_some_and(|program| {
        let name = program.rsplit('/').next().unwrap_or("");
        ["node", "bun", "deno", "python", "npx", "electron"].iter().any(|interpreter| name.starts_with(interpreter))
    });
    let name = |word: &str| word.rsplit('/').next().unwrap_or("").to_ascii_lowercase();
    let by_name = words.first().map(String::as_str).into_iter().chain([program]).find_map(|word| is_agent(&name(word)));
    let by_script = || {
        let script = words.iter().skip(1).find(|word| !word.starts_with('-'))?;
        script.to_ascii_lowercase().split('/').find_map(is_agent)
    };
    by_name.or_else(|| if interpreted { by_script() } else { None })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

    use super::{agent_named, variables};

    #[test]
    fn the_variables_of_agents_stand_in_the_library() {
        assert!(variables().any(|name| name == "CLAUDECODE"));
    }

    #[test]
    fn agents_are_known_by_their_program_or_script() {
        let named =
            |words: &[&str]| agent_named(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), words[0]);
        assert_eq!(named(&["claude"]), Some("claude"));
        assert_eq!(named(&["/opt/codex-linux/codex", "exec", "/opt/codex-linux/codex"]), Some("codex"));
        assert_eq!(named(&["node", "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"]), Some("gemini"));
        assert_eq!(named(&["node", "--no-warnings", "/x/copilot/index.js"]), Some("copilot"));
        assert_eq!(named(&["bash", "/home/me/claude-notes/run.sh"]), None);
        assert_eq!(named(&["vim", "claude.md"]), None);
        assert_eq!(named(&["/usr/bin/sshd", "-D"]), None);
        assert_eq!(named(&["example"]), None);
    }
}
