//! The facts of `git status`: staged, unstaged, untracked and ignored paths.

mod attributes;
mod ignore;
mod staged;
mod survey;
mod unstaged;
