//! Our own modules as the code of the interpreter, made when Reflex is built: reading their text at every call took longer
//! than running them. Code of the interpreter is not checked when it is loaded, so nothing that lies on a disk is ever
//! loaded so: only what is part of the program.
#![allow(unsafe_code, reason = "the interpreter believes the code that it loads")]

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declared, WriteOptions, WriteOptionsEndianness};
use rquickjs::{Context, Ctx, Module, Result as JsResult, Runtime};
use std::result::Result;

/// A module's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compiled(&'static [u8]);

impl Compiled {
    /// The code of a module that is part of the program.
    ///
    /// # Safety
    /// It was made by [`compile`] of this version when the program was built.
    pub const unsafe fn of_build(code: &'static [u8]) -> Compiled {
        Compiled(code)
    }

    /// The module, not evaluated yet; its name is the one under which it was compiled.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn load<'js>(self, ctx: &Ctx<'js>) -> JsResult<Module<'js, Declared>> {
        // SAFETY: whoever made this value promised that the code is the compiler's.
        unsafe { Module::load(ctx.clone(), self.0) }
    }
}

/// The code of a module, without its text.
///
/// # Errors
/// The text is no module.
pub fn compile(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let told = |error: rquickjs::Error| format!("{name}: {error}");
    let runtime = Runtime::new().map_err(told)?;
    runtime.set_loader(Anything, Anything);
    let context = Context::full(&runtime).map_err(told)?;
    context.with(|ctx| {
        let module = Module::declare(ctx, name, text).map_err(told)?;
        let options = WriteOptions {
            endianness: WriteOptionsEndianness::Little,
            strip_source: true,
            strip_debug: true,
            ..WriteOptions::default()
        };
        module.write(options).map_err(told)
    })
}

/// Stands for whatever a module imports: that is looked at when it is loaded.
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
