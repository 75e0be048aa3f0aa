//! `reflex trust`: a person accepts the exact files in a workspace's `.reflex`.

use crate::error::Error;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::consent::Consent;
use crate::terminal::output::{complain, print};
use crate::terminal::paint::Paint;
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_engine::Event;
use reflex_host::answers::record;
use reflex_host::layers::{Offer, offer, offer_of_user, trust};
use reflex_host::reflexes::offers;
use reflex_host::store::Store;
use reflex_host::{Context, Mode};
use serde_json::json;
use similar::{ChangeTag, TextDiff};
use std::path::Path;

pub(in crate::commands) fn run(context: &Context, matches: &ArgMatches) -> u8 {
    let host = context.host(Mode::default());
    let store = host.store();
    let event = host.placed(Event::default());
    let workspace = event.workspace;
    let place = Path::new(&workspace);
    let reflexes = offers(host.folders(), (place, Path::new(&event.cwd)), &store);
    if matches.get_flag("revoke") {
        return take_back(&store, &workspace, &reflexes);
    }
    let of_user = offer_of_user(host.folders(), place, &store).filter(|of_user| !of_user.accepted);
    let of_project = offer(host.folders(), place, &store);
    let offered: Vec<Offer> = of_user.into_iter().chain(of_project).chain(reflexes).collect();
    if offered.is_empty() {
        print("nothing to trust: this workspace has no policy, rules or reflexes in .reflex");
        return exit_code::FOUND;
    }
    offered.iter().for_each(show);
    let accepted = offered.iter().all(|offered| offered.accepted);
    if matches.get_flag("show") || accepted {
        print(if accepted { "already trusted" } else { "not accepted" });
        return exit_code::OK;
    }
    let Some(person) = person(&store, "trust", &workspace) else { return exit_code::FOUND };
    print("Accepted files may loosen until one of them changes; those of this repository only here, and no core rule.");
    print("Accepted reflexes run, and have what their manifests ask for.");
    let mut consent = Consent::each(&store);
    let signer = match consent.ask("Accept exactly these?") {
        Ok(Some(signer)) => signer,
        Ok(None) => {
            print("not accepted");
            return exit_code::FOUND;
        }
        Err(problem) => return problem.report(),
    };
    let done = offered.iter().try_for_each(|offered| -> Result<(), Error> {
        let acceptance = offered.approval(&person.name, text(matches, "reason"));
        let fields = json!({"workspace": workspace, "digest": acceptance.digest, "by": acceptance.by, "reason": acceptance.reason});
        record(&store, "trust", fields)?;
        trust::accept(&store, &acceptance, signer).map_err(Error::State)
    });
    match done {
        Ok(()) => {
            print("accepted");
            exit_code::OK
        }
        Err(problem) => problem.report(),
    }
}

/// Revokes the acceptance. This only makes things safer, so anyone may do it.
fn take_back(store: &Store, workspace: &str, reflexes: &[Offer]) -> u8 {
    let revoked = trust::revoke(store, Path::new(workspace));
    let further = reflexes.iter().map(|offered| trust::revoke_as(store, offered.subject()));
    let revoked = further.fold(revoked, |all, one| Ok(all? | one?));
    match revoked {
        Ok(true) => {
            let _ = record(store, "trust-revoked", json!({"workspace": workspace}));
            print("revoked; the files of this workspace can only tighten now");
            exit_code::OK
        }
        Ok(false) => {
            print("nothing in this workspace was trusted");
            exit_code::FOUND
        }
        Err(error) => {
            complain(&error.to_string());
            exit_code::INTERNAL
        }
    }
}

/// Shows the files, or their changes since a person accepted some.
fn show(offered: &Offer) {
    let paint = Paint::of_stdout();
    for file in &offered.files {
        let before = offered.before.as_ref().and_then(|trust| {
            let known = trust.texts.iter().find(|(name, _)| *name == file.name);
            known.map(|(_, text)| text.as_str())
        });
        print(&paint.bold(&visible(&file.name)));
        if let Some(why) = &file.unread {
            print(&format!("  not read and not accepted: {}", visible(why)));
        }
        let diff = TextDiff::from_lines(before.unwrap_or(""), &file.text);
        for change in diff.iter_all_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            print(&format!("  {sign} {}", visible(change.value().trim_end_matches('\n'))));
        }
    }
    let removed = offered.before.iter().flat_map(|trust| &trust.texts);
    let removed = removed.filter(|(name, _)| !offered.files.iter().any(|file| file.name == *name));
    removed.for_each(|(name, _)| print(&format!("{} was removed", visible(name))));
}
