//! The list with calls that come, wait and end while a person presses keys.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]

use super::page::rows;
use super::state::{List, Pane, Question};
use crate::terminal::screen::Key;
use reflex_host::answers::waiting;
use reflex_host::person::Person;
use reflex_host::signing::Signer;
use reflex_host::store::Store;
use reflex_host::store::approvals::Pending;
use reflex_host::{Context, now};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The folder of the waiting calls, below the home.
const WAITING: &str = ".local/state/reflex/calls/waiting";

/// A state folder with calls, of which some have a hook that waits.
struct Calls {
    folder: tempfile::TempDir,
    context: Context,
    store: Store,
    /// The locks of the waiting hooks by id.
    hooks: BTreeMap<String, File>,
    person: Person,
    signer: Signer,
}

impl Calls {
    fn new() -> Calls {
        let folder = tempfile::tempdir().unwrap();
        let context = Context::at_home(folder.path()).unwrap();
        let store = context.store();
        fs::create_dir_all(folder.path().join(WAITING)).unwrap();
        let signer = store.signer(|| None).unwrap();
        let person = Person { name: "me".into() };
        Calls { folder, context, store, hooks: BTreeMap::new(), person, signer }
    }

    fn list(&self) -> List<'_> {
        List::new(&self.context, &self.person, &self.signer, false)
    }

    /// A call that was stopped.
    fn stop(&self, id: &str) {
        self.put(id, "open");
    }

    /// The file of a call in this state.
    fn file(&self, id: &str, state: &str) -> PathBuf {
        self.folder.path().join(WAITING).join(format!("{id}-c-s-{id}-l-0-{state}.json"))
    }

    fn put(&self, id: &str, state: &str) -> PathBuf {
        let call = Pending {
            id: id.into(),
            exact: format!("exact {id}"),
            lasting: format!("lasting {id}"),
            client: "codex".into(),
            session: "s".into(),
            workspace: "/p".into(),
            text: text(id),
            is_complete: true,
            time: now(),
            ..Pending::default()
        };
        let file = self.file(id, state);
        fs::write(&file, format!("{{\"call\": {}}}", call.json())).unwrap();
        file
    }

    /// A call whose hook begins to wait, for this number of seconds.
    fn begin(&mut self, id: &str, seconds: u64) {
        let (until, latest) = (now() + seconds * 1000, now() + 290_000);
        let file = File::open(self.put(id, "open")).unwrap();
        file.lock().unwrap();
        fs::rename(self.file(id, "open"), self.file(id, &format!("waits-{until}-{latest}"))).unwrap();
        self.hooks.insert(id.into(), file);
    }

    fn end(&mut self, id: &str) {
        self.hooks.remove(id);
        let files = fs::read_dir(self.folder.path().join(WAITING)).unwrap().map(|file| file.unwrap().path());
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{id}-"));
        files.filter(is_it).for_each(|path| fs::rename(path, self.file(id, "open")).unwrap());
    }

    /// Returns the ids of the approved calls.
    fn approved(&self) -> Vec<String> {
        let grants = self.store.grants().into_iter().filter(|grant| grant.allow);
        grants.map(|grant| grant.id).collect()
    }

    /// Returns the ids of the calls that are on the list, or were approved.
    fn known(&self) -> Vec<String> {
        let all = self.store.pending().into_iter().map(|call| call.id);
        all.chain(self.approved()).collect()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.store.state().join("audit/current.jsonl")).unwrap_or_default()
    }
}

fn text(id: &str) -> String {
    format!("git push origin {id}")
}

/// Reads the calls, draws the list, and returns what is on the screen.
fn drawn(list: &mut List<'_>, calls: &Calls) -> String {
    list.take(waiting(&calls.store));
    let rows = rows(list, 80, 24);
    let lines = rows.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect::<String>());
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Whether the screen says this, on one line or wrapped.
fn says(screen: &str, text: &str) -> bool {
    screen.replace('\n', " ").contains(text)
}

/// Whether the call is on the screen in full, with the bar in front of its text.
fn shows(screen: &str, id: &str) -> bool {
    screen.contains(&format!("| {}", text(id)))
}

/// Presses one key after the other, each at a list that was drawn and has settled.
fn press(list: &mut List<'_>, calls: &Calls, keys: &[Key]) -> String {
    for key in keys {
        drawn(list, calls);
        list.changed = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
        list.press(&[*key]);
    }
    drawn(list, calls)
}

fn typed(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}

const A: Key = Key::Char('a');
const Y: Key = Key::Char('y');

#[test]
fn the_answer_goes_to_the_one_that_waits_among_many_that_were_stopped() {
    let mut calls = Calls::new();
    for number in 0..109 {
        calls.stop(&format!("old{number}"));
    }
    let (context, store) = (calls.context.clone(), calls.store.clone());
    let (person, signer) = (calls.person.clone(), store.signer(|| None).unwrap());
    let mut list = List::new(&context, &person, &signer, false);
    let screen = press(&mut list, &calls, &[A, Y]);
    assert!(says(&screen, "nothing waits now") && says(&screen, "Stopped earlier (109): Tab"), "{screen}");
    assert!(calls.approved().is_empty() && list.call().is_none() && list.question == Question::None);
    // Also if the person was looking at one of the others.
    press(&mut list, &calls, &[Key::Tab, Key::Down, Key::Enter]);
    assert_eq!(list.pane, Pane::Opened);
    calls.begin("new", 30);
    let screen = press(&mut list, &calls, &[A]);
    assert!(shows(&screen, "new") && says(&screen, "`git push origin new`: Approving runs exactly this"), "{screen}");
    let screen = press(&mut list, &calls, &[Y]);
    assert_eq!(calls.approved(), ["new"]);
    assert!(says(&screen, "`git push origin new`: approved; it runs now") && list.call().is_none(), "{screen}");
    press(&mut list, &calls, &[A, Y]);
    assert_eq!(calls.approved(), ["new"], "the next key meets nothing");
}

#[test]
fn what_begins_to_wait_during_an_answer_is_named_and_changes_nothing() {
    let mut calls = Calls::new();
    calls.begin("one", 5);
    let (context, store) = (calls.context.clone(), calls.store.clone());
    let (person, signer) = (calls.person.clone(), store.signer(|| None).unwrap());
    let mut list = List::new(&context, &person, &signer, false);
    press(&mut list, &calls, &[Key::Char('m')]);
    calls.begin("two", 3);
    let screen = press(&mut list, &calls, &typed("no"));
    assert!(shows(&screen, "one") && says(&screen, "waits too: `git push origin two`"), "{screen}");
    assert!(says(&screen, "30 s left"), "an answer that was begun extends the wait: {screen}");
    let screen = press(&mut list, &calls, &[Key::Enter]);
    assert_eq!(calls.known(), ["two"]);
    assert!(
        shows(&screen, "two") && says(&screen, "`git push origin one`: denied; its agent gets that now"),
        "{screen}"
    );
    // The wait ends while its answer is typed.
    press(&mut list, &calls, &[Key::Char('m'), Key::Char('n')]);
    calls.end("two");
    let screen = press(&mut list, &calls, &typed("ot this"));
    assert!(shows(&screen, "two") && says(&screen, "too late for this try"), "{screen}");
    let screen = press(&mut list, &calls, &[Key::Enter]);
    assert!(says(&screen, "too late for this try: its hook has ended. Denied for the next one"), "{screen}");
    assert!(calls.log().contains(r#""late":true"#) && calls.log().contains(r#""late":false"#), "{}", calls.log());
}

#[test]
fn a_call_that_was_stopped_earlier_takes_its_id_as_a_yes() {
    let calls = Calls::new();
    for id in ["aaa", "bbb"] {
        calls.stop(id);
    }
    let mut list = calls.list();
    let listed = press(&mut list, &calls, &[Key::Tab, A, Y]);
    assert!(listed.contains("stopped earlier: none waits") && calls.approved().is_empty(), "{listed}");
    press(&mut list, &calls, &[Key::Enter, A, Y, Key::Enter]);
    assert!(calls.approved().is_empty());
    let id = list.call().unwrap().id.clone();
    press(&mut list, &calls, &[Key::Escape, A]);
    press(&mut list, &calls, &typed(&id));
    let screen = press(&mut list, &calls, &[Key::Enter]);
    assert_eq!(calls.approved(), std::slice::from_ref(&id));
    assert!(says(&screen, &format!("`{}`: approved; it runs when its agent tries it again", text(&id))), "{screen}");
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// One step of the world: a call is stopped, one begins to wait, a hook ends, or nothing happens.
fn happen(calls: &mut Calls, dice: &mut Dice, step: u64) {
    match dice.below(9) {
        0 => calls.stop(&format!("c{step}")),
        1 => calls.begin(&format!("c{step}"), 1 + dice.below(60)),
        2 => {
            let hooks: Vec<String> = calls.hooks.keys().cloned().collect();
            if let Some(id) = hooks.get(usize::try_from(dice.below(4)).unwrap()) {
                calls.end(id);
            }
        }
        _ => {}
    }
}

/// A key: half of the questions are answered as they ask for it, the rest of the keys are any.
fn next_key(list: &mut List<'_>, dice: &mut Dice) -> Key {
    let any = KEYS[usize::try_from(dice.below(18)).unwrap()];
    if dice.below(2) == 0 {
        return any;
    }
    match list.question {
        Question::Approval(_) | Question::No => Y,
        Question::Id(_) | Question::Proof(_) | Question::Message => {
            list.typed = list.call().map(|call| call.id.clone()).unwrap_or_default();
            Key::Enter
        }
        Question::None
        | Question::Scope
        | Question::Length(_)
        | Question::Reason(..)
        | Question::Edit
        | Question::Edited(_)
        | Question::Clear
        | Question::Help => any,
    }
}

const KEYS: [Key; 18] = [
    A,
    Y,
    A,
    Y,
    A,
    Y,
    Key::Char('A'),
    Key::Char('o'),
    Key::Char('d'),
    Key::Char('m'),
    Key::Char('j'),
    Key::Char('k'),
    Key::Char('?'),
    Key::Tab,
    Key::Tab,
    Key::Enter,
    Key::Enter,
    Key::Escape,
];

/// Presses a key, and returns the number of calls that it answered. Each of them was on the screen, and those that
/// nothing waited for were approved by their id.
fn press_one(list: &mut List<'_>, calls: &Calls, dice: &mut Dice) -> usize {
    let screen = drawn(list, calls);
    let (listed, approved) = (calls.known(), calls.approved());
    if dice.below(8) > 0 {
        list.changed = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
    }
    let key = next_key(list, dice);
    let is_typed = matches!(list.question, Question::Id(_) | Question::Proof(_));
    list.press(&[key]);
    let given: Vec<String> = calls.approved().into_iter().filter(|id| !approved.contains(id)).collect();
    let left = calls.known();
    let gone: Vec<String> = listed.into_iter().filter(|id| !left.contains(id)).collect();
    for id in given.iter().chain(&gone) {
        assert!(shows(&screen, id), "{id} was answered, and this was shown:\n{screen}");
    }
    let was_waiting = |id: &String| calls.hooks.contains_key(id) || says(&screen, "too late for this try");
    assert!(is_typed || given.iter().all(was_waiting), "approved by a key:\n{screen}");
    given.len() + gone.len()
}

#[test]
fn no_sequence_of_arrivals_ends_and_keys_answers_a_call_that_is_not_on_the_screen() {
    let mut answers = 0;
    for seed in 0..200 {
        let (mut dice, mut calls) = (Dice(seed), Calls::new());
        let (context, store) = (calls.context.clone(), calls.store.clone());
        let (person, signer) = (calls.person.clone(), store.signer(|| None).unwrap());
        let mut list = List::new(&context, &person, &signer, seed % 4 == 0);
        for step in 0..25 {
            happen(&mut calls, &mut dice, step);
            answers += press_one(&mut list, &calls, &mut dice);
        }
    }
    assert!(answers > 200, "{answers} answers prove little");
}
