//! The interpreters that are part of the program: made once for each build, with the reflexes that ship.

use super::load::shipped;
use reflex_script::image::{Within, is_for_ours};
pub use reflex_script::image::{bytes, place};

/// Makes them; [`bytes`] are afterwards what the program's section should hold.
///
/// # Errors
/// A reflex that ships cannot be loaded.
pub fn prepare(within: Within<'_>) -> Result<(), String> {
    let alike = reflex_library::REFLEXES.iter().filter(|packaged| is_for_ours(packaged.needs));
    let modules: Result<Vec<_>, String> = alike.map(|packaged| shipped(packaged).map(|(_, module)| module)).collect();
    reflex_script::image::prepare(modules?, within).map_err(|problem| problem.to_string())
}
