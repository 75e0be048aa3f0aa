//! The page: built from `ui/`, compared with what the crate embeds, and played in a real browser.

use crate::project::{Project, tool};
use crate::{release, steps};
use std::fs;
use std::path::Path;
use std::process::Command;
use steps::step;

/// What the crate `ui` embeds.
const BUILT: &str = "crates/ui/dist";

/// Builds the page; what the crate embeds has to be that already. Then plays it with the release.
pub(crate) fn check(project: &Project) -> Result<(), String> {
    let before = files(&project.root.join(BUILT))?;
    build(&project.root)?;
    if before != files(&project.root.join(BUILT))? {
        return Err(format!("{BUILT} was not what `ui` builds: it is written anew, commit it"));
    }
    play(project, None)
}

/// Builds the page and takes the pictures of the manual.
pub(crate) fn write(project: &Project) -> Result<(), String> {
    build(&project.root)?;
    play(project, Some(&project.root.join("docs/pictures")))
}

fn build(root: &Path) -> Result<(), String> {
    let npm = |words: &[&str]| steps::succeed(tool("npm").args(words).current_dir(root.join("ui"))).map(drop);
    step("packages of the page", || npm(&["ci", "--no-audit", "--no-fund"]))?;
    step("page", || npm(&["run", "build"]))
}

fn play(project: &Project, pictures: Option<&Path>) -> Result<(), String> {
    let release = release::build(project)?;
    let mut node = Command::new("node");
    node.arg("ui/test/page.mjs").arg(release.binary).args(pictures).current_dir(&project.root);
    let said = step("page in a browser", || steps::succeed(&mut node))?;
    print!("{said}");
    Ok(())
}

/// Name and bytes of each file, in the order of the names.
fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let unread = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        all.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).map_err(unread)?));
    }
    all.sort();
    Ok(all)
}
