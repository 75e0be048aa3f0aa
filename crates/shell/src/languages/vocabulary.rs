//! Meanings of a language's names, as far as they compute values and have no effects: entries of `library/languages`.

use super::dialect::{self, Dialect};
use crate::cli_grammar::program::Programs;
use crate::model::language::Language;
use reflex_tables::views::{LanguageNames, Members, NameMeaning};

/// Declares an enum of meanings, each with its word in the library.
macro_rules! meanings {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $meaning:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $($(#[$doc])* $meaning,)+ }

        impl $name {
            /// Returns the meaning with this word in the library.
            fn from_word(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$meaning),)+
                    _ => None,
                }
            }
        }
    };
}

/// A language: its syntax and the meaning of its names.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    pub(super) dialect: &'static Dialect,
    names: LanguageNames<'static>,
    members: Members<'static>,
    /// Beginnings of names that carry no meaning: `node:`, `globalThis.`.
    prefixes: Vec<&'static str>,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallMeaning {
    Function(Function),
    Constant(Constant),
}

meanings! {
    /// A function of the arguments.
    pub(super) enum Function {
        /// The first argument.
        Same = "same",
        /// The first argument, a path, with its symlinks resolved.
        Resolved = "resolved",
        /// The first argument as a text.
        Text = "text",
        /// The arguments joined as parts of a path.
        JoinPath = "join-path",
        /// The first argument, with `~` expanded to the home directory.
        ExpandHome = "expand-home",
        /// The environment variable named by the first argument, else the second argument.
        Variable = "variable",
        /// The characters with the given code points.
        FromCharCodes = "from-char-codes",
        /// `pack("H*", …)`, `pack("C*", …)`.
        Pack = "pack",
        Base64 = "base64",
        Hexadecimal = "hexadecimal",
        Url = "url",
        /// `codecs.decode(text, 'rot13')`, `Buffer.from(text, 'base64')`, `bytes(list)`.
        Decode = "decode",
        Rotate13 = "rotate13",
        List = "list",
        Reversed = "reversed",
        Range = "range",
        Zip = "zip",
        Enumerate = "enumerate",
        /// `map(function, list)`.
        Map = "map",
        Glob = "glob",
        /// A member of an object: `getattr(os, "system")`.
        Member = "member",
        /// The module with the given name.
        Module = "module",
        /// Its argument, if that is a number. A name that returns a number of its own needs no entry: a result that
        /// is not known has no effect.
        Number = "number",
        /// The code point of a character.
        Ordinal = "ordinal",
        Join = "join",
        /// `implode(between, list)`, `join between, list`.
        JoinWith = "join-with",
        Split = "split",
        Format = "format",
        Replace = "replace",
        Folder = "folder",
        FileName = "file-name",
        /// The argument quoted for a shell.
        Quote = "quote",
        /// Prints its arguments.
        Print = "print",
        /// Prints its arguments and a newline.
        PrintLine = "print-line",
        ChangeFolder = "change-folder",
        /// An unknown value.
        Nothing = "nothing",
        /// The named arguments as a map.
        Assign = "assign",
        /// All arguments as a list.
        All = "all",
        /// `explode(between, text)`
        SplitBy = "split-by",
        /// `str_repeat(text, count)`
        Repeat = "repeat",
        /// `table.concat(list, between)`
        Table = "table",
        /// `array_walk(list, function)`
        MapBack = "map-back",
        /// Calls the function named by the first argument with the other arguments.
        Call = "call",
        /// `Reflect.apply(function, this, list)`
        Apply = "apply",
        /// The first argument of the enclosing function, or of the script at top level.
        Shift = "shift",
        /// `add_argument("--out")`
        DeclareOption = "declare-option",
        /// `parse_args()`
        ParsedOptions = "parsed-options",
    }
}

meanings! {
    /// The result of a method of a text, a list, a map or a file.
    pub(super) enum Method {
        /// The receiver, if it is not a number.
        Same = "same",
        /// The receiver.
        Itself = "itself",
        /// The content of a file.
        Read = "read",
        /// Appends the first argument to a file.
        Write = "write",
        /// The text, decoded by the name of an encoding.
        Decode = "decode",
        /// The text without blanks at its ends.
        Trim = "trim",
        /// The path with its symlinks resolved.
        Resolved = "resolved",
        Join = "join",
        Split = "split",
        Characters = "characters",
        Replace = "replace",
        Concatenate = "concatenate",
        /// `'{}'.format(x)`
        Format = "format",
        LowerCase = "lower-case",
        UpperCase = "upper-case",
        Reversed = "reversed",
        Repeat = "repeat",
        Slice = "slice",
        Element = "element",
        /// The code point of a character.
        Ordinal = "ordinal",
        FromCharCode = "from-char-code",
        /// The path, with `~` expanded to the home directory.
        ExpandHome = "expand-home",
        JoinPath = "join-path",
        /// The path with another last part.
        WithName = "with-name",
        /// The files in a folder that match a pattern.
        Glob = "glob",
        /// The files below a folder that match a pattern.
        GlobBelow = "glob-below",
        /// Calls a function with each item.
        EachItem = "each-item",
        /// Calls functions with the receiver.
        EachCallback = "each-callback",
        /// `text.unpack1('m')`
        Unpack = "unpack",
        /// `list.pack('C*')`
        Pack = "pack",
        /// The keys of a map, each with its value.
        Pairs = "pairs",
        Keys = "keys",
        Values = "values",
    }
}

meanings! {
    /// A member of a text that is not called.
    pub(super) enum Attribute {
        Folder = "folder",
        FileName = "file-name",
        /// The text itself.
        Same = "same",
        /// The result of the method with the same name.
        Method = "method",
    }
}

meanings! {
    /// The change that a method makes to its list.
    pub(super) enum ListChange {
        Append = "append",
        Prepend = "prepend",
        /// `list.insert(index, item)`
        Insert = "insert",
        /// Appends the items of another list.
        Extend = "extend",
        Reverse = "reverse",
    }
}

/// A fixed value that a name denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constant {
    Text(&'static str),
    Home,
    /// A directory below the home directory.
    BelowHome(&'static str),
    WorkingDirectory,
    /// The path of the script.
    Source,
    SourceFolder,
    Temporary,
    Input,
    /// The arguments, preceded by this many names: those of the program and the script.
    Arguments(usize),
    /// All environment variables.
    Environment,
    /// All names that the script defines.
    Names,
}

impl Constant {
    fn from_meaning(meaning: NameMeaning<'static>) -> Option<Constant> {
        Some(match meaning.means() {
            "fixed-text" => Constant::Text(meaning.text()),
            "home" => Constant::Home,
            "below-home" => Constant::BelowHome(meaning.text()),
            "working-directory" => Constant::WorkingDirectory,
            "source" => Constant::Source,
            "source-folder" => Constant::SourceFolder,
            "temporary" => Constant::Temporary,
            "input" => Constant::Input,
            "arguments" => Constant::Arguments(meaning.skip() as usize),
            "environment" => Constant::Environment,
            "names" => Constant::Names,
            _ => return None,
        })
    }
}

impl Vocabulary {
    /// Returns the vocabulary of a language; `None` if the language has a reader of its own.
    pub(super) fn new(language: Language, programs: Programs) -> Option<Vocabulary> {
        let dialect = dialect::of(language)?;
        let names = programs.names(language.name());
        Some(Vocabulary { dialect, names, members: programs.members(), prefixes: names.prefixes().iter().collect() })
    }

    /// Returns what a call of this name computes.
    pub(super) fn call(&self, name: &str) -> Option<CallMeaning> {
        let meaning = self.names.calls().find(name)?;
        let function = Function::from_word(meaning.means()).map(CallMeaning::Function);
        function.or_else(|| Constant::from_meaning(meaning).map(CallMeaning::Constant))
    }

    /// Whether a call of this name computes a known value.
    pub(super) fn has_call(&self, name: &str) -> bool {
        self.names.calls().index_of(name).is_some()
    }

    /// Returns the value that this name denotes.
    pub(super) fn constant(&self, name: &str) -> Option<Constant> {
        self.names.constants().find(name).and_then(Constant::from_meaning)
    }

    /// Returns the index of the mode argument, if the function of this name opens a file.
    pub(super) fn mode_argument(&self, name: &str) -> Option<usize> {
        self.names.opens().find(name).map(|at| at as usize)
    }

    /// Returns what a method of this name computes.
    pub(super) fn method(&self, name: &str) -> Option<Method> {
        self.members.methods().find(name).and_then(Method::from_word)
    }

    /// Returns what a member of this name is, if it is not called.
    pub(super) fn attribute(&self, name: &str) -> Option<Attribute> {
        self.members.attributes().find(name).and_then(Attribute::from_word)
    }

    /// Returns what a method of this name does to its list.
    pub(super) fn list_change(&self, name: &str) -> Option<ListChange> {
        self.members.changes().find(name).and_then(ListChange::from_word)
    }

    /// Returns the dotted form of a name, without the prefixes that carry no meaning.
    pub(super) fn canonical(&self, name: &str) -> String {
        let mut name = name.replace("()", "").replace("::", ".").replace('/', ".").replace(".__dict__.", ".");
        while let Some(rest) = self.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)) {
            name = rest.to_owned();
        }
        name
    }
}
