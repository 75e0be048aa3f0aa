//! Takes a call from the agent's bytes to the answer, and handles later questions about it. [`stages`]
//! are those of a call.

mod answer;
mod appeal;
mod auto_pilot;
mod backtest;
mod bound;
mod broker;
mod causes;
mod changed;
mod checks;
mod client_files;
mod host;
mod judged;
mod mcp_verdicts;
mod memory;
mod modes;
mod naming;
mod notify;
mod recorded;
mod replay_case;
mod settled;
mod stages;
mod starts;
mod stop;
mod undo;
mod watch;

pub use appeal::{Instead, NotInstead};
pub use auto_pilot::NotConsulted;
pub use changed::ChangedFiles;
pub use client_files::UnseenLine;
pub use host::Host;
pub use recorded::Replied;
pub use starts::Starts;
pub use stop::MAX_IN_A_ROW;
pub use watch::{Counts, RunChanges, WatchedRun};
