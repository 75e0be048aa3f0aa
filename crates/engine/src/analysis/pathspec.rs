//! What git understands by a path that it is given: its magic words, and patterns that cross folders.

use crate::model::effect::EffectKind;
use reflex_shell::{Piece, Printed, Value};

/// What the operands of a git command mean, where git takes them for pathspecs.
pub(super) fn meant_by(kind: EffectKind, values: Vec<Value>) -> Vec<Value> {
    use EffectKind::{Delete, DiscardChanges, Stage, Stash};
    if !matches!(kind, Delete | DiscardChanges | Stage | Stash) {
        return values;
    }
    values.into_iter().map(meant).collect()
}

/// The path that a pathspec means: `:/x` and `:(top)x` lie below the root of the repository, `:!x` is all but `x`, and in
/// `*.rs` the pattern stands for any folders, too.
fn meant(value: Value) -> Value {
    let text = value.prefix().into_owned();
    let Some(magic) = text.strip_prefix(':') else { return across_folders(value) };
    let root = || Value::piece(Piece::Output(Printed::GitRoot), value.origin());
    let below_root = |skipped: usize| {
        let rest = value.without_prefix(skipped);
        let mut path = root();
        if !rest.prefix().is_empty() {
            path.push_text("/", value.origin());
            path.push(across_folders(rest));
        }
        path
    };
    if magic.starts_with('/') {
        return below_root(2);
    }
    if magic.starts_with(['!', '^']) {
        return root();
    }
    let Some((words, rest)) = magic.strip_prefix('(').and_then(|magic| magic.split_once(')')) else {
        return across_folders(value.without_prefix(1));
    };
    let words: Vec<&str> = words.split(',').collect();
    if words.contains(&"exclude") || rest.is_empty() {
        return root();
    }
    let skipped = text.len() - rest.len();
    if words.contains(&"top") { below_root(skipped) } else { across_folders(value.without_prefix(skipped)) }
}

/// The first part with a pattern may lie in any folder below.
fn across_folders(value: Value) -> Value {
    let Some(text) = value.literal().filter(|text| text.contains(['*', '?', '['])) else { return value };
    let pattern = text.find(['*', '?', '[']).unwrap_or(0);
    let part = text.get(..pattern).and_then(|before| before.rfind('/')).map_or(0, |slash| slash + 1);
    let (folder, rest) = text.split_at(part);
    if rest.starts_with("**") {
        return value;
    }
    Value::text(format!("{folder}**/{rest}"), value.origin())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_shell::Origin;

    #[track_caller]
    fn check(pathspec: &str, path: &str) {
        assert_eq!(meant(Value::text(pathspec, Origin::default())).shown(), path);
    }

    #[test]
    fn magic_words_lead_to_the_root_or_mean_everything() {
        let root = "$(git rev-parse --show-toplevel)";
        check(":/", root);
        check(":/src", &format!("{root}/src"));
        check(":(top)src", &format!("{root}/src"));
        check(":!a", root);
        check(":(exclude)a", root);
        check(":(glob)src/a", "src/a");
        check("src/a", "src/a");
    }

    #[test]
    fn a_pattern_crosses_folders() {
        check("*.rs", "**/*.rs");
        check("src/*.rs", "src/**/*.rs");
        check(":(top,glob)**/*.rs", "$(git rev-parse --show-toplevel)/**/*.rs");
    }
}
