//! Patches in the format of the tool `apply_patch`, and the file changes that they request.
//!
//! The grammar is that of the agents' own parsers, read leniently: a header is found wherever one of them might find
//! one, so that a parser cannot change a file that is missing here.

use super::quoting::quoted;

/// A change that a patch makes to one file, with paths as in the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// Creates or replaces a file.
    Add {
        /// Path of the file.
        path: String,
        /// The complete content.
        content: String,
    },
    /// Deletes a file.
    Delete {
        /// Path of the file.
        path: String,
    },
    /// Replaces parts of a file.
    Update {
        /// Path of the file.
        path: String,
        /// All added lines.
        added: String,
        /// The individual changes, in order.
        parts: Vec<Part>,
        /// The new path, if the file is also moved.
        moved: Option<String>,
    },
}

/// One change in a file: adjacent lines that are replaced by others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// The unchanged lines before the change, as far as the patch shows them.
    pub context: String,
    /// The removed lines.
    pub removed: String,
    /// The added lines.
    pub content: String,
}

const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";

/// Parses the changes of a patch, in order. Returns an empty list if the text is not a patch.
pub fn changes(text: &str) -> Vec<FileChange> {
    let mut changes: Vec<FileChange> = Vec::new();
    for line in text.lines() {
        let body = changes.last_mut().is_some_and(|change| change.takes(line));
        if !body && let Some(change) = header(line) {
            changes.push(change);
        }
    }
    changes
}

/// Converts a patch to commands: calls named `patch:add`, `patch:delete` and `patch:edit`, each with its file.
pub(crate) fn commands(text: &str) -> Vec<String> {
    let call = |name: &str, path: &str| format!("patch:{name} -- {}", quoted(path));
    let calls = |change: FileChange| match change {
        FileChange::Add { path, .. } => vec![call("add", &path)],
        FileChange::Delete { path } => vec![call("delete", &path)],
        FileChange::Update { path, moved, .. } => {
            let edit = call("edit", &path);
            [edit].into_iter().chain(moved.map(|to| call("add", &to))).collect()
        }
    };
    changes(text).into_iter().flat_map(calls).collect()
}

/// Parses a header line, which may be indented, since the agents' parsers trim it.
fn header(line: &str) -> Option<FileChange> {
    let line = line.trim();
    let path = |marker: &str| line.strip_prefix(marker).map(|path| path.trim().to_owned());
    if let Some(path) = path(ADD) {
        return Some(FileChange::Add { path, content: String::new() });
    }
    if let Some(path) = path(DELETE) {
        return Some(FileChange::Delete { path });
    }
    path(UPDATE).map(|path| FileChange::Update { path, added: String::new(), parts: Vec::new(), moved: None })
}

impl FileChange {
    /// Adds a line to the body of the change; returns `false` if the line is not part of the body.
    fn takes(&mut self, line: &str) -> bool {
        match self {
            FileChange::Delete { .. } => false,
            FileChange::Add { content, .. } => take_added(content, line),
            FileChange::Update { added, parts, moved, .. } => {
                if let Some(to) = line.trim().strip_prefix(MOVE) {
                    *moved = Some(to.trim().to_owned());
                    return true;
                }
                take_part(parts, line);
                // A context line begins with a blank, so its text is never a header.
                take_added(added, line) || line.starts_with([' ', '-'])
            }
        }
    }
}

/// Adds a line to the individual changes. An unchanged line after changed ones begins a new change.
fn take_part(parts: &mut Vec<Part>, line: &str) {
    let (sign, text) = line.split_at_checked(1).unwrap_or((line, ""));
    let text = if let Some(named) = line.strip_prefix("@@") { named.trim() } else { text };
    let stays = matches!(sign, " " | "@" | "");
    let is_begun = parts.last().is_some_and(|part| !part.removed.is_empty() || !part.content.is_empty());
    if parts.is_empty() || (stays && is_begun) {
        parts.push(Part::default());
    }
    let Some(part) = parts.last_mut() else { return };
    let into = match sign {
        "-" => &mut part.removed,
        "+" => &mut part.content,
        _ if stays && (sign != "@" || !text.is_empty()) => &mut part.context,
        _ => return,
    };
    into.push_str(text);
    into.push('\n');
}

fn take_added(content: &mut String, line: &str) -> bool {
    let Some(added) = line.strip_prefix('+') else { return false };
    content.push_str(added);
    content.push('\n');
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(path: &str, content: &str) -> FileChange {
        FileChange::Add { path: path.into(), content: content.into() }
    }

    fn update(path: &str, added: &str, moved: Option<&str>, parts: &[[&str; 3]]) -> FileChange {
        let part = |[context, removed, content]: &[&str; 3]| {
            let [context, removed, content] = [context, removed, content].map(|text| (*text).to_owned());
            Part { context, removed, content }
        };
        let parts = parts.iter().map(part).collect();
        FileChange::Update { path: path.into(), added: added.into(), parts, moved: moved.map(str::to_owned) }
    }

    #[track_caller]
    fn check(text: &str, expected: &[FileChange]) {
        assert_eq!(changes(text), expected, "{text}");
        assert_eq!(changes(&text.replace('\n', "\r\n")), expected, "{text} with Windows line ends");
    }

    #[test]
    fn each_kind_of_change_is_read() {
        let text = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n+two\n*** Delete File: ../old\n*** Update File: x.rs\n\
                    *** Move to: y.rs\n@@ fn f()\n context\n-gone\n+came\n*** End of File\n*** End Patch\n";
        check(
            text,
            &[
                add("a b.txt", "one\n\ntwo\n"),
                FileChange::Delete { path: "../old".into() },
                update("x.rs", "came\n", Some("y.rs"), &[["fn f()\ncontext\n", "gone\n", "came\n"]]),
            ],
        );
    }

    #[test]
    fn text_that_is_added_or_only_context_is_no_header() {
        check(
            "*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n*** End Patch",
            &[add("a", "*** Delete File: b\n")],
        );
        check(
            "*** Update File: a\n@@\n *** Delete File: b\n-*** Delete File: c\n+d\n",
            &[update("a", "d\n", None, &[["*** Delete File: b\n", "*** Delete File: c\n", "d\n"]])],
        );
    }

    #[test]
    fn a_header_is_found_wherever_a_parser_may_find_one() {
        let deletion = FileChange::Delete { path: "b".into() };
        check("*** Begin Patch\n  *** Delete File: b  \n*** End Patch", std::slice::from_ref(&deletion));
        check("<<'EOF'\n*** Begin Patch\n*** Delete File: b\n*** End Patch\nEOF\n", std::slice::from_ref(&deletion));
        check("*** Delete File: b", std::slice::from_ref(&deletion));
        check("*** Add File: a\n+x\nstray\n\t*** Delete File: b", &[add("a", "x\n"), deletion.clone()]);
        check(
            "*** Update File: a\n@@\n-x\n+y\n*** Delete File: b",
            &[update("a", "y\n", None, &[["", "x\n", "y\n"]]), deletion],
        );
        let two = "*** Update File: a\n@@ [f]\n a\n-b\n+c\n+d\n e\n\n+g\n";
        check(two, &[update("a", "c\nd\ng\n", None, &[["[f]\na\n", "b\n", "c\nd\n"], ["e\n\n", "", "g\n"]])]);
    }

    #[test]
    fn what_is_no_patch_changes_nothing() {
        check("", &[]);
        check("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", &[]);
    }

    #[test]
    fn a_patch_in_a_shell_is_its_calls() {
        let text = "*** Add File: it's\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d e\n+y";
        let calls = ["patch:add -- 'it'\\''s'", "patch:delete -- 'b'", "patch:edit -- 'c'", "patch:add -- 'd e'"];
        assert_eq!(commands(text), calls);
    }
}
