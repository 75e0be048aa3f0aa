//! The contents that the text has written to files.

use super::streams::Stream;
use std::collections::BTreeMap;

/// The possible contents of files, by path. Files outlive the subshell that writes them.
#[derive(Default)]
pub(super) struct Files {
    pub(super) contents: BTreeMap<String, Vec<Stream>>,
    /// The number of writes.
    pub(super) changes: u32,
}

impl Files {
    /// Returns the files that have a single known content, unless it is empty, as pairs of path and content.
    pub(super) fn known(&self) -> Vec<(String, String)> {
        let only = |contents: &[Stream]| match contents {
            [only] => only.text.literal().map(|text| text.into_owned()),
            _ => None,
        };
        let files = self.contents.iter().filter_map(|(path, contents)| Some((path.clone(), only(contents)?)));
        files.filter(|(path, text)| !text.is_empty() && !path.starts_with('$')).collect()
    }
}
