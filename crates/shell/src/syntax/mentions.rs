//! Parameters that the words of a command refer to, at any depth of substitution.

use super::names::is_name;
use super::tree::{Assigned, Element, Node, Operator, Parameter, Part, Redirect, Script, Simple, Test, Word};

/// Passes to `found` the names in the words that a node itself expands: those of a simple command, of all commands of a
/// pipeline, and in the head of a loop or `case`. Commands in bodies expand their own words.
pub(crate) fn mentioned(node: &Node, found: &mut dyn FnMut(&str)) {
    match node {
        Node::Simple(simple) => in_simple(simple, found),
        Node::Pipeline(members) => members.iter().for_each(|member| in_node(&member.node, found)),
        Node::For { words: Some(words), .. } => in_words(words, found),
        Node::For { words: None, .. } => found("@"),
        Node::Case { subject, arms } => {
            in_word(subject, found);
            arms.iter().for_each(|arm| in_words(&arm.patterns, found));
        }
        Node::Test(test) => in_test(test, found),
        Node::Redirected(_, redirects) => in_redirects(redirects, found),
        Node::Not(_)
        | Node::Group(_)
        | Node::Subshell(_)
        | Node::If { .. }
        | Node::Loop { .. }
        | Node::Count { .. }
        | Node::Function { .. }
        | Node::Unknown(..) => {}
    }
}

fn in_script(script: &Script, found: &mut dyn FnMut(&str)) {
    script.statements.iter().for_each(|statement| in_node(&statement.node, found));
}

/// Visits a node, including its bodies.
fn in_node(node: &Node, found: &mut dyn FnMut(&str)) {
    mentioned(node, found);
    match node {
        Node::Not(inner) | Node::Redirected(inner, _) => in_node(inner, found),
        Node::Group(script) | Node::Subshell(script) => in_script(script, found),
        Node::If { branches, otherwise } => {
            for (condition, body) in branches {
                in_script(condition, found);
                in_script(body, found);
            }
            in_script(otherwise, found);
        }
        Node::Loop { condition, body, .. } => {
            in_script(condition, found);
            in_script(body, found);
        }
        Node::Count { first, condition, next, body } => {
            [first, condition, next].into_iter().for_each(|word| in_word(word, found));
            in_script(body, found);
        }
        Node::For { body, .. } => in_script(body, found),
        Node::Case { arms, .. } => arms.iter().for_each(|arm| in_script(&arm.body, found)),
        Node::Simple(_) | Node::Pipeline(_) | Node::Function { .. } | Node::Test(_) | Node::Unknown(..) => {}
    }
}

fn in_simple(simple: &Simple, found: &mut dyn FnMut(&str)) {
    for assignment in &simple.assignments {
        assignment.element.iter().for_each(|word| in_word(word, found));
        match &assignment.value {
            Assigned::Word(word) => in_word(word, found),
            Assigned::Array(words) => in_words(words, found),
        }
    }
    in_words(&simple.words, found);
    in_redirects(&simple.redirects, found);
}

fn in_redirects(redirects: &[Redirect], found: &mut dyn FnMut(&str)) {
    for redirect in redirects {
        in_word(&redirect.target, found);
        redirect.heredoc.get().into_iter().for_each(|body| in_word(body, found));
    }
}

fn in_test(test: &Test, found: &mut dyn FnMut(&str)) {
    match test {
        Test::Words { words, .. } => in_words(words, found),
        Test::Arithmetic(word) => in_arithmetic(&word.parts, found),
    }
}

fn in_words(words: &[Word], found: &mut dyn FnMut(&str)) {
    words.iter().for_each(|word| in_word(word, found));
}

fn in_word(word: &Word, found: &mut dyn FnMut(&str)) {
    in_parts(&word.parts, found);
}

fn in_parts(parts: &[Part], found: &mut dyn FnMut(&str)) {
    for part in parts {
        match part {
            Part::Parameter { parameter, .. } => in_parameter(parameter, found),
            Part::Output { script, .. } | Part::Process { script, .. } => in_script(script, found),
            Part::Arithmetic { parts, .. } => in_arithmetic(parts, found),
            Part::Text { .. } | Part::Glob { .. } | Part::Tilde { .. } | Part::Brace { .. } | Part::Unknown { .. } => {}
        }
    }
}

/// In arithmetic, a bare name is a variable.
fn in_arithmetic(parts: &[Part], found: &mut dyn FnMut(&str)) {
    in_parts(parts, found);
    for part in parts {
        let Part::Text { text, .. } = part else { continue };
        let names = text.split(|ch: char| !ch.is_ascii_alphanumeric() && ch != '_');
        names.filter(|name| is_name(name)).for_each(&mut *found);
    }
}

fn in_parameter(parameter: &Parameter, found: &mut dyn FnMut(&str)) {
    found(&parameter.name);
    if let Element::At(word) = &parameter.element {
        in_arithmetic(&word.parts, found);
    }
    match &parameter.operator {
        Operator::Default { word, .. }
        | Operator::Assign { word, .. }
        | Operator::Alternative { word, .. }
        | Operator::Required(word)
        | Operator::Other(word) => in_word(word, found),
        Operator::Slice(word) => in_arithmetic(&word.parts, found),
        Operator::Cut { pattern, .. } => in_word(pattern, found),
        Operator::Replace { pattern, with, .. } => {
            in_word(pattern, found);
            in_word(with, found);
        }
        Operator::Plain
        | Operator::Length
        | Operator::Indirect
        | Operator::Case { .. }
        | Operator::Prompt
        | Operator::Quoted => {}
    }
}
