//! Many questions about one repository: the first few are answered one by one, then the whole work tree is looked at
//! once and answers the rest.

use super::{Fact, Found, Ignored, Names, Repository, Scope, Unknown, ignore, staged, unstaged};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// So many paths are asked about one by one: cheaper than all of a large work tree.
const FEW: usize = 16;

/// Where all of it cannot be had (too many files), no more paths than these are asked about.
const MOST: usize = 256;

/// What is asked about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Question {
    Uncommitted,
    Unstaged,
    Untracked(Ignored),
}

/// The questions so far.
#[derive(Debug, Default)]
pub(super) struct Survey {
    about: RefCell<BTreeMap<Question, std::rc::Rc<Answers>>>,
}

#[derive(Debug, Default)]
struct Answers {
    asked: Cell<usize>,
    whole: OnceCell<Fact<Found>>,
}

impl Survey {
    /// What is in the scope: at most `limit` names.
    pub(super) fn ask(&self, repository: &Repository, question: Question, scope: &Scope, limit: usize) -> Fact<Names> {
        let answers = std::rc::Rc::clone(self.about.borrow_mut().entry(question).or_default());
        let whole = || answers.whole.get_or_init(|| look(repository, question, &Scope(Vec::new())));
        let [path] = scope.0.as_slice() else {
            let answer = if scope.0.is_empty() { whole().clone()? } else { look(repository, question, scope)? };
            return answer.finish(limit);
        };
        let asked = answers.asked.replace(answers.asked.get() + 1);
        if asked >= FEW {
            if let Ok(whole) = whole() {
                return part(repository, question, whole, path)?.finish(limit);
            }
            if asked >= MOST {
                return Err(Unknown("too many paths to ask about one by one"));
            }
        }
        look(repository, question, scope)?.finish(limit)
    }
}

fn look(repository: &Repository, question: Question, scope: &Scope) -> Fact<Found> {
    match question {
        Question::Unstaged => unstaged::differing(repository, scope),
        Question::Untracked(ignored) => ignore::untracked(repository, scope, ignored),
        Question::Uncommitted => {
            let mut found = unstaged::differing(repository, scope)?;
            staged::differing(repository, scope, &mut found)?;
            Ok(found)
        }
    }
}

/// What of the whole lies at or below the path. Of a folder that is named as a whole its parts are what they are.
fn part(repository: &Repository, question: Question, whole: &Found, path: &[u8]) -> Fact<Found> {
    let path = Path::new(OsStr::from_bytes(path));
    let mut part = Found::default();
    let below = whole.names.range(path.to_path_buf()..).take_while(|name| name.starts_with(path));
    part.names.extend(below.cloned());
    let unclear = whole.unclear.range(path.to_path_buf()..).take_while(|(name, _)| name.starts_with(path));
    part.unclear.extend(unclear.map(|(name, reason)| (name.clone(), reason.clone())));
    let named_above = || path.ancestors().skip(1).any(|above| whole.names.contains(above));
    if matches!(question, Question::Untracked(_)) && part.names.is_empty() && named_above() {
        let full = repository.checked_out()?.join(path);
        let there = match full.symlink_metadata() {
            Ok(found) if found.is_dir() => !ignore::is_empty(&full),
            Ok(found) => found.is_file() || found.is_symlink(),
            Err(_) => false,
        };
        part.names.extend(there.then(|| path.to_path_buf()));
    }
    Ok(part)
}
