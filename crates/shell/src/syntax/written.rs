//! The simple commands of a text as written, including builtins and assignments, without expansion of variables.

use super::parser::{Parser, Placement};
use super::tree::{Assigned, Assignment, Node, Part, RedirectKind, Script, Simple, Word};
use crate::model::value::Span;

/// A simple command as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The byte range in the text.
    pub span: Span,
    /// Assignments, words without their quotes, and redirections as two words each.
    pub words: Vec<String>,
}

/// Returns the simple commands of a text in order, including those in groups, loops and functions. A `$(…)` is part of
/// its word.
///
/// ```
/// let found = reflex_shell::written("cd a && X=1 make > log");
/// let words: Vec<Vec<String>> = found.into_iter().map(|one| one.words).collect();
/// assert_eq!(words, [vec!["cd", "a"], vec!["X=1", "make", ">", "log"]]);
/// ```
pub fn written(text: &str) -> Vec<Written> {
    let mut parser = Parser::new(text, Placement::At { start: 0, derivation: None }, 0, 0);
    let mut found = Vec::new();
    Lister { text, found: &mut found }.script(&parser.script());
    found
}

/// Returns the span of an assignment: that of its value.
fn place(assignment: &Assignment) -> Span {
    match &assignment.value {
        Assigned::Word(word) => word.origin.span,
        Assigned::Array(words) => words.first().map_or(Span::default(), |word| word.origin.span),
    }
}

struct Lister<'a> {
    text: &'a str,
    found: &'a mut Vec<Written>,
}

impl Lister<'_> {
    fn script(&mut self, script: &Script) {
        script.statements.iter().for_each(|statement| self.node(&statement.node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Pipeline(members) => members.iter().for_each(|member| self.node(&member.node)),
            Node::Not(inner) | Node::Redirected(inner, _) => self.node(inner),
            Node::Function { body, .. } => self.node(body),
            Node::Group(script) | Node::Subshell(script) => self.script(script),
            Node::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.script(condition);
                    self.script(body);
                }
                self.script(otherwise);
            }
            Node::Loop { condition, body, .. } => {
                self.script(condition);
                self.script(body);
            }
            Node::Count { body, .. } | Node::For { body, .. } => self.script(body),
            Node::Case { arms, .. } => arms.iter().for_each(|arm| self.script(&arm.body)),
            Node::Test(_) | Node::Unknown(..) => {}
        }
    }

    fn simple(&mut self, simple: &Simple) {
        // In `export A=1` the assignment follows the word.
        let assigned = simple.assignments.iter().map(|one| (place(one), self.assignment(one)));
        let named = simple.words.iter().map(|word| (word.origin.span, self.word(word)));
        let mut pieces: Vec<(Span, String)> = assigned.chain(named).collect();
        pieces.sort_by_key(|(span, _)| span.start);
        let end = pieces.iter().map(|(span, _)| span.end).fold(simple.origin.span.end, u32::max);
        let mut words: Vec<String> = pieces.into_iter().map(|(_, word)| word).collect();
        for redirect in &simple.redirects {
            let sign = match redirect.kind {
                RedirectKind::Read => "<",
                RedirectKind::Write => ">",
                RedirectKind::Append => ">>",
                RedirectKind::ReadWrite => "<>",
                RedirectKind::Duplicate { reads: true } => "<&",
                RedirectKind::Duplicate { reads: false } => ">&",
                RedirectKind::WriteBoth { appends: true } => "&>>",
                RedirectKind::WriteBoth { appends: false } => "&>",
                RedirectKind::Heredoc => "<<",
                RedirectKind::HereString => "<<<",
            };
            words.extend([sign.to_owned(), self.word(&redirect.target)]);
        }
        if !words.is_empty() {
            self.found.push(Written { span: Span { end, ..simple.origin.span }, words });
        }
    }

    fn assignment(&self, assignment: &Assignment) -> String {
        let element = assignment.element.as_ref().map_or(String::new(), |word| format!("[{}]", self.word(word)));
        let sign = if assignment.append { "+=" } else { "=" };
        let value = match &assignment.value {
            Assigned::Word(word) => self.word(word),
            Assigned::Array(words) => {
                format!("({})", words.iter().map(|word| self.word(word)).collect::<Vec<_>>().join(" "))
            }
        };
        format!("{}{element}{sign}{value}", assignment.name)
    }

    fn word(&self, word: &Word) -> String {
        word.parts.iter().map(|part| self.part(part)).collect()
    }

    fn part(&self, part: &Part) -> String {
        let origin = match part {
            Part::Text { text, .. } | Part::Glob { text, .. } => return text.clone(),
            Part::Tilde { user, .. } => return format!("~{user}"),
            Part::Brace { mark, .. } => return mark.to_string(),
            Part::Parameter { origin, .. }
            | Part::Output { origin, .. }
            | Part::Arithmetic { origin, .. }
            | Part::Process { origin, .. }
            | Part::Unknown { origin, .. } => origin,
        };
        self.text.get(origin.span.start as usize..origin.span.end as usize).unwrap_or("").to_owned()
    }
}
