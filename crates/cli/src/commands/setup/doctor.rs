//! `reflex doctor` and `reflex verify`: check that the agents' tools really call the guard.

use crate::commands::setup::init_mcp;
use crate::commands::setup::own_program;
use crate::commands::setup::planned::put;
use crate::commands::setup::selection::{self, has_hook, wired_in_project};
use crate::error::Error;
use crate::exit_code;
use crate::terminal::age::{ago, until};
use crate::terminal::output::{complain, print, print_json};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::doctor::{Trouble, answers, copies, examine, silencing, taken_name};
use reflex_host::layers::{Loaded, lowered};
use reflex_host::notices::desktop_trouble;
use reflex_host::state_folder::obstacle;
use reflex_host::{Context, Mode, UnseenLine, Wiring, timestamp};
use serde_json::{Value, json};

/// Returns the files that `init` writes, for the requested agent or for all agents that are used here.
fn wirings(context: &Context, matches: &ArgMatches) -> Result<Vec<Wiring>, u8> {
    let asked = matches.get_one::<String>("agent").map(String::as_str);
    let mut wirings = selection::chosen(context, asked);
    wirings.retain(|wiring| !wiring.is_written_by_agent());
    let is_asked = |wiring: &Wiring| asked.is_none_or(|name| wiring.is_for(name));
    for of_project in wired_in_project(context).into_iter().filter(is_asked) {
        // An agent with the hook in the project does not need the user's hook, but may have both.
        let has_none = |wiring: &Wiring| wiring.agent() == of_project.agent() && !has_hook(wiring);
        wirings.retain(|wiring| !has_none(wiring));
        wirings.push(of_project);
    }
    if wirings.is_empty() {
        return Err(selection::unknown(asked));
    }
    Ok(wirings)
}

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let wirings = match wirings(context, matches) {
        Ok(wirings) => wirings,
        Err(code) => return code,
    };
    if matches.get_flag("fix") {
        if let Err(problem) = own_program::settle(context) {
            problem.report();
        }
        wirings.iter().filter(|wiring| !examine(wiring).is_empty()).for_each(|wiring| mend(context, wiring));
    }
    let examined: Vec<(String, Vec<Trouble>)> = wirings
        .iter()
        .map(|wiring| (name(wiring), [examine(wiring), unseen_lines(context, wiring)].concat()))
        .chain([("reflex".to_owned(), guard_troubles(context))])
        .collect();
    let lowered = lowered(&layers(context));
    let bypassing = init_mcp::bypassing(context);
    let taken = taken_name(context.folders());
    if matches.get_flag("json") {
        print_json(&as_json(context, &examined, &lowered, &bypassing, taken.as_deref()).to_string());
    } else {
        examined.iter().for_each(|(name, troubles)| show(context, name, troubles));
        let supervision = reflex_supervise::probe().err();
        let supervision = supervision.map(|why| format!("`reflex run --supervise` cannot work here: {why}"));
        let notes = lowered.iter().chain(&bypassing).chain(&supervision).chain(&taken);
        notes.for_each(|note| print(&format!("note: {}", visible(note))));
    }
    if examined.iter().all(|(_, troubles)| troubles.is_empty()) { exit_code::OK } else { exit_code::FOUND }
}

/// Installs the hook and trusts it, like `init`. Problems that only a person can fix are reported afterwards.
fn mend(context: &Context, wiring: &Wiring) {
    match install(context, wiring) {
        Ok(true) => complain(&format!("{}: {} is written", wiring.agent(), wiring.file().display())),
        Ok(false) => {}
        Err(problem) => {
            problem.report();
        }
    }
    if let Some(Err(problem)) = wiring.trust() {
        complain(&format!("{} does not trust the hook: {problem}", wiring.agent()));
    }
}

/// Writes the hook; returns whether the file changed.
fn install(context: &Context, wiring: &Wiring) -> Result<bool, Error> {
    let change = wiring.install()?;
    let changes = change.before != change.after;
    if changes {
        put(context, wiring, &change)?;
    }
    Ok(changes)
}

fn name(wiring: &Wiring) -> String {
    if wiring.project().is_some() { format!("{}{IN_PROJECT}", wiring.agent()) } else { wiring.agent().to_owned() }
}

const IN_PROJECT: &str = " (project)";

/// Reports dangerous shell lines of command files that the agent shows to no hook.
fn unseen_lines(context: &Context, wiring: &Wiring) -> Vec<Trouble> {
    let host = context.host(Mode::default());
    let here = host.settled(Event { client: wiring.agent().into(), ..Event::default() });
    let Some(agent) = reflex_agents::find(wiring.agent()) else { return Vec::new() };
    let lines = host.unseen_lines(agent, &here, &host.layers(&here.workspace)).into_iter();
    let trouble = |line: UnseenLine| {
        let UnseenLine { file, number, text, harm } = line;
        let file = file.display();
        Trouble {
            what: format!("{file}:{number}: `{text}` runs without asking the guard. {}", harm.trim_end_matches('.')),
            fix: format!("take the line out of {file}, or do not use the command"),
        }
    };
    lines.map(trouble).collect()
}

/// Returns the problems of the guard itself, independent of any agent.
fn guard_troubles(context: &Context) -> Vec<Trouble> {
    let host = context.host(Mode::default());
    let store = host.store();
    let unwritable = obstacle(host.folders());
    let unkept = host.backups().check().err().filter(|_| unwritable.is_none()).map(|refused| Trouble {
        what: format!("no backup can be made for `reflex undo`: {}", visible(&refused.to_string())),
        fix: "reflex gc".into(),
    });
    let pause = store.pause().map(|pause| Trouble {
        what: format!(
            "the guard is switched off{} for {} by {}: {}",
            pause.place(),
            until(pause.until),
            pause.by,
            pause.reason
        ),
        fix: "reflex off --end".into(),
    });
    let key = store.key_in_force();
    let disputed =
        key.problem().map(|why| Trouble { what: format!("no approval counts: {why}"), fix: key.remedy().into() });
    let broken = |problem: &String| Trouble { what: visible(problem), fix: "reflex rules validate".into() };
    let broken: Vec<Trouble> = layers(context).iter().flat_map(|one| one.layer.problems.iter().map(broken)).collect();
    let silent = desktop_trouble(&layers(context));
    copies(context.folders())
        .into_iter()
        .chain(silent)
        .chain(unwritable)
        .chain(pause)
        .chain(disputed)
        .chain(unkept)
        .chain(broken)
        .collect()
}

/// Returns people's files that are in force here.
fn layers(context: &Context) -> Vec<Loaded> {
    let host = context.host(Mode::default());
    host.layers(&host.placed(Event::default()).workspace)
}

fn last_call(context: &Context, name: &str) -> Option<u64> {
    let agent = name.trim_end_matches(IN_PROJECT);
    let beats = context.store().heartbeats();
    beats.iter().filter(|beat| beat.agent == agent).map(|beat| beat.time).max()
}

fn show(context: &Context, name: &str, troubles: &[Trouble]) {
    if troubles.is_empty() && name != "reflex" {
        let called =
            last_call(context, name).map_or("no call seen yet".to_owned(), |time| format!("last call {}", ago(time)));
        print(&format!("{name}: ok, the hook is installed and answers; {called}"));
    }
    for trouble in troubles {
        print(&format!("{name}: {}\n  fix: {}", visible(&trouble.what), visible(&trouble.fix)));
    }
}

fn as_json(
    context: &Context,
    examined: &[(String, Vec<Trouble>)],
    lowered: &[String],
    bypassing: &[String],
    taken: Option<&str>,
) -> Value {
    let of = |(name, troubles): &(String, Vec<Trouble>)| {
        let list: Vec<Value> =
            troubles.iter().map(|trouble| json!({"problem": trouble.what, "fix": trouble.fix})).collect();
        json!({"subject": name, "last_call": last_call(context, name).map(timestamp), "troubles": list})
    };
    let examined: Vec<Value> = examined.iter().map(of).collect();
    let supervision = match reflex_supervise::probe() {
        Ok(()) => json!({"works": true}),
        Err(why) => json!({"works": false, "problem": why.to_string()}),
    };
    json!({
        "schema": "reflex/doctor-v1", "examined": examined, "lowered": lowered, "mcp": bypassing,
        "supervision": supervision, "taken": taken,
    })
}

/// Prints one line for each agent whose hooks all answered, and one for each hook that failed.
fn report(results: &[Verified<'_>]) {
    let mut wirings: Vec<String> = results.iter().map(|(wiring, ..)| name(wiring)).collect();
    wirings.dedup();
    for agent in wirings {
        let of = || results.iter().filter(|(wiring, ..)| name(wiring) == agent);
        let answered = of().filter(|(_, _, result)| result.is_ok()).count();
        if answered > 0 {
            print(&format!("ok     {agent}  {} a call that Reflex cannot read", counted(answered)));
        }
        for (_, event, result) in of() {
            let hook = if event.is_empty() { agent.clone() } else { format!("{agent}  {event}") };
            if let Err(Trouble { what, fix }) = result {
                print(&format!("FAILS  {hook}: {}\n       fix: {}", visible(what), visible(fix)));
            }
        }
    }
}

fn counted(hooks: usize) -> String {
    if hooks == 1 { "1 hook stops or reports".to_owned() } else { format!("{hooks} hooks stop or report") }
}

/// The file of the hook, the agent's name for an event, and whether the hook answered correctly; without a hook the event is empty.
type Verified<'a> = (&'a Wiring, String, Result<(), Trouble>);

pub(in crate::commands) fn verify(context: &Context, matches: &ArgMatches) -> u8 {
    let wirings = match wirings(context, matches) {
        Ok(wirings) => wirings,
        Err(code) => return code,
    };
    let mut results: Vec<Verified<'_>> = Vec::new();
    for wiring in &wirings {
        let trouble =
            |what: String, command: &str| Trouble { what, fix: format!("reflex {command} --agent {}", wiring.agent()) };
        let hooks = wiring.hooks();
        let off = silencing(wiring).into_iter();
        results.extend(off.map(|trouble| (wiring, String::new(), Err(trouble))));
        if let Err(problem) = wiring.install() {
            results.push((wiring, String::new(), Err(trouble(problem.to_string(), "init"))));
            continue;
        }
        if hooks.is_empty() {
            results.push((wiring, String::new(), Err(trouble("no Reflex hook found".into(), "init"))));
        }
        let agent = reflex_agents::find(wiring.agent());
        for (event, start) in hooks {
            let answered = |agent| answers(context.folders(), agent, &event, &start).map_err(|error| error.to_string());
            let result = agent.map_or(Err("is not known".to_owned()), answered);
            results.push((wiring, event, result.map_err(|problem| trouble(problem, "doctor"))));
        }
    }
    if matches.get_flag("json") {
        let of = |(wiring, event, result): &Verified<'_>| json!({"agent": wiring.agent(), "event": event, "answers": result.is_ok(), "problem": result.as_ref().err().map(|trouble| &trouble.what)});
        let hooks: Vec<Value> = results.iter().map(of).collect();
        print_json(&json!({"schema": "reflex/verify-v1", "hooks": hooks}).to_string());
    } else {
        report(&results);
    }
    if results.iter().all(|(_, _, result)| result.is_ok()) { exit_code::OK } else { exit_code::FOUND }
}
