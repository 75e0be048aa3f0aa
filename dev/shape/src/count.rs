//! The counted constructions, and where they are in a syntax tree.

use crate::Problem;
use crate::baseline::Counts;
use crate::circles;
use crate::source::{self, Source, is_test};
use std::fs;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Something that STYLE.md forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Functions that return `Result<_, String>`.
    StringErrors,
    /// Closures bound to a name that are longer than three lines.
    Closures,
    /// Parameters of a tuple type.
    Tuples,
    /// `bool` parameters of functions that others can call.
    Bools,
    /// Files, or recursive modules, in a circle of calls through `self`.
    Circles,
    /// Functions whose name is a participle alone.
    Participles,
    /// `.get("…")`: a field of a table by its name, in the crates that work on tables.
    Gets,
    /// `effects.last_mut()`: a change of what another function has just pushed.
    LastMut,
    /// Executables of tests.
    Tests,
    /// Lines of a crate that only serves this repository.
    Lines,
}

impl Kind {
    pub(crate) const ALL: [Kind; 10] = [
        Kind::StringErrors,
        Kind::Closures,
        Kind::Tuples,
        Kind::Bools,
        Kind::Circles,
        Kind::Participles,
        Kind::Gets,
        Kind::LastMut,
        Kind::Tests,
        Kind::Lines,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::StringErrors => "str-errors",
            Kind::Closures => "closures",
            Kind::Tuples => "tuples",
            Kind::Bools => "bools",
            Kind::Circles => "circles",
            Kind::Participles => "participles",
            Kind::Gets => "gets",
            Kind::LastMut => "last-mut",
            Kind::Tests => "tests",
            Kind::Lines => "lines",
        }
    }

    pub(crate) fn by_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The form to use in its place.
    pub(crate) fn instead(self) -> &'static str {
        match self {
            Kind::StringErrors => "return an error type",
            Kind::Closures => "make it a function",
            Kind::Tuples => "make it two parameters or a struct",
            Kind::Bools => "make it an enum or two functions",
            Kind::Circles => "methods of one file must not call back into another's",
            Kind::Participles => "name it by a verb or a noun",
            Kind::Gets => "read the table into a struct once",
            Kind::LastMut => "build the effect in one place",
            Kind::Tests => "make it a module of an executable that exists",
            Kind::Lines => "make it smaller, or a program of its own",
        }
    }
}

/// The crates that read the tables of the library; elsewhere most maps are JSON.
const TABLES: [&str; 4] = ["crates/engine/", "crates/rules/", "crates/shell/", "crates/tables/"];

/// Counts everything in all crates of the workspace.
pub(crate) fn all(root: &Path) -> Result<Counts, Problem> {
    let mut counts = Counts::default();
    for folder in crates(root) {
        let sources = source::read(root, &folder)?;
        let name = folder.strip_prefix(root).unwrap_or(&folder).to_string_lossy().into_owned();
        sources.iter().for_each(|source| in_source(source, &mut counts));
        circles::files(&sources).iter().for_each(|path| counts.add(path, Kind::Circles, 1));
        counts.add(&name, Kind::Tests, executables(&folder));
        if name == "xtask" {
            counts.add(&name, Kind::Lines, sources.iter().map(|source| source.lines).sum());
        }
    }
    Ok(counts)
}

/// The folders with a manifest in `crates`, `dev` and the root.
fn crates(root: &Path) -> Vec<PathBuf> {
    let below =
        |folder: &str| fs::read_dir(root.join(folder)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = below("crates").chain(below("dev")).chain([root.join("xtask")]).collect();
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    folders.sort();
    folders
}

fn executables(folder: &Path) -> usize {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    if manifest.lines().any(|line| line == "autotests = false") {
        return manifest.lines().filter(|line| *line == "[[test]]").count();
    }
    let entries = fs::read_dir(folder.join("tests")).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs")).count()
}

fn in_source(source: &Source, counts: &mut Counts) {
    let mut visitor = Visitor { path: &source.path, counts };
    visitor.visit_file(&source.tree);
}

struct Visitor<'c> {
    path: &'c str,
    counts: &'c mut Counts,
}

impl Visitor<'_> {
    fn add(&mut self, kind: Kind, count: usize) {
        self.counts.add(self.path, kind, count);
    }

    fn signature(&mut self, signature: &syn::Signature, is_public: bool) {
        let types = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let types: Vec<&syn::Type> = types.collect();
        self.add(Kind::Tuples, types.iter().filter(|one| is_tuple(one)).count());
        if is_public {
            self.add(Kind::Bools, types.iter().filter(|one| is_named(one, "bool")).count());
        }
        self.add(Kind::StringErrors, usize::from(has_string_error(&signature.output)));
        self.add(Kind::Participles, usize::from(is_participle(&signature.ident.to_string())));
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.signature(&item.sig, is_public(&item.vis));
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.signature(&item.sig, is_public(&item.vis));
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.signature(&item.sig, true);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init
            && let syn::Expr::Closure(closure) = &*init.expr
        {
            let (begin, end) = (closure.span().start().line, closure.span().end().line);
            self.add(Kind::Closures, usize::from(end - begin + 1 > 3));
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_text = matches!(
            call.args.first(),
            Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. })) if call.args.len() == 1
        );
        let is_table = is_text && TABLES.iter().any(|folder| self.path.starts_with(folder));
        self.add(Kind::Gets, usize::from(call.method == "get" && is_table));
        let is_last = call.method == "last_mut" && is_named_effects(&call.receiver);
        self.add(Kind::LastMut, usize::from(is_last));
        visit::visit_expr_method_call(self, call);
    }
}

fn is_public(visibility: &syn::Visibility) -> bool {
    !matches!(visibility, syn::Visibility::Inherited)
}

/// Whether this is a variable or a field with the name `effects`.
fn is_named_effects(receiver: &syn::Expr) -> bool {
    if let syn::Expr::Field(syn::ExprField { member: syn::Member::Named(name), .. }) = receiver {
        return name == "effects";
    }
    matches!(receiver, syn::Expr::Path(path) if path.path.is_ident("effects"))
}

fn is_tuple(one: &syn::Type) -> bool {
    if let syn::Type::Reference(reference) = one {
        return is_tuple(&reference.elem);
    }
    matches!(one, syn::Type::Tuple(tuple) if !tuple.elems.is_empty())
}

fn is_named(one: &syn::Type, name: &str) -> bool {
    matches!(one, syn::Type::Path(path) if path.path.is_ident(name))
}

/// Whether a function returns `Result<_, String>`.
fn has_string_error(output: &syn::ReturnType) -> bool {
    let syn::ReturnType::Type(_, returned) = output else { return false };
    let syn::Type::Path(path) = &**returned else { return false };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result") else { return false };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
    matches!(arguments.args.iter().nth(1), Some(syn::GenericArgument::Type(error)) if is_named(error, "String"))
}

/// Participles that do not end in `ed`.
const IRREGULAR: [&str; 24] = [
    "begun", "brought", "built", "chosen", "done", "drawn", "found", "given", "gone", "held", "hidden", "kept",
    "known", "left", "lost", "made", "meant", "said", "seen", "sent", "shown", "taken", "told", "written",
];

/// Verbs and nouns that end in `ed`.
const NO_PARTICIPLES: [&str; 8] = ["bed", "embed", "exceed", "feed", "need", "proceed", "seed", "speed"];

/// Whether a name is one word, and that is a participle.
fn is_participle(name: &str) -> bool {
    let is_regular = name.ends_with("ed") && !name.contains('_') && !NO_PARTICIPLES.contains(&name);
    is_regular || IRREGULAR.contains(&name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    const PATH: &str = "crates/engine/src/x.rs";

    fn counted(text: &str) -> Counts {
        let mut counts = Counts::default();
        in_source(&Source { path: PATH.into(), tree: syn::parse_file(text).unwrap(), lines: 0 }, &mut counts);
        counts
    }

    fn of(kinds: &[Kind]) -> Counts {
        let mut counts = Counts::default();
        kinds.iter().for_each(|kind| counts.add(PATH, *kind, 1));
        counts
    }

    #[test]
    fn each_kind_is_found_by_its_syntax() {
        let cases: [(&str, &[Kind]); 13] = [
            ("fn read() -> Result<(), String> { todo!() }", &[Kind::StringErrors]),
            ("fn read() -> io::Result<String> { todo!() }", &[]),
            ("fn read() -> Result<String, Error> { todo!() }", &[]),
            ("fn read() { let one = |x: u8| {\n let y = x;\n y\n }; }", &[Kind::Closures]),
            ("fn read() { let one = |x: u8| {\n x\n }; }", &[]),
            ("fn read((a, b): (u8, u8)) {}", &[Kind::Tuples]),
            ("pub(crate) fn read(all: bool) {}", &[Kind::Bools]),
            ("fn read(all: bool) {}", &[]),
            ("fn written() {} fn listed() {} fn is_listed() {} fn feed() {}", &[Kind::Participles, Kind::Participles]),
            ("fn read() { table.get(\"x\"); table.get(name); }", &[Kind::Gets]),
            ("fn read() { self.effects.last_mut(); all.last_mut(); }", &[Kind::LastMut]),
            ("#[cfg(test)] mod tests { fn read() -> Result<(), String> { todo!() } }", &[]),
            ("#[test] fn written() {}", &[]),
        ];
        for (text, kinds) in cases {
            assert_eq!(counted(text), of(kinds), "{text}");
        }
    }
}
