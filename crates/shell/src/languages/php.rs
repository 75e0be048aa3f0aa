//! PHP: the extraction of code from a file.

/// Returns the code between `<?php` and `?>`.
pub(super) fn tagged(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once("<?") {
        let inside = inside.strip_prefix("php").or_else(|| inside.strip_prefix('=')).unwrap_or(inside);
        let (part, after) = inside.split_once("?>").unwrap_or((inside, ""));
        code.push_str(part);
        code.push_str(";\n");
        rest = after;
    }
    code
}
