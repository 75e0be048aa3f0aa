//! Judges events: analyzes an event, collects the findings of the detectors, and combines them into one verdict.
//!
//! ```
//! use reflex_engine::{Decision, Engine, Event, FakeWorld, Policy};
//!
//! let library = reflex_library::tables();
//! let policy = Policy::named(library, "balanced").unwrap();
//! let engine = Engine::new(library, &policy);
//! let world = FakeWorld::default();
//! let judged = |command| engine.judge(&Event::shell(command, "/home/me/project", "/home/me"), &world).verdict;
//!
//! let verdict = judged("rm -rf ~");
//! assert_eq!(verdict.decision, Decision::Deny);
//! assert_eq!(verdict.findings[0].id, "rm/home-or-root");
//! assert!(judged("cargo build").findings.is_empty());
//! ```
//!
//! The crate is pure: facts about the machine come from a [`World`]. [`FakeWorld`] is one without a machine.

mod analysis;
mod detectors;
mod facts;
pub mod injection;
mod judge;
mod model;
mod policy;
mod rules;
mod secrets;
mod text;
mod verdict;

#[cfg(test)]
#[path = "../tests/library/mod.rs"]
mod library;

pub use analysis::analyze;
pub use analysis::config_inputs::{ConfigInput, How, config_inputs};
pub use analysis::fingerprint::Fingerprint;
pub use analysis::tool_call::unfolded;
pub use detectors::extension::{ExtraDetector, Seen};
pub use detectors::loops as loopbreaker;
pub use detectors::taint::written_by;
pub use facts::agent_settings;
pub use facts::cache::Facts;
pub use facts::fact::Fact;
pub use judge::{Engine, JudgeOptions, Judgement};
pub use model::affected::Affected;
pub use model::analysis::{Analysis, Script, Usage};
pub use model::effect::{Effect, EffectKind, Target, TargetKind, TargetPath};
pub use model::event::{Action, AgentPath, Event, Flavour, Moment, Outcome, Purpose, Started, Task};
pub use model::fake_world::{FakeWorld, SupposedGit};
pub use model::finding::{At, Decision, DetectorName, Finding, PolicyAction, Rewrite, Severity, Tier};
pub use model::latency::{Latency, Tick};
pub use model::obstacle::Obstacle;
pub use model::path::{Folders, Place, absolute, is_absolute, is_below, is_within, parent};
pub use model::reason::Reason;
pub use model::rule_trace::RuleTrace;
pub use model::session::{RemnantKind, SessionUsage, Taint};
pub use model::truth::Ternary;
pub use model::verdict::{Advice, AtStake, FollowUp, KeptCopy, RepositoryAtStake, Verdict};
pub use model::vouched::Vouched;
pub use model::words::{WordList, Words};
pub use model::world::{
    Age, Environment, Files, Git, GuardFiles, Known, Look, MAX_CONTENT, MAX_LISTED, Names, NamesOf, ResolvedPath,
    Session, Survey, Surveyed, Unreadable, Untracked, World,
};
pub use policy::{Authority, Layer, Policy, action_of};
pub use reflex_shell as shell;
pub use rules::condition::OPERATORS;
pub use rules::field::MAX_PATTERN;
pub use rules::rule_event::{RULE_EVENTS, RULE_FIELDS, RuleEvent};
pub use rules::user::{Answer, RuleList};
pub use secrets::disguises::unescaped;
pub use secrets::passwords::passwords;
pub use secrets::redaction::{redact, redact_known, redacted};
pub use secrets::scan::{Secret, find as find_secrets};
pub use text::command_lines::command_lines;
pub use text::deep_json::parse_json;
pub use text::excerpt::{plain_path, quotation, quoted_from_stranger};
pub use text::glob::fits;
pub use verdict::judgeable::{JudgedRule, Reservation};
pub use verdict::reasons::next_steps;
