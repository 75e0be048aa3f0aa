//! Checks the documentation: links resolve, and generated pages are up to date.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use bench::linear;
use tasks::project::Project;

use crate::reference;

/// Checks all Markdown pages of the project.
pub(crate) fn check(project: &Project) -> Result<()> {
    let mut problems = Vec::new();
    for page in pages(&project.root)? {
        let text = read(&page)?;
        let folder = page.parent().unwrap_or(&project.root);
        let dead = links(&text).filter(|link| !folder.join(link).exists());
        problems.extend(dead.map(|link| format!("{}: `{link}` leads nowhere", page.display())));
    }
    problems.extend(bench::stale(project)?);
    problems.extend(linear::stale(project)?);
    problems.extend(reference::stale(project)?);
    ensure!(problems.is_empty(), problems.join("\n"));
    Ok(())
}

/// The pages at the root and in the folders with prose.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let mut folders = vec![root.join("docs"), root.join("library")];
    pages.extend(entries(root)?.into_iter().filter(|path| is_page(path)));
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if is_page(&path) {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn read(page: &Path) -> Result<String> {
    fs::read_to_string(page).with_context(|| format!("cannot read `{}`", page.display()))
}

/// The files that a page links to, outside of code. URLs and anchors are not checked.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
    let targets = prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    files.filter_map(|target| target.split('#').next()).filter(|file| !file.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_files_are_looked_for() {
        let text = "[a](docs/a.md#part) [b](#part) [c](https://example.invalid/x) `[d](no.md)`\n\
            ```\n[e](no.md)\n```\n[f](b.md)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md", "b.md"]);
    }
}
