//! Whether a target belongs to a class: a place, a property of its path, or a class of the library.

use super::cache::{Facts, Pattern, Places, Seen};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, Place, is_below, is_within};
use crate::model::truth::Ternary;
use crate::model::world::NamesOf;
use crate::text::glob;
use reflex_shell::ExecTarget;
use reflex_tables::Texts;
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

/// Classes that only reduce danger: every path that is certainly meant must belong to them, not just one.
const HARMLESS: [&str; 3] = ["caches", "agent-notes", "agent-snapshots"];

/// Classes of settings files with hooks, which may be symlinks into a folder of dotfiles.
const HOOK_FILES: [&str; 2] = ["agent-hooks", "agent-settings"];

/// Classes of files that matter for the keys in them.
const KEYS: [&str; 2] = ["environment", "key-files"];

impl Facts<'_> {
    /// Whether the target belongs to a class: a place, a property of its path, or a class of the library.
    pub fn is(&self, effect: &Effect, target: &Target, class: &str) -> Ternary {
        if effect.site != ExecTarget::Here {
            return elsewhere(target, class);
        }
        let TargetPath::Known { text, contents, climbing, .. } = &target.path else {
            return Ternary::from(class == "unknown" && target.path == TargetPath::Unknown);
        };
        match class {
            "contents" => return Ternary::from(*contents),
            "climbing" => return Ternary::from(climbing.is_some()),
            "pattern" => return Ternary::from(effect.is_about_many(target)),
            "device" => return Ternary::from(text.starts_with("/dev/")),
            "guard" => return Ternary::from(self.is_guard(effect, target)),
            "guard-program" => return Ternary::from(self.is_guard_program(effect, target)),
            _ => {}
        }
        if effect.kind == EffectKind::Read && KEYS.contains(&class) && self.is_new_key(target) {
            return Ternary::No;
        }
        let seen = self.seen(effect, target);
        if Place::ALL.iter().any(|(_, name)| *name == class) {
            return Ternary::from(seen.place.name() == class);
        }
        let Some(index) = self.tables.library().places().index_of(class) else { return Ternary::No };
        if let Some(known) = seen.classes.borrow().get(&index) {
            return *known;
        }
        let truth = self.class(&seen, class);
        seen.classes.borrow_mut().insert(index, truth);
        truth
    }

    /// Whether the path does not exist yet and the call itself generates it: an unused key.
    fn is_new_key(&self, target: &Target) -> bool {
        let Some(path) = target.path() else { return false };
        self.generated.get_or_init(|| self.generated()).contains(path)
            && self.world.real(path, true).exists == Some(false)
    }

    fn generated(&self) -> HashSet<String> {
        let made = self.analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Overwrite);
        let paths = |is_generated: bool| {
            let effects = made.clone().filter(move |effect| effect.flags.contains(&"generated") == is_generated);
            effects.flat_map(|effect| &effect.targets).filter_map(Target::path)
        };
        let mut generated: HashSet<String> = paths(true).map(str::to_owned).collect();
        if !generated.is_empty() {
            for path in paths(false) {
                generated.remove(path);
            }
        }
        generated
    }

    pub(super) fn class(&self, seen: &Seen, class: &str) -> Ternary {
        let real = &seen.real.path;
        if class == "system" && (is_within(real, &self.event.home) || is_within(real, &self.event.workspace)) {
            // The home of root is among the system's folders, and a project may be too.
            return Ternary::No;
        }
        let belongs = |path: &String| self.in_class(class, path);
        if HARMLESS.contains(&class) {
            return Ternary::from(seen.paths.iter().take(seen.sure).all(belongs));
        }
        if seen.paths.iter().any(belongs) {
            return Ternary::Yes;
        }
        if HOOK_FILES.contains(&class) && self.world.hook_files().iter().any(|file| seen.paths.contains(file)) {
            return Ternary::Yes;
        }
        let Some(pattern) = &seen.pattern else { return Ternary::No };
        let truth = self.may_belong(class, pattern);
        let is_listed = truth == Ternary::No && seen.is_taken_whole && KEYS.contains(&class);
        if is_listed { Ternary::from(self.finds(class, pattern)) } else { truth }
    }

    /// Whether one of the existing files that the pattern means belongs to the class. Files that cannot be listed do
    /// not count.
    fn finds(&self, class: &str, pattern: &Pattern) -> bool {
        reflex_shell::work::spend(50);
        let (folder, written) = match pattern {
            Pattern::Tree(tree) => (tree.as_str(), None),
            Pattern::Written(written) if written.contains("**") => (fixed_part(written), Some(written)),
            Pattern::Written(written) => {
                let matched = self.world.expand(written).known().unwrap_or_default();
                reflex_shell::work::spend(matched.len() as u64 * 2);
                return matched.iter().any(|path| self.in_class(class, path));
            }
        };
        let names = self.world.names_of(NamesOf::Folder(folder)).known().unwrap_or_default();
        reflex_shell::work::spend(names.len() as u64 * 2);
        let fits = |path: &String| written.is_none_or(|written| glob::fits(written, path, &self.event.home));
        let paths = names.iter().map(|name| path::absolute(name, folder));
        paths.filter(fits).any(|path| self.in_class(class, &path))
    }

    /// Whether a path that the pattern matches belongs to the class, judged by the existing files if they can be
    /// listed.
    pub(super) fn may_belong(&self, class: &str, pattern: &Pattern) -> Ternary {
        let places = self.tables.library().places().get(class);
        let mut patterns = places.iter().flat_map(|place| place.paths().iter());
        let home = &self.event.home;
        let written = match pattern {
            Pattern::Written(written) => written,
            Pattern::Tree(tree) => return Ternary::from(patterns.any(|one| holds(tree, one, home))),
        };
        if !patterns.any(|one| meets(written, one, home)) {
            return Ternary::No;
        }
        reflex_shell::work::spend(50);
        if let Some(matched) = self.world.expand(written).known() {
            reflex_shell::work::spend(matched.len() as u64 * 2);
            return Ternary::from(matched.iter().any(|path| self.in_class(class, path)));
        }
        // `.*` matches every hidden name. A repository always has its own folder there; other hidden names are unknown.
        let last = path::name_of(written);
        let everything = [".*", ".?", ".["].iter().any(|start| last.starts_with(start));
        if everything && class != "git-internals" { Ternary::Unknown } else { Ternary::Yes }
    }

    pub(super) fn in_class(&self, class: &str, path: &str) -> bool {
        let folded = self.world.folds_case().then(|| (path.to_lowercase(), self.event.home.to_lowercase()));
        let (path, home) =
            folded.as_ref().map_or((path, self.event.home.as_str()), |(path, home)| (path.as_str(), home.as_str()));
        let path = glob::Compared::new(path, home);
        let fits = |pattern: &Cow<'static, [u8]>| path.fits(pattern);
        let places = self.places(class);
        places.iter().any(|place| place.paths.iter().any(fits) && !place.except.iter().any(fits))
    }

    /// Whether a class names the path itself, not only a folder that contains it.
    pub(crate) fn is_named_by(&self, class: &str, path: &str) -> bool {
        let path = glob::Compared::new(path, &self.event.home);
        let fits = |pattern: &Cow<'static, [u8]>| !pattern.ends_with(b"/**") && path.fits(pattern);
        self.places(class).iter().any(|place| place.paths.iter().any(fits) && !place.except.iter().any(fits))
    }

    /// Returns the patterns of a class, read from the library once: a call may have thousands of targets.
    pub(super) fn places(&self, class: &str) -> Rc<[Places]> {
        let classes = self.tables.library().places();
        let Some(index) = classes.index_of(class) else { return Rc::default() };
        if let Some(known) = self.places.borrow().get(&index) {
            return Rc::clone(known);
        }
        let folds = self.world.folds_case();
        let pattern = |pattern: &'static str| match folds {
            true => Cow::Owned(pattern.to_lowercase().into_bytes()),
            false => Cow::Borrowed(pattern.as_bytes()),
        };
        let patterns = |list: Texts<'static>| list.iter().map(pattern).collect();
        let places = classes.get(class).iter();
        let places: Rc<[Places]> =
            places.map(|place| Places { paths: patterns(place.paths()), except: patterns(place.except()) }).collect();
        self.places.borrow_mut().insert(index, Rc::clone(&places));
        places
    }
}

/// Whether a path can match both a shell pattern and one of the library. A library pattern without an anchor counts
/// only if the shell pattern names hidden files: `*.json` is not meant to match a `credentials.json`.
pub(super) fn meets(written: &str, library: &str, home: &str) -> bool {
    let searched = written.contains("/**/") || written.ends_with("/**");
    let anchored = match library.strip_prefix("~/") {
        Some(rest) => Some(format!("{home}/{rest}")),
        None => library.starts_with('/').then(|| library.to_owned()),
    };
    if let Some(library) = anchored {
        let (from, of_class) = (fixed_part(written), fixed_part(&library));
        if !is_within(from, of_class) {
            // A recursive search is meant for the names in its pattern, not for everything that it could find.
            let named = library.strip_suffix("/**").filter(|_| searched).unwrap_or(&library);
            return is_within(of_class, from) && (!searched || names(written)) && glob::may_meet(written, named);
        }
        return glob::may_meet(written, &library);
    }
    let parts: Vec<&str> = written.split('/').collect();
    let starred = parts.iter().position(|part| part.contains(['*', '?', '['])).unwrap_or(0);
    let named = match library.split_once('/') {
        Some((first, _)) => starred.checked_sub(1).and_then(|at| parts.get(at)).is_some_and(|part| *part == first),
        None => names(written) && path::name_of(written).starts_with('.'),
    };
    named && glob::may_meet(written, &format!("/**/{library}"))
}

/// Whether a folder that is taken recursively contains a folder of a library pattern. The home folder itself is
/// excluded, because every home contains some of them.
pub(super) fn holds(tree: &str, library: &str, home: &str) -> bool {
    let Some(rest) = library.strip_prefix("~/") else {
        return library.split_once('/').is_some_and(|(first, _)| first == path::name_of(tree) && !first.is_empty());
    };
    let below = tree.strip_prefix(home).and_then(|below| below.strip_prefix('/'));
    below.is_some_and(|folder| !folder.is_empty() && is_below(rest, folder))
}

/// Whether the last component of a pattern begins with a name, or at least with the dot of a hidden file.
pub(super) fn names(written: &str) -> bool {
    let last = path::name_of(written);
    last.starts_with('.') || last.find(['*', '?', '[']).unwrap_or(last.len()) > 1
}

/// Returns the path up to the last component before the first pattern.
pub(super) fn fixed_part(path: &str) -> &str {
    let Some(at) = path.bytes().position(|byte| matches!(byte, b'*' | b'?' | b'[')) else { return path };
    let before = path.get(..at).unwrap_or("");
    match before.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => before.get(..slash).unwrap_or("/"),
    }
}

/// Classifies a target on another system, where only the roots are known.
pub(super) fn elsewhere(target: &Target, class: &str) -> Ternary {
    let root = match target.path() {
        Some("/") => "root",
        _ if target.value.pieces.len() == 1 && target.value.shown() == "~" => "home",
        _ => "elsewhere",
    };
    Ternary::from(class == root)
}
