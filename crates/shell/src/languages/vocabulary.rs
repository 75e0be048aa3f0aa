//! Meanings of a language's names, as far as they compute values and have no effects.

use super::dialect::Dialect;

/// A language: its syntax and the meaning of its names.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) dialect: &'static Dialect,
    /// Words before an expression or statement that do not change its meaning.
    pub(super) noise: &'static [&'static str],
    /// Words whose block may run never or several times.
    pub(super) conditions: &'static [&'static str],
    /// Pure functions.
    pub(super) functions: &'static [(&'static str, Function)],
    /// Names that denote a fixed value.
    pub(super) constants: &'static [(&'static str, Constant)],
    /// Functions that open a file, each with the index of its mode argument.
    pub(super) opens: &'static [(&'static str, usize)],
    /// Prefixes of names that carry no meaning: `node:`, `globalThis.`.
    pub(super) prefixes: &'static [&'static str],
}

/// The result of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// The first argument.
    Same,
    /// The first argument, a path, with its symlinks resolved.
    Resolved,
    /// The first argument as a text.
    Text,
    /// The arguments joined as parts of a path.
    JoinPath,
    /// The first argument, with `~` expanded to the home directory.
    ExpandHome,
    /// A constant.
    Constant(Constant),
    /// The environment variable named by the first argument, else the second argument.
    Variable,
    /// The characters with the given code points.
    FromCharCodes,
    /// `pack("H*", …)`, `pack("C*", …)`.
    Pack,
    Base64,
    Hexadecimal,
    Url,
    /// `codecs.decode(text, 'rot13')`, `Buffer.from(text, 'base64')`, `bytes(list)`.
    Decode,
    Rotate13,
    List,
    Reversed,
    Range,
    Zip,
    Enumerate,
    /// `map(function, list)`.
    Map,
    Glob,
    /// A member of an object: `getattr(os, "system")`.
    Member,
    /// The module with the given name.
    Module,
    /// A number.
    Number,
    /// The code point of a character.
    Ordinal,
    Join,
    /// `implode(between, list)`, `join between, list`.
    JoinWith,
    Split,
    Format,
    Replace,
    Folder,
    FileName,
    /// The argument quoted for a shell.
    Quote,
    /// Prints its arguments.
    Print,
    /// Prints its arguments and a newline.
    PrintLine,
    ChangeFolder,
    /// An unknown value.
    Nothing,
    /// The named arguments as a map.
    Assign,
    /// All arguments as a list.
    All,
    /// `explode(between, text)`
    SplitBy,
    /// `str_repeat(text, count)`
    Repeat,
    /// `table.concat(list, between)`
    Table,
    /// `array_walk(list, function)`
    MapBack,
    /// Calls the function named by the first argument with the other arguments.
    Call,
    /// `Reflect.apply(function, this, list)`
    Apply,
    /// The first argument of the enclosing function, or of the script at top level.
    Shift,
    /// `add_argument("--out")`
    DeclareOption,
    /// `parse_args()`
    ParsedOptions,
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

impl Vocabulary {
    /// Returns what a function of this name computes.
    pub(super) fn function(&self, name: &str) -> Option<Function> {
        self.functions.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// Returns the value that this name denotes.
    pub(super) fn constant(&self, name: &str) -> Option<Constant> {
        self.constants.iter().find(|(known, _)| *known == name).map(|(_, constant)| *constant)
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
