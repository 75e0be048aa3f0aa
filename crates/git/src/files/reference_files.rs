//! Reads the files in which git stores references.

use crate::files::read;
use crate::files::scope::joined;
use crate::model::fact::{Fact, Unknown};
use crate::system::{bytes, native};
use gix_hash::ObjectId;
use std::collections::BTreeMap;
use std::path::Path;

const MAXIMUM_REFERENCE: u64 = 4096;

/// The content of a reference file.
pub(crate) enum Target {
    Object(ObjectId),
    Other(Vec<u8>),
}

/// References to objects by full name. Symbolic references are left out; their targets are included.
pub(crate) type References = BTreeMap<Vec<u8>, ObjectId>;

/// The branch that a git folder's HEAD names.
pub(crate) fn branch_of(git_dir: &Path) -> Fact<Option<String>> {
    let Target::Other(name) = loose(git_dir, b"HEAD")?.ok_or(Unknown("HEAD is missing"))? else {
        return Ok(None);
    };
    let branch = name.strip_prefix(b"refs/heads/").unwrap_or(&name);
    Ok(Some(String::from_utf8_lossy(branch).into_owned()))
}

/// The full name of a reference. Rejects a name that could lead out of the folder of references.
pub(crate) fn valid(name: &str) -> Fact<Vec<u8>> {
    check(name.as_bytes())?;
    Ok(name.as_bytes().to_vec())
}

pub(crate) fn check(name: &[u8]) -> Fact<()> {
    let invalid = Unknown("not a valid reference name");
    let parsed = gix_ref::FullName::try_from(<&gix_object::bstr::BStr>::from(name));
    parsed.map(|_| ()).map_err(|_| invalid)
}

pub(crate) fn loose(directory: &Path, name: &[u8]) -> Fact<Option<Target>> {
    let path = directory.join(native(name));
    if path.is_dir() {
        return Ok(None);
    }
    let Some(content) = read::file(&path, MAXIMUM_REFERENCE)? else { return Ok(None) };
    if let Some(target) = content.strip_prefix(b"ref:") {
        return Ok(Some(Target::Other(target.trim_ascii().to_vec())));
    }
    let id = ObjectId::from_hex(content.trim_ascii()).map_err(|_| Unknown("a reference cannot be parsed"))?;
    Ok(Some(Target::Object(id)))
}

pub(crate) fn collect(root: &Path, name: &[u8], budget: &read::Budget, found: &mut References) -> Fact<()> {
    let unreadable = Unknown("the references cannot be listed");
    let listing = match std::fs::read_dir(root.join(native(name))) {
        Ok(listing) => listing,
        Err(error) if read::is_missing(&error) => return Ok(()),
        Err(_) => return Err(unreadable),
    };
    for entry in listing {
        budget.list()?;
        let entry = entry.map_err(|_| unreadable.clone())?;
        let name = joined(name, &bytes(&entry.file_name()));
        if entry.file_type().map_err(|_| unreadable.clone())?.is_dir() {
            collect(root, &name, budget, found)?;
            continue;
        }
        if name.ends_with(b".lock") {
            continue;
        }
        match loose(root, &name)? {
            Some(Target::Object(id)) => found.insert(name, id),
            _ => found.remove(&name),
        };
    }
    Ok(())
}

/// Maps a remote's reference by a fetch rule such as `+refs/heads/*:refs/remotes/origin/*`.
pub(crate) fn mapped(rule: &[u8], reference: &[u8]) -> Option<Vec<u8>> {
    let rule = rule.strip_prefix(b"+").unwrap_or(rule);
    let (from, to) = split_at_byte(rule, b':')?;
    let Some((before, after)) = split_at_byte(from, b'*') else {
        return (from == reference).then(|| to.to_vec());
    };
    let middle = reference.strip_prefix(before)?.strip_suffix(after)?;
    let (before, after) = split_at_byte(to, b'*')?;
    Some([before, middle, after].concat())
}

fn split_at_byte(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let position = text.iter().position(|found| *found == byte)?;
    Some((text.get(..position)?, text.get(position + 1..)?))
}
