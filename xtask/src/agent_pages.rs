//! The manual's page about agents, generated from their tables: the responses they accept and when, the calls they
//! never report, and the files with the hook.

use reflex_agents::{AGENTS, Agent, Ask, Extent, HookCapabilities, Limit, Line, Settings, Surface};
use reflex_engine::Moment;

const HEAD: &str = "<!-- Written by `cargo xtask docs`; do not edit. -->\n# The agents\n\n\
    What Reflex can say to each agent, by moment, word, permission mode and version: the first line that fits holds, and\n\
    where none fits nothing is shown. What a verdict wants and an agent does not take is said more strictly: a question\n\
    becomes a refusal that says how a person allows the call, a call in place of another becomes a refusal that names it.\n\
    Each line names the case with the real client that showed it, or the document that states it; the cases are in\n\
    `crates/agents/tests/fixtures/proven.txt`, and `cargo xtask clients` plays the clients again.\n\n\
    `enforcement` is what `reflex status` calls it: *native* where a refusal holds and what can do harm comes to a hook\n\
    first, *partial* where some of that comes to none or no client was ever driven, *post-hoc-only* where nothing can be\n\
    refused.\n";

/// Renders the page.
pub(crate) fn page() -> String {
    let agents = || AGENTS.iter().filter_map(|agent| Some((agent, agent.settings?)));
    let mut page = HEAD.to_owned();
    page.push_str("\n| agent | enforcement | proof | never seen |\n|---|---|---|---|\n");
    agents().for_each(|(agent, _)| page.push_str(&overview(agent)));
    for (agent, settings) in agents() {
        page.push_str(&format!("\n## {}\n\n`--agent {}`", agent.title, agent.name));
        let aliases: Vec<String> = agent.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        page.push_str(&format!(", also {}.\n", aliases.join(", ")));
        page.push_str("\n| moment | words | modes | versions | refuse | ask | warn | other call | proof |\n");
        page.push_str("|---|---|---|---|---|---|---|---|---|\n");
        agent.says.iter().for_each(|line| page.push_str(&row(line)));
        page.push_str("\n| what is not seen | where | what helps |\n|---|---|---|\n");
        agent.limits.iter().for_each(|limit| page.push_str(&limit_row(limit)));
        page.push_str(&files(settings));
    }
    page
}

fn overview(agent: &Agent) -> String {
    let hidden = Surface::ALL.into_iter().filter(|surface| {
        agent.limits.iter().any(|limit| matches!(limit.extent, Extent::All(surfaces) if surfaces.contains(surface)))
    });
    let hidden: Vec<&str> = hidden.map(Surface::name).collect();
    let proof = if agent.was_driven() { "the real client" } else { "its documents" };
    format!("| {} | {} | {proof} | {} |\n", agent.title, agent.enforcement().name(), hidden.join(", "))
}

fn row(line: &Line) -> String {
    let list = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        if quoted.is_empty() { "all".to_owned() } else { quoted.join(", ") }
    };
    let versions = if line.before.is_empty() { "all".to_owned() } else { format!("before {}", line.before) };
    let HookCapabilities { deny, ask, advise, rewrite } = line.can;
    let mark = |can: bool| if can { "yes" } else { "" };
    let ask = match ask {
        Ask::Native => "yes",
        Ask::Never => "",
    };
    format!(
        "| {} | {} | {} | {versions} | {} | {ask} | {} | {} | {} |\n",
        moment(line.moment),
        list(line.words),
        list(line.modes),
        mark(deny),
        mark(advise),
        mark(rewrite),
        line.proof
    )
}

fn limit_row(limit: &Limit) -> String {
    let names = |surfaces: &[Surface]| surfaces.iter().map(|surface| surface.name()).collect::<Vec<_>>().join(", ");
    let place = match limit.extent {
        Extent::All(surfaces) => format!("all of: {}", names(surfaces)),
        Extent::Some(surfaces) => format!("some of: {}", names(surfaces)),
        Extent::IfSwitched => "everything, if switched so".into(),
        Extent::Beyond => "a remark".into(),
    };
    format!("| {} | {place} | {} |\n", limit.what, limit.instead)
}

fn files(settings: &Settings) -> String {
    let user = settings.files.iter().filter(|file| !file.by_agent);
    let user = user.map(|file| format!("`~/{}/{}`", file.folder, file.name)).collect::<Vec<_>>().join(", ");
    let project: Vec<String> = settings.project.iter().map(|file| format!("`{}/{}`", file.folder, file.name)).collect();
    let mut text = format!("\nThe hook is in {user}; for one project in {}", project.join(" or "));
    if let Some(managed) = settings.managed {
        text.push_str(&format!("; for everybody in `{}`", managed.file));
        if !managed.on_macos.is_empty() {
            text.push_str(&format!(" (on macOS `{}`)", managed.on_macos));
        }
        text.push_str(&format!(": {}", managed.note));
    }
    text.push_str(".\n");
    if !settings.project_needs.is_empty() {
        text.push_str(&format!("{}.\n", settings.project_needs));
    }
    text
}

fn moment(moment: Moment) -> &'static str {
    match moment {
        Moment::BeforeTool => "before a tool",
        Moment::AfterTool => "after a tool",
        Moment::PermissionRequest => "permission request",
        Moment::Prompt => "prompt",
        Moment::SessionStart => "session start",
        Moment::SessionEnd => "session end",
        Moment::Stop => "stop",
        Moment::Subagent => "subagent",
        Moment::SettingsChange => "settings change",
        Moment::Other => "other",
    }
}
