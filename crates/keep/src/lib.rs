//! Backs up files before they are lost, and restores them exactly: content, mode, times, links, attributes.
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
//! A backup is created under a temporary name and renamed when it is complete, so a killed process leaves no partial
//! backup. A request beyond the [`Bounds`] is refused before anything is copied.

mod adopt;
mod links;
mod manifest;
mod model;
mod moves;
mod os;
mod pack;
mod place;
mod plan;
mod restore;
mod store;
mod walk;

pub use model::{About, Backup, Bounds, Item, ItemKind, Left, Moved, Place, Refused, Request, size};
pub use pack::Content;
pub use plan::{Plan, State, Step};
pub use store::{BackupStore, Listed, Swept};
