//! A deletion in wrappers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reflex_fuzz::wrap(bytes));
