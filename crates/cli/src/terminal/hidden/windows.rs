//! Windows: a console cannot be kept quiet yet, so nobody is asked for what must not be seen.

use std::fs::File;
use std::marker::PhantomData;

/// Ctrl-C, as a console gives it.
pub(super) const CANCEL: char = '\u{3}';

/// A console says nothing in `TERM`, and can be drawn on.
pub(super) const NAMED_BY_TERM: bool = false;

/// A console that shows nothing of what is typed: there is none.
pub(super) struct Quiet<'t>(PhantomData<&'t File>);

impl<'t> Quiet<'t> {
    pub(super) fn begin(_terminal: &'t File) -> Option<Quiet<'t>> {
        None
    }
}
