//! Windows: turning echo off is not supported yet, so hidden input is not requested.

use std::fs::File;
use std::marker::PhantomData;

/// Ctrl-C, as a console delivers it.
pub(super) const CANCEL: char = '\u{3}';

/// Whether `TERM` names a terminal that supports drawing. A console does not set it, but supports drawing.
pub(super) const NAMED_BY_TERM: bool = false;

/// A console without echo, which never exists.
pub(super) struct Quiet<'t>(PhantomData<&'t File>);

impl<'t> Quiet<'t> {
    pub(super) fn begin(_terminal: &'t File) -> Option<Quiet<'t>> {
        None
    }
}
