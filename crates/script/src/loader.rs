//! Where the imports of a module lead: to its own files and to what is built in, nowhere else.

use crate::built_in;
use crate::module::Module;
use reflex_types::Compiled;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module as Script, Result};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// What nearly all modules import.
pub(crate) const CORE: &str = "@agentreflex/core";

/// What stands before the path of a module's own file, so that none can pass for what is built in. An interpreter has the
/// own files of one module only.
const OWN: &str = "reflex:";

/// The same of a module that is part of the program: it has its name in its code.
const OURS: &str = "ours:";

/// The name of the file that a module is entered by.
pub(crate) fn entry(module: &Module) -> String {
    if module.is_ours { format!("{OURS}{}/{}", module.name, module.entry) } else { own(&module.entry) }
}

/// The name of a module's file.
pub(crate) fn own(path: &str) -> String {
    format!("{OWN}{path}")
}

/// The files of the modules of an interpreter.
#[derive(Clone, Default)]
pub(crate) struct Files(Rc<RefCell<Shown>>);

/// Which those are.
#[derive(Default)]
struct Shown {
    modules: Arc<Vec<Module>>,
    /// The only one of them whose files there are.
    only: Option<usize>,
}

impl Files {
    /// From now on the files of these modules are there, or of one of them.
    pub(crate) fn show(&self, modules: &Arc<Vec<Module>>, only: Option<usize>) {
        self.0.replace(Shown { modules: Arc::clone(modules), only });
    }
}

impl Shown {
    fn own(&self) -> Option<&Module> {
        self.modules.get(self.only?)
    }

    fn text(&self, name: &str) -> Option<(&str, &str)> {
        let path = name.strip_prefix(OWN)?;
        let file = self.own()?.files.iter().find(|(known, _)| known == path);
        file.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The code of a file that is part of the program, or was kept.
    fn code(&self, name: &str) -> Option<Compiled> {
        let (module, path) = match name.strip_prefix(OURS) {
            Some(name) => {
                let (module, path) = name.split_once('/')?;
                (self.modules.iter().find(|known| known.is_ours && known.name == module)?, path)
            }
            None => (self.own()?, name.strip_prefix(OWN)?),
        };
        let mut files = module.code.iter().flat_map(|code| code.files);
        files.find(|(known, _)| *known == path).map(|(_, code)| *code)
    }

    fn has(&self, name: &str) -> bool {
        self.text(name).is_some() || self.code(name).is_some()
    }

    /// The name of the file that is meant by a path without its extension, or with that of what it is compiled to.
    fn meant(&self, path: &str) -> Option<String> {
        let compiled = path.strip_suffix(".js").map(|stem| [format!("{stem}.ts"), format!("{stem}.mts")]);
        let compiled = compiled.into_iter().flatten();
        let open = ["", ".js", ".mjs", ".ts", ".mts", ".json", "/index.js", "/index.mjs", "/index.ts"];
        let mut all = open.iter().map(|ending| format!("{path}{ending}")).chain(compiled).map(|path| own(&path));
        all.find(|name| self.has(name))
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
        let shown = self.0.borrow();
        // The entry is named by us, in full.
        if base.is_empty() && shown.has(name) {
            return Ok(name.into());
        }
        let refused = |why: &str| Error::new_resolving_message(base, name, why);
        if !name.starts_with("./") && !name.starts_with("../") {
            return Err(refused("only the module's own files and what is built in can be imported"));
        }
        let base = base.strip_prefix(OWN).ok_or_else(|| refused("what is built in imports no files"))?;
        let path = joined(base, name).ok_or_else(|| refused("it leads out of the module's folder"))?;
        shown.meant(&path).ok_or_else(|| refused("the module has no such file"))
    }
}

impl Loader for Files {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        path: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Script<'js, Declared>> {
        let shown = self.0.borrow();
        if let Some(code) = built_in::code(path).or_else(|| shown.code(path)) {
            return code.load(ctx);
        }
        let file = shown.text(path).ok_or_else(|| Error::new_loading(path))?;
        declared(ctx, file)
    }
}

/// A module's own file, given to the interpreter.
pub(crate) fn declared<'js>(ctx: &Ctx<'js>, (path, text): (&str, &str)) -> Result<Script<'js, Declared>> {
    if path.ends_with(".json") {
        return Script::declare(ctx.clone(), own(path), json_module(text));
    }
    Script::declare(ctx.clone(), own(path), text)
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
