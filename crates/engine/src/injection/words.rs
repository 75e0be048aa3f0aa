//! Splits a text into words that can be compared: lowercase, without lookalikes and invisible characters, and with
//! spaced-out words joined.

use super::signs::Span;
use crate::model::words::{WordList, Words};
use reflex_tables::Tables;

/// A word and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) span: Span,
    /// Whether the word is separate from the previous one, and not joined to it by a dash or underscore: `a-b`, `a_b`.
    pub(super) is_apart: bool,
    /// Whether a quotation, a value or a block begins or ends between the previous word and this one.
    pub(super) is_cut_off: bool,
    /// Whether it begins a sentence.
    pub(super) begins: bool,
    /// Its meanings as a bit set; see `library/injection-lexicon`.
    pub(super) means: u64,
}

/// Whether a character is invisible.
pub(super) fn is_unseen(ch: char) -> bool {
    matches!(ch,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// Splits a text into folded words.
pub(super) fn fold(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut word = String::new();
    let (mut start, mut end, mut apart, mut cut, mut escaped) = (0, 0, true, false, false);
    let mut next = 0;
    while let Some(ch) = text.get(next..).and_then(|rest| rest.chars().next()) {
        let at = next;
        if ch.is_ascii_alphanumeric() && !escaped {
            // Most of a text: runs of these are taken at once.
            let run = plain_run(text, at);
            if word.is_empty() {
                start = at;
            }
            let from = word.len();
            word.push_str(run);
            word.get_mut(from..).into_iter().for_each(str::make_ascii_lowercase);
            end = at + run.len();
            next = end;
            continue;
        }
        next = at + ch.len_utf8();
        // `\n` in a JSON string is a blank.
        let is_blank = std::mem::take(&mut escaped) && matches!(ch, 'n' | 'r' | 't');
        if !is_blank && (is_written(ch) || (is_apostrophe(ch) && !word.is_empty())) {
            if word.is_empty() && !is_dropped(ch) {
                start = at;
            }
            if ch.is_ascii_alphanumeric() {
                word.push(ch.to_ascii_lowercase());
            } else if !is_dropped(ch) && !is_apostrophe(ch) {
                word.extend(plain(ch).to_lowercase().filter(|ch| !is_mark(*ch)));
            }
            end = if is_apostrophe(ch) { end } else { at + ch.len_utf8() };
            continue;
        }
        escaped = ch == '\\';
        if !word.is_empty() {
            words.push(Word { is_cut_off: cut, ..word_of(std::mem::take(&mut word), Span { start, end }, apart) });
            // A quotation mark may have separated the words.
            (apart, cut) = (false, end < at);
        }
        apart |= !matches!(ch, '-' | '_');
        // An apostrophe only gets here if it does not continue a word.
        cut |= matches!(ch, '"' | '`' | ';' | '{' | '}' | '=' | '[' | '\'');
    }
    if !word.is_empty() {
        words.push(Word { is_cut_off: cut, ..word_of(word, Span { start, end }, apart) });
    }
    let mut words = joined(text, words);
    mark_beginnings(text, &mut words);
    words
}

/// Marks the words that begin a sentence.
fn mark_beginnings(text: &str, words: &mut [Word]) {
    let mut end = None;
    for word in words {
        let between = end.and_then(|end| text.get(end..word.span.start));
        word.begins = between.is_none_or(is_end);
        end = Some(word.span.end);
    }
}

/// The run of alphanumeric ASCII characters at an offset.
fn plain_run(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// Whether a sentence ends between two words: at a period before a blank, at an empty line, and where a line does not
/// continue the previous one, as in code, lists and logs.
fn is_end(between: &str) -> bool {
    let mut chars = between.chars().peekable();
    let (mut is_first, mut marks) = (true, 0);
    while let Some(ch) = chars.next() {
        let closes = |next: &char| next.is_whitespace() || "\"'`)”»*<".contains(*next);
        match ch {
            '。' | '！' | '？' | '।' | '؟' => return true,
            ';' if chars.peek().is_some_and(|next| next.is_whitespace()) => return true,
            // A string literal ends, and the following text is code.
            '"' | '\'' if chars.peek().is_some_and(|next| matches!(next, ')' | ']')) => return true,
            '.' | '!' | '?' if chars.peek().is_some_and(closes) => return true,
            // The end of one value and the beginning of the next.
            '"' if marks == 1 => return true,
            '"' => marks += 1,
            '\n' if !is_first || !continues(chars.clone()) => return true,
            _ => {}
        }
        is_first = ch == ',';
    }
    false
}

/// Whether a line continues the sentence of the previous one: after blanks and a comment or quotation marker its first
/// word follows.
fn continues(rest: impl Iterator<Item = char>) -> bool {
    let mut rest = rest.skip_while(|ch| matches!(ch, ' ' | '\t' | '>' | '#' | '/' | '*'));
    rest.next().is_none()
}

fn word_of(text: String, span: Span, is_apart: bool) -> Word {
    Word { text: folded(text), span, is_apart, is_cut_off: false, begins: false, means: 0 }
}

fn is_written(ch: char) -> bool {
    if ch.is_ascii() {
        return ch.is_ascii_alphanumeric();
    }
    // Indic and Thai scripts include the signs that join characters, but not the dandas that end a sentence.
    let is_indic = matches!(ch, '\u{900}'..='\u{eff}') && !matches!(ch, '\u{964}' | '\u{965}' | '\u{e3f}');
    ch.is_alphanumeric() || is_indic || is_dropped(ch) || plain(ch) != ch
}

/// Characters that folding drops: invisible ones and combining marks.
fn is_dropped(ch: char) -> bool {
    !ch.is_ascii() && (is_unseen(ch) || is_mark(ch))
}

/// Combining marks over, under and through the previous character.
fn is_mark(ch: char) -> bool {
    matches!(ch, '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

fn is_apostrophe(ch: char) -> bool {
    matches!(ch, '\'' | '’')
}

/// Maps full-width, mathematical, circled, parenthesized and squared characters to plain ones.
fn plain(ch: char) -> char {
    if ch.is_ascii() {
        return ch;
    }
    let code = ch as u32;
    let nth = |first: u32, from: char| char::from_u32(from as u32 + code - first);
    let meant = match code {
        0xff01..=0xff5e => char::from_u32(code - 0xfee0),
        0x1d400..=0x1d6a3 => match (code - 0x1d400) % 52 {
            large @ 0..26 => char::from_u32('A' as u32 + large),
            small => char::from_u32('a' as u32 + small - 26),
        },
        0x249c..=0x24b5 => nth(0x249c, 'a'),
        0x24b6..=0x24cf => nth(0x24b6, 'a'),
        0x24d0..=0x24e9 => nth(0x24d0, 'a'),
        0x1f110..=0x1f129 => nth(0x1f110, 'a'),
        0x1f130..=0x1f149 => nth(0x1f130, 'a'),
        0x1d00..=0x1d22 | 0x250..=0x29f | 0xa730..=0xa731 => small_capital(ch),
        0x1f150..=0x1f169 => nth(0x1f150, 'a'),
        0x1f170..=0x1f189 => nth(0x1f170, 'a'),
        _ => None,
    };
    meant.unwrap_or(ch)
}

/// Maps small capitals (`ɪɢɴ`), which phonetic alphabets use, to plain characters.
fn small_capital(ch: char) -> Option<char> {
    const CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ";
    const PLAIN: &str = "abcdefghijklmnoprstuvwyz";
    CAPITALS.chars().zip(PLAIN.chars()).find(|(capital, _)| *capital == ch).map(|(_, meant)| meant)
}

/// Replaces lookalikes of Latin characters, and digits in a word with Latin characters, by the characters they imitate.
fn folded(word: String) -> String {
    // Most words, so this is tested first.
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) || !word.contains(|ch: char| ch.is_ascii_lowercase()) {
        return word;
    }
    let meant = |ch: char| if ch.is_ascii() { digit(ch) } else { lookalike(ch) };
    word.chars().map(|ch| meant(ch).unwrap_or(ch)).collect()
}

/// Lowercase Latin character that a character resembles in common typefaces, by Unicode's table of confusables.
fn lookalike(ch: char) -> Option<char> {
    Some(match ch {
        'а' | 'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ɑ' | 'α' | 'ā' | 'ą' | 'ă' => 'a',
        'Ь' | 'ь' => 'b',
        'с' | 'ç' | 'ϲ' | 'ć' | 'č' => 'c',
        'ԁ' => 'd',
        'е' | 'è' | 'é' | 'ê' | 'ë' | 'ҽ' | 'ę' | 'ě' | 'ē' | 'ė' => 'e',
        'ɡ' | 'ğ' => 'g',
        'һ' => 'h',
        'і' | 'ì' | 'í' | 'î' | 'ï' | 'ı' | 'ι' | 'ī' => 'i',
        'ј' => 'j',
        'κ' | 'к' => 'k',
        'ӏ' | 'ⅼ' | 'ł' => 'l',
        'м' => 'm',
        'ո' | 'ñ' | 'п' | 'ń' | 'ň' => 'n',
        'о' | 'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ο' | 'ø' | 'ő' | 'ō' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' | 'ř' => 'r',
        'ѕ' | 'ś' | 'š' | 'ş' | 'ș' => 's',
        'т' | 'ţ' | 'ț' | 'ť' => 't',
        'υ' | 'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' | 'ū' => 'u',
        'х' | 'χ' => 'x',
        'у' | 'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ď' | 'đ' => 'd',
        'ß' => 's',
        _ => return None,
    })
}

fn digit(ch: char) -> Option<char> {
    let pairs = [('0', 'o'), ('1', 'i'), ('3', 'e'), ('4', 'a'), ('5', 's'), ('7', 't')];
    pairs.iter().find(|(digit, _)| *digit == ch).map(|(_, meant)| *meant)
}

/// Joins four or more consecutive single-character words with identical separators into one word.
fn joined(text: &str, words: Vec<Word>) -> Vec<Word> {
    const LEAST: usize = 4;
    let is_single = |word: &Word| word.text.chars().nth(1).is_none();
    let between = |one: &Word, other: &Word| text.get(one.span.end..other.span.start).unwrap_or_default();
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        let apart = rest.peek().filter(|next| is_single(&word) && is_single(next)).map(|next| between(&word, next));
        if apart.is_none() {
            out.push(word);
            continue;
        }
        let mut run = vec![word];
        while let (Some(apart), Some(last), Some(next)) = (apart, run.last(), rest.peek())
            && is_single(next)
            && between(last, next) == apart
        {
            run.extend(rest.next());
        }
        match (run.first(), run.last()) {
            (Some(first), Some(last)) if run.len() >= LEAST => out.push(Word {
                text: folded(run.iter().map(|word| word.text.as_str()).collect()),
                span: Span { start: first.span.start, end: last.span.end },
                is_apart: first.is_apart,
                is_cut_off: first.is_cut_off,
                begins: false,
                means: 0,
            }),
            _ => out.extend(run),
        }
    }
    out
}

/// Degree to which a text is about such instructions rather than giving one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Talk {
    No,
    /// It names the subject: its quotations and reports are not instructions, its commands are.
    Some,
    /// It names the subject in several words.
    Much,
}

pub(super) fn talk(tables: Tables, words: &[Word]) -> Talk {
    const SEVERAL: usize = 3;
    let mut bits_found = [0_u32; 2];
    // The beginnings of words by their first character, each with its list and its number there.
    let mut heads: [Vec<(usize, usize, &str)>; 26] = Default::default();
    for (list, begins) in [WordList::AttackSubjects, WordList::AttackSubjectsAlone].into_iter().enumerate() {
        for (nth, begin) in begins.read(tables).iter().enumerate() {
            let place = head_of(begin).and_then(|head| heads.get_mut(head));
            place.into_iter().for_each(|place| place.push((list, nth, begin)));
        }
    }
    for word in words {
        let begins = head_of(&word.text).and_then(|head| heads.get(head)).map_or(&[][..], Vec::as_slice);
        for (list, nth, _) in begins.iter().filter(|(_, _, begin)| word.text.starts_with(begin)) {
            bits_found.get_mut(*list).into_iter().for_each(|bits| *bits |= 1 << nth);
        }
        if bits_found[0].count_ones() as usize >= SEVERAL {
            break;
        }
    }
    match (bits_found[0].count_ones() as usize, bits_found[1]) {
        (SEVERAL.., _) => Talk::Much,
        (_, 1..) => Talk::Some,
        (_, _) => Talk::No,
    }
}

/// The number of the first character in the alphabet, if it is a lowercase Latin character.
fn head_of(word: &str) -> Option<usize> {
    word.bytes().next().filter(u8::is_ascii_lowercase).map(|ch| usize::from(ch - b'a'))
}

/// Grammatical position of a word that may begin an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// At the beginning of a clause, or after a word that introduces an instruction.
    Order,
    /// Within a clause.
    Within,
    /// In a purpose or a reported instruction: `to ignore`.
    Reported,
}

pub(super) fn standing(openings: Words, (text, words): (&str, &[Word]), at: usize) -> Standing {
    let before = |steps: usize| at.checked_sub(steps).and_then(|before| words.get(before));
    let (Some(word), Some(last)) = (words.get(at), before(1)) else { return Standing::Order };
    let between = text.get(last.span.end..word.span.start).unwrap_or_default();
    let is = |steps: usize, wanted: &[&str]| before(steps).is_some_and(|word| wanted.contains(&word.text.as_str()));
    let ends = between.contains(['.', '!', '?', ':', ';', '\n', '>', '*', '#', '(', ']', ',', '—', '。', '，', '：']);
    // Third parties, as in a contract, instead of the addressee; and possibilities, as in `could make it …`.
    let possible = |steps: usize| is(steps, &["could", "can", "may", "might", "would", "will"]);
    let others = || {
        (is(1, &["shall", "may", "will", "would", "might"]) && !is(2, &["you"]))
            || (2..4).any(|steps| is(steps, &["make", "let", "have"]) && possible(steps + 1))
    };
    let asked = || is(2, &["need", "have", "required", "must", "sure"]) || (is(2, &["you"]) && is(3, &WISHING));
    match () {
        () if ends || before(1).is_some_and(|word| openings.has(&word.text)) || (is(1, &["to"]) && asked()) => {
            Standing::Order
        }
        () if is(1, &["to"]) || others() => Standing::Reported,
        () => Standing::Within,
    }
}

/// Verbs of a request that is an instruction: `I want you to`.
const WISHING: [&str; 8] = ["want", "need", "like", "ask", "command", "order", "expect", "require"];

/// Whether a word is separate, as in a sentence, and not a part of a name, a path or a call.
pub(super) fn is_of_a_sentence(text: &str, word: &Word) -> bool {
    let before = text.get(..word.span.start).and_then(|text| text.chars().next_back());
    let after = text.get(word.span.end..).and_then(|text| text.chars().next());
    let begins = before.is_none_or(|ch| ch.is_whitespace() || "\"'`“”„‘«([>*_,:;—-#。，：、".contains(ch));
    let ends = after.is_none_or(|ch| ch.is_whitespace() || ",.:;!?*\"'`’。，".contains(ch));
    begins && ends
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
