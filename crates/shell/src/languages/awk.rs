//! Effects of awk programs: `system(…)`, pipes, and the files that they print to.

use crate::interpret::interpreter::Interpreter;
use crate::interpret::streams::Stream;
use crate::model::value::{Origin, UnknownReason};
use crate::reading::{Access, Redirection};
use crate::text_tools::awk::{Record, Scope, Token, begins_statement, closing, ends_statement, tokens, variables};

/// Maximum number of input lines that are evaluated individually; further ones are represented by one unknown line.
const MAX_LINES: usize = 32;

/// Maximum number of places of a program that are evaluated.
const MAX_PLACES: usize = 64;

/// Maximum number of tokens; the rest of a longer program is not read.
const MAX_TOKENS: usize = 4096;

/// Runs the commands of the program (`system(…)`, `"…" | getline`, `print … | "…"`) and opens the files that it prints
/// to.
pub(crate) fn run(interpreter: &mut Interpreter<'_>, program: &str, origin: Origin, stdin: &Stream) -> Stream {
    let tokens = tokens(program);
    let known = stdin.text.literal().filter(|_| stdin.present);
    let lines: Vec<String> = known.iter().flat_map(|text| text.lines().take(MAX_LINES)).map(str::to_owned).collect();
    let places = (0..tokens.len().min(MAX_TOKENS)).filter(|at| runs_at(&tokens, *at).is_some()).count();
    if tokens.len() > MAX_TOKENS || places > MAX_PLACES {
        interpreter.gap(origin, UnknownReason::Limit);
    }
    let variables = variables(&tokens);
    let places = (0..tokens.len().min(MAX_TOKENS)).filter_map(|at| runs_at(&tokens, at));
    for found in places.take(MAX_PLACES) {
        let reads_fields = [found.expression, found.printed].iter().any(|part| part.contains(&Token::Symbol("$")));
        let mut records: Vec<Option<Record<'_>>> = match reads_fields {
            true => lines.iter().enumerate().map(|(index, line)| Some(Record::split(line, None, index + 1))).collect(),
            false => Vec::new(),
        };
        if !reads_fields || lines.is_empty() || lines.len() == MAX_LINES {
            records.push(None);
        }
        for record in &records {
            let scope = Scope { variables: &variables, record: record.as_ref(), origin, inside_variable: false };
            let target = scope.value(found.expression);
            let mut input = Stream::new(scope.list(found.printed), Vec::new());
            input.present = found.kind == Kind::Feeds;
            match found.kind {
                Kind::Runs | Kind::Feeds => drop(interpreter.fed_shell_text(&target, &input)),
                Kind::Writes => {
                    let redirects = vec![Redirection { access: Access::Overwrite, descriptor: 1, target }];
                    interpreter.redirected_group(redirects, origin, &mut input);
                }
            }
        }
    }
    Stream::default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Runs,
    Feeds,
    Writes,
}

/// A place where a program runs a command or writes a file: the expression of the command or file, and the printed
/// expressions.
struct Found<'t> {
    kind: Kind,
    expression: &'t [Token],
    printed: &'t [Token],
}

fn runs_at(tokens: &[Token], at: usize) -> Option<Found<'_>> {
    let next = tokens.get(at + 1);
    let after = tokens.get(at + 1..).unwrap_or(&[]);
    match tokens.get(at)? {
        Token::Name(name) if name == "system" && next == Some(&Token::Symbol("(")) => {
            let inside = tokens.get(at + 2..).unwrap_or(&[]);
            let end = closing(inside);
            Some(Found { kind: Kind::Runs, expression: inside.get(..end)?, printed: &[] })
        }
        Token::Symbol("|" | "|&") if matches!(next, Some(Token::Name(name)) if name == "getline") => {
            let before = tokens.get(..at)?;
            let start = before.iter().rposition(begins_statement).map_or(0, |index| index + 1);
            Some(Found { kind: Kind::Runs, expression: before.get(start..)?, printed: &[] })
        }
        Token::Symbol(symbol @ ("|" | "|&" | ">" | ">>")) => {
            let before = tokens.get(..at)?;
            let is_print = |token: &Token| matches!(token, Token::Name(name) if name.starts_with("print"));
            let start = before.iter().rposition(|token| begins_statement(token) && *token != Token::Symbol("("));
            let statement = before.get(start.map_or(0, |index| index + 1)..)?;
            let printed = statement.iter().position(is_print).and_then(|index| statement.get(index + 1..))?;
            let open = printed.iter().filter(|token| **token == Token::Symbol("(")).count();
            if open != printed.iter().filter(|token| **token == Token::Symbol(")")).count() {
                return None;
            }
            let end = after.iter().position(ends_statement).unwrap_or(after.len());
            let kind = if symbol.starts_with('>') { Kind::Writes } else { Kind::Feeds };
            Some(Found { kind, expression: after.get(..end)?, printed })
        }
        Token::Text(_) | Token::Number(_) | Token::Name(_) | Token::Pattern(_) | Token::Symbol(_) => None,
    }
}
