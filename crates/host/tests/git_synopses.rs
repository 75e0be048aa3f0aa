//! Commands of git with an optional `--`: it changes nothing of what a call is judged for.

use crate::examples::{judged, report};
use serde_json::json;

/// Synopses of git's manual, with those of their options that change what is lost.
const SYNOPSES: [&str; 29] = [
    "git add [--force] [--] [<pathspec>...]",
    "git annotate [<rev>] [--] <file>",
    "git bisect start [<rev>] [--] [<pathspec>...]",
    "git blame [<rev>] [--] <file>",
    "git check-attr -a [--] <pathname>...",
    "git check-ignore [-q] [--] <pathname>...",
    "git checkout [-q] [-f] [<tree-ish>] [--] <pathspec>...",
    "git checkout [--theirs] [<tree-ish>] [--] <pathspec>",
    "git checkout-index [-f] [--] [<file>...]",
    "git clean [-d] [-f] [-x] [--] [<pathspec>...]",
    "git clone [-q] [--] <repository> [<directory>]",
    "git commit [-q] [--] [<pathspec>...]",
    "git diff [--cached] [<commit>] [--] [<path>...]",
    "git difftool [-y] [<commit>] [--] [<path>...]",
    "git grep [-n] <pattern> [<tree>] [--] [<pathspec>...]",
    "git hash-object [-w] [--] <file>...",
    "git log [-p] [<revision-range>] [--] [<path>...]",
    "git ls-files [-o] [--] [<file>...]",
    "git mv [-f] [--] <source> <destination>",
    "git reset [-q] [<tree-ish>] [--] <pathspec>...",
    "git restore [--source=<tree>] [--staged] [--worktree] [--] <pathspec>...",
    "git rev-list <commit> [--] [<path>...]",
    "git rm [-f] [-r] [--cached] [--] <pathspec>...",
    "git shortlog [<revision-range>] [--] [<path>...]",
    "git stash push [-u] [-k] [--] [<pathspec>...]",
    "git status [-s] [--] [<pathspec>...]",
    "git submodule deinit [-f] [--] <path>...",
    "git submodule update [--force] [--] [<path>...]",
    "git update-index [--add] [--] [<file>...]",
];

/// Returns every command of a synopsis, with `[--]` where that may stand.
fn commands(synopsis: &str) -> Vec<String> {
    let mut commands = vec![String::new()];
    let mut rest = synopsis;
    while !rest.is_empty() {
        let is_optional = rest.starts_with('[') && !rest.starts_with("[--] ");
        let end = if is_optional { rest.find(']').unwrap() + 1 } else { rest.find(' ').unwrap_or(rest.len()) };
        let (part, after) = rest.split_at(end);
        rest = after.trim_start();
        let words = filled(if is_optional { part.trim_start_matches('[').trim_end_matches(']') } else { part });
        let without = if is_optional { commands.clone() } else { Vec::new() };
        commands = commands.iter().map(|command| format!("{command}{words} ")).chain(without).collect();
    }
    commands
}

/// Puts words in place of what stands in angle brackets.
fn filled(part: &str) -> String {
    let Some((before, name)) = part.trim_end_matches('.').strip_suffix('>').and_then(|part| part.split_once('<'))
    else {
        return part.to_owned();
    };
    let word = match name {
        "tree-ish" | "tree" | "commit" | "rev" => "HEAD",
        "revision-range" => "HEAD~3..HEAD",
        "pattern" | "directory" | "destination" => "lib",
        "repository" => "https://x.example/a.git",
        _ => "src/a.rs",
    };
    let further = if part.ends_with("...") { " src/b.rs" } else { "" };
    format!("{before}{word}{further}")
}

fn findings(command: &str) -> Vec<(String, String)> {
    let git = json!({"branch": "topic", "dirty": ["src/a.rs", "src/b.rs", "src/c.rs"], "untracked": ["src/b.rs"], "protected": []});
    let judgement = judged(&json!({"run": command, "facts": {"git": git}}));
    judgement.verdict.findings.into_iter().map(|finding| (finding.id, finding.message)).collect()
}

#[test]
fn what_is_lost_does_not_depend_on_an_optional_double_dash() {
    let mut problems = Vec::new();
    let (mut count, mut lossy) = (0, 0);
    for command in SYNOPSES.iter().flat_map(|synopsis| commands(synopsis)) {
        let [with, without] = ["-- ", ""].map(|dashes| command.replace("[--] ", dashes));
        let (found, other) = (findings(&with), findings(&without));
        count += 1;
        lossy += usize::from(!found.is_empty());
        if found != other {
            problems.push(format!("`{with}`: {found:?}\n`{without}`: {other:?}"));
        }
    }
    assert!(count > 100 && lossy > 20, "{count} commands, of which {lossy} lose something");
    report(problems);
}

#[test]
fn a_synopsis_is_every_command_that_it_allows() {
    let expected = ["git x HEAD [--] src/a.rs src/b.rs ", "git x [--] src/a.rs src/b.rs "];
    assert_eq!(commands("git x [<commit>] [--] <path>..."), expected);
}
