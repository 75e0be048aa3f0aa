//! Pages generated from data: the rules and secrets of the library, the capabilities of agents, and the schemas of
//! users' files.

use crate::agent_pages;
use anyhow::{Context, Error, Result};
use reflex_rules::schema;
use reflex_tables::compile::{Entry, Kind, Sources};
use serde_json::Value;
use std::collections::BTreeSet;
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
    let is_stale =
        |(file, text): &(&str, String)| fs::read_to_string(project.root.join(file)).ok().as_ref() != Some(text);
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
    for file in found.flatten().map(|entry| entry.path()).collect::<BTreeSet<_>>() {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
        sources.add(kind, &file.display().to_string(), &text).map_err(Error::msg)?;
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
    let mut subject = "";
    let columns = "| rule | severity | tier | what it says | for example |\n|---|---|---|---|---|";
    for entry in &entries {
        let (group, _) = entry.name.split_once('/').unwrap_or((&entry.name, ""));
        if group != subject {
            subject = group;
            page.push_str(&format!("\n## {subject}\n\n{columns}\n"));
        }
        page.push_str(&row(entry));
    }
    page.push_str("\n## Why\n\nThe reasons for which the rules that fire most exist.\n\n");
    page.extend(entries.iter().filter_map(rationale));
    Ok(page)
}

/// The reason why a rule exists, with its source, as an item of a list.
fn rationale(entry: &Entry) -> Option<String> {
    let [why, source] = ["why", "source"].map(|key| text(entry, key));
    (!why.is_empty()).then(|| format!("- `{}`: {why} ([source]({source}))\n", entry.name))
}

/// The rules that apply in the mode `allow-all`, with their decisions under the default policy.
fn core(root: &Path) -> Result<String> {
    let mut page = "<!-- Written by `cargo xtask docs`; do not edit. -->\n# Calls that `allow-all` does not let pass\n\n\
         The rules of the tier `core`. They stop a call under `reflex mode allow-all` and `reflex run --allow-all`, too; a\n\
         person can still approve one call once. See [unattended.md](../unattended.md).\n\n\
         | rule | by default | it stops a call because | for example |\n|---|---|---|---|\n"
        .to_owned();
    for entry in &entries(root, "rules", Kind::Rules)? {
        let decision = if text(entry, "severity") == "critical" { "blocked" } else { "asked about" };
        if text(entry, "tier") == "core" && ["critical", "high"].contains(&text(entry, "severity")) {
            let message = cell(text(entry, "message")).replace(": {targets}", "").replace("{targets}", "…");
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
        if entry.value.get("judge") == Some(&Value::Bool(true)) {
            let message = cell(text(entry, "message")).replace("{targets}", "…").replace("{lost}", "…");
            page.push_str(&format!("| `{}` | {message} | {} |\n", entry.name, cell(text(entry, "recovery"))));
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
    let list = |key: &str| entry.value.get(key).and_then(Value::as_array).into_iter().flatten();
    let code = |text: &str| if text.contains('`') { cell(text) } else { format!("`{}`", text.replace('|', "\\|")) };
    let shapes: Vec<String> = list("forms").filter_map(Value::as_str).take(2).map(code).collect();
    let names: Vec<String> = list("named").filter_map(Value::as_str).take(3).map(code).collect();
    let looks = if shapes.is_empty() { format!("behind {}", names.join(", ")) } else { shapes.join(", ") };
    format!("| `{}` | {} | {} | {looks} |\n", entry.name, text(entry, "severity"), cell(text(entry, "about")))
}

fn row(entry: &Entry) -> String {
    let [severity, tier, message] = ["severity", "tier", "message"].map(|key| text(entry, key));
    let (tier, message) = (if tier.is_empty() { "recommended" } else { tier }, cell(message));
    format!("| `{}` | {severity} | {tier} | {message} | {} |\n", entry.name, example(entry))
}

fn text<'e>(entry: &'e Entry, key: &str) -> &'e str {
    entry.value.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The first example command of a rule that fits into a table cell.
fn example(entry: &Entry) -> String {
    let fires = entry.value.get("fires").and_then(Value::as_array).into_iter().flatten();
    let example = fires.filter_map(Value::as_str).flat_map(str::lines).next().unwrap_or("");
    if example.is_empty() || example.contains('`') { String::new() } else { format!("`{}`", cell(example)) }
}

/// Escapes text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '<'], " ")
}
