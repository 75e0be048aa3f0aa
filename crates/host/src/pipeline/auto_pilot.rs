//! Auto-pilot: in this mode a model answers questions about losses that can be undone. All other questions, and those
//! that it does not answer with enough confidence, go to a person.

use super::host::Host;
use super::stages::{Judged, Received, Scene, Settled};
use crate::audit::record;
use crate::auto_pilot::{self, Choice, Failure, Question, Reply};
use crate::config::JudgeConfig;
use crate::store::approvals::Pending;
use crate::store::model_history::{Judged as ModelHistory, MAX_REFUSALS};
use crate::store::modes::AUTO_PILOT;
use crate::store::redact::Redactor;
use crate::store::session::session_key;
use reflex_engine::{
    Action, Decision, Effect, Engine, Event, JudgedRule, Judgement, Moment, Policy, Reservation, Script, Usage,
    Verdict, World,
};
use serde_json::{Value, json};

/// Maximum length of a call that a model is asked about, in bytes.
const MAX_CALL: usize = 4000;

/// Maximum length of a script, in bytes. A person decides about a longer one.
const MAX_SCRIPT: usize = 12_000;

/// Maximum number of scripts.
const MAX_SCRIPTS: usize = 4;

/// Maximum number of effects and of facts in a question.
const MAX_LISTED: usize = 30;

/// The reason why a person answers without the model.
#[derive(Debug, thiserror::Error)]
pub enum NotConsulted {
    /// No layer has a policy.
    #[error("no policy is in force")]
    NoPolicy,
    /// The policy that ships for auto-pilot is missing.
    #[error("the policy is missing")]
    NoAutoPilot,
    /// The policy has no model.
    #[error("the policy names no model")]
    NoModel,
    /// The model has refused too often.
    #[error("auto-pilot ended in this session after three refusals in a row")]
    Ended,
    /// The engine reserves the question for a person, for this reason.
    #[error("{0}")]
    Reserved(Reservation),
    /// This part of the question is too long or cannot be read.
    #[error("{0}")]
    Question(&'static str),
}

/// The outcome of asking the model, with its answer for the record.
pub(super) enum Consulted {
    /// The model allows the call as it was when the model was asked.
    Allowed(Value),
    /// The call runs, because it has not changed since.
    Runs(Value),
    /// The call does not run.
    Refused(Value),
    /// A person answers, as without auto-pilot.
    Person(Option<Value>),
}

/// A model's approval. It holds for the call as it was when the model was asked: the same text, effects, orders and
/// losses.
pub(super) struct Allowed {
    exact: String,
    judge: Value,
}

impl Allowed {
    pub(super) fn now(call: &Pending, judge: Value) -> Allowed {
        Allowed { exact: call.exact.clone(), judge }
    }

    /// Checks that the call has not changed: a script or a file may have changed while the model was asked.
    pub(super) fn still_holds(&self, call: &Pending, judgement: &mut Judgement) -> Consulted {
        if self.exact == call.exact && judgement.verdict.decision == Decision::Ask {
            return Consulted::Runs(self.judge.clone());
        }
        person_instead(&mut judgement.verdict, "was asked before something about the call changed");
        Consulted::Person(Some(self.judge.clone()))
    }
}

impl Settled<'_> {
    /// Keeps the user's prompts for later questions.
    pub(super) fn listen(&self) {
        let Judged { received, scene, redactor, .. } = &self.judged;
        let Received { incoming, event, .. } = received;
        if !scene.mode.is_auto_pilot() || event.moment != Moment::Prompt {
            return;
        }
        for action in &event.actions {
            if let Action::Prompt { text } = action {
                // Without the user's words the model answers less often, but not less safely.
                let _ = incoming.store.keep_prompt(redactor, session_key(event), text);
            }
        }
    }

    /// Asks the model, if it may answer.
    pub(super) fn consult(&mut self) -> Consulted {
        let Judged { received, scene, judgement, redactor, .. } = &mut self.judged;
        let Received { incoming, event, .. } = received;
        if !scene.mode.is_auto_pilot() || judgement.verdict.decision != Decision::Ask || event.is_done {
            return Consulted::Person(None);
        }
        let session = incoming.store.judged(session_key(event));
        let (config, rules) = match may_consult(received, scene, &session, judgement, self.kept.is_some()) {
            Ok(may) => may,
            Err(why) => {
                judgement.verdict.chain.push(format!("{AUTO_PILOT}: a person answers, because {why}"));
                return Consulted::Person(None);
            }
        };
        if session.has_refused(&judgement.fingerprint.exact) {
            let again = json!({"outcome": "refuse", "judge": config.shown(), "cached": true});
            self.refuse();
            return Consulted::Refused(again);
        }
        let seen = Seen { event, judgement, rules: &rules, world: &scene.world };
        let reply = match seen.data(redactor, &session.prompts) {
            Ok(data) => incoming.host.ask_judge(&config, &data),
            Err(why) => Reply::unasked(&config, Failure::too_long(why)),
        };
        judgement.verdict.chain.push(format!("{AUTO_PILOT}: the model's answer is {}", reply.outcome()));
        let (context, exact) = (reply.json(), &judgement.fingerprint.exact);
        match reply.choice() {
            Ok(Choice::Allow) => match incoming.store.keep_choice(redactor, session_key(event), (true, exact)) {
                Ok(()) => return Consulted::Allowed(context),
                Err(error) => person_instead(&mut judgement.verdict, &format!("cannot be recorded: {error}")),
            },
            Ok(Choice::Refuse) => {
                self.refuse();
                return Consulted::Refused(context);
            }
            Ok(Choice::Ask) => person_instead(&mut judgement.verdict, "is unsure"),
            Err(failure) => {
                judgement.verdict.chain.push(format!("{AUTO_PILOT}: no answer, because {}", failure.why()));
                person_instead(&mut judgement.verdict, &format!("gave no answer ({})", reply.outcome()));
            }
        }
        Consulted::Person(Some(context))
    }

    /// Refuses a call in the name of the model. The refusal counts in its session, and the call still waits for a
    /// person.
    fn refuse(&mut self) {
        let Judged { received, judgement, redactor, .. } = &mut self.judged;
        let (store, session) = (received.incoming.store, session_key(&received.event));
        let kept = store.keep_choice(redactor, session, (false, &judgement.fingerprint.exact));
        let ends = kept.is_err() || store.judged(session).has_ended;
        let verdict = &mut judgement.verdict;
        verdict.decision = Decision::Deny;
        verdict.rewrite = None;
        verdict.asked = "Auto-pilot refused this: it does not look like part of the task.".to_owned();
        if ends {
            verdict.chain.push(format!("{AUTO_PILOT}: ended in this session after {MAX_REFUSALS} refusals in a row"));
            verdict.asked.push_str(&format!(
                " After {MAX_REFUSALS} refusals in a row auto-pilot has ended for this session; the user decides now."
            ));
        }
    }
}

/// The model to ask, and the rules that it is asked about. `is_kept` states that everything at stake has a copy.
///
/// # Errors
/// The reason why a person answers.
fn may_consult(
    received: &Received<'_>,
    scene: &Scene<'_>,
    session: &ModelHistory,
    judgement: &Judgement,
    is_kept: bool,
) -> Result<(JudgeConfig, Vec<JudgedRule>), NotConsulted> {
    let Some(policy) = &scene.policy else { return Err(NotConsulted::NoPolicy) };
    let config = JudgeConfig::from_layers(&scene.loaded, &received.incoming.host.folders().home);
    let config = config.ok_or(NotConsulted::NoModel)?;
    if session.has_ended {
        return Err(NotConsulted::Ended);
    }
    let engine = Engine::new(reflex_library::tables(), policy);
    let rules = engine.judged_rules(&received.event, &scene.world, judgement, is_kept);
    Ok((config, rules.map_err(NotConsulted::Reserved)?))
}

impl Host {
    /// Asks the model a question with these data.
    pub fn ask_judge(&self, config: &JudgeConfig, data: &Value) -> Reply {
        match Question::new(data) {
            Ok(question) => {
                self.wait_for(config.timeout.as_secs() + 1);
                auto_pilot::ask(config, &question, &self.folders().state)
            }
            Err(auto_pilot::TooLong) => {
                Reply::unasked(config, Failure::too_long("the call and its scripts are too long"))
            }
        }
    }

    /// The data of a question about a call in another world, as if its losses were backed up.
    ///
    /// # Errors
    /// The reason why a person answers.
    pub fn judge_data(&self, event: &Event, world: &dyn World, prompts: &[String]) -> Result<Value, NotConsulted> {
        let policy = Policy::named(reflex_library::tables(), AUTO_PILOT).ok_or(NotConsulted::NoAutoPilot)?;
        let engine = Engine::new(reflex_library::tables(), &policy);
        let judgement = engine.judge(event, world);
        let is_kept = judgement.verdict.at_stake.as_ref().is_some_and(|at_stake| at_stake.obstacle.is_none());
        let rules = engine.judged_rules(event, world, &judgement, is_kept);
        let rules = rules.map_err(NotConsulted::Reserved)?;
        let store = self.store();
        let seen = Seen { event, judgement: &judgement, rules: &rules, world };
        seen.data(&Redactor::of_call(&store, event, &judgement), prompts).map_err(NotConsulted::Question)
    }
}

/// Leaves the question to a person, with the reason why the model did not answer it.
fn person_instead(verdict: &mut Verdict, why: &str) {
    verdict.asked = format!("Auto-pilot's model {why}, so the user decides.");
}

/// A call in a question to the model.
struct Seen<'s> {
    event: &'s Event,
    judgement: &'s Judgement,
    rules: &'s [JudgedRule],
    world: &'s dyn World,
}

impl Seen<'_> {
    /// The data of the question. Excludes the agent's prose, tool output and secrets.
    ///
    /// # Errors
    /// The part that is too long or unreadable. A truncated question could hide the harm.
    fn data(&self, redactor: &Redactor<'_>, prompts: &[String]) -> Result<Value, &'static str> {
        let Seen { event, judgement, .. } = self;
        let call = record::shown(redactor, event);
        let contents: Vec<&str> = event.actions.iter().filter_map(Action::content).collect();
        if call.len() + contents.iter().map(|content| content.len()).sum::<usize>() > MAX_CALL {
            return Err("the call is too long");
        }
        let text = |text: &str| String::from(redactor.clean(text));
        let effect = |effect: &Effect| {
            let targets: Vec<String> = effect.targets.iter().take(8).map(|target| text(&target.shown())).collect();
            format!("{} {}", effect.kind.name(), targets.join(" ")).trim_end().to_owned()
        };
        let rule = |rule: &JudgedRule| {
            let mut found = judgement.verdict.findings.iter();
            let message = found.find(|finding| finding.id == rule.id).map(|finding| text(&finding.message));
            json!({"id": rule.id, "message": message, "why": rule.recovery})
        };
        let task = event.declared.as_ref().map(|task| text(&task.purpose.intent));
        Ok(json!({
            "agent": text(&event.client), "tool": text(&event.tool), "project": text(&event.workspace),
            "folder": text(&event.cwd), "call": call,
            "writes": contents.iter().map(|content| text(content)).collect::<Vec<_>>(),
            "effects": judgement.analysis.effects.iter().take(MAX_LISTED).map(effect).collect::<Vec<_>>(),
            "facts": judgement.asked.iter().take(MAX_LISTED).map(|fact| text(fact)).collect::<Vec<_>>(),
            "rules": self.rules.iter().map(rule).collect::<Vec<_>>(),
            "scripts": self.scripts(redactor)?, "prompts": prompts, "task": task,
        }))
    }

    /// The current content of this session's scripts that the call runs.
    fn scripts(&self, redactor: &Redactor<'_>) -> Result<Vec<Value>, &'static str> {
        let runs =
            |script: &&Script| script.usage != Usage::Written && self.world.is_of_session(&script.path) != Some(false);
        let scripts: Vec<&Script> = self.judgement.analysis.scripts.iter().filter(runs).collect();
        if scripts.len() > MAX_SCRIPTS {
            return Err("it runs too many scripts of this session");
        }
        let shown = |script: &&Script| {
            // The analysis holds only the recipe of a task; the model reads the full file.
            let text = self.world.content(&script.path).ok_or("a script of this session cannot be read")?;
            if text.len() > MAX_SCRIPT {
                return Err("a script of this session is too long");
            }
            Ok(json!({"path": &*redactor.clean(&script.path), "text": &*redactor.cleaned(&text, MAX_SCRIPT)}))
        };
        scripts.iter().map(shown).collect()
    }
}
