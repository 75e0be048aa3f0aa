//! Lists, pipelines, simple and compound commands.

use super::names::{is_name, name_length};
use super::parser::Parser;
use super::tree::{Arm, ArmEnd, Assigned, Assignment, Join, Member, Node, Part, Script, Simple, Statement, Test, Word};
use crate::model::value::UnknownReason;
use std::rc::Rc;

/// The end of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stop {
    End,
    Paren,
    Brace,
    /// One of these reserved words in command position.
    Words(&'static [&'static str]),
    /// `;;`, `;&` or `esac`.
    CaseArm,
}

enum Compound {
    Node(Node),
    Simple,
}

impl Parser<'_> {
    /// Parses the text as a script. Unparsable text is skipped with a gap, at least one byte at a time.
    pub(crate) fn script(&mut self) -> Script {
        let mut script = self.list(Stop::End);
        while self.at < self.text.len() {
            let start = self.at;
            self.bump();
            self.gap(start, UnknownReason::Unparsed);
            script.statements.extend(self.list(Stop::End).statements);
        }
        self.read_heredocs();
        script
    }

    /// Parses statements up to `stop`, which is not consumed.
    pub(super) fn list(&mut self, stop: Stop) -> Script {
        let mut statements = Vec::new();
        let mut join = Join::Always;
        loop {
            self.skip_blanks(true);
            if self.at_stop(stop) {
                break;
            }
            let start = self.at;
            let Some(node) = self.pipeline() else { break };
            let (background, next) = self.separator();
            statements.push(Statement { node, join, background });
            join = next;
            if self.at == start {
                break;
            }
        }
        Script { statements }
    }

    fn at_stop(&self, stop: Stop) -> bool {
        if self.peek().is_none() {
            return true;
        }
        match stop {
            Stop::End => false,
            Stop::Paren => self.peek() == Some(b')'),
            Stop::Brace => self.peek() == Some(b'}'),
            Stop::Words(words) => words.contains(&self.keyword()),
            Stop::CaseArm => self.ends_arm() || self.keyword() == "esac",
        }
    }

    fn ends_arm(&self) -> bool {
        [";;", ";&", ";|"].iter().any(|end| self.starts_with(end))
    }

    /// Parses the separator after a command. Returns whether the command runs in the background, and how the next one
    /// is joined.
    fn separator(&mut self) -> (bool, Join) {
        self.skip_blanks(false);
        if self.eat("&&") {
            return (false, Join::And);
        }
        if self.eat("||") {
            return (false, Join::Or);
        }
        if self.ends_arm() {
            return (false, Join::Always);
        }
        if self.eat("&") {
            return (true, Join::Always);
        }
        if !self.eat(";") && self.peek() == Some(b'\n') {
            self.newline();
        }
        (false, Join::Always)
    }

    fn pipeline(&mut self) -> Option<Node> {
        let negated = self.skip_prefixes();
        let first = self.command()?;
        let mut members = vec![Member { node: first, errors: false }];
        loop {
            self.skip_blanks(false);
            if self.starts_with("||") || !self.eat("|") {
                break;
            }
            let errors = self.eat("&");
            members.iter_mut().next_back().into_iter().for_each(|member| member.errors = errors);
            self.skip_blanks(true);
            self.skip_prefixes();
            match self.command() {
                Some(node) => members.push(Member { node, errors: false }),
                None => break,
            }
        }
        let node = if members.len() > 1 { Node::Pipeline(members) } else { members.pop()?.node };
        Some(if negated { Node::Not(Box::new(node)) } else { node })
    }

    /// Skips `time [-p]`, `coproc [NAME]` and zsh's `noglob` and `nocorrect`, which do not change which command runs.
    /// Returns whether `!` negates the result.
    fn skip_prefixes(&mut self) -> bool {
        let mut negated = false;
        loop {
            let word = self.keyword();
            match word {
                "!" => {
                    self.at += 1;
                    negated = !negated;
                }
                "time" => {
                    self.at += 4;
                    self.skip_blanks(false);
                    while matches!(self.keyword(), "-p" | "--") {
                        self.at += 2;
                        self.skip_blanks(false);
                    }
                }
                "coproc" => self.skip_coproc(),
                "noglob" | "nocorrect" => self.at += word.len(),
                _ => return negated,
            }
            self.skip_blanks(false);
        }
    }

    fn skip_coproc(&mut self) {
        self.at += "coproc".len();
        self.skip_blanks(false);
        let name = self.keyword();
        let after = self.rest().get(name.len()..).unwrap_or("").trim_start_matches([' ', '\t']);
        if is_name(name) && (after.starts_with('{') || after.starts_with('(')) && !RESERVED.contains(&name) {
            self.at += name.len();
        }
    }

    /// Returns the unquoted word at the cursor, without consuming it; empty if the cursor is not at one.
    pub(super) fn keyword(&self) -> &str {
        let rest = self.rest();
        let end = rest.find([' ', '\t', '\n', '\r', ';', '&', '|', '<', '>', '(', ')', '\'', '"', '\\', '$', '`']);
        rest.get(..end.unwrap_or(rest.len())).unwrap_or("")
    }

    fn eat_keyword(&mut self, word: &str) -> bool {
        self.skip_blanks(true);
        let found = self.keyword() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    /// Parses one command. Returns `None` at a byte that cannot begin a command; the caller handles it.
    fn command(&mut self) -> Option<Node> {
        let start = self.at;
        let node = match self.compound() {
            Compound::Node(node) => node,
            Compound::Simple => return self.simple(),
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks(false);
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        debug_assert!(self.at > start);
        Some(if redirects.is_empty() { node } else { Node::Redirected(Box::new(node), redirects) })
    }

    fn compound(&mut self) -> Compound {
        let start = self.at;
        if self.starts_with("((") && self.arithmetic_ends().is_some() {
            self.at += 2;
            return Compound::Node(self.arithmetic_command(start));
        }
        if self.eat("(") {
            return Compound::Node(self.bracketed(start, b')', Stop::Paren, Node::Subshell));
        }
        let keyword = self.keyword();
        let length = keyword.len();
        if keyword == "{" {
            self.at += length;
            return Compound::Node(self.bracketed(start, b'}', Stop::Brace, Node::Group));
        }
        let read: fn(&mut Self, usize) -> Node = match keyword {
            "if" => |parser, _| parser.if_command(),
            "while" => |parser, _| parser.loop_command(false),
            "until" => |parser, _| parser.loop_command(true),
            "for" | "foreach" => |parser, _| parser.for_command(false),
            "select" => |parser, _| parser.for_command(true),
            "repeat" if self.repeats() => |parser, _| parser.repeat_command(),
            "case" => |parser, _| parser.case_command(),
            "function" => |parser, start| parser.function_keyword(start),
            "[[" => |parser, start| parser.test_command(start),
            word if self.defines_function(word) => {
                let name = word.to_owned();
                self.at += length;
                return Compound::Node(self.function(name, start));
            }
            _ => return Compound::Simple,
        };
        self.at += length;
        Compound::Node(self.deeper(start, read))
    }

    /// Parses a construct between reserved words. At the maximum depth only its first word is consumed; its body is
    /// then read as a plain list, and so are the reserved words that would have ended it.
    fn deeper(&mut self, start: usize, read: fn(&mut Self, usize) -> Node) -> Node {
        if self.is_too_deep() {
            return Node::Unknown(self.origin(start), UnknownReason::Limit);
        }
        self.nested(b'\0', |parser| read(parser, start))
            .unwrap_or(Node::Unknown(self.origin(start), UnknownReason::Limit))
    }

    fn bracketed(&mut self, start: usize, close: u8, stop: Stop, node: fn(Script) -> Node) -> Node {
        let script = self.nested(close, |parser| {
            let script = parser.list(stop);
            if parser.peek() == Some(close) {
                parser.at += 1;
            } else {
                parser.gap(start, UnknownReason::Unparsed);
            }
            script
        });
        script.map_or(Node::Unknown(self.origin(start), UnknownReason::Limit), node)
    }

    fn if_command(&mut self) -> Node {
        let mut branches = Vec::new();
        let mut otherwise = Script::default();
        loop {
            let condition = self.list(Stop::Words(&["then", "fi"]));
            self.eat_keyword("then");
            let body = self.list(Stop::Words(&["elif", "else", "fi"]));
            branches.push((condition, body));
            if self.eat_keyword("elif") {
                continue;
            }
            if self.eat_keyword("else") {
                otherwise = self.list(Stop::Words(&["fi"]));
            }
            self.end_keyword("fi");
            return Node::If { branches, otherwise };
        }
    }

    fn end_keyword(&mut self, word: &str) {
        let start = self.at;
        if !self.eat_keyword(word) {
            self.gap(start, UnknownReason::Unparsed);
        }
    }

    fn loop_command(&mut self, until: bool) -> Node {
        let condition = self.list(Stop::Words(&["do", "done"]));
        let body = self.do_body();
        Node::Loop { condition, until, body }
    }

    /// Whether `repeat 3 command` of zsh begins here. Other forms of `repeat` are ordinary commands.
    fn repeats(&self) -> bool {
        let after = self.rest().get("repeat".len()..).unwrap_or("").trim_start_matches([' ', '\t']);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let after = after.get(digits..).unwrap_or("").trim_start_matches([' ', '\t']);
        digits > 0 && !after.is_empty() && !after.starts_with(['\n', ';', '&', '|', ')'])
    }

    fn repeat_command(&mut self) -> Node {
        self.skip_blanks(false);
        let start = self.at;
        self.at += self.keyword().len();
        // The number of repetitions is not evaluated.
        let origin = self.origin(start);
        let often = Part::Unknown { origin, why: UnknownReason::NotEvaluated };
        let condition = Word { parts: vec![often], origin };
        let body = self.short_body();
        Node::Count { first: Word::default(), condition, next: Word::default(), body }
    }

    /// Parses `do … done`, `{ … }`, or in zsh a single command.
    fn short_body(&mut self) -> Script {
        self.skip_blanks(true);
        self.eat(";");
        self.skip_blanks(true);
        if self.peek() == Some(b'{') || self.keyword() == "do" {
            return self.do_body();
        }
        let node = self.pipeline();
        let statement = |node| Statement { node, join: Join::Always, background: false };
        Script { statements: node.map(statement).into_iter().collect() }
    }

    fn do_body(&mut self) -> Script {
        self.skip_blanks(true);
        if self.eat("{") {
            let body = self.list(Stop::Brace);
            self.eat("}");
            return body;
        }
        self.eat_keyword("do");
        let body = self.list(Stop::Words(&["done"]));
        self.end_keyword("done");
        body
    }

    fn for_command(&mut self, select: bool) -> Node {
        self.skip_blanks(false);
        if self.starts_with("((") && !select {
            return self.count_command();
        }
        let name = self.keyword().to_owned();
        self.at += name.len();
        self.skip_blanks(false);
        if self.eat("(") {
            // zsh: `for x (a b) command`.
            let words = self.words_of_line();
            self.eat(")");
            let body = self.short_body();
            return Node::For { name, words: Some(words), body, select };
        }
        let words = self.eat_keyword("in").then(|| self.words_of_line());
        self.skip_blanks(false);
        self.eat(";");
        let body = self.do_body();
        Node::For { name, words, body, select }
    }

    /// `for ((first; condition; next))`
    fn count_command(&mut self) -> Node {
        self.at += 2;
        let mut expressions = [Word::default(), Word::default(), Word::default()];
        let origin = self.origin(self.at);
        let mut at = 0;
        for part in self.arithmetic_parts() {
            let Part::Text { text, quoted, origin } = &part else {
                expressions.iter_mut().skip(at).take(1).for_each(|word| word.parts.push(part.clone()));
                continue;
            };
            for (index, piece) in text.split(';').enumerate() {
                at += usize::from(index > 0);
                let part = Part::Text { text: piece.into(), quoted: *quoted, origin: *origin };
                if !piece.trim().is_empty() {
                    expressions.iter_mut().skip(at).take(1).for_each(|word| word.parts.push(part.clone()));
                }
            }
        }
        expressions.iter_mut().for_each(|word| word.origin = origin);
        self.skip_blanks(false);
        self.eat(";");
        let body = self.short_body();
        let [first, condition, next] = expressions;
        Node::Count { first, condition, next, body }
    }

    fn words_of_line(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks(false);
            match self.word() {
                Some(word) => words.push(word),
                None => return words,
            }
        }
    }

    fn case_command(&mut self) -> Node {
        self.skip_blanks(true);
        let subject = self.word().unwrap_or_default();
        self.eat_keyword("in");
        let mut arms = Vec::new();
        loop {
            self.skip_blanks(true);
            if self.peek().is_none() || self.keyword() == "esac" {
                break;
            }
            let before = self.at;
            arms.push(self.case_arm());
            if self.at == before {
                self.bump();
                self.gap(before, UnknownReason::Unparsed);
            }
        }
        self.end_keyword("esac");
        Node::Case { subject, arms }
    }

    fn case_arm(&mut self) -> Arm {
        self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks(true);
            match self.word() {
                Some(word) => patterns.push(word),
                None => break,
            }
            self.skip_blanks(true);
            if !self.eat("|") {
                break;
            }
        }
        self.skip_blanks(true);
        self.eat(")");
        let body = self.list(Stop::CaseArm);
        let end = if self.eat(";;&") || self.eat(";|") {
            ArmEnd::TestsOn
        } else if self.eat(";&") {
            ArmEnd::FallsThrough
        } else {
            self.eat(";;");
            ArmEnd::Ends
        };
        Arm { patterns, body, end }
    }

    fn test_command(&mut self, start: usize) -> Node {
        let mut words = Vec::new();
        let mut joined = false;
        loop {
            self.skip_blanks(true);
            if self.keyword() == "]]" {
                self.at += 2;
                break;
            }
            match self.test_word(&words) {
                Some(word) => words.push(word),
                None if self.peek().is_some_and(|byte| b"&|<>();!".contains(&byte)) => {
                    joined = true;
                    self.at += 1;
                }
                None => {
                    self.gap(start, UnknownReason::Unparsed);
                    break;
                }
            }
        }
        Node::Test(Test::Words { words, joined })
    }

    /// Parses a word of `[[ … ]]`. After `=~`, parentheses and bars belong to the word.
    fn test_word(&mut self, words: &[Word]) -> Option<Word> {
        let after = |word: &Word| matches!(word.parts.as_slice(), [Part::Text { text, .. }] if text == "=~");
        if words.last().is_some_and(after) { self.expression_word() } else { self.word() }
    }

    fn arithmetic_command(&mut self, start: usize) -> Node {
        let parts = self.arithmetic_parts();
        Node::Test(Test::Arithmetic(Word { parts, origin: self.origin(start) }))
    }

    /// Whether `word` is followed by `()`, so that it defines a function.
    fn defines_function(&self, word: &str) -> bool {
        let after = self.rest().get(word.len()..).unwrap_or("").trim_start_matches([' ', '\t']);
        let Some(inside) = after.strip_prefix('(') else { return false };
        !word.is_empty() && !word.contains('=') && inside.trim_start_matches([' ', '\t']).starts_with(')')
    }

    fn function_keyword(&mut self, start: usize) -> Node {
        self.skip_blanks(false);
        let name = self.keyword().to_owned();
        self.at += name.len();
        self.function(name, start)
    }

    fn function(&mut self, name: String, start: usize) -> Node {
        self.skip_blanks(false);
        if self.eat("(") {
            self.skip_blanks(false);
            self.eat(")");
        }
        self.skip_blanks(true);
        let body = self.nested(b'}', |parser| parser.command());
        let unknown = Node::Unknown(self.origin(start), UnknownReason::Unparsed);
        Node::Function { name, body: Rc::new(body.flatten().unwrap_or(unknown)) }
    }

    fn simple(&mut self) -> Option<Node> {
        let start = self.at;
        let mut simple = Simple { line: self.line, ..Simple::default() };
        loop {
            self.skip_blanks(false);
            if let Some(redirect) = self.redirect() {
                simple.redirects.push(redirect);
            } else if let Some(assignment) = self.assignment_if(&simple) {
                simple.assignments.push(assignment);
            } else if let Some(word) = self.word() {
                simple.words.push(word);
            } else {
                break;
            }
        }
        if self.at == start {
            return None;
        }
        simple.origin = self.origin(start);
        self.trim_origin(&mut simple);
        Some(Node::Simple(simple))
    }

    /// Excludes the blanks after the last word from the command's span.
    fn trim_origin(&self, simple: &mut Simple) {
        let words = simple.words.iter().map(|word| word.origin.span.end);
        let redirects = simple.redirects.iter().map(|redirect| redirect.target.origin.span.end);
        if let Some(end) = words.chain(redirects).max() {
            simple.origin.span.end = end.max(simple.origin.span.start);
        }
    }

    /// Parses `name=value` before the command's name, or as an argument of a command that declares variables.
    fn assignment_if(&mut self, simple: &Simple) -> Option<Assignment> {
        match simple.words.first().map(|word| word.parts.as_slice()) {
            None => self.assignment(Parser::assigned_word),
            Some([Part::Text { text, .. }]) if DECLARING.contains(&text.as_str()) => {
                self.assignment(Parser::declared_word)
            }
            Some(_) => None,
        }
    }

    fn assignment(&mut self, value: fn(&mut Self) -> Word) -> Option<Assignment> {
        let rest = self.rest();
        let name = rest.get(..name_length(rest)).filter(|name| !name.is_empty())?;
        let mut at = name.len();
        let subscript = if rest.as_bytes().get(at) == Some(&b'[') { Some(self.subscript_length(at)?) } else { None };
        at += subscript.unwrap_or(0);
        let append = rest.get(at..)?.starts_with("+=");
        at += usize::from(append);
        if rest.as_bytes().get(at) != Some(&b'=') {
            return None;
        }
        let name = name.to_owned();
        let element = subscript.map(|length| self.subscript(self.at + name.len(), length));
        self.at += at + 1;
        Some(Assignment { name, append, element, value: self.assigned(value) })
    }

    fn assigned(&mut self, value: fn(&mut Self) -> Word) -> Assigned {
        if !self.eat("(") {
            return Assigned::Word(value(self));
        }
        let mut items = Vec::new();
        loop {
            self.skip_blanks(true);
            match self.word() {
                Some(word) => items.push(word),
                None => break,
            }
        }
        self.eat(")");
        Assigned::Array(items)
    }
}

const DECLARING: [&str; 5] = ["export", "local", "declare", "typeset", "readonly"];

const RESERVED: [&str; 6] = ["if", "while", "until", "for", "case", "select"];
