//! Reflexes as packages: where they come from, what is written down of them, whether they do what they say.

mod examples;
mod origin;
mod package;
mod project;
mod publish;
mod registry;
mod unpack;

pub use examples::{Example, Played, difference, examples, play};
pub use origin::Origin;
pub use package::{MANIFEST, Package, is_name};
pub use project::{Entry, Home, Locked, name_of};
pub use publish::lacks;
pub use reflex_library::CORE_TYPES as TYPES;
pub use registry::{Listed, build, official, search};
use serde_json::Value;

/// Why a package cannot be taken: what its manifest says wrong, options that it does not take.
pub fn problems(package: &Package, with: Option<&Value>) -> Vec<String> {
    let Some(manifest) = &package.manifest else { return Vec::new() };
    let mut problems = reflex_script::schema::problems(manifest);
    if let Some(with) = with {
        problems.extend(reflex_script::schema::misfits(manifest, with));
    }
    problems
}
