//! The state of a shell between commands: variables, functions, aliases, parameters, working directory, descriptors.
//!
//! A difference between joining branches is kept: a variable keeps all possible values, a function may be defined or
//! not. Only a differing working directory becomes unknown.

use super::folders::Folders;
use super::streams::Descriptors;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::reading::Words;
use crate::syntax::tree::{Line, Node};
use reflex_work as work;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

const MAX_NAMES: usize = 1000;

/// Maximum number of possible values of a variable; beyond it the variable is unknown.
const MAX_WAYS: usize = 8;

/// The key in `ways` for the positional parameters.
pub(super) const PARAMETERS: &str = "@";

/// A possible state of a variable: its values, or `None` if the text does not set it.
pub(crate) type Way = Option<Words>;

/// The state of a shell. Cheap to clone, as copies share unchanged parts: every subshell and branch takes one.
#[derive(Clone, Default)]
pub(crate) struct State {
    /// The values of each variable; an array has several.
    variables: Rc<BTreeMap<Rc<str>, Words>>,
    /// The possible states of variables that differ between branches. INVARIANT: in `variables` these are unknown.
    ways: Rc<BTreeMap<Rc<str>, Rc<Vec<Way>>>>,
    /// The possible bodies of each function; `None` among them if it may be undefined.
    functions: Rc<BTreeMap<String, Vec<Option<Rc<Node>>>>>,
    aliases: Rc<BTreeMap<String, Vec<Alias>>>,
    /// Names of exported variables and functions, which a child shell inherits.
    exported: Rc<BTreeSet<String>>,
    /// Attributes of names, as set by `declare -n` and `declare -i`.
    kinds: Rc<BTreeMap<String, Kind>>,
    pub(crate) parameters: Words,
    pub(crate) folders: Folders,
    pub(crate) open: Descriptors,
    /// `shopt -s extglob`: `@(a|b)` is a pattern everywhere.
    pub(crate) extended: bool,
    /// `set -e`: a failing command exits the shell.
    pub(crate) errexit: bool,
    /// Whether the code that follows is unreachable: after `exit`, `return`, `break`.
    pub(crate) ended: bool,
}

/// An alias: a text that replaces its name in command position.
#[derive(Clone, PartialEq)]
pub(crate) struct Alias {
    pub(crate) text: Rc<str>,
    /// The lines that were running at its definition: the alias takes effect on the next line.
    pub(crate) lines: Rc<[Line]>,
}

/// The attribute of a name, which changes how assignments to it work.
#[derive(Clone, PartialEq)]
pub(crate) enum Kind {
    /// A reference to this variable.
    Reference(String),
    /// An integer: assigned values are evaluated as arithmetic.
    Integer,
    /// An associative array.
    Table,
    /// Assigned values are converted to this case.
    Case(Case),
}

/// The case conversion of `declare -l`, `declare -u`, `declare -c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    /// First character in upper case, all others in lower case.
    Title,
}

impl Case {
    fn of(self, value: &Value) -> Value {
        let mut value = value.clone();
        for (index, (piece, _)) in value.pieces.iter_mut().enumerate() {
            let Piece::Text(text) = piece else { continue };
            *text = match self {
                Case::Lower => text.to_lowercase(),
                Case::Upper => text.to_uppercase(),
                Case::Title if index > 0 => text.to_lowercase(),
                Case::Title => {
                    let mut chars = text.chars();
                    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
                    first + &chars.as_str().to_lowercase()
                }
            };
        }
        value
    }
}

/// Variables with the values to restore.
pub(crate) type Saved = Vec<(String, Vec<Way>)>;

/// The parameters to restore at the end of a function or shell that replaced them.
pub(crate) struct SavedParameters {
    parameters: Words,
    ways: Option<Rc<Vec<Way>>>,
}

/// The state that the assignments of one command hide.
pub(crate) struct Hidden {
    variables: Saved,
    exported: Rc<BTreeSet<String>>,
}

/// Variables that a shell inherits from its environment and exports.
const IN_ENVIRONMENT: [&str; 8] = ["HOME", "PATH", "PWD", "OLDPWD", "TMPDIR", "USER", "SHELL", "LOGNAME"];

impl State {
    pub(crate) fn with_parameters(parameters: Vec<Value>) -> State {
        State { parameters: Arc::new(parameters), ..State::default() }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&[Value]> {
        self.variables.get(self.named(name)).map(|values| values.as_slice())
    }

    /// Returns the possible states of a variable, if branches differ in it.
    pub(crate) fn ways(&self, name: &str) -> Option<&[Way]> {
        self.ways.get(self.named(name)).map(|ways| ways.as_slice())
    }

    /// Whether branches differ in any variable.
    pub(crate) fn differs(&self) -> bool {
        !self.ways.is_empty()
    }

    /// Sets a variable to one of its possible states.
    pub(crate) fn choose(&mut self, name: &str, way: Way) {
        let name = self.named(name).to_owned();
        if name == PARAMETERS {
            Rc::make_mut(&mut self.ways).remove(PARAMETERS);
            self.parameters = way.unwrap_or_default();
            return;
        }
        self.set_ways(&name, vec![way]);
    }

    pub(crate) fn replace_parameters(&mut self, parameters: Words) -> SavedParameters {
        let ways =
            if self.ways.contains_key(PARAMETERS) { Rc::make_mut(&mut self.ways).remove(PARAMETERS) } else { None };
        SavedParameters { parameters: std::mem::replace(&mut self.parameters, parameters), ways }
    }

    pub(crate) fn restore_parameters(&mut self, saved: SavedParameters) {
        self.replace_parameters(saved.parameters);
        if let Some(ways) = saved.ways {
            Rc::make_mut(&mut self.ways).insert(PARAMETERS.into(), ways);
        }
    }

    fn set_ways(&mut self, name: &str, mut ways: Vec<Way>) {
        if self.ways.contains_key(name) {
            Rc::make_mut(&mut self.ways).remove(name);
        }
        let variables = Rc::make_mut(&mut self.variables);
        if !name.contains('[') {
            forget_elements(variables, name);
        }
        if ways.len() == 1 {
            match ways.pop().flatten() {
                Some(values) => drop(variables.insert(name.into(), values)),
                None => drop(variables.remove(name)),
            }
            return;
        }
        let origin = ways.iter().flatten().find_map(|values| values.first()).map_or(Origin::default(), Value::origin);
        variables.insert(name.into(), Arc::new(vec![Value::piece(Piece::Unknown(UnknownReason::Branches), origin)]));
        let is_open = |way: &Way| way.iter().flat_map(|values| values.iter()).any(is_between_branches);
        if ways.len() <= MAX_WAYS && !ways.iter().any(is_open) {
            Rc::make_mut(&mut self.ways).insert(name.into(), Rc::new(ways));
        }
    }

    fn ways_of(&self, name: &str) -> Vec<Way> {
        self.ways.get(name).map_or_else(|| vec![self.variables.get(name).cloned()], |ways| ways.to_vec())
    }

    pub(crate) fn assign(&mut self, name: &str, values: Vec<Value>) {
        let name = self.named(name).to_owned();
        let values = self.cased(&name, values);
        self.set_ways(&name, vec![Some(Arc::new(values))]);
    }

    /// Converts values by the case attribute of this variable.
    fn cased(&self, name: &str, values: Vec<Value>) -> Vec<Value> {
        match self.kinds.get(name) {
            Some(Kind::Case(case)) => values.iter().map(|value| case.of(value)).collect(),
            Some(Kind::Reference(_) | Kind::Integer | Kind::Table) | None => values,
        }
    }

    /// Returns the variable that has exactly these values, if it exists and the values are not empty.
    pub(crate) fn name_of(&self, values: &[Value]) -> Option<String> {
        let found = self.variables.iter().find(|(_, known)| !values.is_empty() && known.as_slice() == values);
        found.map(|(name, _)| name.to_string())
    }

    /// Resolves references to the variable that a name denotes.
    fn named<'n>(&'n self, name: &'n str) -> &'n str {
        let mut name = name;
        // A reference may refer to another reference; the limit guards against cycles.
        for _ in 0..8 {
            match self.kinds.get(name) {
                Some(Kind::Reference(other)) => name = other,
                Some(Kind::Integer | Kind::Table | Kind::Case(_)) | None => break,
            }
        }
        name
    }

    pub(crate) fn set_kind(&mut self, name: &str, kind: Option<Kind>) {
        if let Some(Kind::Case(case)) = &kind {
            self.change_case(name, *case);
        }
        match kind {
            Some(kind) => drop(Rc::make_mut(&mut self.kinds).insert(name.into(), kind)),
            None if self.kinds.contains_key(name) => drop(Rc::make_mut(&mut self.kinds).remove(name)),
            None => {}
        }
    }

    /// Adds the case-converted value as a second possibility: bash keeps the old value of the variable, zsh converts
    /// it.
    fn change_case(&mut self, name: &str, case: Case) {
        let mut ways = self.ways_of(name);
        for way in ways.clone().into_iter().flatten() {
            let changed = Some(Arc::new(way.iter().map(|value| case.of(value)).collect::<Vec<_>>()));
            if !ways.contains(&changed) {
                ways.push(changed);
            }
        }
        if ways.len() > 1 {
            self.set_ways(name, ways);
        }
    }

    /// Returns the name that this one refers to, if it is a reference.
    pub(crate) fn reference(&self, name: &str) -> Option<&str> {
        match self.kinds.get(name)? {
            Kind::Reference(other) => Some(other),
            Kind::Integer | Kind::Table | Kind::Case(_) => None,
        }
    }

    pub(crate) fn is_integer(&self, name: &str) -> bool {
        self.kinds.get(self.named(name)) == Some(&Kind::Integer)
    }

    pub(crate) fn is_table(&self, name: &str) -> bool {
        self.kinds.get(self.named(name)) == Some(&Kind::Table)
    }

    /// `name+=value`, and for an array `name+=(…)`.
    pub(crate) fn append(&mut self, name: &str, values: Vec<Value>, array: bool) {
        let name = self.named(name).to_owned();
        let values = self.cased(&name, values);
        let grown = |way: Way| {
            let mut variable = way.unwrap_or_default();
            let list = Arc::make_mut(&mut variable);
            match (list.first_mut(), array) {
                (Some(first), false) => values.iter().for_each(|value| first.push(value.clone())),
                _ => list.extend(values.iter().cloned()),
            }
            Some(variable)
        };
        let ways = self.ways_of(&name).into_iter().map(grown).collect();
        self.set_ways(&name, ways);
    }

    /// `name[subscript]=value` for an element that is tracked by its subscript; the array itself becomes unknown.
    pub(crate) fn assign_named_element(&mut self, name: &str, subscript: &str, value: Value) {
        let name = self.named(name).to_owned();
        let element = format!("{name}[{subscript}]");
        let variables = Rc::make_mut(&mut self.variables);
        let list = vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), value.origin())];
        variables.insert(name.into(), Arc::new(list));
        variables.insert(element.into(), Arc::new(vec![value]));
    }

    /// `name[index]=value`. An index that would leave a hole makes the array unknown.
    pub(crate) fn assign_element(&mut self, name: &str, index: Option<usize>, value: Value) {
        let name = self.named(name).to_owned();
        let mut values = self.variables.get(name.as_str()).map(|values| values.to_vec()).unwrap_or_default();
        let next = values.len();
        // A named subscript counts as the next index: only the array as a unit is tracked then.
        match index.unwrap_or(next) {
            index if index == next => values.push(value),
            index if index < next => {
                values.iter_mut().skip(index).take(1).for_each(|element| *element = value.clone());
            }
            _ => values = vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), value.origin())],
        }
        self.set_ways(&name, vec![Some(Arc::new(values))]);
    }

    /// `shift`: a count above the number of parameters has no effect. Returns whether it shifted, if that is known.
    pub(crate) fn shift(&mut self, count: usize) -> Option<bool> {
        let shifted = |parameters: &mut Vec<Value>| {
            let fits = count < parameters.len();
            if fits {
                parameters.drain(1..1 + count);
            }
            fits
        };
        let counted = self.counts_parameters();
        let fits = shifted(Arc::make_mut(&mut self.parameters));
        let Some(ways) = self.ways.get(PARAMETERS).cloned() else { return counted.then_some(fits) };
        let mut after: Vec<Way> = Vec::new();
        for mut way in ways.iter().cloned() {
            way.iter_mut().for_each(|parameters| _ = shifted(Arc::make_mut(parameters)));
            if !after.contains(&way) {
                after.push(way);
            }
        }
        Rc::make_mut(&mut self.ways).insert(PARAMETERS.into(), Rc::new(after));
        None
    }

    pub(crate) fn export(&mut self, name: &str) {
        if !self.exported.contains(name) {
            Rc::make_mut(&mut self.exported).insert(name.into());
        }
    }

    /// Whether the number of parameters is known: an unknown value may expand to several.
    pub(crate) fn counts_parameters(&self) -> bool {
        !self.parameters.is_empty() && self.parameters.iter().skip(1).all(|value| value.literal().is_some())
    }

    /// Returns the initial state of a child shell.
    pub(crate) fn of_child(&self, parameters: Vec<Value>) -> State {
        let passed = |name: &str| self.exported.contains(name) || IN_ENVIRONMENT.contains(&name);
        let mut child = State { parameters: Arc::new(parameters), ..self.clone() };
        child.aliases = Rc::default();
        child.kinds = Rc::default();
        Rc::make_mut(&mut child.variables).retain(|name, _| passed(name));
        Rc::make_mut(&mut child.ways).retain(|name, _| passed(name));
        Rc::make_mut(&mut child.functions).retain(|name, _| passed(name));
        child
    }

    /// Returns the current values of these variables, to restore later.
    pub(crate) fn saved<'n>(&self, names: impl Iterator<Item = &'n String>) -> Saved {
        names.map(|name| (name.clone(), self.ways_of(name))).collect()
    }

    /// `NAME=value program`: only the program sees the value, not the commands that follow.
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
        // The first saved value is the oldest, so it is restored last.
        for (name, ways) in saved.into_iter().rev() {
            self.set_ways(&name, ways);
        }
    }

    /// Whether variables, functions, parameters and working directory are equal.
    pub(crate) fn same_names(&self, other: &State) -> bool {
        let same = Rc::ptr_eq(&self.variables, &other.variables) || self.variables == other.variables;
        let ways = Rc::ptr_eq(&self.ways, &other.ways) || self.ways == other.ways;
        same && ways
            && self.same_functions(other)
            && self.folders == other.folders
            && self.parameters == other.parameters
    }

    fn same_functions(&self, other: &State) -> bool {
        if Rc::ptr_eq(&self.functions, &other.functions) {
            return true;
        }
        self.functions.len() == other.functions.len()
            && self.functions.iter().all(|(name, bodies)| {
                other.functions.get(name).is_some_and(|others| {
                    bodies.len() == others.len() && bodies.iter().all(|body| contains(others, body))
                })
            })
    }

    /// Whether the state is unchanged, checked in constant time: `true` is certain, `false` is not.
    pub(crate) fn is_untouched(&self, before: &State) -> bool {
        Rc::ptr_eq(&self.variables, &before.variables)
            && Rc::ptr_eq(&self.ways, &before.ways)
            && Rc::ptr_eq(&self.functions, &before.functions)
            && Rc::ptr_eq(&self.aliases, &before.aliases)
            && self.open == before.open
            && self.folders == before.folders
            && self.ended == before.ended
    }

    /// Whether more names are set than the limit allows: every subshell and branch compares all of them.
    pub(crate) fn is_full(&self) -> bool {
        self.variables.len().max(self.functions.len()).max(self.aliases.len()) > MAX_NAMES
    }

    /// Marks a variable as known to be unset: it has no values.
    pub(crate) fn unset(&mut self, name: &str) {
        match name.split_once('[') {
            Some((array, _)) => {
                self.assign(array, vec![Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), Origin::default())]);
            }
            None => {
                self.assign(name, Vec::new());
                Rc::make_mut(&mut self.exported).remove(name);
            }
        }
    }

    pub(crate) fn unset_function(&mut self, name: &str) {
        if self.functions.contains_key(name) {
            Rc::make_mut(&mut self.functions).remove(name);
        }
    }

    pub(crate) fn define(&mut self, name: &str, body: Rc<Node>) {
        Rc::make_mut(&mut self.functions).insert(name.into(), vec![Some(body)]);
    }

    /// Adds this function as a possible meaning of the name.
    pub(crate) fn may_define(&mut self, name: &str, body: Rc<Node>) {
        Rc::make_mut(&mut self.functions).entry(name.into()).or_insert_with(|| vec![None]).push(Some(body));
    }

    /// Whether any function is defined.
    pub(crate) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// Returns the possible bodies of a function: empty if the name is not a function, with a `None` if it may be
    /// undefined.
    pub(crate) fn functions(&self, name: &str) -> Vec<Option<Rc<Node>>> {
        self.functions.get(name).cloned().unwrap_or_default()
    }

    /// Adds an alias. The old text is kept, as an alias that is redefined or removed still applies to lines read
    /// before.
    pub(crate) fn add_alias(&mut self, name: &str, alias: Alias) {
        let known = Rc::make_mut(&mut self.aliases).entry(name.into()).or_default();
        if !known.contains(&alias) && known.len() < MAX_WAYS {
            known.push(alias);
        }
    }

    pub(crate) fn aliases(&self, name: &str) -> &[Alias] {
        self.aliases.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the working directory: `None` if unknown, empty for the initial one.
    pub(crate) fn folder(&self) -> Option<Value> {
        self.folders.here()
    }

    pub(crate) fn folder_value(&self, origin: Origin) -> Value {
        self.folders.value(origin)
    }

    /// Merges the state of another branch: every difference stays open.
    pub(crate) fn merge(&mut self, other: &State) {
        if self.meets(other) {
            self.folders.merge(&other.folders);
            self.merge_names_of(other);
        }
    }

    /// Merges everything except the working directory.
    pub(crate) fn merge_names(&mut self, other: &State) {
        if self.meets(other) {
            self.merge_names_of(other);
        }
    }

    /// Whether both branches continue; if only one does, `self` becomes that one.
    fn meets(&mut self, other: &State) -> bool {
        if self.ended && !other.ended {
            *self = other.clone();
        }
        !self.ended && !other.ended
    }

    fn merge_names_of(&mut self, other: &State) {
        if self.parameters != other.parameters || self.ways.get(PARAMETERS) != other.ways.get(PARAMETERS) {
            self.merge_parameters(other);
        }
        if !Rc::ptr_eq(&self.exported, &other.exported) {
            Rc::make_mut(&mut self.exported).extend(other.exported.iter().cloned());
        }
        if !Rc::ptr_eq(&self.variables, &other.variables) || !Rc::ptr_eq(&self.ways, &other.ways) {
            self.merge_variables(other);
        }
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            self.merge_functions(other);
        }
        if !Rc::ptr_eq(&self.aliases, &other.aliases) {
            self.merge_aliases(other);
        }
        if !Rc::ptr_eq(&self.kinds, &other.kinds) {
            Rc::make_mut(&mut self.kinds).extend(other.kinds.iter().map(|(name, kind)| (name.clone(), kind.clone())));
        }
        self.open.merge(&other.open);
        self.extended &= other.extended;
        self.errexit &= other.errexit;
    }

    fn merge_functions(&mut self, other: &State) {
        let names: BTreeSet<String> = self.functions.keys().chain(other.functions.keys()).cloned().collect();
        let functions = Rc::make_mut(&mut self.functions);
        for name in names {
            let undefined = vec![None];
            let others = other.functions.get(&name).unwrap_or(&undefined);
            let bodies = functions.entry(name).or_insert_with(|| vec![None]);
            for body in others {
                if !contains(bodies, body) {
                    bodies.push(body.clone());
                }
            }
        }
    }

    fn merge_aliases(&mut self, other: &State) {
        let aliases = Rc::make_mut(&mut self.aliases);
        for (name, others) in other.aliases.iter() {
            let known = aliases.entry(name.clone()).or_default();
            others.iter().for_each(|alias| {
                if !known.contains(alias) {
                    known.push(alias.clone())
                }
            });
        }
    }

    fn merge_parameters(&mut self, other: &State) {
        let ways_of = |state: &State| match state.ways.get(PARAMETERS) {
            Some(ways) => ways.to_vec(),
            None => vec![Some(state.parameters.clone())],
        };
        let (mut ways, others) = (ways_of(self), ways_of(other));
        others.into_iter().for_each(|way| {
            if !ways.contains(&way) {
                ways.push(way)
            }
        });
        self.blur_parameters(other);
        let is_open = ways.iter().flatten().flat_map(|values| values.iter()).any(is_between_branches);
        if ways.len() > MAX_WAYS || is_open {
            Rc::make_mut(&mut self.ways).remove(PARAMETERS);
        } else {
            Rc::make_mut(&mut self.ways).insert(PARAMETERS.into(), Rc::new(ways));
        }
    }

    /// Makes differing parameters unknown. If their number differs, ten unknown parameters replace them.
    fn blur_parameters(&mut self, other: &State) {
        let unknown = |value: &Value| Value::piece(Piece::Unknown(UnknownReason::Branches), value.origin());
        if self.parameters.len() != other.parameters.len() {
            let first = self.parameters.first().or(other.parameters.first()).cloned().unwrap_or_default();
            self.parameters = Arc::new(vec![unknown(&first); 10]);
            return;
        }
        for (value, other) in Arc::make_mut(&mut self.parameters).iter_mut().zip(other.parameters.iter()) {
            if value != other {
                *value = unknown(value);
            }
        }
    }

    fn merge_variables(&mut self, other: &State) {
        let names = self.variables.keys().chain(other.variables.keys());
        let differs = |name: &&Rc<str>| {
            self.variables.get(*name) != other.variables.get(*name) || self.ways.get(*name) != other.ways.get(*name)
        };
        work::spend((self.variables.len() / 4) as u64);
        let differing: BTreeSet<Rc<str>> = names.filter(differs).cloned().collect();
        for name in differing {
            let mut ways = self.ways_of(&name);
            other.ways_of(&name).into_iter().for_each(|way| {
                if !ways.contains(&way) {
                    ways.push(way)
                }
            });
            self.set_ways(&name, ways);
        }
    }

    /// Makes everything that changed since `before` unknown, as a loop may keep changing it.
    pub(crate) fn widen(&mut self, before: &State) {
        let names = self.variables.keys().chain(before.variables.keys());
        let differs = |name: &&Rc<str>| {
            self.variables.get(*name) != before.variables.get(*name) || self.ways.get(*name) != before.ways.get(*name)
        };
        work::spend((self.variables.len() / 4) as u64);
        let differing: BTreeSet<Rc<str>> = names.filter(differs).cloned().collect();
        for name in differing {
            let origin =
                self.variables.get(&name).and_then(|values| values.first()).map_or_else(Origin::default, Value::origin);
            self.assign(&name, vec![Value::piece(Piece::Unknown(UnknownReason::Branches), origin)]);
        }
        if self.parameters != before.parameters || self.ways.get(PARAMETERS) != before.ways.get(PARAMETERS) {
            let ended = State { parameters: Words::default(), ..State::default() };
            self.blur_parameters(&ended);
            Rc::make_mut(&mut self.ways).remove(PARAMETERS);
        }
    }
}

/// Removes the elements tracked by name of an array that is assigned anew.
fn forget_elements(variables: &mut BTreeMap<Rc<str>, Words>, name: &str) {
    let start = format!("{name}[");
    while let Some(element) = variables
        .range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded))
        .next()
        .map(|(key, _)| key.clone())
    {
        if !element.starts_with(start.as_str()) {
            break;
        }
        variables.remove(&element);
    }
}

fn contains(bodies: &[Option<Rc<Node>>], body: &Option<Rc<Node>>) -> bool {
    bodies.iter().any(|known| match (known, body) {
        (Some(known), Some(body)) => Rc::ptr_eq(known, body),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    })
}

fn is_between_branches(value: &Value) -> bool {
    value.pieces.iter().any(|(piece, _)| *piece == Piece::Unknown(UnknownReason::Branches))
}
