//! Finds problems that keep git, or this reader, from reading a repository: in its work tree, settings, index or
//! environment.

use crate::files::config::{Settings, is_user_file, regular_or_none};
use crate::files::index;
use crate::model::fact::Fact;
use crate::repository::Repository;
use crate::trouble::{Look, Trouble, trouble_of};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Variables that make git use other folders, and their usual values.
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
    /// The problem of the repository; `None` if git's view of the files can be determined.
    pub fn trouble(&self, look: Look) -> Option<&Trouble> {
        let known = match look {
            Look::Quick => &self.quick_trouble,
            Look::Full => &self.full_trouble,
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
            // Without an index, no file was ever checked out or added here.
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
        let worktree_settings = self.object_hash().and_then(|_| self.worktree_configuration.clone());
        let settings = worktree_settings.and_then(|_| match look {
            Look::Quick => Settings::check_user(&self.git_dir, &self.home),
            Look::Full => self.settings().map(|_| ()),
        });
        let index = || match look {
            Look::Quick => index::begins_well(&self.git_dir.join("index")),
            Look::Full => self.index().map(|_| ()),
        };
        let failed = |answer: Fact<()>, what| answer.err().and_then(|reason| trouble_of(what, &reason));
        // HEAD is not checked here: every comparison with it resolves it, and an unknown result there is never "clean".
        failed(settings, "git's configuration").or_else(|| failed(index(), "the index"))
    }

    /// Returns the first variable, as a trouble, that leads git elsewhere than the repository's files do. The paths in
    /// it are not read, because the repository may have set it, so git's actions there are unknown.
    fn environment_trouble(&self) -> Option<Trouble> {
        let leads_away = |(name, usual): &(&'static str, Usual)| {
            let actual = std::env::var_os(name).filter(|value| !value.is_empty())?;
            (!self.is_usual(&actual, *usual)).then_some(*name)
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

    /// Git resolves a relative path against the root of the work tree or the working directory.
    fn is_usual(&self, actual: &OsStr, usual: Usual) -> bool {
        let expected = match usual {
            Usual::GitDir => self.git_dir.clone(),
            Usual::Common(below) => self.common_dir.join(below),
            Usual::Index => self.git_dir.join("index"),
            Usual::WorkTree => self.work_tree.clone().unwrap_or_default(),
        };
        let same = |base: &Path| real(&base.join(actual)) == real(&expected);
        let here = std::env::current_dir().ok();
        self.work_tree.iter().chain(&here).any(|base| same(base))
    }

    /// Whether the variable names a configuration that cannot be read, or one among the project's own files.
    fn misleads(&self, name: &str) -> bool {
        let Some(file) = std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from) else {
            return false;
        };
        let within = |root: &PathBuf| real(&file).starts_with(root);
        !is_user_file(&file, &self.home) && (!regular_or_none(&file) || self.work_tree.as_ref().is_some_and(within))
    }
}

/// Whether the environment passes settings to git that lead it to other files.
fn sets_what_leads_away() -> bool {
    const KEYS: [&str; 5] = ["core.bare", "core.worktree", "core.repositoryformatversion", "extensions.", "include"];
    const MAX_FILES: usize = 64;
    let parameters = std::env::var_os("GIT_CONFIG_PARAMETERS").unwrap_or_default();
    let parameters = parameters.to_string_lossy().to_lowercase();
    let count = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    let key = |index: usize| std::env::var(format!("GIT_CONFIG_KEY_{index}")).unwrap_or_default().to_lowercase();
    let leads = |text: &str| KEYS.iter().any(|start| text.starts_with(start));
    count > MAX_FILES
        || (0..count).any(|index| leads(&key(index)))
        || parameters.split('\'').any(|text| leads(text.trim_start_matches('"')))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.components().collect())
}
