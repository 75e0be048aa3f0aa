//! The memory of one call: taken from a fixed block, given back when the process ends.
//!
//! A hook lives for a millisecond and frees everything it takes. Half of its instructions were `malloc` and `free`; with
//! this allocator a call takes about half as many in all. Blocks that do not fit go to the system's allocator, so that
//! other commands may need as much as they want.
#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nearly every call needs less than 200 KiB, one of a megabyte all of this. Pages that are never touched cost nothing.
const SIZE: usize = 64 * 1024 * 1024;

/// What nearly every call of the hook uses.
const WARM: usize = 96 * 1024;

/// The largest alignment that is served.
const ALIGNMENT: usize = 16;

#[global_allocator]
static ARENA: Arena = Arena { block: UnsafeCell::new(Block([0; SIZE])), used: AtomicUsize::new(0) };

/// Whole pages, so that the first ones can be asked for.
#[repr(align(4096))]
struct Block(#[expect(dead_code, reason = "its bytes are reached through pointers")] [u8; SIZE]);

struct Arena {
    block: UnsafeCell<Block>,
    /// Bytes handed out so far, always a multiple of [`ALIGNMENT`].
    used: AtomicUsize,
}

// SAFETY: the block is only reached through ranges that `used` has handed out to one owner each.
unsafe impl Sync for Arena {}

impl Arena {
    fn start(&self) -> *mut u8 {
        self.block.get().cast()
    }

    /// Where a pointer lies in the block, if it does.
    fn offset(&self, pointer: *mut u8) -> Option<usize> {
        (pointer as usize).checked_sub(self.start() as usize).filter(|offset| *offset < SIZE)
    }

    /// A range of the block. The next one begins where it ends.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.align() > ALIGNMENT {
            return None;
        }
        let size = rounded(layout.size())?;
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(size).filter(|end| *end <= SIZE)
        });
        // SAFETY: `take` only succeeds for offsets below `SIZE`.
        taken.ok().map(|offset| unsafe { self.start().add(offset) })
    }

    /// Moves the end of the last range handed out; fails if it is not the last, or does not fit.
    fn move_end(&self, offset: usize, from: usize, to: usize) -> bool {
        let (Some(from), Some(to)) = (rounded(from), rounded(to)) else { return false };
        let end = offset + to;
        end <= SIZE && self.used.compare_exchange(offset + from, end, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

fn rounded(size: usize) -> Option<usize> {
    size.checked_add(ALIGNMENT - 1).map(|size| size & !(ALIGNMENT - 1))
}

// SAFETY: every range of the block has one owner until it is given back; all else is the system's.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(pointer) => pointer,
            // SAFETY: the caller's promise is passed on.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match self.offset(pointer) {
            // Only the last range can be used again; the others wait for the end of the process.
            Some(offset) => drop(self.move_end(offset, layout.size(), 0)),
            // SAFETY: what does not lie in the block came from the system.
            None => unsafe { System.dealloc(pointer, layout) },
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(offset) = self.offset(pointer) else {
            // SAFETY: as above.
            return unsafe { System.realloc(pointer, layout, size) };
        };
        if self.move_end(offset, layout.size(), size) {
            return pointer;
        }
        // SAFETY: the alignment is that of a layout, and a size too large for one is refused by the system.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both ranges hold at least that many bytes and do not overlap.
            unsafe { ptr::copy_nonoverlapping(pointer, moved, layout.size().min(size)) };
        }
        moved
    }
}

/// Asks for the pages that a call of the hook uses anyway: all at once they cost half of what they cost one by one.
///
/// A system that cannot do that gives them when they are touched.
pub(crate) fn warm() {
    #[cfg(target_os = "linux")]
    // SAFETY: these are pages of the block, and what they hold stays as it is.
    unsafe {
        libc::madvise(ARENA.start().cast(), WARM, libc::MADV_POPULATE_WRITE);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn blocks_of_all_sizes_keep_what_is_written_to_them() {
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for round in 0..2_000usize {
            let mut block = vec![round as u8; round % 97];
            block.resize(round % 1_013, round as u8);
            if round % 3 == 0 {
                kept.push(block);
            }
        }
        let large = vec![7u8; super::SIZE + 1];
        assert!(large.iter().all(|byte| *byte == 7));
        for (index, block) in kept.iter().enumerate() {
            assert!(block.iter().all(|byte| *byte == (index * 3) as u8));
        }
    }
}
