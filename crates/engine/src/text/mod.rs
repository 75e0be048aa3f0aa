//! Pure functions on texts: patterns, addresses, formats, excerpts.

pub(crate) mod command_lines;
pub(crate) mod deep_json;
pub(crate) mod encoded_paths;
pub(crate) mod excerpt;
pub(crate) mod glob;
pub(crate) mod graphql;
pub(crate) mod host_name;
pub(crate) mod json;
pub(crate) mod patches;
pub(crate) mod sed;
pub(crate) mod settings;
pub(crate) mod sql;
pub(crate) mod url;
pub(crate) mod yaml;
