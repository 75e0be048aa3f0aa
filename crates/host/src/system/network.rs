//! Leaves the network except for the loopback, for this process and its children, on systems that allow this without
//! privileges.

use super::os;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Exit status of a driver that could not leave the network and has started nothing.
pub const CANNOT: u8 = 75;

/// Leaves the network. Must be called before the first thread is started.
///
/// # Errors
/// The system does not allow it. The process must then end, because it may have left the network in
/// part.
pub(crate) fn leave() -> io::Result<()> {
    os::leave_network()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    TcpStream::connect(listener.local_addr()?).map(drop)
}
