//! The text that an agent and its user read: losses and remedies first, then what the user can type and the rules, and
//! what concerns the agent alone last. Some clients show their user the first three lines only.

use reflex_engine::Reason;

/// Maximum number of reasons in a text; the strictest come first.
pub const MAX_REASONS: usize = 3;

/// Maximum length of a text in characters. Longer texts fill the client's window, and people stop reading them.
const MAX_CHARACTERS: usize = 300;

/// Minimum number of characters kept of the first loss, as clients' windows truncate it there.
const MIN_LOSS: usize = 120;

/// Minimum number of characters of a further loss. A loss that does not fit is reduced to its rule.
const MIN_FURTHER: usize = 60;

/// Composes a text of at most 300 characters. `note` is a sentence about the entire call, or empty.
pub(crate) fn message(reasons: &[&Reason], note: &str, pending: Option<&str>) -> String {
    let reasons = reasons.get(..MAX_REASONS).unwrap_or(reasons);
    let allow = pending.map(|id| format!("Allow once: `reflex approve {id}`.")).unwrap_or_default();
    let tail = [&allow, &tag(reasons), note].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    let room = MAX_CHARACTERS.saturating_sub(length(&tail) + 1);
    let mut texts: Vec<(String, String)> =
        reasons.iter().map(|reason| (reason.harm.clone(), reason.remedy.clone())).collect();
    for (harm, _) in texts.iter_mut().skip(1) {
        *harm = also(harm);
    }
    // The remedies of less severe reasons are dropped first, then the ends of long losses.
    for at in (1..texts.len()).rev() {
        if total_length(&texts) > room
            && let Some((_, remedy)) = texts.get_mut(at)
        {
            remedy.clear();
        }
    }
    if total_length(&texts) > room {
        texts.iter_mut().skip(1).for_each(|(harm, _)| *harm = shortened(harm, MIN_FURTHER));
        let first = texts.first().map_or(0, |(harm, remedy)| length(harm).min(MIN_LOSS) + length(remedy) + 2);
        while texts.len() > 1 && first + total_length(texts.get(1..).unwrap_or_default()) > room {
            texts.pop();
        }
        let further = total_length(texts.get(1..).unwrap_or_default());
        if let Some((harm, remedy)) = texts.first_mut() {
            let left = room.saturating_sub(further + 2);
            *remedy = complete_sentences(remedy, left.saturating_sub(length(harm).min(MIN_LOSS))).to_owned();
            *harm = shortened(harm, left.saturating_sub(length(remedy)).max(MIN_LOSS));
        }
    }
    let parts = texts.iter().flat_map(|(harm, remedy)| [harm, remedy]).map(String::as_str).chain([tail.as_str()]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Formats the rules: `[rm/home-or-root, net/send]`.
fn tag(reasons: &[&Reason]) -> String {
    let mut rules: Vec<&str> = Vec::new();
    for reason in reasons {
        if !reason.rule.is_empty() && !rules.contains(&reason.rule.as_str()) {
            rules.push(&reason.rule);
        }
    }
    if rules.is_empty() { String::new() } else { format!("[{}]", rules.join(", ")) }
}

/// Formats a further loss without its own decision, as the first loss states the decision.
fn also(harm: &str) -> String {
    let loss = bare(harm);
    if loss.len() < harm.len() { format!("Also: {loss}") } else { harm.to_owned() }
}

/// Strips the decision from a loss.
pub(crate) fn bare(harm: &str) -> &str {
    let begins = ["Blocked: ", "Needs approval: ", "Warning: "];
    begins.iter().find_map(|begin| harm.strip_prefix(begin)).unwrap_or(harm)
}

fn total_length(texts: &[(String, String)]) -> usize {
    texts.iter().map(|(harm, remedy)| length(harm) + length(remedy) + 2).sum()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns the complete sentences that fit, as a truncated command would be a different command.
fn complete_sentences(text: &str, limit: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text };
    let kept = text.get(..end).unwrap_or(text);
    kept.rfind(". ").and_then(|end| kept.get(..=end)).unwrap_or("")
}

/// Shortens a path to `/home/…/src/main.rs`: its ends say more about a loss than its middle.
fn without_middle_folders(word: &str) -> String {
    let parts: Vec<&str> = word.split('/').collect();
    match parts.as_slice() {
        [before, first, _, _, .., folder, name] if word.starts_with(['/', '~']) => {
            format!("{before}/{first}/…/{folder}/{name}")
        }
        _ => word.to_owned(),
    }
}

/// Shortens a text by dropping the middle of its paths, then by truncating it at the last blank before the limit. An
/// open quotation is closed, so that the text after it is not attributed to its author.
fn shortened(text: &str, limit: usize) -> String {
    if length(text) <= limit {
        return text.to_owned();
    }
    let text = &text.split(' ').map(without_middle_folders).collect::<Vec<_>>().join(" ");
    if length(text) <= limit {
        return text.clone();
    }
    // The ellipsis and a closing quotation mark take two characters.
    let end = text.char_indices().nth(limit.saturating_sub(2)).map_or(text.len(), |(end, _)| end);
    let kept = text.get(..end).unwrap_or(text);
    let kept = kept.rsplit_once(' ').map_or(kept, |(before, _)| before).trim_end_matches([' ', ',', '.', ';', ':']);
    let is_open = kept.matches('"').count() % 2 == 1;
    format!("{kept}…{}", if is_open { "\"" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(harm: &str, remedy: &str, rule: &str) -> Reason {
        Reason { harm: harm.into(), remedy: remedy.into(), rule: rule.into(), full: String::new() }
    }

    #[test]
    fn what_the_user_can_type_stands_before_what_concerns_the_agent() {
        let one = reason("Blocked: would delete a.", "Name it.", "rm/home-or-root");
        let other = reason("Blocked: would send b.", "", "net/send");
        assert_eq!(message(&[&one], "", None), "Blocked: would delete a. Name it. [rm/home-or-root]");
        assert_eq!(
            message(&[&one, &other], "Ask.", Some("h4b")),
            "Blocked: would delete a. Name it. Also: would send b. Allow once: `reflex approve h4b`. [rm/home-or-root, net/send] Ask."
        );
        assert_eq!(message(&[&Reason::plain("Blocked: no.")], "", None), "Blocked: no.");
    }

    #[test]
    fn a_long_text_keeps_each_loss_the_first_way_on_and_the_tag() {
        let long = |what: &str| format!("Blocked: would {what} {}.", "/a/long/path/of/a/file, ".repeat(30));
        let (one, other) = (long("delete"), long("overwrite"));
        let one = reason(&one, "Name one folder.", "rm/home-or-root");
        let other = reason(&other, "Write elsewhere.", "write/protected");
        let text = message(&[&one, &other], "", Some("h4bhn4t"));
        assert!(length(&text) <= MAX_CHARACTERS, "{} {text}", length(&text));
        assert!(text.contains("Name one folder.") && text.contains("Also: would overwrite /a/…/a/file"), "{text}");
        assert!(text.ends_with("Allow once: `reflex approve h4bhn4t`. [rm/home-or-root, write/protected]"), "{text}");
    }

    #[test]
    fn a_path_loses_its_middle_before_a_loss_loses_its_end() {
        let path = format!("/build/{}my project/.tool/plugin/other.js", "folder/".repeat(12));
        let one = reason(&format!("Needs approval: would change {path}."), &"Ask first. ".repeat(12), "guard/settings");
        let text = message(&[&one], "", Some("h4bhn4t"));
        assert!(
            text.starts_with("Needs approval: would change /build/…/folder/my project/.tool/plugin/other.js."),
            "{text}"
        );
        assert!(length(&text) <= MAX_CHARACTERS, "{text}");
    }

    #[test]
    fn a_remedy_is_whole_or_loses_sentences() {
        let way = format!("Run `git stash`. {}", "Then go on and on. ".repeat(20));
        let one = reason("Blocked: would discard work.", &way, "git/discard-changes");
        let text = message(&[&one], "", None);
        assert!(length(&text) <= MAX_CHARACTERS && text.ends_with("go on and on. [git/discard-changes]"), "{text}");
        let command = format!("Run `tool {}` first.", "--option ".repeat(40));
        let one = reason("Blocked: would discard work.", &command, "git/discard-changes");
        assert_eq!(message(&[&one], "", None), "Blocked: would discard work. [git/discard-changes]");
    }
}
