//! `reflex init --mcp` and `reflex uninstall --mcp`: add `reflex mcp` in front of the clients' servers, and remove it.

use crate::commands::setup::planned::{Work, confirmed, here, project_here, show};
use crate::exit_code;
use crate::terminal::output::{complain, print};
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::settings::{MCP_CLIENTS, Reach};
use reflex_host::mcp_servers::{ServerList, masked};
use reflex_host::settle;

pub(in crate::commands) fn change(matches: &ArgMatches, work: Work) -> u8 {
    let lists = match lists(matches) {
        Ok(lists) => lists,
        Err(problem) => {
            complain(&visible(&problem));
            return exit_code::USAGE;
        }
    };
    let with_servers: Vec<&ServerList> = lists.iter().filter(|list| !names(list, |_| true).is_empty()).collect();
    if with_servers.is_empty() && lists.iter().all(|list| list.servers().is_ok()) {
        let files = lists.iter().map(|list| visible(&list.file().display().to_string())).collect::<Vec<_>>();
        print(&format!("no MCP server is named in {}", files.join(", ")));
        return exit_code::OK;
    }
    let mut result = exit_code::OK;
    for list in &lists {
        if let Err(problem) = one(matches, list, work) {
            complain(&visible(&problem));
            result = exit_code::FOUND;
        }
    }
    result
}

/// Removes the proxy from the files that name it; other files are not mentioned.
pub(in crate::commands) fn take_out(matches: &ArgMatches) -> Result<(), String> {
    let is_guarded = |list: &ServerList| !names(list, |reach| matches!(reach, Reach::Guarded(_))).is_empty();
    let lists = lists(matches).unwrap_or_default();
    lists.iter().filter(|list| is_guarded(list)).try_for_each(|list| one(matches, list, Work::TakeOut))
}

/// Returns the servers that start without the proxy, by client, for `doctor`.
pub(in crate::commands) fn bypassing() -> Vec<String> {
    let here = here().unwrap_or_else(|_| "/".into());
    let lists = ServerList::all().into_iter().chain(ServerList::of_project_around(&here));
    let describe = |list: ServerList| {
        let names = names(&list, |reach| *reach == Reach::Direct);
        let scope = if list.is_of_project() { " --scope project" } else { "" };
        let client = list.client();
        let judged = if client.has_hooks { "only hooks judge their calls" } else { "their calls are not judged" };
        (!names.is_empty()).then(|| {
            format!(
                "{} starts MCP servers directly, so {judged}: {}; `reflex init --mcp --agent {}{scope}` guards them",
                client.title,
                names.join(", "),
                client.name
            )
        })
    };
    lists.filter_map(describe).collect()
}

/// Returns the names of the servers with a matching reach, each once.
fn names(list: &ServerList, wanted: impl Fn(&Reach) -> bool) -> Vec<String> {
    let servers = list.servers().unwrap_or_default().into_iter();
    let mut names: Vec<String> = servers.filter(|(_, reach)| wanted(reach)).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    names
}

fn lists(matches: &ArgMatches) -> Result<Vec<ServerList>, String> {
    let asked = matches.get_one::<String>("agent").map(String::as_str);
    let is_known = |name: &str| MCP_CLIENTS.iter().any(|client| client.name == name);
    if let Some(name) = asked.filter(|name| matches.get_flag("mcp") && !is_known(name)) {
        let known = MCP_CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ");
        return Err(format!("the MCP servers of `{name}` are not known; known clients: {known}"));
    }
    let of_project = matches.get_one::<String>("scope").is_some_and(|scope| scope == "project");
    let all = if of_project { ServerList::of_project_around(&project_here()?) } else { ServerList::all() };
    Ok(all.into_iter().filter(|list| asked.is_none_or(|name| list.client().name == name)).collect())
}

fn one(matches: &ArgMatches, list: &ServerList, work: Work) -> Result<(), String> {
    let (title, file) = (list.client().title, visible(&list.file().display().to_string()));
    let change = if work == Work::PutIn { list.guarded() } else { list.unguarded() }?;
    if work == Work::PutIn {
        left_out(list);
    }
    if change.before == change.after {
        if !names(list, |reach| matches!(reach, Reach::Direct | Reach::Guarded(_))).is_empty() {
            let done = if work == Work::PutIn { "is up to date" } else { "names no `reflex mcp`" };
            print(&format!("{title}: {file} {done}"));
        }
        return Ok(());
    }
    // Context lines could contain the environment of servers.
    show(&file, &change, 0, masked);
    if matches.get_flag("dry-run") {
        return Ok(());
    }
    if !matches.get_flag("yes") && !confirmed()? {
        print("not written");
        return Ok(());
    }
    if work == Work::PutIn {
        settle()?;
    }
    list.write(&change)?;
    print(&format!("{title}: {file} is written; start {title} again"));
    Ok(())
}

/// Names the servers that stay unchanged, and the reason.
fn left_out(list: &ServerList) {
    let title = list.client().title;
    let remote = names(list, |reach| *reach == Reach::Remote);
    if !remote.is_empty() {
        print(&format!("{title}: reached over HTTP, so not through `reflex mcp`: {}", visible(&remote.join(", "))));
    }
    let unreadable = names(list, |reach| *reach == Reach::Unreadable);
    if !unreadable.is_empty() {
        print(&format!(
            "{title}: left as they are, because `command` or `args` are not strings: {}",
            visible(&unreadable.join(", "))
        ));
    }
}
