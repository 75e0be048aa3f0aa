//! Sources from which a call may take its inputs.

/// Maximum number of inputs collected.
pub(crate) const MAX_INPUTS: usize = 4096;

/// A source that determines the effects of a call. Paths are absolute and need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigInput {
    /// A file.
    File {
        /// Path of the file. The last component may contain a star for a tool's own files.
        path: String,
        /// Use of the file by the call.
        how: How,
    },
    /// A program looked up by name.
    Program {
        /// Name of the program.
        name: String,
        /// Folders that the call itself adds to the front of the search path.
        first: Vec<String>,
    },
    /// An operation of git, or of a program that follows git's settings, in a folder.
    Git {
        /// Folder of the operation.
        folder: String,
        /// Subcommand of git; empty for other programs.
        subcommand: String,
        /// Words after the subcommand.
        words: Vec<String>,
    },
    /// A tool server, as named in a client's settings.
    Server {
        /// Name of the server.
        name: String,
        /// Settings file that may define the server.
        path: String,
    },
    /// A program in an unknown folder, so that the files it reads are unknown.
    Unknown {
        /// Name of the program.
        program: String,
    },
    /// Marker for more inputs than the maximum.
    More,
}

/// Use of a file from which a call takes inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The call runs the file.
    Runs,
    /// The call follows instructions in the file.
    Follows,
    /// A tool of the call reads the file unasked.
    Configured,
    /// The content becomes part of the call's effects.
    Reads,
    /// The content leaves the machine.
    Sends,
}
