//! Every recorded payload of every agent is read, and answered to the byte, as its golden file says; each answer stands
//! beside the case with the real client that showed that it is honoured.

use reflex_agents::{
    AGENTS, Agent, Ask, BadEvent, Delivery, Extent, Payload, Reply, Surface, caller, deliver, find, object,
};
use reflex_engine::{Action, Advice, Decision, Event, Moment, Reason, Rewrite, Verdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Folders of payloads with the agent that sends them.
const FOLDERS: [(&str, &str); 9] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("copilot", "copilot"),
    ("copilot-pascal", "copilot"),
    ("gemini", "gemini"),
    ("qwen", "qwen"),
    ("opencode", "opencode"),
    ("cursor", "cursor"),
    ("windsurf", "windsurf"),
];

/// Names, without their end, and bytes of the recorded payloads.
fn payloads(folder: &str) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(tests().join("fixtures").join(folder)).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read(file).unwrap())).collect()
}

/// A payload's event: the word of the command line is the one in the file's name, as `init` writes it.
fn read(agent: &Agent, name: &str, bytes: &[u8]) -> Result<Event, BadEvent> {
    // The words of one agent have dots themselves.
    let word = if name.contains(".execute.") { name.split('-').next() } else { name.split(['-', '.']).next() };
    agent.event(bytes, word)
}

/// Everything that an event holds, in lines that a person can compare.
fn shown(event: &Event) -> String {
    let Event {
        session,
        client,
        version,
        word,
        role,
        subagent,
        task,
        claimed: _,
        declared: _,
        mode,
        cwd,
        workspace,
        home,
        moment,
        tool,
        actions,
        call,
        outcome,
        goes_on,
        is_done: _,
        started: _,
    } = event;
    let mut text = format!(
        "  {moment:?}, word {word:?}, tool {tool:?}, call {call:?}, client {client} {version:?}, session {session}\n"
    );
    writeln!(text, "  cwd {cwd}, mode {mode:?}, role {role:?}, subagent {subagent:?}, task {task:?}, workspace {workspace:?}, home {home:?}")
        .unwrap();
    actions.iter().for_each(|action| writeln!(text, "  action {action:?}").unwrap());
    outcome.iter().for_each(|outcome| writeln!(text, "  outcome {outcome:?}").unwrap());
    if *goes_on {
        text.push_str("  goes on\n");
    }
    text
}

fn verdicts() -> [(&'static str, Verdict); 4] {
    let reasons = |text: &str| vec![Reason::plain(text)];
    let warning = Advice { reason: Reason::plain("Warning: mind it."), ..Advice::default() };
    [
        (
            "deny",
            Verdict { decision: Decision::Deny, reasons: reasons("Blocked: it is \"bad\"."), ..Verdict::default() },
        ),
        ("ask", Verdict { decision: Decision::Ask, reasons: reasons("Needs approval: é."), ..Verdict::default() }),
        ("warn", Verdict { advice: vec![warning], ..Verdict::default() }),
        ("pass", Verdict::default()),
    ]
}

fn answer(agent: &Agent, event: &Event, verdict: &Verdict) -> Reply {
    (agent.write)(event, verdict, &deliver(event, verdict, agent.abilities(event)))
}

fn describe(reply: &Reply) -> String {
    let Reply { stdout, stderr, code } = reply;
    if *reply == Reply::default() {
        return "silence\n".into();
    }
    let stderr = if stderr.is_empty() { String::new() } else { format!("\n    standard error {stderr:?}") };
    format!("status {code}\n    standard output {stdout:?}{stderr}\n")
}

/// The event, what can be said at it and why, and each answer.
fn golden(agent: &Agent, event: &Event) -> String {
    let mut text = shown(event);
    match agent.line(event) {
        Some(line) => writeln!(text, "  can {:?}\n  proof: {}", line.can, line.proof).unwrap(),
        None => writeln!(text, "  no reply is possible").unwrap(),
    }
    for (name, verdict) in verdicts() {
        write!(text, "  {name}: {}", describe(&answer(agent, event, &verdict))).unwrap();
    }
    text
}

#[test]
fn every_recorded_payload_is_read_and_answered_as_the_golden_file_says() {
    let captured = std::fs::read_to_string(tests().join("fixtures/captured.txt")).unwrap();
    for (folder, agent) in FOLDERS {
        let agent = find(agent).unwrap();
        let mut found = String::new();
        for (name, bytes) in payloads(folder) {
            let event = read(agent, &name, &bytes).unwrap_or_else(|problem| panic!("{folder}/{name}: {problem}"));
            let start = format!("{folder}/{name}.json ");
            let origin = captured.lines().find_map(|line| line.strip_prefix(&start)).expect(&start);
            let (version, case) = origin.split_once(' ').unwrap();
            let seen = match version {
                "document" => format!("from the document {case}, seen with no client"),
                version => format!("seen in case {case} with {version}"),
            };
            write!(found, "{name}, {seen}\n{}", golden(agent, &event)).unwrap();
        }
        let file = tests().join(format!("{folder}.snap"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&file, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(found == expected, "{folder}: rewrite the golden file with UPDATE=1 and read the difference");
    }
}

/// The call with every text of its only action replaced, as a rule of a person could.
fn rewrite(event: &Event) -> Option<Rewrite> {
    let fields: &[&str] = match event.actions.as_slice() {
        [Action::Shell { .. }] => &["command"],
        [Action::Write { .. } | Action::Edit { .. }] => &["content", "file_path"],
        [Action::Read { .. }] => &["file_path"],
        [Action::Fetch { .. }] => &["url"],
        _ => return None,
    };
    Some(Rewrite { fields: fields.iter().map(|field| ((*field).to_owned(), format!("/repo/new-{field}"))).collect() })
}

/// Every answer that puts another call in place of one, as the agent would apply it.
#[test]
fn a_call_in_place_of_another_has_all_its_arguments_and_reads_as_what_was_judged() {
    let mut carried: Vec<String> = Vec::new();
    for (folder, agent) in FOLDERS {
        let agent = find(agent).unwrap();
        for (name, bytes) in payloads(folder) {
            let event = read(agent, &name, &bytes).unwrap();
            let Some(rewrite) = rewrite(&event).filter(|_| event.moment == Moment::BeforeTool) else { continue };
            let fields = object(&bytes).unwrap();
            let payload = Payload { fields: &fields, event_name: Some(&event.word), variable: &|_| None };
            let wanted = rewrite.applied(&event).unwrap();
            let reasons = vec![Reason::plain("Blocked: m. [user/r]")];
            let verdict = Verdict { decision: Decision::Deny, reasons, rewrite: Some(rewrite), ..Verdict::default() };
            let delivery = agent.deliver(&payload, &event, &verdict);
            let reply = (agent.write)(&event, &verdict, &delivery);
            let Delivery::Replace { arguments, reason } = delivery else {
                assert!(reply.stdout.contains("deny") || reply.code == 2, "{folder}/{name}: {reply:?}");
                continue;
            };
            assert!(reason.starts_with("Warning: this call was changed before it ran. m. [user/r]"), "{reason}");
            assert!(reply.code == 0 && reply.stdout.contains(&arguments.to_string()), "{folder}/{name}: {reply:?}");
            let approves = reply.stdout.contains("\"allow\"");
            assert_eq!(approves, folder == "codex", "only where nothing else is heard: {folder}/{name}");
            let key = ["tool_input", "toolArgs", "args"].into_iter().find(|key| fields.contains_key(*key)).unwrap();
            let before = fields[key].as_object().unwrap().clone();
            assert!(before.keys().eq(arguments.as_object().unwrap().keys()), "{folder}/{name}: all arguments");
            let mut changed = fields.clone();
            changed.insert(key.into(), arguments);
            let payload = Payload { fields: &changed, ..payload };
            assert_eq!((agent.read)(&payload).unwrap().actions, wanted.actions, "{folder}/{name}");
            carried.push(format!("{folder}/{name} {reply:?}"));
        }
    }
    let of = |folder: &str| carried.iter().filter(|one| one.starts_with(&format!("{folder}/"))).count();
    let agents = ["claude", "codex", "copilot", "copilot-pascal", "gemini", "opencode"];
    assert!(agents.iter().all(|agent| of(agent) > 0), "{carried:#?}");
    assert_eq!(of("qwen") + of("cursor") + of("windsurf"), 0, "{carried:#?}");
    let file = tests().join("rewrites.snap");
    let found = carried.join("\n") + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "rewrite the golden file with UPDATE=1 and read the difference");
}

#[test]
fn every_case_that_is_named_as_a_proof_is_among_the_proven_ones() {
    let proven = std::fs::read_to_string(tests().join("fixtures/proven.txt")).unwrap();
    for agent in AGENTS.iter().filter(|agent| FOLDERS.iter().any(|(_, name)| *name == agent.name)) {
        for line in
            agent.says.iter().filter(|line| line.can != reflex_agents::HookCapabilities::NONE && line.before.is_empty())
        {
            if let Some(document) = line.proof.strip_prefix("document ") {
                let (address, _) = document.split_once(": ").unwrap_or_else(|| panic!("{}", line.proof));
                let start = format!("{} {address}: ", agent.name);
                assert!(proven.lines().any(|line| line.starts_with(&start)), "{start}");
                continue;
            }
            let cases = line.proof.strip_prefix("cases ").or_else(|| line.proof.strip_prefix("case "));
            let (cases, _) =
                cases.and_then(|rest| rest.split_once(" with ")).unwrap_or_else(|| panic!("{}", line.proof));
            for case in cases.split(", ") {
                let start = format!("{} {case}: ", agent.name);
                assert!(proven.lines().any(|line| line.starts_with(&start)), "{start}");
            }
        }
    }
}

/// The part of an agent's work that a recorded call shows.
fn surfaces(event: &Event) -> Vec<Surface> {
    let of = |action: &Action| match action {
        Action::Shell { .. } | Action::Input { .. } => Some(Surface::Shell),
        Action::Write { .. } | Action::Edit { .. } | Action::Delete { .. } => Some(Surface::Edit),
        Action::Read { .. } | Action::Search { .. } => Some(Surface::Read),
        Action::McpCall { .. } => Some(Surface::Mcp),
        Action::Fetch { .. } => Some(Surface::Web),
        Action::SpawnAgent { .. } => Some(Surface::Subagent),
        Action::Prompt { .. } | Action::Skill { .. } | Action::Other { .. } => None,
    };
    event.actions.iter().filter_map(of).chain(event.subagent.as_ref().map(|_| Surface::Subagent)).collect()
}

#[test]
fn an_agent_claims_only_surfaces_of_which_a_call_was_recorded() {
    let mut missing = Vec::new();
    for agent in AGENTS.iter().filter(|agent| agent.settings.is_some()) {
        let folders = FOLDERS.iter().filter(|(_, name)| *name == agent.name).map(|(folder, _)| folder);
        let all = folders.flat_map(|folder| payloads(folder));
        let events = all.map(|(name, bytes)| read(agent, &name, &bytes).unwrap());
        let seen: Vec<Surface> =
            events.filter(|event| event.moment.is_before_execution()).flat_map(|event| surfaces(&event)).collect();
        let hides = |surface| {
            agent.limits.iter().any(|limit| matches!(limit.extent, Extent::All(all) if all.contains(&surface)))
        };
        for surface in Surface::ALL {
            // Every client that was driven was driven without a terminal.
            let shown = seen.contains(&surface) || (surface == Surface::Headless && agent.was_driven());
            if !shown && !hides(surface) {
                missing.push(format!("{} {}", agent.name, surface.name()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "no call was recorded, so it is blind");
}

#[test]
fn how_much_is_enforced_follows_from_the_tables() {
    let of = |name: &str| find(name).unwrap().enforcement().name();
    for (name, wanted) in [
        ("claude", "native"),
        ("codex", "partial"),
        ("copilot", "native"),
        ("gemini", "native"),
        ("qwen", "partial"),
        ("opencode", "partial"),
        ("cursor", "partial"),
        ("windsurf", "partial"),
    ] {
        assert_eq!(of(name), wanted, "{name}");
        assert_eq!(find(name).unwrap().banner().is_empty(), wanted == "native", "{name}");
    }
    assert!(find("codex").unwrap().banner().contains("write_stdin"));
    let nothing = Agent { says: &[], name: "x", ..*find("claude").unwrap() };
    assert_eq!(nothing.enforcement().name(), "post-hoc-only");
    assert!(nothing.banner().starts_with("DOWNGRADED: Reflex can stop nothing"));
}

#[test]
fn who_calls_is_told_from_the_payload_alone() {
    for (folder, agent) in FOLDERS {
        for (name, bytes) in payloads(folder) {
            let fields = object(&bytes).unwrap();
            let payload = Payload { fields: &fields, event_name: None, variable: &|_| None };
            // A few events of a session's end have nothing that only this agent sends; they are never held back.
            let moment = read(find(agent).unwrap(), &name, &bytes).unwrap().moment;
            if moment.is_before_execution() || moment == Moment::AfterTool {
                assert_eq!(caller(None, &payload).name, agent, "{folder}/{name}");
            }
            let named = caller(find("claude"), &payload).name;
            let borrows = find(agent).unwrap().runs_hooks_of.contains(&"claude");
            // What two agents send alike is only ever taken for the other's where nothing is held back.
            if borrows || moment.is_before_execution() || moment == Moment::AfterTool {
                assert_eq!(named, if borrows { agent } else { "claude" }, "{folder}/{name}");
            }
            for other in ["codex", "copilot", "gemini", "windsurf", "universal"] {
                assert_eq!(caller(find(other), &payload).name, other, "{folder}/{name}");
            }
        }
    }
}

#[test]
fn arguments_of_a_tool_never_tell_who_calls() {
    let marks = r#""turn_id":"1","timestamp":1,"sessionId":"s","model":"m","cursor_version":"1","event":"x""#;
    let bytes = format!(
        r#"{{"session_id":"s","transcript_path":"/t","cwd":"/repo","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"mcp__a__b","tool_input":{{{marks}}}}}"#
    );
    let fields = object(bytes.as_bytes()).unwrap();
    let payload = Payload { fields: &fields, event_name: Some("PreToolUse"), variable: &|_| None };
    assert_eq!((caller(None, &payload).name, caller(find("claude"), &payload).name), ("claude", "claude"));
}

#[test]
fn before_a_tool_no_verdict_is_said_more_loosely() {
    for (folder, agent) in FOLDERS {
        let agent = find(agent).unwrap();
        for (name, bytes) in payloads(folder) {
            let event = read(agent, &name, &bytes).unwrap();
            if event.moment != Moment::BeforeTool {
                continue;
            }
            let [(_, deny), (_, ask), ..] = verdicts();
            let refused = answer(agent, &event, &deny);
            let in_json = refused.stdout.contains("\"deny\"");
            let by_status = refused.code == 2 && !refused.stderr.trim().is_empty();
            // One agent shows what stands beside a status as it is, one dialect drops the reason then, one knows no JSON.
            let wanted = match folder {
                "cursor" | "copilot-pascal" => (true, false),
                "windsurf" => (false, true),
                _ => (true, true),
            };
            assert_eq!((in_json, by_status), wanted, "{folder}/{name}");
            let asked = answer(agent, &event, &ask);
            let native = agent.abilities(&event).ask == Ask::Native;
            assert_eq!(
                (asked.code, asked.stdout.contains("\"ask\"")),
                if native { (0, true) } else { (refused.code, false) },
                "{name}"
            );
        }
    }
}

/// A shell command before it runs, of each agent.
const PLAIN: [&str; 8] = [
    "PreToolUse-Bash",
    "preToolUse-bash",
    "BeforeTool-run_shell_command",
    "PreToolUse-run_shell_command",
    "tool.execute.before-bash",
    "beforeShellExecution",
    "preToolUse-Shell",
    "pre_run_command",
];

/// The golden cost of an adapter: reading a payload and writing the answer, in a build without optimisation too.
#[test]
fn an_adapter_takes_less_than_a_hundred_microseconds() {
    const ROUNDS: u32 = 200;
    for (folder, agent) in FOLDERS {
        let agent = find(agent).unwrap();
        let (_, bytes) = payloads(folder).into_iter().find(|(name, _)| PLAIN.contains(&name.as_str())).unwrap();
        let [(_, deny), ..] = verdicts();
        let rounds = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            let event = agent.event(&bytes, None).unwrap();
            assert_ne!(answer(agent, &event, &deny), Reply::default());
            start.elapsed()
        });
        // The quickest round: the machine may be busy with something else in the others.
        let quickest = rounds.min().unwrap();
        assert!(quickest.as_micros() < 100, "{folder}: {quickest:?}");
    }
}
