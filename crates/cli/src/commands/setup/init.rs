//! `reflex init` and `reflex uninstall`: add the guard's hook to an agent's settings, and remove it.

use crate::commands::history::undo::total;
use crate::commands::setup::init_mcp;
use crate::commands::setup::own_program;
use crate::commands::setup::pin::{self, Named};
use crate::commands::setup::planned::{
    Consent, Planned, Target, Work, consent, here, is_person, no_terminal, project_here,
};
use crate::commands::setup::selection::{chosen, chosen_in_project, has_hook, unknown, wired_in_project};
use crate::commands::setup::status_facts::places;
use crate::commands::setup::verify_live;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::confirm;
use crate::terminal::consent::may_weaken;
use crate::terminal::output::{complain, print};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::answers::record;
use reflex_host::doctor::silencing;
use reflex_host::git_hooks::Entries;
use reflex_host::older::OlderGuard;
use reflex_host::person::no_agent_above;
use reflex_host::signing::InForce;
use reflex_host::state_folder::obstacle;
use reflex_host::store::Store;
use reflex_host::{Context, Host, Mode, Wiring};
use serde_json::json;
use std::path::Path;

pub(in crate::commands) fn init(context: &Context, matches: &ArgMatches) -> u8 {
    if matches.get_flag("git") {
        return of_git(context, matches, Work::PutIn);
    }
    if matches.get_flag("mcp") {
        return init_mcp::change(context, matches, Work::PutIn);
    }
    let wirings = match selected(context, matches) {
        Ok(wirings) => wirings,
        Err(code) => return code,
    };
    let is_dry = matches.get_flag("dry-run");
    if !is_dry && names_another_key(context, &wirings) {
        return exit_code::FOUND;
    }
    let wirings = match keyed(context, matches, wirings) {
        Ok(wirings) => wirings,
        Err(problem) => return problem.report(),
    };
    let result = put_in(context, matches, &wirings);
    if !is_dry && !matches.get_flag("yes") && result == exit_code::OK {
        let wired: Vec<Wiring> = wirings.into_iter().filter(has_hook).collect();
        verify_live::offer(context, &wired);
        if !wired.is_empty() {
            pin::offer(context);
        }
    }
    result
}

/// Adds the hooks after one question for all files.
fn put_in(context: &Context, matches: &ArgMatches, wirings: &[Wiring]) -> u8 {
    let (mut plan, mut in_place, mut result) = (Vec::new(), Vec::new(), exit_code::OK);
    for wiring in wirings.iter().filter(|wiring| !wiring.is_written_by_agent()) {
        match wanted(matches, wiring) {
            Ok(changes) if changes.iter().any(|one| matches!(one.target, Target::Entry(_))) => plan.extend(changes),
            Ok(changes) => {
                print(&format!("{}: {} {}", wiring.agent(), shown(wiring.file()), Work::PutIn.done()));
                in_place.push(wiring);
                plan.extend(changes);
            }
            Err(problem) => result = result.max(problem.report()),
        }
    }
    let consent = consent(context, matches, &plan);
    if consent == Consent::NoTerminal {
        no_terminal();
        result = exit_code::FOUND;
    }
    if !matches.get_flag("dry-run") && !in_place.is_empty() {
        // The program may be missing, or of an older version.
        reported(own_program::settle(context), &mut result);
        in_place.into_iter().for_each(|wiring| reported(trust(wiring), &mut result));
    }
    if consent == Consent::Given {
        let mut failed = Vec::new();
        for one in &plan {
            // Without its new hook, an agent keeps the guard before.
            if matches!(one.target, Target::Older(..)) && failed.contains(&one.subject()) {
                continue;
            }
            let done = carried_out(context, one);
            failed.extend(done.is_err().then(|| one.subject()));
            reported(done, &mut result);
        }
    }
    if is_silenced(wirings) { exit_code::FOUND } else { result }
}

fn reported(done: Result<(), Error>, result: &mut u8) {
    if let Err(problem) = done {
        *result = problem.report().max(*result);
    }
}

fn shown(file: &Path) -> String {
    visible(&file.display().to_string())
}

pub(in crate::commands) fn uninstall(context: &Context, matches: &ArgMatches) -> u8 {
    if let Err(why) = no_agent_above() {
        complain(&format!("only a person can remove the guard: {why}"));
        return exit_code::FOUND;
    }
    if matches.get_flag("git") {
        return of_git(context, matches, Work::TakeOut);
    }
    if matches.get_flag("mcp") {
        return init_mcp::change(context, matches, Work::TakeOut);
    }
    let host = context.host(Mode::default());
    let store = host.store();
    let with_hook =
        || Wiring::all(context).into_iter().chain(wired_in_project(context)).filter(has_hook).collect::<Vec<_>>();
    let was_installed = !with_hook().is_empty();
    let (result, is_unlocked) = take_out(context, matches, &store);
    if matches.get_flag("dry-run") || result != exit_code::OK {
        return result;
    }
    let standing = with_hook();
    for wiring in &standing {
        print(&format!("{}: {} still has the hook", wiring.agent(), shown(wiring.file())));
    }
    let is_purged = matches.get_flag("purge");
    if !was_installed && !is_purged {
        return exit_code::OK;
    }
    if !standing.is_empty() {
        if is_purged {
            complain("not purged, because these hooks are still installed");
            return exit_code::FOUND;
        }
        return exit_code::OK;
    }
    if is_purged && !is_unlocked && !pin::may_remove(&store) {
        return exit_code::FOUND;
    }
    let _ = record(&host.store(), "uninstall", json!({}));
    what_stays(context, &host, matches)
}

/// Removes the hooks after one question for all files, and the passphrase if one is set. Also returns whether the
/// passphrase was asked for.
fn take_out(context: &Context, matches: &ArgMatches, store: &Store) -> (u8, bool) {
    let wirings = match selected(context, matches) {
        Ok(wirings) => wirings,
        Err(code) => return (code, false),
    };
    if !matches.get_flag("dry-run") && names_another_key(context, &wirings) {
        return (exit_code::FOUND, false);
    }
    // Servers come first: once removed, the program can start none.
    let lists = init_mcp::guarded(context, matches);
    let (mut plan, mut result) = init_mcp::planned(&lists, Work::TakeOut);
    if result != exit_code::OK {
        return (result, false);
    }
    for wiring in &wirings {
        match wiring.remove() {
            Ok(change) if change.before != change.after => plan.push(Planned::entry(wiring, change)),
            // A file that the agent wrote is mentioned only if it changes.
            Ok(_) if wiring.is_written_by_agent() => {}
            Ok(_) => print(&format!("{}: {} {}", wiring.agent(), shown(wiring.file()), Work::TakeOut.done())),
            Err(problem) => result = result.max(Error::from(problem).report()),
        }
    }
    match consent(context, matches, &plan) {
        Consent::Declined => return (result, false),
        Consent::NoTerminal => {
            no_terminal();
            return (exit_code::FOUND, false);
        }
        Consent::Given => {}
    }
    if !pin::may_remove(store) {
        return (exit_code::FOUND, false);
    }
    for one in &plan {
        let done = one.write(context);
        let is_server = matches!(one.target, Target::Servers(_)) && done.is_err();
        reported(done, &mut result);
        if is_server {
            break;
        }
    }
    (result, true)
}

/// Lists the files that remain once the hooks are removed; `--purge` deletes them.
fn what_stays(context: &Context, host: &Host, matches: &ArgMatches) -> u8 {
    let folders = host.folders();
    let (state, kept) = (&folders.state, host.backups());
    let count = kept.listed().len();
    let backups = if count == 0 { String::new() } else { format!(", {} for `reflex undo`", total(&kept)) };
    let lines = [
        (state, format!("the audit log, approvals{backups}")),
        (&folders.cache, "compiled rules".to_owned()),
        (&folders.config, "your policy and rules".to_owned()),
    ];
    print("The hooks are removed. These files stay:");
    for (folder, what) in lines.iter().filter(|(folder, _)| folder.exists()) {
        print(&format!("  {}  {what}", visible(&folder.display().to_string())));
    }
    for program in own_program::installed(context) {
        print(&format!("  {}  the program", visible(&program.display().to_string())));
    }
    if !matches.get_flag("purge") {
        print("`reflex uninstall --purge` also deletes these, except your rules and the program.");
        return exit_code::OK;
    }
    if !matches.get_flag("yes") && !confirm::confirmed("Delete these, except your rules and the program? [y/N] ") {
        print("not purged");
        return exit_code::FOUND;
    }
    match folders.purge() {
        Ok(()) => {
            print("purged");
            exit_code::OK
        }
        Err(error) => Error::from(error).report(),
    }
}

/// Adds or removes the hooks of Git.
fn of_git(context: &Context, matches: &ArgMatches, work: Work) -> u8 {
    match change_git(context, matches, work) {
        Ok(code) => code,
        Err(problem) => problem.report(),
    }
}

fn change_git(context: &Context, matches: &ArgMatches, work: Work) -> Result<u8, Error> {
    let here = here()?;
    let entries = if matches.get_flag("global") {
        Entries::of_user(context, &here)
    } else {
        Entries::of_repository(context, &here)
    }?;
    let is_dry = matches.get_flag("dry-run");
    for (file, text) in entries.planned()? {
        let shows_text = work == Work::PutIn && is_dry;
        print(&format!("{} {}{}", work.verb(), shown(&file), if shows_text { ":" } else { "" }));
        if shows_text {
            print(text.trim_end());
        }
    }
    if is_dry {
        return Ok(exit_code::OK);
    }
    if !matches.get_flag("yes") {
        if !is_person() {
            no_terminal();
            return Ok(exit_code::FOUND);
        }
        let question = if work == Work::PutIn { "Write these? [y/N] " } else { "Remove these? [y/N] " };
        if !confirm::confirmed(question) {
            print("not written");
            return Ok(exit_code::OK);
        }
    }
    if work == Work::TakeOut && !pin::may_remove(&context.store()) {
        return Ok(exit_code::FOUND);
    }
    if work == Work::PutIn {
        own_program::settle(context)?;
    }
    let done = if work == Work::PutIn { entries.put_in() } else { entries.take_out() }?;
    for one in done {
        let other = one.other.map(|other| shown(&other));
        let beside = match (work, other) {
            (_, None) => String::new(),
            (Work::PutIn, Some(other)) => format!("; it starts {other}, which was there before"),
            (Work::TakeOut, Some(_)) => "; the hook from before is back".to_owned(),
        };
        print(&format!("git: {} is {}{beside}", shown(&one.file), one.how));
    }
    Ok(exit_code::OK)
}

/// Whether settings here keep an agent from running the hooks in these files; prints each of them.
fn is_silenced(wirings: &[Wiring]) -> bool {
    let troubles: Vec<_> = wirings.iter().flat_map(silencing).collect();
    troubles.iter().for_each(|trouble| complain(&visible(&format!("{}; fix: {}", trouble.what, trouble.fix))));
    !troubles.is_empty()
}

/// Returns the settings files that the arguments name.
fn selected(context: &Context, matches: &ArgMatches) -> Result<Vec<Wiring>, u8> {
    let asked = matches.get_one::<String>("agent").map(String::as_str);
    let wirings = match matches.get_one::<String>("scope").map(String::as_str) {
        Some("project") => {
            let here = project_here(context).map_err(|problem| problem.report())?;
            let wirings = chosen_in_project(context, &here, asked);
            if wirings.is_empty() && !chosen(context, asked).is_empty() {
                complain("this project's settings are the settings of your home; `reflex init` writes them");
                return Err(exit_code::USAGE);
            }
            wirings
        }
        _ => chosen(context, asked),
    };
    if wirings.is_empty() { Err(unknown(asked)) } else { Ok(wirings) }
}

/// Before a diff is shown, prints warnings about the guard's home, and checks that the state folder is writable unless
/// this is a dry run.
fn ready(context: &Context, is_dry: bool) -> Result<(), Error> {
    places(context).iter().for_each(|line| print(&visible(line)));
    let obstacle = if is_dry { None } else { obstacle(context.folders()) };
    let consequence = "no file was changed";
    obstacle.map_or(Ok(()), |trouble| Err(Error::StateFolder { trouble, consequence }))
}

/// Whether an entry names a key other than the one in force: otherwise `--home` with another home and a variable such
/// as `CLAUDE_CONFIG_DIR` could change it without its passphrase.
fn names_another_key(context: &Context, wirings: &[Wiring]) -> bool {
    let store = context.store();
    let in_force = if let InForce::Key(key) = store.key_in_force() { Some(key.to_string()) } else { None };
    let is_foreign =
        |wiring: &&Wiring| wiring.hooks().iter().filter_map(|(_, start)| start.key()).any(|key| Some(key) != in_force);
    let foreign = wirings.iter().filter(|wiring| wiring.project().is_none()).find(is_foreign);
    if let Some(wiring) = foreign {
        let file = visible(&wiring.file().display().to_string());
        complain(&format!("{file} names a key that is not in force in this home, so it stays as it is"));
    }
    foreign.is_some()
}

/// Returns the entries with the key that they are to name, once a person has agreed to any loosening.
fn keyed(context: &Context, matches: &ArgMatches, wirings: Vec<Wiring>) -> Result<Vec<Wiring>, Error> {
    ready(context, matches.get_flag("dry-run"))?;
    if matches.get_flag("dry-run") {
        return Ok(wirings);
    }
    let loosens = matches.get_flag("replace") || wirings.iter().any(Wiring::starts_another_program);
    if loosens && !may_weaken(&context.store(), "init") {
        return Err(Error::Locked("replacing a guard"));
    }
    let is_users = |wiring: &Wiring| wiring.project().is_none();
    if !wirings.iter().any(is_users) {
        return Ok(wirings);
    }
    let named = pin::again(context)?;
    let with = |wiring: Wiring| match named {
        Named::Again(key) if is_users(&wiring) => wiring.with_key(key),
        Named::AsItIs | Named::Again(_) => wiring,
    };
    Ok(wirings.into_iter().map(with).collect())
}

/// Returns the changes that add the hook, and replace older guards on request. Empty if the hook is in place.
fn wanted<'w>(matches: &ArgMatches, wiring: &'w Wiring) -> Result<Vec<Planned<'w>>, Error> {
    let (is_replacing, here) = (matches.get_flag("replace"), here()?);
    let change = if matches.get_flag("repair") {
        wiring.install_repaired()
    } else if is_replacing {
        wiring.install_in_place_of_older()
    } else {
        for OlderGuard { file, line } in wiring.older(&here) {
            let (file, line) = (shown(&file), visible(&line));
            let agent = wiring.agent();
            print(&format!("{agent}: `{line}` in {file} is a guard that came before; `--replace` takes it out"));
        }
        wiring.install()
    }?;
    let own = Some(change).filter(|change| change.before != change.after);
    let mut plan: Vec<Planned<'w>> = own.map(|change| Planned::entry(wiring, change)).into_iter().collect();
    if is_replacing {
        // The agent's other files, including the project's.
        for (file, change) in wiring.without_older(&here)? {
            let target = Target::Older(wiring.agent(), file);
            plan.push(Planned { target, change, what: "the guard before removed".to_owned() });
        }
    }
    Ok(plan)
}

/// Writes a file. Of a hook, also has the agent trust it, and prints what is left to do.
fn carried_out(context: &Context, planned: &Planned<'_>) -> Result<(), Error> {
    planned.write(context)?;
    let Target::Entry(wiring) = planned.target else { return Ok(()) };
    if !wiring.afterwards().is_empty() {
        print(&format!("{}: {}", wiring.agent(), wiring.afterwards()));
    }
    if wiring.project().is_some() {
        print(&format!(
            "{}: the file holds the path of reflex on this machine; where others get it too, calls stop until reflex is there (`reflex emit --binary PATH` prints it with another path)",
            wiring.agent()
        ));
    }
    trust(wiring)
}

/// Trusts the hook: some agents run a hook only once it is trusted.
fn trust(wiring: &Wiring) -> Result<(), Error> {
    match wiring.trust() {
        None => Ok(()),
        Some(Ok(())) => {
            print(&format!("{}: trusts the hook", wiring.agent()));
            Ok(())
        }
        Some(Err(source)) => Err(Error::Untrusted { agent: wiring.agent(), source }),
    }
}
