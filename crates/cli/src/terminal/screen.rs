//! Full-screen mode of the terminal. Only changed rows are drawn, and the previous content is restored at the end, also
//! after a panic.

use super::hidden::can_be_drawn_on;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;
use unicode_width::UnicodeWidthChar;

/// Style of a part of a row. It uses no colors, so `NO_COLOR` does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Bold,
    Faint,
    Underlined,
    Reversed,
}

/// A row of the screen, in parts. No part contains a terminal control sequence: see `visible`.
pub(crate) type Row = Vec<(Look, String)>;

/// A key that a person pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    Tab,
    Escape,
    Backspace,
    /// Ctrl-C, which sends no signal here, or a terminal that has hung up.
    Cancel,
    /// No key: the size may have changed, or the wait timed out.
    Nothing,
}

/// Maximum number of keys that are read at once.
const MAX_AT_ONCE: usize = 4096;

/// Exclusive use of the terminal, until dropped.
pub(crate) struct Screen {
    shown: Vec<Row>,
    size: (u16, u16),
}

impl Screen {
    /// Whether standard input and output are a terminal that supports drawing.
    pub(crate) fn is_possible() -> bool {
        can_be_drawn_on() && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Takes over the terminal.
    ///
    /// # Errors
    /// The terminal cannot be put into raw mode, which reports every key at once.
    pub(crate) fn begin() -> io::Result<Screen> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        terminal::enable_raw_mode()?;
        let screen = Screen { shown: Vec::new(), size: (0, 0) };
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Returns columns and rows; assumes a small terminal if the size is unknown.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (width, height) = terminal::size().unwrap_or((80, 24));
        (usize::from(width.max(20)), usize::from(height.max(8)))
    }

    /// Draws these rows, one below the other.
    ///
    /// # Errors
    /// The terminal has hung up.
    pub(crate) fn draw(&mut self, rows: &[Row]) -> io::Result<()> {
        let mut output = io::stdout().lock();
        let size = terminal::size().unwrap_or((80, 24));
        if size != self.size {
            queue!(output, Clear(ClearType::All))?;
            (self.shown, self.size) = (Vec::new(), size);
        }
        for (index, row) in rows.iter().enumerate().filter(|(index, row)| self.shown.get(*index) != Some(row)) {
            queue!(output, MoveTo(0, u16::try_from(index).unwrap_or(u16::MAX)))?;
            for (look, text) in fitting(row, usize::from(size.0)) {
                let attribute = match look {
                    Look::Plain => Attribute::Reset,
                    Look::Bold => Attribute::Bold,
                    Look::Faint => Attribute::Dim,
                    Look::Underlined => Attribute::Underlined,
                    Look::Reversed => Attribute::Reverse,
                };
                queue!(output, SetAttribute(attribute), Print(text), SetAttribute(Attribute::Reset))?;
            }
            queue!(output, Clear(ClearType::UntilNewLine))?;
        }
        self.shown = rows.to_vec();
        output.flush()
    }

    /// Waits for the next keys for at most this duration: more than one if they arrived at once. None if the wait timed
    /// out or the size has changed.
    pub(crate) fn keys(&self, wait: Duration) -> Vec<Key> {
        let mut keys = vec![self.key(wait)];
        while keys.len() < MAX_AT_ONCE && !keys.contains(&Key::Cancel) && poll(Duration::ZERO).is_ok_and(|more| more) {
            keys.push(self.key(Duration::ZERO));
        }
        keys.retain(|key| *key != Key::Nothing);
        keys
    }

    fn key(&self, wait: Duration) -> Key {
        // After a hangup, input is always ready but empty, so `poll` would spin. SIGHUP may be ignored, so check here.
        if !io::stdin().is_terminal() {
            return Key::Cancel;
        }
        match poll(wait) {
            Ok(true) => {}
            Ok(false) => return Key::Nothing,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Key::Nothing,
            Err(_) => return Key::Cancel,
        }
        match read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                named(key.code, key.modifiers.contains(KeyModifiers::CONTROL))
            }
            Ok(_) => Key::Nothing,
            Err(_) => Key::Cancel,
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn give_back() {
    let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
    let _ = terminal::disable_raw_mode();
}

#[expect(clippy::wildcard_enum_match_arm, reason = "keys are another crate's, and most mean nothing here")]
fn named(code: KeyCode, control: bool) -> Key {
    match code {
        KeyCode::Char('c' | 'd') if control => Key::Cancel,
        KeyCode::Char(ch) if !control => Key::Char(ch),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        _ => Key::Nothing,
    }
}

/// Returns the parts of the row that fit into `width` columns.
fn fitting(row: &Row, width: usize) -> Row {
    let mut left = width;
    let cut = |(look, text): &(Look, String)| {
        let mut kept = String::new();
        for ch in text.chars() {
            let columns = ch.width().unwrap_or(0);
            if columns > left {
                left = 0;
                break;
            }
            left -= columns;
            kept.push(ch);
        }
        (*look, kept)
    };
    row.iter().map(cut).collect()
}

/// Wraps a text into lines of `width` columns.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut left = width.max(1);
    for ch in text.chars() {
        let columns = ch.width().unwrap_or(0);
        if columns > left {
            lines.push(String::new());
            left = width.max(1);
        }
        left = left.saturating_sub(columns);
        if let Some(line) = lines.last_mut() {
            line.push(ch);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_and_a_text_broken_at_the_last_column() {
        let row = vec![(Look::Bold, "ab".to_owned()), (Look::Plain, "漢字".to_owned())];
        assert_eq!(fitting(&row, 5), [(Look::Bold, "ab".to_owned()), (Look::Plain, "漢".to_owned())]);
        assert_eq!(wrapped("abcd漢e", 3), ["abc", "d漢", "e"]);
        assert_eq!(wrapped("", 3), [""]);
    }
}
