//! Every fact about a generated repository is compared with git's own answer.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot set up fails"
)]

mod generated;
mod scratch;

use reflex_git::*;
use scratch::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

#[test]
fn clean_modified_staged_deleted_renamed() {
    let scratch = Scratch::with_commit();
    scratch.agrees();
    scratch.write("one", "changed and longer\n");
    scratch.write("new staged", "x");
    scratch.git(&["add", "new staged"]);
    scratch.git(&["mv", "two", "renamed"]);
    scratch.write("untracked/deep/file", "x");
    scratch.agrees();
    fs::remove_file(scratch.root.join("folder/three")).unwrap();
    scratch.git(&["rm", "-q", "--cached", "folder/inner/four"]);
    scratch.agrees();
    for scope in [&["folder"][..], &["one", "untracked"], &["folder/inner"], &["untracked/deep/file"]] {
        scratch.agrees_below(&scratch.root, scope);
    }
    scratch.write("one", "staged too\n");
    scratch.git(&["add", "one"]);
    scratch.write("one", "1\n");
    scratch.agrees();
}

#[test]
fn limits_cut_names_but_not_the_count() {
    let scratch = Scratch::with_commit();
    scratch.write("one", "x");
    scratch.write("two", "x");
    let found = scratch.facts().unstaged(&[], 1).unwrap();
    assert_eq!(found, Names { names: vec!["one".into()], count: 2, complete: true });
}

#[test]
fn kinds_and_modes() {
    let scratch = Scratch::new();
    for name in ["plain", "to link", "to folder", "to pipe", "script", "gone/below/file"] {
        scratch.write(name, name);
    }
    symlink("plain", scratch.root.join("link")).unwrap();
    symlink("plain", scratch.root.join("link to file")).unwrap();
    scratch.commit("first");
    scratch.agrees();
    let path = |name: &str| scratch.root.join(name);
    for name in ["link", "to link", "to folder", "to pipe", "link to file"] {
        fs::remove_file(path(name)).unwrap();
    }
    symlink("elsewhere", path("link")).unwrap();
    symlink("plain", path("to link")).unwrap();
    fs::create_dir(path("to folder")).unwrap();
    make_pipe(&path("to pipe"));
    fs::write(path("link to file"), "plain").unwrap();
    fs::set_permissions(path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    scratch.agrees();
    scratch.git(&["config", "core.fileMode", "false"]);
    scratch.agrees();
}

#[test]
fn a_folder_replaced_by_a_link_hides_its_files() {
    let scratch = Scratch::with_commit();
    let outside = scratch.root.parent().unwrap().join("outside");
    fs::rename(scratch.root.join("folder"), &outside).unwrap();
    symlink(&outside, scratch.root.join("folder")).unwrap();
    scratch.write("../outside/secret", "x");
    scratch.agrees();
    assert!(scratch.facts().is_ignored(Path::new("folder/secret")).is_err());
}

#[test]
fn racy_edits_of_the_same_size() {
    for round in 0..40 {
        let scratch = Scratch::new();
        scratch.write("file", "old content");
        scratch.git(&["add", "file"]);
        scratch.write("file", "new content");
        let found = names(scratch.facts().unstaged(&[], ALL));
        assert_eq!(found, [PathBuf::from("file")], "round {round}");
        scratch.agrees();
    }
}

#[test]
fn touched_files_are_still_clean() {
    let scratch = Scratch::with_commit();
    scratch.write("one", "1\n");
    fs::File::options()
        .write(true)
        .open(scratch.root.join("two"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    scratch.agrees();
    assert!(names(scratch.facts().uncommitted(&[], ALL)).is_empty());
}

#[test]
fn ignore_rules() {
    let scratch = Scratch::with_commit();
    scratch
        .write(".gitignore", "*.log\nbuild/\n/top\nfolder/**/deep\n!important.log\ntrailing\\ \n#comment\n\\#hash\n");
    scratch.write("folder/.gitignore", "!kept.log\n/here\nname\n*.tmp\n");
    scratch.write("build/.gitignore", "!*\n");
    scratch.write(".git/info/exclude", "excluded\n");
    let paths = [
        "a.log",
        "important.log",
        "folder/kept.log",
        "folder/a.log",
        "build/x",
        "build/important.log",
        "top",
        "folder/top",
        "folder/a/b/deep/file",
        "folder/deep",
        "folder/here",
        "folder/inner/here",
        "folder/inner/name",
        "trailing ",
        "#comment",
        "#hash",
        "excluded",
        "folder/excluded/x",
        "plain",
        "x.tmp",
        "folder/x.tmp",
    ];
    for path in paths {
        scratch.write(path, "x");
    }
    scratch.write("folder/build", "a file, not a folder");
    scratch.agrees();
    for path in
        paths.into_iter().chain(["build", "build/", "missing.log", "folder/build", "folder/build/", "one", "folder"])
    {
        scratch.agrees_on_ignoring(path);
    }
    scratch.git(&["add", "-f", "a.log", "build/x"]);
    scratch.agrees();
    for path in ["a.log", "build/x", "build", "build/important.log"] {
        scratch.agrees_on_ignoring(path);
    }
    scratch.git(&["config", "core.excludesFile", "../mine"]);
    scratch.write("../mine", "plain\n");
    scratch.agrees();
    scratch.agrees_on_ignoring("plain");
}

#[test]
fn untracked_kinds() {
    let scratch = Scratch::with_commit();
    symlink("/", scratch.root.join("root")).unwrap();
    symlink("nowhere", scratch.root.join("folder/broken")).unwrap();
    make_pipe(&scratch.root.join("pipe"));
    fs::create_dir_all(scratch.root.join("empty/inner")).unwrap();
    scratch.git(&["init", "-q", "nested"]);
    scratch.write("nested/file", "x");
    scratch.write(OsStr::from_bytes(b"bytes").to_str().unwrap(), "x");
    fs::write(scratch.root.join(OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
    scratch.agrees();
}

#[test]
fn tracked_paths() {
    let scratch = Scratch::with_commit();
    let facts = scratch.facts();
    for (path, expected) in [
        ("one", true),
        ("folder", true),
        ("folder/", true),
        ("folder/inner/four", true),
        (".", true),
        ("fold", false),
        ("folder/inner/fou", false),
        ("one/below", false),
        ("folder/../one", true),
    ] {
        assert_eq!(facts.is_tracked(Path::new(path)), Ok(expected), "{path}");
        assert_eq!(facts.is_tracked(&scratch.root.join(path)), Ok(expected), "{path}");
    }
    assert!(facts.is_tracked(Path::new("../outside")).is_err());
    assert!(facts.is_tracked(Path::new("/etc/passwd")).is_err());
    let link = scratch.root.parent().unwrap().join("link");
    symlink(&scratch.root, &link).unwrap();
    assert_eq!(facts.is_tracked(&link.join("one")), Ok(true));
}

#[test]
fn what_the_last_commit_has() {
    let scratch = Scratch::with_commit();
    scratch.write("one", "changed\n");
    scratch.write("new", "n\n");
    scratch.git(&["add", "new", "one"]);
    let facts = scratch.facts();
    let held = |path: &str| facts.committed(path).unwrap().map(|text| String::from_utf8(text).unwrap());
    for path in ["one", "folder/three", "folder/inner/four"] {
        assert_eq!(held(path), Some(scratch.git(&["show", &format!("HEAD:{path}")])), "{path}");
    }
    for path in ["new", "folder", "folder/inner", "one/below", "folder/inner/fou", ""] {
        assert_eq!(held(path), None, "{path}");
    }
    assert_eq!(Scratch::new().facts().committed("one"), Ok(None));
}

#[test]
fn work_trees() {
    let scratch = Scratch::with_commit();
    let other = scratch.root.parent().unwrap().join("other");
    scratch.git(&["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    fs::write(other.join("one"), "changed\n").unwrap();
    fs::write(other.join("fresh"), "x").unwrap();
    scratch.agrees_below(&other, &[]);
    scratch.agrees();
    let facts = Repository::discover(&other.join("folder/not/there"), &home()).unwrap();
    assert_eq!(facts.work_tree(), Some(other.as_path()));
    assert_eq!(facts.git_dir(), scratch.root.join(".git/worktrees/other"));
    assert_eq!(facts.common_dir(), scratch.root.join(".git"));
    assert_eq!(facts.branch(), Ok(Some("side".into())));
    assert_eq!(scratch.facts().branch(), Ok(Some("main".into())));
}

#[test]
fn submodules() {
    let scratch = Scratch::with_commit();
    let library = Scratch::with_commit();
    scratch.git(&["submodule", "--quiet", "add", library.root.to_str().unwrap(), "library"]);
    scratch.agrees();
    scratch.commit("submodule");
    scratch.agrees();
    let inside = scratch.root.join("library");
    let facts = Repository::discover(&inside.join("folder"), &home()).unwrap();
    assert_eq!(facts.work_tree(), Some(inside.as_path()));
    assert_eq!(facts.git_dir(), scratch.root.join(".git/modules/library"));
    fs::write(inside.join("one"), "changed\n").unwrap();
    fs::write(inside.join("fresh"), "changed\n").unwrap();
    scratch.agrees();
    scratch.agrees_below(&inside, &[]);
    scratch.git_bytes(&inside, &["commit", "-q", "-am", "moved"]);
    scratch.agrees();
    scratch.git(&["submodule", "--quiet", "deinit", "-f", "library"]);
    scratch.agrees();
    fs::remove_dir(&inside).unwrap();
    scratch.agrees();
}

#[test]
fn bare_inside_git_folder_and_nothing() {
    let scratch = Scratch::with_commit();
    scratch.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = scratch.root.parent().unwrap().join("bare.git");
    let facts = Repository::discover(&bare.join("objects"), &home()).unwrap();
    assert_eq!((facts.work_tree(), facts.git_dir()), (None, bare.as_path()));
    assert_eq!(facts.branch(), Ok(Some("main".into())));
    assert!(facts.unstaged(&[], ALL).is_err());
    assert_eq!(Repository::discover(&scratch.root.join(".git/refs"), &home()).unwrap().work_tree(), None);
    assert!(Repository::discover(scratch.root.parent().unwrap(), &home()).is_none());
}

#[test]
fn heads() {
    let scratch = Scratch::new();
    assert_eq!(scratch.facts().branch(), Ok(Some("main".into())));
    scratch.write("file", "x");
    scratch.agrees();
    scratch.git(&["add", "file"]);
    scratch.agrees();
    scratch.commit("first");
    scratch.git(&["checkout", "-q", "-b", "team/feature"]);
    assert_eq!(scratch.facts().branch(), Ok(Some("team/feature".into())));
    scratch.git(&["pack-refs", "--all"]);
    assert_eq!(scratch.facts().branch(), Ok(Some("team/feature".into())));
    scratch.agrees();
    scratch.git(&["checkout", "-q", "--detach"]);
    assert_eq!(scratch.facts().branch(), Ok(None));
    scratch.write("file", "y");
    scratch.agrees();
}

#[test]
fn commits_only_on_a_branch() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "-q", "-b", "topic"]);
    for message in ["a", "b", "c"] {
        scratch.commit(message);
    }
    scratch.git(&["checkout", "-q", "-b", "merged"]);
    scratch.commit("d");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.commit("e");
    let others = |branch: &str| {
        let exclude = format!("--exclude={branch}");
        let others = ["--not", &exclude, "--branches", "--remotes", "--tags", "HEAD"];
        scratch.count(&[&[branch], &others[..]].concat())
    };
    let check = |branch: &str| assert_eq!(scratch.facts().only_on(branch), Ok(others(branch)), "{branch}");
    check("topic");
    check("merged");
    scratch.git(&["merge", "-q", "--no-ff", "-m", "merge", "merged~1"]);
    check("merged");
    scratch.git(&["checkout", "-q", "--detach", "merged"]);
    check("merged");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.git(&["gc", "-q"]);
    check("merged");
    assert_eq!(scratch.facts().only_on("merged"), Ok(1));
    scratch.git(&["tag", "-a", "-m", "tag", "kept", "merged"]);
    check("merged");
    scratch.git(&["pack-refs", "--all"]);
    check("merged");
    assert!(scratch.facts().only_on("missing").is_err());
    assert!(scratch.facts().only_on("../../HEAD").is_err());
}

#[test]
fn commits_that_a_moved_reference_leaves_behind() {
    let scratch = Scratch::with_commit();
    scratch.git(&["branch", "base"]);
    ["a", "b"].iter().for_each(|message| scratch.commit(message));
    let check = |reference: &str, onto: &str, lost: usize| {
        assert_eq!(scratch.facts().orphaned(reference, onto), Ok(lost), "{reference} onto `{onto}`");
    };
    // The current branch goes back, stays, or goes where another reference keeps its commits.
    check("HEAD", "base", 2);
    check("HEAD", "HEAD~1", 2);
    check("HEAD", "HEAD", 0);
    check("refs/heads/main", "HEAD", 0);
    check("refs/heads/main", "base", 2);
    check("refs/heads/*", "", 3);
    scratch.git(&["update-ref", "refs/remotes/origin/main", "main~1"]);
    check("HEAD", "base", 1);
    check("refs/heads/*", "", 1);
    scratch.git(&["checkout", "-q", "-b", "topic", "base"]);
    scratch.commit("c");
    scratch.git(&["tag", "v1"]);
    scratch.git(&["checkout", "-q", "main"]);
    check("refs/heads/topic", "base", 0);
    scratch.git(&["branch", "-q", "-D", "topic"]);
    check("refs/tags/v1", "base", 1);
    check("refs/tags/v1", "main", 1);
    assert!(scratch.facts().orphaned("refs/heads/topic", "").is_err());
}

#[test]
fn histories_with_wrong_clocks() {
    let scratch = Scratch::with_commit();
    let dated = |message: &str, date: &str| {
        let mut command = scratch.command(&scratch.root, &["commit", "-q", "--allow-empty", "-m", message]);
        assert!(command.env("GIT_COMMITTER_DATE", date).status().unwrap().success());
    };
    for (branch, dates) in
        [("early", ["2001-01-01T00:00", "2030-01-01T00:00"]), ("late", ["2035-01-01T00:00", "1990-01-01T00:00"])]
    {
        scratch.git(&["checkout", "-q", "-b", branch, "main"]);
        dates.iter().for_each(|date| dated(&format!("{branch} {date}"), date));
    }
    scratch.git(&["merge", "-q", "--no-ff", "-m", "merge", "early"]);
    dated("last", "1980-01-01T00:00");
    scratch.git(&["checkout", "-q", "main"]);
    assert_eq!(scratch.facts().only_on("early"), Ok(0));
    assert_eq!(scratch.facts().only_on("late"), Ok(scratch.count(&["late", "--not", "main", "early"])));
}

#[test]
fn upstreams() {
    let scratch = Scratch::with_commit();
    let copy = scratch.root.parent().unwrap().join("copy");
    scratch.git(&["branch", "other"]);
    scratch.git(&["clone", "-q", ".", copy.to_str().unwrap()]);
    let git = |arguments: &[&str]| scratch.git_bytes(&copy, arguments);
    let facts = || Repository::discover(&copy, &home()).unwrap();
    assert_eq!(facts().default_branch("origin"), Some("main".into()));
    assert_eq!(facts().default_branch("../../x"), None);
    assert_eq!(facts().upstream("main"), Ok(Some("origin/main".into())));
    assert_eq!(facts().unpushed("main"), Ok(0));
    git(&["commit", "-q", "--allow-empty", "-m", "local"]);
    assert_eq!(facts().unpushed("main"), Ok(1));
    git(&["checkout", "-q", "-b", "other", "--no-track"]);
    git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    assert_eq!(facts().upstream("other"), Ok(Some("origin/other".into())));
    git(&["checkout", "-q", "-b", "unknown"]);
    assert_eq!((facts().upstream("unknown"), facts().unpushed("unknown")), (Ok(None), Ok(2)));
    git(&["branch", "-q", "--set-upstream-to=main"]);
    assert_eq!((facts().upstream("unknown"), facts().unpushed("unknown")), (Ok(Some("main".into())), Ok(1)));
    git(&["pack-refs", "--all"]);
    git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    assert_eq!(facts().upstream("main"), Ok(None));
}

#[test]
fn shallow_clones() {
    let scratch = Scratch::with_commit();
    (0..5).for_each(|number| scratch.commit(&number.to_string()));
    let copy = scratch.root.parent().unwrap().join("shallow");
    let address = format!("file://{}", scratch.root.display());
    scratch.git(&["clone", "-q", "--depth=2", &address, copy.to_str().unwrap()]);
    scratch.git_bytes(&copy, &["checkout", "-q", "-b", "mine"]);
    scratch.git_bytes(&copy, &["commit", "-q", "--allow-empty", "-m", "local"]);
    scratch.git_bytes(&copy, &["checkout", "-q", "main"]);
    assert_eq!(Repository::discover(&copy, &home()).unwrap().only_on("mine"), Ok(1));
    scratch.agrees_below(&copy, &[]);
}

#[test]
fn stashes() {
    let scratch = Scratch::with_commit();
    assert_eq!(scratch.facts().stash_entries(), Ok(Vec::new()));
    for number in 0..23 {
        scratch.write("one", format!("{number} changed\n"));
        scratch.git(&["stash", "push", "-q", "-m", &format!("work {number}")]);
    }
    let listed = scratch.git(&["stash", "list", "--format=%gs"]);
    let expected: Vec<String> = listed.lines().take(20).map(str::to_owned).collect();
    assert_eq!(scratch.facts().stash_entries(), Ok(expected));
    scratch.agrees();
}

#[test]
fn line_ends() {
    let scratch = Scratch::new();
    scratch.write("unix", "a\nb\n");
    scratch.write("dos", "a\r\nb\r\n");
    scratch.write("binary", b"a\r\n\0b\r\n");
    scratch.write("lone", "a\rb\r\n");
    scratch.commit("first");
    for (setting, attributes) in [
        ("true", ""),
        ("input", ""),
        ("false", ""),
        ("false", "* text=auto\n"),
        ("false", "* text\n"),
        ("true", "* -text\n"),
        ("false", "* eol=crlf\n"),
        ("true", "* binary\n"),
        ("false", "*ary text\nun* -crlf\n"),
    ] {
        scratch.git(&["config", "core.autocrlf", setting]);
        scratch.write(".gitattributes", attributes);
        scratch.write("unix", "a\r\nb\r\n");
        scratch.write("binary", b"a\n\0b\n");
        scratch.write("lone", "a\rb\n");
        let dirty = names(scratch.facts().unstaged(&["unix".into(), "binary".into(), "lone".into()], ALL));
        assert_eq!(dirty, scratch.differing_content(&["unix", "binary", "lone"]), "{setting} {attributes}");
    }
}

#[test]
fn conversions_done_elsewhere_are_unknown() {
    let scratch = Scratch::with_commit();
    scratch.git(&["config", "filter.f.clean", "cat"]);
    scratch.write(".gitattributes", "one filter=f\ntwo ident\nfolder/three working-tree-encoding=UTF-16\n");
    scratch.git(&["add", ".gitattributes"]);
    scratch.git(&["commit", "-q", "-m", "attributes"]);
    for name in ["one", "two", "folder/three"] {
        scratch.write(name, "other");
        assert!(scratch.facts().unstaged(&[name.into()], ALL).is_err(), "{name}");
    }
    scratch.write("folder/inner/four", "certain");
    let found = scratch.facts().uncommitted(&[], ALL).unwrap();
    assert_eq!((found.count, found.complete), (1, false));
    scratch.git(&["config", "--unset", "filter.f.clean"]);
    assert_eq!(names(scratch.facts().unstaged(&["one".into()], ALL)), [PathBuf::from("one")]);
}

#[test]
fn flags_on_index_entries() {
    let scratch = Scratch::with_commit();
    scratch.write("intended", "x");
    scratch.git(&["add", "-N", "intended"]);
    scratch.agrees();
    scratch.git(&["update-index", "--assume-unchanged", "one"]);
    scratch.git(&["update-index", "--skip-worktree", "two", "folder/three"]);
    scratch.write("one", "hidden change");
    scratch.write("two", "hidden change");
    fs::remove_file(scratch.root.join("folder/three")).unwrap();
    // Git does not show these, yet a checkout or reset overwrites them.
    let found = names(scratch.facts().unstaged(&[], ALL));
    assert_eq!(found, ["intended", "one", "two"].map(PathBuf::from));
}

#[test]
fn conflicts() {
    let scratch = Scratch::with_commit();
    scratch.git(&["checkout", "-q", "-b", "side"]);
    scratch.write("one", "side\n");
    scratch.commit("side");
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("one", "main\n");
    scratch.commit("main");
    assert!(!scratch.command(&scratch.root, &["merge", "-q", "side"]).output().unwrap().status.success());
    scratch.agrees();
    assert_eq!(scratch.facts().is_tracked(Path::new("one")), Ok(true));
}

#[test]
fn index_formats() {
    let scratch = Scratch::with_commit();
    for version in ["4", "3", "2"] {
        scratch.git(&["update-index", "--index-version", version]);
        scratch.write("one", version);
        scratch.agrees();
    }
    scratch.git(&["update-index", "--split-index"]);
    scratch.write("added", "x");
    scratch.git(&["add", "added"]);
    scratch.git(&["rm", "-qf", "two"]);
    scratch.agrees();
    scratch.git(&["update-index", "--no-split-index", "--untracked-cache", "--fsmonitor"]);
    scratch.agrees();
    scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "other"]);
    assert!(scratch.facts().unstaged(&[], ALL).is_err());
}

#[test]
fn other_formats_are_supported_or_unknown() {
    let scratch = Scratch::empty();
    scratch.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    scratch.write("one", "x");
    scratch.commit("first");
    scratch.write("one", "y");
    scratch.agrees();
    assert_eq!(scratch.facts().only_on("main"), Ok(1));
    let scratch = Scratch::empty();
    scratch.git(&["init", "-q", "-b", "main", "--ref-format=reftable"]);
    assert!(scratch.facts().branch().is_err());
    let scratch = Scratch::with_commit();
    scratch.write(".git/index", "DIRC nonsense");
    assert_eq!(scratch.facts().unstaged(&[], ALL), at_least_nothing());
    scratch.write(".git/config", "[core\n");
    assert!(scratch.facts().branch().is_err());
}

#[test]
fn included_configuration() {
    let scratch = Scratch::with_commit();
    scratch.git(&["config", "include.path", "../included"]);
    scratch.git(&["config", "remote.origin.url", "https://example.org/x"]);
    scratch.write("included", "[includeIf \"gitdir:repository/\"]\npath = directory\n[includeIf \"onbranch:ma*\"]\npath=branch\n[includeIf \"hasconfig:remote.*.url:https://example.org/**\"]\npath=url\n[includeIf \"onbranch:other\"]\npath=unused\n");
    scratch.write("directory", "[core]\nexcludesFile = rules\n");
    scratch.write("branch", "[core]\nfileMode = false\n");
    scratch.write("url", "[core]\nautocrlf = true\n");
    scratch.write("unused", "[core]\nexcludesFile = nothing\n");
    scratch.write("rules", "*.tmp\n");
    scratch.write("a.tmp", "x");
    scratch.write("one", "1\r\n");
    fs::set_permissions(scratch.root.join("two"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(names(scratch.facts().unstaged(&[], ALL)), scratch.differing_content(&[]));
    assert!(scratch.differing_content(&[]).is_empty());
    scratch.agrees_on_ignoring("a.tmp");
}

#[test]
fn pipes_in_the_git_folder_are_never_opened() {
    for name in ["index", "HEAD", "config", "packed-refs", "info/exclude", "refs/heads/pipe", "objects/pack/pack-1.idx"]
    {
        let scratch = Scratch::with_commit();
        scratch.write("new", "x");
        scratch.git(&["add", "new"]);
        let path = scratch.root.join(".git").join(name);
        let _ = fs::remove_file(&path);
        make_pipe(&path);
        let Some(facts) = Repository::discover(&scratch.root, &home()) else { continue };
        let _ = (facts.branch(), facts.uncommitted(&[], 1), facts.untracked(&[], Ignored::With, 1));
        let _ = (facts.only_on("main"), facts.unpushed("main"), facts.stash_entries());
        let _ = (facts.is_ignored(Path::new("x")), facts.is_tracked(Path::new("one")));
    }
}

#[test]
fn nothing_configured_is_ever_run() {
    let scratch = Scratch::with_commit();
    let marker = scratch.root.parent().unwrap().join("marker");
    let script = scratch.root.parent().unwrap().join("script");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = script.to_str().unwrap();
    for key in [
        "filter.f.clean",
        "filter.f.smudge",
        "filter.f.process",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "diff.external",
        "diff.f.textconv",
        "diff.f.command",
        "credential.helper",
        "core.alternateRefsCommand",
        "gpg.program",
        "core.gitProxy",
        "uploadpack.packObjectsHook",
        "merge.f.driver",
    ] {
        scratch.git(&["config", key, run]);
    }
    scratch.git(&["config", "core.hooksPath", "hooks"]);
    for hook in ["post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"] {
        scratch.write(&format!("hooks/{hook}"), fs::read(&script).unwrap());
        fs::set_permissions(scratch.root.join("hooks").join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    scratch.write(".gitattributes", "* filter=f diff=f merge=f\n");
    for name in ["one", "two", "folder/three"] {
        scratch.write(name, "changed");
    }
    let facts = scratch.facts();
    let _ = (facts.branch(), facts.uncommitted(&[], 9), facts.unstaged(&[], 9), facts.stash_entries());
    let _ = (facts.untracked(&[], Ignored::With, 9), facts.untracked(&[], Ignored::Only, 9));
    let _ = (facts.is_ignored(Path::new("x")), facts.is_tracked(Path::new("one")), facts.default_branch("origin"));
    let _ = (facts.only_on("main"), facts.unpushed("main"), facts.upstream("main"));
    assert!(!marker.exists());
    scratch.command(&scratch.root, &["status"]).output().unwrap();
    assert!(marker.exists(), "git itself would have run it");
}

#[test]
fn patterns_that_would_take_for_ever_are_unknown() {
    let scratch = Scratch::with_commit();
    scratch.write(".gitignore", format!("{}b\n", "**/".repeat(30)));
    assert!(scratch.facts().is_ignored(Path::new(&["a"; 60].join("/"))).is_err());
    scratch.write(".gitignore", format!("{}b\n", "**/".repeat(6)));
    assert!(scratch.facts().is_ignored(Path::new(&["a"; 60].join("/"))).is_err());
    scratch.write(".gitignore", "**/a/**/b\n");
    scratch.agrees_on_ignoring("x/y/a/z/b");
}

#[test]
fn an_index_nested_without_end_may_hide_anything() {
    let scratch = Scratch::with_commit();
    let index = fs::read(scratch.root.join(".git/index")).unwrap();
    let start = index.windows(4).position(|bytes| bytes == b"TREE").unwrap();
    let nested = [&b"\0-1 1\n"[..], &b"a\0-1 1\n".repeat(400_000)].concat();
    let length = u32::try_from(nested.len()).unwrap().to_be_bytes();
    scratch.write(".git/index", [&index[..start], b"TREE", &length, &nested, &[0; 20]].concat());
    assert_eq!(scratch.facts().unstaged(&[], ALL), at_least_nothing());
}

#[test]
fn scopes_elsewhere_are_unknown_rather_than_clean() {
    let scratch = Scratch::with_commit();
    scratch.git(&["init", "-q", "nested"]);
    scratch.write("nested/file", "x");
    symlink("folder", scratch.root.join("link")).unwrap();
    for scope in ["nested/file", "link/three", ".git/config", "../x"] {
        let scope = [PathBuf::from(scope)];
        assert!(scratch.facts().untracked(&scope, Ignored::With, ALL).is_err());
        assert!(scratch.facts().uncommitted(&scope, ALL).is_err());
    }
    assert_eq!(names(scratch.facts().untracked(&["link".into()], Ignored::With, ALL)), [PathBuf::from("link")]);
    scratch.agrees_below(&scratch.root, &["nested"]);
}
