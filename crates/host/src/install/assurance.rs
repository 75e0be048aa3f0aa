//! The assurance level of an agent's hook: whether code with the user's rights can remove the guard.

use super::wiring::Wiring;
use crate::store::signing::in_force::of_root;
use crate::system::os;
use reflex_agents::settings::guard_hooks;
use std::fs;
use std::path::Path;

/// The assurance level, by the user who can remove the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assurance {
    /// Any unjudged program of the user. Holds the first requirement that is missing for [`Assurance::Managed`].
    User(String),
    /// Only root: hook entries, executable and key belong to root, and no other user may write them.
    Managed,
}

impl Assurance {
    /// The word that `status` prints.
    pub fn name(&self) -> &'static str {
        match self {
            Assurance::User(_) => "user",
            Assurance::Managed => "managed",
        }
    }
}

/// The level of the agent's hook on this machine.
pub fn assurance(wiring: &Wiring) -> Assurance {
    let is_roots = |path: &Path| os::stat(path).is_ok_and(|stat| stat.is_of_root() && !stat.others_may_write());
    match missing(wiring, &is_roots) {
        Some(missing) => Assurance::User(missing),
        None => Assurance::Managed,
    }
}

fn missing(wiring: &Wiring, is_roots: &dyn Fn(&Path) -> bool) -> Option<String> {
    let title = wiring.adapter().title;
    let Some(file) = wiring.managed_file() else {
        return Some(format!("{title} has no settings of an administrator"));
    };
    if os::user() == Some(0) {
        return Some("you are root, and so is what you run".into());
    }
    let hooks = guard_hooks(&fs::read_to_string(file).unwrap_or_default());
    if hooks.is_empty() {
        return Some(format!("{file} has no Reflex hook"));
    }
    let programs = hooks.iter().filter_map(|(_, start)| start.program());
    let loose =
        std::iter::once(file.to_owned()).chain(programs).find(|path| !belongs_to_root(Path::new(path), is_roots));
    if let Some(path) = loose {
        return Some(format!("{path} or a folder above it does not belong to root alone"));
    }
    match of_root() {
        Ok(Some(_)) => None,
        Ok(None) => Some("root has written down no key for your approvals".into()),
        Err(why) => Some(why.to_string()),
    }
}

/// Whether a file, its link target and every folder above both belong to root alone.
fn belongs_to_root(path: &Path, is_roots: &dyn Fn(&Path) -> bool) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    path.ancestors().skip(1).chain(real.ancestors()).all(is_roots)
}

#[cfg(test)]
mod tests {
    use super::belongs_to_root;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_folder_above_a_file_and_above_what_it_leads_to_counts() {
        let machine = tempfile::tempdir().unwrap();
        let root = machine.path().canonicalize().unwrap();
        let (safe, loose) = (root.join("safe"), root.join("loose"));
        for folder in [&safe, &loose] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("reflex"), "").unwrap();
        }
        symlink(loose.join("reflex"), safe.join("link")).unwrap();
        let is_roots = |path: &std::path::Path| !path.ends_with("loose");
        assert!(belongs_to_root(&safe.join("reflex"), &is_roots));
        assert!(!belongs_to_root(&loose.join("reflex"), &is_roots));
        assert!(!belongs_to_root(&safe.join("link"), &is_roots));
        assert!(!belongs_to_root(&safe.join("missing"), &is_roots));
    }
}
