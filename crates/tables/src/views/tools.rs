//! Words in the names and arguments of tools.

use crate::view;
use crate::view::{List, Map, Texts};

view! {
    /// The meanings of the words.
    pub struct Tools<'a> {
        /// Meanings of verbs.
        verbs as "verb": Map<'a, &'a str>,
        /// Meanings of objects.
        objects as "object": Map<'a, &'a str>,
        /// Meanings of argument keys.
        keys as "key": Map<'a, &'a str>,
        /// Operations, by the words of their first group.
        operations as "operation": Map<'a, List<'a, Operation<'a>>>,
    }
}

view! {
    /// A tool call that corresponds to a command line.
    pub struct Operation<'a> {
        /// Words of which the call must contain one of each group.
        says: List<'a, Texts<'a>>,
        /// Whether the name must not contain other words.
        bare: bool,
        /// Argument keys of which the call must contain one of each group.
        needs: List<'a, Texts<'a>>,
        /// Pieces of the equivalent command line.
        line: List<'a, LinePiece<'a>>,
    }
}

view! {
    /// A piece of a command line, made from an argument.
    pub struct LinePiece<'a> {
        /// The text before the value.
        before: &'a str,
        /// The form of the value; empty if the piece has none.
        how: &'a str,
        /// The keys that hold the value.
        keys: Texts<'a>,
        /// The text after the value.
        after: &'a str,
    }
}
