//! A tree of values in one position-independent byte blob, read in place.
//!
//! The library that ships is compiled into such a blob when Reflex is built; a user's files are compiled into one in
//! the cache, by the same code (feature `compile`). Reading neither allocates nor relocates: a [`Node`] is one word
//! plus the bytes. Only the pages that are accessed are read, and every read is bounds-checked, so a damaged blob
//! yields [`Node::NIL`] and never a panic.
//!
//! Readers do not look up keys of a node themselves: [`views`] declares the entries, with one accessor for each key.

#[cfg(feature = "compile")]
pub mod compile;
mod node;
pub mod sieve;
mod tables;
pub mod view;
pub mod views;

pub use node::{MAGIC, Node, root};
pub use tables::Tables;
pub use view::{Field, Form, List, Map, Texts, View};
