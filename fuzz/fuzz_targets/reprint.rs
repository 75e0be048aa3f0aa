//! A text or a generated script, printed and read again.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reflex_fuzz::reprint(bytes));
