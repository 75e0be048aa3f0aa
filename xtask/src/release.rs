//! Builds the binary for distribution: static if this machine supports it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench;
use crate::layout;
use crate::link::Link;
use crate::project::{Project, tool};
use crate::steps::{step, succeed};

/// The way a binary is linked to its C library.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
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
    pub(crate) const ALL: [(Self, &'static str); 3] =
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
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(linkage, _)| *linkage == self).map_or("unknown", |(_, name)| name)
    }

    /// Rust's target triple on Linux; `None` for the default target of this machine.
    pub(crate) fn triple(self, arch: &str) -> Option<String> {
        match self {
            Self::StaticMusl => Some(format!("{arch}-unknown-linux-musl")),
            Self::StaticGlibc => Some(format!("{arch}-unknown-linux-gnu")),
            Self::Dynamic => None,
        }
    }

    /// Whether the binary loads no libraries at startup.
    pub(crate) fn is_static(self) -> bool {
        self != Self::Dynamic
    }
}

/// A built `reflex`.
pub(crate) struct Release {
    /// Path of the binary.
    pub(crate) binary: PathBuf,
    /// Its linkage.
    pub(crate) linkage: Linkage,
}

/// Takes the program in this file, or builds the release.
pub(crate) fn given_or_built(project: &Project, file: Option<&Path>) -> Result<Release, String> {
    let Some(file) = file else { return build(project) };
    let shown = |error: std::io::Error| format!("no reflex at `{}`: {error}", file.display());
    let binary = file.canonicalize().map_err(shown)?;
    let linkage = Linkage::of(&fs::read(&binary).map_err(shown)?);
    Ok(Release { binary, linkage })
}

/// Builds the release as shipped, or the closest variant that this machine can build.
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

/// Builds the programs for another machine with zig as linker and C compiler, and returns their folder.
pub(crate) fn build_elsewhere(project: &Project, target: &str, deployment: &str) -> Result<PathBuf, String> {
    let mut cargo =
        project.cargo(&["zigbuild", "--release", "--locked", "--package", "reflex-guard", "--target", target]);
    if !deployment.is_empty() {
        cargo.env("MACOSX_DEPLOYMENT_TARGET", deployment);
    }
    anonymous(project, &mut cargo, target);
    step(&format!("release, {target}"), || succeed(&mut cargo))?;
    Ok(project.target.join(target).join("release"))
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

fn build_for(project: &Project, target: Option<&str>, linkage: Linkage) -> Result<Release, String> {
    let mut cargo = project.cargo(&["build", "--release", "--locked", "--package", "reflex-guard"]);
    let mut folder = project.target.clone();
    if let Some(target) = target {
        cargo.args(["--target", target]);
        anonymous(project, &mut cargo, target);
        folder.push(target);
    }
    if linkage == Linkage::StaticGlibc {
        cargo.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    let link =
        target.filter(|_| linkage == Linkage::StaticMusl).map(|target| (target, Link::kept_in(folder.join("link"))));
    if let Some((target, link)) = &link {
        link.keep_by(&mut cargo, target)?;
    }
    step(&format!("release, {}", linkage.name()), || succeed(&mut cargo))?;
    let file = format!("reflex{}", std::env::consts::EXE_SUFFIX);
    let mut binary = folder.join("release").join(file);
    if let Some((_, link)) = &link {
        binary = step("order of functions", || ordered(project, link, &binary, &folder.join("shipped")))?;
    }
    Ok(Release { binary, linkage })
}

/// Links the program with the functions of a call side by side, in a folder of its own.
fn ordered(project: &Project, link: &Link, named: &Path, folder: &Path) -> Result<PathBuf, String> {
    let binary = folder.join("reflex");
    let time = |file: &Path| fs::metadata(file).and_then(|data| data.modified()).ok();
    if time(&binary) > time(&link.words()) {
        return Ok(binary);
    }
    fs::create_dir_all(folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    if !bench::has_valgrind() {
        println!("      valgrind is not there to tell which functions a call runs: they stay where they are");
        return link.again(&binary, &[]).map(|()| binary);
    }
    let script = layout::write(&project.root, named, folder)?;
    link.again(&binary, &[format!("-Wl,-T,{}", script.display()).into()])?;
    Ok(binary)
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
