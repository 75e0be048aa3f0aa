//! Names of languages other than that of the shell: entries of `library/languages`.

use crate::view;
use crate::view::{Map, Texts};

view! {
    /// The names of a language that compute a value and have no effect. Calls with effects are programs.
    pub struct LanguageNames<'a> {
        /// Beginnings of names that carry no meaning, the longest first.
        prefixes: Texts<'a>,
        /// Functions, by their dotted name.
        calls: Map<'a, NameMeaning<'a>>,
        /// Names that denote a value without being called.
        constants: Map<'a, NameMeaning<'a>>,
        /// Functions that open a file, each with the index of the argument that holds the mode.
        opens: Map<'a, u32>,
    }
}

view! {
    /// The meaning of a name.
    pub struct NameMeaning<'a> {
        /// The result of a call, or the value that the name denotes.
        means: &'a str,
        /// The text of a fixed value.
        text: &'a str,
        /// The number of names before the first argument.
        skip: u32,
    }
}

view! {
    /// Members of values, the same in all languages, each with its meaning.
    pub struct Members<'a> {
        /// Methods that compute a value.
        methods: Map<'a, &'a str>,
        /// Members of a text that are not called.
        attributes: Map<'a, &'a str>,
        /// Methods that change the list that they belong to.
        changes: Map<'a, &'a str>,
    }
}
