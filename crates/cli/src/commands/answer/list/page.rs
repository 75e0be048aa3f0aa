//! Renders the open list as rows of a screen.

use super::state::{List, Question};
use crate::terminal::age::age;
use crate::terminal::screen::{Look, Row, wrapped};
use crate::terminal::visible::visible;
use crate::terminal::wrap;
use reflex_host::now;
use reflex_host::store::approvals::Pending;

/// Keys and their effects.
const KEYS: [(&str, &str); 11] = [
    ("j k", "next and previous call"),
    ("space b", "scroll the call; a yes needs all of it on the screen"),
    ("a", "approve it once"),
    ("A", "approve it for longer: scope and time"),
    ("d", "deny it"),
    ("m", "deny it and tell the agent why"),
    ("e", "have another command run in its place; its verdict is shown first"),
    ("C", "clear the calls that were stopped earlier"),
    ("?", "this help"),
    ("q", "close the list; hooks wait no more"),
    ("", ""),
];

/// Returns the rows for a screen of this size. Records which calls are shown in full.
pub(super) fn rows(list: &mut List<'_>, width: usize, height: usize) -> Vec<Row> {
    let (now, earlier) = list.counts();
    let waits = match now {
        0 => "nothing waits now".to_owned(),
        1 => "1 call waits for you".to_owned(),
        count => format!("{count} calls wait for you"),
    };
    let stopped = if earlier > 0 { format!(", {earlier} stopped earlier") } else { String::new() };
    let mode = if list.mode.is_empty() { String::new() } else { format!(" · mode {}", list.mode) };
    let mut rows = vec![vec![(Look::Reversed, padded(&format!(" reflex pending: {waits}{stopped}{mode}"), width))]];
    let foot = foot(list, width);
    let room = height.saturating_sub(1 + foot.len());
    if list.question == Question::Help {
        rows.extend(
            KEYS.iter().map(|(keys, what)| vec![(Look::Bold, format!("  {keys:8}")), (Look::Plain, (*what).into())]),
        );
        rows.truncate(height.saturating_sub(foot.len()));
    } else {
        // The list takes the rows that the call leaves, and a third of the screen at least.
        let details = list.call().map_or(0, |call| story(call, width).len());
        let limit = (room / 3).max(room.saturating_sub(details + 1)).max(1);
        let entries = entries(list, limit, width);
        let left = room.saturating_sub(entries.len() + 1);
        rows.extend(entries);
        rows.push(vec![(Look::Faint, "-".repeat(width))]);
        rows.extend(story_rows(list, left, width));
    }
    rows.resize(height.saturating_sub(foot.len()), Vec::new());
    rows.extend(foot);
    rows
}

/// The question or the keys, at the lower edge.
fn foot(list: &List<'_>, width: usize) -> Vec<Row> {
    const MAX_LINES: usize = 4;
    let asked = list.asked();
    let mut lines = words(&asked, width);
    // Only the end of long input is shown.
    lines = lines.split_off(lines.len().saturating_sub(MAX_LINES));
    let mut foot: Vec<Row> = lines.into_iter().map(|line| vec![(Look::Bold, line)]).collect();
    let keys = " a once  A longer  d deny  m tell  e edit  C clear  j/k move  ? help  q quit";
    foot.push(vec![(Look::Reversed, padded(keys, width))]);
    foot
}

fn padded(text: &str, width: usize) -> String {
    format!("{text:width$}")
}

/// Returns the part of the list around the selected call, in the two groups.
fn entries(list: &List<'_>, limit: usize, width: usize) -> Vec<Row> {
    if list.calls.is_empty() {
        return vec![vec![(
            Look::Plain,
            "  Nothing waits. Keep this open: calls appear here, and agents wait for you.".into(),
        )]];
    }
    let (now, earlier) = list.counts();
    let head = |text: &str| vec![(Look::Faint, format!("  {text}"))];
    let mut rows: Vec<Row> = list.calls.iter().map(|call| entry(call, call.id == list.chosen, width)).collect();
    let mut chosen = list.place();
    if earlier > 0 {
        rows.insert(now, head("stopped earlier: a yes lets it run when the agent tries again"));
        chosen += usize::from(chosen >= now);
    }
    if now > 0 {
        rows.insert(0, head("waiting now"));
        chosen += 1;
    }
    // A heading stays in sight with the first call below it.
    let first = if chosen < limit { 0 } else { chosen + 1 - limit };
    rows.into_iter().skip(first).take(limit).collect()
}

fn entry(call: &Pending, is_chosen: bool, width: usize) -> Row {
    let text = call.text.lines().next().unwrap_or("");
    let mark = if is_chosen { '>' } else { ' ' };
    let line = format!(
        "{mark} {} {:>8} {:9} {}: {}",
        call.id,
        left(call).unwrap_or_else(|| age(call.time)),
        visible(&call.client),
        visible(folder_name(&call.workspace)),
        visible(text)
    );
    let line = if wrap::width(&line) > width { cut(&line, width) } else { line };
    vec![(if is_chosen { Look::Bold } else { Look::Plain }, line)]
}

/// Returns the beginning of a line that is too long.
fn cut(line: &str, width: usize) -> String {
    let first = wrapped(line, width.saturating_sub(1)).into_iter().next().unwrap_or_default();
    format!("{first}…")
}

/// Returns the time for which the call's hook still waits, if it does.
fn left(call: &Pending) -> Option<String> {
    let left = call.until.saturating_sub(now()).div_ceil(1000);
    (left > 0).then(|| format!("{left} s left"))
}

fn folder_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Returns the details of the selected call from its scroll position on.
fn story_rows(list: &mut List<'_>, room: usize, width: usize) -> Vec<Row> {
    let Some(call) = list.call() else { return Vec::new() };
    let (id, all) = (call.id.clone(), story(call, width));
    let top = list.top.min(all.len().saturating_sub(room));
    // If the rest does not fit, the last line shows how much is hidden.
    let hides = all.len() > top + room;
    let shown = if hides { room.saturating_sub(1) } else { room };
    (list.top, list.story) = (top, (all.len(), shown));
    let more = all.len().saturating_sub(top + shown);
    let mut rows: Vec<Row> = all.into_iter().skip(top).take(shown).collect();
    if hides {
        rows.push(vec![(Look::Reversed, format!(" {more} more lines: space "))]);
    } else if !list.seen.contains(&id) {
        list.seen.push(id);
    }
    rows
}

/// Returns all known details of a call, in lines.
fn story(call: &Pending, width: usize) -> Vec<Row> {
    let within = width.saturating_sub(2);
    let mut rows: Vec<Row> = vec![vec![(
        Look::Faint,
        format!("{} in {} (session {})", visible(&call.heading()), visible(&call.cwd), visible(&call.session)),
    )]];
    for line in call.lines() {
        // Every line of the call has a bar in front, so no line can pass for Reflex's own output.
        let lines = underlined(&visible(line), &call.guilty, within);
        rows.extend(lines.into_iter().map(|line| [vec![(Look::Plain, "| ".to_owned())], line].concat()));
    }
    let bound: Vec<String> = call.bound.iter().map(|bound| bound.shown.clone()).collect();
    let appeals: Vec<String> =
        call.appeals.iter().map(|appeal| format!("{} asks: {}", appeal.by, appeal.because)).collect();
    let kept: Vec<String> = call.keeping().into_iter().collect();
    let lists = [
        ("why", &call.reasons),
        ("would", &call.effects),
        ("kept", &kept),
        ("parts", &call.parts),
        ("bound", &bound),
        ("appeal", &appeals),
    ];
    for (title, items) in lists {
        for (index, item) in items.iter().enumerate() {
            let title = if index == 0 { title } else { "" };
            let lines = words(&visible(item), width.saturating_sub(8));
            rows.extend(lines.into_iter().enumerate().map(|(at, line)| {
                let title = if at == 0 { title } else { "" };
                vec![(Look::Bold, format!("{title:7} ")), (Look::Plain, line)]
            }));
        }
    }
    rows
}

/// Breaks a text at blanks; words longer than a line are broken at the edge.
fn words(text: &str, width: usize) -> Vec<String> {
    wrap::rows(text, width).iter().flat_map(|row| wrapped(row, width)).collect()
}

/// Wraps a line to a width and underlines the part for which the call was stopped.
fn underlined(line: &str, guilty: &[String], width: usize) -> Vec<Row> {
    let part = guilty.iter().map(|part| visible(part)).find(|part| !part.is_empty() && line.contains(part.as_str()));
    let (from, to) = match part.as_deref().and_then(|part| Some((line.find(part)?, part.len()))) {
        Some((at, length)) => (at, at + length),
        None => (0, 0),
    };
    let mut at = 0;
    let broken = wrapped(line, width).into_iter().map(|text| {
        let mut row: Row = Vec::new();
        for ch in text.chars() {
            let look = if (from..to).contains(&at) { Look::Underlined } else { Look::Plain };
            at += ch.len_utf8();
            match row.last_mut() {
                Some((last, text)) if *last == look => text.push(ch),
                _ => row.push((look, ch.to_string())),
            }
        }
        row
    });
    broken.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_was_stopped_for_is_underlined_across_lines() {
        let rows = underlined("ls && rm -rf x", &["rm -rf x".to_owned()], 9);
        let plain = |text: &str| (Look::Plain, text.to_owned());
        let under = |text: &str| (Look::Underlined, text.to_owned());
        assert_eq!(rows, [vec![plain("ls && "), under("rm ")], vec![under("-rf x")]]);
        assert_eq!(underlined("ls", &[], 9), [vec![plain("ls")]]);
    }

    #[test]
    fn no_row_of_a_call_is_wider_than_the_screen_and_none_obeys_it() {
        let call = Pending { text: format!("{}\u{1b}[2J\nb", "a".repeat(300)), ..Pending::default() };
        for row in story(&call, 80) {
            let text: String = row.iter().map(|(_, text)| text.as_str()).collect();
            assert!(text.chars().count() <= 80 && !text.contains('\u{1b}'), "{text}");
        }
    }
}
