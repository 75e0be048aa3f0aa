//! Files whose methods call each other through `self` in a circle: none of them can be read alone.

use crate::source::{Source, is_test};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// Folders that are one recursive module. An interpreter walks a language in which each construct contains the others:
/// a command has words, a word a substitution, a substitution commands. Its files divide the language by construct, so
/// they call each other in circles by nature. `mod.rs` of such a folder says so and where to begin reading.
const RECURSIVE: [&str; 1] = ["crates/shell/src/interpret"];

/// Returns the paths of the files of a crate that are in a circle. A recursive module counts as one file: calls among its
/// files are ignored, and it is in a circle itself if a call leaves it and comes back.
pub(crate) fn files(sources: &[Source]) -> Vec<String> {
    let mut modules: BTreeMap<&str, Methods> = BTreeMap::new();
    for source in sources {
        modules.entry(module_of(&source.path)).or_default().visit_file(&source.tree);
    }
    let mut home: BTreeMap<&Method, &str> = BTreeMap::new();
    for (module, methods) in &modules {
        home.extend(methods.defined.iter().map(|method| (method, *module)));
    }
    let mut calls: Calls<'_> = BTreeMap::new();
    for (module, methods) in &modules {
        let called = methods.called.iter().filter_map(|method| home.get(method)).copied();
        calls.insert(module, called.filter(|to| to != module).collect());
    }
    modules.keys().filter(|module| reachable(module, &calls).contains(*module)).map(|path| (*path).to_owned()).collect()
}

/// The recursive module to which a file belongs, or the file itself.
fn module_of(path: &str) -> &str {
    let is_below = |folder: &&&str| path.strip_prefix(**folder).is_some_and(|rest| rest.starts_with('/'));
    RECURSIVE.iter().find(is_below).copied().unwrap_or(path)
}

/// The modules that each module calls.
type Calls<'s> = BTreeMap<&'s str, BTreeSet<&'s str>>;

/// The modules that a module reaches over one call or more.
fn reachable<'s>(module: &str, calls: &Calls<'s>) -> BTreeSet<&'s str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&str> = calls.get(module).into_iter().flatten().copied().collect();
    while let Some(module) = next.pop() {
        if found.insert(module) {
            next.extend(calls.get(module).into_iter().flatten());
        }
    }
    found
}

/// A type and the name of one of its methods.
type Method = (String, String);

/// The methods that a file defines, and those that it calls through `self`.
#[derive(Default)]
struct Methods {
    defined: BTreeSet<Method>,
    called: BTreeSet<Method>,
    /// The type of the `impl` that is being read.
    of_type: String,
}

impl<'ast> Visit<'ast> for Methods {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let syn::Type::Path(path) = &*item.self_ty else { return };
        let Some(last) = path.path.segments.last() else { return };
        self.of_type = last.ident.to_string();
        visit::visit_item_impl(self, item);
        self.of_type.clear();
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.defined.insert((self.of_type.clone(), item.sig.ident.to_string()));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if matches!(&*call.receiver, syn::Expr::Path(path) if path.path.is_ident("self")) {
            self.called.insert((self.of_type.clone(), call.method.to_string()));
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on shall stop")]

    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), tree: syn::parse_file(text).unwrap(), lines: 0 }
    }

    #[test]
    fn files_that_call_each_other_are_a_circle() {
        let a = source("a", "impl Facts<'_> { fn one(&self) { self.two(); } }");
        let b = source("b", "impl Facts<'_> { fn two(&self) { self.three(); } }");
        let c = source("c", "impl Facts<'_> { fn three(&self) { self.one(); } }");
        let other = source("other", "impl Other { fn three(&self) { self.one(); } fn one(&self) {} }");
        assert_eq!(files(&[a, b, c, other]), ["a", "b", "c"]);
        let a = source("a", "impl Facts { fn one(&self) { self.two(); } }");
        let b = source("b", "impl Facts { fn two(&self) {} } impl Other { fn two(&self) { self.one(); } }");
        assert_eq!(files(&[a, b]), Vec::<String>::new());
    }

    #[test]
    fn a_recursive_module_is_in_a_circle_only_with_others() {
        let below = |name: &str| format!("{}/{name}.rs", RECURSIVE[0]);
        let command = || source(&below("simple"), "impl Interpreter { fn command(&self) { self.word(); } }");
        let word = || source(&below("expand/words"), "impl Interpreter { fn word(&self) { self.command(); } }");
        assert_eq!(files(&[command(), word()]), Vec::<String>::new());
        let beside = format!("{}er.rs", RECURSIVE[0]);
        let outer = source(&beside, "impl Interpreter { fn word(&self) { self.command(); } }");
        assert_eq!(files(&[command(), outer]), [RECURSIVE[0], &beside]);
    }
}
