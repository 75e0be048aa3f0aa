//! The files of a crate that run, without its tests.

use crate::Problem;
use std::fs;
use std::path::{Path, PathBuf};

/// A file with its syntax tree.
pub(crate) struct Source {
    /// The path relative to the workspace.
    pub(crate) path: String,
    pub(crate) tree: syn::File,
    pub(crate) lines: usize,
}

/// Reads every file below `src` that is not a test.
pub(crate) fn read(root: &Path, folder: &Path) -> Result<Vec<Source>, Problem> {
    let mut sources = Vec::new();
    for file in files(&folder.join("src")) {
        let text = fs::read_to_string(&file).map_err(|error| Problem::new(&file, &error))?;
        let tree = syn::parse_file(&text).map_err(|error| Problem::new(&file, &error))?;
        let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        sources.push(Source { path, tree, lines: text.lines().count() });
    }
    Ok(sources)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && path.file_stem().is_none_or(|stem| stem != "tests")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether the attributes keep an item for tests.
pub(crate) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    })
}
