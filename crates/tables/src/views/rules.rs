//! Rules and presets.

use crate::node::Node;
use crate::view;
use crate::view::Texts;

view! {
    /// A dangerous effect: an entry of `library/rules`.
    pub struct Rule<'a> {
        /// Its id, such as `rm/home`.
        id: &'a str,
        /// `file:line` of its source.
        at: &'a str,
        /// The group in which it is reported.
        category: &'a str,
        /// Its severity, if the place makes no difference.
        severity: &'a str,
        /// Its severity if the command targets this machine; empty if the same.
        local: &'a str,
        /// Its severity if the command targets production; empty if the same.
        production: &'a str,
        /// Confidence in percent.
        confidence: u32,
        /// `core` or `recommended`.
        tier: &'a str,
        /// The detector under whose name it reports.
        detector: &'a str,
        /// The condition on the effect.
        when: Node<'a>,
        /// Result if the condition cannot be determined: `fire` or `quiet`.
        unknown: &'a str,
        /// The message, with placeholders.
        message: &'a str,
        /// The advice, with placeholders.
        remedy: &'a str,
        /// Backup made before the call so that no prompt is needed; empty for none.
        undo: &'a str,
        /// The way back from the loss, if a model may answer the prompt.
        recovery: &'a str,
    }
}

view! {
    /// The reason for which a rule exists. Only people read it.
    pub struct Rationale<'a> {
        /// The danger, with a fact.
        why: &'a str,
        /// URL of a page that confirms the fact.
        source: &'a str,
    }
}

view! {
    /// A preset: an entry of `library/policies`.
    pub struct Policy<'a> {
        /// Its description for people.
        about: &'a str,
        /// Action for a finding of severity `info`.
        info: &'a str,
        /// Action for a finding of severity `low`.
        low: &'a str,
        /// Action for a finding of severity `medium`.
        medium: &'a str,
        /// Action for a finding of severity `high`.
        high: &'a str,
        /// Action for a finding of severity `critical`.
        critical: &'a str,
        /// Decision that replaces an ask if no person can answer: `ask` or `deny`.
        ask: &'a str,
        /// Effects, by name, that require approval at any severity.
        asks: Texts<'a>,
        /// Patterns of read-only commands, which need no approval.
        looks: Texts<'a>,
        /// Decision on a call that cannot be recorded: empty, or `deny`.
        unrecorded: &'a str,
        /// Decision on a loss that was backed up first; empty if no backups are made.
        kept: &'a str,
    }
}
