//! The entries of the library for the words of a text. A word is looked up once, however often it occurs: a tool's
//! output of a megabyte has a hundred thousand words, most of them the same few.

use super::words::Word;
use reflex_tables::views::{self, Cues};
use reflex_tables::{List, Map, Node};

/// Word sequences of the lexicon, by their leading characters.
type Heads = Map<'static, List<'static, Node<'static>>>;
use std::collections::HashMap;

/// The entries for the words of one text.
pub(super) struct Dictionary {
    /// The first entry is empty and belongs to every word that the library does not know.
    entries: Vec<Entry>,
    /// For each word of the text the index of its entry.
    entry_of: Vec<usize>,
}

/// The entries for a word.
#[derive(Default)]
pub(super) struct Entry {
    /// The entries of the lexicon that begin with the word.
    pub(super) runs: Vec<Run>,
    /// The cues that begin with the word.
    pub(super) cues: Vec<Cue>,
}

/// Consecutive words with meanings.
pub(super) struct Run {
    /// The pattern of the first word, as written in the library.
    pub(super) first: &'static str,
    rest: Vec<Pattern>,
    /// The meanings as a bit set.
    pub(super) bits: u64,
    /// Whether the run counts only at the position of an instruction.
    pub(super) commands: bool,
}

/// A cue: words that follow each other, with gaps.
pub(super) struct Cue {
    /// The cue in the library.
    pub(super) entry: views::Cue<'static>,
    /// Maximum number of words between two of the cue.
    pub(super) gap: usize,
    /// The alternatives for each word after the first.
    pub(super) sets: Vec<Vec<Pattern>>,
}

/// A pattern for a word: the word itself, or the beginning of words.
pub(super) struct Pattern {
    text: &'static str,
    is_beginning: bool,
}

impl Pattern {
    fn new(written: &'static str) -> Pattern {
        match written.strip_suffix('*') {
            Some(text) => Pattern { text, is_beginning: true },
            None => Pattern { text: written, is_beginning: false },
        }
    }

    /// Whether a word matches.
    pub(super) fn fits(&self, word: &str) -> bool {
        // Most words differ in the first byte, which is compared without a call.
        word.as_bytes().first() == self.text.as_bytes().first()
            && if self.is_beginning { word.starts_with(self.text) } else { word == self.text }
    }
}

impl Run {
    /// Whether the words after the first one match.
    pub(super) fn goes_on(&self, after: &[Word]) -> bool {
        let mut after = after.iter();
        self.rest.iter().all(|wanted| after.next().is_some_and(|word| wanted.fits(&word.text)))
    }
}

impl Dictionary {
    /// Looks up the words: in `heads` of `library/injection-lexicon`, by their first three characters, and in `patterns`
    /// of `library/injection-patterns`.
    pub(super) fn new(words: &[Word], heads: Heads, patterns: Cues<'static>) -> Dictionary {
        let (first, all) = (patterns.first(), patterns.all());
        let mut entries = vec![Entry::default()];
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut index_of = |word: &'_ str| {
            let runs: Vec<Run> = runs(heads, word).collect();
            let cues: Vec<Cue> = first.get(word).iter().filter_map(|index| all.at(index as usize)).map(cue).collect();
            if runs.is_empty() && cues.is_empty() {
                return 0;
            }
            entries.push(Entry { runs, cues });
            entries.len() - 1
        };
        let entry_of = words.iter().map(|word| *known.entry(&word.text).or_insert_with(|| index_of(&word.text)));
        let entry_of = entry_of.collect();
        Dictionary { entries, entry_of }
    }

    /// The entry of the word at an index.
    pub(super) fn at(&self, index: usize) -> &Entry {
        const NONE: &Entry = &Entry { runs: Vec::new(), cues: Vec::new() };
        self.entry_of.get(index).and_then(|entry| self.entries.get(*entry)).unwrap_or(NONE)
    }
}

/// The entries of the lexicon whose first pattern matches the word.
fn runs(heads: Heads, word: &str) -> impl Iterator<Item = Run> {
    let head = word.char_indices().nth(3).map_or(word, |(end, _)| word.split_at(end).0);
    let begin = |run: &Node<'static>| run.at(0).texts().next().is_some_and(|first| Pattern::new(first).fits(word));
    heads.get(head).iter().filter(begin).map(|run| {
        let mut texts = run.at(0).texts();
        let first = texts.next().unwrap_or_default();
        let rest = texts.map(Pattern::new).collect();
        Run { first, rest, bits: bits_of(run.at(1)), commands: run.at(2).is_true() }
    })
}

fn cue(entry: views::Cue<'static>) -> Cue {
    let sets = entry.words().iter().skip(1).map(|set| set.iter().map(Pattern::new).collect());
    Cue { entry, gap: entry.gap() as usize, sets: sets.collect() }
}

/// Decodes bits that a table stores as two numbers, the lower 29 bits first.
pub(super) fn bits_of(node: Node<'static>) -> u64 {
    const HALF: u32 = 29;
    u64::from(node.at(0).number()) | u64::from(node.at(1).number()) << HALF
}
