//! The version of an agent's installed client. Reads files only; starts no program.

use reflex_agents::Settings;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The version of the client on the `PATH`, read from its files.
pub(crate) fn installed_version(settings: &Settings) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    settings.programs.iter().find_map(|program| version_of(program, &folders))
}

/// The version of a program: a component of its link target's path, or the version of the package around it.
fn version_of(program: &str, folders: &[PathBuf]) -> Option<String> {
    let file = folders.iter().map(|folder| folder.join(program)).find(|file| file.is_file())?;
    let file = file.canonicalize().ok()?;
    let parts = file.components().rev().filter_map(|part| part.as_os_str().to_str());
    let is_version = |part: &&str| {
        let numbers: Vec<&str> = part.split('.').collect();
        numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u32>().is_ok())
    };
    let named = parts.into_iter().find(is_version).map(str::to_owned);
    named.or_else(|| file.ancestors().skip(1).take(4).find_map(of_package))
}

/// The version in a folder's `package.json`.
fn of_package(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("package.json")).ok()?;
    serde_json::from_str::<Value>(&text).ok()?.get("version")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::version_of;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_version_is_that_of_the_folder_or_the_package() {
        let machine = tempfile::tempdir().unwrap();
        let (bin, versions) = (machine.path().join("bin"), machine.path().join("share/versions"));
        let package = machine.path().join("lib/node_modules/@x/client");
        for folder in [&bin, &versions, &package] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(versions.join("2.1.197"), "").unwrap();
        fs::write(package.join("cli.js"), "").unwrap();
        fs::write(package.join("package.json"), r#"{"version": "2.1.300"}"#).unwrap();
        symlink(versions.join("2.1.197"), bin.join("native")).unwrap();
        symlink(package.join("cli.js"), bin.join("packaged")).unwrap();
        fs::write(bin.join("bare"), "").unwrap();
        let folders = [bin];
        assert_eq!(version_of("native", &folders).as_deref(), Some("2.1.197"));
        assert_eq!(version_of("packaged", &folders).as_deref(), Some("2.1.300"));
        assert_eq!((version_of("bare", &folders), version_of("missing", &folders)), (None, None));
    }
}
