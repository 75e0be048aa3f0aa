//! What lies behind a limit is stopped or asked about, and much that is harmless is no question.

use reflex_engine::shell::Language;
use reflex_engine::{Action, Engine, Event, FakeWorld, Judgement, Policy};

fn shell(command: String) -> Event {
    let actions = vec![Action::Shell { command, language: Language::Shell }];
    let place = || "/repo".to_owned();
    Event {
        tool: "Bash".into(),
        actions,
        cwd: place(),
        workspace: place(),
        home: "/home/me".into(),
        ..Event::default()
    }
}

fn world(files: impl IntoIterator<Item = (String, String)>) -> FakeWorld {
    FakeWorld { workspace: "/repo".into(), files: files.into_iter().collect(), ..FakeWorld::default() }
}

fn judged(event: &Event, world: &FakeWorld) -> Judgement {
    let tables = reflex_library::tables();
    Engine::new(tables, &Policy::named(tables, "balanced").unwrap()).judge(event, world)
}

/// `unit` again and again, `{}` counted, between a beginning and an end.
fn rows(start: &str, unit: &str, end: &str, bytes: usize) -> String {
    let mut text = start.to_owned();
    let mut count = 0;
    while text.len() + end.len() < bytes {
        text.push_str(&unit.replace("{}", &count.to_string()).replace("{+}", &(count + 1).to_string()));
        count += 1;
    }
    text + end
}

/// What is said to a call of which something dangerous stands behind so many others.
#[track_caller]
fn stops(command: &str, files: impl IntoIterator<Item = (String, String)>) {
    let found = judged(&shell(command.to_owned()), &world(files)).verdict;
    assert!(found.decision > reflex_engine::Decision::Pass, "{command} passes: {:?}", found.findings);
}

const DANGER: &str = "rm -rf ~";

fn chain(length: usize, step: impl Fn(usize) -> String) -> Vec<(String, String)> {
    let link = |at| (format!("{at}.sh"), if at == length { DANGER.to_owned() } else { step(at + 1) });
    (0..=length).map(link).collect()
}

#[test]
fn what_stands_behind_a_long_chain_is_stopped_or_asked_about() {
    for length in [3, 20, 63, 64, 65, 300] {
        stops("sh 0.sh", chain(length, |next| format!("sh {next}.sh\n")));
        stops("sh 0.sh", chain(length, |next| format!(". ./{next}.sh\n")));
        stops("sh 0.sh", chain(length, |next| format!("true\nexec bash {next}.sh\n")));
        let scripts: Vec<String> = (0..length).map(|at| format!("\"s{at}\": \"npm run s{}\"", at + 1)).collect();
        let package = format!("{{\"scripts\": {{{}, \"s{length}\": \"{DANGER}\"}}}}", scripts.join(","));
        stops("npm run s0", [("package.json".into(), package)]);
        let included = (0..length).map(|at| (format!("{at}.mk"), format!("include {}.mk\n", at + 1)));
        let last = [(format!("{length}.mk"), format!("a:\n\t{DANGER}\n"))];
        stops("make -f 0.mk a", included.chain(last));
    }
}

#[test]
fn what_stands_behind_many_others_is_stopped_or_asked_about() {
    for many in [10, 100, 1000, 9000] {
        let names = |from: usize| (from..many).map(|at| format!("t{at} ")).collect::<String>();
        let targets: String = (0..many).map(|at| format!("t{at}:\n\t@true\n")).collect();
        let makefile = format!("a: {}b\n{targets}b:\n\t{DANGER}\n", names(0));
        stops("make a", [("Makefile".into(), makefile)]);
        stops("sh x.sh", [("x.sh".into(), format!("{}{DANGER}\n", "true\n".repeat(many)))]);
    }
    stops("sh x.sh", [("x.sh".into(), format!("{}{DANGER}\n", "# step\n".repeat(200_000)))]);
}

#[test]
fn many_harmless_words_are_no_question() {
    let found = judged(&shell(rows("rm", " build/f{}", "", 20_000)), &world([])).verdict;
    assert_eq!(found.decision, reflex_engine::Decision::Pass, "{:?}", found.findings);
}
