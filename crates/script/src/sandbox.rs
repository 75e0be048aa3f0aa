//! One module in an interpreter of its own: loaded, asked, its answer taken out, all of it thrown away.

use crate::answer::{Limit, Problem, Report, Said};
use crate::call::{Call, Handler};
use crate::chain::Limits;
use crate::loader::Files;
use crate::module::Module;
use crate::natives::{self, Tools};
use rquickjs::context::intrinsic::{Eval, Json, Promise as Promises, RegExp, RegExpCompiler};
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Function, Module as Script, Object, Promise, Runtime, Value,
};
use serde_json::Map;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// What a module's thread says to the one that waits.
pub(crate) enum Message {
    /// What became of a module.
    Report(Report),
    /// A field of the context that it looks at; its JSON is sent back.
    Wanted(String, Sender<String>),
}

/// Asks one module about a call.
pub(crate) fn ask(
    module: &Module,
    index: usize,
    call: &Arc<Call>,
    (limits, asks): (Limits, &Sender<Message>),
) -> Report {
    let mut report = Report { module: module.name.clone(), index, said: None, ticks: 0, printed: Vec::new() };
    if call.spoke.contains(&index) || !listens(module, call.handler) {
        return report;
    }
    let tools = Rc::new(Tools {
        call: Arc::clone(call),
        granted: module.granted.clone(),
        ticks: Cell::new(0),
        printed: RefCell::default(),
        asks: asks.clone(),
    });
    report.said = within(module, call, limits, &tools).transpose();
    report.ticks = tools.ticks.get();
    report.printed = tools.printed.take();
    report
}

/// Whether the manifest lets this event be delivered.
fn listens(module: &Module, handler: Handler) -> bool {
    module.manifest.as_ref().is_none_or(|manifest| manifest.events.iter().any(|event| event == handler.name()))
}

fn within(module: &Module, call: &Arc<Call>, limits: Limits, tools: &Rc<Tools>) -> Result<Option<Said>, Problem> {
    let no_room = |_| Problem::Cut(Limit::Memory);
    let runtime = Runtime::new().map_err(no_room)?;
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(limits.stack);
    let counted = Rc::clone(tools);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        counted.charge(1);
        counted.ticks.get() > limits.ticks
    })));
    let files = Files::of(module);
    runtime.set_loader(files.clone(), files);
    let context = if needs_all(module) { Context::full(&runtime) } else { Context::custom::<Few>(&runtime) };
    let context = context.map_err(no_room)?;
    context.with(|ctx| {
        let desk = Desk { ctx: &ctx, tools, limits };
        natives::add(&ctx, tools, module).catch(&ctx).map_err(|error| desk.problem(error, Problem::Load))?;
        desk.answer(module, call)
    })
}

/// What every module has. All that the language has besides takes as long to set up again.
type Few = (Eval, RegExpCompiler, RegExp, Json, Promises);

/// Words without which a module cannot mean the rest: its names, and what reaches a name that is put together.
const ALL: [&str; 23] = [
    "Date",
    "Map",
    "Set",
    "Proxy",
    "Weak",
    "Int",
    "Uint",
    "Float",
    "Buffer",
    "View",
    "Atomics",
    "performance",
    "Exception",
    "globalThis",
    "eval",
    "Function",
    "constructor",
    "import(",
    "fs",
    "crypto",
    "Text",
    "structuredClone",
    "process",
];

fn needs_all(module: &Module) -> bool {
    module.files.iter().any(|(_, text)| ALL.iter().any(|word| text.contains(word)) || natives::has_parts(text))
}

/// An interpreter with what is counted of it.
struct Desk<'a, 'js> {
    ctx: &'a Ctx<'js>,
    tools: &'a Rc<Tools>,
    limits: Limits,
}

impl<'js> Desk<'_, 'js> {
    fn answer(&self, module: &Module, call: &Call) -> Result<Option<Said>, Problem> {
        let Some((reflex, handler)) = self.handler(module, call)? else { return Ok(None) };
        let text = seen(module, call).to_string();
        let context = self.run(Problem::Threw, || self.ctx.json_parse(text.as_str()))?;
        for field in call.lazy.iter().filter(|field| sees(module, field)) {
            self.run(Problem::Load, || natives::lazily(self.ctx, &context, field))?;
        }
        let given: Value<'js> =
            self.run(Problem::Threw, || handler.call((rquickjs::function::This(reflex), context)))?;
        let given = self.settled(given)?;
        match call.handler {
            Handler::ToolResult => Ok(Some(Said::Pass)),
            Handler::ToolCall => self.decision(module, &given).map(Some),
        }
    }

    /// The reflex and its handler, if it has one.
    fn handler(&self, module: &Module, call: &Call) -> Result<Option<(Object<'js>, Function<'js>)>, Problem> {
        let promise = self.run(Problem::Load, || Script::import(self.ctx, format!("./{}", module.entry)))?;
        let exports = self.settled_as(promise, Problem::Load)?;
        let exports = exports.into_object().ok_or_else(|| Problem::Load("it exports nothing".into()))?;
        for name in ["default", "reflex"] {
            let export: Value<'js> = self.run(Problem::Load, || exports.get(name))?;
            let Some(reflex) = export.into_object() else { continue };
            let handler: Value<'js> = self.run(Problem::Load, || reflex.get(call.handler.name()))?;
            if handler.is_undefined() || handler.is_null() {
                return Ok(None);
            }
            let wrong = || Problem::Load(format!("its `{}` is no function", call.handler.name()));
            return Ok(Some((reflex, handler.into_function().ok_or_else(wrong)?)));
        }
        Err(Problem::Load("it has no default export that is an object".into()))
    }

    /// What a value comes to when everything that waits has run.
    fn settled(&self, value: Value<'js>) -> Result<Value<'js>, Problem> {
        let thenable = value.as_object().is_some_and(|object| object.contains_key("then").unwrap_or(false));
        if !thenable {
            return Ok(value);
        }
        let promise = match value.clone().into_promise() {
            Some(promise) => promise,
            None => {
                let (promise, resolve, _) = self.run(Problem::Threw, || Promise::new(self.ctx))?;
                self.run(Problem::Threw, || resolve.call::<_, ()>((value,)))?;
                promise
            }
        };
        self.settled_as(promise, Problem::Threw)
    }

    fn settled_as(&self, promise: Promise<'js>, wrap: fn(String) -> Problem) -> Result<Value<'js>, Problem> {
        loop {
            if let Some(result) = promise.result::<Value<'js>>() {
                return result.catch(self.ctx).map_err(|error| self.problem(error, wrap));
            }
            if self.is_out_of_ticks() {
                return Err(Problem::Cut(Limit::Steps));
            }
            if !self.ctx.execute_pending_job() && !self.run(Problem::Threw, || natives::next_timer(self.ctx))? {
                return Err(Problem::Unsettled);
            }
        }
    }

    fn decision(&self, module: &Module, given: &Value<'js>) -> Result<Said, Problem> {
        let Some(object) = given.as_object() else {
            return Err(Problem::NoDecision(given.type_name().to_owned()));
        };
        let action: Value<'js> = self.run(Problem::Threw, || object.get("action"))?;
        let action = action.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default();
        let Some(word) = ["pass", "deny", "ask", "modify"].into_iter().find(|word| *word == action) else {
            return Err(Problem::NoDecision(format!(
                "its action is `{}`",
                action.chars().take(40).collect::<String>()
            )));
        };
        let declared = module.manifest.as_ref().map(|manifest| &manifest.capabilities.decisions);
        if word != "pass" && declared.is_some_and(|words| !words.iter().any(|known| known == word)) {
            return Err(Problem::Undeclared(word));
        }
        if word == "pass" {
            return Ok(Said::Pass);
        }
        let text = self.run(Problem::Threw, || self.ctx.json_stringify(given.clone()))?;
        let text = text.and_then(|text| text.to_string().ok()).unwrap_or_default();
        if text.len() > self.limits.output {
            return Err(Problem::Cut(Limit::Output));
        }
        let fields: Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
        said(word, &fields)
    }

    /// Runs something of the interpreter; what it throws is told as what `wrap` makes of it.
    fn run<T>(&self, wrap: fn(String) -> Problem, work: impl FnOnce() -> rquickjs::Result<T>) -> Result<T, Problem> {
        work().catch(self.ctx).map_err(|error| self.problem(error, wrap))
    }

    fn is_out_of_ticks(&self) -> bool {
        self.tools.ticks.get() > self.limits.ticks
    }

    fn problem(&self, error: CaughtError<'js>, wrap: fn(String) -> Problem) -> Problem {
        if self.is_out_of_ticks() {
            return Problem::Cut(Limit::Steps);
        }
        let text = match &error {
            CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
            CaughtError::Error(error) => error.to_string(),
            // The interpreter throws `null` where it has no room even for the error; scripts throw it hardly ever.
            CaughtError::Value(value) if value.is_null() => return Problem::Cut(Limit::Memory),
            CaughtError::Value(value) => match value.as_string().map(|text| text.to_string()) {
                Some(Ok(text)) => text,
                _ => format!("it threw a value of type {}", value.type_name()),
            },
        };
        match text.as_str() {
            "out of memory" => Problem::Cut(Limit::Memory),
            "Maximum call stack size exceeded" => Problem::Cut(Limit::Stack),
            text => wrap(text.chars().take(300).collect()),
        }
    }
}

fn said(word: &str, fields: &Map<String, serde_json::Value>) -> Result<Said, Problem> {
    let text = |key: &str| fields.get(key).and_then(serde_json::Value::as_str).unwrap_or("").to_owned();
    match word {
        "deny" => Ok(Said::Deny { reason: text("reason") }),
        "ask" => Ok(Said::Ask { reason: text("reason") }),
        _ => match fields.get("args").and_then(serde_json::Value::as_object) {
            Some(args) => Ok(Said::Modify { args: args.clone(), reason: text("reason") }),
            None => Err(Problem::NoDecision("a `modify` without `args`".into())),
        },
    }
}

/// The fields of the context that a module sees: what its manifest says that it reads.
fn seen(module: &Module, call: &Call) -> serde_json::Value {
    let mut context = call.context.clone();
    let Some(fields) = context.as_object_mut() else { return context };
    if !module.options.is_null() {
        fields.insert("options".into(), module.options.clone());
    }
    fields.retain(|key, _| sees(module, key));
    context
}

/// Whether a module is shown this field. Options that its manifest describes are its own.
fn sees(module: &Module, field: &str) -> bool {
    let Some(manifest) = &module.manifest else { return true };
    let Some(reads) = &manifest.capabilities.reads else { return true };
    ["event", "agent", "tool"].contains(&field)
        || reads.iter().any(|read| read == field)
        || (field == "options" && !manifest.options.is_empty())
}
