//! The library holds what it says: every entry's examples, every ordinary command, every wrapper.

use reflex_agents::universal;
use reflex_engine::{
    Action, ConfigInput, Decision, DetectorName, EffectKind, Event, Fact, OPERATORS, Place, Severity, Target, Tier,
    WordList, analyze, unfolded,
};
use reflex_tables::compile::{Entry, Kind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

use crate::examples::{entries, event, ids, judged, library, report, synthetic, yaml_files};

#[test]
fn every_rule_fires_on_its_examples_and_is_quiet_on_the_others() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Rules) {
        for example in entry.value["fires"].as_array().unwrap() {
            let ids = ids(example);
            if !ids.contains(&entry.name) {
                problems.push(format!("{} does not fire on {example}, but {ids:?}", entry.name));
            }
        }
        for example in entry.value["quiet"].as_array().unwrap() {
            if ids(example).contains(&entry.name) {
                problems.push(format!("{} fires on {example}", entry.name));
            }
        }
        for side in ["fires", "quiet"] {
            if entry.value[side].as_array().unwrap().is_empty() {
                problems.push(format!("{} has no example that it {side}", entry.name));
            }
        }
    }
    report(problems);
}

#[test]
fn every_word_list_fits_its_examples_and_no_others() {
    let mut problems = Vec::new();
    let lists = entries(Kind::Words);
    for list in WordList::ALL {
        let Some(entry) = lists.iter().find(|entry| entry.name == list.name()) else {
            problems.push(format!("the library has no list `{}`", list.name()));
            continue;
        };
        let words = list.read(reflex_library::tables());
        for (side, fits) in [("matches", true), ("no-match", false)] {
            let texts: Vec<&str> = entry.value[side].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let wrong = texts.iter().filter(|text| words.fit(text) != fits);
            problems.extend(wrong.map(|text| format!("{}: {side} {text}", entry.name)));
            problems.extend(texts.is_empty().then(|| format!("{} has no example: {side}", entry.name)));
        }
    }
    let is_read = |entry: &&Entry| WordList::ALL.iter().any(|list| list.name() == entry.name);
    problems.extend(lists.iter().filter(|entry| !is_read(entry)).map(|entry| format!("nothing reads {}", entry.name)));
    report(problems);
}

/// An entry is needed if one of its examples is caught by it alone: without it nothing would be said there.
#[test]
fn every_rule_is_needed() {
    let mut problems = Vec::new();
    let rules = entries(Kind::Rules);
    for entry in &rules {
        let alone = |example: &Value| {
            let found = ids(example);
            !found.is_empty() && found.iter().all(|id| *id == entry.name)
        };
        let examples = entry.value["fires"].as_array().unwrap();
        if !examples.iter().any(alone) {
            let others: Vec<_> = examples.iter().map(|example| (example, ids(example))).collect();
            problems.push(format!("{} is never alone: {others:?}", entry.name));
        }
    }
    assert!(rules.len() >= 200, "only {} rules", rules.len());
    report(problems);
}

#[test]
fn every_cue_matches_its_examples_and_no_others() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Cues) {
        let scanned = |text: &str| {
            let injection = reflex_engine::injection::scan(text, reflex_library::tables());
            let is_named = injection.signs.iter().any(|sign| sign.name == entry.name);
            (is_named, injection.score)
        };
        for example in entry.value["fires"].as_array().unwrap() {
            let text = example.as_str().unwrap_or_else(|| example["text"].as_str().unwrap());
            let least = example["score"].as_u64().unwrap_or(u64::from(reflex_engine::injection::REPORTED_FROM));
            let plain = scanned(text);
            let hidden = scanned(&format!("<!-- {text} -->"));
            if !(plain.0 && u64::from(plain.1) >= least || hidden.0 && u64::from(hidden.1) >= least) {
                problems.push(format!("{} does not match `{text}`: {plain:?}", entry.name));
            }
        }
        for text in entry.value["quiet"].as_array().unwrap() {
            let text = text.as_str().unwrap();
            if scanned(text).0 || scanned(text).1 >= reflex_engine::injection::REPORTED_FROM {
                problems.push(format!("{} matches `{text}`: {:?}", entry.name, scanned(text)));
            }
        }
    }
    report(problems);
}

#[test]
fn every_meaning_matches_its_examples_and_no_others() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Meanings) {
        let means: Vec<&str> = entry.value["means"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let count_of = |text: &str| {
            let found = reflex_engine::injection::meanings(text, reflex_library::tables());
            means.iter().filter(|name| found.contains(name)).count()
        };
        let examples = |key: &str| entry.value[key].as_array().unwrap().iter().filter_map(Value::as_str);
        let deaf = examples("heard").filter(|text| count_of(text) < means.len());
        problems.extend(deaf.map(|text| format!("{} does not match `{text}`", entry.name)));
        // What others mean too says nothing of this one.
        let loud = examples("quiet").filter(|text| count_of(text) == means.len());
        problems.extend(loud.map(|text| format!("{} matches `{text}`", entry.name)));
    }
    report(problems);
}

#[test]
fn every_word_of_a_rule_is_known() {
    let mut problems = Vec::new();
    let programs: Vec<String> = entries(Kind::Programs).iter().flat_map(names_of_program).collect();
    for entry in entries(Kind::Rules) {
        for trigger in entry.value["on"].as_array().unwrap() {
            if EffectKind::named(trigger.as_str().unwrap()).is_none() {
                problems.push(format!("{}: unknown effect {trigger}", entry.name));
            }
        }
        let severity = entry.value["severity"].as_str().unwrap();
        let tier = entry.value.get("tier").and_then(Value::as_str).unwrap_or("recommended");
        let detector = entry.value.get("detector").and_then(Value::as_str).unwrap_or(DetectorName::Sentinel.name());
        if Severity::named(severity).is_none() || Tier::named(tier).is_none() || DetectorName::of(detector).is_none() {
            problems.push(format!("{}: unknown severity, tier or detector", entry.name));
        }
        problems.extend(unfit_for_a_model(&entry));
        if let Some(when) = entry.value.get("when") {
            check_condition(&entry.name, when, &programs, &mut problems);
        }
    }
    report(problems);
}

#[test]
fn the_rules_that_fire_most_say_why_and_name_a_source() {
    let rules = entries(Kind::Rules);
    let mut problems: Vec<String> = rules.iter().filter_map(flaw_of_why).collect();
    let ranking = include_str!("../../../dev/score/fired.txt").lines().filter(|line| !line.starts_with('#'));
    let fired: Vec<&str> = ranking.filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(fired.len(), 60);
    for id in fired {
        match rules.iter().find(|entry| entry.name == id) {
            Some(entry) if entry.value.get("why").is_some() => {}
            Some(_) => problems.push(format!("{id} has no `why`")),
            None => problems.push(format!("{id}: no rule has this id; run `cargo xtask score --rules`")),
        }
    }
    report(problems);
}

/// The problem with the reason that a rule states: it has one to three sentences with a source, and says more than the
/// message.
fn flaw_of_why(entry: &Entry) -> Option<String> {
    let text = |key: &str| entry.value.get(key).and_then(Value::as_str).unwrap_or("");
    let (why, source) = (text("why"), text("source"));
    let words = |text: &str| -> BTreeSet<String> {
        text.to_lowercase().split(|ch: char| !ch.is_alphanumeric()).map(str::to_owned).collect()
    };
    let (said, message) = (words(why), words(text("message")));
    let flaw = match () {
        () if why.is_empty() && source.is_empty() => return None,
        () if why.is_empty() => "`source` without `why`",
        () if !source.starts_with("https://") => "`why` needs the URL of a `source`",
        () if !why.ends_with('.') || why.matches(". ").count() > 2 => "`why` has one to three sentences",
        () if said.difference(&message).count() * 2 < said.len() => "`why` repeats the message",
        () => return None,
    };
    Some(format!("{}: {flaw}", entry.name))
}

/// The problem with the mark of a rule that a model may judge: its loss has to come back, by one way.
fn unfit_for_a_model(entry: &Entry) -> Option<String> {
    let has = |key: &str| entry.value.get(key).is_some();
    let is_judged = entry.value.get("judge") == Some(&Value::Bool(true));
    let is_loss = entry.value["category"] == "destructive" && !has("production") && !has("local");
    match is_judged {
        true if has("recovery") && has("undo") && is_loss && !has("tier") => None,
        false if !has("recovery") => None,
        _ => Some(format!("{}: `judge` needs `recovery`, `undo` and a plain loss", entry.name)),
    }
}

fn names_of_program(entry: &Entry) -> Vec<String> {
    let aliases = entry.value.get("aliases").and_then(Value::as_array).cloned().unwrap_or_default();
    aliases.iter().filter_map(Value::as_str).map(str::to_owned).chain([entry.name.clone()]).collect()
}

const COMPUTED: [&str; 6] = ["contents", "pattern", "climbing", "guard-program", "device", "guard"];

fn check_condition(name: &str, condition: &Value, programs: &[String], problems: &mut Vec<String>) {
    let texts = |value: &Value| match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => vec![text.clone()],
        _ => Vec::new(),
    };
    match condition {
        Value::Array(items) => items.iter().for_each(|item| check_condition(name, item, programs, problems)),
        Value::Object(map) => {
            for (key, value) in map {
                if !OPERATORS.contains(&key.as_str()) {
                    problems.push(format!("{name}: unknown operator {key}"));
                }
                let known: Box<dyn Fn(&str) -> bool> = match key.as_str() {
                    "is" => Box::new(is_class),
                    "fact" => Box::new(|word| Fact::named(word).is_some()),
                    "program" => Box::new(|word| programs.iter().any(|program| program == word)),
                    "site" => Box::new(|word| ["here", "remote", "container"].contains(&word)),
                    _ => Box::new(|_| true),
                };
                problems.extend(
                    texts(value).iter().filter(|word| !known(word)).map(|word| format!("{name}: unknown {key} {word}")),
                );
                if ["all", "any", "not", "target"].contains(&key.as_str()) {
                    check_condition(name, value, programs, problems);
                }
            }
        }
        other => problems.push(format!("{name}: a condition is a map or a list, not {other}")),
    }
}

fn is_class(word: &str) -> bool {
    let places = entries(Kind::Places);
    Place::ALL.iter().any(|(_, name)| *name == word)
        || COMPUTED.contains(&word)
        || places.iter().any(|place| place.name == word)
}

/// Effects of programs on which no rule fires: the kind, the flags, and the reason for which that is right.
const WITHOUT_RULE: [(&str, &str, &str); 6] = [
    ("apply-patch", "*", "the patch is read, and what it changes has effects of its own"),
    ("open-tunnel", "forward", "a port of this machine that leads elsewhere lets nobody in"),
    ("print-environment", "", "detectors ask about the variables with keys"),
    ("print-environment", "print", "detectors ask about the variables with keys"),
    ("run-sql-file", "perhaps", "the operand may be a database; a script is read and judged by its statements"),
    ("select-context", "*", "later commands of the call are judged by it"),
];

/// An effect without a rule is a loss that nobody is asked about.
#[test]
fn a_rule_fires_on_every_effect_of_a_program() {
    let rules = entries(Kind::Rules);
    let mut problems = Vec::new();
    let mut unused: BTreeSet<usize> = (0..WITHOUT_RULE.len()).collect();
    let mut count = 0;
    for program in entries(Kind::Programs) {
        let names = names_of_program(&program);
        let mut produced = Vec::new();
        produced_by(&program.value, &BTreeSet::new(), &mut produced);
        for (kind, flags) in produced {
            count += 1;
            let on = |rule: &&Entry| rule.value["on"].as_array().unwrap().iter().any(|on| *on == kind);
            let may_fire = |rule: &Entry| match rule.value.get("when") {
                Some(when) => may_hold(when, &kind, &flags, &names) != Some(false),
                None => true,
            };
            let fires = rules.iter().filter(on).any(may_fire);
            let written = flags.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            let line = WITHOUT_RULE.iter().position(|(of, with, _)| *of == kind && (*with == written || *with == "*"));
            match line {
                Some(line) if !fires => {
                    unused.remove(&line);
                }
                _ if fires => {}
                _ => problems.push(format!("no rule fires on `{kind} ({written})` of {}", program.name)),
            }
        }
    }
    problems.extend(unused.iter().map(|line| format!("{:?} is said of no effect", WITHOUT_RULE[*line])));
    assert!(count >= 1_500, "only {count} effects");
    report(problems);
}

/// The kind of each effect of a program or subcommand, with the flags that it has in the shortest command which has the
/// effect: one for each option in `when`.
fn produced_by(grammar: &Value, inherited: &BTreeSet<String>, produced: &mut Vec<(String, BTreeSet<String>)>) {
    let mut options = inherited.clone();
    options.extend(grammar["options"].as_object().into_iter().flatten().map(|(key, _)| key.clone()));
    let texts = |entry: &Value, key: &str| -> Vec<String> {
        let list = entry.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for entry in grammar["effects"].as_array().into_iter().flatten() {
        let mut flags: BTreeSet<String> = texts(entry, "set").into_iter().collect();
        let of_option = entry["to"].as_str().into_iter().flat_map(|to| to.split(' ')).next();
        let given = of_option.and_then(|to| to.strip_prefix("option:")).map(str::to_owned);
        flags.extend(texts(entry, "and").into_iter().chain(given).filter(|key| options.contains(key)));
        let when = texts(entry, "when");
        let kind = entry["do"].as_str().unwrap();
        if when.is_empty() {
            produced.push((kind.to_owned(), flags.clone()));
        }
        for key in when {
            let with = flags.iter().cloned().chain(Some(key).filter(|key| options.contains(key))).collect();
            produced.push((kind.to_owned(), with));
        }
    }
    for (_, subcommand) in grammar["commands"].as_object().into_iter().flatten() {
        produced_by(subcommand, &options, produced);
    }
}

/// Flags that the analysis adds to effects by what else the call does.
const ADDED: [&str; 9] = ["carried", "committed", "held", "loaded", "names", "piped", "sent", "shown", "stranger"];

/// Whether a condition holds for an effect of which only the kind, the flags and the program are known.
fn may_hold(condition: &Value, kind: &str, flags: &BTreeSet<String>, programs: &[String]) -> Option<bool> {
    let inner = |condition: &Value| may_hold(condition, kind, flags, programs);
    let all = |mut results: Vec<Option<bool>>| {
        results.sort_unstable_by_key(|result| [Some(false), None, Some(true)].iter().position(|one| one == result));
        results.first().copied().unwrap_or(Some(true))
    };
    let any = |results: Vec<Option<bool>>| {
        all(results.into_iter().map(|result| result.map(|holds| !holds)).collect()).map(|holds| !holds)
    };
    let words = |value: &Value| -> Vec<String> {
        let list = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    match condition {
        Value::Array(items) => all(items.iter().map(inner).collect()),
        Value::Object(map) => all(map
            .iter()
            .map(|(key, value)| match key.as_str() {
                "all" => inner(value),
                "any" => any(value.as_array().unwrap().iter().map(inner).collect()),
                "not" => inner(value).map(|holds| !holds),
                "flag" => any(words(value)
                    .iter()
                    .map(|flag| match ADDED.contains(&flag.as_str()) {
                        true => None,
                        false => Some(flags.contains(flag)),
                    })
                    .collect()),
                "effect" => Some(words(value).iter().any(|name| name == kind)),
                "program" if !words(value).iter().any(|name| programs.contains(name)) => Some(false),
                // Whether there is such a target is not known.
                "target" => inner(value).filter(|holds| !holds),
                _ => None,
            })
            .collect()),
        _ => None,
    }
}

/// What a call of a tool that no table knows is read as, in words: `shell ls`, `write a = b`, `statement DROP TABLE a`.
fn meant(tool: &str, arguments: &Value) -> Vec<String> {
    let actions = vec![Action::Other { arguments: arguments.to_string() }];
    let event =
        Event { tool: tool.into(), actions, cwd: "/repo".into(), workspace: "/repo".into(), ..Event::default() };
    let unfolded = unfolded(&event, reflex_library::tables());
    let mut lines: Vec<String> = unfolded.actions.iter().skip(1).map(in_words).collect();
    let analysis = analyze(&event, reflex_library::tables(), &reflex_engine::FakeWorld::default());
    let queries = analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Sql);
    lines.extend(queries.flat_map(|effect| &effect.targets).map(|target| format!("statement {}", target.shown())));
    lines
}

fn in_words(action: &Action) -> String {
    let with = |mark: &str, text: &str| if text.is_empty() { String::new() } else { format!(" {mark} {text}") };
    match action {
        Action::Shell { command, language } => format!("{} {command}", language.name()),
        Action::Read { path } => format!("read {}", path.text),
        Action::Search { path, .. } => format!("search {}", path.text),
        Action::Write { path, content } => format!("write {}{}", path.text, with("=", content)),
        Action::Edit { path, content, removed, .. } => {
            format!("edit {}{}{}", path.text, with("-", removed), with("=", content))
        }
        Action::Delete { path } => format!("delete {}", path.text),
        Action::Fetch { url } => format!("fetch {url}"),
        other => format!("{other:?}"),
    }
}

/// Checks every example of a kind of entry: `wrong` is given what the example holds under `key`, and says what differs.
fn check_examples(kind: Kind, key: &str, wrong: impl Fn(&Value, &[&str]) -> Option<String>) {
    let mut problems = Vec::new();
    for entry in entries(kind) {
        let examples = entry.value["examples"].as_array().unwrap();
        if examples.is_empty() {
            problems.push(format!("{} has no example", entry.name));
        }
        for example in examples {
            let expected: Vec<&str> =
                example[key].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
            problems.extend(wrong(example, &expected).map(|wrong| format!("{}: {wrong}", entry.name)));
        }
    }
    report(problems);
}

#[test]
fn every_word_of_tools_says_what_its_examples_say() {
    check_examples(Kind::Tools, "does", |example, expected| {
        let does = meant(example["tool"].as_str().unwrap(), &example["input"]);
        (does != expected).then(|| format!("{} {} does {does:?}", example["tool"], example["input"]))
    });
}

#[test]
fn every_program_does_what_its_examples_say() {
    check_examples(Kind::Programs, "does", |example, expected| {
        let does = effects(example["run"].as_str().unwrap());
        (does != expected).then(|| format!("{} does {does:?}, not {expected:?}", example["run"]))
    });
}

#[test]
fn every_file_that_a_program_takes_orders_from_is_looked_for_as_its_examples_say() {
    check_examples(Kind::Inputs, "takes", |example, expected| {
        let found = taken(&example["run"]);
        let missing = expected.iter().find(|line| !found.iter().any(|one| one == *line))?;
        Some(format!("{} takes no {missing}, but {found:?}", example["run"]))
    });
}

#[test]
fn what_a_run_reads_next_from_disk_does_what_its_examples_say() {
    check_examples(Kind::Loads, "does", |example, expected| {
        let mut call = example.clone();
        call.as_object_mut().unwrap().remove("does");
        let does = effects_of(&call);
        (does != expected).then(|| format!("{} does {does:?}, not {expected:?}", example["run"]))
    });
}

/// What a command takes its orders from: paths, names of programs, `git FOLDER`.
fn taken(call: &Value) -> Vec<String> {
    let object = event(call);
    let event: Event = universal::read(&object).unwrap();
    let world = universal::supposed(&object, &event).unwrap();
    let analysis = analyze(&event, reflex_library::tables(), &world);
    let inputs = reflex_engine::config_inputs(&event, &analysis, reflex_library::tables(), &world);
    let line = |input: ConfigInput| match input {
        ConfigInput::File { path, .. } => path,
        ConfigInput::Program { name, .. } => name,
        ConfigInput::Git { folder, .. } => format!("git {folder}"),
        ConfigInput::Server { name, path } => format!("{name} in {path}"),
        ConfigInput::Unknown { program } => format!("unknown {program}"),
        ConfigInput::More => "more".into(),
    };
    inputs.into_iter().map(line).collect()
}

/// Effects in words: `delete a (force recursive)`, one line per target.
fn effects(command: &str) -> Vec<String> {
    effects_of(&Value::from(command))
}

fn effects_of(call: &Value) -> Vec<String> {
    let object = event(call);
    let event: Event = universal::read(&object).unwrap();
    let world = universal::supposed(&object, &event).unwrap();
    let analysis = analyze(&event, reflex_library::tables(), &world);
    let mut lines = Vec::new();
    // What is set, touched or spoken of follows from the words alone, whatever the program.
    let shown_before =
        |kind: EffectKind| !matches!(kind, EffectKind::PathArgument | EffectKind::SetVariable | EffectKind::SendText);
    for effect in analysis.effects.iter().filter(|effect| shown_before(effect.kind)) {
        let flags = if effect.flags.is_empty() { String::new() } else { format!(" ({})", effect.flags.join(" ")) };
        let argument = effect.argument.as_ref().map_or(String::new(), |value| format!(" = {}", value.shown()));
        let site = match effect.site {
            reflex_engine::shell::ExecTarget::Here => "",
            reflex_engine::shell::ExecTarget::Remote => " on another host",
            reflex_engine::shell::ExecTarget::Container => " in a container",
        };
        let name = effect.kind.name();
        let line = |target: &str| format!("{name}{target}{flags}{argument}{site}");
        if effect.targets.is_empty() {
            lines.push(line(""));
        }
        lines.extend(effect.targets.iter().map(|target: &Target| line(&format!(" {}", target.value.shown()))));
    }
    lines
}

#[test]
fn every_place_of_a_password_is_found_in_its_examples() {
    let mut problems = Vec::new();
    let passwords = |command: &str| {
        let object = event(&Value::from(command));
        let event: Event = universal::read(&object).unwrap();
        let world = universal::supposed(&object, &event).unwrap();
        reflex_engine::passwords(&analyze(&event, reflex_library::tables(), &world), reflex_library::tables())
    };
    for entry in entries(Kind::Logins) {
        for example in entry.value["takes"].as_array().unwrap() {
            let (command, password) = (example["run"].as_str().unwrap(), example["secret"].as_str().unwrap());
            if !passwords(command).iter().any(|found| found == password) {
                problems.push(format!("{}: {command} shows {:?}, not {password}", entry.name, passwords(command)));
            }
        }
        for command in entry.value["quiet"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !passwords(command).is_empty() {
                problems.push(format!("{}: {command} shows {:?}", entry.name, passwords(command)));
            }
        }
    }
    report(problems);
}

/// The ids of the formats that a text has.
fn secrets(text: &str) -> Vec<&'static str> {
    let found = reflex_engine::find_secrets(text, reflex_library::tables());
    found.iter().map(reflex_engine::Secret::id).collect()
}

fn examples(entry: &Entry, side: &str) -> Vec<String> {
    let texts = entry.value[side].as_array().unwrap();
    texts.iter().map(|text| synthetic::filled(text).as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_format_of_secrets_fires_on_its_examples_and_is_quiet_on_the_others() {
    let mut problems = Vec::new();
    let formats = entries(Kind::Secrets);
    for entry in &formats {
        for text in examples(entry, "fires") {
            let found = secrets(&text);
            if !found.contains(&entry.name.as_str()) {
                problems.push(format!("{} does not fire on {text}, but {found:?}", entry.name));
            }
        }
        for text in examples(entry, "quiet") {
            let found = secrets(&text);
            if !found.is_empty() {
                problems.push(format!("{}: {found:?} on {text}", entry.name));
            }
        }
        if examples(entry, "fires").is_empty() || examples(entry, "quiet").is_empty() {
            problems.push(format!("{} has no example on one side", entry.name));
        }
        if Severity::named(entry.value["severity"].as_str().unwrap()).is_none() {
            problems.push(format!("{}: unknown severity", entry.name));
        }
    }
    assert!(formats.len() >= 200, "only {} formats", formats.len());
    report(problems);
}

/// What is told of never stands in our own files, also cut off in the middle.
#[test]
fn every_secret_of_a_format_becomes_a_tag() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Secrets) {
        for text in examples(&entry, "fires") {
            let redacted = reflex_engine::redacted(&text, reflex_library::tables());
            let found = reflex_engine::find_secrets(&text, reflex_library::tables());
            for secret in found.iter().filter(|secret| redacted.contains(&text[secret.span.clone()])) {
                problems.push(format!("{}: {} stands in {redacted}", entry.name, secret.id()));
            }
            if reflex_engine::redacted(&redacted, reflex_library::tables()) != redacted {
                problems.push(format!("{}: {redacted} changes when it is redacted again", entry.name));
            }
        }
    }
    report(problems);
}

#[test]
fn places_match_as_documented() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Places) {
        let texts = |key: &str| -> Vec<String> {
            let list = entry.value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let fits = |path: &str| {
            let path = path.replace("~/", "/home/me/");
            let any = |key: &str| texts(key).iter().any(|pattern| reflex_engine::fits(pattern, &path, "/home/me"));
            any("paths") && !any("except")
        };
        problems.extend(
            texts("matches")
                .iter()
                .filter(|path| !fits(path))
                .map(|path| format!("{}: {path} does not match", entry.name)),
        );
        problems.extend(
            texts("no-match").iter().filter(|path| fits(path)).map(|path| format!("{}: {path} matches", entry.name)),
        );
    }
    report(problems);
}

fn benign(file: &Path) -> Vec<Value> {
    let mut list = Vec::new();
    let text = std::fs::read_to_string(file).unwrap();
    list.extend(reflex_tables::compile::list(&text).unwrap());
    list
}

#[test]
fn nothing_fires_on_ordinary_work() {
    let mut problems = Vec::new();
    let mut commands = 0;
    for file in yaml_files(&library().join("benign")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for entry in benign(&file) {
            let example = match name.as_str() {
                "prompts" => json!({"event": "prompt-submit", "prompt": entry}),
                "edits" => json!({"event": "pre-write", "files": [entry["path"]], "content": entry["content"]}),
                _ => entry.clone(),
            };
            commands += 1;
            let ids = ids(&example);
            if !ids.is_empty() {
                problems.push(format!("{name}: {ids:?} on {entry}"));
            }
        }
    }
    assert!(commands >= 500, "only {commands} ordinary calls");
    report(problems);
}

/// Wrappers that change nothing of what a command does.
const WRAPPERS: [&str; 22] = [
    "nohup {}",
    "env A=1 {}",
    "nice -n 5 {}",
    "timeout 5 {}",
    "time {}",
    "command {}",
    "( {} )",
    "{ {}; }",
    "true && {}",
    "false || {}",
    "ls; {}",
    "if true; then {}; fi",
    "for i in 1; do {}; done",
    "while true; do {}; done",
    "f() { {}; }; f",
    "sh -c {q}",
    "bash -lc {q}",
    "eval {q}",
    "echo {q} | sh",
    "bash <<'EOF'\n{}\nEOF",
    "x=$( {} )",
    "case a in a) {} ;; esac",
];

#[test]
fn a_wrapper_never_hides_a_command() {
    let mut problems = Vec::new();
    for entry in entries(Kind::Rules) {
        let examples = entry.value["fires"].as_array().unwrap().iter().filter_map(Value::as_str);
        for example in examples.filter(|example| is_wrappable(example)) {
            // What a variable takes up is not shown.
            let is_shown = entry.value["when"].to_string().contains(r#""flag":"shown""#);
            for wrapper in WRAPPERS.iter().filter(|wrapper| !is_shown || !wrapper.starts_with("x=")) {
                let wrapped = wrapper.replace("{q}", &quoted(example)).replace("{}", example);
                if !ids(&Value::from(wrapped.as_str())).contains(&entry.name) {
                    problems.push(format!("{} does not fire on {wrapped:?}", entry.name));
                }
            }
        }
    }
    report(problems);
}

/// A program that stands alone: a list or a heredoc cannot be the argument of `nohup`.
fn is_wrappable(command: &str) -> bool {
    let plain = !command.contains(['\n', ';', '|', '&', '(', '{', '<', '\'', '=']);
    plain && !command.starts_with(['$', '"', ':', 'c']) && !command.starts_with("if ") && !command.starts_with("eval")
}

fn quoted(command: &str) -> String {
    format!("'{command}'")
}

/// The examples of CONTRIBUTING.md stand in the library as they are, where the other tests play them.
#[test]
fn the_entries_that_contributors_are_shown_are_those_of_the_library() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md")).unwrap();
    let blocks: Vec<&str> = page.split("```yaml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2, "a rule and a program are shown");
    let known = [entries(Kind::Rules), entries(Kind::Programs)].concat();
    for shown in blocks.iter().flat_map(|block| reflex_tables::compile::list(block).unwrap()) {
        assert!(known.iter().any(|entry| entry.value == shown), "no entry is {shown}");
    }
}

/// Files that tools run, written by somebody for this, half of them to do harm: `written_files.jsonl` stays as it is.
#[test]
fn what_tools_run_is_asked_about_when_it_is_written_and_does_harm() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/written_files.jsonl");
    let (mut missed, mut bothered) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let example = json!({"event": "pre-write", "files": [case["path"]], "content": case["content"]});
        let verdict = judged(&example).verdict;
        let stopped = matches!(verdict.decision, Decision::Deny | Decision::Ask);
        match case["dangerous"].as_bool().unwrap() {
            true if !stopped => missed.push(case["path"].clone()),
            false if verdict.decision != Decision::Pass => bothered.push(case["path"].clone()),
            _ => {}
        }
    }
    assert!(missed.len() <= 2 && bothered.is_empty(), "missed: {missed:?}, asked about: {bothered:?}");
}
