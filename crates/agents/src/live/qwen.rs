//! Launches Qwen Code once, with a local scripted model.

use super::model::{Launch, Live, NO_KEY, PROMPT, Source, Stage, Standing, Text};
use super::settings_texts::{against, foreign_hooks};
use serde_json::json;

pub(super) const LIVE: Live = Live {
    agent: "qwen",
    program: "qwen",
    variables: &["QWEN_HOME", "QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_CODE_SYSTEM_DEFAULTS_PATH"],
    sources: &[
        Source::User { variable: Some("QWEN_HOME"), folder: ".qwen", name: "settings.json" },
        Source::Project(".qwen/settings.json"),
        Source::System { variable: Some("QWEN_CODE_SYSTEM_SETTINGS_PATH"), file: "/etc/qwen-code/settings.json" },
        Source::System { variable: None, file: "/Library/Application Support/QwenCode/settings.json" },
    ],
    standing,
    launch,
    tool: "run_shell_command",
    input: |command| json!({"command": command, "description": "A harmless canary", "is_background": false}),
    leaves: "",
};

/// Checks the settings. Flags outrank a login and an address in the settings; a proxy applies to every address.
fn standing(texts: &[Text]) -> Standing {
    let against = against(texts, &["proxy", "security.auth.enforcedType", "security.auth.useExternal"]);
    Standing { against, beside: foreign_hooks(texts) }
}

fn launch(stage: &Stage<'_>) -> Launch {
    let mut launch = Launch::default();
    let address = format!("{}/v1", stage.model);
    launch.argue(["--auth-type", "openai", "--openai-api-key", NO_KEY, "--openai-base-url", &address]);
    // The client runs its hooks after its own prompts, which cannot be answered without a terminal.
    launch.argue(["-m", "canary", "--approval-mode", "yolo", "--extensions", "none"]);
    launch.argue(["--allowed-mcp-server-names", "none", "--chat-recording=false", "--sandbox=false", "-p", PROMPT]);
    launch.set(&[("OPENAI_API_KEY", NO_KEY), ("OPENAI_BASE_URL", &address), ("OPENAI_MODEL", "canary")]);
    let empty = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
    launch.set(&empty.map(|name| (name, "")));
    launch
}
