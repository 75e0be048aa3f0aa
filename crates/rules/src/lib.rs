//! Rules and policies written by people: parsed with source positions, checked, compiled to the condition language, and
//! evaluated as a library ([`RuleEngine`]).
//!
//! ```
//! use reflex_rules::{RuleEngine, core_rules};
//! use serde_json::json;
//!
//! let mut engine = RuleEngine::new([("allowed_roots", vec!["/home/user/project".into()])]);
//! engine.add_rules(core_rules()).unwrap();
//! let write = |path| json!({"event": "file_write", "file_path": path, "content": "x"});
//! assert!(!engine.is_allowed(write("/etc/passwd").as_object().unwrap()));
//! assert!(engine.is_allowed(write("/home/user/project/notes.md").as_object().unwrap()));
//! ```

mod condition;
mod error;
pub mod import;
mod layer;
mod load;
mod pattern;
mod policy;
mod problem;
pub mod renamed;
mod review;
mod rule;
mod rule_engine;
pub mod schema;
mod yaml;

pub use condition::{Condition, FieldCondition, OPERATORS};
pub use error::{ConditionError, RuleError};
pub use layer::{Compiled, SourceFile, compile};
pub use load::{MAX_BYTES, ReflexConfig, load_rule_directory, load_rule_file, rule_files};
pub use pattern::Variables;
pub use policy::duties::{Skill, skills_of};
pub use policy::{Base, Policy};
pub use problem::{Level, Problem, Problems, nearest};
pub use review::review;
pub use rule::{Override, Rule, rules_of};
pub use rule_engine::{CORE_RULES, EvaluationResult, RuleEngine, core_rules};
