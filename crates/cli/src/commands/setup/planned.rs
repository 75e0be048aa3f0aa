//! Planned changes of settings files: a summary, the differences, one question for all, and the writing.

use crate::commands::setup::own_program;
use crate::error::Error;
use crate::terminal::confirm::answer;
use crate::terminal::output::{complain, print, print_in_full};
use crate::terminal::paint::Paint;
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::settings::guard_hooks;
use reflex_engine::Event;
use reflex_host::mcp_servers::{ServerList, masked};
use reflex_host::{Change, Context, Mode, Wiring, older};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Work {
    PutIn,
    TakeOut,
}

impl Work {
    pub(in crate::commands) fn verb(self) -> &'static str {
        match self {
            Work::PutIn => "would write",
            Work::TakeOut => "would remove",
        }
    }

    /// Returns the message for a file that needs no change.
    pub(in crate::commands) fn done(self) -> &'static str {
        match self {
            Work::PutIn => "is up to date",
            Work::TakeOut => "has no Reflex hook",
        }
    }
}

/// A planned change of one file.
pub(in crate::commands) struct Planned<'a> {
    /// The file.
    pub(in crate::commands) target: Target<'a>,
    /// Its text before and after.
    pub(in crate::commands) change: Change,
    /// The change in a few words.
    pub(in crate::commands) what: String,
}

/// A file that changes.
pub(in crate::commands) enum Target<'a> {
    /// The settings file with the guard's hooks.
    Entry(&'a Wiring),
    /// A file with hooks of an older guard of this agent.
    Older(&'static str, PathBuf),
    /// A list of MCP servers.
    Servers(&'a ServerList),
}

impl<'a> Planned<'a> {
    /// Plans the change of a settings file.
    pub(in crate::commands) fn entry(wiring: &'a Wiring, change: Change) -> Planned<'a> {
        let what = of_hooks(&change);
        Planned { target: Target::Entry(wiring), change, what }
    }

    /// Returns the agent or client.
    pub(in crate::commands) fn subject(&self) -> &'static str {
        match &self.target {
            Target::Entry(wiring) => wiring.agent(),
            Target::Older(agent, _) => agent,
            Target::Servers(list) => list.client().title,
        }
    }

    fn file(&self) -> &Path {
        match &self.target {
            Target::Entry(wiring) => wiring.file(),
            Target::Older(_, file) => file,
            Target::Servers(list) => list.file(),
        }
    }

    /// Prints the diff.
    pub(in crate::commands) fn show(&self) {
        let file = visible(&self.file().display().to_string());
        match &self.target {
            Target::Entry(_) | Target::Older(..) => show(&file, &self.change, 3, str::to_owned),
            // Context lines could contain the environment of servers.
            Target::Servers(_) => show(&file, &self.change, 0, masked),
        }
    }

    /// Writes the file, and reports it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(in crate::commands) fn write(&self, context: &Context) -> Result<(), Error> {
        let subject = self.subject();
        let file = visible(&self.file().display().to_string());
        let done = if self.change.after.is_some() { "written" } else { "removed" };
        match &self.target {
            Target::Entry(wiring) => put(context, wiring, &self.change)?,
            Target::Older(_, file) => older::take_out(file, &self.change)?,
            Target::Servers(list) => {
                list.write(&self.change)?;
                print(&format!("{subject}: {file} is written; start {subject} again"));
                return Ok(());
            }
        }
        print(&format!("{subject}: {file} is {done}"));
        Ok(())
    }
}

/// Writes a settings file, after copying the program that it names to a folder of its own.
pub(in crate::commands) fn put(context: &Context, wiring: &Wiring, change: &Change) -> Result<(), Error> {
    if change.after.is_some() {
        own_program::settle(context)?;
    }
    Ok(wiring.write(change)?)
}

/// Describes a change of the guard's hooks in a few words.
fn of_hooks(change: &Change) -> String {
    let count =
        |text: &Option<String>| text.as_deref().map_or(0, |text| guard_hooks(text.trim_start_matches(MARK)).len());
    let hooks = |count: usize| if count == 1 { "1 hook".to_owned() } else { format!("{count} hooks") };
    let (before, after) = (count(&change.before), count(&change.after));
    match (&change.before, &change.after) {
        (_, None) => "file removed".to_owned(),
        (None, Some(_)) => format!("new file, {}", hooks(after)),
        (Some(_), Some(_)) if after == 0 => format!("{} removed", hooks(before)),
        (Some(_), Some(_)) if before == 0 => format!("{} added", hooks(after)),
        (Some(_), Some(_)) => format!("{} rewritten", hooks(after)),
    }
}

/// The byte-order mark.
const MARK: char = '\u{feff}';

/// The answer to the question about all planned changes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Consent {
    /// They are wanted.
    Given,
    /// They are not wanted, or only shown.
    Declined,
    /// The question needs a terminal.
    NoTerminal,
}

/// Shows the changes and asks once for all of them. Without a terminal, `--yes` is required.
pub(in crate::commands) fn consent(context: &Context, matches: &ArgMatches, plan: &[Planned<'_>]) -> Consent {
    let (is_dry, is_agreed) = (matches.get_flag("dry-run"), matches.get_flag("yes"));
    if plan.is_empty() {
        return Consent::Declined;
    }
    if is_dry || is_agreed || !is_person() {
        plan.iter().for_each(Planned::show);
        return match (is_dry, is_agreed) {
            (true, _) => Consent::Declined,
            (false, true) => Consent::Given,
            (false, false) => Consent::NoTerminal,
        };
    }
    let home = context.folders().home.clone();
    let short = |file: &Path| match file.strip_prefix(&home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => file.display().to_string(),
    };
    let row = |one: &Planned<'_>| vec![one.subject().to_owned(), visible(&short(one.file())), one.what.clone()];
    print_table(2, &plan.iter().map(row).collect::<Vec<_>>());
    let files = if plan.len() == 1 { "this file".to_owned() } else { format!("these {} files", plan.len()) };
    loop {
        let answer = answer(&format!("Change {files}? [y/N/d] (d shows the differences) "));
        match answer.as_deref().map(str::trim) {
            Some("y" | "Y" | "yes") => return Consent::Given,
            Some("d" | "D") => plan.iter().for_each(Planned::show),
            Some(_) | None => {
                print("not written");
                return Consent::Declined;
            }
        }
    }
}

/// Whether a question can be answered at a terminal.
pub(in crate::commands) fn is_person() -> bool {
    std::io::stdin().is_terminal()
}

/// Reports that the question needs a terminal.
pub(in crate::commands) fn no_terminal() {
    complain("no terminal to ask on; use --yes to write or --dry-run to preview");
}

pub(in crate::commands) fn here() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(Error::WorkingDirectory)
}

/// Returns the current directory if it is in a project. In the home's own files agents look for the user's settings.
pub(in crate::commands) fn project_here(context: &Context) -> Result<PathBuf, Error> {
    let here = here()?;
    let root = PathBuf::from(context.host(Mode::default()).placed(Event::default()).workspace);
    if context.folders().is_home_within(&root) {
        return Err(Error::NoProject(root));
    }
    Ok(here)
}

/// Prints the diff, transformed by `shown`, with `around` lines of context.
fn show(file: &str, change: &Change, around: usize, shown: impl Fn(&str) -> String) {
    let paint = Paint::of_stdout();
    let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
    let diff = similar::TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(around).header(file, file).to_string();
    for line in shown(&text).lines() {
        let line = visible(line);
        let painted = match line.as_bytes().first() {
            Some(b'+') => paint.added(&line),
            Some(b'-') => paint.removed(&line),
            _ => line,
        };
        print_in_full(&painted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_described_by_its_hooks() {
        let hook = |count: usize| {
            let entry = r#"{"hooks": [{"type": "command", "command": "/x/reflex hook --agent claude"}]}"#;
            Some(format!("{{\"hooks\": {{\"PreToolUse\": [{}]}}}}", vec![entry; count].join(",")))
        };
        let check = |before: Option<String>, after: Option<String>, expected: &str| {
            assert_eq!(of_hooks(&Change { before, after }), expected);
        };
        check(None, hook(2), "new file, 2 hooks");
        check(Some("{}".into()), hook(1), "1 hook added");
        check(hook(1), hook(2), "2 hooks rewritten");
        check(hook(2), Some("{}".into()), "2 hooks removed");
        check(hook(2), None, "file removed");
    }
}
