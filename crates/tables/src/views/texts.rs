//! Words and formats that are looked for in texts.

use crate::node::Node;
use crate::sieve::Sieve;
use crate::view;
use crate::view::{List, Map, Texts};

view! {
    /// Phrases by which texts give orders to a model.
    pub struct Cues<'a> {
        /// All cues.
        all: List<'a, Cue<'a>>,
        /// Indexes of the cues that begin with a word.
        first: Map<'a, List<'a, u32>>,
        /// Literal texts, each with the index of its cue.
        text: List<'a, Node<'a>>,
        /// Combinations of meanings: the bits that it needs, the index of its cue, the bits that it lacks.
        together: List<'a, Node<'a>>,
    }
}

view! {
    /// A phrase: an entry of `library/injection-patterns`.
    pub struct Cue<'a> {
        /// Its name.
        name: &'a str,
        /// Its family.
        family: &'a str,
        /// Score that a match adds to a text.
        weight: u32,
        /// Maximum number of other words between two of its words.
        gap: u32,
        /// Words in sequence, each a list of alternatives.
        words: List<'a, Texts<'a>>,
    }
}

view! {
    /// Meanings of words: the entries of `library/injection-lexicon`.
    pub struct Lexicon<'a> {
        /// Word sequences with their meanings, by the leading characters.
        heads: Map<'a, List<'a, Node<'a>>>,
        /// Parts of words with their meanings, by the leading character.
        parts: Map<'a, List<'a, Node<'a>>>,
        /// Numbers of the meanings' bits.
        names: Map<'a, u32>,
    }
}

view! {
    /// Formats of keys and passwords, indexed for one pass over a text.
    pub struct Secrets<'a> {
        /// The first three bytes of all candidates.
        sieve: Sieve<'a>,
        /// The candidates, by bucket of their first three bytes.
        starts: Node<'a>,
        /// The bytes that may follow these, by bucket.
        fourths: Node<'a>,
        /// Forms between two dots at a fixed distance.
        spaced: List<'a, SpacedForms<'a>>,
        /// The words of redaction tags.
        kinds: Map<'a, bool>,
    }
}

view! {
    /// Forms that are recognized by two dots.
    pub struct SpacedForms<'a> {
        /// The distance.
        gap: u32,
        /// The candidates.
        forms: Node<'a>,
    }
}

view! {
    /// A format of a secret: an entry of `library/secrets`.
    pub struct SecretFormat<'a> {
        /// Its id, such as `github/token`.
        id: &'a str,
        /// The word in its redaction tag.
        kind: &'a str,
        /// Description for a person.
        about: &'a str,
        /// Severity of exposing it.
        severity: &'a str,
        /// Hosts that legitimately receive it; absent if unknown.
        hosts: Texts<'a>,
        /// Minimum entropy per character after the prefix, in tenths of a bit.
        entropy: u32,
        /// Additional check: `jwt`.
        check: &'a str,
    }
}

view! {
    /// A list of words: an entry of `library/words`.
    pub struct WordList<'a> {
        /// The part of a text that is compared: `whole`, `start`, `end` or `part`.
        compare: &'a str,
        /// The words.
        words: Map<'a, bool>,
    }
}
