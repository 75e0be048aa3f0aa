//! The packages for Node.js and Python: built, packed, installed into empty folders, and tested there.

pub mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use tasks::project::{Project, tool};
use tasks::steps::{step, succeed};

/// The command that builds wheels, as on PyPI.
const MATURIN: &str = "maturin==1.16.0";

/// Files of the npm package beside the native part.
const NODE_FILES: [&str; 7] =
    ["index.js", "index.mjs", "index.d.ts", "index.d.mts", "native.js", "package.json", "README.md"];

/// A rule for the example of the document, which loads `./rules`.
const RULE: &str = "name: no-notes\nevents: [file_write]\nconditions:\n  \
    - {field: file_path, op: ends_with, pattern: passwd}\naction: warn\n";

/// # Errors
/// A package cannot be built or installed, or one of its tests fails.
pub fn check(project: &Project) -> Result<()> {
    let build = Build::new(project);
    fs::create_dir_all(&build.out).with_context(|| format!("cannot make `{}`", build.out.display()))?;
    step("tests of the shared part", || build.cargo(&["test", "--release", "-q", "-p", "reflex-bindings"]))?;
    step("npm packages", || build.npm_packages())?;
    step("npm packages in an empty folder", || build.in_node())?;
    step("pairs of the differential through npm", || build.differential(project))?;
    step("wheel", || build.wheel())?;
    step("wheel in an empty environment", || build.in_python())?;
    let Some((events, verdicts)) = score::judged(project)? else {
        println!("skip  records: no corpora");
        return Ok(());
    };
    step("verdicts of `reflex eval` in both packages", || build.records(&events, &verdicts))
}

/// The sources of the packages, and the folder in which they are built and tried.
pub(crate) struct Build {
    source: PathBuf,
    pub(crate) out: PathBuf,
}

impl Build {
    pub(crate) fn new(project: &Project) -> Build {
        Build { source: project.root.join("bindings"), out: project.target.join("bindings") }
    }

    fn cargo(&self, arguments: &[&str]) -> Result<()> {
        let mut cargo = tool("cargo");
        cargo
            .args(arguments)
            .arg("--locked")
            .current_dir(&self.source)
            .env("CARGO_TARGET_DIR", self.out.join("target"));
        succeed(&mut cargo).map(drop)
    }

    /// Packs the package with the interface, and the one with the native part for this platform.
    fn npm_packages(&self) -> Result<()> {
        self.cargo(&["build", "--release", "-p", "reflex-engine-node"])?;
        let platform = text(Command::new("node").args(["-p", "`${process.platform}-${process.arch}`"]))?;
        let (main, native) = (self.fresh("npm/main")?, self.fresh("npm/native")?);
        for name in NODE_FILES {
            copy(&self.source.join("node").join(name), &main.join(name))?;
        }
        let library =
            if cfg!(target_os = "macos") { "libreflex_engine_node.dylib" } else { "libreflex_engine_node.so" };
        copy(&self.out.join("target/release").join(library), &native.join("reflex-engine.node"))?;
        let (system, processor) = platform.split_once('-').context("node names no platform")?;
        let manifest = format!(
            "{{\"name\": \"reflex-guard-engine-{platform}\", \"version\": \"{}\", \"main\": \"reflex-engine.node\", \
             \"license\": \"MIT OR Apache-2.0\", \"os\": [\"{system}\"], \"cpu\": [\"{processor}\"]}}\n",
            env!("CARGO_PKG_VERSION")
        );
        write(&native.join("package.json"), &manifest)?;
        for folder in [&main, &native] {
            succeed(tool("npm").args(["pack", "--silent", "--pack-destination", ".."]).current_dir(folder))?;
        }
        Ok(())
    }

    /// Installs both packages and runs the tests and the document's example.
    fn in_node(&self) -> Result<()> {
        let here = self.fresh("try-node")?;
        write(&here.join("package.json"), "{\"private\": true}\n")?;
        write(&here.join("rules/notes.yaml"), RULE)?;
        let packed = self.out.join("npm");
        let archives = files_with(&packed, "tgz")?;
        let install = ["install", "--omit=optional", "--offline", "--no-audit", "--no-fund", "--silent"];
        succeed(tool("npm").args(install).args(&archives).current_dir(&here))?;
        for name in ["engine.test.mjs", "example.mjs"] {
            copy(&self.source.join("node/test").join(name), &here.join(name))?;
        }
        succeed(Command::new("node").args(["--test", "engine.test.mjs"]).current_dir(&here))?;
        let printed = text(Command::new("node").arg("example.mjs").current_dir(&here))?;
        match printed.split_once('\n') {
            Some(("Blocked by reflex", rules)) if rules.contains("no-notes") => Ok(()),
            _ => Err(anyhow!("the example of the document prints {printed:?}")),
        }
    }

    /// Compares the npm package with the crate on the rules and events by which the crate is compared with
    /// `@fozikio/reflex`.
    fn differential(&self, project: &Project) -> Result<()> {
        let folder = self.fresh("differential")?;
        let test = ["test", "-q", "--locked", "-p", "reflex-rules", "--test", "all", "differential::"];
        succeed(project.cargo(&test).env("REFLEX_DIFFERENTIAL", &folder))?;
        if !folder.join("ours.json").exists() {
            println!("skip  differential: npm cannot install @fozikio/reflex");
            return Ok(());
        }
        // Packages are found from the place of the module.
        let script = self.out.join("try-node/differential.mjs");
        copy(&self.source.join("node/test/differential.mjs"), &script)?;
        succeed(Command::new("node").arg(script).current_dir(folder)).map(drop)
    }

    fn wheel(&self) -> Result<()> {
        let maturin = self.environment("maturin", &[MATURIN])?.join("maturin");
        let out = self.fresh("wheels")?;
        let mut command = tool(maturin);
        command.args(["build", "--release", "--locked", "--quiet", "--out"]).arg(&out);
        command.current_dir(self.source.join("python")).env("CARGO_TARGET_DIR", self.out.join("target"));
        succeed(&mut command).map(drop)
    }

    fn in_python(&self) -> Result<()> {
        let wheels = files_with(&self.out.join("wheels"), "whl")?;
        let wheels: Vec<&str> = wheels.iter().filter_map(|path| path.to_str()).collect();
        let python = self.environment("try-python", &wheels)?.join("python");
        let test = self.source.join("python/tests/test_engine.py");
        succeed(Command::new(python).arg(test).current_dir(self.fresh("try-python-folder")?)).map(drop)
    }

    /// Judges records in both packages and compares the verdicts with those of `reflex eval`.
    fn records(&self, events: &str, verdicts: &str) -> Result<()> {
        let node = self.out.join("try-node");
        write(&node.join("events.jsonl"), events)?;
        write(&node.join("verdicts.jsonl"), verdicts)?;
        copy(&self.source.join("node/test/records.test.mjs"), &node.join("records.test.mjs"))?;
        succeed(Command::new("node").args(["--test", "records.test.mjs"]).current_dir(&node))?;
        let python = self.out.join("try-python/bin/python");
        let test = self.source.join("python/tests/test_records.py");
        succeed(Command::new(python).arg(test).current_dir(&node)).map(drop)
    }

    /// Makes a virtual environment with these packages; returns the folder of its programs.
    pub(crate) fn environment(&self, name: &str, packages: &[&str]) -> Result<PathBuf> {
        let folder = self.fresh(name)?;
        succeed(tool("python3").args(["-m", "venv"]).arg(&folder))?;
        let programs = folder.join("bin");
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        succeed(tool(programs.join("python")).args(install).args(packages))?;
        Ok(programs)
    }

    /// An empty folder below the output folder.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let folder = self.out.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        Ok(folder)
    }
}

/// The files of a folder with this extension, sorted.
pub(crate) fn files_with(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    files.sort();
    Ok(files)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy `{}`", from.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

fn text(command: &mut Command) -> Result<String> {
    succeed(command).map(|output| output.trim_end().to_owned())
}
