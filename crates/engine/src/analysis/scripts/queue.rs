//! Reads the texts that wait, and keeps those of their effects that count.

use super::queued_text::{Counted, QueuedText, TextOrigin};
use super::resolver::ScriptResolver;
use crate::analysis::config_files::later::Counts;
use crate::analysis::dockerfile;
use crate::analysis::effects::EffectExtractor;
use crate::analysis::loading::{self, Loader};
use crate::analysis::reading;
use crate::model::analysis::{Script, Usage};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::Event;
use crate::model::path::{self, Folders, parent};
use crate::model::world::World;
use crate::text::glob;
use reflex_shell::{
    CommandId, ExecTarget, Language, Piece, Programs, Reading, Source, Span, Surroundings, UnknownReason, work,
};
use reflex_tables::{Tables, Texts};
use std::collections::BTreeSet;

/// Effects that take something from other systems or people, give something to them or destroy something of theirs. No
/// legitimate project code has them.
const REACHES_OTHERS: [EffectKind; 19] = [
    EffectKind::RunFetched,
    EffectKind::RunDecoded,
    EffectKind::GiveShell,
    EffectKind::StartShell,
    EffectKind::Connect,
    EffectKind::Send,
    EffectKind::SendText,
    EffectKind::SendFile,
    EffectKind::PrintEnvironment,
    EffectKind::RevealSecret,
    EffectKind::OpenTunnel,
    EffectKind::MineCrypto,
    EffectKind::Format,
    EffectKind::Exhaust,
    EffectKind::ChangeGuard,
    EffectKind::ConfigureAgent,
    EffectKind::PushForce,
    EffectKind::DeleteRemoteRef,
    EffectKind::DestroyRemote,
];

/// Changes a script makes to the machine on which it runs and that no build needs.
const CHANGES_MACHINE: [EffectKind; 4] =
    [EffectKind::Persist, EffectKind::WipeTraces, EffectKind::SwitchOffProtection, EffectKind::ChangeAccounts];

/// Effects of a starting container that reach beyond it. All others end with it.
const BEYOND: [EffectKind; 9] = [
    EffectKind::DestroyDatabase,
    EffectKind::DestroyRemote,
    EffectKind::DestroyContainer,
    EffectKind::GiveShell,
    EffectKind::MineCrypto,
    EffectKind::RunFetched,
    EffectKind::RunDecoded,
    EffectKind::SendFile,
    EffectKind::Sql,
];

/// Maximum number of scripts read for one call. Exceeding it is reported.
const MAX_SCRIPTS: usize = 512;

/// Maximum depth of a chain of scripts that run scripts. Deeper scripts are not read, which is reported.
pub(super) const MAX_LEVELS: usize = 64;

impl ScriptResolver<'_> {
    /// Reads the next text of the queue and adds its effects. Returns whether there was one.
    pub(super) fn read_next(&mut self) -> bool {
        let Some(text) = self.queue.pop_front() else { return false };
        if self.is_known(&text) {
            return true;
        }
        if text.level > MAX_LEVELS {
            work::cut(|| format!("the chain of scripts that ends in {} is longer than {MAX_LEVELS} files", text.path));
        } else if self.analysis.scripts.len() >= MAX_SCRIPTS {
            work::cut(|| format!("{} would be read after {MAX_SCRIPTS} other texts", text.path));
        } else if let Some(budget) = text.budget {
            work::aside(budget, || self.read(text));
        } else {
            self.read(text);
        }
        true
    }

    /// Returns whether the same text was read before, and need not be read for its present origin.
    fn is_known(&mut self, text: &QueuedText) -> bool {
        let is_it = |script: &&mut Script| script.path == text.path && script.text == text.text;
        let mut known = self.analysis.scripts.iter_mut().filter(is_it);
        match text.origin {
            TextOrigin::Reader => known.next().is_some(),
            TextOrigin::Command(starter) if starter.script.is_some() => {
                let known = known.next();
                let is_known = known.is_some();
                known.into_iter().for_each(|script| script.starter = None);
                is_known
            }
            TextOrigin::Command(_) | TextOrigin::Container | TextOrigin::Written => false,
        }
    }

    fn read(&mut self, queued: QueuedText) {
        let reading = self.reading_of(&queued);
        let first = self.analysis.effects.len();
        let (event, tables, world) = (self.event, self.tables, self.world);
        EffectExtractor {
            event,
            world,
            tables,
            action: queued.action,
            script: Some(self.analysis.scripts.len()),
            start: queued.folder.clone(),
            variables: &queued.assignments,
            place: queued.place.clone(),
            passes: self.input.passes,
            effects: &mut self.analysis.effects,
        }
        .extract(&queued.text, &reading);
        let unclear = self.keep_known(&queued, first);
        self.keep_counted(&queued, first);
        let is_unasked = queued.is_unasked();
        let starter = match queued.origin {
            TextOrigin::Command(starter) => Some(starter),
            TextOrigin::Reader | TextOrigin::Container | TextOrigin::Written => None,
        };
        if queued.reports_gaps {
            self.report_gaps(&queued, &reading);
        }
        let QueuedText { path, text, usage, folder, place, action, level, .. } = queued;
        let script = Script { path, text, reading, usage, is_unasked, folder, place, action, level, starter, unclear };
        self.analysis.scripts.push(script);
    }

    fn reading_of(&self, queued: &QueuedText) -> Reading {
        let world = self.world;
        let start = queued.folder.as_deref().unwrap_or_else(|| parent(&queued.path));
        let loader = Loader::new(self.event, self.tables, world, start);
        let assigned =
            |name: &str| queued.assignments.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let surroundings = Surroundings {
            programs: Programs::new(self.tables),
            variable: &|name| assigned(name).or_else(|| world.variable(name)),
            alias: &|program, name| if program.is_empty() { None } else { world.alias(program, name) },
            input: queued.input.clone(),
            source: Source { path: &queued.path, load: Some(&|name| loader.load(name)) },
        };
        reflex_shell::read_as(queued.language, &queued.text, &surroundings)
    }

    /// Drops targets that are known only at run time: callers usually pass the right ones. Returns the commands that
    /// lost a target and may create or move any file.
    fn keep_known(&mut self, queued: &QueuedText, first: usize) -> Vec<Option<CommandId>> {
        let world = self.world;
        // A script that the call names runs with the variables of its environment.
        let is_run = queued.usage == Usage::Run && queued.level == 1;
        let is_named = is_run && queued.language == Language::Shell;
        let is_in_progress = is_run && self.is_work_in_progress(&queued.path);
        keep_known(&mut self.analysis.effects, first, &|effect| {
            is_named && deletes_by_unset(effect, world) || is_in_progress && deletes_unknown(effect)
        })
    }

    /// Removes the effects of the text, from `first` on, that do not count.
    fn keep_counted(&mut self, queued: &QueuedText, first: usize) {
        let Event { cwd, workspace, home, .. } = self.event;
        let folders = Folders { cwd, start: cwd, workspace, home };
        let tables = self.tables;
        let mut effects = self.analysis.effects.split_off(first);
        match &queued.counted {
            Counted::All => {}
            Counted::WithoutBranches => {
                effects.retain(|effect| !matches!(effect.kind, EffectKind::Publish | EffectKind::Deploy));
            }
            Counted::BeyondContainer => {
                effects.retain(|effect| BEYOND.contains(&effect.kind) || effect.site == ExecTarget::Here);
            }
            Counted::OfImage { below, ignored } => effects.retain_mut(|effect| keep_copied(effect, below, ignored)),
            Counted::Changed { old } => forget_unchanged(&mut effects, &queued.text, old),
            Counted::Deferred { site, counts, old } => {
                effects.retain(|effect| counts.includes(effect, *site, folders, tables));
                let on_demand = *site == ExecTarget::Container || *counts == Counts::Taken;
                for effect in &mut effects {
                    if effect.site == ExecTarget::Here {
                        effect.site = *site;
                    }
                    effect.flags.push(if on_demand { "on-demand" } else { "by-tool" });
                }
                forget_unchanged(&mut effects, &queued.text, old);
            }
        }
        self.analysis.effects.append(&mut effects);
    }

    /// Reports parts of a text that the reader left out because of a limit.
    fn report_gaps(&self, queued: &QueuedText, reading: &Reading) {
        let is_cut = reading.gaps.iter().any(|gap| gap.why == UnknownReason::Limit);
        // Code that the project has committed and that other code of the project runs counts as far as it is read, like
        // a program of the project.
        if is_cut && (queued.level <= 1 || !loading::is_unchanged(self.world, &queued.path)) {
            work::cut(|| format!("{} is larger or nested deeper than what is read", queued.path));
        }
    }

    /// Returns whether the file belongs to the project and its current content is in no git commit. Such a file counts
    /// as code of the call itself.
    fn is_work_in_progress(&self, path: &str) -> bool {
        let is_changed = || match self.world.is_tracked(path) {
            Some(true) => self.world.uncommitted(path).is_something(),
            Some(false) => self.world.is_ignored(path) == Some(false),
            None => false,
        };
        path::is_within(path, &self.event.workspace) && is_changed()
    }
}

impl Counts {
    /// Returns whether an effect of a deferred text counts.
    fn includes(self, effect: &Effect, site: ExecTarget, folders: Folders<'_>, tables: Tables) -> bool {
        let is_lasting = site == ExecTarget::Here && self == Counts::Lasting;
        let changes_machine =
            || is_lasting && (CHANGES_MACHINE.contains(&effect.kind) || is_beyond(effect, folders, tables));
        matches!(self, Counts::All | Counts::Unasked)
            || REACHES_OTHERS.contains(&effect.kind)
            || takes_home(effect, folders)
            || changes_machine()
    }
}

/// Removes effects on lines that were removed and added again unchanged, since they are not a change.
fn forget_unchanged(effects: &mut Vec<Effect>, text: &str, old: &str) {
    if old.is_empty() {
        return;
    }
    let previous: BTreeSet<&str> = old.lines().map(str::trim).collect();
    effects.retain(|effect| {
        let span = effect.origin.span;
        let lines = lines_around(text, span);
        span == Span::default() || lines.is_empty() || !lines.lines().all(|line| previous.contains(line.trim()))
    });
}

/// Keeps the sending of files that the build of an image copies, and returns whether anything is left of the effect.
fn keep_copied(effect: &mut Effect, below: &str, ignored: &str) -> bool {
    effect.targets.retain(|target| {
        let relative = target.path().and_then(|path| path.strip_prefix(below));
        relative.is_none_or(|relative| !dockerfile::is_ignored(ignored, relative))
    });
    effect.kind == EffectKind::SendFile && effect.site == ExecTarget::Here && !effect.targets.is_empty()
}

/// Returns the complete lines that contain the span.
fn lines_around(text: &str, span: Span) -> &str {
    let (start, end) = (span.start as usize, span.end as usize);
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let to = text.get(end..).and_then(|after| after.find('\n')).map_or(text.len(), |at| end + at);
    text.get(from..to).unwrap_or("")
}

/// Returns whether the effect deletes the home folder, a folder above it, or a path in it outside the project and the
/// hidden folders of programs. No build needs that.
fn takes_home(effect: &Effect, Folders { home, workspace, .. }: Folders<'_>) -> bool {
    let is_personal = |path: &str| {
        let below = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| !below.starts_with('.')) && !path::is_within(path, workspace)
    };
    let above = |target: &Target| target.path().is_some_and(|path| path::is_within(home, path) || is_personal(path));
    effect.kind == EffectKind::Delete && effect.site == ExecTarget::Here && effect.targets.iter().any(above)
}

/// Returns whether the effect writes a startup file outside the project or reads keys there. No build needs that.
fn is_beyond(effect: &Effect, Folders { home, workspace, .. }: Folders<'_>, tables: Tables) -> bool {
    const WRITES: [EffectKind; 4] = [EffectKind::Overwrite, EffectKind::Append, EffectKind::Edit, EffectKind::Link];
    let classes: &[&str] = if WRITES.contains(&effect.kind) {
        &["shell-startup", "system-startup"]
    } else if effect.kind == EffectKind::Read {
        &["secret"]
    } else {
        return false;
    };
    let places = tables.library().places();
    let is_listed = |path: &str| {
        let class = |class: &&str| {
            places.get(class).iter().any(|place| {
                let fits = |list: Texts<'_>| list.iter().any(|pattern| glob::fits(pattern, path, home));
                fits(place.paths()) && !fits(place.except())
            })
        };
        !path::is_within(path, workspace) && classes.iter().any(class)
    };
    effect.site == ExecTarget::Here && effect.targets.iter().filter_map(Target::path).any(is_listed)
}

/// Drops targets of a script that are known only at run time: callers usually pass the right ones. In the call itself
/// they count. Returns the commands that lost a target and may create or move any file.
fn keep_known(effects: &mut Vec<Effect>, first: usize, counts: &dyn Fn(&Effect) -> bool) -> Vec<Option<CommandId>> {
    let (mut index, mut unclear) = (0, Vec::new());
    effects.retain_mut(|effect| {
        index += 1;
        let targets = effect.targets.len();
        let is_kept = index <= first || counts(effect) || reading::keep_known(effect);
        let is_complete = is_kept && effect.targets.len() == targets;
        if !is_complete && (effect.kind.is_opaque() || effect.kind == EffectKind::Move) {
            unclear.push(effect.command);
        }
        is_kept
    });
    unclear
}

/// `rm -rf "$NAME"/*` with an unset variable deletes the rest of the path.
fn deletes_by_unset(effect: &Effect, world: &dyn World) -> bool {
    let is_unset = |target: &Target| match target.value.pieces.first() {
        Some((Piece::Variable(name), _)) => target.path == TargetPath::Unknown && world.variable(name).is_none(),
        Some(_) | None => false,
    };
    let deletes_here = effect.kind == EffectKind::Delete && effect.site == ExecTarget::Here;
    deletes_here && effect.flags.contains(&"recursive") && effect.targets.iter().any(is_unset)
}

/// `rmtree(os.environ["D"])`: a tree whose path is unknown before the call runs.
fn deletes_unknown(effect: &Effect) -> bool {
    let is_unknown = |target: &Target| target.path == TargetPath::Unknown;
    effect.kind == EffectKind::Delete
        && effect.site == ExecTarget::Here
        && effect.flags.contains(&"recursive")
        && effect.targets.iter().any(is_unknown)
}
