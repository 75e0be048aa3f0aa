//! The judgement: an event becomes an analysis, the detectors' findings on it, and one verdict. Pure: what the machine
//! knows is asked of a [`World`].

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
pub use analysis::fingerprint::Fingerprint;
pub use analysis::orders::{How, MAX_ORDERS, Order, orders};
pub use analysis::tool_call::unfolded;
pub use detectors::extension::{ExtraDetector, NONE, Seen};
pub use detectors::loops as loopbreaker;
pub use detectors::taint::written_by;
pub use facts::agent_settings;
pub use facts::cache::Facts;
pub use facts::fact::Fact;
pub use judge::{Judgement, conclude, judge, judge_incoming, judge_with};
pub use model::analysis::{Analysis, Script, Usage};
pub use model::effect::{Effect, EffectKind, Sort, Target, TargetPath};
pub use model::event::{Action, AgentPath, Event, Flavour, Moment, Outcome, Purpose, Task};
pub use model::fake_world::{FakeWorld, SupposedGit};
pub use model::finding::{At, Decision, Finding, PolicyAction, Rewrite, Severity, Tier};
pub use model::latency::{Latency, Tick};
pub use model::path::{Folders, Place, absolute, is_absolute, is_below, is_within, parent};
pub use model::rule_trace::Weighed;
pub use model::session::{RemnantKind, Spent, Taint};
pub use model::truth::Ternary;
pub use model::verdict::{FollowUp, Verdict};
pub use model::vouched::Vouched;
pub use model::words::{WordList, Words};
pub use model::world::{
    Age, Known, Look, MAX_CONTENT, MAX_LISTED, Names, NamesOf, ResolvedPath, Unreadable, Untracked, World,
};
pub use policy::{Authority, Layer, Policy};
pub use reflex_shell as shell;
pub use rules::condition::OPERATORS;
pub use rules::field::{FIELD_OPERATORS, MAX_PATTERN};
pub use rules::rule_event::{RULE_EVENTS, RULE_FIELDS, RuleEvent};
pub use rules::user::{Answer, ask};
pub use secrets::disguises::unescaped;
pub use secrets::passwords::passwords;
pub use secrets::redaction::{redact, redact_known, redacted};
pub use secrets::scan::{Secret, find as find_secrets};
pub use text::excerpt::{plain_path, quotation, told_by_stranger};
pub use text::glob::fits;
pub use verdict::gatekeeper::next_steps;
