//! The facts that a rule can query, by their names in the library.

macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $fact:ident = $name:literal;)+) => {
        /// A query about a target, an effect or the session; the answer is yes, no or unknown.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fact { $($(#[doc = $doc])+ $fact,)+ }

        impl Fact {
            /// Every fact.
            pub const ALL: &[Fact] = &[$(Fact::$fact,)+];

            /// Returns the name in the library.
            pub fn name(self) -> &'static str {
                match self { $(Fact::$fact => $name,)+ }
            }

            /// Returns the fact with this name.
            pub fn named(name: &str) -> Option<Fact> {
                match name { $($name => Some(Fact::$fact),)+ _ => None }
            }
        }
    };
}

facts! {
    /// The environment variable that identifies an agent's programs is removed.
    AgentVariable = "agent-variable";
    /// The action runs a program or text of unknown effect.
    ReachesUnread = "reaches-unread";
    /// The command is that of the Python web framework that has the guard's name, not the guard.
    WebFramework = "web-framework";
    /// The repository cannot be read.
    Unreadable = "unreadable";
    /// The guard's own files or an agent's hooks are written.
    WritesGuard = "writes-guard";
    /// Like `WritesGuard`, but uncertain.
    MayWriteGuard = "may-write-guard";
    /// A program that this session wrote is given a folder that contains protected files.
    GivenGuard = "given-guard";
    /// The guard's entry is moved away or stashed.
    GuardPutAway = "guard-put-away";
    /// A commit would contain a secret for the first time.
    NewSecret = "new-secret";
    /// The written text turns an agent's hooks off.
    HooksOff = "hooks-off";
    /// The written text leaves an agent's hooks unchanged.
    HooksKept = "hooks-kept";
    /// The target existed before the session.
    FromBefore = "from-before";
    /// Keys or collected data without another copy are replaced.
    ReplacesData = "replaces-data";
    /// Work without another copy is replaced.
    ReplacesWork = "replaces-work";
    /// A program changes work or keys without another copy that the session has not written to.
    ChangesWork = "changes-work";
    /// It exists, and what it holds is in no commit, is not made again by a build and is not of this session.
    OnlyCopy = "only-copy";
    /// This call or an earlier one fetched it.
    Fetched = "fetched";
    /// The session has received a text with instructions.
    InjectionSeen = "orders-heard";
    /// The session has shown a secret.
    SecretSeen = "secret-seen";
    /// The command acts on production.
    Production = "production";
    /// The command acts on this machine.
    Local = "local";
    /// The repository has stashes.
    Stashes = "stashes";
    /// The branch is protected.
    ProtectedBranch = "protected-branch";
    /// The branch has commits that are on no other ref.
    Unmerged = "unmerged";
    /// A manifest or lock file of the project names the package.
    Listed = "listed";
    /// The target exists.
    Exists = "exists";
    /// The path is known, but not whether it exists.
    Unseen = "unseen";
    /// Git tracks it.
    Tracked = "tracked";
    /// Git ignores it.
    Ignored = "ignored";
    /// A build can recreate it.
    Regenerable = "regenerable";
    /// It has uncommitted changes.
    Uncommitted = "uncommitted";
    /// It contains files that git does not track.
    Untracked = "untracked";
    /// It contains files that git ignores and no build recreates.
    IgnoredData = "ignored-data";
}
