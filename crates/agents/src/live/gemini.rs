//! Launches Gemini CLI once, with a local scripted model.

use super::model::{Launch, Live, NO_KEY, PROMPT, Source, Stage, Standing, Text};
use super::settings_texts::{against, foreign_hooks, objects};
use serde_json::{Map, Value, json};

pub(super) const LIVE: Live = Live {
    agent: "gemini",
    program: "gemini",
    variables: &["GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"],
    sources: &[
        Source::User { variable: None, folder: ".gemini", name: "settings.json" },
        Source::Project(".gemini/settings.json"),
        SYSTEM,
        Source::System { variable: None, file: "/Library/Application Support/GeminiCli/settings.json" },
    ],
    standing,
    launch,
    tool: "run_shell_command",
    input: |command| json!({"command": command, "description": "A harmless canary"}),
    leaves: "a session below ~/.gemini/tmp",
};

const SYSTEM: Source =
    Source::System { variable: Some("GEMINI_CLI_SYSTEM_SETTINGS_PATH"), file: "/etc/gemini-cli/settings.json" };

/// Checks the settings. The system file supplied at launch outranks a login in the user's settings; an enforced login
/// type, or a login in an existing system file, prevents the launch.
fn standing(texts: &[Text]) -> Standing {
    let of_system: Vec<Text> = texts.iter().filter(|text| is_of_system(text)).cloned().collect();
    let keys = ["security.auth.enforcedType", "security.auth.useExternal"];
    let against = [against(texts, &keys), against(&of_system, &["security.auth.selectedType"])].concat();
    Standing { against, beside: foreign_hooks(texts) }
}

fn is_of_system(text: &Text) -> bool {
    matches!(text.source, Source::System { .. })
}

fn launch(stage: &Stage<'_>) -> Launch {
    let mut launch = Launch::default();
    launch.argue(["-m", "gemini-2.5-flash", "--allowed-tools", "run_shell_command", "--extensions", "none"]);
    launch.argue(["--allowed-mcp-server-names", "none", "-p", PROMPT]);
    let system_settings = objects(stage.texts).find(|(text, _)| is_of_system(text)).map(|(_, settings)| settings);
    launch.files.push(("system.json".into(), with_login(system_settings, "gemini-api-key").to_string()));
    launch.set(&[("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &format!("{}/system.json", stage.folder))]);
    launch.set(&[("GEMINI_API_KEY", NO_KEY), ("GOOGLE_GEMINI_BASE_URL", stage.model)]);
    // Variables set here are not overridden by an `.env` file.
    let empty = ["GOOGLE_API_KEY", "GOOGLE_VERTEX_BASE_URL", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
    launch.set(&empty.map(|name| (name, "")));
    launch.set(&[
        ("GOOGLE_GENAI_USE_VERTEXAI", "false"),
        ("GOOGLE_GENAI_USE_GCA", "false"),
        ("GEMINI_SANDBOX", "false"),
    ]);
    launch
}

/// Returns the existing system settings with a login by key.
fn with_login(existing: Option<Value>, login: &str) -> Value {
    let mut settings: Map<String, Value> =
        existing.and_then(|existing| existing.as_object().cloned()).unwrap_or_default();
    settings.insert("telemetry".into(), json!({"enabled": false}));
    merge(&mut settings, &["privacy"], json!({"usageStatisticsEnabled": false}));
    merge(&mut settings, &["general"], json!({"enableAutoUpdate": false, "enableAutoUpdateNotification": false}));
    merge(&mut settings, &["security", "auth"], json!({"selectedType": login}));
    settings.into()
}

/// Merges keys into the object at a path.
fn merge(settings: &mut Map<String, Value>, path: &[&str], added: Value) {
    let Some((first, rest)) = path.split_first() else {
        if let Value::Object(added) = added {
            settings.extend(added);
        }
        return;
    };
    let inner = settings.entry(*first).or_insert_with(|| json!({}));
    if let Value::Object(inner) = inner {
        merge(inner, rest, added);
    }
}
