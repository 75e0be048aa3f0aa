//! A payload of each agent.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reflex_fuzz::secrets(bytes));
