//! The recipes in `examples/`, run with the packages of `cargo xtask bindings`, the real SDKs and a scripted model.
//!
//! The model requests a command that is allowed and one that is not. The second has no effect if a recipe runs it: it
//! deletes a folder that does not exist.

use crate::{Build, files_with};
use anyhow::{Context, Result, bail, ensure};
use reflex_mock::{Call, Model};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tasks::project::{Project, tool};
use tasks::release;
use tasks::steps::{step, succeed};

const NODE_PACKAGE: &str = "@anthropic-ai/claude-agent-sdk@0.3.332";
const PYTHON_PACKAGES: [&str; 2] = ["openai-agents==0.24.*", "pydantic-ai-slim[openai]==2.*"];

const ALLOWED: &str = "touch made";
const REFUSED: &str = "rm -rf /srv/reflex-canary";

/// The longest run of a recipe, as an argument of `timeout`.
const PATIENCE: &str = "120";

/// # Errors
/// A package cannot be installed, or a recipe runs the wrong commands.
pub fn check(project: &Project) -> Result<()> {
    let build = Build::new(project);
    let python = step("SDKs for Python", || {
        let wheels = files_with(&build.out.join("wheels"), "whl")?;
        let packages = wheels.iter().filter_map(|path| path.to_str()).chain(PYTHON_PACKAGES).collect::<Vec<_>>();
        Ok(build.environment("recipes-python", &packages)?.join("python"))
    })?;
    let node = step("SDK for Node.js", || {
        let folder = build.fresh("recipes-node")?;
        fs::write(folder.join("package.json"), "{\"private\": true}\n").context("cannot write package.json")?;
        let install = ["install", "--no-audit", "--no-fund", "--silent", NODE_PACKAGE];
        let archives = files_with(&build.out.join("npm"), "tgz")?;
        succeed(tool("npm").args(install).args(archives).current_dir(&folder))?;
        Ok(folder)
    })?;
    let examples = project.root.join("examples");
    for (name, shell) in
        [("openai_agents.py", "shell"), ("pydantic_ai_tools.py", "shell"), ("claude-agent-sdk.mjs", "Bash")]
    {
        let program = if name.ends_with(".py") { python.clone() } else { PathBuf::from("node") };
        // Packages are found from the place of the module.
        let script = node.join(name);
        fs::copy(examples.join(name), &script).with_context(|| format!("cannot copy `{name}`"))?;
        step(name, || with_model(&program, &script, shell, &build.fresh("recipes-work")?))?;
    }
    let release = release::build(project)?;
    for (program, name) in [(Path::new("python3"), "eval_client.py"), (Path::new("node"), "eval-client.mjs")] {
        step(name, || with_eval(program, &examples.join(name), &release.binary))?;
    }
    Ok(())
}

/// Runs a recipe against a model that requests both commands in a folder with a home of its own.
fn with_model(program: &Path, script: &Path, shell: &'static str, work: &Path) -> Result<()> {
    let calls = [ALLOWED, REFUSED].map(|command| Call::function(shell, json!({"command": command})));
    let model = Model::start(calls.into()).context("cannot serve the model")?;
    let home = work.join("home");
    fs::create_dir(&home).with_context(|| format!("cannot make `{}`", home.display()))?;
    let mut command = bounded(program);
    command.arg(script).arg("Begin.").current_dir(work).env("HOME", &home);
    command.env("OPENAI_BASE_URL", format!("{}/v1", model.url())).env("OPENAI_API_KEY", "none");
    command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "none");
    command.env("OPENAI_AGENTS_DISABLE_TRACING", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let printed = succeed(&mut command)?;
    let conversation = model.conversation().context("the model was not asked")?;
    let refused = &conversation.answer(1).map_err(anyhow::Error::msg)?.text;
    if !work.join("made").exists() || !refused.contains("outside the project") {
        bail!("{ALLOWED:?} did not run, or {REFUSED:?} did:\n{refused}\n{printed}");
    }
    Ok(())
}

fn with_eval(program: &Path, script: &Path, binary: &Path) -> Result<()> {
    let printed = succeed(bounded(program).arg(script).args([ALLOWED, REFUSED]).env("REFLEX", binary))?;
    let expected = format!("allow: {ALLOWED}\nblock: {REFUSED}\n");
    ensure!(printed == expected, "{} prints {printed:?}", script.display());
    Ok(())
}

fn bounded(program: &Path) -> Command {
    let mut command = tool("timeout");
    command.arg(PATIENCE).arg(program);
    command
}
