//! Adds a line to a policy on a person's command: the line is shown first, written after a yes, and accepted with it.

use crate::commands::adapt::backtest;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::consent::Consent;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use reflex_host::answers::record;
use reflex_host::layers::{self, Offer, offer, offer_of_user, trust};
use reflex_host::person::Person;
use reflex_host::rules::SourceFile;
use reflex_host::{Host, now};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Key of a policy below which a line is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Section {
    /// `allow`, a list.
    Allow,
    /// `rules`, a map.
    Rules,
}

impl Section {
    fn key(self) -> &'static str {
        match self {
            Section::Allow => "allow:",
            Section::Rules => "rules:",
        }
    }

    /// Returns the start of a line below the key.
    fn starts(self) -> &'static str {
        match self {
            Section::Allow => "- ",
            Section::Rules => "",
        }
    }
}

/// A line to be written.
pub(in crate::commands) struct Line {
    pub(in crate::commands) section: Section,
    /// Text of the entry, as YAML; further lines are indented as far as the first after its dash.
    pub(in crate::commands) text: String,
    /// Id of the call or the rule that the line is about, for the log.
    pub(in crate::commands) of: String,
    /// The project from which the request came.
    pub(in crate::commands) workspace: String,
    /// Whether the line goes into the project's policy instead of the user's.
    pub(in crate::commands) in_project: bool,
}

impl Line {
    pub(in crate::commands) fn new(
        section: Section,
        entry: &str,
        of: &str,
        (workspace, in_project): (String, bool),
    ) -> Line {
        let starts = section.starts();
        let further = format!("\n  {}", " ".repeat(starts.len()));
        let text = format!("  {starts}{}", entry.replace('\n', &further));
        Line { section, text, of: of.to_owned(), workspace, in_project }
    }

    fn file(&self, host: &Host) -> PathBuf {
        let of_project = Path::new(&self.workspace).join(".reflex");
        if self.in_project { of_project } else { host.folders().config.clone() }.join("policy.yaml")
    }

    fn offer(&self, host: &Host) -> Option<Offer> {
        let of = if self.in_project { offer } else { offer_of_user };
        of(host.folders(), Path::new(&self.workspace), &host.store())
    }
}

/// Shows the line and writes it after a yes; returns whether it was written. If files count only once they are
/// accepted, that yes also accepts the changed file, so all other files must be accepted already and unchanged.
///
/// # Errors
/// The reason why the line cannot be written.
pub(in crate::commands) fn add(host: &Host, line: &Line, person: &Person) -> Result<bool, Error> {
    let file = line.file(host);
    let name = file.to_string_lossy();
    let before = match fs::read_to_string(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|source| Error::File { file: file.clone(), source })?,
    };
    let key = line.section.key();
    let text = with_line(&before, line.section, &line.text).ok_or_else(|| Error::OtherForm {
        file: name.clone().into_owned(),
        key,
        line: line.text.clone(),
    })?;
    let source = SourceFile { name: name.clone().into_owned(), text: text.clone(), is_policy: true, unread: None };
    if let Some(problem) = layers::compile(&[source], &Default::default()).problems.first() {
        return Err(Error::WouldBeWrong(problem.to_string()));
    }
    let known = line.offer(host);
    if known.as_ref().is_some_and(|known| !known.accepted && !known.files.is_empty()) {
        return Err(Error::BesideUnaccepted);
    }
    if !line.in_project {
        backtest::preview(host, &file, &text);
    }
    print(&format!("{} would say in addition:\n{key}", visible(&name)));
    line.text.lines().for_each(|line| print(&visible(line)));
    let store = host.store();
    let mut consent = Consent::each(&store);
    let Some(signer) = consent.ask("Write it?")? else { return Ok(false) };
    let fields = json!({"pending": line.of, "file": name, "entry": line.text.trim(), "by": person.name});
    record(&store, "allowance", fields)?;
    write(&file, &text).map_err(|source| Error::File { file: file.clone(), source })?;
    let Some(offered) = line.offer(host).filter(|offered| !offered.accepted) else { return Ok(true) };
    if !is_only_that(known.as_ref(), &offered, &text) {
        return Err(Error::ChangedMeanwhile);
    }
    let acceptance = offered.approval(&person.name, &format!("{key} {}", line.of));
    trust::accept(&store, &acceptance, signer).map_err(Error::State)?;
    Ok(true)
}

/// Result of an allowance.
pub(in crate::commands) const WRITTEN: &str = "written; calls like this run without a question from now on";

/// Reports whether the line was written; returns the exit status.
pub(in crate::commands) fn report(written: Result<bool, Error>, done: &str) -> u8 {
    match written {
        Ok(true) => {
            print(done);
            exit_code::OK
        }
        Ok(false) => {
            print("not written");
            exit_code::FOUND
        }
        Err(problem) => problem.report(),
    }
}

/// Writes a file atomically.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
    let beside = file.with_extension(format!("yaml.{}", now()));
    fs::write(&beside, text)?;
    fs::rename(&beside, file)
}

/// Whether only the policy differs from the files before the prompt.
fn is_only_that(known: Option<&Offer>, offered: &Offer, text: &str) -> bool {
    let before = known.map(|known| known.files.as_slice()).unwrap_or_default();
    let same = |one: &SourceFile, others: &[SourceFile]| others.iter().any(|other| other == one);
    let of_name = |one: &SourceFile, others: &[SourceFile]| others.iter().any(|other| other.name == one.name);
    let is_policy = |one: &SourceFile| one.is_policy && one.text == text;
    let added = offered.files.iter().filter(|one| !same(one, before));
    added.clone().count() <= 1 && added.clone().all(is_policy) && before.iter().all(|one| of_name(one, &offered.files))
}

/// Returns the policy with one more line below this key, and all other text unchanged. `None` if its form has no place
/// for the line.
fn with_line(before: &str, section: Section, line: &str) -> Option<String> {
    let key = section.key();
    let mut lines: Vec<&str> = before.lines().collect();
    let Some(at) = lines.iter().position(|line| line.starts_with(key)) else {
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{before}{end}{key}\n{line}\n"));
    };
    let is_block = lines.get(at).is_some_and(|line| line.trim_end() == key);
    let next = lines.iter().skip(at + 1).find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let depth = next.map_or(2, |next| next.len() - next.trim_start().len());
    let indent = " ".repeat(depth);
    let entry = line.lines().map(|line| format!("{indent}{}", line.get(2..).unwrap_or_default()));
    let entry = entry.collect::<Vec<_>>().join("\n");
    let fits = match section {
        Section::Allow => next.is_none_or(|next| next.trim_start().starts_with("- ")),
        Section::Rules => depth > 0,
    };
    lines.insert(at + 1, &entry);
    (is_block && fits).then(|| format!("{}\n", lines.join("\n")))
}

/// Returns the policy entry that switches a rule off.
pub(in crate::commands) fn off(rule: &str, reason: &str) -> String {
    format!("{}: {}", Value::from(rule), json!({"action": "off", "reason": reason}))
}

#[cfg(test)]
mod tests {
    use super::{Section, with_line};

    #[test]
    fn an_entry_is_added_to_the_existing_ones() {
        for (before, after) in [
            ("", Some("allow:\n  - x\n")),
            ("preset: strict", Some("preset: strict\nallow:\n  - x\n")),
            ("allow:\n- y\nrules: {}\n", Some("allow:\n- x\n- y\nrules: {}\n")),
            ("allow:\n    # why\n    - y\n", Some("allow:\n    - x\n    # why\n    - y\n")),
            ("allow: [y]\n", None),
        ] {
            assert_eq!(with_line(before, Section::Allow, "  - x").as_deref(), after, "{before}");
        }
    }

    #[test]
    fn a_rule_is_added_to_the_existing_ones() {
        for (before, after) in [
            ("", Some("rules:\n  x: off\n")),
            ("rules:\n    y: ask\n", Some("rules:\n    x: off\n    y: ask\n")),
            ("rules: {y: ask}\n", None),
            ("rules:\nallow: []\n", None),
        ] {
            assert_eq!(with_line(before, Section::Rules, "  x: off").as_deref(), after, "{before}");
        }
    }
}
