//! The memory of interpreters: blocks by size out of a few large ranges, given back all at once.
//!
//! An interpreter lives for a part of a millisecond and makes some thousand objects first. Asking the system for each of
//! them, and giving each back, took longer than what a module does.
#![allow(unsafe_code, reason = "an allocator hands out raw memory")]

use rquickjs::allocator::Allocator;
use rquickjs::{Context, Ctx, Runtime, qjs};
use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr;
use std::rc::Rc;

/// A range; its pages cost nothing until they are touched. An interpreter with all that modules may use needs half of it.
const RANGE: usize = 512 << 10;

/// Before a block stands its size.
const HEADER: usize = 8;

const ALIGNMENT: usize = 16;

/// What is larger is the system's.
const LARGEST: usize = 64 << 10;

/// Sizes up to 512 in steps of 16, above four for each doubling.
const CLASSES: usize = SMALL + 28;
const SMALL: usize = 32;

/// The memory of one interpreter after the other.
pub(crate) struct Region(Rc<Ranges>);

/// What an interpreter holds of a region.
struct Share(Rc<Ranges>);

struct Ranges {
    /// What is still untouched of the last range.
    next: Cell<*mut u8>,
    left: Cell<usize>,
    /// Blocks that were given back, by their class; each begins with the place of the next.
    free: [Cell<*mut u8>; CLASSES],
    ranges: RefCell<Vec<*mut u8>>,
    large: RefCell<Vec<*mut u8>>,
    /// Bytes of blocks in use.
    used: Cell<usize>,
    /// Blocks of one size are not used for another: so many ranges and no more.
    most: usize,
}

impl Region {
    /// A region for interpreters that may use so many bytes.
    pub(crate) fn new(limit: usize) -> Region {
        Region(Rc::new(Ranges {
            next: Cell::new(ptr::null_mut()),
            left: Cell::new(0),
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            ranges: RefCell::default(),
            large: RefCell::default(),
            used: Cell::new(0),
            most: limit.saturating_mul(2) / RANGE + 1,
        }))
    }

    /// A new interpreter in this region.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn runtime(&self) -> rquickjs::Result<Runtime> {
        Runtime::new_with_alloc(Share(Rc::clone(&self.0)))
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.0.used.get()
    }

    /// Takes an interpreter's memory without having it take itself apart, and is empty again. Nobody else may hold the
    /// interpreter; its functions of ours are lost with it.
    pub(crate) fn take_back(&self, runtime: Runtime, context: Context) {
        mem::forget(context);
        mem::forget(runtime);
        let first = self.0.give_back(1);
        self.0.begin(first);
    }
}

/// Interpreters hold their region: none is left when it goes.
impl Drop for Region {
    fn drop(&mut self) {
        self.0.give_back(0);
        self.0.begin(ptr::null_mut());
    }
}

impl Ranges {
    /// Frees all but the first so many ranges; gives the last of these.
    fn give_back(&self, keep: usize) -> *mut u8 {
        for block in self.large.borrow_mut().drain(..) {
            // SAFETY: what is in the list came from `large` and was not given back.
            unsafe { free_large(block) };
        }
        let mut ranges = self.ranges.borrow_mut();
        while ranges.len() > keep {
            if let Some(range) = ranges.pop() {
                // SAFETY: a range comes from `alloc` with this layout.
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

    /// A block out of what is untouched.
    fn fresh(&self, size: usize) -> *mut u8 {
        let whole = size + HEADER;
        if self.left.get() < whole {
            if self.ranges.borrow().len() >= self.most {
                return ptr::null_mut();
            }
            // SAFETY: the layout is not empty.
            let range = unsafe { alloc(RANGE_LAYOUT) };
            if range.is_null() {
                return range;
            }
            self.ranges.borrow_mut().push(range);
            self.begin(range);
        }
        let start = self.next.get();
        // SAFETY: at least `whole` bytes are left from `start` on, and sizes are multiples of 8.
        unsafe {
            self.next.set(start.add(whole));
            self.left.set(self.left.get() - whole);
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
            // SAFETY: a free block begins with the place of the next.
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
        // SAFETY: the layout is not empty; its first bytes are the header's.
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
    /// The block came from `take` and was not given back.
    unsafe fn give(&self, block: *mut u8) {
        // SAFETY: as the caller promises.
        let size = unsafe { size_of_block(block) };
        self.used.set(self.used.get().saturating_sub(size));
        if size > LARGEST {
            self.large.borrow_mut().retain(|known| *known != block);
            // SAFETY: blocks of this size come from `take_large`.
            return unsafe { free_large(block) };
        }
        if let Some(list) = class(size).and_then(|(class, _)| self.free.get(class)) {
            // SAFETY: every block has room for a place.
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
/// The block came from `take_large` and was not given back.
unsafe fn free_large(block: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe {
        if let Some(layout) = large_layout(size_of_block(block)) {
            dealloc(block.sub(HEADER), layout);
        }
    }
}

/// # Safety
/// The block came from `take`.
unsafe fn size_of_block(block: *mut u8) -> usize {
    // SAFETY: before every block stands its size.
    unsafe { block.sub(HEADER).cast::<usize>().read() }
}

/// The class of a size and the size of its blocks; nothing for what is the system's.
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

// SAFETY: a block has one owner until it is given back, is as large as its header says, and lies at a multiple of 8.
unsafe impl Allocator for Share {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        self.0.take(size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(size) = count.checked_mul(size) else { return ptr::null_mut() };
        let block = self.0.take(size);
        if !block.is_null() {
            // SAFETY: the block has at least that many bytes.
            unsafe { block.write_bytes(0, size) };
        }
        block
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.give(block) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, size: usize) -> *mut u8 {
        if block.is_null() {
            return self.0.take(size);
        }
        // SAFETY: the block came from here.
        let before = unsafe { size_of_block(block) };
        if size <= before && size >= before / 2 {
            return block;
        }
        let moved = self.0.take(size);
        if !moved.is_null() {
            // SAFETY: both blocks have that many bytes, and they are not the same.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, before.min(size));
                self.0.give(block);
            }
        }
        moved
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller's promise is passed on.
        unsafe { size_of_block(block) }
    }
}

/// Tells the interpreter where the stack of this thread begins: its limit counts from here.
pub(crate) fn stand_here(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive, and nobody else uses it.
    unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on shall stop")]
    use super::*;

    #[test]
    fn a_class_is_as_large_as_what_it_is_for_and_hardly_larger() {
        for size in 0..=LARGEST {
            let (index, whole) = class(size).unwrap();
            assert!(index < CLASSES && whole >= size && (whole <= size + 16 || whole <= size + size / 4 + 1), "{size}");
            assert_eq!(class(whole), Some((index, whole)), "{size}");
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
