//! Opens an address in the person's browser.

use super::os;
use std::process::Stdio;
use std::thread;

/// Opens an address and returns whether a browser was started, which outlives this process.
pub fn open_browser(url: &str) -> bool {
    let Some(mut command) = os::browser(url) else { return false };
    os::in_new_process_group(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    // Some openers end only with the browser, which may be hours later.
    thread::spawn(move || child.wait());
    true
}
