//! One module in an interpreter: loads and runs it, and extracts its decision. Reflex's own modules run one after the
//! other in a shared interpreter; all other modules get a fresh one.

use crate::imports::loader::{self, Files};
use crate::model::answer::{Limit, ModuleDecision, Problem, Report};
use crate::model::call::{Call, Handler};
use crate::model::limits::Limits;
use crate::model::module::Module;
use crate::natives;
use crate::natives::tools::{Asks, Tools};
use crate::schema::READS;
use reflex_types::{Code, Needs, written};
use rquickjs::allocator::RustAllocator;
use rquickjs::context::intrinsic::{Eval, Json, Promise as Promises, RegExp, RegExpCompiler};
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Function, Module as Script, Object, Promise, Runtime, Value, qjs,
};
use serde_json::Map;
use std::cell::Cell;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

/// An interpreter with its memory. It is created without a call; [`begin`](Self::begin) sets one.
pub(crate) struct Interpreter {
    /// The engine; `None` only after drop.
    engine: Option<(Runtime, Context)>,
    tools: Rc<Tools>,
    files: Files,
    limits: Cell<Limits>,
    /// Whether a module has run in it.
    is_used: Cell<bool>,
}

/// The intrinsics of every interpreter. Adding all others would double its setup time.
type Few = (Eval, RegExpCompiler, RegExp, Json, Promises);

/// Bytes of new objects that trigger the cycle collector. A call allocates less.
const ROUND: usize = 4 << 20;

/// Bytes that an interpreter requires for itself, before it runs a module.
const OWN: usize = 1 << 20;

/// Turns of the job queue that a timer counts as.
const TIMER: u64 = 10;

impl Interpreter {
    /// Creates an interpreter with the features that its modules need.
    ///
    /// # Errors
    /// Returns an error if the memory does not suffice.
    pub(crate) fn new(needs: Needs, limits: Limits) -> Result<Interpreter, Problem> {
        let no_room = |_| Problem::Cut(Limit::Memory);
        let (tools, files) = (Rc::new(Tools::new(limits.ticks)), Files::default());
        let runtime = Runtime::new_with_alloc(RustAllocator).map_err(no_room)?;
        runtime.set_gc_threshold(ROUND.min(limits.memory / 2));
        let counted = Rc::clone(&tools);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counted.charge(1);
            counted.is_out_of_ticks()
        })));
        runtime.set_loader(files.clone(), files.clone());
        let context = if needs.all { Context::full(&runtime) } else { Context::custom::<Few>(&runtime) };
        let context = context.map_err(no_room)?;
        let engine = Some((runtime, context.clone()));
        let new = Interpreter { engine, tools, files, limits: Cell::new(limits), is_used: Cell::default() };
        context.with(|ctx| {
            let added = natives::add(&ctx, (&new.tools, &new.files), needs).catch(&ctx);
            added.map_err(|error| new.desk(&ctx).problem(error, Problem::Load))
        })?;
        Ok(new)
    }

    /// Sets the call, and the modules of the chain or the only one that it is for. Must be called on the thread that
    /// runs them.
    pub(crate) fn begin(
        &self,
        (modules, only): (&Arc<Vec<Module>>, Option<usize>),
        (call, asks): (&Arc<Call>, Asks),
        limits: Limits,
    ) {
        self.files.show(modules, only);
        self.tools.begin(call, asks, limits.ticks);
        self.limits.set(limits);
        if let Some((runtime, context)) = &self.engine {
            runtime.set_gc_threshold(ROUND.min(limits.memory / 2));
            context.with(|ctx| set_stack_base(&ctx));
            runtime.set_max_stack_size(limits.stack);
        }
    }

    /// Runs a module. Returns its decision; `None` if it has no such handler.
    pub(crate) fn ask(&self, module: &Module, call: &Call) -> Result<Option<ModuleDecision>, Problem> {
        let Some((runtime, context)) = &self.engine else { return Ok(None) };
        // Computing the usage walks the heap, so a new interpreter is not measured.
        let used = match self.is_used.replace(true) {
            true => usize::try_from(runtime.memory_usage().malloc_size).unwrap_or_default(),
            false => OWN,
        };
        runtime.set_memory_limit(used.saturating_add(self.limits.get().memory));
        self.tools.next(module.granted.clone());
        context.with(|ctx| self.desk(&ctx).answer(module, call))
    }

    /// Runs a module whose lazy fields are computed by the caller.
    pub(crate) fn ask_here(
        &self,
        module: &Module,
        call: &Call,
        lazily: &dyn Fn(&str) -> serde_json::Value,
    ) -> Result<Option<ModuleDecision>, Problem> {
        match self.tools.asks.borrow().as_deref() {
            Some(Asks::Here(lent)) => lent.during(lazily, || self.ask(module, call)),
            Some(Asks::Thread(_)) | None => self.ask(module, call),
        }
    }

    /// Returns the bytecode of all files of a module that has just answered; `None` if a file cannot be replaced by
    /// bytecode.
    pub(crate) fn code(&self, module: &Module) -> Option<Vec<u8>> {
        let (_, context) = self.engine.as_ref()?;
        if !module.files.iter().all(|(path, text)| loader::is_code((path, text))) {
            return None;
        }
        let code = |(path, text): &'_ (String, String)| {
            context.with(|ctx| loader::declared(&ctx, (path, text)).and_then(|module| written(&module))).ok()
        };
        let files: Option<Vec<_>> =
            module.files.iter().map(|file| code(file).map(|code| (file.0.as_str(), code))).collect();
        Some(Code::packed(&files?, module.needs()))
    }

    /// Moves the counters, output and missed requests of the last module into its report.
    pub(crate) fn report(&self, report: &mut Report) {
        report.ticks = self.tools.ticks.get();
        report.printed = self.tools.printed.take();
        report.missed = self.tools.missed.take();
    }

    /// Returns whether the last module left no pending jobs.
    pub(crate) fn is_idle(&self) -> bool {
        self.engine.as_ref().is_some_and(|(runtime, _)| !runtime.is_job_pending())
    }

    fn desk<'a, 'js>(&'a self, ctx: &'a Ctx<'js>) -> Desk<'a, 'js> {
        Desk { ctx, tools: &self.tools, limits: self.limits.get() }
    }
}

/// Sets the base of the interpreter's stack to this thread's current position; its stack limit counts from here.
#[expect(unsafe_code, reason = "the safe interface lacks this function")]
fn set_stack_base(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive and has no other user.
    unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        let Some((runtime, context)) = self.engine.take() else { return };
        if self.limits.get().leave {
            mem::forget(context);
            mem::forget(runtime);
        }
    }
}

/// Returns whether a module is run for a call: its manifest declares the event, and it has not decided before.
pub(crate) fn is_asked(module: &Module, index: usize, call: &Call) -> bool {
    let listens = |events: &[String]| events.iter().any(|event| event == call.handler.name());
    !call.spoke.contains(&index) && module.manifest.as_ref().is_none_or(|manifest| listens(&manifest.events))
}

/// Paths of exports that may hold the reflex. CommonJS bundles have all their exports in the default export.
const EXPORTS: [&[&str]; 4] = [&["default"], &["default", "default"], &["reflex"], &["default", "reflex"]];

/// A context with its counters and limits.
struct Desk<'a, 'js> {
    ctx: &'a Ctx<'js>,
    tools: &'a Rc<Tools>,
    limits: Limits,
}

impl<'js> Desk<'_, 'js> {
    fn answer(&self, module: &Module, call: &Call) -> Result<Option<ModuleDecision>, Problem> {
        let Some((reflex, handler)) = self.handler(module, call)? else { return Ok(None) };
        let text = seen(module, call);
        let context = self.run(Problem::Threw, || self.ctx.json_parse(text.as_str()))?;
        for field in call.lazy.iter().filter(|field| module.sees(field)) {
            self.run(Problem::Load, || natives::lazily(self.ctx, &context, field))?;
        }
        // Reflex's own modules are known to read no field that they do not declare.
        for field in READS.iter().filter(|field| !module.is_ours && !module.sees(field)) {
            self.run(Problem::Load, || natives::hide(self.ctx, &context, (self.tools, field)))?;
        }
        let result: Value<'js> =
            self.run(Problem::Threw, || handler.call((rquickjs::function::This(reflex), context)))?;
        let result = self.settled(result)?;
        match call.handler {
            Handler::ToolResult => Ok(Some(ModuleDecision::Pass)),
            Handler::ToolCall => self.decision(module, &result).map(Some),
        }
    }

    /// Returns the reflex and its handler, if it has one.
    fn handler(&self, module: &Module, call: &Call) -> Result<Option<(Object<'js>, Function<'js>)>, Problem> {
        let promise = self.run(Problem::Load, || Script::import(self.ctx, loader::entry(module)))?;
        let exports = self.settled_as(promise, Problem::Load)?;
        let exports = exports.into_object().ok_or_else(|| Problem::Load("it exports nothing".into()))?;
        let mut is_object = false;
        for names in EXPORTS {
            let Some(reflex) = self.export(&exports, names)? else { continue };
            is_object = true;
            let part = |handler: Handler| -> Result<Option<Value<'js>>, Problem> {
                let value: Value<'js> = self.run(Problem::Load, || reflex.get(handler.name()))?;
                Ok(Some(value).filter(|value| !value.is_undefined() && !value.is_null()))
            };
            if let Some(handler) = part(call.handler)? {
                let wrong = || Problem::Load(format!("its `{}` is not a function", call.handler.name()));
                return Ok(Some((reflex.clone(), handler.into_function().ok_or_else(wrong)?)));
            }
            if part(call.handler.other())?.is_some() {
                return Ok(None);
            }
        }
        Err(Problem::Load(match is_object {
            true => "what it exports has neither `onToolCall` nor `onToolResult`".into(),
            false => "it has no default export that is an object".into(),
        }))
    }

    /// Returns the object at this path of property names, if all of them are objects.
    fn export(&self, exports: &Object<'js>, names: &[&str]) -> Result<Option<Object<'js>>, Problem> {
        let mut object = exports.clone();
        for name in names {
            let inner: Value<'js> = self.run(Problem::Load, || object.get(*name))?;
            let Some(inner) = inner.into_object() else { return Ok(None) };
            object = inner;
        }
        Ok(Some(object))
    }

    /// Runs pending jobs and timers until a value is settled, and returns the result.
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
            if self.tools.is_out_of_ticks() {
                return Err(Problem::Cut(Limit::Steps));
            }
            if self.ctx.execute_pending_job() {
                self.tools.turn(1);
            } else if self.run(Problem::Threw, || natives::next_timer(self.ctx))? {
                self.tools.turn(TIMER);
            } else {
                return Err(Problem::Unsettled);
            }
        }
    }

    fn decision(&self, module: &Module, value: &Value<'js>) -> Result<ModuleDecision, Problem> {
        let Some(object) = value.as_object() else {
            return Err(Problem::NoDecision(value.type_name().to_owned()));
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
            return Ok(ModuleDecision::Pass);
        }
        let text = self.run(Problem::Threw, || self.ctx.json_stringify(value.clone()))?;
        let text = text.and_then(|text| text.to_string().ok()).unwrap_or_default();
        if text.len() > self.limits.output {
            return Err(Problem::Cut(Limit::Output));
        }
        let fields: Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap_or_default();
        decision_from(word, &fields)
    }

    /// Runs an operation of the interpreter; an exception becomes the problem that `wrap` makes of its message.
    fn run<T>(&self, wrap: fn(String) -> Problem, work: impl FnOnce() -> rquickjs::Result<T>) -> Result<T, Problem> {
        work().catch(self.ctx).map_err(|error| self.problem(error, wrap))
    }

    fn problem(&self, error: CaughtError<'js>, wrap: fn(String) -> Problem) -> Problem {
        if self.tools.is_out_of_ticks() {
            return Problem::Cut(Limit::Steps);
        }
        let text = match &error {
            CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
            CaughtError::Error(error) => error.to_string(),
            // The interpreter throws `null` if it has no memory even for the error object; scripts rarely do so.
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

fn decision_from(word: &str, fields: &Map<String, serde_json::Value>) -> Result<ModuleDecision, Problem> {
    let text = |key: &str| fields.get(key).and_then(serde_json::Value::as_str).unwrap_or("").to_owned();
    match word {
        "deny" => Ok(ModuleDecision::Deny { reason: text("reason") }),
        "ask" => Ok(ModuleDecision::Ask { reason: text("reason") }),
        _ => match fields.get("args").and_then(serde_json::Value::as_object) {
            Some(args) => Ok(ModuleDecision::Modify { args: args.clone(), reason: text("reason") }),
            None => Err(Problem::NoDecision("a `modify` without `args`".into())),
        },
    }
}

/// Returns the fields of the context that a module sees, as JSON: those that its manifest declares in `reads`.
fn seen(module: &Module, call: &Call) -> String {
    let Some(fields) = call.context.as_object() else { return call.context.to_string() };
    let mut text = String::from("{");
    let mut put = |key: &str, value: &serde_json::Value| {
        let comma = if text.len() > 1 { "," } else { "" };
        text.push_str(&format!("{comma}{}:{value}", serde_json::Value::from(key)));
    };
    let has_options = !module.options.is_null();
    for (key, value) in fields.iter().filter(|(key, _)| module.sees(key)) {
        if !(has_options && key == "options") {
            put(key, value);
        }
    }
    if has_options && module.sees("options") {
        put("options", &module.options);
    }
    text.push('}');
    text
}
