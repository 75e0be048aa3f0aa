//! What a search (`find`) may find: its roots, and which names its expression leaves.

use super::invocation::Invocation;
use crate::model::value::{Origin, Piece, Value};

/// Words of an expression that are neither options nor roots.
const OPERATORS: [&str; 4] = ["(", ")", "!", ","];

/// Keys of options that do something to what is found; where there is none, it is printed.
const ACTIONS: [&str; 4] = ["delete", "exec", "print-to", "fprintf"];

/// The roots of a search; the working folder where none is named.
pub(crate) fn roots(invocation: &Invocation, words: &[Value]) -> Vec<Value> {
    let operands = invocation.operands.iter().filter_map(|index| words.get(*index));
    let is_operator = |word: &&Value| word.literal().is_some_and(|text| OPERATORS.contains(&&*text));
    let roots: Vec<Value> = operands.filter(|word| !is_operator(word)).cloned().collect();
    if !roots.is_empty() {
        return roots;
    }
    vec![Value::text(".", words.first().map_or(Origin::default(), Value::origin))]
}

/// What a search below the roots may find: anything, or what these name patterns allow.
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

/// The names to which an expression limits a search; `None` where it leaves all. Of names that must all fit, each may.
pub(crate) fn names(invocation: &Invocation, words: &[Value]) -> Option<Vec<Value>> {
    let mut open = vec![Group::default()];
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let option = invocation.options.iter().find(|option| option.word == at);
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
    // A group that nobody closes ends with the expression.
    while open.len() > 1 {
        close(&mut open);
    }
    open.pop().and_then(Group::ends)
}

/// Ends the innermost group: what it allows is a part of the one around it.
fn close(open: &mut Vec<Group>) {
    let Some(inner) = open.pop() else { return };
    let mut outer = open.pop().unwrap_or_default();
    outer.acts |= inner.acts || inner.branches.iter().any(|branch| branch.acts);
    outer.and(inner.ends());
    open.push(outer);
}

/// A part of an expression in parentheses: branches of which one must hold, each of which has parts that all must.
#[derive(Default)]
struct Group {
    branches: Vec<Branch>,
    /// The names of the branch that is read, if it has any.
    branch: Option<Vec<Value>>,
    /// Whether the branch only keeps the search out of folders.
    pruned: bool,
    /// Whether the branch does something to what it finds.
    acts: bool,
    /// Whether the next part is meant the other way round.
    negated: bool,
}

/// A branch that was read to its end.
struct Branch {
    /// The names that it allows; `None` if it allows all.
    names: Option<Vec<Value>>,
    acts: bool,
}

impl Group {
    fn and(&mut self, names: Option<Vec<Value>>) {
        // What is not of a name may be of any other.
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
        // A branch that only looks does not count beside one that acts.
        let acts = self.branches.iter().any(|branch| branch.acts);
        let counts = self.branches.into_iter().filter(|branch| branch.acts || !acts);
        let names: Option<Vec<Vec<Value>>> = counts.map(|branch| branch.names).collect();
        names.map(|names| names.concat())
    }
}
