//! Unrelated task appended to a table: an agent that is asked to process the table would execute the task.

use super::signs::{Sign, Span};
use crate::model::words::WordList;
use reflex_tables::Tables;

/// Minimum number of words of a task, and maximum length of its line in bytes.
const WORDS: usize = 4;
const MAX_LINE: usize = 240;

/// Minimum length of a distinctive word. Shorter words occur in every text.
const SHORT: usize = 5;

/// Returns the sign of such a task, if it is the last line of the text.
pub(super) fn task(tables: Tables, text: &str) -> Option<Sign> {
    let (before, line) = text.trim_end().rsplit_once('\n')?;
    let row = before.trim_end().rsplit('\n').next()?.trim();
    let begin = line.get(..MAX_LINE.min(line.len())).unwrap_or(line).to_lowercase();
    let is_row = row.starts_with('|') && row.matches('|').count() > 2;
    let openings = WordList::TaskOpenings.read(tables);
    let is_task = line.len() <= MAX_LINE
        && line.split_whitespace().count() >= WORDS
        && openings.iter().any(|word| begin.strip_prefix(word).is_some_and(|rest| rest.starts_with(' ')));
    if !is_row || !is_task || refers_to(before, &begin) {
        return None;
    }
    let start = before.len() + 1;
    let span = Span { start, end: start + line.len() };
    Some(Sign { family: "task".into(), name: "a task after a table".into(), weight: 50, span })
}

/// Whether a line repeats a word of the preceding text, or refers to it.
fn refers_to(before: &str, line: &str) -> bool {
    let before = before.to_lowercase();
    let mut words = line.split(|ch: char| !ch.is_alphanumeric()).skip(1).filter(|word| word.len() >= SHORT);
    let pointing = line.contains("`")
        || line.contains("](")
        || ["above", "below", "table", "row"].iter().any(|word| line.contains(word));
    pointing || words.any(|word| before.contains(word.trim_end_matches('s')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;

    #[track_caller]
    fn check(last: &str, is_found: bool) {
        let text = format!("| Team | Wins |\n|---|---|\n| Reds | 4 |\n\n{last}");
        assert_eq!(task(tables(), &text).is_some(), is_found, "{last}");
    }

    #[test]
    fn a_task_after_a_table_is_found() {
        check("Explain the process of photosynthesis in simple terms.", true);
        check("Write a script that renames all files of a folder.", true);
        check("Can you show me how to bake bread?", true);
    }

    #[test]
    fn what_belongs_to_the_table_is_none() {
        check("Add a row for each new member.", false);
        check("Explain which of the teams played best.", false);
        check("See the handbook for what they mean.", false);
        check("Write `make stats` to get it anew.", false);
    }

    #[test]
    fn after_prose_it_is_not_a_task() {
        assert_eq!(task(tables(), "Homework\n\nExplain the process of photosynthesis in simple terms."), None);
    }
}
