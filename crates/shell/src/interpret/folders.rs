//! Where a shell stands: `cd`, `pushd`, `popd`, and the folder before.

use crate::model::value::{Origin, Piece, Printed, UnknownReason, Value};

/// The stack of `pushd` is followed this far.
const MAX_STACK: usize = 32;

/// A folder of more `cd` arguments than this is not known: each command keeps its own copy.
const MAX_PIECES: usize = 128;

#[derive(Clone, PartialEq, Default)]
pub(crate) struct Folders {
    here: Folder,
    /// What `cd -` returns to; the text's own start knows none.
    before: Option<Folder>,
    /// What `popd` returns to, the next one last.
    stack: Vec<Folder>,
    /// Where the shell stays if the last `cd` fails, as long as only what depends on its success has followed.
    left: Option<Folder>,
    /// Where it has stayed if that `cd` failed: the text went on regardless.
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
    /// Relative to where the text began: `None` if it is not known, empty there itself.
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

    /// `$OLDPWD`: nothing is known about it where the text has not left its first folder.
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

    /// `cd TARGET`: an absolute target replaces the folder, a relative one is joined to it.
    pub(crate) fn change(&mut self, target: Value) {
        let to = self.here.joined(target);
        self.go(to);
    }

    /// `cd TARGET` of a shell, which may fail.
    pub(crate) fn try_change(&mut self, target: Value) {
        let left = self.here.clone();
        self.change(target);
        self.left = Some(left);
    }

    /// What follows runs whether the last `cd` has failed or not.
    pub(crate) fn go_on(&mut self) {
        if let Some(left) = self.left.take() {
            self.stayed = Some(left);
        }
    }

    /// What follows is for a failed `cd`, or the shell ends with it.
    pub(crate) fn mind_failure(&mut self) {
        self.left = None;
    }

    /// Where a command runs if the `cd` before it fails; empty where the text began.
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

    /// `pushd TARGET`, and without one the last two folders change places.
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

    /// `pushd -n`, `pushd +2` and their kin: which folder is where is not followed.
    pub(crate) fn rotate(&mut self) {
        self.stack.clear();
        self.forget();
    }

    /// `popd`
    pub(crate) fn pop(&mut self) {
        let to = self.stack.pop().unwrap_or(Folder::Unknown);
        self.go(to);
    }

    /// What differs is unknown from here on.
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
                let mut whole = Value::piece(Piece::Output(Printed::WorkingDirectory), origin);
                whole.push_text("/", origin);
                whole.push(value.clone());
                whole
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
        Some((Piece::Glob(_) | Piece::Unknown(_), _)) | None => false,
    }
}

/// `C:/`, `C:`
fn begins_with_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':'] | [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// The folder above, if it can be told from the value alone.
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
