//! Compiles the built-in modules and the official reflexes to the interpreter's own code.

use reflex_types::{Needs, compile};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Built-in modules: the import name and the file.
const BUILT_IN: [(&str, &str); 25] = [
    ("@agentreflex/core", "core.js"),
    ("@agentreflex/core/packs", "core-packs.js"),
    ("@agentreflex/core/git", "core-git.js"),
    ("path", "path.js"),
    ("os", "os.js"),
    ("fs", "fs.js"),
    ("fs/promises", "fs-promises.js"),
    ("crypto", "crypto.js"),
    ("url", "url-module.js"),
    ("process", "process-module.js"),
    ("path/posix", "path-posix.js"),
    ("util", "util.js"),
    ("util/types", "util-types.js"),
    ("buffer", "buffer-module.js"),
    ("events", "events.js"),
    ("assert", "assert.js"),
    ("assert/strict", "assert-strict.js"),
    ("querystring", "querystring.js"),
    ("string_decoder", "string-decoder.js"),
    ("timers", "timers-module.js"),
    ("timers/promises", "timers-promises.js"),
    ("perf_hooks", "perf-hooks.js"),
    ("tty", "tty.js"),
    ("module", "module.js"),
    ("child_process", "child-process.js"),
];

/// Files that define the names available to modules without an import.
const PARTS: [&str; 7] = ["timers", "web", "buffer", "event-target", "url", "process", "common"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (manifest, out) = (env::var("CARGO_MANIFEST_DIR")?, env::var("OUT_DIR")?);
    let reflexes = official(&Path::new(&manifest).join("reflexes"), Path::new(&out))?;
    fs::write(Path::new(&out).join("official.rs"), reflexes)?;
    let folder = Path::new(&manifest).join("src/js");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut list = String::from("&[\n");
    let mut print = 0u64;
    for (name, file) in BUILT_IN {
        let mut text = fs::read_to_string(folder.join(file))?;
        if name == "@agentreflex/core" {
            // Includes the code that defines lazy fields, so that it is not parsed again at run time.
            text.push_str(&format!("__reflex.lazily = {}", fs::read_to_string(folder.join("lazy.js"))?));
        }
        let code = compile(name, &text)?;
        print = code.iter().fold(print, mix);
        list.push_str(&compiled(Path::new(&out), (name, file), &code)?);
    }
    fs::write(Path::new(&out).join("print.rs"), format!("{print:#x}"))?;
    fs::write(Path::new(&out).join("built_in.rs"), list + "]")?;
    let mut list = String::from("&[\n");
    for name in PARTS {
        let file = format!("{name}.js");
        let text = fs::read_to_string(folder.join(&file))?;
        let name = format!("reflex part {name}");
        let code = compile(&name, &text)?;
        list.push_str(&compiled(Path::new(&out), (&name, &file), &code)?);
    }
    fs::write(Path::new(&out).join("parts.rs"), list + "]")?;
    Ok(())
}

fn mix(sum: u64, byte: &u8) -> u64 {
    (sum.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A line of a list in Rust: a name and its code.
fn compiled(out: &Path, (name, file): (&str, &str), code: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
    let place = out.join(format!("{file}.code"));
    fs::write(&place, code)?;
    let included = format!("include_bytes!({:?})", place.display().to_string());
    Ok(format!("    ({name:?}, unsafe {{ Compiled::trusted({included}) }}),\n"))
}

/// Generates the official reflexes as a Rust list: each with its files, included by path, the compiled code of its
/// modules, the interpreter features that they name, and the digest that a person's approval refers to.
fn official(folder: &Path, out: &Path) -> Result<String, Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut list = String::from("&[\n");
    for reflex in sorted(folder)?.iter().filter(|path| path.is_dir()) {
        let (mut files, mut code, mut hasher) = (String::new(), String::new(), Sha256::new());
        let mut needs = Needs::default();
        for file in sorted(reflex)? {
            let (path, text) = (file.canonicalize()?, fs::read_to_string(&file)?);
            files.push_str(&format!("        ({:?}, include_str!({:?})),\n", name(&file), path.display().to_string()));
            for part in [name(&file).as_bytes(), text.as_bytes()] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            if file.extension().is_some_and(|extension| extension == "ts") {
                let text = reflex_types::javascript(&name(&file), &text)?;
                needs = needs.and(Needs::from_source(&text));
                let place = out.join(format!("{}-{}.code", name(reflex), name(&file)));
                fs::write(&place, compile(&format!("ours:{}/{}", name(reflex), name(&file)), &text)?)?;
                let included = format!("include_bytes!({:?})", place.display().to_string());
                code.push_str(&format!("        ({:?}, unsafe {{ Compiled::trusted({included}) }}),\n", name(&file)));
            }
        }
        let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        list.push_str(&format!("    Packaged {{ name: {:?}, digest: \"sha256:{digest}\",\n", name(reflex)));
        list.push_str(&format!("      files: &[\n{files}      ], code: &[\n{code}      ], needs: {needs:?} }},\n"));
    }
    Ok(list + "]")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sorted(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?.iter().map(|f| f.path()).collect();
    entries.sort();
    Ok(entries)
}
