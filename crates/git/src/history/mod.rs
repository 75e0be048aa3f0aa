//! The object database: commits that only one branch has, and the names in a commit's folder.

mod listing;
pub(crate) mod objects;
mod past;
