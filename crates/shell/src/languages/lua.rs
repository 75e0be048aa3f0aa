//! Lua: the meaning of its names.

use super::dialect;
use super::vocabulary::{Constant as C, Function as F, Vocabulary};

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    dialect: &dialect::LUA,
    noise: &["then", "else", "elseif", "do", "end", "break", "goto", "local", "if", "while", "until"],
    conditions: &["if", "while", "repeat", "for", "do"],
    prefixes: &["_G."],
    opens: &[("io.open", 1)],
    functions: &[
        ("tostring", F::Text),
        ("assert", F::Same),
        ("ipairs", F::Same),
        ("pairs", F::Same),
        ("os.getenv", F::Variable),
        ("os.tmpname", F::Constant(C::Temporary)),
        ("io.read", F::Constant(C::Input)),
        ("string.char", F::FromCharCodes),
        ("string.byte", F::Ordinal),
        ("string.reverse", F::Reversed),
        ("string.format", F::Format),
        ("string.rep", F::Repeat),
        ("table.concat", F::Table),
        ("print", F::PrintLine),
        ("io.write", F::Print),
        ("require", F::Module),
        ("tonumber", F::Number),
        ("lfs.chdir", F::ChangeFolder),
        ("lfs.currentdir", F::Constant(C::WorkingDirectory)),
    ],
    constants: &[("arg", C::Arguments(0)), ("_G", C::Names), ("_ENV", C::Names)],
};
