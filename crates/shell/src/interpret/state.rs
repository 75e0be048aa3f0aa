//! What a shell remembers between commands: variables, functions, aliases, parameters, its folder.

use crate::syntax::Node;
use crate::value::{Origin, Piece, Printed, Value, Why};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const MAX_NAMES: usize = 1000;

/// A folder of more `cd` arguments than this is not known: each command keeps its own copy.
const MAX_FOLDER_PIECES: usize = 128;

/// Copies share what they do not change: every subshell and branch takes one.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// An array has several values.
    variables: Rc<BTreeMap<String, Vec<Value>>>,
    functions: Rc<BTreeMap<String, Rc<Node>>>,
    aliases: Rc<BTreeMap<String, String>>,
    /// Names of variables and functions that a shell started from this one knows.
    exported: Rc<BTreeSet<String>>,
    pub(crate) parameters: Vec<Value>,
    /// Where the shell stands, as joined `cd` arguments; empty for where it began.
    folder: Folder,
}

/// Variables with the values that they shall have again; `None` for what was not set.
pub(crate) type Saved = Vec<(String, Option<Vec<Value>>)>;

/// What assignments for one command hide.
pub(crate) struct Hidden {
    variables: Saved,
    exported: Rc<BTreeSet<String>>,
}

/// Shells find these in their environment and pass them on.
const IN_ENVIRONMENT: [&str; 8] = ["HOME", "PATH", "PWD", "OLDPWD", "TMPDIR", "USER", "SHELL", "LOGNAME"];

#[derive(Clone, PartialEq, Default)]
enum Folder {
    #[default]
    Start,
    Known(Value),
    Unknown,
}

impl State {
    pub(crate) fn with_parameters(parameters: Vec<Value>) -> State {
        State { parameters, ..State::default() }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(name).map(Vec::as_slice)
    }

    pub(crate) fn assign(&mut self, name: &str, values: Vec<Value>) {
        Rc::make_mut(&mut self.variables).insert(name.into(), values);
    }

    pub(crate) fn append(&mut self, name: &str, values: Vec<Value>, array: bool) {
        let variable = Rc::make_mut(&mut self.variables).entry(name.into()).or_default();
        match (variable.first_mut(), array) {
            (Some(first), false) => values.into_iter().for_each(|value| first.push(value)),
            _ => variable.extend(values),
        }
    }

    /// `name[index]=value`; what would leave a hole in the array is not followed.
    pub(crate) fn assign_element(&mut self, name: &str, index: Option<usize>, value: Value) {
        let variable = Rc::make_mut(&mut self.variables).entry(name.into()).or_default();
        let next = variable.len();
        // The name of an element counts as the next index: only the list as a whole is followed then.
        match index.unwrap_or(next) {
            index if index == next => variable.push(value),
            index if index < next => {
                variable.iter_mut().skip(index).take(1).for_each(|element| *element = value.clone())
            }
            _ => *variable = vec![Value::piece(Piece::Unknown(Why::NotEvaluated), value.origin())],
        }
    }

    pub(crate) fn export(&mut self, name: &str) {
        Rc::make_mut(&mut self.exported).insert(name.into());
    }

    /// Whether it is known how many parameters there are: what is not known may stand for several.
    pub(crate) fn counts_parameters(&self) -> bool {
        !self.parameters.is_empty() && self.parameters.iter().skip(1).all(|value| value.literal().is_some())
    }

    /// What a shell that is started from this one begins with.
    pub(crate) fn of_child(&self, parameters: Vec<Value>) -> State {
        let passed = |name: &String| self.exported.contains(name) || IN_ENVIRONMENT.contains(&name.as_str());
        let mut child = State { parameters, ..self.clone() };
        child.aliases = Rc::default();
        Rc::make_mut(&mut child.variables).retain(|name, _| passed(name));
        Rc::make_mut(&mut child.functions).retain(|name, _| passed(name));
        child
    }

    /// The values that these variables have now.
    pub(crate) fn saved<'n>(&self, names: impl Iterator<Item = &'n String>) -> Saved {
        names.map(|name| (name.clone(), self.variables.get(name).cloned())).collect()
    }

    /// `NAME=value program`: the program sees the value, and nothing that follows it.
    pub(crate) fn assign_for_command(&mut self, assignments: &[(String, Value)]) -> Hidden {
        let variables = self.saved(assignments.iter().map(|(name, _)| name));
        let exported = self.exported.clone();
        for (name, value) in assignments {
            self.assign(name, vec![value.clone()]);
            self.export(name);
        }
        Hidden { variables, exported }
    }

    pub(crate) fn reveal(&mut self, hidden: Hidden) {
        self.restore(hidden.variables);
        self.exported = hidden.exported;
    }

    pub(crate) fn restore(&mut self, saved: Saved) {
        let variables = Rc::make_mut(&mut self.variables);
        // What was saved first is the oldest.
        for (name, values) in saved.into_iter().rev() {
            match values {
                Some(values) => drop(variables.insert(name, values)),
                None => drop(variables.remove(&name)),
            }
        }
    }

    /// Whether variables and folder are as they were.
    pub(crate) fn same_names(&self, other: &State) -> bool {
        let same = Rc::ptr_eq(&self.variables, &other.variables) || self.variables == other.variables;
        let functions = Rc::ptr_eq(&self.functions, &other.functions);
        same && functions && self.folder == other.folder && self.parameters == other.parameters
    }

    /// Whether more names are set than are followed: every subshell and branch compares them all.
    pub(crate) fn is_full(&self) -> bool {
        self.variables.len().max(self.functions.len()).max(self.aliases.len()) > MAX_NAMES
    }

    /// The variable is known not to be set: it has no values.
    pub(crate) fn unset(&mut self, name: &str) {
        match name.split_once('[') {
            Some((array, _)) => {
                self.assign(array, vec![Value::piece(Piece::Unknown(Why::NotEvaluated), Origin::default())]);
            }
            None => {
                self.assign(name, Vec::new());
                Rc::make_mut(&mut self.exported).remove(name);
            }
        }
    }

    pub(crate) fn unset_function(&mut self, name: &str) {
        Rc::make_mut(&mut self.functions).remove(name);
    }

    pub(crate) fn define(&mut self, name: &str, body: Rc<Node>) {
        Rc::make_mut(&mut self.functions).insert(name.into(), body);
    }

    pub(crate) fn function(&self, name: &str) -> Option<Rc<Node>> {
        self.functions.get(name).cloned()
    }

    pub(crate) fn set_alias(&mut self, name: &str, text: String) {
        Rc::make_mut(&mut self.aliases).insert(name.into(), text);
    }

    pub(crate) fn alias(&self, name: &str) -> Option<String> {
        self.aliases.get(name).cloned()
    }

    /// The folder that commands run in: `None` if it is not known, empty where the text began.
    pub(crate) fn folder(&self) -> Option<Value> {
        match &self.folder {
            Folder::Start => Some(Value::default()),
            Folder::Known(value) => Some(value.clone()),
            Folder::Unknown => None,
        }
    }

    pub(crate) fn folder_value(&self, origin: Origin) -> Value {
        match &self.folder {
            Folder::Start => Value::piece(Piece::Output(Printed::WorkingDirectory), origin),
            Folder::Known(value) if is_absolute(value) => value.clone(),
            Folder::Known(value) => {
                let mut whole = Value::piece(Piece::Output(Printed::WorkingDirectory), origin);
                whole.push_text("/", origin);
                whole.push(value.clone());
                whole
            }
            Folder::Unknown => Value::piece(Piece::Unknown(Why::Branches), origin),
        }
    }

    pub(crate) fn forget_folder(&mut self) {
        self.folder = Folder::Unknown;
    }

    /// `cd`: an absolute target replaces the folder, a relative one is joined to it.
    pub(crate) fn change_folder(&mut self, target: Value) {
        if target.is_unknown() {
            self.folder = Folder::Unknown;
            return;
        }
        let absolute = is_absolute(&target);
        let deep = |folder: &Value| folder.pieces.len() > MAX_FOLDER_PIECES;
        let up = matches!(target.literal().as_deref(), Some(".." | "../"));
        self.folder = match std::mem::take(&mut self.folder) {
            Folder::Known(before) if up && parent(&before).is_some() => parent(&before).unwrap_or_default(),
            Folder::Known(before) if !absolute && deep(&before) => Folder::Unknown,
            Folder::Known(mut before) if !absolute => {
                before.push_text("/", target.origin());
                before.push(target);
                Folder::Known(before)
            }
            Folder::Unknown if !absolute => Folder::Unknown,
            Folder::Start | Folder::Known(_) | Folder::Unknown => Folder::Known(target),
        };
    }

    /// What differs from the other state is unknown from here on.
    pub(crate) fn merge(&mut self, other: &State) {
        if self.folder != other.folder {
            self.folder = Folder::Unknown;
        }
        self.merge_names(other);
    }

    /// The same for all but the folder.
    pub(crate) fn merge_names(&mut self, other: &State) {
        if self.parameters != other.parameters {
            self.merge_parameters(other);
        }
        if !Rc::ptr_eq(&self.exported, &other.exported) {
            Rc::make_mut(&mut self.exported).extend(other.exported.iter().cloned());
        }
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            self.merge_variables(other);
        }
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let functions = Rc::make_mut(&mut self.functions);
            other.functions.iter().for_each(|(name, body)| {
                functions.entry(name.clone()).or_insert_with(|| body.clone());
            });
        }
    }

    /// Parameters of different number are one that stands for any.
    fn merge_parameters(&mut self, other: &State) {
        let unknown = |value: &Value| Value::piece(Piece::Unknown(Why::Branches), value.origin());
        if self.parameters.len() != other.parameters.len() {
            let first = self.parameters.first().or(other.parameters.first()).cloned().unwrap_or_default();
            self.parameters = vec![unknown(&first); 10];
            return;
        }
        for (value, other) in self.parameters.iter_mut().zip(&other.parameters) {
            if value != other {
                *value = unknown(value);
            }
        }
    }

    fn merge_variables(&mut self, other: &State) {
        let mut differing = Vec::new();
        for (name, values) in self.variables.iter() {
            if other.variables.get(name) != Some(values) {
                differing.push((name.clone(), values.first().map_or(Origin::default(), Value::origin)));
            }
        }
        for (name, values) in other.variables.iter() {
            if !self.variables.contains_key(name) {
                differing.push((name.clone(), values.first().map_or(Origin::default(), Value::origin)));
            }
        }
        let variables = Rc::make_mut(&mut self.variables);
        for (name, origin) in differing {
            variables.insert(name, vec![Value::piece(Piece::Unknown(Why::Branches), origin)]);
        }
    }
}

fn is_absolute(path: &Value) -> bool {
    match path.pieces.first() {
        Some((Piece::Text(text), _)) => text.starts_with('/'),
        Some((Piece::Home(_) | Piece::Variable(_) | Piece::Output(_), _)) => true,
        Some((Piece::Glob(_) | Piece::Unknown(_), _)) | None => false,
    }
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
