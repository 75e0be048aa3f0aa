//! The possible matches of a search (`find`): its roots, and the names that its expression allows.

use super::invocation::Invocation;
use crate::model::value::{Origin, Piece, Value};

/// Operators of an expression: neither options nor roots.
const OPERATORS: [&str; 4] = ["(", ")", "!", ","];

/// Keys of the options that act on matches. An expression without one prints the matches.
const ACTIONS: [&str; 4] = ["delete", "exec", "print-to", "fprintf"];

/// Returns the roots of a search; the working directory if it names none.
pub(crate) fn roots(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let operands = invocation.operands.iter().filter_map(|index| words.get(*index));
    let is_operator = |word: &&Value| word.literal().is_some_and(|text| OPERATORS.contains(&&*text));
    let roots: Vec<Value> = operands.filter(|word| !is_operator(word)).cloned().collect();
    if !roots.is_empty() {
        return roots;
    }
    vec![Value::text(".", words.first().map_or(Origin::default(), Value::origin))]
}

/// Returns patterns for the matches below the roots: any path, or paths with one of these names.
pub(crate) fn found(roots: Vec<Value>, names: Option<&[Value]>) -> Vec<Value> {
    let mut found = Vec::new();
    for root in roots {
        match names {
            Some(names) => found.extend(names.iter().map(|name| below(&root, Some(name)))),
            None => found.push(below(&root, None)),
        }
    }
    found
}

fn below(root: &Value, name: Option<&Value>) -> Value {
    let origin = root.origin();
    let separator = if root.prefix().ends_with('/') { "" } else { "/" };
    let mut value = root.clone();
    value.push_text(separator, origin);
    value.pieces.push((Piece::Glob("**".into()), origin));
    if let Some(name) = name {
        value.push_text("/", origin);
        value.pieces.push((Piece::Glob(name.shown()), origin));
    }
    value
}

/// Returns the names to which an expression limits a search; `None` if it allows all. Each of several names that must
/// match together counts as possible.
pub(crate) fn names(invocation: &Invocation, words: &[Value]) -> Option<Vec<Value>> {
    let mut open = vec![Group::default()];
    let mut at = 1;
    while let Some(word) = words.get(at) {
        // The options are in the order of their words.
        let first = invocation.options.partition_point(|option| option.word < at);
        let option = invocation.options.get(first).filter(|option| option.word == at);
        let Some(group) = open.last_mut() else { break };
        match word.literal().as_deref() {
            Some("!" | "-not") => group.negated = !group.negated,
            Some("-o" | "-or" | ",") => group.branch_ends(),
            Some("-prune") => group.pruned = true,
            Some("(") => open.push(Group::default()),
            Some(")") => close(&mut open),
            _ if option.is_some_and(|option| option.key == "name") => {
                let name = option.and_then(|option| option.value.clone());
                group.and(name.map(|name| vec![name]));
            }
            _ => {
                group.acts |= option.is_some_and(|option| ACTIONS.contains(&option.key));
                group.negated &= option.is_none();
            }
        }
        at = option.filter(|option| !option.words.is_empty()).map_or(at + 1, |option| option.words.end.max(at + 1));
    }
    // An unclosed group ends with the expression.
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().and_then(Group::ends)
}

/// Ends the innermost group, whose names become a part of the enclosing one.
fn close(open: &mut Vec<Group>) {
    let Some(inner) = open.pop() else { return };
    let mut outer = open.pop().unwrap_or_default();
    outer.acts |= inner.acts || inner.branches.iter().any(|branch| branch.acts);
    outer.and(inner.ends());
    open.push(outer);
}

/// A parenthesized part of an expression: alternative branches, each a conjunction of parts.
#[derive(Default)]
struct Group {
    branches: Vec<Branch>,
    /// The names of the current branch, if it has any.
    branch: Option<Vec<Value>>,
    /// Whether the branch prunes folders from the search.
    pruned: bool,
    /// Whether the branch acts on its matches.
    acts: bool,
    /// Whether the next part is negated.
    negated: bool,
}

/// A completed branch.
struct Branch {
    /// The names that it allows; `None` if it allows all.
    names: Option<Vec<Value>>,
    acts: bool,
}

impl Group {
    fn and(&mut self, names: Option<Vec<Value>>) {
        // A negated name allows any other name.
        let names = names.filter(|_| !std::mem::take(&mut self.negated));
        self.branch = match (self.branch.take(), names) {
            (Some(known), Some(names)) => Some([known, names].concat()),
            (known, names) => known.or(names),
        };
    }

    fn branch_ends(&mut self) {
        let names = self.branch.take();
        self.branches
            .push(Branch { names: if self.pruned && !self.acts { Some(Vec::new()) } else { names }, acts: self.acts });
        (self.pruned, self.acts, self.negated) = (false, false, false);
    }

    fn ends(mut self) -> Option<Vec<Value>> {
        self.branch_ends();
        // If any branch acts, branches without an action do not count.
        let acts = self.branches.iter().any(|branch| branch.acts);
        let counts = self.branches.into_iter().filter(|branch| branch.acts || !acts);
        let names: Option<Vec<Vec<Value>>> = counts.map(|branch| branch.names).collect();
        names.map(|names| names.concat())
    }
}
