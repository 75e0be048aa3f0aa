//! Files that are written below a folder, by name.

use super::call::Call;
use super::landed::CopyFacts;
use super::patterns::fixed_part;
use crate::analysis::aliases;
use crate::model::affected::Affected;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::path::{self, is_within};
use crate::model::world::{Known, NamesOf};
use crate::text::sed;
use reflex_shell::{ExecTarget, Value};

/// Classes of files that run automatically or grant access. In a copied tree only these are judged individually.
const STARTED: [&str; 4] = ["shell-startup", "system-startup", "git-hooks", "secret"];

/// Maximum number of sources of one copy that are examined.
const MAX_SOURCES: usize = 1024;

/// Maximum number of files of a tree that become targets of their own.
const MAX_BELOW: usize = 256;

/// The files of trees that are written below a folder.
#[derive(Clone, Copy)]
pub(crate) struct TreeFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) copies: CopyFacts<'f>,
}

impl TreeFacts<'_> {
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
        self.call.analysis.effects.iter().filter(is_tree).filter_map(|effect| self.brought(effect)).collect()
    }

    fn brought(&self, effect: &Effect) -> Option<Effect> {
        let into = effect.targets.first().filter(|target| target.path().is_some())?;
        let real = self.call.real(effect, into);
        let folder = fixed_part(&real.path).to_owned();
        let is_in_project = is_within(&folder, &self.call.event.workspace);
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
                let leaves = |path: &String| !is_within(path, &self.call.event.workspace) || path.contains("/.");
                let stays = effect.flags.contains(&"no-clobber");
                paths.retain(|path| !is_in_project || leaves(path));
                paths.retain(|path| !is_copy || STARTED.iter().any(|class| self.call.in_class(class, path)));
                paths.retain(|path| !stays || self.call.world.real(path, false).exists != Some(true));
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
        let is_of_user = folder.ends_with("/bin") && is_within(folder, &self.call.event.home);
        is_of_user && self.call.world.program(path::name_of(file)).is_some_and(|other| other != file)
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
            let names = self.call.world.names_of(NamesOf::Archive(&self.source_of(effect)?)).known()?;
            return Some(self.transformed(without_first(names, self.stripped(effect)?), effect));
        }
        if has("tree") {
            let names = self.call.world.names_of(NamesOf::Folder(&self.source_of(effect)?)).known()?;
            return Some(if has("dotted") { names.iter().map(|name| dotted(name)).collect() } else { names });
        }
        if has("clean") || has("untracked") {
            // Everything that is not in git is removed, which includes the guard's state.
            return Some(vec![format!("{}/.local/state/reflex", self.call.event.home)]);
        }
        if !has("git") {
            return None;
        }
        let at = self.repository_of(effect)?;
        let word = effect.argument.as_ref().map_or(Some("HEAD".into()), Value::literal)?;
        let names = self.call.world.names_of(NamesOf::Commit { at: &at, word: &word }).known()?;
        Some(self.transformed(without_first(names, self.stripped(effect)?), effect))
    }

    /// Applies `tar --transform` to the names.
    fn transformed(&self, names: Vec<String>, effect: &Effect) -> Vec<String> {
        let command = self.call.analysis.command(effect);
        let known = command.and_then(|command| Some((command, command.invocation.as_ref()?)));
        let values = known.map(|(command, known)| known.values("transform", &command.words)).unwrap_or_default();
        values.iter().filter_map(Value::literal).fold(names, |names, text| sed::substituted(names, &text))
    }

    /// Returns the number of leading folders that the extraction strips from names.
    fn stripped(&self, effect: &Effect) -> Option<usize> {
        let Some(command) = self.call.analysis.command(effect) else { return Some(0) };
        let value = command.invocation.as_ref().and_then(|known| known.values("strip", &command.words).pop());
        value.map_or(Some(0), |count| count.literal()?.parse().ok())
    }

    /// Returns the path of the archive or the folder that the names come from.
    fn source_of(&self, effect: &Effect) -> Option<String> {
        let argument = effect.argument.as_ref()?;
        let absolute = argument.literal().filter(|text| path::is_absolute(text)).map(std::borrow::Cow::into_owned);
        absolute.or_else(|| self.call.lexical(argument, effect))
    }

    /// Returns the folder whose repository the command uses: that of `--git-dir`, else its working directory.
    fn repository_of(&self, effect: &Effect) -> Option<String> {
        let command = self.call.analysis.command(effect)?;
        // In `git archive | tar` the folder is that of `git archive`.
        let named = command.invocation.as_ref().and_then(|known| known.values("git-dir", &command.words).pop());
        match named {
            Some(named) => self.call.lexical(&named, effect),
            None => Some(effect.folder.clone().unwrap_or_else(|| self.call.event.cwd.clone())),
        }
    }

    /// Returns the names that a copy or a move writes.
    fn copied_names(&self, effect: &Effect, exists: Known<bool>) -> Known<Vec<String>> {
        // A nonexistent destination is created rather than copied into.
        let renamed = effect.flags.contains(&"no-target") || exists == Some(false);
        let mut names = Vec::new();
        let has = |flag: &str| effect.flags.contains(&flag);
        for (index, source) in aliases::sources(effect, self.call.analysis).enumerate() {
            let TargetPath::Known { contents, follows, .. } = &source.path else { return None };
            if index >= MAX_SOURCES {
                return None;
            }
            let is_one = !source.is_pattern();
            // All that a pattern without a name matches are separate sources.
            let into = is_one && (*contents || *follows) || renamed;
            for source in self.copies.matched(source).known()? {
                let name_of_source = self.copies.copied_name(effect, &source).to_owned();
                let real = self.call.world.real(&source, true);
                // A nonexistent source may become a folder with any content.
                if real.exists == Some(false) && (has("recursive") || has("archive")) {
                    return None;
                }
                let inner = match real.is_folder {
                    Some(false) => Some(Vec::new()),
                    Some(true) => Some(self.call.world.names_of(NamesOf::Folder(&real.path)).known()?),
                    None => self.call.world.names_of(NamesOf::Folder(&real.path)).known(),
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
