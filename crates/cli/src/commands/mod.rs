//! Every command but `hook`.

mod check;
mod demo;
mod eval;
mod explain;
mod wire;

use crate::status;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::io::Write;

/// Parses the command line and runs what it names; the exit status.
pub(crate) fn run() -> u8 {
    let matches = match grammar().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { status::USAGE } else { status::OK };
        }
    };
    match matches.subcommand() {
        Some(("check", matches)) => check::run(matches),
        Some(("explain", matches)) => explain::run(matches),
        Some(("eval", matches)) => eval::run(matches),
        Some(("demo", matches)) => demo::run(matches),
        Some(("init", matches)) => wire::init(matches),
        Some(("uninstall", matches)) => wire::uninstall(matches),
        Some(("completions", matches)) => completions(matches),
        _ => status::USAGE,
    }
}

fn grammar() -> Command {
    Command::new("reflex")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The guard between coding agents and your machine")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("hook")
                .about("Answer one event of an agent: payload on standard input, the agent's own answer out")
                .arg(option("agent", "NAME", "The agent that calls; recognised from the payload if it is left out"))
                .arg(option("event", "EVENT", "The agent's own word for the moment")),
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
        .subcommand(
            wired(Command::new("init").about("Put Reflex before every tool call of an agent"))
                .arg(flag("dry-run", "Show the change and write nothing")),
        )
        .subcommand(
            wired(Command::new("uninstall").about("Take Reflex out of an agent's settings again"))
                .arg(flag("dry-run", "Show the change and write nothing")),
        )
        .subcommand(
            Command::new("completions")
                .about("Print a shell's completions")
                .arg(Arg::new("shell").required(true).value_parser(value_parser!(clap_complete::Shell))),
        )
}

fn judged(command: Command) -> Command {
    command
        .arg(json())
        .arg(option("cwd", "DIR", "The folder in which it would run"))
        .arg(option("agent", "NAME", "Whose answer to show").default_value("claude"))
        .arg(option("mode", "MODE", "The policy to judge by").default_value("balanced"))
        .arg(Arg::new("command").required(true).value_name("COMMAND").help("The command, as one word"))
}

fn wired(command: Command) -> Command {
    command
        .arg(option("agent", "NAME", "Only this agent"))
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Do not ask before writing"))
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn json() -> Arg {
    flag("json", "Print JSON")
}

fn completions(matches: &ArgMatches) -> u8 {
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut grammar(), "reflex", &mut script);
        let _ = std::io::stdout().write_all(&script);
    }
    status::OK
}

/// A text of an option that always has one.
fn text<'a>(matches: &'a ArgMatches, name: &str) -> &'a str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}

/// Prints to standard output; a reader that went away is no error of ours.
fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "reflex: {line}");
}
