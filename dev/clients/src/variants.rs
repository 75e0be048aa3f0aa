//! Variants of a client's settings file, from `library/settings`: with each, the hook fires or is silent as specified.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Error, Result, bail};
use reflex_tables::compile::{Kind, Sources};
use serde_json::Value;

use super::cases::ensure;
use super::sandbox::{Failure, Mode, Sandbox, read, write};
use reflex_mock::Call;

/// Runs every example of the client's settings, each with a hook that only leaves a mark.
pub(super) fn settings(sandbox: &Sandbox, call: fn() -> Call) -> Result<(), Failure> {
    sandbox.wire()?;
    let fired = sandbox.folder().join("fired");
    sandbox.replace_reflex(&format!("#!/bin/sh\ncat > /dev/null\n: > '{}'\n", fired.display()))?;
    let (kept, wired) = (sandbox.folder().join("kept"), read(&sandbox.settings())?);
    copy(&sandbox.home(), &kept)?;
    let mut wrong = Vec::new();
    for example in examples(sandbox.agent())? {
        fs::remove_dir_all(sandbox.home()).context("cannot clear the home")?;
        copy(&kept, &sandbox.home())?;
        let _ = fs::remove_file(&fired);
        let file = example.write(sandbox, &wired)?;
        // A client that does not start with such a file runs no call either.
        let _ = sandbox.converse(&Mode::BypassPermissions, vec![call()]);
        if !file.starts_with(sandbox.home()) {
            fs::remove_file(&file).with_context(|| format!("cannot remove `{}`", file.display()))?;
        }
        if fired.exists() != example.fires {
            wrong.push(format!("{} with `{}`", if example.fires { "silent" } else { "fires" }, example.text));
        }
    }
    ensure(wrong.is_empty(), &wrong.join("; "))
}

/// The content of one file, and whether the user's hook fires with it.
struct Example {
    /// Path in the project; `None` for the user's own file.
    file: Option<String>,
    text: String,
    fires: bool,
}

impl Example {
    fn write(&self, sandbox: &Sandbox, wired: &str) -> Result<PathBuf> {
        let hooks = serde_json::from_str::<Value>(wired).unwrap_or_default().get("hooks").cloned().unwrap_or_default();
        let hooks = hooks.to_string();
        let inside = hooks.strip_prefix('{').and_then(|hooks| hooks.strip_suffix('}')).unwrap_or_default();
        let text = self.text.replace("$HOOKS", &hooks).replace("$INSIDE", inside);
        let file = match &self.file {
            None => sandbox.settings(),
            Some(file) => match file.strip_prefix("~/") {
                Some(file) => sandbox.home().join(file),
                None => sandbox.workspace().join(file),
            },
        };
        write(&file, &text)?;
        Ok(file)
    }
}

/// The examples of the client's first form, which is that of the file written by `init`.
fn examples(agent: &str) -> Result<Vec<Example>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../library/settings/{agent}.yaml"));
    let mut sources = Sources::default();
    sources.add(Kind::Settings, agent, &read(&file)?).map_err(Error::msg)?;
    let form = sources.entries().first().map(|entry| entry.value.clone()).unwrap_or_default();
    let list = |key: &str| form.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let inline = |text: &str, fires| Example { file: None, text: text.to_owned(), fires };
    let taken = list("taken").iter().filter_map(Value::as_str).map(|text| inline(text, true)).collect::<Vec<_>>();
    let dropped = list("dropped").iter().filter_map(|one| Some(inline(&text(one, "text")?, false))).collect::<Vec<_>>();
    let beside = list("beside");
    let beside = beside.iter().filter_map(|one| {
        let fires = text(one, "hook")? == "fires";
        Some(Example { file: text(one, "file"), text: text(one, "text")?, fires })
    });
    Ok(taken.into_iter().chain(dropped).chain(beside).collect())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let done = Command::new("cp").arg("-a").args([from, to]).status().context("`cp`")?;
    if !done.success() {
        bail!("cannot copy `{}`", from.display());
    }
    Ok(())
}
