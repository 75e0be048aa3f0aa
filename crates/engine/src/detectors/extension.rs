//! Interface of an external detector: it runs after all others, and its findings are added to theirs.

use crate::facts::cache::Facts;
use crate::facts::excerpt;
use crate::model::analysis::Analysis;
use crate::model::event::{Action, Event};
use crate::model::finding::{Finding, Severity};
use crate::model::path::absolute;

/// An external detector.
pub type ExtraDetector<'a> = &'a dyn Fn(&Seen<'_>) -> Vec<Finding>;

/// A detector that reports nothing.
pub(crate) const NONE: ExtraDetector<'static> = &|_| Vec::new();

/// Input of an external detector for one call.
pub struct Seen<'a> {
    /// The call.
    pub event: &'a Event,
    /// Its effects.
    pub analysis: &'a Analysis,
    /// Findings of the other detectors.
    pub findings: &'a [Finding],
    /// Facts about the machine.
    pub(crate) facts: &'a Facts<'a>,
}

/// Maximum number of paths that are returned per action.
const MAX_PATHS: usize = 1000;

impl Seen<'_> {
    /// The highest severity of the findings.
    pub fn risk(&self) -> Severity {
        self.findings.iter().map(|finding| finding.severity).max().unwrap_or_default()
    }

    /// The part of an action that identifies it to a person, shortened and redacted.
    pub fn part(&self, action: usize) -> String {
        excerpt::action_part(self.facts, action)
    }

    /// Absolute paths of the files that an action would touch, with symlinks resolved and without duplicates: the path
    /// of its tool, and the targets of its commands' effects.
    pub fn paths(&self, action: usize) -> Vec<String> {
        let named = self.event.actions.get(action).and_then(Action::path).filter(|path| !path.text.is_empty());
        let named = named.map(|path| self.facts.call.real_path(&absolute(&path.with_slashes(), &self.event.cwd)));
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
