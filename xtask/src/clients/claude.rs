//! The pinned Claude Code, fetched with npm into the cache once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::process;

const PACKAGE: &str = "@anthropic-ai/claude-code";
const VERSION: &str = "2.1.329";
const NPM_DEADLINE: Duration = Duration::from_secs(300);

/// The path of the client's self-contained executable, installed below `cache` unless that version is there already.
pub(super) fn installed(cache: &Path) -> Result<PathBuf, String> {
    let folder = cache.join("claude");
    let executable = folder.join("node_modules").join(platform_package()?).join("claude");
    if is_pinned(&folder) && executable.is_file() {
        return Ok(executable);
    }
    install(&folder).or_else(|_| install(&folder))?;
    if !executable.is_file() {
        return Err(format!("npm installed {PACKAGE}@{VERSION} without `{}`", executable.display()));
    }
    Ok(executable)
}

fn platform_package() -> Result<String, String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => return Err(format!("the client cases do not run on {other}")),
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("the client cases do not run on {other}")),
    };
    Ok(format!("{PACKAGE}-{system}-{processor}"))
}

fn is_pinned(folder: &Path) -> bool {
    let manifest = folder.join("node_modules").join(PACKAGE).join("package.json");
    let Ok(text) = fs::read_to_string(manifest) else { return false };
    serde_json::from_str::<Value>(&text)
        .is_ok_and(|manifest| manifest.get("version").is_some_and(|version| version == VERSION))
}

fn install(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    // Without a manifest of its own npm would climb to the next one above and install there.
    fs::write(folder.join("package.json"), "{\"private\":true}\n").map_err(|error| error.to_string())?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"]);
    npm.arg(format!("{PACKAGE}@{VERSION}")).current_dir(folder);
    let finished = process::finish(&mut npm, &folder.join("npm"), NPM_DEADLINE)
        .map_err(|error| format!("{error}; the client cases need npm on the PATH to fetch {PACKAGE}@{VERSION}"))?;
    if finished.success { Ok(()) } else { Err(format!("npm could not fetch {PACKAGE}@{VERSION}: {}", finished.stderr)) }
}
