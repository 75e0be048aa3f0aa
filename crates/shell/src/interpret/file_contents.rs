//! The contents that the text has given to files.

use super::streams::Stream;
use std::collections::BTreeMap;

/// Paths with all contents that they have been given. Files outlive the subshell that writes them.
#[derive(Default)]
pub(super) struct Files {
    pub(super) contents: BTreeMap<String, Vec<Stream>>,
    /// How often one has been written.
    pub(super) changes: u32,
}

impl Files {
    /// Files of which the only content is known.
    pub(super) fn known(&self) -> Vec<(String, String)> {
        let only = |contents: &[Stream]| match contents {
            [only] => only.text.literal().map(|text| text.into_owned()),
            _ => None,
        };
        let files = self.contents.iter().filter_map(|(path, contents)| Some((path.clone(), only(contents)?)));
        files.filter(|(path, text)| !text.is_empty() && !path.starts_with('$')).collect()
    }
}
