//! Loads rule files from disk, for users of the library.

use crate::problem::{Level, Problem};
use crate::rule::{Rule, rules_of};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a rule file in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// Maximum number of rule files, and maximum depth of folders.
const MAX_FILES: usize = 2_000;
const MAX_DEPTH: usize = 16;

/// Maximum number of folder entries of any kind.
const MAX_SEEN: usize = 20_000;

/// Configuration for loading a directory of rules, as in `@fozikio/reflex`.
#[derive(Debug, Clone, Default)]
pub struct ReflexConfig {
    /// Folders in which files may be written.
    pub allowed_roots: Vec<String>,
    /// Rules to leave out, as far as their tier and `override` allow it.
    pub disabled_rules: Vec<String>,
    /// Additional folders of rules.
    pub rule_dirs: Vec<PathBuf>,
}

/// Loads the rules of one file, which may contain several.
///
/// # Errors
/// The file cannot be read, or is invalid: all its problems, each with file, line and column.
pub fn load_rule_file(path: impl AsRef<Path>) -> Result<Vec<Rule>, Vec<Problem>> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let text = read(path).map_err(|error| vec![unreadable(&name, &error.to_string())])?;
    let (rules, problems) = rules_of(&name, &text, None);
    if problems.iter().any(|problem| problem.level == Level::Error) { Err(problems) } else { Ok(rules) }
}

/// Loads the rules of all `.yaml` and `.yml` files below a folder and in the configuration's `rule_dirs`. An invalid
/// file does not affect the others: problems are returned along with the rules. Disabling a rule that may not be
/// disabled is reported, and the rule stays.
pub fn load_rule_directory(path: impl AsRef<Path>, config: Option<&ReflexConfig>) -> (Vec<Rule>, Vec<Problem>) {
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    let further = config.map(|config| config.rule_dirs.as_slice()).unwrap_or_default();
    for folder in std::iter::once(path.as_ref()).chain(further.iter().map(PathBuf::as_path)) {
        match rule_files(folder) {
            Ok(mut names) => {
                names.sort_unstable();
                let files = names.into_iter().map(|name| folder.join(name));
                let (inside, outside): (Vec<PathBuf>, Vec<PathBuf>) =
                    files.partition(|file| stays_inside(file, folder));
                let outside_folder =
                    |file: PathBuf| unreadable(&file.display().to_string(), "it is a link to outside the folder");
                problems.extend(outside.into_iter().map(outside_folder));
                for file in inside {
                    match load_rule_file(&file) {
                        Ok(found) => rules.extend(found),
                        Err(found) => problems.extend(found),
                    }
                }
            }
            Err(error) => problems.push(unreadable(&folder.display().to_string(), &error.to_string())),
        }
    }
    for name in config.map(|config| config.disabled_rules.as_slice()).unwrap_or_default() {
        match rules.iter().find(|rule| rule.name == *name) {
            None => problems.push(unreadable(name, "no rule has this name, so it cannot be disabled")),
            Some(rule) if !rule.may_be_disabled() => {
                problems.push(unreadable(&rule.at, &format!("the rule `{name}` may not be disabled")));
            }
            Some(_) => rules.retain(|rule| rule.name != *name),
        }
    }
    (rules, problems)
}

/// Lists the rule files below a folder in no particular order, by path relative to the folder. Links to files are
/// included, wherever they lead. Links to folders, and folders below the maximum depth, are not followed but listed
/// themselves.
///
/// # Errors
/// The folder cannot be listed.
pub fn rule_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut walk = Walk { files: Vec::new(), seen: 0 };
    walk.folder(folder, Path::new(""), 0)?;
    Ok(walk.files)
}

/// A recursive walk through the folders of rules.
struct Walk {
    files: Vec<PathBuf>,
    /// Number of folder entries seen.
    seen: usize,
}

impl Walk {
    fn folder(&mut self, root: &Path, below: &Path, depth: usize) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(root.join(below))? {
            let entry = entry?;
            self.seen += 1;
            if self.seen > MAX_SEEN {
                return Err(io::Error::other(format!("more than {MAX_SEEN} files and folders lie in it")));
            }
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let goes_down = depth < MAX_DEPTH && kind.is_dir();
            // A folder that is not followed is listed like a file, so that reading it reports a problem.
            let is_left_out =
                !goes_down && (kind.is_dir() || kind.is_symlink() && root.join(below).join(&name).is_dir());
            if goes_down || is_left_out || is_rules(&name) {
                entries.push((name, goes_down));
            }
        }
        for (name, goes_down) in entries {
            let path = if below.as_os_str().is_empty() { name.into() } else { below.join(name) };
            if goes_down {
                self.folder(root, &path, depth + 1)?;
            } else if self.files.len() < MAX_FILES {
                self.files.push(path);
            } else {
                return Err(io::Error::other(format!("there are more than {MAX_FILES} files")));
            }
        }
        Ok(())
    }
}

/// Whether a file is not a link that leads out of the folder.
fn stays_inside(file: &Path, folder: &Path) -> bool {
    let (real, root) = (file.canonicalize(), folder.canonicalize());
    !file.is_symlink() || matches!((real, root), (Ok(real), Ok(root)) if real.starts_with(&root))
}

fn is_rules(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    [&b".yaml"[..], b".yml"].iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Reads a text file of limited size.
fn read(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} KiB", MAX_BYTES / 1024)));
    }
    fs::read_to_string(path)
}

fn unreadable(file: &str, message: &str) -> Problem {
    Problem {
        level: Level::Error,
        file: file.into(),
        span: 0..0,
        place: (1, 1),
        message: message.into(),
        help: String::new(),
    }
}
