//! `reflex image`: the program makes the interpreters that are part of it, for whoever builds it to write into its file.

use crate::arena;
use crate::status;
use reflex_host::reflexes::image;
use std::cell::RefCell;
use std::io::Write;

pub(super) fn run() -> u8 {
    let too_small = RefCell::new(None);
    let made = image::prepare(&|range, work| {
        if let Err(problem) = arena::within(range, work) {
            too_small.replace(Some(problem));
        }
    });
    if let Some(problem) = made.err().or(too_small.into_inner()) {
        eprintln!("reflex: the image cannot be made: {problem}");
        return status::INTERNAL;
    }
    match std::io::stdout().write_all(image::bytes()) {
        Ok(()) => status::OK,
        Err(_) => status::INTERNAL,
    }
}
