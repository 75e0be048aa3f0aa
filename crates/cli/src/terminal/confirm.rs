//! A person's answer to a question, at the terminal itself.

use std::io::Write;

/// The person's answer at the terminal itself, whatever stands on standard input.
pub(crate) fn confirmed(question: &str) -> bool {
    answer(question).is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The same where an empty line is a yes; a terminal that is closed gives none.
pub(crate) fn agreed(question: &str) -> bool {
    answer(question)
        .is_some_and(|answer| matches!(answer.as_str(), "\n" | "\r\n") || matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The line that the person types, with its end; `None` where there is no terminal.
pub(crate) fn answer(question: &str) -> Option<String> {
    let mut terminal = reflex_host::terminal().ok()?;
    let _ = terminal.write_all(question.as_bytes());
    let mut answer = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(terminal), &mut answer).ok()?;
    Some(answer)
}
