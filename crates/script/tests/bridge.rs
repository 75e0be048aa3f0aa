//! What must hold of any context and any module, on bytes of a fixed seed; the fuzzer runs the same.

use crate::contexts;

/// So many inputs are tried; more with `REFLEX_FUZZ_INPUTS`.
const INPUTS: u64 = 300;

#[test]
fn any_context_arrives_and_any_module_ends() {
    const PARTS: [&str; 24] = [
        "return ",
        "ctx",
        ".raw",
        "{action:'deny',reason:",
        "}",
        "{",
        "(",
        ")",
        "[",
        "]",
        "for(;;)",
        "await ",
        "async ",
        "=>",
        "throw ",
        "new Proxy(",
        "JSON",
        "Object.prototype.",
        "toJSON",
        "=",
        ";",
        "`",
        ": number",
        "import('os')",
    ];
    let inputs = std::env::var("REFLEX_FUZZ_INPUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(INPUTS);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut chance = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..inputs {
        let source: String = (0..chance(12)).map(|_| PARTS[chance(PARTS.len())]).collect();
        let mut bytes: Vec<u8> = (0..source.len()).map(|_| chance(256) as u8).collect();
        bytes.extend(source.bytes());
        contexts::bridge(&bytes);
    }
}
