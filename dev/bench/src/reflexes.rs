//! Cost that reflexes add to a call: three that ship, and three of a user.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::ground::Ground;
use super::measure::{self, CLAUDE, Hook, has_valgrind};
use super::payloads;

/// The rows of the page, each a configuration.
pub(crate) const ROWS: [&str; 2] = ["three that ship", "three of one's own"];

/// Maximum time of the hook with three reflexes, in hundredths of that of a program that does nothing.
pub(crate) const MAX_RATIO: u32 = 200;

/// Reason for a missed goal, shown below the table.
pub(crate) const WHY: &str = "interpreters are started and the modules' code is loaded into them in every call";

/// The measurement of one of [`ROWS`].
#[derive(Clone)]
pub(crate) struct Cost {
    /// Time in hundredths of that of a program that does nothing.
    pub(crate) ratio: u32,
    /// Thousands of instructions; `None` if they could not be counted.
    pub(crate) instructions: Option<u32>,
}

/// Measures each of [`ROWS`] with `git status`, which all reflexes inspect and pass.
pub(crate) fn measure(binary: &Path, ground: &Ground) -> Result<Vec<Cost>> {
    let transcript = rows(binary, ground)?;
    let costs: Vec<Cost> = transcript.lines().filter_map(Cost::parse).collect();
    ensure!(costs.len() == ROWS.len(), "what was measured cannot be read: {transcript}");
    Ok(costs)
}

impl Cost {
    fn parse(line: &str) -> Option<Cost> {
        let (ratio, instructions) = line.split_once(' ')?;
        Some(Cost { ratio: ratio.parse().ok()?, instructions: instructions.parse().ok() })
    }
}

/// A line for each of [`ROWS`]: the ratio and the instructions, or `-`.
fn rows(binary: &Path, ground: &Ground) -> Result<String> {
    let mut lines = String::new();
    for row in 0..ROWS.len() {
        configure(ground, row == 1).context("cannot configure reflexes")?;
        let hook = Hook { caller: CLAUDE, binary, ground, payload: payloads::shell("git status", &ground.repo) };
        // Counted in a new session, because the other one is long by now. The first call caches data for the next one.
        let session = format!("{row:036}");
        let counted = Hook { payload: hook.payload.replacen(payloads::SESSION, &session, 1), ..hook };
        counted.answer()?;
        let instructions = if has_valgrind() { counted.instructions()?.to_string() } else { "-".to_owned() };
        let hook = Hook { payload: payloads::shell("git status", &ground.repo), ..counted };
        let ratio = measure::ratios(&[hook])?.first().copied().unwrap_or_default();
        was_asked(ground)?;
        lines.push_str(&format!("{ratio} {instructions}\n"));
    }
    fs::remove_file(ground.home.join(LIST)).context("cannot remove the reflexes")?;
    Ok(lines)
}

const LIST: &str = ".config/reflex/config.json";

fn configure(ground: &Ground, is_own: bool) -> io::Result<()> {
    let folder = ground.home.join(".config/reflex");
    fs::create_dir_all(&folder)?;
    let mut names = Vec::new();
    for name in ["no-force-push", "no-rm-rf", "prefer-rg"] {
        names.push(if is_own { format!("\"./own-{name}.ts\"") } else { format!("\"{name}\"") });
        fs::write(folder.join(format!("own-{name}.ts")), OWN.replace("NAME", name))?;
    }
    fs::write(ground.home.join(LIST), format!("{{\"reflexes\": [{}]}}\n", names.join(", ")))
}

/// A module like those in the documentation of the interface.
const OWN: &str = r#"// Looks at commands, once by their text and once by their words.
import { commandMatches, defineReflex, deny, parseCommand, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const FORBIDDEN = ["shutdown*", "reboot*"];

export default defineReflex({
  name: "own-NAME",
  async onToolCall(ctx: ToolCallContext) {
    if (ctx.command === undefined) return pass();
    if (commandMatches(ctx.command, FORBIDDEN)) return deny("Not on this machine.");
    const first: string[] = parseCommand(ctx.command).map(({ argv }) => argv[0]);
    return first.some((name) => /^mkfs(\.|$)/.test(name)) ? deny("No file systems.") : pass();
  },
});
"#;

/// Whether the record of the last call names three reflexes that passed.
fn was_asked(ground: &Ground) -> Result<()> {
    let log = ground.home.join(".local/state/reflex/audit/current.jsonl");
    let lines = fs::read_to_string(&log).with_context(|| format!("cannot read `{}`", log.display()))?;
    let passed = lines.lines().last().map_or(0, |line| line.matches("\"says\":\"pass\"").count());
    ensure!(passed == 3, "{passed} reflexes of three were asked");
    Ok(())
}
