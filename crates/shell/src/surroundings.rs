//! What the reader is told about where a text would run.

use crate::cli_grammar::program::Programs;
use crate::model::value::Value;

/// What is known about where the text would run.
pub struct Surroundings<'a> {
    /// The grammars of programs.
    pub programs: Programs,
    /// The value of an environment variable, if it is known.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// What the user has named so: of a program (`git`), or of the shell itself where that is empty. Only asked for
    /// names that nothing else explains.
    pub alias: &'a dyn Fn(&str, &str) -> Option<String>,
    /// The parameters `$0`, `$1`, … of the text.
    pub parameters: Vec<Value>,
}

impl Surroundings<'static> {
    /// Surroundings of which nothing else is known.
    pub fn new(programs: Programs) -> Surroundings<'static> {
        Surroundings { programs, variable: &|_| None, alias: &|_, _| None, parameters: Vec::new() }
    }
}
