//! Adds the installed packages that a module imports to the module's own files, under `node_modules/`.

use crate::catalog::{MAX_BYTES, Package, main_of};
use memchr::memmem;
use reflex_script::{ENTRY, is_built_in};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files of a module including its imports.
const MAX_FILES: usize = 400;

/// Maximum total size of these files, in bytes.
const MAX_TOGETHER: usize = 8 << 20;

/// Adds the packages that the files of a package import by name, if they are installed in a `node_modules` folder
/// beside or above them. A missing package is skipped: its import then fails with an error.
pub(super) fn add(package: &mut Package, folder: &Path) {
    let mut wanted: Vec<(String, PathBuf)> = Vec::new();
    let want = |text: &str, from: &Path, wanted: &mut Vec<(String, PathBuf)>| {
        wanted.extend(bare(text).into_iter().map(|name| (name.to_owned(), from.to_owned())));
    };
    package.files.iter().for_each(|(_, text)| want(text, folder, &mut wanted));
    let mut known = BTreeSet::new();
    let mut bytes = 0;
    while let Some((name, from)) = wanted.pop() {
        if !known.insert(name.clone()) {
            continue;
        }
        let Some(found) = installed(&name, &from) else { continue };
        let entry = format!("node_modules/{}/{}", found.package, found.entry);
        let Ok(alias) = serde_json::to_string(&entry) else { continue };
        package.files.push((format!("node_modules/{name}/{ENTRY}"), alias));
        let mut left = vec![found.entry.clone()];
        while let Some(path) = left.pop() {
            let target = format!("node_modules/{}/{path}", found.package);
            if package.files.iter().any(|(known, _)| *known == target) {
                continue;
            }
            let Some(text) = text_of(&found.folder.join(&path)) else { continue };
            bytes += text.len();
            if package.files.len() >= MAX_FILES || bytes > MAX_TOGETHER {
                return;
            }
            left.extend(imported(&path, &text));
            want(&text, &found.folder, &mut wanted);
            package.files.push((target, text));
        }
    }
}

/// An installed package.
struct Installed {
    package: String,
    folder: PathBuf,
    /// The imported file, relative to the folder.
    entry: String,
}

fn installed(name: &str, from: &Path) -> Option<Installed> {
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = name.split('/').take(parts).collect();
    let package = package.join("/");
    let below = name.strip_prefix(&package)?.trim_start_matches('/');
    let place = from.ancestors().map(|above| above.join("node_modules").join(&package)).find(|place| place.is_dir())?;
    // Symlinks are resolved, because a package's own imports are installed beside its real folder.
    let folder = place.canonicalize().ok()?;
    let described: Value = serde_json::from_str(&text_of(&folder.join("package.json"))?).ok()?;
    let candidates = match below {
        "" => [main_of(&described), vec!["index.js".into()]].concat(),
        below => {
            let exported = described.get("exports").and_then(|exports| exports.get(format!("./{below}")));
            let exported = exported.map(|one| main_of(&serde_json::json!({"exports": one}))).unwrap_or_default();
            let open = ["", ".js", ".cjs", ".mjs", "/index.js"].map(|end| format!("{below}{end}"));
            exported.into_iter().chain(open).collect()
        }
    };
    let inside = |path: &String| path.split('/').all(|part| part != "..");
    let entry = candidates.into_iter().filter(inside).find(|path| folder.join(path).is_file())?;
    Some(Installed { package, folder, entry })
}

fn text_of(path: &Path) -> Option<String> {
    let is_file = path.symlink_metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES as u64);
    if is_file { fs::read_to_string(path).ok() } else { None }
}

/// Candidates for the files that the relative paths in a text refer to, resolved against the file `name`.
pub(super) fn imported(name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quoted in text.split(['"', '\'', '`']).filter(|part| part.starts_with("./") || part.starts_with("../")) {
        let mut parts: Vec<&str> = name.split('/').collect();
        parts.pop();
        let inside = quoted.split('/').all(|part| match part {
            "" | "." => true,
            ".." => parts.pop().is_some(),
            part => {
                parts.push(part);
                true
            }
        });
        if inside && quoted.len() < 200 {
            let path = parts.join("/");
            let stem = path.strip_suffix(".js").unwrap_or(&path).to_owned();
            found.extend(
                ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.cjs", "/index.ts"]
                    .map(|end| format!("{path}{end}")),
            );
            found.push(format!("{stem}.ts"));
        }
    }
    found
}

/// The names of imported packages in a text, without built-in modules.
fn bare(text: &str) -> Vec<&str> {
    let is_name = |name: &&str| {
        name.len() < 100
            && name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '@')
            && name.chars().all(|ch| ch.is_ascii_alphanumeric() || "@/-_.".contains(ch))
            && !name.contains("..")
            && !is_built_in(name)
    };
    // The scan must be fast, because every call runs it on every module: a bundle has hundreds of thousands of bytes
    // and no imports.
    let after = |word: &'static str| memmem::find_iter(text.as_bytes(), word).map(move |at| at + word.len());
    let places = after("from").chain(after("import")).chain(after("require("));
    let named = |at: usize| {
        let rest = text.get(at..)?.trim_start().trim_start_matches('(').trim_start();
        let quote = rest.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        rest.get(1..)?.split_once(quote).map(|(name, _)| name)
    };
    places.filter_map(named).filter(is_name).collect()
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn what_is_imported_by_name_is_found() {
        let text = "import { parse } from \"yaml\"; import '@scope/a/b'; const x = require('left-pad'), y = import( 'z' );\n\
                    import fs from 'node:fs'; import './own.js'; from 'nowhere in particular';";
        assert_eq!(bare(text), ["yaml", "@scope/a/b", "z", "left-pad"]);
    }
}
