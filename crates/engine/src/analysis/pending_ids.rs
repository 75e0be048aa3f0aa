//! Ids of calls that wait for a person, wherever a call names one.
//!
//! Preparing an approval in a file, a browser or a running program requires the id, in whatever language the rest is
//! written. An id is random and does not occur in a text by accident, so a text is searched for it in any spelling.

use super::effects::Input;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::Action;
use crate::secrets::veils::lifted;
use reflex_shell::{ExecTarget, Origin, Reading, Span, Value};
use std::ops::Range;

/// Length of an id, in characters.
const LENGTH: usize = 7;

/// Programs that may be given an id, by commands that anyone may run.
const GUARD: [&str; 2] = ["reflex", "rfx"];

/// Adds an effect for each action that names a waiting call.
pub(super) fn add(input: Input<'_>, analysis: &mut Analysis) {
    let Input { event, world, .. } = input;
    let waits = event.moment.is_before_execution() && !event.actions.is_empty();
    let waiting = Waiting::new(if waits { world.waiting() } else { Vec::new() });
    if waiting.ids.is_empty() {
        return;
    }
    let mut effects = Vec::new();
    for (index, action) in event.actions.iter().enumerate() {
        let allowed = allowed_spans(analysis, index, None);
        let found = texts(action, analysis, index).into_iter().find_map(|text| waiting.named_in(text, &allowed));
        let found = found.or_else(|| waiting.named_by(analysis.readings.get(index)?, &allowed));
        let scripts = analysis.scripts.iter().enumerate().filter(|(script, _)| is_of(analysis, *script, index));
        let mut scripts =
            scripts.map(|(at, script)| waiting.named_by(&script.reading, &allowed_spans(analysis, index, Some(at))));
        effects.extend(found.or_else(|| scripts.find_map(|found| found)).map(|id| effect(index, id)));
    }
    analysis.effects.append(&mut effects);
}

fn effect(action: usize, id: &str) -> Effect {
    let value = Value::text(id, Origin::default());
    Effect { action, ..Effect::of(EffectKind::NameWaiting).target(Target::new(value, TargetPath::None)) }
}

fn is_of(analysis: &Analysis, script: usize, action: usize) -> bool {
    analysis.effects.iter().any(|effect| effect.script == Some(script) && effect.action == action)
}

/// Returns the texts of an action that may have an effect. Reading a file or taking a private note has none.
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

/// Returns the spans of words passed to an ordinary command of the guard, where anyone may use an id.
fn allowed_spans(analysis: &Analysis, action: usize, script: Option<usize>) -> Vec<Span> {
    let is_in_text = |effect: &&Effect| effect.action == action && effect.script == script;
    let changing = analysis.effects.iter().filter(is_in_text).filter(|effect| effect.kind == EffectKind::ChangeGuard);
    let changing: Vec<usize> = changing.filter_map(|effect| effect.command).collect();
    let reading = match script {
        Some(script) => analysis.scripts.get(script).map(|script| &script.reading),
        None => analysis.readings.get(action),
    };
    let commands = reading.into_iter().flat_map(|reading| reading.commands.iter().enumerate());
    let ordinary = commands.filter(|(id, command)| {
        GUARD.contains(&command.name.as_str()) && command.site == ExecTarget::Here && !changing.contains(id)
    });
    let words = ordinary.flat_map(|(_, command)| command.words.iter().skip(1));
    words.filter(|word| word.literal().is_some()).map(Value::span).collect()
}

/// All waiting ids, forwards and backwards, as numbers.
struct Waiting {
    ids: Vec<(u64, String)>,
    /// The last two characters of each id, as a bit set, to skip most positions of a text cheaply.
    ends: [u64; 64],
}

impl Waiting {
    fn new(ids: Vec<String>) -> Waiting {
        let both = |id: String| {
            let backwards = number(id.bytes().rev()).map(|number| (number, id.clone()));
            number(id.bytes()).map(|number| (number, id)).into_iter().chain(backwards)
        };
        let mut ids: Vec<_> = ids.into_iter().flat_map(both).collect();
        ids.sort_unstable();
        let mut ends = [0; 64];
        for (number, _) in &ids {
            if let Some(chars) = ends.get_mut((number & 63) as usize) {
                *chars |= 1 << (number >> 6 & 63);
            }
        }
        Waiting { ids, ends }
    }

    fn may_end(&self, number: u64) -> bool {
        self.ends.get((number & 63) as usize).is_some_and(|chars| chars >> (number >> 6 & 63) & 1 == 1)
    }

    fn id(&self, number: u64) -> Option<&str> {
        let at = self.ids.binary_search_by_key(&number, |(known, _)| *known).ok()?;
        self.ids.get(at).map(|(_, id)| id.as_str())
    }

    /// Returns an id in a text, in any spelling, unless it is within one of the spans.
    fn named_in(&self, text: &str, allowed: &[Span]) -> Option<&str> {
        let is_reported = |place: &Range<usize>| {
            allowed.iter().any(|span| span.start as usize <= place.start && place.end <= span.end as usize)
        };
        let found = self.places(text).find(|(place, _)| !is_reported(place)).map(|(_, id)| id);
        found.or_else(|| {
            let mut found = None;
            lifted(text, &mut |plain, of| {
                let mut places = self.places(plain);
                let elsewhere = |place: &Range<usize>| of(place).is_none_or(|place| !is_reported(&place));
                found = found.or_else(|| places.find(|(place, _)| elsewhere(place)).map(|(_, id)| id));
            });
            found
        })
    }

    /// Returns an id in a word of a command that the text spells in another form.
    fn named_by(&self, reading: &Reading, allowed: &[Span]) -> Option<&str> {
        let words = reading.commands.iter().flat_map(|command| command.words.iter());
        let mut others = words.filter(|word| !allowed.contains(&word.span()));
        others.find_map(|word| self.places(&word.literal()?).next().map(|(_, id)| id))
    }

    /// Returns the positions of ids. Non-alphanumeric bytes do not divide an id: `ab-c1+234` is one too.
    fn places<'t, 'w: 't>(&'w self, text: &'t str) -> impl Iterator<Item = (Range<usize>, &'w str)> + 't {
        let (mut number, mut known) = (0_u64, 0_usize);
        text.bytes().enumerate().filter_map(move |(at, byte)| {
            let code = CODES.get(usize::from(byte)).copied().unwrap_or(NO_CODE);
            if code >= NO_CODE {
                known = if code == NO_CODE { 0 } else { known };
                return None;
            }
            number = number << 6 | u64::from(code);
            known += 1;
            if known < LENGTH || !self.may_end(number) {
                return None;
            }
            let id = self.id(number & ((1 << (6 * LENGTH)) - 1))?;
            let mut chars =
                text.bytes().enumerate().take(at + 1).rev().filter(|(_, byte)| byte.is_ascii_alphanumeric());
            chars.nth(LENGTH - 1).map(|(start, _)| (start..at + 1, id))
        })
    }
}

fn number(id: impl ExactSizeIterator<Item = u8>) -> Option<u64> {
    let is_one = id.len() == LENGTH;
    let number = id.map(code).try_fold(0, |sum: u64, code| Some(sum << 6 | code?));
    number.filter(|_| is_one)
}

/// Code of a byte that occurs in no id: a digit that resembles an alphabetic character, or such a character.
const NO_CODE: u8 = 64;

/// Code of a non-alphanumeric byte, which does not divide an id.
const NOT_ALPHANUMERIC: u8 = 65;

/// The code of each byte.
#[expect(clippy::indexing_slicing, reason = "worked out by the compiler, which would tell")]
const CODES: [u8; 256] = {
    let mut codes = [NOT_ALPHANUMERIC; 256];
    let mut byte = 0;
    while byte < codes.len() {
        let ch = (byte as u8).to_ascii_lowercase();
        codes[byte] = match ch {
            b'i' | b'l' | b'o' | b'0' | b'1' => NO_CODE,
            b'2'..=b'9' => ch - b'0',
            b'a'..=b'z' => ch - b'a' + 10,
            _ => NOT_ALPHANUMERIC,
        };
        byte += 1;
    }
    codes
};

/// Returns the code of an id character.
fn code(byte: u8) -> Option<u64> {
    CODES.get(usize::from(byte)).filter(|code| **code < NO_CODE).map(|code| u64::from(*code))
}

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[track_caller]
    fn check(text: &str, found: bool) {
        let waiting = Waiting::new(vec!["k7m2p9x".into(), "zzzzzz2".into()]);
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
