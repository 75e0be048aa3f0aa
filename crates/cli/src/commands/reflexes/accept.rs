//! What a person has seen of a workspace's reflexes stays accepted when they add one, and nothing else is with it.

use super::here::Here;
use crate::terminal::consent::Consent;
use reflex_host::catalog::{Home, Package};
use reflex_host::layers::{Offer, trust};
use reflex_host::reflexes::offers;

/// The list and the files that a person had accepted before a change; `None` where something stood there unseen.
pub(super) struct Before(Option<Vec<(String, String)>>);

impl Before {
    /// As it is now.
    pub(super) fn read(here: &Here, home: &Home) -> Before {
        let listed = home.entries().map_or(1, |entries| entries.len());
        Before(match offered(here, home) {
            Some(offer) if offer.accepted => Some(texts(&offer)),
            _ if listed == 0 => Some(Vec::new()),
            Some(_) | None => None,
        })
    }

    /// Accepts what stands there now, if it is what was accepted before and this package. Gives whether it did.
    pub(super) fn with(self, here: &Here, home: &Home, package: Option<&Package>, by: &str) -> Result<bool, String> {
        let Some(mut seen) = self.0 else { return Ok(false) };
        // The list of a user counts by itself.
        let Some(offer) = offered(here, home) else { return Ok(true) };
        let own = package.iter().flat_map(|package| {
            package.files.iter().map(|(path, text)| (format!("{}/{path}", package.name), text.clone()))
        });
        seen.extend(own);
        // We have written the list ourselves just now.
        let is_seen = |(name, text): &(String, String)| {
            name == "config.json" || seen.iter().any(|(known, own)| known == name && own == text)
        };
        if !texts(&offer).iter().all(is_seen) {
            return Ok(false);
        }
        let what = package.map_or("reflexes remove".to_owned(), |package| format!("reflexes add {}", package.name));
        let store = here.host.store();
        let Some(signer) = Consent::sign(&store, "Accept it for this workspace?")? else { return Ok(false) };
        trust::accept(&store, &offer.yes(by, &what), &signer).map_err(|error| format!("cannot write: {error}"))?;
        Ok(true)
    }
}

/// What a person may accept of this list; a user's own is accepted by its lock file.
fn offered(here: &Here, home: &Home) -> Option<Offer> {
    let below = home.folder.strip_prefix(&here.workspace).ok()?.display().to_string();
    let all = offers(here.host.folders(), (&here.workspace, &here.workspace), &here.host.store());
    all.into_iter().find(|offer| offer.subject().ends_with(&format!("#reflexes#{below}")))
}

fn texts(offer: &Offer) -> Vec<(String, String)> {
    offer.files.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
}
