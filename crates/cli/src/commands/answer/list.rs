//! The open list of waiting calls: shows each call as it would run and answers it with a key. While the list is open,
//! hooks wait for its person. The signing key stays in this process alone and ends with it.

mod page;
mod state;
#[cfg(test)]
mod tests;

use crate::exit_code;
use crate::terminal::consent::Consent;
use crate::terminal::output::complain;
use crate::terminal::screen::Screen;
use reflex_host::Context;
use reflex_host::answers::waiting;
use reflex_host::person::Person;
use reflex_host::store::Store;
use state::{List, Next};
use std::time::Duration;

/// Interval at which the list checks for new calls while no key is pressed.
const TICK: Duration = Duration::from_millis(250);

/// Number of checks without a change after which the calls are read anyway.
const MAX_UNREAD: u32 = 8;

/// Shows the list until the person closes it.
pub(in crate::commands) fn open(context: &Context, person: &Person) -> u8 {
    let store = &context.store();
    let consent = match Consent::held(store) {
        Ok(Some(consent)) => consent,
        Ok(None) => return exit_code::FOUND,
        Err(problem) => return problem.report(),
    };
    let Some(signer) = consent.signer() else { return exit_code::FOUND };
    let mut list = List::new(context, person, signer, is_shared());
    match Screen::begin().and_then(|mut screen| run(store, &mut list, &mut screen)) {
        Ok(()) => exit_code::OK,
        Err(error) => {
            complain(&format!("the terminal cannot be drawn on: {error}"));
            exit_code::INTERNAL
        }
    }
}

/// Whether this terminal accepts keys from programs, like terminals that stay open or are driven from outside: two keys
/// pressed there by an agent must not count as a yes.
fn is_shared() -> bool {
    const DRIVEN: [&str; 7] =
        ["TMUX", "STY", "ZELLIJ", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "VIM_TERMINAL", "NVIM"];
    DRIVEN.iter().any(|name| std::env::var_os(name).is_some())
}

fn run(store: &Store, list: &mut List<'_>, screen: &mut Screen) -> std::io::Result<()> {
    let mut present = store.be_present();
    let (mut changed, mut unread) = (None, 0);
    loop {
        // Another list may have been open before this one.
        present = present.or_else(|| store.be_present());
        let now = store.waiting_changed();
        unread += 1;
        // Avoids reading hundreds of calls four times a second.
        if changed.replace(now) != Some(now) || unread >= MAX_UNREAD {
            list.take(waiting(store));
            unread = 0;
        }
        list.keep_waiting();
        let (width, height) = screen.size();
        let rows = page::rows(list, width, height);
        screen.draw(&rows)?;
        let keys = screen.keys(TICK);
        if !keys.is_empty() && list.press(&keys) == Next::End {
            return Ok(());
        }
    }
}
