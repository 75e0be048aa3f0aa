//! The findings of detectors.

use reflex_shell::{Derivation, Span};

/// A finding of a detector. Findings are not decisions: the policy assigns their weight.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finding {
    /// A stable id, `subject/name`.
    pub id: String,
    /// The detector that reports it.
    pub detector: DetectorName,
    /// Category: `destructive`, `credential`, …
    pub category: String,
    /// Severity of the harm.
    pub severity: Severity,
    /// Confidence of the detector, in percent.
    pub confidence: u32,
    /// The tier, which limits who may lower the finding.
    pub tier: Tier,
    /// The action regardless of how the policy maps the severity; set by rules that people write.
    pub fixed: Option<PolicyAction>,
    /// The action if its rule were fully in force; a rule can be tried out first.
    pub would: Option<PolicyAction>,
    /// The harm, in a sentence.
    pub message: String,
    /// An alternative, if one applies here.
    pub remedy: String,
    /// The guilty part, truncated and without secrets.
    pub command: String,
    /// A call with the same result but without the harm.
    pub rewrite: Option<Rewrite>,
    /// The decision for the original call if a rewrite exists.
    pub otherwise: Decision,
    /// The location.
    pub at: At,
    /// The queries to the machine and their answers.
    pub evidence: Vec<String>,
    /// Index of the event's action that it concerns.
    pub action: Option<usize>,
    /// Index of the analysis' effect that it concerns.
    pub effect: Option<usize>,
    /// Whether its id comes from an author whom no person has reviewed: it is recorded but not shown.
    pub by_stranger: bool,
    /// The id of the finding that precedes it: it counts only once a person has approved that one.
    pub after: Option<String>,
}

/// A detector, by the name under which its findings and its time are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DetectorName {
    /// Rules of the library about dangerous effects.
    #[default]
    Sentinel,
    /// Signs of manipulation: instructions in content, evasion, attacks on the guard.
    Tripwire,
    /// Rules and policies of people.
    Rules,
    /// Calls that repeat themselves, and budgets of a session.
    Loopbreaker,
    /// Checks that the work has to pass, and failures that need attention.
    Duties,
    /// Modules of people.
    Reflexes,
}

impl DetectorName {
    /// Every detector.
    pub const ALL: [DetectorName; 6] = [
        DetectorName::Sentinel,
        DetectorName::Tripwire,
        DetectorName::Rules,
        DetectorName::Loopbreaker,
        DetectorName::Duties,
        DetectorName::Reflexes,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            DetectorName::Sentinel => "sentinel",
            DetectorName::Tripwire => "tripwire",
            DetectorName::Rules => "rules",
            DetectorName::Loopbreaker => "loopbreaker",
            DetectorName::Duties => "duties",
            DetectorName::Reflexes => "reflexes",
        }
    }

    /// Returns the detector with this name.
    pub fn of(name: &str) -> Option<DetectorName> {
        DetectorName::ALL.into_iter().find(|detector| detector.name() == name)
    }

    /// Whether its findings are about counts over a session rather than about one call.
    pub(crate) fn counts(self) -> bool {
        match self {
            DetectorName::Loopbreaker | DetectorName::Duties => true,
            DetectorName::Sentinel | DetectorName::Tripwire | DetectorName::Rules | DetectorName::Reflexes => false,
        }
    }
}

/// The action that a finding leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PolicyAction {
    /// It is only recorded.
    #[default]
    Record,
    /// The agent is warned, and the call may run.
    Warn,
    /// A person decides.
    Ask,
    /// The call does not run.
    Deny,
}

impl PolicyAction {
    /// Returns the action with this name; `off`, `pass` and `log` only record.
    pub fn named(word: &str) -> Option<PolicyAction> {
        match word {
            "off" | "pass" | "log" => Some(PolicyAction::Record),
            "warn" => Some(PolicyAction::Warn),
            "ask" => Some(PolicyAction::Ask),
            "block" => Some(PolicyAction::Deny),
            _ => None,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            PolicyAction::Record => "log",
            PolicyAction::Warn => "warn",
            PolicyAction::Ask => "ask",
            PolicyAction::Deny => "block",
        }
    }
}

/// The severity of a harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Severity {
    /// Worth recording only.
    #[default]
    Info,
    /// Harmless in nearly every case.
    Low,
    /// Worth a remark.
    Medium,
    /// Worth a person's attention.
    High,
    /// Irreversible, or hands over control of the machine.
    Critical,
}

impl Severity {
    /// Every severity with its name, mildest first.
    pub const ALL: [(Severity, &'static str); 5] = [
        (Severity::Info, "info"),
        (Severity::Low, "low"),
        (Severity::Medium, "medium"),
        (Severity::High, "high"),
        (Severity::Critical, "critical"),
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        Severity::ALL.iter().find(|(severity, _)| *severity == self).map_or("info", |(_, name)| name)
    }

    /// Returns the severity with this name.
    pub fn named(name: &str) -> Option<Severity> {
        Severity::ALL.iter().find(|(_, known)| *known == name).map(|(severity, _)| *severity)
    }

    /// Returns the severity as the risk of a call; `Info` counts as none.
    pub fn risk(self) -> &'static str {
        if self == Severity::Info { "none" } else { self.name() }
    }
}

/// The tier of a finding: who may lower it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// A rule of a project or a person.
    Custom,
    /// Ships with Reflex; may be lowered.
    #[default]
    Recommended,
    /// Ships with Reflex; nothing in a project can lower it.
    Core,
}

impl Tier {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Custom => "custom",
            Tier::Recommended => "recommended",
            Tier::Core => "core",
        }
    }

    /// Returns the tier with this name.
    pub fn named(name: &str) -> Option<Tier> {
        [Tier::Custom, Tier::Recommended, Tier::Core].into_iter().find(|tier| tier.name() == name)
    }
}

/// The decision about a call. The strictest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Decision {
    /// No objection: the agent's own permission flow continues.
    #[default]
    Pass,
    /// A person decides.
    Ask,
    /// The call does not run.
    Deny,
}

/// A call that replaces the judged one, in normalized field names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// Field names and their new texts; other fields stay.
    pub fields: Vec<(String, String)>,
}

/// The location of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct At {
    /// The text: `command`, `content`, `prompt`, `arg:NAME`, `file:PATH`.
    pub within: String,
    /// The span in that text as received.
    pub span: Span,
    /// The derivations that lead from the text at the span to the guilty text, outermost first.
    pub derived: Vec<Derivation>,
}

/// The id of the finding that a part of a call was not examined. Whatever its severity, a policy at most asks, because
/// the unexamined part need not be harmful.
pub(crate) const TOO_MUCH: &str = "judgement/too-much";
