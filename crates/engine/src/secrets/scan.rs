//! Finds secrets in a text.

use super::assignments;
use super::forms;
use super::plausible;
use super::shapes;
use crate::model::finding::Severity;
use reflex_tables::sieve::{bucket, only};
use reflex_tables::views::SecretFormat;
use reflex_tables::{Field, Node, Tables};
use std::ops::Range;

/// A secret in a text.
#[derive(Debug, Clone)]
pub struct Secret {
    /// Its byte range in the text.
    pub span: Range<usize>,
    pub(super) sure: Sure,
    pub(super) entry: SecretFormat<'static>,
}

impl Secret {
    /// Description for a person: `a GitHub access token`.
    pub fn about(&self) -> &'static str {
        self.entry.about()
    }

    /// Id of its format: `github/token`.
    pub fn id(&self) -> &'static str {
        self.entry.id()
    }

    /// Severity of exposing it.
    pub fn severity(&self) -> Severity {
        Severity::named(self.entry.severity()).unwrap_or(Severity::High)
    }

    /// Moves the secret to the span of another of its forms.
    pub(crate) fn at(self, span: Range<usize>) -> Secret {
        Secret { span, ..self }
    }

    /// Whether a host belongs to the service that issued the secret, or `None` if its hosts are unknown.
    pub(crate) fn is_of(&self, host: &str) -> Option<bool> {
        let hosts = self.entry.hosts();
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let is_below =
            |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        (!hosts.is_absent()).then(|| hosts.iter().any(is_below))
    }

    /// The word in its redaction tag: `github-token`.
    pub(super) fn kind(&self) -> &'static str {
        self.entry.kind()
    }
}

/// Evidence for a secret, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sure {
    /// Its name or its position.
    Called,
    /// The name of a service, and the form of that service's secrets.
    Named,
    /// Its form alone.
    Formed,
}

/// Maximum number of secrets that are collected per text.
const MAX_SECRETS: usize = 4096;

/// Returns the secrets of a text in order, without overlaps. Placeholders are excluded.
pub fn find(text: &str, tables: Tables) -> Vec<Secret> {
    let mut found = Vec::new();
    scan(text, tables, &mut |at, start, after| {
        let secrets = start.items().filter_map(|candidate| meant(tables, text, at, candidate, after));
        let before = found.len();
        found.extend(secrets.take(MAX_SECRETS.saturating_sub(before)));
        let formed = found.iter().skip(before).filter(|secret| secret.sure == Sure::Formed);
        formed.map(|secret| secret.span.end).max()
    });
    apart(found)
}

/// Calls `look` at each offset where a secret may begin, with the offset, its candidates, and the end of the last
/// secret. It returns the end of the secret it found.
pub(super) fn scan(text: &str, tables: Tables, look: &mut dyn FnMut(usize, Node<'static>, usize) -> Option<usize>) {
    let formats = tables.library().secrets();
    let (sieve, starts) = (formats.sieve(), formats.starts());
    let fourths = formats.fourths();
    let spaced: Vec<(usize, Node<'static>)> =
        formats.spaced().iter().map(|pair| (pair.gap() as usize, pair.forms())).collect();
    let bytes = text.as_bytes();
    let (mut three, mut after) = (0_u32, 0);
    for (index, byte) in bytes.iter().enumerate() {
        three = three << 8 & 0xff_ff00 | u32::from(*byte);
        if *byte == b'.' {
            for (gap, forms) in &spaced {
                if bytes.get(index + gap) == Some(&b'.') {
                    after = look(index, *forms, after).unwrap_or(after);
                }
            }
        }
        if sieve.holds(three) && index >= after + 2 {
            let bucket = bucket(three);
            // Most candidates fail at the fourth byte. One bit set for all of them is cheaper than testing each
            // candidate.
            let chars = fourths.at(bucket).number();
            if bytes.get(index + 1).is_none_or(|fourth| chars & only(*fourth) != 0) {
                let start = starts.at(bucket);
                if !start.is_nil() {
                    after = look(index - 2, start, after).unwrap_or(after);
                }
            }
        }
    }
}

/// Kind of a candidate: the second item of its list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidate {
    Form,
    Name,
    Shape,
}

impl Candidate {
    pub(super) fn from_node(node: Node<'_>) -> Candidate {
        match node.at(1).number() {
            0 => Candidate::Form,
            1 => Candidate::Name,
            _ => Candidate::Shape,
        }
    }
}

/// Returns the secret if the candidate matches here.
pub(super) fn meant(tables: Tables, text: &str, at: usize, candidate: Node<'static>, after: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let word = candidate.at(0).bytes();
    let here = bytes.get(at..at + word.len())?;
    if !here.eq_ignore_ascii_case(word) {
        return None;
    }
    let (place, entry) = (at..at + word.len(), SecretFormat::read(candidate.at(2)));
    match Candidate::from_node(candidate) {
        Candidate::Form => {
            let span = forms::around(candidate, bytes, at).filter(|span| span.start >= after)?;
            let (before, after) = (bytes.get(span.start..at)?, bytes.get(place.end..span.end)?);
            let body = if before.len() > after.len() { before } else { after };
            let is_secret = plausible::is_secret(tables, entry, bytes.get(span.clone())?, body);
            is_secret.then_some(Secret { span, sure: Sure::Formed, entry })
        }
        Candidate::Name => {
            let span = of_service(tables, candidate.at(3), bytes, place)?;
            let body = bytes.get(span.clone())?;
            plausible::is_secret(tables, entry, body, body).then_some(Secret { span, sure: Sure::Named, entry })
        }
        Candidate::Shape => {
            let span = shapes::find(tables, candidate.at(3).text(), text, place)?;
            Some(Secret { span, sure: Sure::Called, entry })
        }
    }
}

/// The value of a name that contains a service, if it has one of the service's forms.
fn of_service(tables: Tables, values: Node<'_>, bytes: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let assigned = assignments::of_service(bytes, word)?;
    let span = values.items().find_map(|value| forms::from(value, bytes, assigned.value.start))?;
    // After a blank alone, the value may be a word of a sentence.
    let digits = bytes.get(span.clone())?.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_word = assigned.sign < assignments::Sign::Called && digits < 2;
    (!is_word && shapes::may_name_a_secret(tables, bytes.get(assigned.name)?)).then_some(span)
}

/// Resolves overlaps: keeps the most severe secret, and of equally severe ones the one with the strongest evidence.
pub(super) fn apart(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.span.start, std::cmp::Reverse(secret.span.end)));
    let mut kept: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match kept.last_mut().filter(|last| last.span.end > secret.span.start) {
            Some(last) if (last.severity(), last.sure) < (secret.severity(), secret.sure) => *last = secret,
            Some(_) => {}
            None => kept.push(secret),
        }
    }
    kept
}
