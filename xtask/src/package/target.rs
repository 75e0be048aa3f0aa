//! The packaged targets, and their names in registries.

use anyhow::{Context, Result};

/// A target with its names in registries.
pub(crate) struct Target {
    /// Rust's target triple.
    pub(crate) triple: &'static str,
    /// `process.platform` of Node.
    pub(crate) os: &'static str,
    /// `process.arch` of Node.
    pub(crate) cpu: &'static str,
    /// Platform tags of a wheel: packaging.python.org/en/latest/specifications/platform-compatibility-tags.
    pub(crate) tags: &'static [&'static str],
    /// The minimum macOS version; empty on other systems.
    pub(crate) deployment: &'static str,
}

/// The targets. Static executables run with any C library, so their wheels name both families.
const ALL: [Target; 4] = [
    Target {
        triple: "x86_64-unknown-linux-musl",
        os: "linux",
        cpu: "x64",
        tags: &["manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"],
        deployment: "",
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        os: "linux",
        cpu: "arm64",
        tags: &["manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"],
        deployment: "",
    },
    Target {
        triple: "x86_64-apple-darwin",
        os: "darwin",
        cpu: "x64",
        tags: &["macosx_11_0_x86_64"],
        deployment: "11.0",
    },
    Target {
        triple: "aarch64-apple-darwin",
        os: "darwin",
        cpu: "arm64",
        tags: &["macosx_11_0_arm64"],
        deployment: "11.0",
    },
];

impl Target {
    pub(crate) fn all() -> &'static [Target] {
        &ALL
    }

    pub(crate) fn named(triple: &str) -> Result<&'static Target> {
        let known = || ALL.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
        ALL.iter()
            .find(|target| target.triple == triple)
            .with_context(|| format!("unknown target `{triple}`; known are {}", known()))
    }

    pub(crate) fn of_this_machine() -> Result<&'static Target> {
        ALL.iter().find(|target| target.is_of_this_machine()).context("this machine has no packages")
    }

    /// Whether this machine runs the target's programs without an emulator.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        let os = if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS };
        self.os == os && self.triple.starts_with(std::env::consts::ARCH)
    }
}
