//! The entries of the compiled library and of a user's compiled files, as their readers see them.
//!
//! The compiler checks what it writes against the same declarations: a key that no reader knows is an error.

mod languages;
mod layer;
mod library;
mod loads;
mod places;
mod programs;
mod rules;
mod texts;
mod tools;

pub use languages::{LanguageNames, Members, NameMeaning};
pub use layer::{
    Allowance, Asking, Budgets, Check, Judge, LayerTables, Notify, Override, PathRule, Role, UserPolicy, UserRule,
    Verify, Watch, Webhook,
};
pub use library::Library;
pub use loads::{InputFiles, Load, LoadedFile, LoadedFiles, Loads, NamedPattern};
pub use places::{Login, Place, SettingsForm};
pub use programs::{
    Conditions, CopyEntry, EffectEntry, Narrowing, PrintEntry, Program, ProgramOption, RunEntry, Variable,
};
pub use rules::{Policy, Rationale, Rule};
pub use texts::{Cue, Cues, Lexicon, SecretFormat, Secrets, SpacedForms, WordList};
pub use tools::{LinePiece, Operation, Tools};
