//! What a module's thread says to the one that waits for it.

use super::answer::Report;
use std::sync::mpsc::Sender;

/// What a module's thread says to the one that waits.
pub(crate) enum Message {
    /// What became of a module.
    Report(Report),
    /// A field of the context that it looks at; its JSON is sent back.
    Wanted(String, Sender<String>),
}
