//! An agent that tries to disable its guard: `redteam/attacks.py` lists the attacks, `redteam/play.py` runs them.

use crate::support::Machine;
use std::path::Path;

#[test]
fn no_attack_takes_the_guard_away() {
    let machine = Machine::new();
    let needed = "command -v python3 && command -v bash && command -v git";
    let available = machine.program("sh", ["-c", needed]).run().code == 0;
    if !available {
        return println!("skipped: there is no python3, bash or git");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/redteam/play.py");
    let root = machine.root();
    let arguments = [script.as_os_str(), env!("CARGO_BIN_EXE_reflex").as_ref(), root.as_os_str()];
    // The attacker calls `reflex` without a home option.
    let Some(play) = machine.as_user("python3", arguments) else { return };
    let output = play.patience(600).run();
    let ends = output.stdout.lines().filter(|line| line.starts_with("PROBLEM") || line.starts_with("LIMIT"));
    let lines: Vec<&str> = ends.collect();
    assert_eq!(output.code, 0, "{}\n{}", lines.join("\n"), output.stderr);
    println!("{}", lines.join("\n"));
}
