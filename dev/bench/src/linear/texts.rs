//! Texts of any size, each made of one repeated construct.

/// A repeated construct.
pub(super) struct Construct {
    pub(super) name: &'static str,
    before: &'static str,
    unit: &'static str,
    after: &'static str,
    /// Divisor for the sizes of its texts.
    share: usize,
}

impl Construct {
    const fn new(name: &'static str, before: &'static str, unit: &'static str, after: &'static str) -> Self {
        Self { name, before, unit, after, share: 1 }
    }

    /// A text of about this many bytes.
    pub(super) fn text(&self, bytes: usize) -> String {
        format!("{}{}{}", self.before, self.unit.repeat(bytes / self.share / self.unit.len()), self.after)
    }
}

pub(super) const CONSTRUCTS: [Construct; 32] = [
    Construct::new("words", "echo ", "word ", ""),
    Construct::new("quotes", "echo ", "'a b'\"c d\"\\e$'\\x66' ", ""),
    Construct::new("one long word", "echo ", "word", ""),
    Construct::new("commands", "", "grep -n word file; ", ""),
    Construct::new("`&&`", "", "grep word file && ", "true"),
    Construct::new("pipes", "", "grep word | ", "cat"),
    Construct::new("deletes", "", "rm -f dist/a dist/b; ", ""),
    Construct::new("operands of one delete", "rm -f ", "dist/a ", ""),
    Construct::new("redirections", "echo ", ">>dist/a 2>&1 ", ""),
    Construct::new("assignments", "", "x=1 y=2; ", ""),
    Construct::new("variables", "x=1; echo ", "$x${x:-y} ", ""),
    Construct::new("substitutions", "echo ", "$(date) ", ""),
    Construct::new("backquotes", "echo ", "`date` ", ""),
    Construct::new("nested `$(`", "echo ", "$(", ""),
    Construct::new("nested `{`", "", "{ ", ""),
    Construct::new("nested `((`", "", "((", ""),
    Construct::new("nested `${x:-`", "echo ", "${x:-", ""),
    Construct::new("nested `if`", "", "if a; then ", ""),
    Construct { share: 4, ..Construct::new("nested `eval`", "", "eval ", "date") },
    Construct::new("`if`", "", "if a; then b; else c; fi; ", ""),
    Construct::new("loops", "", "for x in a b; do grep $x; done; ", ""),
    Construct::new("`case`", "case x in ", "a) grep b;; ", "esac"),
    Construct::new("functions", "", "f() { grep $1; }; f b; ", ""),
    Construct::new("a heredoc", "cat <<E\n", "a $x $(date)\n", "E"),
    Construct::new("heredocs", "", "cat <<E\na\nE\n", ""),
    Construct::new("braces", "echo ", "{a,b,c} ", ""),
    Construct::new("arithmetic", "echo ", "$((1 + x)) ", ""),
    // Found secrets, near misses, and candidates that take long to scan.
    Construct::new("keys", "echo ", "ghp_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r ", ""),
    Construct::new("beginnings of keys", "echo ", "ghp_sk-AKIA-----BEGIN ", ""),
    Construct::new("passwords", "", "PASSWORD=hx7-Qm2-Lp9 ", "date"),
    Construct::new("one long row of characters", "echo ", "a1B2c3D4", ""),
    Construct::new("wrapped commands", "", "env nice timeout 5 date; ", ""),
];

/// The large calls, by name.
pub(super) fn large() -> [(&'static str, String); 4] {
    let words = "echo word 'a b' $x; # and so on\n".repeat(32);
    [
        ("1 MB written to a file by a heredoc", format!("cat > dist/a <<'E'\n{}E\n", "a b c d e f g\n".repeat(75_000))),
        ("1 MB of words", format!("echo {}", "word ".repeat(200_000))),
        ("10 KB, base64 in base64", encoded(&words)),
        ("4,000 segments", format!("{}true", "true && ".repeat(4_000))),
    ]
}

/// Passes a text to a shell, repeatedly encoded, until it has 10 KB.
fn encoded(text: &str) -> String {
    let mut text = text.to_owned();
    while text.len() < 10 * 1024 {
        text = format!("eval \"$(echo {} | base64 -d)\"", base64(text.as_bytes()));
    }
    text
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0usize, |bits, at| (bits << 8) | usize::from(*group.get(at).unwrap_or(&0)));
        let digit = |at: usize| DIGITS.get((bits >> (18 - 6 * at)) & 63).map_or('=', |digit| char::from(*digit));
        text.extend((0..4).map(|at| if at > group.len() { '=' } else { digit(at) }));
    }
    text
}
