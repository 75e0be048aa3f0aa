//! A text that waits to be read: how it runs, why it is read, and which of its effects count.

use crate::analysis::config_files::later::{Counts, Text};
use crate::model::analysis::{Starter, Usage};
use crate::model::mounts::MountTable;
use reflex_shell::{CallInput, ExecTarget, Language};
use std::rc::Rc;

/// A text that waits to be read as a script.
pub(super) struct QueuedText {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) language: Language,
    pub(super) usage: Usage,
    pub(super) input: CallInput,
    pub(super) folder: Option<String>,
    pub(super) assignments: Vec<(String, String)>,
    /// The mounts of the place in which it runs.
    pub(super) place: Option<Rc<MountTable>>,
    /// The action that runs or writes it.
    pub(super) action: usize,
    /// The length of the chain of scripts that ends with it.
    pub(super) level: usize,
    pub(super) origin: TextOrigin,
    pub(super) counted: Counted,
    /// Whether parts that are not read because of a limit are reported.
    pub(super) reports_gaps: bool,
    /// The units of work for reading it, if it has a budget of its own.
    pub(super) budget: Option<u64>,
}

/// The reason for reading a text.
#[derive(Clone, Copy)]
pub(super) enum TextOrigin {
    /// A command runs it.
    Command(Starter),
    /// A program reads it unasked.
    Reader,
    /// A container or the build of an image runs it.
    Container,
    /// The call writes it.
    Written,
}

/// The effects of a text that count.
pub(super) enum Counted {
    All,
    /// All but publications and deployments, which belong to other uses of the file:
    /// `setup.py upload`, `if argv[1] == "publish"`.
    WithoutBranches,
    /// Those that outlast the container.
    BeyondContainer,
    /// The sending of files that the build of an image takes from its context.
    OfImage {
        /// The prefix of the context's files.
        below: String,
        /// The content of `.dockerignore`.
        ignored: String,
    },
    /// Those on lines that the previous content of the file does not have.
    Changed {
        /// The same part of the previous content.
        old: String,
    },
    /// Those of a text that runs later, on lines that the previous content of the file does not have.
    Deferred {
        site: ExecTarget,
        counts: Counts,
        /// The same part of the previous content.
        old: String,
    },
}

impl QueuedText {
    /// Returns the text of a task in the language of the shell, with all of its effects.
    pub(super) fn new(path: String, text: String, action: usize, level: usize) -> QueuedText {
        QueuedText {
            path,
            text,
            language: Language::Shell,
            usage: Usage::Task,
            input: CallInput::default(),
            folder: None,
            assignments: Vec::new(),
            place: None,
            action,
            level,
            origin: TextOrigin::Container,
            counted: Counted::All,
            reports_gaps: true,
            budget: None,
        }
    }

    /// Returns a text that a written file makes others run.
    pub(super) fn of_written_file(path: String, script: Text, action: usize, workspace: &str) -> QueuedText {
        let counted = Counted::Deferred { site: script.site, counts: script.counts, old: String::new() };
        let folder = Some(workspace.to_owned());
        let (language, usage, origin) = (script.language, Usage::Written, TextOrigin::Written);
        QueuedText { language, usage, folder, origin, counted, ..QueuedText::new(path, script.text, action, 1) }
    }

    /// Whether a client or tool runs it without a call that would be judged.
    pub(super) fn is_unasked(&self) -> bool {
        let Counted::Deferred { site, counts, .. } = self.counted else { return false };
        counts == Counts::Unasked && site == ExecTarget::Here
    }
}
