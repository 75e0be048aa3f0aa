//! Settings are read as their clients were seen to read them: every example of `library/settings`.

use reflex_engine::agent_settings::SettingsFormat;
use reflex_tables::Tables;
use reflex_tables::compile::{Entry, Kind, Sources};
use std::path::Path;

/// What stands for the hooks in an example.
const HOOKS: &str =
    r#"{"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "/usr/bin/reflex hook"}]}]}"#;

fn sources() -> Sources {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/settings");
    let mut sources = Sources::default();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        sources.add(Kind::Settings, &name, &std::fs::read_to_string(&file).unwrap()).unwrap();
    }
    sources
}

fn entries() -> Vec<Entry> {
    sources().entries().to_vec()
}

fn filled(text: &str) -> String {
    text.replace("$HOOKS", HOOKS).replace("$INSIDE", &HOOKS[1..HOOKS.len() - 1])
}

fn with_form(name: &str, judge: impl Fn(SettingsFormat)) {
    let blob = sources().blob().unwrap().leak();
    let form = SettingsFormat::all(Tables::new(blob)).find(|form| form.name() == name).unwrap();
    judge(form);
}

#[test]
fn what_a_client_takes_is_read() {
    for entry in entries() {
        for text in entry.value["taken"].as_array().unwrap() {
            let text = filled(text.as_str().unwrap());
            with_form(&entry.name, |form| assert_eq!(form.load(text.as_bytes()).err(), None, "{}: {text}", entry.name));
        }
    }
}

#[test]
fn what_a_client_drops_is_reported_with_its_place() {
    for entry in entries() {
        for dropped in entry.value["dropped"].as_array().unwrap() {
            let (text, at) = (filled(dropped["text"].as_str().unwrap()), dropped["at"].as_str().unwrap());
            with_form(&entry.name, |form| {
                let Err(why) = form.load(text.as_bytes()) else { panic!("{} takes {text}", entry.name) };
                let found = format!("{}:{}", why.line, why.column);
                let wanted = at.strip_suffix('?').map_or(found == at, |line| found.starts_with(line));
                assert!(wanted, "{}: {text}\n{why}, not {at}", entry.name);
            });
        }
    }
}

#[test]
fn a_repaired_text_means_the_same_and_is_taken() {
    let check = |name: &str, text: &str, expected: Option<&str>| {
        with_form(name, |form| assert_eq!(form.repaired(text.as_bytes()).as_deref(), expected, "{text}"));
    };
    check("claude/settings", "{ // mine\n  \"a\": [1, 2,], // \"x\"\n}\n", Some("{\n  \"a\": [1, 2]\n}\n"));
    check("claude/settings", "{\"a\": \"// no comment, }\" /* but this */, }", Some("{\"a\": \"// no comment, }\"  }"));
    check("codex/hooks", "\u{feff}{\"hooks\": {},}", Some("{\"hooks\": {}}"));
    check("claude/settings", "{\"model\": 5}", None);
    check("claude/settings", "{\"a\": ", None);
}

#[test]
fn a_form_is_found_by_its_path() {
    let blob = sources().blob().unwrap().leak();
    let check = |path: &str, expected: Option<&str>| {
        let form = SettingsFormat::for_path(Tables::new(blob), path, "/home/me");
        assert_eq!(form.map(SettingsFormat::name), expected, "{path}");
    };
    check("/home/me/.claude/settings.json", Some("claude/settings"));
    check("/repo/.claude/settings.local.json", Some("claude/settings"));
    check("/home/me/.copilot/hooks/x.json", Some("copilot/hooks"));
    check("/repo/.gemini/settings.json", Some("gemini/settings"));
    check("/repo/settings.json", None);
}
