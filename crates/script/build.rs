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
    let mut print = 0u64;
    for (name, file) in BUILT_IN {
        let mut text = fs::read_to_string(folder.join(file))?;
        if name == "@agentreflex/core" {
            // Who imports this has what reads the context's fields from it, and need not read its text.
            text.push_str(&format!("__reflex.lazily = {}", fs::read_to_string(folder.join("lazy.js"))?));
        }
        let code = Path::new(&out).join(format!("{file}.code"));
        let compiled = reflex_types::compile(name, &text)?;
        let mix = |sum: u64, byte: &u8| (sum.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        print = compiled.iter().fold(print, mix);
        fs::write(&code, compiled)?;
        let included = format!("include_bytes!({:?})", code.display().to_string());
        list.push_str(&format!("    ({name:?}, unsafe {{ Compiled::trusted({included}) }}),\n"));
    }
    fs::write(Path::new(&out).join("print.rs"), format!("{print:#x}"))?;
    fs::write(Path::new(&out).join("built_in.rs"), list + "]")?;
    Ok(())
}
