//! What is asked of the operating system: the time, the user's folders, who sits at the terminal, small files, processes.

pub(crate) mod clock;
pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod hex;
pub(crate) mod network;
pub mod person;
pub(crate) mod process;
pub(crate) mod random;
