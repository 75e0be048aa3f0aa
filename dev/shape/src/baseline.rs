//! Counts per file, as `shape.txt` stores them: `PATH KIND COUNT`, one per line.

use crate::Problem;
use crate::count::Kind;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Counts by file and kind; 0 is not stored. The path is relative to the workspace, or a crate's folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<(String, Kind), usize>);

impl Counts {
    pub(crate) fn add(&mut self, path: &str, kind: Kind, count: usize) {
        if count > 0 {
            *self.0.entry((path.to_owned(), kind)).or_default() += count;
        }
    }

    pub(crate) fn read(file: &Path) -> Result<Counts, Problem> {
        let text = fs::read_to_string(file).map_err(|error| Problem::new(file, &error))?;
        Counts::parse(&text).ok_or_else(|| Problem::new(file, &"a line is not `PATH KIND COUNT`"))
    }

    fn parse(text: &str) -> Option<Counts> {
        let mut counts = Counts::default();
        for line in text.lines() {
            let (rest, count) = line.rsplit_once(' ')?;
            let (path, kind) = rest.rsplit_once(' ')?;
            counts.add(path, Kind::by_name(kind)?, count.parse().ok()?);
        }
        Some(counts)
    }

    pub(crate) fn write(&self, file: &Path) -> Result<(), Problem> {
        let mut text = String::new();
        for ((path, kind), count) in &self.0 {
            let _ = writeln!(text, "{path} {} {count}", kind.name());
        }
        fs::write(file, text).map_err(|error| Problem::new(file, &error))
    }

    fn of(&self, path: &str, kind: Kind) -> usize {
        self.0.get(&(path.to_owned(), kind)).copied().unwrap_or(0)
    }

    fn sum(&self, kind: Kind) -> usize {
        self.0.iter().filter(|((_, other), _)| *other == kind).map(|(_, count)| count).sum()
    }

    /// # Errors
    /// A count differs: it grew, or it shrank and is not written yet.
    pub(crate) fn hold(&self, found: &Counts) -> Result<(), Problem> {
        let mut problems = Vec::new();
        for ((path, kind), count) in &found.0 {
            let allowed = self.of(path, *kind);
            if *count > allowed {
                problems.push(format!("{path}: {count} {}, {allowed} allowed; {}", kind.name(), kind.instead()));
            }
        }
        let is_smaller = self.0.iter().any(|((path, kind), allowed)| found.of(path, *kind) < *allowed);
        if problems.is_empty() && is_smaller {
            problems.push("counts are smaller than dev/shape/shape.txt says: `UPDATE=1 cargo xtask shape`".to_owned());
        }
        if problems.is_empty() { Ok(()) } else { Err(Problem::Counts(problems)) }
    }

    /// # Errors
    /// The sum of a kind grew, so the counts must not be written.
    pub(crate) fn allow(&self, found: &Counts) -> Result<(), Problem> {
        let grown = Kind::ALL.into_iter().filter(|kind| found.sum(*kind) > self.sum(*kind));
        let lines: Vec<String> = grown
            .map(|kind| {
                format!("{}: {} instead of {}; {}", kind.name(), found.sum(kind), self.sum(kind), kind.instead())
            })
            .collect();
        if lines.is_empty() { Ok(()) } else { self.hold(found).and(Err(Problem::Counts(lines))) }
    }

    /// The sums per crate.
    pub(crate) fn table(&self) -> String {
        let mut crates: BTreeMap<&str, BTreeMap<Kind, usize>> = BTreeMap::new();
        for ((path, kind), count) in &self.0 {
            *crates.entry(crate_of(path)).or_default().entry(*kind).or_default() += count;
        }
        let mut text = format!("{:20}", "");
        let _ = writeln!(text, "{}", Kind::ALL.map(|kind| format!("{:>11}", kind.name())).concat());
        let mut row = |name: &str, of: &dyn Fn(Kind) -> usize| {
            let _ = writeln!(text, "{name:20}{}", Kind::ALL.map(|kind| format!("{:>11}", of(kind))).concat());
        };
        for (name, counts) in &crates {
            row(name, &|kind| counts.get(&kind).copied().unwrap_or(0));
        }
        row("all", &|kind| self.sum(kind));
        text
    }
}

/// The crate's folder: the path before `/src` or `/tests`.
fn crate_of(path: &str) -> &str {
    path.find("/src/").and_then(|end| path.get(..end)).unwrap_or(path)
}

impl Problem {
    pub(crate) fn new(path: &Path, why: &dyn ToString) -> Problem {
        Problem::File { path: path.to_owned(), why: why.to_string() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    #[test]
    fn a_count_may_shrink_and_move_but_not_grow() {
        let known = Counts::parse("crates/a/src/x.rs closures 2\ncrates/a/src/y.rs closures 1\n").unwrap();
        let of = |text: &str| Counts::parse(text).unwrap();
        assert!(known.hold(&known).is_ok());
        for found in
            ["crates/a/src/x.rs closures 3\n", "crates/a/src/new.rs closures 1\n", "crates/a/src/x.rs closures 2\n"]
        {
            assert!(known.hold(&of(found)).is_err(), "{found}");
        }
        assert!(known.allow(&of("crates/b/src/new.rs closures 3\n")).is_ok(), "a move");
        assert!(known.allow(&of("crates/b/src/new.rs closures 4\n")).is_err());
        assert!(known.allow(&of("crates/a/src/x.rs circles 1\n")).is_err());
        assert_eq!((Counts::parse("x closures"), Counts::parse("x jokes 1")), (None, None));
    }
}
