//! Linux and macOS: the terminal's own settings.

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::fs::File;

/// Ctrl-C, as the terminal gives it while it makes no signal of it.
pub(super) const CANCEL: char = '\u{3}';

/// Whether a terminal that can be drawn on says so in `TERM`.
pub(super) const NAMED_BY_TERM: bool = true;

/// A terminal that shows nothing of what is typed, until this goes.
pub(super) struct Quiet<'t> {
    terminal: &'t File,
    before: Termios,
}

impl<'t> Quiet<'t> {
    pub(super) fn begin(terminal: &'t File) -> Option<Quiet<'t>> {
        let before = tcgetattr(terminal).ok()?;
        let mut quiet = before.clone();
        // Without signals Ctrl-C cannot leave a terminal behind that shows nothing: it ends the line instead.
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
