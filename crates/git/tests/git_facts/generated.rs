//! Repositories by chance.

use super::scratch::*;
use reflex_git::*;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// What was compared, and how often a fact was not known.
#[derive(Default)]
struct Tally {
    asked: usize,
    unknown: usize,
    differ: Vec<String>,
}

impl Tally {
    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, about: &str, ours: Fact<T>, gits: T) {
        self.asked += 1;
        match ours {
            Err(_) => self.unknown += 1,
            Ok(ours) if ours == gits => {}
            Ok(ours) => self.differ.push(format!("{about}: {ours:?}, but git says {gits:?}")),
        }
    }
}

const NAMES: [&str; 14] = [
    "one",
    "two.txt",
    "three.rs",
    "a/one",
    "a/b/two",
    "a/b/c.log",
    "src/x.rs",
    "src/deep/y.rs",
    "build/out.o",
    "mit blank",
    "ünicode",
    "docs/[odd].md",
    "windows.bat",
    "src/.hidden",
];
const TEXTS: [&str; 6] = ["", "1\n", "two\nlines\n", "dos\r\nlines\r\n", "no end", "a\tb\n\n"];
const IGNORES: [&str; 6] =
    ["*.log\n", "build/\n!build/keep\n", "/one\n", "a/**/two\n", "*.o\n!out.o\n", "docs/\\[odd\\].md\n"];
const ATTRIBUTES: [&str; 5] = ["* text=auto\n", "*.bat eol=crlf\n", "*.rs text\n", "* -text\n", "*.txt binary\n"];

/// One step of somebody's work; what git refuses is no step.
fn work(scratch: &Scratch, chance: &mut Chance) {
    let name = chance.one(&NAMES);
    let path = scratch.root.join(name);
    let git = |arguments: &[&str]| drop(scratch.command(&scratch.root, arguments).output());
    match chance.below(22) {
        0..=3 => scratch.write(name, chance.one(&TEXTS)),
        4 | 5 => drop(fs::remove_file(&path)),
        6 | 7 => git(&["add", "-A"]),
        8 | 9 => git(&["commit", "-q", "-am", "work"]),
        10 => git(&["mv", name, "moved"]),
        11 => git(&["rm", "-q", "--cached", name]),
        12 => scratch.write(chance.one(&[".gitignore", "a/.gitignore", ".git/info/exclude"]), chance.one(&IGNORES)),
        13 => scratch.write(chance.one(&[".gitattributes", "src/.gitattributes"]), chance.one(&ATTRIBUTES)),
        14 => git(&["config", "core.autocrlf", chance.one(&["true", "input", "false"])]),
        15 => git(&["stash", "-q"]),
        16 => git(&["pack-refs", "--all"]),
        17 => git(&["checkout", "-q", "-b", chance.one(&["topic", "team/x"])]),
        18 => git(&["checkout", "-q", "--detach"]),
        19 => git(&["update-index", "--index-version", chance.one(&["2", "3", "4"])]),
        20 => drop(fs::set_permissions(
            &path,
            fs::Permissions::from_mode(if chance.below(2) == 0 { 0o755 } else { 0o644 }),
        )),
        _ => {
            let excludes = scratch.root.parent().unwrap().join("excludes");
            fs::write(&excludes, chance.one(&IGNORES)).unwrap();
            git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
        }
    }
}

/// Shapes that a whole repository has, the others by chance.
fn shape(scratch: &Scratch, seed: usize) {
    let git = |arguments: &[&str]| drop(scratch.command(&scratch.root, arguments).output());
    match seed % 10 {
        0 => git(&["worktree", "add", "-q", "-b", "side", "../side"]),
        1 => git(&["submodule", "--quiet", "add", "../library", "library"]),
        2 => git(&["sparse-checkout", "set", "--no-cone", "/src/", "/a/"]),
        3 => git(&["gc", "-q"]),
        4 => git(&["update-index", "--split-index"]),
        _ => {}
    }
}

fn compare(scratch: &Scratch, root: &Path, tally: &mut Tally, about: &str) {
    let facts = Repository::discover(root, &home()).unwrap();
    let listed =
        |arguments: &[&str]| -> Vec<PathBuf> { split(&scratch.git_bytes(root, arguments)).into_iter().collect() };
    let plain = |fact: Fact<Names>| match fact {
        Ok(names) if names.complete => Ok(names.names),
        Ok(_) => Err(Unknown("not all is known")),
        Err(unknown) => Err(unknown),
    };
    let unstaged = listed(&["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=dirty"]);
    tally.compare(&format!("{about} unstaged"), plain(facts.unstaged(&[], ALL)), unstaged.clone());
    let born = scratch.command(root, &["rev-parse", "-q", "--verify", "HEAD"]).output().unwrap().status.success();
    let staged = if born {
        listed(&["diff", "--cached", "--name-only", "-z", "--no-renames"])
    } else {
        listed(&["ls-files", "-z"])
    };
    let both: BTreeSet<PathBuf> = unstaged.into_iter().chain(staged).collect();
    tally.compare(&format!("{about} uncommitted"), plain(facts.uncommitted(&[], ALL)), both.into_iter().collect());
    let untracked = listed(&["ls-files", "-z", "--others", "--exclude-standard"]);
    tally.compare(&format!("{about} untracked"), plain(facts.untracked(&[], Ignored::Without, ALL)), untracked);
    let branch = scratch.command(root, &["symbolic-ref", "-q", "--short", "HEAD"]).output().unwrap();
    let branch = branch.status.success().then(|| String::from_utf8(branch.stdout).unwrap().trim().to_owned());
    tally.compare(&format!("{about} branch"), facts.branch(), branch);
    let stashes = scratch.git_bytes(root, &["stash", "list"]).split(|byte| *byte == b'\n').count() - 1;
    tally.compare(&format!("{about} stashes"), facts.stash_entries().map(|entries| entries.len()), stashes);
    let index = listed(&["ls-files", "-z"]);
    let asked = NAMES.join("\0");
    let ignored = split(&scratch.answer(root, &["check-ignore", "-z", "--stdin"], asked.as_bytes()));
    for name in NAMES {
        let tracked = index.iter().any(|file| file.starts_with(name));
        tally.compare(&format!("{about} tracked {name}"), facts.is_tracked(Path::new(name)), tracked);
        tally.compare(
            &format!("{about} ignored {name}"),
            facts.is_ignored(Path::new(name)),
            ignored.contains(Path::new(name)),
        );
    }
    for word in ["topic", "one", "HEAD", "v1"] {
        let revision =
            scratch.command(root, &["rev-parse", "-q", "--verify", &format!("{word}^{{commit}}")]).output().unwrap();
        tally.compare(&format!("{about} names a commit {word}"), facts.names_commit(word), revision.status.success());
    }
}

#[test]
fn two_hundred_generated_repositories_are_what_git_says_they_are() {
    let mut tally = Tally::default();
    for seed in 0..200 {
        let mut chance = Chance(seed as u64 + 1);
        let scratch = Scratch::new();
        if seed % 10 == 1 {
            let library = scratch.root.parent().unwrap().join("library");
            scratch.git(&["init", "-q", "-b", "main", library.to_str().unwrap()]);
            scratch.git_bytes(&library, &["commit", "-q", "--allow-empty", "-m", "first"]);
        }
        // One in ten has no commit yet.
        if seed % 10 != 9 {
            (0..6).for_each(|_| scratch.write(chance.one(&NAMES), chance.one(&TEXTS)));
            scratch.commit("first");
            scratch.git(&["tag", "v1"]);
        }
        shape(&scratch, seed);
        (0..4 + seed % 12).for_each(|_| work(&scratch, &mut chance));
        compare(&scratch, &scratch.root, &mut tally, &format!("repository {seed}"));
        let side = scratch.root.parent().unwrap().join("side");
        if side.exists() {
            fs::write(side.join("fresh"), "x").unwrap();
            compare(&scratch, &side, &mut tally, &format!("work tree of {seed}"));
        }
    }
    println!("{} facts asked, {} unknown", tally.asked, tally.unknown);
    assert!(tally.differ.is_empty(), "{} differ:\n{}", tally.differ.len(), tally.differ.join("\n"));
    assert!(tally.unknown * 100 <= tally.asked, "{} of {} unknown", tally.unknown, tally.asked);
}
