//! Deferred effects of a written configuration file: what build servers, containers, editors, package managers or the
//! agent itself will run or trust. Derived from the file's name and content, without running anything.

pub(crate) mod commands;
pub(crate) mod later;
mod servers;
mod tasks;

use self::later::{DeferredExecution, USUAL_REGISTRIES, hidden_chars};
use crate::text::json::lenient_json;
use crate::text::{glob, yaml};
use reflex_shell::{ExecTarget, as_word, work};
use reflex_tables::views::Place;
use reflex_tables::{List, Tables};
use serde_json::Value as Json;

/// Maximum length of the content in bytes. Longer files are written by programs, not by agents.
const MAX_CONTENT: usize = crate::model::world::MAX_CONTENT;

/// Returns the deferred effects of the content, if the kind of file is known. For an edit, the content is only the
/// inserted text.
pub(crate) fn deferred(tables: Tables, path: &str, content: &str) -> Option<DeferredExecution> {
    let places = tables.library().places();
    let (class, read) = KINDS.iter().find(|(class, _)| belongs(places.get(class), path))?;
    let mut later = DeferredExecution::default();
    if content.len() <= MAX_CONTENT {
        read(content, &mut later);
    } else {
        work::cut(|| format!("what is written to {path} is larger than {} KiB", MAX_CONTENT / 1024));
    }
    if READ_BY_AGENTS.contains(class) {
        later.orders(tables, content);
        later.guard_commands(tables, content);
    }
    Some(later)
}

/// Classes of files that an agent reads as instructions.
const READ_BY_AGENTS: [&str; 2] = ["tool-servers", "agent-instructions"];

type Reader = fn(&str, &mut DeferredExecution);

/// Classes of `library/places` whose files are understood.
const KINDS: [(&str, Reader); 15] = [
    ("workflows", workflow),
    ("container-files", container_file),
    ("dev-containers", devcontainer),
    ("editor-tasks", editor_tasks),
    ("tool-servers", servers::read),
    ("package-sources", registry),
    ("cargo-settings", cargo_settings),
    ("recipes", recipes),
    ("agent-instructions", instructions),
    ("submodules", tasks::modules),
    ("compose-files", tasks::compose),
    ("build-sources", tasks::sources),
    ("editor-settings", tasks::editor_settings),
    ("agent-modes", tasks::modes),
    ("cluster-manifests", tasks::manifest),
];

fn belongs(class: List<'_, Place<'_>>, path: &str) -> bool {
    let fits = |pattern: &str| glob::fits(pattern, path, "");
    class.iter().any(|place| place.paths().iter().any(fits) && !place.except().iter().any(fits))
}

/// Triggers that run a workflow with the project's rights on content from outsiders.
const FOR_STRANGERS: [&str; 2] = ["pull_request_target", "workflow_run"];

/// Triggers that outsiders set off by writing something.
const BY_STRANGERS: [&str; 4] = ["issue_comment", "discussion_comment", "issues", "fork"];

/// Fields with text from outsiders. A `run` step that inserts one runs that text.
const STRANGERS_WORDS: [&str; 11] = [
    ".title",
    ".body",
    ".head_ref",
    ".head.ref",
    ".head.label",
    ".head.repo",
    ".message",
    ".name",
    ".email",
    ".label",
    ".default_branch",
];

/// Signs of code from an outsider: their branch, their commit, or a command that fetches it.
const STRANGERS_CODE: [&str; 6] = [
    "github.event.pull_request.head",
    "github.head_ref",
    "github.event.workflow_run.head_",
    "refs/pull/",
    "gh pr checkout",
    "origin pull/",
];

fn workflow(content: &str, later: &mut DeferredExecution) {
    let (mut bounded, mut trigger, mut takes_code, mut acts) = (false, None, false, false);
    let (mut scripts, mut secrets) = (Vec::new(), Vec::new());
    for (keys, value) in yaml::entries(content) {
        let key = keys.last().map_or("", String::as_str);
        let first = keys.first().map_or("", String::as_str);
        let named = |trigger: &&str| {
            let words = value.split(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_'));
            keys.get(1).is_some_and(|key| key == *trigger)
                || (keys.len() == 1 && words.clone().any(|word| word == &**trigger))
        };
        if first == "on" {
            trigger = trigger.or(FOR_STRANGERS.iter().find(|trigger| named(trigger)));
            if let Some(trigger) = BY_STRANGERS.iter().find(|trigger| named(trigger)) {
                later.set(&["workflow", "by-strangers"], *trigger);
            }
        }
        // A workflow that limits its permissions takes outsiders into account.
        bounded |= keys.iter().any(|key| key == "permissions") && value != "write-all";
        if value.contains("toJSON(secrets)") || value.contains("toJson(secrets)") {
            later.set(&["workflow", "every-secret"], "toJSON(secrets)");
        }
        if key == "permissions" && value == "write-all" {
            later.set(&["workflow", "all-rights"], "write-all");
        }
        acts |= key == "run" || (key == "uses" && value.contains("/checkout@"));
        takes_code |= matches!(key, "run" | "ref" | "repository" | "with")
            && STRANGERS_CODE.iter().any(|code| value.contains(code));
        if key == "run" && !value.is_empty() {
            if let Some(pasted) = pasted_words(&value) {
                later.set(&["workflow", "pasted"], pasted);
            }
            scripts.push(value);
        } else if key == "shell" && value.contains(' ') {
            // A template that starts each step's script, whose path is `{0}`.
            scripts.push(value);
        } else if key == "script" {
            // Code of actions/github-script.
            if let Some(pasted) = pasted_words(&value) {
                later.set(&["workflow", "pasted"], pasted);
            }
        } else if keys.iter().any(|key| key == "env") && value.contains("secrets.") {
            secrets.push((key.to_owned(), value));
        }
    }
    // Such a trigger gives the project's rights. The project's own code may run with them, which has a flag of its own.
    if let Some(trigger) = trigger.filter(|_| takes_code || acts) {
        later.set(&["workflow", if takes_code { "for-strangers" } else { "with-secrets" }], *trigger);
    }
    for script in scripts {
        later.run(with_variables(&script, &secrets), ExecTarget::Remote);
    }
    if bounded {
        later.settings.retain(|(flags, _)| !flags.contains(&"by-strangers"));
    }
}

/// Returns a script with secrets written as shell variables: `${{ secrets.A }}`, and the variables to which `env`
/// assigns one.
fn with_variables(script: &str, variables: &[(String, String)]) -> String {
    let secret_in = |text: &str| {
        let after = text.split("secrets.").nth(1)?;
        let end = after.find(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_')).unwrap_or(after.len());
        after.get(..end).map(str::to_owned)
    };
    let mut text = String::new();
    for (name, value) in variables.iter().filter(|(name, _)| script.contains(name.as_str())) {
        if let Some(secret) = secret_in(value).filter(|secret| secret != name) {
            text.push_str(&format!("{name}=\"${{{secret}}}\"\n"));
        }
    }
    let mut rest = script;
    while let Some((before, (inside, after))) =
        rest.split_once("${{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        text.push_str(before);
        match secret_in(inside) {
            Some(secret) => text.push_str(&format!("${{{secret}}}")),
            None => text.push_str(&format!("${{{{{inside}}}}}")),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Returns the first `${{ … }}` context with text from outsiders.
fn pasted_words(script: &str) -> Option<String> {
    let expressions = script.split("${{").skip(1).filter_map(|after| after.split("}}").next());
    expressions.flat_map(contexts).find(|context| {
        let of_event = context.starts_with("github.event.") || context == "github.head_ref";
        of_event && STRANGERS_WORDS.iter().any(|word| context.ends_with(word))
    })
}

/// Returns the contexts that an expression names, with every index as a property: `github['event'].issue` is
/// `github.event.issue`.
fn contexts(expression: &str) -> Vec<String> {
    let properties: Vec<&str> = expression.split('[').map(str::trim_start).collect();
    let plain = properties.join(".").replace(['\'', '"', ']'], "");
    let is_name = |ch: char| ch.is_ascii_alphanumeric() || "._-*".contains(ch);
    plain.split(|ch: char| !is_name(ch)).map(str::to_ascii_lowercase).collect()
}

fn container_file(content: &str, later: &mut DeferredExecution) {
    let joined = content.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        let (word, rest) = line.trim_start().split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim_start();
        if word.eq_ignore_ascii_case("run") && !rest.starts_with('[') {
            let mut words = rest;
            while let Some((option, after)) = words.split_once(' ').filter(|(option, _)| option.starts_with("--")) {
                let _ = option;
                words = after.trim_start();
            }
            later.run(words, ExecTarget::Container);
        }
    }
}

fn devcontainer(content: &str, later: &mut DeferredExecution) {
    let Some(json) = lenient_json(content) else { return };
    const INSIDE: [&str; 5] =
        ["onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand", "postAttachCommand"];
    for name in INSIDE {
        commands(json.get(name)).into_iter().for_each(|text| later.run(text, ExecTarget::Container));
    }
    // This one runs on the machine itself, before the container exists.
    commands(json.get("initializeCommand")).into_iter().for_each(|text| later.run_all(text, ExecTarget::Here));
    let listed = |name: &str| json.get(name).and_then(Json::as_array).into_iter().flatten();
    for argument in listed("runArgs").filter_map(Json::as_str) {
        if ["--privileged", "--pid=host", "--network=host", "--userns=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN"]
            .contains(&argument)
        {
            later.set(&["container", "opened"], argument);
        }
    }
    if json.get("privileged").and_then(Json::as_bool) == Some(true) {
        later.set(&["container", "opened"], "privileged");
    }
    for mount in listed("mounts") {
        servers::mount(mount, later);
    }
}

/// Returns the command lines of a value: a text, a list of words, or several of them by name.
fn commands(json: Option<&Json>) -> Vec<String> {
    match json {
        Some(Json::String(text)) => vec![text.clone()],
        Some(Json::Array(words)) => {
            vec![words.iter().filter_map(Json::as_str).map(as_word).collect::<Vec<_>>().join(" ")]
        }
        Some(Json::Object(several)) => several.values().flat_map(|one| commands(Some(one))).collect(),
        Some(Json::Null | Json::Bool(_) | Json::Number(_)) | None => Vec::new(),
    }
}

fn editor_tasks(content: &str, later: &mut DeferredExecution) {
    let Some(json) = lenient_json(content) else { return };
    for task in json.get("tasks").and_then(Json::as_array).into_iter().flatten() {
        let command = task.get("command").and_then(Json::as_str).unwrap_or("");
        if task.pointer("/runOptions/runOn").and_then(Json::as_str) == Some("folderOpen") {
            later.set(&["editor", "on-open"], command);
        }
        let words = task.get("args").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let line: Vec<String> = [command.to_owned()].into_iter().chain(words.map(as_word)).collect();
        later.run_all(line.join(" "), ExecTarget::Here);
    }
}

/// Reads the sources of packages: `registry=`, `index-url =`, `--extra-index-url`.
fn registry(content: &str, later: &mut DeferredExecution) {
    const NAMES: [&str; 8] = [
        "registry",
        "npmregistryserver",
        "index-url",
        "extra-index-url",
        "find-links",
        "trusted-host",
        "index_url",
        "default-index",
    ];
    for line in content.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        let Some((name, value)) = line.split_once(['=', ' ', ':']) else { continue };
        let plain = name.trim_start_matches('-').trim_matches('"').to_ascii_lowercase();
        // Yarn runs the file at this path instead of itself.
        let outside = plain == "yarnpath"
            && value.trim().trim_matches(['"', '\'']).starts_with(['/', '~', '.'])
            && !value.contains(".yarn/");
        if outside || (plain == "spec" && value.contains("://")) {
            later.set(&["registry"], value.trim().trim_matches(['"', '\'']));
        }
        let is_registry = NAMES.contains(&plain.rsplit(':').next().unwrap_or(&plain)) || value.starts_with("registry=");
        let value = value.trim_start_matches("registry=").trim_matches(|ch: char| " \t=:\"'".contains(ch));
        let host = value.split("://").last().unwrap_or(value).split(['/', ':']).next().unwrap_or("");
        if is_registry && host.contains('.') && !USUAL_REGISTRIES.contains(&host) {
            later.set(&["registry"], value);
        }
    }
}

/// Reads the programs that cargo starts in place of its own.
fn cargo_settings(content: &str, later: &mut DeferredExecution) {
    const PROGRAMS: [&str; 5] = ["runner", "rustc-wrapper", "rustc-workspace-wrapper", "rustc", "credential-provider"];
    for line in content.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim().rsplit('.').next().unwrap_or("");
        let value = value.trim().trim_matches(['"', '\'']);
        if PROGRAMS.contains(&name) && !value.ends_with("sccache") {
            later.set(&["cargo", "program"], value);
            later.run_all(value, ExecTarget::Here);
        }
        if name == "replace-with" {
            later.set(&["registry"], value);
        }
    }
}

fn recipes(content: &str, later: &mut DeferredExecution) {
    let lines = content.lines().filter(|line| line.starts_with(['\t', ' ']) || line.contains("$(shell "));
    let lines = lines.map(|line| line.trim().trim_start_matches(['@', '-', '+']));
    let text = lines.collect::<Vec<_>>().join("\n").replace("$(HOME)", "${HOME}").replace("$(CURDIR)", "${PWD}");
    later.run(text.replace("$$", "$").replace("$(shell ", "$("), ExecTarget::Here);
}

/// Reads instructions for an agent. Characters invisible to a person, or mistaken for others, are meant for the agent
/// alone.
fn instructions(content: &str, later: &mut DeferredExecution) {
    if let Some(hidden) = hidden_chars(content) {
        later.set(&["hidden-letters"], hidden);
    }
    // An edit may consist of header lines only.
    let part = || yaml::document(content).filter(Json::is_object).map(|_| content);
    if let Some(front) = yaml::front_matter(content).or_else(part) {
        front_matter(front, later);
    }
}

/// Reads the header of an agent, skill or command file. Keys: code.claude.com/docs/en/sub-agents.
fn front_matter(front: &str, later: &mut DeferredExecution) {
    let is_open = |rule: &str| rule.contains('*') && rule.trim_matches(['*', ':', ')']).is_empty();
    for (keys, value) in yaml::entries(front) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        match keys.as_slice() {
            ["permissionMode"] if tasks::MODES.iter().any(|mode| value.eq_ignore_ascii_case(mode)) => {
                later.set(&["agent-mode", "asks-nobody"], value);
            }
            ["allowed-tools"] => {
                let every = value.split([',', ' ']).find(|tool| is_open(tool.trim_start_matches("Bash(")));
                every.into_iter().for_each(|tool| later.set(&["agent-mode", "allows-all"], tool));
            }
            ["hooks", .., "command"] => later.run_all(value, ExecTarget::Here),
            _ => {}
        }
    }
    let servers = yaml::document(front).and_then(|front| front.get("mcpServers").cloned());
    for server in servers.as_ref().and_then(Json::as_array).into_iter().flatten().chain(&servers) {
        servers::read(&serde_json::json!({ "mcpServers": server }).to_string(), later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(class: &str, content: &str, scripts: &[&str], settings: &[&str]) {
        let (_, read) = KINDS.iter().find(|(known, _)| *known == class).unwrap();
        let mut later = DeferredExecution::default();
        read(content, &mut later);
        let found: Vec<&str> = later.scripts.iter().map(|script| script.text.as_str()).collect();
        let set: Vec<String> =
            later.settings.iter().map(|(flags, value)| format!("{} {value}", flags.join(" "))).collect();
        assert_eq!(
            (found.as_slice(), set.as_slice()),
            (scripts, settings.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>().as_slice())
        );
    }

    #[test]
    fn what_a_workflow_runs_and_for_whom() {
        let text = "on:\n  pull_request_target:\n    types: [opened]\njobs:\n  a:\n    steps:\n      - uses: x/y@v1\n      - name: b\n        run: |\n          make\n          make test\n      - run: echo \"${{ github.event.issue.title }}\"\n";
        let expected = ["workflow pasted github.event.issue.title", "workflow with-secrets pull_request_target"];
        check("workflows", text, &["make\nmake test", "echo \"${{ github.event.issue.title }}\""], &expected);
        let checkout = "on: [push, workflow_run]\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.workflow_run.head_sha }}\n";
        check("workflows", checkout, &[], &["workflow for-strangers workflow_run"]);
        let inline =
            checkout.replace("with:\n          ref: ", "with: {ref: '").replace("head_sha }}", "head_sha }}'}");
        check("workflows", &inline, &[], &["workflow for-strangers workflow_run"]);
        let indexed = "jobs:\n  a:\n    steps:\n      - run: echo ${{ github['event'].issue['title'] || 'none' }}\n";
        let expected = ["workflow pasted github.event.issue.title"];
        check("workflows", indexed, &["echo ${{ github['event'].issue['title'] || 'none' }}"], &expected);
        let shell = "defaults:\n  run: {shell: 'bash -c \"make; bash {0}\"'}\n";
        check("workflows", shell, &["bash -c \"make; bash {0}\""], &[]);
        let json = r#"{"on": {"pull_request_target": {}}, "jobs": {"a": {"steps": [{"run": "make"}]}}}"#;
        check("workflows", json, &["make"], &["workflow with-secrets pull_request_target"]);
        let named =
            "x: &run {run: \"m\\x61ke\"}\n? on\n: !!seq [\"pull_request_target\"]\njobs:\n  a: {steps: [*run]}\n";
        check("workflows", named, &["make", "make"], &["workflow with-secrets pull_request_target"]);
        check("workflows", "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: x/labeler@v5\n", &[], &[]);
        check("workflows", "on: [push, pull_request]\njobs: {}\n", &[], &[]);
    }

    #[test]
    fn what_a_container_file_runs() {
        check("container-files", "FROM x\nRUN --mount=type=cache a && \\\n  b\nCMD [\"c\"]\n", &["a &&    b"], &[]);
    }

    #[test]
    fn where_packages_come_from() {
        check(
            "package-sources",
            "registry=https://npm.x.example/\nsave-exact=true\n",
            &[],
            &["registry https://npm.x.example/"],
        );
        check(
            "package-sources",
            "@a:registry=https://npm.x.example\nregistry=https://registry.npmjs.org/\n",
            &[],
            &["registry https://npm.x.example"],
        );
        check(
            "package-sources",
            "--extra-index-url https://x.example/simple\nrequests==2.0\n",
            &[],
            &["registry https://x.example/simple"],
        );
    }

    #[test]
    fn what_an_editor_and_a_container_run() {
        let tasks = r#"{"tasks": [{"command": "make", "args": ["a b"], "runOptions": {"runOn": "folderOpen"}}]}"#;
        check("editor-tasks", tasks, &["make 'a b'"], &["editor on-open make"]);
        let container = "{ // x\n \"initializeCommand\": [\"a\", \"b c\"], \"runArgs\": [\"--privileged\"], \"mounts\": [\"source=${localEnv:HOME}/.ssh,target=/x,type=bind\"],\n}";
        check(
            "dev-containers",
            container,
            &["a 'b c'"],
            &["container opened --privileged", "container mount ${localEnv:HOME}/.ssh"],
        );
    }

    #[test]
    fn headers_of_agent_files() {
        let block = "---\nname: a\npermissionMode: bypassPermissions\nhooks:\n  Stop:\n    - hooks:\n        - command: make a\n---\nText\n";
        check("agent-instructions", block, &["make a"], &["agent-mode asks-nobody bypassPermissions"]);
        let flow = "---\n{\"permissionMode\": bypassPermissions, hooks: {Stop: [{hooks: [{command: make a}]}]}}\n---\n";
        check("agent-instructions", flow, &["make a"], &["agent-mode asks-nobody bypassPermissions"]);
        let edit = "permissionMode: &a bypassPermissions\n";
        check("agent-instructions", edit, &[], &["agent-mode asks-nobody bypassPermissions"]);
        let server = "---\nmcpServers: [{a: {command: sh, args: [-c, make]}}]\n---\n";
        check("agent-instructions", server, &["sh -c make"], &["tool-server program sh -c make"]);
        check(
            "agent-instructions",
            "---\nallowed-tools: Read, Bash(*)\n---\n",
            &[],
            &["agent-mode allows-all Bash(*)"],
        );
        check("agent-instructions", "---\nallowed-tools: Bash(git status:*)\n---\npermissionMode: yolo\n", &[], &[]);
    }

    #[test]
    fn invisible_characters() {
        assert_eq!(hidden_chars("a\u{200b}b").as_deref(), Some("U+200B"));
        assert!(hidden_chars("Typ\u{435}Script").is_some());
        assert_eq!(hidden_chars("\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442} world, \u{3b1} = 2"), None);
    }
}
