//! Builds the packages of a release: archives, the installer, npm packages and Python wheels. The same commit yields
//! the same bytes on every machine.

mod archive;
mod npm;
mod target;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use archive::Entry;
use target::Target;
use tasks::project::Project;
use tasks::release;
use tasks::steps::{step, succeed};

/// Name of the command and of the package in every registry.
const NAME: &str = "reflex-guard";

/// The programs and documents for one target.
struct Build {
    target: &'static Target,
    version: String,
    /// The programs, `reflex` first.
    programs: Vec<Entry>,
    /// Manual pages, completions, licenses and the pages in an archive.
    documents: Vec<Entry>,
}

impl Build {
    /// File name without extension, such as `reflex-0.1.0-x86_64-unknown-linux-musl`.
    fn stem(&self) -> String {
        format!("reflex-{}-{}", self.version, self.target.triple)
    }
}

/// Builds packages for these targets, or for this machine's target if none is given, in `dist/` of the target folder.
pub(crate) fn run(project: &Project, triples: &[&str]) -> Result<()> {
    let targets: Vec<&Target> = match triples {
        [] => vec![Target::of_this_machine()?],
        named => named.iter().map(|triple| Target::named(triple)).collect::<Result<_, _>>()?,
    };
    let folder = project.target.join("dist");
    remove(&folder)?;
    make(&folder)?;
    let version = version(project)?;
    let documents = step("manual, completions", || documents(project))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for target in targets {
        let programs = programs(project, target)?;
        let build = Build { target, version: version.clone(), programs, documents: documents.clone() };
        files.push(step(&format!("archive, {}", target.triple), || written(&folder, archived(&build)?))?);
        files.push(step(&format!("wheel, {}", target.triple), || written(&folder, wheel::wheel(&build)?))?);
        files.push(step(&format!("npm, {}", target.triple), || written(&folder, npm::of_platform(&build)?))?);
    }
    files.push(written(&folder, npm::main(&version, &project.root)?)?);
    files.push(written(&folder, installer(project, &version)?)?);
    let sums = step("checksums", || sums(&files))?;
    files.push(written(&folder, ("SHA256SUMS".to_owned(), sums.into_bytes()))?);
    files.iter().for_each(|file| println!("      {}", file.display()));
    Ok(())
}

/// The version shared by all packages of the workspace.
fn version(project: &Project) -> Result<String> {
    let manifest = read(&project.root.join("Cargo.toml"))?;
    let manifest = String::from_utf8_lossy(&manifest).into_owned();
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    Ok(line.context("Cargo.toml has no version")?.trim_matches('"').to_owned())
}

/// `reflex` and `rfx` for a target.
fn programs(project: &Project, target: &Target) -> Result<Vec<Entry>> {
    let folder = if target.is_of_this_machine() {
        // The functions are ordered for a call: see `release`.
        let release = release::build(project)?;
        if release.linkage.triple(std::env::consts::ARCH).as_deref() != Some(target.triple) && cfg!(target_os = "linux")
        {
            bail!("rustup target add {}: what is built here is {}", target.triple, release.linkage.name());
        }
        let rfx = project.target.join(target.triple).join(release::PROFILE).join("rfx");
        return Ok(vec![Entry::program("reflex", read(&release.binary)?), Entry::program("rfx", read(&rfx)?)]);
    } else {
        release::build_elsewhere(project, target.triple, target.deployment)?
    };
    ["reflex", "rfx"].into_iter().map(|name| Ok(Entry::program(name, read(&folder.join(name))?))).collect()
}

/// Manual pages, completions, licenses and pages. They are identical for all targets, so this machine's build prints
/// them.
fn documents(project: &Project) -> Result<Vec<Entry>> {
    let folder = project.target.join("package-documents");
    remove(&folder)?;
    make(&folder)?;
    let run = |words: &[&str]| {
        let mut cargo = project.cargo(&["run", "--quiet", "--locked", "--package", NAME, "--bin", "reflex", "--"]);
        succeed(cargo.args(words))
    };
    run(&["man", &folder.to_string_lossy()])?;
    let mut documents = Vec::new();
    for page in listed(&folder)? {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        documents.push(Entry::file(&format!("man/man1/{name}"), read(&page)?));
    }
    for (shell, name) in [("bash", "reflex.bash"), ("zsh", "_reflex"), ("fish", "reflex.fish")] {
        documents.push(Entry::file(&format!("completions/{name}"), run(&["completions", shell])?.into_bytes()));
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md", "SECURITY.md"] {
        documents.push(Entry::file(name, read(&project.root.join(name))?));
    }
    Ok(documents)
}

fn archived(build: &Build) -> Result<(String, Vec<u8>)> {
    let stem = build.stem();
    let entries: Vec<Entry> = build.programs.iter().chain(&build.documents).map(|entry| entry.below(&stem)).collect();
    Ok((format!("{stem}.tar.gz"), archive::tar_gz(&entries)?))
}

/// The installer, with the version to install filled in.
fn installer(project: &Project, version: &str) -> Result<(String, Vec<u8>)> {
    let text = read(&project.root.join("packaging/install.sh"))?;
    let key = std::env::var("REFLEX_RELEASE_KEY").unwrap_or_default();
    let text = String::from_utf8_lossy(&text).replace("@VERSION@", version).replace("@KEY@", &key);
    Ok(("install.sh".to_owned(), text.into_bytes()))
}

/// Checksums in the format of `sha256sum`.
fn sums(files: &[PathBuf]) -> Result<String> {
    let mut lines: Vec<String> = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        lines.push(format!("{}  {name}\n", hexadecimal(&Sha256::digest(read(file)?))));
    }
    lines.sort_by(|one, other| one.get(66..).cmp(&other.get(66..)));
    Ok(lines.concat())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn written(folder: &Path, (name, bytes): (String, Vec<u8>)) -> Result<PathBuf> {
    let file = folder.join(name);
    fs::write(&file, bytes).with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(file)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.with_context(|| format!("cannot remove `{}`", folder.display())),
    }
}

/// The files of a folder, sorted by name.
fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list `{}`", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}
