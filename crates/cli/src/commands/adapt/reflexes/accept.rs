//! Keeps a workspace's reflexes accepted after a person adds one, without accepting anything unseen.

use super::here::Here;
use crate::error::Error;
use crate::terminal::consent::Consent;
use reflex_host::catalog::{Home, Package};
use reflex_host::layers::{Offer, trust};
use reflex_host::reflexes::offers;

/// The list and the files that a person had accepted before a change; `None` if the folder held unaccepted reflexes.
pub(super) struct Before(Option<Vec<(String, String)>>);

impl Before {
    /// Reads the current state.
    pub(super) fn read(here: &Here, home: &Home) -> Before {
        let listed = home.entries().map_or(1, |entries| entries.len());
        Before(match offered(here, home) {
            Some(offer) if offer.accepted => Some(texts(&offer)),
            _ if listed == 0 => Some(Vec::new()),
            Some(_) | None => None,
        })
    }

    /// Accepts the current files if they consist of the files accepted before and this package. Returns whether it did.
    pub(super) fn with(self, here: &Here, home: &Home, package: Option<&Package>, by: &str) -> Result<bool, Error> {
        let Some(mut seen) = self.0 else { return Ok(false) };
        // A user's own list is not subject to this acceptance.
        let Some(offer) = offered(here, home) else { return Ok(true) };
        let added = package.iter().flat_map(|package| {
            package.files.iter().map(|(path, text)| (format!("{}/{path}", package.name), text.clone()))
        });
        seen.extend(added);
        // The list was just written by this command.
        let is_seen = |(name, text): &(String, String)| {
            name == "config.json"
                || seen.iter().any(|(known_name, known_text)| known_name == name && known_text == text)
        };
        if !texts(&offer).iter().all(is_seen) {
            return Ok(false);
        }
        let what = package.map_or("reflexes remove".to_owned(), |package| format!("reflexes add {}", package.name));
        let store = here.host.store();
        let signer = Consent::sign(&store, "Accept it for this workspace?")?;
        let Some(signer) = signer else { return Ok(false) };
        trust::accept(&store, &offer.approval(by, &what), &signer).map_err(Error::State)?;
        Ok(true)
    }
}

/// Returns the files of this list that a person may accept; a user's own are accepted by their lock file.
fn offered(here: &Here, home: &Home) -> Option<Offer> {
    let below = home.folder.strip_prefix(&here.workspace).ok()?.display().to_string();
    let all = offers(here.host.folders(), (&here.workspace, &here.workspace), &here.host.store());
    all.into_iter().find(|offer| offer.subject().ends_with(&format!("#reflexes#{below}")))
}

fn texts(offer: &Offer) -> Vec<(String, String)> {
    offer.files.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
}
