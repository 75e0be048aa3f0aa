//! Meanings of the words of a text, as far as they matter for instructions to a model, in many languages; and the
//! sentences that combine several meanings.

use super::dictionary::{Dictionary, Entry, Run, bits_of};
use super::signs::Span;
use super::words::{Standing, Word, is_of_a_sentence, standing};
use crate::model::words::{WordList, Words};
use reflex_tables::views::{Cues, Lexicon};
use reflex_tables::{Node, Tables};
use std::cell::LazyCell;

/// Maximum number of characters searched before a word for the beginning of its line or comment.
const MAX_AHEAD: usize = 200;

/// Minimum number of words of a manual, exclusive.
const SHORT: usize = 150;

/// The contents of `library/injection-lexicon`.
pub(super) struct Meanings {
    lexicon: Lexicon<'static>,
    openings: Words,
    model: u64,
    not: u64,
    elsewhere: u64,
    secret: u64,
    called: u64,
    danger: u64,
}

impl Meanings {
    pub(super) fn from_tables(tables: Tables) -> Meanings {
        let lexicon = tables.library().lexicon();
        let bit = |name: &str| 1 << lexicon.names().get(name);
        Meanings {
            lexicon,
            openings: WordList::OrderOpenings.read(tables),
            model: bit("model"),
            not: bit("not"),
            elsewhere: bit("elsewhere"),
            secret: bit("secret"),
            called: bit("called"),
            danger: bit("danger"),
        }
    }

    /// The library's entries for the words.
    pub(super) fn look_up(&self, words: &[Word], patterns: Cues<'static>) -> Dictionary {
        Dictionary::new(words, self.lexicon.heads(), patterns)
    }

    /// Assigns each word its meanings.
    pub(super) fn mark(&self, text: &str, words: &mut [Word], dictionary: &Dictionary) {
        for at in 0..words.len() {
            let bits = self.begun(text, words, (at, dictionary.at(at)))
                | words.get(at).map_or(0, |word| self.within(&word.text));
            let before = words.get(at).and_then(|word| text.as_bytes().get(word.span.start.checked_sub(1)?));
            let follows = |mark: u8| words.get(at).filter(|_| before == Some(&mark));
            let address = follows(b'@').is_some_and(|word| is_after_at(text, word));
            let file = follows(b'.').is_some_and(|word| is_environment_file(text, word));
            let bits = bits | if address { self.elsewhere } else { 0 } | if file { self.secret } else { 0 };
            let called = bits & self.model != 0 && self.is_called(text, words, at);
            let bits = bits | if called { self.called } else { 0 };
            let harmless = bits & self.danger != 0 && self.is_forbidden(words, at);
            let bits = if harmless { bits & !self.danger } else { bits };
            let option = follows(b'-').is_some_and(|word| is_option(text, word));
            let bits = if option { 0 } else { bits };
            words.get_mut(at).into_iter().for_each(|word| word.means = bits);
        }
    }

    /// Whether the word is the addressee: `Agent: …` or `AI assistants: …` at the beginning of a line or comment,
    /// `(ai):`, `@agent …`.
    fn is_called(&self, text: &str, words: &[Word], at: usize) -> bool {
        let Some(last) = words.get(at) else { return false };
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let first = before.filter(|word| word.means & self.model != 0 && word.span.end + 1 == last.span.start);
        let before = text.get(..first.unwrap_or(last).span.start).unwrap_or_default();
        let after = text.get(last.span.end..).unwrap_or_default();
        // Skips a comment marker before the word on its line.
        let mut ahead = before.chars().rev().take(MAX_AHEAD).skip_while(|ch| " \t/*#>\"<!-".contains(*ch));
        let begins = ahead.next().is_none_or(|ch| ch == '\n');
        let ends = before.ends_with(['"', '(']) || before.trim_end().ends_with(['.', '!', ':', ',']);
        let at = before.ends_with('@') && !before.trim_end_matches('@').ends_with(char::is_alphanumeric);
        match after.strip_prefix(')').unwrap_or(after).strip_prefix([':', ',']) {
            Some(rest) => (begins || ends || at) && rest.starts_with([' ', '\n']),
            None => at && after.starts_with(' '),
        }
    }

    /// Whether the text mentions models and prompts often, as texts for or about models do.
    pub(super) fn is_manual(&self, words: &[Word]) -> bool {
        const OFTEN: usize = 6;
        let is_about_models = |word: &&Word| {
            word.means & self.model != 0 || word.text.starts_with("prompt") || word.text.starts_with("model")
        };
        words.len() > SHORT && words.iter().filter(is_about_models).take(OFTEN).count() == OFTEN
    }

    /// Meanings of the entries that match at a word.
    fn begun(&self, text: &str, words: &[Word], (at, entry): (usize, &Entry)) -> u64 {
        let after = words.get(at + 1..).unwrap_or_default();
        let counts = |run: &&Run| !run.commands || self.commands(text, words, at);
        let excepted = |run: &&Run| self.is_excepted(words, at, run.first);
        let runs = entry.runs.iter().filter(|run| run.goes_on(after)).filter(counts);
        runs.filter(|run| !excepted(run)).fold(0, |bits, run| bits | run.bits)
    }

    /// Whether a negation applies to an omission: `never … without asking`.
    fn is_excepted(&self, words: &[Word], at: usize, first: &str) -> bool {
        const WITHOUT: [&str; 9] = ["without", "ohne", "sans", "sin", "sem", "senza", "zonder", "bez", "без"];
        let before = words.get(at.saturating_sub(7)..at).unwrap_or_default();
        WITHOUT.contains(&first) && before.iter().any(|word| word.means & self.not != 0)
    }

    /// Meanings of parts of a word, for scripts without blanks between words and for scripts with prefixed words.
    fn within(&self, word: &str) -> u64 {
        if word.is_ascii() {
            return 0;
        }
        let parts = self.lexicon.parts();
        let begins = word.char_indices().filter_map(|(at, ch)| Some((word.get(at..)?, ch)));
        let found = begins.flat_map(|(rest, ch)| {
            let known = parts.get(ch.encode_utf8(&mut [0; 4])).iter();
            known.filter(move |part| rest.starts_with(part.at(0).text()))
        });
        found.fold(0, |bits, part| bits | bits_of(part.at(1)))
    }

    /// Whether one of the two previous words negates the word.
    pub(super) fn is_forbidden(&self, words: &[Word], at: usize) -> bool {
        // `do not … unless` is an instruction again.
        const EXCEPTING: [&str; 4] = ["unless", "except", "until", "but"];
        let after = words.get(at + 1..).unwrap_or_default().iter().take_while(|word| !word.begins).take(16);
        if after.into_iter().any(|word| EXCEPTING.contains(&word.text.as_str())) {
            return false;
        }
        let before = words.get(at.saturating_sub(2)..at).unwrap_or_default();
        before.iter().any(|word| word.means & self.not != 0)
            && words.get(at).is_some_and(|word| word.means & self.not == 0)
    }

    /// Whether a word is at the position of an instruction and is not negated.
    fn commands(&self, text: &str, words: &[Word], at: usize) -> bool {
        let before = |steps: usize| at.checked_sub(steps).and_then(|before| words.get(before));
        let is = |word: Option<&Word>, bits: u64| word.is_some_and(|word| word.means & bits != 0);
        let begins = standing(self.openings, (text, words), at) == Standing::Order;
        let forbidden = is(before(1), self.not) || (is(before(2), self.not) && !begins);
        // `email: …` is a name and its value.
        let is_name = |word: &Word| text.get(word.span.end..).is_some_and(|rest| rest.starts_with(':'));
        let is_verb = words.get(at).is_some_and(|word| is_of_a_sentence(text, word) && !is_name(word));
        is_verb && !forbidden && (is(before(1), self.model) || begins)
    }
}

/// A cue for a sentence that combines meanings.
struct Meeting {
    /// The meanings that it needs, and those that it must not have, as bit sets.
    needs: u64,
    lacks: u64,
    /// Index among all cues.
    cue: u32,
    /// Maximum distance in words.
    apart: usize,
}

impl Meeting {
    fn read(cues: Cues<'static>) -> Vec<Meeting> {
        let apart = |cue: u32| cues.all().at(cue as usize).map_or(0, |cue| cue.gap() as usize);
        let read = |node: Node<'static>| {
            let cue = node.at(1).number();
            Meeting { needs: bits_of(node.at(0)), lacks: bits_of(node.at(2)), cue, apart: apart(cue) }
        };
        cues.together().iter().map(read).collect()
    }
}

/// Sentences that combine all meanings of a cue, with the index of the cue in `cues`.
pub(super) fn meetings(words: &[Word], cues: Cues<'static>) -> Vec<(u32, Span)> {
    let known = LazyCell::new(|| Meeting::read(cues));
    let mut found = Vec::new();
    let mut start = 0;
    for at in 1..=words.len() {
        if words.get(at).is_none_or(|word| word.begins) {
            met(words.get(start..at).unwrap_or_default(), &known, &mut found);
            start = at;
        }
    }
    found
}

/// Cues whose meanings all occur among these words, each at its narrowest span.
fn met(words: &[Word], known: &LazyCell<Vec<Meeting>, impl FnOnce() -> Vec<Meeting>>, found: &mut Vec<(u32, Span)>) {
    let all = words.iter().fold(0, |bits, word| bits | word.means);
    if all == 0 {
        return;
    }
    for meeting in known.iter().filter(|meeting| all & meeting.needs == meeting.needs && all & meeting.lacks == 0) {
        let bits = meeting.needs;
        let matched: Vec<(usize, &Word)> =
            words.iter().enumerate().filter(|(_, word)| word.means & bits != 0).collect();
        let nearest = (0..matched.len())
            .filter_map(|nth| nearest(matched.get(nth..)?, bits, meeting.apart))
            .min_by_key(|(far, _)| *far);
        found.extend(nearest.map(|(_, span)| (meeting.cue, span)));
    }
}

/// Distance in words from the first word to the nearest one that completes the bits, and the span of both.
fn nearest(matched: &[(usize, &Word)], bits: u64, apart: usize) -> Option<(usize, Span)> {
    let (begin, first) = matched.first()?;
    let mut seen = 0;
    let last = matched.iter().take_while(|(at, _)| at - begin <= apart).find(|(_, word)| {
        seen |= word.means;
        seen & bits == bits
    });
    last.map(|(at, word)| (at - begin, Span { start: first.span.start, end: word.span.end }))
}

/// Whether the word is the name of a command-line option, which is not an instruction: `--disable`.
fn is_option(text: &str, word: &Word) -> bool {
    let before = text.get(..word.span.start).unwrap_or_default();
    before.strip_suffix("--").is_some_and(|before| !before.ends_with('-') && !before.ends_with(char::is_alphanumeric))
}

/// Whether the word begins the host of `name@HOST`.
fn is_after_at(text: &str, word: &Word) -> bool {
    let name = text.get(..word.span.start).and_then(|before| before.strip_suffix('@'));
    name.is_some_and(|name| name.ends_with(|ch: char| ch.is_ascii_alphanumeric()))
        && text.get(word.span.end..).is_some_and(|rest| rest.starts_with('.'))
}

/// Whether the word is the file `.env`, and not the end of a longer name.
fn is_environment_file(text: &str, word: &Word) -> bool {
    let folder = text.get(..word.span.start).and_then(|before| before.strip_suffix('.'));
    word.text == "env" && folder.is_some_and(|folder| !folder.ends_with(|ch: char| ch.is_alphanumeric()))
}
