//! Whether a target belongs to the guard, and whether a program is still recognized as the agent's.

use super::cache::Facts;
use crate::analysis::aliases::{self};
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::guard::GUARD_PROGRAMS;
use crate::model::path::{self, Place, is_below, is_within, parent};
use crate::text::glob;
use reflex_shell::{Command, ExecTarget, Value};

impl Facts<'_> {
    pub(super) fn is_guard(&self, effect: &Effect, target: &Target) -> bool {
        let seen = self.seen(effect, target);
        let (real, guarded) = (&seen.real.path, self.world.guard());
        let is_recursive = matches!(
            effect.kind,
            EffectKind::Delete | EffectKind::Move | EffectKind::ChangePermissions | EffectKind::ChangeOwner
        );
        let beside = matches!(self.place(real), Place::Outside | Place::Temporary | Place::Inside);
        // Deleting a home or the root also removes the guard, but that is not the main finding.
        let takes_along = |file: &String| is_recursive && beside && is_within(file, real);
        let within = |path: &String| guarded.iter().any(|file| is_within(path, file)) || self.in_class("guard", path);
        let named = || effect.kind == EffectKind::GuardReference && target.is_pattern();
        let may_meet = |file: &String| target.path().is_some_and(|pattern| glob::may_meet(pattern, file));
        guarded.iter().any(takes_along) || seen.paths.iter().any(within) || named() && guarded.iter().any(may_meet)
    }

    /// Whether a program that is run is the guard's under another name: the call links, copies or prints the guard's
    /// program into it, or the file is a copy of it.
    pub(super) fn is_guard_program(&self, effect: &Effect, target: &Target) -> bool {
        let text = target.path().unwrap_or("");
        if GUARD_PROGRAMS.contains(&path::name_of(text)) {
            return false;
        }
        let poured = aliases::poured_into(self.analysis, text);
        let seen = self.seen(effect, target);
        let mut sources = seen.paths.iter().chain(&poured);
        let is_guards = |path: &String| {
            let named = GUARD_PROGRAMS.contains(&path::name_of(path));
            named && (self.world.guard().contains(path) || self.in_class("guard", path))
        };
        sources.any(is_guards) || self.world.is_guard_program(&seen.real.path)
    }

    /// Whether the command belongs to the Python web framework `reflex`: its project file was there before the session,
    /// or the program is in a virtual environment and not a copy of the guard.
    pub(super) fn is_web_framework(&self, effect: &Effect) -> bool {
        let Some(folder) = effect.folder.as_deref() else { return false };
        let within = |at: &&str| *at == self.event.workspace || is_below(at, &self.event.workspace);
        let mut above = std::iter::successors(Some(folder), |at| Some(parent(at))).take_while(within);
        let is_project = |at: &str| {
            let file = format!("{at}/rxconfig.py");
            self.is_there(&file) && self.is_from_before(&file) != Some(false)
        };
        above.any(is_project) || self.is_in_virtual_environment(effect, folder)
    }

    fn is_in_virtual_environment(&self, effect: &Effect, folder: &str) -> bool {
        let command = self.analysis.reading(effect).and_then(|reading| reading.commands.get(effect.command?));
        let program = command.and_then(|command| command.words.first()?.literal());
        let Some(program) = program.filter(|program| program.contains('/')) else { return false };
        let program = path::absolute(&program, folder);
        let root = parent(parent(&program));
        self.is_there(&format!("{root}/pyvenv.cfg"))
            && self.is_there(&program)
            && !self.world.guard().contains(&program)
            && !self.world.is_guard_program(&self.world.real(&program, true).path)
    }

    fn is_there(&self, path: &str) -> bool {
        self.world.real(path, true).exists == Some(true)
    }

    /// Whether a variable is removed that identifies the programs started by an agent.
    pub(super) fn takes_mark_off(&self, effect: &Effect, target: Option<&Target>) -> bool {
        let takes = |value: &Value| value.literal().is_none_or(|text| text.is_empty());
        let name = target.and_then(|target| target.value.literal());
        effect.argument.as_ref().is_none_or(takes) && name.is_some_and(|name| self.in_class("agent-variable", &name))
    }

    /// Whether the action runs a program of unknown effect: a file whose text is unknown or, if the effect removes a
    /// single variable, also an unknown program outside of the system's folders.
    pub(super) fn reaches_unread(&self, effect: &Effect) -> bool {
        let sites: &[ExecTarget] =
            if effect.flags.contains(&"host") { &[ExecTarget::Here, ExecTarget::Remote] } else { &[ExecTarget::Here] };
        // Tests run without variables and in terminals, so a project's own file does not count there, unless the
        // session created it.
        let common = effect.flags.contains(&"ignore") || effect.flags.contains(&"terminal");
        let is_system = |path: &str| self.in_class("system", path);
        let is_projects = |path: &str| {
            let exists = is_below(path, &self.event.workspace) && self.world.real(path, true).exists != Some(false);
            let within = |at: &&str| is_below(at, &self.event.workspace);
            let mut above = std::iter::successors(Some(path), |at| Some(parent(at))).take_while(within);
            (exists && self.is_from_before(path) != Some(false)) || above.any(|at| self.is_named_like_built(at))
        };
        let is_unread = |path: &str| {
            let is_read = self.analysis.scripts.iter().any(|script| script.path == path);
            let is_known = is_read || is_system(path) || (common && is_projects(path));
            !is_known
        };
        let of_action = self.analysis.effects.iter().filter(|other| other.action == effect.action);
        let runs = |other: &&Effect| matches!(other.kind, EffectKind::RunFile | EffectKind::RunUnknown);
        let mut paths = of_action
            .filter(|other| sites.contains(&other.site))
            .filter(runs)
            .flat_map(|other| other.targets.iter().map(Target::path));
        if paths.any(|path| path.is_none_or(is_unread)) {
            return true;
        }
        let other = |command: &Command| {
            let by_path = command.words.first().is_none_or(|word| word.prefix().contains('/'));
            let by_name = command.invocation.is_none() && !command.name.is_empty() && !by_path;
            by_name
                && command.site == ExecTarget::Here
                && self.world.program(&command.name).is_none_or(|path| !is_system(&path))
        };
        let reading = self.analysis.reading(effect).filter(|_| effect.kind == EffectKind::SetVariable);
        reading.is_some_and(|reading| reading.commands.iter().any(other))
    }
}
