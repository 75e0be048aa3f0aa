//! What a detector reports.

use reflex_shell::{Derivation, Span};

/// One thing that a detector reports. Findings are not decisions: the policy says what they are worth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finding {
    /// `subject/name`, stable.
    pub id: String,
    /// Who reports it.
    pub detector: String,
    /// `destructive`, `credential`, …
    pub category: String,
    /// How bad it would be.
    pub severity: Severity,
    /// How sure the detector is, in percent.
    pub confidence: u32,
    /// Who may lower it.
    pub tier: Tier,
    /// What is to happen whatever the policy makes of the severity; rules that people write fix it.
    pub fixed: Option<PolicyAction>,
    /// What it would be worth where its rule were fully in force; a rule can be tried out before.
    pub would: Option<PolicyAction>,
    /// The harm, in a sentence.
    pub message: String,
    /// What to do instead, if there is something that applies here.
    pub remedy: String,
    /// The guilty part, shortened and without secrets.
    pub command: String,
    /// A call that does the same without the harm.
    pub rewrite: Option<Rewrite>,
    /// What holds for the original call if there is a rewrite.
    pub otherwise: Decision,
    /// Where it stands.
    pub at: At,
    /// What was asked of the machine and what it answered.
    pub evidence: Vec<String>,
    /// Which of the event's actions it is about.
    pub action: Option<usize>,
    /// Which of the analysis' effects it is about.
    pub effect: Option<usize>,
    /// Whether its id is the word of somebody whom no person has reviewed: it is recorded and not told.
    pub by_stranger: bool,
    /// The id of a finding behind which it stands: it counts only once a person has said yes to that one.
    pub behind: Option<String>,
}

/// What a finding leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PolicyAction {
    /// It stands in the record.
    #[default]
    Record,
    /// The agent is told, and the call may run.
    Warn,
    /// A person decides.
    Ask,
    /// The call does not run.
    Deny,
}

impl PolicyAction {
    /// The worth of this word; `off`, `pass` and `log` only record.
    pub fn named(word: &str) -> Option<PolicyAction> {
        match word {
            "off" | "pass" | "log" => Some(PolicyAction::Record),
            "warn" => Some(PolicyAction::Warn),
            "ask" => Some(PolicyAction::Ask),
            "block" => Some(PolicyAction::Deny),
            _ => None,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            PolicyAction::Record => "log",
            PolicyAction::Warn => "warn",
            PolicyAction::Ask => "ask",
            PolicyAction::Deny => "block",
        }
    }
}

/// How bad something would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Severity {
    /// Worth a record.
    #[default]
    Info,
    /// Harmless in nearly every case.
    Low,
    /// Worth a word.
    Medium,
    /// Worth a person's attention.
    High,
    /// Cannot be undone or gives the machine away.
    Critical,
}

impl Severity {
    /// Every severity with its word, mildest first.
    pub const ALL: [(Severity, &'static str); 5] = [
        (Severity::Info, "info"),
        (Severity::Low, "low"),
        (Severity::Medium, "medium"),
        (Severity::High, "high"),
        (Severity::Critical, "critical"),
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        Severity::ALL.iter().find(|(severity, _)| *severity == self).map_or("info", |(_, name)| name)
    }

    /// The severity of this word.
    pub fn named(name: &str) -> Option<Severity> {
        Severity::ALL.iter().find(|(_, known)| *known == name).map(|(severity, _)| *severity)
    }

    /// As a call's risk: what only deserves a record is no risk.
    pub fn risk(self) -> &'static str {
        if self == Severity::Info { "none" } else { self.name() }
    }
}

/// Who may lower a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// A project's or a person's own rule.
    Custom,
    /// Ships with Reflex; may be lowered.
    #[default]
    Recommended,
    /// Ships with Reflex; nothing in a project can lower it.
    Core,
}

impl Tier {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Custom => "custom",
            Tier::Recommended => "recommended",
            Tier::Core => "core",
        }
    }

    /// The tier of this word.
    pub fn named(name: &str) -> Option<Tier> {
        [Tier::Custom, Tier::Recommended, Tier::Core].into_iter().find(|tier| tier.name() == name)
    }
}

/// What is to happen to a call. The strictest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Decision {
    /// Nothing to say: the agent's own permission flow goes on.
    #[default]
    Pass,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

/// A call that replaces the one that was judged, in normalised field names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// Field name and new text; other fields stay.
    pub fields: Vec<(String, String)>,
}

/// Where a finding stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct At {
    /// `command`, `content`, `prompt`, `arg:NAME`, `file:PATH`.
    pub within: String,
    /// The place in that text as it arrived.
    pub span: Span,
    /// How the guilty text follows from what stands there, outermost first.
    pub derived: Vec<Derivation>,
}

/// The id of the finding that not all of a call was looked at. It asks where a policy lets the worst run only then.
pub(crate) const TOO_MUCH: &str = "judgement/too-much";
