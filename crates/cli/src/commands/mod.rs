//! Every command except `hook`.

mod adapt;
mod answer;
mod history;
mod preview;
mod setup;

use crate::error::Error;
use crate::exit_code as code;
use crate::terminal::arguments::{flag, json, option};
use crate::terminal::output::{complain, note, print, print_json, was_lost};
use crate::terminal::unquoted;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};
use reflex_host::Context;
use reflex_host::state_folder::unreadable;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Parses the command line and runs the command; returns the exit status. Lost output is a failure.
pub(crate) fn run() -> u8 {
    let code = run_named();
    if was_lost() {
        complain("cannot write to standard output");
        return code::INTERNAL;
    }
    code
}

fn run_named() -> u8 {
    let mut grammar = grammar();
    // Adds the global options to every subcommand.
    grammar.build();
    let words: Option<Vec<String>> = std::env::args_os().map(|word| word.into_string().ok()).collect();
    let matches = match words.map(|words| unquoted::joined(words, &grammar)) {
        Some(words) => grammar.try_get_matches_from(words),
        // Arguments that are not valid UTF-8: clap reports the error.
        None => grammar.try_get_matches(),
    };
    let matches = match matches {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayVersion && std::env::args_os().any(|word| word == "--json") => {
            print_json(&version().to_string());
            return code::OK;
        }
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { code::USAGE } else { code::OK };
        }
    };
    // The home of `eval` is that of its events.
    let home = matches.get_one::<String>("home").filter(|_| matches.subcommand_name() != Some("eval"));
    match home.map_or_else(|| Ok(Context::of_user()), Context::at_home) {
        Ok(context) => {
            check_state(&context, &matches).map_or_else(|error| error.report(), |()| run_one(&context, &matches))
        }
        Err(problem) => {
            complain(&problem.to_string());
            code::USAGE
        }
    }
}

/// Commands that tell of earlier calls, or act on them.
const READERS: [&str; 16] = [
    "allow",
    "appeal",
    "approve",
    "audit",
    "deny",
    "gc",
    "grants",
    "pending",
    "redo",
    "report",
    "report-fp",
    "status",
    "suggest",
    "ui",
    "undo",
    "why",
];

/// Fails a command that would say that earlier calls do not exist, only because it cannot read them.
fn check_state(context: &Context, matches: &ArgMatches) -> Result<(), Error> {
    let reads = match matches.subcommand() {
        // Drawn many times a minute, in a line that has no space for a remedy.
        Some(("status", matches)) => !matches.get_flag("line"),
        Some((name, _)) => READERS.contains(&name),
        None => false,
    };
    match unreadable(context.folders()).filter(|_| reads) {
        Some(trouble) => Err(Error::StateFolder { trouble, consequence: "earlier calls are not known" }),
        None => Ok(()),
    }
}

/// Returns the fields of `reflex --version --json`.
fn version() -> Value {
    json!({
        "schema": "reflex/version-v1", "version": env!("CARGO_PKG_VERSION"), "target": env!("REFLEX_TARGET"),
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
        "features": if cfg!(target_feature = "crt-static") { vec!["static"] } else { Vec::new() },
        "library": reflex_host::LIBRARY_DIGEST,
    })
}

fn show_version(matches: &ArgMatches) -> u8 {
    match matches.get_flag("json") {
        true => print_json(&version().to_string()),
        false => print(concat!("reflex ", env!("CARGO_PKG_VERSION"))),
    }
    code::OK
}

fn run_one(context: &Context, matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("check", matches)) => preview::check::run(context, matches),
        Some(("explain", matches)) => preview::explain::run(context, matches),
        Some(("eval", matches)) => preview::eval::run(matches),
        Some(("demo", matches)) => preview::demo::run(context, matches),
        Some(("init", matches)) => setup::init::init(context, matches),
        Some(("uninstall", matches)) => setup::init::uninstall(context, matches),
        Some(("emit", matches)) => setup::emit::run(matches),
        Some(("hooks", matches)) => match matches.subcommand() {
            Some(("emit", matches)) => setup::emit::run(matches),
            _ => code::USAGE,
        },
        Some(("doctor", matches)) => setup::doctor::run(context, matches),
        Some(("verify", matches)) if setup::verify_live::is_meant(matches) => setup::verify_live::run(context, matches),
        Some(("verify", matches)) => match matches.get_one::<PathBuf>("file") {
            Some(file) => setup::signature::run(file, matches),
            None => setup::doctor::verify(context, matches),
        },
        Some(("run", matches)) => setup::run::run(context, matches),
        Some(("watch", matches)) => setup::watch::run(context, matches),
        Some(("canary", matches)) => setup::verify_live::canary(matches),
        Some(("pending", matches)) => answer::approve::pending(context, matches),
        Some(("approve", matches)) => answer::approve::approve(context, matches),
        Some(("allow", matches)) => answer::allow::run(context, matches),
        Some(("suggest", matches)) => answer::suggest::suggest(context, matches),
        Some(("deny", matches)) => answer::approve::deny(context, matches),
        Some(("appeal", matches)) => answer::appeal::run(context, matches),
        Some(("grants", matches)) => answer::approve::grants(context, matches),
        Some(("off", matches)) => answer::approve::off(context, matches),
        Some(("mode", matches)) => setup::mode::run(context, matches),
        Some(("judge", matches)) => setup::judge::run(context, matches),
        Some(("mcp", matches)) => setup::mcp::run(context, matches),
        Some(("pin", matches)) => setup::pin::run(context, matches),
        Some(("report", matches)) => history::report::run(context, matches),
        Some(("why", matches)) => history::why::why(context, matches),
        Some(("report-fp", matches)) => history::why::report(context, matches),
        Some(("audit", matches)) => history::audit::run(context, matches),
        Some(("rules", matches)) => adapt::rules::run(context, matches),
        Some(("reflexes", matches)) => adapt::reflexes::run(context, matches),
        Some(("config", matches)) => adapt::config::run(context, matches),
        Some(("trust", matches)) => answer::trust::run(context, matches),
        Some(("task", matches)) => answer::task::run(context, matches),
        Some(("undo", matches)) => history::undo::run(context, matches),
        Some(("redo", matches)) => history::undo::redo(context, matches),
        Some(("gc", matches)) => history::undo::gc(context, matches),
        Some(("policy", matches)) => adapt::backtest::run(context, matches),
        Some(("ui", matches)) => answer::ui::run(context, matches),
        Some(("import", matches)) => adapt::import::run(context, matches),
        Some(("status", matches)) if matches.get_flag("line") => setup::status_line::run(context, matches),
        Some(("status", matches)) => setup::status::run(context, matches),
        Some(("update", _)) => setup::update::run(),
        Some(("version", matches)) => show_version(matches),
        Some(("completions", matches)) => completions(matches),
        Some(("man", matches)) => man(matches),
        _ => code::USAGE,
    }
}

fn grammar() -> Command {
    let grammar = commands();
    let template = help(&grammar);
    grammar.help_template(template)
}

/// Subcommands, grouped by the occasion at which a person needs them. Commands for agents and scripts are in no group.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Set up",
        &[
            "init",
            "uninstall",
            "status",
            "doctor",
            "verify",
            "run",
            "watch",
            "mode",
            "judge",
            "mcp",
            "pin",
            "off",
            "update",
        ],
    ),
    ("Try", &["demo", "check", "explain"]),
    ("Answer", &["pending", "approve", "deny", "allow", "suggest", "grants", "ui", "trust", "task"]),
    ("Look back", &["report", "why", "undo", "redo", "gc", "audit", "report-fp"]),
    ("Adapt", &["rules", "reflexes", "policy", "config", "import"]),
];

/// Returns the help of `reflex` itself, with the subcommands in groups.
fn help(grammar: &Command) -> String {
    let heading = |title: &str| format!("\n\n\u{1b}[1;4m{title}:\u{1b}[0m");
    let row = |command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("\n  {:11} {about}", command.get_name())
    };
    let mut help = String::from("{about}\n\n{usage-heading} {usage}");
    for (title, names) in GROUPS {
        help.push_str(&heading(title));
        names.iter().filter_map(|name| grammar.find_subcommand(name)).for_each(|command| help.push_str(&row(command)));
    }
    help.push_str(&heading("For agents and scripts"));
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let rest = grammar.get_subcommands().filter(|command| !is_grouped(command.get_name()) && !command.is_hide_set());
    rest.for_each(|command| help.push_str(&row(command)));
    help + &heading("Options") + "\n{options}\n\n`reflex help COMMAND` explains a command."
}

const EXIT_CODES: &str = "Exit codes: 0 allow, warn or keep; 2 block; 3 ask";

fn commands() -> Command {
    Command::new("reflex")
        .max_term_width(100)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Guard coding agents' tool calls on your machine")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(option("home", "DIR", "Home directory for Reflex's files (default: from the user database)").global(true))
        .subcommand(
            Command::new("hook")
                .about("Answer an agent's event (payload on stdin)")
                .arg(option("agent", "NAME", "The calling agent (default: detected from the payload)"))
                .arg(option("event", "EVENT", "The agent's name for the event"))
                .arg(option("key", "KEY", "The public key with which approvals are signed")),
        )
        .subcommand(
            Command::new("git-hook")
                .about("Judge what git would commit or push")
                .arg(Arg::new("name").required(true).value_name("NAME").help("pre-commit or pre-push"))
                .arg(
                    Arg::new("words")
                        .num_args(0..)
                        .trailing_var_arg(true)
                        .help("Arguments that git passes to the hook"),
                ),
        )
        .subcommand(judged(Command::new("check").about("Show whether a command would run").after_help(EXIT_CODES)))
        .subcommand(judged(
            Command::new("explain")
                .about("Like check, with every step")
                .arg(flag("verbose", "Also the steps that change nothing, and the answer byte for byte").short('v'))
                .after_help(EXIT_CODES),
        ))
        .subcommand(
            Command::new("eval")
                .about("Judge events as JSON lines; reads no real files")
                .arg(option("home", "DIR", "Home directory of events without one").default_value("/home/user"))
                .arg(option("mode", "MODE", "Policy to apply").default_value("balanced")),
        )
        .subcommand(Command::new("demo").about("Judge recorded agent calls; changes nothing").arg(json()))
        .subcommands(wiring().into_iter().chain(starting()))
        .subcommands(answers())
        .subcommands(memory())
        .subcommands(history::undo::grammar())
        .subcommand(answer::ui::grammar())
        .subcommand(setup::mode::grammar())
        .subcommand(setup::judge::grammar())
        .subcommand(setup::mcp::grammar())
        .subcommand(adapt::backtest::grammar())
        .subcommands(people())
        .subcommands(program())
        .subcommand(
            Command::new("completions")
                .about("Print shell completions")
                .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell))),
        )
        .subcommand(
            Command::new("man")
                .about("Write the manual pages of all commands into a directory")
                .arg(Arg::new("dir").required(true).value_name("DIR").value_parser(value_parser!(PathBuf))),
        )
}

/// Commands about this program itself.
fn program() -> [Command; 2] {
    let update = Command::new("update").visible_alias("upgrade");
    [
        update.about("Say how to update this program; changes nothing"),
        Command::new("version").about("Print the version").arg(json()),
    ]
}

/// Commands that put the guard in front of the agents' tools and check that it is in place.
fn wiring() -> Vec<Command> {
    let agent = || option("agent", "NAME", "Only this agent");
    vec![
        in_git(wired(Command::new("init").about("Install the hooks (agents, git)")))
            .arg(flag("dry-run", "Show the change without writing it"))
            .arg(flag("replace", "Remove hooks of the older tools `arx` and `vf`"))
            .arg(flag("repair", "Remove what makes the agent reject the file: comments, trailing commas, a BOM")),
        in_git(wired(Command::new("uninstall").about("Remove the hooks")))
            .arg(flag("purge", "Also delete the audit log, approvals and backups").conflicts_with_all(["agent", "mcp"]))
            .arg(flag("dry-run", "Show the change without writing it")),
        emitted("emit"),
        Command::new("hooks")
            .about("Commands for the agents' hooks")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(emitted("emit")),
        Command::new("doctor")
            .about("Find what keeps the guard from seeing calls, and how to fix it")
            .arg(agent())
            .arg(flag("fix", "Fix what `reflex init` can fix, and list the rest"))
            .arg(json()),
        Command::new("verify")
            .about("Run every hook as its agent would and check that it blocks")
            .arg(agent())
            .arg(flag("live", "Start the real client once with a scripted model; needs a person at a terminal"))
            .arg(flag("yes", "Do not ask before starting what runs along with it").short('y').requires("live"))
            .arg(
                Arg::new("file")
                    .long("file")
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .conflicts_with_all(["live", "json", "agent"])
                    .help("Verify the signature of a release in FILE.minisig instead"),
            )
            .arg(
                option("public-key", "KEY", "The minisign key to verify with (default: that of this build)")
                    .requires("file"),
            )
            .arg(Arg::new("driven").long("driven").num_args(2).value_names(["AGENT", "NETWORK"]).hide(true))
            .arg(json()),
        Command::new("canary")
            .about("Print a line that agents cannot")
            .arg(Arg::new("nonce").value_name("NONCE").default_value("")),
    ]
}

/// Commands that start a program.
fn starting() -> Vec<Command> {
    vec![
        Command::new("run")
            .about("Start an agent, and sum up its calls at the end")
            .arg(option("task", "ID", "Only if this task is declared here").default_value(""))
            .arg(option("mode", "NAME", "Preset for this session; only tightens").default_value(""))
            .arg(
                flag("allow-all", "Only core rules stop a call of this agent; losses are kept first")
                    .visible_alias("yolo"),
            )
            .arg(
                flag("auto-pilot", "A model answers questions about losses that can be brought back")
                    .conflicts_with("allow-all"),
            )
            .arg(flag("supervise", "Judge every program that starts below it, with or without hooks (Linux)"))
            .arg(
                flag("watch", "Keep what programs below it delete or change, whatever the programs (Linux)")
                    .conflicts_with("supervise"),
            )
            .arg(flag("best-effort", "Start it even where this system can do neither"))
            .arg(flag("check", "Only check"))
            .arg(Arg::new("command").required(true).num_args(1..).last(true).value_name("PROGRAM ARGS")),
        Command::new("watch")
            .about("Run a command, and keep what it deletes or changes for `undo` (Linux)")
            .arg(Arg::new("command").required(true).num_args(1..).last(true).value_name("PROGRAM ARGS")),
    ]
}

fn id() -> Arg {
    Arg::new("id").required(true).value_name("ID").help("The id in the agent's message")
}

fn newest() -> Arg {
    id().required(false).help("The id in the agent's message (default: the newest call that waits)")
}

fn reason() -> Arg {
    option("reason", "TEXT", "Why").default_value("")
}

/// Commands with which a person answers a waiting call.
fn answers() -> Vec<Command> {
    vec![
        Command::new("pending")
            .about("Answer the calls that wait for you")
            .arg(flag("clear", "Remove the calls that were stopped earlier; they stay blocked").conflicts_with("json"))
            .arg(json()),
        Command::new("approve")
            .about("Allow one stopped call once")
            .arg(newest())
            .arg(option("scope", "SCOPE", "once, session, task or repository").default_value("once"))
            .arg(option("for", "DURATION", "Duration, e.g. 10m or 2h (default: 15m; 1d; the task; 365d)"))
            .arg(flag("full", "Show a long call in full; required to approve one"))
            .arg(reason()),
        Command::new("allow")
            .about("Turn a decision into a rule of your policy")
            .arg(id())
            .arg(flag("project", "Into the project's .reflex instead of your own policy"))
            .arg(flag("exact", "This command alone, not its kind"))
            .arg(option("until", "DATE", "The last day, as 2026-12-31"))
            .arg(reason()),
        Command::new("suggest").about("Turn what you approve again and again into rules").arg(json()),
        Command::new("deny")
            .about("Reject a call and remove it from the list")
            .arg(id())
            .arg(option("message", "TEXT", "Message to the agent").default_value(""))
            .arg(reason()),
    ]
}

/// Commands about the guard's records, and a person's comments on them.
fn memory() -> Vec<Command> {
    vec![
        Command::new("appeal")
            .about("Ask a person to reconsider a blocked call")
            .arg(id())
            .arg(option("because", "TEXT", "Purpose of the call").required(true))
            .arg(option("for", "DURATION", "Duration of the approval (default 15m)"))
            .arg(flag("full", "Show a long call in full"))
            .arg(json()),
        Command::new("grants").about("List approvals").arg(json()).arg(option("revoke", "ID", "Revoke an approval")),
        Command::new("off")
            .about("Turn the guard off for a limited time")
            .arg(option("for", "DURATION", "Duration (max 8h)").default_value("10m"))
            .arg(reason())
            .arg(flag("here", "Only in this project"))
            .arg(flag("end", "Turn it back on")),
        Command::new("pin").about("Set the passphrase that signs approvals").arg(flag("show", "Print the public key")),
        Command::new("report")
            .about("Summarize what ran and what was stopped")
            .arg(
                option("since", "TIME", "Start of the report: 12h, 2026-11-21 or 2026-11-21T10:00:00Z")
                    .default_value("24h"),
            )
            .arg(flag("html", "Print one self-contained HTML file").conflicts_with("json"))
            .arg(json()),
        Command::new("why").about("Explain one decision").arg(newest()).arg(json()),
        Command::new("report-fp")
            .about("Print a blocked call as a test case, with secrets removed")
            .arg(id())
            .arg(flag("add", "Also append it to your cases")),
        Command::new("status")
            .about("Show whether the guard is working")
            .arg(flag("all", "Show what is seen of each agent, gaps and remarks").conflicts_with_all(["json", "line"]))
            .arg(flag("line", "Print one line for a status bar; always exits 0").conflicts_with("json"))
            .arg(option("agent", "NAME", "With --line: only this agent").requires("line"))
            .arg(json()),
        audit_grammar(),
    ]
}

/// `rules test`: tests the rules' own examples, or one event.
fn rules_test(paths: Arg) -> Command {
    let several = |name: &'static str, form: &'static str, help: &'static str| {
        option(name, form, help).action(ArgAction::Append).requires("what")
    };
    let fields = adapt::rules_event::FIELDS.iter().map(|(name, help)| option(name, "TEXT", help).requires("event"));
    Command::new("test")
        .about("Run the rules' own examples, or ask them about one event")
        .arg(paths)
        .arg(option("event", "NAME", "Ask about an event: bash_command, file_write, prompt_submit, tool_call, …"))
        .args(fields)
        .arg(several("field", "NAME=VALUE", "Another field of the event"))
        .arg(several("var", "NAME=VALUE", "A variable of the rules; commas part several values"))
        .arg(flag("no-core", "Without the rules of the core"))
        .group(ArgGroup::new("what").args(["event", "path"]).multiple(true))
        .arg(json())
}

/// Commands about files that people write themselves.
fn people() -> Vec<Command> {
    let paths = |help| Arg::new("path").num_args(0..).value_name("PATH").help(help);
    let default_paths = "Files or folders (default: all in force here)";
    let rules = Command::new("rules")
        .about("List, check and test rules")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("List the rules in force here")
                .arg(flag("by-asks", "Only those that stopped calls, with what people answered"))
                .arg(json()),
        )
        .subcommand(
            Command::new("show")
                .about("Show one rule")
                .arg(Arg::new("id").required(true).value_name("ID").help("E.g. git/push-force or user/NAME"))
                .arg(json()),
        )
        .subcommand(
            Command::new("validate").about("Check rules and policies for errors").arg(paths(default_paths)).arg(json()),
        )
        .subcommand(rules_test(paths("Files or folders (default: all in force here); an event's .json at the end")))
        .subcommand(
            Command::new("off")
                .about("Switch one rule off in your policy; shows it first")
                .arg(Arg::new("id").required(true).value_name("ID").help("E.g. git/push-force or user/NAME"))
                .arg(option("reason", "TEXT", "Why").required(true))
                .arg(flag("project", "In the project's .reflex instead of your own policy")),
        )
        .subcommand(Command::new("stages").about("Show what rules on trial would have done").arg(json()))
        .subcommand(
            Command::new("new")
                .about("Print a rule template, or one for a logged call")
                .arg(Arg::new("id").value_name("ID").help("The id of a record or of a blocked call")),
        );
    let config = Command::new("config")
        .about("Show your configuration")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("show")
                .about("Print every key in force here")
                .arg(flag("origin", "Include the file and line of each key"))
                .arg(json()),
        );
    let trust = Command::new("trust")
        .about("Trust this workspace's .reflex files to loosen rules")
        .arg(option("reason", "TEXT", "Why").default_value(""))
        .arg(flag("revoke", "Revoke the trust"))
        .arg(flag("show", "Show what would be trusted"));
    vec![rules, adapt::reflexes::grammar(), config, trust, answer::task::grammar(), adapt::import::grammar()]
}

fn audit_grammar() -> Command {
    let number = |default: &'static str| {
        option("number", "N", "Maximum number of records")
            .short('n')
            .default_value(default)
            .value_parser(value_parser!(usize))
    };
    Command::new("audit")
        .about("Read, check and export the audit log")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("path").about("Print the log's directory"))
        .subcommand(
            Command::new("tail")
                .about("Print the newest records")
                .arg(number("20"))
                .arg(flag("follow", "Keep printing new records").short('f'))
                .arg(json()),
        )
        .subcommand(
            Command::new("search")
                .about("Find records by FIELD=VALUE (e.g. decision=block) or text")
                .arg(Arg::new("text").num_args(0..).value_name("WORD"))
                .arg(number("20"))
                .arg(option("since", "TIME", "Not before: 2h, 2026-11-21 or 2026-11-21T10:00:00Z"))
                .arg(option("until", "TIME", "Not after"))
                .arg(json()),
        )
        .subcommand(Command::new("verify").about("Verify that no record was changed or removed").arg(json()))
        .subcommand(
            Command::new("export")
                .about("Print all records or send them to a local collector")
                .arg(
                    option("format", "FORMAT", "jsonl, csv, ocsf or otlp")
                        .default_value("jsonl")
                        .value_parser(history::export::FORMATS),
                )
                .arg(option("since", "TIME", "Not before: 2h, 2026-11-21 or 2026-11-21T10:00:00Z").default_value(""))
                .arg(option("to", "URL", "Collector, e.g. http://127.0.0.1:4318; needs a person")),
        )
        .subcommand(
            Command::new("purge")
                .about("Remove old records; the hash chain stays valid")
                .arg(option("before", "TIME", "Remove records older than this: 90d or 2026-11-21").required(true))
                .arg(option("reason", "TEXT", "Why").default_value("")),
        )
        .subcommand(
            Command::new("texts").about("Choose whether the log keeps the text of calls").arg(
                option("keep", "YES|NO", "no: keep only the structure").required(true).value_parser(["yes", "no"]),
            ),
        )
}

fn judged(command: Command) -> Command {
    command
        .arg(json())
        .arg(option("cwd", "DIR", "Directory the command would run in"))
        .arg(option("agent", "NAME", "Agent whose answer to show").visible_alias("as").default_value("claude"))
        .arg(option("mode", "MODE", "Policy to apply").default_value("balanced"))
        .arg(flag("payload", "Judge the agent's payload or event on standard input"))
        .arg(
            Arg::new("command")
                .required_unless_present("payload")
                .conflicts_with("payload")
                .value_name("COMMAND")
                .help("The command, in quotes if it holds quotes, pipes or `;`; `-` reads standard input"),
        )
}

fn wired(command: Command) -> Command {
    command
        .arg(option("agent", "NAME", "Only this agent"))
        .arg(
            option("scope", "SCOPE", "user: all projects; project: only this one")
                .default_value("user")
                .value_parser(["user", "project"]),
        )
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Write without asking"))
}

fn in_git(command: Command) -> Command {
    command
        .arg(
            flag("git", "The hooks of git in this repository instead: pre-commit and pre-push").conflicts_with("agent"),
        )
        .arg(flag("global", "With --git: of all repositories, by `core.hooksPath`").requires("git"))
        .arg(flag("mcp", "The MCP servers of clients instead: `reflex mcp` in front of each").conflicts_with("git"))
}

fn emitted(name: &'static str) -> Command {
    Command::new(name)
        .about("Print hook files without installing them")
        .arg(option("agent", "NAME", "Only this agent"))
        .arg(
            option("scope", "SCOPE", "user, project or managed (default: all three)")
                .value_parser(["user", "project", "managed"]),
        )
        .arg(option("binary", "PATH", "Path of reflex on the target machines (default: this one)"))
        .arg(option("out", "DIR", "Write below this directory; keeps existing files"))
        .arg(json())
}

fn man(matches: &ArgMatches) -> u8 {
    let Some(folder) = matches.get_one::<PathBuf>("dir") else { return code::USAGE };
    match clap_mangen::generate_to(grammar(), folder) {
        Ok(()) => code::OK,
        Err(source) => Error::File { file: folder.clone(), source }.report(),
    }
}

fn completions(matches: &ArgMatches) -> u8 {
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut grammar(), "reflex", &mut script);
        note(std::io::stdout().write_all(&script));
    }
    code::OK
}
