//! Git configuration as plain values. None of them is ever executed.

use crate::files::effort::double_stars;
use crate::files::read;
use crate::files::reference_files::branch_of;
use crate::model::fact::{Fact, Unknown};
use crate::system::{bytes, native};
use gix_config::file::Metadata;
use reflex_work as work;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const MAXIMUM_BYTES: u64 = 4 * 1024 * 1024;
const MAXIMUM_FILES: usize = 64;
const MAXIMUM_DEPTH: usize = 10;
const MAXIMUM_DOUBLE_STARS: usize = 3;
const KNOWN_EXTENSIONS: [&str; 7] =
    ["noop", "preciousobjects", "partialclone", "worktreeconfig", "objectformat", "refstorage", "relativeworktrees"];

/// References in another format (reftable), which newer versions of git read but this reader does not.
pub(crate) const NO_FILES: Unknown = Unknown("references are not stored as files");

/// The folders with the settings of a repository.
#[derive(Clone, Copy)]
pub(crate) struct Folders<'a> {
    /// The git folder of the work tree.
    pub(crate) git_dir: &'a Path,
    /// The git folder that all work trees share.
    pub(crate) common_dir: &'a Path,
    /// The user's home.
    pub(crate) home: &'a Path,
}

/// All values in order of precedence: the last one wins.
#[derive(Debug)]
pub(crate) struct Settings {
    values: Vec<Value>,
    /// The folder that replaces `~`.
    home: PathBuf,
}

#[derive(Debug)]
struct Value {
    section: String,
    subsection: Option<Vec<u8>>,
    name: String,
    /// `None` for a name without `=`, which means true.
    text: Option<Vec<u8>>,
}

impl Settings {
    /// Loads system, user and repository configuration.
    pub(crate) fn of_user_and_repository(folders: Folders<'_>, has_worktree_settings: bool) -> Fact<Self> {
        let mut files = user_files(folders.home);
        files.push(folders.common_dir.join("config"));
        if has_worktree_settings {
            files.push(folders.git_dir.join("config.worktree"));
        }
        let mut context = Loader::new(folders.git_dir, folders.home);
        let first = context.load_all(&files)?;
        if !context.asks_for_urls {
            return Ok(first);
        }
        context.urls = first.all("remote", None, "url");
        context.files = 0;
        context.load_all(&files)
    }

    /// Checks that the user's configuration can be read, for a repository whose own has been read already.
    pub(crate) fn check_user(git_dir: &Path, home: &Path) -> Fact<()> {
        Loader::new(git_dir, home).load_all(&user_files(home)).map(|_| ())
    }

    /// Loads only the repository's own files: the user's configuration must not move its work tree.
    pub(crate) fn of_repository(folders: Folders<'_>) -> Fact<Self> {
        let mut loader = Loader::new(folders.git_dir, folders.home);
        let mut settings = loader.load_all(&[folders.common_dir.join("config")])?;
        if settings.boolean("extensions", "worktreeconfig") == Some(true) {
            loader.load(&folders.git_dir.join("config.worktree"), 0, &mut settings)?;
        }
        Ok(settings)
    }

    /// Number of values.
    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// The last value, empty for a name without a value.
    pub(crate) fn text(&self, section: &str, subsection: Option<&[u8]>, name: &str) -> Option<&[u8]> {
        let is_it = |value: &&Value| {
            value.section == section && value.subsection.as_deref() == subsection && value.name == name
        };
        Some(self.values.iter().rev().find(is_it)?.text.as_deref().unwrap_or_default())
    }

    pub(crate) fn all(&self, section: &str, subsection: Option<&[u8]>, name: &str) -> Vec<Vec<u8>> {
        let is_it = |value: &&Value| {
            let same = subsection.is_none() || value.subsection.as_deref() == subsection;
            same && value.section == section && value.name == name
        };
        self.values.iter().filter(is_it).filter_map(|value| value.text.clone()).collect()
    }

    /// Every value with its section, subsection and name, in order of precedence, highest last.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &[u8], &str, &[u8])> {
        self.values.iter().map(|value| {
            let subsection = value.subsection.as_deref().unwrap_or_default();
            (value.section.as_str(), subsection, value.name.as_str(), value.text.as_deref().unwrap_or_default())
        })
    }

    pub(crate) fn boolean(&self, section: &str, name: &str) -> Option<bool> {
        let is_it = |value: &&Value| value.section == section && value.subsection.is_none() && value.name == name;
        let Some(text) = &self.values.iter().rev().find(is_it)?.text else { return Some(true) };
        let text = String::from_utf8_lossy(text).to_lowercase();
        match text.as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" | "" => Some(false),
            number => number.parse::<i64>().ok().map(|number| number != 0),
        }
    }

    /// The path in a value, `None` if unset. A relative path is resolved against `base`.
    pub(crate) fn path(&self, section: &str, name: &str, base: &Path) -> Option<PathBuf> {
        self.text(section, None, name).filter(|text| !text.is_empty()).map(|text| expanded(text, base, &self.home))
    }

    /// Whether each work tree has its own configuration.
    pub(crate) fn worktree_configuration(&self) -> bool {
        self.boolean("extensions", "worktreeconfig") == Some(true)
    }

    pub(crate) fn object_hash(&self) -> Fact<gix_hash::Kind> {
        let version = self.text("core", None, "repositoryformatversion").unwrap_or(b"0");
        if !matches!(version, b"0" | b"1") {
            return Err(Unknown("an unknown repository format"));
        }
        let mut extensions = self.values.iter().filter(|value| value.section == "extensions");
        if extensions.any(|value| !KNOWN_EXTENSIONS.contains(&value.name.as_str())) {
            return Err(Unknown("an unknown repository extension"));
        }
        match self.text("extensions", None, "refstorage") {
            None | Some(b"files") => {}
            Some(b"reftable") => return Err(NO_FILES),
            Some(_) => return Err(Unknown("an unknown format of references")),
        }
        match self.text("extensions", None, "objectformat") {
            None | Some(b"sha1") => Ok(gix_hash::Kind::Sha1),
            Some(b"sha256") => Ok(gix_hash::Kind::Sha256),
            Some(_) => Err(Unknown("an unknown object format")),
        }
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.boolean("core", "bare") == Some(true)
    }

    pub(crate) fn work_tree(&self, git_dir: &Path, found_in: &Path) -> Option<PathBuf> {
        if self.is_bare() {
            return None;
        }
        match self.path("core", "worktree", git_dir) {
            Some(elsewhere) => elsewhere.canonicalize().ok(),
            None => Some(found_in.to_path_buf()),
        }
    }
}

struct Loader<'a> {
    git_dir: &'a Path,
    home: &'a Path,
    urls: Vec<Vec<u8>>,
    asks_for_urls: bool,
    files: usize,
}

impl<'a> Loader<'a> {
    fn new(git_dir: &'a Path, home: &'a Path) -> Self {
        Loader { git_dir, home, urls: Vec::new(), asks_for_urls: false, files: 0 }
    }

    fn load_all(&mut self, files: &[PathBuf]) -> Fact<Settings> {
        let mut settings = Settings { values: Vec::new(), home: self.home.to_owned() };
        files.iter().try_for_each(|file| self.load(file, 0, &mut settings))?;
        Ok(settings)
    }

    fn load(&mut self, path: &Path, depth: usize, into: &mut Settings) -> Fact<()> {
        self.files += 1;
        if depth > MAXIMUM_DEPTH || self.files > MAXIMUM_FILES {
            return Err(Unknown("too many included configuration files"));
        }
        let Some(content) = read::file(path, MAXIMUM_BYTES)? else { return Ok(()) };
        let parsed = gix_config::File::from_bytes_no_includes(&content, Metadata::api(), Default::default());
        let parsed = parsed.map_err(|_| Unknown("the configuration cannot be parsed"))?;
        for section in parsed.sections() {
            let header = section.header();
            let name = header.name().to_string().to_lowercase();
            let subsection = header.subsection_name().map(|text| text.to_vec());
            for value in values_of(&section, &name, subsection.as_deref()) {
                let included = value.name == "path" && self.includes(&value, path)?;
                let target = value.text.clone().filter(|_| included);
                into.values.push(value);
                if let (Some(target), Some(base)) = (target, path.parent()) {
                    self.load(&expanded(&target, base, self.home), depth + 1, into)?;
                }
            }
        }
        Ok(())
    }

    fn includes(&mut self, value: &Value, file: &Path) -> Fact<bool> {
        match (value.section.as_str(), &value.subsection) {
            ("include", None) => Ok(true),
            ("includeif", Some(condition)) if double_stars(condition) > MAXIMUM_DOUBLE_STARS => {
                Err(Unknown("a pattern is too complex"))
            }
            ("includeif", Some(condition)) => Ok(self.holds(condition, file)),
            _ => Ok(false),
        }
    }

    fn holds(&mut self, condition: &[u8], file: &Path) -> bool {
        let sensitive = gix_glob::wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
        let directory = bytes(self.git_dir.as_os_str());
        if let Some(pattern) = condition.strip_prefix(b"gitdir:") {
            return matches(&directory_pattern(pattern, file, self.home), &directory, sensitive);
        }
        if let Some(pattern) = condition.strip_prefix(b"gitdir/i:") {
            let insensitive = sensitive | gix_glob::wildmatch::Mode::IGNORE_CASE;
            return matches(&directory_pattern(pattern, file, self.home), &directory, insensitive);
        }
        if let Some(pattern) = condition.strip_prefix(b"onbranch:") {
            let branch = branch_of(self.git_dir).ok().flatten();
            let pattern = with_everything_below(pattern.to_vec());
            return branch.is_some_and(|branch| matches(&pattern, branch.as_bytes(), sensitive));
        }
        let Some(pattern) = condition.strip_prefix(b"hasconfig:remote.*.url:") else { return false };
        self.asks_for_urls = true;
        self.urls.iter().any(|url| matches(pattern, url, sensitive))
    }
}

fn values_of(section: &gix_config::file::SectionRef<'_>, name: &str, subsection: Option<&[u8]>) -> Vec<Value> {
    let mut texts: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for (value_name, text) in section.body() {
        texts.entry(value_name.to_lowercase()).or_default().push(text.into());
    }
    // Includes names that only occur without a value.
    for value_name in section.value_names() {
        texts.entry(value_name.to_lowercase()).or_default();
    }
    let with_text = |value_name: &str, text: Option<Vec<u8>>| Value {
        section: name.to_owned(),
        subsection: subsection.map(<[u8]>::to_vec),
        name: value_name.to_owned(),
        text,
    };
    let mut values = Vec::new();
    for (value_name, texts) in texts {
        let may_be_implicit = texts.last().is_none_or(Vec::is_empty);
        let is_implicit = || {
            work::spend(section.body().num_values() as u64 / 8);
            section.value_implicit(&value_name) == Some(None)
        };
        if may_be_implicit && is_implicit() {
            values.push(with_text(&value_name, None));
        } else {
            values.extend(texts.into_iter().map(|text| with_text(&value_name, Some(text))));
        }
    }
    values
}

fn matches(pattern: &[u8], value: &[u8], mode: gix_glob::wildmatch::Mode) -> bool {
    gix_glob::wildmatch(pattern.into(), value.into(), mode)
}

fn directory_pattern(pattern: &[u8], file: &Path, home: &Path) -> Vec<u8> {
    let base = file.parent().unwrap_or(Path::new("/"));
    let anchored = match pattern {
        [b'~', b'/', ..] => expanded(pattern, base, home).into_os_string().into_encoded_bytes(),
        [b'.', b'/', rest @ ..] => [&*bytes(base.as_os_str()), b"/", rest].concat(),
        [b'/', ..] => pattern.to_vec(),
        _ => [b"**/", pattern].concat(),
    };
    with_everything_below(anchored)
}

fn with_everything_below(mut pattern: Vec<u8>) -> Vec<u8> {
    if pattern.ends_with(b"/") {
        pattern.extend_from_slice(b"**");
    }
    pattern
}

fn expanded(text: &[u8], base: &Path, home: &Path) -> PathBuf {
    match text.strip_prefix(b"~/") {
        Some(rest) => home.join(native(rest)),
        None => base.join(native(text)),
    }
}

/// The user's folder for git's own files (`ignore`, `attributes`, `config`).
pub(crate) fn user_directory(home: &Path) -> PathBuf {
    home.join(".config/git")
}

/// The user's configuration files. The environment may name others, but the repository itself may have set it, so it is
/// ignored.
pub(crate) fn user_files(home: &Path) -> Vec<PathBuf> {
    vec![PathBuf::from("/etc/gitconfig"), user_directory(home).join("config"), home.join(".gitconfig")]
}

/// Whether a file is one of the user's configuration files.
pub(crate) fn is_user_file(file: &Path, home: &Path) -> bool {
    user_files(home).iter().any(|user_file| user_file == file)
}

/// Whether git could read a configuration there: the file is missing, `/dev/null`, or a regular file within the limit.
pub(crate) fn regular_or_none(file: &Path) -> bool {
    // The usual way to disable a configuration file.
    file == Path::new("/dev/null") || read::file(file, MAXIMUM_BYTES).is_ok()
}
