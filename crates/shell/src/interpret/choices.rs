//! Walks a command once for each possible state of the variables in its words that branches left open. Within one walk,
//! a variable has the same state everywhere in the command.

use super::interpreter::Interpreter;
use super::state::{PARAMETERS, State, Way};
use super::streams::Stream;
use crate::syntax::mentions::mentioned;
use crate::syntax::tree::Node;

/// Maximum number of variants in which a command is walked; beyond it, differing variables are unknown.
const MAX_VARIANTS: usize = 16;

impl Interpreter<'_> {
    /// Returns the variables in the words of a node that differ between branches.
    pub(super) fn differing(&self, node: &Node) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        mentioned(node, &mut |name: &str| {
            let bare = name.split('[').next().unwrap_or("");
            let is_parameter = matches!(bare, "@" | "*" | "#") || bare.bytes().all(|byte| byte.is_ascii_digit());
            let name = if is_parameter { PARAMETERS } else { self.state.reference(bare).unwrap_or(bare) };
            if self.state.ways(name).is_some() && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        });
        names
    }

    /// Walks once for each combination of the possible states of these variables.
    pub(super) fn over_ways(&mut self, names: &[String], walk: &mut dyn FnMut(&mut Self) -> Stream) -> Stream {
        let Some((name, rest)) = names.split_first() else { return walk(self) };
        let ways = self.state.ways(name).unwrap_or_default().to_vec();
        if ways.is_empty() || self.variants * ways.len() > MAX_VARIANTS {
            return self.over_ways(rest, walk);
        }
        self.variants *= ways.len();
        let before = self.state.clone();
        let choices: Vec<State> = ways.iter().map(|way| chosen(&before, name, way)).collect();
        let count = ways.len();
        let output = self.over_states(choices, &before, |this| this.over_ways(rest, walk));
        self.variants /= count;
        output
    }

    /// Walks once from each of the states, which together are all possibilities of `before`, and merges the results.
    pub(super) fn over_states(
        &mut self,
        states: Vec<State>,
        before: &State,
        mut walk: impl FnMut(&mut Self) -> Stream,
    ) -> Stream {
        let mut end: Option<(State, Option<bool>)> = None;
        let mut output: Option<Stream> = None;
        let mut untouched = true;
        for state in states {
            self.state = state.clone();
            let printed = walk(self);
            untouched &= self.state.is_untouched(&state);
            match &mut output {
                Some(output) => output.or(printed),
                None => output = Some(printed),
            }
            end = Some(match end {
                Some((mut end, status)) => {
                    end.merge(&self.state);
                    (end, status.filter(|status| self.status == Some(*status)))
                }
                None => (self.state.clone(), self.status),
            });
        }
        if let Some((state, status)) = end {
            let open = state.open.clone();
            self.state = if untouched { before.clone() } else { state };
            self.state.open.taken_by(&open);
            self.status = status;
        }
        output.unwrap_or_default()
    }
}

fn chosen(state: &State, name: &str, way: &Way) -> State {
    let mut chosen = state.clone();
    chosen.choose(name, way.clone());
    chosen
}
