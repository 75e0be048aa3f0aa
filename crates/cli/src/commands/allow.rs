//! `reflex allow ID`: a decision that a person is tired of becomes a rule. It is shown as it will stand in the policy, and
//! written after a yes.

use super::suggest::key_and_command;
use super::why;
use crate::status;
use crate::terminal::arguments::text;
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print};
use crate::terminal::person::{person, record};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::layers::{Offer, offer, offer_of_own, trust};
use reflex_host::person::Person;
use reflex_host::rules::SourceFile;
use reflex_host::{Host, Mode, layers};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A rule about to be written.
struct Draft {
    /// The policy it goes into.
    file: PathBuf,
    /// Its line there.
    line: String,
    /// The whole file with it.
    text: String,
    workspace: String,
    /// Whether the file is the project's.
    in_project: bool,
}

pub(super) fn run(matches: &ArgMatches) -> u8 {
    let host = Host::new(Mode::default());
    let id = text(matches, "id");
    let Some(person) = person(&host.store(), "allow", id) else { return status::FOUND };
    match draft(&host, matches).and_then(|draft| write(&host, &draft, &person, id)) {
        Ok(true) => {
            print("written; calls like this run without a question from now on");
            status::OK
        }
        Ok(false) => {
            print("nothing is written");
            status::FOUND
        }
        Err(problem) => {
            complain(&visible(&problem));
            status::FOUND
        }
    }
}

fn draft(host: &Host, matches: &ArgMatches) -> Result<Draft, String> {
    let id = text(matches, "id");
    let record = why::record(host, id).ok_or_else(|| format!("no decision `{id}` in the audit log"))?;
    let ((workspace, rule, _), command) = key_and_command(&record)
        .ok_or("only a plain command that one rule asked about can be allowed, and nothing that a core rule stopped")?;
    let in_project = matches.get_flag("project");
    let folder = if in_project { Path::new(&workspace).join(".reflex") } else { host.folders().config.clone() };
    let words: Vec<&str> = command.split_whitespace().collect();
    let reason = match text(matches, "reason").trim() {
        "" => format!("allowed by {id}"),
        reason => reason.to_owned(),
    };
    // JSON is YAML too, and nothing in it has to be quoted by hand.
    let line = format!("  - {}", json!({"argv": words, "rule": rule, "reason": reason}));
    let file = folder.join("policy.yaml");
    let before = match fs::read_to_string(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| format!("{}: {error}", file.display()))?,
    };
    let text = with_entry(&before, &line)
        .ok_or_else(|| format!("{} has `allow` in another form: put this there by hand:\n{line}", file.display()))?;
    Ok(Draft { file, line, text, workspace, in_project })
}

/// The policy with one more entry of `allow`, whatever else stands in it. `None` where its form leaves no place.
fn with_entry(before: &str, line: &str) -> Option<String> {
    let mut lines: Vec<&str> = before.lines().collect();
    let Some(at) = lines.iter().position(|line| line.starts_with("allow:")) else {
        let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{before}{end}allow:\n{line}\n"));
    };
    let is_block = lines.get(at).is_some_and(|line| line.trim_end() == "allow:");
    let next = lines.iter().skip(at + 1).find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let depth = next.map_or(2, |next| next.len() - next.trim_start().len());
    let entry = format!("{}{}", " ".repeat(depth), line.trim_start());
    let fits = next.is_none_or(|next| next.trim_start().starts_with("- "));
    lines.insert(at + 1, &entry);
    (is_block && fits).then(|| format!("{}\n", lines.join("\n")))
}

/// Shows it, and writes it after a yes. Where a key is in force the changed file is accepted with that yes; so what stood
/// in it before must have been accepted too.
fn write(host: &Host, draft: &Draft, person: &Person, id: &str) -> Result<bool, String> {
    let name = draft.file.to_string_lossy();
    let (name_of_file, text) = (name.clone().into_owned(), draft.text.clone());
    let source = SourceFile { name: name_of_file, text, is_policy: true, unread: None };
    if let Some(problem) = layers::compile(&[source], &Default::default()).problems.first() {
        return Err(format!("with this the policy would be wrong: {problem}"));
    }
    if offered(host, draft).is_some_and(|offer| !offer.accepted && (offer.before.is_some() || !draft.in_project)) {
        return Err(
            "files of yours have changed and were not accepted yet: look at them with `reflex trust` first".into()
        );
    }
    print(&format!("{} would say in addition:\nallow:\n{}", visible(&name), visible(&draft.line)));
    let store = host.store();
    let mut consent = Consent::each(&store);
    let Some(signer) = consent.ask("Write it?")? else { return Ok(false) };
    record(&store, "allowance", json!({"pending": id, "file": name, "entry": draft.line.trim(), "by": person.name}))?;
    let folder = draft.file.parent().unwrap_or(Path::new("/"));
    let beside = draft.file.with_extension("yaml.new");
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&beside, &draft.text))
        .and_then(|()| fs::rename(&beside, &draft.file));
    written.map_err(|error| format!("{name}: {error}"))?;
    if let Some(offer) = offered(host, draft).filter(|offer| !offer.accepted) {
        let yes = offer.yes(&person.name, &format!("allow {id}"));
        trust::accept(&store, &yes, signer).map_err(|error| format!("cannot write: {error}"))?;
    }
    Ok(true)
}

fn offered(host: &Host, draft: &Draft) -> Option<Offer> {
    let (store, place) = (host.store(), Path::new(&draft.workspace));
    let of = if draft.in_project { offer } else { offer_of_own };
    of(host.folders(), place, &store)
}

#[cfg(test)]
mod tests {
    use super::with_entry;

    #[test]
    fn an_entry_is_added_to_what_is_there() {
        for (before, after) in [
            ("", Some("allow:\n  - x\n")),
            ("preset: strict", Some("preset: strict\nallow:\n  - x\n")),
            ("allow:\n- y\nrules: {}\n", Some("allow:\n- x\n- y\nrules: {}\n")),
            ("allow:\n    # why\n    - y\n", Some("allow:\n    - x\n    # why\n    - y\n")),
            ("allow: [y]\n", None),
        ] {
            assert_eq!(with_entry(before, "  - x").as_deref(), after, "{before}");
        }
    }
}
