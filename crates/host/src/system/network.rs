//! No network but the loopback, for this process and all that it starts, where the system lets anybody have that.

use super::os;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// The exit status of a driver that could not switch the network off, and has started nothing.
pub const CANNOT: u8 = 75;

/// Leaves the network. Has to be called before the first thread is started.
///
/// # Errors
/// Why the system does not allow it; then this process is of no further use, for it may be half outside.
pub(crate) fn leave() -> Result<(), String> {
    os::leave_network()?;
    is_reachable().map_err(|error| format!("the loopback is not reached: {error}"))
}

fn is_reachable() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    TcpStream::connect(listener.local_addr()?).map(drop)
}
