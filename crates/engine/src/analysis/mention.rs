//! Words that name a protected file, whatever their program does with them.
//!
//! The library knows the effects of many programs on their files, but not of all. For the guard's own files and the
//! settings files that hold its hooks, a path that no entry explains is an effect of its own, and so is one within a
//! text in any language. Rules decide by the class of the path and by the program.

use super::agent_paths::agent_path_value;
use super::effects::{EffectExtractor, Ran, Text};
use crate::model::effect::{EffectKind, Target};
use crate::model::path::is_within;
use crate::model::words::{WordFinder, WordList};
use crate::model::world::World;
use crate::text::glob;
use reflex_shell::{Command, CommandId, ExecTarget, Origin, Piece, Stdin, Value, work};
use std::cell::OnceCell;
use std::collections::HashSet;

/// Separators in a list of settings: `src=PATH,dst=PATH`, `PATH:PATH`.
const DIVIDERS: [char; 3] = ['=', ',', ':'];

/// Characters that end a path in a text of another language.
const QUOTES: [char; 18] =
    [' ', '\t', '\n', '"', '\'', '`', '(', ')', '[', ']', '{', '}', ';', ',', '=', '<', '>', '|'];

/// Cost of a word that may name a protected file, in units of [`work`].
const WORD: u64 = 8;

/// The protected files, and a search for parts of their names. A command may have a hundred thousand words.
struct Protected<'w> {
    names: WordFinder,
    world: &'w dyn World,
    /// Asked for only if a path is absolute: the answer needs the settings of all agents.
    guard: OnceCell<Vec<String>>,
}

impl Protected<'_> {
    fn guard(&self) -> &[String] {
        self.guard.get_or_init(|| self.world.guard())
    }

    /// Returns whether a text may contain the name of a protected file.
    fn may_name(&self, text: &str) -> bool {
        self.names.is_in(text)
    }

    /// Returns whether the text of a word may name a protected file.
    fn names_it(&self, value: &Value) -> bool {
        value.pieces.iter().any(|(piece, _)| match piece {
            Piece::Text(text) | Piece::Glob(text) => self.may_name(text),
            Piece::Home(_) | Piece::Variable(_) | Piece::Output(_) | Piece::Resolved | Piece::Unknown(_) => false,
        })
    }

    fn has(&self, target: &Target) -> bool {
        let is_guard_path = |path: &str| {
            let is_it =
                |protected: &String| protected == path || target.is_pattern() && glob::may_meet(path, protected);
            path.starts_with('/') && self.guard().iter().any(is_it)
        };
        self.may_name(&target.shown()) || target.path().is_some_and(is_guard_path)
    }
}

/// Adds the effects of naming a protected file: `whole` for words that are a path, `code` for texts that contain
/// one.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    // A program that another command runs is examined on its own. An unknown program is only assumed to run a path,
    // and may as well change it.
    let is_known = |id: usize| commands.get(id).is_none_or(|command| command.invocation.is_some());
    let is_path = |word: &Value| word.literal().is_none_or(|text| text.contains('/'));
    let is_run =
        |command: &&Command| command.parent.is_none_or(is_known) || !command.words.first().is_some_and(is_path);
    let programs: OnceCell<HashSet<&Value>> = OnceCell::new();
    let programs = || {
        programs.get_or_init(|| commands.iter().filter(is_run).filter_map(|command| command.words.first()).collect())
    };
    let effects = extractor.effects.iter().rev().take_while(|effect| effect.action == extractor.action);
    let open = effects.filter(|effect| effect.kind == EffectKind::PathArgument);
    let open: HashSet<CommandId> = open.filter_map(|effect| effect.command).collect();
    let protected = extractor.protected();
    for (id, command) in commands.iter().enumerate().filter(|(_, command)| command.site == ExecTarget::Here) {
        let Some(words) = extractor.naming_words(command, open.contains(&id), &protected) else { continue };
        let folder = extractor.folder(command);
        let ran = Ran { id, command, folder: folder.as_deref() };
        // A wrapper passes the word on: the command that it runs is judged instead.
        let passed_on = |word: &&Value| {
            let mut inner = commands.iter().skip(id + 1).filter(|inner| inner.parent == Some(id));
            command.invocation.is_some()
                && inner.any(|inner| inner.words.iter().skip(1).any(|argument| argument == *word))
        };
        let words = words.into_iter().filter(|word| !programs().contains(word) && !passed_on(word));
        for word in words {
            if !work::spend(WORD) {
                return;
            }
            extractor.mention(ran, word, &protected);
        }
    }
}

impl<'a> EffectExtractor<'a> {
    /// Returns the words and the input of a command that may name a protected file; all of them if it runs in the
    /// guard's folders. The effects of a known program cover its paths, unless it `is_open`: one of them only names the
    /// path.
    fn naming_words<'c>(
        &self,
        command: &'c Command,
        is_open: bool,
        protected: &Protected<'_>,
    ) -> Option<Vec<&'c Value>> {
        let input = match &command.stdin {
            Stdin::Text(text) | Stdin::Pipe(_, text) => Some(text),
            Stdin::Inherited | Stdin::File(_) => None,
        };
        let any_path = may_run(command) || is_open;
        let names = |value: &Value| protected.names_it(value) || any_path && self.leads_out(value);
        let moved = command.folder.as_ref().is_some_and(|folder| protected.names_it(folder) || self.leads_out(folder));
        let within = (moved || protected.may_name(&self.event.cwd)) && self.is_in_guard(command, protected);
        let named = command.words.iter().skip(1).chain(input).filter(|word| within || names(word));
        let named: Vec<&Value> = named.collect();
        (!named.is_empty()).then_some(named)
    }

    fn is_in_guard(&self, command: &Command, protected: &Protected<'_>) -> bool {
        self.folder(command).is_some_and(|folder| protected.guard().iter().any(|path| is_within(&folder, path)))
    }

    /// Adds paths among the arguments of a tool that is otherwise unknown.
    pub(super) fn mention_in_arguments(&mut self, arguments: &str) {
        let protected = self.protected();
        if !protected.may_name(arguments) {
            return;
        }
        let values = Value::text(arguments, Origin::default()).split(&['"']);
        let folder = self.event.cwd.clone();
        let targets =
            values.into_iter().map(|value| self.target(EffectKind::GuardReference, tool_path(value), &folder));
        let targets: Vec<Target> = targets.filter(|target| protected.may_name(&target.shown())).collect();
        self.push(self.effect(EffectKind::GuardReference).targets(targets).mark("whole"));
    }

    fn mention(&mut self, ran: Ran<'_>, word: &Value, protected: &Protected<'_>) {
        let mut paths = vec![word.clone()];
        let parts = word.split(&DIVIDERS);
        paths.extend(parts.into_iter().filter(|part| part != word));
        if !is_text(word) {
            self.push_mention(ran, word, ("whole", paths), protected);
        }
        let code = word.split(&QUOTES);
        if code.len() > 1 && may_run(ran.command) {
            self.push_mention(ran, word, ("code", code), protected);
        }
    }

    fn push_mention(
        &mut self,
        ran: Ran<'_>,
        word: &Value,
        (flag, values): (&'static str, Vec<Value>),
        protected: &Protected<'_>,
    ) {
        let targets = values.into_iter().map(|value| self.path_of(ran, value));
        let named = targets.filter(|target| protected.has(target) && !self.is_explained(ran, target));
        let targets: Vec<Target> = named.collect();
        if targets.is_empty() {
            return;
        }
        let effect = self.effect_of(ran, EffectKind::GuardReference).targets(targets);
        self.push(effect.mark(flag).argument(Some(word.clone())));
    }

    fn protected(&self) -> Protected<'a> {
        let names = WordFinder::new(WordList::ProtectedNames.read(self.tables));
        Protected { names, world: self.world, guard: OnceCell::new() }
    }

    /// Returns whether a word leads out of the project, where the programs named by hook entries are.
    fn leads_out(&self, value: &Value) -> bool {
        matches!(value.pieces.first(), Some((Piece::Home(_), _)))
            || value.prefix().starts_with('/') && !is_within(&value.prefix(), &self.event.workspace)
    }

    /// Returns whether an entry of the library describes the command's effect on the path.
    fn is_explained(&self, ran: Ran<'_>, target: &Target) -> bool {
        let effects =
            self.effects.iter().rev().take_while(|effect| effect.action == self.action && effect.script == self.script);
        let names =
            [EffectKind::GuardReference, EffectKind::PathArgument, EffectKind::ShareFolder, EffectKind::Compile];
        let explains = |kind| !names.contains(&kind);
        let effects = effects.filter(|effect| effect.command == Some(ran.id) && explains(effect.kind));
        target.path().is_some() && effects.flat_map(|effect| &effect.targets).any(|known| known.path() == target.path())
    }
}

fn tool_path(value: Value) -> Value {
    value.literal().map_or_else(|| value.clone(), |text| agent_path_value(&text))
}

/// Returns whether a word is a text with words of its own, such as a command, and not a path with a space in it.
fn is_text(word: &Value) -> bool {
    let text = word.literal().unwrap_or_default();
    [" ~", " -", " /", " '", " \""].iter().any(|start| text.contains(start))
}

/// Returns whether the program may treat its words or its input as code.
fn may_run(command: &Command) -> bool {
    command.invocation.as_ref().is_none_or(|invocation| invocation.grammars.iter().any(|program| program.runs_code()))
}
