//! Tool servers that an agent starts or contacts, as configured in `.mcp.json` and similar files.

use super::later::{DeferredExecution, hidden_chars};
use crate::text::json::{lenient_json, without_comments};
use crate::text::url;
use reflex_shell::{ExecTarget, as_word};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use std::fmt;

/// A map with all its entries, including duplicate names: programs differ in which of them they use.
struct Entries(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Entries;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// Reads the servers that the file lets an agent start or contact.
pub(super) fn read(content: &str, later: &mut DeferredExecution) {
    if let Some(hidden) = hidden_chars(content) {
        later.set(&["hidden-letters"], hidden);
    }
    let Some(json) = lenient_json(content) else {
        // A client with a more lenient parser may still find an address in it.
        let meant = content.trim_start().starts_with('{') && content.contains("\"url\"");
        for found in content.split(['"', '\'', ' ', '\n']).filter(|word| meant && word.contains("://")) {
            address(found, later);
        }
        return;
    };
    let mut named: Vec<String> = Vec::new();
    for field in ["mcpServers", "servers", "mcp_servers", "context_servers"] {
        let Some(text) = json.get(field).filter(|servers| servers.is_object()) else { continue };
        for (name, server) in every_entry(content).unwrap_or_else(|| entries_of(text)) {
            match named.contains(&name) {
                true => later.set(&["tool-server", "twice"], name.as_str()),
                false => self::server(&server, later),
            }
            named.push(name);
        }
    }
}

/// Returns the entries of the server map, including duplicate names.
fn every_entry(content: &str) -> Option<Vec<(String, Json)>> {
    #[derive(serde::Deserialize)]
    struct Settings {
        #[serde(alias = "servers", alias = "mcp_servers", alias = "context_servers", rename = "mcpServers")]
        servers: Entries,
    }
    let settings: Settings =
        serde_json::from_str(content).or_else(|_| serde_json::from_str(&without_comments(content))).ok()?;
    Some(settings.servers.0)
}

fn entries_of(servers: &Json) -> Vec<(String, Json)> {
    let entries = servers.as_object().into_iter().flatten();
    entries.map(|(name, server)| (name.clone(), server.clone())).collect()
}

/// Adds the risky settings of a server, or its program if it has none.
fn server(server: &Json, later: &mut DeferredExecution) {
    let before = later.settings.len();
    for field in ["url", "serverUrl", "httpUrl", "endpoint"] {
        if let Some(url) = server.get(field).and_then(Json::as_str) {
            address(url, later);
        }
    }
    let all = |field: &str| {
        let listed = server.get(field).and_then(Json::as_array).into_iter().flatten();
        listed.filter_map(Json::as_str).any(|tool| tool == "*") || server.get(field).and_then(Json::as_str) == Some("*")
    };
    if let Some(field) = ["tools", "alwaysAllow", "autoApprove", "allowedTools"].into_iter().find(|field| all(field)) {
        later.set(&["tool-server", "every-tool"], field);
    }
    let Some(command) = server.get("command").and_then(Json::as_str) else { return };
    let words: Vec<&str> =
        server.get("args").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    if let Some(word) =
        words.iter().find(|word| word.contains([';', '|', '`']) || word.contains("$(") || word.contains("&&"))
    {
        later.set(&["tool-server", "shell-signs"], *word);
    }
    let line: Vec<String> = [command.to_owned()].into_iter().chain(words.iter().map(|word| as_word(word))).collect();
    if later.settings.len() == before {
        later.set(&["tool-server", "program"], line.join(" "));
    }
    later.run_all(line.join(" "), ExecTarget::Here);
}

/// A remote server can send the agent any tools and texts.
fn address(url: &str, later: &mut DeferredExecution) {
    if !url::has(url, "own") {
        later.set(&["tool-server", "remote"], url);
    }
}

/// Adds a mounted folder of the machine if it holds keys, is a system folder or the home, or contains `..`.
pub(super) fn mount(mount: &Json, later: &mut DeferredExecution) {
    let text = mount.as_str().unwrap_or("");
    let field = |name: &str| text.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
    let source = field("source").or(field("src")).or_else(|| mount.get("source").and_then(Json::as_str)).unwrap_or("");
    let private = [".ssh", ".aws", ".gnupg", ".kube", ".config", ".docker", "docker.sock", ".netrc"];
    let parts: Vec<&str> = source.split(['/', '\\']).collect();
    let opens = parts.contains(&"..")
        || parts.iter().any(|part| private.contains(part))
        || ["/", "/etc", "/root", "/home", "/var", "/usr", "${localEnv:HOME}", "${env:HOME}"].contains(&source);
    if opens {
        later.set(&["container", "mount"], source);
    }
}
