//! Rules of the library: dangerous patterns, by effect.

use crate::analysis::commands::entries::MAX_VERBS;
use crate::facts::cache::{Facts, Source};
use crate::facts::excerpt;
use crate::facts::fact::Fact;
use crate::facts::location::at;
use crate::model::analysis::Usage;
use crate::model::effect::{Effect, Target, TargetPath};
use crate::model::finding::{Decision, DetectorName, Finding, Severity, Tier};
use crate::model::rule_trace::RuleTrace;
use crate::model::stopwatch::Stopwatch;
use crate::model::truth::Ternary;
use crate::rules::condition::{Subject, evaluate};
use crate::secrets::redaction::redacted;
use crate::text::glob::glob;
use reflex_shell::{Command, ExecTarget, Invocation, Selector, Value, work};
use reflex_tables::views::Rule;

/// Cost of a finding in units of [`work`], for its texts and facts.
const FINDING: u64 = 20;

/// Returns the findings of the rules that the selected effects trigger, and a trace of all rules that were evaluated.
/// The time is attributed to the detector under whose name a rule reports.
pub(crate) fn inspect(
    facts: &Facts<'_>,
    is_meant: &dyn Fn(&Effect) -> bool,
    watch: &mut Stopwatch<'_>,
) -> (Vec<Finding>, Vec<RuleTrace>) {
    let mut detector = DetectorName::Sentinel.name();
    let triggers = facts.tables.library().triggers();
    let mut findings: Vec<Finding> = Vec::new();
    let mut weighed: Vec<RuleTrace> = Vec::new();
    for (index, effect) in facts.analysis.effects.iter().enumerate().filter(|(_, effect)| is_meant(effect)) {
        if work::is_over() {
            break;
        }
        for rule in triggers.get(effect.kind.name()).iter() {
            work::spend(1 + effect.targets.len() as u64 / 8);
            let reports_as = rule.detector();
            if reports_as != detector {
                watch.stop(detector);
                detector = reports_as;
            }
            let (truth, holds) = judge(rule, effect, facts);
            let severity = holds.then(|| severity(rule, effect, facts)).flatten();
            let fires = severity.is_some();
            if fires {
                work::spend(FINDING);
            }
            weighed.push(RuleTrace { effect: index, rule: rule.id(), truth, fires });
            findings.extend(severity.map(|severity| finding(rule, severity, (index, effect), facts, truth)));
        }
    }
    watch.stop(detector);
    (findings, weighed)
}

fn judge(rule: Rule<'static>, effect: &Effect, facts: &Facts<'_>) -> (Ternary, bool) {
    facts.take_lost();
    let truth = evaluate(rule.when(), Subject::effect(Source::Library, effect), facts);
    let fires = match truth {
        Ternary::Yes => true,
        Ternary::Unknown => rule.unknown() == "fire",
        Ternary::No => false,
    };
    (truth, fires)
}

/// Lowers the severity for a script that is only written: it may never run, and if it does, it is judged at that time.
/// One that starts by itself is judged now or never.
fn severity(rule: Rule<'static>, effect: &Effect, facts: &Facts<'_>) -> Option<Severity> {
    let severity = Severity::named(severity_word(rule, effect, facts)).unwrap_or(Severity::High);
    let script = effect.script.and_then(|script| facts.analysis.scripts.get(script));
    if script.is_none_or(|script| script.usage != Usage::Written || script.is_unasked) {
        return Some(severity);
    }
    match severity {
        Severity::Critical => Some(Severity::High),
        Severity::High => Some(Severity::Low),
        Severity::Medium | Severity::Low | Severity::Info => None,
    }
}

/// Severity by consequence, if the rule distinguishes: the same statement has a different weight in production than on
/// this machine.
fn severity_word(rule: Rule<'static>, effect: &Effect, facts: &Facts<'_>) -> &'static str {
    for (place, severity) in [(Fact::Production, rule.production()), (Fact::Local, rule.local())] {
        if !severity.is_empty() && facts.fact(effect, None, place) == Ternary::Yes {
            return severity;
        }
    }
    rule.severity()
}

fn finding(
    rule: Rule<'static>,
    severity: Severity,
    (index, effect): (usize, &Effect),
    facts: &Facts<'_>,
    truth: Ternary,
) -> Finding {
    let lost = facts.take_lost();
    let guilty = guilty_targets(rule, effect, facts);
    let words = Words { guilty: &guilty, effect, facts, lost: &lost, known: truth == Ternary::Yes };
    let id = rule.id();
    Finding {
        id: id.into(),
        detector: DetectorName::of(rule.detector()).unwrap_or_default(),
        category: rule.category().into(),
        severity,
        confidence: rule.confidence(),
        tier: Tier::named(rule.tier()).unwrap_or_default(),
        fixed: None,
        would: None,
        message: in_production(words.fill(rule.message()), rule, effect, facts),
        remedy: words.fill(rule.remedy()),
        command: excerpt::guilty_part(effect, facts),
        rewrite: None,
        otherwise: Decision::Deny,
        at: at(effect, facts),
        evidence: facts.asked_lately(),
        action: Some(effect.action),
        effect: Some(index),
        by_stranger: false,
        after: None,
    }
}

/// Appends the name that identifies the place as production, if the rule has a separate severity for production.
fn in_production(message: String, rule: Rule<'static>, effect: &Effect, facts: &Facts<'_>) -> String {
    if rule.production().is_empty() {
        return message;
    }
    match facts.connections().production_name(effect) {
        Some(name) if !message.contains(&name) => {
            let name = redacted(&name, facts.tables);
            format!("{} ({name} looks like production).", message.trim_end_matches('.'))
        }
        Some(_) | None => message,
    }
}

/// The targets for which the rule's `target:` condition does not fail, or all targets without such a condition.
fn guilty_targets<'e>(rule: Rule<'static>, effect: &'e Effect, facts: &Facts<'_>) -> Vec<&'e Target> {
    let condition = rule.when().get("target");
    let guilty = |target: &&Target| {
        condition.is_nil()
            || evaluate(condition, Subject::effect(Source::Library, effect).target(target), facts) != Ternary::No
    };
    effect.targets.iter().filter(guilty).collect()
}

/// Keys of options whose values name the object of a command.
const NAMING_OPTIONS: [&str; 5] = ["name", "app", "stack", "service", "project"];

/// Keys of options that specify the location of a command's object.
const PLACE_OPTIONS: [&str; 4] = ["namespace", "context", "region", "project"];

/// Placeholders of a message, written in braces.
struct Words<'a> {
    guilty: &'a [&'a Target],
    effect: &'a Effect,
    facts: &'a Facts<'a>,
    lost: &'a crate::model::world::Names,
    known: bool,
}

impl Words<'_> {
    fn fill(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len() + 64);
        // `aws ec2 terminate-instances` without operands has an empty target list.
        let unnamed = template.contains(": {targets}") && self.named().is_empty();
        let shorter = if unnamed { template.replace(": {targets}", "") } else { String::new() };
        let mut rest = if unnamed { shorter.as_str() } else { template };
        while let Some((before, after)) = rest.split_once('{') {
            let Some((word, after)) = after.split_once('}') else { break };
            filled.push_str(before);
            filled.push_str(&self.word(word));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    fn word(&self, word: &str) -> String {
        match word {
            "targets" => self.targets(),
            "operands" => self.operands(),
            "subject" => self.subject(),
            "lost" => self.lost(),
            "mend" => self.facts.mend(),
            "dump" => self.dump(),
            "there" => self.place_options(),
            "name" => self.name(),
            "program" => self.facts.analysis.command(self.effect).map_or(String::new(), |command| command.name.clone()),
            "argument" => {
                self.effect.argument.as_ref().map_or(String::new(), |value| redacted(&value.shown(), self.facts.tables))
            }
            _ => format!("{{{word}}}"),
        }
    }

    /// The command that backs up the database, with the names from the call.
    fn dump(&self) -> String {
        let program = self.facts.analysis.command(self.effect).map_or("", |command| command.name.as_str());
        let template = self.command().and_then(|(_, invocation)| Some(invocation.grammars.first()?.dump(program)));
        let Some(template) = template.filter(|text| !text.is_empty()) else { return "a dump of the database".into() };
        if self.effect.site != ExecTarget::Here {
            return "a dump made in the same place".into();
        }
        let pointed = self.facts.connections().pointed(self.effect);
        let is_plain = |name: &&String| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
        };
        let first = |names: &[String], or: &str| {
            names.iter().find(is_plain).map_or_else(|| or.to_owned(), |name| redacted(name, self.facts.tables))
        };
        let (name, file) = (first(&pointed.names, "DATABASE"), first(&self.database_files(), "FILE"));
        // Without the host, the command would back up a local database of the same name.
        let host = first(&pointed.hosts, "");
        let host = if host.is_empty() { host } else { format!(" -h {host}") };
        let filled = template.replace("{name}", &name).replace("{file}", &file).replace("{host}", &host);
        format!("`{filled}`")
    }

    /// The files that hold the database of the call.
    fn database_files(&self) -> Vec<String> {
        let Some((command, invocation)) = self.command() else { return Vec::new() };
        let selectors = invocation.grammars.iter().map(|grammar| grammar.database());
        let values = selectors.flat_map(|selector| Selector(selector).values(invocation, &command.words));
        values.filter_map(|value| Some(value.literal()?.into_owned())).collect()
    }

    /// The object of the call by its last operand, or `NAME` if that is unclear.
    fn name(&self) -> String {
        let name = self.effect.targets.last().map(|target| target.shown()).unwrap_or_default();
        let name = redacted(&name, self.facts.tables);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        if name.is_empty() || name.starts_with('-') || !name.bytes().all(plain) { "NAME".into() } else { name }
    }

    /// The options for the host, context or namespace, as in the call: ` --context shop -n web`. Without them the
    /// command would address another place. Values that are not plain text are omitted.
    fn place_options(&self) -> String {
        let Some((command, invocation)) = self.command() else { return String::new() };
        let points = |word: &str| invocation.grammars.iter().any(|grammar| grammar.points().any(|flag| flag == word));
        let is_plain = |word: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=".contains(&byte);
            word.bytes().all(plain) && redacted(word, self.facts.tables) == word
        };
        let mut text = String::new();
        for option in &invocation.options {
            let written = command.words.get(option.word).and_then(Value::literal).unwrap_or_default();
            let (name, value) = (written.split('=').next().unwrap_or_default(), option.value.as_ref());
            let value = value.and_then(Value::literal).unwrap_or_default();
            let is_place = PLACE_OPTIONS.contains(&option.key) || points(name);
            if is_place && !value.is_empty() && is_plain(name) && is_plain(&value) {
                text.push_str(&format!(" {name} {value}"));
            }
        }
        text
    }

    fn targets(&self) -> String {
        let named = self.named();
        let named =
            if named.is_empty() { self.guilty.iter().map(|target| self.target(target)).collect() } else { named };
        let all = named.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
        let more = named.len().saturating_sub(4);
        if more > 0 { format!("{all} and {more} more") } else { all }
    }

    /// The objects of the command, without the verbs: of `ec2 terminate-instances --instance-ids i-1` the id.
    fn named(&self) -> Vec<String> {
        let verbs = self.verbs();
        let is_verb = |target: &Target| {
            matches!(target.path, TargetPath::None) && verbs.iter().any(|verb| verb.origin() == target.value.origin())
        };
        let named = self.guilty.iter().filter(|target| !is_verb(target));
        let mut named: Vec<String> = named.map(|target| self.target(target)).collect();
        if named.is_empty() && !verbs.is_empty() {
            named = self.names_in_options();
        }
        let mut known = std::collections::HashSet::new();
        named.retain(|name| known.insert(name.clone()));
        named
    }

    /// The leading operands of the command up to the one that caused the effect: `instances delete` of `gcloud compute
    /// instances delete web`.
    fn verbs(&self) -> Vec<&Value> {
        let Some((command, invocation)) = self.command() else { return Vec::new() };
        let mut operands: Vec<&Value> = invocation.operands.iter().filter_map(|at| command.words.get(*at)).collect();
        let kind = self.effect.kind.name();
        let entries = || invocation.grammars.iter().flat_map(|grammar| grammar.effects());
        let of_kind = || entries().filter(|entry| entry.kind() == kind);
        let patterns = || of_kind().flat_map(|entry| entry.word().iter());
        let is_verb = |word: &&Value| {
            let word = word.literal().unwrap_or_default();
            // `sysctl kernel.core_pattern` and `git config core.bare`: the matched operand is the object itself.
            !word.contains(['.', '=', '/']) && patterns().any(|pattern| glob(pattern.as_bytes(), word.as_bytes()))
        };
        let end = operands.iter().take(MAX_VERBS).rposition(is_verb).map_or(0, |at| at + 1);
        operands.truncate(end);
        operands
    }
    /// Names in the options, for a command whose operands are only verbs.
    fn names_in_options(&self) -> Vec<String> {
        let Some((command, invocation)) = self.command() else { return Vec::new() };
        let values = NAMING_OPTIONS.iter().flat_map(|key| invocation.values(key, &command.words));
        values.map(|value| redacted(&value.shown(), self.facts.tables)).collect()
    }

    /// All operands after the verbs: `ns prod` of `kubectl delete ns prod`.
    fn operands(&self) -> String {
        let shown = |target: &Target| redacted(&target.shown(), self.facts.tables);
        let skipped = self.verbs().len();
        let operands = self.effect.targets.iter().skip(skipped).take(6);
        operands.map(shown).collect::<Vec<_>>().join(" ")
    }

    /// The subcommands before the verb: `issue` of `gh issue delete 1`.
    fn subject(&self) -> String {
        let path = self.command().map_or(&[][..], |(_, invocation)| &invocation.path);
        // The verb is an operand, or otherwise the last subcommand.
        let before = if self.verbs().is_empty() { path.len().saturating_sub(1) } else { path.len() };
        path.get(..before).unwrap_or_default().join(" ")
    }

    fn command(&self) -> Option<(&Command, &Invocation)> {
        let command = self.facts.analysis.command(self.effect)?;
        Some((command, command.invocation.as_ref()?))
    }

    /// The target in its spelling, with its resolved path if that differs.
    fn target(&self, target: &Target) -> String {
        let shown = redacted(&target.shown(), self.facts.tables);
        let real = self.facts.real(self.effect, target).path;
        match target.path() {
            Some(path) if path != real && !real.is_empty() => format!("{shown} (really {real})"),
            _ => shown,
        }
    }

    fn lost(&self) -> String {
        if !self.known && self.lost.names.is_empty() {
            return "which ones is unknown, because the state of the work tree is".into();
        }
        let named: Vec<&str> = self.lost.names.iter().take(5).map(String::as_str).collect();
        let more = self.lost.count.saturating_sub(named.len());
        let all = named.join(", ");
        match (self.lost.more, more) {
            (false, 0) => all,
            (false, _) => format!("{all} and {more} more"),
            (true, _) if named.is_empty() => "more than can be checked".into(),
            (true, 0) => format!("{all} and others that could not be checked"),
            (true, _) => format!("{all} and at least {more} more"),
        }
    }
}
