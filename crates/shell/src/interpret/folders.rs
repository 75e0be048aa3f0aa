//! The working directory of a shell: `cd`, `pushd`, `popd`, and the previous directory.

use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};

/// Maximum number of entries kept on the `pushd` stack; the oldest are dropped.
const MAX_STACK: usize = 32;

/// Maximum number of pieces in the path of a working directory. A longer one is unknown, as each command keeps its own
/// copy.
const MAX_PIECES: usize = 128;

#[derive(Clone, PartialEq, Default)]
pub(crate) struct Folders {
    here: Folder,
    /// The target of `cd -`; unset at the start of the text.
    before: Option<Folder>,
    /// The targets of `popd`, the next one last.
    stack: Vec<Folder>,
    /// The working directory if the last `cd` fails, as long as only code that depends on its success has followed.
    left: Option<Folder>,
    /// The working directory if that `cd` failed and the text continued regardless.
    stayed: Option<Folder>,
}

#[derive(Clone, PartialEq, Default)]
enum Folder {
    #[default]
    Start,
    Known(Value),
    Unknown,
}

impl Folders {
    /// Returns the working directory relative to the initial one: `None` if unknown, empty for the initial one.
    pub(crate) fn here(&self) -> Option<Value> {
        match &self.here {
            Folder::Start => Some(Value::default()),
            Folder::Known(value) => Some(value.clone()),
            Folder::Unknown => None,
        }
    }

    pub(crate) fn value(&self, origin: Origin) -> Value {
        self.here.value(origin)
    }

    /// `$OLDPWD`; `None` while the text has not left its initial directory.
    pub(crate) fn value_before(&self, origin: Origin) -> Option<Value> {
        self.before.as_ref().map(|before| before.value(origin))
    }

    pub(crate) fn forget(&mut self) {
        self.go(Folder::Unknown);
    }

    fn go(&mut self, to: Folder) {
        (self.left, self.stayed) = (None, None);
        self.before = Some(std::mem::replace(&mut self.here, to));
    }

    /// `cd TARGET`: an absolute target replaces the working directory, a relative one is appended to it.
    pub(crate) fn change(&mut self, target: Value) {
        let to = self.here.joined(target);
        self.go(to);
    }

    /// `cd TARGET` in a shell, where it may fail.
    pub(crate) fn try_change(&mut self, target: Value) {
        let left = self.here.clone();
        self.change(target);
        self.left = Some(left);
    }

    /// Records that the text continues even if the last `cd` failed.
    pub(crate) fn go_on(&mut self) {
        if let Some(left) = self.left.take() {
            self.stayed = Some(left);
        }
    }

    /// Discards the case of a failed `cd`: the code that follows handles the failure, or the shell exits on it.
    pub(crate) fn mind_failure(&mut self) {
        self.left = None;
    }

    /// Returns the working directory of a command if the preceding `cd` failed; empty for the initial one.
    pub(crate) fn without_cd(&self) -> Option<Value> {
        match self.stayed.as_ref()? {
            Folder::Start => Some(Value::default()),
            Folder::Known(value) => Some(value.clone()),
            Folder::Unknown => None,
        }
    }

    /// `cd -`
    pub(crate) fn change_back(&mut self) {
        let to = self.before.clone().unwrap_or(Folder::Unknown);
        self.go(to);
    }

    /// `pushd TARGET`; without a target, the top two directories are swapped.
    pub(crate) fn push(&mut self, target: Option<Value>) {
        match target {
            Some(target) => {
                let here = self.here.clone();
                self.change(target);
                self.stack.push(here);
            }
            None => {
                let to = self.stack.pop().unwrap_or(Folder::Unknown);
                let here = self.here.clone();
                self.go(to);
                self.stack.push(here);
            }
        }
        if self.stack.len() > MAX_STACK {
            self.stack.remove(0);
        }
    }

    /// `pushd -n`, `pushd +2` and similar: the order of the stack is not tracked.
    pub(crate) fn rotate(&mut self) {
        self.stack.clear();
        self.forget();
    }

    /// `popd`
    pub(crate) fn pop(&mut self) {
        let to = self.stack.pop().unwrap_or(Folder::Unknown);
        self.go(to);
    }

    /// Merges the state of another branch; differences become unknown.
    pub(crate) fn merge(&mut self, other: &Folders) {
        if self.here != other.here {
            self.here = Folder::Unknown;
        }
        if self.before != other.before {
            self.before = Some(Folder::Unknown);
        }
        if self.stack != other.stack {
            self.stack.clear();
        }
        (self.left, self.stayed) = (None, None);
    }
}

impl Folder {
    fn value(&self, origin: Origin) -> Value {
        match self {
            Folder::Start => Value::piece(Piece::Output(Printed::WorkingDirectory), origin),
            Folder::Known(value) if is_absolute(value) => value.clone(),
            Folder::Known(value) => {
                let mut path = Value::piece(Piece::Output(Printed::WorkingDirectory), origin);
                path.push_text("/", origin);
                path.push(value.clone());
                path
            }
            Folder::Unknown => Value::piece(Piece::Unknown(UnknownReason::Branches), origin),
        }
    }

    fn joined(&self, target: Value) -> Folder {
        if target.is_unknown() {
            return Folder::Unknown;
        }
        let absolute = is_absolute(&target);
        let up = matches!(target.literal().as_deref(), Some(".." | "../"));
        match self.clone() {
            before if matches!(target.literal().as_deref(), Some("." | "./" | "")) => before,
            Folder::Known(before) if up && parent(&before).is_some() => parent(&before).unwrap_or_default(),
            Folder::Known(before) if !absolute && before.pieces.len() > MAX_PIECES => Folder::Unknown,
            Folder::Known(mut before) if !absolute => {
                if !before.shown().ends_with('/') {
                    before.push_text("/", target.origin());
                }
                before.push(target);
                Folder::Known(before)
            }
            Folder::Unknown if !absolute => Folder::Unknown,
            Folder::Start | Folder::Known(_) | Folder::Unknown => Folder::Known(target),
        }
    }
}

fn is_absolute(path: &Value) -> bool {
    match path.pieces.first() {
        Some((Piece::Text(text), _)) => text.starts_with('/') || begins_with_drive(text),
        Some((Piece::Home(_) | Piece::Variable(_) | Piece::Output(_), _)) => true,
        Some((Piece::Glob(_) | Piece::Resolved | Piece::Unknown(_), _)) | None => false,
    }
}

/// `C:/`, `C:`
fn begins_with_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [ch, b':'] | [ch, b':', b'/', ..] if ch.is_ascii_alphabetic())
}

/// Returns the parent directory, if the value alone determines it.
fn parent(folder: &Value) -> Option<Folder> {
    let mut pieces = folder.pieces.clone();
    while let Some((piece, origin)) = pieces.pop() {
        let Piece::Text(text) = piece else { continue };
        let trimmed = text.trim_end_matches('/');
        if trimmed.ends_with("..") {
            return None;
        }
        if let Some(slash) = trimmed.rfind('/') {
            pieces.push((Piece::Text(trimmed.get(..slash.max(1))?.into()), origin));
            return Some(Folder::Known(Value { pieces }));
        }
    }
    let relative = matches!(folder.pieces.first(), Some((Piece::Text(_) | Piece::Glob(_), _)));
    relative.then_some(Folder::Start)
}
