//! Files that are written below a folder, by name, and whether a file of the guard or an agent's hook file is among
//! them.

use super::cache::Facts;
use super::classes::fixed_part;

use crate::analysis::aliases;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, is_within};
use crate::model::truth::Ternary;
use crate::model::world::{Known, NamesOf};
use crate::text::sed;
use reflex_shell::{ExecTarget, Value};

/// Classes of files that run automatically or grant access. In a copied tree only these are judged individually.
const STARTED: [&str; 4] = ["shell-startup", "system-startup", "git-hooks", "secret"];

/// The classes of the guard's own files and of the files that contain a user's agent hooks.
const PROTECTED: [&str; 2] = ["guard", "agent-hooks"];

/// Maximum number of sources of one copy that are examined.
const MAX_SOURCES: usize = 1024;

/// Maximum number of files of a tree that become targets of their own.
const MAX_BELOW: usize = 256;

impl Facts<'_> {
    /// Returns for each effect whether it only saves the state of an agent's shell: an agent has a shell do this before
    /// the first call. What a later shell runs from there is judged when it starts.
    pub(crate) fn saved_shells(&self) -> Vec<bool> {
        let is_saved = |effect: &Effect| {
            let is_state = |target| self.is(effect, target, "agent-snapshots") == Ternary::Yes;
            matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append)
                && !effect.targets.is_empty()
                && effect.targets.iter().all(is_state)
        };
        self.analysis.effects.iter().map(is_saved).collect()
    }

    /// Returns the files of trees that are written below a folder, as overwrites with the flag `below`. A file that is
    /// unpacked into `~/.ssh` or named `.git/hooks/pre-commit` is judged like a file that is written there directly. If
    /// the names are unknown, the target is everything in the folder.
    ///
    /// In a project only hidden names and paths that lead out of it count: its other files are in no special class.
    pub(crate) fn files_below(&self) -> Vec<Effect> {
        let is_copy = |effect: &Effect| effect.kind == EffectKind::Overwrite && effect.flags.contains(&"place");
        let is_tree = |effect: &&Effect| {
            (effect.kind == EffectKind::Populate || is_copy(effect))
                && effect.site == ExecTarget::Here
                && !effect.flags.iter().any(|flag| ["everywhere", "prefix", "clean", "untracked"].contains(flag))
        };
        self.analysis.effects.iter().filter(is_tree).filter_map(|effect| self.brought(effect)).collect()
    }

    fn brought(&self, effect: &Effect) -> Option<Effect> {
        let into = effect.targets.first().filter(|target| target.path().is_some())?;
        let real = self.real(effect, into);
        let folder = fixed_part(&real.path).to_owned();
        let is_in_project = is_within(&folder, &self.event.workspace);
        let absolute = effect.flags.contains(&"absolute");
        let target = |path: String, contents: bool| {
            let value = Value::text(path.clone(), effect.origin);
            Target::new(value, TargetPath::Known { text: path, climbing: None, follows: false, contents })
        };
        let is_copy = effect.kind == EffectKind::Overwrite;
        let targets: Vec<Target> = match self.names_below(effect, real.exists).known() {
            // The effect of the copy already names the folder.
            None if is_copy => Vec::new(),
            None => vec![target(folder, true)],
            Some(names) => {
                let placed = |name: &String| {
                    let name = if absolute { name.as_str() } else { name.trim_start_matches('/') };
                    path::absolute(name, &folder)
                };
                let mut paths: Vec<String> = names.iter().filter(|name| !name.ends_with('/')).map(placed).collect();
                let leaves = |path: &String| !is_within(path, &self.event.workspace) || path.contains("/.");
                let stays = effect.flags.contains(&"no-clobber");
                paths.retain(|path| !is_in_project || leaves(path));
                paths.retain(|path| !is_copy || STARTED.iter().any(|class| self.in_class(class, path)));
                paths.retain(|path| !stays || self.world.real(path, false).exists != Some(true));
                // Hidden names and programs come first, in case the list is truncated.
                paths.sort_by_key(|path| !(path.contains("/.") || path.contains("/bin/")));
                paths.truncate(MAX_BELOW);
                paths.into_iter().map(|path| target(path, false)).collect()
            }
        };
        reflex_shell::work::spend(targets.len() as u64 * 2);
        let shadows = |target: &Target| target.path().is_some_and(|path| self.shadows_program(path));
        let mut flags = vec!["below"];
        flags.extend(targets.iter().any(shadows).then_some("shadows"));
        (!targets.is_empty()).then(|| Effect { kind: EffectKind::Overwrite, targets, flags, ..effect.clone() })
    }

    /// Whether a file in a folder of the user's programs has the name of another program.
    fn shadows_program(&self, file: &str) -> bool {
        let folder = path::parent(file);
        let is_of_user = folder.ends_with("/bin") && is_within(folder, &self.event.home);
        is_of_user && self.world.program(path::name_of(file)).is_some_and(|other| other != file)
    }

    /// Whether a tree that is written below the target contains a file of the guard or an agent's hook file, or
    /// replaces a folder above one. Unknown if the names are unknown and such a file is below the target.
    pub(super) fn writes_guard(&self, effect: &Effect, target: &Target) -> Ternary {
        if effect.kind == EffectKind::Overwrite && !effect.flags.contains(&"place") {
            return Ternary::No;
        }
        if target.path().is_none() {
            // For an unknown folder: names that would be the guard's below the home folder count as the guard's.
            let names = (effect.kind == EffectKind::Populate).then(|| self.names_below(effect, None).known()).flatten();
            return Ternary::from(names.is_some_and(|names| self.names_protected(&names, &self.event.home)));
        }
        let real = self.real(effect, target);
        let folder = fixed_part(&real.path);
        let absolute = effect.flags.contains(&"absolute");
        if effect.kind == EffectKind::Populate && self.is_protected_path(folder) {
            return Ternary::Yes;
        }
        if effect.flags.contains(&"everywhere") {
            return Ternary::Unknown;
        }
        if effect.flags.contains(&"prefix") {
            return self.begins_guard(folder);
        }
        if !absolute && !self.is_above_guard(folder) {
            return Ternary::No;
        }
        let Some(names) = self.names_below(effect, real.exists).known() else {
            return if self.is_above_guard(folder) { Ternary::Unknown } else { Ternary::No };
        };
        Ternary::from(self.names_protected(&names, folder))
    }

    /// Whether the target is a program that this session wrote and its arguments name a folder above a protected file.
    pub(super) fn is_given_guard(&self, effect: &Effect, target: &Target) -> bool {
        let Some((command, program)) = self.analysis.command(effect).zip(target.path()) else { return false };
        let words = command.words.iter().skip(1).flat_map(|word| word.split(&['=']));
        let mut folders = words.filter_map(|word| self.lexical(&word, effect));
        folders.any(|folder| self.is_above_guard(fixed_part(&folder))) && self.is_written_by_session(program)
    }

    fn is_written_by_session(&self, program: &str) -> bool {
        let writes = |effect: &Effect| {
            [EffectKind::Overwrite, EffectKind::Edit].contains(&effect.kind)
                && effect.targets.iter().any(|target| target.path() == Some(program))
        };
        self.analysis.effects.iter().any(writes)
            || self.written.get_or_init(|| self.world.written()).contains(program)
            || self.world.is_of_session(program) == Some(true)
    }

    fn names_protected(&self, names: &[String], folder: &str) -> bool {
        names.iter().any(|name| {
            let written = path::absolute(name, folder);
            self.is_protected_path(&written) || written != folder && self.is_above_guard(&written)
        })
    }

    /// Whether the folder contains a protected file.
    fn is_above_guard(&self, folder: &str) -> bool {
        self.protected_files().iter().any(|file| is_within(fixed_part(file), folder))
    }

    /// Returns the guard's files, and the protected patterns with a fixed location. A pattern without a leading folder
    /// matches anywhere, including in every project, and is not returned.
    fn protected_files(&self) -> Vec<String> {
        let home = &self.event.home;
        let file = |pattern: &str| match pattern.strip_prefix("~/") {
            Some(rest) => Some(format!("{home}/{rest}")),
            None => pattern.starts_with('/').then(|| pattern.to_owned()),
        };
        let classes = PROTECTED.iter().flat_map(|class| self.tables.library().places().get(class).iter());
        let files = classes.flat_map(|place| place.paths().iter()).filter_map(file);
        self.world.guard().into_iter().chain(files).collect()
    }

    /// Returns `Unknown` if the name of a protected file begins with this prefix.
    fn begins_guard(&self, beginning: &str) -> Ternary {
        let begins = self.protected_files().iter().any(|file| file.starts_with(beginning));
        if begins { Ternary::Unknown } else { Ternary::No }
    }

    fn is_protected_path(&self, path: &str) -> bool {
        let in_home = || is_within(path, &self.event.home) || !is_within(path, &self.event.workspace);
        self.world.guard().iter().any(|file| is_within(path, file))
            || in_home() && PROTECTED.iter().any(|class| self.in_class(class, path))
    }

    /// Returns the written names, relative to the folder; a name with a leading slash is absolute.
    pub(super) fn names_below(&self, effect: &Effect, exists: Known<bool>) -> Affected<Vec<String>> {
        match effect.kind == EffectKind::Populate {
            true => self.populated_names(effect).into(),
            false => self.copied_names(effect, exists).into(),
        }
    }

    /// Returns the names that an archive, a folder or a commit brings.
    fn populated_names(&self, effect: &Effect) -> Known<Vec<String>> {
        let has = |flag: &str| effect.flags.contains(&flag);
        if has("archive") {
            let names = self.world.names_of(NamesOf::Archive(&self.source_of(effect)?)).known()?;
            return Some(self.transformed(without_first(names, self.stripped(effect)?), effect));
        }
        if has("tree") {
            let names = self.world.names_of(NamesOf::Folder(&self.source_of(effect)?)).known()?;
            return Some(if has("dotted") { names.iter().map(|name| dotted(name)).collect() } else { names });
        }
        if has("clean") || has("untracked") {
            // Everything that is not in git is removed, which includes the guard's state.
            return Some(vec![format!("{}/.local/state/reflex", self.event.home)]);
        }
        if !has("git") {
            return None;
        }
        let at = self.repository_of(effect)?;
        let word = effect.argument.as_ref().map_or(Some("HEAD".into()), Value::literal)?;
        let names = self.world.names_of(NamesOf::Commit { at: &at, word: &word }).known()?;
        Some(self.transformed(without_first(names, self.stripped(effect)?), effect))
    }

    /// Applies `tar --transform` to the names.
    fn transformed(&self, names: Vec<String>, effect: &Effect) -> Vec<String> {
        let command = self.analysis.command(effect);
        let known = command.and_then(|command| Some((command, command.invocation.as_ref()?)));
        let values = known.map(|(command, known)| known.values("transform", &command.words)).unwrap_or_default();
        values.iter().filter_map(Value::literal).fold(names, |names, text| sed::substituted(names, &text))
    }

    /// Returns the number of leading folders that the extraction strips from names.
    fn stripped(&self, effect: &Effect) -> Option<usize> {
        let Some(command) = self.analysis.command(effect) else { return Some(0) };
        let value = command.invocation.as_ref().and_then(|known| known.values("strip", &command.words).pop());
        value.map_or(Some(0), |count| count.literal()?.parse().ok())
    }

    /// Returns the path of the archive or the folder that the names come from.
    fn source_of(&self, effect: &Effect) -> Option<String> {
        let argument = effect.argument.as_ref()?;
        let absolute = argument.literal().filter(|text| path::is_absolute(text)).map(std::borrow::Cow::into_owned);
        absolute.or_else(|| self.lexical(argument, effect))
    }

    /// Returns the folder whose repository the command uses: that of `--git-dir`, else its working directory.
    fn repository_of(&self, effect: &Effect) -> Option<String> {
        let command = self.analysis.command(effect)?;
        // In `git archive | tar` the folder is that of `git archive`.
        let named = command.invocation.as_ref().and_then(|known| known.values("git-dir", &command.words).pop());
        match named {
            Some(named) => self.lexical(&named, effect),
            None => Some(effect.folder.clone().unwrap_or_else(|| self.event.cwd.clone())),
        }
    }

    /// Returns the names that a copy or a move writes.
    fn copied_names(&self, effect: &Effect, exists: Known<bool>) -> Known<Vec<String>> {
        // A nonexistent destination is created rather than copied into.
        let renamed = effect.flags.contains(&"no-target") || exists == Some(false);
        let mut names = Vec::new();
        let has = |flag: &str| effect.flags.contains(&flag);
        for (index, source) in aliases::sources(effect, self.analysis).enumerate() {
            let TargetPath::Known { contents, follows, .. } = &source.path else { return None };
            if index >= MAX_SOURCES {
                return None;
            }
            let is_one = !source.is_pattern();
            // All that a pattern without a name matches are separate sources.
            let into = is_one && (*contents || *follows) || renamed;
            for source in self.matched(source).known()? {
                let name_of_source = self.copied_name(effect, &source).to_owned();
                let real = self.world.real(&source, true);
                // A nonexistent source may become a folder with any content.
                if real.exists == Some(false) && (has("recursive") || has("archive")) {
                    return None;
                }
                let inner = match real.is_folder {
                    Some(false) => Some(Vec::new()),
                    Some(true) => Some(self.world.names_of(NamesOf::Folder(&real.path)).known()?),
                    None => self.world.names_of(NamesOf::Folder(&real.path)).known(),
                };
                match inner.filter(|names| !names.is_empty()) {
                    Some(inner) if into => names.extend(inner),
                    Some(inner) => names.extend(inner.into_iter().map(|name| format!("{name_of_source}/{name}"))),
                    None => names.push(if renamed { String::new() } else { name_of_source }),
                }
            }
        }
        Some(names)
    }
}

/// Strips leading folders from names; a name with too few is not written.
fn without_first(names: Vec<String>, folders: usize) -> Vec<String> {
    let shorter = |name: String| {
        let rest = name.trim_start_matches("./").splitn(folders + 1, '/').nth(folders)?.to_owned();
        (!rest.is_empty()).then_some(rest)
    };
    if folders == 0 { names } else { names.into_iter().filter_map(shorter).collect() }
}

/// Returns the name that a dotfile manager gives to `private_dot_config/x.tmpl`.
fn dotted(name: &str) -> String {
    const MARKS: [&str; 7] = ["private_", "executable_", "exact_", "readonly_", "empty_", "create_", "encrypted_"];
    let part = |part: &str| {
        let mut rest = part;
        while let Some(shorter) = MARKS.iter().find_map(|mark| rest.strip_prefix(mark)) {
            rest = shorter;
        }
        rest.strip_prefix("dot_").map_or_else(|| rest.to_owned(), |name| format!(".{name}"))
    };
    let parts: Vec<String> = name.trim_end_matches(".tmpl").split('/').map(part).collect();
    parts.join("/")
}
