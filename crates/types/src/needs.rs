//! Features of an interpreter that modules use. Only these are set up: to set up all takes longer than to run a module.

/// The features of an interpreter that modules name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// All built-ins of the language, beyond those that every module uses.
    pub all: bool,
    /// The command parser.
    pub commands: bool,
    /// The console.
    pub console: bool,
    /// Timers.
    pub timers: bool,
    /// Encoding, base64, structured clones, digests.
    pub web: bool,
    /// URLs.
    pub url: bool,
    /// `process` and `fetch`.
    pub process: bool,
    /// Files.
    pub files: bool,
    /// Node's buffers.
    pub buffer: bool,
    /// Event targets, and abort signals.
    pub events: bool,
    /// CommonJS: `require` and `exports`.
    pub common: bool,
    /// The working directory, for relative paths.
    pub cwd: bool,
}

impl Needs {
    /// Scans the source text of a module.
    pub fn from_source(text: &str) -> Needs {
        let mut needs = Needs::default();
        needs.look(text);
        needs
    }

    /// All features.
    pub fn everything() -> Needs {
        Needs::of_bits(u16::MAX)
    }

    /// The union of both.
    pub fn and(self, other: Needs) -> Needs {
        Needs::of_bits(self.bits() | other.bits())
    }

    fn each(&mut self) -> [&mut bool; 12] {
        let Needs { all, commands, console, timers, web, url, process, files, buffer, events, common, cwd } = self;
        [all, commands, console, timers, web, url, process, files, buffer, events, common, cwd]
    }

    /// One bit per feature, in declaration order.
    pub fn bits(mut self) -> u16 {
        self.each().iter().rev().fold(0, |bits, needed| bits << 1 | u16::from(**needed))
    }

    /// The inverse of [`Needs::bits`].
    pub fn of_bits(bits: u16) -> Needs {
        let mut needs = Needs::default();
        needs.each().into_iter().enumerate().for_each(|(at, needed)| *needed = bits >> at & 1 == 1);
        needs
    }

    /// Whether no feature keeps state after a call, so that another module may run in the same interpreter.
    pub fn leaves_nothing(&self) -> bool {
        !(self.timers || self.process || self.files)
    }

    fn look(&mut self, text: &str) {
        let is_part = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == '$';
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            let from = rest.get(start..).unwrap_or("");
            let end = from.find(|ch| !is_part(ch)).unwrap_or(from.len());
            let (word, after) = from.split_at_checked(end).unwrap_or((from, ""));
            self.take(word, after);
            rest = after;
        }
    }

    fn take(&mut self, word: &str, after: &str) {
        if after.starts_with(['"', '\'', '`']) {
            self.take_name(word);
        }
        match word {
            "console" => self.console = true,
            "parseCommand" | "commandMatches" => self.commands = true,
            "setTimeout" | "setInterval" | "setImmediate" => (self.timers, self.all) = (true, true),
            "TextEncoder" | "TextDecoder" | "atob" | "btoa" | "structuredClone" | "crypto" => {
                (self.web, self.buffer, self.all) = (true, true, true);
            }
            "Buffer" => (self.web, self.buffer, self.all) = (true, true, true),
            "AbortController" | "AbortSignal" | "EventTarget" | "Event" | "CustomEvent" => {
                (self.events, self.all) = (true, true);
            }
            "exports" | "require" | "createRequire" => (self.common, self.all) = (true, true),
            "URL" | "URLSearchParams" | "url" => (self.url, self.all) = (true, true),
            "process" | "fetch" => (self.process, self.cwd, self.all) = (true, true, true),
            "timers" => (self.timers, self.all) = (true, true),
            "fs" => (self.files, self.web, self.buffer, self.all) = (true, true, true, true),
            "import" | "export" => self.take_import(after),
            // Ways to reach a name that the text does not contain, and built-ins beyond the common ones.
            "Date" | "Map" | "Set" | "Proxy" | "Atomics" | "DataView" | "performance" | "globalThis" | "eval"
            | "Function" | "constructor" => self.all = true,
            word => self.all |= is_of_all(word),
        }
    }

    /// Checks an import or export: `import * as` may use every export, and a computed `import(…)` may load any module.
    fn take_import(&mut self, after: &str) {
        let head = after.split(['"', '\'', '`', ';', '{']).next().unwrap_or("");
        let is_open = after.trim_start().starts_with(['(', '/']);
        if is_open || head.contains('*') {
            self.commands = true;
        }
        if is_open {
            let (all, web, url, process, files) = (true, true, true, true, true);
            let (buffer, events, common, cwd) = (true, true, true, true);
            *self = Needs { all, web, url, process, files, buffer, events, common, cwd, ..*self };
        }
    }

    /// Checks the last word of a string, which may be the name of an imported module.
    fn take_name(&mut self, word: &str) {
        match word {
            "path" | "posix" => self.cwd = true,
            "buffer" | "string_decoder" => (self.web, self.buffer, self.all) = (true, true, true),
            "util" | "types" | "assert" | "strict" | "events" | "querystring" | "perf_hooks" => self.all = true,
            "module" => (self.common, self.all) = (true, true),
            _ => {}
        }
    }
}

/// Whether a word names a less common built-in, or is a `BigInt` literal.
fn is_of_all(word: &str) -> bool {
    let begins = ["Weak", "Int", "Uint", "Float", "Big", "Shared", "Finalization", "DOM"];
    let is_number = || word.starts_with(|ch: char| ch.is_ascii_digit()) && word.ends_with('n');
    begins.iter().any(|begin| word.starts_with(begin)) || word.ends_with("Buffer") || is_number()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Needs) {
        assert_eq!(Needs::from_source(text), expected, "{text}");
    }

    #[test]
    fn a_module_needs_what_it_names() {
        let (none, all) = (Needs::default(), Needs { all: true, ..Needs::default() });
        check("import { deny } from '@agentreflex/core'; const refs = 1; // fetched, processes, diffs", none);
        check("new Map()", all);
        check("1n + a1n", all);
        check("x.constructor", all);
        check("new Uint8Array(1)", all);
        check("console.log(1)", Needs { console: true, ..none });
        let core = Needs { commands: true, ..none };
        check("import { parseCommand as p } from '@agentreflex/core'", Needs { commands: true, ..none });
        check("import*as c from'@agentreflex/core'", core);
        check("export * from './other.js'", core);
        check("await fetch('x')", Needs { process: true, cwd: true, ..all });
        let bytes = Needs { web: true, buffer: true, ..all };
        check("import { readFileSync } from \"node:fs\"", Needs { files: true, ..bytes });
        check("Buffer.from(x); new ArrayBuffer(1)", bytes);
        check("import { sep } from 'node:path'; const path = paths.buffer + x.util", Needs { cwd: true, ..none });
        check("import { inspect } from 'node:util'", all);
        check("new AbortController()", Needs { events: true, ..all });
        check("module.exports = { a: 1 }", Needs { common: true, ..all });
        check("setTimeout(f)", Needs { timers: true, ..all });
        let open = Needs { url: true, process: true, files: true, events: true, common: true, cwd: true, ..bytes };
        check("import('o' + 's')", Needs { commands: true, ..open });
    }
}
