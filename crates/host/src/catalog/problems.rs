//! Finds the reasons why a package cannot be installed.

use super::package::Package;
use reflex_script::{Call, Capabilities, Chain, Limits, Module, Problem};
use serde_json::{Value, json};

/// Why a package cannot be taken: what its manifest says wrong, options that it does not take, a module that cannot be
/// loaded.
pub fn problems(package: &Package, with: Option<&Value>) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(manifest) = &package.manifest {
        problems.extend(reflex_script::schema::problems(manifest));
        if let Some(with) = with {
            problems.extend(reflex_script::schema::misfits(manifest, with));
        }
    }
    problems.extend(unloadable(package));
    problems
}

/// Why its modules cannot be loaded; nothing where they may need what only a person can grant.
fn unloadable(package: &Package) -> Option<String> {
    let module = match package.module() {
        Ok(module) => module,
        Err(problem) => return Some(problem),
    };
    let asks = &module.granted;
    if [&asks.files, &asks.writes, &asks.network, &asks.environment].iter().any(|list| !list.is_empty()) {
        return None;
    }
    // Whatever its manifest says about events, it is loaded; on a machine that has nothing.
    let module = Module { manifest: None, granted: Capabilities::default(), ..module };
    let outcome = Chain::new(vec![module], Limits::default()).run(Call::tool_call(json!({"tool": "Read"})));
    match outcome.reports.into_iter().next().and_then(|report| report.said) {
        Some(Err(problem @ Problem::Load(_))) => Some(problem.to_string()),
        _ => None,
    }
}
