//! The rules that ship with Reflex.

use reflex_tables::views::Rule;

/// The source file and line of the rule with this id: `library/rules/rm.yaml:12`.
pub fn rule_place(id: &str) -> Option<String> {
    let at = reflex_library::tables().library().rules().get(id).at();
    (!at.is_empty()).then(|| format!("library/{at}"))
}

/// Every rule of the library, by id.
pub fn library_rules() -> impl Iterator<Item = Rule<'static>> {
    reflex_library::tables().library().rules().entries().map(|(_, rule)| rule)
}
