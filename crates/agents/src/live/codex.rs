//! Launches Codex CLI once, with a local scripted model.

use super::model::{Against, Launch, Live, NO_KEY, PROMPT, Source, Stage, Standing, Text};
use super::settings_texts::{foreign_hooks, is_ours, leads_elsewhere};
use serde_json::json;

pub(super) const LIVE: Live = Live {
    agent: "codex",
    program: "codex",
    variables: &["CODEX_HOME"],
    sources: &[
        Source::User { variable: Some("CODEX_HOME"), folder: ".codex", name: "config.toml" },
        Source::User { variable: Some("CODEX_HOME"), folder: ".codex", name: "hooks.json" },
        Source::User { variable: Some("CODEX_HOME"), folder: ".codex", name: "managed_config.toml" },
        Source::User { variable: Some("CODEX_HOME"), folder: ".codex", name: ".env" },
        Source::Project(".codex/config.toml"),
        Source::Project(".codex/hooks.json"),
        Source::System { variable: None, file: "/etc/codex/config.toml" },
        Source::System { variable: None, file: "/etc/codex/managed_config.toml" },
    ],
    standing,
    launch,
    tool: "exec_command",
    input: |command| json!({"cmd": command}),
    leaves: "",
};

/// Name of the model provider, chosen so that it does not occur in anyone's settings.
const PROVIDER: &str = "reflex_canary";

fn standing(texts: &[Text]) -> Standing {
    let mut standing = Standing { against: against_in_dotenv(texts), beside: foreign_hooks(texts) };
    for text in texts.iter().filter(|text| text.file.ends_with(".toml")) {
        let lines = settings(&text.text);
        let chosen = lines.iter().find(|(key, _)| key == "profile").map(|(_, value)| value.as_str()).unwrap_or("");
        let of_profile = format!("profiles.{chosen}.model_provider");
        let is_managed = text.file.ends_with("managed_config.toml");
        for (key, value) in &lines {
            let outranks = is_managed && (key == "model_provider" || key.starts_with("model_providers."));
            if outranks || *key == of_profile || key.starts_with("forced_") || key.contains(PROVIDER) {
                standing.against.push(Against { file: text.file.clone(), key: key.clone() });
            }
            if key.starts_with("hooks.") && key.ends_with("command") && !is_ours(&format!("{value} ")) {
                standing.beside.push(format!("a hook in {}: `{value}`", text.file));
            }
        }
        let plugins = lines.iter().filter(|(key, value)| key.starts_with("plugins.") && value == "true");
        standing.beside.extend(plugins.map(|(key, _)| format!("the plugin `{key}` of {}", text.file)));
    }
    let odd = servers(texts).into_iter().filter(|name| !is_plain(name));
    standing.beside.extend(odd.map(|name| format!("the MCP server `{name}`")));
    standing
}

/// Lists the variables of the client's own `.env`, which override variables that are already set.
fn against_in_dotenv(texts: &[Text]) -> Vec<Against> {
    let of = |text: &Text| {
        let names =
            text.text.lines().filter_map(|line| Some(line.trim().trim_start_matches("export ").split_once('=')?.0));
        let leading = names.map(str::trim).filter(|name| leads_elsewhere(name));
        leading.map(|name| Against { file: text.file.clone(), key: name.to_owned() }).collect::<Vec<_>>()
    };
    texts.iter().filter(|text| text.file.ends_with("/.env")).flat_map(of).collect()
}

fn launch(stage: &Stage<'_>) -> Launch {
    let mut launch = Launch::default();
    launch.argue(["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only"]);
    let provider = |key: &str, value: &str| format!("model_providers.{PROVIDER}.{key}={value}");
    let mut forced = vec![
        // The client gives a model of this name the tool that runs commands.
        r#"model="gpt-5.5""#.to_owned(),
        format!("model_provider={}", json!(PROVIDER)),
        provider("name", r#""canary""#),
        provider("base_url", &json!(format!("{}/v1", stage.model)).to_string()),
        provider("env_key", r#""REFLEX_CANARY_KEY""#),
        provider("wire_api", r#""responses""#),
        provider("request_max_retries", "0"),
        provider("stream_max_retries", "0"),
        "check_for_update_on_startup=false".to_owned(),
        "analytics.enabled=false".to_owned(),
        "notify=[]".to_owned(),
    ];
    let plain = servers(stage.texts).into_iter().filter(|name| is_plain(name));
    forced.extend(plain.map(|name| format!("mcp_servers.{name}.enabled=false")));
    for setting in &forced {
        launch.argue(["-c", setting]);
    }
    launch.argue([PROMPT]);
    launch.set(&[("REFLEX_CANARY_KEY", NO_KEY)]);
    launch
}

/// Returns whether a command-line flag can contain this name.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns the names of the configured MCP servers.
fn servers(texts: &[Text]) -> Vec<String> {
    let tables = texts.iter().filter(|text| text.file.ends_with(".toml")).flat_map(|text| settings(&text.text));
    let named = tables.filter_map(|(key, _)| key.strip_prefix("mcp_servers.").map(first_part));
    let mut names: Vec<String> = named.collect();
    names.sort();
    names.dedup();
    names
}

fn first_part(key: &str) -> String {
    match key.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or("").to_owned(),
        None => key.split('.').next().unwrap_or("").to_owned(),
    }
}

/// Parses a TOML text into pairs of a full key and its value. Only the first line of a multi-line value is kept.
fn settings(text: &str) -> Vec<(String, String)> {
    let mut table = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_start_matches('[').split(']').next().unwrap_or("").trim().to_owned();
            found.push((table.clone(), String::new()));
        } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            let (key, value) = (key.trim(), value.trim().trim_matches('"'));
            let full_key = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
            found.push((full_key, value.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str, text: &str) -> [Text; 1] {
        [Text { source: Source::Project("config.toml"), file: file.into(), text: text.into() }]
    }

    #[test]
    fn a_profile_that_is_chosen_outranks_what_a_flag_says() {
        let keys = |file, text| {
            standing(&texts(file, text)).against.into_iter().map(|against| against.key).collect::<Vec<_>>()
        };
        let profile = "profile = \"work\"\n[profiles.work]\nmodel_provider = \"azure\"\n";
        assert_eq!(keys("config.toml", profile), ["profiles.work.model_provider"]);
        assert_eq!(keys("config.toml", "model_provider = \"azure\"\n"), Vec::<String>::new());
        assert_eq!(keys("managed_config.toml", "model_provider = \"azure\"\n"), ["model_provider"]);
        assert_eq!(keys("config.toml", "forced_login_method = \"chatgpt\"\n"), ["forced_login_method"]);
    }

    #[test]
    fn servers_are_switched_off_by_name_and_odd_names_are_told() {
        let config =
            texts("config.toml", "[mcp_servers.docs]\ncommand = \"d\"\n[mcp_servers.\"a b\"]\ncommand = \"x\"\n");
        assert_eq!(standing(&config).beside, ["the MCP server `a b`"]);
        let launch = launch(&Stage { model: "http://m", command: "c", folder: "/t", texts: &config });
        assert!(launch.arguments.contains(&"mcp_servers.docs.enabled=false".to_owned()), "{:?}", launch.arguments);
    }
}
