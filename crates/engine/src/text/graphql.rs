//! The mutations of GraphQL documents, as they are written in a request's body or in an argument.

use super::json::lenient_json;
use reflex_shell::work;
use serde_json::Value as Json;

/// Maximum number of fields that are returned. A person calls few mutations at once.
const MAX_FIELDS: usize = 64;

/// Returns the names of the top-level fields of the document's mutations.
///
/// The text is a document or the JSON body of a request. A body that is not JSON, such as one with unknown parts, is
/// read as a document from its first mutation on.
pub(crate) fn mutations(text: &str) -> Vec<String> {
    work::spend(text.len() as u64 / 64);
    if !text.contains("mutation") {
        return Vec::new();
    }
    let is_body = text.trim_start().starts_with(['{', '[']) && text.contains("\"query\"");
    match is_body.then(|| lenient_json(text)).flatten() {
        Some(body) => queries(&body).flat_map(fields).take(MAX_FIELDS).collect(),
        None if is_body => {
            let unescaped = text.replace("\\\"", "\"").replace("\\n", "\n");
            let start = unescaped.find("mutation").unwrap_or(0);
            fields(unescaped.get(start..).unwrap_or(""))
        }
        None => fields(text),
    }
}

/// Returns the documents of a request, or of a list of requests.
fn queries(body: &Json) -> impl Iterator<Item = &str> {
    let requests = body.as_array().map_or(std::slice::from_ref(body), Vec::as_slice);
    requests.iter().filter_map(|request| request.get("query").and_then(Json::as_str))
}

fn fields(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Open selections and input objects, and open lists of arguments and variables.
    let (mut braces, mut lists) = (0usize, 0usize);
    let (mut is_start, mut is_mutation) = (true, false);
    let mut last = "";
    for token in Tokens(document) {
        is_mutation = if is_start { token == "mutation" } else { is_mutation };
        is_start = false;
        match token {
            "{" => braces += 1,
            "(" | "[" => lists += 1,
            ")" | "]" => lists = lists.saturating_sub(1),
            "}" => {
                braces = braces.saturating_sub(1);
                is_start = braces == 0 && lists == 0;
            }
            // A directive is not a field.
            field if braces == 1 && lists == 0 && is_mutation && is_name(field) && last != "@" => {
                // The word before it was an alias.
                found.truncate(found.len().saturating_sub(usize::from(last == ":")));
                found.push(field.to_owned());
            }
            _ => {}
        }
        if found.len() == MAX_FIELDS {
            break;
        }
        last = token;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// The tokens of a document: names, punctuation, and each text as one token. Comments are left out.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            self.0 = self.0.trim_start_matches(|ch: char| ch.is_whitespace() || ch == ',');
            match self.0.strip_prefix('#') {
                Some(comment) => self.0 = comment.split_once('\n').map_or("", |(_, rest)| rest),
                None => break,
            }
        }
        let first = self.0.chars().next()?;
        let length = match first {
            '"' => length_of_text(self.0),
            first if first.is_ascii_alphanumeric() || first == '_' => {
                self.0.find(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_')).unwrap_or(self.0.len())
            }
            first => first.len_utf8(),
        };
        let (token, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(token)
    }
}

fn length_of_text(text: &str) -> usize {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        return block.find("\"\"\"").map_or(text.len(), |end| end + 6);
    }
    let mut is_escaped = false;
    for (at, ch) in text.char_indices().skip(1) {
        match ch {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::mutations;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(mutations(text), expected, "{text}");
    }

    #[test]
    fn the_fields_of_a_mutation_are_found() {
        check("mutation{deleteRef(input:{refId:\"R_1\"}){clientMutationId}}", &["deleteRef"]);
        check(
            "mutation Two($a: ID!) { x: deleteIssue(input: {id: $a}) { id } archiveProject(id: 1) }",
            &["deleteIssue", "archiveProject"],
        );
        check("query { a } mutation M @b { deleteRef }", &["deleteRef"]);
        check("# mutation { a }\nmutation {\n  b # c\n}", &["b"]);
    }

    #[test]
    fn what_only_speaks_of_a_mutation_is_none() {
        check("query { mutation { deleteRef } }", &[]);
        check("{ repository { deleteBranchOnMerge } }", &[]);
        check("mutation { addComment(input: {body: \"mutation { deleteRef }\"}) { id } }", &["addComment"]);
        check("mutation { addComment(input: {body: \"\"\"a \" deleteRef\"\"\"}) { id } }", &["addComment"]);
        check("fragment mutation on A { deleteRef }", &[]);
    }

    #[test]
    fn the_body_of_a_request_holds_a_document() {
        check(r#"{"query":"mutation { deleteRef(input: {refId: \"a\"}) { id } }"}"#, &["deleteRef"]);
        check(r#"[{"query":"{ a }"},{"query":"mutation { b }"}]"#, &["b"]);
        check(r#"{"query":"query { a }","variables":{"b":"mutation { c }"}}"#, &[]);
        check(r#"{"query":"mutation { deleteRef(input: {refId: \"a"b"\"}) { id } }"}"#, &["deleteRef"]);
    }
}
