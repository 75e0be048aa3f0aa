//! Facts about a git repository, read without starting git.
//!
//! ```
//! use reflex_git::{Ignored, Repository};
//! use std::fs;
//!
//! let folder = tempfile::tempdir()?;
//! fs::create_dir_all(folder.path().join(".git/objects"))?;
//! fs::create_dir_all(folder.path().join(".git/refs/heads"))?;
//! fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n")?;
//! fs::write(folder.path().join("notes.md"), "not committed")?;
//!
//! let home = std::env::home_dir().unwrap_or_default();
//! let repository = Repository::discover(folder.path(), &home).unwrap();
//! assert_eq!(repository.branch(), Ok(Some("main".into())));
//! let untracked = repository.untracked(&[], Ignored::Without, 10).unwrap();
//! assert_eq!((untracked.names, untracked.complete), (vec!["notes.md".into()], true));
//! # std::io::Result::Ok(())
//! ```
//!
//! A hostile repository runs code through git itself (filters, monitors, hooks), so this crate starts no process: it
//! reads files within counted limits, and anything beyond them is an [`Unknown`], which must never be taken for
//! "clean".

mod branches;
mod files;
mod health;
mod history;
mod model;
mod plain;
mod repository;
mod roots;
mod status;
mod system;
mod trouble;

pub use branches::direction::Lead;
pub use branches::references::Logged;
pub use files::read::regular_file;
pub use model::fact::{Fact, Unknown};
pub use model::found::Names;
pub use model::question::Ignored;
pub use plain::is_plain;
pub use repository::{Repository, Search};
pub use roots::{project_root, shared_folder};
pub use trouble::{Look, Trouble, told};
