//! What a command or a tool call would do to the machine.

use reflex_shell::{CommandId, ExecTarget, Origin, Piece, Value};
use std::num::NonZeroU32;

/// One thing that would happen, to some targets.
#[derive(Debug, Clone)]
pub struct Effect {
    /// What happens.
    pub kind: EffectKind,
    /// To what it happens.
    pub targets: Vec<Target>,
    /// How: the keys of the options that are given, and what the program always does.
    pub flags: Vec<&'static str>,
    /// An operand that says how (`777`, `root:root`).
    pub argument: Option<Value>,
    /// The command that does it; `None` for other tools.
    pub command: Option<CommandId>,
    /// Which of the event's actions it belongs to.
    pub action: usize,
    /// The file that says it, if it stands in a file that the action runs or writes: an index into
    /// [`crate::Analysis::scripts`]. The command is then one of that file's reading.
    pub script: Option<usize>,
    /// Its place in the action's text.
    pub origin: Origin,
    /// On which system it happens.
    pub site: ExecTarget,
    /// The folder its command runs in; `None` if that is not known.
    pub folder: Option<String>,
    /// By what it is remembered; see [`Id`].
    pub(crate) id: Id,
}

/// The number of an effect or target within its analysis, given by the last pass: what facts are remembered by. What
/// has none yet is never remembered, so that nothing is taken for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Id(Option<NonZeroU32>);

impl Id {
    /// The id of what stands at this place in a row of all.
    pub(crate) fn at(index: usize) -> Id {
        Id(u32::try_from(index).ok().and_then(|index| NonZeroU32::new(index.checked_add(1)?)))
    }

    /// That place; `None` without an id.
    pub(crate) fn index(self) -> Option<usize> {
        self.0.map(|number| number.get() as usize - 1)
    }
}

/// What an effect touches, as it is written and as a lexical path where it is one.
#[derive(Debug, Clone)]
pub struct Target {
    /// As written.
    pub value: Value,
    /// The absolute path, links not followed.
    pub path: TargetPath,
    /// By what it is remembered; see [`Id`].
    pub(crate) id: Id,
}

/// The lexical path of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPath {
    /// Not a path: a host, a branch, a process.
    None,
    /// Absolute and normalised, with patterns left in it.
    Known {
        /// The path.
        text: String,
        /// The same with its `..`, if it has any: a link before it decides where that leads.
        climbing: Option<String>,
        /// A slash or a pattern for everything stood behind it: what it links to is meant.
        follows: bool,
        /// All that lies in it is meant, not the folder itself.
        contents: bool,
    },
    /// A part decides where it lies and is not known.
    Unknown,
}

impl Effect {
    /// Whether one of its targets stands for several files. A name that is unknown before the call runs is new as a rule
    /// where something is written; what is deleted or emptied under one is there.
    pub(crate) fn is_about_many(&self, target: &Target) -> bool {
        let is_lost = matches!(self.kind, EffectKind::Delete | EffectKind::Truncate);
        if is_lost { target.is_one_of_many() } else { target.is_pattern() }
    }

    /// Something that a written file sets for later.
    pub(crate) fn configured(action: usize, flags: Vec<&'static str>, value: &str) -> Effect {
        let target = Target::new(Value::text(value, Origin::default()), TargetPath::None);
        Effect {
            kind: EffectKind::Configure,
            targets: vec![target],
            flags,
            argument: None,
            command: None,
            action,
            script: None,
            origin: Origin::default(),
            site: ExecTarget::Here,
            folder: None,
            id: Id::default(),
        }
    }
}

impl Target {
    /// A target that has no id yet.
    pub(crate) fn new(value: Value, path: TargetPath) -> Target {
        Target { value, path, id: Id::default() }
    }

    /// The known path.
    pub fn path(&self) -> Option<&str> {
        match &self.path {
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        }
    }

    /// As a person would name it: the path if there is one, else as written.
    pub fn shown(&self) -> String {
        match &self.path {
            TargetPath::Known { text, contents: true, .. } => format!("everything in {text}"),
            TargetPath::Known { text, .. } => text.clone(),
            TargetPath::None | TargetPath::Unknown => self.value.shown(),
        }
    }

    /// Whether the target stands for what a search or a pattern finds.
    pub fn is_pattern(&self) -> bool {
        self.value.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(_)))
    }

    /// Whether the target is one of several files for a deletion: of a pattern, or of those in a folder whose name is
    /// not known before the call runs (`data/$f`).
    pub fn is_one_of_many(&self) -> bool {
        self.is_pattern() || self.path().is_some() && self.value.is_unknown()
    }
}

/// What an effect's targets are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// Files and folders.
    Path,
    /// Hosts, branches, processes, names.
    Name,
}

const OPAQUE: [EffectKind; 9] = [
    EffectKind::RunFile,
    EffectKind::RunTask,
    EffectKind::RunUnknown,
    EffectKind::RunFetched,
    EffectKind::RunDecoded,
    EffectKind::Unreadable,
    EffectKind::StartAgent,
    EffectKind::ApplyPatch,
    EffectKind::Unjudged,
];

macro_rules! effect_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal $sort:ident;)+) => {
        /// What happens.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum EffectKind { $($(#[doc = $doc])+ $kind,)+ }

        impl EffectKind {
            /// Every kind.
            pub const ALL: &[EffectKind] = &[$(EffectKind::$kind,)+];

            /// The word that the library uses for it.
            pub fn name(self) -> &'static str {
                match self { $(EffectKind::$kind => $name,)+ }
            }

            /// What its targets are.
            pub fn target_kind(self) -> TargetKind {
                match self { $(EffectKind::$kind => TargetKind::$sort,)+ }
            }

            /// Whether it may make or change any file, so that only a run tells which.
            pub(crate) fn is_opaque(self) -> bool {
                OPAQUE.contains(&self)
            }

            /// The kind of this word.
            pub fn named(name: &str) -> Option<EffectKind> {
                match name { $($name => Some(EffectKind::$kind),)+ _ => None }
            }
        }
    };
}

effect_kinds! {
    /// Files or folders are removed.
    Delete = "delete" Path;
    /// A file is replaced or created.
    Overwrite = "overwrite" Path;
    /// Files are written below a folder, under names that an archive, a commit or a folder has; the argument says which.
    Populate = "populate" Path;
    /// Something is added to a file.
    Append = "append" Path;
    /// A part of a file is changed.
    Edit = "edit" Path;
    /// A file is cut to a size.
    Truncate = "truncate" Path;
    /// A link is made; the argument is what it leads to.
    Link = "link" Path;
    /// Files are moved away.
    Move = "move" Path;
    /// Files are read.
    Read = "read" Path;
    /// A file system is made or its traces are erased.
    Format = "format" Path;
    /// Who may do what with a file changes.
    ChangePermissions = "change-permissions" Path;
    /// Who owns a file changes.
    ChangeOwner = "change-owner" Path;
    /// A file is run as a script or program.
    RunFile = "run-file" Path;
    /// A file, or all in a folder, is taken into the next commit.
    Stage = "stage" Path;
    /// Tasks that a file of the project names are run; none stands for its first.
    RunTask = "run-task" Name;
    /// A file's content is sent to a host.
    SendFile = "send-file" Path;
    /// Changes in the work tree that are not committed are lost.
    DiscardChanges = "discard-changes" Path;
    /// Files that git does not track are removed.
    DiscardUntracked = "discard-untracked" Path;
    /// Changes in the work tree are put away; they can be taken out again.
    Stash = "stash" Path;
    /// Stashed work is dropped.
    DropStash = "drop-stash" Name;
    /// A local branch or tag is deleted though it may not be merged, or moved to another commit: the argument.
    DeleteBranch = "delete-branch" Name;
    /// A remote branch is replaced.
    PushForce = "push-force" Name;
    /// A remote branch is replaced unless somebody else changed it.
    PushWithLease = "push-with-lease" Name;
    /// A remote branch or tag is deleted.
    DeleteRemoteRef = "delete-remote-ref" Name;
    /// Commits or their traces are rewritten.
    RewriteHistory = "rewrite-history" Name;
    /// What could bring back commits or changes that nothing names any more is removed.
    DestroyRecovery = "destroy-recovery" Name;
    /// Something is fetched from a host.
    Fetch = "fetch" Name;
    /// Something is sent to a host.
    Send = "send" Name;
    /// A text that stands in the call is sent to a host.
    SendText = "send-text" Name;
    /// Connections are accepted.
    Listen = "listen" Name;
    /// A shell is given to whoever connects.
    GiveShell = "give-shell" Name;
    /// Code that was just fetched is run.
    RunFetched = "run-fetched" Name;
    /// Code that was just decoded, and whose text is not known, is run.
    RunDecoded = "run-decoded" Name;
    /// The text is larger or nested deeper than what is read.
    ExceedLimit = "exceed-limit" Name;
    /// A part of the text cannot be read.
    Unreadable = "unreadable" Name;
    /// A program's name is written in pieces, so that nobody reads it.
    Disguise = "disguise" Name;
    /// Something is decoded within texts within texts.
    NestedDecoding = "nested-decoding" Name;
    /// A program that is not meant for it runs another one, or a shell, because an option or a text tells it to.
    Escape = "escape" Name;
    /// A program or code that is not known is run.
    RunUnknown = "run-unknown" Name;
    /// Another coding agent is started.
    StartAgent = "start-agent" Name;
    /// What runs has another user's rights.
    RaisePrivilege = "raise-privilege" Name;
    /// Processes are ended.
    Kill = "kill" Name;
    /// Something will run again later by itself.
    Persist = "persist" Name;
    /// Scheduled commands are removed.
    DeleteSchedule = "delete-schedule" Name;
    /// Users or passwords change.
    ChangeAccounts = "change-accounts" Name;
    /// The machine stops.
    ShutDown = "shut-down" Name;
    /// The machine's resources are used up.
    Exhaust = "exhaust" Name;
    /// Something outside of this machine is destroyed: a cloud's resource, a release, a backup, a queue, a table.
    DestroyRemote = "destroy-remote" Name;
    /// Something outside of this machine is made, changed, started or stopped.
    ChangeRemote = "change-remote" Name;
    /// A version goes live.
    Deploy = "deploy" Name;
    /// A version is given to everybody.
    Publish = "publish" Name;
    /// Keys or passwords are printed by the service that keeps them.
    RevealSecret = "reveal-secret" Name;
    /// A package is added to what the project depends on.
    AddPackage = "add-package" Name;
    /// A package is installed for the whole system or user, or from a source that is no registry.
    InstallGlobal = "install-global" Name;
    /// Containers, images or volumes are removed.
    DestroyContainer = "destroy-container" Name;
    /// A container gets the host's rights or folders.
    OpenContainer = "open-container" Name;
    /// A file or folder of this machine is given to a container: with the flag `writable`, or `read-only`.
    ShareFolder = "share-folder" Path;
    /// A service of this machine is stopped, started or changed.
    ChangeService = "change-service" Name;
    /// A protection of this machine is switched off: firewall, audit, mandatory access control.
    SwitchOffProtection = "switch-off-protection" Name;
    /// The record of what was typed or logged is wiped.
    WipeTraces = "wipe-traces" Name;
    /// A program is made from its source, and run with the flag `runs`.
    Compile = "compile" Path;
    /// The changes that a file tells are made; without a file they are read.
    ApplyPatch = "apply-patch" Path;
    /// The statements in a file are run by a database.
    RunSqlFile = "run-sql-file" Path;
    /// A database, or all it holds, is thrown away.
    DestroyDatabase = "destroy-database" Name;
    /// A text is run by a database.
    Sql = "sql" Name;
    /// A shell on another host, or files from and to it.
    RemoteAccess = "remote-access" Name;
    /// A path of a class that nobody else touches is named to a program of which this use is not known.
    PathArgument = "path-argument" Path;
    /// The times of files are set, and files that are not there are made, with nothing in them.
    SetTimes = "set-times" Path;
    /// A variable of the environment or a switch of the shell is set (the argument is the value) or taken away.
    SetVariable = "set-variable" Name;
    /// What is run is no longer known to come from the agent: its variables are gone, or it is no child of it.
    LeaveAgent = "leave-agent" Name;
    /// A signal does not reach what is run.
    BlockSignal = "block-signal" Name;
    /// Programs of a kind (a flag says which) work from then on where the target says: a context, a project.
    SelectContext = "select-context" Name;
    /// A raw connection to a host is made.
    Connect = "connect" Name;
    /// A shell is started that reads from whoever holds its input.
    StartShell = "start-shell" Name;
    /// Something of this machine can be reached from outside from then on.
    OpenTunnel = "open-tunnel" Name;
    /// What is typed, shown or sent is recorded.
    Capture = "capture" Name;
    /// Hosts or ports are tried one by one.
    Scan = "scan" Name;
    /// Files are searched by name or rights; the argument is where.
    SearchFiles = "search-files" Name;
    /// Passwords are guessed or worked out.
    GuessPasswords = "guess-passwords" Name;
    /// The machine works for a currency.
    MineCrypto = "mine-crypto" Name;
    /// A module or a setting of the kernel changes.
    ChangeKernel = "change-kernel" Name;
    /// A file system is attached or detached.
    Mount = "mount" Name;
    /// A volume, pool or partition is removed.
    DestroyVolume = "destroy-volume" Name;
    /// A library or plug-in that the call names is loaded into a program.
    LoadLibrary = "load-library" Path;
    /// A key that nothing makes again is removed.
    DestroyKey = "destroy-key" Name;
    /// The whole environment is printed.
    PrintEnvironment = "print-environment" Name;
    /// A name is looked up, which tells it to name servers.
    LookUp = "look-up" Name;
    /// A program may do more than its user.
    GrantRights = "grant-rights" Path;
    /// A key or password stands where others may read it; the argument says what it is, the flags how bad and where.
    ExposeSecret = "expose-secret" Path;
    /// Something of the guard is named, and no entry says what is done with it.
    GuardReference = "guard-reference" Path;
    /// The id of a call is named that waits for a person; only the person uses it.
    NameWaiting = "name-waiting" Name;
    /// A file is written that says a person's command of the guard, names its folders or asks in its name; the argument
    /// is what it says, the flags say which.
    WriteAboutGuard = "write-about-guard" Path;
    /// A written file makes others run or trust something later; the flags say what, the target is the guilty value.
    Configure = "configure" Name;
    /// An agent's settings are changed by its own command; the target is what is set.
    ConfigureAgent = "configure-agent" Name;
    /// A tool is called of which nothing is known: neither what it does nor that it does no harm.
    Unjudged = "unjudged" Name;
    /// The guard is changed or switched off.
    ChangeGuard = "change-guard" Name;
}
