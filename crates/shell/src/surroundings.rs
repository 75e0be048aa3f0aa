//! What the reader is told about where a text would run.

use crate::cli_grammar::program::Programs;
use crate::model::language::Language;
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
    /// Its arguments and its input.
    pub given: Given,
    /// The file of the text, and the files that it loads.
    pub source: Source<'a>,
}

/// A call's arguments and input for the text that it runs.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The parameters `$0`, `$1`, … of the text.
    pub parameters: Vec<Value>,
    /// The text on its standard input; `None` if it has the caller's.
    pub stdin: Option<Value>,
}

/// The file in which a text stands, and how it comes to others: what it loads is read with it.
#[derive(Clone, Copy, Default)]
pub struct Source<'a> {
    /// The path of the file, absolute; empty for a text that stands in none.
    pub path: &'a str,
    /// The file that a text means, if there is such a file.
    pub load: Option<&'a LoadModule<'a>>,
}

/// Finds the file that a text loads.
pub type LoadModule<'a> = dyn Fn(&ModuleName<'_>) -> Option<Module> + 'a;

/// How a text names what it loads.
#[derive(Debug, Clone, Copy)]
pub struct ModuleName<'t> {
    /// In what the text is written.
    pub language: Language,
    /// The file of the text that loads, absolute; empty if it stands in none.
    pub from: &'t str,
    /// The function that loads; `import` for a statement.
    pub function: &'t str,
    /// What it is given: a path, or a name whose dots part folders.
    pub name: &'t str,
}

/// A file of code that a text loads.
#[derive(Debug, Clone)]
pub struct Module {
    /// Where it lies.
    pub path: String,
    /// What stands in it.
    pub text: String,
    /// It is as the history of its project has it: what it does counts only as far as it is known.
    pub is_unchanged: bool,
}

impl Surroundings<'static> {
    /// Surroundings of which nothing else is known.
    pub fn new(programs: Programs) -> Surroundings<'static> {
        Surroundings {
            programs,
            variable: &|_| None,
            alias: &|_, _| None,
            given: Given::default(),
            source: Source::default(),
        }
    }
}
