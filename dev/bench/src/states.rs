//! Instructions of a call with a small and with a large state: of the guard, of the repository, of the rules.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::ground::{Ground, STATE};
use super::measure::{CLAUDE, Caller, Hook, counted};
use super::{payloads, people, search};

/// Growth in percent that a larger state may cause.
pub(crate) const MAX_PERCENT: u32 = 10;

/// A call that is counted with two states.
pub(crate) struct Case {
    /// The two states.
    pub(crate) state: &'static str,
    /// The call.
    pub(crate) call: &'static str,
    /// Reason for a missed goal, shown below the table.
    pub(crate) why: &'static str,
}

/// The counted pairs, in the order of the page.
pub(crate) const CASES: [Case; 9] = [
    Case {
        state: "0 and 200 pending calls",
        call: "`git status`",
        why: "the ids of the waiting calls are listed, because a call that names one is stopped",
    },
    Case {
        state: "0 and 200 pending calls",
        call: "`rm -rf ~`",
        why: "the names of the waiting calls are listed twice: a call that names one is stopped, and their number is limited",
    },
    Case { state: "0 and 1,000 grants", call: "`git status`", why: "the answers to earlier calls are not looked at" },
    Case {
        state: "0 and 1,000 grants",
        call: "`rm -rf ~`",
        why: "what `rm -rf ~` would delete is looked through, and the grants are in it",
    },
    Case {
        state: "1 and 500 calls in the session",
        call: "`git status`",
        why: "the file of the session's last calls is read, and searched for calls like this one",
    },
    Case {
        state: "500 and 30,000 files in the repository",
        call: "an edit of one file",
        why: "git's index has no table of its entries, so the entry of the file is found by comparing all names",
    },
    Case {
        state: "580 and 2,000 rules",
        call: "`git status`",
        why: "the user's compiled rules are read from one file, which grows with them",
    },
    Case {
        state: "40 and 400 waiting calls",
        call: "`reflex pending --json`, for each of them",
        why: "each call is compared with the others",
    },
    Case {
        state: "2,000 and 100,000 records in the log",
        call: "`reflex audit search decision=deny`",
        why: "older records are read than those that are shown",
    },
];

/// Thousands of instructions of a call with the small and the large state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    /// With the small state.
    pub(crate) small: u32,
    /// With the large state.
    pub(crate) large: u32,
}

impl Pair {
    /// Whether the larger state costs no more than the goal allows.
    pub(crate) fn is_within(self) -> bool {
        self.large <= self.small + self.small * MAX_PERCENT / 100
    }
}

const PENDING: usize = 200;
const GRANTS: usize = 1_000;
const SESSION_CALLS: usize = 500;
const RULES: usize = 1_420;
const FILES: [usize; 2] = [500, 30_000];
/// The large number is the maximum of all agents.
const WAITING: [usize; 2] = [40, 400];
const RECORDS: [usize; 2] = [2_000, 100_000];

/// Numbers of grounds and sessions that no other measurement uses.
const PLAIN: usize = 70_000;
const RULED: usize = 71_420;
const LONG_SESSION: usize = 70_500;

/// Counts each of [`CASES`].
pub(crate) fn measure(binary: &Path) -> Result<Vec<Pair>> {
    let ground = Ground::with_rules(PLAIN, &[])?;
    let plain = State { binary, ground: &ground };
    // The first calls create the state's folders and files.
    plain.counts(1)?;
    plain.clear("calls/waiting")?;
    let empty = plain.counts(2)?;
    plain.clear("calls/waiting")?;
    plain.refuse()?;
    let pending = plain.counts(3)?;
    plain.clear("calls/waiting")?;
    plain.grant()?;
    let granted = plain.counts(4)?;
    plain.clear("calls/answered")?;
    let short = plain.count("git status", 5)?;
    plain.fill_session()?;
    let long = plain.count("git status", LONG_SESSION)?;
    let [small, large] = FILES.map(|files| of_files(binary, files));
    let files = Pair { small: small?, large: large? };
    let waiting = waiting(binary)?;
    let [small, large] = RECORDS.map(|records| of_records(binary, records));
    let records = Pair { small: small?, large: large? };
    let rules = Pair { small: plain.count("git status", 6)?, large: with_rules(binary)? };
    let pair = |small: u32, large: u32| Pair { small, large };
    let (of_pending, of_grants) = (pair(empty.0, pending.0), pair(empty.0, granted.0));
    let refusals = (pair(empty.1, pending.1), pair(empty.1, granted.1));
    Ok(vec![of_pending, refusals.0, of_grants, refusals.1, pair(short, long), files, rules, waiting, records])
}

/// The hook with a home whose state changes.
struct State<'a> {
    binary: &'a Path,
    ground: &'a Ground,
}

impl State<'_> {
    fn hook(&self, command: &str, session: usize) -> Hook<'_> {
        let payload = payloads::shell(command, &self.ground.repo);
        let payload = payload.replacen(payloads::SESSION, &format!("{session:036}"), 1);
        Hook { caller: CLAUDE, binary: self.binary, ground: self.ground, payload }
    }

    fn count(&self, command: &str, session: usize) -> Result<u32> {
        self.hook(command, session).instructions()
    }

    /// Counts `git status` and a refusal, each in the second call of the session or later.
    fn counts(&self, session: usize) -> Result<(u32, u32)> {
        self.hook("git status", session).answer()?;
        Ok((self.count("git status", session)?, self.count("rm -rf ~", session)?))
    }

    fn clear(&self, part: &str) -> Result<()> {
        let folder = self.ground.home.join(STATE).join(part);
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove `{}`", folder.display()))
    }

    /// Leaves pending calls: all but the one that is counted, because an agent may have no more of them.
    fn refuse(&self) -> Result<()> {
        for number in 1..PENDING {
            let answer = self.hook(&format!("rm -rf ~ ~/old-{number}"), 1_000 + number).answer()?;
            if !answer.is_denial() {
                bail!("a refusal was expected, but the hook answers `{}`", answer.shown());
            }
        }
        let folder = self.ground.home.join(STATE).join("calls/waiting");
        let kept = fs::read_dir(&folder).map(Iterator::count).unwrap_or_default();
        ensure!(kept + 1 == PENDING, "{kept} calls wait, not {}", PENDING - 1);
        Ok(())
    }

    /// Writes grants for calls of another project.
    fn grant(&self) -> Result<()> {
        let folder = self.ground.home.join(STATE).join("calls/answered");
        let shown = || format!("cannot write `{}`", folder.display());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        for number in 0..GRANTS {
            let id = format!("g{number:06}");
            let grant = json!({
                "schema": "reflex/grant-v1", "id": id, "allow": true, "exact": format!("{number:064x}"),
                "scope": "repository", "within": "/another/project", "time": now, "expires": now + 86_400_000,
                "uses": 0, "used_for": "", "used": 0, "by": "user", "reason": "",
                "text": format!("git push --force origin topic-{number}"),
            });
            let mark = format!("{number:012x}");
            fs::create_dir_all(folder.join(&mark)).with_context(shown)?;
            let file = folder.join(&mark).join(format!("{id}-c-s-e-{mark}-0-lasting.json"));
            fs::write(file, json!({"call": {}, "answer": grant}).to_string()).with_context(shown)?;
        }
        Ok(())
    }

    /// Makes different calls in one session.
    fn fill_session(&self) -> Result<()> {
        for number in 0..SESSION_CALLS {
            let answer = self.hook(&format!("git log -n {number} --oneline"), LONG_SESSION).answer()?;
            if !answer.is_silent() {
                bail!("call {number} of a session: the hook answers `{}`", answer.shown());
            }
        }
        Ok(())
    }
}

/// Counts an edit of one file in a repository of this number of files.
fn of_files(binary: &Path, files: usize) -> Result<u32> {
    let ground = Ground::large(files)?;
    let (tool, input) = payloads::edit_of(&ground.repo.join(Ground::name(7)));
    let payload = payloads::payload_in(tool, &input, &ground.repo, payloads::SESSION);
    let hook = Hook { caller: CLAUDE, binary, ground: &ground, payload };
    hook.answer()?;
    hook.instructions()
}

/// Counts `git status` with rules of the user about files, which cannot apply to a command.
fn with_rules(binary: &Path) -> Result<u32> {
    let rules: Vec<String> = (0..RULES).map(people::of_files).collect();
    let ground = Ground::with_rules(RULED, &[rules.join("---\n")])?;
    thread::sleep(people::REST);
    let ruled = State { binary, ground: &ground };
    // The first call compiles the rules.
    ruled.hook("git status", 1).answer()?;
    let answer = ruled.hook("git status", 1).answer()?;
    if !answer.is_silent() {
        bail!("rules that cannot apply: the hook answers `{}`", answer.shown());
    }
    ruled.count("git status", 1)
}

/// Counts the list of waiting calls, divided by their number.
fn waiting(binary: &Path) -> Result<Pair> {
    const CODEX: Caller = Caller { agent: "codex", event: "PreToolUse" };
    let ground = Ground::named("waits")?;
    let home = ground.home.to_string_lossy().into_owned();
    let folder = ground.home.join(STATE).join("calls/waiting");
    let state = State { binary, ground: &ground };
    let mut number = 0;
    let mut of_calls = |wanted: usize| {
        while number < wanted {
            // An agent has half of the maximum at most.
            let caller = if number < PENDING { CLAUDE } else { CODEX };
            let hook = state.hook(&format!("rm -rf ~ ~/old-{number}"), 1_000 + number);
            Hook { caller, ..hook }.answer()?;
            number += 1;
        }
        let kept = fs::read_dir(&folder).map(Iterator::count).unwrap_or_default();
        if kept != wanted {
            bail!("{kept} calls wait, not {wanted}");
        }
        let count = counted(&ground, binary, &["pending", "--json", "--home", &home].map(str::to_owned), "")?;
        Ok(count / wanted as u32)
    };
    let [small, large] = WAITING.map(&mut of_calls);
    Ok(Pair { small: small?, large: large? })
}

/// Counts a search for the newest refusals in a log of this length.
fn of_records(binary: &Path, records: usize) -> Result<u32> {
    let ground = Ground::named("found")?;
    let home = ground.folder.join("long");
    // Both logs end with the same records: the newest refusals are equally far from the end.
    let numbers = RECORDS[1] - records..RECORDS[1];
    search::written(binary, &ground, &home.join(STATE).join("audit"), numbers)?;
    let home = home.to_string_lossy().into_owned();
    counted(&ground, binary, &["audit", "search", "decision=deny", "--home", &home].map(str::to_owned), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_more_is_within() {
        let is_within = |large| Pair { small: 1000, large }.is_within();
        assert_eq!([1100, 1101, 900].map(is_within), [true, false, true]);
    }
}
