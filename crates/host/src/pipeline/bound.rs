//! The parts that an approval is bound to besides the text of a call: the files and settings that the call takes its
//! orders from, and the files that it would destroy, in their current state.

mod described;
mod server;
mod stakes;

use crate::store::bound::Bound;
use crate::store::redact::Redactor;
use crate::system::hex;
use crate::system::os::{self, Kind};
use crate::system::random;
use crate::world::LocalWorld;
use reflex_engine::{ConfigInput, Environment, Event, Files, How, Judgement, config_inputs, is_within};
use reflex_git::Repository;
use sha2::{Digest, Sha256};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maximum size of a hashed file, in bytes. A larger one is bound by its inode, size and times.
const MAX_HASHED: usize = 512 * 1024;

/// Maximum number of bytes hashed per call. Files beyond it are bound by their inode, size and times.
const MAX_HASHED_IN_ALL: usize = 4 * 1024 * 1024;

/// Maximum number of entries of a folder; a larger folder cannot be bound.
const MAX_IN_FOLDER: usize = 512;

/// Maximum number of git hooks that are bound.
const MAX_HOOKS: usize = 64;

/// Folders of programs that the system provides.
const OF_SYSTEM: [&str; 8] = ["/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/nix/store/", "/snap/", "/System/"];

impl Bound {
    /// Whether the file has not changed; true if this is not a file.
    pub fn still_holds(&self) -> bool {
        self.sha256.is_empty()
            || content(Path::new(&self.path)).is_some_and(|bytes| hex::encode(&Sha256::digest(bytes)) == self.sha256)
    }
}

/// The state that an approval of a call is bound to.
#[derive(Debug, Default)]
pub(crate) struct Binding {
    /// Lines for a person, without secrets.
    pub(crate) shown: Vec<Bound>,
    /// Keys that must be equal when the call comes again.
    pub(crate) keys: Vec<String>,
    /// Further keys for an approval of a single call.
    pub(crate) once: Vec<String>,
    /// Further keys for an approval of several calls.
    pub(crate) lasting: Vec<String>,
    /// The effects in words, with secrets.
    pub(crate) effects: Vec<String>,
}

/// Binds the inputs and losses of a call in their current state.
pub(crate) fn binding(
    event: &Event,
    judgement: &Judgement,
    world: &LocalWorld<'_>,
    redactor: &Redactor<'_>,
) -> Binding {
    let mut binder = Binder { event, world, redactor, left: MAX_HASHED_IN_ALL, binding: Binding::default() };
    for input in config_inputs(event, &judgement.analysis, reflex_library::tables(), world) {
        binder.input(&input);
    }
    binder.stakes(judgement);
    binder.binding.effects = binder.describe(&judgement.analysis);
    binder.binding
}

struct Binder<'a> {
    event: &'a Event,
    world: &'a LocalWorld<'a>,
    redactor: &'a Redactor<'a>,
    left: usize,
    binding: Binding,
}

impl Binder<'_> {
    fn input(&mut self, input: &ConfigInput) {
        match input {
            ConfigInput::File { path, how } => self.files(path, *how),
            ConfigInput::Program { name, first } => {
                let file = first.iter().map(|folder| format!("{folder}/{name}")).find(|path| Path::new(path).is_file());
                if let Some(path) = file.or_else(|| self.world.program(name)) {
                    self.file(&path, How::Runs);
                }
            }
            ConfigInput::Server { name, path } => self.server(name, path),
            ConfigInput::Git { folder, subcommand, words } => self.git(folder, subcommand, words),
            ConfigInput::Unknown { program } => {
                self.show(format!("not held to: what {program} reads in a folder that is not known"))
            }
            ConfigInput::More => self.loose("more files than can be looked at"),
        }
    }

    fn show(&mut self, shown: String) {
        let bound = Bound { shown: self.redactor.clean(&shown).into(), firm: true, ..Bound::default() };
        if !self.binding.shown.contains(&bound) {
            self.binding.shown.push(bound);
        }
    }

    /// Records a part that cannot be bound. The call cannot be approved then.
    fn loose(&mut self, what: &str) {
        self.binding.keys.push(format!("loose {what}"));
        self.binding.shown.push(Bound { shown: self.redactor.clean(what).into(), firm: false, ..Bound::default() });
    }

    fn files(&mut self, path: &str, how: How) {
        if !path.contains(['*', '?', '[']) || Path::new(path).exists() {
            return self.file(path, how);
        }
        match self.world.expand(path).known() {
            Some(mut found) => {
                found.sort();
                found.iter().for_each(|path| self.file(path, how));
            }
            None => self.loose(&format!("{} fits too many files", self.near(path))),
        }
    }

    fn file(&mut self, path: &str, how: How) {
        let file = Path::new(path);
        let data = match fs::metadata(file) {
            Ok(data) => data,
            // A missing file binds nothing. Once it exists, the keys of the call differ.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return,
            Err(_) => return self.loose(&format!("{} cannot be looked at", self.near(path))),
        };
        let real = fs::canonicalize(file).map_or_else(|_| path.to_owned(), |real| real.to_string_lossy().into_owned());
        let stat = os::stat_of(&data);
        if stat.kind == Kind::Folder {
            return self.folder(path, how);
        }
        if stat.kind == Kind::Pipe {
            return self.loose(&format!("{} is a pipe or socket, so its content is unknown", self.near(path)));
        }
        if stat.kind != Kind::File {
            return;
        }
        if how == How::Runs && OF_SYSTEM.iter().any(|folder| real.starts_with(folder)) && stat.is_of_root() {
            return self.binding.keys.push(format!("program {path} {real}"));
        }
        let bytes = (data.len() <= self.left as u64).then(|| content(file)).flatten();
        self.left = self.left.saturating_sub(bytes.as_ref().map_or(0, Vec::len));
        let sha256 = bytes.as_ref().map(|bytes| hex::encode(&Sha256::digest(bytes)));
        let seal = sha256.clone().unwrap_or_else(|| identity(&data));
        self.binding.keys.push(format!("file {path} {real} {seal}"));
        let context = format!(
            "{} {} ({})",
            verb(how),
            self.near(path),
            size(how, &data, bytes.as_deref().zip(sha256.as_deref()))
        );
        // The digest of a file that is only read is not shown: it would let a reader test guesses about a secret file.
        let script = matches!(how, How::Runs | How::Follows) && *self.redactor.clean(path) == *path;
        let sha256 = sha256.filter(|_| script).unwrap_or_default();
        let path = if sha256.is_empty() { String::new() } else { path.to_owned() };
        self.binding.shown.push(Bound { shown: self.redactor.clean(&context).into(), path, sha256, firm: true });
    }

    /// Binds the content of a folder that is an argument of the call. A folder that contains the working directory, the
    /// workspace or the home is skipped.
    fn folder(&mut self, path: &str, how: How) {
        if how == How::Configured
            || [&self.event.cwd, &self.event.workspace, &self.event.home].iter().any(|root| is_within(root, path))
        {
            return;
        }
        let mut digest = Sha256::new();
        let mut count = 0;
        let mut folders = vec![PathBuf::from(path)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                return self.loose(&format!("{} cannot be listed", self.near(path)));
            };
            let mut entries: Vec<PathBuf> =
                entries.filter_map(|entry| Some(entry.ok()?.path())).take(MAX_IN_FOLDER + 1).collect();
            entries.sort();
            count += entries.len();
            if count > MAX_IN_FOLDER {
                return self.loose(&format!("{} holds more than {MAX_IN_FOLDER} files", self.near(path)));
            }
            for entry in entries {
                let Ok(data) = fs::symlink_metadata(&entry) else { continue };
                let bytes = (data.is_file() && data.len() <= self.left as u64).then(|| content(&entry)).flatten();
                self.left = self.left.saturating_sub(bytes.as_ref().map_or(0, Vec::len));
                let seal = bytes.map_or_else(|| identity(&data), |bytes| hex::encode(&Sha256::digest(bytes)));
                // The times of a folder change with entries that are not bound.
                let seal = if data.is_dir() { "folder".to_owned() } else { seal };
                digest.update(entry.as_os_str().as_encoded_bytes());
                digest.update([0]);
                digest.update(seal.as_bytes());
                digest.update([0]);
                if data.is_dir() {
                    folders.push(entry);
                }
            }
        }
        self.binding.keys.push(format!("folder {path} {}", hex::encode(&digest.finalize())));
        let verb = match how {
            How::Runs => "runs",
            How::Sends => "sends",
            How::Follows | How::Configured | How::Reads => "follows",
        };
        self.show(format!("{verb} {} (a folder, {count} entries)", self.near(path)));
    }

    fn git(&mut self, folder: &str, subcommand: &str, words: &[String]) {
        let Some(repository) = Repository::discover(Path::new(folder), self.world.home()) else {
            return self.binding.keys.push(format!("git {folder} none"));
        };
        let settings = match repository.orders() {
            Ok(settings) => settings,
            Err(why) => {
                return self.loose(&format!("the settings of git in {} cannot be read: {}", self.near(folder), why.0));
            }
        };
        let digest = crate::system::digest::digest(&settings.join("\n"));
        self.binding.keys.push(format!("git {folder} {}", settings.join("\n")));
        for lead in repository.leads(subcommand, words).unwrap_or_default() {
            self.binding.once.push(lead.once);
            self.binding.lasting.push(lead.lasting);
            lead.shown.into_iter().for_each(|line| self.show(line));
        }
        self.show(format!("goes by git's settings ({digest}, {} lines)", settings.len()));
        let hooks = repository.hooks().ok().filter(|_| !subcommand.is_empty());
        let entries = hooks.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.path().to_string_lossy().into_owned()));
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".sample")).take(MAX_HOOKS + 1).collect();
        names.sort();
        if names.len() > MAX_HOOKS {
            self.loose("there are more hooks of git than are looked at");
        }
        names.iter().filter(|name| Path::new(name).is_file()).for_each(|name| self.file(name, How::Runs));
    }

    /// The path as a person would write it in this call.
    fn near(&self, path: &str) -> String {
        let below =
            |folder: &str| path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).filter(|_| folder != "/");
        match (below(&self.event.cwd), below(&self.event.home)) {
            (Some(rest), _) => rest.to_owned(),
            (None, Some(rest)) => format!("~/{rest}"),
            (None, None) => path.to_owned(),
        }
    }
}

fn verb(how: How) -> &'static str {
    match how {
        How::Runs => "runs",
        How::Follows => "follows",
        How::Configured => "goes by",
        How::Reads => "reads",
        How::Sends => "sends",
    }
}

/// The size of a file, with the digest of a script, if it was read. `read` is the content and its SHA-256.
fn size(how: How, data: &Metadata, read: Option<(&[u8], &str)>) -> String {
    let Some((bytes, sha256)) = read else { return format!("by number, size and times; {} bytes", data.len()) };
    let size = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => match text.lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        },
        _ => format!("{} bytes", bytes.len()),
    };
    match sha256.get(..12) {
        Some(digits) if matches!(how, How::Runs | How::Follows) => format!("sha256 {digits}, {size}"),
        _ => size,
    }
}

fn content(path: &Path) -> Option<Vec<u8>> {
    reflex_git::regular_file(path, MAX_HASHED)
}

/// The metadata of a file, which change whenever it does. Without an inode number every result is unique, so that no
/// approval matches.
fn identity(data: &Metadata) -> String {
    let stat = os::stat_of(data);
    let Some((device, number)) = stat.place else { return random::uuid() };
    let times = [stat.modified.0, stat.modified.1, stat.changed.0, stat.changed.1];
    format!("{device} {number} {} {times:?}", stat.size)
}
