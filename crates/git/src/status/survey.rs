//! Many questions about one repository: the first few are answered separately, then one scan of the entire work tree
//! answers the rest.

use crate::files::index;
use crate::files::scope::{Scope, levels};
use crate::model::fact::{Fact, Unknown};
use crate::model::found::{Found, Names};
use crate::model::question::{Ignored, Question};
use crate::repository::Repository;
use crate::status::ignore;
use crate::status::staged;
use crate::status::unstaged;
use crate::system::native;
use std::path::PathBuf;

/// Number of paths to examine separately, which is cheaper than a scan of a large work tree.
const FEW: usize = 16;

/// Maximum number of paths to examine separately if the scan fails (too many files). For further paths, the answer is
/// incomplete.
const MAX_PARTS: usize = 256;

impl Repository {
    /// Tracked files at or below `scope` (empty: all) that differ from the index or whose index entry differs from
    /// HEAD.
    pub fn uncommitted(&self, scope: &[PathBuf], limit: usize) -> Fact<Names> {
        self.ask(Question::Uncommitted, &self.scope(scope)?, limit)
    }

    /// Tracked files at or below `scope` (empty: all) that differ from the index: the changes that `git checkout -- .`
    /// discards.
    pub fn unstaged(&self, scope: &[PathBuf], limit: usize) -> Fact<Names> {
        self.ask(Question::Unstaged, &self.scope(scope)?, limit)
    }

    /// Untracked files at or below `scope` (empty: all). A nested repository counts as one name, and so does a folder
    /// that is ignored entirely.
    pub fn untracked(&self, scope: &[PathBuf], ignored: Ignored, limit: usize) -> Fact<Names> {
        self.ask(Question::Untracked(ignored), &self.scope(scope)?, limit)
    }

    /// Answers a question for the scope, with at most `limit` names.
    fn ask(&self, question: Question, scope: &Scope, limit: usize) -> Fact<Names> {
        let answers = std::rc::Rc::clone(self.survey.about.borrow_mut().entry(question).or_default());
        let complete = || answers.complete.get_or_init(|| look(self, question, &Scope(Vec::new())));
        let [path] = scope.0.as_slice() else {
            let answer = if scope.0.is_empty() { complete().clone()? } else { look(self, question, scope)? };
            return answer.finish(limit);
        };
        let asked = answers.asked.replace(answers.asked.get() + 1);
        if asked >= FEW
            && let Ok(complete) = complete()
        {
            let part = part(self, question, complete, path)?;
            if part.broken_off.is_none() || !part.names.is_empty() {
                return part.finish(limit);
            }
            if asked >= MAX_PARTS {
                return Found { broken_off: Some(Unknown("too many paths to ask about one by one")), ..part }
                    .finish(limit);
            }
        }
        look(self, question, scope)?.finish(limit)
    }
}

fn look(repository: &Repository, question: Question, scope: &Scope) -> Fact<Found> {
    let mut found = Found::default();
    let index = match (question, scope.0.as_slice()) {
        (Question::Unstaged, [path]) => repository.index_about(path),
        (Question::Unstaged | Question::Uncommitted | Question::Untracked(_), _) => repository.index(),
    };
    match &index {
        // An index that exists but cannot be read hides possible losses.
        Err(reason) if index::HIDES.contains(reason) => {
            found.break_off(Err(reason.clone()));
            return Ok(found);
        }
        Ok(_) | Err(_) => {}
    }
    match question {
        Question::Unstaged => unstaged::differing(repository, index?, scope, &mut found)?,
        Question::Untracked(ignored) => found = ignore::untracked(repository, scope, ignored)?,
        Question::Uncommitted => {
            unstaged::differing(repository, index?, scope, &mut found)?;
            staged::differing(repository, scope, &mut found)?;
        }
    }
    Ok(found)
}

/// The part of a full answer at or below the path. If the answer names a folder above the path as a unit, the path
/// itself is the answer, provided that it exists.
fn part(repository: &Repository, question: Question, complete: &Found, path: &[u8]) -> Fact<Found> {
    let mut part = Found { broken_off: complete.broken_off.clone(), ..Found::default() };
    if complete.names.is_empty() && complete.unclear.is_empty() {
        return Ok(part);
    }
    // Paths below a folder are adjacent in order, after the folder's name and a slash.
    let inside = [path, b"/"].concat();
    let below = complete.names.range(inside.clone()..).take_while(|name| name.starts_with(&inside));
    part.names.extend(complete.names.get(path).into_iter().chain(below).cloned());
    let below = complete.unclear.range(inside.clone()..).take_while(|(name, _)| name.starts_with(&inside));
    let unclear = complete.unclear.get_key_value(path).into_iter().chain(below);
    part.unclear.extend(unclear.map(|(name, reason)| (name.clone(), reason.clone())));
    let named_above = || levels(path).into_iter().any(|above| above != path && complete.names.contains(above));
    if matches!(question, Question::Untracked(_)) && part.names.is_empty() && named_above() {
        let full = repository.checked_out()?.join(native(path));
        let exists = match full.symlink_metadata() {
            Ok(found) if found.is_dir() => !ignore::is_empty(&full),
            Ok(found) => found.is_file() || found.is_symlink(),
            Err(_) => false,
        };
        part.names.extend(exists.then(|| path.to_vec()));
    }
    Ok(part)
}
