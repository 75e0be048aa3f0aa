//! PHP: the meaning of its names, and the extraction of code from a file.

use super::dialect;
use super::vocabulary::{Constant as C, Function as F, Vocabulary};

/// Returns the code between `<?php` and `?>`.
pub(super) fn tagged(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once("<?") {
        let inside = inside.strip_prefix("php").or_else(|| inside.strip_prefix('=')).unwrap_or(inside);
        let (part, after) = inside.split_once("?>").unwrap_or((inside, ""));
        code.push_str(part);
        code.push_str(";\n");
        rest = after;
    }
    code
}

pub(super) const VOCABULARY: Vocabulary = Vocabulary {
    dialect: &dialect::PHP,
    noise: &[
        "echo",
        "new",
        "throw",
        "clone",
        "static",
        "public",
        "private",
        "protected",
        "final",
        "abstract",
        "break",
        "continue",
        "global",
        "else",
        "case",
        "default",
        "and",
        "or",
        "const",
    ],
    conditions: &[
        "if", "elseif", "else", "while", "do", "for", "foreach", "switch", "try", "catch", "finally", "class",
    ],
    prefixes: &["."],
    opens: &[("fopen", 1), ("SplFileObject", 1)],
    functions: &[
        ("strval", F::Text),
        ("realpath", F::Resolved),
        ("escapeshellarg", F::Quote),
        ("escapeshellcmd", F::Same),
        ("dirname", F::Folder),
        ("basename", F::FileName),
        ("getcwd", F::Constant(C::WorkingDirectory)),
        ("sys_get_temp_dir", F::Constant(C::Text("/tmp"))),
        ("tempnam", F::Constant(C::Temporary)),
        ("getenv", F::Variable),
        ("readline", F::Constant(C::Input)),
        ("stream_get_contents", F::Same),
        ("fgets", F::Constant(C::Input)),
        ("chr", F::FromCharCodes),
        ("ord", F::Ordinal),
        ("pack", F::Pack),
        ("base64_decode", F::Base64),
        ("hex2bin", F::Hexadecimal),
        ("urldecode", F::Url),
        ("rawurldecode", F::Url),
        ("str_rot13", F::Rotate13),
        ("strrev", F::Reversed),
        ("array_reverse", F::Reversed),
        ("array", F::All),
        ("range", F::Range),
        ("array_map", F::Map),
        ("array_walk", F::MapBack),
        ("glob", F::Glob),
        ("implode", F::JoinWith),
        ("join", F::JoinWith),
        ("explode", F::SplitBy),
        ("sprintf", F::Format),
        ("str_replace", F::Replace),
        ("str_repeat", F::Repeat),
        ("call_user_func", F::Call),
        ("call_user_func_array", F::Call),
        ("chdir", F::ChangeFolder),
        ("intval", F::Number),
        ("printf", F::Format),
        ("print", F::Print),
        ("trim", F::Same),
    ],
    constants: &[
        ("$argv", C::Arguments(1)),
        ("$_ENV", C::Environment),
        ("$_SERVER", C::Environment),
        ("STDIN", C::Input),
        ("DIRECTORY_SEPARATOR", C::Text("/")),
        ("PHP_EOL", C::Text("\n")),
        ("PHP_BINARY", C::Text("php")),
        ("__DIR__", C::SourceFolder),
        ("__FILE__", C::Source),
    ],
};
