//! The literate cases of `tests/cases`: a text, its tree, what it would run, what is not known.
//!
//! `UPDATE=1` rewrites what stands below each text; a person reads the difference. A case whose prose says `missed:`
//! is read otherwise than a shell would; the reason stands there. `shells` names those that take the text (`-n`).

use crate::support::reading;
use reflex_shell::{Code, outline};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The shells that confirm texts, with the words that make them only read.
const SHELLS: [(&str, &[&str]); 3] = [("bash", &["-n"]), ("dash", &["-n"]), ("zsh", &["-f", "-n"])];

/// One case as it stands in its file.
#[derive(Debug, Default)]
struct Case {
    title: String,
    prose: String,
    /// The words behind the fence; `crlf` stands for the line ends that Markdown would not keep.
    info: String,
    text: String,
    found: String,
}

/// The files are about to be written; nothing else is true of them yet.
fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// The head of a file, and its cases.
fn parse(page: &str) -> (String, Vec<Case>) {
    let mut sections = page.split("\n## ");
    let head = sections.next().unwrap().to_owned();
    let case = |section: &str| {
        let (title, rest) = section.split_once('\n').unwrap();
        let mut parts = rest.split("```");
        let prose = parts.next().unwrap().trim().to_owned();
        let (info, text) = parts.next().unwrap().split_once('\n').unwrap();
        let found = parts.nth(1).unwrap_or("").trim_start_matches("text\n").to_owned();
        let text = text.strip_suffix('\n').unwrap_or(text);
        Case { title: title.into(), prose, info: info.into(), text: text.into(), found }
    };
    (head, sections.map(case).collect())
}

fn render(head: &str, cases: &[Case]) -> String {
    let mut page = format!("{}\n", head.trim_end());
    for Case { title, prose, info, text, found } in cases {
        let prose = if prose.is_empty() { String::new() } else { format!("{prose}\n\n") };
        page.push_str(&format!("\n## {title}\n\n{prose}```{info}\n{text}\n```\n\n```text\n{found}```\n"));
    }
    page
}

impl Case {
    fn shell_text(&self) -> String {
        if self.info.contains("crlf") { self.text.replace('\n', "\r\n") } else { self.text.clone() }
    }

    /// What is found in the text, below the shells that take it.
    fn result(&self, shells: &[&str]) -> String {
        let text = self.shell_text();
        let reading = reading(&text);
        let mut lines = vec![format!("shells {}", shells.join(" ")), format!("tree   {}", outline(&text))];
        for command in reading.commands.iter().filter(|command| !command.words.is_empty()) {
            let words: String = command.words.iter().map(|word| format!("[{}]", word.shown())).collect();
            lines.push(format!("runs   {words}"));
        }
        for (code, _) in reading.commands.iter().flat_map(|command| &command.unread) {
            let (kind, value) = match code {
                Code::Text(value) => ("a text", value),
                Code::Part(value) => ("a part", value),
                Code::Stdin(value) => ("its input", value),
                Code::File(value) => ("a file", value),
            };
            lines.push(format!("code   {kind}: {}", value.shown()));
        }
        for gap in &reading.gaps {
            lines.push(format!("gap    {:?} `{}`", gap.why, gap.origin.span.slice(&text)));
        }
        let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
        let lines = lines.iter().map(|line| line.chars().map(shown).collect::<String>());
        lines.map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn named_shells(&self) -> Vec<&str> {
        let line = self.found.lines().find_map(|line| line.strip_prefix("shells"));
        line.unwrap_or("").split_whitespace().collect()
    }
}

/// Whether the shell takes the text; `None` if there is no such shell, or one of another age than the cases expect.
fn takes(shell: &str, options: &[&str], text: &str) -> Option<bool> {
    let mut command = Command::new(shell);
    command.args(options).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    // A shell that stops at an error does not read the rest.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().unwrap();
    // bash ends well behind an error in `[[`.
    Some(output.status.success() && output.stderr.is_empty())
}

/// The shells that there are. A bash of before 2019 does not know all forms.
fn shells_here() -> Vec<(&'static str, &'static [&'static str])> {
    let is_installed = |shell: &str, options: &[&str]| {
        let old = shell == "bash" && takes(shell, &["-c", "((BASH_VERSINFO[0] >= 5))"], "") != Some(true);
        let present = takes(shell, options, "").is_some() && !old;
        if !present {
            println!("skip  {shell}: it is not there, or too old");
        }
        present
    };
    SHELLS.into_iter().filter(|(shell, options)| is_installed(shell, options)).collect()
}

#[test]
fn every_case_is_found_as_it_stands() {
    let (update, shells) = (is_update(), shells_here());
    let mut problems = Vec::new();
    for file in files() {
        let (head, mut cases) = parse(&std::fs::read_to_string(&file).unwrap());
        for case in &mut cases {
            let taking =
                shells.iter().filter(|(shell, options)| takes(shell, options, &case.shell_text()) == Some(true));
            let named: Vec<&str> = if update { taking.map(|(shell, _)| *shell).collect() } else { case.named_shells() };
            let found = case.result(&named);
            if update {
                case.found = found;
            } else if found != case.found {
                problems.push(format!("{}: {}\n{found}instead of\n{}", file.display(), case.title, case.found));
            }
        }
        if update {
            std::fs::write(&file, render(&head, &cases)).unwrap();
        }
    }
    assert!(problems.is_empty(), "rewrite with UPDATE=1 and read the difference\n{}", problems.join("\n"));
}

#[test]
fn the_shells_take_what_the_cases_say_they_take() {
    if is_update() {
        return;
    }
    let shells = shells_here();
    let mut problems = Vec::new();
    for file in files() {
        for case in parse(&std::fs::read_to_string(&file).unwrap()).1 {
            let named = shells.iter().filter(|(shell, _)| case.named_shells().contains(shell));
            let refusing = named.filter(|(shell, options)| takes(shell, options, &case.shell_text()) != Some(true));
            problems.extend(refusing.map(|(shell, _)| format!("{shell} does not take: {}", case.title)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_page_is_written_as_it_was_read() {
    if is_update() {
        return;
    }
    let mut count = 0;
    for file in files() {
        let page = std::fs::read_to_string(&file).unwrap();
        let (head, cases) = parse(&page);
        count += cases.len();
        assert_eq!(render(&head, &cases), page, "{}", file.display());
    }
    assert!(count >= 160, "{count} cases");
}
