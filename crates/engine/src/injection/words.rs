//! A text as words that can be compared: small letters, no lookalikes, nothing invisible, no blanks between letters.

use super::Span;

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Span,
    /// It is no part of a name that the word before begins: `a-b`, `a_b`.
    pub(super) is_apart: bool,
}

/// Letters that a person does not see.
pub(super) fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// The words of a text.
pub(super) fn fold(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut word = String::new();
    let (mut start, mut apart) = (0, true);
    for (at, letter) in text.char_indices() {
        if letter.is_alphanumeric() || is_unseen(letter) || (is_apostrophe(letter) && !word.is_empty()) {
            if word.is_empty() && !is_unseen(letter) {
                start = at;
            }
            if !is_unseen(letter) && !is_apostrophe(letter) {
                word.extend(plain(letter).to_lowercase());
            }
            continue;
        }
        if !word.is_empty() {
            words.push(Word {
                text: folded(std::mem::take(&mut word)),
                span: Span { start, end: at },
                is_apart: apart,
            });
            apart = false;
        }
        apart |= !matches!(letter, '-' | '_');
    }
    if !word.is_empty() {
        words.push(Word { text: folded(word), span: Span { start, end: text.len() }, is_apart: apart });
    }
    joined(words)
}

fn is_apostrophe(letter: char) -> bool {
    matches!(letter, '\'' | '’')
}

/// Full-width letters are the plain ones.
fn plain(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        letter => letter,
    }
}

/// Lookalikes among Latin letters become Latin; digits among letters become the letters they stand for.
fn folded(word: String) -> String {
    let has_latin = word.contains(|letter: char| letter.is_ascii_lowercase());
    if !has_latin || word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    word.chars().map(|letter| lookalike(letter).or_else(|| digit(letter)).unwrap_or(letter)).collect()
}

/// By Unicode's table of confusables: what looks like a small Latin letter in common typefaces.
fn lookalike(letter: char) -> Option<char> {
    const ALIKE: [(&str, char); 22] = [
        ("аàáâãäåɑα", 'a'),
        ("Ьь", 'b'),
        ("сçϲ", 'c'),
        ("ԁ", 'd'),
        ("еèéêëҽ", 'e'),
        ("ɡ", 'g'),
        ("һ", 'h'),
        ("іìíîïıι", 'i'),
        ("ј", 'j'),
        ("κк", 'k'),
        ("ӏⅼ", 'l'),
        ("м", 'm'),
        ("ոñп", 'n'),
        ("оòóôõöοо", 'o'),
        ("рρ", 'p'),
        ("ԛ", 'q'),
        ("г", 'r'),
        ("ѕ", 's'),
        ("т", 't'),
        ("υùúûü", 'u'),
        ("хχ", 'x'),
        ("уýÿ", 'y'),
    ];
    ALIKE.iter().find(|(letters, _)| letters.contains(letter)).map(|(_, latin)| *latin)
}

fn digit(letter: char) -> Option<char> {
    let pairs = [('0', 'o'), ('1', 'i'), ('3', 'e'), ('4', 'a'), ('5', 's'), ('7', 't')];
    pairs.iter().find(|(digit, _)| *digit == letter).map(|(_, meant)| *meant)
}

/// Four or more single letters in a row are a word with blanks in it.
fn joined(words: Vec<Word>) -> Vec<Word> {
    const LEAST: usize = 4;
    let is_single = |word: &Word| word.text.chars().count() == 1;
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        let mut run = vec![word];
        while run.last().is_some_and(is_single) && rest.peek().is_some_and(is_single) {
            run.extend(rest.next());
        }
        match (run.first(), run.last()) {
            (Some(first), Some(last)) if run.len() >= LEAST => out.push(Word {
                text: run.iter().map(|word| word.text.as_str()).collect(),
                span: Span { start: first.span.start, end: last.span.end },
                is_apart: first.is_apart,
            }),
            _ => out.extend(run),
        }
    }
    out
}

/// Words of texts that speak about attacks on models, by how they begin.
const SUBJECT: [&str; 16] = [
    "injection",
    "jailbreak",
    "attack",
    "adversar",
    "malicious",
    "vulnerab",
    "exploit",
    "detect",
    "payload",
    "phishing",
    "redteam",
    "probe",
    "threat",
    "defen",
    "mitigat",
    "sanitiz",
];

/// Whether the text speaks about such orders rather than giving one: it names the subject in several words.
pub(super) fn talks_about_orders(words: &[Word]) -> bool {
    const SEVERAL: usize = 3;
    let named = SUBJECT.iter().filter(|begin| words.iter().any(|word| word.text.starts_with(**begin)));
    named.take(SEVERAL).count() == SEVERAL
}

/// Whether a sentence or line begins with this word, be it after a word that introduces an order.
pub(super) fn begins_sentence(text: &str, words: &[Word], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let Some(before) = at.checked_sub(1).and_then(|before| words.get(before)) else { return true };
    let between = text.get(before.span.end..word.span.start).unwrap_or_default();
    let introduces = matches!(
        before.text.as_str(),
        "please" | "now" | "and" | "then" | "must" | "should" | "you" | "also" | "instead" | "kindly"
    );
    introduces || between.contains(['.', '!', '?', ':', ';', '\n', '>', '*', '#', '(', ']', ',', '—'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        fold(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(texts("Ignore ALL, previous"), ["ignore", "all", "previous"]);
        assert_eq!(
            texts("1gn0re \u{456}gnore ｉｇｎｏｒｅ i\u{200b}gnore don't"),
            ["ignore", "ignore", "ignore", "ignore", "dont"]
        );
        assert_eq!(texts("i g n o r e it"), ["ignore", "it"]);
        assert_eq!(texts("a b c"), ["a", "b", "c"]);
        assert_eq!(texts("игнорируй 2024"), ["игнорируй", "2024"]);
    }

    #[test]
    fn a_name_with_dashes_is_no_sentence() {
        let words = fold("the ignore-previous-instructions family");
        assert_eq!(words.iter().map(|word| word.is_apart).collect::<Vec<_>>(), [true, true, false, false, true]);
    }
}
