//! Finds the reasons why a package cannot be installed.

use super::package::Package;
use reflex_script::{Call, Capabilities, Chain, Limits, Module, Problem};
use serde_json::{Value, json};

/// Lists the problems of a package: errors in its manifest, unknown or invalid options, a module that does not load.
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

/// Reports a module that does not load. Returns `None` if it asks for capabilities that only a person can grant.
fn unloadable(package: &Package) -> Option<String> {
    let module = match package.module() {
        Ok(module) => module,
        Err(error) => return Some(error.to_string()),
    };
    let asks = &module.granted;
    if [&asks.files, &asks.writes, &asks.network, &asks.environment].iter().any(|list| !list.is_empty()) {
        return None;
    }
    // The module is loaded whatever events its manifest declares, without any capability.
    let module = Module { manifest: None, granted: Capabilities::default(), ..module };
    let outcome = Chain::new(vec![module], Limits::default()).run(Call::tool_call(json!({"tool": "Read"})));
    match outcome.reports.into_iter().next().and_then(|report| report.decision) {
        Some(Err(problem @ Problem::Load(_))) => Some(problem.to_string()),
        _ => None,
    }
}
