//! A detector from outside: asked when all others have reported, and its findings join theirs.

use crate::facts::cache::Facts;
use crate::facts::excerpt;
use crate::model::analysis::Analysis;
use crate::model::event::{Action, Event};
use crate::model::finding::{Finding, Severity};
use crate::model::path::absolute;

/// Such a detector.
pub type ExtraDetector<'a> = &'a dyn Fn(&Seen<'_>) -> Vec<Finding>;

/// The one that reports nothing.
pub const NONE: ExtraDetector<'static> = &|_| Vec::new();

/// What it sees of a call.
pub struct Seen<'a> {
    /// The call.
    pub event: &'a Event,
    /// What it would do.
    pub analysis: &'a Analysis,
    /// What the other detectors report.
    pub findings: &'a [Finding],
    /// What is asked of the machine.
    pub(crate) facts: &'a Facts<'a>,
}

/// More paths of one call are not named.
const MAX_PATHS: usize = 1000;

impl Seen<'_> {
    /// The worst severity so far.
    pub fn risk(&self) -> Severity {
        self.findings.iter().map(|finding| finding.severity).max().unwrap_or_default()
    }

    /// The part of an action that a person knows it by, shortened and without secrets.
    pub fn part(&self, action: usize) -> String {
        excerpt::action_part(self.facts, action)
    }

    /// The files that an action would touch, absolute, their links followed, each once: what its tool names, and what
    /// its commands would do something to.
    pub fn paths(&self, action: usize) -> Vec<String> {
        let named = self.event.actions.get(action).and_then(Action::path).filter(|path| !path.text.is_empty());
        let named = named.map(|path| self.facts.real_path(&absolute(&path.with_slashes(), &self.event.cwd)));
        let mut paths: Vec<String> = named.into_iter().collect();
        for effect in self.analysis.effects.iter().filter(|effect| effect.action == action) {
            for target in effect.targets.iter().filter(|target| target.path().is_some()) {
                let path = self.facts.real(effect, target).path;
                if !path.is_empty() && !paths.contains(&path) {
                    paths.push(path);
                }
                if paths.len() >= MAX_PATHS {
                    return paths;
                }
            }
        }
        paths
    }
}
