//! Renamed rules and effects. Old names in people's files, commands and logs are accepted, with a note, for one
//! release.

/// Old and new ids of rules.
pub const RULES: [(&str, &str); 12] = [
    ("agent/every-tool", "mcp/auto-approve-all"),
    ("agent/server-signs", "mcp/shell-metacharacters"),
    ("environment/trust-nobody", "environment/tls-verification-off"),
    ("fetch/run", "fetch/pipe-to-shell"),
    ("guard/told", "guard/forged-event"),
    ("machine/mine", "machine/crypto-mining"),
    ("path/climbs-to-system", "path/traversal"),
    ("rm/mirror", "rm/sync-delete"),
    ("secret/given", "secret/passed-to-tool"),
    ("session/fetch-after-orders", "session/fetch-after-injection"),
    ("session/send-after-orders", "session/send-after-injection"),
    ("workflow/pasted", "workflow/script-injection"),
];

/// Old and new names of effects.
pub const EFFECTS: [(&str, &str); 11] = [
    ("decode-deep", "nested-decoding"),
    ("install-widely", "install-global"),
    ("look-for", "search-files"),
    ("mention", "guard-reference"),
    ("mine", "mine-crypto"),
    ("point-to", "select-context"),
    ("put-away", "stash"),
    ("query", "sql"),
    ("run-statements", "run-sql-file"),
    ("touch", "path-argument"),
    ("use-host", "remote-access"),
];

/// The new name, if the word was renamed.
pub fn renamed(names: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    names.iter().find(|(old, _)| *old == word).map(|(_, new)| *new)
}

/// The old name, if the word was renamed.
pub fn formerly(names: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    names.iter().find(|(_, new)| *new == word).map(|(old, _)| *old)
}

/// The rules that a pattern such as `agent/*` covered under their old ids and does not cover under their new ones.
pub(crate) fn uncovered(pattern: &str) -> impl Iterator<Item = &'static str> {
    // Anchored at the root, a pattern matches only full ids.
    let rooted = format!("/{pattern}");
    let covers = move |id: &str| reflex_engine::fits(&rooted, &format!("/{id}"), "");
    RULES.iter().filter(move |(old, new)| covers(old) && !covers(new)).map(|(_, new)| *new)
}

/// The note about an old name.
pub fn note(old: &str, new: &str) -> String {
    format!("`{old}` is now called `{new}`; the old name still works in this release")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Compiled, SourceFile, compile};
    use crate::pattern::Variables;
    use serde_json::Value;

    fn compiled(text: &str, is_policy: bool) -> (Compiled, Vec<String>) {
        let file = SourceFile { name: "a.yaml".into(), text: text.into(), is_policy, unread: None };
        let compiled = compile(&[file], &["balanced"], &Variables::default());
        assert_eq!(compiled.left_out, Vec::<String>::new(), "{:?}", compiled.problems);
        let notes = compiled.problems.iter().map(|problem| problem.message.clone()).collect();
        (compiled, notes)
    }

    #[test]
    fn a_policy_may_use_old_ids() {
        let (compiled, notes) = compiled(
            "rules: {rm/mirror: block}\ndisabled_rules: [workflow/pasted]\nallow: [{rule: [agent/*, fetch/run]}]\n",
            true,
        );
        let overrides: Vec<&String> = compiled.policy.node["overrides"].as_object().unwrap().keys().collect();
        assert_eq!(overrides, ["rm/sync-delete", "workflow/script-injection"]);
        let allowed: Vec<&str> =
            compiled.policy.node["allow"][0]["rule"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let both = ["mcp/auto-approve-all", "mcp/shell-metacharacters"];
        assert_eq!(allowed, ["agent/*", "fetch/run", both[0], both[1], "fetch/pipe-to-shell"]);
        assert_eq!(notes.len(), 5, "{notes:?}");
        assert_eq!(notes[0], note("rm/mirror", "rm/sync-delete"));
    }

    #[test]
    fn a_pattern_that_still_covers_a_rule_or_never_did_says_nothing() {
        for pattern in ["*", "machine/*", "run*", "told", "rm/sync-delete"] {
            assert_eq!(uncovered(pattern).next(), None, "{pattern}");
        }
    }

    #[test]
    fn a_rule_may_use_old_effects() {
        let (compiled, notes) = compiled(
            "name: a\nevents: bash_command\nconditions: [{effect: [use-host, delete]}]\naction: ask\nmessage: m\n",
            false,
        );
        assert_eq!(compiled.rules[0].conditions[0].shown(), "effect remote-access, delete");
        assert_eq!(notes, [note("use-host", "remote-access")]);
    }

    #[test]
    fn every_new_effect_is_one_and_no_old_one_is() {
        let known = |name: &str| reflex_engine::EffectKind::ALL.iter().any(|kind| kind.name() == name);
        assert!(EFFECTS.iter().all(|(old, new)| known(new) && !known(old)));
    }
}
