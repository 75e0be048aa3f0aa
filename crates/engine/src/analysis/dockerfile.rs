//! Dockerfiles: the files that a build copies into an image, and the commands that it runs there.

use crate::model::mounts::{MAX_MOUNTS, Mount, Source};
use crate::model::path;
use crate::text::glob;
use reflex_shell::work;
use std::str::Lines;

/// A build as a script in the image, with the copied files as mounts of the build's context.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Build {
    /// The copied files and folders. What happens to the copies does not change them.
    pub(crate) mounts: Vec<Mount>,
    /// The commands, each in its folder.
    pub(crate) script: String,
}

/// Returns what a Dockerfile does with the files of its context, a folder of this machine.
pub(crate) fn build(text: &str, context: &str) -> Build {
    let mut build = Build::default();
    let mut folder = "/".to_owned();
    let mut lines = text.lines();
    while let Some(instruction) = instruction(&mut lines) {
        if !work::spend(2 + instruction.len() as u64 / 64) {
            break;
        }
        let (name, rest) = instruction.split_once([' ', '\t']).unwrap_or((&instruction, ""));
        let rest = rest.trim();
        match name.to_ascii_uppercase().as_str() {
            // A stage begins in a new root.
            "FROM" => {
                build.mounts.clear();
                folder = "/".to_owned();
            }
            "WORKDIR" => folder = path::absolute(rest.trim_matches(['"', '\'']), &folder),
            "ENV" | "ARG" if rest.contains('=') => build.script.push_str(&format!("export {rest}\n")),
            "COPY" | "ADD" => build.copy(rest, &folder, context),
            "RUN" => {
                let command =
                    words(without_flags(rest)).map_or_else(|| without_flags(rest).to_owned(), |words| joined(&words));
                build.script.push_str(&format!("(\ncd {}\n{command}\n)\n", reflex_shell::quoted(&folder)));
            }
            _ => {}
        }
    }
    build
}

impl Build {
    fn copy(&mut self, rest: &str, folder: &str, context: &str) {
        let is_from_stage =
            rest.split_whitespace().take_while(|word| word.starts_with("--")).any(|flag| flag.starts_with("--from="));
        let rest = without_flags(rest);
        let named = words(rest).unwrap_or_else(|| rest.split_whitespace().map(str::to_owned).collect());
        let Some((last, sources)) = named.split_last().filter(|_| !is_from_stage) else { return };
        let inside = path::absolute(last, folder);
        let is_folder = sources.len() > 1 || last.ends_with('/') || matches!(last.as_str(), "." | "..");
        for source in sources.iter().filter(|source| !source.contains("://") && !source.starts_with("<<")) {
            if self.mounts.len() >= MAX_MOUNTS {
                return work::cut(|| format!("more than {MAX_MOUNTS} files are copied into one image"));
            }
            // The context is the root of its paths.
            let below = source.trim_start_matches('/');
            let at = path::absolute(below, context);
            let mount = |inside: String, source: &str| Mount {
                inside,
                source: Source::Path(source.to_owned()),
                read_only: true,
            };
            if below.contains(['*', '?', '[']) {
                self.mounts.push(mount(inside.clone(), path::parent(&at)));
                continue;
            }
            // Copying a folder copies its content; the source may be a folder, which only the machine shows.
            self.mounts.push(mount(inside.clone(), &at));
            if is_folder && path::is_within(&at, context) && at != context {
                self.mounts.push(mount(path::absolute(path::name_of(&at), &inside), &at));
            }
        }
    }
}

/// Returns the next instruction on one line, with the body of a here-document. Comments are left out.
fn instruction(lines: &mut Lines<'_>) -> Option<String> {
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    let mut instruction = lines.find(|line| !line.trim().is_empty() && !is_comment(line))?.trim().to_owned();
    while let Some(begun) = instruction.strip_suffix('\\') {
        let begun = begun.to_owned();
        let Some(next) = lines.find(|line| !line.trim().is_empty() && !is_comment(line)) else {
            return Some(begun);
        };
        instruction = format!("{begun} {}", next.trim());
    }
    let Some((before, marker)) = instruction.split_once("<<") else { return Some(instruction) };
    let end: String = marker
        .trim_start_matches('-')
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|ch| ch.is_alphanumeric() || *ch == '_')
        .collect();
    if end.is_empty() {
        return Some(instruction);
    }
    let body: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != end).collect();
    let body = body.join("\n");
    let (name, rest) = before.trim().split_once([' ', '\t']).unwrap_or((before.trim(), ""));
    match name.to_ascii_uppercase().as_str() {
        // A here-document alone is the script.
        "RUN" if without_flags(rest.trim()).is_empty() => Some(format!("{name} {body}")),
        "RUN" => Some(format!("{instruction}\n{body}\n{end}")),
        _ => Some(instruction),
    }
}

/// Returns the words of the form `["a", "b"]`.
fn words(text: &str) -> Option<Vec<String>> {
    text.starts_with('[').then(|| serde_json::from_str(text).ok()).flatten()
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| reflex_shell::quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns an instruction's text without its leading flags: `--mount=type=cache,…`, `--chown=a`.
fn without_flags(mut text: &str) -> &str {
    while text.starts_with("--") {
        text = text.split_once([' ', '\t']).map_or("", |(_, rest)| rest.trim_start());
    }
    text
}

/// Whether a `.dockerignore` keeps a path, relative to the context, out of the image. The last line that fits decides.
pub(crate) fn is_ignored(ignored: &str, relative: &str) -> bool {
    let fits = |pattern: &str| {
        let pattern = pattern.trim_start_matches('/').trim_end_matches('/');
        let mut above = std::iter::successors(Some(relative), |at| at.rsplit_once('/').map(|(folder, _)| folder));
        above.any(|at| glob::glob(pattern.as_bytes(), at.as_bytes()))
    };
    let lines = ignored.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.fold(false, |is_ignored, line| match line.strip_prefix('!') {
        Some(kept) => is_ignored && !fits(kept),
        None => is_ignored || fits(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, mounts: &[(&str, &str)], script: &str) {
        let found = build(text, "/repo");
        let copied = |mount: &Mount| match &mount.source {
            Source::Path(source) => (mount.inside.clone(), source.clone()),
            other @ (Source::Volume(_) | Source::Unknown(_)) => panic!("{other:?}"),
        };
        let expected: Vec<(String, String)> =
            mounts.iter().map(|(inside, source)| ((*inside).into(), (*source).into())).collect();
        assert_eq!(found.mounts.iter().map(copied).collect::<Vec<_>>(), expected, "{text}");
        assert_eq!(found.script, script, "{text}");
    }

    #[test]
    fn files_are_copied_below_the_working_folder() {
        check("FROM a\nWORKDIR /app\nCOPY . .\n", &[("/app", "/repo")], "");
        check("FROM a\nCOPY --chown=b .env /app/x\n", &[("/app/x", "/repo/.env")], "");
        check("FROM a\nCOPY [\"a b\", \"/c\"]\n", &[("/c", "/repo/a b")], "");
        check("FROM a AS b\nCOPY a /a\nFROM c\nCOPY --from=b /a /d\n", &[], "");
        check("ADD https://x.example/a /a\n", &[], "");
        check("COPY .env* /app/\n", &[("/app", "/repo")], "");
    }

    #[test]
    fn commands_run_in_the_working_folder() {
        check("WORKDIR /app\nRUN a \\\n  # no\n  b\n", &[], "(\ncd '/app'\na  b\n)\n");
        check("RUN --mount=type=cache,target=/c [\"a\", \"b c\"]\n", &[], "(\ncd '/'\n'a' 'b c'\n)\n");
        check("RUN <<E\na\nb\nE\nRUN c\n", &[], "(\ncd '/'\na\nb\n)\n(\ncd '/'\nc\n)\n");
        check("ENV A=b\n# RUN c\n", &[], "export A=b\n");
    }

    #[test]
    fn an_ignored_file_is_in_no_image() {
        assert!(is_ignored(".env\n", ".env") && is_ignored("**/.env*\n", "a/.env.local") && is_ignored("a/\n", "a/b"));
        assert!(!is_ignored("*\n!.env\n", ".env") && !is_ignored("# .env\n", ".env"));
    }
}
