//! `permissions` of Claude Code's settings: `deny`, `ask` and `allow`, in this order.

use super::error::FormatError;
use super::reader::{Line, Reader, Wish, regex_of, words_of};
use super::report::Fate;
use serde_json::{Value, json};

pub(super) fn read(reader: &mut Reader<'_>) -> Result<(), FormatError> {
    let all: Value = serde_json::from_str(reader.text)?;
    let permissions = all.get("permissions").cloned().unwrap_or_default();
    for (list, wish) in [("deny", Wish::Block), ("ask", Wish::Ask), ("allow", Wish::Allow)] {
        let from = reader.line(&format!("\"{list}\""), 0);
        for entry in permissions.get(list).and_then(Value::as_array).into_iter().flatten() {
            let Some(text) = entry.as_str() else { continue };
            let number = reader.line(&entry.to_string(), from.saturating_sub(1));
            permission(reader, &Line { number, text: format!("{list} {text}") }, (wish, text));
        }
    }
    for folder in permissions.get("additionalDirectories").and_then(Value::as_array).into_iter().flatten() {
        let Some(folder) = folder.as_str() else { continue };
        let line = Line { number: reader.line(folder, 0), text: format!("additionalDirectories {folder}") };
        if folder.starts_with('/') || folder.starts_with("~/") {
            reader.import.roots.push(folder.into());
            reader.record(&line, Fate::Imported, "added to `allowed_roots`");
        } else {
            reader.refuse(&line, "a folder of `allowed_roots` begins at `/` or `~/`");
        }
    }
    if let Some(mode) = permissions.get("defaultMode").and_then(Value::as_str) {
        let line = Line { number: reader.line("\"defaultMode\"", 0), text: format!("defaultMode {mode}") };
        reader.refuse(&line, "an agent's mode never changes the policy; a `preset` in policy.yaml does");
    }
    Ok(())
}

fn permission(reader: &mut Reader<'_>, line: &Line, (wish, text): (Wish, &str)) {
    let (tool, inner) = match text.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (text, None),
    };
    match (tool, inner) {
        ("Bash", None | Some("" | "*" | ":*")) if wish != Wish::Allow => {
            let conditions = json!([{"field": "command", "op": "regex", "pattern": "."}]);
            reader.rule(line, wish, (&["bash_command"], &conditions), "Commands are not wanted here.");
        }
        ("Bash", Some(pattern)) if !matches!(pattern, "" | "*" | ":*") => command(reader, line, (wish, pattern)),
        (_, _) if wish == Wish::Allow => {
            let why = "calls that no rule stops pass anyway, and the agent's own prompt is never skipped";
            reader.refuse(line, why);
        }
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(pattern)) => {
            let events = ["file_write", "file_edit", "file_delete"];
            let conditions = json!([{"field": "file_path", "op": "regex", "pattern": path_regex(pattern)}]);
            reader.rule(line, wish, (&events, &conditions), "{{file_path}} is not to be changed.");
        }
        ("Read", Some(pattern)) => {
            let conditions = json!([
                {"field": "tool_name", "op": "in", "value": ["Read", "NotebookRead", "Grep", "Glob"]},
                {"field": "file_path", "op": "regex", "pattern": path_regex(pattern)},
            ]);
            let outcome = reader.rule(line, wish, (&["tool_call"], &conditions), "{{file_path}} is not to be read.");
            reader.narrow(
                outcome,
                "it covers only the agent's own tools: the library alone checks commands that read the file",
            );
        }
        ("WebFetch", Some(domain)) => web(reader, line, (wish, domain)),
        (tool, None) => named_tool(reader, line, (wish, tool)),
        (_, Some(_)) => reader.refuse(line, "the text in parentheses has no counterpart in a call"),
    }
}

/// Imports a command pattern: `npm run test:*`, `npm test`, `git * main`.
fn command(reader: &mut Reader<'_>, line: &Line, (wish, pattern): (Wish, &str)) {
    let prefix = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    match prefix {
        Some(prefix) if !prefix.contains('*') => {
            reader.command(line, wish, &words_of(prefix), (&format!("`{prefix}` is not wanted here."), 0));
        }
        None if !pattern.contains('*') && wish == Wish::Allow => reader.allow_exactly(line, pattern),
        None if !pattern.contains('*') => {
            let conditions = json!([{"matches_command": pattern}]);
            reader.rule(line, wish, (&["bash_command"], &conditions), &format!("`{pattern}` is not wanted here."));
        }
        _ if wish == Wish::Allow && pattern.starts_with('*') => {
            reader.refuse(line, "a leading `*` would allow every program");
        }
        _ if wish == Wish::Allow => {
            let glob = pattern.replace(":*", " *");
            reader.import.allow.push(json!({"glob": glob}));
            reader.record(
                line,
                Fate::Narrowed,
                "it skips Reflex's question about one plain command, but never a block",
            );
        }
        _ => {
            let conditions =
                json!([{"field": "command", "op": "regex", "pattern": regex_of(&pattern.replace(":*", "*"))}]);
            let outcome =
                reader.rule(line, wish, (&["bash_command"], &conditions), &format!("`{pattern}` is not wanted here."));
            reader.narrow(
                outcome,
                "compared with the text of the call: a command after a wrapper or in different quotes does not match",
            );
        }
    }
}

fn web(reader: &mut Reader<'_>, line: &Line, (wish, inner): (Wish, &str)) {
    let Some(domain) = inner.strip_prefix("domain:").filter(|domain| !domain.is_empty()) else {
        return reader.refuse(line, "only `domain:` is supported");
    };
    let domain = domain.trim_start_matches("*.");
    if !domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)) {
        return reader.refuse(line, "this is not a host name");
    }
    let pattern = format!(r"^[a-z]+://([^/@]*@)?([^/@:]*\.)?{}([:/?#]|$)", domain.replace('.', "\\."));
    let conditions = json!([{"field": "url", "op": "regex", "pattern": pattern, "case_insensitive": true}]);
    let outcome = reader.rule(line, wish, (&["tool_call"], &conditions), &format!("{domain} is not to be asked."));
    reader.narrow(outcome, "it covers only the agent's own tools: the library alone checks commands that fetch");
}

fn named_tool(reader: &mut Reader<'_>, line: &Line, (wish, tool): (Wish, &str)) {
    let is_server = tool.strip_prefix("mcp__").is_some_and(|rest| !rest.contains("__"));
    let name = tool.trim_end_matches('*').trim_end_matches("__");
    let conditions = if is_server || tool.ends_with('*') {
        json!([{"any": [
            {"field": "tool_name", "op": "equals", "pattern": name},
            {"field": "tool_name", "op": "starts_with", "pattern": format!("{name}__")},
        ]}])
    } else {
        json!([{"field": "tool_name", "op": "equals", "pattern": tool}])
    };
    reader.rule(line, wish, (&["tool_call"], &conditions), "The tool {{tool_name}} is not wanted here.");
}

/// Converts a pattern as in `.gitignore`: `//` is the root, `/` the project; any other may start anywhere.
fn path_regex(pattern: &str) -> String {
    let (begin, rest) = match pattern {
        _ if pattern.starts_with("//") => ("^/", pattern.trim_start_matches('/')),
        _ if pattern.starts_with("~/") => ("^(/home/[^/]+|/Users/[^/]+|/root)/", pattern.trim_start_matches("~/")),
        _ if pattern.starts_with('/') => ("^{{workspace}}/", pattern.trim_start_matches('/')),
        _ => ("(^|/)", pattern.trim_start_matches("./")),
    };
    let mut regex = String::from(begin);
    let mut chars = rest.trim_end_matches("/**").chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '*' if chars.next_if_eq(&'*').is_some() => {
                let slash = chars.next_if_eq(&'/').is_some();
                regex.push_str(if slash { "(.*/)?" } else { ".*" });
            }
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            ch if ch.is_alphanumeric() || "-_/ @".contains(ch) => regex.push(ch),
            ch => regex.extend(['\\', ch]),
        }
    }
    // The path may be a folder, which includes its contents.
    regex.push_str("(/|$)");
    regex
}
