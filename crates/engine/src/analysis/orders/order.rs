//! What a call may take its orders from.

/// More than these are not looked for.
pub(crate) const MAX_ORDERS: usize = 4096;

/// Something that says what a call does. Paths are absolute and need not be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// A file.
    File {
        /// Where; the last part may hold a star for a tool's own files.
        path: String,
        /// What is done with it.
        how: How,
    },
    /// A program that is looked for by its name.
    Program {
        /// The name.
        name: String,
        /// Folders of which the call itself says that they are looked into first.
        first: Vec<String>,
    },
    /// What git, or a program that goes by git's settings, does in a folder.
    Git {
        /// The folder.
        folder: String,
        /// The subcommand of git; empty for other programs.
        subcommand: String,
        /// What stands behind it.
        words: Vec<String>,
    },
    /// A server of tools, as a client's settings name it.
    Server {
        /// Its name.
        name: String,
        /// A file of settings in which it may stand.
        path: String,
    },
    /// A program runs in a folder that is not known, so that nothing can be said of the files it reads.
    Unknown {
        /// The program.
        program: String,
    },
    /// There are more.
    More,
}

/// What a call does with a file that it takes orders from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It runs the file.
    Runs,
    /// It does what the file says.
    Follows,
    /// A tool of the call reads the file unasked.
    Configured,
    /// The content becomes part of what is done.
    Reads,
    /// The content leaves the machine.
    Sends,
}
