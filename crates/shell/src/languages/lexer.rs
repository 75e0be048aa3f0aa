//! Lexer for script languages: splits a source text into tokens, skips comments, reads every form of string literal and
//! pairs up brackets.

use super::dialect::{Dialect, Heredocs, Interpolation, Quote, Quoting, close_blocks};
use super::token::{Chunk, Kind, Token};
use crate::model::language::Language;
use crate::text_tools::decode;
use std::rc::Rc;

/// The operators and punctuation, longest first, so that the first match is the longest.
const SYMBOLS: [&str; 65] = [
    "===", "!==", "**=", "//=", "||=", "&&=", "??=", "...", "<=>", "<<=", ">>=", ">>>", "?->", "=>", "->", "::", "==",
    "!=", "<=", ">=", "&&", "||", "??", "?.", "&.", "..", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", "**",
    "//", "++", "--", "<<", ">>", "=~", "!~", ":=", "~=", "=", ".", ",", ":", "?", "+", "-", "*", "/", "%", "<", ">",
    "!", "~", "&", "|", "^", "@", "\\", "#",
];

/// Maximum length in characters of a pattern or of an expression inside a string. The limit keeps the lexer linear:
/// without it, every unterminated opening would scan the rest of the text.
const MAX_PART: usize = 2048;

/// Splits a text into tokens.
pub(super) fn tokens(dialect: &'static Dialect, text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, dialect, at: 0, tokens: Vec::new(), open: Vec::new(), heredocs: Vec::new() };
    let mut indent = Some(0);
    let mut spaced = false;
    while let Some(ch) = lexer.peek() {
        match ch {
            '\n' => {
                lexer.at += 1;
                lexer.line_end();
                // Only the first line of a statement has an indentation.
                let ended = matches!(lexer.tokens.last(), None | Some(Token { kind: Kind::End, .. }));
                indent = ended.then_some(0);
            }
            ' ' | '\t' | '\r' | '\u{feff}' => {
                lexer.at += ch.len_utf8();
                indent = indent.map(|indent| if ch == '\t' { indent + 8 } else { indent + 1 });
                spaced = true;
                continue;
            }
            _ if lexer.comment() => {}
            _ => {
                let before = lexer.tokens.len();
                lexer.token(ch);
                for token in lexer.tokens.iter_mut().skip(before).take(1) {
                    (token.indent, token.spaced) = (indent, spaced || indent.is_some());
                }
                (indent, spaced) = (None, false);
                continue;
            }
        }
        spaced = true;
    }
    lexer.finish()
}

struct Lexer<'t> {
    text: &'t str,
    dialect: &'static Dialect,
    at: usize,
    tokens: Vec<Token>,
    open: Vec<usize>,
    /// Here-documents whose bodies begin on the next line.
    heredocs: Vec<Heredoc>,
}

struct Heredoc {
    token: usize,
    delimiter: String,
    expands: bool,
    runs: bool,
    /// Whether leading blanks are stripped from the body's lines.
    indented: bool,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, kind: Kind) {
        let close = self.tokens.len();
        self.tokens.push(Token { kind, indent: None, spaced: false, close });
    }

    fn finish(mut self) -> Vec<Token> {
        let last = self.tokens.len();
        for opener in self.open {
            if let Some(token) = self.tokens.get_mut(opener) {
                token.close = last;
            }
        }
        if self.dialect.blocks_end {
            close_blocks(self.dialect, &mut self.tokens);
        }
        self.tokens
    }

    fn innermost(&self) -> Option<char> {
        match self.tokens.get(*self.open.last()?).map(|token| &token.kind) {
            Some(Kind::Open(ch)) => Some(*ch),
            _ => None,
        }
    }

    fn line_end(&mut self) {
        self.heredoc_bodies();
        let inside = match self.innermost() {
            None => false,
            Some('{') => self.dialect.indents,
            Some(_) => true,
        };
        let goes_on = match self.tokens.last().map(|token| &token.kind) {
            None | Some(Kind::End) => true,
            Some(Kind::Symbol("\\")) => {
                self.tokens.pop();
                true
            }
            Some(Kind::Symbol(symbol)) => !self.dialect.indents && !matches!(*symbol, "++" | "--" | "?" | "!"),
            Some(_) => false,
        };
        if goes_on || inside || !self.dialect.newline_ends {
            return;
        }
        let next = self.rest().trim_start();
        let leads_on = !self.dialect.indents
            && (self.dialect.member.iter().chain(self.dialect.concat).any(|symbol| next.starts_with(symbol))
                && !next.starts_with("::")
                || next.starts_with("?") && self.dialect.language == Language::JavaScript);
        if !leads_on {
            self.push(Kind::End);
        }
    }

    /// Skips a comment, if one begins here.
    fn comment(&mut self) -> bool {
        let rest = self.rest();
        let before = self.at.checked_sub(1).and_then(|at| self.text.get(at..)).unwrap_or("");
        for (open, close) in self.dialect.block_comments {
            let begins = match open.strip_prefix('\n') {
                Some(word) => rest.starts_with(word) && (self.at == 0 || before.starts_with('\n')),
                None => rest.starts_with(open),
            };
            if begins {
                let end =
                    rest.get(1..).and_then(|inside| inside.find(close)).map_or(rest.len(), |at| at + 1 + close.len());
                self.at += end;
                return true;
            }
        }
        let ends_all = matches!(self.dialect.language, Language::Perl | Language::Ruby)
            && (rest.starts_with("__END__") || rest.starts_with("__DATA__"))
            && (self.at == 0 || before.starts_with('\n'));
        if ends_all {
            self.at = self.text.len();
            return true;
        }
        if !self.dialect.line_comments.iter().any(|mark| rest.starts_with(mark)) || self.is_private_name() {
            return false;
        }
        self.at += rest.find('\n').unwrap_or(rest.len());
        true
    }

    /// Whether the `#` at the cursor does not begin a comment: `$#x` in Perl is the last index of a list.
    fn is_private_name(&self) -> bool {
        self.dialect.language == Language::Perl && self.text.get(..self.at).is_some_and(|before| before.ends_with('$'))
    }

    fn token(&mut self, ch: char) {
        if self.heredoc() || self.diamond() || self.string() || self.quote_word() || self.percent_quote() {
            return;
        }
        let rest = self.rest();
        if ch.is_ascii_digit() {
            return self.number();
        }
        if is_name(ch) || (self.dialect.sigils.contains(ch) && self.sigil(rest)) {
            return self.word();
        }
        if ch == '/' && self.dialect.patterns && self.operand_expected() {
            return self.pattern();
        }
        match ch {
            '(' | '[' | '{' => {
                self.open.push(self.tokens.len());
                self.push(Kind::Open(ch));
                self.at += 1;
            }
            ')' | ']' | '}' => self.close(ch),
            ';' => {
                self.push(Kind::End);
                self.at += 1;
            }
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.push(Kind::Symbol(symbol));
                    self.at += symbol.len();
                }
                None => self.at += ch.len_utf8(),
            },
        }
    }

    fn close(&mut self, ch: char) {
        let here = self.tokens.len();
        self.push(Kind::Close(ch));
        self.at += 1;
        let opener = match ch {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        // A bracket closed out of order is closed together with the bracket that encloses it.
        let fits = |at: &usize| self.tokens.get(*at).is_some_and(|token| token.kind == Kind::Open(opener));
        let Some(depth) = self.open.iter().rev().take(64).position(fits) else { return };
        for opener in self.open.split_off(self.open.len() - depth - 1) {
            if let Some(token) = self.tokens.get_mut(opener) {
                token.close = here;
            }
        }
    }

    /// Whether a sigil begins a name at the cursor. Otherwise the character is an operator.
    fn sigil(&self, rest: &str) -> bool {
        let mut chars = rest.chars();
        let sigil = chars.next();
        let next = chars.next().unwrap_or(' ');
        match sigil {
            Some('%') => self.operand_expected() && (is_name(next) || "${".contains(next)),
            Some('@') => is_name(next) || next == '@' || "${".contains(next),
            Some('#') => is_name(next),
            // A tagged template: $`ls`.
            Some('$') if next == '`' => self.dialect.language == Language::JavaScript,
            _ => is_name(next) || "{$_!0&@,;.\\/".contains(next) || next.is_ascii_digit() || next == '#',
        }
    }

    fn word(&mut self) {
        let rest = self.rest();
        let chars = rest.trim_start_matches(|ch: char| self.dialect.sigils.contains(ch));
        let sigils = rest.len() - chars.len();
        let mut end = chars.find(|ch: char| !is_name(ch) && !ch.is_ascii_digit()).unwrap_or(chars.len());
        // Qualified names of Perl and PHP: `File::Path`.
        if self.dialect.language == Language::Perl && end > 0 {
            while let Some(more) = chars.get(end..).and_then(|rest| rest.strip_prefix("::")) {
                let length = more.find(|ch: char| !is_name(ch) && !ch.is_ascii_digit()).unwrap_or(more.len());
                end += 2 + length;
            }
        }
        if self.dialect.language == Language::Ruby
            && chars.get(end..).is_some_and(|rest| rest.starts_with(['?', '!']) && !rest.starts_with("!="))
            && end > 0
        {
            end += 1;
        }
        if sigils > 0 && end == 0 {
            // `$0`, `$$`, `${`, `@{`
            end = chars.chars().next().filter(|ch| !"{([`".contains(*ch)).map_or(0, char::len_utf8);
        }
        let name = chars.get(..end).unwrap_or("");
        let word = if sigils == 0 {
            name.to_owned()
        } else if self.dialect.language == Language::Ruby {
            rest.get(..sigils + end).unwrap_or("").to_owned()
        } else {
            format!("$ {name}").replace(' ', "")
        };
        self.push(Kind::Word(word.into()));
        self.at += sigils + end;
    }

    fn number(&mut self) {
        let rest = self.rest();
        let radix = match rest.get(..2) {
            Some("0x" | "0X") => 16,
            Some("0b" | "0B") => 2,
            Some("0o" | "0O") => 8,
            _ => 10,
        };
        let digits = if radix == 10 { rest } else { rest.get(2..).unwrap_or("") };
        let end = digits.find(|ch: char| !ch.is_digit(radix) && ch != '_').unwrap_or(digits.len());
        let text = digits.get(..end).unwrap_or("").replace('_', "");
        let octal = radix == 10 && text.len() > 1 && text.starts_with('0') && !text.contains(['8', '9']);
        let value = i64::from_str_radix(&text, if octal { 8 } else { radix }).unwrap_or(0);
        self.push(Kind::Number(value));
        self.at += if radix == 10 { end } else { end + 2 };
        // The fraction is dropped; no caller needs it.
        let rest = self.rest();
        if let Some(fraction) = rest.strip_prefix('.').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            self.at += 1 + fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        }
    }

    /// Whether an operand, not an operator, is expected at the cursor.
    fn operand_expected(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            None | Some(Kind::End | Kind::Open(_) | Kind::Symbol(_)) => true,
            Some(Kind::Word(word)) => {
                const KEYWORDS: [&str; 22] = [
                    "return", "if", "unless", "and", "or", "not", "when", "while", "until", "split", "grep", "map",
                    "typeof", "case", "in", "of", "delete", "print", "puts", "my", "push", "x",
                ];
                // Functions of Perl that take a list or hash: `keys %ENV`.
                const OF_LISTS: [&str; 6] = ["keys", "values", "each", "sort", "reverse", "scalar"];
                KEYWORDS.contains(&&**word) || self.dialect.quote_words && OF_LISTS.contains(&&**word)
            }
            Some(Kind::Close('}')) => self.dialect.quote_words,
            Some(Kind::Number(_) | Kind::Text(_) | Kind::Run(_) | Kind::Words(_) | Kind::Pattern | Kind::Close(_)) => {
                false
            }
        }
    }

    /// Reads `/…/flags`, if the pattern is closed on its line.
    fn pattern(&mut self) {
        let rest = self.rest();
        let mut class = false;
        let mut escaped = false;
        for (at, ch) in rest.char_indices().skip(1).take(MAX_PART) {
            match ch {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '/' if !class => {
                    self.push(Kind::Pattern);
                    let flags = rest.get(at + 1..).unwrap_or("");
                    self.at += at + 1 + flags.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(flags.len());
                    return;
                }
                _ => {}
            }
        }
        self.push(Kind::Symbol("/"));
        self.at += 1;
    }

    fn string(&mut self) -> bool {
        let rest = self.rest();
        let marks = rest.char_indices().take(3).find(|(_, ch)| matches!(ch, '"' | '\''));
        let chars = marks.filter(|_| self.dialect.indents).map_or(0, |(at, _)| at);
        let prefix = rest.get(..chars).unwrap_or("").to_ascii_lowercase();
        let known = prefix.len() <= 2 && prefix.bytes().all(|byte| b"rbuft".contains(&byte));
        let skip = if known { chars } else { 0 };
        let begin = rest.get(skip..).unwrap_or("");
        let Some(quote) = self.dialect.quotes.iter().find(|quote| begin.starts_with(quote.open)) else { return false };
        let mut quote = *quote;
        if known && prefix.contains('r') {
            quote.quoting = Quoting::Raw;
        }
        if known && prefix.contains(['f', 't']) {
            quote.interpolation = Interpolation::Brace;
        }
        self.at += skip + quote.open.len();
        let raw = self.until(quote.close, None, quote.quoting);
        self.push_string(&raw, quote);
        true
    }

    fn push_string(&mut self, raw: &str, quote: Quote) {
        let chunks: Rc<[Chunk]> = chunks(raw, quote).into();
        self.push(if quote.runs { Kind::Run(chunks) } else { Kind::Text(chunks) });
    }

    /// Returns the characters up to the closing mark and moves past it. Nested pairs of `open` and `close` are part of
    /// the result.
    fn until(&mut self, close: &str, open: Option<&str>, quoting: Quoting) -> String {
        let rest = self.rest();
        let (mut at, mut depth) = (0, 0);
        while let Some(ch) = rest.get(at..).and_then(|rest| rest.chars().next()) {
            let here = rest.get(at..).unwrap_or("");
            if ch == '\\' && quoting != Quoting::Verbatim {
                at += 1 + here.chars().nth(1).map_or(0, char::len_utf8);
            } else if here.starts_with(close) && depth == 0 {
                self.at += at + close.len();
                return rest.get(..at).unwrap_or("").to_owned();
            } else {
                depth += usize::from(open.is_some_and(|open| here.starts_with(open)));
                depth -= usize::from(here.starts_with(close)).min(depth);
                at += ch.len_utf8();
            }
        }
        self.at = self.text.len();
        rest.to_owned()
    }

    /// Reads a text between two arbitrary delimiters, as in `q(…)` and `%x{…}`.
    fn delimited(&mut self, quoting: Quoting) -> String {
        let Some(open) = self.peek() else { return String::new() };
        self.at += open.len_utf8();
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let (opening, closing) = (open.to_string(), close.to_string());
        self.until(&closing, (open != close).then_some(opening.as_str()), quoting)
    }

    /// `q()`, `qq()`, `qx()`, `qw()`, `m//`, `qr//`, `s///`, `tr///`, `y///`.
    fn quote_word(&mut self) -> bool {
        const WORDS: [&str; 9] = ["qq", "qx", "qw", "qr", "tr", "q", "m", "s", "y"];
        if !self.dialect.quote_words || matches!(self.tokens.last(), Some(token) if token.kind == Kind::Symbol("->")) {
            return false;
        }
        let rest = self.rest();
        let Some(word) = WORDS.iter().find(|word| rest.starts_with(**word)) else { return false };
        let after = rest.get(word.len()..).unwrap_or("");
        let blanks = after.len() - after.trim_start().len();
        let mark = after.trim_start().chars().next().unwrap_or(' ');
        let spaced = blanks > 0 && (mark == '#' || mark == '=' || mark == ',' || is_name(mark));
        let fits = !is_name(mark) && !mark.is_ascii_digit() && !",;)=".contains(mark) && !mark.is_whitespace();
        let key = after.trim_start().starts_with("=>") || (mark == '}' && self.innermost() == Some('{'));
        if spaced || !fits || key {
            return false;
        }
        self.at += word.len() + blanks;
        let raw = self.delimited(Quoting::Few);
        let interpolation = if mark == '\'' { Interpolation::None } else { Interpolation::Dollar };
        let full = Quote { open: "", close: "", quoting: Quoting::Full, interpolation, runs: *word == "qx" };
        match *word {
            "q" => self.push_string(&raw, Quote { quoting: Quoting::Few, interpolation: Interpolation::None, ..full }),
            "qq" | "qx" => self.push_string(&raw, full),
            "qw" => self.push(Kind::Words(raw.into())),
            "s" | "tr" | "y" => self.replacement(word, mark),
            _ => {
                self.flags();
                self.push(Kind::Pattern);
            }
        }
        true
    }

    /// Reads the replacement of `s///`, which is code if the flags contain `e`.
    fn replacement(&mut self, word: &str, mark: char) {
        let raw = if "([{<".contains(mark) {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            self.delimited(Quoting::Few)
        } else {
            self.until(&mark.to_string(), None, Quoting::Few)
        };
        let flags = self.flags();
        if word == "s" && flags.contains('e') {
            self.push(Kind::Text([Chunk::Code(raw)].into()));
        } else if word == "s" {
            self.push_string(
                &raw,
                Quote {
                    open: "",
                    close: "",
                    quoting: Quoting::Full,
                    interpolation: Interpolation::Dollar,
                    runs: false,
                },
            );
        } else {
            self.push(Kind::Pattern);
        }
    }

    fn flags(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    /// `%w[a b]`, `%x(…)`, `%q{…}`, `:symbol`.
    fn percent_quote(&mut self) -> bool {
        if !self.dialect.percent_quotes {
            return false;
        }
        let rest = self.rest();
        if let Some(symbol) = rest.strip_prefix(':').filter(|rest| rest.starts_with(is_name) && self.operand_expected())
        {
            let end = symbol.find(|ch: char| !is_name(ch) && !ch.is_ascii_digit()).unwrap_or(symbol.len());
            self.push(Kind::Text([Chunk::Text(symbol.get(..end).unwrap_or("").into())].into()));
            self.at += 1 + end;
            return true;
        }
        let mut chars = rest.chars();
        let spaced = self.text.get(..self.at).is_some_and(|before| before.ends_with(' '));
        if chars.next() != Some('%') {
            return false;
        }
        let (kind, mark) = (chars.next().unwrap_or(' '), chars.next().unwrap_or(' '));
        let bare = "({[<|!".contains(kind) && self.operand_expected();
        let worded = "qQxwWiIr".contains(kind) && !mark.is_alphanumeric() && !mark.is_whitespace();
        if !bare && !(worded && (self.operand_expected() || (spaced && mark != '='))) {
            return false;
        }
        self.at += if bare { 1 } else { 2 };
        let raw = self.delimited(Quoting::Few);
        let full = Quote {
            open: "",
            close: "",
            quoting: Quoting::Full,
            interpolation: Interpolation::Hash,
            runs: kind == 'x',
        };
        match kind {
            'q' => self.push_string(&raw, Quote { quoting: Quoting::Few, interpolation: Interpolation::None, ..full }),
            'w' | 'W' | 'i' | 'I' => self.push(Kind::Words(raw.into())),
            'r' => self.push(Kind::Pattern),
            _ => self.push_string(&raw, full),
        }
        true
    }

    /// Reads Perl's `<*.txt>` or `<STDIN>`: a file name pattern or an input handle.
    fn diamond(&mut self) -> bool {
        let rest = self.rest();
        let after_word =
            matches!(self.tokens.last().map(|token| &token.kind), Some(Kind::Word(word)) if !word.starts_with('$'));
        if !self.dialect.quote_words || !rest.starts_with('<') || !(after_word || self.operand_expected()) {
            return false;
        }
        let plain = |ch: char| is_name(ch) || ch.is_ascii_digit() || "$*?./~[]{},-".contains(ch);
        let Some(end) = rest.char_indices().skip(1).find(|(_, ch)| !plain(*ch)) else { return false };
        let (inside, (end, '>')) = (rest.get(1..end.0).unwrap_or(""), end) else { return false };
        self.at += end + 1;
        if inside.contains(['*', '?', '/', '.', '~', '{']) {
            let pattern: Rc<[Chunk]> = [Chunk::Text(inside.into())].into();
            let open = self.tokens.len() + 1;
            for kind in [Kind::Word("glob".into()), Kind::Open('('), Kind::Text(pattern), Kind::Close(')')] {
                self.push(kind);
            }
            if let Some(token) = self.tokens.get_mut(open) {
                token.close = open + 2;
            }
        } else {
            self.push(Kind::Word("STDIN".into()));
        }
        true
    }

    fn heredoc(&mut self) -> bool {
        let rest = self.rest();
        let (mark, after) = match self.dialect.heredocs {
            Heredocs::Two => ("<<", rest.strip_prefix("<<")),
            Heredocs::Three => ("<<<", rest.strip_prefix("<<<")),
            Heredocs::None => return false,
        };
        let Some(after) = after else { return false };
        let named = after.trim_start_matches(['~', '-']);
        let named = if mark == "<<<" { named.trim_start() } else { named };
        let quote = named.chars().next().filter(|ch| "'\"`".contains(*ch));
        let name = named.strip_prefix(['\'', '"', '`']).unwrap_or(named);
        let end = name.find(|ch: char| !is_name(ch) && !ch.is_ascii_digit()).unwrap_or(name.len());
        let delimiter = name.get(..end).unwrap_or("");
        let begins =
            delimiter.starts_with(|ch: char| ch.is_ascii_uppercase() || ch == '_' || (quote.is_some() && is_name(ch)));
        // `a << B` is a shift; a here-document begins where an operand is expected, or has its delimiter directly after
        // `<<`.
        if !begins || (quote.is_none() && !self.operand_expected() && after.starts_with(' ')) {
            return false;
        }
        let token = self.tokens.len();
        self.push(Kind::Text([].into()));
        let runs = quote == Some('`');
        let indented = after.starts_with('~');
        self.heredocs.push(Heredoc {
            token,
            delimiter: delimiter.into(),
            expands: quote != Some('\''),
            runs,
            indented,
        });
        self.at += rest.len() - name.len() + end + usize::from(quote.is_some());
        true
    }

    fn heredoc_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let rest = self.rest();
                let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let line = rest.get(..length).unwrap_or("");
                let word = line.trim();
                let ends = word.strip_prefix(heredoc.delimiter.as_str()).is_some_and(|rest| !rest.starts_with(is_name));
                if ends {
                    // The text after the closing delimiter continues the statement.
                    let after = line.find(heredoc.delimiter.as_str()).unwrap_or(0) + heredoc.delimiter.len();
                    self.at += after;
                    break;
                }
                body.push_str(line);
                self.at += length;
            }
            if heredoc.indented {
                body = without_indent(&body);
            }
            if self.dialect.heredocs == Heredocs::Three && body.ends_with('\n') {
                body.pop();
            }
            let ruby = self.dialect.language == Language::Ruby;
            let interpolation = if ruby { Interpolation::Hash } else { Interpolation::Dollar };
            let quoting = if heredoc.expands { Quoting::Full } else { Quoting::Verbatim };
            let interpolation = if heredoc.expands { interpolation } else { Interpolation::None };
            let quote = Quote { open: "", close: "", quoting, interpolation, runs: heredoc.runs };
            let chunks: Rc<[Chunk]> = chunks(&body, quote).into();
            if let Some(token) = self.tokens.get_mut(heredoc.token) {
                token.kind = if heredoc.runs { Kind::Run(chunks) } else { Kind::Text(chunks) };
            }
        }
    }
}

/// Removes the common indentation from all lines.
fn without_indent(text: &str) -> String {
    let blanks = |line: &str| line.len() - line.trim_start().len();
    let least = text.lines().filter(|line| !line.trim().is_empty()).map(blanks).min().unwrap_or(0);
    text.split_inclusive('\n').map(|line| line.get(least..).unwrap_or("\n")).collect()
}

/// Whether a character may begin a name. The placeholders of unknown pieces (U+F0000 to U+FFFFD) count as name
/// characters.
fn is_name(ch: char) -> bool {
    ch == '_' || ch.is_alphabetic() || ('\u{f0000}'..='\u{ffffd}').contains(&ch)
}

/// Parses the content of a string literal into text and embedded expressions.
fn chunks(raw: &str, quote: Quote) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut text = String::new();
    let mut rest = raw;
    while let Some(ch) = rest.chars().next() {
        if let Some((code, length)) = code(rest, quote.interpolation) {
            if !text.is_empty() {
                chunks.push(Chunk::Text(unescaped(&std::mem::take(&mut text), quote)));
            }
            chunks.push(Chunk::Code(code));
            rest = rest.get(length.max(1)..).unwrap_or("");
            continue;
        }
        let mut length = ch.len_utf8();
        let doubled = quote.interpolation == Interpolation::Brace && (rest.starts_with("{{") || rest.starts_with("}}"));
        if ch == '\\' && quote.quoting != Quoting::Verbatim {
            length += rest.chars().nth(1).map_or(0, char::len_utf8);
        }
        text.push_str(rest.get(..length).unwrap_or(""));
        rest = rest.get(if doubled { 2 } else { length }..).unwrap_or("");
    }
    if !text.is_empty() {
        chunks.push(Chunk::Text(unescaped(&text, quote)));
    }
    chunks
}

fn unescaped(text: &str, quote: Quote) -> String {
    match quote.quoting {
        Quoting::Raw | Quoting::Verbatim => text.to_owned(),
        Quoting::Few => {
            let mut plain = String::with_capacity(text.len());
            let mut chars = text.chars().peekable();
            while let Some(ch) = chars.next() {
                match chars.peek() {
                    Some(next) if ch == '\\' && (*next == '\\' || !next.is_alphanumeric()) => {
                        plain.extend(chars.next());
                    }
                    _ => plain.push(ch),
                }
            }
            plain
        }
        Quoting::Full => {
            // `\u{72}`, an escaped quote or sign, and a line continuation.
            let mut plain = String::with_capacity(text.len());
            let mut rest = text;
            while let Some(at) = rest.find('\\') {
                plain.push_str(rest.get(..at).unwrap_or(""));
                let after = rest.get(at + 1..).unwrap_or("");
                let (ch, length) = full_escape(after);
                plain.push_str(&ch);
                rest = after.get(length..).unwrap_or("");
            }
            plain.push_str(rest);
            plain
        }
    }
}

fn full_escape(after: &str) -> (String, usize) {
    let Some(first) = after.chars().next() else { return ("\\".into(), 0) };
    let braced = after.get(1..).and_then(|rest| rest.strip_prefix('{')).and_then(|rest| rest.split_once('}'));
    if let (Some((digits, _)), 'u' | 'x') = (braced, first) {
        let ch = u32::from_str_radix(digits.trim(), 16).ok().and_then(char::from_u32);
        return (ch.map(String::from).unwrap_or_default(), digits.len() + 3);
    }
    match first {
        '\n' => (String::new(), 1),
        'a'..='z' | 'U' | '0'..='9' => {
            let (bytes, length) = decode::escape(after.as_bytes());
            (String::from_utf8_lossy(&bytes).into_owned(), length.max(1))
        }
        other => (other.to_string(), other.len_utf8()),
    }
}

/// Returns the expression that begins here inside a string, and its length in bytes.
fn code(rest: &str, interpolation: Interpolation) -> Option<(String, usize)> {
    let braced = |prefix: &str| {
        let inside = rest.strip_prefix(prefix)?;
        let end = matching(inside)?;
        Some((inside.get(..end)?.to_owned(), prefix.len() + end + 1))
    };
    match interpolation {
        Interpolation::None => None,
        Interpolation::Hash => braced("#{"),
        Interpolation::DollarBrace => braced("${"),
        Interpolation::Brace => {
            if rest.starts_with("{{") {
                return None;
            }
            let (code, length) = braced("{")?;
            Some((code.get(..format_at(&code)).unwrap_or("").trim_end_matches('=').to_owned(), length))
        }
        Interpolation::Dollar => dollar(rest),
    }
}

/// Returns the byte offset of the conversion (`!r`) or format (`:>8`) in a replacement field.
fn format_at(code: &str) -> usize {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, ch) in code.char_indices() {
        match ch {
            _ if quote.is_some() => quote = quote.filter(|open| *open != ch),
            '\'' | '"' => quote = Some(ch),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return at,
            '!' if depth == 0 && !code.get(at + 1..).is_some_and(|rest| rest.starts_with('=')) => return at,
            _ => {}
        }
    }
    code.len()
}

/// Returns the byte offset of the brace that closes the one before `inside`.
fn matching(inside: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, ch) in inside.char_indices().take(MAX_PART) {
        match ch {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Reads an interpolation: `$x`, `$x->{a}[0]`, `${x}`, `@{[ x ]}`, `{$x}`.
fn dollar(rest: &str) -> Option<(String, usize)> {
    if rest.starts_with("{$") {
        let end = matching(rest.get(1..)?)?;
        return Some((rest.get(1..1 + end)?.to_owned(), end + 2));
    }
    let sigil = rest.get(..1).filter(|sigil| matches!(*sigil, "$" | "@"))?;
    let after = rest.get(1..)?;
    if let Some(inside) = after.strip_prefix('{') {
        let end = matching(inside)?;
        let code = inside.get(..end)?;
        let plain = code.chars().all(|ch| is_name(ch) || ch.is_ascii_digit());
        return Some((if plain { format!("${code}") } else { code.to_owned() }, end + 3));
    }
    let name = after.find(|ch: char| !is_name(ch) && !ch.is_ascii_digit() && ch != ':').unwrap_or(after.len());
    let name = after.get(..name)?.trim_end_matches(':').len();
    if name == 0 || (sigil == "@" && after.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let mut end = name;
    loop {
        let tail = after.get(end..)?;
        let arrow = if tail.starts_with("->") { 2 } else { 0 };
        let inside = tail.get(arrow..)?;
        let closing = match inside.chars().next() {
            Some('[') if !inside.starts_with("[ ") => ']',
            Some('{') => '}',
            Some(ch) if arrow > 0 && is_name(ch) => {
                end += arrow + inside.find(|c: char| !is_name(c) && !c.is_ascii_digit()).unwrap_or(inside.len());
                continue;
            }
            _ => break,
        };
        let Some((length, _)) = inside.char_indices().take(MAX_PART).find(|(_, ch)| *ch == closing) else {
            break;
        };
        end += arrow + length + 1;
    }
    Some((format!("${}", after.get(..end)?), end + 1))
}
