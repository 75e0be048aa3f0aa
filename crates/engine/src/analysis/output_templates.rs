//! Fields of a service's objects that an output expression prints. `-o jsonpath={.metadata.name}` prints a name, and
//! `-o yaml` prints everything.

use crate::text::glob;
use reflex_shell::{Invocation, Selector, Value};
use reflex_tables::views::EffectEntry;

/// Formats that print only names and dates.
const NAME_FORMATS: [&str; 3] = ["", "name", "wide"];

/// Formats that take an expression.
const WITH_EXPRESSION: [&str; 5] = ["jsonpath", "jsonpath-as-json", "go-template", "template", "custom-columns"];

/// `fields:` names the expression, and `open-fields:` the fields that are not secret. Returns whether other fields are
/// printed too.
pub(super) fn are_meant(entry: EffectEntry<'static>, invocation: &Invocation, words: &[Value]) -> bool {
    let Some(selector) = entry.fields() else { return true };
    let open: Vec<&str> = entry.open_fields().iter().collect();
    let expressions = Selector(selector).values(invocation, words);
    expressions.is_empty()
        || expressions.iter().any(|value| value.literal().is_none_or(|text| reaches_beyond(&text, &open)))
}

fn reaches_beyond(text: &str, open: &[&str]) -> bool {
    let (format, expression) = text.split_once('=').unwrap_or((text, ""));
    if NAME_FORMATS.contains(&format) {
        return false;
    }
    if !WITH_EXPRESSION.contains(&format) {
        return true;
    }
    let columns = format.starts_with("custom-columns");
    let fields = if columns { of_columns(expression) } else { of_template(expression) };
    reflex_shell::work::spend_bytes(text.len(), 20);
    let is_open = |field: &String| open.iter().any(|pattern| glob::glob(pattern.as_bytes(), field.as_bytes()));
    fields.is_none_or(|fields| !fields.iter().all(is_open))
}

/// Returns the fields of `NAME:.metadata.name,TYPE:.type`.
fn of_columns(expression: &str) -> Option<Vec<String>> {
    let column = |column: &str| plain(column.split_once(':')?.1);
    expression.split(',').map(column).collect()
}

/// Returns the fields in braces: `{.items[*].metadata.name}{"\n"}`, `{{range .items}}{{.metadata.name}}{{end}}`.
/// Returns `None` if an expression prints a complete object.
fn of_template(expression: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = expression;
    while let Some((_, after)) = rest.split_once('{') {
        let (inside, after) = after.trim_start_matches('{').split_once('}')?;
        rest = after;
        let is_loop = inside.trim_start().starts_with("range");
        let bare = without_texts(inside);
        for word in bare.split(|sign: char| sign.is_whitespace() || "()|,=<>!?&".contains(sign)) {
            // `.items[?(@.type==x)].metadata.name`: after a filter the path continues.
            let after_filter = word.strip_prefix(']');
            let row = after_filter.unwrap_or(word);
            if after_filter.is_none() && !row.starts_with(['.', '$', '@']) {
                continue;
            }
            match plain(row) {
                Some(field) => fields.push(field),
                None if is_loop || row.ends_with('[') => {}
                None => return None,
            }
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// Returns the text without quoted strings.
fn without_texts(text: &str) -> String {
    let mut quote = None;
    let outside = |ch: &char| {
        let was = quote;
        match quote {
            Some(open) if open == *ch => quote = None,
            None if matches!(ch, '"' | '\'' | '`') => quote = Some(*ch),
            Some(_) | None => {}
        }
        was.is_none() && quote.is_none()
    };
    text.chars().filter(outside).collect()
}

/// Returns `.items[*].metadata.name` as `.metadata.name`; `None` for a complete object, or a text that is not a plain
/// path of names.
fn plain(path: &str) -> Option<String> {
    let path = path.trim().trim_start_matches(['$', '@', '{']).trim_end_matches('}');
    let mut joined = String::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.split_once('[').map_or(part, |(name, _)| name);
        if name.contains(['*', ']']) {
            return None;
        }
        if !(name.is_empty() || joined.is_empty() && name == "items") {
            joined.push('.');
            joined.push_str(name);
        }
    }
    (!joined.is_empty()).then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: [&str; 3] = [".metadata.name", ".metadata.labels*", ".type"];

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(reaches_beyond(text, &OPEN), expected);
    }

    #[test]
    fn output_with_only_names_is_not_secret() {
        check("name", false);
        check("custom-columns=NAME:.metadata.name,TYPE:.type", false);
        check("jsonpath={.items[*].metadata.name}", false);
        check("jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}", false);
        check("jsonpath={.items[?(@.type==\"Opaque\")].metadata.name}", false);
        check("go-template={{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}", false);
    }

    #[test]
    fn what_reaches_the_data_is_one() {
        check("yaml", true);
        check("json", true);
        check("jsonpath={.data.password}", true);
        check("jsonpath={.data['tls.key']}", true);
        check("jsonpath={.items[*]}", true);
        check("jsonpath={.items[?(@.type==\"x\")]}", true);
        check("jsonpath={.items[?(@.type==\"x\")].data.a}", true);
        check("jsonpath={@}", true);
        check("jsonpath={.metadata.name}{.data}", true);
        check("jsonpath={.metadata}", true);
        check("jsonpath={..password}", true);
        check("custom-columns=NAME:.metadata.name,V:.data.token", true);
        check("custom-columns=V:.*", true);
        check("go-template={{range $k,$v := .data}}{{$k}}{{end}}", true);
        check("go-template={{.data.password | base64decode}}", true);
        check("go-template={{index .data \"tls.key\"}}", true);
        check("go-template-file=x", true);
        check("jsonpath-file=x", true);
    }
}
