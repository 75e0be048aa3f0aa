//! The rules that ship with Reflex.

use reflex_tables::View;
use reflex_tables::views::{Rationale, Rule};

/// The source file and line of the rule with this id: `library/rules/rm.yaml:12`.
pub fn rule_place(id: &str) -> Option<String> {
    let at = reflex_library::tables().library().rules().get(id).at();
    (!at.is_empty()).then(|| format!("library/{at}"))
}

/// The reason for which the rule with this id exists, if the library states it.
pub fn rationale(id: &str) -> Option<Rationale<'static>> {
    let rationale = reflex_library::tables().library().rationales().get(id);
    (!rationale.is_absent()).then_some(rationale)
}

/// Every rule of the library, by id.
pub fn library_rules() -> impl Iterator<Item = Rule<'static>> {
    reflex_library::tables().library().rules().entries().map(|(_, rule)| rule)
}
