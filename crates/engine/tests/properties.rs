//! What holds of any call: wrapping never hides, text is no command, more rules never loosen, nothing fails, and the
//! same call gives the same verdict.

use crate::grammar::Chance;
use crate::library;
use crate::wrappers::{Found, found, wrapped};
use reflex_engine::{Action, EffectKind, Engine, Event, FakeWorld, Finding, Judgement, OPERATORS, Policy};
use reflex_tables::compile::{Kind, encode};
use reflex_tables::{Node, Tables};
use serde_json::{Map, Value, json};

fn judged_by(tables: Tables, command: &str, world: &FakeWorld) -> Judgement {
    let event = Event {
        cwd: "/repo".into(),
        workspace: "/repo".into(),
        home: "/home/me".into(),
        actions: vec![Action::Shell { command: command.into(), language: Default::default() }],
        ..Event::default()
    };
    Engine::new(tables, &Policy::named(tables, "balanced").unwrap()).judge(&event, world)
}

fn world() -> FakeWorld {
    FakeWorld { workspace: "/repo".into(), ..FakeWorld::default() }
}

fn judged(command: &str) -> Judgement {
    judged_by(library::tables(), command, &world())
}

fn ids(judgement: &Judgement) -> Vec<&str> {
    judgement.verdict.findings.iter().map(|finding| finding.id.as_str()).collect()
}

/// The commands among the examples of the library.
fn examples(kind: Kind, sides: &[&str]) -> Vec<String> {
    let entries = library::entries().iter().filter(|entry| entry.kind == kind);
    let examples = entries.flat_map(|entry| sides.iter().filter_map(|side| entry.value[side].as_array()).flatten());
    let command = |example: &Value| example.as_str().or(example["run"].as_str()).map(str::to_owned);
    examples.filter_map(command).collect()
}

#[test]
fn wrapping_never_hides_a_command() {
    let mut deleted = 0;
    for seed in 0..4_000 {
        let mut chance = Chance::seeded(seed << 9 | 1);
        let count = 1 + chance.next(4);
        let text = wrapped(&mut chance, count);
        let found = found(&text);
        assert!(found.is_seen(), "the deletion is hidden in {text}");
        deleted += usize::from(found == Found::Deleted);
    }
    assert!(deleted > 3_800, "only {deleted} deletions are found; the others stand under a gap");
}

/// Each `{}` is the text, `{q}` the text as a quoted word.
const DATA: [&str; 18] = [
    "git commit -m {q}",
    "git commit -m \"$(cat <<'EOF'\n{}\nEOF\n)\"",
    "git log --grep={q}",
    "git tag -a v1 -m {q}",
    "gh pr create --title a --body {q}",
    "grep -rn {q} src",
    "rg -F {q}",
    "echo {q}",
    "echo {q} | grep -c a",
    "echo {q} >> notes.md",
    "printf '%s\\n' {q}",
    "cat <<'EOF' > notes.md\n{}\nEOF",
    "cat <<'EOF'\n{}\nEOF\nls",
    "ls # {l}",
    ": {q}",
    "never={q}; ls",
    "test {q} = a",
    "if [[ a == {q} ]]; then ls; fi",
];

#[test]
fn text_is_not_a_command() {
    let mut problems = Vec::new();
    let texts = examples(Kind::Rules, &["fires"]);
    // Letters that nobody sees deceive wherever they stand.
    let unseen = |text: &&String| text.contains(['\u{202e}', '\u{2066}', '\u{e0048}']);
    for text in texts.iter().filter(|text| !text.contains("EOF") && !unseen(text)) {
        // Every third place for each text: all of them together are slow and say no more. Which ones is up to the text
        // alone, so that an example more changes nothing for the others.
        let first = text.bytes().map(usize::from).sum::<usize>() % 3;
        for template in DATA.iter().skip(first).step_by(3) {
            let quoted = format!("'{}'", text.replace('\'', "'\\''"));
            let command = template.replace("{q}", &quoted).replace("{l}", &text.replace('\n', " ")).replace("{}", text);
            let judgement = judged(&command);
            // A key is one wherever it stands: rules on those are about the text and not about what it would run.
            let about_text = |finding: &&Finding| {
                !["secret/keep", "secret/write", "secret/argument"].iter().any(|rule| finding.id.starts_with(rule))
            };
            if judgement.verdict.findings.iter().filter(about_text).count() > 0 {
                problems.push(format!("{:?} on {command}", ids(&judgement)));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(texts.len() > 200, "only {} dangerous texts", texts.len());
}

#[test]
fn a_rule_more_never_loosens_a_verdict() {
    let mut fewer: Value = json!({});
    for (key, node) in reflex_tables::root(library::blob()).entries() {
        fewer[key] = value(node);
    }
    for rules in fewer["triggers"].as_object_mut().unwrap().values_mut() {
        let mut index = 0;
        rules.as_array_mut().unwrap().retain(|_| {
            index += 1;
            index % 2 == 0
        });
    }
    let fewer = Tables::new(encode(&fewer).unwrap().leak());
    let mut looser = 0;
    for command in examples(Kind::Rules, &["fires", "quiet"]) {
        let (few, all) = (judged_by(fewer, &command, &world()).verdict, judged(&command).verdict);
        assert!(few.decision <= all.decision && few.risk <= all.risk, "{command}");
        looser += usize::from(few.decision < all.decision);
    }
    assert!(looser > 50, "taking half of the rules away changes only {looser} verdicts");
}

fn value(node: Node<'_>) -> Value {
    if node.is_map() {
        return node.entries().map(|(key, node)| (key.to_owned(), value(node))).collect::<Map<_, _>>().into();
    }
    if node.is_list() {
        return node.items().map(value).collect();
    }
    if node.is_text() {
        return node.text().into();
    }
    match (node.is_nil(), node.is_true(), node.number()) {
        (true, _, _) => Value::Null,
        (_, true, _) => true.into(),
        (_, _, number) => number.into(),
    }
}

/// Each puts words into `{}` that nobody knows before it runs.
const UNREAD: [&str; 10] = [
    "{} $X",
    "{} $(cat words)",
    "cat words | xargs {}",
    "xargs -a words {}",
    "read x < words; {} $x",
    "mapfile -t a < words; {} \"${a[@]}\"",
    "set -- $(cat words); {} \"$@\"",
    "parallel -a words {}",
    "find . -exec {} {} +",
    "while read x; do {} $x; done < words",
];

#[test]
fn a_command_of_the_guard_with_unknown_words_is_a_persons() {
    for template in UNREAD {
        for outer in ["{}", "env {}", "sh -c '{}'", "setsid -f {}", "script -qec '{}' /dev/null", "nohup {} &"] {
            for (program, expected) in [("reflex", true), ("rfx audit", true), ("reflex check", false)] {
                let inner = template.replacen("{}", program, 1);
                let command = if inner.contains([';', '|']) && !outer.contains('\'') {
                    inner
                } else {
                    outer.replace("{}", &inner)
                };
                let found = judged(&command);
                assert_eq!(ids(&found).contains(&"guard/commands"), expected, "{command}: {:?}", ids(&found));
            }
        }
    }
}

#[test]
fn the_same_call_gives_the_same_verdict() {
    let mut other = world();
    other
        .variables
        .extend(["Z", "A", "EDITOR_OF_NOBODY"].map(|name| (format!("REFLEX_{name}"), "rm -rf ~".to_owned())));
    for command in examples(Kind::Rules, &["fires", "quiet"]) {
        let (one, again) = (judged(&command), judged(&command));
        let elsewhere = judged_by(library::tables(), &command, &other);
        assert_eq!(format!("{:?}", one.verdict), format!("{:?}", again.verdict), "{command}");
        assert_eq!(format!("{:?}", one.verdict), format!("{:?}", elsewhere.verdict), "{command}");
    }
}

#[test]
fn no_change_of_a_command_makes_the_judgement_fail() {
    let mut texts = examples(Kind::Rules, &["fires", "quiet"]);
    texts.extend(examples(Kind::Programs, &["examples"]));
    let mut chance = Chance::seeded(0x5eed);
    for _ in 0..3_000 {
        let text = &texts[chance.next(texts.len())];
        let other = &texts[chance.next(texts.len())];
        let _ = judged(&changed(&mut chance, text, other));
    }
}

/// The text with a part taken out, twice in it, moved into another or followed by chance letters.
fn changed(chance: &mut Chance<'_>, text: &str, other: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (one, two) = (chance.next(chars.len() + 1), chance.next(chars.len() + 1));
    let (front, back) = (&chars[..one.min(two)], &chars[one.max(two)..]);
    let inside = &chars[one.min(two)..one.max(two)];
    let of = |parts: &[&[char]]| parts.concat().into_iter().collect::<String>();
    match chance.next(5) {
        0 => of(&[front, back]),
        1 => of(&[front, inside, inside, back]),
        2 => of(&[front, &other.chars().collect::<Vec<_>>(), back]),
        3 => of(&[front, &['\'', '"', '`', '(', '\0', '\u{202e}', '\\'][..1 + chance.next(7)], back]),
        _ => of(&[back, front, &['\n'], inside]),
    }
}

/// What stands in rules and programs, and what does not belong there.
const WORDS: [&str; 34] = [
    "rm",
    "x",
    "operands",
    "operands[0]",
    "operands[1..]",
    "operands[..-1]",
    "operands[",
    "last",
    "last-word",
    "paths",
    "roots",
    "found",
    "folder",
    "option:a",
    "option:",
    "stdin",
    "script",
    "argv",
    "posixly-correct",
    "single-dash",
    "one",
    "rest",
    "until",
    "joined",
    "home",
    "outside",
    "inside",
    "exists",
    "uncommitted",
    "{targets}",
    "{",
    "**/*",
    "[a-",
    "",
];

const KEYS: [&str; 36] = [
    "do",
    "to",
    "when",
    "and",
    "unless",
    "argv",
    "script",
    "file",
    "stdin",
    "skip",
    "append",
    "placeholder",
    "filled-with",
    "parameters",
    "site",
    "assignments",
    "starting",
    "behind",
    "after-last",
    "fitting",
    "unfitting",
    "default-target",
    "set",
    "argument",
    "word",
    "runs",
    "effects",
    "options",
    "commands",
    "style",
    "prints",
    "key",
    "value",
    "a",
    "-a",
    "--all",
];

#[test]
fn no_table_makes_the_judgement_fail() {
    let (programs, policies) = (library::tables().get("programs"), library::tables().get("policies"));
    let (shipped, policies) = (value(programs), value(policies));
    for seed in 0..200 {
        let mut chance = Chance::seeded(seed << 9 | 1);
        let names = ["rm", "sudo", "sh", "git", "curl", "find", "x"];
        let programs: Map<_, _> =
            names.map(|name| (name.to_owned(), of_chance(&mut chance, &KEYS, 5))).into_iter().collect();
        let rules = |chance: &mut Chance<'_>| -> Value {
            let rule = |when: Value| json!({"id": "a/b", "severity": "high", "unknown": "fire", "message": "{targets} {lost}", "when": when});
            (0..3).map(|_| rule(of_chance(chance, &OPERATORS, 5))).collect()
        };
        let triggers: Map<_, _> =
            EffectKind::ALL.iter().map(|kind| (kind.name().to_owned(), rules(&mut chance))).collect();
        let mut tree = json!({"programs": programs, "triggers": triggers, "places": of_chance(&mut chance, &["secret", "paths", "except"], 3)});
        tree["policies"] = policies.clone();
        if seed % 20 == 0 {
            tree["programs"] = shipped.clone();
        }
        let tables = Tables::new(encode(&tree).unwrap().leak());
        for command in ["rm -rf a ~/b --all", "sudo -a rm x", "sh -c 'rm x' | x", "git push -f; find . -exec rm {} +"] {
            let _ = judged_by(tables, command, &world());
        }
    }
}

/// Any value, with these keys where it is a map.
fn of_chance(chance: &mut Chance<'_>, keys: &[&str], depth: usize) -> Value {
    match chance.next(if depth == 0 { 5 } else { 14 }) {
        0 => Value::Null,
        1 => (chance.next(2) == 0).into(),
        2 => chance.next(4).into(),
        3 | 4 => chance.pick(&WORDS).into(),
        5..=7 => (0..chance.next(4)).map(|_| of_chance(chance, keys, depth - 1)).collect(),
        _ => {
            let entry = |chance: &mut Chance<'_>| (chance.pick(keys).to_owned(), of_chance(chance, keys, depth - 1));
            (0..1 + chance.next(5)).map(|_| entry(chance)).collect::<Map<_, _>>().into()
        }
    }
}

#[test]
fn more_targets_than_are_looked_at_are_a_gap_and_a_home_among_them_is_not_hidden() {
    let paths: String = (0..2_049).map(|index| format!(" a{index}")).collect();
    let judgement = judged(&format!("rm -rf{paths} ~"));
    let found = ids(&judgement);
    assert!(found.contains(&"code/too-large") && found.contains(&"rm/home-or-root"), "{found:?}");
    let outside: String = (0..2_049).map(|index| format!(" /srv/a{index}")).collect();
    for home in ["~", "~/*", "/"] {
        let judgement = judged(&format!("rm -rf{outside} {home}"));
        let found = ids(&judgement);
        assert!(found.contains(&"code/too-large") && found.contains(&"rm/home-or-root"), "{home}: {found:?}");
    }
    assert!(!ids(&judged("rm -f a b c")).contains(&"code/too-large"));
}
