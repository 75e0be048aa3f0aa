//! Reads a person's answer at the terminal itself.

use std::io::Write;

/// Asks for a yes at the terminal itself, independent of standard input.
pub(crate) fn confirmed(question: &str) -> bool {
    answer(question).is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Asks for a yes, where an empty line also counts as one; a closed terminal does not.
pub(crate) fn agreed(question: &str) -> bool {
    answer(question)
        .is_some_and(|answer| matches!(answer.as_str(), "\n" | "\r\n") || matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Returns the line that the person types, with its line ending, or `None` without a terminal.
pub(crate) fn answer(question: &str) -> Option<String> {
    let mut terminal = reflex_host::terminal().ok()?;
    let _ = terminal.write_all(question.as_bytes());
    let mut answer = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(terminal), &mut answer).ok()?;
    Some(answer)
}
