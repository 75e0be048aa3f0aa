//! Damage to the compiled library.

#![no_main]

use std::ptr::{from_mut, slice_from_raw_parts_mut};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let blob = Box::leak(reflex_fuzz::damaged(bytes).into_boxed_slice());
    let (start, length) = (from_mut(blob).cast::<u8>(), blob.len());
    reflex_fuzz::tables(blob);
    // SAFETY: the box was made above, and nothing of what was read from it is kept.
    drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(start, length)) });
});
