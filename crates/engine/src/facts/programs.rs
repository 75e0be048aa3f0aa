//! The programs that a call starts: whether their effect is known, and whether they are still recognized as the agent's.

use super::call::Call;
use super::regenerable::BuildFacts;
use super::session::SessionFacts;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::path::{self, is_below, parent};
use reflex_shell::{Command, ExecTarget, Value};

/// The programs that a call starts.
#[derive(Clone, Copy)]
pub(crate) struct ProgramFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) session: SessionFacts<'f>,
    pub(super) builds: BuildFacts<'f>,
}

impl ProgramFacts<'_> {
    /// Whether the command belongs to the Python web framework `reflex`: its project file was there before the session,
    /// or the program is in a virtual environment and not a copy of the guard.
    pub(super) fn is_web_framework(&self, effect: &Effect) -> bool {
        let Some(folder) = effect.folder.as_deref() else { return false };
        let within = |at: &&str| *at == self.call.event.workspace || is_below(at, &self.call.event.workspace);
        let mut above = std::iter::successors(Some(folder), |at| Some(parent(at))).take_while(within);
        above.any(|at| self.is_framework_project(at)) || self.is_in_virtual_environment(effect, folder)
    }

    fn is_framework_project(&self, folder: &str) -> bool {
        let file = format!("{folder}/rxconfig.py");
        self.is_there(&file) && self.session.is_from_before(&file) != Some(false)
    }

    fn is_in_virtual_environment(&self, effect: &Effect, folder: &str) -> bool {
        let command = self.call.analysis.reading(effect).and_then(|reading| reading.commands.get(effect.command?));
        let program = command.and_then(|command| command.words.first()?.literal());
        let Some(program) = program.filter(|program| program.contains('/')) else { return false };
        let program = path::absolute(&program, folder);
        let root = parent(parent(&program));
        self.is_there(&format!("{root}/pyvenv.cfg"))
            && self.is_there(&program)
            && !self.call.world.guard().contains(&program)
            && !self.call.world.is_guard_program(&self.call.world.real(&program, true).path)
    }

    fn is_there(&self, path: &str) -> bool {
        self.call.world.real(path, true).exists == Some(true)
    }

    /// Whether a variable is removed that identifies the programs started by an agent.
    pub(super) fn takes_mark_off(&self, effect: &Effect, target: Option<&Target>) -> bool {
        let takes = |value: &Value| value.literal().is_none_or(|text| text.is_empty());
        let name = target.and_then(|target| target.value.literal());
        effect.argument.as_ref().is_none_or(takes)
            && name.is_some_and(|name| self.call.in_class("agent-variable", &name))
    }

    /// Whether the action runs a program of unknown effect: a file whose text is unknown or, if the effect removes a
    /// single variable, also an unknown program outside of the system's folders.
    pub(super) fn reaches_unread(&self, effect: &Effect) -> bool {
        let sites: &[ExecTarget] =
            if effect.flags.contains(&"host") { &[ExecTarget::Here, ExecTarget::Remote] } else { &[ExecTarget::Here] };
        let is_unread = |path: &str| !self.is_read(effect, path);
        let of_action = self.call.analysis.effects.iter().filter(|other| other.action == effect.action);
        let runs = |other: &&Effect| matches!(other.kind, EffectKind::RunFile | EffectKind::RunUnknown);
        let mut paths = of_action
            .filter(|other| sites.contains(&other.site))
            .filter(runs)
            .flat_map(|other| other.targets.iter().map(Target::path));
        if paths.any(|path| path.is_none_or(is_unread)) {
            return true;
        }
        let reading = self.call.analysis.reading(effect).filter(|_| effect.kind == EffectKind::SetVariable);
        reading.is_some_and(|reading| reading.commands.iter().any(|command| self.is_unknown_program(command)))
    }

    /// Whether the text of a file is known, or its effect on the agent's programs.
    fn is_read(&self, effect: &Effect, path: &str) -> bool {
        // Tests run without variables and in terminals, so a project's own file does not count there, unless the
        // session created it.
        let is_common = effect.flags.contains(&"ignore") || effect.flags.contains(&"terminal");
        self.call.analysis.scripts.iter().any(|script| script.path == path)
            || self.call.in_class("system", path)
            || (is_common && self.is_of_project(path))
    }

    /// Whether a file of the project existed before the session, or is a build result by its name.
    fn is_of_project(&self, path: &str) -> bool {
        let exists =
            is_below(path, &self.call.event.workspace) && self.call.world.real(path, true).exists != Some(false);
        let within = |at: &&str| is_below(at, &self.call.event.workspace);
        let mut above = std::iter::successors(Some(path), |at| Some(parent(at))).take_while(within);
        (exists && self.session.is_from_before(path) != Some(false))
            || above.any(|at| self.builds.is_named_like_built(at))
    }

    /// Whether a command starts a program by its bare name that is neither known nor in the system's folders.
    fn is_unknown_program(&self, command: &Command) -> bool {
        let by_path = command.words.first().is_none_or(|word| word.prefix().contains('/'));
        let by_name = command.invocation.is_none() && !command.name.is_empty() && !by_path;
        by_name
            && command.site == ExecTarget::Here
            && self.call.world.program(&command.name).is_none_or(|path| !self.call.in_class("system", &path))
    }
}
