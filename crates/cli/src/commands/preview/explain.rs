//! `reflex explain`: the full chain from the text to the agent's answer.

mod marked;
mod stages;

use crate::commands::preview::check::{Question, TOO_MUCH, as_run, asked, code, question, subject, word};
use crate::error::Error;
use crate::lifeline;
use crate::terminal::output::{print, print_json};
use crate::terminal::paint::Paint;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use marked::{Line, short};
use reflex_agents::{AGENTS, Agent, Reply, deliver, universal};
use reflex_engine::shell::{Command, DerivationId, ExecTarget, Span, Value};
use reflex_engine::{Effect, Judgement, Target};
use reflex_host::Context;
use serde_json::{Map, Value as Json, json};
use stages::{Stage, stages};

/// Maximum width of the call in the first line.
const WIDTH: usize = 100;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let question = match question(context, matches) {
        Ok(question) => question,
        Err(error) => return error.report(),
    };
    lifeline::watch(TOO_MUCH);
    let judgement = question.judgement();
    lifeline::disarm();
    let code = code(&judgement.verdict);
    let policy = question.host.policy_name(&question.event);
    let stages = stages(&question.event, policy, &judgement);
    if matches.get_flag("json") {
        print_json(&as_json(&question, &judgement, &stages).to_string());
    } else {
        show(&question, &judgement, &stages, matches.get_flag("verbose"));
    }
    code
}

/// Returns the output of `--json` for a command given by the fields `command`, `cwd`, `agent` and `mode`.
pub(in crate::commands) fn explained(context: &Context, fields: &Map<String, Json>) -> Result<Json, Error> {
    let question = asked(context, fields)?;
    let judgement = question.judgement();
    let policy = question.host.policy_name(&question.event);
    let stages = stages(&question.event, policy, &judgement);
    Ok(as_json(&question, &judgement, &stages))
}

fn show(question: &Question, judgement: &Judgement, stages: &[Stage], is_verbose: bool) {
    let paint = Paint::of_stdout();
    let call = subject(&question.event);
    let call = call.split_whitespace().collect::<Vec<_>>().join(" ");
    print(&format!("{}  {}", paint.decision(word(&judgement.verdict)), short(&call, WIDTH)));
    for stage in stages.iter().filter(|stage| is_verbose || !stage.lines.is_empty()) {
        let heading = format!("{:>2} {:<21}", stage.number, stage.name);
        match stage.lines.as_slice() {
            [] => print(&format!("{} {}", paint.bold(&heading), paint.faint(stage.nothing))),
            [Line::Text(only)] => print(&format!("{} {}", paint.bold(&heading), only.trim_start())),
            many => {
                print(&paint.bold(heading.trim_end()));
                many.iter().for_each(|line| print(&painted(paint, line)));
            }
        }
    }
    let reply = reply(question.agent, question, judgement);
    let title = format!("answer to {}", question.agent.name);
    if reply == (Reply { stdout: String::new(), stderr: String::new(), code: 0 }) {
        return print(&format!("{:<24} {}", paint.bold(&title), paint.faint("nothing")));
    }
    if !is_verbose {
        let more = paint.faint("(`-v` shows it)");
        return print(&format!("{:<24} exit {} and a message {more}", paint.bold(&title), reply.code));
    }
    print(&paint.bold(&title));
    print(&format!("   exit {}", reply.code));
    for (name, output) in [("stdout", &reply.stdout), ("stderr", &reply.stderr)] {
        let text = if output.is_empty() { "(nothing)".into() } else { visible(output.trim_end()) };
        print(&format!("   {name} {text}"));
    }
}

fn painted(paint: Paint, line: &Line) -> String {
    match line {
        Line::Text(text) => format!("   {text}"),
        Line::Mark(marks) => {
            let bare = marks.trim_start();
            format!("   {}{}", " ".repeat(marks.len() - bare.len()), paint.removed(bare))
        }
    }
}

fn reply(agent: &Agent, question: &Question, judgement: &Judgement) -> Reply {
    let verdict = as_run(&judgement.verdict);
    let delivery = deliver(&question.event, &verdict, agent.abilities(&question.event));
    (agent.write)(&question.event, &verdict, &delivery)
}

/// Returns the verdict with the analysis that led to it; command numbers index `commands`, from 0.
fn as_json(question: &Question, judgement: &Judgement, stages: &[Stage]) -> Json {
    let mut object = universal::verdict(&judgement.verdict);
    let stages = stages.iter().map(|stage| {
        let lines: Vec<&str> = stage.lines.iter().map(Line::text).collect();
        json!({"stage": stage.number, "name": stage.name, "lines": lines})
    });
    let readings = judgement.analysis.readings.iter().enumerate();
    let commands =
        readings.flat_map(|(action, reading)| reading.commands.iter().map(move |ran| command_json(action, ran)));
    let effects = judgement.analysis.effects.iter().enumerate();
    let replies = AGENTS.iter().map(|agent| reply_json(agent, &reply(agent, question, judgement)));
    object.insert("schema".into(), "reflex/explain-v1".into());
    object.insert("stages".into(), stages.collect());
    object.insert("commands".into(), commands.collect());
    object.insert("effects".into(), effects.map(|(index, effect)| effect_json(index, effect, judgement)).collect());
    object.insert("facts".into(), json!(judgement.asked));
    let micros = judgement.latency.stages().map(|(part, nanos)| (part.to_owned(), (nanos / 1000).into()));
    object.insert("micros".into(), Json::Object(micros.collect()));
    object.insert("weights".into(), json!(judgement.verdict.chain));
    object.insert("replies".into(), replies.collect());
    object.insert("reply".into(), reply_json(question.agent, &reply(question.agent, question, judgement)));
    Json::Object(object)
}

fn reply_json(agent: &Agent, reply: &Reply) -> Json {
    json!({"agent": agent.name, "stdout": reply.stdout, "stderr": reply.stderr, "exit": reply.code})
}

fn command_json(action: usize, command: &Command) -> Json {
    let Span { start, end } = command.origin.span;
    let site = match command.site {
        ExecTarget::Here => "here",
        ExecTarget::Remote => "remote",
        ExecTarget::Container => "container",
    };
    json!({
        "action": action, "words": command.words.iter().map(Value::shown).collect::<Vec<_>>(), "span": [start, end],
        "derivation": command.origin.derivation.map(|DerivationId(id)| id), "parent": command.parent, "site": site,
        "folder": command.folder.as_ref().map(Value::shown),
    })
}

fn effect_json(index: usize, effect: &Effect, judgement: &Judgement) -> Json {
    let weighed = judgement.weighed.iter().filter(|weighed| weighed.effect == index);
    let rules: Vec<Json> = weighed
        .map(|weighed| json!({"id": weighed.rule, "holds": weighed.truth.name(), "fires": weighed.fires}))
        .collect();
    json!({
        "effect": effect.kind.name(), "targets": effect.targets.iter().map(Target::shown).collect::<Vec<_>>(),
        "flags": effect.flags, "action": effect.action, "command": effect.command, "rules": rules,
    })
}
