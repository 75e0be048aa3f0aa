//! A module, the call it is asked about, and what it may say and take: plain data.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod limits;
pub(crate) mod manifest;
pub(crate) mod message;
pub(crate) mod module;
