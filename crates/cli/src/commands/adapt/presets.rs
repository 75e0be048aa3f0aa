//! `reflex policy presets`: lists the policies of the library, and prints a starter file.

use crate::exit_code;
use crate::terminal::arguments::{flag, json};
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use clap::{ArgMatches, Command};
use reflex_host::{Context, Mode};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};

/// Starter policy with every key that a beginner needs, each as a comment.
const STARTER: &str = "\
# Your policy. `reflex rules validate` checks it, `reflex policy backtest FILE` tries it on recorded calls.
# All keys: docs/policy.md.

# The severities that ask or block; `reflex policy presets` lists the names.
# preset: balanced

# What a single rule does: log, warn, ask or block. `reflex rules list` names the rules.
# rules:
#   git/push-force: warn

# Commands that run without a question, for one rule, with a reason and an end.
# allow:
#   - rule: publish/npm
#     argv: [npm, publish]
#     reason: releases of this package are mine
#     until: 2027-01-01

# Folders that count as part of the project.
# allowed_roots: [~/scratch]
";

pub(in crate::commands) fn grammar() -> Command {
    Command::new("presets")
        .about("List the presets with one line each")
        .arg(flag("write", "Write a commented policy to begin with; replaces none"))
        .arg(json())
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    if matches.get_flag("write") {
        return write(context);
    }
    let presets: Vec<(&str, &str)> = Mode::names().into_iter().map(|name| (name, Mode::about(name))).collect();
    if matches.get_flag("json") {
        let presets: Vec<Value> = presets.iter().map(|(name, about)| json!({"name": name, "about": about})).collect();
        print_json(&json!({"schema": "reflex/presets-v1", "presets": presets}).to_string());
        return exit_code::OK;
    }
    let paint = Paint::of_stdout();
    let table: Vec<Vec<String>> =
        presets.into_iter().map(|(name, about)| vec![paint.bold(name), about.to_owned()]).collect();
    print_table(0, &table);
    print(
        &paint
            .faint("\nFor good: `preset: NAME` in your policy (`--write` makes one). For a while: `reflex mode NAME`."),
    );
    exit_code::OK
}

fn write(context: &Context) -> u8 {
    let folder = context.folders().config.clone();
    let file = folder.join("policy.yaml");
    let shown = visible(&file.to_string_lossy());
    let made = fs::create_dir_all(&folder).and_then(|()| File::create_new(&file)?.write_all(STARTER.as_bytes()));
    match made {
        Ok(()) => {
            print(&format!("written: {shown}"));
            exit_code::OK
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            complain(&format!("{shown} exists already and stays as it is"));
            exit_code::FOUND
        }
        Err(error) => {
            complain(&format!("{shown}: {error}"));
            exit_code::INTERNAL
        }
    }
}
