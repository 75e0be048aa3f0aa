//! Compiles what is built in for modules to the interpreter's own code.

use std::path::Path;
use std::{env, fs};

/// Built-in modules: the import name and the file.
const BUILT_IN: [(&str, &str); 25] = [
    ("@agentreflex/core", "core.js"),
    ("@agentreflex/core/packs", "core-packs.js"),
    ("@agentreflex/core/git", "core-git.js"),
    ("path", "path.js"),
    ("os", "os.js"),
    ("fs", "fs.js"),
    ("fs/promises", "fs-promises.js"),
    ("crypto", "crypto.js"),
    ("url", "url-module.js"),
    ("process", "process-module.js"),
    ("path/posix", "path-posix.js"),
    ("util", "util.js"),
    ("util/types", "util-types.js"),
    ("buffer", "buffer-module.js"),
    ("events", "events.js"),
    ("assert", "assert.js"),
    ("assert/strict", "assert-strict.js"),
    ("querystring", "querystring.js"),
    ("string_decoder", "string-decoder.js"),
    ("timers", "timers-module.js"),
    ("timers/promises", "timers-promises.js"),
    ("perf_hooks", "perf-hooks.js"),
    ("tty", "tty.js"),
    ("module", "module.js"),
    ("child_process", "child-process.js"),
];

/// Files that define the names available to modules without an import.
const PARTS: [&str; 7] = ["timers", "web", "buffer", "event-target", "url", "process", "common"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, out) = (env::var("CARGO_MANIFEST_DIR")?, env::var("OUT_DIR")?);
    let folder = Path::new(&folder).join("src/js");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut list = String::from("&[\n");
    let mut print = 0u64;
    for (name, file) in BUILT_IN {
        let mut text = fs::read_to_string(folder.join(file))?;
        if name == "@agentreflex/core" {
            // Includes the code that defines lazy fields, so that it is not parsed again at run time.
            text.push_str(&format!("__reflex.lazily = {}", fs::read_to_string(folder.join("lazy.js"))?));
        }
        let code = reflex_types::compile(name, &text)?;
        print = code.iter().fold(print, mix);
        list.push_str(&compiled(Path::new(&out), (name, file), &code)?);
    }
    fs::write(Path::new(&out).join("print.rs"), format!("{print:#x}"))?;
    fs::write(Path::new(&out).join("built_in.rs"), list + "]")?;
    let mut list = String::from("&[\n");
    for name in PARTS {
        let file = format!("{name}.js");
        let text = fs::read_to_string(folder.join(&file))?;
        let name = format!("reflex part {name}");
        let code = reflex_types::compile(&name, &text)?;
        list.push_str(&compiled(Path::new(&out), (&name, &file), &code)?);
    }
    fs::write(Path::new(&out).join("parts.rs"), list + "]")?;
    Ok(())
}

fn mix(sum: u64, byte: &u8) -> u64 {
    (sum.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A line of a list in Rust: a name and its code.
fn compiled(out: &Path, (name, file): (&str, &str), code: &[u8]) -> Result<String, Box<dyn std::error::Error>> {
    let place = out.join(format!("{file}.code"));
    fs::write(&place, code)?;
    let included = format!("include_bytes!({:?})", place.display().to_string());
    Ok(format!("    ({name:?}, unsafe {{ Compiled::trusted({included}) }}),\n"))
}
