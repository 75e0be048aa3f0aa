//! The text whose effects are extracted: where its words lead, and effects that begin with its position.

use crate::model::effect::{Effect, EffectKind, Target, TargetKind, TargetPath};
use crate::model::event::Event;
use crate::model::guard::GUARD_PROGRAMS;
use crate::model::mounts::MountTable;
use crate::model::path::{self, Folders};
use crate::model::world::World;
use reflex_shell::{Command, CommandId, Origin, Piece, Reading, Value, work};
use reflex_tables::Tables;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A command of the text, with the folder in which it runs if that is known.
#[derive(Clone, Copy)]
pub(super) struct Ran<'a> {
    pub(super) id: CommandId,
    pub(super) command: &'a Command,
    pub(super) folder: Option<&'a str>,
}

/// The event to analyze, and the sources of the answers.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) event: &'a Event,
    pub(super) tables: Tables,
    pub(super) world: &'a dyn World,
    /// The passes over each text.
    pub(super) passes: &'static [TextPass],
}

/// A pass over one text. It adds effects, or marks or removes those from [`Text::first`] on.
pub(super) type TextPass = fn(&mut EffectExtractor<'_>, &Text<'_>);

/// A text that has been read.
pub(super) struct Text<'t> {
    pub(super) source: &'t str,
    pub(super) reading: &'t Reading,
    /// Number of effects before those of the text.
    pub(super) first: usize,
    /// The mounts of each command's place; empty if every command runs on this machine.
    pub(super) mounts: Vec<Option<Rc<MountTable>>>,
}

impl Text<'_> {
    /// Returns the mounts of the place in which a command runs, if that is not this machine.
    pub(super) fn mounts_of(&self, id: CommandId) -> Option<&MountTable> {
        self.mounts.get(id)?.as_deref()
    }
}

/// Extracts the effects of one text.
pub(crate) struct EffectExtractor<'a> {
    pub(crate) event: &'a Event,
    pub(crate) world: &'a dyn World,
    pub(crate) tables: Tables,
    /// The action that runs the text.
    pub(crate) action: usize,
    /// The script that contains the text; `None` for the action's own text.
    pub(crate) script: Option<usize>,
    /// The folder in which the text starts, if that is known.
    pub(crate) start: Option<String>,
    /// Variables set for the text.
    pub(crate) variables: &'a [(String, String)],
    /// The mounts of the place in which the text runs, if it is not this machine.
    pub(crate) place: Option<Rc<MountTable>>,
    /// The passes over the text.
    pub(super) passes: &'static [TextPass],
    pub(crate) effects: &'a mut Vec<Effect>,
}

impl<'a> EffectExtractor<'a> {
    /// Returns an extractor for the text of an action, which starts in the working directory of the event.
    pub(super) fn new(input: Input<'a>, action: usize, effects: &'a mut Vec<Effect>) -> EffectExtractor<'a> {
        let Input { event, tables, world, passes } = input;
        let (start, variables) = (Some(event.cwd.clone()), &[][..]);
        EffectExtractor { event, world, tables, action, script: None, start, variables, place: None, passes, effects }
    }
}

impl EffectExtractor<'_> {
    /// Returns an effect of the action whose only target is a name.
    pub(super) fn effect_on(&self, kind: EffectKind, text: &str) -> Effect {
        self.effect(kind).target(Target::new(Value::text(text, Origin::default()), TargetPath::None))
    }

    /// Returns an effect of the text, without targets.
    pub(super) fn effect(&self, kind: EffectKind) -> Effect {
        let folder = Some(self.event.cwd.clone());
        Effect { action: self.action, script: self.script, folder, ..Effect::of(kind) }
    }

    /// Returns an effect of a command of the text, without targets.
    pub(super) fn effect_of(&self, ran: Ran<'_>, kind: EffectKind) -> Effect {
        Effect {
            action: self.action,
            script: self.script,
            command: Some(ran.id),
            origin: ran.command.origin,
            site: ran.command.site,
            folder: ran.folder.map(str::to_owned),
            ..Effect::of(kind)
        }
    }

    /// Adds an effect.
    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// `$(which reflex)`: returns the path of the guard's program, as far as the world knows it.
    fn guard_program(&self, value: &Value) -> Option<String> {
        let [(Piece::Output(_), _), (Piece::Text(after), _)] = value.pieces.as_slice() else { return None };
        let name = after.strip_prefix('/').filter(|name| GUARD_PROGRAMS.contains(name))?;
        let known = self.world.guard().into_iter().find(|program| path::name_of(program) == name);
        Some(known.unwrap_or_else(|| format!("{}/.local/bin/{name}", self.event.home)))
    }

    /// Drops targets that are harmless devices, such as the null device, zeros or the terminal. Shared memory may hold a
    /// home or a project.
    pub(super) fn touched(&self, targets: Vec<Target>) -> Vec<Target> {
        let lives_there = |path: &str| {
            [&self.event.home, &self.event.workspace].iter().any(|folder| {
                folder.starts_with("/dev/shm/") && (path::is_within(path, folder) || path::is_within(folder, path))
            })
        };
        let is_harmless = |path: &str| path::is_harmless_device(path) && !lives_there(path);
        targets.into_iter().filter(|target| !target.path().is_some_and(is_harmless)).collect()
    }

    /// Returns the target of an effect.
    pub(super) fn target_in(&self, kind: EffectKind, value: Value, ran: Ran<'_>) -> Target {
        match kind.target_kind() {
            TargetKind::Name if kind == EffectKind::OpenContainer => {
                Target::new(self.with_home(value), TargetPath::None)
            }
            TargetKind::Name => Target::new(value, TargetPath::None),
            TargetKind::Path if is_standard_input(kind, &value) => Target::new(value, TargetPath::None),
            TargetKind::Path => self.path_of(ran, value),
        }
    }

    /// Replaces the home folder in `/home/me:/x` or `source=/home/me,target=/x` with a tilde.
    fn with_home(&self, value: Value) -> Value {
        let home = self.event.home.trim_end_matches('/');
        let Some(text) = value.literal().filter(|text| !home.is_empty() && text.contains(home)) else { return value };
        let ends_path = |rest: &str| {
            rest.is_empty() || rest.starts_with([':', ',']) || rest.starts_with("/:") || rest.starts_with("/,")
        };
        let short = match text.strip_prefix(home).filter(|rest| ends_path(rest)) {
            Some(rest) => format!("~{rest}"),
            None => match text.split_once(&format!("={home}")).filter(|(_, rest)| ends_path(rest)) {
                Some((before, rest)) => format!("{before}=~{rest}"),
                None => return value,
            },
        };
        Value::text(short, value.origin())
    }

    /// Returns the target of a path operand, with separators by the language of its command.
    pub(super) fn path_of(&self, ran: Ran<'_>, value: Value) -> Target {
        if !ran.command.language.is_windows() {
            return self.path_target(value, ran.folder);
        }
        let target = self.path_target(with_slashes(&value), ran.folder);
        Target { value, ..target }
    }

    pub(crate) fn path_target(&self, value: Value, folder: Option<&str>) -> Target {
        match folder {
            Some(folder) => self.target(EffectKind::Read, value, folder),
            None if is_absolute(&value) => self.target(EffectKind::Read, value, "/"),
            None => Target::new(value, TargetPath::Unknown),
        }
    }

    pub(super) fn target(&self, kind: EffectKind, value: Value, folder: &str) -> Target {
        if kind.target_kind() == TargetKind::Name {
            return Target::new(value, TargetPath::None);
        }
        let folders = Folders {
            cwd: folder,
            start: self.start.as_deref().unwrap_or(folder),
            workspace: &self.event.workspace,
            home: &self.event.home,
        };
        let guard = self.guard_program(&value).map(|path| Value::text(path, value.origin()));
        let path = path::lexical(guard.as_ref().unwrap_or(&value), folders, &|name| self.variable(name));
        Target::new(value, path)
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let set = self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        set.or_else(|| self.world.variable(name))
    }

    /// Returns the folder in which a command runs, including `-C` and similar options.
    pub(crate) fn folder(&self, command: &Command) -> Option<String> {
        let start = self.start.as_deref()?;
        let base = Folders { cwd: start, start, workspace: &self.event.workspace, home: &self.event.home };
        let resolve =
            |value: &Value, cwd: &str| match path::lexical(value, Folders { cwd, ..base }, &|name| self.variable(name))
            {
                // Each folder in it, as of `work/*`.
                TargetPath::Known { text, contents: true, .. } => Some(format!("{text}/*")),
                TargetPath::Known { text, .. } => Some(text),
                TargetPath::None | TargetPath::Unknown => None,
            };
        let moved = command.folder.as_ref()?;
        let folder = if moved.pieces.is_empty() { start.to_owned() } else { resolve(moved, start)? };
        let changes = command.invocation.as_ref().map(|invocation| invocation.values("directory", &command.words));
        let is_git = command.name == "git" || command.name == "make" || command.name == "tar";
        changes
            .unwrap_or_default()
            .iter()
            .filter(|_| is_git)
            .try_fold(folder, |folder, change| resolve(change, &folder))
    }
}

fn is_absolute(value: &Value) -> bool {
    match value.pieces.first() {
        Some((Piece::Text(text), _)) => path::is_absolute(text),
        Some((Piece::Home(_) | Piece::Output(_) | Piece::Variable(_), _)) => true,
        Some((Piece::Glob(_) | Piece::Resolved | Piece::Unknown(_), _)) | None => false,
    }
}

/// Returns the value with slashes as path separators.
fn with_slashes(value: &Value) -> Value {
    let slashed = |piece: &Piece| match piece {
        Piece::Text(text) => Piece::Text(text.replace('\\', "/")),
        Piece::Glob(_)
        | Piece::Home(_)
        | Piece::Variable(_)
        | Piece::Output(_)
        | Piece::Resolved
        | Piece::Unknown(_) => piece.clone(),
    };
    let mut slashed = Value { pieces: value.pieces.iter().map(|(piece, origin)| (slashed(piece), *origin)).collect() };
    // PowerShell expands a tilde to the home folder even in quotes.
    let tilde = slashed.prefix().strip_prefix('~').is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if tilde {
        let origin = slashed.origin();
        slashed = slashed.without_prefix(1);
        slashed.pieces.insert(0, (Piece::Home(String::new()), origin));
    }
    slashed
}

/// `cat -`, `curl -d @-`: programs that read take a dash for their standard input, never for a file of that name.
fn is_standard_input(kind: EffectKind, value: &Value) -> bool {
    matches!(kind, EffectKind::Read | EffectKind::SendFile) && value.literal().as_deref() == Some("-")
}
/// Returns the commands that print the value, including those whose output was first stored in a variable.
pub(super) fn with_printing(value: &Value, from: &[CommandId], commands: &[Command]) -> Vec<CommandId> {
    let printed = value.pieces.iter().filter(|(piece, _)| matches!(piece, Piece::Output(_))).map(|(_, origin)| *origin);
    let printed: Vec<Origin> = printed.collect();
    let mut sources = from.to_vec();
    if !printed.is_empty() {
        work::spend(1 + commands.len() as u64 / 64);
    }
    for (id, command) in commands.iter().enumerate().filter(|_| !printed.is_empty()) {
        if command.words.first().is_some_and(|word| printed.contains(&word.origin())) {
            sources.push(id);
            sources.extend(command.stdin.sources());
        }
    }
    sources
}
/// Returns the commands whose output it reads, also through a pipeline.
pub(super) fn with_sources(command: &Command, commands: &[Command]) -> BTreeSet<CommandId> {
    let mut found: BTreeSet<CommandId> = command.stdin.sources().iter().copied().collect();
    let mut open: Vec<CommandId> = found.iter().copied().collect();
    while let Some(source) = open.pop().and_then(|id| commands.get(id)) {
        open.extend(source.stdin.sources().iter().copied().filter(|id| found.insert(*id)));
    }
    found
}
