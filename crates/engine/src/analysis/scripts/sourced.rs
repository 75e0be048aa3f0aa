//! Files read into the running shell (`. f`): later commands call the functions that they define.

use crate::model::analysis::Analysis;
use crate::model::effect::Effect;
use reflex_shell::{Command, work};

/// Maximum length of such a file in bytes. A longer one sets up a shell, and few of its functions are called.
const MAX_TEXT: usize = 64 * 1024;

/// Maximum number of calls followed. Exceeding it is reported.
const MAX_CALLS: usize = 512;

/// Returns the commands after the effect in its own text that call a function of the file, each on a line.
pub(super) fn calls(analysis: &Analysis, effect: &Effect, text: &str, around: &str) -> String {
    let is_read_in = analysis.command(effect).is_some_and(|command| matches!(command.name.as_str(), "." | "source"));
    let (Some(id), Some(reading), true) = (effect.command, analysis.reading(effect), is_read_in) else {
        return String::new();
    };
    if text.len() > MAX_TEXT {
        return String::new();
    }
    let is_call = |command: &&Command| {
        command.invocation.is_none() && command.origin.derivation.is_none() && defines(text, &command.name)
    };
    work::spend_bytes(text.len().saturating_mul(reading.commands.len().saturating_sub(id)), 2);
    let mut calls: Vec<&Command> = reading.commands.iter().skip(id).filter(is_call).take(MAX_CALLS + 1).collect();
    if calls.len() > MAX_CALLS {
        work::cut(|| format!("more than {MAX_CALLS} functions of a file that is read in are called"));
        calls.truncate(MAX_CALLS);
    }
    let lines =
        calls.iter().filter_map(|call| around.get(call.origin.span.start as usize..call.origin.span.end as usize));
    lines.flat_map(|line| ["\n", line]).collect()
}

/// Returns whether the text has `name()` or `function name` at the beginning of a line.
fn defines(text: &str, name: &str) -> bool {
    let defines = |line: &str| {
        let line = line.trim_start();
        let (named, rest) = match line.strip_prefix("function ") {
            Some(rest) => (true, rest.trim_start()),
            None => (false, line),
        };
        let after = rest.strip_prefix(name);
        after.is_some_and(|after| after.trim_start().starts_with("()") || (named && !is_name(after)))
    };
    !name.is_empty() && text.lines().any(defines)
}

/// Returns whether a name continues here.
fn is_name(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-'))
}
