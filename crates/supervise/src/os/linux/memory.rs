//! Reads the arguments of a system call from the memory of its caller.
#![expect(unsafe_code, reason = "the memory of another process is read through libc")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;

/// Size of the part of memory that is read at once; a read never crosses into a page that may not exist.
const PAGE: u64 = 4096;

/// Maximum number of bytes of all arguments and variables: the kernel's own limit for the usual stack of 8 MiB is 2 MiB.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Size of a pointer in the memory of a process of this architecture.
const POINTER: usize = size_of::<u64>();

/// Maximum number of arguments and variables.
const MAX_WORDS: usize = 256 * 1024;

/// The memory of a process, read by pages. Neighbouring strings share a page, so most reads take none of their own.
pub(super) struct Memory {
    process: libc::pid_t,
    /// Pages by their address.
    pages: HashMap<u64, Vec<u8>>,
    /// Number of bytes that may still be read.
    left: usize,
}

impl Memory {
    /// The memory of the process that this thread belongs to.
    pub(super) fn of(thread: libc::pid_t) -> Memory {
        Memory { process: thread, pages: HashMap::new(), left: MAX_BYTES }
    }

    /// The same, of which a path is read: longer ones fail in the kernel, too.
    pub(super) fn of_path(thread: libc::pid_t) -> Memory {
        Memory { process: thread, pages: HashMap::new(), left: libc::PATH_MAX as usize }
    }

    /// Reads one number of 64 bits.
    pub(super) fn number(&mut self, address: u64) -> io::Result<u64> {
        self.pointer(address)
    }

    /// Reads a string that ends with a zero byte.
    pub(super) fn string(&mut self, mut address: u64) -> io::Result<OsString> {
        let mut bytes = Vec::new();
        loop {
            let page = self.rest_of_page(address)?;
            let end = page.iter().position(|byte| *byte == 0);
            let part = page.get(..end.unwrap_or(page.len())).unwrap_or_default();
            bytes.extend_from_slice(part);
            let (count, read) = (page.len() as u64, part.len() + 1);
            self.left = self.left.checked_sub(read).ok_or(io::ErrorKind::FileTooLarge)?;
            if end.is_some() {
                return Ok(OsString::from_vec(bytes));
            }
            address = address.checked_add(count).ok_or(io::ErrorKind::InvalidInput)?;
        }
    }

    /// Reads a list of strings that ends with a null pointer, as `argv` and `envp`. A null pointer is an empty list.
    pub(super) fn strings(&mut self, mut address: u64) -> io::Result<Vec<OsString>> {
        let mut found = Vec::new();
        while address != 0 {
            let pointer = self.pointer(address)?;
            if pointer == 0 {
                break;
            }
            if found.len() >= MAX_WORDS {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            found.push(self.string(pointer)?);
            address = address.checked_add(POINTER as u64).ok_or(io::ErrorKind::InvalidInput)?;
        }
        Ok(found)
    }

    fn pointer(&mut self, address: u64) -> io::Result<u64> {
        if let Some(bytes) = self.rest_of_page(address)?.first_chunk() {
            return Ok(u64::from_ne_bytes(*bytes));
        }
        let mut bytes = [0; POINTER];
        // A list that is not aligned may have a pointer across two pages.
        for (at, byte) in bytes.iter_mut().enumerate() {
            let address = address.checked_add(at as u64).ok_or(io::ErrorKind::InvalidInput)?;
            *byte = self.rest_of_page(address)?.first().copied().unwrap_or(0);
        }
        Ok(u64::from_ne_bytes(bytes))
    }

    /// The bytes from an address to the end of its page; at least one.
    fn rest_of_page(&mut self, address: u64) -> io::Result<&[u8]> {
        let begin = address - address % PAGE;
        let page = match self.pages.entry(begin) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(read_page(self.process, begin)?),
        };
        let offset = usize::try_from(address % PAGE).unwrap_or(0);
        page.get(offset..).filter(|rest| !rest.is_empty()).ok_or_else(|| io::Error::from_raw_os_error(libc::EFAULT))
    }
}

fn read_page(process: libc::pid_t, address: u64) -> io::Result<Vec<u8>> {
    let mut page = vec![0; PAGE as usize];
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: page.len() };
    let local = libc::iovec { iov_base: page.as_mut_ptr().cast(), iov_len: page.len() };
    // SAFETY: the kernel writes at most one page into the buffer, and checks the remote address.
    let read = unsafe { libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0) };
    match usize::try_from(read) {
        Ok(read) => {
            page.truncate(read);
            Ok(page)
        }
        Err(_) => Err(io::Error::last_os_error()),
    }
}
