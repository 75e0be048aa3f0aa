//! Builds the binary for distribution: static if this machine supports it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::{Project, tool};
use crate::steps::{step, succeed};

/// Cargo's profile of what is shipped.
pub const PROFILE: &str = "shipped";

/// The linker script with the order of functions, below the root of the checkout. It is part of the sources, so that two
/// builds of a commit are equal byte for byte. Names that no longer occur do no harm; the functions of new names are
/// placed as elsewhere.
pub const ORDER: &str = "crates/cli/order.ld";

/// The way a binary is linked to its C library.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// musl, linked statically: the variant shipped for Linux.
    #[default]
    StaticMusl,
    /// glibc, linked statically.
    StaticGlibc,
    /// The system's library, loaded at each start.
    Dynamic,
}

impl Linkage {
    /// All linkages, each with its name in the speed report.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::StaticMusl, "static (musl)"), (Self::StaticGlibc, "static (glibc)"), (Self::Dynamic, "dynamic")];

    /// The linkage of a built program, by marks in its bytes: the loader that a dynamic one names at its beginning, and
    /// the name that a static glibc contains.
    fn of(program: &[u8]) -> Self {
        const HEAD: usize = 4096;
        let has = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).any(|window| window == mark);
        if has(program.get(..HEAD).unwrap_or(program), b"/ld-") {
            Self::Dynamic
        } else if has(program, b"GNU C Library") {
            Self::StaticGlibc
        } else {
            Self::StaticMusl
        }
    }

    /// Its name in the speed report.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(linkage, _)| *linkage == self).map_or("unknown", |(_, name)| name)
    }

    /// Rust's target triple on Linux; `None` for the default target of this machine.
    pub fn triple(self, arch: &str) -> Option<String> {
        match self {
            Self::StaticMusl => Some(format!("{arch}-unknown-linux-musl")),
            Self::StaticGlibc => Some(format!("{arch}-unknown-linux-gnu")),
            Self::Dynamic => None,
        }
    }

    /// Whether the binary loads no libraries at startup.
    pub fn is_static(self) -> bool {
        self != Self::Dynamic
    }
}

/// A built `reflex`.
pub struct Release {
    /// Path of the binary.
    pub binary: PathBuf,
    /// Its linkage.
    pub linkage: Linkage,
}

/// Takes the program in this file, or builds the release.
pub fn given_or_built(project: &Project, file: Option<&Path>) -> Result<Release> {
    let Some(file) = file else { return build(project) };
    let shown = || format!("no reflex at `{}`", file.display());
    let binary = file.canonicalize().with_context(shown)?;
    let linkage = Linkage::of(&fs::read(&binary).with_context(shown)?);
    Ok(Release { binary, linkage })
}

/// Builds the release as shipped, or the closest variant that this machine can build.
pub fn build(project: &Project) -> Result<Release> {
    let arch = std::env::consts::ARCH;
    let (musl, gnu) = (format!("{arch}-unknown-linux-musl"), format!("{arch}-unknown-linux-gnu"));
    if cfg!(target_os = "linux") && is_installed(&musl) {
        return build_for(project, Some(&musl), Linkage::StaticMusl, &[]);
    }
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let is_static = build_for(project, Some(&gnu), Linkage::StaticGlibc, &[]);
        if is_static.is_ok() {
            return is_static;
        }
    }
    build_for(project, None, Linkage::Dynamic, &[])
}

/// Builds the static release with its symbols, which the shipped program lacks.
///
/// # Errors
/// The output of a failed build.
pub fn with_symbols(project: &Project) -> Result<Release> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let symbols = format!("profile.{PROFILE}.strip=false");
    build_for(project, Some(&target), Linkage::StaticMusl, &["--config", &symbols])
}

/// Builds the programs for another machine with zig as linker and C compiler, and returns their folder.
pub fn build_elsewhere(project: &Project, target: &str, deployment: &str) -> Result<PathBuf> {
    let mut cargo =
        project.cargo(&["zigbuild", "--profile", PROFILE, "--locked", "--package", "reflex-guard", "--target", target]);
    if !deployment.is_empty() {
        cargo.env("MACOSX_DEPLOYMENT_TARGET", deployment);
    }
    anonymous(project, &mut cargo, target);
    step(&format!("release, {target}"), || succeed(&mut cargo))?;
    Ok(project.target.join(target).join(PROFILE))
}

/// Removes local paths from the program, so that its bytes do not depend on the build machine.
fn anonymous(project: &Project, cargo: &mut Command, target: &str) {
    let home = |variable: &str, below: &str| {
        let named = std::env::var_os(variable).map(PathBuf::from);
        named.or_else(|| std::env::home_dir().map(|home| home.join(below)))
    };
    let folders = [
        (Some(project.root.clone()), "/reflex"),
        (Some(project.target.clone()), "/target"),
        (home("CARGO_HOME", ".cargo"), "/cargo"),
        (home("RUSTUP_HOME", ".rustup"), "/rustup"),
    ];
    let folders = folders.into_iter().filter_map(|(folder, name)| Some((folder?, name)));
    let (mut rust, mut c) = (Vec::new(), Vec::new());
    for (folder, name) in folders {
        rust.push(format!("\"--remap-path-prefix={}={name}\"", folder.display()));
        c.push(format!("-ffile-prefix-map={}={name}", folder.display()));
    }
    cargo.arg("--config").arg(format!("target.{target}.rustflags=[{}]", rust.join(",")));
    cargo.env(format!("CFLAGS_{}", target.replace('-', "_")), c.join(" "));
}

fn is_installed(target: &str) -> bool {
    let installed = succeed(tool("rustup").args(["target", "list", "--installed"]));
    installed.is_ok_and(|list| list.lines().any(|line| line.trim() == target))
}

fn build_for(project: &Project, target: Option<&str>, linkage: Linkage, more: &[&str]) -> Result<Release> {
    let mut cargo = project.cargo(&["build", "--profile", PROFILE, "--locked", "--package", "reflex-guard"]);
    cargo.args(more);
    let mut folder = project.target.clone();
    if let Some(target) = target {
        cargo.args(["--target", target]);
        anonymous(project, &mut cargo, target);
        folder.push(target);
    }
    match linkage {
        Linkage::StaticMusl => drop(cargo.env("REFLEX_ORDER", project.root.join(ORDER))),
        Linkage::StaticGlibc => drop(cargo.env("RUSTFLAGS", "-C target-feature=+crt-static")),
        Linkage::Dynamic => {}
    }
    step(&format!("release, {}", linkage.name()), || succeed(&mut cargo))?;
    Ok(Release { binary: folder.join(PROFILE).join(format!("reflex{}", std::env::consts::EXE_SUFFIX)), linkage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linkage_of_a_program_is_read_from_its_bytes() {
        let programs: [&[u8]; 3] = [b"\x7fELF", b"\x7fELF GNU C Library", b"\x7fELF /lib64/ld-linux-x86-64.so.2"];
        assert_eq!(programs.map(Linkage::of), [Linkage::StaticMusl, Linkage::StaticGlibc, Linkage::Dynamic]);
    }
}
