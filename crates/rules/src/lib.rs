//! Rules and policies that people write: read with the place of every word, checked, compiled into the one condition
//! language, and asked as a library ([`RuleEngine`]).

mod condition;
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
pub use layer::{Compiled, SourceFile, compile};
pub use load::{MAX_BYTES, ReflexConfig, load_rule_directory, load_rule_file, rule_files};
pub use pattern::Variables;
pub use policy::duties::{BUDGETS, Skill, skills_of};
pub use policy::{Base, KEYS as POLICY_KEYS, Policy};
pub use problem::{Level, Problem, Problems, nearest};
pub use review::review;
pub use rule::{KEYS as RULE_KEYS, Override, Rule, rules_of};
pub use rule_engine::{CORE_RULES, EvaluationResult, RuleEngine, core_rules};
