//! Compiles what is built in for modules to the interpreter's own code.

use std::path::Path;
use std::{env, fs};

/// What is built in: the name under which it is imported, and its file.
const BUILT_IN: [(&str, &str); 8] = [
    ("@agentreflex/core", "core.js"),
    ("path", "path.js"),
    ("os", "os.js"),
    ("fs", "fs.js"),
    ("fs/promises", "fs-promises.js"),
    ("crypto", "crypto.js"),
    ("url", "url-module.js"),
    ("process", "process-module.js"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, out) = (env::var("CARGO_MANIFEST_DIR")?, env::var("OUT_DIR")?);
    let folder = Path::new(&folder).join("src/js");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut list = String::from("&[\n");
    for (name, file) in BUILT_IN {
        let mut text = fs::read_to_string(folder.join(file))?;
        if name == "@agentreflex/core" {
            // Who imports this has what reads the context's fields from it, and need not read its text.
            text.push_str(&format!("__reflex.lazily = {}", fs::read_to_string(folder.join("lazy.js"))?));
        }
        let code = Path::new(&out).join(format!("{file}.code"));
        fs::write(&code, reflex_types::compile(name, &text)?)?;
        let included = format!("include_bytes!({:?})", code.display().to_string());
        list.push_str(&format!("    ({name:?}, unsafe {{ Compiled::of_build({included}) }}),\n"));
    }
    fs::write(Path::new(&out).join("built_in.rs"), list + "]")?;
    Ok(())
}
