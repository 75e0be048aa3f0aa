//! Classification of the texts of a tool's arguments: a command line, a program, statements, a path.

use crate::model::event::{AgentPath, Flavour};
use reflex_shell::{Language, Program, Programs};

/// Maximum length, in bytes, of a command line that no key names, and of a path.
const MAX_LINE: usize = 4096;

/// Maximum number of segments of a text searched for a program.
const MAX_SEGMENTS: usize = 16;

/// Words other than programs that begin a shell text.
const KEYWORDS: [&str; 8] = ["for", "while", "if", "until", "case", "function", "export", "cd"];

/// Returns whether a segment of the text starts a known program, or one by its path.
pub(super) fn is_command(text: &str, programs: Programs) -> bool {
    segments(text).any(|segment| program(segment).is_some_and(|name| is_known(name, programs)))
}

/// Returns whether the text is almost certainly a command line: a known program with an option, a path or a command
/// separator.
pub(super) fn is_clear_command(text: &str, programs: Programs) -> bool {
    let starts = |segment: &str| {
        let is_shell_like = |word: &str| {
            word.starts_with(['-', '/', '~', '$']) || word.contains("../") || word.contains(['|', '>', '<'])
        };
        program(segment).is_some_and(|name| is_known(name, programs))
            && (segment.split_whitespace().skip(1).any(is_shell_like) || text.contains("&&") || text.contains(" | "))
    };
    text.len() <= MAX_LINE && segments(text).any(starts)
}

fn segments(text: &str) -> impl Iterator<Item = &str> {
    text.split([';', '|', '&', '\n', '(', '`']).take(MAX_SEGMENTS)
}

/// Returns the program of a segment, after any assignments.
fn program(segment: &str) -> Option<&str> {
    let mut words = segment.split_whitespace().map(|word| word.trim_matches(['"', '\'', '{', '\\']));
    words.find(|word| !word.is_empty() && !word.contains('='))
}

fn is_known(word: &str, programs: Programs) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let lower = name.to_ascii_lowercase();
    let name = lower.strip_suffix(".exe").unwrap_or(name);
    let by_path = word.starts_with("./") || word.starts_with("../");
    by_path
        || KEYWORDS.contains(&name)
        || Program::find(programs, name).is_some()
        || Program::find(programs, &lower).is_some()
}

/// Returns whether a text begins like a database statement.
pub(super) fn is_statement(text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_ascii_lowercase);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let things =
        ["table", "database", "schema", "index", "view", "user", "role", "from", "into", "column", "or", "type"];
    match first.as_str() {
        "select" | "update" | "grant" | "revoke" | "truncate" | "merge" | "with" => !second.is_empty(),
        "drop" | "delete" | "alter" | "insert" | "create" | "replace" => things.contains(&second.as_str()),
        _ => false,
    }
}

/// Returns the language of this name.
pub(super) fn language(name: &str) -> Option<Language> {
    match name {
        "python" | "python3" | "py" | "jupyter" | "ipython" => Some(Language::Python),
        "javascript" | "js" | "node" | "nodejs" | "typescript" | "ts" | "deno" | "bun" => Some(Language::JavaScript),
        "ruby" => Some(Language::Ruby),
        "php" => Some(Language::Php),
        "perl" => Some(Language::Perl),
        "lua" => Some(Language::Lua),
        "applescript" | "osascript" => Some(Language::AppleScript),
        "bash" | "shell" | "sh" | "zsh" | "fish" => Some(Language::Shell),
        "powershell" | "pwsh" => Some(Language::PowerShell),
        "batch" | "bat" => Some(Language::Cmd),
        _ => None,
    }
}

/// Markers that identify the language of a program if no argument names it.
const MARKS: [(Language, &[&str]); 5] = [
    (Language::Php, &["<?php"]),
    (Language::Python, &["subprocess.", "shutil.", "import os", "import sys", "import subprocess", "import shutil"]),
    (Language::JavaScript, &["require(", "const ", "let ", "=> ", "console.", "process.", "await ", "} from "]),
    (Language::Python, &["import ", "print(", "def ", "os.", "subprocess.", "shutil.", "open("]),
    (Language::Ruby, &["puts ", "FileUtils", "require '"]),
];

/// Returns the most likely language of a program.
pub(super) fn guessed(text: &str, programs: Programs) -> Language {
    if text.starts_with("#!/bin/") || text.starts_with("#!/usr/bin/env bash") {
        return Language::Shell;
    }
    let marked = MARKS.iter().find(|(_, marks)| marks.iter().any(|mark| text.contains(mark)));
    match marked {
        Some((language, _)) => *language,
        None if is_command(text, programs) => Language::Shell,
        None => Language::Python,
    }
}

/// Returns the lines of a notebook cell that a shell runs: `!ls`, and everything under `%%bash`.
pub(super) fn shell_lines(code: &str) -> Vec<&str> {
    let begin = code.trim_start();
    if let Some(rest) = ["%%bash", "%%sh", "%%script bash"].iter().find_map(|mark| begin.strip_prefix(mark)) {
        return vec![rest];
    }
    let line = |line: &'_ str| -> Option<usize> { line.trim_start().strip_prefix(['!', '%']).map(str::len) };
    code.lines().filter_map(|text| text.get(text.len() - line(text)?..)).collect()
}

/// Returns whether the text has the form of a path.
pub(super) fn is_path(text: &str) -> bool {
    let leads =
        ["/", "~/", "./", "../", "\\\\", "file:", "$HOME", "${HOME}", "%"].iter().any(|lead| text.starts_with(lead));
    let drive = matches!(text.as_bytes(), [ch, b':', b'\\' | b'/', ..] if ch.is_ascii_alphabetic());
    let plain = !text.contains('\n') && text.len() <= MAX_LINE && !text.starts_with("//");
    plain && (leads || drive || text == "~")
}

/// Returns whether the text is an address outside this machine's disk.
pub(super) fn is_elsewhere(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_scheme =
        scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    is_scheme && !scheme.eq_ignore_ascii_case("file")
}

/// Returns whether the text is an HTTP or HTTPS URL.
pub(super) fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Returns the text typed by a list of keys, which are texts and names of keys.
pub(super) fn typed(items: &[serde_json::Value]) -> String {
    let key = |text: &str| match text {
        "Enter" | "enter" | "Return" | "return" | "C-m" | "C-j" | "ENTER" | "KPEnter" | "\r" => "\n".to_owned(),
        "Space" | "space" => " ".to_owned(),
        "Tab" | "Escape" | "BSpace" | "Up" | "Down" | "Left" | "Right" => String::new(),
        _ if text.len() == CHORD && text.starts_with("C-") => String::new(),
        _ => text.to_owned(),
    };
    items.iter().filter_map(serde_json::Value::as_str).map(key).collect()
}

/// Length of a key chord such as `C-c`.
const CHORD: usize = 3;

/// Returns the language of a file, by its name.
pub(super) fn language_of_file(path: &str) -> Option<Language> {
    match path.rsplit_once('.')?.1 {
        "rb" => Some(Language::Ruby),
        "pl" => Some(Language::Perl),
        "ps1" => Some(Language::PowerShell),
        "mjs" | "cjs" => Some(Language::JavaScript),
        ending => language(ending),
    }
}

/// Returns the text as one word of a shell. Whether a tool expands the home and patterns is unknown, so they stay
/// unquoted.
pub(super) fn word(text: &str) -> String {
    let parts = |ch: char| ch.is_whitespace() || ";|&<>()'\"`".contains(ch);
    if text.is_empty() || text.contains(parts) { reflex_shell::quoted(text) } else { text.to_owned() }
}

/// Returns a path as one word of a shell, and the shell for which it is quoted.
pub(super) fn path_word(path: &str) -> (String, Language) {
    let here = AgentPath::new(path);
    if here.flavour == Flavour::Windows {
        return (format!("'{}'", path.replace('\'', "''")), Language::PowerShell);
    }
    let path = decoded(path);
    let homes = ["$HOME", "${HOME}", "%USERPROFILE%"];
    let home =
        homes.iter().find_map(|home| path.strip_prefix(home)).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = home.map_or(path.clone(), |rest| format!("~{rest}"));
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%_-+=:,./~*?[]".contains(&byte);
    let is_plain = !path.is_empty() && path.bytes().all(plain);
    (if is_plain { path } else { quoted_below_home(&path) }, Language::Shell)
}

fn quoted_below_home(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(below) => format!("~/{}", reflex_shell::quoted(below)),
        None => reflex_shell::quoted(path),
    }
}

/// Returns the path of a file URL: `file:///a%20b` is `/a b`.
pub(super) fn decoded(path: &str) -> String {
    let Some(rest) = path.strip_prefix("file://").or_else(|| path.strip_prefix("file:")) else {
        return path.to_owned();
    };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let [first, after @ ..] = left {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        left = if byte.is_some() { after.get(2..).unwrap_or(&[]) } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
