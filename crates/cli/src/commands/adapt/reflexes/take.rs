//! `reflexes add`, `remove`, `update`: only a person who saw the change changes what decides over calls.

use super::accept::Before;
use super::here::Here;
use super::show;
use crate::error::{Error, ReflexError};
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::confirm::confirmed;
use crate::terminal::consent::{Consent, may_weaken};
use crate::terminal::output::print;
use crate::terminal::person::person;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use reflex_host::Context;
use reflex_host::answers::record;
use reflex_host::catalog::{Entry, Home, Locked, Origin, Package, name_of, pack, problems};
use reflex_host::layers::accept_reflex;
use reflex_host::signing::InForce;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn add(context: &Context, matches: &ArgMatches) -> u8 {
    let here = Here::new(context);
    let wanted = match wanted(matches, &here) {
        Ok(wanted) => wanted,
        Err(error) => return error.report(),
    };
    // A failed reflex of a pack stops the reflexes after it.
    for (source, with) in wanted {
        let done = match plan(matches, &here, (&source, with)) {
            Ok(plan) if matches.get_flag("show") => {
                show::card(&plan.package, &plan.origin.shown());
                show::files(&plan.package, None);
                exit_code::OK
            }
            Ok(plan) => carry_out(&here, &plan),
            Err(error) => error.report(),
        };
        if done != exit_code::OK {
            return done;
        }
    }
    exit_code::OK
}

/// Returns the reflexes to add, with their options. A pack yields each of its reflexes.
fn wanted(matches: &ArgMatches, here: &Here) -> Result<Vec<(String, Option<Value>)>, Error> {
    let source = text(matches, "source");
    let with = match matches.get_one::<String>("with") {
        None => None,
        Some(text) => match serde_json::from_str(text) {
            Ok(with @ Value::Object(_)) => Some(with),
            Ok(_) => return Err(ReflexError::OptionsNotObject.into()),
            Err(error) => return Err(ReflexError::OptionsNotJson(error).into()),
        },
    };
    let Some(pack) = pack(&here.cwd.join(source))? else { return Ok(vec![(source.to_owned(), with)]) };
    if pack.reflexes.is_empty() {
        return Err(ReflexError::EmptyPack(pack.name).into());
    }
    if !pack.besides.is_empty() {
        let besides = pack.besides.join(", ");
        print(&visible(&format!("Only the reflexes of the pack {} are added, not its {besides}.", pack.name)));
    }
    let folder = source.trim_end_matches('/');
    Ok(pack
        .reflexes
        .into_iter()
        .map(|(path, options)| (format!("{folder}/{path}"), with.clone().or(options)))
        .collect())
}

/// A planned addition: the reflex and the list that takes it.
struct Plan {
    home: Home,
    origin: Origin,
    package: Package,
    with: Option<Value>,
}

fn plan(matches: &ArgMatches, here: &Here, (written, with): (&str, Option<Value>)) -> Result<Plan, Error> {
    let home = here.home(matches);
    // `./x` may also be relative to the folder of the list.
    let beside = home.path(written).filter(|path| !here.cwd.join(written).exists() && path.exists());
    let base = if beside.is_some() { home.folder.as_path() } else { here.cwd.as_path() };
    let origin = Origin::named(written, base)?;
    let package = fetch(here, &origin)?;
    let wrong = problems(&package, with.as_ref());
    if !wrong.is_empty() {
        return Err(ReflexError::Faulty(wrong).into());
    }
    let listed = home.entries()?;
    let source = in_place(&home, &origin);
    let taken = listed.iter().any(|entry| {
        name_of(&entry.source) == package.name
            && Some(&entry.source) != source.as_ref()
            && !may_replace(&home, entry, &package)
    });
    if taken && !matches!(origin, Origin::Official(_)) {
        return Err(ReflexError::Listed(package.name).into());
    }
    Ok(Plan { home, origin, package, with })
}

/// Whether the entry may be replaced: it is a copy, and either its origin is elsewhere or it is identical to the byte.
/// A person's own files are kept.
fn may_replace(home: &Home, entry: &Entry, package: &Package) -> bool {
    if !home.is_copy(&entry.source, &package.name) {
        return false;
    }
    let same = home.path(&entry.source).and_then(|copy| Package::of_folder(&copy).ok());
    home.locked().iter().any(|locked| locked.name == package.name && locked.from != entry.source)
        || same.is_some_and(|copy| copy.digest() == package.digest())
}

/// Fetches a package. Only a person fetches from another machine: the request itself discloses something to it.
fn fetch(here: &Here, origin: &Origin) -> Result<Package, Error> {
    if !origin.is_remote() {
        return Ok(origin.here()?);
    }
    let person = person(&here.host.store(), "reflexes add", &origin.shown());
    Ok(origin.fetch(&person.ok_or_else(|| ReflexError::NotFetched(origin.shown()))?)?)
}

fn carry_out(here: &Here, plan: &Plan) -> u8 {
    show::card(&plan.package, &plan.origin.shown());
    let name = visible(&plan.package.name);
    let Some(person) = person(&here.host.store(), "reflexes add", &plan.package.name) else { return exit_code::FOUND };
    let from = written(&plan.home, &plan.origin);
    let locked = plan.home.locked();
    if let Some(before) = locked.iter().find(|locked| locked.name == plan.package.name && locked.from != from) {
        print(&visible(&format!("It takes the place of the one from {}", before.from)));
    }
    print(&format!("It runs before every tool call in {}. To read its files first: --show", place(&plan.home)));
    if !confirmed(&format!("Add {name}? [y/N] ")) {
        print("not added");
        return exit_code::FOUND;
    }
    match take(here, plan, &person.name) {
        Ok(accepted) => {
            print(&format!("{name} is added{}", condition(accepted)));
            exit_code::OK
        }
        Err(error) => error.report(),
    }
}

/// Records the addition; returns whether everything listed there is now in force.
fn take(here: &Here, plan: &Plan, by: &str) -> Result<bool, Error> {
    let (home, package) = (&plan.home, &plan.package);
    let before = Before::read(here, home);
    let digest = package.digest();
    let fields = json!({"reflex": package.name, "from": plan.origin.shown(), "digest": digest, "by": by,
        "capabilities": package.manifest.as_ref().and_then(|manifest| manifest.get("capabilities"))});
    record(&here.host.store(), "reflex-added", fields)?;
    let source = match (&plan.origin, in_place(home, &plan.origin)) {
        (Origin::Official(name), _) => name.clone(),
        (_, Some(source)) => source,
        (_, None) => home.take(package)?,
    };
    home.set(&Entry { source: source.clone(), with: plan.with.clone() })?;
    let from = written(home, &plan.origin);
    let version = package.text("version").to_owned();
    sign(here, home, &digest, by)?;
    home.keep(&Locked { name: package.name.clone(), entry: source, from, version, digest }, package)?;
    before.with(here, home, Some(package), by)
}

/// Signs the access of a user's own reflex, if the user has a key. A project's reflex is accepted with its list.
fn sign(here: &Here, home: &Home, digest: &str, by: &str) -> Result<(), Error> {
    let store = here.host.store();
    if home.folder.starts_with(&here.workspace) || *store.key_in_force() == InForce::Unprotected {
        return Ok(());
    }
    let signer = Consent::sign(&store, "Let it reach what it asks for?")?;
    let signer = signer.ok_or(ReflexError::NotAdded)?;
    accept_reflex(&store, digest, by, &signer).map_err(Error::State)
}

/// The step that a person still has to take.
fn condition(accepted: bool) -> &'static str {
    match accepted {
        true => "",
        false => "; not all files of this list are accepted: review them with `reflex trust`",
    }
}

/// Returns the list's name for a reflex that is beside it already and needs no copy.
fn in_place(home: &Home, origin: &Origin) -> Option<String> {
    let (Origin::Folder(path) | Origin::File(path)) = origin else { return None };
    let folder = home.folder.canonicalize().ok()?;
    let below = path.canonicalize().ok()?.strip_prefix(folder).ok()?.to_str()?.to_owned();
    (!below.is_empty()).then(|| format!("./{below}"))
}

/// Returns the origin as the lock file records it, portable to another machine if possible.
fn written(home: &Home, origin: &Origin) -> String {
    in_place(home, origin).unwrap_or_else(|| match origin {
        Origin::Folder(path) | Origin::File(path) | Origin::Archive(path) => {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            real.display().to_string()
        }
        Origin::Official(_) | Origin::Npm(_) | Origin::Git { .. } | Origin::Web(_) => origin.shown(),
    })
}

fn place(home: &Home) -> String {
    visible(&home.folder.parent().unwrap_or(Path::new("/")).display().to_string())
}

pub(super) fn remove(context: &Context, matches: &ArgMatches) -> u8 {
    let here = Here::new(context);
    let home = here.home(matches);
    let entry = match home.named(text(matches, "name")) {
        Ok(entry) => entry,
        Err(error) => return Error::from(error).report(),
    };
    let name = name_of(&entry.source).to_owned();
    let store = here.host.store();
    let Some(person) = person(&store, "reflexes remove", &name) else { return exit_code::FOUND };
    if !confirmed(&format!("Remove {}? It then no longer judges any call. [y/N] ", visible(&name))) {
        print("not removed");
        return exit_code::FOUND;
    }
    if !may_weaken(&store, "reflexes remove") {
        return exit_code::FOUND;
    }
    match remove_one(&here, &home, &entry, &person.name) {
        Ok(accepted) => {
            print(&format!("{} is removed{}", visible(&name), condition(accepted)));
            exit_code::OK
        }
        Err(error) => error.report(),
    }
}

/// Records and carries out the removal; returns whether everything listed there is now in force.
fn remove_one(here: &Here, home: &Home, entry: &Entry, by: &str) -> Result<bool, Error> {
    let name = name_of(&entry.source);
    record(&here.host.store(), "reflex-removed", json!({"reflex": name, "by": by}))?;
    let before = Before::read(here, home);
    home.remove(&entry.source, name)?;
    before.with(here, home, None, by)
}

pub(super) fn update(context: &Context, matches: &ArgMatches) -> u8 {
    let here = Here::new(context);
    let home = here.home(matches);
    let wanted = matches.get_one::<String>("name");
    let locked: Vec<Locked> =
        home.locked().into_iter().filter(|locked| wanted.is_none_or(|name| *name == locked.name)).collect();
    if locked.is_empty() {
        let lock = home.folder.join("reflexes.lock.json");
        let error = match wanted {
            Some(name) => ReflexError::Unknown { name: name.clone(), lock },
            None => ReflexError::NoneAdded(lock),
        };
        return Error::from(error).report();
    }
    let mut worst = exit_code::OK;
    for one in &locked {
        worst = worst.max(match renew(&here, &home, one) {
            Ok(status) => status,
            Err(error) => Error::about(&one.name, error).report(),
        });
    }
    worst
}

/// Checks one reflex for an update; a change needs a yes of its own.
fn renew(here: &Here, home: &Home, locked: &Locked) -> Result<u8, Error> {
    let origin = Origin::named(&locked.from, &home.folder)?;
    // The author of a project's lock file chose the host that would be contacted.
    let is_theirs = origin.is_remote() && home.folder != here.of_user().folder;
    if is_theirs && person(&here.host.store(), "reflexes update", &origin.shown()).is_some() {
        let question = format!("Fetch {} from {}? [y/N] ", locked.name, origin.shown());
        if !confirmed(&visible(&question)) {
            print("not fetched");
            return Ok(exit_code::FOUND);
        }
    }
    let package = fetch(here, &origin)?;
    if package.name != locked.name {
        return Err(ReflexError::Renamed(package.name).into());
    }
    let copy = home.path(&locked.entry).filter(|_| home.is_copy(&locked.entry, &locked.name));
    let before = copy.and_then(|copy| Package::of_folder(&copy).ok());
    let is_changed = before.as_ref().is_some_and(|before| before.digest() != package.digest());
    if package.digest() == locked.digest && !is_changed {
        print(&format!("{} is as it was added", visible(&locked.name)));
        return Ok(exit_code::OK);
    }
    let wrong = problems(&package, None);
    if !wrong.is_empty() {
        return Err(ReflexError::FaultyNow(wrong).into());
    }
    show::card(&package, &origin.shown());
    if package.digest() == locked.digest {
        print("It is as it was added where it came from; the copy here was changed since.");
    }
    if let Some(before) = &before {
        differences(before, &package);
        show::files(&package, Some(before));
    }
    let Some(person) = person(&here.host.store(), "reflexes update", &locked.name) else { return Ok(exit_code::FOUND) };
    if !confirmed(&format!("Take {} as it is now? [y/N] ", visible(&locked.name))) {
        print("nothing changed");
        return Ok(exit_code::FOUND);
    }
    let with = home.named(&locked.name).ok().and_then(|entry| entry.with);
    let accepted = take(here, &Plan { home: home.clone(), origin, package, with }, &person.name)?;
    print(&format!("{} is updated{}", visible(&locked.name), condition(accepted)));
    Ok(exit_code::OK)
}

/// Shows the differences between two versions. Changed powers come first: the yes is about them.
fn differences(before: &Package, now: &Package) {
    let old = show::powers(before);
    for (title, new) in show::powers(now) {
        let was = old.iter().find(|(other, _)| *other == title).map_or("nothing", |(_, was)| was.as_str());
        if was != new {
            print(&format!("  ! {title}: {was} -> {new}"));
        }
    }
}
