//! `reflex ui`: serves the page on this machine, for as long as the terminal lives.

use crate::commands::adapt::backtest::as_json as backtest;
use crate::commands::adapt::config::as_json as config;
use crate::commands::adapt::rules::listed as rules;
use crate::commands::history::search::{Words, found};
use crate::commands::preview::explain::explained;
use crate::commands::setup::status::as_json as status;
use crate::exit_code as code;
use crate::terminal::arguments::flag;
use crate::terminal::output::{complain, print};
use crate::terminal::person::person;
use clap::{Arg, ArgMatches, Command, value_parser};
use reflex_host::signing::InForce;
use reflex_host::{Context, open_browser};
use reflex_ui::{Address, Commands, Page, serve};
use serde_json::Value;

pub(in crate::commands) fn grammar() -> Command {
    let help = "The port on 127.0.0.1 (default: a free one)";
    let port =
        Arg::new("port").long("port").value_name("PORT").help(help).value_parser(value_parser!(u16)).default_value("0");
    Command::new("ui")
        .about("Open the page where you answer calls and see what agents did")
        .arg(port)
        .arg(flag("no-open", "Print the address and a code instead of opening a browser"))
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    let Some(person) = person(&store, "ui", "") else { return code::FOUND };
    let commands = Commands {
        status: |context| status(context, &context.store()),
        explain: |context, fields| explained(context, fields).map_err(|error| error.to_string()),
        rules,
        config,
        backtest: |context, policy, last| backtest(context, policy, last).map_err(|error| error.to_string()),
        search: |context, words, limit| {
            let log = context.store().log();
            let words = Words { words, since: None, until: None };
            let found = found(&log, words, limit).map_err(|error| error.to_string())?;
            Ok(found.into_iter().map(Value::Object).collect())
        },
    };
    let port = matches.get_one::<u16>("port").copied().unwrap_or_default();
    let page = Page { context: context.clone(), person, port, commands };
    let is_signed = *store.key_in_force() != InForce::Unprotected;
    match serve(page, |address| report(address, !matches.get_flag("no-open"), is_signed)) {
        Ok(()) => code::OK,
        Err(error) => {
            complain(&format!("no page on port {port}: {error} (without --port a free one is taken)"));
            code::INTERNAL
        }
    }
}

/// Opens or prints the address. The one-time code is in the fragment after `#`, so it reaches no server and no log.
fn report(address: &Address, opens: bool, is_signed: bool) {
    let Address { url, code } = address;
    if opens && open_browser(&format!("{url}#code={code}")) {
        print(&format!("{url} is open in your browser; Ctrl-C ends it"));
    } else {
        print(&format!("{url} is ready; Ctrl-C ends it"));
        print(&format!("Enter this code there, once: {code}"));
    }
    if !is_signed {
        print("It shows what waits; to answer there, set a passphrase with `reflex pin` first.");
    }
}
