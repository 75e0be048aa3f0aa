//! When the guard itself fails, by whatever way, the call is refused in the same bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on shall stop"
)]

mod support;

use std::path::Path;
use support::{Call, Machine, Said, bash};

const FAILED: &str = "Blocked: Reflex failed before it could judge this call, so it does not run. A person can look into it with `reflex check`.";

/// Events after which nothing can be kept from running.
const TOO_LATE: [&str; 5] = ["PostToolUse", "Stop", "SubagentStop", "SessionStart", "SessionEnd"];

fn after(machine: &Machine, event: &str) -> Call {
    machine.reflex(["hook", "--agent", "claude", "--event", event])
}

/// A fault on demand, which only builds for tests honour.
#[cfg(debug_assertions)]
#[track_caller]
fn check_fault(fault: &str) {
    let machine = Machine::new();
    let harmless = || bash(Path::new("/"), "ls");
    let without_event = machine.reflex(["hook", "--agent", "claude"]);
    for call in [machine.hook(), without_event] {
        assert_eq!(call.env("REFLEX_FAULT", fault).input(harmless()).run(), Said::refusal(FAILED));
    }
    for event in TOO_LATE {
        let later = after(&machine, event).env("REFLEX_FAULT", fault).input(harmless()).run();
        assert_eq!(later, Said::silence(), "{event}");
    }
    let universal = machine.reflex(["hook"]).env("REFLEX_FAULT", fault).input(harmless()).run();
    assert_eq!((universal.json()["decision"].as_str(), universal.code), (Some("block"), 2), "{universal:?}");
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_refuses() {
    check_fault("panic");
}

#[cfg(debug_assertions)]
#[test]
fn a_stack_overflow_refuses() {
    check_fault("overflow");
}

#[cfg(debug_assertions)]
#[test]
fn a_hang_refuses_within_the_watchdogs_time() {
    let machine = Machine::new();
    let call = |call: Call| call.env("REFLEX_FAULT", "hang").input(bash(Path::new("/"), "ls")).run();
    assert_eq!(call(machine.hook()), Said::refusal(FAILED));
    assert_eq!(call(after(&machine, "PostToolUse")), Said::silence());
}

/// A signal that arrives while the hook reads its input.
#[track_caller]
fn check_signal(signal: &str) {
    let machine = Machine::new();
    let hook = machine.hook().start_reading();
    hook.signal(signal);
    assert_eq!(hook.finish(), Said::refusal(FAILED));
    let later = after(&machine, "Stop").start_reading();
    later.signal(signal);
    assert_eq!(later.finish(), Said::silence());
}

#[test]
fn a_fatal_signal_refuses() {
    for signal in ["SEGV", "BUS", "ILL", "FPE", "ABRT"] {
        check_signal(signal);
    }
}

#[test]
fn being_told_to_end_refuses() {
    for signal in ["TERM", "ALRM", "QUIT", "USR1", "USR2", "XCPU", "SYS", "TRAP", "VTALRM", "PROF"] {
        check_signal(signal);
    }
}

#[test]
fn an_input_that_never_ends_is_refused_by_the_watchdog() {
    let machine = Machine::new();
    assert_eq!(machine.hook().start_waiting().finish(), Said::refusal(FAILED));
    assert_eq!(after(&machine, "Stop").start_waiting().finish(), Said::silence());
}

#[test]
fn a_payload_that_is_whole_but_not_closed_is_refused_by_the_watchdog() {
    let hook = Machine::new().hook().input(bash(Path::new("/"), "ls")).start_with_input();
    assert_eq!(hook.finish(), Said::refusal(FAILED));
}

#[test]
fn a_watchdog_that_did_not_bite_says_nothing() {
    let machine = Machine::new();
    assert_eq!(machine.bash(&machine.project(), "ls"), Said::silence());
}
