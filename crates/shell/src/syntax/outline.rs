//! The syntax tree of a text in readable form: one line, with every list in parentheses.

use super::parser::{Parser, Placement};
use super::tree::{
    Arm, ArmEnd, Assigned, Assignment, Descriptor, Element, Join, LetterCase, Member, Node, Operator, Parameter, Part,
    Redirect, RedirectKind, Script, Test, Which, Word,
};

/// Returns the outline of a text's syntax tree. Words appear as the parser understands them: quoted text in single
/// quotes, and unparsed text preceded by `?`. `a | b && c` is `(pipe (a) (b)) && (c)`.
///
/// The outline is for people and tests; no decision depends on it.
pub fn outline(text: &str) -> String {
    let mut parser = Parser::new(text, Placement::At { start: 0, derivation: None }, 0, 0);
    let mut outline = Outline::default();
    outline.script(&parser.script());
    outline.text
}

#[derive(Default)]
struct Outline {
    text: String,
}

impl Outline {
    fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// `(name …)`
    fn list(&mut self, name: &str, inner: impl FnOnce(&mut Self)) {
        self.write("(");
        self.write(name);
        let before = self.text.len();
        inner(self);
        if name.is_empty() && self.text.get(before..).is_some_and(|text| text.starts_with(' ')) {
            self.text.remove(before);
        }
        self.write(")");
    }

    fn script(&mut self, script: &Script) {
        for (index, statement) in script.statements.iter().enumerate() {
            self.write(match (statement.join, index) {
                (Join::Always, 0) => "",
                (Join::Always, _) => " ",
                (Join::And, _) => " && ",
                (Join::Or, _) => " || ",
            });
            self.node(&statement.node);
            self.write(if statement.background { " &" } else { "" });
        }
    }

    fn listed(&mut self, name: &str, script: &Script) {
        self.write(" ");
        self.list(name, |this| this.spaced(script));
    }

    fn spaced(&mut self, script: &Script) {
        self.write(" ");
        self.script(script);
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Simple(simple) => self.list("", |this| {
                simple.assignments.iter().for_each(|assignment| this.assignment(assignment));
                this.words(&simple.words);
                simple.redirects.iter().for_each(|redirect| this.redirect(redirect));
            }),
            Node::Pipeline(members) => self.list("pipe", |this| this.members(members)),
            Node::Not(inner) => self.list("not ", |this| this.node(inner)),
            Node::Group(script) => self.list("group", |this| this.spaced(script)),
            Node::Subshell(script) => self.list("subshell", |this| this.spaced(script)),
            Node::If { branches, otherwise } => self.list("if", |this| {
                for (condition, body) in branches {
                    this.listed("when", condition);
                    this.listed("then", body);
                }
                if !otherwise.statements.is_empty() {
                    this.listed("else", otherwise);
                }
            }),
            Node::Loop { condition, until, body } => self.list("loop", |this| {
                this.listed(if *until { "until" } else { "while" }, condition);
                this.listed("do", body);
            }),
            Node::Count { first, condition, next, body } => self.list("count", |this| {
                [first, condition, next].into_iter().for_each(|word| this.words(std::slice::from_ref(word)));
                this.listed("do", body);
            }),
            Node::For { name, words, body, select } => self.list(&format!("{} {name}", looping(*select)), |this| {
                if let Some(words) = words {
                    this.write(" ");
                    this.list("in", |this| this.words(words));
                }
                this.listed("do", body);
            }),
            Node::Case { subject, arms } => self.list("case", |this| this.case(subject, arms)),
            Node::Function { name, body } => self.list(&format!("function {name} "), |this| this.node(body)),
            Node::Test(Test::Words { words, .. }) => self.list("test", |this| this.words(words)),
            Node::Test(Test::Arithmetic(word)) => self.list("test", |this| this.words(std::slice::from_ref(word))),
            Node::Redirected(inner, redirects) => self.list("redirect ", |this| {
                this.node(inner);
                redirects.iter().for_each(|redirect| this.redirect(redirect));
            }),
            Node::Unknown(_, why) => self.write(&format!("?{why:?}")),
        }
    }

    fn members(&mut self, members: &[Member]) {
        for member in members {
            self.write(" ");
            self.node(&member.node);
            self.write(if member.errors { " &" } else { "" });
        }
    }

    fn case(&mut self, subject: &Word, arms: &[Arm]) {
        self.words(std::slice::from_ref(subject));
        for arm in arms {
            self.write(" ");
            self.list("of", |this| {
                this.words(&arm.patterns);
                this.listed("do", &arm.body);
                this.write(match arm.end {
                    ArmEnd::Ends => "",
                    ArmEnd::FallsThrough => " and-next",
                    ArmEnd::TestsOn => " test-next",
                });
            });
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.write(&format!(" {}", assignment.name));
        if let Some(element) = &assignment.element {
            self.write("[");
            self.word(element);
            self.write("]");
        }
        self.write(if assignment.append { "+=" } else { "=" });
        match &assignment.value {
            Assigned::Word(word) => self.word(word),
            Assigned::Array(words) => self.list("", |this| this.words(words)),
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        self.write(" ");
        match &redirect.descriptor {
            Some(Descriptor::Number(number)) => self.write(&number.to_string()),
            Some(Descriptor::Named(name)) => self.write(&format!("{{{name}}}")),
            None => {}
        }
        self.write(match redirect.kind {
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
        });
        match redirect.heredoc.get() {
            Some(body) => self.word(body),
            None => self.word(&redirect.target),
        }
    }

    fn words(&mut self, words: &[Word]) {
        for word in words {
            self.write(" ");
            self.word(word);
        }
    }

    fn word(&mut self, word: &Word) {
        if word.parts.is_empty() {
            self.write("''");
        }
        word.parts.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text { text, quoted: true, .. } => self.write(&format!("'{}'", in_one_line(text))),
            Part::Text { text, .. } | Part::Glob { text, .. } => self.write(&in_one_line(text)),
            Part::Tilde { user, .. } => self.write(&format!("~{user}")),
            Part::Parameter { parameter, quoted, .. } => {
                self.write(if *quoted { "\"${" } else { "${" });
                self.parameter(parameter);
                self.write(if *quoted { "}\"" } else { "}" });
            }
            Part::Output { script, quoted, .. } => {
                self.write(if *quoted { "\"$(" } else { "$(" });
                self.script(script);
                self.write(if *quoted { ")\"" } else { ")" });
            }
            Part::Arithmetic { parts, .. } => {
                self.write("$((");
                parts.iter().for_each(|part| self.part(part));
                self.write("))");
            }
            Part::Process { script, writes, .. } => {
                self.write(if *writes { ">(" } else { "<(" });
                self.script(script);
                self.write(")");
            }
            Part::Brace { mark, .. } => self.text.push(*mark),
            Part::Unknown { why, .. } => self.write(&format!("?{why:?}")),
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        self.write(&parameter.name);
        match &parameter.element {
            Element::None => {}
            Element::Each => self.write("[@]"),
            Element::Joined => self.write("[*]"),
            Element::At(word) => {
                self.write("[");
                self.word(word);
                self.write("]");
            }
        }
        self.operator(&parameter.operator);
    }

    fn operator(&mut self, operator: &Operator) {
        let of = |sign: &'static str, of_empty: bool| if of_empty { [":", sign] } else { ["", sign] };
        let (signs, word) = match operator {
            Operator::Plain => return,
            Operator::Length => return self.write(" length"),
            Operator::Indirect => return self.write(" indirect"),
            Operator::Case { to: LetterCase::Upper, .. } => return self.write("^"),
            Operator::Case { to: LetterCase::Lower, .. } => return self.write(","),
            Operator::Case { to: LetterCase::Turned, .. } => return self.write("~"),
            Operator::Prompt => return self.write("@P"),
            Operator::Quoted => return self.write("@Q"),
            Operator::Default { of_empty, word } => (of("-", *of_empty), word),
            Operator::Assign { of_empty, word } => (of("=", *of_empty), word),
            Operator::Alternative { of_empty, word } => (of("+", *of_empty), word),
            Operator::Cut { front, longest, pattern } => {
                let sign = if *front { "#" } else { "%" };
                ([sign, if *longest { sign } else { "" }], pattern)
            }
            Operator::Replace { which, pattern, with } => {
                self.write(match which {
                    Which::First => "/",
                    Which::All => "//",
                    Which::Front => "/#",
                    Which::Back => "/%",
                });
                self.word(pattern);
                (["/", ""], with)
            }
            Operator::Slice(word) => ([":", ""], word),
            Operator::Required(word) => (["?", ""], word),
            Operator::Other(word) => ([" ", "?"], word),
        };
        signs.iter().for_each(|sign| self.write(sign));
        self.word(word);
    }
}

fn looping(select: bool) -> &'static str {
    if select { "select" } else { "for" }
}

fn in_one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}
