//! `reflexes publish --check`: what a reflex lacks before others take it. Nothing is uploaded anywhere.

use super::{failed, show};
use crate::commands::{print, text};
use crate::status;
use crate::visible::visible;
use clap::ArgMatches;
use reflex_host::catalog::{Package, lacks};
use std::path::Path;

pub(super) fn run(matches: &ArgMatches) -> u8 {
    let folder = text(matches, "path");
    let package = match Package::of_folder(Path::new(folder)) {
        Ok(package) => package,
        Err(problem) => return failed(&problem),
    };
    show::card(&package, folder);
    let lacks = lacks(&package);
    lacks.iter().for_each(|lack| print(&format!("  - {}", visible(lack))));
    if lacks.is_empty() {
        print("it can be published: others add it from its folder, a .tgz, a git repository or a registry");
        return status::OK;
    }
    print(&format!("{} things to mend", lacks.len()));
    status::FOUND
}
