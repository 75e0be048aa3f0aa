//! Expansion of words: braces, parameters, substitutions, arithmetic and field splitting.

mod arithmetic;
mod braces;
mod fields;
mod operators;
mod parameters;
mod words;
