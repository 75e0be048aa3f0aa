//! Declares and reads the arguments of the commands.

use clap::{Arg, ArgAction, ArgMatches};

pub(crate) fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(crate) fn json() -> Arg {
    flag("json", "Print JSON")
}

/// Returns the text of an option that always has one.
pub(crate) fn text<'a>(matches: &'a ArgMatches, name: &str) -> &'a str {
    matches.get_one::<String>(name).map_or("", String::as_str)
}
