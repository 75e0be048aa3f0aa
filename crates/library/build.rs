//! Compiles `data/`, which is `library/` at the root, into one blob, and generates the list of official reflexes.

use reflex_tables::compile::{Kind, Sources};
use reflex_types::{Needs, compile};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manifest = env::var("CARGO_MANIFEST_DIR")?;
    let library = Path::new(&manifest).join("data");
    let mut sources = Sources::default();
    for (kind, folder) in Kind::ALL {
        let folder = library.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in yaml_files(&folder)? {
            let text = fs::read_to_string(&file)?;
            sources.add(kind, &shown(&library, &file), &text).map_err(|problem| problem.to_string())?;
        }
    }
    let out = Path::new(&env::var("OUT_DIR")?).join("library.tables");
    let blob = sources.blob()?;
    println!("cargo::rustc-env=REFLEX_LIBRARY_DIGEST={}", digest(&blob));
    fs::write(out, blob)?;
    let reflexes = Path::new(&env::var("OUT_DIR")?).join("reflexes.rs");
    fs::write(reflexes, catalog(&library.join("reflexes"), Path::new(&env::var("OUT_DIR")?))?)?;
    Ok(())
}

/// Generates the official reflexes as a Rust list: each with its files, included by path, the compiled code of its
/// modules, the interpreter features that they name, and the digest that a person's approval refers to.
fn catalog(folder: &Path, out: &Path) -> Result<String, Box<dyn std::error::Error>> {
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
                let compiled = out.join(format!("{}-{}.code", name(reflex), name(&file)));
                fs::write(&compiled, compile(&format!("ours:{}/{}", name(reflex), name(&file)), &text)?)?;
                let included = format!("include_bytes!({:?})", compiled.display().to_string());
                code.push_str(&format!("        ({:?}, unsafe {{ Compiled::trusted({included}) }}),\n", name(&file)));
            }
        }
        let digest = hexadecimal(&hasher.finalize());
        list.push_str(&format!("    Packaged {{ name: {:?}, digest: \"sha256:{digest}\",\n", name(reflex)));
        list.push_str(&format!("      files: &[\n{files}      ], code: &[\n{code}      ], needs: {needs:?} }},\n"));
    }
    Ok(list + "]")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sorted(folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?.iter().map(|f| f.path()).collect();
    entries.sort();
    Ok(entries)
}

/// The first 16 digits of the SHA-256.
fn digest(blob: &[u8]) -> String {
    hexadecimal(&Sha256::digest(blob)).chars().take(16).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn yaml_files(folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let is_yaml = |file: &std::path::PathBuf| file.extension().is_some_and(|extension| extension == "yaml");
    Ok(sorted(folder)?.into_iter().filter(is_yaml).collect())
}

fn shown(library: &Path, file: &Path) -> String {
    file.strip_prefix(library).unwrap_or(file).to_string_lossy().into_owned()
}
