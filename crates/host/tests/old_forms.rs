//! Every form in which something was ever kept is still read.

use reflex_host::Folders;
use reflex_host::store::alarm::{Alarm, Subject};
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::store::session::{Call, SessionKey};
use reflex_host::store::{Search, Store};
use std::path::Path;

/// A state folder into which a fixture is copied.
struct Kept {
    root: tempfile::TempDir,
}

impl Kept {
    fn open(fixture: &str, place: &str) -> Kept {
        let kept = Kept { root: tempfile::tempdir().unwrap() };
        kept.also(fixture, place);
        kept
    }

    fn also(&self, fixture: &str, place: &str) {
        let file = self.root.path().join(place);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture), file).unwrap();
    }

    fn store(&self) -> Store {
        let root = self.root.path().to_owned();
        let mut folders = Folders::below(root.clone());
        folders.state = root.clone();
        Store::new(&folders)
    }
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

#[test]
fn records_of_both_forms_are_found_and_only_the_second_is_a_chain() {
    let kept = Kept::open("audit-v1.jsonl", "audit/calls.jsonl");
    kept.also("audit-v2.jsonl", "audit/current.jsonl");
    let log = kept.store().log();
    let found = log.search(&Search::default(), 10).unwrap();
    let schemas: Vec<&str> = found.iter().map(|record| record["schema"].as_str().unwrap()).collect();
    assert_eq!(schemas, ["reflex/audit-v1", "reflex/audit-v2", "reflex/audit-v2"]);
    let denied = Search { fields: vec![("decision".into(), "deny".into())], ..Search::default() };
    assert_eq!(log.search(&denied, 10).unwrap().len(), 2);
    let checked = log.verify(&mut |_| true).unwrap();
    assert_eq!((checked.records, checked.broken), (2, None));
}

#[test]
fn a_record_is_appended_to_a_chain_of_the_second_form() {
    let kept = Kept::open("audit-v2.jsonl", "audit/current.jsonl");
    kept.store().note("test", serde_json::json!({})).unwrap();
    let checked = kept.store().log().verify(&mut |_| true).unwrap();
    assert_eq!((checked.records, checked.broken), (3, None));
}

#[test]
fn pending_calls_of_the_first_form_are_read() {
    let store = Kept::open("pending-v1.json", "pending/2abcdef.json");
    let call = Pending {
        guilty: Vec::new(),
        until: 0,
        id: "2abcdef".into(),
        record: "0190-r".into(),
        time: 1_795_219_200_000,
        listed: 0,
        decision: "deny".into(),
        client: "claude".into(),
        session: "s1".into(),
        task: String::new(),
        workspace: "/repo".into(),
        cwd: "/repo".into(),
        tool: String::new(),
        risk: String::new(),
        kept: String::new(),
        diff: String::new(),
        is_complete: true,
        text: "git push --force origin main".into(),
        parts: texts(&["git push --force origin main"]),
        effects: texts(&["push-force main"]),
        reasons: texts(&["Blocked."]),
        findings: texts(&["git/push-force-protected"]),
        core: true,
        exact: "00112233445566778899aabbccddeeff".into(),
        call: String::new(),
        bound: Vec::new(),
        lasting: String::new(),
        again: None,
        appeals: Vec::new(),
    };
    assert_eq!(store.store().pending_call("2abcdef"), Some(call));
}

#[test]
fn grants_of_the_first_form_are_read() {
    let store = Kept::open("grant-v1.json", "grants/2abcdef.json");
    let grant = Grant {
        taken: false,
        id: "2abcdef".into(),
        allow: true,
        exact: "00112233445566778899aabbccddeeff".into(),
        scope: Scope::Repository,
        within: "/repo".into(),
        time: 1_795_219_200_000,
        expires: 1_795_220_100_000,
        uses: 2,
        used_for: String::new(),
        used: 0,
        by: "uid 1000 at /dev/pts/1".into(),
        reason: "tested".into(),
        text: "git push --force origin main".into(),
        vouched: true,
    };
    assert_eq!(store.store().grants(), [grant]);
}

#[test]
fn a_pause_of_the_first_form_is_read_and_is_over() {
    let kept = Kept::open("off-v1.json", "off.json");
    assert_eq!(kept.store().pause(), None);
    let file = kept.root.path().join("off.json");
    let now = reflex_host::now();
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text.replace("1795219200000", &(now - 1000).to_string());
    std::fs::write(&file, text.replace("1795219800000", &(now + 600_000).to_string())).unwrap();
    let pause = kept.store().pause().unwrap();
    assert_eq!((pause.by.as_str(), pause.reason.as_str()), ("uid 1000 at /dev/pts/1", "repair"));
}

#[test]
fn alarms_of_the_first_form_are_read() {
    let store = Kept::open("alarm-v1.json", "alarms/0190-r.json");
    let alarm =
        Alarm { record: "0190-r".into(), time: 1_795_219_200_000, text: "claude ran it".into(), of: Subject::Call };
    assert_eq!(store.store().alarms(), [alarm]);
}

#[test]
fn what_a_session_keeps_is_read_back() {
    use reflex_engine::loopbreaker::{End, RepeatAllowance, Step, StepKind};
    let key = SessionKey { client: "claude", session: "s2", role: None, subagent: None, call: "", word: "" };
    let kept = Kept::open("session-1", "sessions/2d0bd5b1b2a3f6c6d0d7b1f0a0e5c9aa");
    let end = End { failed: true, output: "o".into(), error: "f00d".into(), chars: vec![(b'a', 31), (b'\n', 2)] };
    let step = Step {
        exact: "e".into(),
        goals: vec!["g".into(), "h".into()],
        text: "make check".into(),
        kind: StepKind::Change,
        pace: RepeatAllowance::Waits,
        refused: false,
        changes: vec![("/repo/a".into(), "0011".into())],
        end: Some(end),
    };
    let call = Call {
        after: true,
        end: "failed".into(),
        exact: "e".into(),
        output: "o".into(),
        step: step.clone(),
        ..Call::default()
    };
    kept.store().remember(key, &call).unwrap();
    assert_eq!(kept.store().history(key).calls().map(|call| call.step).collect::<Vec<_>>(), [step]);
}

#[test]
fn sessions_of_the_first_form_are_read_and_lines_of_a_later_one_passed_over() {
    let key = SessionKey { client: "claude", session: "s1", role: None, subagent: None, call: "", word: "" };
    let kept = Kept::open("session-1", "sessions/2d0bd5b1b2a3f6c6d0d7b1f0a0e5c9aa");
    let calls = kept.root.path().join("sessions");
    // The file is named after whose it is: what is written first tells the name.
    kept.store().remember(key, &Call::default()).unwrap();
    let named = std::fs::read_dir(&calls).unwrap().map(|entry| entry.unwrap().path());
    let named = named.max_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap()).unwrap();
    kept.also("session-1", &format!("sessions/{}", named.file_name().unwrap().to_string_lossy()));
    let read: Vec<_> = kept.store().history(key).calls().collect();
    let call = Call {
        time: 1_795_219_200_000,
        id: "0190-r".into(),
        after: true,
        end: "ok".into(),
        tool: "Bash".into(),
        exact: "e".into(),
        approved: true,
        taint: texts(&["web", "download"]),
        findings: texts(&["git/push-force"]),
        files: vec![("/repo/a".into(), "0011223344556677".into()), ("/repo/b".into(), String::new())],
        output: "8899aabbccddeeff".into(),
        ..Call::default()
    };
    assert_eq!(read, [call]);
}
