//! Any bytes as a shell text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reflex_fuzz::shell_raw(bytes));
