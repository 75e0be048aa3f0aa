//! What the interpreter is given of ours: functions for the built-in modules, and what scripts expect of every runtime.

use crate::call::Call;
use crate::lent::Lent;
use crate::loader::Files;
use crate::manifest::Capabilities;
use crate::sandbox::Message;
use crate::{built_in, commonjs, digests};
use reflex_engine::shell::{Access, Command, Surroundings, read};
use reflex_tables::Node;
use reflex_types::{Compiled, Needs};
use rquickjs::prelude::Rest;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, TypedArray, Value as Js};
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha384, Sha512};
use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use url::{Url, quirks};

/// Lines of a module that are kept, and letters of each.
const MOST_LINES: usize = 50;
const MOST_LETTERS: usize = 500;

/// Bytes that one of our functions works through count as one of the interpreter's rounds.
const BYTES_A_TICK: usize = 10_000;

/// Turns of the queue that count as one of the interpreter's rounds.
const TURNS_A_TICK: u64 = 200;

/// So many random bytes are given at once.
const MOST_RANDOM: usize = 65_536;

/// A text that is longer is not read as a command.
const MOST_COMMAND: usize = 256 * 1024;

/// What stands beside one interpreter.
pub(crate) struct Tools {
    call: RefCell<Arc<Call>>,
    /// What the module that is asked was granted.
    granted: RefCell<Capabilities>,
    /// How often the interpreter's counter ran out, with what our own functions did, and how often it may.
    pub(crate) ticks: Cell<u64>,
    most: Cell<u64>,
    /// Turns of the queue since the last of them was charged.
    turns: Cell<u64>,
    pub(crate) printed: RefCell<Vec<String>>,
    /// Who is asked for what costs something; nobody as long as there is no call.
    pub(crate) asks: RefCell<Option<Box<Asks>>>,
    /// What the next random number comes from; zero before the first.
    chance: Cell<u64>,
}

/// Who knows fields of the context that cost something.
pub(crate) enum Asks {
    /// Another thread, which waits.
    Thread(Sender<Message>),
    /// Whoever asks this module.
    Here(Lent),
}

impl Tools {
    pub(crate) fn new(most: u64) -> Tools {
        Tools {
            call: RefCell::new(Arc::new(Call::tool_call(Value::Null))),
            granted: RefCell::default(),
            ticks: Cell::new(0),
            most: Cell::new(most),
            turns: Cell::new(0),
            printed: RefCell::default(),
            asks: RefCell::default(),
            chance: Cell::new(0),
        }
    }

    /// Another call.
    pub(crate) fn begin(&self, call: &Arc<Call>, asks: Asks, most: u64) {
        self.call.replace(Arc::clone(call));
        self.asks.replace(Some(Box::new(asks)));
        self.most.set(most);
    }

    /// Another module.
    pub(crate) fn next(&self, granted: Capabilities) {
        self.granted.replace(granted);
        self.ticks.set(0);
        self.turns.set(0);
    }

    fn call(&self) -> Arc<Call> {
        Arc::clone(&self.call.borrow())
    }

    pub(crate) fn is_out_of_ticks(&self) -> bool {
        self.ticks.get() > self.most.get()
    }

    pub(crate) fn charge(&self, ticks: usize) {
        self.ticks.set(self.ticks.get().saturating_add(ticks as u64));
    }

    /// Charges the work of one of our own functions before it begins. The interpreter looks at its counter once in ten
    /// thousand steps: who has nothing left is refused here and now.
    fn afford(&self, ctx: &Ctx<'_>, bytes: usize) -> Result<()> {
        self.charge_bytes(bytes);
        if self.is_out_of_ticks() { Err(Exception::throw_message(ctx, "there are no steps left")) } else { Ok(()) }
    }

    /// A turn of the queue: the interpreter counts what is done in it, and not what it takes to come and go.
    pub(crate) fn turn(&self, turns: u64) {
        let turns = self.turns.get() + turns;
        self.charge(usize::try_from(turns / TURNS_A_TICK).unwrap_or(usize::MAX));
        self.turns.set(turns % TURNS_A_TICK);
    }

    fn charge_bytes(&self, bytes: usize) {
        self.charge(bytes / BYTES_A_TICK);
    }

    /// The folder of the call, for who may see it.
    fn cwd(&self) -> String {
        let is_seen = self.granted.borrow().reads.as_ref().is_none_or(|reads| reads.iter().any(|read| read == "cwd"));
        let call = self.call();
        let cwd = call.context.get("cwd").and_then(Value::as_str).filter(|_| is_seen);
        cwd.unwrap_or("/").to_owned()
    }

    /// From zero to below one. The interpreter's own numbers begin with the moment in which it was made, which for one that
    /// is part of the program is always the same.
    fn random(&self) -> f64 {
        let mut chance = self.chance.get();
        if chance == 0 {
            chance = RandomState::new().build_hasher().finish() | 1;
        }
        // Marsaglia's xorshift, of which the upper 53 bits make a number.
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        self.chance.set(chance);
        (chance >> 11) as f64 / (1u64 << 53) as f64
    }

    fn print(&self, words: &[String]) {
        let mut printed = self.printed.borrow_mut();
        if printed.len() < MOST_LINES {
            let line = words.join(" ");
            printed.push(line.chars().take(MOST_LETTERS).collect());
        }
    }

    /// A field's JSON: worked out once for all modules of a call.
    fn wanted(&self, field: &str) -> Arc<str> {
        let text = self.call().worked_out(field, || match self.asks.borrow().as_deref() {
            None => "null".into(),
            Some(Asks::Here(lent)) => lent.ask(field).to_string(),
            Some(Asks::Thread(asks)) => {
                let (send, receive) = channel();
                let asked = asks.send(Message::Wanted(field.to_owned(), send));
                asked.ok().and_then(|()| receive.recv().ok()).unwrap_or_else(|| "null".into())
            }
        });
        self.charge_bytes(text.len());
        text
    }
}

/// What a context is given of what its modules name.
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

/// Gives a context our functions.
pub(crate) fn add(ctx: &Ctx<'_>, (tools, files): (&Rc<Tools>, &Files), needs: Needs) -> Result<()> {
    let globals = ctx.globals();
    if needs.console {
        globals.set("console", console(ctx, tools)?)?;
    }
    globals.set("__reflex", own(ctx, tools, needs)?)?;
    complete(ctx, files, needs)
}

/// The same of what an interpreter can be given later, too.
pub(crate) fn complete(ctx: &Ctx<'_>, files: &Files, needs: Needs) -> Result<()> {
    if needs.common {
        commonjs::add(ctx, &ctx.globals().get("__reflex")?, files)?;
    }
    parts(needs).try_for_each(|part| {
        let (_, ended) = part.load(ctx)?.eval()?;
        ended.result::<()>().unwrap_or(Ok(()))
    })
}

fn console<'js>(ctx: &Ctx<'js>, tools: &Rc<Tools>) -> Result<Object<'js>> {
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
    // Nothing is indented, counted or timed.
    let nothing = Function::new(ctx.clone(), || {})?;
    for name in ["groupEnd", "groupCollapsed", "count", "time", "timeLog", "timeEnd"] {
        console.set(name, nothing.clone())?;
    }
    Ok(console)
}

/// A value as a person reads it: texts as they are, errors by their message, other objects as JSON.
fn shown<'js>(ctx: &Ctx<'js>, value: &Js<'js>) -> Result<String> {
    if value.is_object() && !value.is_function() && !value.is_error() {
        match ctx.json_stringify(value.clone()) {
            Ok(Some(text)) => return text.to_string(),
            Ok(None) => return Ok("undefined".into()),
            // To print something that goes in circles is no mistake of the module.
            Err(_) => drop(ctx.catch()),
        }
        return Ok("[object]".into());
    }
    if value.is_symbol() {
        return Ok("[symbol]".into());
    }
    <Coerced<String> as rquickjs::FromJs>::from_js(ctx, value.clone()).map(|text| text.0)
}

fn own<'js>(ctx: &Ctx<'js>, tools: &Rc<Tools>, needs: Needs) -> Result<Object<'js>> {
    let own = Object::new(ctx.clone())?;
    let kept = Rc::clone(tools);
    own.set("home", Function::new(ctx.clone(), move || kept.call().home.clone())?)?;
    let kept = Rc::clone(tools);
    let math: Object<'js> = ctx.globals().get("Math")?;
    math.set("random", Function::new(ctx.clone(), move || kept.random())?)?;
    if needs.commands {
        let kept = Rc::clone(tools);
        let parse = move |ctx: Ctx<'js>, text: String| -> Result<String> {
            // Reading a hundred bytes takes about as long as a round of the interpreter.
            kept.charge(1);
            kept.afford(&ctx, text.len().saturating_mul(BYTES_A_TICK / 100))?;
            let call = kept.call();
            let text = text.get(..MOST_COMMAND).unwrap_or(&text);
            // Several modules ask about one command, and its reading is the same for each.
            Ok(call.worked_out(&format!("command {text}"), || commands(text, call.tables).to_string()).to_string())
        };
        own.set("parse", Function::new(ctx.clone(), parse)?)?;
    }
    let kept = Rc::clone(tools);
    own.set("want", Function::new(ctx.clone(), move |field: String| kept.wanted(&field).to_string())?)?;
    if needs.url {
        let kept = Rc::clone(tools);
        let parse = move |ctx: Ctx<'js>, text: String, base: String| -> Result<String> {
            kept.afford(&ctx, (text.len() + base.len()).saturating_mul(4))?;
            Ok(url(&text, &base).to_string())
        };
        own.set("url", Function::new(ctx.clone(), parse)?)?;
        let kept = Rc::clone(tools);
        let change = move |ctx: Ctx<'js>, text: String, part: String, value: String| -> Result<String> {
            kept.afford(&ctx, (text.len() + value.len()).saturating_mul(4))?;
            Ok(changed(&text, &part, &value).to_string())
        };
        own.set("changeUrl", Function::new(ctx.clone(), change)?)?;
    }
    if needs.cwd {
        let kept = Rc::clone(tools);
        own.set("cwd", Function::new(ctx.clone(), move || kept.cwd())?)?;
    }
    if needs.web {
        own.set("random", Function::new(ctx.clone(), randomly(tools))?)?;
        own.set("digest", Function::new(ctx.clone(), digest(tools))?)?;
    }
    if needs.process {
        let kept = Rc::clone(tools);
        let print = move |ctx: Ctx<'js>, text: String| -> Result<()> {
            kept.afford(&ctx, text.len())?;
            kept.print(&[text]);
            Ok(())
        };
        own.set("print", Function::new(ctx.clone(), print)?)?;
    }
    if needs.files || needs.process {
        let kept = Rc::clone(tools);
        let machine = move |ctx: Ctx<'js>, deed: String, name: String, bytes: Js<'js>| {
            on_machine(&kept, &ctx, (&deed, &name), bytes)
        };
        own.set("machine", Function::new(ctx.clone(), machine)?)?;
    }
    Ok(own)
}

fn randomly<'js>(tools: &Rc<Tools>) -> impl Fn(Ctx<'js>, usize) -> Result<TypedArray<'js, u8>> + use<'js> {
    let kept = Rc::clone(tools);
    move |ctx: Ctx<'js>, bytes: usize| {
        if bytes > MOST_RANDOM {
            return Err(Exception::throw_range(&ctx, "more than 65536 random bytes at once"));
        }
        kept.afford(&ctx, bytes.saturating_mul(4))?;
        TypedArray::new(ctx, unforeseen(bytes))
    }
}

fn digest<'js>(tools: &Rc<Tools>) -> impl Fn(Ctx<'js>, String, Vec<u8>) -> Result<TypedArray<'js, u8>> + use<'js> {
    let kept = Rc::clone(tools);
    move |ctx: Ctx<'js>, name: String, bytes: Vec<u8>| {
        kept.afford(&ctx, bytes.len().saturating_mul(4))?;
        let digest = match name.to_ascii_uppercase().as_str() {
            "SHA-256" | "SHA256" => Sha256::digest(&bytes).to_vec(),
            "SHA-384" | "SHA384" => Sha384::digest(&bytes).to_vec(),
            "SHA-512" | "SHA512" => Sha512::digest(&bytes).to_vec(),
            "SHA-1" | "SHA1" => digests::sha1(&bytes).to_vec(),
            "MD5" => digests::md5(&bytes).to_vec(),
            _ => return Err(Exception::throw_type(&ctx, &format!("no digest is called `{name}`"))),
        };
        TypedArray::new(ctx, digest)
    }
}

/// Bytes that nobody can foresee: made of the keys that the system gives to every process.
fn unforeseen(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 32);
    while bytes.len() < length {
        let mut digest = Sha256::new();
        for _ in 0..4 {
            digest.update(RandomState::new().hash_one(bytes.len()).to_le_bytes());
            digest.update(RandomState::new().hash_one(&bytes).to_le_bytes());
        }
        bytes.extend(digest.finalize());
    }
    bytes.truncate(length);
    bytes
}

/// The parts of a URL; nothing where it is none.
fn url(text: &str, base: &str) -> Value {
    let parsed = match base {
        "" => Url::parse(text),
        base => Url::parse(base).and_then(|base| base.join(text)),
    };
    parsed.map_or(Value::Null, |url| parts_of(&url))
}

/// The parts of a URL of which one is another now; what cannot be, changes nothing.
fn changed(text: &str, part: &str, value: &str) -> Value {
    let Ok(mut url) = Url::parse(text) else { return Value::Null };
    let _ = match part {
        "protocol" => quirks::set_protocol(&mut url, value),
        "username" => quirks::set_username(&mut url, value),
        "password" => quirks::set_password(&mut url, value),
        "host" => quirks::set_host(&mut url, value),
        "hostname" => quirks::set_hostname(&mut url, value),
        "port" => quirks::set_port(&mut url, value),
        "pathname" => {
            quirks::set_pathname(&mut url, value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, value);
            Ok(())
        }
        _ => Err(()),
    };
    parts_of(&url)
}

fn parts_of(url: &Url) -> Value {
    let host = url.host_str().unwrap_or("");
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let with = |sign: &str, part: Option<&str>| {
        part.filter(|part| !part.is_empty()).map_or(String::new(), |part| format!("{sign}{part}"))
    };
    json!({
        "href": url.as_str(), "protocol": format!("{}:", url.scheme()), "username": url.username(),
        "password": url.password().unwrap_or(""), "hostname": host, "port": port,
        "host": if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") },
        "pathname": url.path(), "search": with("?", url.query()), "hash": with("#", url.fragment()),
        "origin": url.origin().ascii_serialization(),
    })
}

/// The host of a URL of http or https.
pub fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    url.host_str().map(str::to_owned)
}

/// What a module asks of the machine; only what was granted is passed on.
fn on_machine<'js>(tools: &Tools, ctx: &Ctx<'js>, (deed, name): (&str, &str), given: Js<'js>) -> Result<Js<'js>> {
    let (call, granted) = (tools.call(), tools.granted.borrow());
    let machine = &call.machine;
    tools.afford(ctx, 0)?;
    let told = |problem: String| Exception::throw_message(ctx, &problem);
    let text = |text: String| rquickjs::IntoJs::into_js(text, ctx);
    match deed {
        "read" => {
            let bytes = machine.read(name, &granted.files).map_err(told)?;
            tools.charge_bytes(bytes.len());
            Ok(TypedArray::new(ctx.clone(), bytes)?.into_value())
        }
        "write" => {
            let bytes = <Vec<u8> as rquickjs::FromJs>::from_js(ctx, given)?;
            tools.afford(ctx, bytes.len().saturating_mul(4))?;
            machine.write(name, &bytes, &granted.writes).map_err(told)?;
            Ok(Js::new_undefined(ctx.clone()))
        }
        "list" => text(json!(machine.list(name, &granted.files).map_err(told)?).to_string()),
        "kind" => {
            let looked: Vec<String> = granted.files.iter().chain(&granted.writes).cloned().collect();
            text(machine.kind(name, &looked).unwrap_or("").to_owned())
        }
        "variable" => {
            let value = granted.environment.iter().any(|known| known == name).then(|| machine.variable(name)).flatten();
            value.map_or_else(|| Ok(Js::new_undefined(ctx.clone())), text)
        }
        "variables" => text(json!(granted.environment).to_string()),
        "fetch" => {
            let request = given.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default();
            let request: Value = serde_json::from_str(&request).unwrap_or_default();
            let of = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            let answer = machine.fetch(name, (&of("method"), &of("body")), &granted.network).map_err(told)?;
            tools.charge_bytes(answer.1.len());
            text(json!({"status": answer.0, "body": answer.1}).to_string())
        }
        _ => Err(told(format!("nothing is called `{deed}`"))),
    }
}

/// Gives an object a field that is asked for when it is looked at.
pub(crate) fn lazily<'js>(ctx: &Ctx<'js>, context: &Js<'js>, field: &str) -> Result<()> {
    let own: Object<'js> = ctx.globals().get("__reflex")?;
    let known: Option<Function<'js>> = own.get("lazily")?;
    let define = match known {
        Some(define) => define,
        None => {
            let define: Function<'js> = ctx.eval(include_str!("js/lazy.js"))?;
            own.set("lazily", define.clone())?;
            define
        }
    };
    define.call((context.clone(), field))
}

/// Runs the timer that is due first; gives whether there was one. Time does not pass for modules.
pub(crate) fn next_timer(ctx: &Ctx<'_>) -> Result<bool> {
    let own: Object<'_> = ctx.globals().get("__reflex")?;
    match own.get::<_, Option<Function<'_>>>("timer")? {
        Some(timer) => timer.call(()),
        None => Ok(false),
    }
}

/// The commands of a text, each as its words and its own text: first those that stand in it, then those that they run.
fn commands(text: &str, tables: Node<'static>) -> Value {
    let no_alias = |_: &str, _: &str| None;
    let surroundings = Surroundings {
        programs: tables.get("programs"),
        variable: &|_| None,
        alias: &no_alias,
        parameters: Vec::new(),
    };
    let reading = read(text, &surroundings);
    let own = |command: &&Command| command.parent.is_none() && command.origin.derivation.is_none();
    let (own, inner): (Vec<&Command>, Vec<&Command>) = reading.commands.iter().partition(own);
    own.into_iter().chain(inner).map(|command| as_words(text, command)).collect()
}

fn as_words(text: &str, command: &Command) -> Value {
    let mut argv: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
    for redirection in &command.redirects {
        let sign = match redirection.access {
            Access::Read => "<",
            Access::Overwrite => ">",
            Access::Append => ">>",
        };
        argv.extend([sign.to_owned(), redirection.target.shown()]);
    }
    let span = command.origin.span;
    let raw = text.get(span.start as usize..span.end as usize).filter(|_| command.origin.derivation.is_none());
    let raw = raw.map_or_else(|| argv.join(" "), |raw| raw.trim().to_owned());
    json!({"argv": argv, "raw": raw})
}
