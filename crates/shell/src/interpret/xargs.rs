//! The command lines that `xargs` and `parallel` make of what they read.

use super::draft::Draft;
use super::placeholders::fill;
use super::streams::Stream;
use crate::cli_grammar::invocation::Invocation;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::text_tools::{decode, quoting};

/// The command lines that `xargs` makes of what it reads.
pub(super) fn xargs(words: Vec<Value>, invocation: &Invocation, draft: &Draft, stdin: &Stream) -> Vec<Vec<Value>> {
    let given = ["replace", "replace-default"].map(|key| invocation.values(key, &draft.words)).concat();
    let placeholder = match given.first().and_then(Value::literal).filter(|text| !text.is_empty()) {
        Some(placeholder) => Some(placeholder.into_owned()),
        None => (invocation.has("replace") || invocation.has("replace-default")).then(|| "{}".to_owned()),
    };
    let Some(text) = stdin.text.literal().filter(|_| stdin.present) else {
        let read = unread_words(stdin, draft.origin);
        return vec![match placeholder {
            Some(placeholder) => fill(words, &placeholder, &read),
            None => [words, read].concat(),
        }];
    };
    let number = |key: &str| invocation.values(key, &draft.words).first().and_then(Value::literal)?.parse().ok();
    let groups = match delimiter(invocation, draft) {
        Some(delimiter) => delimited(&text, delimiter),
        None if placeholder.is_some() => whole_lines(&text),
        None => by_lines(&text, number("max-lines")),
    };
    let origin = stdin.text.origin();
    let values = |texts: &[String]| texts.iter().map(|text| Value::text(text.clone(), origin)).collect::<Vec<_>>();
    if let Some(placeholder) = placeholder {
        let mut items: Vec<String> = groups.concat();
        if invocation.has("max-args") {
            // Which of the two counts differs between versions.
            items.extend(by_lines(&text, None).concat());
        }
        return items.iter().map(|item| replaced(&words, &placeholder, item, origin)).collect();
    }
    let most = number("max-args").unwrap_or(usize::MAX).max(1);
    let batches = groups.iter().flat_map(|group| group.chunks(most));
    let mut lines: Vec<Vec<Value>> = batches.map(|batch| [words.clone(), values(batch)].concat()).collect();
    if lines.is_empty() && !invocation.has("no-run-if-empty") {
        lines.push(words);
    }
    lines
}

fn delimiter(invocation: &Invocation, draft: &Draft) -> Option<char> {
    if invocation.has("zero") {
        return Some('\0');
    }
    let given = invocation.values("delimiter", &draft.words).first()?.literal().map(|text| decode::escapes(&text))?;
    given.chars().next()
}

fn delimited(text: &str, delimiter: char) -> Vec<Vec<String>> {
    let text = text.strip_suffix(delimiter).unwrap_or(text);
    if text.is_empty() { Vec::new() } else { vec![text.split(delimiter).map(str::to_owned).collect()] }
}

/// With a placeholder, a line is one argument.
fn whole_lines(text: &str) -> Vec<Vec<String>> {
    let unquoted = |line: &str| arguments(&line.trim_start().replace(' ', "\\ ")).into_iter().next();
    vec![text.lines().filter_map(unquoted).collect()]
}

/// All arguments, in groups of so many lines if that is wanted.
fn by_lines(text: &str, most: Option<usize>) -> Vec<Vec<String>> {
    let Some(most) = most else { return Some(arguments(text)).filter(|all| !all.is_empty()).into_iter().collect() };
    let lines: Vec<Vec<String>> = text.lines().map(arguments).filter(|line| !line.is_empty()).collect();
    lines.chunks(most.max(1)).map(<[_]>::concat).collect()
}

/// What stands between blanks; quotes and backslashes keep blanks.
fn arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut argument: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            (letter, Some(_)) => argument.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                argument.get_or_insert_default();
            }
            ('\\', None) => argument.get_or_insert_default().extend(letters.next()),
            (letter, None) if letter.is_ascii_whitespace() => arguments.extend(argument.take()),
            (letter, None) => argument.get_or_insert_default().push(letter),
        }
    }
    arguments.extend(argument);
    arguments
}

/// The words of a text as a program splits it that is no shell: blanks, quotes and backslashes.
pub(super) fn words_of(text: &Value) -> Vec<Value> {
    match text.literal() {
        Some(known) => arguments(&known).into_iter().map(|word| Value::text(word, text.origin())).collect(),
        None => text.split(&[' ', '\t', '\n']),
    }
}

/// More sources of arguments than this are one that is not known.
const MAX_SOURCES: usize = 8;

/// More texts than this are one whose argument is not known.
const MAX_TEXTS: usize = 64;

/// The shell texts that GNU parallel makes of `COMMAND ::: ARGUMENT…`, or of what it reads.
pub(super) fn parallel(words: Vec<Value>, invocation: &Invocation, draft: &Draft) -> Vec<Value> {
    let separates = |word: &Value| matches!(word.literal().as_deref(), Some(":::" | ":::+" | "::::" | "::::+"));
    let end = words.iter().position(separates).unwrap_or(words.len());
    let (command, sources) = words.split_at(end);
    let mut choices: Vec<Vec<Value>> = vec![Vec::new()];
    if sources.is_empty() {
        choices = lines_of(&draft.stdin, draft.origin).into_iter().map(|line| vec![line]).collect();
    }
    if sources.iter().filter(|word| separates(word)).count() > MAX_SOURCES {
        let unknown = Value::piece(Piece::Unknown(UnknownReason::Limit), draft.origin);
        return vec![parallel_text(command, &[unknown], "{}")];
    }
    for source in sources.split(separates).skip(1).zip(sources.iter().filter(|word| separates(word))) {
        let (arguments, separator) = source;
        let files = separator.prefix().starts_with("::::");
        let unknown = [Value::piece(Piece::Unknown(UnknownReason::Input), draft.origin)];
        let arguments = if files || arguments.len() * choices.len() > MAX_TEXTS { &unknown } else { arguments };
        let with = |choice: &Vec<Value>| {
            let each = arguments.iter().map(|argument| [choice.as_slice(), std::slice::from_ref(argument)].concat());
            each.collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    let mark =
        invocation.values("replace", &draft.words).first().and_then(Value::literal).map(|mark| mark.into_owned());
    choices.iter().map(|choice| parallel_text(command, choice, mark.as_deref().unwrap_or("{}"))).collect()
}

/// One text: the arguments stand at their marks, else at the end, and are the command where there is none.
fn parallel_text(command: &[Value], arguments: &[Value], mark: &str) -> Value {
    const MARKS: [&str; 5] = ["{.}", "{/}", "{//}", "{/.}", "{+}"];
    let mut text = Value::default();
    let space = |text: &mut Value, origin| {
        if !text.pieces.is_empty() {
            text.push_text(" ", origin)
        }
    };
    let mut all = Value::default();
    for argument in arguments {
        space(&mut all, argument.origin());
        all.push(if command.is_empty() { argument.clone() } else { quoted(argument) });
    }
    let mut placed = false;
    for word in command {
        let mut words = vec![word.clone()];
        for mark in MARKS.into_iter().chain([mark]) {
            placed |= words.iter().any(|word| word.prefix().contains(mark));
            words = fill(words, mark, std::slice::from_ref(&all));
        }
        for (index, argument) in arguments.iter().enumerate() {
            let mark = format!("{{{}}}", index + 1);
            placed |= words.iter().any(|word| word.prefix().contains(&mark));
            words = fill(words, &mark, &[quoted(argument)]);
        }
        words.into_iter().for_each(|word| {
            space(&mut text, word.origin());
            text.push(word);
        });
    }
    if !placed {
        space(&mut text, all.origin());
        text.push(all);
    }
    text
}

/// The text in quotes where a shell would take it apart.
fn quoted(argument: &Value) -> Value {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:=@%,".contains(letter);
    match argument.literal().filter(|text| !text.chars().all(is_plain)) {
        Some(text) => Value::text(quoting::quoted(&text), argument.origin()),
        None => argument.clone(),
    }
}

/// The lines of a stream, one that stands for any if they are not known.
fn lines_of(stream: &Stream, origin: Origin) -> Vec<Value> {
    let Some(text) = stream.text.literal().filter(|_| stream.present) else { return unread_words(stream, origin) };
    if text.lines().count() > MAX_TEXTS {
        return vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
    }
    text.lines().map(|line| Value::text(line, stream.text.origin())).collect()
}

fn replaced(words: &[Value], placeholder: &str, item: &str, origin: Origin) -> Vec<Value> {
    let fill = |word: &Value| match word.literal() {
        Some(text) if text.contains(placeholder) => Value::text(text.replace(placeholder, item), origin),
        _ => word.clone(),
    };
    words.iter().map(fill).collect()
}

/// The words in a stream that is not wholly known; one that stands for any if nothing of it is.
fn unread_words(stream: &Stream, origin: Origin) -> Vec<Value> {
    if !stream.present || stream.text.pieces.is_empty() {
        return vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
    }
    stream.text.split(&[' ', '\t', '\n', '\0'])
}
