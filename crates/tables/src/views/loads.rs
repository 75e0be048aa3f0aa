//! Files that programs read on their own.

use crate::view;
use crate::view::{List, Map, Texts};

view! {
    /// Files that a run loads from disk, in three indexes.
    pub struct Loads<'a> {
        /// Loads of programs, by name.
        programs: Map<'a, List<'a, Load<'a>>>,
        /// Loads of languages, by name.
        languages: Map<'a, List<'a, Load<'a>>>,
        /// Files that matter when they are only written.
        files: LoadedFiles<'a>,
    }
}

view! {
    /// Files that a program or script loads when it runs: an entry of `library/loads`.
    pub struct Load<'a> {
        /// Functions that load the file named by their first argument.
        functions: Texts<'a>,
        /// Suffixes appended to the name to get the file's path.
        endings: Texts<'a>,
        /// Folders below the project's root that are searched too.
        folders: Texts<'a>,
        /// Whether dots separate the folders of a name.
        dots: bool,
        /// Whether the name of a file must begin with a dot or a slash.
        relative: bool,
        /// Words of which one must be present.
        when: Texts<'a>,
        /// Words of which none may be present.
        unless: Texts<'a>,
        /// Files, relative to the working directory.
        files: Texts<'a>,
        /// Whether the folders above are searched too.
        above: bool,
        /// Whether the folders of named files and named folders are searched too.
        beside: bool,
        /// Suffixes of files among the program's words.
        named: Texts<'a>,
        /// Format in which such a file is read.
        form: &'a str,
        /// Whether only the tasks among the operands run.
        tasks: bool,
        /// Python expression for the argument that a task is called with.
        given: &'a str,
    }
}

view! {
    /// Index of the files that matter when they are written.
    pub struct LoadedFiles<'a> {
        /// Positions in `entries`, by exact file name.
        names: Map<'a, List<'a, u32>>,
        /// All other files.
        patterns: List<'a, NamedPattern<'a>>,
        /// The ways in which they are read.
        entries: List<'a, LoadedFile<'a>>,
    }
}

view! {
    /// A pattern of paths and the entry of the files that it matches.
    pub struct NamedPattern<'a> {
        /// The pattern.
        path: &'a [u8],
        /// Position in `entries`.
        entry: u32,
    }
}

view! {
    /// The way in which a written file is read.
    pub struct LoadedFile<'a> {
        /// Formats in which it is read.
        forms: Texts<'a>,
        /// Site where its commands run; empty for this machine.
        site: &'a str,
        /// Whether every effect counts.
        whole: bool,
        /// Whether it runs by itself, without a call.
        unasked: bool,
    }
}

view! {
    /// Files that a program reads commands from by default: an entry of `library/inputs`.
    pub struct InputFiles<'a> {
        /// Their paths.
        files: Texts<'a>,
        /// Keys of options that name another folder to search.
        folders: Texts<'a>,
        /// Whether the folders above are searched too.
        above: bool,
        /// Whether the files are the program itself.
        runs: bool,
        /// Whether files among the program's words may contain commands.
        words: bool,
        /// Whether the program follows a repository's git settings.
        git: bool,
        /// Environment variables that name such files, separated by colons.
        variables: Texts<'a>,
        /// Syntax by which such a file includes others.
        includes: Texts<'a>,
        /// Options whose value is the name of a module known to `includes`.
        modules: Texts<'a>,
    }
}
