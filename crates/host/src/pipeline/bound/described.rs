//! The effects of a call in words, with the state of the files that it would change, for the person who approves it.

use super::Binder;
use reflex_engine::shell::ExecTarget;
use reflex_engine::{Analysis, Effect, EffectKind, Target, is_within};
use reflex_git::{Ignored, Repository};
use std::path::Path;

/// Effects on files whose state matters to who approves them.
const STATED: [EffectKind; 7] = [
    EffectKind::Delete,
    EffectKind::Overwrite,
    EffectKind::Truncate,
    EffectKind::Move,
    EffectKind::Edit,
    EffectKind::Append,
    EffectKind::Populate,
];

/// Maximum number of files and folders whose state is looked up.
const MAX_STATED: usize = 8;

/// Maximum number of targets that are named in a line.
const MAX_NAMED: usize = 8;

/// Maximum number of files that are counted in a folder.
const MAX_COUNTED: usize = 1000;

impl Binder<'_> {
    /// Describes each effect in a line: `delete data/: 2 files that git does not track`.
    pub(super) fn describe(&self, analysis: &Analysis) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut states = States { home: self.world.home(), repositories: Vec::new(), left: MAX_STATED };
        for effect in &analysis.effects {
            for line in self.lines(effect, &mut states) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    fn lines(&self, effect: &Effect, states: &mut States<'_>) -> Vec<String> {
        let site = match effect.site {
            ExecTarget::Here => "",
            ExecTarget::Remote => " (on another machine)",
            ExecTarget::Container => " (in a container)",
        };
        let phrase = effect.kind.phrase();
        let stated = effect.site == ExecTarget::Here && STATED.contains(&effect.kind);
        let (stated, others): (Vec<&Target>, Vec<&Target>) = effect.targets.iter().partition(|target| {
            let is_stated = stated && states.left > 0 && target.path().is_some();
            states.left -= usize::from(is_stated);
            is_stated
        });
        let paths = stated.iter().filter_map(|target| target.path());
        let mut lines: Vec<String> =
            paths.map(|path| format!("{phrase} {}: {}", self.near(path), self.state(path, states))).collect();
        if lines.is_empty() || !others.is_empty() {
            let names: Vec<String> = others.iter().take(MAX_NAMED).map(|target| target.shown()).collect();
            let more = others.len().saturating_sub(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("{phrase} {}{more}{site}", names.join(", ")).trim_end().to_owned());
        }
        lines
    }

    /// Describes whether git could bring a file or folder back. A folder outside the project is not searched: the
    /// judgement did not need that either, and a whole home would take longer than a call may.
    fn state(&self, path: &str, states: &mut States<'_>) -> String {
        let Ok(data) = Path::new(path).symlink_metadata() else { return "does not exist".into() };
        if data.is_dir() && !is_within(path, &self.event.workspace) {
            return "a folder outside this project".into();
        }
        states.of(Path::new(path), data.is_dir())
    }
}

/// Looks up states in git.
struct States<'h> {
    /// The user's home, with the settings of git.
    home: &'h Path,
    /// The repositories so far: each reads its index once.
    repositories: Vec<Repository>,
    /// Number of states that may still be looked up.
    left: usize,
}

impl States<'_> {
    fn of(&mut self, path: &Path, is_folder: bool) -> String {
        let Some(found) = Repository::discover(path, self.home) else { return "in no git repository".into() };
        let is_same = |known: &Repository| (known.git_dir(), known.work_tree()) == (found.git_dir(), found.work_tree());
        match self.repositories.iter().find(|known| is_same(known)) {
            Some(known) => state(known, path, is_folder),
            None => {
                let state = state(&found, path, is_folder);
                self.repositories.push(found);
                state
            }
        }
    }
}

fn state(repository: &Repository, path: &Path, is_folder: bool) -> String {
    let scope = [path.to_owned()];
    let count = |found: reflex_git::Fact<reflex_git::Names>| found.map(|names| names.count);
    let found = count(repository.uncommitted(&scope, MAX_COUNTED))
        .and_then(|changed| Ok((changed, count(repository.untracked(&scope, Ignored::With, MAX_COUNTED))?)));
    let Ok((changed, untracked)) = found else { return "its state in git is unknown".into() };
    if !is_folder {
        return match (changed, untracked) {
            (_, 1..) => "in no commit".into(),
            (1.., _) => "changed since the last commit".into(),
            (0, 0) => "as in the last commit".into(),
        };
    }
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let parts = [(changed, "changed since the last commit"), (untracked, "in no commit")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", files(*count))).collect();
    if parts.is_empty() { "as in the last commit".into() } else { parts.join(", ") }
}
