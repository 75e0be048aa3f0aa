//! What the interpreter is given of ours: functions for the built-in modules, and `console`.

use crate::call::Call;
use reflex_engine::shell::{Surroundings, read};
use rquickjs::prelude::Rest;
use rquickjs::{Coerced, Ctx, Function, Object, Result};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Lines of a module that are kept, and letters of each.
const MOST_LINES: usize = 50;
const MOST_LETTERS: usize = 500;

/// Gives a context our functions. `printed` takes what the module prints.
pub(crate) fn add(ctx: &Ctx<'_>, call: &Arc<Call>, printed: &Rc<RefCell<Vec<String>>>) -> Result<()> {
    let globals = ctx.globals();
    let console = Object::new(ctx.clone())?;
    let print = {
        let printed = Rc::clone(printed);
        Function::new(ctx.clone(), move |words: Rest<Coerced<String>>| {
            let mut printed = printed.borrow_mut();
            if printed.len() < MOST_LINES {
                let line = words.iter().map(|word| word.0.as_str()).collect::<Vec<_>>().join(" ");
                printed.push(line.chars().take(MOST_LETTERS).collect());
            }
        })?
    };
    for name in ["log", "info", "warn", "error", "debug", "trace"] {
        console.set(name, print.clone())?;
    }
    globals.set("console", console)?;
    let own = Object::new(ctx.clone())?;
    let tables = call.tables;
    own.set("parse", Function::new(ctx.clone(), move |text: String| commands(&text, tables).to_string())?)?;
    globals.set("__reflex", own)
}

/// The commands of a text, each as its words and its own text.
fn commands(text: &str, tables: reflex_tables::Node<'static>) -> Value {
    let nothing = |_: &str| None;
    let no_alias = |_: &str, _: &str| None;
    let surroundings =
        Surroundings { programs: tables.get("programs"), variable: &nothing, alias: &no_alias, parameters: Vec::new() };
    let reading = read(text, &surroundings);
    let commands = reading.commands.iter().map(|command| {
        let argv: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
        json!({"argv": argv, "raw": argv.join(" ")})
    });
    commands.collect()
}
