//! Expansion: what a word becomes by braces, parameters, substitutions, arithmetic and splitting.

mod arithmetic;
mod braces;
mod fields;
mod operators;
mod parameters;
mod words;
