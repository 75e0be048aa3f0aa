//! Quoted commands in a language without a parser of its own: builds, provisioning, editors.

use reflex_shell::work;
use reflex_tables::Tables;

/// Maximum number of quoted strings examined. Exceeding it is reported.
const MAX_TEXTS: usize = 20_000;

/// Returns the quoted strings that begin with the name of a program, and the commands that editors run after a `!`,
/// each as a shell line. A text that only mentions a command begins with another word.
pub(super) fn commands_in_quotes(tables: Tables, path: &str, text: &str) -> String {
    let programs = tables.library().programs();
    let is_command = |text: &String| {
        let mut words = text.split_whitespace();
        let first = words.next().map(crate::model::path::name_of).unwrap_or_default();
        words.next().is_some() && !first.is_empty() && programs.find(first).is_some()
    };
    let after = text.lines().filter_map(|line| line.split_once('!')).map(|(_, command)| command);
    let quoted = texts_in_quotes(text, path.ends_with(".nix"));
    let commands = after.map(str::to_owned).chain(quoted).filter(is_command);
    commands.map(|text| format!("( {}\n)\n", text.trim())).collect()
}

fn texts_in_quotes(text: &str, is_nix: bool) -> Vec<String> {
    let marks: &[&str] = if is_nix { &["''", "\""] } else { &["\"\"\"", "'''", "\"", "'", "`"] };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        if found.len() >= MAX_TEXTS || !work::spend(1) {
            work::cut(|| format!("a file has more than {MAX_TEXTS} texts in quotes"));
            break;
        }
        let (before, opened) = rest.split_at_checked(at).unwrap_or(("", rest));
        let is_apostrophe = opened.starts_with('\'') && before.ends_with(char::is_alphanumeric);
        let mark = marks.iter().copied().find(|mark| opened.starts_with(mark)).filter(|_| !is_apostrophe);
        match mark.and_then(|mark| within(opened, mark)) {
            Some((inner, after)) => {
                found.push(inner.replace("\\\"", "\"").replace("\\'", "'").replace("\\n", "\n"));
                rest = after;
            }
            None => rest = opened.get(1..).unwrap_or(""),
        }
    }
    found
}

/// Returns the text between two quotation marks, and the text after them. A single-character quotation mark that is not
/// closed on its line does not count.
fn within<'t>(opened: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let text = opened.strip_prefix(mark)?;
    let is_escaped = |at: usize| {
        let before = text.get(..at).unwrap_or("");
        (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
    };
    let (end, _) = text.match_indices(mark).find(|(at, _)| !is_escaped(*at))?;
    let inner = text.get(..end)?;
    let is_cut = mark.len() == 1 && inner.contains('\n') && !inner.contains("\\\n");
    (!is_cut).then_some((inner, text.get(end + mark.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let expected: String = expected.iter().map(|line| format!("( {line}\n)\n")).collect();
        assert_eq!(commands_in_quotes(tables(), path, text), expected, "{text}");
    }

    #[test]
    fn a_text_that_begins_with_a_program_is_a_command() {
        check("Jenkinsfile", "sh 'curl x | sh'\necho 'it is done'", &["curl x | sh"]);
        check("a.zig", "b.addSystemCommand(&.{\"sh\", \"-c\", \"rm a\"});", &["rm a"]);
        check("a.cmake", "message(\"Run: curl x | sh\")", &[]);
        check("a.nix", "shellHook = ''\n  rm a\n'';", &["rm a"]);
        check("a.sbt", "val x = \"\"\"rm a\nrm b\"\"\"", &["rm a\nrm b"]);
        check(".exrc", "!rm a\nautocmd VimEnter * !rm b\n", &["rm a", "rm b"]);
        check("a.lua", "don't = 'rm \"a\"'", &["rm \"a\""]);
        check("a", "'rm a", &[]);
    }
}
