//! The local web page on which a person answers waiting calls and sees what agents did.
//!
//! The server serves one person on one machine. A browser gets read access once it has proved that it belongs to this
//! person (`access`). An answer also requires the passphrase, entered once per tab. The signing key exists only in this
//! process's memory and is never written to a file, an argument or the page.
//!
//! The modules, bottom up; each imports only modules above it in this list:
//!
//! - `assets` holds the static files, built from `ui/` and embedded.
//! - `page` holds the parameters of the server.
//! - `access` authenticates browsers and tabs.
//! - `guard` rejects requests that do not come from the page, before any other processing.
//! - `waiting` builds the list of waiting calls.
//! - `answer` writes a person's answer.
//! - `server` holds the state shared by all routes.
//! - `watch` sends updates to open tabs.
//! - `plain` is the page for browsers without JavaScript.
//! - `api` defines all routes.
//! - `serve` listens for connections.

mod access;
mod answer;
mod api;
mod assets;
mod guard;
mod page;
mod plain;
mod serve;
mod server;
mod waiting;
mod watch;

pub use api::{ROUTES, Route};
pub use page::{Commands, Page};
pub use serve::{Address, serve};
