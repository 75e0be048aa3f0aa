//! Access that settings of builds, clusters, containers and editors grant, and the sources of their parts.

use super::later::{DeferredExecution, USUAL_REGISTRIES};
use super::servers::mount;
use crate::text::json::lenient_json;
use crate::text::yaml;
use reflex_shell::ExecTarget;
use serde_json::{Value as Json, json};

/// Reads submodules whose address or update is a command.
pub(super) fn modules(content: &str, later: &mut DeferredExecution) {
    for (name, value) in content.lines().filter_map(|line| line.split_once('=')) {
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        let command = match name {
            "url" => value.strip_prefix("ext::"),
            "update" => value.strip_prefix('!'),
            _ => None,
        };
        if let Some(command) = command {
            later.set(&["editor", "on-open"], command);
            later.run_all(command, ExecTarget::Here);
        }
        // An address that git would read as an option.
        if matches!(name, "url" | "path") && value.starts_with('-') {
            later.set(&["editor", "on-open"], value);
        }
    }
}

/// Reads a cluster manifest: pods with access to their machine, and bindings that grant every right.
pub(super) fn manifest(content: &str, later: &mut DeferredExecution) {
    if !content.contains("apiVersion") || !content.contains("kind") {
        return;
    }
    let mut binds = false;
    for (keys, value) in yaml::entries(content) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        match (keys.as_slice(), value.as_str()) {
            ([.., key @ ("privileged" | "hostPID" | "hostIPC")], value) if yaml::is_true(value) => {
                later.set(&["container", "opened"], format!("{key}: true"));
            }
            ([.., "hostPath", "path"], source) => mount(&json!({ "source": source }), later),
            (["kind"], kind) => binds = kind == "ClusterRoleBinding",
            (["roleRef", "name"], "cluster-admin") if binds => later.set(&["cluster", "every-right"], "cluster-admin"),
            _ => {}
        }
    }
}

/// Reads containers with access to the machine, or to more of it than the project.
pub(super) fn compose(content: &str, later: &mut DeferredExecution) {
    for (keys, value) in yaml::entries(content) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let source = match (keys.as_slice(), value.as_str()) {
            ([.., "privileged"], value) if yaml::is_true(value) => {
                later.set(&["container", "opened"], "privileged: true");
                continue;
            }
            ([.., key @ ("pid" | "ipc" | "userns_mode")], "host") => {
                later.set(&["container", "opened"], format!("{key}: host"));
                continue;
            }
            ([.., "cap_add"], "ALL" | "SYS_ADMIN") => {
                later.set(&["container", "opened"], format!("cap_add: {value}"));
                continue;
            }
            // Proxies and monitors use a read-only socket.
            ([.., "volumes"], value) if value.contains("docker.sock") && value.ends_with(":ro") => continue,
            ([.., "volumes"], value) => {
                let value = value.trim_matches(['"', '\'', '-', ' ']);
                // The colon of `${NAME:-value}` is not a separator.
                let name = value.find('}').filter(|_| value.starts_with("${")).unwrap_or(0);
                let end = value.get(name..).and_then(|rest| rest.find(':')).map_or(value.len(), |at| name + at);
                value.get(..end).unwrap_or(value)
            }
            ([.., "source"] | [.., "driver_opts", "device"] | ["secrets" | "configs", _, "file"], value) => value,
            _ => continue,
        };
        let home = ["~", "${HOME}", "$HOME"].iter().find_map(|home| source.strip_prefix(home));
        let source = home.map_or_else(|| source.to_owned(), |rest| format!("${{localEnv:HOME}}{rest}"));
        mount(&json!({ "source": source }), later);
    }
}

/// Reads the addresses of build tools and packages: wrappers of Gradle and Maven, package sources of Python and Ruby.
pub(super) fn sources(content: &str, later: &mut DeferredExecution) {
    const USUAL: [&str; 9] = [
        "github.com",
        "gitlab.com",
        "services.gradle.org",
        "downloads.gradle.org",
        "repo.maven.apache.org",
        "repo1.maven.org",
        "rubygems.org",
        "archive.apache.org",
        "dlcdn.apache.org",
    ];
    let mut section = "";
    for line in content.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if line.starts_with('[') {
            section = line;
        }
        let of_packages = section.contains("source") || section.contains(".index") || section.contains("repositories");
        let (name, value) = line.split_once(['=', ' ', '(']).unwrap_or((line, ""));
        // `source 'ADDRESS'` is a call in Ruby, while `source = ADDRESS` names the project's sources.
        let called = name.trim() == "source" && !value.trim_start().starts_with('=');
        let named = called
            || matches!(name.trim(), "distributionUrl" | "wrapperUrl")
            || (of_packages && matches!(name.trim(), "url" | "default-index"));
        let value = value.replace("\\:", ":");
        let address = value.trim_matches(|ch: char| " =\"'(),".contains(ch)).split(['"', '\'']).next();
        let address = address.filter(|address| named && address.contains("://"));
        // `NAME @ ADDRESS` takes a package from that address.
        let direct = line.split_once(" @ ").map(|(_, after)| after.split(['"', '\'', ' ', ';']).next().unwrap_or(""));
        let address = address.or(direct.filter(|address| address.contains("://"))).unwrap_or("");
        let host = address.split("://").last().unwrap_or("").split(['/', ':']).next().unwrap_or("");
        if host.contains('.') && !USUAL.contains(&host) && !USUAL_REGISTRIES.contains(&host) {
            later.set(&["registry"], address);
        }
    }
}

/// Reads editor settings that let the agent act without approval, by the common suffixes of their names.
pub(super) fn editor_settings(content: &str, later: &mut DeferredExecution) {
    const WITHOUT_QUESTION: [&str; 2] = ["autoapprove", "yolomode"];
    let Some(Json::Object(settings)) = lenient_json(content) else { return };
    let skips_approval = |name: &str| WITHOUT_QUESTION.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    let on = settings.iter().find(|(name, value)| value.as_bool() == Some(true) && skips_approval(name));
    if let Some((name, _)) = on {
        later.set(&["tool-server", "every-tool"], name.as_str());
    }
}

/// Permission modes without any prompt.
pub(super) const MODES: [&str; 3] = ["bypasspermissions", "danger-full-access", "yolo"];

/// Reads agent settings that allow acting without approval, in JSON or TOML: `"defaultMode": "bypassPermissions"`.
pub(super) fn modes(content: &str, later: &mut DeferredExecution) {
    const SWITCHES: [&str; 3] = ["yolo", "autoapprove", "yolomode"];
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    let skips_approval = |entry: &&str| {
        let Some((name, value)) = entry.split_once([':', '=']) else { return false };
        let (name, value) = (plain(name), plain(value));
        MODES.contains(&value.as_str()) || value == "true" && SWITCHES.iter().any(|end| name.ends_with(end))
    };
    if let Some(entry) = content.split([',', '{', '}', '\n']).find(skips_approval) {
        later.set(&["agent-mode", "asks-nobody"], entry.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(read: fn(&str, &mut DeferredExecution), content: &str, scripts: &[&str], settings: &[&str]) {
        let mut later = DeferredExecution::default();
        read(content, &mut later);
        let found: Vec<&str> = later.scripts.iter().map(|script| script.text.as_str()).collect();
        let set: Vec<&str> = later.settings.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!((found.as_slice(), set.as_slice()), (scripts, settings));
    }

    #[test]
    fn submodules_that_run_something() {
        check(modules, "url = https://x.example/a\nupdate = !make d\n", &["make d"], &["make d"]);
        check(modules, "url = --upload-pack=x\n", &[], &["--upload-pack=x"]);
    }

    #[test]
    fn what_opens_a_container_and_where_parts_come_from() {
        let open = "services:\n  a:\n    privileged: true\n    volumes:\n      - /:/host\n      - ./data:/data\n";
        check(compose, open, &[], &["privileged: true", "/"]);
        let flow =
            "services: {a: {privileged: yes, volumes: [{type: bind, source: '${HOME}', target: /h}, './d:/d']}}\n";
        check(compose, flow, &[], &["privileged: true", "${localEnv:HOME}"]);
        let named =
            "volumes:\n  all: {driver_opts: {type: none, o: bind, device: /}}\nsecrets: {k: {file: ~/.ssh/k}}\n";
        check(compose, named, &[], &["/", "${localEnv:HOME}/.ssh/k"]);
        check(compose, "services:\n  a:\n    volumes: ['${DATA:-./d}:/d', 'named:/v']\n", &[], &[]);
        check(compose, "services:\n  a:\n    volumes:\n      - /var/run/docker.sock:/s:ro\n", &[], &[]);
        let pod = "apiVersion: v1\nkind: Pod\nspec:\n  hostPID: true\n  volumes:\n    - name: a\n      hostPath:\n        path: /\n";
        check(manifest, pod, &[], &["hostPID: true", "/"]);
        let bound =
            "apiVersion: a/v1\nkind: ClusterRoleBinding\nroleRef:\n  kind: ClusterRole\n  name: cluster-admin\n";
        check(manifest, bound, &[], &["cluster-admin"]);
        check(manifest, &bound.replace("cluster-admin", "view"), &[], &[]);
        check(manifest, "privileged: true\n", &[], &[]);
        check(sources, "distributionUrl=http\\://x.example/g.zip\n", &[], &["http://x.example/g.zip"]);
        check(
            sources,
            "source 'https://rubygems.org'\n[project.urls]\nurl = \"https://x.example\"\nsource = \"https://y.example\"\n",
            &[],
            &[],
        );
        check(sources, "[[tool.poetry.source]]\nurl = \"https://x.example/s\"\n", &[], &["https://x.example/s"]);
        check(editor_settings, "{\"chat.tools.autoApprove\": true}", &[], &["chat.tools.autoApprove"]);
    }
}
