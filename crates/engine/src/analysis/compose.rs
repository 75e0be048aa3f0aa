//! Services of compose files: their mounts, their commands and their rights on this machine.

use crate::model::path;
use crate::text::yaml;
use reflex_shell::work;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Files read if none is named: from each row, the first that exists.
pub(crate) const USUAL: [&[&str]; 2] = [
    &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"],
    &["compose.override.yaml", "compose.override.yml", "docker-compose.override.yml", "docker-compose.override.yaml"],
];

/// A service, merged from all files of the project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Service {
    /// Its mounts in the format of `docker run`, with absolute sources.
    pub(crate) volumes: Vec<String>,
    /// The program that it starts instead of the image's.
    pub(crate) entrypoint: String,
    /// The arguments of the entrypoint, or the command that the service runs.
    pub(crate) command: String,
    /// The folder in which it starts.
    pub(crate) folder: Option<String>,
    /// Its rights on this machine, in the terms of `docker run`: `privileged`, `host`, a capability.
    pub(crate) opened: Vec<String>,
    /// Profiles that enable it. If it has any, it starts only with one of them or by name.
    pub(crate) profiles: Vec<String>,
    /// Services that start before it.
    pub(crate) needs: Vec<String>,
    /// The name of its container, if it is not derived from its own.
    pub(crate) container: Option<String>,
}

impl Service {
    /// Returns whether a container of this name belongs to the service: `shop-web-1`, `shop_web_1`, or the explicit
    /// name.
    pub(crate) fn is_named(&self, service: &str, container: &str) -> bool {
        let numbered = container.trim_end_matches(|ch: char| ch.is_ascii_digit());
        let prefix = numbered.strip_suffix(['-', '_']).and_then(|rest| rest.strip_suffix(service));
        self.container.as_deref() == Some(container) || prefix.is_some_and(|project| project.ends_with(['-', '_']))
    }

    /// Returns the command line that it runs; empty if the image defines it.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.entrypoint, self.command).trim().to_owned()
    }
}

/// Base folders of the paths in a compose file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    /// The project's folder.
    pub(crate) folder: &'a str,
    /// The user's home.
    pub(crate) home: &'a str,
}

/// Returns the services of these texts. A later text extends or overrides an earlier one.
pub(crate) fn services(texts: &[String], ground: Ground<'_>) -> BTreeMap<String, Service> {
    let mut services: BTreeMap<String, Service> = BTreeMap::new();
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    for text in texts {
        let Some(file) = yaml::document(text) else {
            work::cut(|| "a compose file cannot be read as YAML".to_owned());
            continue;
        };
        folders.extend(named_folders(&file, ground));
        for (name, fields) in file.get("services").and_then(Json::as_object).into_iter().flatten() {
            let service = services.entry(name.clone()).or_default();
            let fields = fields.as_object().into_iter().flatten();
            fields.for_each(|(key, value)| service.take(key, value, ground));
        }
    }
    for spec in services.values_mut().flat_map(|service| &mut service.volumes) {
        let folder = spec.split_once(':').and_then(|(name, rest)| Some(format!("{}:{rest}", folders.get(name)?)));
        spec.clone_from(&folder.unwrap_or_else(|| spec.clone()));
    }
    services
}

/// Returns the volumes of these texts that hold data of their own: the named ones, except those that the project only
/// uses, and for each service without a name the folder of its container. `None` if a text cannot be read, or takes
/// services from other files.
pub(crate) fn volumes(texts: &[String]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for text in texts {
        let file = yaml::document(text)?;
        let of = |key: &str| file.get(key).and_then(Json::as_object).into_iter().flatten();
        let extends_file = |service: &Json| service.pointer("/extends/file").is_some();
        if file.get("include").is_some() || of("services").any(|(_, service)| extends_file(service)) {
            return None;
        }
        found.extend(of("volumes").filter(|(_, volume)| holds_data(volume)).map(|(name, _)| name.clone()));
        for (service, fields) in of("services") {
            let mounts = fields.get("volumes").and_then(Json::as_array).into_iter().flatten();
            found.extend(mounts.filter_map(anonymous).map(|folder| format!("{folder} of {service}")));
        }
    }
    Some(found)
}

/// Whether a named volume is removed with the project and its content with it: it is not external, not in memory, and
/// not a folder of this or another machine.
fn holds_data(volume: &Json) -> bool {
    let is_external = match volume.get("external") {
        Some(Json::String(text)) => yaml::is_true(text),
        Some(external) => !external.is_null(),
        None => false,
    };
    let is_elsewhere = volume.pointer("/driver_opts/device").is_some();
    !is_external && !is_elsewhere
}

/// Returns the folder of a mount without a source, for which each container gets a new volume.
fn anonymous(mount: &Json) -> Option<&str> {
    let field = |name: &str| mount.get(name).and_then(Json::as_str);
    match mount.as_str() {
        Some(text) => Some(text).filter(|text| !text.contains(':')),
        None if field("type") == Some("volume") && field("source").or(field("src")).is_none() => {
            field("target").or(field("dst")).or(field("destination"))
        }
        None => None,
    }
}

/// Returns named volumes that are folders of this machine: `driver_opts: {type: none, o: bind, device: ./data}`.
fn named_folders(file: &Json, ground: Ground<'_>) -> BTreeMap<String, String> {
    let volumes = file.get("volumes").and_then(Json::as_object).into_iter().flatten();
    let named = volumes.filter_map(|(name, volume)| {
        let device = volume.pointer("/driver_opts/device").and_then(Json::as_str)?;
        let is_folder = device.starts_with(['/', '.', '~', '$']);
        is_folder.then(|| Some((name.clone(), placed(&filled_in(device, ground)?, ground)))).flatten()
    });
    named.collect()
}

impl Service {
    fn take(&mut self, key: &str, value: &Json, ground: Ground<'_>) {
        let items = || value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter();
        let texts = || items().filter_map(Json::as_str).map(str::to_owned);
        match key {
            "volumes" => self.volumes.extend(items().filter_map(|value| spec(value, ground))),
            "secrets" | "configs" => {}
            "command" => self.command = words(value),
            "entrypoint" => self.entrypoint = words(value),
            "working_dir" => self.folder = texts().next(),
            "container_name" => self.container = texts().next(),
            "profiles" => self.profiles.extend(texts()),
            "depends_on" => {
                self.needs.extend(texts());
                self.needs.extend(value.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
            }
            "privileged" if value.as_str().is_some_and(yaml::is_true) => self.opened.push("privileged".into()),
            "pid" | "ipc" | "userns_mode" if value == "host" => self.opened.push("host".into()),
            "cap_add" | "security_opt" => self.opened.extend(texts()),
            _ => {}
        }
    }
}

/// Returns a command from a text or a list of words. Two dollar signs stand for one.
fn words(value: &Json) -> String {
    let unescaped = |text: &str| text.replace("$$", "$");
    let quoted = |word: &str| reflex_shell::as_word(&unescaped(word));
    match value {
        Json::String(text) => unescaped(text),
        Json::Array(words) => words.iter().filter_map(Json::as_str).map(quoted).collect::<Vec<_>>().join(" "),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => String::new(),
    }
}

/// Returns a mount in the format of `docker run -v`, with an absolute source if that is a path.
fn spec(value: &Json, ground: Ground<'_>) -> Option<String> {
    if let Some(text) = value.as_str() {
        let text = filled_in(text, ground)?;
        let (source, rest) = text.split_once(':')?;
        return Some(format!("{}:{rest}", placed(source, ground)));
    }
    let field = |name: &str| value.get(name).and_then(Json::as_str);
    let source = placed(&filled_in(field("source").or(field("src"))?, ground)?, ground);
    let target = field("target").or(field("dst")).or(field("destination"))?;
    let read_only = if field("read_only").is_some_and(yaml::is_true) { ":ro" } else { "" };
    Some(format!("{source}:{target}{read_only}"))
}

/// Resolves `./data` and `~/data` by the project's folder and the home. A name is returned unchanged.
fn placed(source: &str, ground: Ground<'_>) -> String {
    if source == "~" || source.starts_with("~/") {
        return path::absolute(source.trim_start_matches('~').trim_start_matches('/'), ground.home);
    }
    if source.starts_with(['/', '.']) { path::absolute(source, ground.folder) } else { source.to_owned() }
}

/// Expands `${HOME}`, `$PWD` and `${X:-value}`; returns `None` if a variable has no value here.
fn filled_in(text: &str, ground: Ground<'_>) -> Option<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        filled.push_str(before);
        let inner = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let end = after.find(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_')).unwrap_or(after.len());
        let (name, after) = inner.unwrap_or_else(|| after.split_at(end));
        let other = name.split_once(":-").or_else(|| name.split_once('-'));
        let (name, other) = other.map_or((name, None), |(name, other)| (name, Some(other)));
        match name {
            "HOME" => filled.push_str(ground.home),
            "PWD" => filled.push_str(ground.folder),
            _ => filled.push_str(other?),
        }
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, expected: Service) {
        let mut found = services(&[text.to_owned()], Ground { folder: "/repo", home: "/home/me" });
        assert_eq!(found.remove(name), Some(expected));
    }

    #[test]
    fn a_service_in_all_its_forms() {
        let expected = |volumes: &[&str], command: &str| Service {
            volumes: volumes.iter().map(|text| (*text).to_owned()).collect(),
            command: command.into(),
            ..Service::default()
        };
        let plain = "services:\n  a:\n    image: x\n    volumes:\n      - ./d:/d\n      - data:/v\n      - ${HOME}/x:/x:ro\n    command: rm -rf $$X\n";
        check(plain, "a", expected(&["/repo/d:/d", "data:/v", "/home/me/x:/x:ro"], "rm -rf $X"));
        let flow = "services:\n  a:\n    volumes: [\".:/d\", data:/v]\n    command: [\"sh\", \"-c\", \"a, b\"]\n";
        check(flow, "a", expected(&["/repo:/d", "data:/v"], "sh -c 'a, b'"));
        let long = "services:\n  a:\n    volumes:\n      - type: bind\n        source: /\n        target: /host\n      - type: bind\n        source: ~/x\n        target: /x\n        read_only: true\n    command:\n      - rm\n      - -rf\n      - a b\n";
        check(long, "a", expected(&["/:/host", "/home/me/x:/x:ro"], "rm -rf 'a b'"));
        let inline = "services:\n  a: {image: x, volumes: [\"/:/host\"], command: ls}\n";
        check(inline, "a", expected(&["/:/host"], "ls"));
    }

    #[test]
    fn a_volume_may_be_a_folder() {
        let expected = |spec: &str| Service { volumes: vec![spec.into()], ..Service::default() };
        let block = "services:\n  a:\n    volumes: [d:/d]\nvolumes:\n  d:\n    driver_opts:\n      o: bind\n      device: ./x\n";
        check(block, "a", expected("/repo/x:/d"));
        let flow = "services:\n  a:\n    volumes: [d:/d]\nvolumes:\n  d:\n    driver_opts: {o: bind, device: /srv/x}\n";
        check(flow, "a", expected("/srv/x:/d"));
        let server =
            "services:\n  a:\n    volumes: [d:/d]\nvolumes:\n  d:\n    driver_opts: {type: nfs, device: \":/x\"}\n";
        check(server, "a", expected("d:/d"));
    }

    #[test]
    fn only_volumes_of_the_project_are_lost_with_it() {
        #[track_caller]
        fn check(text: &str, expected: Option<&[&str]>) {
            let found = volumes(&[text.to_owned()]);
            let expected = expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            assert_eq!(found, expected, "{text}");
        }
        check("services:\n  a:\n    volumes: ['d:/d', './e:/e']\nvolumes:\n  d:\n", Some(&["d"]));
        check(
            "services:\n  a:\n    volumes:\n      - /d\n      - type: volume\n        target: /e\n",
            Some(&["/d of a", "/e of a"]),
        );
        check("services:\n  a:\n    tmpfs: [/d]\n    volumes:\n      - type: tmpfs\n        target: /e\n", Some(&[]));
        check("volumes:\n  d: {external: true}\n  e: {external: {name: f}}\n", Some(&[]));
        check("volumes:\n  d: {external: false}\n", Some(&["d"]));
        check("volumes:\n  d:\n    driver_opts: {type: none, o: bind, device: /srv}\n", Some(&[]));
        check("include: [a.yaml]\n", None);
        check("services:\n  a:\n    extends: {file: b.yaml, service: b}\n", None);
        check("services: [", None);
    }

    #[test]
    fn a_folder_that_a_variable_names_is_not_the_root() {
        let text = "services:\n  a:\n    volumes: ['${DATA}:/d', '${DATA:-./x}:/e']\n";
        check(text, "a", Service { volumes: vec!["/repo/x:/e".into()], ..Service::default() });
    }

    #[test]
    fn a_container_is_named_for_its_service() {
        let named = Service { container: Some("main-db".into()), ..Service::default() };
        assert!(named.is_named("db", "main-db"));
        assert!(named.is_named("db", "shop-db-1") && named.is_named("db", "shop_db_12"));
        assert!(!named.is_named("db", "shop-mydb-1") && !named.is_named("db", "db"));
    }

    #[test]
    fn what_opens_a_service() {
        let text = "services:\n  a:\n    privileged: yes\n    pid: host\n    cap_add:\n      - SYS_ADMIN\n    profiles: [tools]\n    depends_on:\n      b:\n        condition: x\n";
        let opened = ["privileged", "host", "SYS_ADMIN"].map(str::to_owned).to_vec();
        let service = Service { opened, profiles: vec!["tools".into()], needs: vec!["b".into()], ..Service::default() };
        check(text, "a", service);
    }
}
