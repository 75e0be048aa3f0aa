//! Commits that one branch has and others lack.

use crate::files::read;
use crate::files::reference_files::{References, valid};
use crate::history::objects::Objects;
use crate::model::fact::{Fact, Unknown};
use crate::repository::Repository;
use gix_hash::ObjectId;
use gix_object::commit::ref_iter::Token;
use gix_object::{CommitRefIter, Kind, TagRefIter};
use std::collections::{BinaryHeap, HashMap, HashSet};

const MAXIMUM_COMMITS: usize = 50_000;
const MAXIMUM_SHALLOW: u64 = 4 * 1024 * 1024;
const MAXIMUM_TAG_DEPTH: usize = 5;
/// Number of commits to visit after the result seems final, because the dates of commits may be wrong.
const SLACK: usize = 64;

impl Repository {
    /// Number of commits reachable from a local branch and from no other branch, remote branch, tag or HEAD: the
    /// commits that `git branch -D` would orphan. A HEAD that names this branch does not keep them.
    pub fn only_on(&self, branch: &str) -> Fact<usize> {
        self.orphaned(&format!("refs/heads/{branch}"), "")
    }

    /// Number of commits that become unreachable if a reference is deleted, or moved to the commit that `onto` names
    /// (empty for none): no other branch, remote branch, tag, nor HEAD reaches them. The reference is a full name; a
    /// trailing `*` selects all names with this prefix, and `HEAD` is the branch that it names.
    pub fn orphaned(&self, reference: &str, onto: &str) -> Fact<usize> {
        let mut others = self.references()?;
        let current = self.branch()?.map(|branch| format!("refs/heads/{branch}").into_bytes());
        let moves = |name: &[u8]| current.as_deref() == Some(name);
        let mut hidden: Vec<ObjectId> = Vec::new();
        let mut takes_head = reference == "HEAD";
        let tips: Vec<ObjectId> = if takes_head {
            others.retain(|name, _| !moves(name));
            self.head()?.into_iter().collect()
        } else if let Some(start) = reference.strip_suffix('*') {
            let taken: Vec<_> = others.keys().filter(|name| name.starts_with(start.as_bytes())).cloned().collect();
            takes_head = taken.iter().any(|name| moves(name));
            taken.iter().filter_map(|name| others.remove(name)).collect()
        } else {
            let name = valid(reference)?;
            takes_head = moves(&name);
            vec![others.remove(&name).ok_or(Unknown("the reference does not exist"))?]
        };
        if tips.is_empty() {
            return Ok(0);
        }
        hidden.extend(kept(&others, b"refs/"));
        if !takes_head {
            hidden.extend(self.head()?);
        }
        hidden.extend(self.tip_of(onto)?);
        Walk::new(self, &others)?.count(&tips, &hidden)
    }

    /// The commit that a name or a full id denotes; `None` for an empty word or one with operators.
    fn tip_of(&self, word: &str) -> Fact<Option<ObjectId>> {
        match ObjectId::from_hex(word.as_bytes()) {
            _ if word.is_empty() => Ok(None),
            Ok(id) => Ok(Some(id)),
            Err(_) if word.contains(['~', '^', ':', '@', '{']) && word != "@" => Ok(None),
            Err(_) => self.named(word),
        }
    }

    /// Number of commits on a local branch that its upstream lacks. Without an upstream, commits that no remote branch
    /// has.
    pub fn unpushed(&self, branch: &str) -> Fact<usize> {
        let name = valid(&format!("refs/heads/{branch}"))?;
        let references = self.references()?;
        let tip = *references.get(&name).ok_or(Unknown("the branch does not exist"))?;
        let hidden = match self.upstream_reference(branch)? {
            Some(upstream) => self.object(&upstream)?.into_iter().collect(),
            None => kept(&references, b"refs/remotes/"),
        };
        Walk::new(self, &references)?.count(&[tip], &hidden)
    }
}

fn kept(references: &References, prefix: &[u8]) -> Vec<ObjectId> {
    let chosen = |name: &[u8]| {
        let kinds: [&[u8]; 3] = [b"refs/heads/", b"refs/remotes/", b"refs/tags/"];
        name.starts_with(prefix) && kinds.iter().any(|kind| name.starts_with(kind))
    };
    let mut ids: Vec<ObjectId> = references.iter().filter(|(name, _)| chosen(name)).map(|(_, id)| *id).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// The state of a commit that has been read.
struct Seen {
    hidden: bool,
    /// `None` until its parents are visited, then whether they were visited as hidden.
    visited: Option<bool>,
    date: i64,
    parents: Vec<ObjectId>,
}

/// Walks from the newest commit to the oldest, like git.
struct Walk {
    objects: Objects,
    hash: gix_hash::Kind,
    cut_off: HashSet<ObjectId>,
    seen: HashMap<ObjectId, Seen>,
    queue: BinaryHeap<(i64, ObjectId)>,
    wanted: usize,
    wanted_in_queue: usize,
    oldest_wanted: i64,
}

impl Walk {
    fn new(repository: &Repository, references: &References) -> Fact<Self> {
        let replaced = references.keys().any(|name| name.starts_with(b"refs/replace/"));
        if replaced || repository.common_dir.join("info/grafts").exists() {
            return Err(Unknown("the history has replaced commits"));
        }
        let shallow = read::file(&repository.common_dir.join("shallow"), MAXIMUM_SHALLOW)?.unwrap_or_default();
        let lines = shallow.split(|byte| *byte == b'\n');
        Ok(Walk {
            objects: Objects::open(repository)?,
            hash: repository.object_hash()?,
            cut_off: lines.filter_map(|line| ObjectId::from_hex(line).ok()).collect(),
            seen: HashMap::new(),
            queue: BinaryHeap::new(),
            wanted: 0,
            wanted_in_queue: 0,
            oldest_wanted: i64::MAX,
        })
    }

    fn count(mut self, tips: &[ObjectId], hidden: &[ObjectId]) -> Fact<usize> {
        let tips: Vec<ObjectId> = tips.iter().filter(|tip| !hidden.contains(tip)).copied().collect();
        if tips.is_empty() {
            return Ok(0);
        }
        for id in hidden {
            if let Some(commit) = self.peeled(*id)? {
                self.reach(commit, true)?;
            }
        }
        for tip in tips {
            let tip = self.peeled(tip)?.ok_or(Unknown("the reference does not lead to a commit"))?;
            self.reach(tip, false)?;
        }
        self.run()?;
        Ok(self.wanted)
    }

    fn run(&mut self) -> Fact<()> {
        let mut slack = SLACK;
        while let Some((date, id)) = self.queue.pop() {
            if self.wanted == 0 && self.wanted_in_queue == 0 {
                return Ok(());
            }
            let undecided = self.wanted_in_queue > 0 || date >= self.oldest_wanted;
            slack = if undecided { SLACK } else { slack - 1 };
            if slack == 0 {
                return Ok(());
            }
            self.visit(&id)?;
        }
        Ok(())
    }

    fn visit(&mut self, id: &ObjectId) -> Fact<()> {
        let Some(seen) = self.seen.get_mut(id) else { return Ok(()) };
        let hidden = seen.hidden;
        if seen.visited == Some(hidden) {
            return Ok(());
        }
        if !hidden {
            self.wanted_in_queue = self.wanted_in_queue.saturating_sub(1);
        }
        seen.visited = Some(hidden);
        let parents = seen.parents.clone();
        parents.into_iter().try_for_each(|parent| self.reach(parent, hidden))
    }

    /// Marks a commit as reachable, and queues it if this is new.
    fn reach(&mut self, id: ObjectId, hidden: bool) -> Fact<()> {
        if let Some(seen) = self.seen.get_mut(&id) {
            if hidden && !seen.hidden {
                seen.hidden = true;
                self.wanted = self.wanted.saturating_sub(1);
                let waiting = seen.visited.is_none();
                self.wanted_in_queue = self.wanted_in_queue.saturating_sub(usize::from(waiting));
                self.queue.push((seen.date, id));
            }
            return Ok(());
        }
        if self.seen.len() >= MAXIMUM_COMMITS {
            return Err(Unknown("too many commits"));
        }
        let (date, parents) = self.commit(&id)?;
        if !hidden {
            self.wanted += 1;
            self.wanted_in_queue += 1;
            self.oldest_wanted = self.oldest_wanted.min(date);
        }
        self.seen.insert(id, Seen { hidden, visited: None, date, parents });
        self.queue.push((date, id));
        Ok(())
    }

    fn commit(&mut self, id: &ObjectId) -> Fact<(i64, Vec<ObjectId>)> {
        let data = self.objects.find(id, Kind::Commit)?;
        let mut parents = Vec::new();
        let mut date = 0;
        for token in CommitRefIter::from_bytes(data, self.hash) {
            match token.map_err(|_| Unknown("a commit cannot be parsed"))? {
                Token::Parent { id } => parents.push(id),
                Token::Committer { signature } => {
                    date = signature.seconds();
                    break;
                }
                Token::Tree { .. }
                | Token::Author { .. }
                | Token::Encoding(_)
                | Token::ExtraHeader(_)
                | Token::Message(_) => {}
            }
        }
        if self.cut_off.contains(id) {
            parents.clear();
        }
        Ok((date, parents))
    }

    /// Peels a tag to the object that it tags.
    fn peeled(&mut self, mut id: ObjectId) -> Fact<Option<ObjectId>> {
        for _ in 0..MAXIMUM_TAG_DEPTH {
            if self.seen.contains_key(&id) {
                return Ok(Some(id));
            }
            let (kind, data) = self.objects.find_any(&id)?;
            match kind {
                Kind::Commit => return Ok(Some(id)),
                Kind::Tag => {
                    let target = TagRefIter::from_bytes(data, self.hash).target_id();
                    id = target.map_err(|_| Unknown("a tag cannot be parsed"))?;
                }
                Kind::Tree | Kind::Blob => return Ok(None),
            }
        }
        Err(Unknown("a tag leads too far"))
    }
}
