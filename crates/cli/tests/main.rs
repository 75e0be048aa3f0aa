//! All integration tests of this crate in one executable, so that it is linked once.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot go on shall stop"
)]

mod appeals;
mod attacks;
mod auto_pilot;
mod auto_pilot_obeys;
mod backtest;
mod bad_input;
mod bad_rules;
mod binding;
mod broker;
mod budgets;
mod calls;
mod commands;
mod cut_log;
mod doctor;
mod dotfiles;
mod ending;
mod exit_codes;
mod explain;
mod export;
mod git_hooks;
mod hostile_repository;
mod house;
mod layers;
mod live;
mod loops;
mod mcp;
mod memory;
mod messages;
mod modes;
mod modules;
mod pin;
mod posture;
mod real_git;
mod redteam;
mod reflexes;
mod report;
mod rooms;
mod scopes;
mod secrets;
mod security_md;
mod sessions;
mod stages;
mod strangers;
mod supervise;
mod support;
mod switches;
mod tasks;
mod too_much;
mod trust;
mod ui;
mod undo;
mod unreadable;
mod upstream;
mod watch;
mod wiring;
