//! Interpreters that are part of the program, set up when it was built.
//!
//! Setting one up takes longer than asking a module. So the static build holds two in a section of its file: one in which
//! the modules that ship are loaded already, and one that no module has ever seen. A linker cannot make them; the program
//! does, started for it once, at the very places where they will lie ([`prepare`]), and what then lies there is written
//! into its file. A program at a fixed address is not moved when it starts, so all that points from there and to there
//! holds in every process. Where the section is empty, interpreters are set up when they are needed.
#![allow(unsafe_code, reason = "memory of the program is taken for the interpreter that was written there")]

use crate::answer::{Limit, Problem};
use crate::chain::Limits;
use crate::module::Module;
use crate::region::Region;
use crate::sandbox::Interpreter;
use reflex_types::Needs;
use rquickjs::{Ctx, qjs};
use std::cell::UnsafeCell;
use std::ops::{Deref, Range};
use std::rc::Rc;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of one interpreter with all that stands beside it. What a module needs besides is taken from elsewhere.
const SIZE: usize = 1152 << 10;

/// Where one interpreter lies: whole pages, so that the system can be asked for them as they are in the file.
#[repr(C, align(4096))]
struct Block(UnsafeCell<Content>);

#[repr(C)]
struct Content {
    /// What says that the rest was made by this program: [`sign`] of the block; zero where nothing was made.
    sign: usize,
    interpreter: *const Interpreter,
    bytes: [u8; SIZE - HEAD],
}

/// Bytes of the first fields.
const HEAD: usize = size_of::<(usize, usize)>();

// SAFETY: whoever takes a block by its `TAKEN` is alone with it.
unsafe impl Sync for Block {}

impl Block {
    const fn empty() -> Block {
        Block(UnsafeCell::new(Content { sign: 0, interpreter: std::ptr::null(), bytes: [0; SIZE - HEAD] }))
    }
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".reflex.image"))]
static BLOCKS: [Block; 2] = [Block::empty(), Block::empty()];

static TAKEN: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// What lay in the blocks when they were made, in the process that made them: its file has nothing to go back to.
static MADE: OnceLock<Vec<u8>> = OnceLock::new();

/// For whom an interpreter of the program is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guest {
    /// Modules that ship and leave nothing behind; they are loaded there.
    Ours,
    /// One module of anybody.
    Anybody,
}

/// An interpreter that nobody has used.
pub(crate) enum Seat {
    /// It was set up now.
    New(Box<Interpreter>),
    /// It is part of the program.
    Prepared(Prepared),
}

/// One of the program's interpreters, as long as somebody has it. Then it is what it was.
pub(crate) struct Prepared(usize);

impl Seat {
    /// One for modules with these needs, in this region if it has to be set up.
    ///
    /// # Errors
    /// There is no room for it.
    pub(crate) fn take(guest: Guest, needs: Needs, (limits, region): (Limits, &Rc<Region>)) -> Result<Seat, Problem> {
        if let Some(prepared) = Prepared::take(guest) {
            return Ok(Seat::Prepared(prepared));
        }
        Interpreter::new(needs, (limits, region)).map(|new| Seat::New(Box::new(new)))
    }
}

impl Deref for Seat {
    type Target = Interpreter;

    fn deref(&self) -> &Interpreter {
        match self {
            Seat::New(interpreter) => interpreter,
            // SAFETY: the block is signed, so an interpreter was made there, and nobody else has it.
            Seat::Prepared(Prepared(index)) => unsafe { &*(*content(*index)).interpreter },
        }
    }
}

impl Prepared {
    fn take(guest: Guest) -> Option<Prepared> {
        let index = guest as usize;
        // SAFETY: the sign is read only; it is written by `prepare` alone.
        let made = unsafe { (&raw const (*content(index)).sign).read_volatile() } == sign(index);
        let free = made && TAKEN.get(index).is_some_and(|taken| !taken.swap(true, Ordering::Acquire));
        free.then_some(Prepared(index))
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if renew(self.0)
            && let Some(taken) = TAKEN.get(self.0)
        {
            taken.store(false, Ordering::Release);
        }
    }
}

fn content(index: usize) -> *mut Content {
    BLOCKS.get(index).map_or(std::ptr::null_mut(), |block| block.0.get())
}

/// What a block of this program is signed with: its own place and that of a function.
fn sign(index: usize) -> usize {
    (content(index) as usize) ^ (prepare as *const () as usize).rotate_left(13)
}

/// Makes a block what it was when its interpreter was new; gives whether it is.
fn renew(index: usize) -> bool {
    let block = content(index).cast::<u8>();
    if let Some(made) = MADE.get() {
        let Some(bytes) = made.get(index * SIZE..(index + 1) * SIZE) else { return false };
        // SAFETY: the block is as long, and nobody has its interpreter any more.
        unsafe { block.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        return true;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the pages are the block's. What was written to them is dropped, and the file's are there again.
    return unsafe { libc::madvise(block.cast(), SIZE, libc::MADV_DONTNEED) == 0 };
    #[cfg(not(target_os = "linux"))]
    false
}

/// Where the interpreters of the program lie: what an allocator is given from there is not its to take back.
pub fn place() -> Range<usize> {
    let start = BLOCKS.as_ptr() as usize;
    start..start + size_of::<[Block; 2]>()
}

/// Does some work during which all memory that is asked for is taken from a range. Nothing else may run meanwhile.
pub type Within<'a> = &'a dyn Fn(Range<*mut u8>, &mut dyn FnMut());

/// Makes the interpreters of the program: afterwards [`bytes`] are what its section should hold.
///
/// # Errors
/// One of the modules does not load.
pub fn prepare(modules: Vec<Module>, within: Within<'_>) -> Result<(), Problem> {
    let modules: Arc<Vec<Module>> = Arc::new(modules);
    for (index, guest) in [Guest::Ours, Guest::Anybody].into_iter().enumerate() {
        let start = content(index).cast::<u8>();
        let mut made = Err(Problem::Cut(Limit::Memory));
        // SAFETY: the block is that long, and nobody has an interpreter of it yet.
        let range = unsafe {
            start.write_bytes(0, SIZE);
            start.add(HEAD)..start.add(SIZE)
        };
        within(range, &mut || made = set_up(guest, &modules).map(|interpreter| Box::into_raw(Box::new(interpreter))));
        // SAFETY: as above.
        unsafe {
            (*content(index)).sign = sign(index);
            (*content(index)).interpreter = made?;
        }
    }
    let _ = MADE.set(bytes().to_vec());
    Ok(())
}

fn set_up(guest: Guest, modules: &Arc<Vec<Module>>) -> Result<Interpreter, Problem> {
    let limits = Limits { leave: true, ..Limits::default() };
    // What few modules name is set up for those.
    let needs = Needs { buffer: false, events: false, common: false, ..Needs::everything() };
    let interpreter = Interpreter::new(needs, (limits, &Rc::new(Region::new(limits.memory))))?;
    match guest {
        Guest::Ours => interpreter.load_ahead(modules)?,
        Guest::Anybody => interpreter.load_ahead(&Arc::default())?,
    }
    Ok(interpreter)
}

/// What the section holds now.
pub fn bytes() -> &'static [u8] {
    // SAFETY: the section is that long; whoever looks at it uses no interpreter.
    unsafe { slice::from_raw_parts(BLOCKS.as_ptr().cast(), size_of::<[Block; 2]>()) }
}

/// Tells the interpreter where the stack of this thread begins: its limit counts from here.
pub(crate) fn stand_here(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive, and nobody else uses it.
    unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}
