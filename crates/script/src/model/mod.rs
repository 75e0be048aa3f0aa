//! A module, its calls, decisions and limits: plain data.

pub(crate) mod answer;
pub(crate) mod call;
pub(crate) mod error;
pub(crate) mod limits;
pub(crate) mod manifest;
pub(crate) mod message;
pub(crate) mod module;
