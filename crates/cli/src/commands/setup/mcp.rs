//! `reflex mcp`: runs the guard in front of an MCP server, and manages the pins of servers.

use crate::arena;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::arguments::{json, option, text};
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print, print_in_full, print_json};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::{Arg, ArgMatches, Command};
use reflex_host::Context;
use reflex_host::answers::record;
use reflex_host::mcp::{Proxy, parent};
use reflex_host::store::Store;
use reflex_host::store::pins::Pins;
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// Maximum length of a server's name.
const MAX_NAME: usize = 64;

pub(in crate::commands) fn grammar() -> Command {
    let name = || Arg::new("server").required(true).value_name("NAME").help("The name of the server");
    Command::new("mcp")
        .about("Guard an MCP server: judge its tools' calls and results")
        .arg(option("name", "NAME", "The server's name (default: its program)"))
        .arg(Arg::new("command").num_args(1..).last(true).value_name("SERVER ARGS").help("Starts the server"))
        .args_conflicts_with_subcommands(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("List the servers that were used").arg(json()))
        .subcommand(Command::new("diff").about("Show what a server changed since you trusted it").arg(name()))
        .subcommand(Command::new("trust").about("Trust a server as it is now").arg(name()))
        .after_help("`reflex init --mcp` puts it in front of the servers of your clients.")
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    match matches.subcommand() {
        Some(("list", matches)) => list(&store, matches.get_flag("json")),
        Some(("diff", matches)) => with_pins(&store, text(matches, "server"), |pins| diff(&pins)),
        Some(("trust", matches)) => {
            let name = text(matches, "server");
            with_pins(&store, name, |pins| trust(&store, name, pins))
        }
        _ => proxy(context, store, matches),
    }
}

fn proxy(context: &Context, store: Store, matches: &ArgMatches) -> u8 {
    arena::close();
    let server: Vec<String> = matches.get_many("command").into_iter().flatten().cloned().collect();
    let Some(program) = server.first().cloned() else {
        complain("no server is named: `reflex mcp --name NAME -- SERVER ARGS`");
        return exit_code::USAGE;
    };
    let named = matches.get_one::<String>("name").cloned().unwrap_or_default();
    let file_name = Path::new(&program).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if named.is_empty() { file_name } else { named };
    let is_plain = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
    };
    if !is_plain(&name) {
        complain(&format!(
            "invalid name `{}`; use a-z, A-Z, 0-9, `-`, `_` and `.`, at most {MAX_NAME} characters",
            visible(&name)
        ));
        return exit_code::USAGE;
    }
    let (hook, cwd) = match hook(context).and_then(|hook| Ok((hook, std::env::current_dir()?))) {
        Ok(both) => both,
        Err(error) => return failed(&error.to_string()),
    };
    let session = format!("{name}-{}", std::process::id());
    let cwd = cwd.to_string_lossy().into_owned();
    let proxy = Proxy { name, server, session, client: parent(), cwd, hook, store };
    match proxy.run(io::stdin(), io::stdout()) {
        Ok(ended) => ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit_code::INTERNAL),
        Err(error) => failed(&format!("{}: {error}", visible(&program))),
    }
}

/// Returns the command that judges one call.
fn hook(context: &Context) -> io::Result<Vec<String>> {
    let program = std::env::current_exe()?.to_string_lossy().into_owned();
    let mut hook: Vec<String> = [program.as_str(), "hook", "--agent", "mcp"].map(str::to_owned).to_vec();
    if let Some(home) = context.folders().chosen_home() {
        hook.extend(["--home".to_owned(), home.to_string_lossy().into_owned()]);
    }
    Ok(hook)
}

fn with_pins(store: &Store, name: &str, then: impl FnOnce(Pins) -> u8) -> u8 {
    match store.pins(name) {
        Ok(Some(pins)) => then(pins),
        Ok(None) => {
            let known = match store.pinned_servers().join(", ") {
                none if none.is_empty() => "`reflex mcp` has not started one yet".to_owned(),
                known => format!("known: {}", visible(&known)),
            };
            complain(&format!("no server `{}` was used; {known}", visible(name)));
            exit_code::FOUND
        }
        Err(error) => failed(&error.to_string()),
    }
}

fn list(store: &Store, is_json: bool) -> u8 {
    let pins = |name: String| Some((store.pins(&name).ok()??, name));
    let servers: Vec<(Pins, String)> = store.pinned_servers().into_iter().filter_map(pins).collect();
    if is_json {
        let one = |(pins, name): &(Pins, String)| {
            json!({
                "name": name, "command": pins.server, "tools": pins.tools.keys().collect::<Vec<_>>(),
                "held": pins.held.tools.keys().collect::<Vec<_>>(), "is_trusted": pins.held.is_empty(),
            })
        };
        let servers: Vec<Value> = servers.iter().map(one).collect();
        print_json(&json!({"schema": "reflex/mcp-servers-v1", "servers": servers}).to_string());
        return exit_code::OK;
    }
    if servers.is_empty() {
        print("`reflex mcp` has not started a server yet");
    }
    for (pins, name) in &servers {
        let state = if pins.held.is_empty() { "" } else { "; CHANGED, see `reflex mcp diff`" };
        print(&format!("{name}: {} tools{state}", pins.tools.len()));
        print(&format!("  {}", visible(&pins.server.join(" "))));
    }
    exit_code::OK
}

/// Prints both forms of a value, in lines that a person can compare.
fn changed(title: &str, before: &str, now: &str) {
    print(&format!("{title}:"));
    let pretty = |raw: &str| {
        let value: Option<Value> = serde_json::from_str(raw).ok();
        value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| raw.to_owned())
    };
    let (before, now) = (pretty(before), pretty(now));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(&before), lines(&now));
    old.iter()
        .filter(|line| !new.contains(line))
        .for_each(|line| print_in_full(&format!("  - {}", visible(line.trim()))));
    new.iter()
        .filter(|line| !old.contains(line))
        .for_each(|line| print_in_full(&format!("  + {}", visible(line.trim()))));
}

fn diff(pins: &Pins) -> u8 {
    if pins.held.is_empty() {
        print("nothing changed since it was trusted");
        return exit_code::OK;
    }
    if let Some(server) = &pins.held.server {
        let words = |words: &[String]| Value::from(words.join(" ")).to_string();
        changed("command", &words(&pins.server), &words(server));
    }
    if let Some(instructions) = &pins.held.instructions {
        changed("instructions", &pins.instructions, instructions);
    }
    for (name, raw) in &pins.held.tools {
        let before = pins.tools.get(name).map_or("", String::as_str);
        let title = if before.is_empty() { "new tool" } else { "tool" };
        changed(&format!("{title} {}", visible(name)), before, raw);
    }
    exit_code::FOUND
}

fn trust(store: &Store, name: &str, mut pins: Pins) -> u8 {
    if pins.held.is_empty() {
        print("nothing changed since it was trusted");
        return exit_code::OK;
    }
    let Some(person) = person(store, "mcp trust", "") else { return exit_code::FOUND };
    diff(&pins);
    let trusted = || -> Result<bool, Error> {
        let mut consent = Consent::each(store);
        if consent.ask(&format!("Trust {} as it is now?", visible(name)))?.is_none() {
            return Ok(false);
        }
        pins.trust();
        record(store, "mcp-trust", json!({"server": name, "by": person.name}))?;
        store.put_pins(name, &pins).map_err(Error::State)?;
        Ok(true)
    };
    match { trusted }() {
        Ok(true) => {
            print(&format!("{} is trusted as it is now; start its client again", visible(name)));
            exit_code::OK
        }
        Ok(false) => {
            print("unchanged");
            exit_code::FOUND
        }
        Err(problem) => problem.report(),
    }
}

fn failed(problem: &str) -> u8 {
    complain(problem);
    exit_code::INTERNAL
}
