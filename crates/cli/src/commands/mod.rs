//! Every command but `hook`.

mod appeal;
mod approve;
mod audit;
mod audit_record;
mod check;
mod chosen;
mod config;
mod demo;
mod doctor;
mod emit;
mod eval;
mod explain;
mod export;
mod import;
mod live;
mod pin;
mod reflexes;
mod report;
mod rules;
mod rules_new;
mod status;
mod status_line;
mod suggest;
mod task;
mod trust;
mod waiting;
mod why;
mod wire;

use crate::status as code;
use crate::terminal::arguments::{flag, json, option};
use crate::terminal::output::{complain, note, was_lost};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use reflex_host::choose_home;
use std::io::Write;

/// Parses the command line and runs what it names; the exit status. What could not be printed is no success.
pub(crate) fn run() -> u8 {
    let code = run_named();
    if was_lost() {
        complain("standard output cannot be written");
        return code::INTERNAL;
    }
    code
}

fn run_named() -> u8 {
    let matches = match grammar().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { code::USAGE } else { code::OK };
        }
    };
    let is_eval = matches.subcommand_name() == Some("eval");
    if let Some(home) = matches.get_one::<String>("home").filter(|_| !is_eval)
        && let Err(problem) = choose_home(home)
    {
        complain(&problem);
        return code::USAGE;
    }
    match matches.subcommand() {
        Some(("check", matches)) => check::run(matches),
        Some(("explain", matches)) => explain::run(matches),
        Some(("eval", matches)) => eval::run(matches),
        Some(("demo", matches)) => demo::run(matches),
        Some(("init", matches)) => wire::init(matches),
        Some(("uninstall", matches)) => wire::uninstall(matches),
        Some(("emit", matches)) => emit::run(matches),
        Some(("hooks", matches)) => match matches.subcommand() {
            Some(("emit", matches)) => emit::run(matches),
            _ => code::USAGE,
        },
        Some(("doctor", matches)) => doctor::run(matches),
        Some(("verify", matches)) if live::is_meant(matches) => live::run(matches),
        Some(("verify", matches)) => doctor::verify(matches),
        Some(("canary", matches)) => live::canary(matches),
        Some(("pending", matches)) => approve::pending(matches),
        Some(("approve", matches)) => approve::approve(matches),
        Some(("deny", matches)) => approve::deny(matches),
        Some(("appeal", matches)) => appeal::run(matches),
        Some(("grants", matches)) => approve::grants(matches),
        Some(("off", matches)) => approve::off(matches),
        Some(("pin", matches)) => pin::run(matches),
        Some(("report", matches)) => report::run(matches),
        Some(("why", matches)) => why::why(matches),
        Some(("report-fp", matches)) => why::report(matches),
        Some(("audit", matches)) => audit::run(matches),
        Some(("rules", matches)) => rules::run(matches),
        Some(("reflexes", matches)) => reflexes::run(matches),
        Some(("config", matches)) => config::run(matches),
        Some(("trust", matches)) => trust::run(matches),
        Some(("task", matches)) => task::run(matches),
        Some(("import", matches)) => import::run(matches),
        Some(("status", matches)) if matches.get_flag("line") => status_line::run(matches),
        Some(("status", matches)) => status::run(matches),
        Some(("completions", matches)) => completions(matches),
        _ => code::USAGE,
    }
}

fn grammar() -> Command {
    Command::new("reflex")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The guard between coding agents and your machine")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(
            option("home", "DIR", "The home below which Reflex keeps its files; else that of the user database")
                .global(true),
        )
        .subcommand(
            Command::new("hook")
                .about("Answer one event of an agent: payload on standard input, the agent's own answer out")
                .arg(option("agent", "NAME", "The agent that calls; recognised from the payload if it is left out"))
                .arg(option("event", "EVENT", "The agent's own word for the moment"))
                .arg(option("key", "KEY", "The public key with which approvals are signed")),
        )
        .subcommand(judged(
            Command::new("check")
                .about("Say what would happen to a command; status 0 allow or warn, 2 block, 3 approval"),
        ))
        .subcommand(judged(
            Command::new("explain")
                .about("The same with the whole chain: stages, effects, facts, findings, what the agent is told"),
        ))
        .subcommand(
            Command::new("eval")
                .about("Judge universal events: JSON lines in, JSON lines out; no real file is looked at")
                .arg(option("home", "DIR", "The home folder of events that name none").default_value("/home/user"))
                .arg(option("mode", "MODE", "The policy to judge by").default_value("balanced")),
        )
        .subcommand(
            Command::new("demo")
                .about("Play recorded calls of agents and show what happens; touches nothing")
                .arg(json()),
        )
        .subcommands(wiring())
        .subcommands(memory())
        .subcommands(people())
        .subcommand(
            Command::new("completions")
                .about("Print a shell's completions")
                .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell))),
        )
}

/// The guard's place before the agents' tools, and whether it stands there.
fn wiring() -> Vec<Command> {
    let agent = || option("agent", "NAME", "Only this agent");
    vec![
        wired(Command::new("init").about("Put Reflex before every tool call of an agent"))
            .arg(flag("dry-run", "Show the change and write nothing"))
            .arg(flag("replace", "Take out the hooks of `arx` and `vf`, which came before"))
            .arg(flag(
                "repair",
                "Take out what the agent would drop the whole file for: comments, last commas, a byte-order mark",
            )),
        wired(Command::new("uninstall").about("Take Reflex out of an agent's settings again"))
            .arg(flag("dry-run", "Show the change and write nothing")),
        emitted("emit"),
        Command::new("hooks")
            .about("What agents start before and after their tools")
            .subcommand_required(true)
            .subcommand(emitted("emit")),
        Command::new("doctor")
            .about("Name what keeps the guard from an agent's calls, each with the line that mends it")
            .arg(agent())
            .arg(flag("fix", "Mend what `reflex init` mends, and name what is left"))
            .arg(json()),
        Command::new("verify")
            .about("Start every hook exactly as its agent would, and see that it refuses")
            .arg(agent())
            .arg(flag(
                "live",
                "Start the real client once, with a model that asks for a harmless canary; only a person can",
            ))
            .arg(flag("yes", "Do not ask before what would run beside it does").short('y').requires("live"))
            .arg(Arg::new("driven").long("driven").num_args(2).value_names(["AGENT", "NETWORK"]).hide(true))
            .arg(json()),
        Command::new("canary")
            .about("Print a line and do nothing else; where the guard stands, an agent cannot run it")
            .arg(Arg::new("nonce").value_name("NONCE").default_value("")),
    ]
}

/// What the guard remembers, and what a person says about it.
fn memory() -> Vec<Command> {
    let id = || Arg::new("id").required(true).value_name("ID").help("The id that stands in the refusal");
    let reason = || option("reason", "TEXT", "Why").default_value("");
    vec![
        Command::new("pending")
            .about("List the calls that were refused or asked about")
            .arg(
                flag("answer", "Answer them here, one after another; the passphrase is asked for once")
                    .conflicts_with("json"),
            )
            .arg(json()),
        Command::new("approve")
            .about("Let exactly one refused call run; only a person at a terminal can")
            .arg(id())
            .arg(option("scope", "SCOPE", "once, session, task or repository").default_value("once"))
            .arg(option("for", "DURATION", "How long the yes holds, such as 10m or 2h (15m)"))
            .arg(flag("full", "Show all of a long call; without, a yes to it is not taken"))
            .arg(reason()),
        Command::new("deny").about("Keep a call refused and take it off the list").arg(id()).arg(reason()),
        Command::new("appeal")
            .about("Have a refused call judged again; an agent asks with it, a person decides")
            .arg(id())
            .arg(option("because", "TEXT", "What the call is for").required(true))
            .arg(option("for", "DURATION", "How long a person's yes holds (15m)"))
            .arg(flag("full", "Show all of a long call"))
            .arg(json()),
        Command::new("grants")
            .about("List what was approved")
            .arg(json())
            .arg(option("revoke", "ID", "Take an approval back"))
            .arg(flag("suggest", "Name narrow rules that would have saved you questions")),
        Command::new("off")
            .about("Switch the guard off for a while; it comes back by itself")
            .arg(option("for", "DURATION", "How long, at most 8h").default_value("10m"))
            .arg(reason())
            .arg(flag("here", "Only in the project here"))
            .arg(flag("end", "Switch it on again")),
        Command::new("pin")
            .about("Set or change the passphrase that approvals are signed with; only a person at a terminal can")
            .arg(flag("show", "Print the public key and change nothing")),
        Command::new("report")
            .about("Print one page: what ran, was refused, asked, went in circles, gave orders, could not be seen")
            .arg(option("since", "TIME", "From when on: 12h, 2026-11-21 or 2026-11-21T10:00:00Z").default_value("24h"))
            .arg(flag("html", "Print it as one HTML file that loads nothing").conflicts_with("json"))
            .arg(json()),
        Command::new("why").about("Tell the story of one decision").arg(id()).arg(json()),
        Command::new("report-fp")
            .about("Print a refused call as a case without secrets that `reflex eval` plays again")
            .arg(id())
            .arg(flag("add", "Also append it to your own cases")),
        Command::new("status")
            .about("Say whether the guard is alive and what a person should know")
            .arg(flag("line", "Print one line for a status line; always status 0").conflicts_with("json"))
            .arg(option("agent", "NAME", "With --line: only this agent").requires("line"))
            .arg(json()),
        audit_grammar(),
    ]
}

/// What people write themselves.
fn people() -> Vec<Command> {
    let paths = |help| Arg::new("path").num_args(0..).value_name("PATH").help(help);
    let own = "Files or folders; without one all that counts in this folder";
    let rules = Command::new("rules")
        .about("The rules of the library and your own")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("Print every rule that counts in this folder").arg(json()))
        .subcommand(
            Command::new("show")
                .about("Print one rule")
                .arg(Arg::new("id").required(true).value_name("ID").help("Such as git/push-force or user/NAME"))
                .arg(json()),
        )
        .subcommand(
            Command::new("validate").about("Say what is wrong with rules and policies").arg(paths(own)).arg(json()),
        )
        .subcommand(Command::new("test").about("Play the examples that rules carry").arg(paths(own)))
        .subcommand(
            Command::new("stages").about("Say what rules that are only tried out would have done so far").arg(json()),
        )
        .subcommand(
            Command::new("new")
                .about("Print a rule to begin with, about a call of the audit log if you name one")
                .arg(Arg::new("id").value_name("ID").help("The id of a record or of a refused call")),
        );
    let config = Command::new("config").about("What your files set").subcommand_required(true).subcommand(
        Command::new("show")
            .about("Print every key that counts in this folder")
            .arg(flag("origin", "With the file and line that sets it"))
            .arg(json()),
    );
    let trust = Command::new("trust")
        .about("Accept the files in .reflex of this workspace, so that they may also loosen; only a person can")
        .arg(option("reason", "TEXT", "Why").default_value(""))
        .arg(flag("revoke", "Take it back"))
        .arg(flag("show", "Show what would be accepted, and accept nothing"));
    vec![rules, reflexes::grammar(), config, trust, task::grammar(), import::grammar()]
}

fn audit_grammar() -> Command {
    let number = |default: &'static str| {
        option("number", "N", "At most so many records")
            .short('n')
            .default_value(default)
            .value_parser(value_parser!(usize))
    };
    Command::new("audit")
        .about("The log of every decision")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("path").about("Print the log's folder"))
        .subcommand(
            Command::new("tail")
                .about("Print the newest records")
                .arg(number("20"))
                .arg(flag("follow", "Go on with new ones").short('f'))
                .arg(json()),
        )
        .subcommand(
            Command::new("search")
                .about("Print the newest records that fit: FIELD=VALUE (decision=deny) or any text")
                .arg(Arg::new("text").num_args(0..).value_name("WORD"))
                .arg(number("20"))
                .arg(option("since", "TIME", "Not older: 2h, 2026-11-21 or 2026-11-21T10:00:00Z"))
                .arg(option("until", "TIME", "Not newer"))
                .arg(json()),
        )
        .subcommand(Command::new("verify").about("Check that no record was changed or removed").arg(json()))
        .subcommand(
            Command::new("export")
                .about("Print all records, or send them to a collector on this machine")
                .arg(
                    option("format", "FORMAT", "jsonl, csv, ocsf or otlp")
                        .default_value("jsonl")
                        .value_parser(export::FORMATS),
                )
                .arg(option("since", "TIME", "Not older: 2h, 2026-11-21 or 2026-11-21T10:00:00Z").default_value(""))
                .arg(option("to", "URL", "A collector, such as http://127.0.0.1:4318; only a person can")),
        )
        .subcommand(
            Command::new("purge")
                .about("Remove old records; the chain stays whole")
                .arg(option("before", "TIME", "Older than this: 90d or 2026-11-21").required(true))
                .arg(option("reason", "TEXT", "Why").default_value("")),
        )
        .subcommand(
            Command::new("texts").about("Choose whether records hold the texts of calls, without secrets").arg(
                option("keep", "YES|NO", "no keeps the structure only").required(true).value_parser(["yes", "no"]),
            ),
        )
}

fn judged(command: Command) -> Command {
    command
        .arg(json())
        .arg(option("cwd", "DIR", "The folder in which it would run"))
        .arg(option("agent", "NAME", "Whose answer to show").default_value("claude"))
        .arg(option("mode", "MODE", "The policy to judge by").default_value("balanced"))
        .arg(flag("payload", "Judge the call on standard input: an agent's payload or a universal event"))
        .arg(
            Arg::new("command")
                .required_unless_present("payload")
                .conflicts_with("payload")
                .value_name("COMMAND")
                .help("The command, as one word; `-` reads it from standard input"),
        )
}

fn wired(command: Command) -> Command {
    command
        .arg(option("agent", "NAME", "Only this agent"))
        .arg(
            option("scope", "SCOPE", "user: for every project; project: for the one here alone")
                .default_value("user")
                .value_parser(["user", "project"]),
        )
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Do not ask before writing"))
}

fn emitted(name: &'static str) -> Command {
    Command::new(name)
        .about("Print every agent's own files with the hook in them, or write them below a folder; wires nothing here")
        .arg(option("agent", "NAME", "Only this agent"))
        .arg(
            option(
                "scope",
                "SCOPE",
                "user, project, or managed: what an administrator rolls out; without it all three",
            )
            .value_parser(["user", "project", "managed"]),
        )
        .arg(option(
            "binary",
            "PATH",
            "The path of reflex on the machines that will have the files; this binary's if left out",
        ))
        .arg(option("out", "DIR", "Write them below this folder; a file that is there is left alone"))
        .arg(json())
}

fn completions(matches: &ArgMatches) -> u8 {
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut grammar(), "reflex", &mut script);
        note(std::io::stdout().write_all(&script));
    }
    code::OK
}
