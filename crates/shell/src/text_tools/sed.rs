//! sed scripts: their commands, and the output of simple scripts for a known input.

use super::decode;

/// Maximum number of lines times commands.
const MAX_STEPS: usize = 4096;

/// Returns the output of the script for the input `text`; `None` for unsupported commands.
pub(crate) fn printed(script: &str, extended: bool, quiet: bool, text: &str) -> Option<String> {
    let mut commands = parse(script);
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    if lines.len() * commands.len() > MAX_STEPS {
        return None;
    }
    let mut printed = String::with_capacity(text.len());
    for (index, line) in lines.iter().enumerate() {
        let at = At { number: index + 1, last: index + 1 == lines.len(), extended };
        let mut cycle = Cycle { space: (*line).to_owned(), printed: &mut printed, after: String::new() };
        let mut ends = false;
        let mut deleted = false;
        for command in &mut commands {
            if !command.applies(at, &cycle.space)? {
                continue;
            }
            match cycle.step(&command.action, extended)? {
                Next::Go => {}
                Next::Delete => deleted = true,
                Next::Quit => ends = true,
            }
            if deleted || ends {
                break;
            }
        }
        let Cycle { space, after, .. } = cycle;
        if !quiet && !deleted {
            printed.extend([space.as_str(), "\n"]);
        }
        printed.push_str(&after);
        if ends {
            break;
        }
    }
    Some(printed)
}

/// The position of a cycle in the input.
#[derive(Clone, Copy)]
struct At {
    number: usize,
    last: bool,
    extended: bool,
}

enum Next {
    Go,
    Delete,
    Quit,
}

/// The cycle of one input line.
struct Cycle<'p> {
    space: String,
    printed: &'p mut String,
    after: String,
}

impl Cycle<'_> {
    fn step(&mut self, action: &Action, extended: bool) -> Option<Next> {
        match action {
            Action::Substitute(substitute) => {
                if let Some(changed) = substitute.apply(&self.space, extended)? {
                    self.space = changed;
                    if substitute.flags.contains('p') {
                        self.printed.extend([self.space.as_str(), "\n"]);
                    }
                }
            }
            Action::Translate(from, to) => {
                let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
                let map = |ch: char| from.iter().position(|known| *known == ch).and_then(|at| to.get(at));
                self.space = self.space.chars().map(|ch| map(ch).copied().unwrap_or(ch)).collect();
            }
            Action::Delete => return Some(Next::Delete),
            Action::Print => self.printed.extend([self.space.as_str(), "\n"]),
            Action::Quit => return Some(Next::Quit),
            Action::Insert(text) => self.printed.extend([text.as_str(), "\n"]),
            Action::Append(text) => self.after.extend([text.as_str(), "\n"]),
            Action::Change(text) => {
                self.printed.extend([text.as_str(), "\n"]);
                return Some(Next::Delete);
            }
            Action::Nothing | Action::Write(_) => {}
            Action::Execute(_) | Action::Other => return None,
        }
        Some(Next::Go)
    }
}

enum Address {
    Number(usize),
    Last,
    Pattern(String, bool),
}

impl Address {
    fn fits(&self, at: At, space: &str) -> Option<bool> {
        Some(match self {
            Address::Number(number) => *number == at.number,
            Address::Last => at.last,
            Address::Pattern(pattern, any_case) => {
                decode::compiled(&decode::regex(pattern, at.extended), *any_case)?.is_match(space)
            }
        })
    }
}

/// The effect of a command.
pub(crate) enum Action {
    Substitute(Substitute),
    Translate(String, String),
    Delete,
    Print,
    Quit,
    Execute(String),
    Write(String),
    Insert(String),
    Append(String),
    Change(String),
    Nothing,
    Other,
}

/// A command of a script, with the lines that it applies to.
pub(crate) struct Command {
    from: Option<Address>,
    to: Option<Address>,
    negated: bool,
    within: bool,
    pub(crate) action: Action,
}

impl Command {
    fn applies(&mut self, at: At, space: &str) -> Option<bool> {
        let fits = match (&self.from, &self.to) {
            (None, _) => true,
            (Some(from), None) => from.fits(at, space)?,
            (Some(_), Some(to)) if self.within => {
                let past = matches!(to, Address::Number(number) if at.number > *number);
                self.within = !past && !to.fits(at, space)?;
                !past
            }
            (Some(from), Some(to)) => {
                let begins = from.fits(at, space)?;
                let at_once = matches!(to, Address::Number(number) if *number <= at.number);
                self.within = begins && !at_once && !(matches!(to, Address::Last) && at.last);
                begins
            }
        };
        Some(fits != self.negated)
    }
}

/// `s/pattern/replacement/flags`
pub(crate) struct Substitute {
    pattern: String,
    replacement: String,
    pub(crate) flags: String,
    pub(crate) file: Option<String>,
}

impl Substitute {
    /// Returns the changed line, or `Some(None)` if the pattern does not match; `None` if the command is not supported.
    pub(crate) fn apply(&self, line: &str, extended: bool) -> Option<Option<String>> {
        let any_case = self.flags.contains(['i', 'I']);
        let regex = decode::compiled(&decode::regex(&self.pattern, extended), any_case)?;
        let nth: usize = self.flags.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(1);
        let mut changed = String::with_capacity(line.len());
        let mut end = 0;
        let mut found = false;
        for (index, captures) in regex.captures_iter(line).enumerate() {
            let matched = captures.get(0)?;
            let is_meant = index + 1 == nth || (index + 1 > nth && self.flags.contains('g'));
            if !is_meant {
                continue;
            }
            found = true;
            changed.push_str(line.get(end..matched.start())?);
            for part in self.parts()? {
                match part {
                    Part::Text(text) => changed.push_str(&text),
                    Part::Group(group) => changed.push_str(captures.get(group).map_or("", |group| group.as_str())),
                }
            }
            end = matched.end();
        }
        changed.push_str(line.get(end..)?);
        Some(found.then_some(changed))
    }

    /// Returns the parts of the replacement; `None` if it changes case.
    pub(crate) fn parts(&self) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut chars = self.replacement.chars();
        let mut text = String::new();
        while let Some(ch) = chars.next() {
            let group = match ch {
                '&' => 0,
                '\\' => match chars.next() {
                    Some('n') => {
                        text.push('\n');
                        continue;
                    }
                    Some('t') => {
                        text.push('\t');
                        continue;
                    }
                    Some('U' | 'L' | 'E' | 'u' | 'l') => return None,
                    Some(digit) if digit.is_ascii_digit() => digit.to_digit(10)? as usize,
                    other => {
                        text.extend(other);
                        continue;
                    }
                },
                ch => {
                    text.push(ch);
                    continue;
                }
            };
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Group(group));
        }
        parts.push(Part::Text(text));
        Some(parts)
    }
}

/// A part of a replacement.
pub(crate) enum Part {
    Text(String),
    Group(usize),
}

/// Parses the commands of a script. An unsupported command extends to the end of its line.
pub(crate) fn parse(script: &str) -> Vec<Command> {
    let mut reader = Reader { rest: script };
    let mut commands = Vec::new();
    while !reader.rest.is_empty() {
        reader.skip(|ch| ch.is_whitespace() || ch == ';' || ch == '}');
        if reader.rest.is_empty() {
            break;
        }
        commands.push(reader.command());
    }
    commands
}

struct Reader<'s> {
    rest: &'s str,
}

impl Reader<'_> {
    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(fits);
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let ch = chars.next()?;
        self.rest = chars.as_str();
        Some(ch)
    }

    fn command(&mut self) -> Command {
        let from = self.address();
        self.skip(|ch| ch == ' ');
        let mut to = None;
        if self.rest.starts_with(',') {
            self.next();
            self.skip(|ch| ch == ' ');
            to = self.address();
        }
        self.skip(|ch| ch == ' ');
        let negated = self.rest.starts_with('!');
        self.skip(|ch| ch == '!' || ch == ' ');
        Command { from, to, negated, within: false, action: self.action() }
    }

    fn address(&mut self) -> Option<Address> {
        let first = self.rest.chars().next()?;
        if first.is_ascii_digit() {
            let digits = self.taken(|ch| ch.is_ascii_digit());
            return digits.parse().ok().map(Address::Number);
        }
        match first {
            '$' => {
                self.next();
                Some(Address::Last)
            }
            '/' | '\\' => {
                self.next();
                let delimiter = if first == '\\' { self.next()? } else { '/' };
                let pattern = self.until(delimiter);
                let any_case = self.rest.starts_with('I');
                self.skip(|ch| ch == 'I');
                Some(Address::Pattern(pattern, any_case))
            }
            _ => None,
        }
    }

    fn action(&mut self) -> Action {
        match self.next() {
            Some('s') => self.substitute().map_or(Action::Other, Action::Substitute),
            Some('y') => match self.next() {
                Some(delimiter) => Action::Translate(self.until(delimiter), self.until(delimiter)),
                None => Action::Other,
            },
            Some('d') => Action::Delete,
            Some('p') => Action::Print,
            Some('q') => Action::Quit,
            Some('e') => Action::Execute(self.lines()),
            Some('w') => Action::Write(self.line()),
            Some('i') => Action::Insert(self.text()),
            Some('a') => Action::Append(self.text()),
            Some('c') => Action::Change(self.text()),
            Some('#') => {
                self.line();
                Action::Nothing
            }
            _ => Action::Other,
        }
    }

    fn substitute(&mut self) -> Option<Substitute> {
        let delimiter = self.next()?;
        let (pattern, replacement) = (self.until(delimiter), self.until(delimiter));
        let flags = self.taken(|ch| ch.is_ascii_alphanumeric() && ch != 'w');
        let file = self.rest.starts_with('w').then(|| {
            self.next();
            self.line()
        });
        Some(Substitute { pattern, replacement, flags, file })
    }

    fn taken(&mut self, fits: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|ch| !fits(ch)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken.to_owned()
    }

    /// Reads up to the next unescaped delimiter, which ends the text even inside a set.
    fn until(&mut self, delimiter: char) -> String {
        let mut text = String::new();
        while let Some(ch) = self.next() {
            match ch {
                ch if ch == delimiter => break,
                '\\' => match self.next() {
                    Some(next) if next == delimiter => text.push(next),
                    next => {
                        text.push('\\');
                        text.extend(next);
                    }
                },
                ch => text.push(ch),
            }
        }
        text
    }

    fn line(&mut self) -> String {
        self.taken(|ch| ch != '\n').trim().to_owned()
    }

    /// Reads the text of `e`, which continues after each line that ends with a backslash.
    fn lines(&mut self) -> String {
        let mut text = String::new();
        loop {
            let line = self.taken(|ch| ch != '\n');
            let Some(part) = line.strip_suffix('\\') else {
                text.push_str(&line);
                return text.trim().to_owned();
            };
            text.extend([part, "\n"]);
            if self.next().is_none() {
                return text.trim().to_owned();
            }
        }
    }

    /// Reads the text of `i`, `a` or `c`, with or without a backslash before it.
    fn text(&mut self) -> String {
        let line = self.line();
        let text = line.strip_prefix('\\').unwrap_or(&line);
        if text.is_empty() && !self.rest.is_empty() {
            self.next();
            return self.line();
        }
        text.trim_start().to_owned()
    }
}
