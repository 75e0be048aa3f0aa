//! `reflex emit`: writes every agent's own files with the guard's hook in them, for deployment by a person or a fleet.

use crate::commands::setup::selection;
use crate::error::Error;
use crate::exit_code;
use crate::terminal::output::{complain, print};
use clap::ArgMatches;
use reflex_agents::{AGENTS, Agent, HookCommand, Settings, SettingsFile};
use reflex_host::git_hooks;
use reflex_host::options_with_mode;
use reflex_host::person::no_agent_above;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A file as it would be installed on a machine.
struct Emitted {
    agent: &'static str,
    title: &'static str,
    scope: &'static str,
    /// Path below the home folder, below the project, or from the root, depending on the scope.
    path: String,
    text: String,
    note: String,
    is_executable: bool,
}

/// The `--agent` of the hook that judges commits of every agent and person.
const GIT: &str = "git";

pub(in crate::commands) fn run(matches: &ArgMatches) -> u8 {
    let wanted = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let agents: Vec<&Agent> = match wanted("agent") {
        None => AGENTS.iter().collect(),
        Some(name) => reflex_agents::find(name).into_iter().collect(),
    };
    let agents: Vec<(&Agent, &Settings)> =
        agents.into_iter().filter_map(|agent| Some((agent, agent.settings?))).collect();
    let with_git = wanted("agent").is_none_or(|name| name == GIT);
    if agents.is_empty() && !with_git {
        return selection::unknown(wanted("agent"));
    }
    let binary = match binary(wanted("binary")) {
        Ok(binary) => binary,
        Err(error) => return error.report(),
    };
    let scope = wanted("scope");
    let files: Vec<Emitted> = agents
        .iter()
        .flat_map(|(agent, settings)| files(agent, settings, &binary))
        .chain(with_git.then(|| committed_hook(&binary)))
        .filter(|file| scope.is_none_or(|scope| scope == file.scope))
        .collect();
    let banners: Vec<String> = agents.iter().map(|(agent, _)| agent.banner()).filter(|text| !text.is_empty()).collect();
    match wanted("out") {
        Some(folder) => written(Path::new(folder), scope.is_some(), &files, &banners),
        None if matches.get_flag("json") => {
            print(&as_json(&files, &agents).to_string());
            exit_code::OK
        }
        None => {
            shown(&files, &banners);
            exit_code::OK
        }
    }
}

/// Returns the absolute path of the binary. The agent could influence the lookup of a bare name on its `PATH`.
fn binary(named: Option<&str>) -> Result<String, Error> {
    match named {
        Some(path) if path.starts_with('/') => Ok(path.to_owned()),
        Some(path) => Err(Error::NotAbsolute(path.to_owned())),
        None => std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).map_err(Error::OwnPath),
    }
}

fn files(agent: &'static Agent, settings: &'static Settings, binary: &str) -> Vec<Emitted> {
    let text = |form: &SettingsFile| {
        let mut text = (form.install)("", HookCommand::shared(binary)).unwrap_or_default();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    };
    let of = |scope, form: &SettingsFile, note: &str| Emitted {
        agent: agent.name,
        title: agent.title,
        scope,
        path: format!("{}/{}", form.folder, form.name),
        text: text(form),
        note: note.to_owned(),
        is_executable: false,
    };
    let user = settings.files.iter().filter(|form| !form.by_agent).map(|form| of("user", form, settings.afterwards));
    let project = settings.project.first().map(|form| of("project", form, settings.project_needs));
    let managed = settings.managed.map(|managed| {
        let elsewhere = match managed.on_macos {
            "" => String::new(),
            file => format!("on macOS: {file}; "),
        };
        let (path, text) = (managed.file.to_owned(), (managed.text)(HookCommand::shared(binary)));
        let note = format!("{elsewhere}{}", managed.note);
        Emitted { agent: agent.name, title: agent.title, scope: "managed", path, text, note, is_executable: false }
    });
    user.chain(project).chain(managed).collect()
}

/// The hook that a repository ships: commits are judged in every clone that uses its folder of hooks.
fn committed_hook(binary: &str) -> Emitted {
    Emitted {
        agent: GIT,
        title: GIT,
        scope: "project",
        path: git_hooks::COMMITTED_HOOK.to_owned(),
        text: git_hooks::committed_hook(binary),
        note: "commit it with mode 755; each clone runs `git config core.hooksPath .githooks` once".to_owned(),
        is_executable: true,
    }
}

fn shown(files: &[Emitted], banners: &[String]) {
    for file in files {
        let place = match file.scope {
            "user" => format!("~/{}", file.path),
            "project" => format!("<project>/{}", file.path),
            _ => file.path.clone(),
        };
        print(&format!("=== {} ({}): {place}", file.title, file.scope));
        if !file.note.is_empty() {
            print(&format!("--- {}", file.note));
        }
        print(file.text.trim_end());
        print("");
    }
    banners.iter().for_each(|banner| print(&format!("{banner}\n")));
}

fn as_json(files: &[Emitted], agents: &[(&Agent, &Settings)]) -> Value {
    let file = |file: &Emitted| json!({"agent": file.agent, "scope": file.scope, "path": file.path, "text": file.text, "note": file.note});
    let agent = |(agent, _): &(&Agent, &Settings)| json!({"agent": agent.name, "enforcement": agent.enforcement().name(), "banner": agent.banner()});
    json!({
        "schema": "reflex/emit-v1", "files": files.iter().map(file).collect::<Vec<Value>>(),
        "agents": agents.iter().map(agent).collect::<Vec<Value>>(),
    })
}

/// Writes the files. With one scope the paths are relative to the folder, as to a home, a project or the root; with all
/// three, each scope has its own folder.
fn written(folder: &Path, alone: bool, files: &[Emitted], banners: &[String]) -> u8 {
    if let Err(why) = no_agent_above() {
        complain(&format!("only a person writes the agents' files: {why}"));
        return exit_code::FOUND;
    }
    let mut code = exit_code::OK;
    for file in files {
        let below = file.path.trim_start_matches('/');
        let path = if alone { folder.join(below) } else { folder.join(file.scope).join(below) };
        match put(&path, file) {
            Ok(()) => print(&format!("{}: {} is written", file.agent, path.display())),
            Err(error) => code = code.max(error.report()),
        }
    }
    banners.iter().for_each(|banner| print(&format!("\n{banner}")));
    code
}

/// Writes a file. An existing file may hold more than the hook: only `init` changes one.
fn put(path: &Path, emitted: &Emitted) -> Result<(), Error> {
    let failed = |source| Error::File { file: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mode = if emitted.is_executable { 0o777 } else { 0o666 };
    let mut file = match options_with_mode(mode).write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Error::Untouched(path.to_owned())),
        Err(error) => return Err(failed(error)),
    };
    file.write_all(emitted.text.as_bytes()).map_err(failed)
}
