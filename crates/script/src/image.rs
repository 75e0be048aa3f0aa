//! Interpreters that are part of the program, set up when it was built.
//!
//! Setting one up takes longer than asking a module. So the static build holds some in a section of its file: one in which
//! modules that ship are loaded already, and two that no module has ever seen. A linker cannot make them; the program
//! does, started for it once, at the very places where they will lie ([`prepare`]), and what then lies there is written
//! into its file. A program at a fixed address is not moved when it starts, so all that points from there and to there
//! holds in every process. Where the section is empty, interpreters are set up when they are needed.
#![allow(unsafe_code, reason = "memory of the program is taken for the interpreter that was written there")]

use crate::model::answer::{Limit, Problem};
use crate::model::limits::Limits;
use crate::model::module::Module;
use crate::region::Region;
use crate::sandbox::Interpreter;
use reflex_types::Needs;
use std::cell::UnsafeCell;
use std::ops::{Deref, Range};
use std::ptr;
use std::rc::Rc;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of one interpreter with all that stands beside it. What a module needs besides is taken from elsewhere.
const SIZE: usize = 512 << 10;

/// So many of them are for what stands beside it; the rest is the interpreter's own memory.
const BESIDE: usize = 16 << 10;

/// Where one interpreter lies.
#[repr(C, align(4096))]
struct Block(UnsafeCell<Content>);

#[repr(C)]
struct Content {
    /// What says that the rest was made by this program: [`sign`] of the block; zero where nothing was made.
    sign: usize,
    interpreter: *const Interpreter,
    /// Bytes from the start on that are in use while nobody has it.
    used: usize,
    bytes: [u8; SIZE - HEAD],
}

/// Bytes of the first fields.
const HEAD: usize = size_of::<(usize, usize, usize, usize)>();

impl Block {
    const fn empty() -> Block {
        Block(UnsafeCell::new(Content { sign: 0, interpreter: ptr::null(), used: 0, bytes: [0; SIZE - HEAD] }))
    }
}

// SAFETY: whoever takes a block by its state is alone with it.
unsafe impl Sync for Block {}

/// How many there are of [`Guest`].
const GUESTS: usize = 3;

/// One for each guest, and behind them what they were when nobody had used them.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".reflex.image"))]
static BLOCKS: [Block; 2 * GUESTS] = [const { Block::empty() }; 2 * GUESTS];

/// For each guest whether somebody has the interpreter now, or had it.
static STATES: [AtomicU8; GUESTS] = [const { AtomicU8::new(UNTOUCHED) }; GUESTS];

const UNTOUCHED: u8 = 0;
const TAKEN: u8 = 1;
const USED: u8 = 2;

/// For whom an interpreter of the program is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guest {
    /// Modules that ship, that leave nothing behind and name no more than most do; they are loaded there.
    Ours,
    /// One module of anybody that names no more than most do.
    Plain,
    /// One that does.
    Any,
}

impl Guest {
    /// Where a module of anybody with these needs is asked.
    pub(crate) fn with(needs: Needs) -> Guest {
        if needs.all { Guest::Any } else { Guest::Plain }
    }

    /// What its interpreter is set up with. What few modules name is set up for those.
    fn needs(self) -> Needs {
        let of_all = Needs { buffer: false, events: false, common: false, ..Needs::everything() };
        let few = Needs { commands: true, console: true, ..Needs::default() };
        if self == Guest::Any { of_all } else { few }
    }

    /// Where it lies as it was when nobody had used it.
    fn pristine(self) -> *mut Content {
        content(self as usize + GUESTS)
    }
}

/// Whether a module that ships is in the interpreter of these.
pub fn is_for_ours(needs: Needs) -> bool {
    needs.leaves_nothing() && !needs.all
}

/// An interpreter that nobody has used.
pub(crate) enum Seat {
    /// It was set up now.
    New(Box<Interpreter>),
    /// It is part of the program.
    Prepared(Prepared),
}

/// One of the program's interpreters, as long as somebody has it. The next finds it as it was.
pub(crate) struct Prepared(Guest);

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
            Seat::Prepared(Prepared(guest)) => unsafe { &*(*content(*guest as usize)).interpreter },
        }
    }
}

impl Prepared {
    fn take(guest: Guest) -> Option<Prepared> {
        let index = guest as usize;
        // SAFETY: the sign is read only; it is written by `prepare` alone.
        let made = unsafe { (&raw const (*content(index)).sign).read_volatile() } == sign(index);
        let state = STATES.get(index).filter(|_| made)?;
        // What nobody will use again is left as it is: most processes end with the call.
        let take = |from| state.compare_exchange(from, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if !take(UNTOUCHED) {
            take(USED).then(|| renew(guest))?;
        }
        Some(Prepared(guest))
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if let Some(state) = STATES.get(self.0 as usize) {
            state.store(USED, Ordering::Release);
        }
    }
}

/// Makes an interpreter that somebody used what it was. Whoever calls has taken it, and nobody else holds anything of it.
fn renew(guest: Guest) {
    let (block, pristine) = (content(guest as usize), guest.pristine().cast_const());
    // SAFETY: both are blocks. What the interpreter held outside of its own is given back first; then it is what it was,
    // and zero behind that.
    unsafe {
        let end = (*(*block).interpreter).region().release();
        let used = (*pristine).used;
        ptr::copy_nonoverlapping(pristine.cast::<u8>(), block.cast::<u8>(), used);
        let rest = block.cast::<u8>().add(used);
        rest.write_bytes(0, (end as usize).saturating_sub(rest as usize));
    }
}

fn content(index: usize) -> *mut Content {
    BLOCKS.get(index).map_or(ptr::null_mut(), |block| block.0.get())
}

/// What a block of this program is signed with: its own place and that of a function.
fn sign(index: usize) -> usize {
    (content(index) as usize) ^ (prepare as *const () as usize).rotate_left(13)
}

/// Where the interpreters of the program lie: what an allocator is given from there is not its to take back.
pub fn place() -> Range<usize> {
    let start = BLOCKS.as_ptr() as usize;
    start..start + size_of_val(&BLOCKS)
}

/// Does some work during which all memory that is asked for is taken from a range. Nothing else may run meanwhile.
pub type Within<'a> = &'a dyn Fn(Range<*mut u8>, &mut dyn FnMut());

/// Makes the interpreters of the program: afterwards [`bytes`] are what its section should hold.
///
/// # Errors
/// One of the modules does not load.
pub fn prepare(modules: Vec<Module>, within: Within<'_>) -> Result<(), Problem> {
    let modules: Arc<Vec<Module>> = Arc::new(modules);
    for guest in [Guest::Ours, Guest::Plain, Guest::Any] {
        let block = content(guest as usize);
        let start = block.cast::<u8>();
        let mut made = Err(Problem::Cut(Limit::Memory));
        // SAFETY: the block is that long, and nobody has an interpreter of it yet.
        let (beside, own) = unsafe {
            start.write_bytes(0, SIZE);
            (start.add(HEAD)..start.add(BESIDE), start.add(BESIDE)..start.add(SIZE))
        };
        within(beside, &mut || {
            let interpreter = set_up(guest, &modules, own.clone());
            made = interpreter.map(|interpreter| Box::into_raw(Box::new(interpreter)).cast_const());
        });
        let interpreter = made?;
        // SAFETY: as above; the interpreter was made just now.
        unsafe {
            let end = (*interpreter).region().end();
            if !(own.start..=own.end).contains(&end) {
                return Err(Problem::Cut(Limit::Memory));
            }
            (*block).sign = sign(guest as usize);
            (*block).interpreter = interpreter;
            (*block).used = end as usize - start as usize;
            ptr::copy_nonoverlapping(start, guest.pristine().cast::<u8>(), SIZE);
        }
    }
    Ok(())
}

fn set_up(guest: Guest, modules: &Arc<Vec<Module>>, own: Range<*mut u8>) -> Result<Interpreter, Problem> {
    let limits = Limits { leave: true, ..Limits::default() };
    let region = Rc::new(Region::within(limits.memory, own));
    let interpreter = Interpreter::new(guest.needs(), (limits, &region))?;
    match guest {
        Guest::Ours => interpreter.load_ahead(modules)?,
        Guest::Plain | Guest::Any => interpreter.load_ahead(&Arc::default())?,
    }
    Ok(interpreter)
}

/// What the section holds, once interpreters that were used are what they were.
pub fn bytes() -> &'static [u8] {
    for guest in [Guest::Ours, Guest::Plain, Guest::Any] {
        if let Some(taken) = Prepared::take(guest) {
            renew(taken.0);
        }
    }
    // SAFETY: the section is that long; whoever looks at it uses no interpreter.
    unsafe { slice::from_raw_parts(BLOCKS.as_ptr().cast(), size_of_val(&BLOCKS)) }
}
