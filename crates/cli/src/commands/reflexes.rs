//! `reflex reflexes`: take reflexes, look at them, write one, try it, give it away.

mod accept;
mod catalog;
mod check;
mod here;
mod list;
mod show;
mod take;
mod template;
mod test;

use crate::status;
use crate::terminal::arguments::{flag, json, option};
use clap::{Arg, ArgMatches, Command};

/// The words of the command.
pub(super) fn grammar() -> Command {
    let user = || flag("user", "For all projects of this user, not for this one");
    let registry =
        || option("registry", "PLACE", "A registry: its folder, its registry.json or the address of that with https");
    let name = |help| Arg::new("name").value_name("NAME").help(help);
    Command::new("reflexes")
        .about("Reflexes: modules in JavaScript or TypeScript that have a say in every call")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("Print the reflexes that are listed for this folder").arg(json()))
        .subcommand(
            Command::new("add")
                .visible_alias("install")
                .about("Take a reflex, after a person has seen what it may do")
                .arg(Arg::new("source").required(true).value_name("SOURCE").help(
                    "A name of the catalog, a folder, a module, a .tgz, npm:NAME, github:OWNER/NAME[/FOLDER], git+URL[#BRANCH:FOLDER]",
                ))
                .arg(option("with", "JSON", "Its options"))
                .arg(flag("show", "Print its files and add nothing"))
                .arg(registry())
                .arg(user()),
        )
        .subcommand(Command::new("remove").about("Take a reflex off the list").arg(name("As `list` prints it").required(true)).arg(user()))
        .subcommand(
            Command::new("update")
                .about("Look where reflexes came from, show what changed, and take it after a person's yes")
                .arg(name("Only this one"))
                .arg(user()),
        )
        .subcommand(
            Command::new("new")
                .about("Write a reflex to begin with into .reflex/reflexes/NAME")
                .arg(name("Small letters, digits and dashes").required(true)),
        )
        .subcommand(test::grammar())
        .subcommand(
            Command::new("publish")
                .about("Say what a reflex lacks before others take it")
                .arg(flag("check", "Check only; nothing is ever uploaded").required(true))
                .arg(Arg::new("path").value_name("PATH").help("The reflex's folder").default_value(".")),
        )
        .subcommand(
            Command::new("catalog")
                .about("Lists of reflexes")
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommand(
                    Command::new("search")
                        .about("Print the reflexes that fit all words; without a registry those that ship")
                        .arg(Arg::new("word").num_args(0..).value_name("WORD"))
                        .arg(registry())
                        .arg(json()),
                )
                .subcommand(
                    Command::new("build")
                        .about("Pack every reflex below a folder and list them: files that any web server can give away")
                        .arg(Arg::new("folder").required(true).value_name("DIR"))
                        .arg(option("out", "DIR", "Where to write").default_value("registry")),
                ),
        )
}

pub(super) fn run(matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("list", matches)) => list::run(matches),
        Some(("add", matches)) => take::add(matches),
        Some(("remove", matches)) => take::remove(matches),
        Some(("update", matches)) => take::update(matches),
        Some(("new", matches)) => template::run(matches),
        Some(("test", matches)) => test::run(matches),
        Some(("publish", matches)) => check::run(matches),
        Some(("catalog", matches)) => catalog::run(matches),
        _ => status::USAGE,
    }
}
