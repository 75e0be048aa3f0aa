//! `reflex rules new`: prints a starter rule for a call of the audit log.

use crate::commands::history::why;
use crate::exit_code;
use crate::terminal::output::{complain, print};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::universal;
use reflex_engine::FakeWorld;
use reflex_engine::shell::Command;
use reflex_host::{Context, Host, Mode};
use serde_json::{Map, Value, json};

/// Commands that only prepare for another.
const BESIDE: [&str; 8] = ["cd", "pushd", "export", "set", "source", ".", "echo", "true"];

/// The subject of a new rule.
struct Subject {
    name: String,
    event: &'static str,
    condition: String,
    fires: String,
    quiet: &'static str,
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let subject = match matches.get_one::<String>("id") {
        None => Ok(of_command(&host, "docker system prune")),
        Some(id) => match why::record(&host, id) {
            None => Err(format!("no call `{}` in the audit log", visible(id))),
            Some(record) => of_call(&host, &record).ok_or_else(|| format!("no rule matches a call like `{id}`")),
        },
    };
    match subject {
        Ok(subject) => {
            print(&written(&subject));
            exit_code::OK
        }
        Err(problem) => {
            complain(&problem);
            exit_code::FOUND
        }
    }
}

fn written(subject: &Subject) -> String {
    let Subject { name, event, condition, fires, quiet } = subject;
    format!(
        "name: no-{name}\nversion: 1\ntier: custom\ncategory: safety\ndescription: why this is not wanted here\n\
         events: [{event}]\nconditions:\n  - {condition}\naction: ask\nseverity: medium\n\
         message: what harm it does, in one sentence.\nexamples:\n  fires: [{fires}]\n  quiet: [{quiet}]"
    )
}

/// Returns the first action of a recorded call.
fn of_call(host: &Host, record: &Map<String, Value>) -> Option<Subject> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let (tool, workspace) = (text(record.get("tool")), text(record.get("workspace")).unwrap_or_default());
    let action = record.get("actions")?.as_array()?.first()?;
    let field = |name: &str| text(action.get(name));
    let kind = field("kind")?;
    match (kind.as_str(), field("command"), field("path"), tool) {
        (_, Some(command), ..) => Some(of_command(host, &command)),
        ("write" | "edit" | "delete", _, Some(path), _) => Some(of_file(&kind, &path, &workspace)),
        (_, _, _, Some(tool)) => Some(of_tool(&tool)),
        _ => None,
    }
}

fn of_command(host: &Host, command: &str) -> Subject {
    let words = guilty(host, command).unwrap_or_else(|| command.split_whitespace().map(str::to_owned).collect());
    let words: Vec<&str> = words.iter().map(String::as_str).take(2).collect();
    Subject {
        name: name_of(&words.join("-")),
        event: "bash_command",
        condition: format!("matches_command: {}", quoted(&format!("{} *", words.join(" ")))),
        fires: quoted(command),
        quiet: "'git status'",
    }
}

/// Returns the words of the main command, without wrappers, preparing commands and options.
fn guilty(host: &Host, command: &str) -> Option<Vec<String>> {
    let event = json!({"event": "pre-command", "command": command, "workspace": "/repo", "home": "/home/me"});
    let call = universal::read(event.as_object()?).ok()?;
    let judgement = host.judge_in(&call, &FakeWorld::default(), &[]);
    let analysis = &judgement.analysis;
    let commands = &analysis.readings.first()?.commands;
    let parents: Vec<_> = commands.iter().filter_map(|one| one.parent).collect();
    let is_work = |one: &&Command| !one.name.is_empty() && !BESIDE.contains(&one.name.as_str());
    let innermost = analysis.effects.iter().filter(|effect| effect.command.is_some_and(|id| !parents.contains(&id)));
    let doing = innermost.filter_map(|effect| analysis.command(effect)).find(is_work);
    let found = doing.or_else(|| commands.iter().rfind(is_work))?;
    let rest = found.words.iter().skip(1).filter_map(|word| word.literal());
    let plain = rest.map(|word| word.into_owned()).find(|word| !word.starts_with('-'));
    Some(std::iter::once(found.name.clone()).chain(plain).collect())
}

fn of_file(kind: &str, path: &str, workspace: &str) -> Subject {
    let inside = path.strip_prefix(workspace).map_or(path, |rest| rest.trim_start_matches('/'));
    let event = if kind == "delete" {
        "file_delete"
    } else if kind == "edit" {
        "file_edit"
    } else {
        "file_write"
    };
    let content = if kind == "delete" { json!(null) } else { json!("x") };
    let fires = json!({"event": format!("pre-{kind}"), "files": [inside], "content": content});
    let name = inside.rsplit('/').next().unwrap_or(inside);
    Subject {
        name: name_of(&format!("{kind}-{name}")),
        event,
        condition: format!("{{field: file_path, op: under_path, pattern: {}}}", quoted(inside)),
        fires: fires.to_string(),
        quiet: "{event: pre-write, files: [another-file], content: x}",
    }
}

fn of_tool(tool: &str) -> Subject {
    Subject {
        name: name_of(tool),
        event: "tool_call",
        condition: format!("{{field: tool_name, op: equals, pattern: {}}}", quoted(tool)),
        fires: json!({"event": "pre-tool", "tool": tool}).to_string(),
        quiet: "'git status'",
    }
}

fn name_of(text: &str) -> String {
    let ch = |ch: char| if ch.is_ascii_alphanumeric() { ch.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(ch).take(60).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn quoted(text: &str) -> String {
    format!("'{}'", visible(text).replace('\'', "''"))
}
