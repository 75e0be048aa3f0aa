//! Shows a reflex before a person's yes: its powers, its changes, its files.

use crate::terminal::output::print;
use crate::terminal::paint::Paint;
use crate::terminal::visible::visible;
use reflex_host::catalog::{MANIFEST, Package};
use similar::{ChangeTag, TextDiff};

/// Prints its name, its description and its powers.
pub(super) fn card(package: &Package, from: &str) {
    let paint = Paint::of_stdout();
    print(&format!("{} {}", paint.bold(&visible(&package.name)), visible(package.text("version"))));
    let about = visible(package.text("description"));
    if !about.is_empty() {
        print(&format!("  {about}"));
    }
    print(&format!("  from      {}", visible(from)));
    for (title, description) in powers(package) {
        print(&format!("  {title:9} {description}"));
    }
    let lines = |text: &str| text.lines().count();
    let files: Vec<String> =
        package.files.iter().map(|(path, text)| format!("{} ({} lines)", visible(path), lines(text))).collect();
    print(&format!("  files     {}", files.join(", ")));
    print(&format!("  digest    {}", package.digest()));
}

/// Describes the answers, data and files that a reflex has access to.
pub(super) fn powers(package: &Package) -> Vec<(&'static str, String)> {
    if package.manifest.is_none() {
        return vec![
            ("answers", "pass, deny, ask, modify: it has no manifest that says less".into()),
            ("sees", "everything of a call".into()),
            ("touches", "no files, no network, no environment variables".into()),
        ];
    }
    let shown = |key: &str| package.capability(key).map(|list| visible(&list.join(", ")));
    let mut powers = vec![
        ("answers", shown("decisions").unwrap_or_else(|| "pass".into())),
        ("sees", shown("reads").unwrap_or_else(|| "everything of a call".into())),
    ];
    let touches = [("reads", "files"), ("writes", "writes"), ("asks", "network"), ("variables", "environment")];
    let touched = touches.iter().filter_map(|(title, key)| Some((*title, shown(key).filter(|list| !list.is_empty())?)));
    powers.extend(touched);
    powers
}

/// Prints every file in full, or its difference from the previous version.
pub(super) fn files(package: &Package, before: Option<&Package>) {
    let paint = Paint::of_stdout();
    for (path, text) in &package.files {
        let old = before.map_or("", |before| before.file(path).unwrap_or(""));
        if old == text && before.is_some() {
            continue;
        }
        // Data beside the modules may be confidential.
        let is_data = path.ends_with(".json") && path != MANIFEST && !path.ends_with("examples.json");
        if is_data {
            print(&format!("{} ({} lines of data)", paint.bold(&visible(path)), text.lines().count()));
            continue;
        }
        print(&paint.bold(&visible(path)));
        for change in TextDiff::from_lines(old, text).iter_all_changes() {
            let line = visible(change.value().trim_end_matches('\n'));
            match (change.tag(), before.is_some()) {
                (_, false) => print(&format!("  | {line}")),
                (ChangeTag::Equal, true) => print(&format!("    {line}")),
                (ChangeTag::Delete, true) => print(&paint.removed(&format!("  - {line}"))),
                (ChangeTag::Insert, true) => print(&paint.added(&format!("  + {line}"))),
            }
        }
    }
    let removed = before.into_iter().flat_map(|before| &before.files).filter(|(path, _)| package.file(path).is_none());
    removed.for_each(|(path, _)| print(&format!("{} was removed", visible(path))));
}
