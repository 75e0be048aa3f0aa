//! One entry of a program's table: whether it applies, and the effect that it describes.

use super::{EffectExtractor, Ran};
use crate::analysis::output_templates;
use crate::analysis::pathspec;
use crate::model::effect::{Effect, EffectKind, Target, TargetKind, TargetPath};
use crate::text::{glob, graphql};
use reflex_shell::{Command, Invocation, Piece, Printed, Selector, Stdin, Value, work};
use reflex_tables::Texts;
use reflex_tables::views::{EffectEntry, RunEntry};
use std::borrow::Cow;

/// Maximum number of statements of one database command. A person passes few.
const MAX_STATEMENTS: usize = 256;

/// Maximum number of operands that may name an operation: `aws ec2 terminate-instances`, `gh api repos delete`.
pub(crate) const MAX_VERBS: usize = 4;

impl EffectExtractor<'_> {
    /// Adds the effects of one entry of a program's `effects`.
    pub(super) fn entry(&mut self, ran: Ran<'_>, invocation: &Invocation, entry: EffectEntry<'static>) {
        let command = ran.command;
        let Some(kind) = EffectKind::named(entry.kind()) else { return };
        if !is_meant(command, invocation, entry) {
            return;
        }
        let Some(mut values) = values_of(command, invocation, entry, kind) else { return };
        match self.of_project(ran, entry) {
            Some(lost) if lost.is_empty() => return,
            Some(lost) => values = lost,
            None => {}
        }
        if entry.mutations().is_some() {
            values = self.mutations(ran, entry, &values);
            if values.is_empty() {
                return;
            }
        }
        if kind == EffectKind::ShareFolder {
            return self.shares(ran, entry, (values, &flags_of(entry, invocation)));
        }
        let named = !values.is_empty();
        let targets = self.touched(values.into_iter().map(|value| self.target_in(kind, value, ran)).collect());
        if targets.is_empty() && named {
            return;
        }
        let flags = flags_of(entry, invocation);
        let mut arguments = selected(entry.argument(), invocation, command).into_iter();
        let effect = self.effect_of(ran, kind).targets(targets).marks(flags).argument(arguments.next());
        // `psql -c A -c B`: each statement is a text of its own.
        let mut further = arguments.filter(|_| kind == EffectKind::Sql);
        let of_each = further.by_ref().take(MAX_STATEMENTS);
        let others: Vec<Effect> = of_each.map(|next| effect.clone().argument(Some(next))).collect();
        self.push(effect);
        self.effects.extend(others);
        if further.next().is_some() {
            work::cut(|| format!("more than {MAX_STATEMENTS} statements are given to one command"));
        }
    }

    /// Returns the targets that the project's files name, for an entry with `of-project`; `None` if they are not known.
    fn of_project(&self, ran: Ran<'_>, entry: EffectEntry<'static>) -> Option<Vec<Value>> {
        (entry.of_project() == "volumes").then(|| self.project_volumes(ran)).flatten()
    }

    /// `mutations:` Returns the fields of GraphQL mutations which fit the entry's patterns. A value is a `file`, or a
    /// `text` in which `@` precedes the name of a file.
    fn mutations(&self, ran: Ran<'_>, entry: EffectEntry<'static>, values: &[Value]) -> Vec<Value> {
        let mut fields = Vec::new();
        for value in values {
            let file = match value.prefix().starts_with('@') {
                true => Some(value.without_prefix(1)),
                false => Some(value.clone()).filter(|_| entry.mutations() == Some("file")),
            };
            let text = match file.map(|file| self.path_of(ran, file)) {
                Some(file) => file.path().and_then(|path| self.world.content(path)).unwrap_or_default(),
                None => value.shown(),
            };
            let found = graphql::mutations(&text);
            fields.extend(found.into_iter().map(|field| Value::text(field, value.origin())));
        }
        keep_fitting(entry, &mut fields);
        fields
    }

    /// Adds the effect of an entry of a program's `inner` marked `escape`: a program that is not expected to run
    /// another one.
    pub(super) fn escape(&mut self, ran: Ran<'_>, invocation: &Invocation, entry: RunEntry<'static>) {
        if !reflex_shell::applies(entry.conditions(), invocation) {
            return;
        }
        let selector = entry.script().or(entry.argv()).or(entry.file());
        let mut values = selected(selector.unwrap_or_default(), invocation, ran.command);
        reflex_shell::narrow(entry.narrowing(), &mut values);
        let named = values.into_iter().filter(|value| !value.pieces.is_empty());
        let targets: Vec<Target> = named.map(|value| Target::new(value, TargetPath::None)).collect();
        if !targets.is_empty() {
            self.push(self.effect_of(ran, EffectKind::Escape).targets(targets));
        }
    }
}

/// Returns whether the entry applies to this command.
fn is_meant(command: &Command, invocation: &Invocation, entry: EffectEntry<'static>) -> bool {
    let is_unread = |open| selected(open, invocation, command).iter().any(|word| begins_unread(open, word));
    reflex_shell::applies(entry.conditions(), invocation)
        && is_worded(entry, invocation, &command.words)
        && output_templates::are_meant(entry, invocation, &command.words)
        && (!entry.single() || is_single(invocation, &command.words))
        && entry.unread().is_none_or(is_unread)
        && (entry.from() != "terminal" || command.stdin == Stdin::Inherited)
}

/// Returns the targets of an entry's effect; `None` if the entry requires targets and the command has none.
fn values_of(
    command: &Command,
    invocation: &Invocation,
    entry: EffectEntry<'static>,
    kind: EffectKind,
) -> Option<Vec<Value>> {
    let (to, parts) = (entry.to().unwrap_or_default(), entry.narrowing());
    let mut values = selected(to, invocation, command);
    reflex_shell::narrow(parts, &mut values);
    if entry.mutations().is_none() {
        keep_fitting(entry, &mut values);
    }
    if let Some(target) = entry.default_target().filter(|_| values.is_empty()) {
        values.push(Value::text(target, command.origin));
    }
    let wants_targets = entry.to().is_some();
    let of_option = to.starts_with("option:") || to == "input";
    if values.is_empty() && wants_targets && (kind.target_kind() == TargetKind::Path || of_option) {
        return None;
    }
    if values.is_empty() && selects(entry) {
        return None;
    }
    if command.name == "git" {
        values = pathspec::meant_by(kind, values);
    }
    let expands_home = !parts.starting().is_empty() || entry.default_target() == Some("~");
    if kind.target_kind() == TargetKind::Path && expands_home {
        // The program that reads such a text expands the home folder itself.
        values.iter_mut().for_each(expand_tilde);
    }
    Some(values)
}

/// Whether an entry takes only some of the values as targets.
fn selects(entry: EffectEntry<'static>) -> bool {
    let parts = entry.narrowing();
    let lists = [parts.starting(), parts.behind(), entry.fitting(), entry.unfitting()];
    !parts.containing().is_empty() || lists.iter().any(|list| !list.is_absent())
}

/// `unread:` requires a word whose beginning is unknown, so that it may be any word, or several: the value of a
/// variable, the content of a file, the result of a search. A variable in an option counts as one word.
fn begins_unread(selector: &str, word: &Value) -> bool {
    let found_here = |text: &str| text.bytes().all(|byte| byte == b'.' || byte == b'/');
    let mut pieces = word.pieces.iter().map(|(piece, _)| piece);
    pieces.find(|piece| !piece.as_text().is_some_and(found_here)).is_some_and(|piece| match piece {
        Piece::Unknown(_) | Piece::Glob(_) | Piece::Output(Printed::Program(_)) => true,
        Piece::Variable(_) => !selector.starts_with("option:"),
        Piece::Text(_) | Piece::Home(_) | Piece::Output(_) | Piece::Resolved => false,
    })
}

/// Returns the flags of an effect: the given options, and the flags that the entry always sets.
fn flags_of(entry: EffectEntry<'static>, invocation: &Invocation) -> Vec<&'static str> {
    let mut flags: Vec<&'static str> = invocation.options.iter().map(|option| option.key).collect();
    flags.extend(entry.set().iter());
    flags.sort_unstable();
    flags.dedup();
    flags
}

/// `single:` requires exactly one operand, which need not be a path.
fn is_single(invocation: &Invocation, words: &[Value]) -> bool {
    let known = |index: &usize| words.get(*index).is_some_and(|word| word.literal().is_some());
    let one = invocation.operands.len() == 1 && invocation.dashes.is_none();
    one && invocation.operands.iter().all(known) && Selector("paths").values(invocation, words).is_empty()
}

/// `word:` requires one of the first operands to match one of its patterns, and `unless-word:` requires that none does.
/// With `any-case:`, the operands are compared in lower case.
fn is_worded(entry: EffectEntry<'static>, invocation: &Invocation, words: &[Value]) -> bool {
    let (wanted, unwanted) = (entry.word(), entry.unless_word());
    let fits = |patterns: Texts<'static>, verb: &str| fits_one(patterns, &in_case(entry, verb));
    let mut verbs = invocation.operands.iter().take(MAX_VERBS).filter_map(|index| words.get(*index));
    let unfit = verbs.clone().filter_map(Value::literal).any(|verb| fits(unwanted, &verb));
    !unfit && (wanted.is_absent() || verbs.any(|verb| is_known_to_fit(verb, |text| fits(wanted, text))))
}

/// `fitting:` keeps only values that match one of its patterns, `unfitting:` only those that match none.
fn keep_fitting(entry: EffectEntry<'static>, values: &mut Vec<Value>) {
    let (wanted, unwanted) = (entry.fitting(), entry.unfitting());
    let fits = |patterns: Texts<'static>, text: &str| fits_one(patterns, &in_case(entry, text));
    if !wanted.is_absent() {
        values.retain(|value| is_known_to_fit(value, |text| fits(wanted, text)));
    }
    if !unwanted.is_absent() {
        values.retain(|value| value.literal().is_none_or(|text| !fits(unwanted, &text)));
    }
}

/// Returns a text in the form in which an entry compares it.
fn in_case<'t>(entry: EffectEntry<'static>, text: &'t str) -> Cow<'t, str> {
    if entry.narrowing().any_case() { text.to_lowercase().into() } else { text.into() }
}

fn fits_one(patterns: Texts<'static>, text: &str) -> bool {
    patterns.iter().any(|pattern| glob::glob(pattern.as_bytes(), text.as_bytes()))
}

/// Returns whether the known part of a word fits: for `host:/a-$(date)`, the beginning suffices.
fn is_known_to_fit(word: &Value, fits: impl Fn(&str) -> bool) -> bool {
    match word.literal() {
        Some(literal) => fits(&literal),
        None => !word.prefix().is_empty() && fits(&word.shown()),
    }
}

/// Returns the words of a selector. `input` is the text on standard input, if it is known.
fn selected(selector: &str, invocation: &Invocation, command: &Command) -> Vec<Value> {
    match (selector, &command.stdin) {
        ("input", Stdin::Text(text)) => vec![text.clone()],
        ("input", Stdin::Pipe(_, text)) => vec![text.clone()].into_iter().filter(is_known_in_part).collect(),
        (other, _) => Selector(other).values(invocation, &command.words),
    }
}

/// Expands `~/x` in a text that no shell expands, but an editor or a client does.
fn expand_tilde(value: &mut Value) {
    let tilde = value.prefix().strip_prefix('~').is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if tilde {
        let origin = value.origin();
        *value = value.without_prefix(1);
        value.pieces.insert(0, (Piece::Home(String::new()), origin));
    }
}

/// Returns whether more of a text is known than the command that prints it.
fn is_known_in_part(text: &Value) -> bool {
    text.pieces.iter().any(|(piece, _)| !matches!(piece, Piece::Unknown(_) | Piece::Output(_)))
}
