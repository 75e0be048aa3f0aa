//! `reflex init` and `reflex uninstall`: add the guard's hook to an agent's settings, and remove it.

use crate::commands::history::undo::total;
use crate::commands::setup::init_mcp;
use crate::commands::setup::pin::{self, Named};
use crate::commands::setup::planned::{Work, confirmed, here, project_here, show};
use crate::commands::setup::selection::{chosen, chosen_in_project, has_hook, unknown, wired_in_project};
use crate::commands::setup::status_facts::places;
use crate::commands::setup::verify_live;
use crate::exit_code;
use crate::terminal::confirm;
use crate::terminal::consent::may_weaken;
use crate::terminal::output::{complain, print};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::answers::record;
use reflex_host::doctor::silencing;
use reflex_host::git_hooks::Entries;
use reflex_host::older::{self, OlderGuard};
use reflex_host::person::no_agent_above;
use reflex_host::signing::InForce;
use reflex_host::state_folder::obstacle;
use reflex_host::{Change, Host, Mode, Wiring, settle};
use serde_json::json;

pub(in crate::commands) fn init(matches: &ArgMatches) -> u8 {
    change(matches, Work::PutIn)
}

pub(in crate::commands) fn uninstall(matches: &ArgMatches) -> u8 {
    if let Err(why) = no_agent_above() {
        complain(&format!("only a person can remove the guard: {why}"));
        return exit_code::FOUND;
    }
    let host = Host::new(Mode::default());
    let is_shown_only = matches.get_flag("dry-run");
    if !is_shown_only && !may_weaken(&host.store(), "uninstall") {
        complain(&format!("the hooks stay; {}", pin::FORGOTTEN));
        return exit_code::FOUND;
    }
    let with_hook = || Wiring::all().into_iter().chain(wired_in_project()).filter(has_hook).collect::<Vec<_>>();
    let was_installed = !with_hook().is_empty();
    let result = change(matches, Work::TakeOut);
    if is_shown_only || result != exit_code::OK || matches.get_flag("git") || matches.get_flag("mcp") {
        return result;
    }
    let standing = with_hook();
    for wiring in &standing {
        print(&format!("{}: {} still has the hook", wiring.agent(), visible(&wiring.file().display().to_string())));
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
    let _ = record(&host.store(), "uninstall", json!({}));
    what_stays(&host, matches)
}

/// Lists the files that remain once the hooks are removed; `--purge` deletes them.
fn what_stays(host: &Host, matches: &ArgMatches) -> u8 {
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
    if let Ok(program) = std::env::current_exe() {
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
        Err(problem) => {
            complain(&visible(&problem));
            exit_code::INTERNAL
        }
    }
}

/// Writes a settings file, after copying the program out of a cache folder that a package manager may clean.
pub(in crate::commands) fn put(wiring: &Wiring, change: &Change) -> Result<(), String> {
    if change.after.is_some()
        && let Some(copy) = settle()?
    {
        print(&format!(
            "copied this program to {}, because its own folder is a cache",
            visible(&copy.display().to_string())
        ));
    }
    wiring.write(change)
}

/// Adds or removes the hooks of Git.
fn of_git(matches: &ArgMatches, work: Work) -> Result<(), String> {
    let here = here()?;
    let entries = if matches.get_flag("global") { Entries::of_user(&here) } else { Entries::of_repository(&here) }?;
    if matches.get_flag("dry-run") {
        for (file, text) in entries.planned()? {
            print(&format!("{} {}:", work.verb(), visible(&file.display().to_string())));
            if work == Work::PutIn {
                print(text.trim_end());
            }
        }
        return Ok(());
    }
    if !matches.get_flag("yes") && !confirmed()? {
        print("not written");
        return Ok(());
    }
    let done = if work == Work::PutIn { entries.put_in() } else { entries.take_out() }?;
    for one in done {
        let other = one.other.map(|other| visible(&other.display().to_string()));
        let beside = match (work, other) {
            (_, None) => String::new(),
            (Work::PutIn, Some(other)) => format!("; it starts {other}, which was there before"),
            (Work::TakeOut, Some(_)) => "; the hook from before is back".to_owned(),
        };
        print(&format!("git: {} is {}{beside}", visible(&one.file.display().to_string()), one.how));
    }
    Ok(())
}

fn change(matches: &ArgMatches, work: Work) -> u8 {
    if matches.get_flag("git") {
        return match of_git(matches, work) {
            Ok(()) => exit_code::OK,
            Err(problem) => {
                complain(&problem);
                exit_code::FOUND
            }
        };
    }
    if matches.get_flag("mcp") {
        return init_mcp::change(matches, work);
    }
    // Runs first: once removed, the program can start no server.
    if work == Work::TakeOut
        && let Err(problem) = init_mcp::take_out(matches)
    {
        complain(&visible(&problem));
        return exit_code::FOUND;
    }
    let wirings = match selected(matches) {
        Ok(wirings) => wirings,
        Err(code) => return code,
    };
    if !matches.get_flag("dry-run") && names_another_key(&wirings) {
        return exit_code::FOUND;
    }
    let wirings = match work {
        Work::PutIn => match keyed(matches, wirings) {
            Ok(wirings) => wirings,
            Err(problem) => {
                complain(&visible(&problem));
                return exit_code::FOUND;
            }
        },
        Work::TakeOut => wirings,
    };
    let mut result = exit_code::OK;
    for wiring in &wirings {
        let done = match work {
            Work::PutIn if wiring.is_written_by_agent() => Ok(()),
            Work::PutIn => wanted(matches, wiring)
                .and_then(|change| apply(matches, wiring, (work, &change)))
                .and_then(|is_installed| if is_installed { trust(wiring) } else { Ok(()) })
                .and_then(|()| if matches.get_flag("replace") { without_older(matches, wiring) } else { Ok(()) }),
            Work::TakeOut => wiring.remove().and_then(|change| taken_out(matches, wiring, &change)),
        };
        if let Err(problem) = done {
            complain(&problem);
            result = exit_code::FOUND;
        }
    }
    if work == Work::PutIn && is_silenced(&wirings) {
        result = exit_code::FOUND;
    }
    let asks = work == Work::PutIn && !matches.get_flag("dry-run") && !matches.get_flag("yes");
    if asks && result == exit_code::OK {
        let wired: Vec<Wiring> = wirings.into_iter().filter(has_hook).collect();
        verify_live::offer(&wired);
        pin::offer();
    }
    result
}

/// Whether settings here keep an agent from running the hooks in these files; prints each of them.
fn is_silenced(wirings: &[Wiring]) -> bool {
    let troubles: Vec<_> = wirings.iter().flat_map(silencing).collect();
    troubles.iter().for_each(|trouble| complain(&visible(&format!("{}; fix: {}", trouble.what, trouble.fix))));
    !troubles.is_empty()
}

/// Returns the settings files that the arguments name.
fn selected(matches: &ArgMatches) -> Result<Vec<Wiring>, u8> {
    let asked = matches.get_one::<String>("agent").map(String::as_str);
    let wirings = match matches.get_one::<String>("scope").map(String::as_str) {
        Some("project") => {
            let here = project_here().map_err(|problem| {
                complain(&problem);
                exit_code::USAGE
            })?;
            let wirings = chosen_in_project(&here, asked);
            if wirings.is_empty() && !chosen(asked).is_empty() {
                complain("this project's settings are the settings of your home; `reflex init` writes them");
                return Err(exit_code::USAGE);
            }
            wirings
        }
        _ => chosen(asked),
    };
    if wirings.is_empty() { Err(unknown(asked)) } else { Ok(wirings) }
}

/// Before a diff is shown, prints warnings about the guard's home, and checks that the state folder is writable unless
/// this is a dry run.
fn ready(is_dry: bool) -> Result<(), String> {
    places().iter().for_each(|line| print(&visible(line)));
    let obstacle = if is_dry { None } else { obstacle(Host::new(Mode::default()).folders()) };
    obstacle.map_or(Ok(()), |trouble| Err(format!("{}; no file was changed. Remedy: {}", trouble.what, trouble.fix)))
}

/// Whether an entry names a key other than the one in force: otherwise `--home` with another home and a variable such
/// as `CLAUDE_CONFIG_DIR` could change it without its passphrase.
fn names_another_key(wirings: &[Wiring]) -> bool {
    let store = Host::new(Mode::default()).store();
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
fn keyed(matches: &ArgMatches, wirings: Vec<Wiring>) -> Result<Vec<Wiring>, String> {
    ready(matches.get_flag("dry-run"))?;
    if matches.get_flag("dry-run") {
        return Ok(wirings);
    }
    let loosens = matches.get_flag("replace") || wirings.iter().any(Wiring::starts_another_program);
    if loosens && !may_weaken(&Host::new(Mode::default()).store(), "init") {
        return Err("replacing a guard takes your passphrase; no file was changed".into());
    }
    let is_users = |wiring: &Wiring| wiring.project().is_none();
    if !wirings.iter().any(is_users) {
        return Ok(wirings);
    }
    let named = pin::again()?;
    let with = |wiring: Wiring| match named {
        Named::Again(key) if is_users(&wiring) => wiring.with_key(key),
        Named::AsItIs | Named::Again(_) => wiring,
    };
    Ok(wirings.into_iter().map(with).collect())
}

/// Returns the change that adds the hook, and replaces an older guard on request.
fn wanted(matches: &ArgMatches, wiring: &Wiring) -> Result<Change, String> {
    if matches.get_flag("repair") {
        return wiring.install_repaired();
    }
    if matches.get_flag("replace") {
        return wiring.install_in_place_of_older();
    }
    for OlderGuard { file, line } in wiring.older(&here()?) {
        let (file, line) = (visible(&file.display().to_string()), visible(&line));
        print(&format!("{}: `{line}` in {file} is a guard that came before; `--replace` takes it out", wiring.agent()));
    }
    wiring.install()
}

/// Removes the hooks of older guards from the agent's other files, including the project's.
fn without_older(matches: &ArgMatches, wiring: &Wiring) -> Result<(), String> {
    for (file, change) in wiring.without_older(&here()?)? {
        let shown = visible(&file.display().to_string());
        show(&shown, &change, 3, str::to_owned);
        if matches.get_flag("dry-run") {
            continue;
        }
        if !matches.get_flag("yes") && !confirmed()? {
            print("not written");
            continue;
        }
        older::take_out(&file, &change)?;
        let done = if change.after.is_some() { "written" } else { "removed" };
        print(&format!("{}: {shown} is {done}", wiring.agent()));
    }
    Ok(())
}

/// Removes the hook. A file that the agent wrote is mentioned only if it changes.
fn taken_out(matches: &ArgMatches, wiring: &Wiring, change: &Change) -> Result<(), String> {
    if wiring.is_written_by_agent() && change.before == change.after {
        return Ok(());
    }
    apply(matches, wiring, (Work::TakeOut, change)).map(drop)
}

/// Trusts the hook: some agents run a hook only once it is trusted.
fn trust(wiring: &Wiring) -> Result<(), String> {
    match wiring.trust() {
        None => Ok(()),
        Some(Ok(())) => {
            print(&format!("{}: trusts the hook", wiring.agent()));
            Ok(())
        }
        Some(Err(why)) => Err(format!(
            "{} does not run the hook yet: it is not trusted ({why}). Start {} and trust it there: /hooks",
            wiring.agent(),
            wiring.agent()
        )),
    }
}

/// Writes the change if it is wanted; returns whether it is in place now.
fn apply(matches: &ArgMatches, wiring: &Wiring, (work, change): (Work, &Change)) -> Result<bool, String> {
    let file = visible(&wiring.file().display().to_string());
    if change.before == change.after {
        print(&format!("{}: {file} {}", wiring.agent(), work.done()));
        return Ok(!matches.get_flag("dry-run"));
    }
    show(&file, change, 3, str::to_owned);
    if matches.get_flag("dry-run") {
        return Ok(false);
    }
    if !matches.get_flag("yes") && !confirmed()? {
        print("not written");
        return Ok(false);
    }
    put(wiring, change)?;
    let done = if change.after.is_some() { "written" } else { "removed" };
    print(&format!("{}: {file} is {done}", wiring.agent()));
    if work == Work::TakeOut {
        return Ok(true);
    }
    if change.after.is_some() && !wiring.afterwards().is_empty() {
        print(&format!("{}: {}", wiring.agent(), wiring.afterwards()));
    }
    if change.after.is_some() && wiring.project().is_some() {
        print(&format!(
            "{}: the file holds the path of reflex on this machine; where others get it too, calls stop until reflex is there (`reflex emit --binary PATH` prints it with another path)",
            wiring.agent()
        ));
    }
    Ok(true)
}
