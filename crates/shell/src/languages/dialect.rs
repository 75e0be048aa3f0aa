//! Lexical differences between the languages, and the blocks that end with `end`.

use super::token::{Kind, Token};
use crate::model::language::Language;

/// The lexical syntax of a language.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) language: Language,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    /// The string forms, longest opening first.
    pub(super) quotes: &'static [Quote],
    /// Characters that may begin a name.
    pub(super) sigils: &'static str,
    pub(super) heredocs: Heredocs,
    /// Whether the end of a line ends a statement.
    pub(super) newline_ends: bool,
    /// Whether indentation, not brackets, delimits blocks.
    pub(super) indents: bool,
    /// Whether blocks end with `end`.
    pub(super) blocks_end: bool,
    /// Operators that access a member.
    pub(super) member: &'static [&'static str],
    /// Operators that concatenate texts.
    pub(super) concat: &'static [&'static str],
    /// Whether a function may be called without parentheses.
    pub(super) bare_calls: bool,
    /// Whether a slash may begin a regular expression.
    pub(super) patterns: bool,
    /// `q()`, `qq()`, `qx()`, `qw()`, `m//`, `s///`, `tr///`.
    pub(super) quote_words: bool,
    /// `%q()`, `%x()`, `%w()`, `:symbol`.
    pub(super) percent_quotes: bool,
    /// Words before an expression or statement that do not change its meaning.
    pub(super) noise: &'static [&'static str],
    /// Words whose block may run never or several times.
    pub(super) conditions: &'static [&'static str],
}

/// A form of string literal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) quoting: Quoting,
    pub(super) interpolation: Interpolation,
    /// Whether the text is run by a shell.
    pub(super) runs: bool,
}

/// The escapes that a string recognizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// A backslash is literal, but a quote after it does not close the string.
    Raw,
    /// A backslash is literal, and a quote after it closes the string.
    Verbatim,
    /// Only the backslash and the quote can be escaped.
    Few,
    Full,
}

/// The syntax of expressions embedded in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpolation {
    None,
    /// `#{x}`
    Hash,
    /// `$x`, `${x}`, `@{[x]}`, `{$x}`
    Dollar,
    /// `{x}`
    Brace,
    /// `${x}`
    DollarBrace,
}

/// The operator that begins a here-document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heredocs {
    None,
    /// `<<A`, `<<~A`, `<<-A`
    Two,
    /// `<<<A`
    Three,
}

const fn plain(mark: &'static str, quoting: Quoting) -> Quote {
    Quote { open: mark, close: mark, quoting, interpolation: Interpolation::None, runs: false }
}

const fn with(mark: &'static str, interpolation: Interpolation) -> Quote {
    Quote { open: mark, close: mark, quoting: Quoting::Full, interpolation, runs: false }
}

const fn run(interpolation: Interpolation) -> Quote {
    Quote { open: "`", close: "`", quoting: Quoting::Full, interpolation, runs: true }
}

const fn long(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, quoting: Quoting::Verbatim, interpolation: Interpolation::None, runs: false }
}

const BASE: Dialect = Dialect {
    language: Language::Shell,
    line_comments: &["#"],
    block_comments: &[],
    quotes: &[],
    sigils: "",
    heredocs: Heredocs::None,
    newline_ends: true,
    indents: false,
    blocks_end: false,
    member: &["."],
    concat: &["+"],
    bare_calls: false,
    patterns: false,
    quote_words: false,
    percent_quotes: false,
    noise: &[],
    conditions: &[],
};

/// Python. String prefixes (`r`, `b`, `f`) are handled by the lexer.
const PYTHON: Dialect = Dialect {
    language: Language::Python,
    quotes: &[
        plain("\"\"\"", Quoting::Full),
        plain("'''", Quoting::Full),
        plain("\"", Quoting::Full),
        plain("'", Quoting::Full),
    ],
    indents: true,
    noise: &["await", "yield", "async", "raise", "assert", "del", "global", "nonlocal", "pass", "break", "continue"],
    conditions: &["if", "elif", "else", "while", "try", "except", "finally", "match", "case", "for"],
    ..BASE
};

const JAVASCRIPT: Dialect = Dialect {
    language: Language::JavaScript,
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    quotes: &[plain("\"", Quoting::Full), plain("'", Quoting::Full), with("`", Interpolation::DollarBrace)],
    sigils: "$#",
    member: &[".", "?."],
    patterns: true,
    noise: &[
        "await",
        "new",
        "yield",
        "typeof",
        "void",
        "delete",
        "throw",
        "async",
        "export",
        "default",
        "break",
        "continue",
        "case",
        "extends",
        "declare",
        "as",
        "public",
        "private",
        "protected",
        "readonly",
        "static",
        "const",
        "let",
        "var",
    ],
    conditions: &["if", "else", "while", "do", "try", "catch", "finally", "switch", "for", "with", "class"],
    ..BASE
};

const RUBY: Dialect = Dialect {
    language: Language::Ruby,
    block_comments: &[("\n=begin", "\n=end")],
    quotes: &[with("\"", Interpolation::Hash), plain("'", Quoting::Few), run(Interpolation::Hash)],
    sigils: "$@",
    heredocs: Heredocs::Two,
    blocks_end: true,
    member: &[".", "&.", "::"],
    bare_calls: true,
    patterns: true,
    percent_quotes: true,
    noise: &[
        "raise", "yield", "break", "next", "redo", "retry", "then", "else", "elsif", "when", "rescue", "ensure", "in",
        "defined?", "and", "or", "do", "end", "begin", "if", "unless", "while", "until", "case", "private",
    ],
    conditions: &["if", "unless", "while", "until", "case", "begin", "loop", "for", "class", "module"],
    ..BASE
};

const PERL: Dialect = Dialect {
    language: Language::Perl,
    block_comments: &[("\n=pod", "\n=cut"), ("\n=head", "\n=cut"), ("\n=begin", "\n=cut")],
    quotes: &[with("\"", Interpolation::Dollar), plain("'", Quoting::Few), run(Interpolation::Dollar)],
    sigils: "$@%",
    heredocs: Heredocs::Two,
    newline_ends: false,
    member: &["->"],
    concat: &["."],
    bare_calls: true,
    patterns: true,
    quote_words: true,
    noise: &[
        "my",
        "our",
        "local",
        "die",
        "warn",
        "else",
        "do",
        "and",
        "or",
        "if",
        "unless",
        "while",
        "until",
        "last",
        "next",
        "redo",
        "defined",
        "scalar",
        "ref",
        "wantarray",
        "BEGIN",
        "END",
        "new",
    ],
    conditions: &["if", "elsif", "else", "unless", "while", "until", "for", "foreach", "BEGIN", "END"],
    ..BASE
};

const PHP: Dialect = Dialect {
    language: Language::Php,
    line_comments: &["#", "//"],
    block_comments: &[("/*", "*/")],
    quotes: &[with("\"", Interpolation::Dollar), plain("'", Quoting::Few), run(Interpolation::Dollar)],
    sigils: "$",
    heredocs: Heredocs::Three,
    newline_ends: false,
    member: &["->", "?->", "::"],
    concat: &["."],
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
    ..BASE
};

const LUA: Dialect = Dialect {
    language: Language::Lua,
    line_comments: &["--"],
    block_comments: &[("--[[", "]]"), ("--[=[", "]=]"), ("--[==[", "]==]"), ("--[===[", "]===]")],
    quotes: &[
        long("[[", "]]"),
        long("[=[", "]=]"),
        long("[==[", "]==]"),
        long("[===[", "]===]"),
        plain("\"", Quoting::Full),
        plain("'", Quoting::Full),
    ],
    blocks_end: true,
    member: &[".", ":"],
    concat: &[".."],
    bare_calls: true,
    noise: &["then", "else", "elseif", "do", "end", "break", "goto", "local", "if", "while", "until"],
    conditions: &["if", "while", "repeat", "for", "do"],
    ..BASE
};

const APPLESCRIPT: Dialect = Dialect {
    language: Language::AppleScript,
    line_comments: &["--", "#"],
    block_comments: &[("(*", "*)")],
    quotes: &[plain("\"", Quoting::Full)],
    member: &[],
    concat: &["&"],
    noise: &["the", "my", "as", "text", "string", "POSIX", "path", "file", "return", "to", "of", "alias", "get"],
    ..BASE
};

/// Returns the dialect of a language that shares the lexer and the walker.
pub(super) fn of(language: Language) -> Option<&'static Dialect> {
    match language {
        Language::Shell
        | Language::PowerShell
        | Language::Cmd
        | Language::Awk
        | Language::Sed
        | Language::Makefile
        | Language::Crontab
        | Language::Patch
        | Language::Other => None,
        Language::Python => Some(&PYTHON),
        Language::JavaScript => Some(&JAVASCRIPT),
        Language::Perl => Some(&PERL),
        Language::Ruby => Some(&RUBY),
        Language::Php => Some(&PHP),
        Language::Lua => Some(&LUA),
        Language::AppleScript => Some(&APPLESCRIPT),
    }
}

/// Words that open a block in any position.
const OPENERS: [&str; 7] = ["def", "class", "module", "begin", "case", "function", "do"];
/// Words that open a block at the start of a statement; after a statement they only modify it.
const LEADERS: [&str; 5] = ["if", "unless", "while", "until", "for"];

/// Finds the `end` of every block.
pub(super) fn close_blocks(dialect: &Dialect, tokens: &mut [Token]) {
    let mut open: Vec<usize> = Vec::new();
    let mut leads = true;
    // `while x do`: the `do` belongs to the loop.
    let mut awaits_do = false;
    for at in 0..tokens.len() {
        let Some(token) = tokens.get(at) else { break };
        let Kind::Word(word) = &token.kind else {
            leads = !matches!(token.kind, Kind::Close(_) | Kind::Number(_) | Kind::Text(_) | Kind::Run(_));
            awaits_do &= token.kind != Kind::End || dialect.language == Language::Lua;
            continue;
        };
        let is_member = at > 0
            && matches!(tokens.get(at - 1).map(|token| &token.kind), Some(Kind::Symbol(symbol)) if dialect.member.contains(symbol));
        let word = word.as_ref();
        let looping = matches!(word, "while" | "until" | "for");
        let opens = match word {
            "do" => !std::mem::take(&mut awaits_do),
            "repeat" => dialect.language == Language::Lua,
            _ => OPENERS.contains(&word) || (LEADERS.contains(&word) && (leads || dialect.language == Language::Lua)),
        };
        let closes = word == "end" || (word == "until" && dialect.language == Language::Lua);
        leads = matches!(word, "then" | "else" | "do" | "begin" | "and" | "or" | "not" | "return");
        if is_member {
            continue;
        }
        if closes {
            if let Some(opener) = open.pop().and_then(|opener| tokens.get_mut(opener)) {
                opener.close = at;
            }
        } else if opens {
            awaits_do |= looping;
            open.push(at);
        }
    }
    let last = tokens.len();
    for opener in open {
        if let Some(token) = tokens.get_mut(opener) {
            token.close = last;
        }
    }
}
