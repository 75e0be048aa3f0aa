//! Text tools over a known input: the output of `cut`, `tr`, `sort`, `grep` and others, for their simple options.

use super::{awk, decode, sed};
use crate::model::value::Value;
use std::collections::BTreeSet;

/// Maximum length of an input in bytes. Commands are not hidden in longer ones, and the limit bounds the work.
const MAX_BYTES: usize = 128 * 1024;

/// Returns the output of a tool for the input `text`; `None` for unsupported tools and options.
pub(crate) fn apply(name: &str, arguments: &[Value], text: &str) -> Option<(&'static str, String)> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let (step, valued) = *TOOLS.iter().find(|(tool, _)| aliased(name) == *tool)?;
    let parsed = ToolArguments::parse(arguments, valued)?;
    Some((step, printed(step, &parsed, text)?))
}

/// Whether the tool is supported.
pub(crate) fn knows(name: &str) -> bool {
    TOOLS.iter().any(|(tool, _)| aliased(name) == *tool)
}

/// Whether the tool only drops lines or the text around names: `sed 's|^\./||'`, `awk '{print $2}'`, `cut -f2`. Any
/// other use may turn the names into other names, or into commands.
pub(crate) fn keeps_names(name: &str, arguments: &[Value]) -> bool {
    let Some((tool, valued)) = TOOLS.iter().find(|(tool, _)| aliased(name) == *tool) else { return false };
    let Some(parsed) = ToolArguments::parse(arguments, valued) else { return false };
    match *tool {
        "cut" => true,
        "tr" => parsed.has('d') || matches!(parsed.operands.as_slice(), [from, to] if is_blank(from) && is_blank(to)),
        "sed" => parsed.script().is_some_and(|script| keeps_lines(&script)),
        "awk" => parsed.script().is_some_and(|script| prints_field(&script)),
        _ => false,
    }
}

fn is_blank(set: &str) -> bool {
    matches!(set, "\n" | "\\n" | "\0" | "\\0" | "\\000" | " " | "[:space:]" | "[:blank:]")
}

/// `/x/d`, `1d`, `/x/p`, `s|^\./||`: the script adds no text.
fn keeps_lines(script: &str) -> bool {
    let script = script.trim();
    if let Some(address) = script.strip_suffix(['d', 'p']) {
        let is_number =
            !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_digit() || b",$".contains(&byte));
        let pattern = address.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        return is_number || pattern.is_some_and(|pattern| !pattern.contains('/'));
    }
    let mut chars = script.strip_prefix('s').unwrap_or_default().chars();
    let Some(separator) = chars.next().filter(|ch| ch.is_ascii_punctuation()) else { return false };
    let parts: Vec<&str> = chars.as_str().split(separator).collect();
    matches!(parts.as_slice(), [_, "", "" | "g"])
}

/// `{print $1}`, `/x/ {print $NF}`
fn prints_field(script: &str) -> bool {
    let script: String = script.chars().filter(|ch| !ch.is_whitespace()).collect();
    let Some(open) = script.find('{') else { return false };
    let (pattern, action) = script.split_at(open);
    let field = action.strip_prefix("{print").and_then(|rest| rest.strip_suffix('}'));
    let is_field = field.is_some_and(|field| {
        field.is_empty()
            || field
                .strip_prefix('$')
                .is_some_and(|name| name == "NF" || name.bytes().all(|byte| byte.is_ascii_digit()))
    });
    is_field && !pattern.contains(['(', '|', '{'])
}

/// Each tool with its short options that take a value.
const TOOLS: [(&str, &str); 29] = [
    ("base64", "w"),
    ("base32", "w"),
    ("basenc", "w"),
    ("xxd", "clgs"),
    ("od", "AjNStw"),
    ("hexdump", "efns"),
    ("openssl", ""),
    ("rev", ""),
    ("tac", ""),
    ("tr", ""),
    ("cut", "bcdf"),
    ("head", "nc"),
    ("tail", "nc"),
    ("sort", "ktSTo"),
    ("uniq", "fsw"),
    ("grep", "eABCm"),
    ("fold", "w"),
    ("paste", "d"),
    ("nl", "bdfhilnsvw"),
    ("wc", ""),
    ("gunzip", ""),
    ("iconv", "ft"),
    ("rot13", ""),
    ("dos2unix", ""),
    ("uudecode", "o"),
    ("jq", ""),
    ("xargs", "nILPsda"),
    ("sed", "ef"),
    ("awk", "Fvf"),
];

fn aliased(name: &str) -> &str {
    match name {
        "gzip" | "zcat" | "gzcat" => "gunzip",
        "egrep" | "fgrep" | "ggrep" => "grep",
        "caesar" => "rot13",
        "ghead" => "head",
        "gtail" => "tail",
        "gtr" => "tr",
        "gbase64" => "base64",
        "gsed" => "sed",
        "gawk" | "mawk" | "nawk" => "awk",
        name => name,
    }
}

fn printed(tool: &str, parsed: &ToolArguments, text: &str) -> Option<String> {
    match tool {
        "base64" | "base32" | "basenc" => based(tool, parsed, text),
        "xxd" => xxd(parsed, text),
        "openssl" => openssl(parsed, text),
        "rev" => Some(lines(text).map(|line| line.chars().rev().chain(['\n']).collect::<String>()).collect()),
        "tac" => Some(joined(lines(text).collect::<Vec<_>>().into_iter().rev())),
        "tr" => translated(parsed, text),
        "cut" => cut(parsed, text),
        "head" | "tail" => ends(tool == "head", parsed, text),
        "sort" => sorted(parsed, text),
        "uniq" => unique(parsed, text),
        "grep" => searched(parsed, text),
        "fold" => Some(folded(parsed.number('w').unwrap_or(80), text)),
        "paste" => pasted(parsed, text),
        "gunzip" => Some(decode::text_of(&decode::gunzip(&decode::bytes_of(text))?)),
        "iconv" => Some(text.to_owned()),
        "rot13" => Some(decode::rot13(text)),
        "dos2unix" => Some(text.replace('\r', "")),
        "uudecode" => decode::uudecode(text),
        "jq" => queried(parsed, text),
        "sed" => edited(parsed, text),
        "awk" => awk::printed(parsed.script()?.as_str(), parsed.value('F'), text),
        "xargs" => Some(text.split_whitespace().collect::<Vec<_>>().join(" ") + "\n"),
        _ => None,
    }
}

/// The options and operands of a tool. The caller removes input files.
struct ToolArguments {
    options: Vec<(char, String)>,
    operands: Vec<String>,
}

impl ToolArguments {
    /// Parses the arguments; `None` if a word is unknown. Long options are stored as the equivalent short option.
    fn parse(arguments: &[Value], valued: &str) -> Option<ToolArguments> {
        let mut parsed = ToolArguments { options: Vec::new(), operands: Vec::new() };
        let mut words = arguments.iter().map(|word| word.literal().map(|text| text.into_owned()));
        while let Some(word) = words.next() {
            let word = word?;
            if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let ch = char_of(name)?;
                let next = valued.contains(ch) && value.is_none();
                let value = if next { words.next()?? } else { value.unwrap_or("").to_owned() };
                parsed.options.push((ch, value));
            } else if let Some(chars) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                parsed.cluster(chars, valued, &mut words)?;
            } else {
                parsed.operands.push(word);
            }
        }
        Some(parsed)
    }

    fn cluster(&mut self, chars: &str, valued: &str, words: &mut impl Iterator<Item = Option<String>>) -> Option<()> {
        if chars.bytes().all(|byte| byte.is_ascii_digit()) {
            // `head -5`
            self.options.push(('n', chars.to_owned()));
            return Some(());
        }
        for (at, ch) in chars.char_indices() {
            if !valued.contains(ch) {
                self.options.push((ch, String::new()));
                continue;
            }
            let joined = chars.get(at + ch.len_utf8()..).unwrap_or("");
            let value = if joined.is_empty() { words.next()?? } else { joined.to_owned() };
            self.options.push((ch, value));
            break;
        }
        Some(())
    }

    fn has(&self, ch: char) -> bool {
        self.options.iter().any(|(known, _)| *known == ch)
    }

    fn value(&self, ch: char) -> Option<&str> {
        self.options.iter().rev().find(|(known, _)| *known == ch).map(|(_, value)| value.as_str())
    }

    fn number(&self, ch: char) -> Option<usize> {
        self.value(ch)?.parse().ok()
    }

    /// Returns the script of `sed` or `awk`: all `-e` options, else the first operand.
    fn script(&self) -> Option<String> {
        let parsed = self.options.iter().filter(|(ch, _)| *ch == 'e').map(|(_, value)| value.as_str());
        let all = parsed.collect::<Vec<_>>();
        if all.is_empty() { self.operands.first().cloned() } else { Some(all.join("\n")) }
    }

    /// Returns `None` if an option other than these is present.
    fn only(&self, chars: &str) -> Option<()> {
        self.options.iter().all(|(ch, _)| chars.contains(*ch)).then_some(())
    }
}

fn char_of(long: &str) -> Option<char> {
    const LONG: [(&str, char); 38] = [
        ("decode", 'd'),
        ("ignore-garbage", 'i'),
        ("wrap", 'w'),
        ("base64", '6'),
        ("base64url", '6'),
        ("base32", '3'),
        ("base16", 'x'),
        ("revert", 'r'),
        ("reverse", 'r'),
        ("plain", 'p'),
        ("ps", 'p'),
        ("postscript", 'p'),
        ("delete", 'd'),
        ("squeeze-repeats", 's'),
        ("complement", 'c'),
        ("delimiter", 'd'),
        ("delimiters", 'd'),
        ("fields", 'f'),
        ("characters", 'c'),
        ("bytes", 'c'),
        ("lines", 'n'),
        ("unique", 'u'),
        ("numeric-sort", 'n'),
        ("width", 'w'),
        ("serial", 's'),
        ("decompress", 'd'),
        ("stdout", 'c'),
        ("to-stdout", 'c'),
        ("from-code", 'f'),
        ("to-code", 't'),
        ("invert-match", 'v'),
        ("regexp", 'e'),
        ("only-matching", 'o'),
        ("raw-output", 'r'),
        ("expression", 'e'),
        ("quiet", 'n'),
        ("regexp-extended", 'E'),
        ("field-separator", 'F'),
    ];
    LONG.iter().find(|(name, _)| *name == long).map(|(_, ch)| *ch)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn based(tool: &str, parsed: &ToolArguments, text: &str) -> Option<String> {
    if !parsed.has('d') && !parsed.has('D') {
        return None;
    }
    match tool {
        "base32" => decode::base32(text),
        "basenc" if parsed.has('3') => decode::base32(text),
        "basenc" if parsed.has('x') => decode::hexadecimal(text),
        _ => decode::base64(text),
    }
}

fn openssl(parsed: &ToolArguments, text: &str) -> Option<String> {
    // Long options have a single dash; `-base64` and the like are read as clusters of short options.
    let decodes = parsed.has('d') && parsed.operands.iter().all(|word| matches!(word.as_str(), "enc" | "base64"));
    let is_base64 = parsed.has('a') || parsed.operands.iter().any(|word| word == "base64");
    (decodes && is_base64).then(|| decode::base64(text)).flatten()
}

fn xxd(parsed: &ToolArguments, text: &str) -> Option<String> {
    if !parsed.has('r') {
        return None;
    }
    if parsed.has('p') {
        return decode::hexadecimal(text);
    }
    // `00000000: 726d 202d  rm -`
    let digits = |line: &str| {
        let (_, bytes) = line.split_once(':')?;
        Some(bytes.trim_start().split("  ").next().unwrap_or("").to_owned())
    };
    decode::hexadecimal(&lines(text).filter_map(digits).collect::<String>())
}

fn translated(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("dscC")?;
    let mut sets = parsed.operands.iter();
    let from = decode::characters(sets.next()?)?;
    let to = sets.next().map(|set| decode::characters(set)).unwrap_or_else(|| Some(Vec::new()))?;
    let complement = parsed.has('c') || parsed.has('C');
    let holds = |ch: char| from.contains(&ch) != complement;
    let squeezes = parsed.has('s');
    let mapped = |ch: char| match from.iter().position(|known| *known == ch) {
        _ if !holds(ch) => Some(ch),
        _ if parsed.has('d') => None,
        _ if to.is_empty() => Some(ch),
        None => to.last().copied(),
        Some(index) => to.get(index).or(to.last()).copied(),
    };
    let squeezed = if to.is_empty() { &from } else { &to };
    let mut printed = String::with_capacity(text.len());
    for ch in text.chars().filter_map(mapped) {
        let repeats = squeezes && printed.ends_with(ch) && squeezed.contains(&ch);
        printed.extend((!repeats).then_some(ch));
    }
    Some(printed)
}

fn cut(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("bcdfs")?;
    let list = parsed.value('f').or(parsed.value('c')).or(parsed.value('b'))?;
    let wanted: BTreeSet<usize> = positions(list)?;
    let open = open_from(list);
    let is_wanted = |index: usize| wanted.contains(&index) || open.is_some_and(|from| index >= from);
    if !parsed.has('f') {
        let chosen = |line: &str| -> String {
            line.chars().enumerate().filter(|(index, _)| is_wanted(index + 1)).map(|(_, ch)| ch).collect()
        };
        return Some(lines(text).map(|line| chosen(line) + "\n").collect());
    }
    let delimiter = parsed.value('d').unwrap_or("\t");
    let fields = |line: &str| {
        if !line.contains(delimiter) {
            return if parsed.has('s') { String::new() } else { format!("{line}\n") };
        }
        let chosen = line.split(delimiter).enumerate().filter(|(index, _)| is_wanted(index + 1));
        chosen.map(|(_, field)| field).collect::<Vec<_>>().join(delimiter) + "\n"
    };
    (!delimiter.is_empty()).then(|| lines(text).map(fields).collect())
}

/// Returns the positions of the closed ranges in a list such as `1,3-5,7-`.
fn positions(list: &str) -> Option<BTreeSet<usize>> {
    const MAX_POSITIONS: usize = 4096;
    let mut wanted = BTreeSet::new();
    for part in list.split(',') {
        match part.split_once('-') {
            None => drop(wanted.insert(part.parse().ok()?)),
            Some((_, "")) => {}
            Some((from, to)) => {
                let from = if from.is_empty() { 1 } else { from.parse().ok()? };
                wanted.extend(from..=to.parse::<usize>().ok()?.min(MAX_POSITIONS));
            }
        }
    }
    Some(wanted)
}

fn open_from(list: &str) -> Option<usize> {
    list.split(',').filter_map(|part| part.strip_suffix('-')?.parse().ok()).min()
}

fn ends(head: bool, parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("ncq")?;
    let written = parsed.value('c').or(parsed.value('n')).unwrap_or("10");
    let (sign, digits) = match written.chars().next()? {
        sign @ ('+' | '-') => (Some(sign), written.get(1..)?),
        _ => (None, written),
    };
    let count: usize = digits.parse().ok()?;
    let units: Vec<&str> = match parsed.has('c') {
        true => text.split_inclusive(|_| true).collect(),
        false => text.split_inclusive('\n').collect(),
    };
    let all = units.len();
    let (skip, take) = match (head, sign) {
        (true, Some('-')) => (0, all.saturating_sub(count)),
        (true, _) => (0, count),
        (false, Some('+')) => (count.saturating_sub(1), all),
        (false, _) => (all.saturating_sub(count), all),
    };
    Some(units.into_iter().skip(skip).take(take).collect())
}

fn sorted(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("runRk")?;
    let number = |line: &str| -> i64 {
        let digits = line.trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(digits.len());
        digits.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    if parsed.has('R') || parsed.value('k').is_some_and(|key| !key.starts_with('1')) {
        return None;
    }
    let mut all: Vec<&str> = lines(text).collect();
    all.sort_unstable();
    if parsed.has('n') {
        all.sort_by_key(|line| number(line));
    }
    if parsed.has('r') {
        all.reverse();
    }
    if parsed.has('u') {
        all.dedup();
    }
    Some(joined(all.into_iter()))
}

fn unique(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("")?;
    let mut all: Vec<&str> = lines(text).collect();
    all.dedup();
    Some(joined(all.into_iter()))
}

fn searched(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("eEFivoxwahs")?;
    let pattern = parsed.value('e').or(parsed.operands.first().map(String::as_str))?;
    let written = if parsed.has('F') { regex_lite::escape(pattern) } else { decode::regex(pattern, parsed.has('E')) };
    let bounded = match (parsed.has('x'), parsed.has('w')) {
        (true, _) => format!("^(?:{written})$"),
        (_, true) => format!(r"\b(?:{written})\b"),
        _ => written,
    };
    let regex = decode::compiled(&bounded, parsed.has('i'))?;
    if parsed.has('o') {
        let found = lines(text).flat_map(|line| regex.find_iter(line).map(|found| found.as_str()));
        return Some(joined(found.filter(|found| !found.is_empty())));
    }
    Some(joined(lines(text).filter(|line| regex.is_match(line) != parsed.has('v'))))
}

fn folded(width: usize, text: &str) -> String {
    let mut printed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        for (index, ch) in line.chars().enumerate() {
            if index > 0 && index % width.max(1) == 0 && ch != '\n' {
                printed.push('\n');
            }
            printed.push(ch);
        }
    }
    printed
}

fn pasted(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("sd")?;
    let delimiters: Vec<char> = decode::escapes(parsed.value('d').unwrap_or("\t")).chars().collect();
    if !parsed.has('s') {
        return parsed.operands.iter().all(|word| word == "-").then(|| text.to_owned());
    }
    let mut printed = String::with_capacity(text.len());
    for (index, line) in lines(text).enumerate() {
        if index > 0 {
            printed.extend(delimiters.get((index - 1) % delimiters.len().max(1)).filter(|ch| **ch != '\0'));
        }
        printed.push_str(line);
    }
    printed.push('\n');
    Some(printed)
}

fn edited(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("neErsu")?;
    let extended = parsed.has('E') || parsed.has('r');
    sed::printed(parsed.script()?.as_str(), extended, parsed.has('n'), text)
}

/// `jq -r` of a text: `.`, `@base64d`, or a string literal.
fn queried(parsed: &ToolArguments, text: &str) -> Option<String> {
    parsed.only("rnRsj")?;
    let unquoted = |text: &str| {
        let inside = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        (!inside.contains('"')).then(|| decode::escapes(inside))
    };
    let mut value = if parsed.has('R') { Some(text.trim_end_matches('\n').to_owned()) } else { unquoted(text) };
    for step in parsed.operands.first()?.split('|') {
        value = match step.trim() {
            "." | "@text" | "tostring" => value,
            "@base64d" => decode::base64(&value?),
            literal => Some(unquoted(literal)?),
        };
    }
    parsed.has('r').then_some(value? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::value::Origin;

    #[track_caller]
    fn check(command: &str, input: &str, expected: Option<&str>) {
        let words: Vec<Value> = command.split(' ').map(|word| Value::text(word, Origin::default())).collect();
        let name = words.first().map(Value::shown).unwrap_or_default();
        let printed = apply(&name, words.get(1..).unwrap_or(&[]), input).map(|(_, text)| text);
        assert_eq!(printed.as_deref(), expected, "{command}");
    }

    #[test]
    fn tools_print_what_they_print() {
        check("tr a-c x-z", "cab", Some("zxy"));
        check("tr -d _", "r_m", Some("rm"));
        check("tr -s x", "rxxm", Some("rxm"));
        check("tr [:upper:] [:lower:]", "RM", Some("rm"));
        check("tr -cd a-z", "r1m!", Some("rm"));
        check("cut -d: -f2,3", "a:b:c:d\n", Some("b:c\n"));
        check("cut -c3-", "xxrm\n", Some("rm\n"));
        check("cut -f 1 --delimiter=,", "a,b\nc\n", Some("a\nc\n"));
        check("head -n1", "a\nb\n", Some("a\n"));
        check("head -c -1", "rmx", Some("rm"));
        check("tail -n +2", "a\nb\nc\n", Some("b\nc\n"));
        check("tail -1", "a\nb\n", Some("b\n"));
        check("sort -r", "a\nb\n", Some("b\na\n"));
        check("sort -n", "10\n9\n", Some("9\n10\n"));
        check("uniq", "a\na\nb\n", Some("a\nb\n"));
        check("grep -v b", "a\nb\n", Some("a\n"));
        check("grep -o [a-z]*", "12rm3\n", Some("rm\n"));
        check("grep -E ^(a|c)$", "a\nb\nc\n", Some("a\nc\n"));
        check("fold -w2", "rmls\n", Some("rm\nls\n"));
        check("paste -sd+", "a\nb\n", Some("a+b\n"));
        check("tac", "a\nb\n", Some("b\na\n"));
        check("rev", "mr\n", Some("rm\n"));
        check("base32 -d", "OJWSA3DTBI======", Some("rm ls\n"));
        check("xxd -r", "00000000: 726d 206c 730a                           rm ls.\n", Some("rm ls\n"));
        check("xxd -rp", "726d", Some("rm"));
        check("openssl enc -d -a", "cm0=", Some("rm"));
        check("openssl base64 -d", "cm0=", Some("rm"));
        check("jq -r .", "\"rm\"", Some("rm\n"));
        check("xargs", " a\n b", Some("a b\n"));
        check("sort -k2", "a\n", None);
        check("nl", "a\n", None);
        check("sed s/x/r/g", "xmx\n", Some("rmr\n"));
        check("sed -E s/(.)(.)/\\2\\1/", "mr\n", Some("rm\n"));
        check("sed -n 2p", "a\nb\n", Some("b\n"));
        check("sed -n /b/,$p", "a\nb\nc\n", Some("b\nc\n"));
        check("sed -e 1d -e y/abc/xyz/", "a\nb\n", Some("y\n"));
        check("sed s/^#//;/^$/d", "#rm\n\n", Some("rm\n"));
        check("sed N", "a\n", None);
        check("awk {print$2}", "a rm\n", Some("rm\n"));
        check("awk -F: {print$1,$NF}", "a:b:c\n", Some("a c\n"));
        check("awk /x/{print\"rm\",$1}", "x\ny\n", Some("rm x\n"));
        check("awk BEGIN{print\"rm\"}", "x\n", Some("rm\n"));
        check("awk NR==2", "a\nb\n", Some("b\n"));
        check("awk {x++}", "a\n", None);
    }
}
