//! Content that a call discards indirectly: files that it moves and then deletes under the new name, and the content of
//! files that it overwrites with nothing.

use super::aliases;
use super::effects::Input;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, is_within};
use reflex_shell::{Access, Command, ExecTarget};

/// Maximum number of moves of one call that are followed.
const MAX_MOVES: usize = 64;

/// Maximum number of targets added to one call.
const MAX_ADDED: usize = 256;

/// A moved path, with the effect that names its destination.
struct Moved {
    index: usize,
    /// The path after the move.
    at: String,
    from: String,
    source: Target,
}

/// Adds to every deletion the paths that the call moved there before.
pub(super) fn follow_moves(_: Input<'_>, analysis: &mut Analysis) {
    let moved = moved(analysis);
    let mut left = MAX_ADDED;
    for (index, effect) in analysis.effects.iter_mut().enumerate() {
        if effect.kind != EffectKind::Delete || effect.site != ExecTarget::Here || moved.is_empty() {
            continue;
        }
        let before = moved.iter().filter(|moved| moved.index < index);
        let origins = before.flat_map(|moved| effect.targets.iter().filter_map(|target| origin(moved, target)));
        let added: Vec<Target> = origins.take(left).collect();
        left -= added.len();
        effect.targets.extend(added);
    }
}

fn moved(analysis: &Analysis) -> Vec<Moved> {
    let effects = &analysis.effects;
    if !effects.iter().any(|effect| effect.kind == EffectKind::Move) {
        return Vec::new();
    }
    let is_place = |(_, effect): &(usize, &Effect)| {
        effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place") && effect.site == ExecTarget::Here
    };
    let mut moved = Vec::new();
    for (index, effect) in effects.iter().enumerate().filter(is_place).take(MAX_MOVES) {
        let Some(place) = effect.targets.first().and_then(Target::path) else { continue };
        let sources = aliases::moved(effect, analysis).take(MAX_MOVES);
        for (source, from) in sources.filter_map(|source| Some((source, source.path()?))) {
            // The names that a pattern matches are unknown, so only deleting the complete destination certainly deletes
            // them.
            if source.is_pattern() {
                moved.push(Moved { index, at: place.to_owned(), from: from.to_owned(), source: source.clone() });
                continue;
            }
            let inside = path::absolute(path::name_of(from), place);
            for at in [inside, place.to_owned()] {
                moved.push(Moved { index, at, from: from.to_owned(), source: source.clone() });
            }
        }
    }
    moved
}

/// Returns the path of a deleted target before the move: a part of the moved path, or all of it if a folder around it
/// is deleted.
fn origin(moved: &Moved, target: &Target) -> Option<Target> {
    let TargetPath::Known { text, contents, .. } = &target.path else { return None };
    if moved.source.is_pattern() {
        return is_within(&moved.at, text).then(|| moved.source.clone());
    }
    let below = text.strip_prefix(moved.at.as_str()).map(|below| below.trim_start_matches('/'));
    let text = match below.filter(|_| is_within(text, &moved.at)) {
        Some(below) => path::absolute(below, &moved.from),
        None if is_within(&moved.at, text) => moved.from.clone(),
        None => return None,
    };
    let follows = matches!(moved.source.path, TargetPath::Known { follows: true, .. });
    let path = TargetPath::Known { text, climbing: None, follows, contents: *contents };
    Some(Target::new(moved.source.value.clone(), path))
}

/// Returns whether a command prints nothing, so that a file that receives its output becomes empty.
pub(super) fn prints_nothing(command: &Command) -> bool {
    let only = |wanted: &str| {
        let mut words = command.words.iter().skip(1).map(|word| word.literal());
        command.words.len() == 2 && words.all(|word| word.as_deref() == Some(wanted))
    };
    match command.name.as_str() {
        // A file opened for writing by code in another language has no words either.
        "" => command.words.is_empty() && command.parent.is_none(),
        ":" | "true" => true,
        "cat" => only("/dev/null"),
        "echo" => only("-n"),
        "printf" => only(""),
        _ => false,
    }
}

/// Returns whether a command overwrites files with nothing, zeros or noise:
/// `dd if=/dev/zero of=FILE`, `tee FILE </dev/null`.
pub(super) fn writes_nothing(command: &Command) -> bool {
    let is_meaningless = |path: &str| matches!(path, "/dev/null" | "/dev/zero" | "/dev/urandom" | "/dev/random");
    let reads = || {
        let read = command.redirects.iter().rfind(|redirect| redirect.access == Access::Read);
        read.and_then(|redirect| redirect.target.literal())
    };
    match command.name.as_str() {
        "cp" | "install" => command.words.iter().skip(1).any(|word| word.literal().as_deref() == Some("/dev/null")),
        "dd" => {
            let input = command.words.iter().find_map(|word| Some(word.literal()?.strip_prefix("if=")?.to_owned()));
            input.or_else(|| reads().map(Into::into)).as_deref().is_some_and(is_meaningless)
        }
        "tee" | "sponge" => reads().as_deref().is_some_and(is_meaningless),
        _ => false,
    }
}
