//! `cargo xtask prose`: finds wording in comments, messages and pages that is typical of translations, and commit subjects that are too long.
//!
//! A few such lines are good English; a high share is what reads like a translation. `prose.txt` lists the counts per
//! file: a count may only decrease, and a file without an entry has a limit of 0. `UPDATE=1 cargo xtask prose` writes
//! smaller counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fmt, fs, io};

use regex_lite::Regex;

/// Patterns for a comment line or a message, each with the recommended wording.
const MARKERS: [(&str, &str); 10] = [
    (r"^(What|Why|Who|Whoever|Where|How) [a-z][^?]*$", "name the thing: \"Commands the text would run\""),
    (r"\bstands?\b", "is, appears, lives in"),
    (r"\b(is|are) no\b|\bis none\b", "is not a, excludes, has no"),
    (r"\bbehind\b", "after, following"),
    (r"\bletters?\b", "character, byte"),
    (r"\btold\b", "reported, recorded, passed"),
    (r"\b([Nn]obody|[Ss]omebody)\b", "name the actor, or use the passive"),
    (r"\b[Ss]o (many|much)\b", "the number: \"Maximum number of …\""),
    (r"\b[Nn]othing (is|of)\b", "\"X has no …\", \"returns an empty …\""),
    (r"^Of (each|a|the|all)\b", "\"Each … has …\""),
];

/// Idioms that a marker would otherwise match.
const IDIOMS: &str = r"\bstands? (for|alone|up|still|out)\b|\b[Ss]o (many|much) (that|as)\b";

/// Minimum length in words; shorter texts are names or fragments.
const MIN_WORDS: usize = 3;

const MAX_SUBJECT: usize = 72;

/// Commits up to this one predate the limit and may have longer subjects. To be replaced by a release.
const RULE_SINCE: &str = "695941b7";

/// Folders whose sources are checked.
const FOLDERS: [&str; 3] = ["crates", "dev", "xtask"];

/// A comment line or a string literal with its line number.
#[derive(Debug, PartialEq, Eq)]
struct Text {
    line: usize,
    text: String,
}

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    match check(&root) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// A reason to reject a change.
#[derive(Debug)]
enum Problem {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// A pattern of this file is not valid.
    Pattern(regex_lite::Error),
    /// Files with more marked lines than the baseline allows, each followed by its lines.
    Marked(Vec<String>),
    /// The baseline allows more than there is.
    Smaller,
    /// Commits whose subjects are too long.
    Subjects(Vec<String>),
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::File(path, error) => write!(to, "{}: {error}", path.display()),
            Problem::Pattern(error) => error.fmt(to),
            Problem::Marked(lines) => to.write_str(&lines.join("\n")),
            Problem::Smaller => {
                to.write_str("fewer lines are marked than dev/prose/prose.txt says: `UPDATE=1 cargo xtask prose`")
            }
            Problem::Subjects(commits) => {
                write!(to, "subjects with more than {MAX_SUBJECT} characters:\n{}", commits.join("\n"))
            }
        }
    }
}

/// # Errors
/// A file has more or fewer marked lines than the baseline, or a commit subject is too long.
fn check(root: &Path) -> Result<(), Problem> {
    subjects(root)?;
    let file = root.join("dev/prose/prose.txt");
    let known = fs::read_to_string(&file).map_err(|error| Problem::File(file.clone(), error))?;
    let known = baseline(&known);
    let found = marked(root)?;
    let mut problems = Vec::new();
    for (name, lines) in &found {
        let allowed = known.get(name).copied().unwrap_or_default();
        if lines.len() > allowed {
            problems.push(format!("{name}: {} marked lines, {allowed} allowed", lines.len()));
            problems.extend(lines.iter().map(|line| format!("  {name}:{line}")));
        }
    }
    if !problems.is_empty() {
        return Err(Problem::Marked(problems));
    }
    let count = |name: &str| found.get(name).map_or(0, Vec::len);
    let is_smaller = known.iter().any(|(name, allowed)| count(name) < *allowed);
    if is_smaller && std::env::var_os("UPDATE").is_none() {
        return Err(Problem::Smaller);
    }
    if is_smaller {
        return write(&file, &found);
    }
    Ok(())
}

/// Writes the counts, and their totals per crate.
fn write(file: &Path, found: &BTreeMap<String, Vec<String>>) -> Result<(), Problem> {
    let lines = found.iter().filter(|(_, lines)| !lines.is_empty());
    let text: String = lines.map(|(name, lines)| format!("{name} {}\n", lines.len())).collect();
    let sum: usize = found.values().map(Vec::len).sum();
    println!("{sum} marked lines are left");
    fs::write(file, text).map_err(|error| Problem::File(file.to_owned(), error))
}

fn baseline(text: &str) -> BTreeMap<String, usize> {
    let lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    lines.filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?))).collect()
}

/// The marked lines of each source, as `LINE: TEXT (INSTEAD)`.
fn marked(root: &Path) -> Result<BTreeMap<String, Vec<String>>, Problem> {
    let markers = compiled()?;
    let idioms = Regex::new(IDIOMS).map_err(Problem::Pattern)?;
    let mut found = BTreeMap::new();
    for (file, read) in files(root) {
        let source = fs::read_to_string(&file).map_err(|error| Problem::File(file.clone(), error))?;
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let lines = read(&source).into_iter().filter_map(|text| {
            let instead = instead(&markers, &idioms, &text.text)?;
            Some(format!("{}: {} (instead: {instead})", text.line, text.text))
        });
        found.insert(name, lines.collect());
    }
    Ok(found)
}

fn compiled() -> Result<Vec<(Regex, &'static str)>, Problem> {
    let markers = MARKERS.iter().map(|(pattern, instead)| Ok((Regex::new(pattern)?, *instead)));
    markers.collect::<Result<_, _>>().map_err(Problem::Pattern)
}

/// Returns the advice for the first marker that matches a text.
fn instead(markers: &[(Regex, &'static str)], idioms: &Regex, text: &str) -> Option<&'static str> {
    if text.split_whitespace().count() < MIN_WORDS {
        return None;
    }
    let text = idioms.replace_all(text, "");
    markers.iter().find(|(marker, _)| marker.is_match(&text)).map(|(_, instead)| *instead)
}

/// Extracts the texts of a file.
type Read = fn(&str) -> Vec<Text>;

/// Returns the checked files: sources, tests, pages and the scripts of CI.
fn files(root: &Path) -> Vec<(PathBuf, Read)> {
    let mut files: Vec<(PathBuf, Read)> = Vec::new();
    for source in FOLDERS.iter().flat_map(|folder| sources(&root.join(folder))) {
        files.push((source, |source| texts(without_tests(source))));
    }
    for folder in entries(&root.join("crates")) {
        files.extend(sources(&folder.join("tests")).into_iter().map(|file| (file, comments as Read)));
    }
    let pages = entries(&root.join("docs")).into_iter().filter(|file| file.extension().is_some_and(|end| end == "md"));
    files.extend(pages.map(|file| (file, paragraphs as Read)));
    let scripts = entries(&root.join(".ci")).into_iter().filter(|file| file.is_file());
    files.extend(scripts.map(|file| (file, comments as Read)));
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Extracts the lines that are comments of Rust or of a shell.
fn comments(source: &str) -> Vec<Text> {
    let lines = source.lines().enumerate().map(|(at, line)| (at + 1, line.trim_start()));
    let comments = lines.filter(|(_, line)| line.starts_with("//") || line.starts_with("# "));
    comments
        .map(|(line, text)| Text { line, text: text.trim_start_matches(['/', '!', '#']).trim().to_owned() })
        .collect()
}

/// Extracts the lines of a page that are not code.
fn paragraphs(source: &str) -> Vec<Text> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, line) in source.lines().enumerate() {
        is_code ^= line.trim_start().starts_with("```");
        if !is_code {
            found.push(Text { line: at + 1, text: line.to_owned() });
        }
    }
    found
}

/// All sources except tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "tests") {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn without_tests(source: &str) -> &str {
    source.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// Extracts the comment lines and string literals of a source.
fn texts(source: &str) -> Vec<Text> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (text, length) = if rest.starts_with("//") {
            comment(rest)
        } else if let Some(literal) = literal(rest) {
            literal
        } else {
            let length = if rest.starts_with("'\"'") { 3 } else { first.len_utf8() };
            (None, length)
        };
        let (passed, after) = rest.split_at(length);
        found.extend(text.map(|text| Text { line, text }));
        line += passed.matches('\n').count();
        rest = after;
    }
    found
}

/// Parses a comment up to the end of the line; also returns its length.
fn comment(rest: &str) -> (Option<String>, usize) {
    let length = rest.find('\n').unwrap_or(rest.len());
    let text = rest.get(..length).unwrap_or_default().trim_start_matches('/').trim_start_matches('!').trim();
    (Some(text.to_owned()), length)
}

/// Parses a literal in one of the two forms used for messages; also returns its length.
fn literal(rest: &str) -> Option<(Option<String>, usize)> {
    if let Some(raw) = rest.strip_prefix("r#\"") {
        return Some((None, raw.find("\"#").map_or(rest.len(), |end| end + 5)));
    }
    let text = rest.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = text.find(|character| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    });
    let end = end.unwrap_or(text.len());
    Some((text.get(..end).map(str::to_owned), (end + 2).min(rest.len())))
}

/// Checks the subjects of commits since the rule was introduced.
fn subjects(root: &Path) -> Result<(), Problem> {
    let range = format!("{RULE_SINCE}..HEAD");
    let mut git = Command::new("git");
    git.args(["log", "--no-merges", "--format=%h %s", &range]).current_dir(root);
    let Some(log) = git.output().ok().filter(|output| output.status.success()) else {
        println!("skip  subjects of commits: this checkout has no history up to {RULE_SINCE}");
        return Ok(());
    };
    let log = String::from_utf8_lossy(&log.stdout);
    let subject = |line: &str| line.split_once(' ').map_or(0, |(_, subject)| subject.chars().count());
    let long: Vec<&str> = log.lines().filter(|line| subject(line) > MAX_SUBJECT).collect();
    if long.is_empty() {
        return Ok(());
    }
    Err(Problem::Subjects(long.into_iter().map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_marked: bool) {
        let idioms = Regex::new(IDIOMS).unwrap();
        assert_eq!(instead(&compiled().unwrap(), &idioms, text).is_some(), is_marked, "{text}");
    }

    #[test]
    fn translated_constructions_are_marked() {
        check("What a command would do to files", true);
        check("What would a command do?", false);
        check("it stands in the log", true);
        check("it stands for a file", false);
        check("a name that is no key", true);
        check("so many files are kept", true);
        check("so much that it fails", false);
        check("Of each call the first is kept", true);
        check("the letters of a name", true);
        check("told so", false);
        check("Maximum number of files remembered per call.", false);
    }

    #[test]
    fn comments_and_literals_are_found_with_their_lines() {
        let source = "//! One.\nlet a = '\"'; // two\nlet b = \"a \\\"b\\\" // c\";\nlet c = r#\"// raw\"#;\n";
        let found: Vec<(usize, String)> = texts(source).into_iter().map(|text| (text.line, text.text)).collect();
        let expected = [(1, "One."), (2, "two"), (3, "a \\\"b\\\" // c")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
