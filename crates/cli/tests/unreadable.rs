//! Neither the environment nor a payload changes which files are examined or what counts as the project.

use crate::support::{Machine, bash};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

struct Project {
    machine: Machine,
    folder: PathBuf,
}

impl Project {
    /// A repository without uncommitted changes, next to another one.
    fn new() -> Project {
        let machine = Machine::new().asking();
        let folder = machine.root().join("my shop");
        let project = Project { machine, folder };
        for folder in ["other", "my shop"] {
            project.repository(&project.machine.root().join(folder));
        }
        project
    }

    fn repository(&self, folder: &Path) {
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/a.ts"), "1\n").unwrap();
        fs::write(folder.join("x"), "2\n").unwrap();
        self.run(
            folder,
            "git init -q -b topic && git add -A && git -c user.name=n -c user.email=n@x.invalid commit -qm x",
        );
    }

    #[track_caller]
    fn run(&self, folder: &Path, script: &str) {
        let output = self.machine.program("sh", ["-c", script]).folder(folder).run();
        assert_eq!(output.code, 0, "{script}: {output:?}");
    }

    fn write(&self) -> Vec<u8> {
        let input = json!({"file_path": self.folder.join("src/a.ts"), "content": "changed\n"});
        let mut event: Value = serde_json::from_slice(&bash(&self.folder, "")).unwrap();
        event["tool_name"] = json!("Write");
        event["tool_input"] = input;
        event.to_string().into_bytes()
    }

    /// Returns the decision and its reason for each call that may lose work, with these variables.
    fn decisions(&self, variables: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let commands = [
            "rm -rf src",
            "git checkout -- .",
            "git reset --hard",
            "git clean -fdx",
            "git stash drop",
            "ls > src/a.ts",
            "cp x src/a.ts",
        ];
        let shell = commands.map(|command| (command, bash(&self.folder, command)));
        let decided = |(name, event): (&str, Vec<u8>)| {
            // Repeated calls of one session cause a loop warning, so each has its own session.
            let session = format!("{variables:?}").replace('"', "");
            let event = String::from_utf8(event).unwrap().replace("\"s1\"", &json!(session).to_string());
            let mut call = self.machine.hook().folder(&self.folder).input(event);
            for (variable, value) in variables {
                call = call.env(variable, value);
            }
            let (decision, reason) = call.run().answer();
            (name.to_owned(), decision, reason)
        };
        shell.into_iter().chain([("Write", self.write())]).map(decided).collect()
    }
}

#[test]
fn variables_that_lead_git_elsewhere_are_asked_about_and_never_followed() {
    let project = Project::new();
    let other = project.machine.root().join("other");
    let (git, tree) = (other.join(".git").display().to_string(), other.display().to_string());
    let pipe = project.machine.root().join("pipe");
    project.run(&project.machine.root(), "mkfifo pipe");
    let git_config = project.folder.join("git.config");
    fs::write(&git_config, "[core]\n\texcludesFile = /tmp/all\n").unwrap();
    let (pipe, git_config) = (pipe.display().to_string(), git_config.display().to_string());
    let sets: [&[(&str, &str)]; 12] = [
        &[("GIT_DIR", &git)],
        &[("GIT_DIR", "/no/such")],
        &[("GIT_WORK_TREE", &tree)],
        &[("GIT_COMMON_DIR", &git)],
        &[("GIT_INDEX_FILE", "/dev/null")],
        &[("GIT_OBJECT_DIRECTORY", "/tmp/objects")],
        &[("GIT_CONFIG_GLOBAL", "/dev/zero")],
        &[("GIT_CONFIG_GLOBAL", &pipe)],
        &[("GIT_CONFIG_GLOBAL", &git_config)],
        &[("GIT_CONFIG_SYSTEM", "/dev/zero")],
        &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.Bare"), ("GIT_CONFIG_VALUE_0", "true")],
        &[("GIT_CONFIG_PARAMETERS", "'core.worktree'='/tmp'")],
    ];
    for variables in sets {
        for (call, decision, reason) in project.decisions(variables) {
            assert_eq!(decision, "ask", "{variables:?} {call}: {reason}");
            assert!(reason.contains("`GIT_"), "{variables:?} {call}: {reason}");
        }
    }
}

#[test]
fn variables_that_say_what_is_so_anyway_are_no_matter() {
    let project = Project::new();
    let sets: [&[(&str, &str)]; 5] = [
        &[],
        &[("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index"), ("GIT_WORK_TREE", ".")],
        &[("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")],
        &[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")],
        &[("GIT_EDITOR", "true"), ("GIT_PAGER", "cat"), ("GIT_AUTHOR_NAME", "n"), ("GIT_DIR", "")],
    ];
    for variables in sets {
        for (call, decision, reason) in project.decisions(variables) {
            assert_eq!(decision, "silent", "{variables:?} {call}: {reason}");
        }
    }
}

#[test]
fn a_configuration_of_the_home_that_cannot_be_read_is_asked_about() {
    for script in
        ["ln -s /dev/zero .gitconfig", "mkfifo .gitconfig", "printf '[include]\\n\\tpath = .gitconfig\\n' > .gitconfig"]
    {
        let project = Project::new();
        project.run(&project.machine.home(), script);
        for (call, decision, reason) in project.decisions(&[]) {
            assert_eq!(decision, "ask", "{script} {call}: {reason}");
        }
    }
}

#[test]
fn files_of_git_that_nobody_may_read_are_asked_about() {
    for name in ["index", "config", "HEAD", ""] {
        let project = Project::new();
        let closed = project.folder.join(".git").join(name);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // A user who may read everything, such as root, is not affected.
        if fs::read(&closed).is_err() && fs::read_dir(&closed).is_err() {
            for (call, decision, reason) in project.decisions(&[]) {
                assert_eq!(decision, "ask", "{name} {call}: {reason}");
            }
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Returns the answer of Claude Code's hook to a command in a folder, started for a project.
fn claude(machine: &Machine, (project, cwd): (&Path, &Path), command: &str) -> String {
    machine.hook().env("CLAUDE_PROJECT_DIR", project).input(bash(cwd, command)).run().answer().0
}

#[test]
fn a_project_that_holds_the_home_is_the_folder_below_it_in_which_the_agent_works() {
    let project = Project::new();
    let (root, home) = (project.machine.root(), project.machine.home());
    for wide in [Path::new("/"), &root, &home] {
        for cwd in [project.folder.clone(), project.folder.join("src")] {
            let output = |command: &str| claude(&project.machine, (wide, &cwd), command);
            let other = format!("rm -rf '{}'", root.join("other/src").display());
            assert_eq!(output(&other), "deny", "{wide:?} {cwd:?}");
            assert_eq!(output(&format!("ls > '{}'", project.folder.join("src/new").display())), "silent");
            assert_eq!(output(&format!("rm -rf '{}'", project.folder.join("src").display())), "silent");
        }
    }
}

#[test]
fn a_repository_at_the_home_makes_it_no_project() {
    let project = Project::new();
    let home = project.machine.home();
    project.repository(&home);
    fs::create_dir_all(home.join("notes")).unwrap();
    fs::create_dir_all(home.join("work/deep")).unwrap();
    fs::write(home.join("notes/a.md"), "1\n").unwrap();
    let output = |cwd: &Path, command: &str| claude(&project.machine, (&home, cwd), command);
    assert_eq!(output(&home.join("work"), "rm -rf ../notes"), "deny");
    assert_eq!(output(&home.join("work"), "ls > new.txt"), "silent");
    // The home itself and the root are not below it.
    assert_eq!(output(&home, "rm -rf notes"), "deny");
    assert_eq!(output(&home, "ls > notes/a.md"), "ask");
    assert_eq!(output(Path::new("/"), "rm -rf srv/data"), "deny");
}

#[test]
fn a_workspace_that_a_payload_names_is_held_to_the_same() {
    let project = Project::new();
    let output = |workspace: &Path, cwd: &Path, command: &str| {
        let event = json!({"event": "pre-command", "workspace": workspace, "cwd": cwd, "command": command});
        let output = project.machine.reflex(["hook"]).input(event.to_string()).run();
        output.json()["decision"].as_str().unwrap_or("").to_owned()
    };
    let other = format!("rm -rf '{}'", project.machine.root().join("other/src").display());
    for wide in [Path::new("/"), &project.machine.root(), &project.machine.home()] {
        assert_eq!(output(wide, &project.folder, &other), "block", "{wide:?}");
        assert_eq!(output(wide, &project.folder, "rm -rf src"), "allow", "{wide:?}");
        assert_eq!(output(wide, Path::new("/"), "rm -rf srv/data"), "block", "{wide:?}");
    }
    assert_eq!(output(&project.folder, &project.folder.join("src"), "rm -rf ../src"), "allow");
}

/// Returns the hook's answer to a command in the project; the command then runs if it only writes.
fn output(project: &Project, command: &str) -> (String, String) {
    project.machine.hook().input(bash(&project.folder, command)).run().answer()
}

#[test]
fn work_that_the_session_had_ignored_does_not_look_as_if_a_build_made_it() {
    for rules in [".gitignore", ".git/info/exclude"] {
        let project = Project::new();
        fs::write(project.folder.join("package.json"), "{}\n").unwrap();
        fs::create_dir_all(project.folder.join("dist")).unwrap();
        fs::write(project.folder.join("dist/work.ts"), "1\n").unwrap();
        assert_eq!(output(&project, "rm -rf dist").0, "ask");
        let command = format!("echo dist/ >> {rules}");
        assert_eq!(output(&project, &command).0, "silent", "{command}");
        project.run(&project.folder, &command);
        let (decision, reason) = output(&project, "rm -rf dist && ls");
        assert_eq!(decision, "ask", "{rules}: {reason}");
        assert!(reason.contains("dist"), "{reason}");
    }
}

#[test]
fn what_the_session_itself_has_built_may_go_though_it_had_it_ignored() {
    let project = Project::new();
    assert_eq!(output(&project, "printf 'node_modules/\\ndist/\\n' > .gitignore").0, "silent");
    project.run(&project.folder, "printf 'node_modules/\\ndist/\\n' > .gitignore && echo '{}' > package.json");
    assert_eq!(output(&project, "npm run build").0, "silent");
    fs::create_dir_all(project.folder.join("dist")).unwrap();
    fs::write(project.folder.join("dist/a.js"), "1\n").unwrap();
    assert_eq!(output(&project, "rm -rf dist").0, "silent");
}
