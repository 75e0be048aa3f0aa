//! The native part of the Python package: each function takes and returns JSON text, without the GIL. `__init__.py`
//! gives it its interface.

#![expect(missing_docs, reason = "the module function is documented by its Python names")]

use pyo3::prelude::*;
use reflex_bindings as core;

pyo3::create_exception!(_native, NativeError, pyo3::exceptions::PyException);

/// The rule engine. Threads may share it.
#[pyclass(frozen)]
struct Engine {
    engine: core::Engine,
}

#[pymethods]
impl Engine {
    #[new]
    fn new(variables: &str) -> PyResult<Engine> {
        Ok(Engine { engine: core::Engine::new(variables).map_err(raised)? })
    }

    fn add_rules(&self, py: Python<'_>, rules: &str) -> PyResult<()> {
        py.detach(|| self.engine.add_rules(rules)).map_err(raised)
    }

    fn set_variable(&self, py: Python<'_>, key: &str, value: &str) -> PyResult<()> {
        py.detach(|| self.engine.set_variable(key, value)).map_err(raised)
    }

    fn evaluate(&self, py: Python<'_>, event: &str) -> PyResult<String> {
        py.detach(|| self.engine.evaluate(event)).map_err(raised)
    }

    fn get_blocks(&self, py: Python<'_>, event: &str) -> PyResult<String> {
        py.detach(|| self.engine.get_blocks(event)).map_err(raised)
    }

    fn is_allowed(&self, py: Python<'_>, event: &str) -> PyResult<bool> {
        py.detach(|| self.engine.is_allowed(event)).map_err(raised)
    }
}

/// Returns the rules of the core tier.
#[pyfunction]
fn core_rules() -> String {
    core::core_rules()
}

/// Loads the rule of a file.
#[pyfunction]
fn load_rule_file(py: Python<'_>, path: &str) -> PyResult<String> {
    py.detach(|| core::load_rule_file(path)).map_err(raised)
}

/// Loads the rules of a folder.
#[pyfunction]
fn load_rules(py: Python<'_>, folder: &str, config: &str) -> PyResult<String> {
    py.detach(|| core::load_rules(folder, config)).map_err(raised)
}

/// Returns the verdict on an event.
#[pyfunction]
fn judge(py: Python<'_>, event: &str, mode: &str, home: &str) -> PyResult<String> {
    py.detach(|| core::judge(event, mode, home)).map_err(raised)
}

/// Returns the commands and effects of a shell text.
#[pyfunction]
fn parse(py: Python<'_>, command: &str, cwd: &str) -> String {
    py.detach(|| core::parse(command, cwd))
}

/// An exception with code, message, file and line; `__init__.py` turns it into a `ReflexError`.
fn raised(error: core::Error) -> PyErr {
    let core::Error { code, message, file, line } = error;
    NativeError::new_err((code.name(), message, file, line))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Engine>()?;
    module.add("NativeError", module.py().get_type::<NativeError>())?;
    module.add_function(wrap_pyfunction!(core_rules, module)?)?;
    module.add_function(wrap_pyfunction!(judge, module)?)?;
    module.add_function(wrap_pyfunction!(load_rule_file, module)?)?;
    module.add_function(wrap_pyfunction!(load_rules, module)?)?;
    module.add_function(wrap_pyfunction!(parse, module)?)
}
