//! The open list of waiting calls: it shows each as it would run, and a key answers it. While it is open hooks wait for
//! its person; the key that signs stays in this process alone, and ends with it.

mod page;
mod state;

use crate::status;
use crate::terminal::consent::Consent;
use crate::terminal::output::complain;
use crate::terminal::screen::{Key, Screen};
use crate::terminal::visible::visible;
use reflex_host::answers::waiting;
use reflex_host::person::Person;
use reflex_host::store::Store;
use state::{List, Next};
use std::time::Duration;

/// So often the list looks for new calls while nobody types.
const TICK: Duration = Duration::from_millis(250);

/// After so many looks without a change the calls are read all the same.
const MAX_UNREAD: u32 = 8;

/// Shows the list until the person ends it.
pub(super) fn open(store: &Store, person: &Person) -> u8 {
    let consent = match Consent::held(store) {
        Ok(Some(consent)) => consent,
        Ok(None) => return status::FOUND,
        Err(problem) => {
            complain(&visible(&problem));
            return status::FOUND;
        }
    };
    let Some(signer) = consent.signer() else { return status::FOUND };
    let mut list = List::new(store, person, signer, is_shared());
    match Screen::begin().and_then(|mut screen| run(store, &mut list, &mut screen)) {
        Ok(()) => status::OK,
        Err(error) => {
            complain(&format!("the terminal cannot be drawn on: {error}"));
            status::INTERNAL
        }
    }
}

/// Whether this terminal takes keys from programs, as those do that stay open or are driven from outside: an agent that
/// presses two letters there shall not have said yes.
pub(super) fn is_shared() -> bool {
    const DRIVEN: [&str; 7] =
        ["TMUX", "STY", "ZELLIJ", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "VIM_TERMINAL", "NVIM"];
    DRIVEN.iter().any(|name| std::env::var_os(name).is_some())
}

fn run(store: &Store, list: &mut List<'_>, screen: &mut Screen) -> std::io::Result<()> {
    let mut present = store.be_present();
    let (mut changed, mut unread) = (None, 0);
    loop {
        // Another list may have been there before this one.
        present = present.or_else(|| store.be_present());
        let now = store.answers_changed();
        unread += 1;
        // Hundreds of calls are not read four times a second.
        if changed.replace(now) != Some(now) || unread >= MAX_UNREAD {
            list.take(waiting(store));
            unread = 0;
        }
        let (width, height) = screen.size();
        let rows = page::rows(list, width, height);
        screen.draw(&rows)?;
        let key = screen.key(TICK);
        if key != Key::Nothing && list.press(key) == Next::End {
            return Ok(());
        }
    }
}
