//! Facts about targets, each queried from the world at most once and cached for the call. After the analysis, only this
//! module queries the machine.
//!
//! The base is `call`: the judged call and the machine; `paths` and `class_patterns` add the meaning of its targets. The
//! sources use it, each for one subject: `session`, `regenerable`, `landed`, `git`, `replaced`, `guard` and others. A
//! source has the sources below it as fields, so it cannot call one above. `dispatch` has them all.
//!
//! To add a fact:
//!
//! 1. Add its variant and its name in the library to `facts!` in `fact.rs`, and to the table in docs/rules.md.
//! 2. Write the function that answers it in the source of its subject. The answer is a `Ternary`, or, if a message shall
//!    name what is lost, `Affected<Names>`: nothing, these, or unknown. One query about the file itself needs no
//!    function.
//! 3. Add one line to `ask` in `dispatch.rs`.
//!
//! If the machine has to answer something new, the query is a method of one of the five traits in `model/world.rs`, which
//! `FakeWorld` and the host's `LocalWorld` implement. The key with which an example of a rule supposes an answer is in
//! reflex-agents (`universal.rs`).

pub mod agent_settings;
mod at_stake;
pub(crate) mod cache;
mod call;
mod class_patterns;
mod classes;
mod connection;
mod destination;
mod dispatch;
pub(crate) mod excerpt;
pub(crate) mod fact;
mod git;
mod guard;
mod guard_writes;
mod hooks;
mod landed;
mod listed;
pub(crate) mod location;
mod meaning;
mod memo;
mod paths;
mod patterns;
mod programs;
mod regenerable;
mod replaced;
mod session;
mod switches;
mod user_facts;
mod writes_below;
