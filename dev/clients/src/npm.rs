//! Clients with pinned versions, downloaded with npm into the cache once.

use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tasks::project::tool;

use serde_json::Value;

use super::process;

const NPM_DEADLINE: Duration = Duration::from_secs(300);

/// A client as an npm package.
pub(super) struct Package {
    /// Name of the package.
    pub(super) name: &'static str,
    /// Version for which the cases were written.
    pub(super) version: &'static str,
    /// Prefix of the name of the package with this platform's binary; the platform is appended. Empty for a client that
    /// is one script for node.
    pub(super) platform: &'static str,
    /// Path of the binary or script in that package; `{triple}` is replaced by the target triple.
    pub(super) executable: &'static str,
}

impl Package {
    /// Installs the client below `cache`, unless that version is present, and returns the path of its executable.
    pub(super) fn installed(&self, cache: &Path, client: &str) -> Result<PathBuf> {
        let folder = cache.join(client);
        let platform = Platform::here()?;
        let inside = self.executable.replace("{triple}", platform.triple);
        let is_script = self.platform.is_empty();
        let package = if is_script { self.name.to_owned() } else { format!("{}-{}", self.platform, platform.npm) };
        let executable = folder.join("node_modules").join(package).join(inside);
        if !(self.is_pinned(&folder) && executable.is_file()) {
            self.install(&folder).or_else(|_| self.install(&folder))?;
        }
        if !executable.is_file() {
            bail!("npm installed {}@{} without `{}`", self.name, self.version, executable.display());
        }
        if is_script {
            // The file is executed by its `#!` line; not every package marks it as executable.
            fs::set_permissions(&executable, fs::Permissions::from_mode(0o755))
                .with_context(|| format!("cannot make `{}` executable", executable.display()))?;
        }
        Ok(executable)
    }

    fn is_pinned(&self, folder: &Path) -> bool {
        let manifest = folder.join("node_modules").join(self.name).join("package.json");
        let Ok(text) = fs::read_to_string(manifest) else { return false };
        serde_json::from_str::<Value>(&text)
            .is_ok_and(|manifest| manifest.get("version").is_some_and(|version| version == self.version))
    }

    fn install(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        // Without a manifest npm would search the parent folders for one and install there.
        fs::write(folder.join("package.json"), "{\"private\":true}\n")
            .with_context(|| format!("cannot write into `{}`", folder.display()))?;
        let wanted = format!("{}@{}", self.name, self.version);
        let mut npm = tool("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"]);
        npm.arg(&wanted).current_dir(folder);
        let finished = process::finish(&mut npm, &folder.join("npm"), NPM_DEADLINE)
            .with_context(|| format!("the client cases need npm on the PATH to fetch {wanted}"))?;
        ensure!(finished.success, "npm could not fetch {wanted}: {}", finished.stderr);
        Ok(())
    }
}

struct Platform {
    npm: &'static str,
    triple: &'static str,
}

impl Platform {
    fn here() -> Result<Platform> {
        let (npm, triple) = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => ("linux-x64", "x86_64-unknown-linux-musl"),
            ("linux", "aarch64") => ("linux-arm64", "aarch64-unknown-linux-musl"),
            ("macos", "x86_64") => ("darwin-x64", "x86_64-apple-darwin"),
            ("macos", "aarch64") => ("darwin-arm64", "aarch64-apple-darwin"),
            (system, processor) => bail!("the client cases do not run on {system} {processor}"),
        };
        Ok(Platform { npm, triple })
    }
}
