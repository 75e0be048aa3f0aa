//! The meaning of a target: the resolved path, and every other path that is meant.

use super::call::Call;
use super::meaning::{Distinct, Pattern, Seen};
use super::patterns::fixed_part;
use crate::analysis::aliases;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, Place, is_within};
use crate::model::session::RemnantKind;
use crate::model::words::WordList;
use crate::model::world::ResolvedPath;
use reflex_shell::{Piece, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Maximum number of files landing in one folder that are examined individually.
const MAX_LANDINGS: usize = 64;

/// Number of targets from which on equal ones are looked for.
const MANY: usize = 64;

impl Call<'_> {
    /// Resolves the target. If a symlink itself is removed, moved or created, it is the target; otherwise it is
    /// followed.
    pub(crate) fn real(&self, effect: &Effect, target: &Target) -> ResolvedPath {
        self.seen(effect, target).real.clone()
    }

    pub(super) fn seen(&self, effect: &Effect, target: &Target) -> Rc<Seen> {
        self.seen.get(target.id, || {
            reflex_shell::work::spend(4);
            let seen = Distinct(Rc::new(self.look(effect, target)));
            // Most calls have few targets, which are hardly ever the same.
            if target.id.index().is_none_or(|index| index < MANY) {
                return seen.0;
            }
            let mut distinct = self.distinct.borrow_mut();
            if let Some(known) = distinct.get(&seen) {
                return Rc::clone(&known.0);
            }
            let new = Rc::clone(&seen.0);
            distinct.insert(seen);
            new
        })
    }

    pub(super) fn look(&self, effect: &Effect, target: &Target) -> Seen {
        let real = self.follow(effect, target);
        let text = target.path().unwrap_or("");
        let mut paths = vec![real.path.clone()];
        let sure;
        let landings = self.landings(effect, target, &real);
        if let (Some(true), false) = (real.is_folder.or(self.is_folder(target, &real)), landings.is_empty()) {
            paths = landings;
            sure = paths.len();
        } else {
            paths.extend(landings);
            sure = 1;
        }
        let place = paths.first().map_or(Place::Unknown, |path| self.place(path));
        if real.path != text {
            paths.push(text.to_owned());
        }
        if matches!(target.path, TargetPath::Known { contents: true, .. }) {
            paths.push(format!("{}/x", real.path));
        }
        let is_argument = effect.kind == EffectKind::PathArgument && effect.flags.contains(&"argument");
        if is_argument || matches!(effect.kind, EffectKind::Read | EffectKind::SendFile | EffectKind::RunFile) {
            paths.extend(self.aliases().sources(text));
            paths.extend(self.copied_before(&real.path));
            paths.extend(unpacked_name(text).map(str::to_owned));
        }
        if effect.kind == EffectKind::Stage {
            paths.extend(self.copied_before(&real.path));
        }
        let pattern = self.pattern(effect, target, &real, paths.first().map_or(text, String::as_str));
        let is_taken_whole = self.is_taken_whole(effect, &real);
        Seen { real, place, paths, sure, pattern, is_taken_whole, classes: RefCell::default() }
    }

    pub(super) fn pattern(
        &self,
        effect: &Effect,
        target: &Target,
        real: &ResolvedPath,
        lands: &str,
    ) -> Option<Pattern> {
        let TargetPath::Known { contents, .. } = target.path else { return None };
        let is_narrowed = effect.flags.contains(&"searched") && !self.prints_all(effect);
        if effect.is_about_many(target) {
            let deep = target.value.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(glob) if glob == "**"));
            let everything = match (contents, deep) {
                (true, true) => "/**",
                (true, false) => "/*",
                (false, _) => "",
            };
            // A search shows only the matching part of a folder's content.
            if contents && is_narrowed {
                return None;
            }
            return Some(Pattern::Written(format!("{}{everything}", real.path.trim_end_matches('/'))));
        }
        let has = |flag| effect.flags.contains(&flag);
        if effect.kind == EffectKind::Overwrite && has("place") && (has("recursive") || has("archive")) {
            return Some(Pattern::Tree(lands.to_owned()));
        }
        let taken = matches!(effect.kind, EffectKind::Read | EffectKind::SendFile | EffectKind::ServeFolder);
        if !taken || effect.command.is_none() || is_narrowed {
            return None;
        }
        let place = self.place(&real.path);
        let is_root = [Place::Root, Place::Home, Place::Temporary].contains(&place)
            || place == Place::Workspace && !has("searched");
        (!is_root).then(|| Pattern::Tree(real.path.clone()))
    }

    /// Whether the effect shows or sends the content of every file that the target means.
    fn is_taken_whole(&self, effect: &Effect, real: &ResolvedPath) -> bool {
        let has = |flag| effect.flags.contains(&flag);
        let is_shown = effect.kind == EffectKind::Read
            && !["copied", "kept", "measured"].into_iter().any(has)
            && (!has("searched") || self.prints_all(effect));
        let is_given = matches!(effect.kind, EffectKind::SendFile | EffectKind::ServeFolder);
        real.is_folder != Some(false) && (is_shown || is_given)
    }

    /// Whether a search prints every line: its pattern, the effect's argument, fits any line, or it prints the others.
    fn prints_all(&self, effect: &Effect) -> bool {
        let fits_any = |pattern: &Value| {
            let patterns = WordList::AnyLinePatterns.read(self.tables);
            pattern.literal().is_some_and(|text| text.is_empty() || patterns.has(&text))
        };
        effect.flags.contains(&"other-lines") || effect.argument.as_ref().is_some_and(fits_any)
    }

    /// Returns the sources of the file, if an earlier call copied or packed them into it.
    pub(super) fn copied_before(&self, path: &str) -> impl Iterator<Item = String> {
        let copies = self.past().iter().filter(move |known| known.kind == RemnantKind::Copy);
        let path = path.to_owned();
        copies.filter(move |known| is_within(&path, &known.path)).map(|known| known.from.clone())
    }

    /// Returns the paths that a copy or move into a folder writes.
    pub(super) fn landings(&self, effect: &Effect, target: &Target, real: &ResolvedPath) -> Vec<String> {
        let placed = effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place");
        if !placed || real.is_folder == Some(false) || target.path().is_none() {
            return Vec::new();
        }
        let sources = aliases::sources(effect, self.analysis).filter(|source| source.path().is_some());
        let out = effect.command.is_some() && effect.flags.contains(&"from-container");
        let copied_out = out.then(|| aliases::copied_out(effect, self.analysis)).into_iter().flatten();
        let names = sources.map(name_of_source).chain(copied_out);
        let names = names.filter(|name| !name.is_empty() && name != ".");
        names.take(MAX_LANDINGS).map(|name| path::absolute(&name, &real.path)).collect()
    }

    /// Whether the target is a folder, without a query to the machine.
    pub(super) fn is_folder(&self, target: &Target, real: &ResolvedPath) -> Option<bool> {
        let follows = matches!(target.path, TargetPath::Known { follows: true, .. });
        let known = matches!(self.place(&real.path), Place::Root | Place::Home | Place::Workspace);
        (follows || known).then_some(true)
    }

    pub(super) fn follow(&self, effect: &Effect, target: &Target) -> ResolvedPath {
        let TargetPath::Known { text, climbing, follows, .. } = &target.path else {
            return ResolvedPath { path: String::new(), exists: None, is_folder: None };
        };
        let itself = matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Link);
        let written = self.aliases().linked(effect, climbing.as_ref().unwrap_or(text), *follows || !itself);
        let fixed = fixed_part(&written);
        if path::is_open_file(fixed) {
            return ResolvedPath { path: fixed.to_owned(), exists: None, is_folder: Some(false) };
        }
        let mut real = self.world.real(fixed, *follows || !itself || written.ends_with(".."));
        // A nonexistent path contains no symlinks.
        real.path = path::absolute(&real.path, "/");
        if fixed.len() < written.len() {
            real.path = path::absolute(written.get(fixed.len()..).unwrap_or("").trim_start_matches('/'), &real.path);
        }
        real
    }
}

/// Returns the name under which a source lands in a folder; a pattern if it is one.
fn name_of_source(source: &Target) -> String {
    let is_content = matches!(source.path, TargetPath::Known { contents: true, .. }) && source.is_pattern();
    if is_content { "*".to_owned() } else { path::name_of(source.path().unwrap_or("")).to_owned() }
}

/// Returns the name of the file that was packed into this one: `.env` of `.env.gz`.
fn unpacked_name(path: &str) -> Option<&str> {
    const PACKED: [&str; 8] = [".gz", ".xz", ".bz2", ".zst", ".zip", ".b64", ".br", ".lz4"];
    PACKED.iter().find_map(|end| path.strip_suffix(end)).filter(|name| !name.ends_with('/'))
}
