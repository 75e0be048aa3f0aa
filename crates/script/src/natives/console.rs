//! The `console` of a module. Its output is recorded.

use super::tools::Tools;
use rquickjs::prelude::Rest;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value as Js};
use std::rc::Rc;

pub(super) fn console<'js>(ctx: &Ctx<'js>, tools: &Rc<Tools>) -> Result<Object<'js>> {
    let console = Object::new(ctx.clone())?;
    let kept = Rc::clone(tools);
    let print = Function::new(ctx.clone(), move |ctx: Ctx<'js>, words: Rest<Js<'js>>| -> Result<()> {
        let words: Result<Vec<String>> = words.iter().map(|word| shown(&ctx, word)).collect();
        let words = words?;
        kept.afford(&ctx, words.iter().map(String::len).sum())?;
        kept.print(&words);
        Ok(())
    })?;
    for name in ["log", "info", "warn", "error", "debug", "trace", "dir", "table", "group"] {
        console.set(name, print.clone())?;
    }
    let kept = Rc::clone(tools);
    let assert = move |ctx: Ctx<'js>, holds: Coerced<bool>, words: Rest<Js<'js>>| -> Result<()> {
        let words = words.iter().map(|word| shown(&ctx, word));
        let words: Result<Vec<String>> = std::iter::once(Ok("Assertion failed:".to_owned())).chain(words).collect();
        let words = words?;
        kept.afford(&ctx, words.iter().map(String::len).sum())?;
        if !holds.0 {
            kept.print(&words);
        }
        Ok(())
    };
    console.set("assert", Function::new(ctx.clone(), assert)?)?;
    // Indentation, counters and timers are not supported.
    let nothing = Function::new(ctx.clone(), || {})?;
    for name in ["groupEnd", "groupCollapsed", "count", "time", "timeLog", "timeEnd"] {
        console.set(name, nothing.clone())?;
    }
    Ok(console)
}

/// Formats a value for people: strings as they are, errors by their message, other objects as JSON.
pub(super) fn shown<'js>(ctx: &Ctx<'js>, value: &Js<'js>) -> Result<String> {
    if value.is_object() && !value.is_function() && !value.is_error() {
        match ctx.json_stringify(value.clone()) {
            Ok(Some(text)) => return text.to_string(),
            Ok(None) => return Ok("undefined".into()),
            // Printing a cyclic object is not an error of the module.
            Err(_) => drop(ctx.catch()),
        }
        return Ok("[object]".into());
    }
    if value.is_symbol() {
        return Ok("[symbol]".into());
    }
    <Coerced<String> as rquickjs::FromJs>::from_js(ctx, value.clone()).map(|text| text.0)
}
