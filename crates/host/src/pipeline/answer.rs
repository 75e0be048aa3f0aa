//! The story of one call, from the payload of its agent to the reply: see [`stages`](super::stages).

use super::client_files;
use super::host::Host;
use super::mcp_verdicts;
use super::recorded::{Replied, Unread};
use super::settled::Turn;
use super::stages::{Incoming, Received, Scene};
use crate::system::random;
use reflex_agents::{Agent, BadEvent, Payload};
use reflex_engine::Moment;
use std::time::Instant;

impl Host {
    /// Answers one payload of an agent.
    pub fn answer(&self, agent: &Agent, payload: &Payload<'_>) -> Replied {
        let store = self.store();
        if mcp_verdicts::is_judged(&store, agent, payload) {
            return Replied::to_judged();
        }
        let incoming = Incoming { host: self, store: &store, agent, payload, begun: Instant::now() };
        let mut turn = Turn::Unasked;
        loop {
            let received = match incoming.receive(&turn) {
                Ok(received) => received,
                Err(problem) => return Unread::of(incoming, &problem).record().reply(),
            };
            let scene = Scene::of(&received);
            match received.judge(&scene).secure().settle(turn) {
                Ok(settled) => return settled.record().reply(),
                // Rules, files and the call's own scripts may have changed while someone thought about it.
                Err(answered) => turn = answered,
            }
        }
    }

    /// Refuses an event that cannot be read, if it comes before a tool runs, and else warns. The command line may name
    /// the moment of the event.
    pub fn refuse_unread(&self, agent: &Agent, event_name: Option<&str>, problem: &BadEvent) -> Replied {
        let store = self.store();
        let fields = serde_json::Map::new();
        let payload = Payload { fields: &fields, event_name, variable: &|_| None };
        let incoming = Incoming { host: self, store: &store, agent, payload: &payload, begun: Instant::now() };
        let mut unread = Unread::of(incoming, problem);
        // The input could not be parsed, so it is not the empty object of a probe.
        unread.is_probe = false;
        unread.record().reply()
    }
}

impl<'a> Incoming<'a> {
    fn receive(self, turn: &Turn) -> Result<Received<'a>, BadEvent> {
        let event = (self.agent.read)(self.payload)?;
        if event.moment == Moment::Stop && self.payload.fields.is_empty() {
            // An empty payload tests the hook; no turn ends.
            let problem = "it is empty".to_owned();
            return Err(BadEvent { field: String::new(), problem, moment: Some(Moment::Stop) });
        }
        let mut event = self.host.settled(self.store.named(event));
        client_files::with_shell_lines(self.agent, &mut event);
        self.store.beat(&event);
        let id = match turn {
            Turn::Answered { id, .. } => id.clone(),
            Turn::Unasked => event.started.as_ref().map_or_else(random::uuid, |started| started.id.clone()),
        };
        Ok(Received { incoming: self, event, id, read: self.nanoseconds() })
    }
}
