//! Builds the binary that people get: static where this machine can.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::Project;
use crate::steps::{step, succeed};

/// How a binary finds its C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// musl, linked in: what is shipped for Linux.
    StaticMusl,
    /// glibc, linked in.
    StaticGlibc,
    /// Whatever the system has, loaded at each start.
    Dynamic,
}

impl Linkage {
    /// Every linkage with its word in the speed report.
    pub(crate) const ALL: [(Self, &'static str); 3] =
        [(Self::StaticMusl, "static (musl)"), (Self::StaticGlibc, "static (glibc)"), (Self::Dynamic, "dynamic")];

    /// Its word in the speed report.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(linkage, _)| *linkage == self).map_or("unknown", |(_, name)| name)
    }

    /// Whether nothing is loaded when the binary starts.
    pub(crate) fn is_static(self) -> bool {
        self != Self::Dynamic
    }
}

/// A built `reflex`.
pub(crate) struct Release {
    /// Its file.
    pub(crate) binary: PathBuf,
    /// How it is linked.
    pub(crate) linkage: Linkage,
}

/// Builds the release as it is shipped, or the nearest that this machine can build.
pub(crate) fn build(project: &Project) -> Result<Release, String> {
    let arch = std::env::consts::ARCH;
    let (musl, gnu) = (format!("{arch}-unknown-linux-musl"), format!("{arch}-unknown-linux-gnu"));
    if cfg!(target_os = "linux") && is_installed(&musl) {
        return build_for(project, Some(&musl), Linkage::StaticMusl);
    }
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let is_static = build_for(project, Some(&gnu), Linkage::StaticGlibc);
        if is_static.is_ok() {
            return is_static;
        }
    }
    build_for(project, None, Linkage::Dynamic)
}

fn is_installed(target: &str) -> bool {
    let installed = succeed(Command::new("rustup").args(["target", "list", "--installed"]));
    installed.is_ok_and(|list| list.lines().any(|line| line.trim() == target))
}

fn build_for(project: &Project, target: Option<&str>, linkage: Linkage) -> Result<Release, String> {
    let mut cargo = project.cargo(&["build", "--release", "--locked", "--package", "reflex-guard"]);
    let mut folder = project.target.clone();
    if let Some(target) = target {
        cargo.args(["--target", target]);
        folder.push(target);
    }
    if linkage == Linkage::StaticGlibc {
        cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    step(&format!("release, {}", linkage.name()), || succeed(&mut cargo))?;
    let file = format!("reflex{}", std::env::consts::EXE_SUFFIX);
    let binary = folder.join("release").join(file);
    if linkage == Linkage::StaticMusl {
        step("image", || fill(&binary))?;
    }
    Ok(Release { binary, linkage })
}

/// The section that holds the interpreters of the program.
const SECTION: &str = ".reflex.image";

/// Has the program make the interpreters that are part of it, and writes them into its file. Only for a program at a fixed
/// address.
pub(crate) fn fill(binary: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", binary.display());
    let made = Command::new(binary).arg("image").output().map_err(told)?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
    }
    let mut bytes = fs::read(binary).map_err(told)?;
    let place = section(&bytes, SECTION).ok_or_else(|| format!("{}: it has no {SECTION}", binary.display()))?;
    let room = bytes.get_mut(place).filter(|room| room.len() == made.stdout.len());
    room.ok_or_else(|| format!("{SECTION} has another length"))?.copy_from_slice(&made.stdout);
    // A file that runs cannot be written; one beside it can take its place.
    let beside = binary.with_extension("filled");
    let permissions = fs::metadata(binary).map_err(told)?.permissions();
    fs::write(&beside, bytes).map_err(told)?;
    fs::set_permissions(&beside, permissions).map_err(told)?;
    fs::rename(&beside, binary).map_err(told)
}

/// Where a section lies in an ELF file of 64 bits, little end first (System V ABI, chapter 4).
fn section(file: &[u8], name: &str) -> Option<Range<usize>> {
    let number = |at: usize, length: usize| -> Option<usize> {
        let bytes = file.get(at..at.checked_add(length)?)?;
        usize::try_from(bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))).ok()
    };
    let (table, size, count, names) = (number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?, number(0x3e, 2)?);
    let place = |header: usize| {
        let start = number(header + 0x18, 8)?;
        Some(start..start.checked_add(number(header + 0x20, 8)?)?)
    };
    let names = place(table + names * size)?;
    let mut headers = (0..count).map(|index| table + index * size);
    let named = |header: &usize| {
        let start = names.start.checked_add(number(*header, 4)?)?;
        Some(file.get(start..)?.strip_prefix(name.as_bytes())?.first() == Some(&0))
    };
    headers.find(|header| named(header) == Some(true)).and_then(place)
}
