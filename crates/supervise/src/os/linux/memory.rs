//! Reads the arguments of a system call from the memory of its caller.
#![expect(unsafe_code, reason = "the memory of another process is read through libc")]

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;

/// Size of the part of memory that is read at once; a read never crosses into a page that may not exist.
const PAGE: u64 = 4096;

/// Maximum number of bytes of all arguments and variables: the kernel's own limit for the usual stack of 8 MiB is 2 MiB.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Maximum number of arguments and variables.
const MAX_WORDS: usize = 256 * 1024;

/// Reads up to the end of the page; at least one byte.
fn read(process: libc::pid_t, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let to_end = usize::try_from(PAGE - address % PAGE).unwrap_or(1).min(into.len());
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: to_end };
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: to_end };
    // SAFETY: the kernel writes at most `to_end` bytes into the buffer, and checks the remote address.
    let read = unsafe { libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) if read > 0 => Ok(read),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads a string that ends with a zero byte, of at most `left` bytes.
pub(super) fn string(process: libc::pid_t, mut address: u64, left: &mut usize) -> io::Result<OsString> {
    let mut bytes = Vec::new();
    let mut page = [0; PAGE as usize];
    loop {
        let count = read(process, address, &mut page)?;
        let part = page.get(..count).unwrap_or_default();
        let end = part.iter().position(|byte| *byte == 0);
        let part = part.get(..end.unwrap_or(count)).unwrap_or_default();
        *left = left.checked_sub(part.len() + 1).ok_or(io::ErrorKind::FileTooLarge)?;
        bytes.extend_from_slice(part);
        if end.is_some() {
            return Ok(OsString::from_vec(bytes));
        }
        address = address.checked_add(count as u64).ok_or(io::ErrorKind::InvalidInput)?;
    }
}

/// Reads a list of strings that ends with a null pointer, as `argv` and `envp`. A null pointer is an empty list.
pub(super) fn strings(process: libc::pid_t, mut address: u64, left: &mut usize) -> io::Result<Vec<OsString>> {
    const POINTER: usize = size_of::<u64>();
    let mut found = Vec::new();
    let mut page = [0; PAGE as usize];
    let mut rest: Vec<u8> = Vec::new();
    while address != 0 {
        let count = read(process, address, &mut page)?;
        rest.extend_from_slice(page.get(..count).unwrap_or_default());
        // A list that is not aligned may have a pointer across two pages.
        let whole = rest.len() / POINTER * POINTER;
        for pointer in rest.get(..whole).unwrap_or_default().chunks_exact(POINTER) {
            let pointer = u64::from_ne_bytes(pointer.try_into().unwrap_or_default());
            if pointer == 0 {
                return Ok(found);
            }
            if found.len() >= MAX_WORDS {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            found.push(string(process, pointer, left)?);
        }
        rest.drain(..whole);
        address = address.checked_add(count as u64).ok_or(io::ErrorKind::InvalidInput)?;
    }
    Ok(found)
}

/// The number of bytes that may be read for one start.
pub(super) const fn budget() -> usize {
    MAX_BYTES
}
