//! Payloads and answers in the format of Claude Code's hooks, which other agents adopted with their own names.

pub(crate) mod answers;
pub(crate) mod arguments;
pub(crate) mod folder;
pub(crate) mod hook_form;
pub(crate) mod outcome;
