//! `reflex mcp` in front of the servers of a client's file, and out again to the byte.

use reflex_agents::settings::{McpFormat, ProxyCommand, Reach};

const COMMAND: ProxyCommand<'_> = ProxyCommand { binary: "/opt/re flex/reflex", home: Some("/home/me") };
const SHARED: ProxyCommand<'_> = ProxyCommand { binary: "reflex", home: None };

/// Files as people and clients write them, with the number of servers that a program starts.
const FILES: &[(McpFormat, usize, &str)] = &[
    (McpFormat::Json, 0, ""),
    (McpFormat::Json, 0, "{}\n"),
    (McpFormat::Json, 1, r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"]}}}"#),
    (
        McpFormat::Json,
        1,
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\r\n\t\t\t\"args\": [\r\n\t\t\t\t\"-y\",\r\n\t\t\t\t\"x\"\r\n\t\t\t],\r\n\t\t\t\"command\": \"npx\"\r\n\t\t}\r\n\t}\r\n}",
    ),
    (McpFormat::Json, 1, r#"{"mcpServers": {"a b": {"command": "C:\\Program Files\\s.exe", "env": {"K": "v"}}}}"#),
    (McpFormat::Json, 1, r#"{"mcpServers": {"a": {"command": "s", "args": []}}}"#),
    (McpFormat::Json, 1, r#"{"mcpServers": {"a": {"command": "s", "args": [ ]}}}"#),
    (McpFormat::Json, 1, r#"{"mcpServers": {"a": {"command": "s", "args":[]}}}"#),
    (McpFormat::Json, 1, r#"{"mcpServers": {"a": {"args": [ "x" ], "command": "caf\u00e9"}}}"#),
    (
        McpFormat::Json,
        1,
        "{\"mcpServers\": {\n  // mine\n  \"a\": {\"command\": \"s\", \"args\": [ /* c */ \"x\", ],},\n}}",
    ),
    (
        McpFormat::Json,
        0,
        r#"{"mcpServers": {"a": {"type": "http", "url": "https://x.example"}, "b": {"command": 5}, "c": 1}}"#,
    ),
    (
        McpFormat::Json,
        0,
        r#"{"mcpServers": {"a": {"command": "s", "args": [1]}, "b": {"command": "s", "command": "t"}}}"#,
    ),
    (
        McpFormat::Json,
        2,
        r#"{"projects": {"/p": {"mcpServers": {"a": {"command": "s"}}}, "/q": {}}, "mcpServers": {"a": {"command": "s", "args": ["--", "y"]}}}"#,
    ),
    (McpFormat::Toml, 0, "model = \"x\"\n"),
    (
        McpFormat::Toml,
        1,
        "# mine\n[mcp_servers.a]\ncommand = 'npx' # c\nargs = [\"-y\", 'x']\n\n[mcp_servers.a.env]\nK = \"v\"\n",
    ),
    (McpFormat::Toml, 1, "[mcp_servers.\"a b\"]\r\ncommand = \"s\"\r\n"),
    (McpFormat::Toml, 1, "[mcp_servers]\n  [mcp_servers.a]\n  command = \"s\"\n  enabled = false"),
    (McpFormat::Toml, 2, "[mcp_servers]\na = { command = \"s\" }\nb = {args = [ ], command = \"s\"}\n"),
    (McpFormat::Toml, 1, "mcp_servers.a.command = \"s\"\n"),
    (McpFormat::Toml, 1, "[mcp_servers.a]\ncommand = \"s\"\nargs = [\n  \"x\", # one\n]\n"),
    (McpFormat::Toml, 0, "[mcp_servers.a]\nurl = \"https://x.example\"\n"),
];

fn guarded(format: McpFormat, text: &str) -> usize {
    let servers = format.servers(text).unwrap();
    servers.iter().filter(|(_, reach)| matches!(reach, Reach::Guarded(_))).count()
}

fn direct(format: McpFormat, text: &str) -> usize {
    format.servers(text).unwrap().iter().filter(|(_, reach)| *reach == Reach::Direct).count()
}

#[test]
fn every_started_server_is_guarded_and_comes_back_to_the_byte() {
    for (format, count, text) in FILES {
        for command in [COMMAND, SHARED] {
            assert_eq!(direct(*format, text), *count, "{text}");
            let after = format.guarded(text, command).unwrap();
            assert_eq!((guarded(*format, &after), direct(*format, &after)), (*count, 0), "{after}");
            assert_eq!(format.unguarded(&after).unwrap(), *text, "{after}");
            assert_eq!(format.guarded(&after, command).unwrap(), after);
            assert_eq!(*count == 0, after == *text, "{after}");
        }
    }
}

#[test]
fn the_words_after_the_dashes_are_those_that_the_client_would_have_started() {
    let text = r#"{"mcpServers": {"a b": {"command": "npx", "args": ["-y", "x"], "env": {"K": "v"}}}}"#;
    let after = McpFormat::Json.guarded(text, COMMAND).unwrap();
    let after: serde_json::Value = serde_json::from_str(&after).unwrap();
    let expected = serde_json::json!({
        "command": "/opt/re flex/reflex",
        "args": ["mcp", "--home", "/home/me", "--name", "a_b", "--", "npx", "-y", "x"],
        "env": {"K": "v"},
    });
    assert_eq!(after["mcpServers"]["a b"], expected);

    let after = McpFormat::Toml.guarded("[mcp_servers.a]\ncommand = \"s\"\n", SHARED).unwrap();
    assert_eq!(after, "[mcp_servers.a]\ncommand = \"reflex\"\nargs = [\"mcp\", \"--name\", \"a\", \"--\", \"s\"]\n");
}

#[test]
fn a_file_that_its_client_wrote_again_comes_back_with_its_meaning() {
    for (_, count, text) in FILES.iter().filter(|(format, ..)| *format == McpFormat::Json) {
        let Ok(before) = serde_json::from_str::<serde_json::Value>(text) else { continue };
        let after = McpFormat::Json.guarded(text, COMMAND).unwrap();
        let after: serde_json::Value = serde_json::from_str(&after).unwrap();
        let again = serde_json::to_string_pretty(&after).unwrap();
        let back: serde_json::Value = serde_json::from_str(&McpFormat::Json.unguarded(&again).unwrap()).unwrap();
        // No list of arguments and an empty one mean the same.
        let normalized =
            |value: &serde_json::Value| value.to_string().replace(",\"args\":[]", "").replace("\"args\":[],", "");
        assert_eq!(normalized(&back), normalized(&before), "{count} {again}");
    }
}

#[test]
fn another_binary_replaces_the_one_that_is_there() {
    let text = r#"{"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}"#;
    let old = McpFormat::Json.guarded(text, COMMAND).unwrap();
    let new = McpFormat::Json.guarded(&old, SHARED).unwrap();
    assert_eq!(new, McpFormat::Json.guarded(text, SHARED).unwrap());
}

#[test]
fn other_programs_named_reflex_are_servers_like_any_other() {
    for args in [r#"["run"]"#, r#"["mcp"]"#, r#"["mcp", "list"]"#, r#"["mcp", "--"]"#] {
        let text = format!(r#"{{"mcpServers": {{"a": {{"command": "reflex", "args": {args}}}}}}}"#);
        assert_eq!(direct(McpFormat::Json, &text), 1, "{text}");
    }
}

#[test]
fn text_of_another_form_is_an_error() {
    for (format, text) in [
        (McpFormat::Json, "{"),
        (McpFormat::Json, "[]"),
        (McpFormat::Json, r#"{"mcpServers": []}"#),
        (McpFormat::Toml, "a ="),
        (McpFormat::Toml, "mcp_servers = 1"),
    ] {
        assert!(format.servers(text).is_err() && format.guarded(text, SHARED).is_err(), "{text}");
    }
}
