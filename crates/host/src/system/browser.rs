//! Opens an address in the person's browser.

use super::os;
use std::process::Stdio;
use std::thread;

/// Whether a browser was asked to open this address; it goes on when this process ends.
pub fn open_browser(url: &str) -> bool {
    let Some(mut command) = os::browser(url) else { return false };
    os::in_group_of_its_own(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    // Some openers end with the browser, which may be after hours.
    thread::spawn(move || child.wait());
    true
}
