//! Renders the page as one HTML file without scripts and external resources.

use super::page::{Page, Section};
use crate::terminal::visible::visible;

/// Start of the file. Its policy blocks every request, wherever the file is opened.
const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
<meta name=\"referrer\" content=\"no-referrer\">\n\
<meta name=\"viewport\" content=\"width=device-width\">\n\
<title>Reflex report</title>\n<style>\n\
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\n\
h2{font-size:1.1rem;margin:1.5rem 0 .3rem;border-bottom:1px solid #ccc}\n\
table{border-collapse:collapse;width:100%}td{padding:.1rem .5rem;vertical-align:top}\n\
td:first-child{text-align:right;width:4rem;font-variant-numeric:tabular-nums}\n\
code{white-space:pre-wrap;overflow-wrap:anywhere}\n.none{color:#666}\n\
@media (prefers-color-scheme:dark){body{color:#ddd;background:#181818}h2{border-color:#444}.none{color:#999}}\n\
</style>\n</head>\n<body>\n";

pub(super) fn page(page: &Page) -> String {
    let sections: String = page.sections.iter().map(section).collect();
    let (since, until) = (escaped(&page.since), escaped(&page.until));
    format!("{HEAD}<h1>Reflex report</h1>\n<p>from {since} to {until}</p>\n{sections}</body>\n</html>")
}

fn section(section: &Section) -> String {
    let title = escaped(section.title);
    if section.rows.is_empty() {
        return format!("<h2>{title}</h2>\n<p class=\"none\">{}</p>\n", escaped(section.nothing));
    }
    let row =
        |(count, what): &(usize, String)| format!("<tr><td>{count}</td><td><code>{}</code></td></tr>\n", escaped(what));
    let rows: String = section.rows.iter().map(row).collect();
    let more =
        if section.more > 0 { format!("<p class=\"none\">… {} more</p>\n", section.more) } else { String::new() };
    format!("<h2>{title}</h2>\n<table>\n{rows}</table>\n{more}")
}

/// Escapes text from agents as plain text; characters that hide or reorder others are shown by name.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for ch in visible(text).chars() {
        match ch {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
