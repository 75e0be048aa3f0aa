//! Layers of rules and policy from people's files, and their influence on findings.

use crate::analysis::command_pattern;
use crate::facts::cache::Facts;
use crate::model::event::Event;
use crate::model::finding::TOO_MUCH;
use crate::model::finding::{Decision, Finding, PolicyAction, Severity, Tier};
use crate::model::path;
use crate::model::vouched::Vouched;
use crate::text::excerpt::quoted_from_stranger;
use reflex_shell::Command;
use reflex_tables::{Node, Tables};

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
    pub tables: Tables,
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

    fn policy(&self) -> Node<'static> {
        self.tables.get("policy")
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
    node: Node<'static>,
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
        let (name, node) = tables.get("policies").entries().find(|(known, _)| *known == name)?;
        Some(Policy { name, node, layers: Vec::new(), minute: 0, insisted: false, session: None, tables })
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
            layer.policy().get("allowed_roots").texts().map(move |root| (root, loosens.clone()))
        };
        self.layers.iter().flat_map(of)
    }

    fn presets(&self) -> impl Iterator<Item = (&Layer, &'static str)> {
        let named = self.layers.iter().map(|layer| (layer, layer.policy().get("preset").text()));
        named.filter(|(_, name)| !name.is_empty() && !self.insisted)
    }

    /// The preset of this session.
    fn of_session(&self) -> Option<Node<'static>> {
        self.session.map(|name| self.preset(name)).filter(|preset| !preset.is_nil())
    }

    /// Determines the action for a finding. Appends the reasons from people's files to `why`.
    pub(crate) fn worth(&self, finding: &Finding, facts: &Facts<'_>, why: &mut Vec<String>) -> PolicyAction {
        let base = match finding.fixed {
            Some(fixed) => fixed,
            None => {
                let worth = self.by_severity(finding, facts.event.role.as_deref());
                why.extend(self.lowering_preset(finding, worth));
                // The unread part may be harmful, but that is not certain, so the maximum is a prompt.
                if finding.id == TOO_MUCH { worth.min(PolicyAction::Ask) } else { worth }
            }
        };
        let stated = self.overridden(finding, base, why);
        let asked = stated == PolicyAction::Ask || stated == PolicyAction::Warn;
        let worth = if asked { self.allowed(finding, facts, why).unwrap_or(stated) } else { stated };
        self.answered(worth, facts.event.role.as_deref())
    }

    /// Replaces a prompt by a refusal where a preset in force disables prompts.
    fn answered(&self, worth: PolicyAction, role: Option<&str>) -> PolicyAction {
        let of_role = role.into_iter().flat_map(|role| self.roles(role));
        let named = of_role.map(|(_, entry)| entry.get("mode").text()).chain(self.presets().map(|(_, name)| name));
        let mut modes = named.map(|name| self.preset(name)).chain(self.of_session());
        let denies = self.node.get("ask").text() == "deny" || modes.any(|mode| mode.get("ask").text() == "deny");
        if worth == PolicyAction::Ask && denies { PolicyAction::Deny } else { worth }
    }

    /// The action for a finding as such, whatever the call: without roles, and without what people allow by its words.
    pub fn usual(&self, finding: &Finding) -> PolicyAction {
        let base = finding.fixed.unwrap_or_else(|| self.by_severity(finding, None));
        self.answered(self.overridden(finding, base, &mut Vec::new()), None)
    }

    /// The entries for a role in all layers. They only tighten, because an agent may choose its role.
    pub(crate) fn roles<'p>(&'p self, role: &'p str) -> impl Iterator<Item = (&'p Layer, Node<'static>)> {
        let of = move |layer: &'p Layer| (layer, layer.policy().get("roles").get(role));
        self.layers.iter().map(of).filter(|(_, entry)| !entry.is_nil())
    }

    /// The presets in force that ask about effects regardless of their severity.
    pub(crate) fn cautious(&self, role: Option<&str>) -> Vec<Node<'static>> {
        let named = self.presets().map(|(_, name)| self.preset(name));
        let of_role = role.into_iter().flat_map(|role| self.roles(role)).map(|(_, entry)| entry.get("mode").text());
        let of_role = of_role.map(|name| self.preset(name));
        let all = std::iter::once(self.node).chain(named).chain(of_role).chain(self.of_session());
        let mut cautious: Vec<Node<'static>> = all.filter(|node| !node.get("asks").is_empty()).collect();
        cautious.dedup_by_key(|node| node.record());
        cautious
    }

    /// Whether a call may only run if its record is written.
    pub fn needs_record(&self) -> bool {
        let presets = self.presets().map(|(_, name)| self.preset(name));
        std::iter::once(self.node)
            .chain(presets)
            .chain(self.of_session())
            .any(|node| node.get("unrecorded").text() == "deny")
    }

    /// The action for a possible loss after a copy was kept: a warning if every policy in force has one, unless a core
    /// rule asks or a person configured a prompt. Returns `None` if one of the policies has no entry, and then no copy
    /// is made.
    pub(crate) fn worth_if_kept(&self, finding: &Finding, role: Option<&str>) -> Option<PolicyAction> {
        let presets = self.presets().map(|(_, name)| self.preset(name));
        let of_role = role.into_iter().flat_map(|role| self.roles(role)).map(|(_, entry)| entry.get("mode").text());
        let modes = of_role.filter(|name| !name.is_empty()).map(|name| self.preset(name));
        let all = std::iter::once(self.node).chain(presets).chain(modes);
        let kept = all.map(|node| PolicyAction::named(node.get("kept").text())).collect::<Option<Vec<_>>>()?;
        let entries = self.layers.iter().filter_map(|layer| override_of(layer, &finding.id));
        let asks = entries
            .map(|entry| PolicyAction::named(entry.get("do").text()))
            .any(|action| action >= Some(PolicyAction::Ask));
        let stays = asks || finding.tier == Tier::Core || finding.fixed.is_some();
        if stays { Some(PolicyAction::Ask) } else { kept.into_iter().max() }
    }

    fn preset(&self, name: &str) -> Node<'static> {
        self.tables.get("policies").get(name)
    }

    fn by_severity(&self, finding: &Finding, role: Option<&str>) -> PolicyAction {
        let worth = |node: Node<'_>| {
            PolicyAction::named(node.get(finding.severity.name()).text()).unwrap_or(PolicyAction::Deny)
        };
        let usual = worth(self.node);
        let mut stated = Combined::default();
        for (layer, name) in self.presets() {
            let reason = layer.policy().get("reason").text();
            let worth = worth(self.preset(name));
            stated.add(worth < usual && layer.may_lower(finding, reason), worth);
        }
        for (_, entry) in role.into_iter().flat_map(|role| self.roles(role)) {
            let mode = self.preset(entry.get("mode").text());
            if !mode.is_nil() {
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
        let usual = PolicyAction::named(self.node.get(finding.severity.name()).text())?;
        if finding.tier != Tier::Core || worth >= usual {
            return None;
        }
        let (layer, name) =
            self.presets().find(|(layer, _)| layer.may_lower(finding, layer.policy().get("reason").text()))?;
        let (owner, reason) = (layer.authority.name(), layer.policy().get("reason").text());
        Some(format!("{}: {} by the {owner}'s preset {name}: {reason}", finding.id, worth.name()))
    }

    /// Applies `rules: {NAME: …}` and `disabled_rules`.
    fn overridden(&self, finding: &Finding, base: PolicyAction, why: &mut Vec<String>) -> PolicyAction {
        let mut stated = Combined::default();
        for layer in &self.layers {
            let Some(entry) = override_of(layer, &finding.id) else { continue };
            let worth = PolicyAction::named(entry.get("do").text()).unwrap_or(base);
            if self.minute >= until(entry) {
                continue;
            }
            let lowered = worth < base;
            let may =
                lowered && layer.may_lower(finding, entry.get("reason").text()) && self.lets_lower(finding, worth);
            let inert = lowered && !may;
            let note = match entry.get("reason").text() {
                _ if inert => " (it may not lower this, so it does not count)".to_owned(),
                "" => String::new(),
                reason => format!(": {reason}"),
            };
            why.push(format!("{}: {} in {}{note}", finding.id, worth.name(), entry.get("at").text()));
            stated.add(may, worth);
        }
        stated.over(base)
    }

    /// Whether the rule permits lowering its action.
    fn lets_lower(&self, finding: &Finding, worth: PolicyAction) -> bool {
        let Some((subject, name)) = finding.id.split_once('/') else { return true };
        let layers = self.layers.iter().filter(|layer| layer.authority.name() == subject);
        let rule =
            layers.map(|layer| layer.tables.get("rules").get(name)).find(|rule| !rule.is_nil()).unwrap_or(Node::NIL);
        let key = if worth == PolicyAction::Record { "fixed" } else { "undowngradable" };
        finding.tier == Tier::Core || !rule.get(key).is_true()
    }

    /// Applies an allowance that covers everything the finding is about.
    fn allowed(&self, finding: &Finding, facts: &Facts<'_>, why: &mut Vec<String>) -> Option<PolicyAction> {
        for layer in &self.layers {
            for entry in layer.policy().get("allow").items() {
                let reason = entry.get("reason").text();
                let covers = self.minute < until(entry) && covers(entry, finding, facts);
                let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
                if covers && layer.may_lower(finding, reason) {
                    why.push(format!("{}: allowed by {}{because}", finding.id, entry.get("at").text()));
                    return Some(PolicyAction::Record);
                }
                if covers && layer.loosens.so_far() {
                    let at = entry.get("at").text();
                    why.push(format!(
                        "{}: not allowed by {at}: a core rule needs your own policy and a reason",
                        finding.id
                    ));
                }
            }
        }
        None
    }

    /// Errors in files that could not be read, with their layers.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&Layer, &str)> {
        self.layers.iter().flat_map(|layer| layer.problems.iter().map(move |problem| (layer, problem.as_str())))
    }
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

/// The minute at which an entry expires.
fn until(entry: Node<'_>) -> u32 {
    let until = entry.get("until");
    if until.is_nil() { u32::MAX } else { until.number() }
}

/// The layer's entry for a rule, by its full id or, for user rules, by its name.
fn override_of(layer: &Layer, id: &str) -> Option<Node<'static>> {
    let rules = layer.policy().get("overrides");
    let name_in_layer = ["project/", "user/", "managed/"].iter().find_map(|subject| id.strip_prefix(subject));
    [Some(id), name_in_layer].into_iter().flatten().map(|name| rules.get(name)).find(|entry| !entry.is_nil())
}

/// Whether an allowance covers a finding. All conditions of the entry must hold.
fn covers(entry: Node<'_>, finding: &Finding, facts: &Facts<'_>) -> bool {
    let Some(action) = finding.action else { return false };
    // The person who allowed the command has not seen the content of a file that it runs.
    let is_in_call = finding.effect.is_none_or(|effect| facts.is_in_call(effect));
    let command = || facts.sole_command(action).filter(|_| is_in_call);
    let mut each = entry.entries().map(|(key, value)| match key {
        "command" => is_in_call && facts.shell_text(action).is_some_and(|text| text.trim() == value.text().trim()),
        "argv" => command().is_some_and(|command| begins(value, command)),
        "glob" => {
            command().is_some_and(|command| command_pattern::is(value.text(), &crate::text::excerpt::words(command)))
        }
        "path" => finding.effect.is_some_and(|effect| facts.all_lie_at(effect, value)),
        "rule" => value.texts().any(|pattern| command_pattern::is(pattern, &finding.id)),
        "in" => is_in_project(value.text(), facts.event),
        _ => true,
    });
    let about = ["command", "argv", "glob", "path", "rule"].iter().any(|key| !entry.get(key).is_nil());
    about && each.all(|holds| holds)
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
fn begins(wanted: Node<'_>, command: &Command) -> bool {
    let mut words = command.words.iter().map(|word| word.shown());
    wanted.texts().all(|wanted| words.next().is_some_and(|word| word == wanted))
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
        detector: "rules".into(),
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
