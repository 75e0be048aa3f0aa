//! Command files of clients: texts with shell lines that a client runs itself when a person or the model names them.

use reflex_agents::CommandFiles;
use reflex_engine::command_lines;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files that are read, in all folders of a client.
const MAX_FILES: usize = 500;

/// Maximum depth of a file below such a folder.
const MAX_DEPTH: usize = 4;

/// Maximum size of a file, in bytes. Clients limit texts for a model to less.
const MAX_BYTES: usize = 256 * 1024;

/// Suffixes of command files. Other files beside a skill are read by the model, if at all.
const SUFFIXES: [&str; 2] = ["md", "toml"];

/// A shell line of a command file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellLine {
    /// The file.
    pub(crate) file: PathBuf,
    /// Number of its line, from 1.
    pub(crate) number: usize,
    /// The shell line itself.
    pub(crate) text: String,
}

/// Returns the shell lines of all command files in these folders of a project and of the user.
pub(crate) fn shell_lines(files: &CommandFiles, project: &Path, home: &Path) -> Vec<ShellLine> {
    let mut found = Vec::new();
    folders(files, project, home).for_each(|folder| list(&folder, MAX_DEPTH, &mut found));
    found.iter().flat_map(|file| lines_of(file)).collect()
}

/// Returns the shell lines of the command or skill of this name, as a client looks it up: a colon separates folders, and
/// a skill is a folder with a file `SKILL.md`.
pub(crate) fn shell_lines_of(files: &CommandFiles, name: &str, project: &Path, home: &Path) -> Vec<ShellLine> {
    let name = name.trim_start_matches('/').split_whitespace().next().unwrap_or_default().replace(':', "/");
    if name.is_empty() || Path::new(&name).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
        return Vec::new();
    }
    let of_folder = |folder: PathBuf| {
        let plain = SUFFIXES.map(|suffix| folder.join(format!("{name}.{suffix}")));
        plain.into_iter().chain([folder.join(&name).join("SKILL.md")])
    };
    folders(files, project, home).flat_map(of_folder).flat_map(|file| lines_of(&file)).collect()
}

fn folders(files: &CommandFiles, project: &Path, home: &Path) -> impl Iterator<Item = PathBuf> {
    let of_project = files.project.iter().map(|folder| project.join(folder));
    of_project.chain(files.user.iter().map(|folder| home.join(folder))).collect::<Vec<_>>().into_iter()
}

/// Lists the command files below a folder. Links are followed, as clients do; the depth bounds a circle.
fn list(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        if found.len() >= MAX_FILES {
            return;
        }
        if path.is_dir() {
            if depth > 0 {
                list(&path, depth - 1, found);
            }
        } else if path.extension().is_some_and(|suffix| SUFFIXES.iter().any(|known| suffix == *known)) {
            found.push(path);
        }
    }
}

fn lines_of(file: &Path) -> Vec<ShellLine> {
    let bytes = reflex_git::regular_file(file, MAX_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = |(number, text): (usize, &str)| ShellLine { file: file.to_owned(), number, text: text.to_owned() };
    command_lines(&text).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_agents::Judged;

    const FILES: CommandFiles =
        CommandFiles { project: &["commands", "skills"], user: &["mine"], judged: Judged::Never };

    fn machine() -> tempfile::TempDir {
        let machine = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("repo/commands/a.md", "x\n!`ls a`\n"),
            ("repo/commands/ops/b.toml", "prompt = '!{ls b}'"),
            ("repo/commands/c.txt", "!`ls c`"),
            ("repo/skills/d/SKILL.md", "!`ls d`"),
            ("home/mine/e.md", "!`ls e`"),
        ] {
            let file = machine.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        machine
    }

    fn texts(lines: &[ShellLine]) -> Vec<(usize, &str)> {
        lines.iter().map(|line| (line.number, line.text.as_str())).collect()
    }

    #[test]
    fn all_command_files_of_a_project_and_its_user_are_read() {
        let machine = machine();
        let found = shell_lines(&FILES, &machine.path().join("repo"), &machine.path().join("home"));
        assert_eq!(texts(&found), [(2, "ls a"), (1, "ls b"), (1, "ls d"), (1, "ls e")]);
    }

    #[test]
    fn a_name_leads_to_the_file_that_the_client_expands() {
        let machine = machine();
        let of = |name: &str| shell_lines_of(&FILES, name, &machine.path().join("repo"), &machine.path().join("home"));
        assert_eq!(texts(&of("/a with words")), [(2, "ls a")]);
        assert_eq!(texts(&of("ops:b")), [(1, "ls b")]);
        assert_eq!(texts(&of("d")), [(1, "ls d")]);
        assert_eq!(texts(&of("e")), [(1, "ls e")]);
        assert_eq!(texts(&of("../repo/commands/a")), []);
        assert_eq!(texts(&of("missing")), []);
    }
}
