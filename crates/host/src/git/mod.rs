//! Facts about a git repository, read without starting git.
//!
//! A hostile repository runs code through git itself (filters, monitors, hooks), so nothing here
//! starts a process: files are read, bounds are counted, and whatever cannot be had within them is
//! an [`Unknown`], which must never be taken for "clean".

mod attributes;
mod config;
mod direction;
mod effort;
mod fact;
mod found;
mod health;
mod history;
mod ignore;
mod index;
mod listing;
mod objects;
mod plain;
mod question;
mod read;
mod reference_files;
mod references;
mod repository;
mod roots;
mod scope;
mod staged;
mod survey;
mod trouble;
mod unstaged;

pub use fact::{Fact, Unknown};
pub use found::Names;
pub(crate) use plain::is_plain;
pub use question::Ignored;
pub(crate) use read::regular_file;
pub use repository::Repository;
pub(crate) use roots::project_root;
pub use roots::shared_folder;
pub(crate) use trouble::told;
pub use trouble::{Look, Trouble};
