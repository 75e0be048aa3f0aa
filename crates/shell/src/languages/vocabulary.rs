//! What the names of a language mean, as far as they compute and do nothing.

use super::dialect::Dialect;

/// A language: how it is written, and what its names mean.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) dialect: &'static Dialect,
    /// Words before an expression or statement that change nothing of what it does.
    pub(super) noise: &'static [&'static str],
    /// Words whose block may not run, or not only once.
    pub(super) conditions: &'static [&'static str],
    /// Functions that only compute.
    pub(super) functions: &'static [(&'static str, Function)],
    /// Names that stand for a value.
    pub(super) constants: &'static [(&'static str, Constant)],
    /// Functions that open a file: which argument says how.
    pub(super) opens: &'static [(&'static str, usize)],
    /// Fronts of names that say nothing: `node:`, `globalThis.`.
    pub(super) prefixes: &'static [&'static str],
}

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// Its first argument.
    Same,
    /// Its first argument as a text.
    Text,
    /// Its arguments as parts of a path.
    JoinPath,
    /// Its first argument, with `~` for the home folder.
    ExpandHome,
    /// A constant.
    Constant(Constant),
    /// The environment variable that it names, else its second argument.
    Variable,
    /// The letters of its numbers.
    Letters,
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
    /// The member of an object: `getattr(os, "system")`.
    Member,
    /// The module of a name.
    Module,
    /// A number.
    Number,
    /// The number of a letter.
    Ordinal,
    Join,
    /// `implode(between, list)`, `join between, list`.
    JoinWith,
    Split,
    Format,
    Replace,
    Folder,
    FileName,
    /// Quoted for a shell.
    Quote,
    /// Prints its arguments.
    Print,
    /// Prints its arguments and ends the line.
    PrintLine,
    ChangeFolder,
    /// Nothing that is known.
    Nothing,
    /// Its named arguments as a map.
    Assign,
    /// All of its arguments as a list.
    All,
    /// `explode(between, text)`
    SplitBy,
    /// `str_repeat(text, count)`
    Repeat,
    /// `table.concat(list, between)`
    Table,
    /// `array_walk(list, function)`
    MapBack,
    /// The function that its first argument names, with the others.
    Call,
    /// `Reflect.apply(function, this, list)`
    Apply,
    /// The first of a function's arguments, or of the text's.
    Shift,
    /// `add_argument("--out")`
    DeclareOption,
    /// `parse_args()`
    ParsedOptions,
}

/// A value that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constant {
    Text(&'static str),
    Home,
    /// A folder below the home.
    BelowHome(&'static str),
    WorkingDirectory,
    /// The file in which the text stands.
    Source,
    SourceFolder,
    Temporary,
    Input,
    /// The arguments, with this many names before the first.
    Arguments(usize),
    /// All environment variables.
    Environment,
    /// Every name of the text.
    Names,
}

impl Vocabulary {
    /// What a function of this name computes.
    pub(super) fn function(&self, name: &str) -> Option<Function> {
        self.functions.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// The value that this name stands for.
    pub(super) fn constant(&self, name: &str) -> Option<Constant> {
        self.constants.iter().find(|(known, _)| *known == name).map(|(_, constant)| *constant)
    }

    /// A name without what says nothing.
    pub(super) fn canonical(&self, name: &str) -> String {
        let mut name = name.replace("()", "").replace("::", ".").replace('/', ".").replace(".__dict__.", ".");
        while let Some(rest) = self.prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)) {
            name = rest.to_owned();
        }
        name
    }
}
