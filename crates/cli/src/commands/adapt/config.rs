//! `reflex config show`: every key that a user, project or managed policy sets, with the file that sets it.

use crate::commands::adapt::rules;
use crate::exit_code;
use crate::terminal::output::{print, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::layers::{preset_in_force, standing};
use reflex_host::{Context, Mode};
use serde_json::{Value, json};

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    match matches.subcommand() {
        Some(("show", matches)) => show(context, matches),
        _ => exit_code::USAGE,
    }
}

/// Returns the output of `--json`.
pub(in crate::commands) fn as_json(context: &Context) -> Value {
    let host = context.host(Mode::default());
    let policy = host.policy_name(&host.placed(Default::default()));
    let layers = rules::here(&host);
    let standing = standing(&layers, policy);
    let rows: Vec<Value> = layers
        .iter()
        .zip(&standing)
        .map(|(layer, standing)| {
            let keys = layer.origins().iter().zip(standing).map(
                |((key, at, value), standing)| json!({"key": key, "at": at, "value": value, "standing": standing}),
            );
            json!({
                "layer": layer.loaded.layer.authority.name(), "folder": layer.loaded.place.folder,
                "loosens": layer.loaded.layer.loosens.holds(), "why_tight": layer.loaded.why_tight,
                "digest": layer.loaded.digest, "problems": layer.loaded.layer.problems,
                "keys": keys.collect::<Vec<_>>(), "rules": layer.compiled.rules.len(),
            })
        })
        .collect();
    json!({"schema": "reflex/config-v1", "policy": preset_in_force(&layers, policy), "layers": rows})
}

fn show(context: &Context, matches: &ArgMatches) -> u8 {
    if matches.get_flag("json") {
        print_json(&as_json(context).to_string());
        return exit_code::OK;
    }
    let host = context.host(Mode::default());
    let policy = host.policy_name(&host.placed(Default::default()));
    let layers = rules::here(&host);
    let standing = standing(&layers, policy);
    let policy = preset_in_force(&layers, policy);
    print(&format!("policy {policy}"));
    if layers.is_empty() {
        print("no user, project or managed configuration found");
    }
    for (layer, standing) in layers.iter().zip(&standing) {
        let counts = match &layer.loaded.why_tight {
            Some(why) => format!("only tightens: {}", visible(why)),
            None if layer.loaded.layer.loosens.holds() => "may loosen".into(),
            None => "only tightens until `reflex trust` accepts it with your passphrase".into(),
        };
        let (name, folder) = (layer.loaded.layer.authority.name(), layer.loaded.place.folder.display());
        print(&format!("{name} {} ({} rules; {counts})", visible(&folder.to_string()), layer.compiled.rules.len()));
        for ((key, at, value), standing) in layer.origins().iter().zip(standing) {
            let at = if matches.get_flag("origin") { format!("   {}", visible(at)) } else { String::new() };
            print(&format!("  {}: {}{at}   {standing}", visible(key), visible(&value.to_string())));
        }
        layer.loaded.layer.problems.iter().for_each(|problem| print(&format!("  PROBLEM {}", visible(problem))));
    }
    exit_code::OK
}
