//! `reflex import`: converts the rules of other guards and agents, and reports the result for each line.

use crate::error::{Error, RulesError};
use crate::exit_code;
use crate::terminal::arguments::{flag, json, option};
use crate::terminal::output::print;
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command};
use reflex_engine::Event;
use reflex_host::answers::record;
use reflex_host::rules::import::{Fate, Import, ImportedLine, Source, import};
use reflex_host::rules::{MAX_BYTES, load_rule_file};
use reflex_host::{Context, Host, Mode};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Files in which other tools keep their rules; `~/` is the home, other paths are relative to the project.
const USUAL: [&str; 10] = [
    "~/.claude/settings.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    "~/.codex/rules/default.rules",
    ".codex/rules/default.rules",
    "~/.cc-safety-net/config.json",
    ".safety-net.json",
    "~/.config/dcg/allowlist.toml",
    ".dcg/allowlist.toml",
    ".claude/hookify.local.md",
];

/// Folders in which each file with such a suffix is a rules file.
const FOLDERS: [(&str, &str); 5] = [
    (".claude", ".local.md"),
    ("~/.claude", ".local.md"),
    ("~/.codex/rules", ".rules"),
    ("~/.gemini/policies", ".toml"),
    (".gemini/policies", ".toml"),
];

pub(in crate::commands) fn grammar() -> Command {
    Command::new("import")
        .about("Convert rules of other guards and agents to yours")
        .arg(option("from", "NAME", "claude, codex, gemini, hookify, safety-net or dcg (default: from the file name)"))
        .arg(flag("write", "Write them to your rules directory; needs a person at a terminal"))
        .arg(
            Arg::new("path")
                .num_args(0..)
                .value_name("PATH")
                .help("Files (default: where the other tools keep theirs)"),
        )
        .arg(json())
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let source = match matches.get_one::<String>("from").map(|name| Source::named(name).ok_or(name)) {
        Some(Err(name)) => {
            let known: Vec<&str> = Source::ALL.iter().map(|(_, name)| *name).collect();
            return Error::from(RulesError::Source { name: name.clone(), known: known.join(", ") }).report();
        }
        Some(Ok(source)) => Some(source),
        None => None,
    };
    let paths: Vec<PathBuf> = matches.get_many::<String>("path").into_iter().flatten().map(PathBuf::from).collect();
    let files = if paths.is_empty() { usual(&host) } else { paths };
    if files.is_empty() {
        return Error::from(RulesError::NoSource).report();
    }
    let mut all = Import::default();
    let mut code = exit_code::OK;
    for file in &files {
        match read(source, file) {
            Ok(import) => all.join(import),
            Err(error) => code = code.max(error.report()),
        }
    }
    if matches.get_flag("json") {
        print(&as_json(&all).to_string());
        return code;
    }
    report(&all.lines);
    let written = if matches.get_flag("write") { write(&host, &all) } else { show(&all) };
    if written == exit_code::OK { code } else { written }
}

/// Returns the existing files.
fn usual(host: &Host) -> Vec<PathBuf> {
    let workspace = host.placed(Event::default()).workspace;
    let home = &host.folders().home;
    let place = |name: &str| match name.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => Path::new(&workspace).join(name),
    };
    let mut files: Vec<PathBuf> = USUAL.iter().map(|name| place(name)).filter(|path| path.is_file()).collect();
    for (folder, end) in FOLDERS {
        let entries = fs::read_dir(place(folder)).into_iter().flatten().flatten();
        let named = entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(end));
        let mut named: Vec<PathBuf> = named.filter(|path| !files.contains(path)).collect();
        named.sort();
        files.extend(named);
    }
    files
}

fn read(source: Option<Source>, file: &Path) -> Result<Import, Error> {
    let name = file.display().to_string();
    let failed = |source| Error::Input { file: file.to_owned(), source };
    let metadata = fs::metadata(file).map_err(failed)?;
    let source = source.or_else(|| Source::of_file(&name));
    let is_rule = || load_rule_file(file).is_ok_and(|rules| !rules.is_empty());
    let source = source.ok_or_else(|| match is_rule() {
        true => RulesError::OwnFormat(file.to_owned()),
        false => RulesError::Format(file.to_owned()),
    })?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(RulesError::NotSmallFile { file: file.to_owned(), max_kib: MAX_BYTES / 1024 }.into());
    }
    let text = fs::read_to_string(file).map_err(failed)?;
    Ok(import(source, &name, &text).map_err(RulesError::Import)?)
}

fn report(lines: &[ImportedLine]) {
    for ImportedLine { at, text, fate, why } in lines {
        let why = if why.is_empty() { String::new() } else { format!(": {}", visible(why)) };
        print(&format!("# {:8} {}  {}{why}", fate.name(), visible(at), visible(text)));
    }
    let count = |fate: Fate| lines.iter().filter(|one| one.fate == fate).count();
    let all = [Fate::Imported, Fate::Narrowed, Fate::Refused, Fate::Dead, Fate::Shadowed];
    let counts: Vec<String> = all.iter().map(|fate| format!("{} {}", count(*fate), fate.name())).collect();
    print(&format!("# {} lines: {}", lines.len(), counts.join(", ")));
}

fn show(all: &Import) -> u8 {
    if !all.rules.is_empty() {
        print(&format!("# --- rules/imported.yaml\n{}", visible_lines(&all.rules_text())));
    }
    let policy = all.policy_text();
    if !policy.is_empty() {
        print(&format!("# --- policy.yaml\n{}", visible_lines(&policy)));
    }
    exit_code::OK
}

fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// Writes the rules to their own file; an existing policy is for the person to change.
fn write(host: &Host, all: &Import) -> u8 {
    let store = host.store();
    let Some(person) = person(&store, "import", "") else { return exit_code::FOUND };
    let folder = &host.folders().config;
    let (rules, policy) = (folder.join("rules/imported.yaml"), folder.join("policy.yaml"));
    if rules.exists() {
        return Error::from(RulesError::Exists(rules)).report();
    }
    let fields = json!({"rules": all.rules.len(), "allow": all.allow.len(), "by": person.name});
    if let Err(problem) = record(&store, "import", fields) {
        return Error::from(problem).report();
    }
    match write_files(all, &rules, &policy) {
        Ok(()) => exit_code::OK,
        Err(error) => Error::State(error).report(),
    }
}

/// Writes the rules, and the policy unless it exists. Prints the files, and the remaining step.
fn write_files(all: &Import, rules: &Path, policy: &Path) -> std::io::Result<()> {
    fs::create_dir_all(rules.parent().unwrap_or(rules))?;
    if !all.rules.is_empty() {
        fs::write(rules, all.rules_text())?;
        print(&format!("wrote {}", rules.display()));
    }
    let text = all.policy_text();
    match (text.is_empty(), policy.exists()) {
        (true, _) => {}
        (false, false) => {
            fs::write(policy, &text)?;
            print(&format!("wrote {}", policy.display()));
        }
        (false, true) => print(&format!("put this into {}:\n{}", policy.display(), visible_lines(&text))),
    }
    Ok(())
}

fn as_json(all: &Import) -> Value {
    let lines: Vec<Value> = all
        .lines
        .iter()
        .map(|line| json!({"at": line.at, "text": line.text, "fate": line.fate.name(), "why": line.why}))
        .collect();
    json!({
        "schema": "reflex/import-v1", "lines": lines, "rules": all.rules, "allow": all.allow, "allowed_roots": all.roots,
    })
}
