//! The web page: built from `ui/`, compared with the files embedded in the crate, and tested in a real browser.

use crate::project::{Project, tool};
use crate::{release, steps};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use steps::step;

/// The build output, which the crate `ui` embeds.
const BUILT: &str = "crates/ui/dist";

/// The recording in the README.
const RECORDING: &str = "docs/pictures/demo.svg";

/// Builds the page, fails if the embedded files differ, and then tests the page with the release.
pub fn check(project: &Project) -> Result<()> {
    if !is_as_before(&project.root)? {
        bail!("{BUILT} was not what `ui` builds: it is written anew, commit it");
    }
    play(project, None)
}

/// Builds the page and returns whether the embedded files are the same. Then they keep their modification times: new
/// ones would make cargo build the release again.
fn is_as_before(root: &Path) -> Result<bool> {
    let built = root.join(BUILT);
    let (before, times) = (files(&built)?, times(&built)?);
    build(root)?;
    if before != files(&built)? {
        return Ok(false);
    }
    for (path, time) in times {
        let opened = fs::File::options().write(true).open(&path);
        let restored = opened.and_then(|file| file.set_modified(time));
        restored.with_context(|| format!("cannot restore the time of `{}`", path.display()))?;
    }
    Ok(true)
}

/// The pictures of the list in a terminal that the manual shows.
const OF_LIST: [&str; 2] = ["pending-120-light.png", "pending-120-dark.png"];

/// Builds the page and takes the manual's screenshots of the page and the list.
pub fn write(project: &Project) -> Result<()> {
    is_as_before(&project.root)?;
    let pictures = project.root.join("docs/pictures");
    play(project, Some(&pictures))?;
    terminal(project)?;
    OF_LIST.iter().try_for_each(|name| {
        let copied = fs::copy(project.target.join("terminal").join(name), pictures.join(name));
        copied.map(drop).with_context(|| format!("cannot copy `{name}`"))
    })
}

/// Takes screenshots of the commands in a terminal and writes the recording for the README.
pub fn terminal(project: &Project) -> Result<()> {
    let release = release::build(project)?;
    if !project.root.join("ui/node_modules").exists() {
        build(&project.root)?;
    }
    let pictures = project.target.join("terminal");
    let mut node = Command::new("node");
    node.arg("ui/test/terminal.mjs").arg(release.binary).arg(&pictures);
    node.arg("--recording").arg(project.root.join(RECORDING)).current_dir(&project.root);
    let output = step("pictures of the terminal", || steps::succeed(&mut node))?;
    print!("{output}");
    println!("{}", pictures.display());
    Ok(())
}

/// The script of a person who approves a call on the page, with its packages installed.
pub fn answering() -> Result<PathBuf> {
    let root = Project::of_environment()?.root;
    if !root.join("ui/node_modules").exists() {
        packages(&root)?;
    }
    Ok(root.join("ui/test/answer.mjs"))
}

fn packages(root: &Path) -> Result<()> {
    let mut install = tool("npm");
    install.args(["ci", "--no-audit", "--no-fund"]).current_dir(root.join("ui"));
    step("packages of the page", || steps::succeed(&mut install).map(drop))
}

fn build(root: &Path) -> Result<()> {
    packages(root)?;
    step("page", || steps::succeed(tool("npm").args(["run", "build"]).current_dir(root.join("ui"))).map(drop))
}

fn play(project: &Project, pictures: Option<&Path>) -> Result<()> {
    let release = release::build(project)?;
    let mut node = Command::new("node");
    node.arg("ui/test/page.mjs").arg(release.binary).args(pictures).current_dir(&project.root);
    let output = step("page in a browser", || steps::succeed(&mut node))?;
    print!("{output}");
    Ok(())
}

/// Path and modification time of each file.
fn times(folder: &Path) -> Result<Vec<(PathBuf, SystemTime)>> {
    let unread = || format!("cannot read `{}`", folder.display());
    let entries = fs::read_dir(folder).with_context(unread)?;
    entries
        .map(|entry| {
            let entry = entry.with_context(unread)?;
            Ok((entry.path(), entry.metadata().and_then(|data| data.modified()).with_context(unread)?))
        })
        .collect()
}

/// Name and bytes of each file, sorted by name.
fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let unread = || format!("cannot read `{}`", folder.display());
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(unread)? {
        let entry = entry.with_context(unread)?;
        all.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).with_context(unread)?));
    }
    all.sort();
    Ok(all)
}
