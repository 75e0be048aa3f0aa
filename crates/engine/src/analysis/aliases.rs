//! Other names that a call gives to files before it uses them: links, copies, moves.

use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, Folders, is_below, is_within, parent};
use reflex_shell::{CommandId, Redirection, work};
use std::collections::HashMap;

/// Maximum number of names of one file that are followed.
const MAX_NAMES: usize = 8;

/// Highest descriptor of standard input, output and error. A file kept open has a higher one.
const LAST_STANDARD: u32 = 2;

/// Folders that name a program's open files by their descriptors.
const DESCRIPTORS: [&str; 3] = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"];

/// Files to which the names created by a call refer. The order is ignored, since a loop may use a name that is created
/// later.
#[derive(Default)]
pub(crate) struct Aliases {
    links: Vec<Link>,
    /// The sources of each copy.
    copies: HashMap<String, Vec<String>>,
}

/// A link that the call makes.
struct Link {
    path: String,
    leads_to: String,
    /// The command that makes the link; it does not follow the link.
    made_by: By,
}

/// Action, script and command of an effect.
type By = (usize, Option<usize>, Option<CommandId>);

fn by(effect: &Effect) -> By {
    (effect.action, effect.script, effect.command)
}

/// Returns the names that a file has while it is open under a descriptor.
fn descriptor(
    file: &Redirection,
    action: usize,
    folders: Folders<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<Link> {
    let TargetPath::Known { text, .. } = path::lexical(&file.target, folders, variable) else { return Vec::new() };
    let named = |folder| Link {
        path: format!("{folder}/{}", file.descriptor),
        leads_to: text.clone(),
        made_by: (action, None, None),
    };
    DESCRIPTORS.map(named).into()
}

impl Aliases {
    pub(crate) fn from_analysis(
        analysis: &Analysis,
        folders: Folders<'_>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Aliases {
        let mut aliases = Aliases::default();
        for effect in &analysis.effects {
            let is_place = effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place");
            if effect.kind == EffectKind::Link {
                aliases.links.extend(link(effect, folders, variable));
            } else if is_place {
                for (copy, source) in copies(effect, analysis) {
                    let sources = aliases.copies.entry(copy.trim_end_matches('/').to_owned()).or_default();
                    if sources.len() < MAX_NAMES {
                        sources.push(source);
                    }
                }
            }
        }
        for (action, reading) in analysis.readings.iter().enumerate() {
            let files = reading.commands.iter().flat_map(|command| &command.redirects);
            let kept = files.filter(|file| file.descriptor > LAST_STANDARD);
            aliases.links.extend(kept.flat_map(|file| descriptor(file, action, folders, variable)));
        }
        aliases
    }

    /// Returns the path with links followed. A link at its end is followed only with `follow`.
    pub(crate) fn linked(&self, effect: &Effect, path: &str, follow: bool) -> String {
        let mut path = path.to_owned();
        work::spend(self.links.len() as u64 / 16);
        for link in self.links.iter().filter(|link| link.made_by != by(effect)) {
            let through = if follow { is_within(&path, &link.path) } else { is_below(&path, &link.path) };
            if through {
                let below = path.get(link.path.len()..).unwrap_or("").trim_start_matches('/');
                path = path::absolute(below, &link.leads_to);
            }
        }
        path
    }

    /// Returns the files of which the file is a copy, including sources of sources.
    pub(crate) fn sources(&self, path: &str) -> Vec<String> {
        let mut sources: Vec<String> = Vec::new();
        let mut names = vec![path.to_owned()];
        while let Some(name) = names.pop() {
            // The copy may be the file or a folder above it.
            let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
            for end in ends {
                let Some((copy, below)) = name.split_at_checked(end) else { continue };
                for source in self.copies.get(copy).into_iter().flatten() {
                    let source = path::absolute(below.trim_start_matches('/'), source);
                    if sources.len() < MAX_NAMES && !sources.contains(&source) {
                        sources.push(source.clone());
                        names.push(source);
                    }
                }
            }
        }
        sources
    }
}

/// Returns the files read by the commands that write this one: `cat a > b`.
pub(crate) fn poured_into(analysis: &Analysis, path: &str) -> Vec<String> {
    let targets: usize = analysis.effects.iter().map(|effect| 1 + effect.targets.len()).sum();
    work::spend(targets as u64 / 64);
    let fills = |effect: &&Effect| {
        effect.kind == EffectKind::Overwrite && effect.targets.iter().any(|target| target.path() == Some(path))
    };
    let filling: Vec<By> = analysis.effects.iter().filter(fills).map(by).collect();
    let read = analysis.effects.iter().filter(|other| other.kind == EffectKind::Read && filling.contains(&by(other)));
    read.flat_map(|read| read.targets.iter().filter_map(Target::path)).map(str::to_owned).collect()
}

/// Returns the link that an effect makes, and its destination.
pub(crate) fn made_link(
    effect: &Effect,
    folders: Folders<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<(String, String)> {
    link(effect, folders, variable).map(|link| (link.path, link.leads_to))
}

/// The destination of a symbolic link is relative to the link's folder, that of a hard link to the command's.
fn link(effect: &Effect, folders: Folders<'_>, variable: &dyn Fn(&str) -> Option<String>) -> Option<Link> {
    let argument = effect.argument.as_ref()?;
    let target = effect.targets.first();
    let named = argument.shown();
    let name = named.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    let link = match target.and_then(|target| Some((target.path()?, target))) {
        Some((path, target)) if is_folder(path, target, folders) => path::absolute(name, path),
        Some((path, _)) => path.to_owned(),
        None => path::absolute(name, effect.folder.as_deref()?),
    };
    let symbolic = effect.flags.contains(&"symbolic");
    let cwd = if symbolic { parent(&link) } else { effect.folder.as_deref()? };
    match path::lexical(argument, Folders { cwd, ..folders }, variable) {
        TargetPath::Known { text, .. } => Some(Link { path: link, leads_to: text, made_by: by(effect) }),
        TargetPath::None | TargetPath::Unknown => None,
    }
}

/// Returns whether the target is known to be a folder without a lookup: a folder that every call has, or a path that
/// ends in a slash.
fn is_folder(path: &str, target: &Target, folders: Folders<'_>) -> bool {
    let follows = matches!(target.path, TargetPath::Known { follows: true, .. });
    follows || [folders.start, folders.workspace, folders.home].contains(&path) || is_within(folders.workspace, path)
}

/// `cp a b` makes `b` or `b/a`.
fn copies(effect: &Effect, analysis: &Analysis) -> Vec<(String, String)> {
    let Some(place) = effect.targets.first().and_then(Target::path) else { return Vec::new() };
    let mut copies = Vec::new();
    for source in sources(effect, analysis).filter_map(Target::path) {
        copies.push((path::absolute(path::name_of(source), place), source.to_owned()));
        copies.push((place.to_owned(), source.to_owned()));
    }
    copies
}

/// Returns the files that the same command copies or moves.
pub(crate) fn sources<'a>(effect: &'a Effect, analysis: &'a Analysis) -> impl Iterator<Item = &'a Target> {
    work::spend(analysis.effects.len() as u64 / 64);
    let is_source = |other: &&Effect| {
        let copied = other.kind == EffectKind::Read && other.flags.contains(&"copied");
        (copied || other.kind == EffectKind::Move) && by(other) == by(effect)
    };
    analysis.effects.iter().filter(is_source).flat_map(|source| &source.targets)
}

/// Returns the names of the files that the same command copies out of a container.
pub(crate) fn copied_out<'a>(effect: &'a Effect, analysis: &'a Analysis) -> impl Iterator<Item = String> + 'a {
    let is_source = |other: &&Effect| other.flags.contains(&"out-of-container") && by(other) == by(effect);
    let sources = analysis.effects.iter().filter(is_source).flat_map(|source| &source.targets);
    sources.filter_map(|target| Some(path::name_of(&target.value.literal()?).to_owned()))
}

/// Returns the files that the same command moves.
pub(crate) fn moved<'a>(effect: &'a Effect, analysis: &'a Analysis) -> impl Iterator<Item = &'a Target> {
    let is_moved = |other: &&Effect| other.kind == EffectKind::Move && by(other) == by(effect);
    analysis.effects.iter().filter(is_moved).flat_map(|moved| &moved.targets)
}
