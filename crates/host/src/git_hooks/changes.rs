//! The changes in a commit or a push, as the payload of the git adapter.

use super::error::GitHookError;
use super::objects::{Blob, Blobs, git, holds};
use reflex_engine::shell::as_word;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::Path;

/// Maximum number of files to judge. A larger change has to be reviewed in another way.
const MAX_FILES: usize = 4000;

/// Size in bytes from which a file is reported: forges refuse files of 100 MB, and a committed file stays in every
/// clone.
const LARGE: u64 = 20 * 1024 * 1024;

/// The modes of a symlink and a submodule in git's output.
const NO_FILES: [&str; 2] = ["120000", "160000"];

/// One record of `--raw`.
struct Change {
    path: String,
    /// Object names of both contents; empty if that side is not a file.
    before: String,
    after: String,
    is_deleted: bool,
}

/// Returns the payload of the adapter for the hook of this name, and notes for the person. `words` and `input` are the
/// hook's arguments and standard input from git.
///
/// # Errors
/// The changes cannot be read, or exceed the limits.
pub fn changes(
    hook: &str,
    folder: &Path,
    words: &[String],
    input: &str,
) -> Result<(Map<String, Value>, Vec<String>), GitHookError> {
    let (changes, pushes) = match hook {
        "pre-commit" => (staged(folder)?, Vec::new()),
        "pre-push" => pushed(folder, words, input)?,
        _ => return Err(GitHookError::Unknown(hook.to_owned())),
    };
    if changes.len() > MAX_FILES {
        return Err(GitHookError::TooMany(changes.len()));
    }
    let mut warnings = Vec::new();
    let files = with_contents(folder, changes, &mut warnings)?;
    let fields = [
        ("hook", hook.into()),
        ("cwd", folder.to_string_lossy().into()),
        ("files", files.into()),
        ("pushes", pushes.into()),
    ];
    Ok((fields.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect(), warnings))
}

fn staged(folder: &Path) -> Result<Vec<Change>, GitHookError> {
    let words = ["diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv"];
    Ok(read_raw(&git(folder, &words, "")?))
}

/// The files of all commits that the remote does not have, each content once, and the pushes that do more than add
/// commits, as commands.
fn pushed(folder: &Path, words: &[String], input: &str) -> Result<(Vec<Change>, Vec<String>), GitHookError> {
    let remote = words.first().map_or("", String::as_str);
    let (mut pushes, mut tips) = (Vec::new(), Vec::new());
    for line in input.lines().filter(|line| !line.is_empty()) {
        let [local, new, name, old] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(GitHookError::Line(line.to_owned()));
        };
        let is_none = |object: &str| object.bytes().all(|byte| byte == b'0');
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
        if is_none(new) {
            pushes.push(format!("git push {} --delete {}", as_word(remote), as_word(branch)));
            continue;
        }
        tips.push(new.to_owned());
        if is_none(old) {
            continue;
        }
        if holds(folder, &["cat-file", "-e", old]) {
            tips.push(format!("^{old}"));
        }
        // Git has just asked the remote for its state, so a lease would check against the same commit.
        if !holds(folder, &["merge-base", "--is-ancestor", old, new]) {
            let local = local.strip_prefix("refs/heads/").unwrap_or(local);
            let refs = as_word(&format!("{local}:{branch}"));
            pushes.push(format!("git push --force-with-lease {} {refs}", as_word(remote)));
        }
    }
    if tips.is_empty() {
        return Ok((Vec::new(), pushes));
    }
    let mut words =
        vec!["log", "--format=", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv"];
    let known = format!("--remotes={remote}");
    words.extend(tips.iter().map(String::as_str));
    words.extend(["--not", &known, "--"]);
    let mut seen = HashSet::new();
    let mut changes = read_raw(&git(folder, &words, "")?);
    changes.retain(|change| !change.is_deleted && seen.insert((change.path.clone(), change.after.clone())));
    Ok((changes, pushes))
}

/// Parses `:MODE MODE NAME NAME STATUS` and the path after the zero byte.
fn read_raw(printed: &[u8]) -> Vec<Change> {
    let texts: Vec<String> =
        printed.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into()).collect();
    let mut parts = texts.iter();
    let mut changes = Vec::new();
    while let Some(part) = parts.next() {
        let Some(fields) = part.trim_start_matches('\n').strip_prefix(':') else { continue };
        let (fields, Some(path)) = (fields.split(' ').collect::<Vec<_>>(), parts.next()) else { continue };
        let [old_mode, new_mode, before, after, status] = fields[..] else { continue };
        // A commit contains only a link's target path and writes no file there.
        if NO_FILES.contains(&new_mode) {
            continue;
        }
        let named = |mode: &str, name: &str| {
            let is_file = !NO_FILES.contains(&mode) && !name.bytes().all(|byte| byte == b'0');
            if is_file { name.to_owned() } else { String::new() }
        };
        changes.push(Change {
            path: path.clone(),
            before: named(old_mode, before),
            after: named(new_mode, after),
            is_deleted: status.starts_with('D'),
        });
    }
    changes
}

fn with_contents(folder: &Path, changes: Vec<Change>, warnings: &mut Vec<String>) -> Result<Vec<Value>, GitHookError> {
    let names = changes.iter().flat_map(|change| [&change.before, &change.after]).filter(|name| !name.is_empty());
    let mut blobs = Blobs::of(folder, names.cloned().collect())?;
    let mut next = |name: &str| if name.is_empty() { Ok(None) } else { blobs.next().map(Some) };
    let mut files = Vec::new();
    for change in changes {
        let (before, after) = (next(&change.before)?, next(&change.after)?);
        if change.is_deleted {
            files.push(json!({"path": change.path, "deleted": true}));
            continue;
        }
        if let Some(Blob::Unread { size, is_binary }) = &after {
            let megabytes = size / 1024 / 1024;
            match (*size >= LARGE, is_binary) {
                (true, _) => warnings.push(format!(
                    "{} has {megabytes} MB, which stay in every clone for good; consider Git LFS",
                    change.path
                )),
                (false, false) => warnings.push(format!("{} is too large to be scanned", change.path)),
                (false, true) => {}
            }
        }
        let text = |blob: Option<Blob>| match blob {
            Some(Blob::Text(text)) => text,
            Some(Blob::Unread { .. }) | None => String::new(),
        };
        files.push(json!({"path": change.path, "before": text(before), "content": text(after)}));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::read_raw;

    #[test]
    fn the_lines_of_a_raw_diff_are_read() {
        let zero = "0".repeat(40);
        let name = "a".repeat(40);
        let printed = format!(
            ":000000 100644 {zero} {name} A\0a b\nc\0:100644 000000 {name} {zero} D\0gone\0\0\n:120000 120000 {name} {name} M\0link\0"
        );
        let changes = read_raw(printed.as_bytes());
        let shown: Vec<_> = changes
            .iter()
            .map(|change| (change.path.as_str(), change.before.len(), change.after.len(), change.is_deleted))
            .collect();
        assert_eq!(shown, [("a b\nc", 0, 40, false), ("gone", 40, 0, true)]);
    }
}
