//! Linux and macOS: the terminal's own settings.

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::fs::File;

/// Ctrl-C, as the terminal delivers it while signals are off.
pub(super) const CANCEL: char = '\u{3}';

/// Whether `TERM` names a terminal that supports drawing.
pub(super) const NAMED_BY_TERM: bool = true;

/// Turns echo off for a terminal until dropped.
pub(super) struct Quiet<'t> {
    terminal: &'t File,
    before: Termios,
}

impl<'t> Quiet<'t> {
    pub(super) fn begin(terminal: &'t File) -> Option<Quiet<'t>> {
        let before = tcgetattr(terminal).ok()?;
        let mut quiet = before.clone();
        // With signals off, Ctrl-C cannot leave the terminal without echo: it ends the line instead.
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VEOL] = CANCEL as u8;
        tcsetattr(terminal, OptionalActions::Drain, &quiet).ok()?;
        Some(Quiet { terminal, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Drain, &self.before);
    }
}
