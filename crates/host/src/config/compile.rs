//! Compiles the rules and policies that people wrote.

use super::mode::Mode;
use reflex_rules::{Compiled, SourceFile, Variables};

/// Compiles files with the names of the library's policies.
pub fn compile(files: &[SourceFile], variables: &Variables) -> Compiled {
    reflex_rules::compile(files, &Mode::names(), variables)
}
