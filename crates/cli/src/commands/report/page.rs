//! What one page of the report holds.

/// One page.
pub(super) struct Page {
    pub(super) since: String,
    pub(super) until: String,
    pub(super) sections: Vec<Section>,
}

/// A part of the page: a number for each row, and what it counts.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) rows: Vec<(usize, String)>,
    /// What is said where there is nothing to count.
    pub(super) nothing: &'static str,
    /// Rows that are left out.
    pub(super) more: usize,
}
