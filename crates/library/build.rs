//! Compiles `library/` at the project's root into one blob.

use reflex_tables::compile::{Kind, Sources, encode};
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manifest = env::var("CARGO_MANIFEST_DIR")?;
    let library = Path::new(&manifest).join("../../library");
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
    let blob = encode(&sources.tree()?)?;
    println!("cargo::rustc-env=REFLEX_LIBRARY_DIGEST={}", digest(&blob));
    fs::write(out, blob)?;
    Ok(())
}

/// The first 16 digits of the SHA-256.
fn digest(blob: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(blob).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn yaml_files(folder: &Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?.iter().map(|f| f.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    Ok(files)
}

fn shown(library: &Path, file: &Path) -> String {
    file.strip_prefix(library).unwrap_or(file).to_string_lossy().into_owned()
}
