//! Checks that the code compiles for other operating systems.
//!
//! The check neither links nor runs the result, so it requires only the standard library of each target and no C
//! compiler; C code of build scripts is not compiled. Correct behavior can only be tested on a machine of that kind.

use std::env::consts::OS;
use std::process::Command;

use anyhow::{Result, anyhow, bail};
use tasks::project::Project;
use tasks::steps::{step, succeed};

/// A target for which all packages but the listed ones are checked.
struct Target {
    name: &'static str,
    /// Packages that do not compile there yet, each after its dependencies. The list may only become shorter.
    not_yet: &'static [&'static str],
}

const TARGETS: [Target; 3] = [
    Target { name: "x86_64-unknown-linux-gnu", not_yet: &[] },
    Target { name: "aarch64-apple-darwin", not_yet: &[] },
    Target { name: "x86_64-pc-windows-gnu", not_yet: &["xtask"] },
];

/// Checks the named targets, or all, with the entire workspace. The host system is skipped, because the tests cover it.
pub(crate) fn check(project: &Project, names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !TARGETS.iter().any(|target| target.name == **name)) {
        bail!("unknown target `{unknown}`");
    }
    let is_named = |target: &&Target| names.is_empty() || names.contains(&target.name);
    for target in TARGETS.iter().filter(is_named).filter(|target| !target.name.contains(OS)) {
        step(target.name, || check_for(project, target))?;
    }
    Ok(())
}

fn check_for(project: &Project, target: &Target) -> Result<()> {
    let mut cargo = cargo(project, target);
    cargo.arg("--workspace").args(target.not_yet.iter().flat_map(|package| ["--exclude", package]));
    succeed(&mut cargo).map_err(|error| anyhow!("{error:#}\n`rustup target add {}` brings the target", target.name))?;
    // A package that compiles must leave the list, so that it keeps compiling.
    let Some(next) = target.not_yet.first() else { return Ok(()) };
    match succeed(self::cargo(project, target).args(["--package", next])) {
        Ok(_) => bail!("{next} compiles for {}: take it off the list", target.name),
        Err(_) => Ok(()),
    }
}

fn cargo(project: &Project, target: &Target) -> Command {
    let mut cargo = project.cargo(&["check", "--quiet", "--locked", "--target", target.name]);
    let of_target = target.name.replace('-', "_");
    // A C compiler that does nothing: only a linker would need its output.
    cargo.env(format!("CC_{of_target}"), "true").env(format!("AR_{of_target}"), "true");
    cargo
}
