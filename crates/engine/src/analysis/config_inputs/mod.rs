//! Sources other than its own text from which a call takes inputs: files that it runs or is given, files that its tools
//! read unasked, the settings of a repository. Collected only for a stopped call, since a person's approval is bound to
//! them.

mod finder;
mod included;
mod input;
mod texts;

pub use input::{ConfigInput, How};

use self::finder::{Finder, Text};
use crate::model::analysis::{Analysis, Usage};
use crate::model::event::{Action, Event};
use crate::model::world::World;
use reflex_shell::ExecTarget;
use reflex_tables::Tables;
use std::collections::BTreeSet;

/// Returns the inputs of the call, each once, in the order in which they are found.
pub fn config_inputs(event: &Event, analysis: &Analysis, tables: Tables, world: &dyn World) -> Vec<ConfigInput> {
    let mut finder = Finder {
        event,
        analysis,
        inputs: tables.library().inputs(),
        world,
        found: Vec::new(),
        known: BTreeSet::new(),
        touched: Vec::new(),
    };
    for script in analysis.scripts.iter().filter(|script| script.usage != Usage::Written) {
        let how = if script.usage == Usage::Run { How::Runs } else { How::Follows };
        finder.file(script.path.clone(), how);
    }
    for (action, reading) in analysis.readings.iter().enumerate() {
        finder.reading(Text { reading, action, script: None, start: Some(&event.cwd) }, tables);
    }
    for (index, script) in analysis.scripts.iter().enumerate().filter(|(_, script)| script.usage != Usage::Written) {
        let action = analysis.effects.iter().find(|effect| effect.script == Some(index)).map_or(0, |one| one.action);
        let start = script.folder.as_deref();
        finder.reading(Text { reading: &script.reading, action, script: Some(index), start }, tables);
    }
    for action in &event.actions {
        if let Action::McpCall { server, .. } = action {
            finder.server(server);
        }
    }
    for effect in analysis.effects.iter().filter(|effect| effect.site == ExecTarget::Here && effect.command.is_none()) {
        finder.followed(effect);
    }
    finder.found
}
