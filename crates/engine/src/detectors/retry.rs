//! Advice after a failed tool call: whether to retry, and how often.

use crate::model::event::Event;
use crate::model::finding::{DetectorName, Finding, PolicyAction};
use crate::model::session::Step;
use crate::model::words::WordList;
use reflex_tables::Tables;

/// Maximum number of retries of a failed call.
const MAX_RETRIES: usize = 2;

/// Number of bytes at the end of an output that are examined.
const LOOKED_AT: usize = 4096;

/// Returns advice on a failed call, which is the last one of `past`. The first failure with a permanent error gives
/// none, because the agent already knows that it failed.
pub(crate) fn inspect(tables: Tables, event: &Event, step: &Step, past: &[Step]) -> Option<Finding> {
    let outcome = event.outcome.as_ref().filter(|outcome| outcome.failed)?;
    let same = past.iter().rev().filter(|other| other.exact == step.exact);
    let failures = same.take_while(|other| other.end.as_ref().is_some_and(|end| end.failed)).count().max(1);
    let left = (MAX_RETRIES + 1).saturating_sub(failures);
    let message = match (passes(tables, &outcome.output), left) {
        (_, 0) => format!("This has failed {failures} times; no try is left."),
        (true, left) => format!("This failed and may pass: wait a little, then at most {left} tries more."),
        (false, _) if failures == 1 => return None,
        (false, left) => {
            format!("This has failed {failures} times; a try without a change will not end otherwise ({left} left).")
        }
    };
    let remedy = if left == 0 { "tell the user what fails and what you tried" } else { "read the error first" };
    Some(Finding {
        id: "after/retry".into(),
        detector: DetectorName::Duties,
        category: "failure".into(),
        confidence: 70,
        fixed: Some(PolicyAction::Warn),
        message,
        remedy: remedy.into(),
        command: crate::text::excerpt::shortened(&step.text),
        ..Finding::default()
    })
}

/// Whether the error is transient, so that a retry may succeed.
pub(crate) fn passes(tables: Tables, output: &str) -> bool {
    let from = output.len().saturating_sub(LOOKED_AT);
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    let end = output.get(from..).unwrap_or("").to_lowercase();
    WordList::PassingErrors.read(tables).fit(&end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detectors::loops::End;
    use crate::library::tables;
    use crate::model::event::Outcome;

    #[track_caller]
    fn check(output: &str, failures: usize, expected: Option<&str>) {
        let outcome = Outcome { output: output.into(), exit_code: Some(1), failed: true };
        let event = Event { outcome: Some(outcome), ..Event::default() };
        let end = End { failed: true, ..End::default() };
        let step = Step { exact: "x".into(), end: Some(end), ..Step::default() };
        let found = inspect(tables(), &event, &step, &vec![step.clone(); failures]);
        let message = found.map(|finding| finding.message);
        assert_eq!(message.is_some(), expected.is_some(), "{message:?}");
        assert!(expected.is_none_or(|expected| message.unwrap_or_default().contains(expected)));
    }

    #[test]
    fn tries_are_counted_down() {
        check("curl: (6) Could not resolve host: x", 1, Some("at most 2 tries"));
        check("curl: (6) Could not resolve host: x", 2, Some("at most 1 tries"));
        check("curl: (6) Could not resolve host: x", 3, Some("no try is left"));
        check("error[E0308]: mismatched types", 1, None);
        check("error[E0308]: mismatched types", 2, Some("without a change"));
        check("error[E0308]: mismatched types", 3, Some("no try is left"));
    }
}
