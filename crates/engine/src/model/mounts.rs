//! The mounts of a place with its own root: they map paths inside it to paths of this machine.

use crate::model::path::is_within;
use reflex_shell::{Piece, Value};
use std::rc::Rc;

/// Maximum number of mounts that options are resolved into; a person gives a container few.
pub(crate) const MAX_MOUNTS: usize = 256;

/// Folders that a package manager writes to.
const INSTALLED: [&str; 8] = ["/usr", "/etc", "/var", "/opt", "/bin", "/sbin", "/lib", "/lib64"];

/// The file system as a command sees it: a table of mounts over a root of its own, or over the root of its caller.
#[derive(Debug, Default)]
pub(crate) struct MountTable {
    /// The mounts, each with its path inside.
    pub(crate) mounts: Vec<Mount>,
    /// The place of the program that mounts them; `None` for this machine itself.
    pub(crate) outer: Option<Rc<MountTable>>,
    /// Whether a path without a mount is the same path of the outer place, as in a sandbox that adds to its root.
    pub(crate) transparent: bool,
    /// The folder in which its programs start, if the project sets it.
    pub(crate) folder: Option<String>,
    /// Whether its root is created for this one command and discarded afterwards.
    pub(crate) fresh: bool,
}

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The absolute path inside.
    pub(crate) inside: String,
    /// The mounted object.
    pub(crate) source: Source,
    /// Whether writes through it are impossible.
    pub(crate) read_only: bool,
}

/// The object of a mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file or folder of the outer place, absolute.
    Path(String),
    /// A volume, by its name.
    Volume(String),
    /// An object with an unknown path, as written.
    Unknown(Value),
}

/// The real location of a path inside.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    /// On this machine.
    Here { path: String, read_only: bool },
    /// In a volume; `is_complete` if the path means the complete volume.
    Volume { name: String, is_complete: bool, read_only: bool },
    /// On this machine, at an unknown path.
    Somewhere { value: Value, read_only: bool },
    /// In the place itself, which is discarded with it.
    Inside,
}

impl MountTable {
    /// Returns the real location of a path that is absolute inside.
    pub(crate) fn lies(&self, path: &str) -> Lies {
        let covering = self.mounts.iter().filter(|mount| is_within(path, &mount.inside));
        // Of two mounts at the same path, the later one hides the earlier.
        let Some(mount) = covering.max_by_key(|mount| mount.inside.trim_end_matches('/').len()) else {
            return if self.transparent { self.beyond(path.to_owned(), false) } else { Lies::Inside };
        };
        let rest = path.get(mount.inside.trim_end_matches('/').len()..).unwrap_or("").trim_start_matches('/');
        match &mount.source {
            Source::Path(source) => {
                let source = source.trim_end_matches('/');
                let path = match (source, rest) {
                    ("", rest) => format!("/{rest}"),
                    (source, "") => source.to_owned(),
                    (source, rest) => format!("{source}/{rest}"),
                };
                self.beyond(path, mount.read_only)
            }
            Source::Volume(name) => {
                let is_complete = rest.trim_matches(['*', '.', '?']).is_empty() || rest.starts_with(".[");
                Lies::Volume { name: name.clone(), is_complete, read_only: mount.read_only }
            }
            Source::Unknown(source) => {
                let mut value = source.clone();
                if !rest.is_empty() {
                    value.push_text(&format!("/{rest}"), source.origin());
                }
                Lies::Somewhere { value, read_only: mount.read_only }
            }
        }
    }

    fn beyond(&self, path: String, read_only: bool) -> Lies {
        match self.outer.as_ref().map(|outer| outer.lies(&path)) {
            None => Lies::Here { path, read_only },
            Some(Lies::Here { path, read_only: before }) => Lies::Here { path, read_only: read_only || before },
            Some(Lies::Volume { name, is_complete, read_only: before }) => {
                Lies::Volume { name, is_complete, read_only: read_only || before }
            }
            Some(Lies::Somewhere { value, read_only: before }) => {
                Lies::Somewhere { value, read_only: read_only || before }
            }
            Some(Lies::Inside) => Lies::Inside,
        }
    }

    /// Whether the complete root is this machine's, so that programs there run on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.lies("/") == Lies::Here { path: "/".into(), read_only: false }
    }

    /// Whether installing programs there leaves no trace: the root is discarded, and no writable mount except volumes
    /// is in a folder of installed programs.
    pub(crate) fn is_thrown_away(&self) -> bool {
        let holds_programs = |inside: &str| inside == "/" || INSTALLED.iter().any(|folder| is_within(inside, folder));
        let kept = |mount: &Mount| {
            let is_volume = matches!(mount.source, Source::Volume(_));
            !mount.read_only && !is_volume && holds_programs(&mount.inside)
        };
        self.fresh && !self.mounts.iter().any(kept)
    }

    /// Returns the mounts below a folder inside: deleting the folder deletes their content.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Mount> {
        self.mounts.iter().filter(move |mount| mount.inside != folder && is_within(&mount.inside, folder))
    }

    /// Returns the home folders inside that a mount names, plus `/root`; the user inside is unknown.
    pub(crate) fn homes(&self) -> Vec<String> {
        let mut homes = vec!["/root".to_owned()];
        for mount in &self.mounts {
            let mut parts = mount.inside.split('/').skip(1);
            if let (Some("home"), Some(user)) = (parts.next(), parts.next().filter(|user| !user.is_empty())) {
                homes.push(format!("/home/{user}"));
            }
        }
        homes.sort_unstable();
        homes.dedup();
        homes
    }
}

/// A mount as an option writes it, before its source is interpreted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) source: Value,
    pub(crate) inside: String,
    pub(crate) read_only: bool,
    /// Whether the source can only be a path, regardless of its spelling.
    pub(crate) is_path: bool,
}

/// Parses a lone `PATH`, which some programs mount at the same path on both sides.
pub(crate) fn on_both_sides(spec: &Value) -> Option<Written> {
    let inside = spec.literal().filter(|text| text.starts_with('/') && !text.contains(':'))?.into_owned();
    Some(Written { source: spec.clone(), inside, read_only: false, is_path: true })
}

/// Parses `SOURCE:INSIDE[:OPTIONS]`, or `type=bind,source=SOURCE,target=INSIDE`.
pub(crate) fn written(spec: &Value) -> Option<Written> {
    shared(spec).filter(|mount| !mount.inside.is_empty())
}

/// Parses a mount without checking its path inside.
pub(crate) fn shared(spec: &Value) -> Option<Written> {
    if spec.prefix().split([':', '/']).next().is_some_and(|first| first.contains('=')) {
        return by_keys(spec);
    }
    let mut parts = spec.split(&[':']);
    let drive = |value: &Value| {
        value.literal().is_some_and(|text| text.len() == 1 && text.starts_with(|ch: char| ch.is_alphabetic()))
    };
    if parts.len() > 2 && parts.first().is_some_and(drive) {
        // `C:\data:/data`
        let mut with_drive = parts.remove(0);
        let rest = parts.first_mut()?;
        with_drive.push_text(":", rest.origin());
        with_drive.push(std::mem::take(rest));
        *rest = with_drive;
    }
    let mut parts = parts.into_iter();
    let source = parts.next()?;
    let inside = parts.next()?.literal()?.into_owned();
    let options = parts.next().and_then(|options| options.literal().map(|text| text.into_owned())).unwrap_or_default();
    let read_only = options.split(',').any(|option| option == "ro");
    inside.starts_with('/').then_some(Written { source, inside, read_only, is_path: false })
}

fn by_keys(spec: &Value) -> Option<Written> {
    let (mut source, mut inside, mut read_only, mut is_path) = (None, None, false, false);
    let mut kind = String::new();
    for part in spec.split(&[',']) {
        let prefix = part.prefix().into_owned();
        let (key, rest) = prefix.split_once('=').unwrap_or((&prefix, ""));
        let value = || part.without_prefix(key.len() + 1);
        match key.trim() {
            "source" | "src" => source = Some(value()),
            "target" | "dst" | "destination" | "path" => inside = value().literal().map(|text| text.into_owned()),
            "readonly" | "ro" => read_only = !matches!(rest, "false" | "0"),
            "type" => rest.clone_into(&mut kind),
            // A volume that is a folder of this machine under another name.
            "volume-opt" if rest.starts_with("device=") => {
                source = Some(part.without_prefix("volume-opt=device=".len()));
                is_path = true;
            }
            _ => {}
        }
    }
    let is_path = is_path || kind == "bind";
    Some(Written { source: source?, inside: inside.unwrap_or_default(), read_only, is_path })
}

/// Returns the name of a volume if the source can be nothing else: it is not a path.
pub(crate) fn volume(source: &Value) -> Option<String> {
    let name = source.literal()?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    (plain && first && !source.pieces.iter().any(|(piece, _)| matches!(piece, Piece::Home(_))))
        .then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_shell::Origin;

    fn mount(inside: &str, source: &str) -> Mount {
        let read_only = inside.ends_with(":ro");
        let source = match source.strip_prefix("volume ") {
            Some(name) => Source::Volume(name.into()),
            None => Source::Path(source.into()),
        };
        Mount { inside: inside.trim_end_matches(":ro").into(), source, read_only }
    }

    #[track_caller]
    fn check(mounts: &[(&str, &str)], path: &str, expected: &str) {
        let mounts = mounts.iter().map(|(inside, source)| mount(inside, source)).collect();
        let table = MountTable { mounts, ..MountTable::default() };
        let found = match table.lies(path) {
            Lies::Here { path, read_only } => format!("{path}{}", if read_only { " ro" } else { "" }),
            Lies::Volume { name, is_complete, .. } => {
                format!("volume {name}{}", if is_complete { " whole" } else { "" })
            }
            Lies::Somewhere { value, .. } => format!("somewhere {}", value.shown()),
            Lies::Inside => "inside".into(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_path_inside_is_the_path_of_the_mount_that_covers_it_most() {
        check(&[("/w", "/repo")], "/w/data", "/repo/data");
        check(&[("/w", "/repo"), ("/w/m", "volume mods")], "/w/m/x", "volume mods");
        check(&[("/w", "/repo"), ("/w/m", "volume mods")], "/w/m/*", "volume mods whole");
        check(&[("/w:ro", "/repo")], "/w", "/repo ro");
        check(&[("/", "/mnt")], "/etc/x", "/mnt/etc/x");
        check(&[("/host", "/")], "/host/etc", "/etc");
        check(&[("/w", "/repo")], "/tmp/x", "inside");
        check(&[("/w", "/repo")], "/wx", "inside");
    }

    #[test]
    fn a_mount_within_a_mount_is_followed_to_this_machine() {
        let outer = MountTable { mounts: vec![mount("/mnt", "/")], ..MountTable::default() };
        let inner =
            MountTable { mounts: vec![mount("/", "/mnt")], outer: Some(Rc::new(outer)), ..MountTable::default() };
        assert_eq!(inner.lies("/etc/x"), Lies::Here { path: "/etc/x".into(), read_only: false });
    }

    #[test]
    fn a_root_of_this_machine_is_this_machine() {
        let table = |source| MountTable { mounts: vec![mount("/", source)], ..MountTable::default() };
        assert!(table("/").is_here());
        assert!(!table("/mnt").is_here());
    }

    #[test]
    fn only_a_separate_root_is_discarded() {
        let fresh = |mounts: &[(&str, &str)]| {
            let mounts = mounts.iter().map(|(inside, source)| mount(inside, source)).collect();
            MountTable { mounts, fresh: true, ..MountTable::default() }.is_thrown_away()
        };
        assert!(fresh(&[]));
        assert!(fresh(&[("/w", "/repo"), ("/var/cache/apt", "volume cache"), ("/etc/hosts:ro", "/etc/hosts")]));
        assert!(!fresh(&[("/", "/mnt")]));
        assert!(!fresh(&[("/usr", "/usr")]));
        assert!(!MountTable::default().is_thrown_away());
    }

    #[test]
    fn what_a_sandbox_does_not_cover_is_where_it_was() {
        let table = MountTable { mounts: vec![mount("/a", "/b")], transparent: true, ..MountTable::default() };
        assert_eq!(table.lies("/x"), Lies::Here { path: "/x".into(), read_only: false });
        assert_eq!(table.lies("/a/x"), Lies::Here { path: "/b/x".into(), read_only: false });
    }

    #[track_caller]
    fn check_spec(spec: &str, expected: Option<(&str, &str, bool)>) {
        let found = written(&Value::text(spec, Origin::default()));
        let found = found.map(|mount| (mount.source.shown(), mount.inside, mount.read_only));
        assert_eq!(found, expected.map(|(source, inside, ro)| (source.to_owned(), inside.to_owned(), ro)));
    }

    #[test]
    fn a_mount_is_written_in_two_forms() {
        check_spec("/a:/b", Some(("/a", "/b", false)));
        check_spec("/a:/b:Z,ro", Some(("/a", "/b", true)));
        check_spec("/:/b:rw", Some(("/", "/b", false)));
        check_spec("C:\\a:/b", Some(("C:\\a", "/b", false)));
        check_spec("/a", None);
        check_spec("type=bind,source=/a,target=/b", Some(("/a", "/b", false)));
        check_spec("type=bind,src=/a,dst=/b,readonly", Some(("/a", "/b", true)));
        check_spec("type=tmpfs,target=/b", None);
        check_spec("type=bind,source=/a", None);
        let device = "type=volume,target=/b,volume-opt=type=none,volume-opt=o=bind,volume-opt=device=/a";
        check_spec(device, Some(("/a", "/b", false)));
    }

    #[test]
    fn a_name_without_a_slash_is_a_volume() {
        let name = |text: &str| volume(&Value::text(text, Origin::default()));
        assert_eq!(name("shop_data").as_deref(), Some("shop_data"));
        assert_eq!(name("./data"), None);
        assert_eq!(name("/data"), None);
        assert_eq!(name("."), None);
    }
}
