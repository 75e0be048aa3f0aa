//! Non-interactive launch of each client with a local scripted model, and the settings that prevent it.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod model;
mod opencode;
mod qwen;
mod settings_texts;

pub use model::{Against, Launch, Live, Source, Stage, Standing, Text};

/// All clients that support such a launch.
pub static CLIENTS: &[Live] = &[claude::LIVE, codex::LIVE, copilot::LIVE, gemini::LIVE, qwen::LIVE, opencode::LIVE];

/// Returns the client of this agent.
pub fn client(agent: &str) -> Option<&'static Live> {
    CLIENTS.iter().find(|client| client.agent == agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: Source, text: &str) -> Text {
        Text { source, file: "FILE.json".into(), text: text.into() }
    }

    #[track_caller]
    fn check(agent: &str, settings: &str, keys: &[&str], beside: &[&str]) {
        let standing = (client(agent).unwrap().standing)(&[text(Source::Project("x"), settings)]);
        let found: Vec<&str> = standing.against.iter().map(|against| against.key.as_str()).collect();
        let actual_beside: Vec<&str> = standing.beside.iter().map(String::as_str).collect();
        assert_eq!((found.as_slice(), actual_beside.as_slice()), (keys, beside), "{agent}: {settings}");
    }

    #[test]
    fn what_names_another_model_or_key_stands_against_a_start() {
        let env = r#"{"env": {"ANTHROPIC_BASE_URL": "https://x", "CLAUDE_CODE_USE_BEDROCK": "1", "EDITOR": "vi"}}"#;
        check("claude", env, &["env.ANTHROPIC_BASE_URL", "env.CLAUDE_CODE_USE_BEDROCK"], &[]);
        check("claude", r#"{"apiKeyHelper": "/bin/key"}"#, &["apiKeyHelper"], &[]);
        check("claude", r#"{"env": {"CLAUDE_CODE_USE_VERTEX": "0", "NO_PROXY": "x"}, "model": "opus"}"#, &[], &[]);
        check(
            "gemini",
            r#"{"security": {"auth": {"enforcedType": "oauth-personal"}}}"#,
            &["security.auth.enforcedType"],
            &[],
        );
        check(
            "qwen",
            r#"{"proxy": "http://x", "security": {"auth": {"selectedType": "qwen-oauth"}}}"#,
            &["proxy"],
            &[],
        );
    }

    #[test]
    fn hooks_of_others_are_named_and_ours_are_not() {
        let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"},
            {"type": "command", "command": "/my bin/reflex", "args": ["hook", "--agent", "claude"]}]}]}}"#;
        check("claude", hooks, &[], &["a hook of Stop in FILE.json: `say done`"]);
    }
}
