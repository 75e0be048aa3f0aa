//! The choices of a generator of scripts.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reflex_fuzz::shell_grammar(bytes));
