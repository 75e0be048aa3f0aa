//! The rules of the library that fire most on the corpora.

use anyhow::{Context, Result};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The list, relative to the root.
pub(super) const FILE: &str = "dev/score/fired.txt";

/// Number of rules on it.
const MAX_RULES: usize = 60;

/// Returns the ids of all rules of the library.
pub(super) fn library_rules(root: &Path) -> Result<BTreeSet<String>> {
    let folder = root.join("library/rules");
    let mut ids = BTreeSet::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        ids.extend(text.lines().filter_map(|line| line.strip_prefix("- id: ")).map(|id| id.trim().to_owned()));
    }
    Ok(ids)
}

/// Counts the verdicts in which each of the rules `known` fires.
pub(super) fn count(verdicts: &[Value], known: &BTreeSet<String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for verdict in verdicts {
        let findings = verdict.get("findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ids = findings.iter().filter_map(|finding| finding.get("id")?.as_str());
        for id in ids.filter(|id| known.contains(*id)).collect::<BTreeSet<_>>() {
            *counts.entry(id.to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Renders the rules that fire most, each with its count.
pub(super) fn render(counts: &BTreeMap<String, usize>) -> String {
    let mut ranking: Vec<(&String, &usize)> = counts.iter().collect();
    ranking.sort_by_key(|(id, count)| (Reverse(**count), *id));
    let rows = ranking.into_iter().take(MAX_RULES).map(|(id, count)| format!("{count:4} {id}\n"));
    format!(
        "# The {MAX_RULES} rules that fire most on the development corpora, each with the number of records.\n\
         # Written by `cargo xtask score --rules`.\n{}",
        rows.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_counts_once_per_verdict_and_detectors_do_not_count() {
        let finding = |id: &str| json!({"id": id});
        let verdicts = [
            json!({"findings": [finding("rm/system"), finding("rm/system"), finding("loop/repeat")]}),
            json!({"findings": [finding("git/clean"), finding("rm/system")]}),
            json!({"findings": []}),
        ];
        let known = ["rm/system", "git/clean", "aws/other"].map(str::to_owned).into();
        let rendered = render(&count(&verdicts, &known));
        let rows: Vec<&str> = rendered.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows, ["   2 rm/system", "   1 git/clean"]);
    }
}
