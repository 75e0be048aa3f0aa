//! Versions of clients.

/// Returns whether a version precedes another. Numbers are compared from left to right; the first part that is not a
/// number ends a version.
pub fn is_older(version: &str, than: &str) -> bool {
    let parts = |text: &str| -> Vec<u64> { text.split(['.', '-']).map_while(|part| part.parse().ok()).collect() };
    let (version, than) = (parts(version), parts(than));
    !version.is_empty() && version < than
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, than, older) in [
            ("2.1.9", "2.1.10", true),
            ("2.1.10", "2.1.9", false),
            ("2.1.295", "2.1.295", false),
            ("1.0", "1.0.1", true),
            ("2-1-8", "2.1.9", true),
            ("dev", "2.1.9", false),
        ] {
            assert_eq!(is_older(version, than), older, "{version} {than}");
        }
    }
}
