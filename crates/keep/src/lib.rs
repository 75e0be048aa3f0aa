//! Keeps copies of files before they are lost, and gives them back exactly: content, mode, times, links, attributes.
//!
//! ```
//! use reflex_keep::{About, BackupStore, Bounds, Request};
//! use std::fs;
//!
//! let folder = tempfile::tempdir()?;
//! let root = folder.path().canonicalize()?;
//! let notes = root.join("notes.md");
//! fs::write(&notes, "not committed")?;
//!
//! let store = BackupStore::new(root.join("kept"), Bounds::default());
//! let id = store.keep(&Request { roots: vec![notes.clone()], ..Request::default() }, &About::default()).unwrap();
//! fs::remove_file(&notes)?;
//!
//! let backup = store.backup(&id).unwrap();
//! let plan = backup.plan(&[], None);
//! store.restore(&backup, &plan, &About::default()).unwrap();
//! assert_eq!(fs::read_to_string(&notes)?, "not committed");
//! # std::io::Result::Ok(())
//! ```
//!
//! A backup is made under another name and takes its own when it is whole, so that whoever is killed in between leaves
//! nothing that could be taken for one. What does not fit within the [`Bounds`] is refused before anything is copied.

mod manifest;
mod model;
mod os;
mod pack;
mod restore;
mod store;
mod walk;

pub use model::{About, Backup, Bounds, Item, ItemKind, Refused, Request, size};
pub use pack::Content;
pub use restore::{Plan, State, Step};
pub use store::{BackupStore, Listed, Swept};
