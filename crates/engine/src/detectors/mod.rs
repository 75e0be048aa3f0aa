//! Detectors that judge a call in addition to the rules on its effects.

pub(crate) mod budget;
pub(crate) mod extension;
pub(crate) mod incoming_text;
pub mod loops;
pub(crate) mod outgoing_text;
pub(crate) mod retry;
pub(crate) mod taint;
pub(crate) mod task_scope;
pub(crate) mod too_much;
