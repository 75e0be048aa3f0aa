//! How far a yes reaches: one call, a session, a task or a project.

/// For what a yes holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// One call of the same agent in the same session.
    #[default]
    Once,
    /// The same call of the same agent in the same session.
    Session,
    /// The same call while the task lasts.
    Task,
    /// The same call in the same project.
    Repository,
}

impl Scope {
    /// Every scope with its word.
    pub const ALL: [(Scope, &'static str); 4] =
        [(Scope::Once, "once"), (Scope::Session, "session"), (Scope::Task, "task"), (Scope::Repository, "repository")];

    /// Its word.
    pub fn name(self) -> &'static str {
        Scope::ALL.iter().find(|(scope, _)| *scope == self).map_or("once", |(_, name)| name)
    }

    /// The scope of this word.
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.iter().find(|(_, known)| *known == name).map(|(scope, _)| *scope)
    }
}
