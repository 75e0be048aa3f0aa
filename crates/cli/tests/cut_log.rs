//! An audit log that was emptied, truncated or removed raises an alarm; one that a person purged, or that a killed
//! writer left incomplete, does not.

use crate::support::{Machine, Ran, at_terminal_in};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

const ALARM: &str = "the audit log was cut";

fn log(machine: &Machine) -> PathBuf {
    machine.home().join(".local/state/reflex/audit/current.jsonl")
}

fn status(machine: &Machine) -> Ran {
    machine.reflex(["status"]).folder(&machine.project()).run()
}

fn verify(machine: &Machine) -> Ran {
    machine.reflex(["audit", "verify"]).run()
}

/// A machine with six calls in its log.
fn used() -> Machine {
    let machine = Machine::new();
    let project = machine.project();
    (0..6).for_each(|at| drop(machine.bash(&project, &format!("ls {at}"))));
    assert_eq!(verify(&machine).stdout, "complete: 6 records, 0 purged\n");
    machine
}

#[track_caller]
fn is_reported(machine: &Machine, missing: &str) {
    let output = verify(machine);
    assert!(output.code == 1 && output.stdout.contains(&format!("incomplete: {missing}")), "{output:?}");
    let project = machine.project();
    drop(machine.bash(&project, "ls a"));
    let output = status(machine);
    assert!(output.code == 1 && output.stdout.contains(&format!("{ALARM}: {missing}")), "{output:?}");
    let output = machine.bash(&project, "ls b");
    assert!(output.stdout.contains("records of Reflex are gone") && output.stdout.contains(missing), "{output:?}");
    assert_eq!(machine.bash(&project, "ls c"), Ran::silence());
    assert_eq!(fs::read_dir(machine.home().join(".local/state/reflex/alarms")).unwrap().count(), 1);
    let output = verify(machine);
    assert!(output.code == 1 && output.stdout.contains(&format!("incomplete: {missing}")), "{output:?}");
    let json = machine.reflex(["audit", "verify", "--json"]).run().json();
    assert_eq!(json["missing"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn a_log_that_was_emptied_is_an_alarm() {
    let machine = used();
    fs::write(log(&machine), "").unwrap();
    is_reported(&machine, "records 1 to 6 are missing");
}

#[test]
fn a_log_that_vanished_is_an_alarm() {
    let machine = used();
    fs::remove_dir_all(log(&machine).parent().unwrap()).unwrap();
    is_reported(&machine, "records 1 to 6 are missing");
}

#[test]
fn a_log_without_its_newest_records_is_an_alarm() {
    let machine = used();
    let text = fs::read_to_string(log(&machine)).unwrap();
    let kept: Vec<&str> = text.lines().take(4).collect();
    fs::write(log(&machine), kept.join("\n") + "\n").unwrap();
    is_reported(&machine, "records 5 to 6 are missing");
}

#[test]
fn a_log_with_another_newest_record_is_an_alarm() {
    let machine = used();
    let other = used();
    fs::copy(log(&other), log(&machine)).unwrap();
    is_reported(&machine, "record 6 is another than the one that was written");
}

#[test]
fn a_torn_line_an_older_version_and_what_cannot_be_noted_are_no_alarm() {
    let machine = used();
    let mut file = OpenOptions::new().append(true).open(log(&machine)).unwrap();
    file.write_all(b"{\"schema\":\"reflex/audit-v2\",\"kind\":\"ca").unwrap();
    drop(machine.bash(&machine.project(), "ls torn"));
    assert_eq!(verify(&machine).stdout, "complete: 7 records, 0 purged\n");
    // An older version appends without recording the head; a process killed between the two steps recorded an older
    // head.
    let head = machine.home().join(".local/state/reflex/audit.head");
    let before = fs::read(&head).unwrap();
    drop(machine.bash(&machine.project(), "ls older"));
    for text in [&before[..], b"", b"garbage"] {
        fs::write(&head, text).unwrap();
        drop(machine.bash(&machine.project(), "ls again"));
    }
    fs::remove_file(&head).unwrap();
    drop(machine.bash(&machine.project(), "ls last"));
    assert_eq!(verify(&machine).stdout, "complete: 12 records, 0 purged\n");
    assert!(!status(&machine).stdout.contains(ALARM));
}

#[test]
fn what_a_person_purges_is_no_alarm() {
    let machine = used();
    let folder = machine.project();
    let Some((code, output)) = at_terminal_in(&machine, &folder, "audit purge --before 0s --reason old", "y\n") else {
        return;
    };
    assert_eq!(code, 0, "{output}");
    drop(machine.bash(&folder, "ls after"));
    assert!(verify(&machine).stdout.starts_with("complete: "), "{:?}", verify(&machine));
    assert!(!status(&machine).stdout.contains(ALARM));
}
