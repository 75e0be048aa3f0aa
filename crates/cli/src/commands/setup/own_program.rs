//! The copy of the program that hook entries name, with the messages about it.

use crate::error::Error;
use crate::terminal::consent::may_weaken;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use reflex_host::lasting::{Settled, Unfit, outdated_copy, own_program};
use reflex_host::namesakes::Namesake;
use reflex_host::{Context, lasting};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Copies the program to the guard's own folder if entries cannot name the one that it runs from. It is done once for a
/// home, and reported then.
///
/// # Errors
/// The copy cannot be written, or replacing an older one needs a passphrase that was not given.
pub(super) fn settle(context: &Context) -> Result<(), Error> {
    static SETTLED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut settled = SETTLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !settled.contains(&own_program(context.folders())) {
        copy(context)?;
        settled.insert(own_program(context.folders()));
    }
    Ok(())
}

fn copy(context: &Context) -> Result<(), Error> {
    if outdated_copy(context.folders()).is_some() && !may_weaken(&context.store(), "init") {
        return Err(Error::Locked("replacing the program that hooks start"));
    }
    let Settled { copied, taken } = lasting::settle(context.folders())?;
    if let Some((copy, unfit)) = copied {
        let why = match unfit {
            Unfit::Cache => "its own folder is a cache",
            Unfit::Shared => "installers of other packages write into its folder",
        };
        print(&format!("copied this program to {}, because {why}", visible(&copy.display().to_string())));
    }
    taken.iter().for_each(|(name, namesake)| print(&visible(&explained(context, name, *namesake))));
    Ok(())
}

fn explained(context: &Context, name: &Path, namesake: Namesake) -> String {
    let own = own_program(context.folders());
    let own = name.file_name().map_or(own.clone(), |name| own.with_file_name(name));
    format!("{} stays as it is: it is {namesake}; `{}` starts the guard", name.display(), own.display())
}

/// Returns the files of the program that remain after `uninstall`: the running one, and the copy for hook entries.
pub(super) fn installed(context: &Context) -> Vec<PathBuf> {
    let running = std::env::current_exe().ok();
    let copy = Some(own_program(context.folders())).filter(|copy| copy.exists() && Some(copy) != running.as_ref());
    running.into_iter().chain(copy).collect()
}
