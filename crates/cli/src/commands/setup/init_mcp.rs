//! `reflex init --mcp` and `reflex uninstall --mcp`: add `reflex mcp` in front of the clients' servers, and remove it.

use crate::commands::setup::own_program;
use crate::commands::setup::pin::may_remove;
use crate::commands::setup::planned::{Consent, Planned, Target, Work, consent, here, no_terminal, project_here};
use crate::error::Error;
use crate::exit_code;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_agents::settings::{MCP_CLIENTS, Reach};
use reflex_host::mcp_servers::ServerList;
use reflex_host::{Context, WiringError};

pub(in crate::commands) fn change(context: &Context, matches: &ArgMatches, work: Work) -> u8 {
    let lists = match lists(context, matches) {
        Ok(lists) => lists,
        Err(problem) => return problem.report(),
    };
    let with_servers: Vec<&ServerList> = lists.iter().filter(|list| !names(list, |_| true).is_empty()).collect();
    if with_servers.is_empty() && lists.iter().all(|list| list.servers().is_ok()) {
        let files = lists.iter().map(|list| visible(&list.file().display().to_string())).collect::<Vec<_>>();
        print(&format!("no MCP server is named in {}", files.join(", ")));
        return exit_code::OK;
    }
    let (plan, mut result) = planned(&lists, work);
    let consent = consent(context, matches, &plan);
    // The program may also be missing, or of an older version, where no list changes.
    let is_named = consent == Consent::Given || plan.is_empty() && !matches.get_flag("dry-run");
    if work == Work::PutIn
        && is_named
        && let Err(problem) = own_program::settle(context)
    {
        return problem.report();
    }
    match consent {
        Consent::Declined => return result,
        Consent::NoTerminal => {
            no_terminal();
            return exit_code::FOUND;
        }
        Consent::Given => {}
    }
    if work == Work::TakeOut && !may_remove(&context.store()) {
        return exit_code::FOUND;
    }
    for one in &plan {
        if let Err(problem) = one.write(context) {
            result = result.max(problem.report());
        }
    }
    result
}

/// Returns the lists that name the proxy.
pub(in crate::commands) fn guarded(context: &Context, matches: &ArgMatches) -> Vec<ServerList> {
    let mut lists = lists(context, matches).unwrap_or_default();
    lists.retain(|list| !names(list, |reach| matches!(reach, Reach::Guarded(_))).is_empty());
    lists
}

/// Plans the changes, and reports the lists that need none or cannot be read; with the exit code for these.
pub(in crate::commands) fn planned(lists: &[ServerList], work: Work) -> (Vec<Planned<'_>>, u8) {
    let (mut plan, mut result) = (Vec::new(), exit_code::OK);
    for list in lists {
        match one(list, work) {
            Ok(planned) => plan.extend(planned),
            Err(problem) => result = result.max(Error::from(problem).report()),
        }
    }
    (plan, result)
}

/// Returns the servers that start without the proxy, by client, for `doctor`.
pub(in crate::commands) fn bypassing(context: &Context) -> Vec<String> {
    let here = here().unwrap_or_else(|_| "/".into());
    let lists =
        ServerList::all(context.folders()).into_iter().chain(ServerList::of_project_around(context.folders(), &here));
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

fn lists(context: &Context, matches: &ArgMatches) -> Result<Vec<ServerList>, Error> {
    let asked = matches.get_one::<String>("agent").map(String::as_str);
    let is_known = |name: &str| MCP_CLIENTS.iter().any(|client| client.name == name);
    if let Some(name) = asked.filter(|name| matches.get_flag("mcp") && !is_known(name)) {
        let known = MCP_CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ");
        return Err(Error::McpClient { name: name.to_owned(), known });
    }
    let of_project = matches.get_one::<String>("scope").is_some_and(|scope| scope == "project");
    let all = if of_project {
        ServerList::of_project_around(context.folders(), &project_here(context)?)
    } else {
        ServerList::all(context.folders())
    };
    Ok(all.into_iter().filter(|list| asked.is_none_or(|name| list.client().name == name)).collect())
}

fn one(list: &ServerList, work: Work) -> Result<Option<Planned<'_>>, WiringError> {
    let change = if work == Work::PutIn { list.guarded() } else { list.unguarded() }?;
    if work == Work::PutIn {
        left_out(list);
    }
    if change.before == change.after {
        if !names(list, |reach| matches!(reach, Reach::Direct | Reach::Guarded(_))).is_empty() {
            let done = if work == Work::PutIn { "is up to date" } else { "names no `reflex mcp`" };
            let file = visible(&list.file().display().to_string());
            print(&format!("{}: {file} {done}", list.client().title));
        }
        return Ok(None);
    }
    let (count, becomes) = match work {
        Work::PutIn => (names(list, |reach| *reach == Reach::Direct).len(), "guarded"),
        Work::TakeOut => (names(list, |reach| matches!(reach, Reach::Guarded(_))).len(), "direct again"),
    };
    let servers = if count == 1 { "server" } else { "servers" };
    let what = format!("{count} {servers} {becomes}");
    Ok(Some(Planned { target: Target::Servers(list), change, what }))
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
