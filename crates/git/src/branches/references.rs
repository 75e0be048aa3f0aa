//! Branches, remote branches, tags, HEAD and the stash, as files.

use crate::files::read;
use crate::files::reference_files::{References, Target, branch_of, check, collect, loose, mapped, valid};
use crate::model::fact::{Fact, Unknown};
use crate::repository::Repository;
use gix_hash::ObjectId;

const MAXIMUM_PACKED: u64 = 64 * 1024 * 1024;
const MAXIMUM_LOG: u64 = 4 * 1024 * 1024;
const MAXIMUM_FOLLOWED: usize = 5;
const STASHES_SHOWN: usize = 20;

/// An entry of a reflog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The object id before.
    pub old: String,
    /// The object id after.
    pub new: String,
    /// The message that git wrote.
    pub message: String,
}

impl Repository {
    /// Short branch name; `None` if HEAD is detached. A branch without commits has a name, too.
    pub fn branch(&self) -> Fact<Option<String>> {
        self.object_hash()?;
        branch_of(&self.git_dir)
    }

    /// The remote-tracking (or local) branch that a local branch follows, such as `origin/main`; `None` if it follows
    /// none that exists here.
    pub fn upstream(&self, branch: &str) -> Fact<Option<String>> {
        let name = self.upstream_reference(branch)?;
        let short = |name: Vec<u8>| {
            let name = name.strip_prefix(b"refs/remotes/").or(name.strip_prefix(b"refs/heads/")).unwrap_or(&name);
            String::from_utf8_lossy(name).into_owned()
        };
        Ok(name.map(short))
    }

    /// Whether a single word names a commit: a branch, a tag, a remote branch, or HEAD. The answer is unknown for a
    /// possible abbreviated id and for expressions with operators (`a~1`, `a:b`, `@{u}`).
    pub fn names_commit(&self, word: &str) -> Fact<bool> {
        if word == "HEAD" || word == "@" {
            return Ok(self.head()?.is_some());
        }
        if word.is_empty()
            || word.contains(['~', '^', ':', '@', '{', '*', '?', '[', '\\', ' '])
            || word.starts_with('-')
        {
            return Err(Unknown("more than a name"));
        }
        let hexadecimal = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_pseudo_reference = word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        if is_pseudo_reference && loose(&self.git_dir, word.as_bytes())?.is_some() {
            return Ok(true);
        }
        for folder in ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"] {
            if self.object(format!("{folder}{word}").as_bytes())?.is_some() {
                return Ok(true);
            }
        }
        if self.object(format!("refs/remotes/{word}/HEAD").as_bytes())?.is_some() {
            return Ok(true);
        }
        if hexadecimal { Err(Unknown("it may be the beginning of an id")) } else { Ok(false) }
    }

    /// The object that a word names: HEAD, a tag, a branch, a remote branch.
    pub(crate) fn named(&self, word: &str) -> Fact<Option<ObjectId>> {
        if word == "HEAD" || word == "@" {
            return self.head();
        }
        for folder in ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"] {
            if let Some(id) = self.object(format!("{folder}{word}").as_bytes())? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// The branch that the remote's HEAD names, as last fetched.
    pub fn default_branch(&self, remote: &str) -> Option<String> {
        self.object_hash().ok()?;
        let name = valid(&format!("refs/remotes/{remote}/HEAD")).ok()?;
        let Ok(Some(Target::Other(target))) = loose(&self.common_dir, &name) else { return None };
        let branch = target.strip_prefix(format!("refs/remotes/{remote}/").as_bytes())?;
        Some(String::from_utf8_lossy(branch).into_owned())
    }

    /// The full id of the commit that a word names.
    pub fn commit_named(&self, word: &str) -> Option<String> {
        self.named(word).ok().flatten().map(|id| id.to_string())
    }

    /// The reflog of a reference, oldest entry first; empty if it has none.
    pub(crate) fn log_of(&self, name: &str) -> Fact<Vec<Logged>> {
        valid(name)?;
        let log = read::file(&self.common_dir.join("logs").join(name), MAXIMUM_LOG)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        let line = |line: &str| {
            let (who, message) = line.split_once('\t').unwrap_or((line, ""));
            let mut ids = who.split(' ').map(str::to_owned);
            Some(Logged { old: ids.next()?, new: ids.next()?, message: message.to_owned() })
        };
        Ok(text.lines().filter_map(line).collect())
    }

    /// Every stash, newest first: its id, a tab, its message.
    pub fn stash_log(&self) -> Fact<Vec<String>> {
        let Some(newest) = self.object(b"refs/stash")? else { return Ok(Vec::new()) };
        let log = self.log_of("refs/stash")?;
        let found: Vec<String> = log.iter().rev().map(|line| format!("{}\t{}", line.new, line.message)).collect();
        Ok(if found.is_empty() { vec![newest.to_string()] } else { found })
    }

    /// Messages of the stash, newest first, at most 20.
    pub fn stash_entries(&self) -> Fact<Vec<String>> {
        if self.object(b"refs/stash")?.is_none() {
            return Ok(Vec::new());
        }
        let log = read::file(&self.common_dir.join("logs/refs/stash"), MAXIMUM_LOG)?;
        let log = log.unwrap_or_default();
        let lines = log.split(|byte| *byte == b'\n').rev().filter(|line| !line.is_empty());
        let message = |line: &[u8]| {
            let text = line.iter().position(|byte| *byte == b'\t').and_then(|tab| line.get(tab + 1..));
            String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
        };
        Ok(lines.take(STASHES_SHOWN).map(message).collect())
    }

    /// The commit of HEAD; `None` on a branch without commits.
    pub(crate) fn head(&self) -> Fact<Option<ObjectId>> {
        self.object_hash()?;
        match loose(&self.git_dir, b"HEAD")?.ok_or(Unknown("HEAD is missing"))? {
            Target::Object(id) => Ok(Some(id)),
            Target::Other(name) => self.object(&name),
        }
    }

    /// The object of a full name, through symbolic references.
    pub(crate) fn object(&self, name: &[u8]) -> Fact<Option<ObjectId>> {
        self.object_hash()?;
        let mut name = name.to_vec();
        for _ in 0..MAXIMUM_FOLLOWED {
            check(&name)?;
            match loose(&self.common_dir, &name)? {
                Some(Target::Object(id)) => return Ok(Some(id)),
                Some(Target::Other(next)) => name = next,
                None => return Ok(self.packed()?.remove(&name)),
            }
        }
        Err(Unknown("a symbolic reference leads too far"))
    }

    /// All branches, remote branches and tags.
    pub(crate) fn references(&self) -> Fact<References> {
        self.object_hash()?;
        let mut found = self.packed()?;
        let budget = read::Budget::new();
        for kind in ["refs/heads", "refs/remotes", "refs/tags", "refs/replace"] {
            collect(&self.common_dir, kind.as_bytes(), &budget, &mut found)?;
        }
        Ok(found)
    }

    /// The full name of the reference that a branch follows, if it exists.
    pub(crate) fn upstream_reference(&self, branch: &str) -> Fact<Option<Vec<u8>>> {
        valid(&format!("refs/heads/{branch}"))?;
        let name = match self.configured_upstream(branch)? {
            Some(configured) => configured,
            None => format!("refs/remotes/origin/{branch}").into_bytes(),
        };
        let exists = !name.is_empty() && self.object(&name)?.is_some();
        Ok(exists.then_some(name))
    }

    /// Returns an empty name if the configured upstream has no fetched reference.
    fn configured_upstream(&self, branch: &str) -> Fact<Option<Vec<u8>>> {
        let settings = self.settings()?;
        let of_branch = |name| settings.text("branch", Some(branch.as_bytes()), name);
        let (Some(remote), Some(merge)) = (of_branch("remote"), of_branch("merge")) else {
            return Ok(None);
        };
        if remote == b"." {
            return Ok(Some(merge.to_vec()));
        }
        let fetched = settings.all("remote", Some(remote), "fetch");
        Ok(Some(fetched.iter().find_map(|rule| mapped(rule, merge)).unwrap_or_default()))
    }

    fn packed(&self) -> Fact<References> {
        let unreadable = || Unknown("the packed references cannot be read");
        let content = read::file(&self.common_dir.join("packed-refs"), MAXIMUM_PACKED)?.unwrap_or_default();
        let lines = gix_ref::packed::Iter::new(&content, self.object_hash()?).map_err(|_| unreadable())?;
        let mut found = References::new();
        for line in lines {
            let line = line.map_err(|_| unreadable())?;
            found.insert(line.name.as_bstr().to_vec(), line.target());
        }
        Ok(found)
    }
}
