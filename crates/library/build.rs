//! Compiles `data/`, which is `library/` at the root, into one blob.

use reflex_tables::compile::{Kind, Sources};
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
    Ok(())
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
