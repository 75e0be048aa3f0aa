//! Codex CLI's prefix rules: calls of `prefix_rule` with lists of words.

use super::error::{CallFlaw, FormatError};
use super::reader::{Line, Reader, Wish};

/// Maximum number of rules to which one rule with alternatives expands.
const MAX_ALTERNATIVES: usize = 64;

pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), FormatError> {
    let mut tokens = Tokens { rest: reader.text, line: 1 };
    while let Some((token, number)) = tokens.next()? {
        let Token::Word(function) = token else {
            return Err(CallFlaw::NoFunction.at(number));
        };
        match tokens.next()? {
            Some((Token::Sign('('), _)) => {}
            _ => return Err(CallFlaw::NoArguments.at(number)),
        }
        let arguments = tokens.arguments()?;
        let line = Line { number, text: function.clone() };
        match function.as_str() {
            "prefix_rule" => prefix(reader, number, &arguments),
            "host_executable" => reader.refuse(&line, "programs are matched by name, regardless of their path"),
            "network_rule" => {
                reader.refuse(&line, "hosts are judged by the library; a rule with `field: url` can name one")
            }
            _ => reader.refuse(&line, "it is not supported"),
        }
    }
    Ok(())
}

fn prefix(reader: &mut Reader<'_>, number: usize, arguments: &[(String, Literal)]) {
    let get = |name: &str| arguments.iter().find(|(key, _)| key == name).map(|(_, form)| form);
    let text = |name: &str| match get(name) {
        Some(Literal::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    if let Some(Literal::List(items)) = get("pattern") {
        for item in items {
            let choices: Vec<String> = match item {
                Literal::Text(text) => vec![text.clone()],
                Literal::List(list) => list.iter().filter_map(Literal::text).collect(),
            };
            let longer = |words: &Vec<String>| {
                choices
                    .iter()
                    .map(|choice| words.iter().cloned().chain([choice.clone()]).collect())
                    .collect::<Vec<Vec<String>>>()
            };
            all = all.iter().flat_map(longer).take(MAX_ALTERNATIVES + 1).collect();
        }
    }
    let decision = text("decision");
    let shown = all.first().map(|words| words.join(" ")).unwrap_or_default();
    let line = Line { number, text: format!("{} {shown}", if decision.is_empty() { "allow" } else { &decision }) };
    let wish = match decision.as_str() {
        "" | "allow" => Wish::Allow,
        "prompt" => Wish::Ask,
        "forbidden" => Wish::Block,
        other => return reader.refuse(&line, format!("unknown decision `{other}`")),
    };
    if shown.is_empty() {
        return reader.refuse(&line, "it has no `pattern`");
    }
    if all.len() > MAX_ALTERNATIVES {
        return reader.refuse(&line, format!("it expands to more than {MAX_ALTERNATIVES} commands"));
    }
    for words in &all {
        let line = Line { number, text: format!("{} {}", line.text.split(' ').next().unwrap_or(""), words.join(" ")) };
        reader.command(&line, wish, words, (&text("justification"), 0));
    }
}

/// A literal in the arguments of a call.
enum Literal {
    Text(String),
    List(Vec<Literal>),
}

impl Literal {
    fn text(&self) -> Option<String> {
        match self {
            Literal::Text(text) => Some(text.clone()),
            Literal::List(_) => None,
        }
    }
}

enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// A tokenizer that reads from left to right in a single pass.
struct Tokens<'t> {
    rest: &'t str,
    line: usize,
}

impl Tokens<'_> {
    fn next(&mut self) -> Result<Option<(Token, usize)>, FormatError> {
        self.skip();
        let line = self.line;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        if first == '"' || first == '\'' {
            return Ok(Some((Token::Text(self.quoted(first)?), line)));
        }
        if first.is_alphanumeric() || first == '_' {
            let end = self.rest.find(|ch: char| !(ch.is_alphanumeric() || ch == '_')).unwrap_or(self.rest.len());
            let (word, rest) = self.rest.split_at(end);
            self.rest = rest;
            return Ok(Some((Token::Word(word.into()), line)));
        }
        self.rest = self.rest.get(first.len_utf8()..).unwrap_or("");
        Ok(Some((Token::Sign(first), line)))
    }

    fn skip(&mut self) {
        loop {
            let trimmed = self.rest.trim_start();
            let skipped = self.rest.len() - trimmed.len();
            self.line += self.rest.get(..skipped).unwrap_or("").matches('\n').count();
            self.rest = trimmed;
            if !trimmed.starts_with('#') {
                return;
            }
            self.rest = trimmed.find('\n').and_then(|end| trimmed.get(end..)).unwrap_or("");
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, FormatError> {
        let triple: String = [quote; 3].iter().collect();
        if let Some(rest) = self.rest.strip_prefix(&triple) {
            let (inner, after) = rest.split_once(&triple).ok_or_else(|| CallFlaw::OpenText.at(self.line))?;
            self.line += inner.matches('\n').count();
            self.rest = after;
            return Ok(inner.into());
        }
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, ch)) = chars.next() {
            match ch {
                '\\' => text.extend(chars.next().map(|(_, ch)| if ch == 'n' { '\n' } else { ch })),
                '\n' => break,
                ch if ch == quote => {
                    self.rest = self.rest.get(at + 1..).unwrap_or("");
                    return Ok(text);
                }
                ch => text.push(ch),
            }
        }
        Err(CallFlaw::OpenText.at(self.line))
    }

    /// Parses `name = value, …)` up to the closing parenthesis of the call.
    fn arguments(&mut self) -> Result<Vec<(String, Literal)>, FormatError> {
        let mut all = Vec::new();
        loop {
            match self.next()? {
                Some((Token::Sign(')'), _)) => return Ok(all),
                Some((Token::Sign(','), _)) => {}
                Some((Token::Word(name), line)) => {
                    let Some((Token::Sign('='), _)) = self.next()? else {
                        return Err(CallFlaw::NoValue(name).at(line));
                    };
                    let form = self.form(0)?;
                    all.push((name, form));
                }
                _ => return Err(CallFlaw::Open.at(self.line)),
            }
        }
    }

    fn form(&mut self, depth: usize) -> Result<Literal, FormatError> {
        match self.next()? {
            Some((Token::Text(text) | Token::Word(text), _)) => Ok(Literal::Text(text)),
            Some((Token::Sign('['), _)) if depth < 4 => {
                let mut items = Vec::new();
                loop {
                    self.skip();
                    if let Some(rest) = self.rest.strip_prefix(']') {
                        self.rest = rest;
                        return Ok(Literal::List(items));
                    }
                    match self.rest.strip_prefix(',') {
                        Some(rest) => self.rest = rest,
                        None => items.push(self.form(depth + 1)?),
                    }
                }
            }
            _ => Err(CallFlaw::NoText.at(self.line)),
        }
    }
}
