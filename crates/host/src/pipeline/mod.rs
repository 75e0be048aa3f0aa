//! The path of one call: judged, answered, recorded; and what a person or an agent asks about it later.

mod answer;
mod appeal;
mod bound;
mod checks;
mod host;
mod memory;
mod replay_case;
mod reply;
mod stop;

pub use host::Host;
pub use stop::MOST_IN_A_ROW;
