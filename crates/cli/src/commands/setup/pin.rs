//! `reflex pin`: manages the passphrase with which a person's yes is signed.

use crate::commands::setup::selection::has_hook;
use crate::error::{Error, FORGOTTEN, PassphraseMistake};
use crate::exit_code;
use crate::terminal::confirm::confirmed;
use crate::terminal::consent::may_weaken;
use crate::terminal::hidden::hidden;
use crate::terminal::output::{complain, print};
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::answers::record;
use reflex_host::person::{Person, at_terminal};
use reflex_host::signing::{InForce, MIN_PASSPHRASE, Pin, PublicKey, SigningError};
use reflex_host::store::Store;
use reflex_host::{Context, Rekeying, Wiring};
use serde_json::json;
use std::io::IsTerminal;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let store = context.store();
    if matches.get_flag("show") {
        return show(&store);
    }
    let Some(person) = person(&store, "pin", "") else { return exit_code::FOUND };
    match set(context, &store, &person) {
        Ok(code) => code,
        Err(problem) => problem.report(),
    }
}

/// Asks for the passphrase before hooks are removed; returns whether they may be.
pub(in crate::commands) fn may_remove(store: &Store) -> bool {
    let may = may_weaken(store, "uninstall");
    if !may {
        complain(&format!("the hooks stay; {FORGOTTEN}"));
    }
    may
}

/// Offers a passphrase to a person without one, at the end of `reflex init`.
pub(in crate::commands) fn offer(context: &Context) {
    let store = context.store();
    if !std::io::stdin().is_terminal() || *store.key_in_force() != InForce::Unprotected {
        return;
    }
    print("Approvals are not protected: a program that makes a terminal of its own could answer for you.");
    if !confirmed("Set a passphrase that every approval asks for? [y/N] ") {
        print("`reflex pin` sets one at any time");
        return;
    }
    let done = person(&store, "pin", "").map(|person| set(context, &store, &person));
    if let Some(Err(problem)) = done {
        problem.report();
    }
}

/// Prints the public key, for `/etc/reflex/keys/UID`.
fn show(store: &Store) -> u8 {
    match store.key_in_force() {
        InForce::Key(key) => {
            print(&key.to_string());
            exit_code::OK
        }
        InForce::Unprotected => {
            complain("no passphrase is set; `reflex pin` sets one");
            exit_code::FOUND
        }
        key @ (InForce::Disputed(_) | InForce::Detached) => {
            complain(&visible(key.problem().unwrap_or_default()));
            exit_code::FOUND
        }
    }
}

/// Key named by the entries that `reflex init` is about to write.
pub(in crate::commands) enum Named {
    /// The key in force, if any.
    AsItIs,
    /// This key, if any: a passphrase was kept but no entry named its key.
    Again(Option<PublicKey>),
}

/// Asks for the passphrase of an earlier installation, so that the entries can name its key again. If it is forgotten,
/// the user sets a new one or continues without, and earlier approvals end. Without a terminal the entries name no key:
/// the guard works, and approvals do not count.
///
/// # Errors
/// The new passphrase is too short or was mistyped, or the old one cannot be removed.
pub(in crate::commands) fn again(context: &Context) -> Result<Named, Error> {
    let store = context.store();
    if *store.key_in_force() != InForce::Detached {
        return Ok(Named::AsItIs);
    }
    let Ok(person) = at_terminal() else {
        complain("a passphrase is kept from before: no approval counts until you run `reflex init` at a terminal");
        return Ok(Named::Again(None));
    };
    print("A passphrase is kept from an earlier installation.");
    if let Ok(pin) = Pin::read(store.state()) {
        for _ in 0..MAX_TRIES {
            let Some(passphrase) = hidden("Passphrase (empty: forgotten): ").filter(|line| !line.is_empty()) else {
                break;
            };
            match pin.check(&passphrase) {
                Ok(()) => return Ok(Named::Again(Some(pin.public))),
                Err(problem) => complain(&visible(&problem.to_string())),
            }
        }
    }
    let pin = if confirmed("Set a new passphrase? Approvals, accepted files and tasks from before end. [y/N] ") {
        Some(Pin::new(store.state(), &chosen()?.ok_or(Error::NoPassphraseSet)?)?)
    } else if confirmed("Go on without a passphrase? Approvals, accepted files and tasks from before end. [y/N] ") {
        None
    } else {
        return Err(Error::Declined);
    };
    let key = pin.as_ref().map(|pin| pin.public);
    let key_text = key.map(|key| key.to_string());
    record(&store, "pin", json!({"by": person.name, "key": key_text}))?;
    match pin {
        Some(pin) => pin.keep()?,
        None => store.forget_pin().map_err(|source| Error::Unremoved { what: "the old passphrase", source })?,
    }
    store.forget_approvals().map_err(|source| Error::Unremoved { what: "earlier approvals", source })?;
    Ok(Named::Again(key))
}

fn set(context: &Context, store: &Store, person: &Person) -> Result<u8, Error> {
    let entries: Vec<Wiring> = Wiring::all(context).into_iter().filter(has_hook).collect();
    if entries.is_empty() {
        return Err(Error::NoHook);
    }
    if !knows_the_present_one(store)? {
        return Ok(exit_code::FOUND);
    }
    let Some(passphrase) = chosen()? else {
        print("no file was changed");
        return Ok(exit_code::FOUND);
    };
    let pin = Pin::new(store.state(), &passphrase)?;
    entries
        .iter()
        .for_each(|entry| print(&format!("{}: {}", entry.agent(), visible(&entry.file().display().to_string()))));
    print(&format!(
        "These entries will name the key {}; approvals, accepted files and tasks so far end.",
        pin.public.short()
    ));
    if !confirmed("Write this? [y/N] ") {
        print("no file was changed");
        return Ok(exit_code::FOUND);
    }
    record(store, "pin", json!({"by": person.name, "key": pin.public.to_string()}))?;
    pin.keep()?;
    store.forget_approvals().map_err(|source| Error::Unremoved { what: "earlier approvals", source })?;
    let rekeying: Vec<Rekeying> = entries.iter().filter_map(Rekeying::begin).collect();
    let entries: Vec<Wiring> = entries.into_iter().map(|entry| entry.with_key(Some(pin.public))).collect();
    for entry in &entries {
        entry.install().and_then(|change| entry.write(&change))?;
        print(&format!("{}: written", entry.agent()));
    }
    if !all_trusted(&entries) {
        return Ok(exit_code::FOUND);
    }
    rekeying.into_iter().for_each(Rekeying::end);
    Ok(finished(context, pin.public))
}

/// Maximum number of attempts at a passphrase. What is typed after the last one goes to the shell, and into its history.
const MAX_TRIES: usize = 3;

/// Whether the person knows the current passphrase, which is required to change it.
fn knows_the_present_one(store: &Store) -> Result<bool, Error> {
    if *store.key_in_force() == InForce::Unprotected {
        return Ok(true);
    }
    let pin = Pin::read(store.state()).map_err(Error::PresentPassphrase)?;
    if matches!(store.key_in_force(), InForce::Key(key) if *key != pin.public) {
        return Err(Error::PresentPassphrase(SigningError::OtherKey(pin.file())));
    }
    for _ in 0..MAX_TRIES {
        let Some(passphrase) = hidden("Present passphrase (empty: stop): ").filter(|line| !line.is_empty()) else {
            return Ok(false);
        };
        match pin.check(&passphrase) {
            Ok(()) => return Ok(true),
            Err(problem) => complain(&visible(&problem.to_string())),
        }
    }
    Err(Error::WrongPresentPassphrase)
}

/// Asks for a new passphrase twice, and again after a mistake; `None` if the person declines.
fn chosen() -> Result<Option<String>, Error> {
    let prompt = format!("New passphrase (at least {MIN_PASSPHRASE} characters, empty: none): ");
    let mut mistake = PassphraseMistake::Short;
    for tried in 0..MAX_TRIES {
        if tried > 0 {
            complain(&format!("{mistake}; try again"));
        }
        let Some(first) = hidden(&prompt).filter(|line| !line.is_empty()) else { return Ok(None) };
        if first.chars().count() < MIN_PASSPHRASE {
            mistake = PassphraseMistake::Short;
            continue;
        }
        match hidden("Repeat the passphrase: ") {
            Some(second) if second == first => return Ok(Some(first)),
            Some(_) => mistake = PassphraseMistake::Different,
            None => return Ok(None),
        }
    }
    Err(Error::NoNewPassphrase(mistake))
}

/// Whether all agents trust the hook. Some agents silently drop a changed hook and run unguarded until it is trusted.
fn all_trusted(entries: &[Wiring]) -> bool {
    loop {
        let mut left = 0;
        for entry in entries {
            let Some(Err(why)) = entry.trust() else { continue };
            left += 1;
            complain(&format!(
                "{} drops the changed hook until it is trusted, so it runs UNGUARDED ({}). Start {} and trust it there: /hooks",
                entry.agent(),
                visible(&why.to_string()),
                entry.agent()
            ));
        }
        if left == 0 {
            return true;
        }
        if !confirmed("Is it trusted now? Look again? [y/N] ") {
            complain(
                "not finished: the agents above run unguarded; `reflex doctor` names them until they trust the hook",
            );
            return false;
        }
    }
}

fn finished(context: &Context, key: PublicKey) -> u8 {
    let store = context.store();
    match store.key_in_force() {
        InForce::Key(found) if *found == key => {
            print("From now on an approval asks for the passphrase, and nothing that is not signed with it loosens.");
            print("If policy or rules of yours loosen anything, `reflex trust` accepts them.");
            exit_code::OK
        }
        found @ (InForce::Unprotected | InForce::Key(_) | InForce::Disputed(_) | InForce::Detached) => {
            complain(&visible(&match found.problem() {
                Some(why) => format!("not finished, and until then no approval counts: {why}"),
                None => "not finished: the entries do not name the new key; `reflex doctor` looks into it".into(),
            }));
            exit_code::FOUND
        }
    }
}
