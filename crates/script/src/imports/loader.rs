//! The files of a module as the interpreter finds them when it imports.

use super::commonjs::REQUIRED;
use super::{built_in, commonjs};
use crate::model::module::Module;
use reflex_types::Compiled;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module as Script, Object, Result as JsResult};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// What stands before the path of a module's own file, so that none can pass for what is built in. An interpreter has the
/// own files of one module only.
const OWN: &str = "reflex:";

/// A file `node_modules/NAME/…` of this name holds, as a JSON text, the path of the file that `NAME` means.
pub const ENTRY: &str = ".entry.json";

/// What modules are written against, and the same with the functions about packs.
const CORE: &str = "@agentreflex/core";

const PACKS: &str = "@agentreflex/core/packs";

/// Whether a text names one of those, or may, as it takes all there is.
fn packs(text: &str) -> bool {
    ["parsePackManifest", "interpolate", "referencedSecrets", "* as ", "*as "].iter().any(|name| text.contains(name))
}

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

impl Files {
    /// The text of a module's file of this full name.
    pub(crate) fn named(&self, name: &str) -> Option<String> {
        self.0.borrow().text(name).map(|(_, text)| text.to_owned())
    }

    /// The full name of what a file requires; nobody says which file for what is asked of the whole module.
    pub(crate) fn required(&self, base: &str, name: &str) -> Result<String, String> {
        let shown = self.0.borrow();
        let base = if base.starts_with(OWN) {
            base.to_owned()
        } else {
            let path = base.strip_prefix("file://").unwrap_or(base).strip_prefix(SHOWN);
            own(path.unwrap_or(shown.own().map_or("", |module| &module.entry)))
        };
        shown.found(&base, name).map_err(str::to_owned)
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
        let of = |stem: &str, ends: &[&str]| ends.iter().map(|end| format!("{stem}{end}")).collect::<Vec<_>>();
        let compiled = [(".js", [".ts", ".mts"]), (".mjs", [".mts", ".ts"]), (".cjs", [".cts", ".ts"])];
        let compiled = compiled.iter().filter_map(|(end, ends)| Some(of(path.strip_suffix(end)?, ends)));
        let names = of(path, &OPEN).into_iter().chain(compiled.flatten());
        names.map(|path| own(path.trim_start_matches('/'))).find(|name| self.has(name))
    }

    /// The full name of the file that the name of an installed package means.
    fn installed(&self, name: &str) -> Option<String> {
        let (_, path) = self.text(&own(&format!("node_modules/{name}/{ENTRY}")))?;
        serde_json::from_str::<String>(path).ok().map(|path| own(&path))
    }

    /// The full name of what is meant by a name in a file.
    fn found(&self, base: &str, name: &str) -> Result<String, &'static str> {
        if let Some(known) = built_in::named(name) {
            let is_wanted =
                name == CORE && base.starts_with(OWN) && self.text(base).is_some_and(|(_, text)| packs(text));
            return Ok(if is_wanted { PACKS } else { known }.into());
        }
        // The entry is named by us, in full.
        if (base.is_empty() && self.has(name)) || name == REQUIRED {
            return Ok(name.into());
        }
        if let Some(path) = self.installed(name) {
            return Ok(path);
        }
        if name != "." && name != ".." && !name.starts_with("./") && !name.starts_with("../") {
            let other = "only the module's own files and what is built in can be imported; bundle the rest into it";
            return Err(built_in::absent(name).unwrap_or(other));
        }
        let base = base.strip_prefix(OWN).ok_or("what is built in imports no files")?;
        let path = joined(base, name).ok_or("it leads out of the module's folder")?;
        self.meant(&path).ok_or("the module has no such file")
    }
}

impl Resolver for Files {
    fn resolve<'js>(
        &mut self,
        _ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> JsResult<String> {
        self.0.borrow().found(base, name).map_err(|why| Error::new_resolving_message(base, name, why))
    }
}

impl Loader for Files {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        path: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> JsResult<Script<'js, Declared>> {
        let shown = self.0.borrow();
        if let Some(code) = built_in::code(path).or_else(|| shown.code(path)) {
            return code.load(ctx);
        }
        if path == REQUIRED {
            let files = shown.own().map(|module| module.files.as_slice()).unwrap_or_default();
            return Script::declare(ctx.clone(), path, commonjs::required(files.iter().map(|(_, text)| text.as_str())));
        }
        let (file, text) = shown.text(path).ok_or_else(|| Error::new_loading(path))?;
        if path.ends_with(".json") {
            return declared(ctx, (file, text));
        }
        if let Some(function) = commonjs::function(ctx, path, text) {
            // It is read once: whoever asks for it first finds it there.
            ctx.globals().get::<_, Object<'js>>("__reflex")?.set(format!("code {path}"), function)?;
            let is_entry = shown.own().is_some_and(|module| module.entry == file);
            return Script::declare(ctx.clone(), path, commonjs::as_module(path, text, is_entry));
        }
        if commonjs::requires(text) {
            // What it imports at its end is there before it begins.
            return placed(declared(ctx, (file, &format!("{text}\nimport '{REQUIRED}';")))?, (file, text));
        }
        placed(declared(ctx, (file, text))?, (file, text))
    }
}

/// Where the files of a module seem to lie: where they really do is none of its business.
const SHOWN: &str = "/reflex/";

/// What may be left out at the end of a path.
const OPEN: [&str; 12] =
    ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.mjs", "/index.cjs", "/index.ts"];

/// The same file, which knows where it lies if it asks.
fn placed<'js>(script: Script<'js, Declared>, (path, text): (&str, &str)) -> JsResult<Script<'js, Declared>> {
    if text.contains(META) {
        script.meta()?.set("url", format!("file://{SHOWN}{path}"))?;
    }
    Ok(script)
}

/// By what a module asks where it lies.
const META: &str = "import.meta";

/// Whether all that a file is goes into its code.
pub(crate) fn is_code((path, text): (&str, &str)) -> bool {
    path.ends_with(".json") || !(commonjs::names(text) || text.contains(META))
}

/// A module's own file, given to the interpreter.
pub(crate) fn declared<'js>(ctx: &Ctx<'js>, (path, text): (&str, &str)) -> JsResult<Script<'js, Declared>> {
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
