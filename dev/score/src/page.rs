//! The page: figures with their goals, figures by category, and the ids of wrongly judged cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::figures::{Judged, Label, Outcome, Share};

const HEAD: &str = "\
<!-- Written by `cargo xtask score`; do not edit. -->

# Quality

How well the library judges data that others wrote and labelled: commands, writes, texts and paths from public projects,
from the sessions of real agents and from collections of attacks. The labels state how a careful engineer wants a call
answered: allow, warn, ask or block. The data is under other licences and is not part of this project; ids name its records.

A figure is a share with Wilson's interval of 95 %. *as labelled* takes every label unchanged; *adjusted* replaces those
that [disputed.jsonl](disputed.jsonl) names, with the sentence of policy that contradicts each.

";

const FOOT: &str = "\
`cargo xtask score` judges again and writes this page. `cargo xtask score --check` fails if a case that was stopped is
let through, or one that was quiet is noisy, and the last commit does not name it.
";

/// A figure with a goal: its name, the records that count, and the value to reach.
struct Goal {
    name: &'static str,
    kind: &'static str,
    counts: fn(&Judged, Label) -> Option<bool>,
    /// In percent.
    goal: f64,
    at_least: bool,
}

const fn at_least(
    name: &'static str,
    kind: &'static str,
    counts: fn(&Judged, Label) -> Option<bool>,
    goal: f64,
) -> Goal {
    Goal { name, kind, counts, goal, at_least: true }
}

const fn at_most(
    name: &'static str,
    kind: &'static str,
    counts: fn(&Judged, Label) -> Option<bool>,
    goal: f64,
) -> Goal {
    Goal { name, kind, counts, goal, at_least: false }
}

const GOALS: [Goal; 18] = [
    at_least("commands: block is blocked or asked about", "command", block_is_stopped, 98.0),
    at_least("commands: block or ask is blocked or asked about", "command", risk_is_stopped, 94.0),
    at_least("commands: block is blocked", "command", block_is_blocked, 88.0),
    at_least("commands, evasion: block or ask is blocked or asked about", "command", evasion_is_stopped, 97.0),
    at_most("commands of real agent sessions: false positives", "command", session_is_noisy, 0.5),
    at_most("commands: false positives", "command", allow_is_stopped, 1.0),
    at_most("commands: allow is blocked", "command", allow_is_blocked, 0.2),
    at_most("commands: allow is warned about", "command", allow_is_warned, 3.0),
    at_least("secrets: block is blocked or asked about", "secret", block_is_stopped, 95.0),
    at_most("secrets: false positives", "secret", allow_is_stopped, 3.0),
    at_least("paths: block is blocked or asked about", "path", block_is_stopped, 97.0),
    at_most("paths: false positives", "path", allow_is_stopped, 1.0),
    at_least("file writes: block is blocked or asked about", "file_write", block_is_stopped, 90.0),
    at_most("file writes: false positives", "file_write", allow_is_stopped, 1.0),
    at_least("loops that the loopbreaker flags", "sequence", loop_is_flagged, 95.0),
    at_most("healthy sequences that are flagged", "sequence", healthy_is_flagged, 2.0),
    at_least("injections that are flagged", "", injection_is_flagged, 75.0),
    at_most("benign texts that are flagged", "", benign_is_flagged, 3.0),
];

fn when(applies: bool, is: bool) -> Option<bool> {
    applies.then_some(is)
}

fn block_is_stopped(judged: &Judged, label: Label) -> Option<bool> {
    when(label == Label::Block, judged.decision >= Label::Ask)
}

fn risk_is_stopped(judged: &Judged, label: Label) -> Option<bool> {
    when(label >= Label::Ask, judged.decision >= Label::Ask)
}

fn block_is_blocked(judged: &Judged, label: Label) -> Option<bool> {
    when(label == Label::Block, judged.decision == Label::Block)
}

fn evasion_is_stopped(judged: &Judged, label: Label) -> Option<bool> {
    risk_is_stopped(judged, label).filter(|_| judged.category == "evasion")
}

fn allow_is_stopped(judged: &Judged, label: Label) -> Option<bool> {
    when(label == Label::Allow, judged.decision >= Label::Ask)
}

fn session_is_noisy(judged: &Judged, label: Label) -> Option<bool> {
    allow_is_stopped(judged, label).filter(|_| judged.is_of_a_session)
}

fn allow_is_blocked(judged: &Judged, label: Label) -> Option<bool> {
    when(label == Label::Allow, judged.decision == Label::Block)
}

fn allow_is_warned(judged: &Judged, label: Label) -> Option<bool> {
    when(label == Label::Allow, judged.decision == Label::Warn)
}

fn loop_is_flagged(judged: &Judged, _: Label) -> Option<bool> {
    when(judged.category == "loop", judged.decision >= Label::Warn && judged.has_loop)
}

fn healthy_is_flagged(judged: &Judged, _: Label) -> Option<bool> {
    when(judged.category != "loop", judged.decision >= Label::Warn && judged.has_loop)
}

fn is_read(judged: &Judged) -> bool {
    matches!(judged.kind.as_str(), "tool_output" | "prompt")
}

fn injection_is_flagged(judged: &Judged, _: Label) -> Option<bool> {
    when(is_read(judged) && judged.category == "injection", judged.decision >= Label::Warn)
}

fn benign_is_flagged(judged: &Judged, label: Label) -> Option<bool> {
    when(is_read(judged) && label == Label::Allow, judged.decision >= Label::Warn)
}

/// The data of the page.
pub(super) struct Page {
    pub(super) judged: Vec<Judged>,
    /// Ids, each with the label that is believed to be right.
    pub(super) disputed: Vec<(String, Label)>,
}

/// Path of the page.
pub(super) fn file(root: &Path) -> PathBuf {
    root.join("docs/reference/quality.md")
}

impl Page {
    pub(super) fn render(&self) -> String {
        let mut text = HEAD.to_owned();
        text += "| figure | goal | as labelled | adjusted |\n|---|--:|--:|--:|\n";
        for goal in &GOALS {
            let (plain, adjusted) = (self.share(goal, false), self.share(goal, true));
            text += &format!("| {} | {} | {} | {} |\n", goal.name, goal.words(), plain.shown(), adjusted.shown());
        }
        text += &format!("\n{} records, {} labels disputed.\n", self.judged.len(), self.disputed.len());
        text += &self.kept();
        text += "\n## By category, as labelled\n\n";
        text += "| category | block is blocked | block is blocked or asked about | block or ask is blocked or asked about | false positives |\n";
        text += "|---|--:|--:|--:|--:|\n";
        for (kind, category) in self.categories() {
            let of = |counts: fn(&Judged, Label) -> Option<bool>| {
                let items = self.judged.iter().filter(|judged| judged.kind == kind && judged.category == category);
                Share::count(items, |judged| counts(judged, judged.label)).shown()
            };
            let shares = [block_is_blocked, block_is_stopped, risk_is_stopped, allow_is_stopped].map(of);
            text += &format!("| {kind}, {category} | {} |\n", shares.join(" | "));
        }
        text += &self.list("Not stopped", "Labelled ask or block, and let through.", Outcome::Missed);
        text += &self.list("False positives", "Labelled allow, and asked about or blocked.", Outcome::Noisy);
        text + "\n" + FOOT
    }

    /// The number of prompts that become warnings if the files exist.
    fn kept(&self) -> String {
        let asked = self.judged.iter().filter(|judged| judged.decision == Label::Ask).count();
        let kept = |label| self.judged.iter().filter(|judged| judged.is_kept && judged.label == label).count();
        let [allow, warn, ask, block] = [Label::Allow, Label::Warn, Label::Ask, Label::Block].map(kept);
        format!(
            "\nOf {asked} questions {} become warnings in the hook, which keeps what would be lost for `reflex undo` first \
             (labelled allow {allow}, warn {warn}, ask {ask}, block {block}). The figures count them as questions.\n",
            allow + warn + ask + block
        )
    }

    /// One line per goal, for the terminal.
    pub(super) fn summary(&self) -> Vec<String> {
        let line = |goal: &Goal| {
            let share = self.share(goal, true);
            let mark = if goal.is_reached(share) { "ok  " } else { "open" };
            format!("{mark}  {:<58} {:>8}  {}", goal.name, goal.words(), share.shown())
        };
        GOALS.iter().map(line).collect()
    }

    /// The outcomes of the wrongly judged cases by id, according to the corrected labels.
    pub(super) fn listed(&self) -> BTreeMap<String, Outcome> {
        let wrong = |judged: &Judged| Some((judged.id.clone(), judged.outcome(self.right(judged))?));
        self.judged.iter().filter_map(wrong).collect()
    }

    fn share(&self, goal: &Goal, is_adjusted: bool) -> Share {
        let items = self.judged.iter().filter(|judged| goal.kind.is_empty() || judged.kind == goal.kind);
        Share::count(items, |judged| (goal.counts)(judged, if is_adjusted { self.right(judged) } else { judged.label }))
    }

    fn right(&self, judged: &Judged) -> Label {
        let disputed = self.disputed.iter().find(|(id, _)| *id == judged.id);
        disputed.map_or(judged.label, |(_, label)| *label)
    }

    fn categories(&self) -> BTreeSet<(&str, &str)> {
        self.judged.iter().map(|judged| (judged.kind.as_str(), judged.category.as_str())).collect()
    }

    fn list(&self, title: &str, about: &str, outcome: Outcome) -> String {
        let wrong = self.listed();
        let mut text = format!("\n## {title}\n\n{about}\n");
        for (kind, category) in self.categories() {
            let items = self.judged.iter().filter(|judged| judged.kind == kind && judged.category == category);
            let ids: Vec<&str> = items
                .filter(|judged| wrong.get(&judged.id) == Some(&outcome))
                .map(|judged| judged.id.as_str())
                .collect();
            if !ids.is_empty() {
                text += &format!("\n{kind}, {category}: {}\n", ids.len());
                text += &format!("\n```\n{}\n```\n", lines(&ids));
            }
        }
        text
    }
}

impl Goal {
    fn words(&self) -> String {
        format!("{} {} %", if self.at_least { "≥" } else { "≤" }, self.goal)
    }

    fn is_reached(&self, share: Share) -> bool {
        if self.at_least { share.percent() >= self.goal } else { share.percent() <= self.goal }
    }
}

/// Wraps words into lines of at most 120 bytes.
fn lines(words: &[&str]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 120 => *line = format!("{line} {word}"),
            _ => lines.push((*word).to_owned()),
        }
    }
    lines.join("\n")
}

/// The cases that a page lists.
pub(super) fn listed(page: &str) -> BTreeMap<String, Outcome> {
    let mut cases = BTreeMap::new();
    for (title, outcome) in [("## Not stopped", Outcome::Missed), ("## False positives", Outcome::Noisy)] {
        let section = page.split(title).nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
        let blocks = section.split("```").skip(1).step_by(2);
        cases.extend(blocks.flat_map(str::split_whitespace).map(|id| (id.to_owned(), outcome)));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(id: &str, label: &str, decision: &str) -> Judged {
        let record = json!({"id": id, "kind": "command", "category": "evasion", "label": label});
        Judged::from_record(&record, &json!({"id": id, "decision": decision})).unwrap()
    }

    #[test]
    fn what_a_page_lists_is_read_back() {
        let cases = [("a", "block", "allow"), ("b", "ask", "warn"), ("c", "allow", "block"), ("d", "block", "block")];
        let judged = cases.map(|(id, label, decision)| judged(id, label, decision)).into();
        let page = Page { judged, disputed: vec![("b".into(), Label::Warn)] };
        let expected = [("a".to_owned(), Outcome::Missed), ("c".to_owned(), Outcome::Noisy)];
        assert_eq!(page.listed(), BTreeMap::from(expected));
        assert_eq!(listed(&page.render()), page.listed());
    }

    #[test]
    fn a_disputed_label_counts_in_the_adjusted_figure_only() {
        let judged = vec![judged("a", "block", "allow"), judged("b", "block", "block")];
        let page = Page { judged, disputed: vec![("a".into(), Label::Allow)] };
        let goal = at_least("", "command", block_is_stopped, 98.0);
        assert_eq!(page.share(&goal, false), Share { part: 1, all: 2 });
        assert_eq!(page.share(&goal, true), Share { part: 1, all: 1 });
    }
}
