//! Variables that hold a key and whose values the text shows to the agent: one of them by name, or the environment as
//! far as the filters after it pass it on.

use super::effects::{EffectExtractor, Ran, Text};
use super::flows::{Shows, is_key_name, shows};
use crate::model::effect::{EffectKind, Target, TargetPath};
use crate::model::words::WordList;
use reflex_shell::{Access, Command, CommandId, ExecTarget, Origin, Reading, Value};

/// Maximum number of filters through which an output is followed.
const MAX_FILTERS: usize = 16;

/// Minimum length of a value that may be a key.
const MIN_KEY: usize = 8;

/// Parts of a search pattern, in lower case, that ask for keys.
const ASKED_FOR: [&str; 5] = ["key", "token", "secret", "passw", "credential"];

/// What `grep` lets through.
struct Selection {
    /// The alternatives of its pattern; `None` if the pattern is not known.
    parts: Option<Vec<String>>,
    ignores_case: bool,
    is_inverted: bool,
}

/// Adds an effect for a key shown by `echo $GITHUB_TOKEN`.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let reading = text.reading;
    let commands = &reading.commands;
    let in_call = extractor.script.is_none();
    let printing = commands.iter().enumerate().filter(|_| in_call);
    let printing = printing.filter(|(_, command)| matches!(command.name.as_str(), "echo" | "printf"));
    for (id, command) in printing.filter(|(id, _)| is_seen(*id, commands)) {
        let name = command.words.iter().flat_map(|word| extractor.key_names(word, reading)).next();
        if let Some(name) = name {
            extractor.push(extractor.reveal(Ran { id, command, folder: None }, &name).mark("variable"));
        }
    }
}

/// Adds an effect for keys shown by `env`, `env | grep -i token`, `export -p`. Without a key in the environment, and
/// with a filter that drops all of them, it shows no key.
pub(super) fn add_environment(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (before, reading) = (text.first, text.reading);
    let commands = &reading.commands;
    // A program that a client starts prints for the client; the call that asks for it is judged by its text.
    let in_call = extractor.script.is_none() && extractor.event.started.is_none();
    let own = extractor
        .effects
        .iter()
        .skip(before)
        .filter(|effect| in_call && effect.kind == EffectKind::PrintEnvironment && effect.site == ExecTarget::Here);
    let printing: Vec<CommandId> = own.filter_map(|effect| effect.command).collect();
    for id in printing {
        // Code in another language may do anything else with what it lists.
        let Some(command) = commands.get(id).filter(|command| !command.name.contains(':')) else { continue };
        let Some(filters) = extractor.filters_behind(id, commands) else { continue };
        if let Some(shown) = extractor.key_let_through(&filters, before, reading) {
            let target = Target::new(Value::text(shown, Origin::default()), TargetPath::None);
            let ran = Ran { id, command, folder: None };
            extractor.push(extractor.effect_of(ran, EffectKind::RevealSecret).target(target).mark("variable"));
        }
    }
}

impl EffectExtractor<'_> {
    /// Returns the filters through which the agent sees the output of a command; `None` if it does not.
    fn filters_behind<'c>(&self, id: CommandId, commands: &'c [Command]) -> Option<Vec<&'c Command>> {
        let names = WordList::ContentFilters.read(self.tables);
        let (mut at, mut filters) = (id, Vec::new());
        while let Some((next, filter)) =
            commands.iter().enumerate().find(|(_, other)| other.stdin.sources().contains(&at))
        {
            reflex_shell::work::spend(1 + commands.len() as u64 / 32);
            if !names.has(&filter.name) || filters.len() == MAX_FILTERS {
                return None;
            }
            filters.push(filter);
            at = next;
        }
        is_seen(at, commands).then_some(filters)
    }

    /// Returns the key that filters of the environment let through, for people.
    fn key_let_through(&self, filters: &[&Command], before: usize, reading: &Reading) -> Option<String> {
        if filters.iter().any(|filter| shows(filter) != Shows::Content) {
            return None;
        }
        let selections: Vec<Selection> = filters.iter().filter_map(|filter| selection(filter)).collect();
        if let Some(part) = selections.iter().find_map(Selection::asked_for) {
            return Some(format!("variables with `{part}` in their names"));
        }
        let names = self.keys_in_environment().chain(self.keys_set(before, reading));
        let mut shown = names.filter(|name| selections.iter().all(|one| one.lets_through(name)));
        shown.next().map(|name| format!("${name}"))
    }

    /// Returns the variables of the environment that hold a key.
    fn keys_in_environment(&self) -> impl Iterator<Item = String> {
        let holds_key = |name: &String| {
            let value = self.world.variable(name).unwrap_or_default();
            is_key_name(name)
                && value.len() >= MIN_KEY
                && !value.starts_with('/')
                && !value.bytes().all(|byte| byte.is_ascii_digit())
        };
        self.world.variables().into_iter().filter(holds_key)
    }

    /// Returns the keys that the text itself loads from a file of settings.
    fn keys_set(&self, before: usize, reading: &Reading) -> impl Iterator<Item = String> {
        let loaded = reading.settings.iter().filter(|setting| reading.is_loaded(setting.origin));
        let kept = self
            .effects
            .iter()
            .skip(before)
            .filter(|effect| effect.kind == EffectKind::Read && effect.flags.contains(&"kept"));
        let texts = kept.flat_map(|effect| &effect.targets).filter_map(|file| self.world.content(file.path()?));
        let of_line =
            |line: &str| line.trim().split_once('=').map(|(name, _)| name.trim_start_matches("export ").into());
        let exported: Vec<String> =
            texts.flat_map(|text| text.lines().filter_map(of_line).collect::<Vec<String>>()).collect();
        loaded.map(|setting| setting.name.clone()).chain(exported).filter(|name| is_key_name(name))
    }
}

impl Selection {
    /// Returns the part of the pattern that asks for keys.
    fn asked_for(&self) -> Option<&str> {
        let asks = |part: &&String| ASKED_FOR.iter().any(|word| part.to_ascii_lowercase().contains(word));
        self.parts.iter().flatten().filter(|_| !self.is_inverted).find(asks).map(String::as_str)
    }

    /// Whether the line of a variable passes.
    fn lets_through(&self, name: &str) -> bool {
        let Some(parts) = &self.parts else { return true };
        let fold = |text: &str| if self.ignores_case { text.to_ascii_lowercase() } else { text.to_owned() };
        let line = format!("\n{}=", fold(name));
        parts.iter().any(|part| line.contains(&fold(part))) != self.is_inverted
    }
}

/// Returns what a `grep` lets through; `None` for another filter.
fn selection(command: &Command) -> Option<Selection> {
    let invocation = command.invocation.as_ref()?;
    if !["grep", "egrep", "fgrep", "rg", "ag", "ack"].contains(&command.name.as_str()) {
        return None;
    }
    let mut patterns = invocation.values("pattern", &command.words);
    if !invocation.has("pattern") {
        patterns.extend(invocation.operands.first().and_then(|at| command.words.get(*at)).cloned());
    }
    let parts = patterns.iter().map(|pattern| Some(parts_of(&pattern.literal()?))).collect::<Option<Vec<_>>>();
    let (ignores_case, is_inverted) = (invocation.has("ignore-case"), invocation.has("other-lines"));
    Some(Selection { parts: parts.map(|parts| parts.concat()), ignores_case, is_inverted })
}

/// Returns the alternatives of a pattern, each up to its first sign with a meaning. A line feed stands for an anchor at
/// the start.
fn parts_of(pattern: &str) -> Vec<String> {
    let plain = |part: &str| {
        let part = part.trim_matches(['(', ')', '\\']);
        let (anchor, part) = part.strip_prefix('^').map_or(("", part), |rest| ("\n", rest.trim_start_matches('(')));
        let end = part.find(|sign: char| !(sign.is_ascii_alphanumeric() || "_-=".contains(sign))).unwrap_or(part.len());
        format!("{anchor}{}", part.get(..end).unwrap_or(""))
    };
    pattern.split('|').map(plain).collect()
}

/// Returns whether the agent sees the command's output, because neither a file nor another command receives it.
fn is_seen(id: CommandId, commands: &[Command]) -> bool {
    reflex_shell::work::spend(1 + commands.len() as u64 / 32);
    let taken = |id: CommandId, command: &Command| {
        let kept = command.redirects.iter().any(|file| matches!(file.access, Access::Overwrite | Access::Append));
        kept || commands.iter().any(|other| other.stdin.sources().contains(&id))
    };
    let mut at = Some(id);
    while let Some((id, command)) = at.and_then(|id| Some((id, commands.get(id)?))) {
        if taken(id, command) {
            return false;
        }
        at = command.parent.filter(|parent| *parent < id);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grep(pattern: &str, is_inverted: bool) -> Selection {
        Selection { parts: Some(parts_of(pattern)), ignores_case: false, is_inverted }
    }

    #[test]
    fn a_pattern_lets_the_lines_through_that_may_fit_it() {
        for pattern in ["STRIPE", "^STRIPE", "^(AWS|STRIPE)_", "AWS\\|STRIPE", ".", "^.*$", "STRIPE.*KEY", "PE_"] {
            assert!(grep(pattern, false).lets_through("STRIPE_KEY"), "{pattern}");
        }
        for pattern in ["PATH", "^NODE", "^(NODE|NPM)_", "^KEY", "STRIPE="] {
            assert!(!grep(pattern, false).lets_through("STRIPE_KEY"), "{pattern}");
        }
        assert!(grep("PATH", true).lets_through("STRIPE_KEY") && !grep("KEY", true).lets_through("STRIPE_KEY"));
    }

    #[test]
    fn a_pattern_with_a_word_for_keys_asks_for_them() {
        assert_eq!(grep("NODE|api_key", false).asked_for(), Some("api_key"));
        assert!(grep("PATH", false).asked_for().is_none() && grep("token", true).asked_for().is_none());
    }
}
