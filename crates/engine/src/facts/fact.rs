//! The facts that a rule can ask for, by their words in the library.

macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $fact:ident = $name:literal;)+) => {
        /// A question about a target, an effect or the session; its answer is yes, no or unknown.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fact { $($(#[doc = $doc])+ $fact,)+ }

        impl Fact {
            /// Every fact.
            pub const ALL: &[Fact] = &[$(Fact::$fact,)+];

            /// The word that the library uses for it.
            pub fn name(self) -> &'static str {
                match self { $(Fact::$fact => $name,)+ }
            }

            /// The fact of this word.
            pub fn named(name: &str) -> Option<Fact> {
                match name { $($name => Some(Fact::$fact),)+ _ => None }
            }
        }
    };
}

facts! {
    /// The variable by which an agent's programs are known is taken away.
    AgentVariable = "agent-variable";
    /// The action runs something of which nobody knows what it does.
    ReachesUnread = "reaches-unread";
    /// The repository cannot be read.
    Unreadable = "unreadable";
    /// The guard's own files or an agent's hooks are written.
    WritesGuard = "writes-guard";
    /// The same, where it is not certain.
    MayWriteGuard = "may-write-guard";
    /// A program that this session wrote is given a folder with protected files below it.
    GivenGuard = "given-guard";
    /// The guard's entry is moved away or stashed.
    GuardPutAway = "guard-put-away";
    /// A secret would be committed that no commit holds yet.
    NewSecret = "new-secret";
    /// What is written turns an agent's hooks off.
    HooksOff = "hooks-off";
    /// What is written leaves an agent's hooks as they are.
    HooksKept = "hooks-kept";
    /// It lay there before the session.
    FromBefore = "from-before";
    /// Keys or collected data are replaced that exist nowhere else.
    ReplacesData = "replaces-data";
    /// Work is replaced that exists nowhere else.
    ReplacesWork = "replaces-work";
    /// A program changes work or keys that exist nowhere else, and that the session has not written to.
    ChangesWork = "changes-work";
    /// The call or an earlier one fetched it.
    Fetched = "fetched";
    /// The session has brought a text that gives orders.
    OrdersHeard = "orders-heard";
    /// The session has shown a secret.
    SecretSeen = "secret-seen";
    /// The command points to production.
    Production = "production";
    /// The command points to this machine.
    Local = "local";
    /// The repository has stashes.
    Stashes = "stashes";
    /// The branch is protected.
    ProtectedBranch = "protected-branch";
    /// The branch holds commits that nothing else holds.
    Unmerged = "unmerged";
    /// A manifest or lock file of the project names the package.
    Listed = "listed";
    /// It is there.
    Exists = "exists";
    /// Its path is known, and whether it is there is not.
    Unseen = "unseen";
    /// Git tracks it.
    Tracked = "tracked";
    /// Git ignores it.
    Ignored = "ignored";
    /// A build makes it again.
    Regenerable = "regenerable";
    /// It holds changes that are not committed.
    Uncommitted = "uncommitted";
    /// It holds files that git does not track.
    Untracked = "untracked";
    /// It holds files that git ignores and no build makes again.
    IgnoredData = "ignored-data";
}
