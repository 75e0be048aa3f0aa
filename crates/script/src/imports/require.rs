//! Native functions for `require`: resolving a name and loading the file.

use super::commonjs::function;
use super::loader::Files;
use rquickjs::{Ctx, Exception, Function, Object, Result};

/// Adds the native functions for `require` to an object.
pub(crate) fn add<'js>(ctx: &Ctx<'js>, native: &Object<'js>, files: &Files) -> Result<()> {
    let kept = files.clone();
    let resolve = move |ctx: Ctx<'js>, base: String, name: String| {
        kept.required(&base, &name).map_err(|why| Exception::throw_message(&ctx, &why.to_string()))
    };
    native.set("resolve", Function::new(ctx.clone(), resolve)?)?;
    let kept = files.clone();
    let load = move |ctx: Ctx<'js>, name: String| load(&ctx, &kept, &name);
    native.set("load", Function::new(ctx.clone(), load)?)
}

/// Loads a file of the module by its full name: a CommonJS function or the text of a JSON file. ES modules are not
/// loaded here, as the interpreter must not link modules while it runs one.
fn load<'js>(ctx: &Ctx<'js>, files: &Files, name: &str) -> Result<Object<'js>> {
    let loaded = Object::new(ctx.clone())?;
    let Some(text) = files.named(name) else { return Ok(loaded) };
    if name.ends_with(".json") {
        loaded.set("json", text)?;
        return Ok(loaded);
    }
    let native: Object<'js> = ctx.globals().get("__reflex")?;
    let kept: Option<Function<'js>> = native.get(format!("code {name}"))?;
    if let Some(function) = kept.or_else(|| function(ctx, name, &text)) {
        loaded.set("code", function)?;
    }
    Ok(loaded)
}
