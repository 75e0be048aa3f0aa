//! Resolution and loading of a module's files for imports.

use super::commonjs::REQUIRED;
use super::error::ImportError;
use super::{built_in, commonjs};
use crate::model::module::Module;
use reflex_types::Compiled;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module as Script, Object, Result as JsResult};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Prefix of the paths of a module's own files, so that none can be mistaken for a built-in module. An interpreter has
/// the files of one module only.
const MODULE_PREFIX: &str = "reflex:";

/// A file `node_modules/NAME/…` of this name contains, as a JSON string, the path of the entry file of `NAME`.
pub const ENTRY: &str = ".entry.json";

/// The library for modules, and its variant with the functions about packs.
const CORE: &str = "@agentreflex/core";

const PACKS: &str = "@agentreflex/core/packs";

/// Returns whether a text may use the functions about packs: it contains one of their names or a namespace import.
fn packs(text: &str) -> bool {
    ["parsePackManifest", "interpolate", "referencedSecrets", "* as ", "*as "].iter().any(|name| text.contains(name))
}

/// Prefix of the files of modules that are part of the program. Their bytecode contains this name.
const OURS: &str = "ours:";

/// Returns the full name of a module's entry file.
pub(crate) fn entry(module: &Module) -> String {
    if module.is_ours { format!("{OURS}{}/{}", module.name, module.entry) } else { full_name(&module.entry) }
}

/// Returns the full name of a module's file.
pub(crate) fn full_name(path: &str) -> String {
    format!("{MODULE_PREFIX}{path}")
}

/// The files available to an interpreter.
#[derive(Clone, Default)]
pub(crate) struct Files(Rc<RefCell<Shown>>);

/// The modules whose files are available.
#[derive(Default)]
struct Shown {
    modules: Arc<Vec<Module>>,
    /// Index of the only module whose files are available, if any.
    only: Option<usize>,
}

impl Files {
    /// Makes the files of these modules, or of one of them, available.
    pub(crate) fn show(&self, modules: &Arc<Vec<Module>>, only: Option<usize>) {
        self.0.replace(Shown { modules: Arc::clone(modules), only });
    }
}

impl Files {
    /// Returns the text of a module's file by its full name.
    pub(crate) fn named(&self, name: &str) -> Option<String> {
        self.0.borrow().text(name).map(|(_, text)| text.to_owned())
    }

    /// Returns the full name of a required file. If `base` is not a file of the module, the name is relative to the
    /// entry.
    pub(crate) fn required(&self, base: &str, name: &str) -> Result<String, ImportError> {
        let shown = self.0.borrow();
        let base = if base.starts_with(MODULE_PREFIX) {
            base.to_owned()
        } else {
            let path = base.strip_prefix("file://").unwrap_or(base).strip_prefix(SHOWN);
            full_name(path.unwrap_or(shown.module().map_or("", |module| &module.entry)))
        };
        shown.found(&base, name)
    }
}

impl Shown {
    fn module(&self) -> Option<&Module> {
        self.modules.get(self.only?)
    }

    fn text(&self, name: &str) -> Option<(&str, &str)> {
        let path = name.strip_prefix(MODULE_PREFIX)?;
        let file = self.module()?.files.iter().find(|(known, _)| known == path);
        file.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns the bytecode of a file that is part of the program or was cached.
    fn code(&self, name: &str) -> Option<Compiled> {
        let (module, path) = match name.strip_prefix(OURS) {
            Some(name) => {
                let (module, path) = name.split_once('/')?;
                (self.modules.iter().find(|known| known.is_ours && known.name == module)?, path)
            }
            None => (self.module()?, name.strip_prefix(MODULE_PREFIX)?),
        };
        let mut files = module.code.iter().flat_map(|code| code.files);
        files.find(|(known, _)| *known == path).map(|(_, code)| *code)
    }

    fn has(&self, name: &str) -> bool {
        self.text(name).is_some() || self.code(name).is_some()
    }

    /// Returns the full name for a path without its extension, or with the extension of its compiled output.
    fn meant(&self, path: &str) -> Option<String> {
        let of = |stem: &str, ends: &[&str]| ends.iter().map(|end| format!("{stem}{end}")).collect::<Vec<_>>();
        let compiled = [(".js", [".ts", ".mts"]), (".mjs", [".mts", ".ts"]), (".cjs", [".cts", ".ts"])];
        let compiled = compiled.iter().filter_map(|(end, ends)| Some(of(path.strip_suffix(end)?, ends)));
        let names = of(path, &OPEN).into_iter().chain(compiled.flatten());
        names.map(|path| full_name(path.trim_start_matches('/'))).find(|name| self.has(name))
    }

    /// Returns the full name of the entry file of an installed package.
    fn installed(&self, name: &str) -> Option<String> {
        let (_, path) = self.text(&full_name(&format!("node_modules/{name}/{ENTRY}")))?;
        serde_json::from_str::<String>(path).ok().map(|path| full_name(&path))
    }

    /// Returns the full name for an import specifier in a file.
    fn found(&self, base: &str, name: &str) -> Result<String, ImportError> {
        if let Some(known) = built_in::named(name) {
            let is_wanted =
                name == CORE && base.starts_with(MODULE_PREFIX) && self.text(base).is_some_and(|(_, text)| packs(text));
            return Ok(if is_wanted { PACKS } else { known }.into());
        }
        // An empty base is the host, which passes the entry by its full name. `REQUIRED` has no file.
        if (base.is_empty() && self.has(name)) || name == REQUIRED {
            return Ok(name.into());
        }
        if let Some(path) = self.installed(name) {
            return Ok(path);
        }
        if name != "." && name != ".." && !name.starts_with("./") && !name.starts_with("../") {
            return Err(built_in::absent(name).map_or(ImportError::Package, ImportError::Absent));
        }
        let base = base.strip_prefix(MODULE_PREFIX).ok_or(ImportError::FromBuiltIn)?;
        let path = joined(base, name).ok_or(ImportError::Outside)?;
        self.meant(&path).ok_or(ImportError::Missing)
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
        self.0.borrow().found(base, name).map_err(|why| Error::new_resolving_message(base, name, why.to_string()))
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
            let files = shown.module().map(|module| module.files.as_slice()).unwrap_or_default();
            return Script::declare(ctx.clone(), path, commonjs::required(files.iter().map(|(_, text)| text.as_str())));
        }
        let (file, text) = shown.text(path).ok_or_else(|| Error::new_loading(path))?;
        if path.ends_with(".json") {
            return declared(ctx, (file, text));
        }
        if let Some(function) = commonjs::function(ctx, path, text) {
            // The file is parsed once; the function is stored for all importers.
            ctx.globals().get::<_, Object<'js>>("__reflex")?.set(format!("code {path}"), function)?;
            let is_entry = shown.module().is_some_and(|module| module.entry == file);
            return Script::declare(ctx.clone(), path, commonjs::as_module(path, text, is_entry));
        }
        if commonjs::requires(text) {
            // Appended to keep line numbers. Imports are hoisted, so it still runs before the file's own code.
            return placed(declared(ctx, (file, &format!("{text}\nimport '{REQUIRED}';")))?, (file, text));
        }
        placed(declared(ctx, (file, text))?, (file, text))
    }
}

/// Virtual folder of a module's files; their real location is not exposed.
const SHOWN: &str = "/reflex/";

/// Suffixes that an import may omit.
const OPEN: [&str; 12] =
    ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.mjs", "/index.cjs", "/index.ts"];

/// Sets `import.meta.url` if the text uses it.
fn placed<'js>(script: Script<'js, Declared>, (path, text): (&str, &str)) -> JsResult<Script<'js, Declared>> {
    if text.contains(META) {
        script.meta()?.set("url", format!("file://{SHOWN}{path}"))?;
    }
    Ok(script)
}

/// Expression by which a module reads its own location.
const META: &str = "import.meta";

/// Returns whether the bytecode of a file replaces its text completely.
pub(crate) fn is_code((path, text): (&str, &str)) -> bool {
    path.ends_with(".json") || !(commonjs::names(text) || text.contains(META))
}

/// Declares a module's own file in the interpreter.
pub(crate) fn declared<'js>(ctx: &Ctx<'js>, (path, text): (&str, &str)) -> JsResult<Script<'js, Declared>> {
    if path.ends_with(".json") {
        return Script::declare(ctx.clone(), full_name(path), json_module(text));
    }
    Script::declare(ctx.clone(), full_name(path), text)
}

/// Returns the source of a module whose default export is the contents of a JSON file.
fn json_module(text: &str) -> String {
    format!("export default JSON.parse({});", serde_json::Value::from(text))
}

/// Joins a relative path to the folder of the file `base`; `None` if it leaves the module's folder.
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
