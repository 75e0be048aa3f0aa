//! The page on this machine where a person answers what waits and sees what agents did.
//!
//! A server for one person on one machine. Everything may be seen once a browser has proved that it is this person's
//! (`access`); an answer takes the passphrase too, typed once in a tab. What signs stays in this process alone and
//! goes with it, and no word of it comes into a file, an argument or the page.
//!
//! The modules from the ground up; each imports only those above it in this list:
//!
//! - `assets` is the page itself, built from `ui/` and embedded.
//! - `page` is what the server is started with.
//! - `access` knows which browsers and tabs are this person's.
//! - `guard` turns away what does not come from the page before anything else looks at it.
//! - `waiting` is the list of calls that wait, as it is sent.
//! - `answer` takes a person's answer.
//! - `server` is what all addresses share.
//! - `watch` tells open tabs what changes.
//! - `plain` is the page for browsers without JavaScript.
//! - `api` names every address.
//! - `serve` listens.

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
