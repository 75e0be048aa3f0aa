//! Where the imports of a module lead: to its own files and to what is built in, nowhere else.

use crate::module::Module;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module as Script, Result};
use std::rc::Rc;

/// What is built in, by the names under which it is imported.
const BUILT_IN: &[(&str, &str)] = &[
    ("@agentreflex/core", include_str!("js/core.js")),
    ("path", include_str!("js/path.js")),
    ("os", include_str!("js/os.js")),
    ("fs", include_str!("js/fs.js")),
    ("fs/promises", "export * from \"fs\"; export { default } from \"fs\";"),
    ("crypto", include_str!("js/crypto.js")),
    ("url", include_str!("js/url-module.js")),
    ("process", include_str!("js/process-module.js")),
];

/// The name under which something is built in, if it is.
fn built_in(name: &str) -> Option<&'static str> {
    let bare = name.strip_prefix("node:").unwrap_or(name);
    BUILT_IN.iter().map(|(known, _)| *known).find(|known| *known == bare)
}

/// What stands before the path of a module's own file, so that none can pass for what is built in.
const OWN: &str = "reflex:";

fn own(path: &str) -> String {
    format!("{OWN}{path}")
}

/// The files of one module.
#[derive(Clone)]
pub(crate) struct Files {
    files: Rc<Vec<(String, String)>>,
}

impl Files {
    pub(crate) fn of(module: &Module) -> Files {
        Files { files: Rc::new(module.files.clone()) }
    }

    fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
    }

    /// The file that is meant by a path without its extension, or with that of what it is compiled to.
    fn meant(&self, path: &str) -> Option<String> {
        let compiled = path.strip_suffix(".js").map(|stem| [format!("{stem}.ts"), format!("{stem}.mts")]);
        let compiled = compiled.into_iter().flatten();
        let open = ["", ".js", ".mjs", ".ts", ".mts", ".json", "/index.js", "/index.mjs", "/index.ts"];
        let mut all = open.iter().map(|ending| format!("{path}{ending}")).chain(compiled);
        all.find(|path| self.text(path).is_some())
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
        if let Some(known) = built_in(name) {
            return Ok(known.into());
        }
        let refused = |why: &str| Error::new_resolving_message(base, name, why);
        if !name.starts_with("./") && !name.starts_with("../") {
            return Err(refused("only the module's own files and what is built in can be imported"));
        }
        let base = base.strip_prefix(OWN).unwrap_or(base);
        let path = joined(base, name).ok_or_else(|| refused("it leads out of the module's folder"))?;
        self.meant(&path).map(|path| own(&path)).ok_or_else(|| refused("the module has no such file"))
    }
}

impl Loader for Files {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        path: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Script<'js, Declared>> {
        if let Some((_, source)) = BUILT_IN.iter().find(|(known, _)| *known == path) {
            return Script::declare(ctx.clone(), path, *source);
        }
        let path = path.strip_prefix(OWN).unwrap_or(path);
        let text = self.text(path).ok_or_else(|| Error::new_loading(path))?;
        if path.ends_with(".json") {
            return Script::declare(ctx.clone(), own(path), json_module(text));
        }
        Script::declare(ctx.clone(), own(path), text)
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
