//! Layers of modules inside each crate: their order, and the absence of import cycles.
//!
//! `rooms/CRATE.txt` lists the layers (the modules of `lib.rs`) of a crate, the lowest first: a layer imports only
//! those
//! before it. `climbs` lists the imports that violate this, `circles` the files that are part of a cycle.
//! Both lists may only become shorter; `UPDATE=1 cargo test -p reflex-guard --test rooms` writes what is left of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a crate by the path of their module (`facts::hooks`; empty for `lib.rs`).
type Modules = BTreeMap<String, String>;

/// Which module imports which.
type Imports = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_room_imports_from_above() {
    let mut problems = Vec::new();
    for name in crates() {
        let modules = modules(&name);
        let imports = imports(&modules);
        let plan = Plan::read(&name);
        let rooms: BTreeSet<&str> = modules.keys().filter(|path| !path.is_empty()).map(|path| room(path)).collect();
        let known: BTreeSet<&str> = plan.rooms.iter().map(String::as_str).collect();
        problems.extend(rooms.difference(&known).map(|room| format!("{name}: {room} has no place among the rooms")));
        problems.extend(known.difference(&rooms).map(|room| format!("{name}: there is no room {room}")));
        let found =
            Plan { rooms: plan.rooms.clone(), climbs: climbs(&imports, &plan.rooms), circles: circles(&imports) };
        if std::env::var_os("UPDATE").is_some() {
            fs::write(plan_file(&name), found.shown()).unwrap();
            continue;
        }
        let news = |what: &str, found: &BTreeSet<String>, known: &BTreeSet<String>| {
            let more = found.difference(known).map(|one| format!("{name}: {what}: {one}"));
            let outdated =
                known.difference(found).map(|one| format!("{name}: no longer so, take it off the list: {one}"));
            more.chain(outdated).collect::<Vec<_>>()
        };
        problems.extend(news("imports from above", &found.climbs, &plan.climbs));
        problems.extend(news("is part of a circle of imports", &found.circles, &plan.circles));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn imports_are_found_in_every_form() {
    let files = [
        ("", "mod a;\nmod b;\nuse a::One;"),
        ("a", "mod inner;\nuse crate::b::{Two, deep::Three as Other};\nfn g() { inner::four() }"),
        (
            "a::inner",
            "use super::Five;\nfn f() { crate::b::six() }\n#[cfg(test)]\n#[allow(x)]\nmod tests { use crate::c; }",
        ),
        ("b", "//! [`crate::a`]\npub(crate) use self::deep::Three;"),
        ("b::deep", "use super::super::Seven;"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into_iter().collect();
    let shown: Vec<String> =
        imports(&files).iter().flat_map(|(from, all)| all.iter().map(move |to| format!("{from} -> {to}"))).collect();
    let expected = [
        " -> a",
        "a -> a::inner",
        "a -> b",
        "a -> b::deep",
        "a::inner -> a",
        "a::inner -> b",
        "b -> b::deep",
        "b::deep -> ",
    ];
    assert_eq!(shown, expected);
    assert_eq!(circles(&imports(&files)).into_iter().collect::<Vec<_>>(), ["a", "a::inner", "b", "b::deep", "lib"]);
}

/// The contents of `rooms/CRATE.txt`.
struct Plan {
    rooms: Vec<String>,
    climbs: BTreeSet<String>,
    circles: BTreeSet<String>,
}

impl Plan {
    fn read(name: &str) -> Plan {
        let text = fs::read_to_string(plan_file(name)).unwrap_or_default();
        let mut plan = Plan { rooms: Vec::new(), climbs: BTreeSet::new(), circles: BTreeSet::new() };
        let mut part = "";
        for line in text.lines().filter(|line| !line.is_empty()) {
            match (line.strip_suffix(':'), part) {
                (Some(heading), _) => part = heading,
                (None, "rooms") => plan.rooms.push(line.to_owned()),
                (None, "climbs") => drop(plan.climbs.insert(line.to_owned())),
                (None, _) => drop(plan.circles.insert(line.to_owned())),
            }
        }
        plan
    }

    fn shown(&self) -> String {
        let mut text = format!("rooms:\n{}\n", self.rooms.join("\n"));
        for (heading, lines) in [("climbs", &self.climbs), ("circles", &self.circles)] {
            if !lines.is_empty() {
                write!(text, "\n{heading}:\n").unwrap();
                lines.iter().for_each(|line| writeln!(text, "{line}").unwrap());
            }
        }
        text
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plan_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/rooms/{name}.txt"))
}

fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn room(path: &str) -> &str {
    path.split("::").next().unwrap_or("")
}

fn modules(name: &str) -> Modules {
    let source = root().join("crates").join(name).join("src");
    let mut folders = vec![source.clone()];
    let mut modules = Modules::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inner = path.strip_prefix(&source).unwrap().with_extension("");
                let mut parts: Vec<&str> = inner.iter().map(|part| part.to_str().unwrap()).collect();
                let last = parts.pop().unwrap();
                // `main.rs` imports like `lib.rs`; other binaries are separate.
                if !["mod", "lib", "main"].contains(&last) {
                    parts.push(last);
                }
                let text = fs::read_to_string(&path).unwrap();
                modules.entry(parts.join("::")).or_default().push_str(&text);
            }
        }
    }
    modules
}

fn imports(modules: &Modules) -> Imports {
    let mut imports = Imports::new();
    for (from, text) in modules {
        let code = code(text);
        let to = paths(&code).into_iter().filter_map(|path| resolved(from, &path, modules));
        let all: BTreeSet<String> = to.chain(called(from, &code, modules)).filter(|to| to != from).collect();
        imports.insert(from.clone(), all);
    }
    imports
}

/// The source without comments and tests.
fn code(text: &str) -> String {
    let tests = text.match_indices("#[cfg(test)]\n").find(|(at, start)| {
        let after = text.get(at + start.len()..).unwrap_or("");
        let item = after.lines().find(|line| !line.trim_start().starts_with("#["));
        item.is_some_and(|item| item.starts_with("mod "))
    });
    let text = tests.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every path that begins at this crate, at a module around or in a `use`, with groups taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    let dense: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for (at, _) in dense.match_indices("use ") {
        let begins = dense
            .get(..at)
            .unwrap()
            .chars()
            .next_back()
            .is_none_or(|before| !before.is_alphanumeric() && before != '_');
        let tree = dense.get(at + 4..).unwrap().split(';').next().unwrap_or("");
        if begins {
            leaves(tree, &[], &mut found);
        }
    }
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in dense.match_indices(start) {
            let inside = dense.get(..at).unwrap().ends_with([':', '_'])
                || dense.get(..at).unwrap().ends_with(char::is_alphanumeric);
            let path = dense.get(at..).unwrap();
            let end = path.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || ch == ':'));
            if !inside {
                found.push(split(path.get(..end.unwrap_or(path.len())).unwrap()));
            }
        }
    }
    found
}

/// The modules of a module that it names without importing anything: `inner::six()`.
fn called(from: &str, code: &str, modules: &Modules) -> Vec<String> {
    let parent = split(from);
    let inner = modules.keys().filter(|path| {
        let path = split(path);
        path.len() == parent.len() + 1 && path.starts_with(&parent)
    });
    let is_named = |path: &&String| {
        let name = format!("{}::", path.rsplit("::").next().unwrap_or(""));
        code.match_indices(&name).any(|(at, _)| {
            !code
                .get(..at)
                .unwrap()
                .ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
        })
    };
    inner.filter(is_named).cloned().collect()
}

fn split(path: &str) -> Vec<String> {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// `a::{b, c::{d, e}}` as three paths.
fn leaves(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (head, group) = tree.split_once('{').unwrap_or((tree.split(" as ").next().unwrap_or(""), ""));
    let path = [before, &split(head)].concat();
    if group.is_empty() {
        found.push(path);
        return;
    }
    let (mut depth, mut start) = (0, 0);
    for (at, ch) in group.char_indices() {
        match ch {
            '{' => depth += 1,
            '}' if depth == 0 => return leaves(group.get(start..at).unwrap(), &path, found),
            '}' => depth -= 1,
            ',' if depth == 0 => {
                leaves(group.get(start..at).unwrap(), &path, found);
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The module that a path leads to: the longest one that is a file.
fn resolved(from: &str, path: &[String], modules: &Modules) -> Option<String> {
    let current: Vec<String> = split(from);
    let first = path.first()?.as_str();
    let mut at: Vec<String> = match first {
        "crate" => Vec::new(),
        "self" | "super" => current.clone(),
        // A module of this one.
        name => {
            let inner = [current.as_slice(), &[name.to_owned()]].concat();
            modules.contains_key(&inner.join("::")).then_some(current)?
        }
    };
    for part in path.iter().skip(usize::from(matches!(first, "crate" | "self"))) {
        if part == "super" {
            at.pop();
            continue;
        }
        at.push(part.clone());
        if !modules.contains_key(&at.join("::")) {
            at.pop();
            break;
        }
    }
    Some(at.join("::"))
}

/// Returns the imports of a layer from a higher one.
fn climbs(imports: &Imports, rooms: &[String]) -> BTreeSet<String> {
    let place = |path: &str| {
        let room = room(path);
        if room.is_empty() { rooms.len() } else { rooms.iter().position(|known| known == room).unwrap_or(0) }
    };
    let climbs = |from: &str, to: &str| place(from) < place(to);
    let all = imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    all.filter(|(from, to)| climbs(from, to)).map(|(from, to)| format!("{} -> {}", named(from), named(to))).collect()
}

fn named(path: &str) -> &str {
    if path.is_empty() { "lib" } else { path }
}

/// Returns every module that is part of an import cycle.
fn circles(imports: &Imports) -> BTreeSet<String> {
    let back = |from: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut next: Vec<&String> = imports.get(from).into_iter().flatten().collect();
        while let Some(one) = next.pop() {
            if seen.insert(one) {
                next.extend(imports.get(one).into_iter().flatten());
            }
        }
        seen.contains(from)
    };
    imports.keys().filter(|from| back(from)).map(|path| named(path).to_owned()).collect()
}
