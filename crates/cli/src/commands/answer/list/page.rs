//! Renders the open list as rows of a screen.

use super::state::{List, Pane, Question};
use crate::terminal::age::age;
use crate::terminal::screen::{Look, Row, wrapped};
use crate::terminal::visible::visible;
use crate::terminal::wrap;
use reflex_host::now;
use reflex_host::store::approvals::Pending;

/// Keys and their effects.
const KEYS: [(&str, &str); 12] = [
    ("j k", "next and previous call"),
    ("space b", "scroll the call; a yes needs all of it on the screen"),
    ("a", "approve it once"),
    ("A", "approve it for longer: scope and time"),
    ("d", "deny it"),
    ("m", "deny it and tell the agent why"),
    ("e", "have another command run in its place; its verdict is shown first"),
    ("Tab", "what was stopped earlier, and back; Enter opens one"),
    ("C", "clear the calls that were stopped earlier"),
    ("?", "this help"),
    ("q", "close the list; hooks wait no more"),
    ("", ""),
];

/// Returns the rows for a screen of this size. Records which calls are shown in full.
pub(super) fn rows(list: &mut List<'_>, width: usize, height: usize) -> Vec<Row> {
    let (now, _) = list.counts();
    let waits = match now {
        0 => "nothing waits now".to_owned(),
        1 => "1 call waits for you".to_owned(),
        count => format!("{count} calls wait for you"),
    };
    let mode = if list.mode.is_empty() { String::new() } else { format!(" · mode {}", list.mode) };
    let clock = list.call().and_then(left).map(|left| format!("{left} ")).unwrap_or_default();
    let head = padded(&format!(" reflex pending: {waits}{mode}"), width.saturating_sub(wrap::width(&clock)));
    let mut rows = vec![vec![(Look::Reversed, format!("{head}{clock}"))]];
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
        let limit = (room / 3).max(room.saturating_sub(details + 2)).max(1);
        let entries = entries(list, limit, width);
        let left = room.saturating_sub(entries.len() + 2);
        rows.extend(entries);
        rows.push(vec![(Look::Faint, "-".repeat(width))]);
        let story = story_rows(list, left, width);
        let gap = left.saturating_sub(story.len());
        rows.extend(story);
        rows.extend(std::iter::repeat_n(Vec::new(), gap));
        rows.push(vec![(Look::Faint, drawer(list))]);
    }
    rows.resize(height.saturating_sub(foot.len()), Vec::new());
    rows.extend(foot);
    rows
}

/// The question or the keys, at the lower edge.
fn foot(list: &List<'_>, width: usize) -> Vec<Row> {
    const MAX_LINES: usize = 4;
    let mut lines = words(&list.asked(), width);
    // Only the end of long input is shown.
    lines = lines.split_off(lines.len().saturating_sub(MAX_LINES));
    let news = list.news();
    let news = if news.is_empty() { None } else { Some(vec![(Look::Reversed, cut(&news, width))]) };
    let mut foot: Vec<Row> = news.into_iter().chain(lines.into_iter().map(|line| vec![(Look::Bold, line)])).collect();
    let keys = match (list.pane, list.call()) {
        (Pane::Waiting, Some(_)) => " a once  A longer  d deny  m tell  e edit  j/k move  Tab earlier  ? help  q quit",
        (Pane::Waiting, None) => " Tab earlier  ? help  q quit",
        (Pane::Earlier, _) => " j/k move  Enter open  C clear all  Tab back  ? help  q quit",
        (Pane::Opened, _) => " a next try  A longer  d deny  m tell  e edit  Esc back  ? help  q quit",
    };
    foot.push(vec![(Look::Reversed, padded(keys, width))]);
    foot
}

/// The line below the calls that names those of the other list.
fn drawer(list: &List<'_>) -> String {
    match (list.pane, list.counts()) {
        (Pane::Waiting, (_, 0)) => String::new(),
        (Pane::Waiting, (_, earlier)) => format!("  Stopped earlier ({earlier}): Tab"),
        (Pane::Earlier | Pane::Opened, (0, _)) => "  Nothing waits now: Tab".into(),
        (Pane::Earlier | Pane::Opened, (now, _)) => format!("  Waiting now ({now}): Tab"),
    }
}

fn padded(text: &str, width: usize) -> String {
    format!("{text:width$}")
}

/// Returns the part of the list around the marked call.
fn entries(list: &List<'_>, limit: usize, width: usize) -> Vec<Row> {
    let listed = list.listed();
    if listed.is_empty() {
        let text = match list.pane {
            Pane::Waiting => "  Nothing waits. Keep this open: calls appear here, and agents wait for you.",
            Pane::Earlier | Pane::Opened => "  No call was stopped earlier.",
        };
        return vec![vec![(Look::Plain, text.into())]];
    }
    let mut rows: Vec<Row> = listed.iter().map(|call| entry(call, list.is_marked(call), width)).collect();
    let mut marked = listed.iter().position(|call| list.is_marked(call)).unwrap_or(0);
    if list.pane != Pane::Waiting {
        let head = "  stopped earlier: none waits; a yes counts when its agent tries it again";
        rows.insert(0, vec![(Look::Faint, head.into())]);
        marked += 1;
    }
    let first = if marked < limit { 0 } else { marked + 1 - limit };
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
    let line = cut(&line, width);
    vec![(if is_chosen { Look::Bold } else { Look::Plain }, line)]
}

/// Returns the line, or its beginning if it is too long.
fn cut(line: &str, width: usize) -> String {
    if wrap::width(line) <= width {
        return line.to_owned();
    }
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
