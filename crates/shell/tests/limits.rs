//! What is large or deep: the stack and the memory stay bounded, and what stands behind it is found or under a gap.
//!
//! Nothing is timed. Bytes are counted as they are allocated; `cargo xtask linear` counts instructions.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on shall stop, and only an allocator can count what is allocated"
)]

use crate::support::reading;
use reflex_shell::{Reading, Value};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The stack of a thread in which a text is read: a quarter of what a main thread has, in a build that is not optimised.
const STACK: usize = 2 * 1024 * 1024;

/// What a text of any size may take, beside a share of its size: the values of 40 wrappers in each other, and expansions.
const MEMORY: usize = 192 * 1024 * 1024;

struct Counting;

thread_local! {
    /// What this thread has allocated and not freed, the most of that, and all that it ever allocated.
    static BYTES: Cell<[usize; 3]> = const { Cell::new([0; 3]) };
}

fn count(freed: usize, allocated: usize) {
    let _ = BYTES.try_with(|bytes| {
        let [live, peak, all] = bytes.get();
        let live = live.saturating_sub(freed) + allocated;
        bytes.set([live, peak.max(live), all + allocated]);
    });
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What was found in a text, and the bytes that took.
struct Found {
    reading: Reading,
    peak: usize,
    all: usize,
}

/// Reads a text on a small stack. A stack that overflows ends the whole test.
fn found(text: &str) -> Found {
    reading("true");
    std::thread::scope(|scope| {
        let work = || {
            let reading = reading(text);
            let [_, peak, all] = BYTES.with(Cell::get);
            Found { reading, peak, all }
        };
        std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

fn runs(reading: &Reading, line: &str) -> bool {
    let shown = |words: &[Value]| words.iter().map(Value::shown).collect::<Vec<_>>().join(" ");
    reading.commands.iter().any(|command| shown(&command.words) == line)
}

/// Whether the last command of the text is found, or all that is not read is told.
#[track_caller]
fn check(name: &str, text: &str) {
    let found = found(&format!("{text}\nrm behind"));
    let is_reported = !found.reading.gaps.is_empty();
    assert!(
        runs(&found.reading, "rm behind") || is_reported,
        "{name}: what stands behind is neither found nor under a gap"
    );
    let bound = MEMORY + 64 * text.len();
    assert!(found.peak <= bound, "{name}: {} bytes for a text of {}", found.peak, text.len());
}

#[track_caller]
fn check_found(name: &str, text: &str) {
    check(name, text);
    assert!(
        runs(&found(&format!("{text}\nrm behind")).reading, "rm behind"),
        "{name}: what stands behind is not found"
    );
}

/// What can be nested, with what closes it.
const NESTS: [(&str, &str, &str, &str); 24] = [
    ("substitutions", "echo ", "$(", ")"),
    ("quoted substitutions", "echo ", "\"$(", ")\""),
    ("substitutions with commands", "", "echo $(", ")"),
    ("groups", "", "{ ", "; }"),
    ("subshells", "", "(", ")"),
    ("subshells with blanks", "", "( ", " )"),
    ("arithmetic", "", "((", "))"),
    ("arithmetic in words", "echo ", "$((", "))"),
    ("tests", "", "[[ (", ") ]]"),
    ("if", "", "if a; then ", "; fi"),
    ("conditions of if", "", "if ", "; then a; fi"),
    ("while", "", "while a; do ", "; done"),
    ("for", "", "for x in a; do ", "; done"),
    ("case", "", "case a in a) ", ";; esac"),
    ("functions", "", "f() { ", "; }"),
    ("defaults", "echo ", "${x:-", "}"),
    ("quoted defaults", "echo ", "\"${x:-", "}\""),
    ("patterns", "echo ", "${x#", "}"),
    ("process substitutions", "cat ", "<(", ")"),
    ("braces", "echo ", "{a,", "}"),
    ("arrays", "", "a=(", ")"),
    ("negations", "", "! ", ""),
    ("extended patterns", "echo ", "@(a|", ")"),
    ("old arithmetic", "echo ", "$[", "]"),
];

#[test]
fn nesting_without_end_costs_no_stack_and_hides_nothing() {
    for (name, before, open, close) in NESTS {
        for depth in [100, 20_000] {
            let (opened, closed) = (open.repeat(depth), close.repeat(depth));
            check(name, &format!("{before}{opened}a{closed}"));
            check(name, &format!("{before}{opened}"));
            check(name, &format!("{before}{opened}a"));
        }
    }
}

#[test]
fn backquotes_in_backquotes_are_bounded() {
    // Each level escapes the one before, so that a text of 2^n signs nests n deep.
    let mut text = "rm inside".to_owned();
    for _ in 0..12 {
        text = format!("echo `{}`", text.replace('\\', "\\\\").replace('`', "\\`"));
    }
    check("backquotes", &text);
    assert!(runs(&found(&text).reading, "rm inside"), "12 levels are read");
    for text in ["echo `".repeat(20_000), "`".repeat(20_000), "\\`".repeat(20_000), "`\\".repeat(20_001)] {
        check("backquotes without end", &text);
    }
}

#[test]
fn texts_in_texts_are_bounded() {
    let mut text = "rm inside".to_owned();
    for _ in 0..6 {
        text = format!("eval {}", quoted(&text));
    }
    assert!(runs(&found(&text).reading, "rm inside"), "6 levels of eval are read");
    check("eval of eval", &format!("{}rm x", "eval ".repeat(2_000)));
    check("wrappers of wrappers", &format!("{}rm x", "sudo env nice ".repeat(7_000)));
    check(
        "functions that call the next",
        &(0..2_000).map(|n| format!("f{n}() {{ f{}; }}\n", n + 1)).collect::<String>(),
    );
    check("aliases of aliases", &(0..2_000).map(|n| format!("alias a{n}=a{}\n", n + 1)).collect::<String>());
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn an_encoded_text_in_an_encoded_text_is_read_within_bounds() {
    let mut text = "rm inside".to_owned();
    let mut levels = 0;
    while text.len() < 10 * 1024 {
        text = format!("eval \"$(echo {} | base64 -d)\"", base64(text.as_bytes()));
        levels += 1;
    }
    let found = found(&format!("{text}\nrm behind"));
    assert!(runs(&found.reading, "rm behind"), "{levels} levels");
    let is_reported = !found.reading.gaps.is_empty() || found.reading.commands.iter().any(|one| !one.unread.is_empty());
    assert!(runs(&found.reading, "rm inside") || is_reported, "{levels} levels");
    assert!(found.peak < 64 * 1024 * 1024, "{} bytes", found.peak);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0usize, |bits, at| bits << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let digit = if at > group.len() { b'=' } else { DIGITS[bits >> (18 - 6 * at) & 63] };
            text.push(char::from(digit));
        }
    }
    text
}

#[test]
fn what_is_long_is_read_to_its_end() {
    let wide = "x".repeat(200_000);
    check_found("4,000 segments", &format!("{}true", "true && ".repeat(4_000)));
    check_found("an argument of 200 KB", &format!("echo {wide}"));
    check_found("a quoted argument of 200 KB", &format!("echo '{wide}' \"{wide}\" $'{wide}'"));
    check_found("1 MB of a comment", &format!("# {}", "a".repeat(1_000_000)));
    check_found("1 MB of words", &format!("echo {}", "word ".repeat(200_000)));
    check_found("1 MB of a heredoc", &format!("cat <<E\n{}E", "a b c d e\n".repeat(100_000)));
    check_found("1 MB of a quoted heredoc", &format!("cat <<'E'\n{}E", "$(a) `b`\n".repeat(110_000)));
    check_found("1 MB of blanks", &" \t".repeat(500_000));
    check_found("1 MB of newlines", &"\n".repeat(1_000_000));
    check_found("200 KB of a command's name", &wide);
    check_found("a pipe of 1,000", &format!("{}cat", "cat | ".repeat(1_000)));
}

#[test]
fn what_is_more_than_is_read_is_told() {
    check("200 KB of commands", &"rm x;".repeat(40_000));
    check("200 KB of pipes", &"a | ".repeat(50_000));
    check("200 KB of lists", &"a && b || ".repeat(20_000));
    check("200 KB of assignments", &"x=1;".repeat(50_000));
    check("200 KB of substitutions", &format!("echo {}", "$(a)".repeat(50_000)));
    check("200 KB of variables", &format!("echo {}", "$x".repeat(100_000)));
    check("200 KB of redirections", &format!("a {}", ">b ".repeat(66_000)));
    check("200 KB of functions", &"f(){ a;};".repeat(22_000));
    check("20,000 heredocs on a line", &format!("cat {}\n{}", "<<E ".repeat(20_000), "E\n".repeat(20_000)));
    check("100,000 words of braces", "echo {1..100000}");
    check("braces that multiply", &format!("echo {}", "{a,b}".repeat(64)));
    check("ranges that multiply", &format!("echo {}", "{1..1000}".repeat(8)));
    check("a variable that doubles", &format!("x=aaaaaaaa; {}", "x=$x$x;".repeat(64)));
    check("an array that doubles", &format!("a=(b c); {}", "a=(\"${a[@]}\" \"${a[@]}\");".repeat(64)));
    check("loops in loops", &format!("{} rm $a; {}", "for a in 1 2 3 4 5 6 7 8; do ".repeat(6), "done;".repeat(6)));
    check("a function that calls itself twice", "f() { f; f; }; f; f");
    check("replacing that grows", &format!("x=aa; {}", "x=${x//a/aaaa};".repeat(32)));
}

#[test]
fn one_letter_again_and_again_is_bounded() {
    for ch in "\"'`$\\(){}[]<>|&;!#~*?=+-@%^:,. \t\n\ra0é\0".chars() {
        check(&format!("{ch:?}"), &ch.to_string().repeat(50_000));
    }
    for pair in
        ["$(", "${", "`$", "\"$", "<<", "<(", "((", "[[ ", "{ ", "$'", "\\\n", "a=(", "a[", "<<<", "||", "&>", "{,"]
    {
        check(pair, &pair.repeat(25_000));
    }
}

/// Texts of a size, by the shape that repeats in them.
const GROWING: [(&str, &str, &str, &str); 14] = [
    ("commands", "", "echo word $x 'a b'; ", ""),
    ("list", "", "true && ", "true"),
    ("pipe", "", "cat | ", "cat"),
    ("words", "echo ", "word ", ""),
    ("quoted", "echo ", "'a b'\"c\"\\d ", ""),
    ("substitutions", "echo ", "$(a) ", ""),
    ("variables", "x=1; echo ", "$x${x:-y} ", ""),
    ("assignments", "", "x=1 y=2; ", ""),
    ("heredoc", "cat <<E\n", "a $x $(b)\n", "E"),
    ("if", "", "if a; then b; else c; fi; ", ""),
    ("loop", "", "for x in a b; do c $x; done; ", ""),
    ("case", "case x in ", "a) b;; ", "esac"),
    ("functions", "", "f() { a $1; }; f b; ", ""),
    ("redirections", "echo ", ">a 2>&1 ", ""),
];

#[test]
fn twice_the_text_allocates_twice_the_bytes() {
    for (name, before, unit, after) in GROWING {
        let of = |bytes: usize| found(&format!("{before}{}{after}", unit.repeat(bytes / unit.len()))).all;
        let (small, large) = (of(8 * 1024), of(16 * 1024));
        assert!(large * 10 <= small * 23, "{name}: {small} bytes become {large}");
    }
}
