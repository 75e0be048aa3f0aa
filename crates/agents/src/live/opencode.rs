//! Launches OpenCode once, with a local scripted model.

use super::model::{Launch, Live, NO_KEY, PROMPT, Source, Stage, Standing, Text};
use super::settings_texts::{against, names_below, objects};
use serde_json::{Map, Value, json};

pub(super) const LIVE: Live = Live {
    agent: "opencode",
    program: "opencode",
    variables: &["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
    sources: &[
        Source::User { variable: None, folder: ".config/opencode", name: "opencode.json" },
        Source::User { variable: None, folder: ".config/opencode", name: "opencode.jsonc" },
        Source::User { variable: None, folder: ".config/opencode/plugin", name: "*.js" },
        Source::User { variable: None, folder: ".config/opencode/plugin", name: "*.ts" },
        Source::User { variable: None, folder: ".config/opencode/plugins", name: "*.js" },
        Source::User { variable: None, folder: ".config/opencode/plugins", name: "*.ts" },
        Source::Project("opencode.json"),
        Source::Project("opencode.jsonc"),
        Source::Project(".opencode/opencode.json"),
        Source::Project(".opencode/plugin/*.js"),
        Source::Project(".opencode/plugin/*.ts"),
        Source::Project(".opencode/plugins/*.js"),
        Source::Project(".opencode/plugins/*.ts"),
        Source::System { variable: None, file: "/etc/opencode/opencode.json" },
    ],
    standing,
    launch,
    tool: "bash",
    input: |command| json!({"command": command, "description": "A harmless canary"}),
    leaves: "a session in its own list",
};

fn standing(texts: &[Text]) -> Standing {
    let managed: Vec<Text> =
        texts.iter().filter(|text| matches!(text.source, Source::System { .. })).cloned().collect();
    let against = against(&managed, &["model", "provider", "enabled_providers"]);
    let is_script = |text: &&Text| text.file.ends_with(".js") || text.file.ends_with(".ts");
    let scripts =
        texts.iter().filter(is_script).filter(|text| crate::settings::plugin::guard_hooks(&text.text).is_none());
    let scripts = scripts.map(|text| format!("the plugin {}", text.file));
    let named = objects(texts).flat_map(|(text, settings)| {
        let list = settings.get("plugin").and_then(Value::as_array).cloned().unwrap_or_default();
        list.into_iter().map(|plugin| format!("the plugin {plugin} of {}", text.file)).collect::<Vec<_>>()
    });
    Standing { against, beside: scripts.chain(named).collect() }
}

fn launch(stage: &Stage<'_>) -> Launch {
    let mut launch = Launch::default();
    launch.argue(["run", "--format", "json", "-m", "reflex-canary/canary", PROMPT]);
    let servers = names_below(stage.texts, "mcp").into_iter().map(|name| (name, json!({"enabled": false})));
    let config = json!({
        "share": "disabled", "autoupdate": false,
        "model": "reflex-canary/canary", "small_model": "reflex-canary/canary",
        "provider": {"reflex-canary": {"npm": "@ai-sdk/openai-compatible", "name": "Canary",
            "options": {"baseURL": format!("{}/v1", stage.model), "apiKey": NO_KEY},
            "models": {"canary": {"name": "Canary", "tool_call": true, "limit": {"context": 100_000, "output": 4000}}}}},
        "mcp": servers.collect::<Map<String, Value>>(),
    });
    launch.set(&[("OPENCODE_CONFIG_CONTENT", &config.to_string())]);
    let off =
        ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "SHARE"].map(|switch| format!("OPENCODE_DISABLE_{switch}"));
    off.iter().for_each(|name| launch.set(&[(name, "1")]));
    // Otherwise the client would fetch a package for its plugins and retry for more than a minute.
    launch.set(&[("npm_config_offline", "true"), ("npm_config_fetch_retries", "0")]);
    launch
}
