//! The inputs found so far, and the files that hold them.

use super::input::{ConfigInput, How, MAX_INPUTS};
use crate::analysis::effects::EffectExtractor;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::Event;
use crate::model::path;
use crate::model::world::World;
use reflex_shell::{Reading, Value};
use reflex_tables::views::InputFiles;
use reflex_tables::{List, Map};
use std::collections::BTreeSet;

/// Entry for the settings files that define tool servers.
const SERVERS: &str = "mcp-server";

/// Effects for which the text of a file determines the result.
pub(super) const FOLLOWED: [EffectKind; 7] = [
    EffectKind::RunFile,
    EffectKind::RunUnknown,
    EffectKind::RunFetched,
    EffectKind::RunSqlFile,
    EffectKind::ApplyPatch,
    EffectKind::LoadLibrary,
    EffectKind::Compile,
];

/// The effects for which the file is a program.
const RUN: [EffectKind; 4] =
    [EffectKind::RunFile, EffectKind::RunUnknown, EffectKind::RunFetched, EffectKind::LoadLibrary];

pub(super) struct Finder<'a> {
    pub(super) event: &'a Event,
    pub(super) analysis: &'a Analysis,
    pub(super) inputs: Map<'static, List<'static, InputFiles<'static>>>,
    pub(super) world: &'a dyn World,
    pub(super) found: Vec<ConfigInput>,
    /// Paths and other inputs found so far.
    pub(super) known: BTreeSet<String>,
    /// Files of the current command.
    pub(super) touched: Vec<String>,
}

/// A text whose commands run.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) reading: &'a Reading,
    pub(super) action: usize,
    pub(super) script: Option<usize>,
    pub(super) start: Option<&'a str>,
}

impl Finder<'_> {
    pub(super) fn push(&mut self, input: ConfigInput) {
        let name = match &input {
            ConfigInput::File { path, .. } => path.clone(),
            ConfigInput::Program { .. }
            | ConfigInput::Git { .. }
            | ConfigInput::Server { .. }
            | ConfigInput::Unknown { .. }
            | ConfigInput::More => {
                format!("{input:?}")
            }
        };
        // The first use of a file counts, so running and sending take precedence.
        if self.found.len() > MAX_INPUTS || !self.known.insert(name) {
            return;
        }
        let is_last = self.found.len() == MAX_INPUTS;
        self.found.push(if is_last { ConfigInput::More } else { input });
    }

    pub(super) fn file(&mut self, path: String, how: How) {
        self.touched.push(path.clone());
        self.push(ConfigInput::File { path, how });
    }

    /// Adds the settings files that may define a tool server.
    pub(super) fn server(&mut self, name: &str) {
        let files: Vec<&str> = self.inputs.get(SERVERS).iter().flat_map(|entry| entry.files().iter()).collect();
        for file in files {
            let path = match file.strip_prefix("~/") {
                Some(below) => path::absolute(below, &self.event.home),
                None => path::absolute(file, &self.event.workspace),
            };
            self.push(ConfigInput::Server { name: name.to_owned(), path });
        }
    }

    /// Adds the files of an effect whose text determines the result.
    pub(super) fn followed(&mut self, effect: &Effect) {
        let how = if RUN.contains(&effect.kind) {
            How::Runs
        } else if effect.kind == EffectKind::SendFile {
            How::Sends
        } else if FOLLOWED.contains(&effect.kind) {
            How::Follows
        } else {
            return;
        };
        effect.targets.iter().filter_map(Target::path).for_each(|path| self.file(path.to_owned(), how));
    }
}

pub(super) fn known(drafter: &EffectExtractor<'_>, value: Value, folder: Option<&str>) -> Option<String> {
    match drafter.path_target(value, folder).path {
        TargetPath::Known { text, .. } => Some(text),
        TargetPath::None | TargetPath::Unknown => None,
    }
}
