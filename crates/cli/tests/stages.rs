//! The ten stages one by one: literate cases in `tests/stages`, a text and what its stage made of it; and every command
//! and phrase that the four documents quote, in `tests/seeds.md`, with what is said about it. What `docs/seeds.md` says of
//! each of their statements is shown by what it names.
//!
//! `UPDATE=1` rewrites what was found; a person reads the difference.

use crate::support::Machine;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A text of a page and what stands below it.
struct Case {
    title: String,
    /// `sh` for a command, `json` for another tool's call: its name and its input.
    info: String,
    text: String,
    found: String,
}

fn parse(page: &str) -> (String, Vec<Case>) {
    let mut sections = page.split("\n## ");
    let head = sections.next().unwrap().trim_end().to_owned();
    let case = |section: &str| {
        let (title, rest) = section.split_once('\n').unwrap();
        let mut parts = rest.split("```");
        let (info, text) = parts.nth(1).unwrap().split_once('\n').unwrap();
        let found = parts.nth(1).unwrap_or("").trim_start_matches("text\n").to_owned();
        Case { title: title.into(), info: info.into(), text: text.trim_end_matches('\n').into(), found }
    };
    (head, sections.map(case).collect())
}

fn render(head: &str, cases: &[Case]) -> String {
    let section = |case: &Case| {
        let Case { title, info, text, found } = case;
        format!("\n## {title}\n\n```{info}\n{text}\n```\n\n```text\n{found}```\n")
    };
    format!("{head}\n{}", cases.iter().map(section).collect::<String>())
}

/// What a stage of `explain` says about the text, in a folder that is on no machine.
fn found(machine: &Machine, case: &Case, stage: usize) -> String {
    let (tool, input) = match case.info.as_str() {
        "sh" => ("Bash".to_owned(), json!({"command": case.text})),
        _ => {
            let call: Value = serde_json::from_str(&case.text).unwrap();
            (call["tool"].as_str().unwrap().to_owned(), call["input"].clone())
        }
    };
    let payload = json!({
        "session_id": "s1", "cwd": "/srv/shop", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
    });
    let call = machine.in_home(Path::new("/home/user"), ["explain", "--json", "--payload"]).env("USER", "user");
    let output = call.input(payload.to_string()).run();
    assert_eq!(output.stderr, "", "{}", case.title);
    let explanation: Value = serde_json::from_str(&output.stdout).unwrap();
    let stages = explanation["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 10);
    let lines = stages[stage - 1]["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
    // Every new rule that looks at an effect and stays quiet would change the page.
    let lines = lines.filter(|line| !line.trim_start().starts_with("quiet: "));
    let lines: Vec<String> = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    if lines.is_empty() { "(nothing)\n".into() } else { lines.concat() }
}

#[test]
fn every_stage_makes_of_its_texts_what_its_page_says() {
    let machine = Machine::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(tests().join("stages")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 10);
    let mut problems = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let page = std::fs::read_to_string(file).unwrap();
        let (head, mut cases) = parse(&page);
        assert!(cases.len() >= 4, "{}", file.display());
        for case in &mut cases {
            let found = found(&machine, case, index + 1);
            if found != case.found && !is_update() {
                problems.push(format!("{}: {}\n{found}instead of\n{}", file.display(), case.title, case.found));
            }
            case.found = found;
        }
        if is_update() {
            std::fs::write(file, render(&head, &cases)).unwrap();
        } else if problems.is_empty() {
            assert_eq!(render(&head, &cases), page, "{}", file.display());
        }
    }
    assert!(problems.is_empty(), "rewrite with UPDATE=1 and read the difference\n{}", problems.join("\n"));
}

/// The user's own aliases stand in files of the machine, so they are no case of a page.
#[test]
fn the_users_own_aliases_are_expanded_where_nothing_else_is_known() {
    let machine = Machine::new();
    let project = machine.project();
    std::fs::create_dir_all(project.join(".git/objects")).unwrap();
    std::fs::create_dir_all(project.join(".git/refs")).unwrap();
    std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/topic\n").unwrap();
    std::fs::write(project.join(".git/config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n").unwrap();
    std::fs::write(machine.home().join(".bashrc"), "alias kk='rm -rf'\nalias cat='rm -rf'\n").unwrap();
    std::fs::write(machine.home().join(".gitconfig"), "[alias]\n\tyolo = push --force origin main\n").unwrap();
    let decided = |command: &str| machine.bash(&project, command).answer().0;
    for command in ["kk ~", "git yolo", "cd x && kk /"] {
        assert_eq!(decided(command), "deny", "{command}");
    }
    // A name that is known is what it is, and a script has none of the user's aliases.
    for command in ["cat x", "kkk ~", "sh -c 'kk ~/x'", "git status"] {
        assert_eq!(decided(command), "silent", "{command}");
    }
}

/// One row of `seeds.md`: seed, event, text, decision, findings.
fn verdict(row: &[String]) -> (String, String) {
    let text = row[2].trim().trim_matches('`').replace("\\|", "|").replace("⏎", "\n");
    let (path, content) = text.split_once(" ← ").unwrap_or((&text, ""));
    let mut event = json!({"id": "x", "event": row[1].trim(), "workspace": "/repo", "cwd": "/repo"});
    let fields = match row[1].trim() {
        "pre-command" => json!({"command": text}),
        "pre-write" | "pre-edit" => json!({"files": [path], "content": content}),
        "pre-read" | "pre-delete" => json!({"files": [path]}),
        "prompt-submit" => json!({"prompt": text}),
        "post-command" => json!({"command": "cat x", "output": text}),
        other => panic!("{other} has no column"),
    };
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let output = Machine::new().reflex(["eval"]).input(format!("{event}\n")).run().stdout;
    let verdict: Value = serde_json::from_str(&output).unwrap();
    let ids = verdict["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap());
    (verdict["decision"].as_str().unwrap().into(), ids.collect::<Vec<_>>().join(", "))
}

#[test]
fn what_the_four_documents_quote_is_judged_as_the_list_says() {
    let file = tests().join("seeds.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let mut rows = 0;
    let line = |line: &str| {
        let mut row: Vec<String> =
            line.replace("\\|", "\u{1}").split('|').skip(1).map(|cell| cell.trim().replace('\u{1}', "\\|")).collect();
        if !row.first().is_some_and(|seed| ["000", "001", "003", "004"].contains(&seed.as_str())) {
            return format!("{line}\n");
        }
        rows += 1;
        (row[3], row[4]) = verdict(&row);
        format!("| {} |\n", row[..5].join(" | "))
    };
    let found: String = page.lines().map(line).collect();
    assert!(rows >= 60, "{rows} rows");
    if is_update() {
        return std::fs::write(&file, found).unwrap();
    }
    assert_eq!(found, page, "rewrite with UPDATE=1 and read the difference");
}

/// `cli/tests/a.rs::name`: whether there is such a test.
fn is_test(named: &str) -> bool {
    let Some((file, name)) = named.split_once("::") else { return false };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(crates.join(file)).unwrap_or_default();
    let marked = text.split("#[test]").skip(1);
    marked.filter_map(|test| test.split_once("fn ")).any(|(_, test)| test.starts_with(&format!("{name}()")))
}

/// `` `COMMAND` DECISION ``, several of them divided by `; `.
fn shown_commands(cell: &str) -> Vec<(String, String)> {
    let parts = cell.replace("\\|", "|").replace("; `", "\u{1}`");
    let one = |part: &str| {
        let (command, decision) = part.trim_start_matches('`').rsplit_once("` ").unwrap();
        (command.to_owned(), decision.to_owned())
    };
    parts.split('\u{1}').map(one).collect()
}

#[test]
fn what_is_said_of_each_statement_of_the_four_documents_is_shown() {
    let page = std::fs::read_to_string(tests().join("../../../docs/seeds.md")).unwrap();
    let (mut counts, mut commands, mut wrong) = ([0; 3], Vec::new(), Vec::new());
    for line in page.lines().filter(|line| line.starts_with("| 00")) {
        let cells = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = cells.split('|').map(|cell| cell.trim().replace('\u{1}', "\\|")).collect();
        let (number, here, shown) = (&cells[1], &cells[3], &cells[4]);
        let kinds = ["works", "deviates: ", "not yet: "];
        match kinds.iter().position(|kind| here.starts_with(kind)) {
            Some(kind) => counts[kind] += 1,
            None => wrong.push(format!("{number} has no reason: {here}")),
        }
        match shown.strip_prefix('`').and_then(|cell| cell.strip_suffix('`')).filter(|cell| cell.contains(".rs::")) {
            Some(test) if is_test(test) => {}
            Some(test) => wrong.push(format!("{number}: there is no test {test}")),
            None => commands.extend(shown_commands(shown).into_iter().map(|case| (number.clone(), case))),
        }
    }
    let lines = commands.iter().map(|(_, (command, _))| {
        format!("{}\n", json!({"event": "pre-command", "workspace": "/repo", "cwd": "/repo", "command": command}))
    });
    let output = Machine::new().reflex(["eval"]).input(lines.collect::<String>()).run().stdout;
    assert_eq!(output.lines().count(), commands.len());
    for ((number, (command, expected)), line) in commands.iter().zip(output.lines()) {
        let verdict: Value = serde_json::from_str(line).unwrap();
        if verdict["decision"] != expected.as_str() {
            wrong.push(format!("{number}: `{command}` {}", verdict["decision"]));
        }
    }
    let [works, deviates, missing] = counts;
    let all = works + deviates + missing;
    let counted = format!("Of {all} statements {works} work, {deviates} deviate and {missing} are not there yet.");
    if !page.contains(&counted) {
        wrong.push(counted);
    }
    assert!(wrong.is_empty() && all >= 141, "{wrong:#?}");
}
