//! Messages from a module's thread to the waiting thread.

use super::answer::Report;
use std::sync::mpsc::Sender;

/// A message from a module's thread to the waiting thread.
pub(crate) enum Message {
    /// The result of a module.
    Report(Report),
    /// A request for a context field; its JSON is sent back through the channel.
    Wanted(String, Sender<String>),
}
