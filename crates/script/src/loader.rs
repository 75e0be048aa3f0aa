//! Where the imports of a module lead: to its own files and to what is built in, nowhere else.

use crate::built_in;
use crate::module::Module;
use reflex_types::Compiled;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module as Script, Result};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// What nearly all modules import.
pub(crate) const CORE: &str = "@agentreflex/core";

/// What stands before the path of a module's own file, so that none can pass for what is built in.
const OWN: &str = "reflex:";

/// The name of a module's file: those of one interpreter are told apart by their place in the chain.
fn own(index: usize, path: &str) -> String {
    format!("{OWN}{index}/{path}")
}

/// The same of a module that is part of the program: it has its name in its code.
const OURS: &str = "ours:";

/// The name of the file that a module is entered by.
pub(crate) fn entry(module: &Module, index: usize) -> String {
    match &module.ours {
        Some(_) => format!("{OURS}{}/{}", module.name, module.entry),
        None => own(index, &module.entry),
    }
}

/// The place in the chain and the path of a file of this name.
fn place(name: &str) -> Option<(usize, &str)> {
    let (index, path) = name.strip_prefix(OWN)?.split_once('/')?;
    Some((index.parse().ok()?, path))
}

/// The files of the modules of an interpreter.
#[derive(Clone)]
pub(crate) struct Files {
    modules: Arc<Vec<Module>>,
    /// The only one of them whose files there are.
    only: Only,
}

/// Which module of a chain is there, where only one is.
pub(crate) type Only = Rc<Cell<Option<usize>>>;

impl Files {
    pub(crate) fn of(modules: &Arc<Vec<Module>>, only: &Only) -> Files {
        Files { modules: Arc::clone(modules), only: Rc::clone(only) }
    }

    fn text(&self, (index, path): (usize, &str)) -> Option<&str> {
        let files = &self.modules.get(index).filter(|_| self.only.get().is_none_or(|only| only == index))?.files;
        files.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
    }

    /// The code of a file that is part of the program.
    fn code(&self, name: &str) -> Option<Compiled> {
        let (module, path) = name.strip_prefix(OURS)?.split_once('/')?;
        let ours = self.modules.iter().filter(|known| known.name == module).find_map(|known| known.ours.as_ref())?;
        ours.code.iter().find(|(known, _)| *known == path).map(|(_, code)| *code)
    }

    /// The file that is meant by a path without its extension, or with that of what it is compiled to.
    fn meant(&self, index: usize, path: &str) -> Option<String> {
        let compiled = path.strip_suffix(".js").map(|stem| [format!("{stem}.ts"), format!("{stem}.mts")]);
        let compiled = compiled.into_iter().flatten();
        let open = ["", ".js", ".mjs", ".ts", ".mts", ".json", "/index.js", "/index.mjs", "/index.ts"];
        let mut all = open.iter().map(|ending| format!("{path}{ending}")).chain(compiled);
        all.find(|path| self.text((index, path)).is_some())
    }
}

impl Resolver for Files {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if let Some(known) = built_in::named(name) {
            return Ok(known.into());
        }
        // The entry is named by us, in full.
        let is_entry = || place(name).is_some_and(|place| self.text(place).is_some()) || self.code(name).is_some();
        if base.is_empty() && is_entry() {
            return Ok(name.into());
        }
        let refused = |why: &str| Error::new_resolving_message(base, name, why);
        if !name.starts_with("./") && !name.starts_with("../") {
            return Err(refused("only the module's own files and what is built in can be imported"));
        }
        let (index, base) = place(base).ok_or_else(|| refused("what is built in imports no files"))?;
        let path = joined(base, name).ok_or_else(|| refused("it leads out of the module's folder"))?;
        self.meant(index, &path).map(|path| own(index, &path)).ok_or_else(|| refused("the module has no such file"))
    }
}

impl Loader for Files {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        path: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Script<'js, Declared>> {
        if let Some(code) = built_in::code(path).or_else(|| self.code(path)) {
            return code.load(ctx);
        }
        let text = place(path).and_then(|place| self.text(place)).ok_or_else(|| Error::new_loading(path))?;
        if path.ends_with(".json") {
            return Script::declare(ctx.clone(), path, json_module(text));
        }
        Script::declare(ctx.clone(), path, text)
    }
}

/// A module whose default export is what stands in a JSON file.
fn json_module(text: &str) -> String {
    format!("export default JSON.parse({});", serde_json::Value::from(text))
}

/// A relative path from the file `base`; `None` if it leaves the folder.
fn joined(base: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
