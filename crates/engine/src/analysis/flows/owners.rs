//! Owners of keys: a key sent to the service that issued it is not a leak.

use super::graph::{Graph, Source};
use crate::analysis::effects::EffectExtractor;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::text::{glob, url};
use reflex_shell::{Command, CommandId, Piece, Value};
use reflex_tables::views::Place;
use reflex_tables::{List, Map};

/// Substrings of variable names that indicate a key or a password.
const KEYS: [&str; 8] =
    ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY", "ACCESS_KEY", "SERVICE_KEY", "ROLE_KEY"];

/// Headers that carry keys, in lower case.
const KEY_HEADERS: [&str; 7] =
    ["authorization:", "private-token:", "x-api-key:", "api-key:", "x-auth-token:", "x-vault-token:", "circle-token:"];

/// Class of the hosts to which the keys of a service may go.
const KEY_HOSTS: &str = "key-hosts";

/// Options whose values are keys.
const KEY_OPTIONS: [&str; 5] = ["-u", "--user", "--oauth2-bearer", "--password", "-a"];

/// The recipient of the data that a command sends.
pub(super) struct Owner {
    /// Hosts beyond this machine and its neighbors.
    hosts: Vec<String>,
    /// Whether one of them is not known from the text.
    is_unknown: bool,
    /// Whether data reaches them in a host name that is looked up. No service takes a key that way.
    is_lookup: bool,
}

/// A text and the flow of its content.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a, 'e> {
    pub(super) extractor: &'a EffectExtractor<'e>,
    pub(super) graph: &'a Graph,
    pub(super) commands: &'a [Command],
}

impl Owner {
    /// Returns the recipients of the data that a command sends. The readers of a message are always unknown.
    pub(super) fn new(extractor: &EffectExtractor<'_>, before: usize, id: CommandId, is_message: bool) -> Owner {
        let effects = extractor.effects.iter().skip(before).filter(|effect| effect.command == Some(id));
        let names = |effect: &&Effect| matches!(effect.kind, EffectKind::Fetch | EffectKind::Send | EffectKind::LookUp);
        let is_lookup = effects.clone().any(|effect| effect.kind == EffectKind::LookUp);
        let mut addresses = effects.filter(names).flat_map(|effect| &effect.targets).peekable();
        let is_unknown = is_message || addresses.peek().is_none();
        let mut owner = Owner { hosts: Vec::new(), is_unknown, is_lookup };
        for target in addresses {
            let address = target.value.prefix();
            match url::far_host(&address).map(str::to_ascii_lowercase).or_else(|| domain_of(&target.value)) {
                Some(host) => owner.hosts.push(host),
                None => owner.is_unknown |= !is_near(target),
            }
        }
        owner.hosts.dedup();
        owner
    }

    /// Returns whether one of the hosts is neither this machine nor a host of the project's remotes.
    pub(super) fn is_foreign(&self, extractor: &EffectExtractor<'_>) -> bool {
        if self.hosts.is_empty() {
            return self.is_unknown;
        }
        let workspace = &extractor.event.workspace;
        let config = extractor.world.content(&format!("{workspace}/.git/config")).unwrap_or_default();
        let hosts: Vec<&str> = remotes(&config).filter_map(url::far_host).collect();
        self.hosts.iter().any(|host| !hosts.iter().any(|known| known.eq_ignore_ascii_case(host)))
    }

    /// Returns whether a source is sent to a host that does not own it. In a key position, a key of unknown ownership
    /// is accepted.
    pub(super) fn is_stranger(&self, seen: Seen<'_, '_>, label: usize, in_key_position: bool) -> bool {
        let Seen { extractor, graph, commands } = seen;
        if self.hosts.is_empty() && !self.is_unknown {
            return false;
        }
        let places = extractor.tables.library().places();
        let belongs = |name: &str| self.belongs(places, name);
        match graph.sources.get(label) {
            Some(Source::Variable(name)) => belongs(name).map_or(self.is_lookup, |home| !home),
            Some(Source::Setting(name)) => belongs(name).map_or(!in_key_position, |home| !home),
            Some(Source::Effect(index)) => {
                let kind = extractor.effects.get(*index).map(|effect| effect.kind);
                let names = || graph.holders(label).filter_map(|id| commands.get(id)).flat_map(names_in);
                // Any word may show that a key may go to a host. Only the name of a key, or of a program for keys,
                // shows that it belongs to another one.
                let standing = || {
                    let known = names().filter_map(|name| Some((belongs(&name)?, name)));
                    let decisive = known.filter(|(home, name)| *home || is_key_name(name) || is_issuer(name));
                    let decisive: Vec<bool> = decisive.map(|(home, _)| home).collect();
                    if decisive.contains(&true) { Some(true) } else { decisive.first().copied() }
                };
                match kind {
                    Some(EffectKind::RevealSecret) => standing().map_or(!in_key_position, |home| !home),
                    // In a key position, one value of a complete file is selected.
                    Some(_) => !in_key_position || standing() == Some(false) || !names().any(|name| is_key_name(&name)),
                    None => false,
                }
            }
            None => false,
        }
    }

    /// Returns whether all hosts may receive the key of this name; `None` if its owner is unknown.
    fn belongs(&self, places: Map<'static, List<'static, Place<'static>>>, name: &str) -> Option<bool> {
        let all: Option<Vec<bool>> = self.hosts.iter().map(|host| may_get(places, name, host)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.into_iter().all(|may| may))
    }
}

/// Returns the domain of a host whose first labels are not known: `x.example` of `https://$A.x.example/`.
fn domain_of(address: &Value) -> Option<String> {
    let known = |piece: &Piece| piece.as_text().unwrap_or("\0").to_ascii_lowercase();
    let text: String = address.pieces.iter().map(|(piece, _)| known(piece)).collect();
    let host = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest).split(['/', '?', '#']).next()?;
    let (_, domain) = host.rsplit_once('\0')?;
    let domain = domain.strip_prefix('.')?.split(':').next()?;
    domain.contains('.').then(|| domain.to_owned())
}

/// Returns whether the target is an address of this machine or of a neighbor. A bare name may refer to any host.
fn is_near(target: &Target) -> bool {
    let is_local = |address: &str| url::has(address, "own") || address.contains("://");
    target.value.literal().is_some_and(|address| is_local(&address))
}

/// Returns whether the name is that of a program that issues the keys of one service only, which is also the prefix of
/// those keys' names.
fn is_issuer(name: &str) -> bool {
    matches!(name, "GH" | "GLAB" | "HEROKU" | "VERCEL" | "NETLIFY")
}

/// Returns whether a variable's name indicates that it holds a key.
pub(crate) fn is_key_name(name: &str) -> bool {
    KEYS.iter().any(|key| name.contains(key))
}

/// Returns the addresses in a repository's settings.
pub(super) fn remotes(config: &str) -> impl Iterator<Item = &str> {
    config.lines().filter_map(|line| line.trim().strip_prefix("url")?.trim_start().strip_prefix('=')).map(str::trim)
}

/// Returns names in a command's words that may indicate the owner of a key: `GITHUB_TOKEN`, `stripe/key`, the program's
/// own.
fn names_in(command: &Command) -> Vec<String> {
    let words = command.words.iter().filter_map(Value::literal);
    let mut names = Vec::new();
    for word in words.take(16) {
        let parts = word.split(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '_'));
        names.extend(parts.filter(|part| !part.is_empty()).map(str::to_ascii_uppercase));
    }
    names
}

/// Returns whether a host may receive the key of a variable; `None` if its owner is unknown.
fn may_get(places: Map<'static, List<'static, Place<'static>>>, name: &str, host: &str) -> Option<bool> {
    let first = name.split('_').next()?;
    let mut services = places.get(KEY_HOSTS).iter();
    let service = services.find(|service| service.subjects().iter().any(|known| known == first))?;
    Some(service.paths().iter().any(|pattern| glob::glob(pattern.as_bytes(), host.as_bytes())))
}

/// Returns whether a word is in a position where a request carries its credentials.
pub(super) fn is_key_position(command: &Command, at: usize) -> bool {
    let Some(word) = command.words.get(at) else { return false };
    let written = word.prefix().to_ascii_lowercase();
    let joined = written.strip_prefix("--header=").or_else(|| written.strip_prefix("-h")).unwrap_or(&written);
    let header = KEY_HEADERS.iter().any(|header| joined.trim_start().starts_with(header));
    let before = at.checked_sub(1).and_then(|at| command.words.get(at)).and_then(Value::literal);
    header || before.is_some_and(|before| KEY_OPTIONS.contains(&before.as_ref()))
}
