//! The hook files that git runs before a commit and a push.

use super::error::GitHookError;
use super::objects::git;
use crate::install::{binary_path, write_atomically};
use crate::store::signing::InForce;
use crate::system::context::Context;
use reflex_engine::shell::quoted;
use std::fs;
use std::path::{Path, PathBuf};

/// The hooks that judge a change.
const JUDGED: [&str; 2] = ["pre-commit", "pre-push"];

/// The hooks that look at a new state of the files, also that of a fresh clone, and refuse nothing.
const LOOKING: [&str; 2] = ["post-checkout", "post-merge"];

/// The other hooks that git runs on a developer's machine, from githooks(5). A folder for all repositories replaces
/// each repository's own hooks, so it has to start them.
const OTHERS: &str = "applypatch-msg pre-applypatch post-applypatch pre-merge-commit prepare-commit-msg commit-msg \
    post-commit pre-rebase post-rewrite pre-auto-gc";

/// The line that identifies our files.
const MARK: &str = "# Written by `reflex init --git`; `reflex uninstall --git` takes it out.";

/// Path of the committed hook below the project.
pub const COMMITTED_HOOK: &str = ".githooks/pre-commit";

/// Returns the text of a `pre-commit` hook that a repository ships to everyone who clones it. It names no home and no
/// key, since it is shared, and refuses the commit where `binary` is missing or fails.
pub fn committed_hook(binary: &str) -> String {
    let judge = quoted(binary);
    format!(
        "#!/bin/sh\n# Written by `reflex emit`. In force in a clone after `git config core.hooksPath .githooks`.\n\
         {judge} git-hook pre-commit \"$@\"\ncode=$?\n[ $code -le 1 ] && exit $code\n\
         echo \"reflex failed ($code), so nothing is judged; a person can run git commit --no-verify\" >&2\nexit 1\n"
    )
}

/// Suffix of a hook that was there before ours.
const BEFORE: &str = "before-reflex";

/// The folder for the hooks: of one repository, or for all repositories of the user.
#[derive(Debug, Clone)]
pub struct Entries {
    context: Context,
    folder: PathBuf,
    is_for_all: bool,
}

/// The result for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// The file.
    pub file: PathBuf,
    /// `written`, `up to date`, `removed`, `not there`.
    pub how: &'static str,
    /// The previous hook, which ours starts, or which is back in its place.
    pub other: Option<PathBuf>,
}

impl Entries {
    /// The hooks of the repository around a folder, in the folder that its git uses.
    ///
    /// # Errors
    /// The folder is in no repository, or another tool manages the hooks' folder.
    pub fn of_repository(context: &Context, here: &Path) -> Result<Entries, GitHookError> {
        let printed = git(here, &["rev-parse", "--path-format=absolute", "--git-path", "hooks"], "");
        let printed = printed.map_err(|_| GitHookError::NoRepository(here.to_owned()))?;
        let folder = PathBuf::from(String::from_utf8_lossy(&printed).trim_end_matches('\n').to_owned());
        if folder.components().any(|part| part.as_os_str() == ".husky") {
            return Err(GitHookError::Husky);
        }
        Ok(Entries { context: context.clone(), folder, is_for_all: false })
    }

    /// The hooks of all the user's repositories that set no hooks folder of their own.
    ///
    /// # Errors
    /// Another folder for such hooks is set already.
    pub fn of_user(context: &Context, here: &Path) -> Result<Entries, GitHookError> {
        let folder = context.folders().state.join("git-hooks");
        let set = git(here, &["config", "--global", "--type=path", "--get", "core.hooksPath"], "").unwrap_or_default();
        let set = String::from_utf8_lossy(&set).trim_end_matches('\n').to_owned();
        if !set.is_empty() && Path::new(&set) != folder {
            return Err(GitHookError::HooksPath(set));
        }
        Ok(Entries { context: context.clone(), folder, is_for_all: true })
    }

    /// The files to write.
    ///
    /// # Errors
    /// The path or key of the guard cannot be found.
    pub fn planned(&self) -> Result<Vec<(PathBuf, String)>, GitHookError> {
        let others = OTHERS.split_whitespace().filter(|_| self.is_for_all);
        let file = |name: &str, text: String| (self.folder.join(name), text);
        let judged = JUDGED.iter().map(|name| Ok(file(name, self.judging(name)?)));
        let passed = others.map(|name| Ok(file(name, format!("#!/bin/sh\n{MARK}\n{}", self.next(name, "")))));
        let looking = LOOKING.iter().map(|name| Ok(file(name, self.looking(name)?)));
        judged.chain(looking).chain(passed).collect()
    }

    /// Writes the hooks. An existing hook is renamed and started by ours.
    ///
    /// # Errors
    /// A file cannot be written, or the new name is taken.
    pub fn put_in(&self) -> Result<Vec<Done>, GitHookError> {
        let mut done = Vec::new();
        for (file, text) in self.planned()? {
            let failed = |source| GitHookError::File { file: file.clone(), source };
            let existing = fs::read_to_string(&file).ok();
            let before = with_ending(&file);
            let is_others = existing.as_ref().is_some_and(|text| !text.contains(MARK)) || is_unread(&file);
            if is_others && before.symlink_metadata().is_ok() {
                return Err(GitHookError::Taken(before));
            }
            if is_others {
                fs::rename(&file, &before).map_err(failed)?;
            }
            let other = before.symlink_metadata().is_ok().then_some(before);
            let how = if existing.as_deref() == Some(text.as_str()) { "up to date" } else { "written" };
            write_atomically(&file, &text, 0o755).map_err(failed)?;
            done.push(Done { file, how, other });
        }
        if self.is_for_all {
            let folder = self.folder.to_string_lossy();
            git(Path::new("/"), &["config", "--global", "core.hooksPath", &folder], "")?;
        }
        Ok(done)
    }

    /// Removes our hooks and restores the previous ones.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn take_out(&self) -> Result<Vec<Done>, GitHookError> {
        let mut done = Vec::new();
        for (file, _) in self.planned()? {
            let failed = |source| GitHookError::File { file: file.clone(), source };
            let is_ours = fs::read_to_string(&file).is_ok_and(|text| text.contains(MARK));
            if !is_ours {
                done.push(Done { file, how: "not there", other: None });
                continue;
            }
            fs::remove_file(&file).map_err(failed)?;
            let before = with_ending(&file);
            let is_back = before.symlink_metadata().is_ok();
            if is_back {
                fs::rename(&before, &file).map_err(failed)?;
            }
            done.push(Done { how: "removed", other: is_back.then(|| file.clone()), file });
        }
        if self.is_for_all {
            let _ = git(Path::new("/"), &["config", "--global", "--unset", "core.hooksPath"], "");
            let _ = fs::remove_dir(&self.folder);
        }
        Ok(done)
    }

    /// The text of a hook that judges first. A change that cannot be judged is refused.
    fn judging(&self, name: &str) -> Result<String, GitHookError> {
        let command = self.command()?;
        let feed = if name == "pre-push" { "feed | " } else { "" };
        let read = if name == "pre-push" {
            "input=$(cat)\nfeed() { [ -z \"$input\" ] || printf '%s\\n' \"$input\"; }\n"
        } else {
            ""
        };
        let verb = if name == "pre-push" { "push" } else { "commit" };
        let judge = format!(
            "{feed}{command} {name} \"$@\"\ncode=$?\ncase $code in\n0) ;;\n1) exit 1 ;;\n*)\n  \
             echo \"reflex failed ($code), so the {verb} was not judged; \
             a person can run git {verb} --no-verify\" >&2\n  exit 1 ;;\nesac\n"
        );
        Ok(format!("#!/bin/sh\n{MARK}\n{read}{judge}{}", self.next(name, feed)))
    }

    /// The text of a hook that warns. Git has already changed the files, so a failure changes nothing.
    fn looking(&self, name: &str) -> Result<String, GitHookError> {
        Ok(format!("#!/bin/sh\n{MARK}\n{} {name} \"$@\" || :\n{}", self.command()?, self.next(name, "")))
    }

    /// The command line of the guard in a hook, up to the name of the hook.
    fn command(&self) -> Result<String, GitHookError> {
        let folders = self.context.folders();
        let mut words = vec![quoted(&binary_path(folders)?), "git-hook".into()];
        if !folders.may_only_tighten() {
            words.extend(["--home".into(), quoted(&folders.home.to_string_lossy())]);
        }
        let store = self.context.store();
        let key = store.key_in_force();
        if let Some(why) = key.problem() {
            return Err(GitHookError::Key { why: why.to_owned(), remedy: key.remedy() });
        }
        if let InForce::Key(key) = key {
            words.extend(["--key".into(), key.to_string()]);
        }
        Ok(words.join(" "))
    }

    /// The lines that start the previous hook: the renamed file, or the repository's own.
    fn next(&self, name: &str, feed: &str) -> String {
        let next = match self.is_for_all {
            true => format!("\"$(git rev-parse --git-common-dir)/hooks/{name}\""),
            false => format!("\"$(dirname \"$0\")/{name}.{BEFORE}\""),
        };
        // `exec` would start the hook before the pipe is read.
        let start = if feed.is_empty() { "exec " } else { feed };
        format!("next={next}\nif [ -x \"$next\" ]; then {start}\"$next\" \"$@\"; fi\n")
    }
}

fn with_ending(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.{BEFORE}"))
}

/// Whether a file exists that is not text: then it is not ours.
fn is_unread(file: &Path) -> bool {
    file.symlink_metadata().is_ok() && fs::read_to_string(file).is_err()
}
