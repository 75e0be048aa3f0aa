//! The compiled library as a whole.

use super::languages::{LanguageNames, Members};
use super::loads::{InputFiles, Loads};
use super::places::{Login, Place, SettingsForm};
use super::programs::{Program, Variable};
use super::rules::{Policy, Rationale, Rule};
use super::texts::{Cues, Lexicon, Secrets, WordList};
use super::tools::Tools;
use crate::view;
use crate::view::{List, Map};

view! {
    /// The tables of the library.
    pub struct Library<'a> {
        /// The grammars of programs, by name.
        programs: Map<'a, Program<'a>>,
        /// Environment variables whose values are run, by name.
        variables: Map<'a, Variable<'a>>,
        /// The rules, by the effect that triggers them.
        triggers: Map<'a, List<'a, Rule<'a>>>,
        /// The rules, by id.
        rules: Map<'a, Rule<'a>>,
        /// The reasons for which the rules exist, by the rule's id.
        rationales: Map<'a, Rationale<'a>>,
        /// The places of each class.
        places: Map<'a, List<'a, Place<'a>>>,
        /// The presets, by name.
        policies: Map<'a, Policy<'a>>,
        /// Phrases by which texts give orders to a model.
        cues as "injection-patterns": Cues<'a>,
        /// Meanings of words in such orders.
        lexicon as "injection-lexicon": Lexicon<'a>,
        /// Formats of keys and passwords.
        secrets: Secrets<'a>,
        /// Meanings of words in the names and arguments of tools.
        tools: Tools<'a>,
        /// The ways in which clients read their settings files.
        settings: List<'a, SettingsForm<'a>>,
        /// Places at which a program takes a password, by program.
        logins: Map<'a, List<'a, Login<'a>>>,
        /// Files that a program reads commands from by default, by program.
        inputs: Map<'a, List<'a, InputFiles<'a>>>,
        /// Files that a run loads from disk.
        loads: Loads<'a>,
        /// Names that compute a value, by language.
        languages: Map<'a, LanguageNames<'a>>,
        /// Members of values in all languages.
        members: Members<'a>,
        /// Word lists, by name.
        words: Map<'a, WordList<'a>>,
    }
}
