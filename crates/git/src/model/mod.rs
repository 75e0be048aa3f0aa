//! What is asked and answered: facts or why they are unknown, questions about paths, and the paths that were found.

pub(crate) mod fact;
pub(crate) mod found;
pub(crate) mod question;
