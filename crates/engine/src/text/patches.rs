//! Changes in a patch file: each changed file with its added and removed lines.

use reflex_shell::work;

/// Maximum number of files that are read per patch. An excess is reported.
const MAX_FILES: usize = 4096;

/// A file that a patch changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) comes: String,
    pub(crate) goes: String,
}

/// The files of a patch in the format of git or diff, without the `b/` prefix of their paths.
pub(crate) fn changed(text: &str) -> Vec<Changed> {
    let mut files: Vec<Changed> = Vec::new();
    // Inside a hunk, a line that begins with `---` is a removed line.
    let mut inside = false;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("+++ ").filter(|_| !inside) {
            if files.len() >= MAX_FILES || !work::spend(4) {
                work::cut(|| format!("a patch changes more than {MAX_FILES} files"));
                break;
            }
            let path = path.split('\t').next().unwrap_or(path).trim_matches('"');
            let path = path.strip_prefix("b/").unwrap_or(path).to_owned();
            files.push(Changed { path, ..Changed::default() });
            continue;
        }
        if line.starts_with("@@") {
            inside = true;
            continue;
        }
        if line.starts_with("diff --git ") || line.starts_with("--- a/") || line.starts_with("--- /dev/null") {
            inside = false;
            continue;
        }
        let Some(file) = files.last_mut().filter(|_| inside) else { continue };
        match line.chars().next() {
            Some('+') => push(&mut file.comes, line),
            Some('-') => push(&mut file.goes, line),
            _ => {}
        }
    }
    files.retain(|file| file.path != "/dev/null");
    files
}

fn push(text: &mut String, line: &str) {
    text.push_str(line.get(1..).unwrap_or(""));
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_split_by_file() {
        let text =
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+d\n";
        let file = |path: &str, comes: &str, goes: &str| Changed {
            path: path.to_owned(),
            comes: comes.to_owned(),
            goes: goes.to_owned(),
        };
        assert_eq!(changed(text), [file("x", "b\n", "a\n"), file("y", "d\n", "")]);
        assert_eq!(changed("no patch\n+ a\n"), []);
    }
}
