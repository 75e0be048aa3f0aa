//! Git's interpretation of path operands: magic words, and patterns that cross folders.

use crate::model::effect::EffectKind;
use reflex_shell::{Piece, Printed, Value};

/// Returns the paths of a git command's operands, where git reads them as pathspecs.
pub(super) fn meant_by(kind: EffectKind, values: Vec<Value>) -> Vec<Value> {
    use EffectKind::{Delete, DiscardChanges, Stage, Stash};
    if !matches!(kind, Delete | DiscardChanges | Stage | Stash) {
        return values;
    }
    values.into_iter().map(meant).collect()
}

/// Returns the path of a pathspec: `:/x` and `:(top)x` are below the root of the repository, `:!x` is everything but
/// `x`, and the pattern in `*.rs` also matches across folders.
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

/// The first component with a pattern may be in any folder below.
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
