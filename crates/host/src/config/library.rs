//! The rules that ship with Reflex.

/// The source file and line of the rule with this id: `library/rules/rm.yaml:12`.
pub fn rule_place(id: &str) -> Option<String> {
    let at = reflex_library::tables().get("rules").get(id).get("at").text();
    (!at.is_empty()).then(|| format!("library/{at}"))
}

/// Every rule of the library, by id.
pub fn library_rules() -> impl Iterator<Item = reflex_tables::Node<'static>> {
    reflex_library::tables().get("rules").entries().map(|(_, rule)| rule)
}
