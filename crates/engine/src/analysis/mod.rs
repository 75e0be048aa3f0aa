//! Turns an event into its analysis: commands, effects, gaps. The machine is queried for variables and
//! aliases, for the content of files that are run, and for what paths lead to. Facts that only rules need come later.
//!
//! [`CALL_PASSES`] and [`TEXT_PASSES`] are everything that happens, in order. Each pass adds effects, or marks or removes
//! those of earlier passes; its file says which.

mod about_guard;
mod actions;
mod agent_paths;
pub(crate) mod aliases;
mod archived;
mod arguments;
pub(crate) mod clones;
pub(crate) mod command_pattern;
pub(crate) mod commands;
mod compiled;
mod compose;
pub(crate) mod config_files;
pub(crate) mod config_inputs;
mod database_files;
mod discarded;
mod dockerfile;
mod downloads;
pub(crate) mod effects;
mod environment;
mod exposed_variables;
mod extraction;
pub(crate) mod fingerprint;
mod flows;
mod gaps;
mod loading;
mod mcp;
mod mention;
mod mounts;
mod obfuscation;
mod output_templates;
mod paths_in_code;
mod pathspec;
mod pending_ids;
mod processes;
mod reading;
pub(crate) mod replaced;
mod scripts;
mod secret_exposure;
mod settings;
mod sql;
pub(crate) mod started;
pub(crate) mod task_runners;
pub(crate) mod tool_call;
mod truncation;
mod unread;

use self::effects::{Input, TextPass};
use crate::model::analysis::Analysis;
use crate::model::event::Event;
use crate::model::world::World;
use reflex_tables::Tables;

/// A pass over the whole call.
type CallPass = fn(Input<'_>, &mut Analysis);

/// The passes over the call, in order.
const CALL_PASSES: &[CallPass] = &[
    actions::add,
    secret_exposure::add_of_output,
    scripts::follow,
    discarded::follow_moves,
    archived::mark,
    pending_ids::add,
    truncation::limit_targets,
];

/// The passes over each text, in order: over the text of each action, then over each script that is run or written. A pass
/// sees the effects of those before it, so a new one follows the passes whose effects it needs.
const TEXT_PASSES: &[TextPass] = &[
    commands::add,
    unread::add,
    extraction::add,
    processes::add_targets,
    environment::add_sent,
    environment::mark_kept,
    exposed_variables::add,
    exposed_variables::add_environment,
    flows::follow,
    mention::add,
    downloads::mark,
    sql::add_fetched,
    sql::add_files,
    database_files::add,
    obfuscation::add_decoded,
    obfuscation::add_disguises,
    obfuscation::add_nested,
    settings::add,
    gaps::add,
];

/// Returns the effects of the event's actions.
pub fn analyze(event: &Event, tables: Tables, world: &dyn World) -> Analysis {
    let input = Input { event, tables, world, passes: TEXT_PASSES };
    let mut analysis = Analysis::default();
    CALL_PASSES.iter().for_each(|pass| pass(input, &mut analysis));
    analysis.number();
    analysis
}
