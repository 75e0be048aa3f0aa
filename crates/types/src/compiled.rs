//! Modules as the interpreter's bytecode, because parsing their text at every call took longer than running them. The
//! bytecode of our own modules is made when Reflex is built. The interpreter does not verify bytecode, so any other
//! source of it must be writable only by the guard; the loading code vouches for that with `unsafe`.
#![allow(unsafe_code, reason = "the interpreter believes the code that it loads")]

use crate::error::CompileError;
use crate::needs::Needs;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions, WriteOptionsEndianness};
use rquickjs::{Context, Ctx, Module, Result as JsResult, Runtime};
use std::result::Result;

/// The bytecode of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compiled(&'static [u8]);

impl Compiled {
    /// Wraps the bytecode of a module.
    ///
    /// # Safety
    /// The bytecode was made by [`compile`] or [`written`] of this version.
    pub const unsafe fn trusted(code: &'static [u8]) -> Compiled {
        Compiled(code)
    }

    /// Loads the module without evaluating it. Its name is the one under which it was compiled.
    ///
    /// # Errors
    /// The interpreter is out of memory.
    pub fn load<'js>(self, ctx: &Ctx<'js>) -> JsResult<Module<'js, Declared>> {
        // SAFETY: the creator of this value guarantees that the bytecode is the compiler's.
        unsafe { Module::load(ctx.clone(), self.0) }
    }
}

/// The bytecode of a module in an interpreter, including its source and debug information.
///
/// # Errors
/// The interpreter is out of memory.
pub fn written(module: &Module<'_, Declared>) -> JsResult<Vec<u8>> {
    module.write(WriteOptions { endianness: WriteOptionsEndianness::Little, ..WriteOptions::default() })
}

/// The cached parts of a module, so that its text is not parsed again: its bytecode by the path below its folder, and
/// the features that it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Code {
    /// Bytecode by path.
    pub files: &'static [(&'static str, Compiled)],
    /// The features that the files need.
    pub needs: Needs,
}

impl Code {
    /// Serializes bytecode from [`written`], by path.
    pub fn packed(files: &[(&str, Vec<u8>)], needs: Needs) -> Vec<u8> {
        let mut bytes = needs.bits().to_le_bytes().to_vec();
        for (path, code) in files {
            for part in [path.as_bytes(), code] {
                bytes.extend((part.len() as u64).to_le_bytes());
                bytes.extend(part);
            }
        }
        bytes
    }

    /// Parses the output of [`Code::packed`]; `None` for other data.
    ///
    /// # Safety
    /// The bytecode in it was [`written`] by this version.
    pub unsafe fn unpacked(bytes: &'static [u8]) -> Option<Code> {
        let (needs, mut rest) = bytes.split_first_chunk()?;
        let mut files = Vec::new();
        while !rest.is_empty() {
            let mut part = || {
                let (length, after) = rest.split_first_chunk()?;
                let (part, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
                rest = after;
                Some(part)
            };
            let (path, code) = (std::str::from_utf8(part()?).ok()?, part()?);
            // SAFETY: guaranteed by the caller.
            files.push((path, unsafe { Compiled::trusted(code) }));
        }
        Some(Code { files: files.leak(), needs: Needs::of_bits(u16::from_le_bytes(*needs)) })
    }
}

/// The bytecode of a module, without source and debug information.
///
/// # Errors
/// The text is not a valid module.
pub fn compile(name: &str, text: &str) -> Result<Vec<u8>, CompileError> {
    let describe = |source: rquickjs::Error| CompileError { name: name.into(), source };
    let runtime = Runtime::new().map_err(describe)?;
    runtime.set_loader(Anything, Anything);
    let context = Context::full(&runtime).map_err(describe)?;
    context.with(|ctx| {
        let module = Module::declare(ctx, name, text).map_err(describe)?;
        let options = WriteOptions {
            endianness: WriteOptionsEndianness::Little,
            strip_source: true,
            strip_debug: true,
            ..WriteOptions::default()
        };
        module.write(options).map_err(describe)
    })
}

/// A placeholder for every import: imports are resolved when the module is loaded.
struct Anything;

impl Resolver for Anything {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        _base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> JsResult<String> {
        Ok(name.into())
    }
}

impl Loader for Anything {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        path: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> JsResult<Module<'js, Declared>> {
        Module::declare(ctx.clone(), path, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_code_is_found_again_and_nothing_else() {
        let needs = Needs::from_source("console.log(new Map())");
        let packed: &'static [u8] = Code::packed(&[("a.js", vec![1, 2]), ("b/c.json", Vec::new())], needs).leak();
        // SAFETY: nothing loads what is found.
        let unpacked = |bytes| unsafe { Code::unpacked(bytes) };
        let code = unpacked(packed).map(|code| (code.files, code.needs));
        assert_eq!(code, Some((&[("a.js", Compiled(&[1, 2])), ("b/c.json", Compiled(&[]))][..], needs)));
        let cut = (1..packed.len()).filter_map(|end| packed.get(..end)).filter(|bytes| unpacked(bytes).is_some());
        assert_eq!(cut.map(<[u8]>::len).collect::<Vec<_>>(), [2, 16 + 2 + 4 + 2]);
    }
}
