//! The page for browsers without JavaScript: the waiting calls, each with a form that takes the passphrase.

use crate::waiting::visible;
use reflex_host::answers::{counts, covers, obstacle, once};
use reflex_host::person::Person;
use reflex_host::store::approvals::Pending;

/// The waiting calls, preceded by the outcome of the last answer.
pub(crate) fn list(calls: &[Pending], person: &Person, message: &str) -> String {
    let message =
        if message.is_empty() { String::new() } else { format!("<p role=\"status\">{}</p>", escaped(message)) };
    let rows =
        |waits| calls.iter().filter(|call| call.waits() == waits).map(|call| row(call, person)).collect::<String>();
    let (now, earlier) = counts(calls);
    let none = if now == 0 { "<p>No call waits now.</p>" } else { "" };
    let stopped = match earlier {
        0 => String::new(),
        count => format!("<details><summary>Stopped earlier ({count})</summary>{}</details>", rows(false)),
    };
    document(&format!("{message}{none}{}{stopped}<p><a href=\"/plain\">Look again</a></p>", rows(true)))
}

/// The page for a browser that is not authenticated yet.
pub(crate) fn door(message: &str) -> String {
    document(&format!(
        "<p role=\"status\">{}</p><form method=\"post\" action=\"/plain/enter\">\
         <label>Code from the terminal, or passphrase <input type=\"password\" name=\"proof\" required></label> \
         <button>Enter</button></form>",
        escaped(message)
    ))
}

fn row(call: &Pending, person: &Person) -> String {
    let list = |title: &str, items: &[String]| match items {
        [] => String::new(),
        items => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>", escaped(item))).collect();
            format!("<h3>{title}</h3><ul>{items}</ul>")
        }
    };
    let label = if call.waits() { "Approve once" } else { "Approve its next try" };
    let approval = match obstacle(call) {
        Some(why) => format!("<p>{}</p>", escaped(&why)),
        None => format!(
            "<p>{}</p><button name=\"decision\" value=\"allow\">{label}</button> ",
            escaped(&covers(&once(call, person, "")))
        ),
    };
    format!(
        "<section><h2>{agent}: {id}</h2><p>in {cwd}</p><pre>{text}</pre>{parts}{effects}{reasons}\
         <form method=\"post\" action=\"/plain/answer\"><input type=\"hidden\" name=\"id\" value=\"{id}\">\
         <input type=\"hidden\" name=\"exact\" value=\"{exact}\">\
         <input type=\"hidden\" name=\"until\" value=\"{until}\">\
         <p><label>Passphrase <input type=\"password\" name=\"passphrase\" required autocomplete=\"off\"></label></p>{approval}\
         <p><label>Tell the agent <input name=\"message\" maxlength=\"400\"></label></p>\
         <button name=\"decision\" value=\"deny\">Deny</button></form></section>",
        agent = escaped(&call.client),
        id = escaped(&call.id),
        exact = escaped(&call.exact),
        until = call.until,
        cwd = escaped(&call.cwd),
        text = escaped(&call.text),
        parts = list("Parts", &call.parts),
        effects = list("Would", &call.effects),
        reasons = list("Why", &call.reasons),
    )
}

fn document(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Reflex</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"stylesheet\" href=\"/app.css\"><main class=\"plain\"><h1>Reflex</h1>{body}</main></html>"
    )
}

/// Escapes untrusted text for HTML and makes invisible characters visible.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for ch in visible(text).chars() {
        match ch {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            plain => safe.push(plain),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_text_whatever_it_says() {
        let person = Person { name: "me".into() };
        let bad = "</pre><script>alert(1)</script><input name=\"decision\" value='allow'>";
        let call = Pending {
            id: "abc".into(),
            text: bad.into(),
            reasons: vec![bad.into()],
            is_complete: true,
            ..Pending::default()
        };
        let page = list(&[call], &person, bad);
        assert!(!page.contains("<script") && !page.contains("value='allow'"), "{page}");
    }
}
