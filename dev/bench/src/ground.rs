//! The repository and the home in which calls are measured, identical on every machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result};
use tasks::steps::succeed;

const PARTS: u32 = 20;
const FILES: u32 = 25;
/// The folder of the hook's state in a home.
pub(crate) const STATE: &str = ".local/state/reflex";

/// A fixed time in the past: git does not reread files that are older than its index.
const DATE: u64 = 1_700_000_000;

/// A home that contains a repository of 500 files; both are deleted when this value is dropped.
pub(crate) struct Ground {
    /// The repository's root.
    pub(crate) repo: PathBuf,
    /// The home.
    pub(crate) home: PathBuf,
    /// The folder that contains both.
    pub(crate) folder: PathBuf,
    /// The folder in memory that holds the hook's state, if that is not on the disk.
    memory: Option<PathBuf>,
}

/// The folder whose files are in memory on Linux.
const MEMORY: &str = "/dev/shm";

impl Ground {
    /// Creates a new ground, always at a path of the same length.
    ///
    /// The folder is outside of this checkout: inside, the home would be part of the checkout's repository and affect
    /// the verdicts.
    pub(crate) fn prepare() -> Result<Self> {
        Self::named("bench")
    }

    /// The same with the hook's state in memory; `None` if this machine has no such folder.
    ///
    /// Only the state is there: a home in memory would be a temporary folder, and the verdicts would be others.
    pub(crate) fn in_memory() -> Result<Option<Self>> {
        let memory = Path::new(MEMORY).join(format!("reflex-tmpfs-{:07}", std::process::id()));
        if !Path::new(MEMORY).is_dir() || fs::create_dir_all(&memory).is_err() {
            return Ok(None);
        }
        let mut ground = Self::named("tmpfs")?;
        let state = ground.home.join(STATE);
        let linked = fs::create_dir_all(state.parent().unwrap_or(&ground.home)).and_then(|()| link(&memory, &state));
        ground.memory = Some(memory);
        linked.with_context(|| format!("cannot link `{}`", state.display()))?;
        Ok(Some(ground))
    }

    /// The path of a ground.
    fn at(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("reflex-{name}-{:07}", std::process::id()));
        let home = folder.join("home");
        Self { repo: home.join("app"), home, folder, memory: None }
    }

    /// The same at another path; every name has five characters.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let ground = Self::at(name);
        let shown = || format!("cannot prepare `{}`", ground.folder.display());
        fs::create_dir_all(&ground.repo).with_context(shown)?;
        ground.write_tracked().with_context(shown)?;
        ground.git(&["init", "-q", "-b", "main"])?;
        ground.git(&["add", "-A"])?;
        ground.git(&["commit", "-q", "-m", "start"])?;
        ground.write_built().with_context(shown)?;
        Ok(ground)
    }

    /// Creates a repository with this number of small files, in folders of a hundred.
    pub(crate) fn large(files: usize) -> Result<Self> {
        let ground = Self::at(&format!("{files:05}"));
        for index in 0..files {
            let written = ground.file(&Self::name(index), &format!("fn f{index}() {{}}\n"));
            written.with_context(|| format!("cannot prepare `{}`", ground.folder.display()))?;
        }
        ground.git(&["init", "-q", "-b", "main"])?;
        ground.git(&["add", "-A"])?;
        ground.git(&["commit", "-q", "-m", "start"])?;
        Ok(ground)
    }

    /// Creates an empty repository in a home with these rule files; the path has the same length as any other.
    pub(crate) fn with_rules(name: usize, files: &[String]) -> Result<Self> {
        let ground = Self::at(&format!("{name:05}"));
        let rules = ground.home.join(".config/reflex/rules");
        let written = fs::create_dir_all(&ground.repo).and_then(|()| {
            files.iter().enumerate().try_for_each(|(number, text)| {
                fs::create_dir_all(&rules)?;
                fs::write(rules.join(format!("rule-{number:03}.yaml")), text)
            })
        });
        written.with_context(|| format!("cannot prepare `{}`", ground.folder.display()))?;
        ground.git(&["init", "-q", "-b", "main"])?;
        Ok(ground)
    }

    /// Path of a file in the large repository.
    pub(crate) fn name(index: usize) -> String {
        format!("src/part-{:03}/file-{index:05}.rs", index / 100)
    }

    fn write_tracked(&self) -> io::Result<()> {
        self.file(".gitignore", "node_modules/\ndist/\n")?;
        self.file(
            "package.json",
            "{\"name\": \"app\", \"scripts\": {\"build\": \"tsc\", \"test\": \"node --test\"}}\n",
        )?;
        self.file("Makefile", "all:\n\t@echo built\n")?;
        self.file("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")?;
        self.file("tests/test_app.py", "def test_sum():\n    assert 1 + 1 == 2\n")?;
        // These five bring the number of files to 500.
        for part in 0..PARTS {
            let of_part = if part == 0 { 5 } else { 0 }..FILES;
            for file in of_part {
                let text = format!("//! File {file} of part {part}.\n\nfn main() {{}}\n");
                self.file(&format!("src/part-{part:02}/file-{file:02}.rs"), &text)?;
            }
        }
        Ok(())
    }

    fn write_built(&self) -> io::Result<()> {
        for package in 0..10 {
            self.file(&format!("node_modules/package-{package}/index.js"), "module.exports = {};\n")?;
        }
        self.file("dist/app.js", "\"use strict\";\n")
    }

    fn file(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.repo.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.repo))?;
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.set_modified(UNIX_EPOCH + Duration::from_secs(DATE))
    }

    fn git(&self, arguments: &[&str]) -> Result<()> {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "core.autocrlf=false"]);
        // A collection in the background would change the repository during a measurement, and outlive it.
        git.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        git.args(arguments).current_dir(&self.repo);
        // The caller's repository must not affect git.
        git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
        git.env("HOME", &self.home).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
        let date = format!("{DATE} +0000");
        git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        succeed(&mut git).map(drop)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // A failure leaves only one small folder among the temporary files.
        let _ = fs::remove_dir_all(&self.folder);
        self.memory.iter().for_each(|memory| drop(fs::remove_dir_all(memory)));
    }
}

#[cfg(unix)]
fn link(target: &Path, name: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, name)
}

#[cfg(not(unix))]
fn link(_target: &Path, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
