//! No network but the loopback, for this process and all that it starts, where the system lets anybody have that.

/// The exit status of a driver that could not switch the network off, and has started nothing.
pub const CANNOT: u8 = 75;

/// Leaves the network. Has to be called before the first thread is started.
///
/// # Errors
/// Why the system does not allow it; then this process is of no further use, for it may be half outside.
#[cfg(target_os = "linux")]
pub(crate) fn leave() -> Result<(), String> {
    use rustix::process::{getgid, getuid};
    use rustix::thread::UnshareFlags;
    use std::fs;

    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    #[expect(deprecated, reason = "the one in its place is unsafe for the sake of flags that are not used here")]
    let left = rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET);
    left.map_err(|error| format!("no namespace can be made: {error}"))?;
    let map = |file: &str, text: String| fs::write(file, text).map_err(|error| format!("{file}: {error}"));
    map("/proc/self/setgroups", "deny".into())?;
    map("/proc/self/uid_map", format!("{user} {user} 1"))?;
    map("/proc/self/gid_map", format!("{group} {group} 1"))?;
    raise_loopback().map_err(|error| format!("the loopback cannot be raised: {error}"))?;
    is_reachable().map_err(|error| format!("the loopback is not reached: {error}"))
}

/// Elsewhere nobody can without being the administrator.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(crate) fn leave() -> Result<(), String> {
    Err("this system has no way to do that".into())
}

/// Asks the kernel to set the first interface, which is the loopback, up.
#[cfg(target_os = "linux")]
fn raise_loopback() -> std::io::Result<()> {
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 5;
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 12]); // its number, its sender, the family and kind of the interface
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // Behind the head of 16 bytes stands the number of an error, negative, or 0.
    let error = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_ne_bytes);
    if error == 0 { Ok(()) } else { Err(std::io::Error::from_raw_os_error(-error)) }
}

#[cfg(target_os = "linux")]
fn is_reachable() -> std::io::Result<()> {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    TcpStream::connect(listener.local_addr()?).map(drop)
}
