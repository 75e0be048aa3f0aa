//! Limits for the number of waiting calls: an agent with many refusals cannot displace the calls of another one.

use super::pending::Pending;
use crate::system::clock;
use crate::system::digest::digest;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of waiting calls of one session.
pub(super) const MAX_OF_SESSION: usize = 40;

/// Number of a session's oldest calls that keep their places until they are answered or settled, because a person may
/// have read them. In the remaining places, newer calls replace each other.
const MAX_STAYING: usize = 30;

/// Maximum number of waiting calls of all sessions of one agent, whatever their ids.
pub(super) const MAX_OF_CLIENT: usize = 200;

/// Maximum number of waiting calls of all agents.
pub(super) const MAX_WAITING: usize = 400;

/// Time in milliseconds during which a call is not displaced by those of other sessions.
const SETTLED: u64 = 3_600_000;

/// The calls on the list.
pub(super) struct Waiting {
    listed: Vec<Entry>,
    grants: PathBuf,
    /// The ids of answered calls, read once: a full list asks about each of its calls.
    answered: OnceCell<HashSet<String>>,
}

/// A listed call as its file name describes it, so that counting opens no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    path: PathBuf,
    id: String,
    client: String,
    session: String,
    exact: String,
    /// The time when it was first listed, in milliseconds since 1970. A repeated call keeps its place.
    since: u64,
}

/// The file name of a call, `ID-CLIENT-SESSION-CALL-LISTED.json`.
pub(super) fn file_name(pending: &Pending) -> String {
    let Marks { client, session, exact } = Marks::new(pending);
    format!("{}-{client}-{session}-{exact}-{}.json", pending.id, pending.listed)
}

/// The id in a file's path.
pub(super) fn id_of(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.split('-').next()
}

/// The ids in the file names of a folder. Every hook calls this, so it neither builds nor parses paths.
pub(super) fn ids(folder: &Path) -> Vec<String> {
    let id = |name: &str| name.strip_suffix(".json").and_then(|stem| stem.split('-').next()).map(str::to_owned);
    names(folder).filter_map(|name| id(name.to_str()?)).collect()
}

pub(super) fn listed(folder: &Path) -> Vec<Entry> {
    let entry = |name: OsString| {
        let mut parts = name.to_str()?.strip_suffix(".json")?.split('-').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let (id, client, session, exact) = (next(), next(), next(), next());
        let since = next().parse().unwrap_or(0);
        Some(Entry { path: folder.join(&name), id, client, session, exact, since })
    };
    names(folder).filter_map(entry).collect()
}

fn names(folder: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()))
}

struct Marks {
    client: String,
    session: String,
    exact: String,
}

impl Marks {
    fn new(pending: &Pending) -> Marks {
        let mark = |text: &str| digest(text).get(..12).unwrap_or("").to_owned();
        Marks { client: mark(&pending.client), session: mark(&pending.holder()), exact: mark(&pending.exact) }
    }
}

impl Waiting {
    pub(super) fn new(listed: Vec<Entry>, grants: PathBuf) -> Waiting {
        Waiting { listed, grants, answered: OnceCell::new() }
    }

    /// The id of the same call, if it is waiting.
    pub(super) fn same(&self, pending: &Pending) -> Option<String> {
        let marks = Marks::new(pending);
        let is_it =
            |one: &&Entry| (&one.client, &one.session, &one.exact) == (&marks.client, &marks.session, &marks.exact);
        self.listed.iter().filter(is_it).find(|one| !self.is_answered(one)).map(|one| one.id.clone())
    }

    /// Removes calls from the list until there is a place for this one; returns whether it got one.
    pub(super) fn make_room(mut self, pending: &Pending, folder: &Path) -> bool {
        let marks = Marks::new(pending);
        let target = folder.join(file_name(pending));
        self.listed.retain(|one| one.path.as_os_str() != target.as_os_str());
        loop {
            let of_client = |one: &&Entry| one.client == marks.client;
            let of_session = |one: &&Entry| of_client(one) && one.session == marks.session;
            let displaced = if self.listed.iter().filter(of_session).count() >= MAX_OF_SESSION {
                self.replaceable(of_session)
            } else if self.listed.iter().filter(of_client).count() >= MAX_OF_CLIENT {
                self.oldest(|one| of_client(one) && self.is_free(one)).or_else(|| self.replaceable(of_session))
            } else if self.listed.len() >= MAX_WAITING {
                self.oldest(|one| self.is_free(one)).or_else(|| self.replaceable(of_session))
            } else {
                return true;
            };
            let Some(displaced) = displaced else { return false };
            let _ = fs::remove_file(&displaced.path);
            let _ = fs::remove_file(folder.join(format!("{}.waits", displaced.id)));
            self.listed.retain(|one| *one != displaced);
        }
    }

    fn oldest(&self, fits: impl Fn(&&Entry) -> bool) -> Option<Entry> {
        self.listed.iter().filter(fits).min_by_key(|one| one.since).cloned()
    }

    /// The call that a session gives up for a new one: a free one, else the oldest of those without a fixed place.
    fn replaceable(&self, of_session: impl Fn(&&Entry) -> bool) -> Option<Entry> {
        let free = self.oldest(|one| of_session(one) && self.is_free(one));
        free.or_else(|| {
            let mut all: Vec<&Entry> = self.listed.iter().filter(of_session).collect();
            all.sort_by_key(|one| one.since);
            all.get(MAX_STAYING).map(|one| (*one).clone())
        })
    }

    /// Whether a call's place may be taken: it was answered, or has waited long enough.
    fn is_free(&self, one: &Entry) -> bool {
        self.is_answered(one) || clock::now().saturating_sub(one.since) > SETTLED
    }

    fn is_answered(&self, one: &Entry) -> bool {
        self.answered.get_or_init(|| ids(&self.grants).into_iter().collect()).contains(&one.id)
    }
}
