//! The mechanism of each operating system.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod unsupported;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use linux::{
    Keeper, Supervision, is_below_supervisor, occupied, parent, pass_turn, probe, program, records, since,
};
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub use unsupported::{
    Keeper, Supervision, is_below_supervisor, occupied, parent, pass_turn, probe, program, records, since,
};
