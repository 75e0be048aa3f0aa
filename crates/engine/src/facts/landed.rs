//! The files that a copy or a move writes, by the names of its sources, and the moved files that it writes over.

use super::call::Call;
use super::patterns::fixed_part;
use crate::analysis::aliases;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path;
use crate::model::world::NamesOf;
use crate::text::glob;
use reflex_shell::{Command, ExecTarget, Piece, Value};
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

/// Maximum number of files of one copy that are followed.
const MAX_LANDINGS: usize = 4096;

/// A file that a copy or a move writes.
pub(super) struct Landing {
    /// The path of the source; `None` if only its name is known.
    pub(super) from: Option<String>,
    /// The written path.
    pub(super) at: String,
}

/// Files that a call has moved, with their places before and after.
#[derive(Default)]
struct Moves {
    /// The original path of each moved file by its present path.
    origins: HashMap<String, String>,
    /// Paths whose file was moved away.
    gone: HashSet<String>,
}

/// The files that copies and moves write.
#[derive(Clone, Copy)]
pub(crate) struct CopyFacts<'f> {
    pub(super) call: &'f Call<'f>,
    /// The moved files that each effect writes over, by the effect's index.
    pub(super) buried: &'f OnceCell<HashMap<usize, Vec<String>>>,
}

impl CopyFacts<'_> {
    /// Returns the files that a copy or a move writes to this destination.
    pub(super) fn landed(&self, effect: &Effect, target: &Target) -> Affected<Vec<Landing>> {
        let seen = self.call.seen(effect, target);
        let is_folder = seen.real.is_folder.or(self.call.is_folder(target, &seen.real)) == Some(true)
            || effect.flags.contains(&"target")
            || self.makes_folder(effect, &seen.real.path);
        let renames = effect.flags.contains(&"no-target") || !is_folder;
        let folder = seen.real.path.as_str();
        let mut landed = Vec::new();
        let mut sources = aliases::sources(effect, self.call.analysis).peekable();
        if sources.peek().is_none() {
            let paths = seen.paths.iter().take(seen.sure).filter(|path| !is_folder || **path != seen.real.path);
            return paths.map(|path| Landing { from: None, at: path.clone() }).collect::<Vec<_>>().into();
        }
        for source in sources {
            let at = |name: &str| if renames { folder.to_owned() } else { path::absolute(name, folder) };
            match self.matched(source) {
                Affected::Nothing => {}
                Affected::These(paths) => {
                    let named = paths.into_iter().filter(|path| !path::name_of(path).is_empty());
                    landed.extend(
                        named.map(|path| Landing { at: at(self.copied_name(effect, &path)), from: Some(path) }),
                    );
                }
                Affected::Unknown => match known_name(&source.value) {
                    Some(name) => landed.push(Landing { from: None, at: at(&name) }),
                    None if renames => landed.push(Landing { from: None, at: folder.to_owned() }),
                    None => return Affected::Unknown,
                },
            }
            if landed.len() > MAX_LANDINGS {
                return Affected::Unknown;
            }
        }
        landed.into()
    }

    /// Returns the name that a source gets in the folder that it is copied to: its last component, or with
    /// `cp --parents` and `rsync -R` its whole path, as seen from the working directory.
    pub(super) fn copied_name<'a>(&self, effect: &Effect, source: &'a str) -> &'a str {
        if !effect.flags.contains(&"full-path") {
            return path::name_of(source);
        }
        let folder = effect.folder.as_deref().unwrap_or(&self.call.event.cwd);
        source.strip_prefix(folder).unwrap_or(source).trim_start_matches('/')
    }

    /// Returns the paths that a word stands for: its path, or the files that its pattern matches.
    pub(super) fn matched(&self, source: &Target) -> Affected<Vec<String>> {
        let TargetPath::Known { text, contents, .. } = &source.path else {
            return if source.path == TargetPath::None { Affected::Nothing } else { Affected::Unknown };
        };
        if source.value.is_unknown() {
            return Affected::Unknown;
        }
        if !source.is_pattern() {
            return vec![text.clone()].into();
        }
        let is_deep = source.value.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(glob) if glob == "**"));
        let text = text.trim_end_matches('/');
        let everything = match (contents, is_deep) {
            (true, true) => "/**",
            (true, false) => "/*",
            (false, _) => "",
        };
        let pattern = format!("{text}{everything}");
        if !is_deep {
            return self.call.world.expand(&pattern);
        }
        let folder = fixed_part(&pattern);
        let fits = |path: &String| *contents || glob::glob(pattern.as_bytes(), path.as_bytes());
        let below = self.call.world.names_of(NamesOf::Folder(folder));
        below.map(|name| path::absolute(&name, folder)).filter(fits)
    }

    /// Returns the files that the effect overwrites at the place to which the call has moved them, by their paths before
    /// the call: `a` of `mv a c; mv b c`.
    pub(super) fn buried(&self, effect: &Effect) -> Vec<String> {
        let buried = self.buried.get_or_init(|| self.find_buried());
        effect.id.index().and_then(|index| buried.get(&index)).cloned().unwrap_or_default()
    }

    fn find_buried(&self) -> HashMap<usize, Vec<String>> {
        let effects = &self.call.analysis.effects;
        let mut buried: HashMap<usize, Vec<String>> = HashMap::new();
        if !effects.iter().any(|effect| effect.kind == EffectKind::Move) {
            return buried;
        }
        let mut moves = Moves::default();
        let ends = |effect: &Effect| {
            effect.site == ExecTarget::Here && matches!(effect.kind, EffectKind::Overwrite | EffectKind::Delete)
        };
        for (index, effect) in effects.iter().enumerate().filter(|(_, effect)| ends(effect)) {
            for target in effect.targets.iter().filter(|target| target.path().is_some()) {
                reflex_shell::work::spend(2);
                let lost: Vec<String> = match effect.kind == EffectKind::Overwrite {
                    true if effect.flags.contains(&"place") => self.land(effect, target, &mut moves),
                    true => moves.origins.remove(&self.call.real(effect, target).path).into_iter().collect(),
                    false => {
                        moves.origins.remove(&self.call.real(effect, target).path);
                        continue;
                    }
                };
                if !lost.is_empty() {
                    buried.entry(index).or_default().extend(lost);
                }
            }
        }
        buried
    }

    /// Follows one copy or move, and returns the original paths of the moved files that it writes over.
    fn land(&self, effect: &Effect, target: &Target, moves: &mut Moves) -> Vec<String> {
        let is_move = aliases::moved(effect, self.call.analysis).next().is_some();
        let mut lost = Vec::new();
        for Landing { from, at } in self.landed(effect, target).known().unwrap_or_default() {
            let Some(from) = from.filter(|_| is_move) else {
                lost.extend(moves.origins.remove(&at));
                continue;
            };
            // Later rounds of a loop move the same files.
            if from == at || !moves.gone.insert(from.clone()) {
                continue;
            }
            let origin = moves.origins.remove(&from).unwrap_or(from);
            lost.extend(moves.origins.insert(at, origin));
        }
        lost
    }

    /// Whether an earlier or later part of the call makes a folder of this path: `mkdir out && mv a b out`.
    fn makes_folder(&self, effect: &Effect, folder: &str) -> bool {
        let makes = |command: &Command| {
            command.name == "mkdir"
                && command.words.iter().skip(1).any(|word| self.call.lexical(word, effect).as_deref() == Some(folder))
        };
        self.call.analysis.texts_that_run().flat_map(|reading| &reading.commands).any(makes)
    }
}

/// Returns the last component of a path, if that is known although its folder is not: `a.txt` of `$DIR/a.txt`.
fn known_name(value: &Value) -> Option<String> {
    let Some((Piece::Text(text), _)) = value.pieces.last() else { return None };
    let (_, name) = text.rsplit_once('/')?;
    (!name.is_empty()).then(|| name.to_owned())
}
