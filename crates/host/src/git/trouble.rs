//! What is wrong with a repository that is there and cannot be read: git, or whoever looks at its files, then does not
//! see what is work.

use super::config::{Settings, is_users_own, regular_or_none};
use super::{Fact, Repository, Unknown, index};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What is wrong with a repository, and what mends it or shows more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What keeps git or us from reading it.
    pub reason: String,
    /// A command for a person or an agent.
    pub mend: &'static str,
}

/// How closely a repository is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Its settings, and the beginning of its index: cheap enough for each file that is written over.
    Quick,
    /// All of its index.
    Whole,
}

/// Why git reads what we do not: it is no trouble of the repository.
const ONLY_OURS: [Unknown; 2] = [index::SPARSE, super::config::NO_FILES];

/// What of a git folder shows that one was meant, though git would not take it for one.
const REMAINS: [&str; 6] = ["HEAD", "objects", "refs", "index", "config", "packed-refs"];

/// Variables that make git look at other folders, and where they usually lead.
const LEADING: [(&str, Usual); 5] = [
    ("GIT_DIR", Usual::GitDir),
    ("GIT_COMMON_DIR", Usual::Common("")),
    ("GIT_OBJECT_DIRECTORY", Usual::Common("objects")),
    ("GIT_INDEX_FILE", Usual::Index),
    ("GIT_WORK_TREE", Usual::WorkTree),
];

#[derive(Clone, Copy)]
enum Usual {
    GitDir,
    Common(&'static str),
    Index,
    WorkTree,
}

impl Repository {
    /// What is wrong with it; none where what git has of the files can be told.
    pub fn trouble(&self, look: Look) -> Option<&Trouble> {
        let known = match look {
            Look::Quick => &self.quick_trouble,
            Look::Whole => &self.whole_trouble,
        };
        known.get_or_init(|| self.look_for_trouble(look)).as_ref()
    }

    fn look_for_trouble(&self, look: Look) -> Option<Trouble> {
        let broken = self.work_tree_trouble().or_else(|| self.broken(look));
        broken.or_else(|| self.environment_trouble())
    }

    fn work_tree_trouble(&self) -> Option<Trouble> {
        let bare = |why: &str| Trouble {
            reason: format!("{why}git takes the folder for a bare repository, which has no files of its own"),
            mend: "git worktree list",
        };
        let Some(found_in) = self.found_in.as_deref() else { return Some(bare("")) };
        match &self.work_tree {
            // Where there never was an index, nobody has worked.
            None if self.is_bare && !self.git_dir.join("index").exists() => Some(bare("`core.bare` is set, so that ")),
            None if self.is_bare => Some(Trouble {
                reason: "`core.bare` is set, so that git takes the project for one without files".into(),
                mend: "git config --unset core.bare",
            }),
            Some(root) if root == found_in || found_in.canonicalize().is_ok_and(|found| found == *root) => None,
            None | Some(_) => Some(Trouble {
                reason: "`core.worktree` leads git to other files than these".into(),
                mend: "git config --unset core.worktree",
            }),
        }
    }

    fn broken(&self, look: Look) -> Option<Trouble> {
        let own = self.object_hash().and_then(|_| self.worktree_configuration.clone());
        let settings = own.and_then(|_| match look {
            Look::Quick => Settings::check_user(&self.git_dir),
            Look::Whole => self.settings().map(|_| ()),
        });
        let index = || match look {
            Look::Quick => index::begins_well(&self.git_dir.join("index")),
            Look::Whole => self.index().map(|_| ()),
        };
        let failed = |answer: Fact<()>, what| answer.err().and_then(|reason| told_of(what, &reason));
        // What HEAD leads to is asked by whoever compares with it, and unknown there is no "clean".
        failed(settings, "git's configuration").or_else(|| failed(index(), "the index"))
    }

    /// The environment may be set by the repository itself: nothing it names is looked at, but what git would do there is
    /// then not known.
    fn environment_trouble(&self) -> Option<Trouble> {
        let leads_away = |(name, usual): &(&'static str, Usual)| {
            let given = std::env::var_os(name).filter(|value| !value.is_empty())?;
            (!self.is_usual(&given, *usual)).then_some(*name)
        };
        let away = LEADING.iter().find_map(leads_away);
        let away =
            away.or_else(|| ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].into_iter().find(|name| self.misleads(name)));
        let away = away.or_else(|| sets_what_leads_away().then_some("GIT_CONFIG_COUNT"))?;
        Some(Trouble {
            reason: format!("`{away}` in the environment leads git elsewhere than the project's files say"),
            mend: "env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u GIT_CONFIG_GLOBAL -u GIT_CONFIG_COUNT git status",
        })
    }

    /// Git reads a relative path from the root of the work tree or from where it is started.
    fn is_usual(&self, given: &OsStr, usual: Usual) -> bool {
        let expected = match usual {
            Usual::GitDir => self.git_dir.clone(),
            Usual::Common(below) => self.common_dir.join(below),
            Usual::Index => self.git_dir.join("index"),
            Usual::WorkTree => self.work_tree.clone().unwrap_or_default(),
        };
        let same = |base: &Path| real(&base.join(given)) == real(&expected);
        let here = std::env::current_dir().ok();
        self.work_tree.iter().chain(&here).any(|base| same(base))
    }

    /// A configuration that cannot be read, or that stands among the project's own files.
    fn misleads(&self, name: &str) -> bool {
        let Some(file) = std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from) else {
            return false;
        };
        let within = |root: &PathBuf| real(&file).starts_with(root);
        !is_users_own(&file) && (!regular_or_none(&file) || self.work_tree.as_ref().is_some_and(within))
    }
}

/// A `.git` on the way to the repository that git passes over, or at which it gives up, though it was meant for one.
pub(super) fn remains_of_one(dot_git: &Path) -> Option<Unknown> {
    let there = dot_git.symlink_metadata().ok()?;
    match dot_git.metadata() {
        Ok(found) if found.is_dir() => {
            let entries = std::fs::read_dir(dot_git);
            let has_some = REMAINS.iter().any(|name| dot_git.join(name).symlink_metadata().is_ok());
            (entries.is_err() || has_some).then_some(Unknown("the .git folder is damaged"))
        }
        Ok(found) if found.is_file() => Some(NO_REPOSITORY),
        Ok(_) => Some(Unknown("`.git` is neither a folder nor a file")),
        Err(_) => there.is_symlink().then_some(Unknown("`.git` is a link that leads nowhere")),
    }
}

/// A `.git` file that names no repository.
pub(super) const NO_REPOSITORY: Unknown = Unknown("the .git file leads to no repository");

/// In words for whoever is asked; none for what only this reader cannot read.
pub(crate) fn told(reason: Unknown) -> Option<Trouble> {
    told_of("the repository", &reason)
}

/// The same for a part of it, which is named where the reason tells of any file.
fn told_of(what: &str, reason: &Unknown) -> Option<Trouble> {
    if ONLY_OURS.contains(reason) {
        return None;
    }
    let Unknown(text) = *reason;
    let reason = match text {
        "a file cannot be read" => format!("{what} cannot be read"),
        "not a regular file" => format!("{what} is no regular file"),
        "a file is too large" => format!("{what} is too large to be read"),
        other => other.to_owned(),
    };
    let tells = |word: &str| reason.contains(word);
    let mend = match () {
        () if tells(".git file") => "git worktree repair",
        () if tells("index") => "git fsck, then let a person rebuild the index from HEAD",
        () if tells("format") || tells("extension") || tells("configuration") => "git config --list --show-origin",
        () => "git fsck",
    };
    Some(Trouble { reason, mend })
}

/// Settings that the environment hands to git and that lead it to other files.
fn sets_what_leads_away() -> bool {
    const KEYS: [&str; 5] = ["core.bare", "core.worktree", "core.repositoryformatversion", "extensions.", "include"];
    const MOST: usize = 64;
    let parameters = std::env::var_os("GIT_CONFIG_PARAMETERS").unwrap_or_default();
    let parameters = parameters.to_string_lossy().to_lowercase();
    let count = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    let key = |index: usize| std::env::var(format!("GIT_CONFIG_KEY_{index}")).unwrap_or_default().to_lowercase();
    let leads = |text: &str| KEYS.iter().any(|start| text.starts_with(start));
    count > MOST
        || (0..count).any(|index| leads(&key(index)))
        || parameters.split('\'').any(|text| leads(text.trim_start_matches('"')))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.components().collect())
}
