//! A region allocator for interpreters: blocks by size class from a few large ranges, freed all at once.
//!
//! An interpreter lives for a fraction of a millisecond and allocates several thousand objects first. Allocating and
//! freeing each of them through the system took longer than running a module.
#![allow(unsafe_code, reason = "an allocator hands out raw memory")]

use rquickjs::allocator::Allocator;
use rquickjs::{Context, Ctx, Runtime, qjs};
use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr;
use std::rc::Rc;

/// Bytes of a range. Its pages cost nothing until they are touched. An interpreter with all features that modules may
/// use requires half of it.
const RANGE: usize = 512 << 10;

/// Bytes of the size header that precedes each block.
const HEADER: usize = 8;

const ALIGNMENT: usize = 16;

/// Largest block size in bytes; larger blocks come from the system.
const LARGEST: usize = 64 << 10;

/// Number of size classes: up to 512 bytes in steps of 16, above that four per power of two.
const CLASSES: usize = SMALL + 28;
const SMALL: usize = 32;

/// Memory for interpreters that are used one after the other.
pub(crate) struct Region(Rc<Ranges>);

/// An interpreter's handle to a region.
struct Share(Rc<Ranges>);

struct Ranges {
    /// The unused rest of the last range.
    next: Cell<*mut u8>,
    left: Cell<usize>,
    /// Free blocks by class. Each begins with a pointer to the next.
    free: [Cell<*mut u8>; CLASSES],
    ranges: RefCell<Vec<*mut u8>>,
    large: RefCell<Vec<*mut u8>>,
    /// Bytes of blocks in use.
    used: Cell<usize>,
    /// Maximum number of ranges. It allows twice the limit in bytes, as blocks of one class are not reused for another.
    max_ranges: usize,
}

impl Region {
    /// Returns a region for interpreters that may use `limit` bytes.
    pub(crate) fn new(limit: usize) -> Region {
        Region(Rc::new(Ranges {
            next: Cell::new(ptr::null_mut()),
            left: Cell::new(0),
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            ranges: RefCell::default(),
            large: RefCell::default(),
            used: Cell::new(0),
            max_ranges: limit.saturating_mul(2) / RANGE + 1,
        }))
    }

    /// Creates an interpreter in this region.
    ///
    /// # Errors
    /// Returns an error if the region has no room.
    pub(crate) fn runtime(&self) -> rquickjs::Result<Runtime> {
        Runtime::new_with_alloc(Share(Rc::clone(&self.0)))
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.0.used.get()
    }

    /// Reclaims an interpreter's memory without running its destructors. There must be no other handle to the
    /// interpreter; the native functions that it holds are leaked.
    pub(crate) fn take_back(&self, runtime: Runtime, context: Context) {
        mem::forget(context);
        mem::forget(runtime);
        let first = self.0.give_back(1);
        self.0.begin(first);
    }
}

/// Every interpreter holds an `Rc` of its region, so none is alive when the region frees its memory here.
impl Drop for Region {
    fn drop(&mut self) {
        self.0.give_back(0);
        self.0.begin(ptr::null_mut());
    }
}

impl Ranges {
    /// Frees all ranges except the first `keep`. Returns the last remaining one.
    fn give_back(&self, keep: usize) -> *mut u8 {
        for block in self.large.borrow_mut().drain(..) {
            // SAFETY: blocks in the list come from `take_large` and were not freed.
            unsafe { free_large(block) };
        }
        let mut ranges = self.ranges.borrow_mut();
        while ranges.len() > keep {
            if let Some(range) = ranges.pop() {
                // SAFETY: ranges come from `alloc` with this layout.
                unsafe { dealloc(range, RANGE_LAYOUT) };
            }
        }
        self.free.iter().for_each(|list| list.set(ptr::null_mut()));
        self.used.set(0);
        ranges.last().copied().unwrap_or(ptr::null_mut())
    }

    fn begin(&self, range: *mut u8) {
        self.next.set(range);
        self.left.set(if range.is_null() { 0 } else { RANGE });
    }

    /// Returns a block from unused memory.
    fn fresh(&self, size: usize) -> *mut u8 {
        let total = size + HEADER;
        if self.left.get() < total {
            if self.ranges.borrow().len() >= self.max_ranges {
                return ptr::null_mut();
            }
            // SAFETY: the layout has a non-zero size.
            let range = unsafe { alloc(RANGE_LAYOUT) };
            if range.is_null() {
                return range;
            }
            self.ranges.borrow_mut().push(range);
            self.begin(range);
        }
        let start = self.next.get();
        // SAFETY: at least `total` bytes are left from `start` on, and sizes are multiples of 8.
        unsafe {
            self.next.set(start.add(total));
            self.left.set(self.left.get() - total);
            start.cast::<usize>().write(size);
            start.add(HEADER)
        }
    }

    fn take(&self, size: usize) -> *mut u8 {
        let Some((list, size)) = class(size).and_then(|(class, size)| Some((self.free.get(class)?, size))) else {
            return self.take_large(size);
        };
        let first = list.get();
        let block = if first.is_null() {
            self.fresh(size)
        } else {
            // SAFETY: a free block begins with a pointer to the next.
            list.set(unsafe { first.cast::<*mut u8>().read() });
            first
        };
        if !block.is_null() {
            self.used.set(self.used.get() + size);
        }
        block
    }

    fn take_large(&self, size: usize) -> *mut u8 {
        let Some(layout) = large_layout(size) else { return ptr::null_mut() };
        // SAFETY: the layout has a non-zero size; its first bytes are the header.
        unsafe {
            let start = alloc(layout);
            if start.is_null() {
                return start;
            }
            start.cast::<usize>().write(size);
            let block = start.add(HEADER);
            self.large.borrow_mut().push(block);
            self.used.set(self.used.get() + size);
            block
        }
    }

    /// # Safety
    /// The block must come from `take` and not have been freed.
    unsafe fn give(&self, block: *mut u8) {
        // SAFETY: guaranteed by the caller.
        let size = unsafe { size_of_block(block) };
        self.used.set(self.used.get().saturating_sub(size));
        if size > LARGEST {
            self.large.borrow_mut().retain(|known| *known != block);
            // SAFETY: blocks of this size come from `take_large`.
            return unsafe { free_large(block) };
        }
        if let Some(list) = class(size).and_then(|(class, _)| self.free.get(class)) {
            // SAFETY: every block has room for a pointer.
            unsafe { block.cast::<*mut u8>().write(list.get()) };
            list.set(block);
        }
    }
}

const RANGE_LAYOUT: Layout = match Layout::from_size_align(RANGE, ALIGNMENT) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<usize>(),
};

fn large_layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(HEADER)?, ALIGNMENT).ok()
}

/// # Safety
/// The block must come from `take_large` and not have been freed.
unsafe fn free_large(block: *mut u8) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(layout) = large_layout(size_of_block(block)) {
            dealloc(block.sub(HEADER), layout);
        }
    }
}

/// # Safety
/// The block must come from `take`.
unsafe fn size_of_block(block: *mut u8) -> usize {
    // SAFETY: a size header precedes every block.
    unsafe { block.sub(HEADER).cast::<usize>().read() }
}

/// Returns the class of a size and the size of its blocks; `None` for sizes that come from the system.
fn class(size: usize) -> Option<(usize, usize)> {
    if size <= SMALL * 16 {
        let class = size.div_ceil(16).max(1);
        return Some((class - 1, class * 16));
    }
    if size > LARGEST {
        return None;
    }
    let doubling = (size - 1).ilog2() as usize;
    let step = 1 << (doubling - 2);
    let steps = (size - (1 << doubling)).div_ceil(step);
    Some((SMALL + (doubling - 9) * 4 + steps - 1, (1 << doubling) + steps * step))
}

// SAFETY: a block has one owner until it is freed, is as large as its header says, and is aligned to 8 bytes.
unsafe impl Allocator for Share {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        self.0.take(size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(size) = count.checked_mul(size) else { return ptr::null_mut() };
        let block = self.0.take(size);
        if !block.is_null() {
            // SAFETY: the block has at least `size` bytes.
            unsafe { block.write_bytes(0, size) };
        }
        block
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.0.give(block) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return self.0.take(size);
        }
        // SAFETY: the block comes from this allocator.
        let before = unsafe { size_of_block(block) };
        if size <= before && size >= before / 2 {
            return block;
        }
        let moved = self.0.take(size);
        if !moved.is_null() {
            // SAFETY: both blocks have that many bytes, and they do not overlap.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, before.min(size));
                self.0.give(block);
            }
        }
        moved
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe { size_of_block(block) }
    }
}

/// Sets the base of the interpreter's stack to this thread's current position; its stack limit counts from here.
pub(crate) fn set_stack_base(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive and has no other user.
    unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]
    use super::*;

    #[test]
    fn a_class_is_as_large_as_what_it_is_for_and_hardly_larger() {
        for size in 0..=LARGEST {
            let (index, class_size) = class(size).unwrap();
            let max = (size + 16).max(size + size / 4 + 1);
            assert!(index < CLASSES && class_size >= size && class_size <= max, "{size}");
            assert_eq!(class(class_size), Some((index, class_size)), "{size}");
        }
        assert_eq!(class(LARGEST + 1), None);
    }

    #[test]
    fn blocks_keep_what_is_written_to_them() {
        let region = Region::new(32 << 20);
        let mut share = Share(Rc::clone(&region.0));
        let mut kept: Vec<(*mut u8, usize, u8)> = Vec::new();
        for round in 0..4_000usize {
            let (size, sign) = (round * 37 % 3_001 + if round % 500 == 0 { LARGEST } else { 0 }, round as u8);
            let block = share.alloc(size);
            unsafe { block.write_bytes(sign, size) };
            kept.push((block, size, sign));
            if round % 3 == 0 {
                let (block, size, sign) = kept.swap_remove(round * 7 % kept.len());
                let grown = unsafe { share.realloc(block, size * 2) };
                assert!((0..size).all(|at| unsafe { grown.add(at).read() } == sign));
                unsafe { share.dealloc(grown) };
            }
        }
        for (block, size, sign) in kept {
            assert!((0..size).all(|at| unsafe { block.add(at).read() } == sign));
            unsafe { share.dealloc(block) };
        }
        assert_eq!(region.used(), 0);
    }

    #[test]
    fn a_region_is_empty_after_each_interpreter() {
        let region = Region::new(32 << 20);
        for _ in 0..3 {
            let runtime = region.runtime().unwrap();
            let context = Context::full(&runtime).unwrap();
            let sum: i32 = context.with(|ctx| ctx.eval("[1, 2, 3].map((n) => n * 2).reduce((a, b) => a + b)")).unwrap();
            assert_eq!(sum, 12);
            region.take_back(runtime, context);
            assert_eq!(region.used(), 0);
            assert_eq!(region.0.ranges.borrow().len(), 1);
        }
    }
}
