//! Native functions of the interpreter: for the built-in modules, and the globals that scripts expect of a runtime.

mod bytes;
mod commands;
mod console;
mod digests;
pub(crate) mod lent;
mod machine;
pub(crate) mod tools;
pub(crate) mod urls;

use crate::imports::loader::Files;
use crate::imports::{built_in, require};
use crate::model::answer::Missed;
use bytes::{digest, randomly};
use commands::{MAX_COMMAND, commands};
use console::console;
use machine::on_machine;
use reflex_types::{Compiled, Needs};
use rquickjs::object::Accessor;
use rquickjs::{Ctx, Function, Object, Result, Value as Js};
use std::rc::Rc;
use tools::{BYTES_A_TICK, Tools};
use urls::{changed, url};

/// Returns the parts of the globals that the modules of a context name.
fn parts(needs: Needs) -> impl Iterator<Item = Compiled> {
    let parts = [
        (needs.timers, "timers"),
        (needs.web, "web"),
        (needs.buffer, "buffer"),
        (needs.events, "event-target"),
        (needs.url, "url"),
        (needs.process, "process"),
        (needs.common, "common"),
    ];
    parts.into_iter().filter(|(named, _)| *named).filter_map(|(_, part)| built_in::part(part))
}

/// Adds the native functions to a context.
pub(crate) fn add(ctx: &Ctx<'_>, (tools, files): (&Rc<Tools>, &Files), needs: Needs) -> Result<()> {
    let globals = ctx.globals();
    if needs.console {
        globals.set("console", console(ctx, tools)?)?;
    }
    globals.set("__reflex", native_object(ctx, tools, needs)?)?;
    if needs.common {
        require::add(ctx, &ctx.globals().get("__reflex")?, files)?;
    }
    parts(needs).try_for_each(|part| {
        let (_, ended) = part.load(ctx)?.eval()?;
        ended.result::<()>().unwrap_or(Ok(()))
    })
}

fn native_object<'js>(ctx: &Ctx<'js>, tools: &Rc<Tools>, needs: Needs) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let kept = Rc::clone(tools);
    native.set("home", Function::new(ctx.clone(), move || kept.call().home.clone())?)?;
    let kept = Rc::clone(tools);
    let math: Object<'js> = ctx.globals().get("Math")?;
    math.set("random", Function::new(ctx.clone(), move || kept.random())?)?;
    if needs.commands {
        let kept = Rc::clone(tools);
        let parse = move |ctx: Ctx<'js>, text: String| -> Result<String> {
            // Parsing a hundred bytes takes about as long as one tick of the interpreter.
            kept.charge(1);
            kept.afford(&ctx, text.len().saturating_mul(BYTES_A_TICK / 100))?;
            let call = kept.call();
            let text = text.get(..MAX_COMMAND).unwrap_or(&text);
            // Several modules parse the same command, with the same result for each.
            Ok(call.worked_out(&format!("command {text}"), || commands(text, call.tables).to_string()).to_string())
        };
        native.set("parse", Function::new(ctx.clone(), parse)?)?;
    }
    let kept = Rc::clone(tools);
    native.set("want", Function::new(ctx.clone(), move |field: String| kept.wanted(&field).to_string())?)?;
    if needs.url {
        let kept = Rc::clone(tools);
        let parse = move |ctx: Ctx<'js>, text: String, base: String| -> Result<String> {
            kept.afford(&ctx, (text.len() + base.len()).saturating_mul(4))?;
            Ok(url(&text, &base).to_string())
        };
        native.set("url", Function::new(ctx.clone(), parse)?)?;
        let kept = Rc::clone(tools);
        let change = move |ctx: Ctx<'js>, text: String, part: String, value: String| -> Result<String> {
            kept.afford(&ctx, (text.len() + value.len()).saturating_mul(4))?;
            Ok(changed(&text, &part, &value).to_string())
        };
        native.set("changeUrl", Function::new(ctx.clone(), change)?)?;
    }
    if needs.cwd {
        let kept = Rc::clone(tools);
        native.set("cwd", Function::new(ctx.clone(), move || kept.cwd())?)?;
    }
    if needs.web {
        native.set("random", Function::new(ctx.clone(), randomly(tools))?)?;
        native.set("digest", Function::new(ctx.clone(), digest(tools))?)?;
    }
    if needs.process {
        let kept = Rc::clone(tools);
        let print = move |ctx: Ctx<'js>, text: String| -> Result<()> {
            kept.afford(&ctx, text.len())?;
            kept.print(&[text]);
            Ok(())
        };
        native.set("print", Function::new(ctx.clone(), print)?)?;
    }
    if needs.files || needs.process {
        let kept = Rc::clone(tools);
        let machine = move |ctx: Ctx<'js>, operation: String, name: String, bytes: Js<'js>| {
            on_machine(&kept, &ctx, (&operation, &name), bytes)
        };
        native.set("machine", Function::new(ctx.clone(), machine)?)?;
    }
    Ok(native)
}

/// Adds a getter for a field that a module may not read. It returns `undefined` and records the access.
pub(crate) fn hide<'js>(ctx: &Ctx<'js>, context: &Js<'js>, (tools, field): (&Rc<Tools>, &str)) -> Result<()> {
    let Some(context) = context.as_object() else { return Ok(()) };
    let (kept, name) = (Rc::clone(tools), field.to_owned());
    let look = Function::new(ctx.clone(), move || kept.miss(Missed::Field(name.clone())))?;
    context.prop(field, Accessor::new_get(move || drop(look.call::<_, ()>(()))).configurable())
}

/// Adds a field to an object that is computed on first access.
pub(crate) fn lazily<'js>(ctx: &Ctx<'js>, context: &Js<'js>, field: &str) -> Result<()> {
    let native: Object<'js> = ctx.globals().get("__reflex")?;
    let known: Option<Function<'js>> = native.get("lazily")?;
    let define = match known {
        Some(define) => define,
        None => {
            let define: Function<'js> = ctx.eval(include_str!("../js/lazy.js"))?;
            native.set("lazily", define.clone())?;
            define
        }
    };
    define.call((context.clone(), field))
}

/// Runs the timer that is due first. Returns whether there was one. Modules do not wait for time to pass.
pub(crate) fn next_timer(ctx: &Ctx<'_>) -> Result<bool> {
    let native: Object<'_> = ctx.globals().get("__reflex")?;
    match native.get::<_, Option<Function<'_>>>("timer")? {
        Some(timer) => timer.call(()),
        None => Ok(false),
    }
}
