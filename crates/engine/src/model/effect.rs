//! The effects of a command or a tool call on the machine.

use reflex_shell::{CommandId, ExecTarget, Origin, Piece, Value};
use std::num::NonZeroU32;

/// One effect on some targets.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The kind of the effect.
    pub kind: EffectKind,
    /// The objects of the effect.
    pub targets: Vec<Target>,
    /// Keys of the options that are given, and the flags that the program always implies.
    pub flags: Vec<&'static str>,
    /// An operand that qualifies the effect (`777`, `root:root`).
    pub argument: Option<Value>,
    /// The command that has the effect; `None` for other tools.
    pub command: Option<CommandId>,
    /// Index of the event's action that has the effect.
    pub action: usize,
    /// Index into [`crate::Analysis::scripts`] of the file that contains the command, if the action runs or writes such
    /// a file. `command` is then an id in that file's reading.
    pub script: Option<usize>,
    /// Position in the action's text.
    pub origin: Origin,
    /// The system on which it happens.
    pub site: ExecTarget,
    /// Working directory of the command; `None` if unknown.
    pub folder: Option<String>,
    /// Cache key; see [`Id`].
    pub(crate) id: Id,
}

/// The number of an effect or target within its analysis, assigned by the last pass and used as the key of cached
/// facts. Facts about an item without a number are never cached, so that two items cannot be confused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Id(Option<NonZeroU32>);

impl Id {
    /// The id of the item at this index.
    pub(crate) fn at(index: usize) -> Id {
        Id(u32::try_from(index).ok().and_then(|index| NonZeroU32::new(index.checked_add(1)?)))
    }

    /// The index of the item; `None` without an id.
    pub(crate) fn index(self) -> Option<usize> {
        self.0.map(|number| number.get() as usize - 1)
    }
}

/// An object of an effect: its value as written and, for a path, the lexical path.
#[derive(Debug, Clone)]
pub struct Target {
    /// The value as written.
    pub value: Value,
    /// The absolute path, symlinks not followed.
    pub path: TargetPath,
    /// Cache key; see [`Id`].
    pub(crate) id: Id,
}

/// The lexical path of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetPath {
    /// Not a path: a host, a branch, a process.
    None,
    /// Absolute and normalized; patterns are kept.
    Known {
        /// The path.
        text: String,
        /// The same path with its `..` components, if it has any: a symlink before a `..` decides where that leads.
        climbing: Option<String>,
        /// Whether a trailing slash or a catch-all pattern follows the path, so that the target of a symlink is meant.
        follows: bool,
        /// Whether the contents of the folder are meant rather than the folder itself.
        contents: bool,
    },
    /// The path depends on an unknown part.
    Unknown,
}

impl Effect {
    /// Whether the target can denote several files. If a name is unknown before the call runs, a write usually creates
    /// a new file, while a deletion or truncation affects files that exist.
    pub(crate) fn is_about_many(&self, target: &Target) -> bool {
        let is_lost = matches!(self.kind, EffectKind::Delete | EffectKind::Truncate);
        if is_lost { target.is_one_of_many() } else { target.is_pattern() }
    }

    /// Returns an effect without targets, of the first action and of no command. The methods below complete it before it
    /// is added to an analysis.
    pub(crate) fn of(kind: EffectKind) -> Effect {
        Effect {
            kind,
            targets: Vec::new(),
            flags: Vec::new(),
            argument: None,
            command: None,
            action: 0,
            script: None,
            origin: Origin::default(),
            site: ExecTarget::Here,
            folder: None,
            id: Id::default(),
        }
    }

    /// Sets the targets.
    pub(crate) fn targets(self, targets: Vec<Target>) -> Effect {
        Effect { targets, ..self }
    }

    /// Sets a single target.
    pub(crate) fn target(self, target: Target) -> Effect {
        self.targets(vec![target])
    }

    /// Adds a flag.
    pub(crate) fn mark(mut self, flag: &'static str) -> Effect {
        self.flags.push(flag);
        self
    }

    /// Adds flags.
    pub(crate) fn marks(mut self, flags: impl IntoIterator<Item = &'static str>) -> Effect {
        self.flags.extend(flags);
        self
    }

    /// Sets the argument.
    pub(crate) fn argument(self, argument: Option<Value>) -> Effect {
        Effect { argument, ..self }
    }

    /// Sets the position in the text.
    pub(crate) fn at(self, origin: Origin) -> Effect {
        Effect { origin, ..self }
    }

    /// Sets the system on which it happens.
    pub(crate) fn on(self, site: ExecTarget) -> Effect {
        Effect { site, ..self }
    }

    /// Returns the effect of a setting in a written file that applies later.
    pub(crate) fn configured(action: usize, flags: Vec<&'static str>, value: &str) -> Effect {
        let target = Target::new(Value::text(value, Origin::default()), TargetPath::None);
        Effect { action, flags, ..Effect::of(EffectKind::Configure).target(target) }
    }
}

impl Target {
    /// Returns a target without an id.
    pub(crate) fn new(value: Value, path: TargetPath) -> Target {
        Target { value, path, id: Id::default() }
    }

    /// Returns the path, if it is known.
    pub fn path(&self) -> Option<&str> {
        match &self.path {
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        }
    }

    /// Returns the target for display: the path if known, else the value as written.
    pub fn shown(&self) -> String {
        match &self.path {
            TargetPath::Known { text, contents: true, .. } => format!("everything in {text}"),
            TargetPath::Known { text, .. } => text.clone(),
            TargetPath::None | TargetPath::Unknown => self.value.shown(),
        }
    }

    /// Whether the target is the result of a search or a pattern.
    pub fn is_pattern(&self) -> bool {
        self.value.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Glob(_)))
    }

    /// Whether a deletion of the target can affect several files: it is a pattern, or a path with a part that is
    /// unknown before the call runs (`data/$f`).
    pub fn is_one_of_many(&self) -> bool {
        self.is_pattern() || self.path().is_some() && self.value.is_unknown()
    }
}

/// The kind of an effect's targets.
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
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal $sort:ident $($phrase:literal)?;)+) => {
        /// The kind of an effect.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum EffectKind { $($(#[doc = $doc])+ $kind,)+ }

        impl EffectKind {
            /// Every kind.
            pub const ALL: &[EffectKind] = &[$(EffectKind::$kind,)+];

            /// Returns the name of the kind in the library.
            pub fn name(self) -> &'static str {
                match self { $(EffectKind::$kind => $name,)+ }
            }

            /// Returns what the call would do to the targets that follow, for people: `delete`, `force-push`. Without
            /// words of its own a kind is called by its name.
            pub fn phrase(self) -> String {
                let written: &[&str] = match self { $(EffectKind::$kind => &[$($phrase)?],)+ };
                written.first().map_or_else(|| self.name().replace('-', " "), |phrase| (*phrase).to_owned())
            }

            /// Returns the kind of the targets.
            pub fn target_kind(self) -> TargetKind {
                match self { $(EffectKind::$kind => TargetKind::$sort,)+ }
            }

            /// Whether the effect can create or change arbitrary files, so that only running it shows which.
            pub(crate) fn is_opaque(self) -> bool {
                OPAQUE.contains(&self)
            }

            /// Returns the kind with this name.
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
    Overwrite = "overwrite" Path "write over";
    /// Files are written below a folder, under the names in an archive, a commit or another folder; the argument
    /// identifies it.
    Populate = "populate" Path "write files into";
    /// Something is added to a file.
    Append = "append" Path "add to";
    /// A part of a file is changed.
    Edit = "edit" Path;
    /// A file is cut to a size.
    Truncate = "truncate" Path;
    /// A link is made; the argument is its target.
    Link = "link" Path "make a link at";
    /// Files are moved away.
    Move = "move" Path;
    /// Files are read.
    Read = "read" Path;
    /// A file system is made or its traces are erased.
    Format = "format" Path "format or wipe";
    /// The permissions of a file change.
    ChangePermissions = "change-permissions" Path "change the permissions of";
    /// The owner of a file changes.
    ChangeOwner = "change-owner" Path "change the owner of";
    /// A file is run as a script or program.
    RunFile = "run-file" Path "run";
    /// A file, or everything in a folder, is added to the next commit.
    Stage = "stage" Path "add to the next commit:";
    /// Tasks defined by a project file are run; without a target, the first task of the file.
    RunTask = "run-task" Name "run the task";
    /// A file's content is sent to a host.
    SendFile = "send-file" Path "send the file";
    /// Uncommitted changes in the work tree are lost.
    DiscardChanges = "discard-changes" Path "discard uncommitted changes in";
    /// Files that git does not track are removed.
    DiscardUntracked = "discard-untracked" Path "delete files that git does not track in";
    /// Changes in the work tree are stashed; they can be restored.
    Stash = "stash" Path "stash changes in";
    /// Stashed work is dropped.
    DropStash = "drop-stash" Name "drop the stash";
    /// A local branch or tag is deleted although it may be unmerged, or is moved to another commit (the argument).
    DeleteBranch = "delete-branch" Name "delete or move the branch or tag";
    /// A remote branch is replaced.
    PushForce = "push-force" Name "force-push";
    /// A remote branch is replaced unless someone else changed it.
    PushWithLease = "push-with-lease" Name "force-push with a lease";
    /// A remote branch or tag is deleted.
    DeleteRemoteRef = "delete-remote-ref" Name "delete on the remote:";
    /// Commits or their traces are rewritten.
    RewriteHistory = "rewrite-history" Name "rewrite the history of";
    /// The means to restore unreachable commits or changes are removed.
    DestroyRecovery = "destroy-recovery" Name "delete what could bring lost work back:";
    /// Something is fetched from a host.
    Fetch = "fetch" Name "fetch from";
    /// Something is sent to a host.
    Send = "send" Name "send to";
    /// A text from the call is sent to a host.
    SendText = "send-text" Name "send a text to";
    /// Connections are accepted.
    Listen = "listen" Name "accept connections on";
    /// A shell is given to any client that connects.
    GiveShell = "give-shell" Name "give a shell to whoever connects:";
    /// Code that was just fetched is run.
    RunFetched = "run-fetched" Name "run code that was just fetched from";
    /// Code that was just decoded and has an unknown text is run.
    RunDecoded = "run-decoded" Name "run code that is hidden by an encoding";
    /// The text exceeds the limit of size or nesting depth.
    ExceedLimit = "exceed-limit" Name "exceed a limit of the analysis:";
    /// A part of the text cannot be parsed.
    Unreadable = "unreadable" Name "do something that cannot be parsed:";
    /// A program's name is assembled from pieces to hide it.
    Disguise = "disguise" Name "hide the name of a program:";
    /// Decoding within a text that was itself decoded.
    NestedDecoding = "nested-decoding" Name "decode a text twice";
    /// An option or text makes a program run another program or a shell, which is not the program's purpose.
    Escape = "escape" Name "start another program through";
    /// An unknown program or unknown code is run.
    RunUnknown = "run-unknown" Name "run what is not known:";
    /// Another coding agent is started.
    StartAgent = "start-agent" Name "start another agent:";
    /// A program runs with the rights of another user.
    RaisePrivilege = "raise-privilege" Name "run with the rights of";
    /// Processes are ended.
    Kill = "kill" Name "end the processes";
    /// Something is set up to run again later without a further call.
    Persist = "persist" Name "set up to run again later:";
    /// Scheduled commands are removed.
    DeleteSchedule = "delete-schedule" Name "delete scheduled commands:";
    /// Users or passwords change.
    ChangeAccounts = "change-accounts" Name "change users or passwords:";
    /// The machine stops.
    ShutDown = "shut-down" Name "shut this machine down";
    /// The machine's resources are used up.
    Exhaust = "exhaust" Name "use up this machine:";
    /// Something outside of this machine is destroyed: a cloud's resource, a release, a backup, a queue, a table.
    DestroyRemote = "destroy-remote" Name "destroy, outside of this machine:";
    /// Something outside of this machine is made, changed, started or stopped.
    ChangeRemote = "change-remote" Name "change, outside of this machine:";
    /// A version goes live.
    Deploy = "deploy" Name;
    /// A version is released to the public.
    Publish = "publish" Name;
    /// Keys or passwords are printed by the service that keeps them.
    RevealSecret = "reveal-secret" Name "print a secret:";
    /// A package is added to what the project depends on.
    AddPackage = "add-package" Name "add the package";
    /// A package is installed system-wide or user-wide, or from a source other than a registry.
    InstallGlobal = "install-global" Name "install for the whole system or user:";
    /// Containers, images or volumes are removed.
    DestroyContainer = "destroy-container" Name "delete containers, images or volumes:";
    /// A container gets the host's rights or folders.
    OpenContainer = "open-container" Name "give a container rights on this machine:";
    /// A file or folder of this machine is given to a container: with the flag `writable`, or `read-only`.
    ShareFolder = "share-folder" Path "share with a container:";
    /// A folder of this machine is served to the network; the argument is the address, if one is given.
    ServeFolder = "serve-folder" Path "serve to the network";
    /// A service of this machine is stopped, started or changed.
    ChangeService = "change-service" Name "change the service";
    /// A protection of this machine is switched off: firewall, audit, mandatory access control.
    SwitchOffProtection = "switch-off-protection" Name "switch off the protection";
    /// The record of what was typed or logged is wiped.
    WipeTraces = "wipe-traces" Name "wipe logs or the history of commands:";
    /// A program is compiled from its source, and run if the flag `runs` is set.
    Compile = "compile" Path "compile";
    /// The changes in a patch file are applied; without a file the patch is read from standard input.
    ApplyPatch = "apply-patch" Path "apply the patch";
    /// The statements in a file are run by a database.
    RunSqlFile = "run-sql-file" Path "run the SQL in";
    /// A database, or its entire content, is dropped.
    DestroyDatabase = "destroy-database" Name "drop the database";
    /// A text is executed by a database.
    Sql = "sql" Name "run as SQL:";
    /// A shell on another host, or a file transfer from or to it.
    RemoteAccess = "remote-access" Name "reach into another machine:";
    /// A path of a class reserved to certain programs is passed to a program not known to use it.
    PathArgument = "path-argument" Path "give to a program not known to use it:";
    /// The times of files are set; files that do not exist are created empty.
    SetTimes = "set-times" Path "set the times of";
    /// An environment variable or a shell option is set (the argument is the value) or unset.
    SetVariable = "set-variable" Name "set the variable";
    /// A program can no longer be attributed to the agent: its environment variables are removed, or it is not a child
    /// of the agent.
    LeaveAgent = "leave-agent" Name "leave the agent's control:";
    /// The program that is run ignores a signal.
    BlockSignal = "block-signal" Name "ignore the signal";
    /// Programs of one kind (given by a flag) work from then on in the context or project that the target names.
    SelectContext = "select-context" Name "switch to";
    /// A raw connection to a host is made.
    Connect = "connect" Name "connect to";
    /// A shell is started that reads from the holder of its standard input.
    StartShell = "start-shell" Name "start a shell for";
    /// A service of this machine becomes reachable from outside.
    OpenTunnel = "open-tunnel" Name "open to the outside:";
    /// Keystrokes, screen content or traffic is recorded.
    Capture = "capture" Name "record";
    /// Hosts or ports are tried one by one.
    Scan = "scan" Name;
    /// Files are searched by name or permissions; the argument is the place.
    SearchFiles = "search-files" Name "search for";
    /// Passwords are guessed or cracked.
    GuessPasswords = "guess-passwords" Name "guess passwords:";
    /// Cryptocurrency is mined.
    MineCrypto = "mine-crypto" Name "mine cryptocurrency:";
    /// A module or a setting of the kernel changes.
    ChangeKernel = "change-kernel" Name "change the kernel:";
    /// A file system is attached or detached.
    Mount = "mount" Name "attach or detach";
    /// A volume, pool or partition is removed.
    DestroyVolume = "destroy-volume" Name "delete the volume";
    /// A library or plug-in that the call names is loaded into a program.
    LoadLibrary = "load-library" Path "load into a program:";
    /// A key that cannot be created again is removed.
    DestroyKey = "destroy-key" Name "delete the key";
    /// All environment variables are printed.
    PrintEnvironment = "print-environment" Name "print all environment variables";
    /// A name is looked up, which reveals it to name servers.
    LookUp = "look-up" Name;
    /// A program gets more rights than its user has.
    GrantRights = "grant-rights" Path "give more rights to";
    /// A key or password is written where others may read it; the argument is its kind, the flags are severity and
    /// place.
    ExposeSecret = "expose-secret" Path "write a secret into";
    /// A file of the guard is named, and no library entry describes its use.
    GuardReference = "guard-reference" Path "use a file of Reflex:";
    /// The id of a call that waits for approval is named; only the person uses that id.
    NameWaiting = "name-waiting" Name "name a call that waits:";
    /// A file is written that contains a command of the guard meant for the person, names the guard's folders, or asks
    /// in its name; the argument is the text, the flags are which of these.
    WriteAboutGuard = "write-about-guard" Path "write about Reflex into";
    /// A written file makes other programs run or trust something later; the flags are the kind, the target is the
    /// guilty value.
    Configure = "configure" Name "make later programs run or trust";
    /// An agent's settings are changed by its own command; the target is the setting.
    ConfigureAgent = "configure-agent" Name "change the agent's setting";
    /// An unknown tool is called: neither its effect nor its harmlessness is known.
    Unjudged = "unjudged" Name "call a tool that Reflex does not know:";
    /// The guard is changed or switched off.
    ChangeGuard = "change-guard" Name "change or switch off Reflex:";
}
