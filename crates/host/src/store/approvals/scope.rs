//! The scope of an approval: one call, a session, a task or a project.

/// The scope of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// One call of the same agent in the same session.
    #[default]
    Once,
    /// All equal calls of the same agent in the same session.
    Session,
    /// All equal calls while the task lasts.
    Task,
    /// All equal calls in the same project.
    Repository,
}

impl Scope {
    /// Every scope with its name.
    pub const ALL: [(Scope, &'static str); 4] =
        [(Scope::Once, "once"), (Scope::Session, "session"), (Scope::Task, "task"), (Scope::Repository, "repository")];

    /// The name.
    pub fn name(self) -> &'static str {
        Scope::ALL.iter().find(|(scope, _)| *scope == self).map_or("once", |(_, name)| name)
    }

    /// The scope with this name.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.iter().find(|(_, known)| *known == name).map(|(scope, _)| *scope)
    }
}
