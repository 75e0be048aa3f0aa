//! Commands that change or test rules, policies and reflexes.

pub(in crate::commands) mod backtest;
pub(in crate::commands) mod config;
pub(in crate::commands) mod import;
pub(in crate::commands) mod presets;
pub(in crate::commands) mod reflexes;
pub(in crate::commands) mod rules;
pub(in crate::commands) mod rules_event;
pub(in crate::commands) mod rules_new;
pub(in crate::commands) mod rules_off;
