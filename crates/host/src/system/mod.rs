//! Access to the operating system: the time, random bytes, the user's folders, the terminal, small files, processes.
//! The code specific to each system is in `os`.

pub(crate) mod browser;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod digest;
pub(crate) mod environment;
pub(crate) mod fault;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod hex;
pub(crate) mod hidden;
pub mod http;
pub(crate) mod network;
pub(crate) mod os;
pub mod person;
pub(crate) mod process;
pub(crate) mod random;
pub(crate) mod run;
