//! Checks the connection between the agents and the guard, and suggests a fix for each problem.

use super::client::{fails_open, program_missing};
use super::client_trust::{self, Wish};
use super::error::HookError;
use super::lasting::{outdated_copy, own_program, running_program};
use super::namesakes::{Namesake, on_path, with_suffix};
use super::older::OlderGuard;
use super::switches::{Places, Silencer, silencers};
pub use super::trouble::Trouble;
use super::wiring::{Plugin, Wiring};
use crate::system::folders::{Folders, real};
use crate::system::os;
use reflex_agents::settings::guard_hooks;
use reflex_agents::{Agent, Reply, Start};
use reflex_engine::agent_settings::SettingsFormat;
use reflex_git::project_root;
use std::borrow::Cow;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Reports why the agent runs no hook in the working directory, whatever its entries say.
pub fn silencing(wiring: &Wiring) -> Vec<Trouble> {
    let off = [switches, stopped, variables].into_iter().flat_map(|look| look(wiring));
    off.map(|trouble| Trouble { what: format!("OFF: {}", trouble.what), ..trouble }).collect()
}

/// Lists the problems of one settings file, its switches, its trust and its hook.
pub fn examine(wiring: &Wiring) -> Vec<Trouble> {
    let scope = if wiring.project().is_some() { " --scope project" } else { "" };
    let again = format!("reflex init --agent {}{scope}", wiring.agent());
    let trouble = |what: String, fix: &str| Trouble { what, fix: fix.to_owned() };
    let mut found = silencing(wiring);
    found.extend(managed_only(wiring));
    found.extend(untrusted_folder(wiring));
    found.extend(fails_open(wiring));
    let change = match wiring.install() {
        Err(_) if wiring.is_detached() => {
            found.push(trouble(format!("{} has no Reflex hook", wiring.file().display()), &again));
            return found;
        }
        Err(problem) => {
            found.push(trouble(problem.to_string(), &wiring.repair()));
            return found;
        }
        Ok(change) => change,
    };
    let text = change.before.clone().unwrap_or_default();
    let hooks = guard_hooks(&text);
    let plugin = wiring.plugin(&project_here(wiring));
    found.extend(plugin.and_then(|plugin| of_plugin(wiring, plugin)));
    if hooks.is_empty() && (wiring.is_managed() || plugin == Some(Plugin::Enabled)) {
        return found;
    }
    if hooks.is_empty() {
        found.push(trouble(format!("{} has no Reflex hook", wiring.file().display()), &again));
        return found;
    }
    if let Some(program) = wiring.missing_program() {
        found.push(trouble(program_missing(wiring, &program), &again));
        return found;
    }
    if change.before != change.after {
        let what = format!("the hook in {} is not the one that this binary would write", wiring.file().display());
        found.push(trouble(format!("{what}{}", other_versions(&hooks)), &again));
    }
    let here = std::env::current_dir().unwrap_or_default();
    for OlderGuard { file, line } in wiring.older(&here) {
        let what = format!("`{line}` in {} is a guard that came before, and is asked too", file.display());
        found.push(trouble(what, &format!("{again} --replace")));
    }
    for (problem, events) in silent(wiring, hooks) {
        let events = events.join(", ");
        found.push(trouble(format!("the hook of {events} does not answer as it should: {problem}"), &again));
    }
    if let Some(trust) = wiring.settings().trust.filter(|_| wiring.project().is_none())
        && let Err(problem) = client_trust::ask(trust, wiring.home_of_agents(), Wish::Look)
    {
        found.push(trouble(format!("{} may not trust the hook: {problem}", wiring.agent()), &again));
    }
    found
}

/// Reports a plugin that the settings name but the agent does not run.
fn of_plugin(wiring: &Wiring, plugin: Plugin) -> Option<Trouble> {
    let (agent, title) = (wiring.agent(), wiring.adapter().title);
    match plugin {
        Plugin::Disabled => Some(Trouble {
            what: format!("the plugin reflex-guard of {title} is disabled"),
            fix: format!("{agent} plugin enable reflex-guard, or uninstall it"),
        }),
        Plugin::Missing => Some(Trouble {
            what: format!("{title} enables the plugin reflex-guard, which is not installed"),
            fix: format!("{agent} plugin install reflex-guard@reflex, or take it out of the settings"),
        }),
        Plugin::Enabled => None,
    }
}

/// The problems with the hooks' answers, each with its events: a missing binary is one problem, not four.
fn silent(wiring: &Wiring, hooks: Vec<(String, Start)>) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (event, start) in hooks {
        let Err(error) = answers(wiring.folders(), wiring.adapter(), &event, &start) else { continue };
        let problem = error.to_string();
        match found.iter_mut().find(|(known, _)| *known == problem) {
            Some((_, events)) => events.push(event),
            None => found.push((problem, vec![event])),
        }
    }
    found
}

/// Reports a managed settings file that allows only its own hooks.
fn managed_only(wiring: &Wiring) -> Option<Trouble> {
    let managed = wiring.settings().managed?;
    let file = wiring.managed_file()?;
    let text = fs::read_to_string(file).ok()?;
    let shut_out = (managed.shuts_out)(&text) && guard_hooks(&text).is_empty();
    shut_out.then(|| Trouble {
        what: format!("{file} lets only its own hooks run, and Reflex is not among them"),
        fix: format!("an administrator adds what `reflex emit --agent {} --scope managed` prints", wiring.agent()),
    })
}

/// Reports a folder that the agent does not trust, so that it runs no hook there. Outside a project, reports nothing.
fn untrusted_folder(wiring: &Wiring) -> Option<Trouble> {
    let trust = wiring.settings().folder_trust?;
    let project = project_here(wiring);
    if wiring.folders().is_home_within(&project) {
        return None;
    }
    let texts = trust.files.map(|file| fs::read_to_string(wiring.user_folder().join(file)).unwrap_or_default());
    let [first, second] = &texts;
    let trusted = (trust.is_trusted)([first, second], &project.to_string_lossy());
    (project.join(".git").exists() && !trusted).then(|| Trouble {
        what: format!("{} does not trust {}, and runs no hook there", wiring.adapter().title, project.display()),
        fix: format!("start `{}` there once and trust the folder", wiring.agent()),
    })
}

/// The versions that the hooks start, if they differ from this one.
fn other_versions(hooks: &[(String, Start)]) -> String {
    let version = |start: &Start| {
        let program = start.program()?;
        let printed = Command::new(&program).arg("--version").stdin(Stdio::null()).output().ok()?;
        let printed = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
        let current = format!("reflex {}", env!("CARGO_PKG_VERSION"));
        (printed.starts_with("reflex ") && printed != current)
            .then(|| format!("; it starts {program}, which is {printed}, and this is {current}"))
    };
    hooks.iter().find_map(|(_, start)| version(start)).unwrap_or_default()
}

/// Reports programs on the `PATH` that an agent or a person may run by mistake, and a copy for hook entries that is
/// another version than this program.
pub fn copies(folders: &Folders) -> Vec<Trouble> {
    let Ok(current) = running_program() else { return Vec::new() };
    let shown = current.display();
    let outdated = outdated_copy(folders).map(|own| Trouble {
        what: format!("hooks start {}, which is another version than {shown}", own.display()),
        fix: format!("{shown} init"),
    });
    let trouble = |(other, namesake): (PathBuf, Namesake)| {
        let what = match namesake {
            Namesake::Guard | Namesake::WebFramework => return None,
            Namesake::OtherVersion => "another version of reflex",
            Namesake::Unknown => "another program with the name of reflex",
        };
        Some(Trouble {
            what: format!("{} is {what} on the PATH; this one is {shown}", other.display()),
            fix: format!("remove one of them, then {shown} init"),
        })
    };
    outdated.into_iter().chain(namesakes_of(&current).into_iter().filter_map(trouble)).collect()
}

/// Explains a `reflex` on the `PATH` that is the command of the Python web framework.
pub fn taken_name(folders: &Folders) -> Option<String> {
    let current = running_program().ok()?;
    let mut namesakes = namesakes_of(&current).into_iter();
    let (other, framework) = namesakes.find(|(_, namesake)| *namesake == Namesake::WebFramework)?;
    let short = own_program(folders).with_file_name(with_suffix("rfx"));
    let has_short = on_path("rfx").first().is_some_and(|file| file.canonicalize().ok() == short.canonicalize().ok());
    let start = if has_short { "rfx".to_owned() } else { current.display().to_string() };
    let other = other.display();
    Some(format!("{other} on the PATH is {framework}; hooks do not use it. `{start}` starts the guard"))
}

/// The files named `reflex` on the `PATH`, other than this program, with what they are.
fn namesakes_of(current: &Path) -> Vec<(PathBuf, Namesake)> {
    let mut others: Vec<PathBuf> = on_path("reflex");
    others.retain(|file| file.canonicalize().is_ok_and(|file| file != current));
    others.dedup();
    others.into_iter().map(|other| (other.clone(), Namesake::of(&other, current))).collect()
}

/// Reports the events for which the agent's own file holds no trust in the hook at its current place.
pub(crate) fn untrusted(wiring: &Wiring) -> Option<Trouble> {
    let trust = wiring.settings().trust.filter(|_| wiring.project().is_none())?;
    let hooks = fs::read_to_string(wiring.file()).ok()?;
    let file = wiring.user_folder().join(trust.file);
    let missing = (trust.missing)(&hooks, &fs::read_to_string(&file).unwrap_or_default());
    (!missing.is_empty()).then(|| Trouble {
        what: format!(
            "{} silently skips the hook of {}: {} does not trust it at its current place",
            wiring.adapter().title,
            missing.join(", "),
            file.display()
        ),
        fix: format!("reflex init --agent {}, or trust it with `/hooks`", wiring.agent()),
    })
}

/// Reports the switches that disable the hooks. The value in the strongest file that has one counts; files that the
/// agent drops are ignored.
pub(crate) fn switches(wiring: &Wiring) -> Vec<Trouble> {
    let project = folders_here(wiring);
    let places = Places { home: wiring.home_of_agents(), user: Some(&wiring.user_folder()), project: &project };
    let trouble = |silencer: Silencer| Trouble {
        what: silencer.to_string(),
        fix: format!("take it out of {}", silencer.file.display()),
    };
    silencers(wiring.adapter(), places).into_iter().map(trouble).collect()
}

/// Returns the folders from the project around the working directory down to it. A client reads the settings of the one
/// that it is started in.
fn folders_here(wiring: &Wiring) -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let project = project_here(wiring);
    let mut folders: Vec<PathBuf> =
        here.ancestors().take_while(|folder| folder.starts_with(&project)).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Reports project files with which the agent does not start, or loses the hooks of its other files.
pub(crate) fn stopped(wiring: &Wiring) -> Vec<Trouble> {
    let project = project_here(wiring);
    let forms =
        SettingsFormat::all(reflex_library::tables()).filter(|form| form.agent() == wiring.agent() && form.stops());
    let files = forms.flat_map(|form| form.paths().map(move |path| (form, path)));
    let of_project = files.filter(|(_, path)| !path.starts_with(['~', '/']) && !path.contains('*'));
    let trouble = |(form, path): (SettingsFormat, &str)| {
        let file = project.join(path);
        let place = form.load(&fs::read(&file).ok()?).err().filter(|_| file != wiring.file())?;
        let (shown, title) = (file.display(), wiring.adapter().title);
        Some(Trouble {
            what: format!(
                "{shown}:{}:{}: {}; with it {title} does not start, or runs no hook of any file",
                place.line, place.column, place.why
            ),
            fix: format!("mend line {} of {shown}", place.line),
        })
    };
    of_project.filter_map(trouble).collect()
}

/// Reports variables with which the agent runs no hook: in the environment, or in its own settings.
pub(crate) fn variables(wiring: &Wiring) -> Vec<Trouble> {
    let title = wiring.adapter().title;
    let forms = SettingsFormat::all(reflex_library::tables()).filter(|form| form.agent() == wiring.agent());
    let names: Vec<&str> = forms.flat_map(SettingsFormat::variables).collect();
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let here = names.iter().filter(is_set).filter(|name| wiring.variable() != Some(**name)).map(|name| Trouble {
        what: format!("`{name}` is set here: {title} runs none of your hooks when it is started with it"),
        fix: format!("unset {name}, and take it out of the file that sets it"),
    });
    let value = fs::read(wiring.file()).ok().and_then(|bytes| wiring.reading()?.load(&bytes).ok());
    let in_file = |name: &&&str| value.as_ref().is_some_and(|value| value.pointer(&format!("/env/{name}")).is_some());
    let file = wiring.file().display();
    let within = names.iter().filter(in_file).map(|name| Trouble {
        what: format!("`{name}` is set in `env` in {file}: {title} then runs none of your hooks"),
        fix: format!("take it out of {file}"),
    });
    here.chain(within).collect()
}

/// The project around the current folder.
pub(crate) fn project_here(wiring: &Wiring) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    PathBuf::from(project_root(&here.to_string_lossy(), &real(wiring.home_of_agents()).to_string_lossy()))
}

/// Sends a payload that belongs to no event, exactly as the agent would, and expects the agent's answer: the refusal
/// before a tool, empty output after one. The payload is refused before it counts as a call, so that it leaves only a
/// record.
///
/// # Errors
/// The hook gives no answer, or an unexpected one.
pub fn answers(folders: &Folders, agent: &Agent, event: &str, start: &Start) -> Result<(), HookError> {
    let actual = run(start, folders.chosen_home())?;
    let expected = (agent.refuse)(event, (agent.moment)(event), "why");
    let shape = |reply: &Reply| (reply.code, reply.stdout.is_empty(), reply.stderr.is_empty());
    let is_reported = !expected.stdout.contains("why") || actual.stdout.contains("cannot read this event");
    if shape(&actual) == shape(&expected) && is_reported {
        return Ok(());
    }
    let words = format!("{} {}", actual.stdout, actual.stderr);
    let words = words.split_whitespace().take(20).collect::<Vec<_>>().join(" ");
    Err(HookError::Unexpected { status: actual.code, words })
}

const CANARY: &[u8] = b"{}";

/// The line of a project's entry with the home that was chosen here: the entry is shared and names none, so the guard's
/// answer would be recorded in the user's own home.
fn at_home<'l>(line: &'l str, home: Option<&Path>) -> Cow<'l, str> {
    let is_plain = !line.contains("--home") && !line.contains(" -c ");
    match home.and_then(Path::to_str).filter(|home| is_plain && !home.contains('\'')) {
        Some(home) => format!("{line} --home '{home}'").into(),
        None => line.into(),
    }
}

const PATIENCE: Duration = Duration::from_secs(10);

fn run(start: &Start, home: Option<&Path>) -> Result<Reply, HookError> {
    let mut command = match start {
        Start::Exec(words) => {
            let (program, arguments) = words.split_first().ok_or(HookError::NoProgram)?;
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        Start::Shell(line) => {
            let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_file());
            let line = at_home(line, home);
            shell.map_or_else(
                || os::shell(&line),
                |shell| {
                    let mut command = Command::new(shell);
                    command.arg("-c").arg(&*line);
                    command
                },
            )
        }
    };
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(HookError::NotStarted)?;
    if let Some(mut input) = child.stdin.take() {
        // Write errors are ignored: the answer of a program that does not read its input explains more.
        let _ = input.write_all(CANARY);
    }
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let (send, receive) = channel();
    thread::spawn(move || {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let _ = output.as_mut().map(|pipe| pipe.read_to_string(&mut stdout));
        let _ = errors.as_mut().map(|pipe| pipe.read_to_string(&mut stderr));
        let _ = send.send((stdout, stderr));
    });
    let Ok((stdout, stderr)) = receive.recv_timeout(PATIENCE) else {
        let _ = child.kill();
        return Err(HookError::Late);
    };
    let status = child.wait().map_err(HookError::Lost)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
    Ok(Reply { stdout, stderr, code })
}
