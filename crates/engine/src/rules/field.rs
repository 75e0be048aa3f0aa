//! Operators over fields: conditions of user rules on a command, a path, a text.

use crate::facts::cache::Facts;
use crate::model::event::AgentPath;
use crate::model::path::{self, is_within};
use crate::model::truth::Ternary;
use crate::rules::rule_event::{FieldValue, RuleEvent};
use crate::text::glob::glob;
use reflex_tables::Node;

/// Fields that contain a path. They are compared by the file they resolve to, independent of the spelling.
const PATHS: [&str; 3] = ["file_path", "cwd", "workspace"];

/// Maximum size of a compiled pattern, in bytes. The rule compiler rejects larger ones.
pub const MAX_PATTERN: usize = 1 << 20;

/// Equivalent spellings of one path.
struct Spelling(Vec<String>);

/// A compiled condition. Its keys are read in one pass because a team may have hundreds of conditions.
struct Wanted<'a> {
    /// The field.
    name: &'a str,
    /// `matches`, `contains`, …
    op: &'a str,
    /// Operand of the operator: one text or several.
    value: Node<'a>,
    /// Whether the result is negated.
    not: bool,
    /// Whether case is ignored.
    fold: bool,
    /// Whether the value contains `{{words}}`.
    template: bool,
    /// Literals of which every match of the regex contains at least one.
    needs: Node<'a>,
}

impl<'a> Wanted<'a> {
    fn from_condition(condition: Node<'a>) -> Wanted<'a> {
        let mut wanted =
            Wanted { name: "", op: "", value: Node::NIL, not: false, fold: false, template: false, needs: Node::NIL };
        for (key, value) in condition.entries() {
            match key {
                "name" => wanted.name = value.text(),
                "op" => wanted.op = value.text(),
                "value" => wanted.value = value,
                "not" => wanted.not = value.is_true(),
                "fold" => wanted.fold = value.is_true(),
                "template" => wanted.template = value.is_true(),
                "needs" => wanted.needs = value,
                _ => {}
            }
        }
        wanted
    }
}

/// Evaluates a compiled condition.
pub(crate) fn holds(condition: Node<'_>, raised: &RuleEvent<'_>, facts: &Facts<'_>) -> Ternary {
    let wanted = Wanted::from_condition(condition);
    let FieldValue::Text(text) = raised.field(wanted.name, facts) else { return Ternary::Unknown };
    let (name, not) = (wanted.name, wanted.not);
    let question = Question { wanted, raised, facts };
    let is_path = PATHS.contains(&name) || name.ends_with(".file_path") || name.ends_with(".path");
    if !is_path || text.is_empty() {
        return Ternary::from(question.ask(&Spelling(vec![text])) != not);
    }
    if !not && question.wanted.op == "under_path" && question.takes_along(&text) {
        return Ternary::Yes;
    }
    // A negated `matches` or `under_path` is a boundary: the path is only inside if both its lexical and its resolved
    // form are. For every other condition one matching form is sufficient.
    let spellings = spellings(&text, facts);
    let boundary = ["matches", "under_path"].contains(&question.wanted.op);
    Ternary::from(match (not, boundary) {
        (false, _) => spellings.iter().any(|one| question.ask(one)),
        (true, true) => !spellings.iter().all(|one| question.ask(one)),
        (true, false) => !spellings.iter().any(|one| question.ask(one)),
    })
}

/// The spellings of the lexical path, and those of the resolved path if it differs.
fn spellings(text: &str, facts: &Facts<'_>) -> Vec<Spelling> {
    let written = AgentPath::new(text).with_slashes();
    let lexical = absolute(&written, facts);
    let real = facts.call.real_path(&lexical);
    let in_workspace = |path: &str| {
        let workspace = facts.event.workspace.as_str();
        let relative =
            if !workspace.is_empty() && is_within(path, workspace) { path.get(workspace.len()..) } else { None };
        relative.map(|rest| rest.trim_start_matches('/').to_owned())
    };
    let mut first = vec![lexical.clone()];
    first.extend(in_workspace(&lexical));
    if path::absolute(&written, "/").trim_start_matches('/') == written.trim_start_matches("./") {
        first.push(written);
    }
    let mut second = vec![real.clone()];
    second.extend(in_workspace(&real));
    if real == lexical { vec![Spelling(first)] } else { vec![Spelling(first), Spelling(second)] }
}

fn absolute(written: &str, facts: &Facts<'_>) -> String {
    let home = &facts.event.home;
    match written.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => path::absolute(&format!("{home}{rest}"), "/"),
        _ => path::absolute(written, &facts.event.cwd),
    }
}

struct Question<'a> {
    wanted: Wanted<'a>,
    raised: &'a RuleEvent<'a>,
    facts: &'a Facts<'a>,
}

impl Question<'_> {
    fn ask(&self, spelling: &Spelling) -> bool {
        let value = self.wanted.value;
        let texts = || spelling.0.iter().map(|text| self.folded(text));
        match self.wanted.op {
            "matches" => value.texts().any(|entry| self.entries(entry).any(|one| self.matches(&one, spelling))),
            "in" => value.texts().any(|one| texts().any(|text| text == self.filled(one))),
            "equals" => self.plain(|text, wanted| text == wanted, texts()),
            "contains" => self.plain(|text, wanted| text.contains(wanted), texts()),
            "starts_with" => self.plain(|text, wanted| text.starts_with(wanted), texts()),
            "ends_with" => self.plain(|text, wanted| text.ends_with(wanted), texts()),
            "under_path" => value.texts().any(|folder| self.is_under(&self.filled(folder), spelling)),
            "regex" => spelling.0.iter().any(|text| self.regex(text)),
            "greater_than" => self.number(|text, wanted| text > wanted, spelling),
            "less_than" => self.number(|text, wanted| text < wanted, spelling),
            "at_least" => self.number(|text, wanted| text >= wanted, spelling),
            "at_most" => self.number(|text, wanted| text <= wanted, spelling),
            _ => false,
        }
    }

    fn plain(&self, fits: impl Fn(&str, &str) -> bool, mut texts: impl Iterator<Item = String>) -> bool {
        let wanted = self.filled(self.wanted.value.text());
        texts.any(|text| fits(&text, &wanted))
    }

    fn number(&self, fits: impl Fn(f64, f64) -> bool, spelling: &Spelling) -> bool {
        let wanted = self.wanted.value.text().trim().parse::<f64>();
        let number = spelling.0.first().map(|text| text.trim().parse::<f64>());
        matches!((number, wanted), (Some(Ok(number)), Ok(wanted)) if fits(number, wanted))
    }

    /// Patterns of an entry of `matches`. A template may expand to several, separated by commas.
    fn entries<'e>(&self, entry: &'e str) -> Box<dyn Iterator<Item = String> + 'e> {
        if !self.wanted.template {
            return Box::new(std::iter::once(self.folded(entry)));
        }
        let filled = self.filled(entry);
        let parts: Vec<String> = filled.split(',').map(|part| part.trim().to_owned()).collect();
        Box::new(parts.into_iter().filter(|part| !part.is_empty()))
    }

    /// Matches the complete text if the entry has a star, and otherwise its beginning. The beginning of a path ends at
    /// a component.
    fn matches(&self, entry: &str, spelling: &Spelling) -> bool {
        let is_path = PATHS.contains(&self.wanted.name);
        if is_path {
            return self.path_matches(entry, spelling);
        }
        let starred = entry.contains('*');
        spelling.0.iter().any(|text| {
            let text = self.folded(text);
            if starred { star(entry, &text) } else { text.starts_with(entry) }
        })
    }

    fn path_matches(&self, entry: &str, spelling: &Spelling) -> bool {
        let home = &self.facts.event.home;
        let slashed = AgentPath::new(entry).with_slashes();
        let entry = match slashed.strip_prefix("~/") {
            Some(rest) => self.folded(&format!("{home}/{rest}")),
            None => slashed,
        };
        let starred = entry.contains('*');
        let folder = entry.trim_end_matches('/');
        spelling.0.iter().any(|text| {
            let text = self.folded(text);
            match starred {
                true => star(&entry, &text),
                false if entry.ends_with('/') || path::is_absolute(&entry) => is_within(&text, folder) || entry == "/",
                false => text.starts_with(&entry),
            }
        })
    }

    fn folder(&self, written: &str) -> String {
        match written.strip_prefix('~') {
            Some(rest) => path::absolute(&format!("{}{rest}", self.facts.event.home), "/"),
            None => path::absolute(written, &self.facts.event.workspace),
        }
    }

    /// Whether deleting a folder also deletes a folder of `under_path`.
    fn takes_along(&self, deleted: &str) -> bool {
        let Some(effect) = self.raised.effect else { return false };
        let deleted = absolute(deleted, self.facts);
        let lies_in =
            |folder: &str| self.facts.user().takes_along(effect, &deleted, &self.folder(&self.filled(folder)));
        self.wanted.value.texts().any(lies_in)
    }

    fn is_under(&self, folder: &str, spelling: &Spelling) -> bool {
        let folder = self.folded(&self.folder(folder));
        spelling.0.iter().any(|text| is_within(&self.folded(text), &folder))
    }

    fn regex(&self, text: &str) -> bool {
        let needs = self.wanted.needs;
        if !needs.is_empty() && !needs.texts().any(|needed| has(text, needed, self.wanted.fold)) {
            return false;
        }
        let pattern = self.wanted.value.text();
        let pattern = match self.wanted.template {
            true => fill(pattern, &|word| Some(escaped(&self.word(word)?))),
            false => pattern.to_owned(),
        };
        let built =
            regex_lite::RegexBuilder::new(&pattern).case_insensitive(self.wanted.fold).size_limit(MAX_PATTERN).build();
        built.is_ok_and(|regex| regex.is_match(text))
    }

    /// The pattern with its `{{words}}` filled in.
    fn filled(&self, pattern: &str) -> String {
        if !self.wanted.template {
            return self.folded(pattern);
        }
        self.folded(&fill(pattern, &|word| self.word(word)))
    }

    fn word(&self, word: &str) -> Option<String> {
        if word == "allowed_roots" {
            return Some(self.facts.call.roots().join(", "));
        }
        match self.raised.field(word, self.facts) {
            FieldValue::Text(text) if !text.is_empty() => Some(text),
            FieldValue::Text(_) | FieldValue::Unknown => None,
        }
    }

    fn folded(&self, text: &str) -> String {
        if self.wanted.fold { text.to_lowercase() } else { text.to_owned() }
    }
}

/// Matches an entry in which a star matches any text, including slashes and newlines. All other characters are literal.
fn star(entry: &str, text: &str) -> bool {
    let plain = |text: &str| text.replace('/', "\u{1}").replace('?', "\u{2}").replace('[', "\u{3}").into_bytes();
    let mut pattern = plain(entry);
    pattern.dedup_by(|one, other| *one == b'*' && *other == b'*');
    glob(&pattern, &plain(text))
}

fn has(text: &str, needed: &str, fold: bool) -> bool {
    if fold { text.to_lowercase().contains(needed) } else { text.contains(needed) }
}

/// Fills in `{{word}}`. An unknown word is left unchanged.
pub(crate) fn fill(template: &str, word: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let named = after.split_once("}}").filter(|(name, _)| !name.is_empty() && !name.contains(['{', '}']));
        let Some((name, after)) = named else {
            filled.push_str("{{");
            rest = after;
            continue;
        };
        match word(name.trim()) {
            Some(text) => filled.push_str(&text),
            None => filled.push_str(&format!("{{{{{name}}}}}")),
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// Escapes a text for use as a literal pattern.
fn escaped(text: &str) -> String {
    let special = |ch: char| ch.is_ascii_punctuation();
    text.chars().flat_map(|ch| special(ch).then_some('\\').into_iter().chain([ch])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_everything_and_other_characters_only_themselves() {
        let check = |entry, text, fits| assert_eq!(star(entry, text), fits, "{entry} {text}");
        check("*.env", "/a/b.env", true);
        check("/a/**", "/a/b/c", true);
        check("a?c", "abc", false);
        check("[a]", "a", false);
        check("[a]*", "[a]\nb", true);
    }

    #[test]
    fn templates_are_filled() {
        let word = |name: &str| (name == "a").then(|| "1".to_owned());
        assert_eq!(fill("{{a}} {{ a }} {{b}} {{", &word), "1 1 {{b}} {{");
    }
}
