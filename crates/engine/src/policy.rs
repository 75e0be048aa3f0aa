//! Layers of rules and policy from people's files, and their influence on findings.

use crate::analysis::command_pattern;
use crate::facts::cache::Facts;
use crate::model::event::Event;
use crate::model::finding::TOO_MUCH;
use crate::model::finding::{Decision, DetectorName, Finding, PolicyAction, Severity, Tier};
use crate::model::path;
use crate::model::vouched::Vouched;
use crate::text::excerpt::{self, quoted_from_stranger};
use reflex_shell::Command;
use reflex_tables::views::{Allowance, LayerTables, Override, Policy as Preset, Role, UserPolicy, UserRule};
use reflex_tables::{Tables, Texts, View};

/// Owner of a layer's files, in ascending authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Authority {
    /// The files of a workspace.
    Project,
    /// The user's own files, outside of every workspace.
    User,
    /// The machine's administrator.
    Managed,
}

impl Authority {
    /// Returns its name, which is also the subject of its rules' ids.
    pub fn name(self) -> &'static str {
        match self {
            Authority::Project => "project",
            Authority::User => "user",
            Authority::Managed => "managed",
        }
    }
}

/// Compiled rules and policy of one place.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Owner of the files.
    pub authority: Authority,
    /// Whether it may also loosen. A layer that no person has accepted only tightens.
    pub loosens: Vouched,
    /// `rules`, `triggers`, `policy`, in the format of the rule compiler.
    pub tables: LayerTables<'static>,
    /// Errors in files that could not be compiled, one sentence each.
    pub problems: Vec<String>,
    /// Folder of its files.
    pub folder: String,
}

impl Layer {
    /// Whether its text comes from a repository that no person has reviewed.
    pub fn is_strange(&self) -> bool {
        self.authority == Authority::Project && !self.loosens.holds()
    }

    fn policy(&self) -> UserPolicy<'static> {
        self.tables.policy()
    }

    /// Whether this layer may lower a finding. A core finding may only be lowered by the user or the administrator,
    /// with a reason.
    fn may_lower(&self, finding: &Finding, reason: &str) -> bool {
        let of_core = self.authority >= Authority::User && !reason.trim().is_empty();
        (finding.tier != Tier::Core || of_core) && self.loosens.holds()
    }
}

/// Policy for findings: the library's policy and all layers.
#[derive(Debug, Clone)]
pub struct Policy {
    name: &'static str,
    preset: Preset<'static>,
    layers: Vec<Layer>,
    /// Current time in minutes since 1970, for the expiry of allowances.
    minute: u32,
    /// Whether a person explicitly requested this policy, which overrides the presets of the layers.
    insisted: bool,
    /// Preset of the current session, which only tightens.
    session: Option<&'static str>,
    tables: Tables,
}

impl Policy {
    /// Returns the library's policy of this name.
    pub fn named(tables: Tables, name: &str) -> Option<Policy> {
        let (name, preset) = tables.library().policies().entry(name)?;
        Some(Policy { name, preset, layers: Vec::new(), minute: 0, insisted: false, session: None, tables })
    }

    /// Adds layers to the policy, at a time in minutes since 1970. Unless `insisted`, a layer's preset replaces the
    /// policy.
    pub fn with_layers(self, layers: Vec<Layer>, minute: u32, insisted: bool) -> Policy {
        Policy { layers, minute, insisted, ..self }
    }

    /// Adds a preset for the session, which applies where it is stricter.
    pub fn tightened_by(self, session: Option<&'static str>) -> Policy {
        Policy { session, ..self }
    }

    /// Returns the name: `balanced`, `strict`, …; or the name of a layer's preset that replaces it, as far as its
    /// acceptance is already known.
    pub fn name(&self) -> &'static str {
        let presets = self.presets().filter(|(layer, _)| layer.loosens.so_far());
        presets.map(|(_, name)| name).last().unwrap_or(self.name)
    }

    /// Returns the layers.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Folders that are treated like the workspace.
    pub(crate) fn roots(&self) -> impl Iterator<Item = (&'static str, Vouched)> {
        let of = |layer: &Layer| {
            let loosens = layer.loosens.clone();
            layer.policy().allowed_roots().iter().map(move |root| (root, loosens.clone()))
        };
        self.layers.iter().flat_map(of)
    }

    fn presets(&self) -> impl Iterator<Item = (&Layer, &'static str)> {
        let named = self.layers.iter().map(|layer| (layer, layer.policy().preset()));
        named.filter(|(_, name)| !name.is_empty() && !self.insisted)
    }

    /// The preset of this session.
    fn of_session(&self) -> Option<Preset<'static>> {
        self.tables.library().policies().find(self.session?)
    }

    /// Determines the action for a finding.
    pub(crate) fn worth(&self, finding: &Finding, facts: &Facts<'_>) -> Worth {
        let role = facts.event.role.as_deref();
        let mut reasons = Vec::new();
        let base = match finding.fixed {
            Some(fixed) => fixed,
            None => {
                let action = self.by_severity(finding, role);
                reasons.extend(self.lowering_preset(finding, action));
                // The unread part may be harmful, but that is not certain, so the maximum is a prompt.
                if finding.id == TOO_MUCH { action.min(PolicyAction::Ask) } else { action }
            }
        };
        let stated = self.overridden(finding, base);
        reasons.extend(stated.reasons);
        let mut action = stated.action;
        if action == PolicyAction::Ask || action == PolicyAction::Warn {
            let coverage = self.allowance(finding, facts);
            reasons.extend(coverage.reasons);
            action = if coverage.is_covered { PolicyAction::Record } else { action };
        }
        Worth { action: self.answered(action, role), reasons }
    }

    /// Replaces a prompt by a refusal where a preset in force disables prompts.
    fn answered(&self, worth: PolicyAction, role: Option<&str>) -> PolicyAction {
        let of_role = role.into_iter().flat_map(|role| self.roles(role));
        let named = of_role.map(|(_, entry)| entry.mode()).chain(self.presets().map(|(_, name)| name));
        let mut modes = named.map(|name| self.preset(name)).chain(self.of_session());
        let denies = self.preset.ask() == "deny" || modes.any(|mode| mode.ask() == "deny");
        if worth == PolicyAction::Ask && denies { PolicyAction::Deny } else { worth }
    }

    /// The action for a finding as such, whatever the call: without roles, and without what people allow by its words.
    pub fn usual(&self, finding: &Finding) -> PolicyAction {
        let base = finding.fixed.unwrap_or_else(|| self.by_severity(finding, None));
        self.answered(self.overridden(finding, base).action, None)
    }

    /// The entries for a role in all layers. They only tighten, because an agent may choose its role.
    pub(crate) fn roles<'p>(&'p self, role: &'p str) -> impl Iterator<Item = (&'p Layer, Role<'static>)> {
        self.layers.iter().filter_map(move |layer| Some((layer, layer.policy().roles().find(role)?)))
    }

    /// The presets in force that ask about effects regardless of their severity.
    pub(crate) fn cautious(&self, role: Option<&str>) -> Vec<Preset<'static>> {
        let named = self.presets().map(|(_, name)| self.preset(name));
        let of_role = role.into_iter().flat_map(|role| self.roles(role)).map(|(_, entry)| entry.mode());
        let of_role = of_role.map(|name| self.preset(name));
        let all = std::iter::once(self.preset).chain(named).chain(of_role).chain(self.of_session());
        let mut cautious: Vec<Preset<'static>> = all.filter(|preset| !preset.asks().is_empty()).collect();
        cautious.dedup_by_key(|preset| preset.node().record());
        cautious
    }

    /// Whether a call may only run if its record is written.
    pub fn needs_record(&self) -> bool {
        let presets = self.presets().map(|(_, name)| self.preset(name));
        std::iter::once(self.preset).chain(presets).chain(self.of_session()).any(|preset| preset.unrecorded() == "deny")
    }

    /// The action for a possible loss after a copy was kept: a warning if every policy in force has one, unless a core
    /// rule asks or a person configured a prompt. Returns `None` if one of the policies has no entry, and then no copy
    /// is made.
    pub(crate) fn worth_if_kept(&self, finding: &Finding, role: Option<&str>) -> Option<PolicyAction> {
        let presets = self.presets().map(|(_, name)| self.preset(name));
        let of_role = role.into_iter().flat_map(|role| self.roles(role)).map(|(_, entry)| entry.mode());
        let modes = of_role.filter(|name| !name.is_empty()).map(|name| self.preset(name));
        let all = std::iter::once(self.preset).chain(presets).chain(modes);
        let kept = all.map(|preset| PolicyAction::named(preset.kept())).collect::<Option<Vec<_>>>()?;
        let entries = self.layers.iter().filter_map(|layer| override_of(layer, &finding.id));
        let asks =
            entries.map(|entry| PolicyAction::named(entry.action())).any(|action| action >= Some(PolicyAction::Ask));
        let stays = asks || finding.tier == Tier::Core || finding.fixed.is_some();
        if stays { Some(PolicyAction::Ask) } else { kept.into_iter().max() }
    }

    fn preset(&self, name: &str) -> Preset<'static> {
        self.tables.library().policies().get(name)
    }

    fn by_severity(&self, finding: &Finding, role: Option<&str>) -> PolicyAction {
        let worth = |preset| action_of(preset, finding.severity).unwrap_or(PolicyAction::Deny);
        let usual = worth(self.preset);
        let mut stated = Combined::default();
        for (layer, name) in self.presets() {
            let reason = layer.policy().reason();
            let worth = worth(self.preset(name));
            stated.add(worth < usual && layer.may_lower(finding, reason), worth);
        }
        for (_, entry) in role.into_iter().flat_map(|role| self.roles(role)) {
            let mode = self.preset(entry.mode());
            if !mode.is_absent() {
                stated.add(false, worth(mode));
            }
        }
        if let Some(mode) = self.of_session() {
            stated.add(false, worth(mode));
        }
        stated.over(usual)
    }

    /// Explains that a preset lowers a core finding, in the words of its owner.
    fn lowering_preset(&self, finding: &Finding, worth: PolicyAction) -> Option<String> {
        let usual = action_of(self.preset, finding.severity)?;
        if finding.tier != Tier::Core || worth >= usual {
            return None;
        }
        let (layer, name) = self.presets().find(|(layer, _)| layer.may_lower(finding, layer.policy().reason()))?;
        let (owner, reason) = (layer.authority.name(), layer.policy().reason());
        Some(format!("{}: {} by the {owner}'s preset {name}: {reason}", finding.id, worth.name()))
    }

    /// Applies `rules: {NAME: …}` and `disabled_rules`.
    fn overridden(&self, finding: &Finding, base: PolicyAction) -> Worth {
        let mut stated = Combined::default();
        let mut reasons = Vec::new();
        for layer in &self.layers {
            let Some(entry) = override_of(layer, &finding.id) else { continue };
            let worth = PolicyAction::named(entry.action()).unwrap_or(base);
            if self.minute >= entry.until().unwrap_or(u32::MAX) {
                continue;
            }
            let lowered = worth < base;
            let may = lowered && layer.may_lower(finding, entry.reason()) && self.lets_lower(finding, worth);
            let inert = lowered && !may;
            let note = match entry.reason() {
                _ if inert => " (it may not lower this, so it does not count)".to_owned(),
                "" => String::new(),
                reason => format!(": {reason}"),
            };
            reasons.push(format!("{}: {} in {}{note}", finding.id, worth.name(), entry.at()));
            stated.add(may, worth);
        }
        Worth { action: stated.over(base), reasons }
    }

    /// Whether the rule permits lowering its action.
    fn lets_lower(&self, finding: &Finding, worth: PolicyAction) -> bool {
        let Some((subject, name)) = finding.id.split_once('/') else { return true };
        let mut layers = self.layers.iter().filter(|layer| layer.authority.name() == subject);
        let rule = layers.find_map(|layer| layer.tables.rules().find(name));
        let is_kept =
            |rule: UserRule<'_>| if worth == PolicyAction::Record { rule.fixed() } else { rule.undowngradable() };
        finding.tier == Tier::Core || !rule.is_some_and(is_kept)
    }

    /// Returns the first allowance that covers everything the finding is about, and those that may not.
    fn allowance(&self, finding: &Finding, facts: &Facts<'_>) -> Coverage {
        let mut reasons = Vec::new();
        for layer in &self.layers {
            for entry in layer.policy().allow().iter() {
                let reason = entry.reason();
                let covers = self.minute < entry.until().unwrap_or(u32::MAX) && covers(entry, finding, facts);
                let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
                if covers && layer.may_lower(finding, reason) {
                    reasons.push(format!("{}: allowed by {}{because}", finding.id, entry.at()));
                    return Coverage { is_covered: true, reasons };
                }
                if covers && layer.loosens.so_far() {
                    let at = entry.at();
                    reasons.push(format!(
                        "{}: not allowed by {at}: a core rule needs your own policy and a reason",
                        finding.id
                    ));
                }
            }
        }
        Coverage { is_covered: false, reasons }
    }

    /// Errors in files that could not be read, with their layers.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&Layer, &str)> {
        self.layers.iter().flat_map(|layer| layer.problems.iter().map(move |problem| (layer, problem.as_str())))
    }
}

/// The action that a policy has for a finding.
pub(crate) struct Worth {
    /// The action.
    pub(crate) action: PolicyAction,
    /// The entries of people's files that led to it or may not, with their reasons, as worded in the chain.
    pub(crate) reasons: Vec<String>,
}

/// The result of the search for an allowance.
struct Coverage {
    /// Whether an allowance covers the finding.
    is_covered: bool,
    /// The allowances that cover it or may not, with their reasons, as worded in the chain.
    reasons: Vec<String>,
}

/// Combines the actions of several layers: the strictest of those that may lower, and at least the strictest of the
/// others.
#[derive(Default)]
struct Combined {
    decided: Option<PolicyAction>,
    floor: PolicyAction,
}

impl Combined {
    fn add(&mut self, may: bool, worth: PolicyAction) {
        if may {
            self.decided = self.decided.max(Some(worth));
        } else {
            self.floor = self.floor.max(worth);
        }
    }

    fn over(&self, base: PolicyAction) -> PolicyAction {
        self.decided.unwrap_or(base).max(self.floor)
    }
}

/// Returns the action that a preset has for findings of a severity.
pub fn action_of(preset: Preset<'_>, severity: Severity) -> Option<PolicyAction> {
    PolicyAction::named(match severity {
        Severity::Info => preset.info(),
        Severity::Low => preset.low(),
        Severity::Medium => preset.medium(),
        Severity::High => preset.high(),
        Severity::Critical => preset.critical(),
    })
}

/// The layer's entry for a rule, by its full id or, for user rules, by its name.
fn override_of(layer: &Layer, id: &str) -> Option<Override<'static>> {
    let rules = layer.policy().overrides();
    let name_in_layer = ["project/", "user/", "managed/"].iter().find_map(|subject| id.strip_prefix(subject));
    [Some(id), name_in_layer].into_iter().flatten().find_map(|name| rules.find(name))
}

/// Whether an allowance covers a finding. All conditions of the entry must hold.
fn covers(entry: Allowance<'_>, finding: &Finding, facts: &Facts<'_>) -> bool {
    let Some(action) = finding.action else { return false };
    // The person who allowed the command has not seen the content of a file that it runs.
    let is_in_call = finding.effect.is_none_or(|effect| facts.user().is_in_call(effect));
    let command = || facts.user().sole_command(action).filter(|_| is_in_call);
    let has_text = |text: &str| facts.user().shell_text(action).is_some_and(|shell| shell.trim() == text.trim());
    let fits = |pattern| command().is_some_and(|command| command_pattern::is(pattern, &excerpt::words(command)));
    let lies_at = |patterns| finding.effect.is_some_and(|effect| facts.user().all_lie_at(effect, patterns));
    let names_target = entry.command().is_some()
        || entry.glob().is_some()
        || [entry.argv(), entry.path(), entry.rule()].iter().any(|list| !list.is_absent());
    names_target
        && (entry.argv().is_absent() || command().is_some_and(|command| begins(entry.argv(), command)))
        && entry.command().is_none_or(|text| is_in_call && has_text(text))
        && entry.glob().is_none_or(fits)
        && entry.folder().is_none_or(|folder| is_in_project(folder, facts.event))
        && (entry.path().is_absent() || lies_at(entry.path()))
        && (entry.rule().is_absent() || entry.rule().iter().any(|rule| command_pattern::is(rule, &finding.id)))
}

/// Whether the event's project lies in this folder.
fn is_in_project(folder: &str, event: &Event) -> bool {
    let folder = match folder.strip_prefix("~/") {
        Some(rest) => path::absolute(rest, &event.home),
        None => path::absolute(folder, "/"),
    };
    !event.workspace.is_empty() && path::is_within(&event.workspace, &folder)
}

/// Whether the command begins with these words.
fn begins(wanted: Texts<'_>, command: &Command) -> bool {
    let mut words = command.words.iter().map(|word| word.shown());
    wanted.iter().all(|wanted| words.next().is_some_and(|word| word == wanted))
}

/// Finding for files that cannot be read: reported with every call that could do harm, and a prompt under a strict
/// policy.
pub(crate) fn broken(policy: &Policy, facts: &Facts<'_>) -> Option<Finding> {
    let (layer, first) = policy.problems().next()?;
    // The error quotes content of the file.
    let first =
        if layer.is_strange() { quoted_from_stranger("A file", &layer.folder, first) } else { first.to_owned() };
    let count = policy.problems().count();
    let more = if count > 1 { format!(" ({count} problems in all)") } else { String::new() };
    let harmless = facts.event.actions.iter().all(crate::model::event::Action::only_looks);
    (!harmless).then(|| Finding {
        id: "guard/broken-rules".into(),
        detector: DetectorName::Rules,
        category: "self-protection".into(),
        severity: Severity::Medium,
        confidence: 100,
        tier: Tier::Core,
        message: format!("Rules or policy that a person wrote are not in force: {first}{more}."),
        remedy: "run `reflex rules validate` to see where, and ask the user to fix the file".into(),
        command: crate::facts::excerpt::action_part(facts, 0),
        otherwise: Decision::Deny,
        ..Finding::default()
    })
}
