//! Whether a project's manifests or lock files already name a package.

use super::call::Call;
use crate::model::effect::{Effect, Target};
use crate::model::path::{self, is_within, parent};
use crate::model::truth::Ternary;
use crate::model::words::WordList;

/// Maximum number of folders, from the command's own upwards, that are searched; members of a workspace are not deeper.
const FOLDERS: usize = 8;

/// Folders in which a project has the programs of its packages, relative to its own.
const INSTALLED: [&str; 3] = ["node_modules/.bin", ".venv/bin", "venv/bin"];

/// The packages of the project.
#[derive(Clone, Copy)]
pub(crate) struct PackageFacts<'f> {
    pub(super) call: &'f Call<'f>,
}

impl PackageFacts<'_> {
    /// Whether a manifest or lock file of the command's folder, or above it in the project, names the package. An
    /// unreadable file names none. A package that is only run may also be a well-known tool, or installed there.
    pub(super) fn is_listed(&self, effect: &Effect, target: Option<&Target>) -> Ternary {
        let Some(written) = target.and_then(|target| target.value.literal()) else { return Ternary::Unknown };
        let name = package_name(&written);
        if name.is_empty() {
            return Ternary::Unknown;
        }
        let (folder, root) = (self.call.folder_of(effect, None), self.call.event.workspace.as_str());
        let is_inside = |at: &&str| *at == folder || is_within(at, root);
        let above = std::iter::successors(Some(folder.as_str()), |at| (*at != "/").then(|| parent(at)));
        let mut folders = above.take_while(is_inside).take(FOLDERS);
        let names_it = |at: &str, file: &str| {
            let text = self.call.world.content(&path::absolute(file, at));
            text.is_some_and(|text| modules(name).any(|module| is_named(&text, module)))
        };
        let lists = WordList::PackageLists.read(self.call.tables);
        let runs = effect.flags.contains(&"run");
        if runs && WordList::KnownTools.read(self.call.tables).fit(name) {
            return Ternary::Yes;
        }
        let program = path::name_of(name);
        let is_installed = |at: &str| {
            let mut files = INSTALLED.iter().map(|folder| path::absolute(&format!("{folder}/{program}"), at));
            runs && files.any(|file| self.call.world.real(&file, true).exists == Some(true))
        };
        Ternary::from(folders.any(|at| lists.iter().any(|file| names_it(at, file)) || is_installed(at)))
    }
}

/// Returns the package without its version and extras: `lodash` of `lodash@^4`, `@scope/a` of `@scope/a@1`, `requests`
/// of `requests[socks]>=2`, `a/b` of `a/b:^1`.
fn package_name(written: &str) -> &str {
    let end = written.char_indices().skip(1).find(|(_, ch)| "@=<>~!;:[ ^".contains(*ch));
    written.get(..end.map_or(written.len(), |(at, _)| at)).unwrap_or("")
}

/// Returns the names under which a manifest may list it: for a Go package, `x.example/a/b`, also the module that
/// contains it.
fn modules(name: &str) -> impl Iterator<Item = &str> {
    let has_host = name.split_once('/').is_some_and(|(host, _)| host.contains('.'));
    std::iter::successors(Some(name), move |name| {
        let (module, _) = name.rsplit_once('/').filter(|_| has_host)?;
        module.contains('/').then_some(module)
    })
}

/// Whether a text contains the name as a separate word. As for Python packages, `-`, `_` and `.` are equivalent, and
/// case is ignored.
fn is_named(text: &str, name: &str) -> bool {
    let (text, name) = (text.as_bytes(), name.as_bytes());
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./@".contains(&byte);
    let same = |a: &u8, b: &u8| {
        let dashed = |byte: &u8| if matches!(byte, b'_' | b'.') { b'-' } else { byte.to_ascii_lowercase() };
        dashed(a) == dashed(b)
    };
    let ends = |after: Option<&u8>| after.is_none_or(|byte| !part(*byte) || *byte == b'@');
    text.windows(name.len()).enumerate().any(|(at, window)| {
        let before = text.get(..at).unwrap_or(&[]);
        let begins = before.last().is_none_or(|byte| !part(*byte)) || before.ends_with(b"node_modules/");
        let is_same = || window.iter().zip(name).all(|(a, b)| same(a, b));
        begins && ends(text.get(at + name.len())) && is_same()
    })
}

#[cfg(test)]
mod tests {
    use super::{is_named, modules, package_name};

    #[test]
    fn a_package_is_known_without_its_version() {
        for (written, name) in [
            ("lodash", "lodash"),
            ("lodash@^4.17", "lodash"),
            ("@types/node@20", "@types/node"),
            ("requests[socks]>=2.0", "requests"),
            ("django~=5.0", "django"),
            ("monolog/monolog:^3", "monolog/monolog"),
            ("golang.org/x/net@latest", "golang.org/x/net"),
        ] {
            assert_eq!(package_name(written), name);
        }
        let names: Vec<&str> = modules("github.com/a/b/c").collect();
        assert_eq!(names, ["github.com/a/b/c", "github.com/a/b", "github.com/a"]);
        assert_eq!(modules("@types/node").collect::<Vec<_>>(), ["@types/node"]);
    }

    #[test]
    fn a_manifest_names_a_package_only_as_a_separate_word() {
        for (text, name) in [
            ("{\"dependencies\": {\"lodash\": \"^4\"}}", "lodash"),
            ("lodash@^4.17.0:\n  version", "lodash"),
            ("[[package]]\nname = \"serde\"", "serde"),
            ("Typing_Extensions==4.1\n", "typing-extensions"),
            ("require github.com/a/b v1.2.3", "github.com/a/b"),
            ("\"node_modules/lodash\": {}", "lodash"),
        ] {
            assert!(is_named(text, name), "{name} in {text}");
        }
        for (text, name) in [
            ("{\"@types/lodash\": \"1\", \"lodash-es\": \"4\"}", "lodash"),
            ("django-rest==1", "django"),
            ("require github.com/a/bc v1", "github.com/a/b"),
            ("", "a"),
        ] {
            assert!(!is_named(text, name), "{name} in {text}");
        }
    }
}
