//! Modules as CommonJS writes them: `require` and `module.exports`, as bundles for node have them.

use super::built_in;
use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function};

/// What a file says where it is CommonJS.
const WORDS: [&str; 2] = ["exports", "require"];

/// The name under which [`required`] is imported.
pub(crate) const REQUIRED: &str = "reflex required";

/// The function of a file, if it is CommonJS: what names its words and can be read so. Whatever imports or exports in the
/// newer way cannot.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, name: &str, text: &str) -> Option<Function<'js>> {
    let may_be = !name.ends_with(".mjs") && !name.ends_with(".mts") && names(text);
    if !may_be || exports_at_its_end(text) {
        return None;
    }
    let text = if text.starts_with("#!") { text.split_once('\n').map_or("", |(_, rest)| rest) } else { text };
    let whole = format!("(function (exports, require, module, __filename, __dirname) {{{text}\n}})");
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    let read = ctx.eval_with_options(whole, options);
    if read.is_err() {
        drop(ctx.catch());
    }
    read.ok()
}

/// Whether a text names what CommonJS is written with.
pub(crate) fn names(text: &str) -> bool {
    WORDS.iter().any(|word| text.contains(word)) || text.contains("createRequire")
}

/// Whether the last statement is `export {…}`: so end the bundles that are no CommonJS, and need not be read twice.
fn exports_at_its_end(text: &str) -> bool {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with("//");
    let last = text.lines().rev().find(|line| !is_comment(line)).unwrap_or("").trim_end();
    let Some(inner) = last.strip_suffix(';').unwrap_or(last).strip_suffix('}') else { return false };
    match inner.rsplit_once('{') {
        Some((before, _)) => {
            let before = before.trim_end().strip_suffix("export");
            before.is_some_and(|before| !before.trim_end().ends_with("//"))
        }
        // The names stand on lines of their own.
        None => text.lines().rev().find(|line| line.contains('{')).is_some_and(|line| line.trim_end() == "export {"),
    }
}

/// The module that stands for a file of CommonJS where it is imported: its function has been kept for it.
pub(crate) fn as_module(name: &str, text: &str, is_entry: bool) -> String {
    let name = serde_json::Value::from(name);
    if is_entry {
        return format!("import '{REQUIRED}'; export default __reflex.entry(__reflex.common({name}));");
    }
    let mut module = format!("import '{REQUIRED}'; const all = __reflex.common({name}); export default all;");
    for (at, export) in exported(text).iter().enumerate() {
        module.push_str(&format!("const v{at} = all?.{export}; export {{ v{at} as {export} }};"));
    }
    module
}

/// The names that a file may export: more than it does harm nobody.
fn exported(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let word = |text: &str| text.find(|letter: char| !is_part(letter)).unwrap_or(text.len());
    for (at, found) in text.match_indices("exports") {
        let after = text.get(at + found.len()..).unwrap_or("");
        if let Some(rest) = after.strip_prefix('.') {
            names.extend(rest.get(..word(rest)));
        } else if let Some(list) =
            after.trim_start().strip_prefix('=').and_then(|rest| rest.trim_start().strip_prefix('{'))
        {
            let list = list.split('}').next().unwrap_or("");
            names.extend(list.split(',').filter_map(|one| one.trim().get(..word(one.trim()))));
        }
    }
    names.retain(|name| {
        name.starts_with(|letter: char| is_part(letter) && !letter.is_ascii_digit()) && *name != "default"
    });
    names.sort_unstable();
    names.dedup();
    names
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// Whether a text can require something.
pub(crate) fn requires(text: &str) -> bool {
    let ends = |(at, found): (usize, &str)| !text.get(at + found.len()..).unwrap_or("").starts_with(is_part);
    text.contains("createRequire") || text.match_indices("require").any(ends)
}

/// The module that loads what is built in and named in these texts, before anything that requires it runs.
pub(crate) fn required<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let quoted = texts.flat_map(|text| text.split(['"', '\'', '`']));
    let mut names: Vec<&str> = quoted.filter(|part| part.len() < LONGEST).filter_map(built_in::named).collect();
    names.sort_unstable();
    names.dedup();
    let imports = names.iter().enumerate().map(|(at, name)| format!("import * as b{at} from \"{name}\"; "));
    let spaces = names.iter().enumerate().map(|(at, name)| format!("\"{name}\": b{at}, "));
    format!("{}__reflex.spaces = {{ __proto__: null, {}}};", imports.collect::<String>(), spaces.collect::<String>())
}

/// No name of what is built in is longer.
const LONGEST: usize = 32;
