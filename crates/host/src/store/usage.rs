//! The usage of a session, in a file that only sessions with a budget have: the time of the first call in thirteen
//! digits, then a `.` for each call, or an `a` for each agent that the call starts.

use super::session::SessionKey;
use super::state::Store;
use crate::system::files::{make_folder, private};
use crate::system::{clock, person};
use reflex_engine::{Event, SessionUsage};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};

/// Number of digits of the time at the beginning.
const DIGITS: usize = 13;

impl Store {
    /// Counts a call; all agents of a session share one budget. If the call cannot be counted, the budget is exhausted:
    /// otherwise an agent could evade it by damaging the file.
    pub(crate) fn spend(
        &self,
        key: SessionKey<'_>,
        event: &Event,
        started: &mut dyn Iterator<Item = &str>,
    ) -> SessionUsage {
        let agents = started.filter(|name| name.is_empty() || person::is_agent(name)).count();
        let chars = if agents > 0 { "a".repeat(agents) } else { ".".into() };
        let depth = if agents > 0 { person::agents_above() + u64::from(event.subagent.is_some()) + 1 } else { 0 };
        match self.add(key, &chars) {
            Ok((calls, agents, since)) => {
                SessionUsage { calls, minutes: clock::now().saturating_sub(since) / 60_000, agents, depth }
            }
            Err(_) => SessionUsage { calls: u64::MAX, minutes: u64::MAX, agents: u64::MAX, depth },
        }
    }

    fn add(&self, key: SessionKey<'_>, chars: &str) -> io::Result<(u64, u64, u64)> {
        make_folder(&self.sessions())?;
        let name = SessionKey { role: None, subagent: None, ..key }.file();
        let path = self.sessions().join(format!("{name}.spent"));
        // If two first calls race, one creates the file; both then append after its time.
        if let Ok(mut fresh) = private().write(true).create_new(true).open(&path) {
            fresh.write_all(format!("{:013}", clock::now()).as_bytes())?;
        }
        OpenOptions::new().append(true).open(&path)?.write_all(chars.as_bytes())?;
        let text = fs::read_to_string(&path)?;
        let (time, used) = text.split_at_checked(DIGITS).ok_or(io::ErrorKind::InvalidData)?;
        let since = time.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Ok((count(used.len()), count(used.matches('a').count()), since))
    }
}
