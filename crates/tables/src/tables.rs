//! A compiled blob as a set of named tables.

use crate::node::{Node, root};
use crate::view::Field;
use crate::views::{LayerTables, Library};

/// The compiled library, or a user's compiled files. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct Tables(Node<'static>);

impl Tables {
    /// Empty tables.
    pub const EMPTY: Tables = Tables(Node::NIL);

    /// Reads the tables of a blob; empty if the bytes are not a blob of this version.
    pub fn new(blob: &'static [u8]) -> Tables {
        Tables(root(blob))
    }

    /// Returns the table of this name; [`Node::NIL`] if it does not exist.
    pub fn get(self, name: &str) -> Node<'static> {
        self.0.get(name)
    }

    /// Reads the tables as those of the library.
    #[inline]
    pub fn library(self) -> Library<'static> {
        self.view()
    }

    /// Reads the tables as those of a layer of people's files.
    #[inline]
    pub fn layer(self) -> LayerTables<'static> {
        self.view()
    }

    /// Reads the tables as a view of the caller's.
    #[inline]
    pub fn view<V: Field<'static>>(self) -> V {
        V::read(self.0)
    }

    /// Returns the subtree of this name as tables.
    pub fn part(self, name: &str) -> Tables {
        Tables(self.get(name))
    }

    /// Whether the tables are empty.
    pub fn is_empty(self) -> bool {
        self.0.is_nil()
    }
}
