//! Content of a report page.

/// One page.
pub(super) struct Page {
    pub(super) since: String,
    pub(super) until: String,
    pub(super) sections: Vec<Section>,
}

/// A section of the page: rows with a number and the item that it counts.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) rows: Vec<(usize, String)>,
    /// Text for a section without rows.
    pub(super) nothing: &'static str,
    /// Number of rows that are left out.
    pub(super) more: usize,
}
