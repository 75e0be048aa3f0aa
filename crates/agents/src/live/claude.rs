//! Launches Claude Code once, with a local scripted model.

use super::model::{Launch, Live, NO_KEY, PROMPT, Source, Stage, Standing, Text};
use super::settings_texts::{against, against_in_env, foreign_hooks, objects};
use serde_json::{Value, json};

pub(super) const LIVE: Live = Live {
    agent: "claude",
    program: "claude",
    variables: &["CLAUDE_CONFIG_DIR"],
    sources: &[
        USER,
        Source::User { variable: Some("CLAUDE_CONFIG_DIR"), folder: ".claude", name: "remote-settings.json" },
        Source::User { variable: Some("CLAUDE_CONFIG_DIR"), folder: "", name: ".claude.json" },
        Source::Project(".claude/settings.json"),
        Source::Project(".claude/settings.local.json"),
        Source::System { variable: None, file: "/etc/claude-code/managed-settings.json" },
        Source::System { variable: None, file: "/etc/claude-code/managed-settings.d/*.json" },
        Source::System { variable: None, file: "/Library/Application Support/ClaudeCode/managed-settings.json" },
    ],
    standing,
    launch,
    tool: "Bash",
    input: |command| json!({"command": command, "description": "A harmless canary"}),
    leaves: "",
};

const USER: Source = Source::User { variable: Some("CLAUDE_CONFIG_DIR"), folder: ".claude", name: "settings.json" };

/// Keys other than `env` that configure another API key, login or endpoint.
const KEYS: [&str; 6] =
    ["apiKeyHelper", "proxyAuthHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "forceLoginMethod"];

fn standing(texts: &[Text]) -> Standing {
    let against = [against_in_env(texts), against(texts, &KEYS)].concat();
    Standing { against, beside: [foreign_hooks(texts), plugins(texts)].concat() }
}

/// Lists the enabled plugins. Their contents are not inspected, so each may bring hooks.
fn plugins(texts: &[Text]) -> Vec<String> {
    let of = |(text, settings): (&Text, Value)| {
        let set = settings.get("enabledPlugins").and_then(Value::as_object).cloned().unwrap_or_default();
        let on = set.into_iter().filter(|(_, value)| value == &Value::Bool(true));
        on.map(|(name, _)| format!("the plugin `{name}` of {}", text.file)).collect::<Vec<_>>()
    };
    objects(texts).flat_map(of).collect()
}

fn launch(stage: &Stage<'_>) -> Launch {
    let mut launch = Launch::default();
    launch.argue(["-p", PROMPT, "--output-format", "json", "--no-session-persistence"]);
    launch.argue(["--permission-mode", "default", "--strict-mcp-config"]);
    launch.argue(["--mcp-config", r#"{"mcpServers":{}}"#]);
    // Takes precedence over the settings of user and project.
    let forced = json!({"env": {"ANTHROPIC_BASE_URL": stage.model, "ANTHROPIC_API_KEY": NO_KEY}});
    launch.argue(["--settings", &forced.to_string()]);
    launch.argue(["--allowedTools", &format!("Bash({})", stage.command)]);
    launch.set(&[("ANTHROPIC_BASE_URL", stage.model), ("ANTHROPIC_API_KEY", NO_KEY)]);
    launch.set(&[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")]);
    // Variables set here are not overridden by an `.env` file.
    launch.set(
        &["BEDROCK", "VERTEX", "FOUNDRY"]
            .map(|cloud| format!("CLAUDE_CODE_USE_{cloud}"))
            .each_ref()
            .map(|name| (name.as_str(), "")),
    );
    launch.set(&[("DISABLE_TELEMETRY", "1"), ("DISABLE_ERROR_REPORTING", "1")]);
    launch
}
