//! The states of a call: each change leaves one file, a kill between two steps loses and doubles nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

use super::answers::{once, refuse, scoped, waiting};
use super::files::State;
use super::{Answer, EARLIER, Grant, Pending, Scope, WaitEnd, short_id};
use crate::store::Store;
use crate::store::signing::signed::Signer;
use crate::system::clock;
use crate::system::folders::Folders;
use crate::system::person::Person;
use std::fs;
use std::path::PathBuf;

struct Calls {
    _folder: tempfile::TempDir,
    store: Store,
    signer: Signer,
    person: Person,
}

impl Calls {
    fn new() -> Calls {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(&Folders::below(folder.path().to_owned()));
        let signer = store.signer(|| None).unwrap();
        Calls { _folder: folder, store, signer, person: Person { name: "me".into() } }
    }

    /// A call that was stopped.
    fn stop(&self, exact: &str) -> Pending {
        self.store.keep_pending(&call(exact)).unwrap()
    }

    fn approve(&self, call: &Pending) {
        self.store.answer(call, &once(call, &self.person, ""), &self.signer).unwrap();
    }

    fn approve_for(&self, call: &Pending, scope: Scope) {
        let grant = scoped(once(call, &self.person, "tests"), call, scope, 60_000).unwrap();
        self.store.answer(call, &grant, &self.signer).unwrap();
    }

    /// The states of all calls.
    fn states(&self) -> Vec<State> {
        let all = [self.store.waiting_entries(), self.store.answered_entries()];
        all.concat().iter().map(|entry| entry.state).collect()
    }

    /// Number of files, whatever they are.
    fn files(&self) -> usize {
        let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let answered = inside(self.store.answered_folder()).flat_map(inside);
        answered.chain(inside(self.store.waiting_folder())).count()
    }

    /// Whether a call like this one runs.
    fn runs(&self, exact: &str) -> bool {
        let approval = self.store.use_grant(&call(exact)).unwrap();
        let runs = approval.is_some();
        approval.and_then(|approval| approval.hold).into_iter().for_each(super::Hold::finish);
        runs
    }
}

fn call(exact: &str) -> Pending {
    let (client, session) = ("claude".into(), "s1".into());
    Pending { id: short_id(), client, session, exact: exact.into(), lasting: "l".into(), ..Pending::default() }
}

#[test]
fn a_call_is_one_file_in_each_of_its_states() {
    let calls = Calls::new();
    let one = calls.stop("a");
    assert_eq!((calls.states(), calls.files()), (vec![State::Open], 1));
    let end = WaitEnd { until: clock::now() + 9_000, latest: clock::now() + 9_000 };
    let wait = calls.store.begin_wait(&one, end).unwrap();
    assert_eq!((calls.states(), calls.store.answer_to(&one)), (vec![State::Waits(end)], Answer::Open));
    calls.approve(&one);
    assert_eq!((calls.states(), calls.store.answer_to(&one)), (vec![State::Yes], Answer::Answered));
    drop(wait);
    let approval = calls.store.use_grant(&call("a")).unwrap().unwrap();
    assert_eq!((calls.states(), approval.grant.id), (vec![State::Taken], one.id.clone()));
    approval.hold.unwrap().finish();
    assert_eq!((calls.states(), calls.files()), (vec![State::Taken], 1));
    assert_eq!(calls.store.grants().iter().map(|grant| grant.uses).collect::<Vec<_>>(), [1]);
    assert!(!calls.runs("a") && calls.store.waiting().is_empty() && waiting(&calls.store).is_empty());
}

#[test]
fn an_approval_that_a_hook_has_taken_is_free_again_when_that_hook_ends_without_an_answer() {
    let calls = Calls::new();
    calls.approve(&calls.stop("a"));
    let hold = calls.store.use_grant(&call("a")).unwrap().unwrap().hold;
    assert!(!calls.runs("a"), "another hook holds it");
    drop(hold);
    assert!(calls.runs("a") && !calls.runs("a"));
}

#[test]
fn a_hook_that_locks_a_call_while_it_is_answered_makes_no_second_one() {
    let calls = Calls::new();
    let one = calls.stop("a");
    let end = WaitEnd { until: clock::now() + 9_000, latest: clock::now() + 9_000 };
    let _wait = calls.store.begin_wait(&one, end).unwrap();
    let waits = calls.store.entry(&one.id).unwrap();
    calls.approve(&one);
    // A hook that has read the name before the answer.
    assert!(calls.store.locked_file(&waits).is_err());
    assert_eq!((calls.files(), calls.store.answer_to(&one)), (1, Answer::Answered));
}

#[test]
fn of_many_hooks_at_once_one_gets_an_approval() {
    let calls = Calls::new();
    calls.approve(&calls.stop("a"));
    let got = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..8).map(|_| scope.spawn(|| calls.store.use_grant(&call("a")).unwrap())).collect();
        hooks.into_iter().filter_map(|hook| hook.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(got.len(), 1);
}

#[test]
fn a_person_killed_while_answering_has_not_answered() {
    let calls = Calls::new();
    let one = calls.stop("a");
    calls.approve(&one);
    // The content is written first, and the name tells of it later.
    let answered = calls.store.entry(&one.id).unwrap();
    calls.store.change_state(&answered, State::Open).unwrap();
    assert!(!calls.runs("a"));
    assert_eq!(calls.store.waiting(), std::slice::from_ref(&one.id));
    calls.approve(&one);
    assert!(calls.runs("a") && !calls.runs("a"));
}

#[test]
fn a_hook_killed_while_taking_an_approval_has_not_used_it() {
    let calls = Calls::new();
    let one = calls.stop("a");
    calls.approve(&one);
    drop(calls.store.use_grant(&call("a")).unwrap());
    // The use is noted first, and the name tells of it later.
    let taken = calls.store.entry(&one.id).unwrap();
    calls.store.change_state(&taken, State::Yes).unwrap();
    assert!(calls.runs("a") && !calls.runs("a"));
}

#[test]
fn a_lasting_approval_stays_and_counts_its_uses() {
    let calls = Calls::new();
    calls.approve_for(&calls.stop("a"), Scope::Session);
    assert!(calls.runs("a") && calls.runs("b"), "it holds for all calls with the same lasting fingerprint");
    assert_eq!(calls.states(), [State::Lasting]);
    assert_eq!(calls.store.grants().first().map(|grant| grant.uses), Some(2));
}

#[test]
fn a_name_makes_no_approval_of_what_is_none() {
    let calls = Calls::new();
    let (denied, open) = (calls.stop("a"), calls.stop("b"));
    refuse(&calls.store, (&denied, &calls.person), "no", &calls.signer).unwrap();
    for id in [&denied.id, &open.id] {
        let entry = calls.store.entry(id).unwrap();
        calls.store.change_state(&entry, State::Yes).unwrap();
    }
    assert!(!calls.runs("a") && !calls.runs("b"));
    let (one, other) = (calls.stop("c"), calls.stop("d"));
    calls.approve(&one);
    let file = calls.store.call_file(&calls.store.entry(&one.id).unwrap());
    let name = file.file_name().unwrap().to_str().unwrap().replace(&one.id, &other.id);
    fs::copy(&file, file.with_file_name(name)).unwrap();
    assert!(calls.runs("c") && !calls.runs("c"), "a second name does not make two of one");
}

#[test]
fn an_approval_for_once_does_not_last_by_its_name() {
    let calls = Calls::new();
    let one = calls.stop("a");
    calls.approve(&one);
    let entry = calls.store.entry(&one.id).unwrap();
    calls.store.change_state(&entry, State::Lasting).unwrap();
    assert!(calls.runs("a") && !calls.runs("a"));
}

#[test]
fn an_approval_that_ended_unused_lets_its_call_wait_again() {
    let calls = Calls::new();
    let one = calls.stop("a");
    let grant = Grant { expires: clock::now(), ..once(&one, &calls.person, "") };
    calls.store.answer(&one, &grant, &calls.signer).unwrap();
    assert!(!calls.runs("a"));
    assert_eq!(waiting(&calls.store).iter().map(|call| &call.id).collect::<Vec<_>>(), [&one.id]);
    calls.approve(&one);
    assert!(calls.runs("a") && waiting(&calls.store).is_empty());
}

#[test]
fn a_call_that_comes_again_leaves_the_hook_that_waits_its_lock() {
    let calls = Calls::new();
    let one = calls.stop("a");
    let end = WaitEnd { until: clock::now() + 9_000, latest: clock::now() + 9_000 };
    let mut wait = calls.store.begin_wait(&one, end).unwrap();
    assert_eq!(calls.stop("a").id, one.id);
    assert_eq!(calls.store.wait_end(&one.id), Some(end));
    // An appeal replaces the file, which the hook then locks anew.
    calls.store.put_pending(&one).unwrap();
    assert_eq!(calls.store.wait_end(&one.id), None);
    wait.renew();
    assert_eq!(calls.store.wait_end(&one.id), Some(end));
    drop(wait);
    assert_eq!(calls.states(), [State::Open]);
}

#[test]
fn what_earlier_versions_left_counts_for_nothing_and_is_removed() {
    let calls = Calls::new();
    for name in EARLIER {
        let folder = calls.store.state().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("k7m2p9x.json"), "{}").unwrap();
    }
    assert!(calls.store.grants().is_empty() && waiting(&calls.store).is_empty());
    calls.store.forget_old_grants();
    assert!(EARLIER.iter().all(|name| !calls.store.state().join(name).exists()));
}
