//! Origins of a reflex: the catalog, a folder, a file, an archive, an address, npm, git.

use super::error::{OriginError, PackageError};
use super::package::{MODULES, Package, plain};
use super::unpack::unpack;
use crate::system::http::{self, Bounds, Request};
use crate::system::person::Person;
use reflex_script::official;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Limits for fetching a module from an address.
const BOUNDS: Bounds =
    Bounds { within: Duration::from_secs(30), bytes: 16 << 20, redirects: 3, is_local: false, is_encrypted: true };

/// The origin of a reflex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An official reflex, by name.
    Official(String),
    /// A folder with a manifest.
    Folder(PathBuf),
    /// A single module without a manifest.
    File(PathBuf),
    /// A packed folder, `.tgz`.
    Archive(PathBuf),
    /// A module at an https address.
    Web(String),
    /// An npm package, optionally with a version.
    Npm(String),
    /// A git repository, the branch or tag, and the folder in it.
    Git {
        /// The address.
        url: String,
        /// Branch or tag; the repository's default branch if empty.
        branch: String,
        /// Path below the repository's root.
        folder: String,
    },
}

impl Origin {
    /// Parses a source from the command line. A bare name is a reflex of the catalog, never an npm package: a typo
    /// must not fetch anything.
    ///
    /// # Errors
    /// It matches none of the forms.
    pub fn named(word: &str, cwd: &Path) -> Result<Origin, OriginError> {
        if let Some(package) = word.strip_prefix("npm:") {
            return npm(package);
        }
        if let Some(git) = git(word) {
            return git;
        }
        if word.starts_with('@') {
            return npm(word);
        }
        if word.contains("://") {
            return web(word);
        }
        let bare = word.strip_prefix("official/").unwrap_or(word);
        if official::reflex(bare).is_some() && !word.starts_with(['.', '/']) {
            return Ok(Origin::Official(bare.to_owned()));
        }
        let path = cwd.join(word);
        let extension = path.extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => Ok(Origin::Folder(path)),
            Ok(_) if extension == "tgz" || word.ends_with(".tar.gz") => Ok(Origin::Archive(path)),
            Ok(_) if MODULES.contains(&extension.as_str()) => Ok(Origin::File(path)),
            Ok(_) => Err(OriginError::Kind(word.to_owned())),
            Err(_) if word.contains(['/', '.']) => Err(OriginError::Missing(word.to_owned())),
            Err(_) => Err(unknown(word)),
        }
    }

    /// The stored form, from which `update` fetches it again.
    pub fn shown(&self) -> String {
        match self {
            Origin::Official(name) => format!("official/{name}"),
            Origin::Folder(path) | Origin::File(path) | Origin::Archive(path) => path.display().to_string(),
            Origin::Npm(package) => format!("npm:{package}"),
            Origin::Web(address) => address.clone(),
            Origin::Git { url, branch, folder } if branch.is_empty() && folder.is_empty() => format!("git+{url}"),
            Origin::Git { url, branch, folder } => format!("git+{url}#{branch}:{folder}"),
        }
    }

    /// Whether loading it takes a network request. Only a person may start one.
    pub fn is_remote(&self) -> bool {
        match self {
            Origin::Npm(_) | Origin::Git { .. } | Origin::Web(_) => true,
            Origin::Official(_) | Origin::Folder(_) | Origin::File(_) | Origin::Archive(_) => false,
        }
    }

    /// Loads it from the local disk. Starts no program and sends no request: the list may be from a stranger.
    ///
    /// # Errors
    /// It is remote, cannot be read, or exceeds the limits of a reflex.
    pub fn here(&self) -> Result<Package, OriginError> {
        match self {
            Origin::Official(name) => official(name),
            Origin::Folder(path) => Ok(Package::of_folder(path)?),
            Origin::File(path) => Ok(Package::of_file(path)?),
            Origin::Archive(path) => of_archive(path),
            Origin::Npm(_) | Origin::Git { .. } | Origin::Web(_) => Err(self.not_installed()),
        }
    }

    /// The error for a remote origin that is not installed.
    fn not_installed(&self) -> OriginError {
        let shown = self.shown();
        // A command to copy and paste must not contain shell metacharacters.
        let plain = |ch: char| ch.is_ascii_alphanumeric() || "@/:.+#-_".contains(ch);
        OriginError::NotInstalled(if shown.chars().all(plain) { shown } else { "SOURCE".to_owned() })
    }

    /// Fetches it for a person's own command. Starts npm or git for their origins, and runs no code that they fetch.
    ///
    /// # Errors
    /// It cannot be fetched, or exceeds the limits of a reflex.
    pub fn fetch(&self, _person: &Person) -> Result<Package, OriginError> {
        match self {
            Origin::Npm(package) => fetch_npm(package),
            Origin::Git { url, branch, folder } => fetch_git(url, branch, folder),
            Origin::Web(address) => of_web(address),
            Origin::Official(_) | Origin::Folder(_) | Origin::File(_) | Origin::Archive(_) => self.here(),
        }
    }
}

fn official(name: &str) -> Result<Package, OriginError> {
    let packaged = official::reflex(name).ok_or_else(|| unknown(name))?;
    let files = packaged.files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Ok(Package::of_files(packaged.name, files)?)
}

fn unknown(name: &str) -> OriginError {
    let known: Vec<&str> = official::REFLEXES.iter().map(|reflex| reflex.name).collect();
    let near = reflex_rules::nearest(name, &known).map(str::to_owned);
    OriginError::Unknown { name: name.to_owned(), near }
}

/// Parses the address of a single module. Only https is accepted, so that it cannot be changed in transit.
fn web(word: &str) -> Result<Origin, OriginError> {
    let is_plain = word.chars().all(|ch| ch.is_ascii_graphic() && ch != '#');
    let is_module = MODULES.iter().any(|end| module_name(word).is_some_and(|name| name.ends_with(&format!(".{end}"))));
    if word.starts_with("https://") && is_plain && is_module {
        return Ok(Origin::Web(word.to_owned()));
    }
    Err(OriginError::Address(word.to_owned()))
}

/// The last segment of an address's path.
fn module_name(address: &str) -> Option<&str> {
    let (path, _) = address.split_once('?').unwrap_or((address, ""));
    path.strip_prefix("https://")?.rsplit_once('/').map(|(_, name)| name).filter(|name| !name.is_empty())
}

fn of_web(address: &str) -> Result<Package, OriginError> {
    let name = module_name(address).unwrap_or("index.mjs");
    let stem = name.split('.').next().unwrap_or("");
    Ok(Package::of_files(&plain(stem), vec![(name.to_owned(), text_at(address)?)])?)
}

/// Fetches the text at an address that a person gave.
fn text_at(address: &str) -> Result<String, OriginError> {
    let request = Request { method: "GET", url: address, headers: &[], body: None };
    let failed = |source| OriginError::Http { address: address.to_owned(), source };
    let answer = http::send(request, BOUNDS).map_err(failed)?;
    match answer.status {
        200..=299 => Ok(answer.text),
        status => Err(OriginError::Status { address: address.to_owned(), status }),
    }
}

/// Parses the name of an npm package with an optional version. Rejects options, paths and addresses.
fn npm(package: &str) -> Result<Origin, OriginError> {
    let scoped = package.strip_prefix('@').unwrap_or(package);
    let is_plain = |ch: char| ch.is_ascii_alphanumeric() || "-_.~^@/".contains(ch);
    let starts_well = scoped.starts_with(|ch: char| ch.is_ascii_alphanumeric());
    let slashes = scoped.matches('/').count();
    let wanted = usize::from(package.starts_with('@'));
    if starts_well && scoped.chars().all(is_plain) && slashes == wanted && !scoped.contains("..") {
        return Ok(Origin::Npm(package.to_owned()));
    }
    Err(OriginError::NpmName(package.to_owned()))
}

/// Parses `git+URL`, `github:OWNER/NAME[/FOLDER]` and addresses that end with `.git`. Branch and folder follow a `#`.
fn git(word: &str) -> Option<Result<Origin, OriginError>> {
    if let Some(rest) = word.strip_prefix("github:") {
        let (place, branch) = rest.split_once('#').unwrap_or((rest, ""));
        let mut parts = place.splitn(3, '/');
        let (owner, name, folder) = (parts.next()?, parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        if owner.is_empty() || name.is_empty() {
            return Some(Err(OriginError::GitHub(word.to_owned())));
        }
        let url = format!("https://github.com/{owner}/{name}");
        return Some(checked_git(url, branch.to_owned(), folder.to_owned()));
    }
    let (address, after) = word.split_once('#').unwrap_or((word, ""));
    let address = match address.strip_prefix("git+") {
        Some(rest) => rest,
        None if address.ends_with(".git") && address.contains(':') => address,
        None => return None,
    };
    let (branch, folder) = after.split_once(':').unwrap_or((after, ""));
    Some(checked_git(address.to_owned(), branch.to_owned(), folder.to_owned()))
}

/// Refuses addresses that make git start other programs, such as `ext::`.
fn checked_git(url: String, branch: String, folder: String) -> Result<Origin, OriginError> {
    let scheme = ["https://", "http://", "ssh://", "git://", "file://", "/"].iter().any(|start| url.starts_with(start));
    let short = url.split_once(':').is_some_and(|(host, path)| {
        let plain = |ch: char| ch.is_ascii_alphanumeric() || "@.-_".contains(ch);
        !host.starts_with('-') && host.chars().all(plain) && !path.starts_with(':')
    });
    if !(scheme || short) || url.chars().any(char::is_control) {
        return Err(OriginError::Repository(url));
    }
    if branch.starts_with('-')
        || Path::new(&folder).components().any(|part| !matches!(part, std::path::Component::Normal(_)))
    {
        return Err(OriginError::Branch { branch, folder });
    }
    Ok(Origin::Git { url, branch, folder })
}

fn of_archive(path: &Path) -> Result<Package, OriginError> {
    let bytes = fs::read(path).map_err(|source| PackageError::Io { path: path.to_owned(), source })?;
    let stem = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.split(['.', ' ']).next().unwrap_or("").to_owned();
    Ok(Package::of_files(&stem, unpack(&bytes)?)?)
}

fn fetch_npm(package: &str) -> Result<Package, OriginError> {
    let folder = tempfile::tempdir().map_err(OriginError::Temporary)?;
    let mut npm = Command::new("npm");
    // npm runs no script when it packs a package of the registry. The flag makes sure of it.
    npm.args(["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination"])
        .arg(folder.path())
        .arg("--")
        .arg(package);
    finished(npm.current_dir(folder.path()), "npm")?;
    let mut found = fs::read_dir(folder.path()).map_err(OriginError::Temporary)?.flatten();
    let archive = found.find(|entry| entry.path().extension().is_some_and(|end| end == "tgz"));
    let archive = archive.ok_or(OriginError::NoArchive)?.path();
    // The archive's file name contains the version.
    let (_, scoped) = package.split_at_checked(1).unwrap_or_default();
    let version = scoped.find('@').map_or(package.len(), |at| at + 1);
    Ok(of_archive(&archive)?.or_named(package.get(..version).unwrap_or(package)))
}

fn fetch_git(url: &str, branch: &str, folder: &str) -> Result<Package, OriginError> {
    let place = tempfile::tempdir().map_err(OriginError::Temporary)?;
    let work = place.path().join("repository");
    let mut git = Command::new("git");
    // A clone runs no hook of the remote. Local templates and settings may run hooks, so they are disabled.
    git.args(["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.symlinks=false"]);
    git.args(["-c", "filter.lfs.smudge=", "-c", "filter.lfs.required=false", "clone", "--quiet", "--depth", "1"]);
    git.args(["--template=", "--no-recurse-submodules"]);
    if !branch.is_empty() {
        git.args(["--branch", branch]);
    }
    git.arg("--")
        .arg(url)
        .arg(&work)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "https:http:ssh:git:file");
    finished(git.current_dir(place.path()), "git")?;
    let inner = work.join(folder);
    if inner.is_file() {
        return Ok(Package::of_file(&inner)?);
    }
    let package = Package::of_folder(&inner)?;
    // The folder is named after the clone; the repository's name is more useful.
    let end = if folder.is_empty() { url } else { folder };
    let end = end.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or("");
    Ok(package.or_named(end.strip_suffix(".git").unwrap_or(end)))
}

fn finished(command: &mut Command, program: &'static str) -> Result<(), OriginError> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    let output = output.map_err(|source| OriginError::NotStarted { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(OriginError::Failed { program, why: reason(&stderr).to_owned() })
}

/// Finds the line that explains a failure: git and npm mark theirs, for other programs it is the last line.
fn reason(stderr: &str) -> &str {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let of_git = lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let of_npm = lines().filter_map(|line| line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! ")));
    let of_npm = of_npm.map(str::trim).find(|line| !line.starts_with("code "));
    of_git.or(of_npm).or_else(|| lines().next_back()).unwrap_or("it printed nothing")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::Origin;
    use std::path::Path;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let named = Origin::named(word, Path::new("/nowhere"));
        assert_eq!(named.map_or_else(|problem| format!("no: {problem}"), |origin| origin.shown()), expected, "{word}");
    }

    #[test]
    fn a_word_means_one_place() {
        check("no-force-push", "official/no-force-push");
        check("official/no-force-push", "official/no-force-push");
        check("npm:left-pad@1.0.0", "npm:left-pad@1.0.0");
        check("@me/my-reflex", "npm:@me/my-reflex");
        check("github:me/reflexes/tidy#v1", "git+https://github.com/me/reflexes#v1:tidy");
        check("git+ssh://git@host.example/a", "git+ssh://git@host.example/a");
        check("git@host.example:me/a.git", "git+git@host.example:me/a.git");
    }

    #[test]
    fn a_slip_of_the_keyboard_fetches_nothing() {
        check(
            "no-force-psuh",
            "no: no official reflex is named `no-force-psuh`, did you mean `no-force-push`? (write npm:no-force-psuh for an npm package)",
        );
        check("./gone", "no: the file or folder `./gone` does not exist");
    }

    #[test]
    fn a_failure_is_reported_by_the_line_that_names_its_reason() {
        for (stderr, expected) in [
            (
                "Cloning\nfatal: 'x' does not exist\n\nPlease make sure\nand the repository exists.\n",
                "fatal: 'x' does not exist",
            ),
            ("npm error code E404\nnpm error 404 Not Found - x\nnpm error 404\nnpm error A log\n", "404 Not Found - x"),
            ("npm warn a\nnpm ERR! code ETARGET\nnpm ERR! notarget No match\n", "notarget No match"),
            ("first\nlast\n", "last"),
            ("", "it printed nothing"),
        ] {
            assert_eq!(super::reason(stderr), expected);
        }
    }

    #[test]
    fn no_address_starts_a_program_or_is_an_option() {
        for word in [
            "git+ext::sh -c id",
            "git+-u",
            "npm:--global",
            "npm:../x",
            "npm:git+https://x",
            "git+https://x#-b",
            "git+https://x#:../y",
        ] {
            assert!(Origin::named(word, Path::new("/nowhere")).is_err(), "{word}");
        }
    }
}
