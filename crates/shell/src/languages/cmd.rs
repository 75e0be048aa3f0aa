//! cmd.exe: reads lines, lists and blocks, and evaluates them in the same pass.
//!
//! cmd replaces `%NAME%` when it reads a line, even inside quotes. This reader substitutes the value assigned up to
//! that point in the text, so it finds at least the commands that cmd runs, and possibly more.

use super::windows;
use crate::interpret::draft::Draft;
use crate::interpret::interpreter::{Interpreter, SourceText};
use crate::interpret::streams::Stream;
use crate::model::value::{Origin, Piece, Span, UnknownReason, Value};
use crate::reading::{Access, Redirection};
use crate::text_tools::windows_words;

/// Evaluates a script and returns its output, with the commands that print it.
pub(crate) fn read(interpreter: &mut Interpreter<'_>, script: SourceText<'_>, stdin: &Stream) -> Stream {
    Reader { on: interpreter, text: script.text, at: 0, origin: script.origin }.lines(stdin)
}

/// Commands built into cmd. Their names end at any separator, and `,`, `;` and `=` divide their words.
const INTERNAL: [&str; 36] = [
    "del", "erase", "rd", "rmdir", "md", "mkdir", "copy", "move", "ren", "rename", "type", "echo", "cd", "chdir",
    "pushd", "popd", "set", "call", "start", "title", "ver", "vol", "mklink", "assoc", "ftype", "dir", "cls", "exit",
    "pause", "verify", "date", "time", "path", "prompt", "shift", "color",
];

struct Reader<'t, 'r, 'a> {
    on: &'r mut Interpreter<'a>,
    text: &'t str,
    at: usize,
    origin: Origin,
}

/// A word, with whether it contains quotes and whether it contains a variable outside quotes.
struct Word {
    value: Value,
    quoted: bool,
    expanded: bool,
}

impl<'a> Reader<'_, '_, 'a> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn ch(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.ch().map_or(1, char::len_utf8);
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn origin_from(&self, start: usize) -> Origin {
        let Origin { span, derivation } = self.origin;
        if (span.end.saturating_sub(span.start)) as usize != self.text.len() {
            return self.origin;
        }
        let at = |offset: usize| span.start.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX)).min(span.end);
        Origin { span: Span { start: at(start), end: at(self.at) }, derivation }
    }

    /// Evaluates all lines.
    fn lines(&mut self, stdin: &Stream) -> Stream {
        let mut output = Stream::new(Value::default(), Vec::new());
        loop {
            self.blanks(true);
            let start = self.at;
            let origin = self.origin_from(start);
            if self.at >= self.text.len() || !self.on.steps(origin) {
                return output;
            }
            let printed = self.list(stdin, 0);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
            if self.at == start {
                // Skip a closing parenthesis without an opening one.
                self.bump();
            }
        }
    }

    /// Skips blanks and separators before a command; with `lines`, also line ends.
    fn blanks(&mut self, lines: bool) {
        while let Some(ch) = self.ch() {
            match ch {
                '\n' | '\r' if !lines => return,
                ' ' | '\t' | ',' | ';' | '=' | '\n' | '\r' | '\u{feff}' | '\u{b}' | '\u{c}' | '\u{a0}' => self.bump(),
                '^' if self.rest().starts_with("^\n") => self.at += 2,
                '^' if self.rest().starts_with("^\r\n") => self.at += 3,
                _ => return,
            }
        }
    }

    /// Evaluates pipelines joined by `&`, `&&` and `||`.
    fn list(&mut self, stdin: &Stream, depth: u32) -> Stream {
        let mut output = Stream::new(Value::default(), Vec::new());
        loop {
            let printed = self.pipeline(stdin, depth);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
            self.blanks(false);
            if !(self.eat("&&") || self.eat("||") || self.eat("&")) {
                return output;
            }
        }
    }

    fn pipeline(&mut self, stdin: &Stream, depth: u32) -> Stream {
        let mut stream = self.member(stdin, depth);
        let mut sources = stream.commands.clone();
        loop {
            self.blanks(false);
            if self.rest().starts_with("||") || !self.eat("|") {
                stream.commands = sources;
                return stream;
            }
            let input = Stream::new(std::mem::take(&mut stream.text), sources.clone());
            stream = self.member(&input, depth);
            sources.append(&mut stream.commands);
        }
    }

    /// Evaluates a block, a comment, a control command or a command.
    fn member(&mut self, stdin: &Stream, depth: u32) -> Stream {
        self.blanks(false);
        while self.eat("@") {
            self.blanks(false);
        }
        let start = self.at;
        if self.ch() == Some('(') {
            return self.block(stdin, depth);
        }
        if self.ch() == Some(':') {
            self.skip_line();
            return Stream::default();
        }
        match self.keyword().as_str() {
            "rem" => {
                self.skip_line();
                Stream::default()
            }
            "if" => self.if_command(stdin, depth),
            "else" | "do" => self.deeper(stdin, depth),
            "for" => self.for_command(stdin, depth),
            "goto" | "setlocal" | "endlocal" => {
                self.words(false);
                Stream::default()
            }
            _ => {
                self.at = start;
                self.command(stdin)
            }
        }
    }

    fn deeper(&mut self, stdin: &Stream, depth: u32) -> Stream {
        let origin = self.origin_from(self.at);
        if !self.on.enters(0, origin) {
            self.at = self.text.len();
            return Stream::default();
        }
        let output = self.list_member(stdin, depth);
        self.on.leaves();
        output
    }

    fn list_member(&mut self, stdin: &Stream, depth: u32) -> Stream {
        self.pipeline(stdin, depth + 1)
    }

    /// `( … )`
    fn block(&mut self, stdin: &Stream, depth: u32) -> Stream {
        let start = self.at;
        self.bump();
        let origin = self.origin_from(start);
        if !self.on.enters(0, origin) {
            self.at = self.text.len();
            return Stream::default();
        }
        let mut output = Stream::new(Value::default(), Vec::new());
        loop {
            self.blanks(true);
            let before = self.at;
            let origin = self.origin_from(start);
            match self.ch() {
                None => {
                    self.on.gap(origin, UnknownReason::Unparsed);
                    break;
                }
                Some(')') => {
                    self.bump();
                    break;
                }
                Some(_) => {
                    let printed = self.list(stdin, depth + 1);
                    output.text.push(printed.text);
                    output.commands.extend(printed.commands);
                }
            }
            if self.at == before {
                self.bump();
            }
        }
        self.on.leaves();
        let mut redirects = Vec::new();
        while self.redirection(&mut redirects) {}
        if !redirects.is_empty() {
            let origin = self.origin_from(start);
            self.on.redirected_group(redirects, origin, &mut output);
        }
        self.blanks(false);
        if self.keyword_is("else") {
            let printed = self.deeper(stdin, depth);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        output
    }

    /// Reads the next word in lower case and moves past it. Returns an empty text, without moving, if the word
    /// continues with other characters.
    fn keyword(&mut self) -> String {
        let mut word = String::new();
        let start = self.at;
        while let Some(ch) = self.ch() {
            match ch {
                '^' => self.bump(),
                ch if ch.is_ascii_alphabetic() => {
                    word.push(ch.to_ascii_lowercase());
                    self.bump();
                }
                _ => break,
            }
        }
        if self.ch().is_some_and(|ch| !" \t,;=(\n\r/&|".contains(ch)) {
            self.at = start;
            return String::new();
        }
        word
    }

    fn keyword_is(&mut self, wanted: &str) -> bool {
        let before = self.at;
        let found = self.keyword() == wanted;
        if !found {
            self.at = before;
        }
        found
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Reads `if [/i] [not] exist X | defined X | errorlevel N | A == B`, then a command that may run.
    fn if_command(&mut self, stdin: &Stream, depth: u32) -> Stream {
        let mut words = 0;
        loop {
            self.blanks(false);
            let before = self.at;
            let Some(word) = self.word(true) else { break };
            let text = word.value.shown().to_lowercase();
            match text.as_str() {
                "/i" | "not" => {}
                "exist" | "defined" | "errorlevel" | "cmdextversion" if words == 0 => {
                    self.blanks(false);
                    self.word(true);
                    break;
                }
                "equ" | "neq" | "lss" | "leq" | "gtr" | "geq" => {
                    self.blanks(false);
                    self.word(true);
                    break;
                }
                _ if words == 0 => {
                    words = 1;
                    // `a==b`: the separators between the operands have been skipped already.
                    if self.rest().trim_start_matches([' ', '\t']).starts_with("==") {
                        self.blanks(false);
                        self.word(true);
                        break;
                    }
                }
                _ => {
                    self.at = before;
                    break;
                }
            }
        }
        let before = self.on.state.clone();
        let mut output = self.deeper(stdin, depth);
        self.on.state.merge(&before);
        self.blanks(false);
        if self.keyword_is("else") {
            let before = self.on.state.clone();
            let printed = self.deeper(stdin, depth);
            self.on.state.merge(&before);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        output
    }

    /// `for [/f "options"] %x in ( … ) do COMMAND`
    fn for_command(&mut self, stdin: &Stream, depth: u32) -> Stream {
        let mut kind = String::new();
        let mut name = String::new();
        let mut root = None;
        loop {
            self.blanks(false);
            if self.eat("%%") || self.eat("%") {
                name = self.ch().map(String::from).unwrap_or_default();
                self.bump();
                continue;
            }
            let Some(word) = self.word(true) else { break };
            let text = word.value.shown();
            if text.eq_ignore_ascii_case("in") {
                break;
            }
            if text.len() == 2 && text.starts_with('/') {
                kind = text.to_lowercase();
            } else if !word.quoted || kind == "/r" {
                root = Some(word.value);
            }
        }
        self.blanks(false);
        let values = self.set_of(&kind, root);
        self.blanks(false);
        self.keyword_is("do");
        let begin = self.at;
        let mut output = Stream::new(Value::default(), Vec::new());
        let before = self.on.state.clone();
        for value in values {
            self.at = begin;
            self.on.state.assign(&format!("%{name}"), vec![value]);
            let printed = self.deeper(stdin, depth);
            output.text.push(printed.text);
            output.commands.extend(printed.commands);
        }
        self.on.state.merge(&before);
        output
    }

    /// Returns the values that a `for` iterates over: the words of its set, or unknown lines.
    fn set_of(&mut self, kind: &str, root: Option<Value>) -> Vec<Value> {
        const MAX_VALUES: usize = 64;
        let start = self.at;
        if !self.eat("(") {
            return vec![Value::piece(Piece::Unknown(UnknownReason::Input), self.origin_from(start))];
        }
        let inside = self.at;
        let mut words = Vec::new();
        loop {
            self.blanks(true);
            match self.ch() {
                None => break,
                Some(')') => {
                    self.bump();
                    break;
                }
                Some(_) => match self.word(true) {
                    Some(word) => words.push(word.value),
                    None => self.bump(),
                },
            }
        }
        let origin = self.origin_from(start);
        let unknown = || vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
        if kind == "/f" {
            return self.lines_of(inside, unknown());
        }
        if kind == "/l" || words.is_empty() || words.len() > MAX_VALUES {
            return unknown();
        }
        let below = |word: Value| match (&root, kind) {
            (Some(root), "/r") => {
                let mut value = root.clone();
                value.push_text("/", origin);
                value.pieces.push((Piece::Glob("**".into()), origin));
                value.push_text("/", origin);
                value.push(word);
                value
            }
            _ => word,
        };
        words.into_iter().map(below).map(|word| windows_words::with_patterns(&word)).collect()
    }

    /// Evaluates `in ('command')`: runs the command and returns the lines that it prints.
    fn lines_of(&mut self, inside: usize, unknown: Vec<Value>) -> Vec<Value> {
        let raw = self.text.get(inside..self.at.saturating_sub(1)).unwrap_or("").trim();
        let quoted = |mark: char| raw.strip_prefix(mark).and_then(|raw| raw.strip_suffix(mark));
        let Some(text) = quoted('\'').or(quoted('`')) else {
            // A text in double quotes is a line itself.
            return match quoted('"') {
                Some(text) => vec![Value::text(text, self.origin_from(inside))],
                None => unknown,
            };
        };
        let origin = self.origin_from(inside);
        let text = text.to_owned();
        if !self.on.enters(text.len(), origin) {
            return unknown;
        }
        let mut reader = Reader { on: &mut *self.on, text: &text, at: 0, origin };
        let printed = reader.lines(&Stream::default());
        self.on.leaves();
        if printed.text.pieces.is_empty() { unknown } else { vec![printed.text] }
    }

    /// Reads one word. With `separators`, separators divide words too; otherwise only blanks do.
    fn word(&mut self, separators: bool) -> Option<Word> {
        let start = self.at;
        let mut value = Value::default();
        let (mut quoted, mut open, mut expanded) = (false, false, false);
        while let Some(ch) = self.ch() {
            let ends = " \t&|<>)\n\r".contains(ch) || (separators && ",;=".contains(ch));
            match ch {
                '\n' | '\r' => break,
                '"' => {
                    (open, quoted) = (!open, true);
                    self.bump();
                }
                _ if open => drop(self.push(&mut value)),
                '^' if self.rest().starts_with("^\n") => self.at += 2,
                '^' if self.rest().starts_with("^\r\n") => self.at += 3,
                // An escaped blank still separates arguments when the program parses its command line.
                '^' if self.escapes_blank() && value.pieces.is_empty() && !quoted => self.at += 2,
                '^' if self.escapes_blank() => {
                    self.bump();
                    break;
                }
                '^' => {
                    self.bump();
                    self.push(&mut value);
                }
                _ if ends => break,
                _ => expanded |= self.push(&mut value),
            }
        }
        if value.pieces.is_empty() && !quoted {
            return None;
        }
        if value.pieces.is_empty() {
            value.push_text("", self.origin_from(start));
        }
        Some(Word { value, quoted, expanded })
    }

    fn escapes_blank(&self) -> bool {
        ["^ ", "^\t"].iter().any(|escaped| self.rest().starts_with(escaped))
    }

    /// Appends one character or the value of a variable, and returns whether it was a variable.
    fn push(&mut self, value: &mut Value) -> bool {
        let start = self.at;
        let Some(ch) = self.ch() else { return false };
        self.bump();
        let found = match ch {
            '%' => self.loop_variable().or_else(|| self.named('%')),
            '!' => self.named('!'),
            _ => None,
        };
        if let Some(found) = found {
            value.push(self.on.spend(found));
            return true;
        }
        let origin = self.origin_from(start);
        match self.on.with_holes(ch.encode_utf8(&mut [0; 4]), origin).pieces.pop() {
            Some((Piece::Text(text), origin)) => value.push_text(&text, origin),
            Some(piece) => value.pieces.push(piece),
            None => {}
        }
        false
    }

    /// Reads a loop variable of `for`: `%x`, `%%x`, `%~dpx`.
    fn loop_variable(&mut self) -> Option<Value> {
        let before = self.at;
        self.eat("%");
        let modifiers = if self.eat("~") {
            let rest = self.rest();
            rest.len() - rest.trim_start_matches(['f', 'd', 'p', 'n', 'x', 's', 'a', 't', 'z']).len()
        } else {
            0
        };
        let known = |reader: &Self, at: usize| {
            let name = reader.text.get(at..)?.chars().next()?;
            let values = reader.on.state.variable(&format!("%{name}"))?;
            Some((values.first()?.clone(), at + name.len_utf8()))
        };
        // In `%~dpx`, `x` may be a modifier or the variable: the most modifiers that leave a variable win.
        let found = (0..=modifiers).rev().find_map(|length| known(self, self.at + length));
        match found {
            Some((value, after)) => {
                self.at = after;
                Some(value)
            }
            None => {
                self.at = before;
                None
            }
        }
    }

    /// Reads `NAME%` or `NAME!` after the opening mark. A parameter of a batch file has no closing mark.
    fn named(&mut self, mark: char) -> Option<Value> {
        let start = self.at;
        let rest = self.rest();
        if mark == '%' && rest.starts_with(|ch: char| ch.is_ascii_digit() || ch == '*') {
            self.bump();
            return Some(Value::piece(Piece::Unknown(UnknownReason::Input), self.origin_from(start)));
        }
        let end = rest.find([mark, '\n', '\r', '"']).filter(|end| *end > 0)?;
        let name = rest.get(..end).filter(|_| rest.get(end..).is_some_and(|rest| rest.starts_with(mark)))?.to_owned();
        self.at += end + 1;
        let value = self.variable(&name, self.origin_from(start));
        if mark == '!' && matches!(value.pieces.as_slice(), [(Piece::Variable(_), _)]) {
            // Without delayed expansion an exclamation mark is an ordinary character.
            self.at = start;
            return None;
        }
        Some(value)
    }

    /// Returns the value of `NAME`, `NAME:a=b` or `NAME:~1,2`.
    fn variable(&self, written: &str, origin: Origin) -> Value {
        let (name, change) = written.split_once(':').map_or((written, None), |(name, change)| (name, Some(change)));
        let key = format!("set:{}", name.to_lowercase());
        let value = match self.on.state.variable(&key) {
            Some(values) => values.first().cloned().unwrap_or_default(),
            None => windows::environment(&self.on.state, name, origin),
        };
        let Some(change) = change else { return value };
        let unknown = Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), origin);
        let Some(text) = value.literal() else { return unknown };
        changed(&text, change).map_or(unknown, |text| Value::text(text, value.origin()))
    }

    fn words(&mut self, separators: bool) -> (Vec<Word>, Vec<Redirection>) {
        let mut words = Vec::new();
        let mut redirects = Vec::new();
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            self.at += blank;
            if separators {
                self.blanks(false);
            }
            if self.redirection(&mut redirects) {
                continue;
            }
            match self.word(separators) {
                Some(word) => words.push(word),
                None => return (words, redirects),
            }
        }
    }

    /// Reads `>`, `>>`, `2>&1` or `<`, and returns whether a redirection was found.
    fn redirection(&mut self, redirects: &mut Vec<Redirection>) -> bool {
        let before = self.at;
        let number = self.ch().and_then(|ch| ch.to_digit(10));
        if number.is_some() {
            self.bump();
        }
        let access = match self.ch() {
            Some('>') if self.rest().starts_with(">>") => Access::Append,
            Some('>') => Access::Overwrite,
            Some('<') => Access::Read,
            _ => {
                self.at = before;
                return false;
            }
        };
        self.at += if access == Access::Append { 2 } else { 1 };
        if self.eat("&") {
            self.bump();
            return true;
        }
        self.blanks(false);
        if let Some(word) = self.word(true) {
            let device = word
                .value
                .literal()
                .is_some_and(|name| ["nul", "con", "prn", "nul:", "con:"].contains(&name.to_lowercase().as_str()));
            if !device {
                let descriptor = number.unwrap_or(u32::from(access != Access::Read));
                redirects.push(Redirection { access, descriptor, target: word.value });
            }
        }
        true
    }

    /// Reads the name of a command. The name of a built-in command ends at any separator.
    fn name(&mut self) -> Option<Word> {
        let start = self.at;
        let word = self.word(true)?;
        if word.quoted {
            return Some(word);
        }
        let text = word.value.literal()?.into_owned();
        let end = text.find(['/', '\\', '.', '+', '[', ':', '(']).unwrap_or(text.len());
        let (name, glued) = text.split_at(end);
        if glued.is_empty() || !INTERNAL.contains(&name.to_lowercase().as_str()) {
            return Some(word);
        }
        // `del/q`, `cd..`, `echo.x`: continue at the end of the name.
        let mut chars = 0;
        self.at = start;
        while chars < name.len() && self.at < self.text.len() {
            if self.ch() != Some('^') {
                chars += 1;
            }
            self.bump();
        }
        Some(Word { value: Value::text(name, self.origin_from(start)), quoted: false, expanded: false })
    }

    fn command(&mut self, stdin: &Stream) -> Stream {
        let start = self.at;
        let mut redirects = Vec::new();
        while self.redirection(&mut redirects) {
            self.blanks(false);
        }
        let first = self.on.reading.commands.len();
        let Some(name) = self.name() else {
            if !redirects.is_empty() {
                let origin = self.origin_from(start);
                let mut output = Stream::default();
                self.on.redirected_group(redirects, origin, &mut output);
            }
            return Stream::default();
        };
        let text = name.value.literal().unwrap_or_default().to_lowercase();
        if text == "set" {
            return self.set();
        }
        let internal = INTERNAL.contains(&text.as_str()) && text != "echo" && text != "start" && text != "call";
        let (mut words, more) = self.words(internal);
        redirects.extend(more);
        match text.as_str() {
            "cd" | "chdir" | "pushd" | "popd" => {
                self.change_folder(&text, &words);
                return Stream::default();
            }
            // The window title that `start` takes.
            "start" => {
                let title = words.iter().position(|word| !word.value.prefix().starts_with('/'));
                let title = title.filter(|at| words.get(*at).is_some_and(|word| word.quoted) && at + 1 < words.len());
                title.map(|at| words.remove(at));
            }
            _ => {}
        }
        if text == "call" && words.first().is_some_and(|word| word.value.prefix().starts_with(':')) {
            return Stream::default();
        }
        let origin = self.origin_from(start);
        let all: Vec<Word> = std::iter::once(name).chain(words).collect();
        if all.iter().any(divides) {
            return self.read_again(all, redirects, stdin);
        }
        let all = all.into_iter().map(|word| word.value);
        let windows_style = self.on.program_of_text(&text).is_some_and(|program| program.style().is_windows());
        let words = all
            .map(|value| if windows_style { windows_words::with_patterns(&value) } else { value })
            .collect::<Vec<_>>();
        self.on.command(Draft {
            words: words.into(),
            assignments: Vec::new(),
            redirects,
            stdin: stdin.clone(),
            expanded: first..self.on.reading.commands.len(),
            origin,
            by_program: true,
        })
    }

    /// Evaluates a command again after its variables are expanded, since cmd divides a line after expansion.
    fn read_again(&mut self, words: Vec<Word>, redirects: Vec<Redirection>, stdin: &Stream) -> Stream {
        let mut joined = Value::default();
        for word in words {
            let origin = word.value.origin();
            if !joined.pieces.is_empty() {
                joined.push_text(" ", origin);
            }
            let mark = if word.quoted { "\"" } else { "" };
            joined.push_text(mark, origin);
            joined.push(word.value);
            joined.push_text(mark, origin);
        }
        let from = joined.origin();
        let Some(text) = self.on.readable(&joined) else { return Stream::default() };
        if !self.on.enters(text.len(), from) {
            return Stream::default();
        }
        let derivation = self.on.derive("variables", &text, from);
        let origin = Origin { span: from.span, derivation };
        let mut output = Reader { on: &mut *self.on, text: &text, at: 0, origin }.lines(stdin);
        self.on.leaves();
        if !redirects.is_empty() {
            self.on.redirected_group(redirects, from, &mut output);
        }
        output
    }

    fn change_folder(&mut self, name: &str, words: &[Word]) {
        let place = words.iter().map(|word| &word.value).find(|value| !value.prefix().starts_with('/'));
        match place {
            Some(place) if name == "pushd" => self.on.state.folders.push(Some(windows_words::with_slashes(place))),
            Some(place) => self.on.state.folders.change(windows_words::with_slashes(place)),
            None if name == "popd" => self.on.state.folders.pop(),
            None => {}
        }
    }

    /// `set NAME=text`, `set "NAME=text"`, `set /a`, `set /p NAME=`
    fn set(&mut self) -> Stream {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.at += blank;
        let start = self.at;
        let mut value = Value::default();
        let mut open = false;
        while let Some(ch) = self.ch() {
            match ch {
                '\n' | '\r' => break,
                '"' => {
                    open = !open;
                    self.bump();
                    // cmd drops the text after the last quote; in nearly every case it is blanks.
                    let rest = self.rest();
                    self.at += if open { 0 } else { rest.len() - rest.trim_start_matches([' ', '\t']).len() };
                }
                '^' if !open => {
                    self.bump();
                    self.push(&mut value);
                }
                '&' | '|' | '<' | '>' | ')' if !open => break,
                _ => drop(self.push(&mut value)),
            }
        }
        let text = value.prefix().into_owned();
        let origin = self.origin_from(start);
        let asks = text.to_lowercase().starts_with("/p");
        let counts = text.to_lowercase().starts_with("/a");
        let text = text.get(if asks || counts { 2 } else { 0 }..).unwrap_or("").trim_start();
        if let Some((name, _)) = text.split_once('=') {
            let skipped = value.prefix().find('=').map_or(0, |at| at + 1);
            let set = if asks || counts {
                Value::piece(
                    Piece::Unknown(if asks { UnknownReason::Input } else { UnknownReason::Arithmetic }),
                    origin,
                )
            } else {
                value.without_prefix(skipped)
            };
            let name = name.trim_end_matches(['+', '-', '*', '/']).trim();
            self.on.state.assign(&format!("set:{}", name.to_lowercase()), vec![set.clone()]);
            self.on.state.assign(name, vec![set]);
            self.on.state.export(name);
            if self.on.state.is_full() {
                self.on.exhaust(origin);
            }
        }
        Stream::default()
    }
}

/// Whether a word's variables contain characters that end words or commands.
fn divides(word: &Word) -> bool {
    let brings = |text: &str| text.contains([' ', '\t', '&', '|', '<', '>', '^']);
    word.expanded && word.value.pieces.iter().any(|(piece, _)| piece.as_text().is_some_and(brings))
}

/// Applies a modifier of a variable: `a=b` replaces, `~1,2` takes a substring.
fn changed(text: &str, change: &str) -> Option<String> {
    let Some(cut) = change.strip_prefix('~') else {
        let (from, to) = change.split_once('=')?;
        return (!from.is_empty()).then(|| text.replace(from, to));
    };
    let chars: Vec<char> = text.chars().collect();
    let mut numbers = cut.split(',').map(|number| number.trim().parse::<i64>().ok());
    let length = i64::try_from(chars.len()).ok()?;
    let begin = numbers.next()??;
    let begin = if begin < 0 { length + begin } else { begin }.clamp(0, length);
    let end = match numbers.next() {
        None => length,
        Some(count) => {
            let count = count?;
            if count < 0 { length + count } else { begin + count }
        }
    };
    let end = end.clamp(begin, length);
    Some(chars.get(begin as usize..end as usize)?.iter().collect())
}
