//! The library's accuracy on data with independent labels: the development corpora through `reflex eval`.

mod figures;
mod page;
mod ranking;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use figures::{Judged, Label, Outcome};
use page::Page;
use serde_json::Value;
use tasks::project::{Project, tool};
use tasks::release;
use tasks::steps::{step, succeed};

/// Environment variable that names the folder of the corpora: `score.py`, which converts records to events, and
/// `dev/*.jsonl`.
const CORPORA: &str = "REFLEX_CORPORA";

/// Labels that are believed to be wrong, as lines `{"id", "label", "reason"}`.
const DISPUTED: &str = "docs/reference/disputed.jsonl";

/// Minimum number of labels per disputed label.
const LABELS_PER_DISPUTE: usize = 33;

/// Judges the corpora and writes the page.
pub fn write(project: &Project) -> Result<()> {
    let Some(page) = measure(project)? else { return Ok(()) };
    let file = page::file(&project.root);
    fs::write(&file, page.render()).with_context(|| format!("cannot write `{}`", file.display()))?;
    page.summary().iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Judges the corpora and compares the results with the page: cases that were stopped must still be stopped, and silent
/// ones must stay silent. Exempt are cases named in the last commit message.
pub fn check(project: &Project) -> Result<()> {
    let Some(now) = measure(project)? else { return Ok(()) };
    let file = page::file(&project.root);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let before = page::listed(&text);
    let message = succeed(tool("git").args(["log", "-1", "--format=%B"]).current_dir(&project.root))?;
    let meant = |id: &str| message.split_whitespace().any(|word| word.trim_matches([',', '.', '`', ':']) == id);
    let worse = now.listed().into_iter().filter(|(id, outcome)| before.get(id) != Some(outcome) && !meant(id));
    let worse: Vec<String> = worse.map(|(id, outcome)| format!("{id} {}", outcome.word())).collect();
    now.summary().iter().for_each(|line| println!("{line}"));
    ensure!(
        worse.is_empty(),
        "{} cases are worse than the page says; name them in the commit if that is meant, and run `cargo xtask score`:\n{}",
        worse.len(),
        worse.join("\n")
    );
    Ok(())
}

/// Writes the list of the rules that fire most on the corpora. The tests of the library demand a `why` of each.
pub fn rank_rules(project: &Project) -> Result<()> {
    let Some((_, verdicts)) = judged(project)? else { return Ok(()) };
    let file = project.root.join(ranking::FILE);
    let ranking = ranking::render(&ranking::count(&lines(&verdicts)?, &ranking::library_rules(&project.root)?));
    fs::write(&file, ranking).with_context(|| format!("cannot write `{}`", file.display()))
}

/// Renders the page from current results; prints a notice and returns `None` if the corpora are missing.
fn measure(project: &Project) -> Result<Option<Page>> {
    let Some(corpora) = corpora(project) else {
        println!("skip  score: no corpora; {CORPORA} names their folder");
        return Ok(None);
    };
    let release = release::build(project)?;
    let records = records(&corpora)?;
    let events = step("events", || events(&corpora))?;
    let verdicts = step("judge", || verdicts(&release.binary, &events))?;
    if verdicts.len() != records.len() {
        bail!("{} verdicts for {} records", verdicts.len(), records.len());
    }
    let judged: Result<Vec<Judged>> =
        records.iter().zip(&verdicts).map(|(record, verdict)| Judged::from_record(record, verdict)).collect();
    let disputed = disputed(&project.root)?;
    let page = Page { judged: judged?, disputed };
    let max_disputed = page.judged.len() / LABELS_PER_DISPUTE;
    if page.disputed.len() > max_disputed {
        bail!("{} labels are disputed; at most {max_disputed} may be", page.disputed.len());
    }
    Ok(Some(page))
}

/// The events of all records and the verdicts of `reflex eval`, one per line; `None` if the corpora are missing.
pub fn judged(project: &Project) -> Result<Option<(String, String)>> {
    let Some(corpora) = corpora(project) else { return Ok(None) };
    let release = release::build(project)?;
    let events = step("events", || events(&corpora))?;
    let verdicts = step("judge", || output_of_eval(&release.binary, &events))?;
    Ok(Some((events, verdicts)))
}

fn corpora(project: &Project) -> Option<PathBuf> {
    let named = env::var_os(CORPORA).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| project.root.join("../shared/corpora"));
    folder.join("score.py").exists().then_some(folder)
}

fn files(corpora: &Path) -> Result<Vec<PathBuf>> {
    let folder = corpora.join("dev");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    Ok(files)
}

fn records(corpora: &Path) -> Result<Vec<Value>> {
    let mut records = Vec::new();
    for file in files(corpora)? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
        records.extend(lines(&text)?);
    }
    Ok(records)
}

/// Converts the records to universal events, one per line.
fn events(corpora: &Path) -> Result<String> {
    let script = corpora.join("score.py");
    succeed(
        Command::new("python3")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .arg(script)
            .args(files(corpora)?)
            .arg("--events-only"),
    )
}

fn verdicts(binary: &Path, events: &str) -> Result<Vec<Value>> {
    lines(&output_of_eval(binary, events)?)
}

fn output_of_eval(binary: &Path, events: &str) -> Result<String> {
    let fail = || format!("`{}`", binary.display());
    let mut child =
        Command::new(binary).arg("eval").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().with_context(fail)?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| std::io::Write::write_all(&mut stdin, events.as_bytes())));
        child.wait_with_output()
    });
    Ok(String::from_utf8_lossy(&output.with_context(fail)?.stdout).into_owned())
}

fn lines(text: &str) -> Result<Vec<Value>> {
    let lines = text.split('\n').filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).context("no JSON")).collect()
}

fn disputed(root: &Path) -> Result<Vec<(String, Label)>> {
    let file = root.join(DISPUTED);
    let Ok(text) = fs::read_to_string(&file) else { return Ok(Vec::new()) };
    let entry = |line: &Value| {
        let text = |name: &str| line.get(name).and_then(Value::as_str);
        let has_reason = text("reason").is_some_and(|reason| !reason.is_empty());
        let label = text("label").and_then(Label::of_word).filter(|_| has_reason);
        text("id").zip(label).map(|(id, label)| (id.to_owned(), label))
    };
    lines(&text)?
        .iter()
        .map(|line| entry(line).with_context(|| format!("{DISPUTED}: an entry needs id, label and reason: {line}")))
        .collect()
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Missed => "is not stopped",
            Self::Noisy => "is a false positive",
        }
    }
}
