//! `reflex explain`: the whole chain from the text to the agent's answer.

use super::check::{code, question, word};
use super::{complain, print, text};
use crate::paint::Paint;
use crate::status;
use clap::ArgMatches;
use reflex_agents::{deliver, universal};
use reflex_engine::shell::{Command, Reading, Site, Span, Value};
use reflex_engine::{Effect, Judgement, Target};
use serde_json::json;

pub(super) fn run(matches: &ArgMatches) -> u8 {
    let question = match question(matches) {
        Ok(question) => question,
        Err(problem) => {
            complain(&problem);
            return status::USAGE;
        }
    };
    let judgement = question.host.judge(&question.event);
    let delivery = deliver(&question.event, &judgement.verdict, (question.agent.abilities)(question.event.moment));
    let reply = (question.agent.write)(&question.event, &judgement.verdict, &delivery);
    let raw = text(matches, "command");
    let stages = stages(raw, &judgement);
    if matches.get_flag("json") {
        let mut object = universal::verdict(&judgement.verdict);
        let stages =
            stages.iter().map(|stage| json!({"stage": stage.number, "name": stage.name, "lines": stage.lines}));
        let reply = json!({
            "agent": question.agent.name, "stdout": reply.stdout, "stderr": reply.stderr, "exit": reply.code,
        });
        object.insert("schema".into(), "reflex/explain-v1".into());
        object.insert("stages".into(), stages.collect());
        object.insert("reply".into(), reply);
        print(&serde_json::Value::Object(object).to_string());
        return code(judgement.verdict.decision);
    }
    let paint = Paint::of_stdout();
    print(&format!("{}  {raw}", paint.decision(word(&judgement.verdict))));
    for stage in &stages {
        print(&format!("{} {}", paint.bold(&format!("{:>2}", stage.number)), paint.bold(stage.name)));
        stage.lines.iter().for_each(|line| print(&format!("   {line}")));
    }
    print(&paint.bold(&format!("what {} is told", question.agent.name)));
    print(&format!("   exit {}", reply.code));
    for (name, said) in [("stdout", &reply.stdout), ("stderr", &reply.stderr)] {
        print(&format!("   {name} {}", if said.is_empty() { "(nothing)" } else { said.trim_end() }));
    }
    code(judgement.verdict.decision)
}

struct Stage {
    number: u8,
    name: &'static str,
    lines: Vec<String>,
}

fn stages(raw: &str, judgement: &Judgement) -> Vec<Stage> {
    let empty = Reading::default();
    let reading = judgement.analysis.readings.first().unwrap_or(&empty);
    let of = |step: &str| -> Vec<String> {
        reading
            .derivations
            .iter()
            .filter(|d| (d.step == "alias") == (step == "alias"))
            .map(|d| format!("{}: {}", d.step, one_line(&d.text)))
            .collect()
    };
    let commands: Vec<&Command> = reading.commands.iter().filter(|command| !command.words.is_empty()).collect();
    let verdict = &judgement.verdict;
    let lines = [
        ("raw capture", marked(raw, verdict.findings.first().map(|finding| finding.at.span))),
        ("decode", of("decode")),
        ("normalize whitespace", vec![one_line(raw)]),
        ("expand aliases", of("alias")),
        (
            "split compounds",
            commands.iter().map(|command| command.origin.span.of(raw).to_owned()).map(|t| one_line(&t)).collect(),
        ),
        (
            "variable substitution",
            commands.iter().filter(|command| differs(command, raw)).map(|command| words(command)).collect(),
        ),
        ("quote stripping", commands.iter().map(|command| shown(command)).collect()),
        ("pattern match", patterns(judgement)),
        ("context check", context(judgement)),
        ("verdict emit", verdict_lines(judgement)),
    ];
    lines.into_iter().zip(1..).map(|((name, lines), number)| Stage { number, name, lines }).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with the guilty part underlined.
fn marked(raw: &str, span: Option<Span>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0usize;
    for line in raw.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        lines.push(bare.to_owned());
        let end = start + bare.len();
        if let Some(span) = span.filter(|span| span.end > span.start) {
            let (from, to) = ((span.start as usize).max(start), (span.end as usize).min(end));
            if from < to {
                let before = raw.get(start..from).map_or(0, |text| text.chars().count());
                let under = raw.get(from..to).map_or(0, |text| text.chars().count());
                lines.push(format!("{}{}", " ".repeat(before), "^".repeat(under)));
            }
        }
        start += line.len();
    }
    lines
}

fn words(command: &Command) -> String {
    command.words.iter().map(Value::shown).collect::<Vec<_>>().join(" ")
}

fn differs(command: &Command, raw: &str) -> bool {
    one_line(command.origin.span.of(raw)) != one_line(&words(command))
}

fn shown(command: &Command) -> String {
    let site = match command.site {
        Site::Here => "",
        Site::Remote => "  (on another host)",
        Site::Container => "  (in a container)",
    };
    let parent = if command.parent.is_some() { "  (run by another command)" } else { "" };
    format!("{:?}{site}{parent}", command.words.iter().map(Value::shown).collect::<Vec<_>>())
}

fn patterns(judgement: &Judgement) -> Vec<String> {
    let effects = judgement.analysis.effects.iter().map(effect);
    let gaps = judgement.analysis.readings.iter().flat_map(|reading| &reading.gaps);
    let findings = judgement.verdict.findings.iter();
    effects
        .chain(
            gaps.map(|gap| format!("not known: {:?} at {}..{}", gap.why, gap.origin.span.start, gap.origin.span.end)),
        )
        .chain(findings.map(|finding| {
            format!(
                "{} fires ({}, {}, {} % sure): {}",
                finding.id,
                finding.category,
                finding.severity.name(),
                finding.confidence,
                finding.message
            )
        }))
        .collect()
}

fn effect(effect: &Effect) -> String {
    let targets: Vec<String> = effect.targets.iter().map(Target::shown).collect();
    let flags = if effect.flags.is_empty() { String::new() } else { format!(" ({})", effect.flags.join(" ")) };
    format!("would {} {}{flags}", effect.kind.name(), targets.join(", "))
}

fn context(judgement: &Judgement) -> Vec<String> {
    let asked = judgement.asked.iter().map(|fact| format!("asked {fact}"));
    asked.chain(judgement.verdict.chain.iter().cloned()).collect()
}

fn verdict_lines(judgement: &Judgement) -> Vec<String> {
    let verdict = &judgement.verdict;
    let head = format!("{}, risk {}, {} % sure", word(verdict), verdict.risk.risk(), verdict.confidence);
    std::iter::once(head).chain(verdict.reasons.iter().chain(&verdict.advice).cloned()).collect()
}
