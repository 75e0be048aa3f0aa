//! Questions and answers: facts or the reasons why they are unknown, questions about paths, and the paths found.

pub(crate) mod fact;
pub(crate) mod found;
pub(crate) mod question;
