//! npm packages: one per platform with the programs, and `reflex-guard`, which starts the matching one.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::archive::{Entry, tar_gz};
use super::target::Target;
use super::{Build, NAME, read};

const SUMMARY: &str = "The guard between coding agents and your machine";

/// The package for a build's platform, with its file name.
pub(crate) fn of_platform(build: &Build) -> Result<(String, Vec<u8>)> {
    let target = build.target;
    let manifest = json!({
        "name": platform(target), "version": build.version, "description": format!("{SUMMARY}: the program for {}", target.triple),
        "license": "MIT OR Apache-2.0", "repository": repository(), "os": [target.os], "cpu": [target.cpu],
        "preferUnplugged": true, "files": ["bin"],
    });
    let programs = build.programs.iter().map(|program| program.below("bin"));
    let licences = build.documents.iter().filter(|entry| entry.path.starts_with("LICENSE")).cloned();
    let entries = std::iter::once(manifest_entry(&manifest)).chain(programs).chain(licences);
    let name = format!("{NAME}-{}-{}-{}.tgz", target.os, target.cpu, build.version);
    Ok((name, packed(entries)?))
}

/// The package that users install. It has no installation scripts.
pub(crate) fn main(version: &str, root: &Path) -> Result<(String, Vec<u8>)> {
    let platforms: Map<String, Value> = Target::all().iter().map(|target| (platform(target), version.into())).collect();
    let manifest = json!({
        "name": NAME, "version": version, "description": SUMMARY, "license": "MIT OR Apache-2.0",
        "repository": repository(), "keywords": ["claude-code", "codex", "agents", "guard", "hooks", "security"],
        "bin": {NAME: "bin/reflex.js", "reflex": "bin/reflex.js"}, "files": ["bin"], "engines": {"node": ">=18"},
        "optionalDependencies": platforms,
    });
    let entries = [
        manifest_entry(&manifest),
        Entry::program("bin/reflex.js", read(&root.join("packaging/npm/reflex.js"))?),
        Entry::file("README.md", read(&root.join("README.md"))?),
        Entry::file("LICENSE-APACHE", read(&root.join("LICENSE-APACHE"))?),
        Entry::file("LICENSE-MIT", read(&root.join("LICENSE-MIT"))?),
    ];
    Ok((format!("{NAME}-{version}.tgz"), packed(entries.into_iter())?))
}

fn platform(target: &Target) -> String {
    format!("@{NAME}/{}-{}", target.os, target.cpu)
}

fn repository() -> Value {
    json!({"type": "git", "url": format!("git+{}.git", env!("CARGO_PKG_REPOSITORY"))})
}

fn manifest_entry(manifest: &Value) -> Entry {
    Entry::file("package.json", format!("{manifest:#}\n").into_bytes())
}

fn packed(entries: impl Iterator<Item = Entry>) -> Result<Vec<u8>> {
    let entries: Vec<Entry> = entries.map(|entry| entry.below("package")).collect();
    tar_gz(&entries)
}
