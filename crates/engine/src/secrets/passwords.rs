//! Passwords by their position in a command: the options, operands and input that take a password according to
//! `library/logins`.

use crate::model::analysis::Analysis;
use crate::model::words::WordFinder;
use crate::secrets::redaction::{is_no_password, looks_like_one, secret_names};
use reflex_shell::{Command, Reading, Stdin};
use reflex_tables::Tables;
use reflex_tables::views::Login;

/// Number of passwords in one call after which the search stops.
const MAX_PASSWORDS: usize = 256;

/// Values at positions where programs take a password, regardless of their form. References and samples are excluded.
pub fn passwords(analysis: &Analysis, tables: Tables) -> Vec<String> {
    let logins = tables.library().logins();
    let names = secret_names(tables);
    let mut found: Vec<String> = Vec::new();
    for reading in &analysis.readings {
        for command in &reading.commands {
            found.extend(named(tables, &names, command));
            for place in logins.get(&command.name).iter() {
                found.extend(taken(place, command, reading).into_iter().filter(|text| !is_no_password(tables, text)));
            }
            if found.len() > MAX_PASSWORDS {
                return found;
            }
        }
    }
    found
}

/// The values at one position.
fn taken(place: Login<'static>, command: &Command, reading: &Reading) -> Vec<String> {
    let words: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
    let is_present = |needed: &str| words.iter().skip(1).any(|word| word == needed || is_among(word, needed));
    if !place.with().is_absent() && !place.with().iter().any(is_present) {
        return Vec::new();
    }
    let mut texts: Vec<String> = Vec::new();
    for option in place.options().iter() {
        texts.extend(option_values(&words, option, place.joined()));
    }
    let last = place.last() as usize;
    if last > 0 {
        // `-b` may be part of a cluster, so operands are recognized by the missing dash.
        let operands: Vec<&String> = words.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
        let least = place.of() as usize;
        let at = operands.len().checked_sub(last).filter(|_| operands.len() >= least);
        texts.extend(at.and_then(|at| operands.get(at)).map(|word| (*word).clone()));
    }
    if place.input() {
        texts.extend(read_by(command, reading));
    }
    let sign = place.sign();
    if sign.is_empty() {
        return texts;
    }
    texts.iter().flat_map(|text| values_after(text, sign)).collect()
}

/// Values after each `sign` in a text, up to the end of the word; after a sign with a quote, up to the next quote.
fn values_after(text: &str, sign: &str) -> Vec<String> {
    if sign.ends_with('"') {
        let quoted = text.match_indices(sign).filter_map(|(at, _)| text.get(at + sign.len()..));
        return quoted.filter_map(|rest| rest.split(['"', '\\']).next()).map(str::to_owned).collect();
    }
    let lines = text.split(['\n', ' ']);
    lines.filter_map(|line| Some(line.split_once(sign)?.1.trim().to_owned())).collect()
}

/// Values after a word that names a secret: `config set api_token VALUE`. A word of a sentence does not count.
fn named(tables: Tables, names: &WordFinder, command: &Command) -> impl Iterator<Item = String> {
    let pairs = command.words.iter().skip(1).zip(command.words.iter().skip(2));
    pairs.filter_map(move |(name, value)| {
        let name = name.shown();
        let names_one = !name.contains([' ', '=']) && names.is_in(&name.to_ascii_lowercase());
        names_one.then(|| value.shown()).filter(|value| looks_like_one(tables, value))
    })
}

/// Whether a cluster contains a short option: `-nb` has `-b`.
fn is_among(word: &str, option: &str) -> bool {
    let ch = option.strip_prefix('-').filter(|rest| rest.len() == 1);
    let cluster = word.strip_prefix('-').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_alphabetic()));
    ch.zip(cluster).is_some_and(|(ch, cluster)| cluster.contains(ch))
}

/// Whether a cluster ends with a short option, so that its value follows: `-sSu` for `-u`.
fn ends_with_option(word: &str, option: &str) -> bool {
    is_among(word, option) && option.chars().next_back().is_some_and(|ch| word.ends_with(ch))
}

/// The values of an option: the next word, or the rest of the same word.
fn option_values(words: &[String], option: &str, joined_only: bool) -> Vec<String> {
    let long = option.starts_with("--") || option.ends_with([':', '=']);
    let mut values = Vec::new();
    for (index, word) in words.iter().enumerate().skip(1) {
        if (word == option || ends_with_option(word, option)) && !joined_only {
            values.extend(words.get(index + 1).cloned());
        } else if let Some(rest) = word.strip_prefix(option).filter(|rest| !rest.is_empty()) {
            let value = rest.strip_prefix(['=', ':']);
            let may_join = !long || option.ends_with([':', '=']);
            values.extend(value.or(Some(rest).filter(|_| may_join)).map(str::to_owned));
        }
    }
    values
}

/// The input of a command, as far as it is part of the call.
fn read_by(command: &Command, reading: &Reading) -> Vec<String> {
    let printed = |id: &usize| {
        let words = reading.commands.get(*id).map(|source| source.words.iter().skip(1).map(|word| word.shown()));
        words.map(|words| words.filter(|word| !word.starts_with('-')).collect::<Vec<_>>()).unwrap_or_default()
    };
    match &command.stdin {
        Stdin::Text(text) => text.shown().lines().map(str::to_owned).collect(),
        Stdin::Pipe(sources, _) => sources.iter().flat_map(printed).collect(),
        Stdin::Inherited | Stdin::File(_) => Vec::new(),
    }
}
