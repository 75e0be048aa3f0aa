//! Turns an event into its analysis: commands, effects, gaps. The machine is queried for variables, and for the content
//! of files that are run.
//!
//! [`analyze`] lists the passes in order. Each adds effects, or marks or removes existing ones.

mod about_guard;
mod agent_paths;
pub(crate) mod aliases;
mod archived;
mod arguments;
pub(crate) mod clones;
pub(crate) mod command_pattern;
mod compiled;
mod compose;
pub(crate) mod config_files;
pub(crate) mod config_inputs;
mod database_files;
mod discarded;
mod dockerfile;
pub(crate) mod effects;
mod environment;
mod exposed_variables;
mod extraction;
pub(crate) mod fingerprint;
mod flows;
mod loading;
mod mcp;
mod mention;
mod mounts;
mod obfuscation;
mod output_templates;
mod paths_in_code;
mod pathspec;
mod pending_ids;
pub(crate) mod replaced;
mod scripts;
mod secret_exposure;
mod sql;
pub(crate) mod started;
pub(crate) mod task_runners;
pub(crate) mod tool_call;
mod truncation;

use self::about_guard::Analyst;
use self::effects::EffectExtractor;
use crate::model::analysis::Analysis;
use crate::model::event::Event;
use crate::model::world::World;
use reflex_tables::Tables;

/// Returns the effects of the event's actions.
pub fn analyze(event: &Event, tables: Tables, world: &dyn World) -> Analysis {
    let mut analysis = Analysis::default();
    for (index, action) in event.actions.iter().enumerate() {
        let start = Some(event.cwd.clone());
        let effects = &mut analysis.effects;
        let mut drafter = EffectExtractor {
            event,
            world,
            tables,
            action: index,
            script: None,
            start,
            variables: &[],
            place: None,
            effects,
        };
        let reading = drafter.action(action);
        drafter.exposures(action, &reading);
        analysis.readings.push(reading);
    }
    secret_exposure::in_output(event, tables, world, &mut analysis);
    scripts::follow(event, Analyst { tables, world, analyze }, &mut analysis);
    discarded::follow_moves(&mut analysis);
    archived::mark(event, &mut analysis);
    pending_ids::named(event, world, &mut analysis);
    truncation::limit_targets(&mut analysis, &event.workspace, &event.home);
    analysis.number();
    analysis
}
