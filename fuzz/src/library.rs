//! The library as it stands in the checkout: its tables and, for what is made of them, its entries.

use reflex_tables::Tables;
use reflex_tables::compile::{Entry, Kind, Sources, encode};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The compiled library.
pub(crate) fn tables() -> Tables {
    Tables::new(blob())
}

/// Its bytes.
pub(crate) fn blob() -> &'static [u8] {
    static BLOB: OnceLock<Vec<u8>> = OnceLock::new();
    BLOB.get_or_init(|| encode(&sources().tree().expect("the library is whole")).expect("the library fits"))
}

/// Every entry with its examples.
pub(crate) fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| sources().entries().to_vec())
}

fn sources() -> Sources {
    let mut sources = Sources::default();
    for (kind, folder) in Kind::ALL {
        for file in yaml_files(&folder_of(folder)) {
            let text = std::fs::read_to_string(&file).expect("a file of the library is text");
            sources.add(kind, &file.display().to_string(), &text).expect("a file of the library is whole");
        }
    }
    sources
}

/// A folder of `library/`, from wherever in the checkout this is compiled.
pub(crate) fn folder_of(name: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join("library").join(name)).find(|folder| folder.is_dir()).expect("there is a library")
}

/// The files of a folder in their order.
pub(crate) fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("a folder of the library");
    let mut files: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    files
}
