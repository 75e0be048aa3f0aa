//! Reads a blob in place.
//!
//! Layout, little-endian: `RFXTAB02`, the root's word, then the data. A word is `payload << 3 | tag`; the payload of a
//! number is the number itself, the payload of a text, list or map is the byte offset of its record. Records: text `len
//! bytes`, list `count words`, map `count start* (key-offset word)*` with the keys sorted by their bytes. A start is
//! the first four bytes of a key as a number: a lookup searches one contiguous array of numbers and compares few keys.

use std::cmp::Ordering;

/// Magic bytes of every blob; the digits are the version of the layout.
pub const MAGIC: &[u8; 8] = b"RFXTAB02";

pub(crate) const NIL: u32 = 0;
pub(crate) const BOOL: u32 = 1;
pub(crate) const NUMBER: u32 = 2;
pub(crate) const TEXT: u32 = 3;
pub(crate) const LIST: u32 = 4;
pub(crate) const MAP: u32 = 5;

/// Returns the root of a blob; [`Node::NIL`] if the bytes are not a blob of this version.
pub fn root(bytes: &[u8]) -> Node<'_> {
    if bytes.get(..8) != Some(MAGIC) {
        return Node::NIL;
    }
    match word(bytes, 8) {
        Some(word) => Node { bytes, word },
        None => Node::NIL,
    }
}

/// One value of the tree. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    bytes: &'a [u8],
    word: u32,
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tag() {
            BOOL => write!(f, "{}", self.is_true()),
            NUMBER => write!(f, "{}", self.number()),
            TEXT => write!(f, "{:?}", self.text()),
            LIST => f.debug_list().entries(self.items()).finish(),
            MAP => f.debug_map().entries(self.entries()).finish(),
            NIL.. => write!(f, "nil"),
        }
    }
}

impl<'a> Node<'a> {
    /// The absent value: the result of every lookup that fails.
    pub const NIL: Node<'static> = Node { bytes: &[], word: NIL };

    fn tag(self) -> u32 {
        self.word & 7
    }

    fn payload(self) -> usize {
        (self.word >> 3) as usize
    }

    /// Identifies the value among all values of the same blob.
    pub fn record(self) -> u32 {
        self.word
    }

    /// Whether the value is absent.
    pub fn is_nil(self) -> bool {
        self.tag() == NIL
    }

    /// Whether the value is the boolean `true`.
    pub fn is_true(self) -> bool {
        self.tag() == BOOL && self.payload() == 1
    }

    /// Whether the value is a list.
    pub fn is_list(self) -> bool {
        self.tag() == LIST
    }

    /// Whether the value is a map.
    pub fn is_map(self) -> bool {
        self.tag() == MAP
    }

    /// Whether the value is a text.
    pub fn is_text(self) -> bool {
        self.tag() == TEXT
    }

    /// Returns the number, or 0 if the value is not a number.
    pub fn number(self) -> u32 {
        if self.tag() == NUMBER { self.word >> 3 } else { 0 }
    }

    /// Returns the text, or an empty string if the value is not a text.
    pub fn text(self) -> &'a str {
        if self.tag() != TEXT {
            return "";
        }
        std::str::from_utf8(text_at(self.bytes, self.payload())).unwrap_or("")
    }

    /// Returns the bytes of the text without a UTF-8 check; empty if the value is not a text.
    pub fn bytes(self) -> &'a [u8] {
        if self.tag() == TEXT { text_at(self.bytes, self.payload()) } else { &[] }
    }

    /// Number of items of a list or entries of a map, bounded by the size of the blob.
    pub fn len(self) -> usize {
        let size = match self.tag() {
            LIST => 4,
            MAP => 12,
            _ => return 0,
        };
        let room = self.bytes.len().saturating_sub(self.payload() + 4) / size;
        (word(self.bytes, self.payload()).unwrap_or(0) as usize).min(room)
    }

    /// Whether the value has no items or entries.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the item of a list at `index`.
    pub fn at(self, index: usize) -> Node<'a> {
        if self.tag() != LIST || index >= self.len() {
            return Node::NIL;
        }
        self.node_at(self.payload() + 4 + 4 * index)
    }

    /// The items of a list. A single value is treated as a list of one, an absent value as an empty list.
    pub fn items(self) -> impl Iterator<Item = Node<'a>> + Clone {
        let single = !matches!(self.tag(), NIL | LIST);
        let count = if self.tag() == LIST { self.len() } else { 0 };
        single.then_some(self).into_iter().chain((0..count).map(move |index| self.at(index)))
    }

    /// The texts of a list, with the same treatment of single and absent values as [`Node::items`].
    pub fn texts(self) -> impl Iterator<Item = &'a str> + Clone {
        self.items().map(Node::text)
    }

    /// The keys and values of a map, sorted by key.
    pub fn entries(self) -> impl Iterator<Item = (&'a str, Node<'a>)> + Clone {
        let count = if self.tag() == MAP { self.len() } else { 0 };
        (0..count).map(move |index| {
            let key = std::str::from_utf8(self.key_at(index, count)).unwrap_or("");
            (key, self.value_at(index, count))
        })
    }

    /// Returns the value of `key` in a map.
    pub fn get(self, key: &str) -> Node<'a> {
        self.index_of(key).map_or(Node::NIL, |index| self.value_at(index, self.len()))
    }

    /// Returns the key as stored in the map, with the lifetime of the blob, and its value.
    pub fn entry(self, key: &str) -> Option<(&'a str, Node<'a>)> {
        let (index, count) = (self.index_of(key)?, self.len());
        Some((std::str::from_utf8(self.key_at(index, count)).unwrap_or(""), self.value_at(index, count)))
    }

    /// Returns the index of `key` among the keys of a map.
    pub fn index_of(self, key: &str) -> Option<usize> {
        if self.tag() != MAP {
            return None;
        }
        let count = self.len();
        let first = self.payload() + 4;
        let (starts, _) = self.bytes.get(first..first + 4 * count).unwrap_or_default().as_chunks::<4>();
        let start = start(key.as_bytes());
        let at = starts.partition_point(|known| u32::from_le_bytes(*known) < start);
        let is_here = |index: usize| starts.get(index).is_some_and(|known| u32::from_le_bytes(*known) == start);
        let (mut low, mut high) = (at, at + usize::from(is_here(at)));
        if is_here(at + 1) {
            high = starts.partition_point(|known| u32::from_le_bytes(*known) <= start);
        }
        while low < high {
            let middle = (low + high) / 2;
            match self.key_at(middle, count).cmp(key.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn key_at(self, index: usize, count: usize) -> &'a [u8] {
        let offset = word(self.bytes, self.payload() + 4 + 4 * count + 8 * index).unwrap_or(u32::MAX);
        text_at(self.bytes, offset as usize)
    }

    fn value_at(self, index: usize, count: usize) -> Node<'a> {
        self.node_at(self.payload() + 8 + 4 * count + 8 * index)
    }

    /// Reads the word at `offset`. The encoder writes children before their parent, so a record at a higher offset than
    /// its parent is damage and yields [`Node::NIL`]; this rules out cycles.
    fn node_at(self, offset: usize) -> Node<'a> {
        let held = word(self.bytes, offset).map_or(Node::NIL, |word| Node { bytes: self.bytes, word });
        let is_record = held.tag() >= TEXT;
        if is_record && held.payload() >= self.payload() { Node::NIL } else { held }
    }
}

/// The first four bytes of a key as a number. Numbers that differ are ordered like their keys.
pub(crate) fn start(key: &[u8]) -> u32 {
    if let Some(first) = key.first_chunk() {
        return u32::from_be_bytes(*first);
    }
    let mut first = [0; 4];
    first.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
    u32::from_be_bytes(first)
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let raw = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_le_bytes(raw.try_into().ok()?))
}

fn text_at(bytes: &[u8], offset: usize) -> &[u8] {
    let length = word(bytes, offset).unwrap_or(0) as usize;
    offset.checked_add(4).and_then(|start| bytes.get(start..start.checked_add(length)?)).unwrap_or(&[])
}

#[cfg(feature = "compile")]
#[cfg(test)]
mod tests {
    use super::{Node, root};
    use crate::compile::encode;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read() {
        let value = json!({"b": [1, "two", true, null], "a": {"x": "y"}, "c": 7});
        let blob = encode(&value).unwrap();
        let root = root(&blob);
        assert_eq!(root.get("c").number(), 7);
        assert_eq!(root.get("a").get("x").text(), "y");
        assert_eq!(root.get("b").len(), 4);
        assert_eq!(root.get("b").at(1).text(), "two");
        assert!(root.get("b").at(2).is_true());
        assert!(root.get("b").at(3).is_nil());
        assert!(root.get("missing").get("deeper").is_nil());
        assert_eq!(root.entries().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn keys_that_begin_alike_are_told_apart() {
        let keys = ["", "a", "a\0", "kube", "kubeadm", "kubectl", "kubectx", "kubens", "z", "é"];
        let map: serde_json::Map<_, _> =
            keys.iter().zip(0..).map(|(key, place)| ((*key).to_owned(), json!(place))).collect();
        let blob = encode(&map.into()).unwrap();
        for (key, place) in keys.iter().zip(0..) {
            assert_eq!((root(&blob).get(key).number(), root(&blob).get(key).is_nil()), (place, false), "{key:?}");
            assert_eq!(root(&blob).entry(key).map(|(key, value)| (key, value.number())), Some((*key, place)));
        }
        for missing in ["b", "kub", "kubea", "kubectl ", "zz", "\0"] {
            assert!(root(&blob).get(missing).is_nil() && root(&blob).entry(missing).is_none(), "{missing:?}");
        }
        assert_eq!(root(&blob).entries().map(|(key, _)| key).collect::<Vec<_>>(), keys);
    }

    #[test]
    fn a_single_value_is_a_list_of_one() {
        let blob = encode(&json!({"one": "x", "many": ["x", "y"]})).unwrap();
        assert_eq!(root(&blob).get("one").texts().collect::<Vec<_>>(), ["x"]);
        assert_eq!(root(&blob).get("many").texts().count(), 2);
        assert_eq!(root(&blob).get("none").texts().count(), 0);
    }

    #[test]
    fn equal_parts_are_stored_once() {
        let once = encode(&json!([["some longer text", 1]])).unwrap().len();
        let often = encode(&json!([["some longer text", 1], ["some longer text", 1]])).unwrap().len();
        assert_eq!(often, once + 4);
    }

    #[test]
    fn damaged_bytes_are_read_without_a_panic() {
        let blob = encode(&json!({"a": ["b", {"c": [1, 2, 3]}], "d": "e"})).unwrap();
        for at in 0..blob.len() {
            for byte in [0, 1, 3, 4, 5, 0x7f, 0xff] {
                let mut damaged = blob.clone();
                damaged[at] = byte;
                touch(root(&damaged), 6);
                touch(root(&damaged[..at]), 6);
            }
        }
    }

    #[test]
    fn a_damaged_blob_claims_no_more_than_it_has_room_for_and_leads_in_no_circle() {
        let mut blob = encode(&json!([1, 2, 3])).unwrap();
        let list = root(&blob).payload();
        blob[list..list + 4].fill(0xff);
        assert_eq!(root(&blob).len(), 3);
        blob.copy_within(8..12, list + 4);
        assert!(root(&blob).at(0).is_nil());
    }

    fn touch(node: Node<'_>, depth: usize) {
        let _ = (node.text(), node.number(), node.get("a"), node.at(1));
        if depth > 0 {
            node.items().take(8).for_each(|item| touch(item, depth - 1));
            node.entries().take(8).for_each(|(_, value)| touch(value, depth - 1));
        }
    }
}
