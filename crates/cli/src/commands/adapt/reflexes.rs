//! `reflex reflexes`: adds, inspects, writes and tests reflexes.

mod accept;
mod catalog;
mod here;
mod list;
mod show;
mod take;
mod template;
mod test;

use crate::exit_code;
use crate::terminal::arguments::{flag, json, option};
use clap::{Arg, ArgMatches, Command};
use reflex_host::Context;

/// Returns the grammar of the command.
pub(in crate::commands) fn grammar() -> Command {
    let user = || flag("user", "For all your projects instead of this one");
    let name = |help| Arg::new("name").value_name("NAME").help(help);
    Command::new("reflexes")
        .about("Manage JavaScript and TypeScript modules that check calls")
        .subcommand_required(true).arg_required_else_help(true)
        .subcommand(Command::new("list").about("List the reflexes in force here").arg(json()))
        .subcommand(
            Command::new("add")
                .visible_alias("install")
                .about("Add a reflex, after you confirm what it may do")
                .arg(Arg::new("source").required(true).value_name("SOURCE").help(
                    "A name of the catalog, a folder, a module, a .tgz, npm:NAME, github:OWNER/NAME[/FOLDER], git+URL[#BRANCH:FOLDER]",
                ))
                .arg(option("with", "JSON", "Its options"))
                .arg(flag("show", "Print its files without adding it"))
                .arg(user()),
        )
        .subcommand(Command::new("remove").about("Remove a reflex").arg(name("As `list` prints it").required(true)).arg(user()))
        .subcommand(
            Command::new("update")
                .about("Update reflexes from their source, after you confirm the changes")
                .arg(name("Only this one"))
                .arg(user()),
        )
        .subcommand(
            Command::new("new")
                .about("Create a reflex in .reflex/reflexes/NAME")
                .arg(name("Characters a-z, 0-9 and -").required(true)),
        )
        .subcommand(test::grammar())
        .subcommand(
            Command::new("catalog")
                .about("Reflexes that ship")
                .subcommand_required(true).arg_required_else_help(true)
                .arg_required_else_help(true)
                .subcommand(
                    Command::new("search")
                        .about("Search the reflexes that ship")
                        .arg(Arg::new("word").num_args(0..).value_name("WORD"))
                        .arg(json()),
                ),
        )
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("list", matches)) => list::run(context, matches),
        Some(("add", matches)) => take::add(context, matches),
        Some(("remove", matches)) => take::remove(context, matches),
        Some(("update", matches)) => take::update(context, matches),
        Some(("new", matches)) => template::run(context, matches),
        Some(("test", matches)) => test::run(context, matches),
        Some(("catalog", matches)) => catalog::run(matches),
        _ => exit_code::USAGE,
    }
}
