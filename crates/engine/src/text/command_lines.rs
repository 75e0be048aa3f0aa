//! Shell lines in the text of a command or skill file: a client runs them when it expands the file, before the model
//! reads it.

/// Returns the shell lines of a command file with their line numbers, from 1, in order.
///
/// The marks are those of all clients: `` !`…` `` and blocks that begin with ```` ```! ```` (Claude Code, OpenCode), and
/// `!{…}` with balanced braces (Gemini CLI, Qwen Code).
pub fn command_lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('!') {
        let (before, after) = rest.split_at(at);
        let after = after.get(1..).unwrap_or_default();
        let found = match after.chars().next() {
            Some('`') => after.get(1..).and_then(|code| code.split_once('`')).map(|(line, _)| line),
            Some('{') => braced(after),
            Some('\n') if before.ends_with("```") => after.split_once("```").map(|(block, _)| block.trim_matches('\n')),
            _ => None,
        };
        if let Some(line) = found.filter(|line| !line.trim().is_empty()) {
            let offset = text.len() - rest.len() + at;
            let number = text.get(..offset).map_or(1, |before| before.matches('\n').count() + 1);
            lines.push((number, line));
            // The mark and the brackets around the line may be skipped, too.
            rest = after.get(line.len()..).unwrap_or_default();
        } else {
            rest = after;
        }
    }
    lines
}

/// Returns the text between a brace at the start and the one that closes it.
fn braced(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, ch) in text.char_indices() {
        match ch {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(1..at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::command_lines;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)]) {
        assert_eq!(command_lines(text), expected, "{text}");
    }

    #[test]
    fn shell_lines_of_each_client_are_found() {
        check("---\nx: y\n---\nState: !`git status`, !`ls`\n", &[(4, "git status"), (4, "ls")]);
        check("a\n```!\ngit status\nls\n```\n", &[(2, "git status\nls")]);
        check("prompt = \"\"\"\n!{git log --format=%{x}}\n\"\"\"", &[(2, "git log --format=%{x}")]);
    }

    #[test]
    fn other_text_is_none() {
        check("Stop! `git status` is fine.", &[]);
        check("```\n!x\n```\n", &[]);
        check("!`unfinished", &[]);
        check("!{unfinished", &[]);
        check("!`` !{ }", &[]);
    }
}
