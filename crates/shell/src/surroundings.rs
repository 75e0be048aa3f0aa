//! The facts about the environment of a text that the caller passes to the reader.

use crate::cli_grammar::program::Programs;
use crate::model::language::Language;
use crate::model::value::Value;

/// The known facts about the environment in which the text would run.
pub struct Surroundings<'a> {
    /// The grammars of programs.
    pub programs: Programs,
    /// Returns the value of an environment variable, if it is known.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the user's alias of a name, given the program (`git`) and the name; the program is empty for an alias of
    /// the shell. Only called for names that have no other meaning.
    pub alias: &'a dyn Fn(&str, &str) -> Option<String>,
    /// The arguments and the standard input of the text.
    pub input: CallInput,
    /// The file of the text, and the loader of the files that it imports.
    pub source: Source<'a>,
}

/// The arguments and the input that a call passes to the text that it runs.
#[derive(Debug, Clone, Default)]
pub struct CallInput {
    /// The positional parameters `$0`, `$1`, … of the text.
    pub parameters: Vec<Value>,
    /// The text on its standard input; `None` if it inherits the caller's.
    pub stdin: Option<Value>,
}

/// The file that contains a text, and access to the files that it loads, which are read along with it.
#[derive(Clone, Copy, Default)]
pub struct Source<'a> {
    /// The absolute path of the file; empty for a text without a file.
    pub path: &'a str,
    /// Finds a file that the text loads, if it exists.
    pub load: Option<&'a LoadModule<'a>>,
}

/// Finds the file that a text loads.
pub type LoadModule<'a> = dyn Fn(&ModuleName<'_>) -> Option<Module> + 'a;

/// A reference from a text to a file that it loads.
#[derive(Debug, Clone, Copy)]
pub struct ModuleName<'t> {
    /// The language of the text.
    pub language: Language,
    /// The absolute path of the loading file; empty for a text without a file.
    pub from: &'t str,
    /// The function that loads; `import` for a statement.
    pub function: &'t str,
    /// Its argument: a path, or a name whose dots separate folders.
    pub name: &'t str,
}

/// A file of code that a text loads.
#[derive(Debug, Clone)]
pub struct Module {
    /// The path of the file.
    pub path: String,
    /// The content of the file.
    pub text: String,
    /// Whether the file matches its project's history. Only its known effects count then.
    pub is_unchanged: bool,
}

impl Surroundings<'static> {
    /// Returns surroundings without any other known facts.
    pub fn new(programs: Programs) -> Surroundings<'static> {
        Surroundings {
            programs,
            variable: &|_| None,
            alias: &|_, _| None,
            input: CallInput::default(),
            source: Source::default(),
        }
    }
}
