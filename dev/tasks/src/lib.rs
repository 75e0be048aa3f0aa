//! Shared by the commands for developers: the checkout, steps that report their time, the release, and a home that would
//! change every verdict.

pub mod hermetic;
pub mod page;
pub mod project;
pub mod release;
pub mod steps;
