//! What the reader is told about where a text would run.

use crate::model::value::Value;
use reflex_tables::Node;

/// What is known about where the text would run.
pub struct Surroundings<'a> {
    /// The compiled `programs`: name to grammar.
    pub programs: Node<'static>,
    /// The value of an environment variable, if it is known.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What the user has named so: of a program (`git`), or of the shell itself where that is empty. Only asked for
    /// names that nothing else explains.
    pub alias: &'a dyn Fn(&str, &str) -> Option<String>,
    /// The parameters `$0`, `$1`, … of the text.
    pub parameters: Vec<Value>,
}
