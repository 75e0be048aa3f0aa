//! Checks that what is written on one operating system compiles for the others.
//!
//! Nothing is linked and nothing runs, so it takes the standard library of each target and no compiler of C: what build
//! scripts would compile is not looked at. Whether it works there, only a machine of that kind can tell.

use std::env::consts::OS;
use std::process::Command;

use crate::project::Project;
use crate::steps::{step, succeed};

/// A system for which everything is checked but what is named.
struct Target {
    name: &'static str,
    /// Packages that do not compile there yet, each behind those that it is built on. The list may only become shorter.
    not_yet: &'static [&'static str],
}

const TARGETS: [Target; 3] = [
    Target { name: "x86_64-unknown-linux-gnu", not_yet: &[] },
    Target { name: "aarch64-apple-darwin", not_yet: &[] },
    Target { name: "x86_64-pc-windows-gnu", not_yet: &["xtask"] },
];

/// Checks the named targets, or each, with the whole workspace. The system it runs on is left out: the tests cover it.
pub(crate) fn check(project: &Project, names: &[&str]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| !TARGETS.iter().any(|target| target.name == **name)) {
        return Err(format!("unknown target `{unknown}`"));
    }
    let is_named = |target: &&Target| names.is_empty() || names.contains(&target.name);
    for target in TARGETS.iter().filter(is_named).filter(|target| !target.name.contains(OS)) {
        step(target.name, || check_for(project, target))?;
    }
    Ok(())
}

fn check_for(project: &Project, target: &Target) -> Result<(), String> {
    let mut cargo = cargo(project, target);
    cargo.arg("--workspace").args(target.not_yet.iter().flat_map(|package| ["--exclude", package]));
    succeed(&mut cargo)
        .map_err(|problem| format!("{problem}\n`rustup target add {}` brings the target", target.name))?;
    // What compiles has to go on doing so.
    let Some(next) = target.not_yet.first() else { return Ok(()) };
    match succeed(self::cargo(project, target).args(["--package", next])) {
        Ok(_) => Err(format!("{next} compiles for {}: take it off the list", target.name)),
        Err(_) => Ok(()),
    }
}

fn cargo(project: &Project, target: &Target) -> Command {
    let mut cargo = project.cargo(&["check", "--quiet", "--locked", "--target", target.name]);
    let of_target = target.name.replace('-', "_");
    // A compiler that makes nothing: only a linker would miss it.
    cargo.env(format!("CC_{of_target}"), "true").env(format!("AR_{of_target}"), "true");
    cargo
}
