//! The options that a script declares with Python's `argparse`, and their values from the call.

use super::calls::Arguments;
use super::datum::ScriptValue;
use super::walker::ExprInterpreter;
use crate::model::value::Value;
use std::rc::Rc;

/// Name of the variable for the declared options. It is not a valid name in any language.
const DECLARED: &str = "\0options";

impl ExprInterpreter<'_, '_> {
    /// `add_argument("-o", "--out", default="x")`
    pub(super) fn declare_option(&mut self, arguments: &Arguments) -> ScriptValue {
        let named = |name: &str| arguments.named(name).cloned().unwrap_or(ScriptValue::Ternary(false));
        let fields = ["dest", "default", "action", "nargs"].map(|name| (name.to_owned(), named(name)));
        let spellings = ("spellings".to_owned(), ScriptValue::list(arguments.positional.clone()));
        let declared = ScriptValue::Map(Rc::new(fields.into_iter().chain([spellings]).collect()));
        let before = self.variable(DECLARED);
        let before = before.as_ref().and_then(ScriptValue::items).unwrap_or(&[]);
        let all = before.iter().cloned().chain([declared]).collect();
        self.set(DECLARED, ScriptValue::list(all));
        ScriptValue::Ternary(false)
    }

    /// Evaluates `parse_args()`: each declared option has the word given in the call, else its default.
    pub(super) fn parsed_options(&mut self) -> ScriptValue {
        let declared = self.variable(DECLARED);
        let declared: Vec<Declared> = declared.iter().flat_map(|all| all.items().unwrap_or(&[])).map(of_call).collect();
        let mut rest: Vec<Value> = self.interpreter.state.parameters.iter().skip(1).cloned().collect();
        let mut fields = Vec::new();
        for option in declared.iter().filter(|option| option.is_named()) {
            let value = option.taken_from(&mut rest);
            fields.push((option.name(), value.map_or_else(|| option.default.clone(), ScriptValue::from)));
        }
        let mut rest = rest.into_iter().map(ScriptValue::from);
        for operand in declared.iter().filter(|option| !option.is_named()) {
            let value = if operand.takes_all { Some(ScriptValue::list(rest.by_ref().collect())) } else { rest.next() };
            fields.push((operand.name(), value.unwrap_or_else(|| operand.default.clone())));
        }
        ScriptValue::Map(Rc::new(fields))
    }
}

/// One `add_argument`.
struct Declared {
    spellings: Vec<String>,
    destination: Option<String>,
    default: ScriptValue,
    /// `action="store_true"`
    is_switch: bool,
    /// `nargs="*"`
    takes_all: bool,
}

fn of_call(fields: &ScriptValue) -> Declared {
    let text = |name: &str| fields.field(name).and_then(ScriptValue::literal);
    let spellings = fields.field("spellings").and_then(ScriptValue::items).unwrap_or(&[]);
    Declared {
        spellings: spellings.iter().filter_map(ScriptValue::literal).collect(),
        destination: text("dest"),
        default: fields.field("default").cloned().unwrap_or(ScriptValue::Ternary(false)),
        is_switch: text("action").is_some_and(|action| action != "store" && action != "append"),
        takes_all: text("nargs").is_some_and(|count| matches!(count.as_str(), "*" | "+" | "...")),
    }
}

impl Declared {
    fn is_named(&self) -> bool {
        self.spellings.iter().any(|spelling| spelling.starts_with('-'))
    }

    /// Returns the attribute of the option: `--out-dir` is `out_dir`.
    fn name(&self) -> String {
        let long = self.spellings.iter().find(|spelling| spelling.starts_with("--")).or(self.spellings.first());
        let long = self.destination.as_ref().or(long);
        long.map(|name| name.trim_start_matches('-').replace('-', "_")).unwrap_or_default()
    }

    /// Removes the option and its value from the words: `--out x`, `--out=x`.
    fn taken_from(&self, words: &mut Vec<Value>) -> Option<Value> {
        let begins = |word: &Value, spelling: &String| {
            let text = word.prefix();
            text == spelling.as_str() || text.strip_prefix(spelling.as_str()).is_some_and(|rest| rest.starts_with('='))
        };
        let find = |word: &Value| self.spellings.iter().find(|spelling| begins(word, spelling));
        let at = words.iter().position(|word| find(word).is_some())?;
        let spelling = words.get(at).and_then(find)?.len();
        let word = words.remove(at);
        if self.is_switch {
            return None;
        }
        if word.prefix().len() > spelling || word.literal().is_none() {
            return Some(word.without_prefix(spelling + 1));
        }
        (at < words.len()).then(|| words.remove(at))
    }
}
