//! Payloads and answers in the form of Claude Code's hooks, which other agents took over with their own names.

pub(crate) mod answers;
pub(crate) mod arguments;
pub(crate) mod folder;
pub(crate) mod hook_form;
pub(crate) mod outcome;
