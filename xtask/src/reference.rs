//! Pages generated from data: the rules and secrets of the library, the capabilities of agents, and the schemas of
//! users' files.

use crate::agent_pages;
use anyhow::{Context, Error, Result};
use reflex_rules::schema;
use reflex_tables::compile::{Entry, Kind, Sources};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tasks::project::Project;

/// Writes all pages.
pub(crate) fn write(project: &Project) -> Result<()> {
    for (file, text) in pages(project)? {
        let path = project.root.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        println!("wrote {file}");
    }
    Ok(())
}

/// The pages that differ from what would be generated now.
pub(crate) fn stale(project: &Project) -> Result<Vec<String>> {
    let pages = pages(project)?;
    let is_stale = |(file, text): &(&str, String)| {
        fs::read_to_string(project.root.join(file)).ok().as_deref() != Some(text.as_str())
    };
    Ok(pages.iter().filter(|page| is_stale(page)).map(|(file, _)| format!("{file}: run `cargo xtask docs`")).collect())
}

fn pages(project: &Project) -> Result<Vec<(&'static str, String)>> {
    let schema = |value: Value| serde_json::to_string_pretty(&value).map(|text| text + "\n");
    Ok(vec![
        ("docs/reference/rules.md", rules(&project.root)?),
        ("docs/reference/core.md", core(&project.root)?),
        ("docs/reference/judged.md", judged(&project.root)?),
        ("docs/reference/secrets.md", secrets(&project.root)?),
        ("docs/reference/agents.md", agent_pages::page()),
        ("docs/reference/rule.schema.json", schema(schema::rule())?),
        ("docs/reference/policy.schema.json", schema(schema::policy())?),
        ("docs/reference/reflex.schema.json", schema(reflex_script::schema::manifest())?),
    ])
}

/// The entries in a folder of the library, by id.
fn entries(root: &Path, folder: &str, kind: Kind) -> Result<Vec<Entry>> {
    let folder = root.join("library").join(folder);
    let mut sources = Sources::default();
    let found = fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut files: Vec<_> = found.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sources.add(kind, &name, &text).map_err(Error::msg)?;
    }
    let mut entries = sources.entries().to_vec();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

fn rules(root: &Path) -> Result<String> {
    let entries = entries(root, "rules", Kind::Rules)?;
    let mut page = format!(
        "<!-- Written by `cargo xtask docs`; do not edit. -->\n# The rules of the library\n\n\
         All {} rules by id. The policy says what a severity is worth: [rules.md](../rules.md#policies). A rule of the tier\n\
         `core` is lowered by nobody but the user, with a reason: [policy.md](../policy.md).\n",
        entries.len()
    );
    for group in entries.chunk_by(|one, other| subject(one) == subject(other)) {
        let subject = group.first().map(subject).unwrap_or_default();
        page.push_str(&format!(
            "\n## {subject}\n\n| rule | severity | tier | what it says | for example |\n|---|---|---|---|---|\n"
        ));
        page.extend(group.iter().map(row));
        let rationales: Vec<String> = group.iter().filter_map(rationale).collect();
        if !rationales.is_empty() {
            page.push_str(&format!("\n{}", rationales.concat()));
        }
    }
    Ok(page)
}

fn subject(entry: &Entry) -> &str {
    entry.name.split_once('/').map_or(entry.name.as_str(), |(subject, _)| subject)
}

/// The reason why a rule exists, with its source, as an item of a list.
fn rationale(entry: &Entry) -> Option<String> {
    let text = |key: &str| entry.value.get(key).and_then(Value::as_str);
    Some(format!("- `{}`: {} ([source]({}))\n", entry.name, text("why")?, text("source")?))
}

/// The rules that apply in the mode `allow-all`, with their decisions under the default policy.
fn core(root: &Path) -> Result<String> {
    let mut page = "<!-- Written by `cargo xtask docs`; do not edit. -->\n# Calls that `allow-all` does not let pass\n\n\
         The rules of the tier `core`. They stop a call under `reflex mode allow-all` and `reflex run --allow-all`, too; a\n\
         person can still approve one call once. See [unattended.md](../unattended.md).\n\n\
         | rule | by default | it stops a call because | for example |\n|---|---|---|---|\n"
        .to_owned();
    for entry in &entries(root, "rules", Kind::Rules)? {
        let text = |key: &str| entry.value.get(key).and_then(Value::as_str).unwrap_or("");
        let decision = match text("severity") {
            "critical" => "blocked",
            "high" => "asked about",
            _ => "",
        };
        if text("tier") == "core" && !decision.is_empty() {
            let message = cell(text("message")).replace(": {targets}", "").replace("{targets}", "…");
            page.push_str(&format!("| `{}` | {decision} | {message} | {} |\n", entry.name, example(entry)));
        }
    }
    Ok(page)
}

fn judged(root: &Path) -> Result<String> {
    let mut page = "<!-- Written by `cargo xtask docs`; do not edit. -->\n# Rules that a model may judge\n\n\
         In [auto-pilot](../auto-pilot.md) a model may answer the questions of these rules, and of no others.\n\n\
         | rule | about | the loss is not final, because |\n|---|---|---|\n"
        .to_owned();
    for entry in &entries(root, "rules", Kind::Rules)? {
        let text = |key: &str| entry.value.get(key).and_then(Value::as_str).unwrap_or("");
        if entry.value.get("judge") == Some(&Value::Bool(true)) {
            let message = cell(text("message")).replace("{targets}", "…").replace("{lost}", "…");
            page.push_str(&format!("| `{}` | {message} | {} |\n", entry.name, cell(text("recovery"))));
        }
    }
    Ok(page)
}

fn secrets(root: &Path) -> Result<String> {
    let entries = entries(root, "secrets", Kind::Secrets)?;
    let mut page = format!(
        "<!-- Written by `cargo xtask docs`; do not edit. -->\n# The secrets of the library\n\n\
         All {} formats of keys and passwords by id: what each begins with or looks like, or after which names a value is\n\
         one. How they are looked for, and what is not a secret: [secrets.md](../secrets.md).\n\n\
         | format | severity | what it is | looks like |\n|---|---|---|---|\n",
        entries.len()
    );
    page.extend(entries.iter().map(secret));
    Ok(page)
}

fn secret(entry: &Entry) -> String {
    let text = |key: &str| entry.value.get(key).and_then(Value::as_str).unwrap_or("");
    let list = |key: &str| entry.value.get(key).and_then(Value::as_array).into_iter().flatten();
    let code = |text: &str| if text.contains('`') { cell(text) } else { format!("`{}`", text.replace('|', "\\|")) };
    let shapes: Vec<String> = list("forms").filter_map(Value::as_str).take(2).map(code).collect();
    let names: Vec<String> = list("named").filter_map(Value::as_str).take(3).map(code).collect();
    let looks = if shapes.is_empty() { format!("behind {}", names.join(", ")) } else { shapes.join(", ") };
    format!("| `{}` | {} | {} | {looks} |\n", entry.name, text("severity"), cell(text("about")))
}

fn row(entry: &Entry) -> String {
    let text = |key: &str| entry.value.get(key).and_then(Value::as_str).unwrap_or("");
    let tier = if text("tier").is_empty() { "recommended" } else { text("tier") };
    let example = example(entry);
    format!("| `{}` | {} | {tier} | {} | {example} |\n", entry.name, text("severity"), cell(text("message")))
}

/// The first example command of a rule that fits into a table cell.
fn example(entry: &Entry) -> String {
    let fires = entry.value.get("fires").and_then(Value::as_array);
    let example = fires.and_then(|all| all.iter().find_map(Value::as_str)).unwrap_or("");
    let example = example.lines().next().unwrap_or("");
    if example.is_empty() || example.contains('`') { String::new() } else { format!("`{}`", cell(example)) }
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '<'], " ")
}
