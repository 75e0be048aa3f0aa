//! `reflexes publish --check`: reports the problems of a reflex before publication. It uploads nothing.

use super::here::failed;
use super::show;
use crate::exit_code;
use crate::terminal::arguments::text;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
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
        return exit_code::OK;
    }
    print(&format!("{} things to mend", lacks.len()));
    exit_code::FOUND
}
