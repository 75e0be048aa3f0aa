//! Launches Copilot CLI once, with a local scripted model.

use super::model::{Launch, Live, NO_KEY, PROMPT, Source, Stage, Standing, Text};
use super::settings_texts::{against_in_env, foreign_hooks, names_below};
use serde_json::json;

pub(super) const LIVE: Live = Live {
    agent: "copilot",
    program: "copilot",
    variables: &["COPILOT_HOME"],
    sources: &[
        Source::User { variable: Some("COPILOT_HOME"), folder: ".copilot", name: "settings.json" },
        Source::User { variable: Some("COPILOT_HOME"), folder: ".copilot", name: "config.json" },
        Source::User { variable: Some("COPILOT_HOME"), folder: ".copilot", name: "mcp-config.json" },
        Source::User { variable: Some("COPILOT_HOME"), folder: ".copilot/hooks", name: "*.json" },
        Source::Project(".github/hooks/*.json"),
        Source::Project(".github/copilot/settings.json"),
        Source::Project(".claude/settings.json"),
        Source::Project(".claude/settings.local.json"),
        Source::Project(".mcp.json"),
        Source::Project(".github/mcp.json"),
        Source::Project(".vscode/mcp.json"),
    ],
    standing: |texts| Standing { against: against_in_env(&own_settings(texts)), beside: foreign_hooks(texts) },
    launch,
    tool: "bash",
    input: |command| json!({"command": command, "description": "A harmless canary"}),
    leaves: "a session in ~/.copilot/session-state",
};

/// Returns the texts without Claude Code's files: Copilot takes only hooks from those, not other settings.
fn own_settings(texts: &[Text]) -> Vec<Text> {
    texts.iter().filter(|text| !text.file.contains("/.claude/")).cloned().collect()
}

fn launch(stage: &Stage<'_>) -> Launch {
    let mut launch = Launch::default();
    launch.argue(["-p", PROMPT, "--allow-all-tools", "--no-color", "--no-ask-user", "--disable-builtin-mcps"]);
    for key in ["mcpServers", "servers"] {
        for name in names_below(stage.texts, key) {
            launch.argue(["--disable-mcp-server", &name]);
        }
    }
    launch.set(&[("COPILOT_PROVIDER_BASE_URL", &format!("{}/v1", stage.model)), ("COPILOT_PROVIDER_TYPE", "openai")]);
    launch.set(&[("COPILOT_PROVIDER_API_KEY", NO_KEY), ("COPILOT_MODEL", "canary")]);
    launch.set(&[("COPILOT_OFFLINE", "true"), ("COPILOT_AUTO_UPDATE", "false")]);
    launch
}
