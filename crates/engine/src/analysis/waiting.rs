//! Ids of calls that wait for a person, wherever a call names one.
//!
//! Whoever prepares a yes in a file, a browser or a running program needs the id, in whatever language the rest is
//! written. An id is chance: no text holds one by accident, so a text is looked through in any spelling.

use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::{Action, Event};
use crate::model::world::World;
use crate::secrets::veils::lifted;
use reflex_shell::{Origin, Reading, Site, Span, Value};
use std::ops::Range;

/// An id has so many letters and digits.
const LENGTH: usize = 7;

/// The programs that may be given an id, by commands that everybody may run.
const GUARD: [&str; 2] = ["reflex", "rfx"];

/// The effect of naming a call that waits, for each action that does.
pub(super) fn named(event: &Event, world: &dyn World, analysis: &mut Analysis) {
    let waits = event.moment.is_before_execution() && !event.actions.is_empty();
    let waiting = Waiting::of(if waits { world.waiting() } else { Vec::new() });
    if waiting.0.is_empty() {
        return;
    }
    let mut effects = Vec::new();
    for (index, action) in event.actions.iter().enumerate() {
        let told = told(analysis, index, None);
        let found = texts(action, analysis, index).into_iter().find_map(|text| waiting.named_in(text, &told));
        let found = found.or_else(|| waiting.named_by(analysis.readings.get(index)?, &told));
        let scripts = analysis.scripts.iter().enumerate().filter(|(script, _)| is_of(analysis, *script, index));
        let mut scripts =
            scripts.map(|(at, script)| waiting.named_by(&script.reading, &self::told(analysis, index, Some(at))));
        effects.extend(found.or_else(|| scripts.find_map(|found| found)).map(|id| effect(index, id)));
    }
    analysis.effects.append(&mut effects);
}

fn effect(action: usize, id: &str) -> Effect {
    let value = Value::text(id, Origin::default());
    Effect {
        kind: EffectKind::NameWaiting,
        targets: vec![Target { value, path: TargetPath::None }],
        flags: Vec::new(),
        argument: None,
        command: None,
        action,
        script: None,
        origin: Origin::default(),
        site: Site::Here,
        folder: None,
    }
}

fn is_of(analysis: &Analysis, script: usize, action: usize) -> bool {
    analysis.effects.iter().any(|effect| effect.script == Some(script) && effect.action == action)
}

/// The texts of an action that may do something. To look at a file or to note something for oneself does nothing.
fn texts<'a>(action: &'a Action, analysis: &Analysis, index: usize) -> Vec<&'a str> {
    match action {
        Action::Shell { command: text, .. }
        | Action::Fetch { url: text }
        | Action::McpCall { arguments: text, .. }
        | Action::SpawnAgent { prompt: text }
        | Action::Input { text } => vec![text],
        Action::Write { path, content } | Action::Edit { path, content, .. } => vec![&path.text, content],
        Action::Delete { path } => vec![&path.text],
        Action::Other { arguments } if analysis.effects.iter().any(|effect| effect.action == index) => vec![arguments],
        Action::Other { .. }
        | Action::Read { .. }
        | Action::Search { .. }
        | Action::Prompt { .. }
        | Action::Skill { .. } => Vec::new(),
    }
}

/// The words that an ordinary command of the guard is given: there an id stands as everybody may use it.
fn told(analysis: &Analysis, action: usize, script: Option<usize>) -> Vec<Span> {
    let own = |effect: &&Effect| effect.action == action && effect.script == script;
    let changing = analysis.effects.iter().filter(own).filter(|effect| effect.kind == EffectKind::ChangeGuard);
    let changing: Vec<usize> = changing.filter_map(|effect| effect.command).collect();
    let reading = match script {
        Some(script) => analysis.scripts.get(script).map(|script| &script.reading),
        None => analysis.readings.get(action),
    };
    let commands = reading.into_iter().flat_map(|reading| reading.commands.iter().enumerate());
    let ordinary = commands.filter(|(id, command)| {
        GUARD.contains(&command.name.as_str()) && command.site == Site::Here && !changing.contains(id)
    });
    let words = ordinary.flat_map(|(_, command)| command.words.iter().skip(1));
    words.filter(|word| word.literal().is_some()).map(Value::span).collect()
}

/// Every id that waits, forwards and backwards, as a number.
struct Waiting(Vec<(u64, String)>);

impl Waiting {
    fn of(ids: Vec<String>) -> Waiting {
        let both = |id: String| {
            let backwards = number(id.bytes().rev()).map(|number| (number, id.clone()));
            number(id.bytes()).map(|number| (number, id)).into_iter().chain(backwards)
        };
        let mut numbers: Vec<_> = ids.into_iter().flat_map(both).collect();
        numbers.sort_unstable();
        Waiting(numbers)
    }

    fn id(&self, number: u64) -> Option<&str> {
        let at = self.0.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.0.get(at).map(|(_, id)| id.as_str())
    }

    /// An id in a text, in any spelling, unless it stands in one of these places.
    fn named_in(&self, text: &str, told: &[Span]) -> Option<&str> {
        let is_told = |place: &Range<usize>| {
            told.iter().any(|span| span.start as usize <= place.start && place.end <= span.end as usize)
        };
        let found = self.places(text).find(|(place, _)| !is_told(place)).map(|(_, id)| id);
        found.or_else(|| {
            let mut found = None;
            lifted(text, &mut |plain, of| {
                let mut places = self.places(plain);
                let elsewhere = |place: &Range<usize>| of(place).is_none_or(|place| !is_told(&place));
                found = found.or_else(|| places.find(|(place, _)| elsewhere(place)).map(|(_, id)| id));
            });
            found
        })
    }

    /// An id in a word of a command that stands in the text in another form.
    fn named_by(&self, reading: &Reading, told: &[Span]) -> Option<&str> {
        let words = reading.commands.iter().flat_map(|command| command.words.iter());
        let mut others = words.filter(|word| !told.contains(&word.span()));
        others.find_map(|word| self.places(&word.literal()?).next().map(|(_, id)| id))
    }

    /// Where ids stand. What is neither a letter nor a digit divides nothing: `ab-c1+234` is one too.
    fn places<'t, 'w: 't>(&'w self, text: &'t str) -> impl Iterator<Item = (Range<usize>, &'w str)> + 't {
        let (mut last, mut number, mut known) = ([0_usize; LENGTH], 0_u64, 0_usize);
        text.bytes().enumerate().filter_map(move |(at, byte)| {
            if !byte.is_ascii_alphanumeric() {
                return None;
            }
            let Some(code) = code(byte) else {
                known = 0;
                return None;
            };
            number = (number << 6 | code) & ((1 << (6 * LENGTH)) - 1);
            known += 1;
            last.rotate_left(1);
            *last.last_mut()? = at;
            let id = (known >= LENGTH).then(|| self.id(number)).flatten()?;
            Some((*last.first()?..at + 1, id))
        })
    }
}

fn number(id: impl ExactSizeIterator<Item = u8>) -> Option<u64> {
    let is_one = id.len() == LENGTH;
    let number = id.map(code).try_fold(0, |sum: u64, code| Some(sum << 6 | code?));
    number.filter(|_| is_one)
}

/// The number of a letter or digit of an id; letters that look like digits, and these, are in none.
fn code(byte: u8) -> Option<u64> {
    let byte = byte.to_ascii_lowercase();
    match byte {
        b'i' | b'l' | b'o' => None,
        b'2'..=b'9' => Some(u64::from(byte - b'0')),
        b'a'..=b'z' => Some(u64::from(byte - b'a') + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[track_caller]
    fn check(text: &str, found: bool) {
        let waiting = Waiting::of(vec!["k7m2p9x".into(), "zzzzzz2".into()]);
        assert_eq!(waiting.named_in(text, &[]), found.then_some("k7m2p9x"), "{text}");
    }

    #[test]
    fn an_id_is_found_in_any_spelling() {
        for text in [
            "k7m2p9x",
            "reflex_approve_k7m2p9x",
            "['approve', 'k7m2' + 'p9x']",
            "k 7 m 2 p 9 x",
            "x9p2m7k",
            "K7M2P9X",
            "%6b%37%6d2p9x",
            "\\x6b7m2p9x",
            "YXBwcm92ZSBrN20ycDl4",
            "617070726f7665206b376d32703978",
            "ak7m2p9xa",
        ] {
            check(text, true);
        }
    }

    #[test]
    fn another_text_holds_none() {
        for text in ["", "k7m2p9", "k7m2p9o", "k7m20p9x", "cargo test -p reflex-engine", "7m2p9xk"] {
            check(text, false);
        }
    }
}
