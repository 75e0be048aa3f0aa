//! Static files of the page, built from `ui/` by `npm run build` and embedded unchanged.

/// A static file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asset {
    /// Its media type.
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'static [u8],
}

const ASSETS: [(&str, Asset); 4] = [
    ("/", Asset { kind: "text/html; charset=utf-8", bytes: include_bytes!("../dist/index.html") }),
    ("/app.js", Asset { kind: "text/javascript; charset=utf-8", bytes: include_bytes!("../dist/app.js") }),
    ("/app.css", Asset { kind: "text/css; charset=utf-8", bytes: include_bytes!("../dist/app.css") }),
    ("/icon.svg", Asset { kind: "image/svg+xml", bytes: include_bytes!("../dist/icon.svg") }),
];

/// Returns the file at this path.
pub(crate) fn find(path: &str) -> Option<Asset> {
    ASSETS.iter().find(|(name, _)| *name == path).map(|(_, asset)| *asset)
}
