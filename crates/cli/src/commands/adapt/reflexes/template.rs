//! `reflexes new`: creates a starter reflex with its manifest, its examples and the types.

use super::here::Here;
use crate::error::{Error, ReflexError};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::Context;
use reflex_host::catalog::{Home, Package, TYPES, is_name};
use std::path::PathBuf;

pub(super) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let name = text(matches, "name");
    let here = Here::new(context);
    match begin(&here, name) {
        Ok(folder) => {
            let folder = folder.strip_prefix(&here.cwd).unwrap_or(&folder);
            let folder = visible(&folder.display().to_string());
            print(&format!("{folder} is yours now\n  reflex reflexes test {name}\n  reflex reflexes add {folder}"));
            exit_code::OK
        }
        Err(error) => error.report(),
    }
}

/// Writes the files of a new reflex and returns its folder.
fn begin(here: &Here, name: &str) -> Result<PathBuf, Error> {
    if !is_name(name) {
        return Err(ReflexError::Name(name.to_owned()).into());
    }
    let package = Package::of_files(name, files(name))?;
    Ok(Home::of_workspace(&here.workspace).begin(&package, &[("tsconfig.json", TSCONFIG)])?)
}

fn files(name: &str) -> Vec<(String, String)> {
    let fill = |path: &str, text: &str| (path.to_owned(), text.replace("NAME", name));
    vec![
        fill("index.ts", MODULE),
        fill("reflex.json", MANIFEST),
        fill("examples.json", EXAMPLES),
        fill("README.md", README),
        ("core.d.ts".to_owned(), TYPES.to_owned()),
    ]
}

/// Configuration beside the module, so that an editor finds the types.
const TSCONFIG: &str = r#"{
  "compilerOptions": {
    "strict": true, "noEmit": true, "target": "es2022", "module": "esnext", "moduleResolution": "bundler",
    "erasableSyntaxOnly": true, "paths": { "@agentreflex/core": ["./core.d.ts"] }
  }
}
"#;

const MODULE: &str = r#"// Why this is not wanted, in one sentence.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

export default defineReflex({
  name: "NAME",
  onToolCall(ctx: ToolCallContext) {
    // Every command that would run, those behind sudo, in $(…) and in scripts included.
    for (const command of ctx.reflex.commands) {
      if (command.name === "docker" && command.argv.includes("prune")) {
        return deny("What is pruned may hold data. Name what is to be removed.");
      }
    }
    return pass();
  },
});
"#;

const MANIFEST: &str = r#"{
  "$schema": "https://agentreflex.dev/schema/reflex-v1.json",
  "name": "NAME",
  "title": "NAME",
  "description": "Refuses docker prune.",
  "version": "0.1.0",
  "license": "MIT",
  "author": "you",
  "events": ["onToolCall"],
  "capabilities": { "decisions": ["deny"], "reads": ["reflex"] },
  "entry": "index.ts",
  "tags": ["docker"]
}
"#;

const EXAMPLES: &str = r#"[
  { "call": "docker system prune -af", "says": "deny", "reason": "Name what" },
  { "call": "sudo docker volume prune", "says": "deny" },
  { "call": "docker ps", "says": "pass" },
  { "call": "echo docker system prune", "says": "pass" }
]
"#;

const README: &str = r"# NAME

Refuses `docker … prune`: say here what it does, which options it takes, and what it does not see.
";
