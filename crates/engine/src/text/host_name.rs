//! Detects host names that imitate others by the characters of their labels, by rules similar to those of browsers.

use crate::model::words::Words;

/// Cyrillic and Greek characters that look like Latin ones. A label that only has these passes for Latin.
const LIKE_LATIN: &str = "асԁеһіјӏорԛѕԝхуъьҽпгѵѡαικνρυωηοτ";

/// East Asian characters that, next to Latin ones, look like a slash, a dot, a dash, or like no character.
const LIKE_SIGNS: &str = "ノンソゾー一丶丿亅〇〱〳〵";

/// Whether a host imitates another one: a label mixes alphabets, looks like a Latin one, contains a symbol or
/// compatibility character, or equals one of `imitated` except for diacritics; or the host is encoded (`xn--…`).
pub(crate) fn is_disguised(host: &str, imitated: Words) -> bool {
    let encodes = |label: &str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    if host.contains(['%', '\\']) || host.split('.').any(encodes) {
        return true;
    }
    if host.is_ascii() {
        return false;
    }
    let host = host.to_lowercase();
    let last = host.rsplit('.').next().unwrap_or("");
    host.split('.').any(|label| passes_for_another(label, last, imitated))
}

/// Whether a word of a path mixes Latin characters with lookalikes. A word in its own alphabet, or with diacritics,
/// does not count.
pub(crate) fn has_lookalikes(path: &str) -> bool {
    !path.is_ascii()
        && path.split(|ch: char| !ch.is_alphabetic()).any(|word| {
            let (plain, others): (Vec<char>, Vec<char>) = word.chars().partition(char::is_ascii);
            let looks = |ch: &char| ch.to_lowercase().all(|ch| LIKE_LATIN.contains(ch));
            !plain.is_empty() && !others.is_empty() && others.iter().all(looks)
        })
}

fn passes_for_another(label: &str, last: &str, imitated: Words) -> bool {
    // An ellipsis replaces unknown text.
    let other = || label.chars().filter(|ch| !ch.is_ascii() && *ch != '…');
    if other().next().is_none() {
        return false;
    }
    let alphabets = || label.chars().filter(|ch| ch.is_alphabetic()).map(alphabet);
    let has_latin = alphabets().any(|one| one == Alphabet::Latin);
    let mixes = alphabets().any(|one| one != Alphabet::EastAsian && (one != Alphabet::Latin) == has_latin)
        || has_latin && label.contains(|ch: char| LIKE_SIGNS.contains(ch));
    let hides = other().any(|ch| !ch.is_alphanumeric() || is_compatible(ch));
    let in_native_zone = last.chars().all(|ch| !ch.is_ascii()) && !last.is_empty();
    let looks_latin = !in_native_zone && label.chars().all(|ch| ch.is_ascii() || LIKE_LATIN.contains(ch));
    mixes || hides || looks_latin || has_latin && imitated.has(&without_marks(label))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Latin,
    EastAsian,
    Other,
}

/// Latin characters beyond those of European languages count as another alphabet.
fn alphabet(ch: char) -> Alphabet {
    match ch {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{17f}' => Alphabet::Latin,
        '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}' => Alphabet::EastAsian,
        _ => Alphabet::Other,
    }
}

/// Compatibility characters, which exist for old encodings and formulas and represent plain ones.
fn is_compatible(ch: char) -> bool {
    matches!(ch, '\u{2100}'..='\u{214f}' | '\u{2460}'..='\u{24ff}' | '\u{fb00}'..='\u{fb06}' | '\u{ff00}'..='\u{ffef}'
        | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1ff}')
}

fn without_marks(label: &str) -> String {
    label.chars().map(without_mark).collect()
}

/// Removes a diacritic, which leaves the ASCII character.
fn without_mark(ch: char) -> char {
    match ch {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' | 'đ' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ĥ' | 'ħ' => 'h',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => 'i',
        'ĵ' => 'j',
        'ķ' | 'ĸ' => 'k',
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' | 'ŉ' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ſ' => 's',
        'ţ' | 'ť' | 'ŧ' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ý' | 'ÿ' | 'ŷ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;
    use crate::model::words::WordList;

    #[track_caller]
    fn check(host: &str, expected: bool) {
        assert_eq!(is_disguised(host, WordList::ImitatedHosts.read(tables())), expected, "{host}");
    }

    #[test]
    fn a_name_in_its_native_script_is_what_it_looks_like() {
        let plain = [
            "x.example",
            "münchen.de",
            "españa.example",
            "日本語.jp",
            "例え.テスト",
            "пример.рф",
            "роса.рф",
            "한국.kr",
            "naïve.example",
        ];
        plain.iter().for_each(|host| check(host, false));
    }

    #[test]
    fn a_word_of_a_path_in_two_alphabets_is_a_disguise() {
        for path in ["/rаyload", "/іnstall.sh", "/a/іnstаll"] {
            assert!(has_lookalikes(path), "{path}");
        }
        for path in ["/install", "/Köln/я", "/статья-v2/а1", "/α-beta", "/日本語abc", "/naïve", "/β2/x"]
        {
            assert!(!has_lookalikes(path), "{path}");
        }
    }

    #[test]
    fn a_name_that_passes_for_another_is_disguised() {
        let disguised = [
            "gіthub.com",
            "xn--gthub-cua.com",
            "gíthub.com",
            "аррӏе.com",
            "xn--80ak6aa92e.com",
            "ex%61mple.com",
            "ｇｉｔｈｕｂ.com",
            "git\u{200b}hub.com",
            "github.com\u{2215}a.example",
            "googleノa.example",
            "ɡithub.com",
        ];
        disguised.iter().for_each(|host| check(host, true));
    }
}
