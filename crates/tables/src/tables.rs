//! A whole blob, as it is passed around.

use crate::node::{Node, root};

/// A compiled library, or what people's files were compiled into. Copying it is free.
#[derive(Debug, Clone, Copy)]
pub struct Tables(Node<'static>);

impl Tables {
    /// Tables in which nothing stands.
    pub const EMPTY: Tables = Tables(Node::NIL);

    /// The tables in the bytes of a blob; empty ones if the bytes are not a blob of this version.
    pub fn new(blob: &'static [u8]) -> Tables {
        Tables(root(blob))
    }

    /// The table of this name; [`Node::NIL`] if there is none.
    pub fn get(self, name: &str) -> Node<'static> {
        self.0.get(name)
    }

    /// What stands below this name, as tables of their own.
    pub fn part(self, name: &str) -> Tables {
        Tables(self.get(name))
    }

    /// Whether nothing stands in them.
    pub fn is_empty(self) -> bool {
        self.0.is_nil()
    }
}
