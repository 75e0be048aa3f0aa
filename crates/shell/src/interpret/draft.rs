//! A command before it is added to the reading.

use super::streams::Stream;
use crate::model::value::{Origin, Piece, Value};
use crate::reading::{CommandId, Redirection, Words};
use std::ops::Range;
use std::sync::Arc;

/// A command that is about to be added.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) words: Words,
    pub(crate) assignments: Vec<(String, Value)>,
    pub(crate) redirects: Vec<Redirection>,
    pub(crate) stdin: Stream,
    /// The commands that ran during the expansion of the words.
    pub(crate) expanded: Range<CommandId>,
    pub(crate) origin: Origin,
    /// Whether another program runs it, to which functions are not visible.
    pub(crate) by_program: bool,
}

impl Draft {
    /// Returns a command that another program runs, without an input stream of its own.
    pub(super) fn of_program(words: Vec<Value>, origin: Origin) -> Draft {
        Draft {
            words: Arc::new(words),
            assignments: Vec::new(),
            redirects: Vec::new(),
            stdin: Stream::default(),
            expanded: 0..0,
            origin,
            by_program: true,
        }
    }
}

/// Variables that name the shell that reads the text, unless the text sets them.
const OWN_SHELL: [&str; 3] = ["0", "BASH", "SHELL"];

/// Returns the file name of a program's path; empty if unknown.
pub(crate) fn program_name(word: &Value, windows: bool) -> String {
    let after_folder = |text: &str| {
        let drive = windows || matches!(text.as_bytes(), [_, b':', b'\\', ..]);
        let separator = |ch: char| ch == '/' || (drive && ch == '\\');
        text.rsplit_once(separator).map(|(_, name)| name.to_owned())
    };
    let Some(text) = word.literal() else {
        return match word.pieces.last() {
            // `$HOME/bin/tool`, `~/x/tool`: the name is known even if the folder is not.
            Some((Piece::Text(text), _)) => after_folder(text).unwrap_or_default(),
            // `$SHELL -c …`, `$0 <<< …`: any shell.
            Some((Piece::Variable(name), _)) if word.pieces.len() == 1 && OWN_SHELL.contains(&name.as_str()) => {
                "sh".to_owned()
            }
            _ => String::new(),
        };
    };
    // `=rm` is the program `rm` in zsh. Elsewhere it does not name another one.
    let name = after_folder(&text).unwrap_or_else(|| text.into_owned());
    name.strip_prefix('=').filter(|rest| !windows && !rest.is_empty()).map(str::to_owned).unwrap_or(name)
}
