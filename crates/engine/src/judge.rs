//! Judges an event: analyzes it, collects the findings of the detectors, and combines them into one verdict.

use crate::analysis::analyze;
use crate::analysis::fingerprint::{self, Fingerprint};
use crate::analysis::started::leave_own;
use crate::analysis::tool_call::unfolded;
use crate::detectors::budget;
use crate::detectors::extension::{ExtraDetector, NONE, Seen};
use crate::detectors::incoming_text;
use crate::detectors::loops;
use crate::detectors::outgoing_text;
use crate::detectors::retry;
use crate::detectors::taint;
use crate::detectors::task_scope;
use crate::detectors::too_much;
use crate::facts::cache::Facts;
use crate::model::analysis::Analysis;
use crate::model::event::{Event, Moment};
use crate::model::finding::{Decision, DetectorName, Finding};
use crate::model::latency::Latency;
use crate::model::rule_trace::RuleTrace;
use crate::model::session::{Step, Taint};
use crate::model::stopwatch::Stopwatch;
use crate::model::verdict::Verdict;
use crate::model::world::World;
use crate::policy::{Policy, broken};
use crate::rules::library;
use crate::rules::user;
use crate::verdict::gatekeeper;
use crate::verdict::judgeable::{self, JudgedRule, Reservation};
use crate::verdict::rewrite;
use reflex_shell::work;
use reflex_tables::Tables;

/// Complete result of judging a call.
#[derive(Debug)]
pub struct Judgement {
    /// The call's effects.
    pub analysis: Analysis,
    /// The verdict.
    pub verdict: Verdict,
    /// Queries to the machine, with their answers.
    pub asked: Vec<String>,
    /// The evaluated rules, by effect.
    pub weighed: Vec<RuleTrace>,
    /// Identifies equal calls.
    pub fingerprint: Fingerprint,
    /// The call as a step of its session.
    pub step: Step,
    /// Time taken.
    pub latency: Latency,
    /// Remnants for later calls, provided that the call runs.
    pub left: Vec<Taint>,
}

impl Judgement {
    /// A decision without an analysis, with full confidence.
    pub fn unjudged(decision: Decision) -> Judgement {
        Judgement {
            verdict: Verdict { decision, confidence: 100, ..Verdict::default() },
            analysis: Analysis::default(),
            asked: Vec::new(),
            weighed: Vec::new(),
            fingerprint: Fingerprint::default(),
            step: Step::default(),
            latency: Latency::default(),
            left: Vec::new(),
        }
    }
}

/// The facts of a judgement, and a detector besides those of the engine. A world alone converts to options without one.
#[derive(Clone, Copy)]
pub struct JudgeOptions<'a> {
    /// The facts about the machine.
    pub world: &'a dyn World,
    /// Runs after the detectors of the engine.
    pub further: ExtraDetector<'a>,
}

impl<'a> From<&'a dyn World> for JudgeOptions<'a> {
    fn from(world: &'a dyn World) -> JudgeOptions<'a> {
        JudgeOptions { world, further: NONE }
    }
}

impl<'a, W: World> From<&'a W> for JudgeOptions<'a> {
    fn from(world: &'a W) -> JudgeOptions<'a> {
        JudgeOptions { world, further: NONE }
    }
}

/// Judges events under a library and a policy. Copying it is free.
#[derive(Debug, Clone, Copy)]
pub struct Engine<'p> {
    tables: Tables,
    policy: &'p Policy,
}

impl<'p> Engine<'p> {
    /// Creates an engine from the tables of a library and a policy.
    pub fn new(tables: Tables, policy: &'p Policy) -> Engine<'p> {
        Engine { tables, policy }
    }

    /// Judges an event of any moment: a call before it runs by its effects, other events by their content, which have
    /// already happened and are never denied by the engine itself. Those without content pass, unless a layer of the
    /// policy has rules.
    ///
    /// A call that replaces the original one is judged too.
    pub fn judge<'a>(self, event: &Event, options: impl Into<JudgeOptions<'a>>) -> Judgement {
        let options = options.into();
        let has_content = matches!(event.moment, Moment::AfterTool | Moment::Prompt);
        if event.moment.is_before_execution() {
            work::within(too_much::max_units(event), || self.judge_call(event, options))
        } else if has_content || !self.policy.layers().is_empty() {
            work::within(too_much::max_units(event), || self.judge_content(event, options))
        } else {
            Judgement::unjudged(Decision::Pass)
        }
    }

    fn judge_call(self, event: &Event, options: JudgeOptions<'_>) -> Judgement {
        let event = &*unfolded(event, self.tables);
        let mut judgement = self.judge_once(event, options);
        if judgement.verdict.rewrite.is_some() {
            let again = |event: &Event| self.judge_once(event, options).verdict;
            rewrite::judge_again(event, &mut judgement.verdict, &again);
        }
        judgement
    }

    fn judge_once(self, event: &Event, options: JudgeOptions<'_>) -> Judgement {
        let (Engine { tables, policy }, JudgeOptions { world, further }) = (self, options);
        let mut watch = Stopwatch::new(world);
        let mut analysis = analyze(event, tables, world);
        if event.started.is_some() && leave_own(&mut analysis, tables) {
            let mut saved = Facts::new(event, &analysis, tables, world).classes().saved_shells().into_iter();
            analysis.effects.retain(|_| !saved.next().unwrap_or_default());
            analysis.number();
        }
        let below = Facts::new(event, &analysis, tables, world).trees().files_below();
        if !below.is_empty() {
            analysis.effects.extend(below);
            analysis.number();
        }
        work::reserve(too_much::max_units(event) / too_much::RESERVE);
        watch.stop("analyze");
        let facts = Facts::new(event, &analysis, tables, world).with_roots(policy.roots());
        let (mut findings, weighed) = library::inspect(&facts, &|_| true, &mut watch);
        let left = taint::left_by(&facts, &findings);
        let fingerprint = fingerprint::fingerprint(event, &analysis);
        let goals = loops::step::goals(&analysis, &weighed);
        let step = Step { goals, ..loops::step::step(event, &analysis, &fingerprint, tables) };
        if !event.is_done {
            findings.extend(loops::before(&step, &world.past(&step)).iter().map(|found| found.finding(&step)));
        }
        watch.stop(DetectorName::Loopbreaker.name());
        findings.extend(user::inspect(policy, &facts));
        findings.extend(broken(policy, &facts));
        findings.extend(budget::inspect(policy, &facts));
        findings.extend(outgoing_text::inspect(&facts));
        findings.extend(task_scope::inspect(policy, &facts));
        findings.extend(too_much::finding(event));
        watch.stop(DetectorName::Rules.name());
        let verdict = concluded(policy, &facts, findings, further, &mut watch);
        let asked = facts.asked();
        Judgement { analysis, verdict, asked, weighed, fingerprint, step, latency: watch.latency(), left }
    }

    /// Judges a prompt, the output of a tool, the beginning or end of a session: instructions in it, loops of the session,
    /// and matches of user rules and of the external detector.
    fn judge_content(self, event: &Event, options: JudgeOptions<'_>) -> Judgement {
        let (Engine { tables, policy }, JudgeOptions { world, further }) = (self, options);
        let mut watch = Stopwatch::new(world);
        let event = &*unfolded(event, tables);
        let analysis = analyze(event, tables, world);
        work::reserve(too_much::max_units(event) / too_much::RESERVE);
        watch.stop("analyze");
        let facts = Facts::new(event, &analysis, tables, world).with_roots(policy.roots());
        let fingerprint = fingerprint::fingerprint(event, &analysis);
        let mut findings = incoming_text::inspect(event, tables);
        watch.stop(DetectorName::Tripwire.name());
        findings.extend(library::inspect(&facts, &incoming_text::is_brought, &mut watch).0);
        let mut step = loops::step::step(event, &analysis, &fingerprint, tables);
        step.end = event.outcome.as_ref().map(|outcome| loops::step::end_of(tables, outcome));
        if step.end.is_some() {
            let mut past = world.past(&step);
            loops::finish(&mut past, step.clone());
            findings.extend(loops::after(&past).iter().map(|found| found.finding(&step)));
            findings.extend(retry::inspect(tables, event, &step, &past));
        }
        watch.stop(DetectorName::Loopbreaker.name());
        findings.extend(user::inspect(policy, &facts));
        findings.extend(too_much::finding(event));
        watch.stop(DetectorName::Rules.name());
        let left = taint::left_by_orders(&findings);
        let verdict = concluded(policy, &facts, findings, further, &mut watch);
        let latency = watch.latency();
        let (asked, weighed) = (Vec::new(), Vec::new());
        Judgement { analysis, verdict, asked, weighed, fingerprint, step, latency, left }
    }

    /// Returns the verdict on findings that others made about an event, such as those at the end of the work.
    pub fn conclude(self, event: &Event, world: &dyn World, findings: Vec<Finding>) -> Verdict {
        self.weigh(event, world, &Analysis::default(), findings)
    }

    /// Returns the verdict on findings about the effects of `analysis`, which must belong to the same event.
    pub fn weigh(self, event: &Event, world: &dyn World, analysis: &Analysis, findings: Vec<Finding>) -> Verdict {
        gatekeeper::decide(self.policy, &Facts::new(event, analysis, self.tables, world), findings)
    }

    /// Returns the rules that ask, if a model may answer instead of a person. `is_kept` states that everything at stake
    /// has a copy.
    ///
    /// # Errors
    /// The reason for which a person has to answer.
    pub fn judged_rules(
        self,
        event: &Event,
        world: &dyn World,
        judgement: &Judgement,
        is_kept: bool,
    ) -> Result<Vec<JudgedRule>, Reservation> {
        let facts = Facts::new(event, &judgement.analysis, self.tables, world);
        judgeable::judged_rules(&facts, &judgement.verdict, is_kept)
    }
}

/// Returns the verdict on the findings of all detectors. The external one runs last and sees the others' findings.
fn concluded(
    policy: &Policy,
    facts: &Facts<'_>,
    mut findings: Vec<Finding>,
    further: ExtraDetector<'_>,
    watch: &mut Stopwatch<'_>,
) -> Verdict {
    let more = further(&Seen { event: facts.event, analysis: facts.analysis, facts, findings: &findings });
    findings.extend(more);
    watch.stop_if_long(DetectorName::Reflexes.name());
    let verdict = gatekeeper::decide(policy, facts, findings);
    watch.stop("gatekeeper");
    verdict
}
