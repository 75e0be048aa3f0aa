//! Files whose methods call each other through `self` in a circle: none of them can be read alone.

use crate::source::{Source, is_test};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// Returns the paths of the files of a crate that are in a circle.
pub(crate) fn files(sources: &[Source]) -> Vec<String> {
    let methods: Vec<Methods> = sources.iter().map(Methods::of).collect();
    let mut home: BTreeMap<&Method, usize> = BTreeMap::new();
    for (file, all) in methods.iter().enumerate() {
        home.extend(all.defined.iter().map(|method| (method, file)));
    }
    let calls: Vec<BTreeSet<usize>> = methods
        .iter()
        .enumerate()
        .map(|(file, all)| {
            all.called.iter().filter_map(|method| home.get(method)).copied().filter(|to| *to != file).collect()
        })
        .collect();
    let reached: Vec<BTreeSet<usize>> = (0..calls.len()).map(|file| reachable(file, &calls)).collect();
    let in_circle = |file: &usize| reached.get(*file).is_some_and(|all| all.contains(file));
    (0..sources.len())
        .filter(in_circle)
        .filter_map(|file| sources.get(file))
        .map(|source| source.path.clone())
        .collect()
}

/// The files that a file reaches over one call or more.
fn reachable(file: usize, calls: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut next: Vec<usize> = calls.get(file).into_iter().flatten().copied().collect();
    while let Some(file) = next.pop() {
        if found.insert(file) {
            next.extend(calls.get(file).into_iter().flatten());
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

impl Methods {
    fn of(source: &Source) -> Methods {
        let mut methods = Methods::default();
        methods.visit_file(&source.tree);
        methods
    }
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

    #[test]
    fn files_that_call_each_other_are_a_circle() {
        let source =
            |path: &str, text: &str| Source { path: path.into(), tree: syn::parse_file(text).unwrap(), lines: 0 };
        let a = source("a", "impl Facts<'_> { fn one(&self) { self.two(); } }");
        let b = source("b", "impl Facts<'_> { fn two(&self) { self.three(); } }");
        let c = source("c", "impl Facts<'_> { fn three(&self) { self.one(); } }");
        let other = source("other", "impl Other { fn three(&self) { self.one(); } fn one(&self) {} }");
        assert_eq!(files(&[a, b, c, other]), ["a", "b", "c"]);
        let a = source("a", "impl Facts { fn one(&self) { self.two(); } }");
        let b = source("b", "impl Facts { fn two(&self) {} } impl Other { fn two(&self) { self.one(); } }");
        assert_eq!(files(&[a, b]), Vec::<String>::new());
    }
}
