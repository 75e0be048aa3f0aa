//! Branches and loops: the parts that are walked, their states, and the targets of `break`, `return` and `exit`.

use super::call_stack::{Frame, FrameKind};
use super::interpreter::Interpreter;
use super::state::State;
use super::streams::Stream;
use crate::model::value::{Piece, UnknownReason, Value};
use crate::reading::Command;
use crate::syntax::tree::{Arm, ArmEnd, Node, Script, Word};

/// Maximum number of rounds walked in all loops with a known condition.
const MAX_ROUNDS: u32 = 512;

/// Maximum nesting of loops that are walked exactly. In deeper loops, changed variables are unknown from the second
/// round on.
const MAX_EXACT_LOOPS: u32 = 2;

fn join(states: &mut Option<State>, state: &State) {
    match states {
        Some(states) => states.merge(state),
        None => *states = Some(state.clone()),
    }
}

impl Interpreter<'_> {
    /// Walks a construct that can be left early, and merges the states in which it was left.
    pub(super) fn framed<T>(&mut self, kind: FrameKind, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.frames.push(Frame::new(kind));
        let result = walk(self);
        if let Some(left) = self.frames.pop().and_then(|frame| frame.left) {
            self.state.merge(&left);
            self.status = None;
        }
        result
    }

    /// Ends a shell, at its last command or by `exit`, and runs its exit traps.
    pub(super) fn end_shell(&mut self) {
        if let Some(left) = self.frames.pop().and_then(|frame| frame.left) {
            self.state.merge(&left);
            self.status = None;
        }
        self.state.ended = false;
        let status = self.status;
        self.run_at_exit();
        self.status = status;
    }

    /// `break N` and `continue N`: leaves the loop that they refer to, within the same function and shell.
    pub(super) fn leave_loop(&mut self, count: usize, goes_on: bool) {
        let loops = self.frames.iter().rev().take_while(|frame| frame.kind == FrameKind::Loop).count();
        if loops == 0 {
            return;
        }
        let index = self.frames.len() - count.clamp(1, loops);
        let Some(frame) = self.frames.get_mut(index) else { return };
        join(if goes_on { &mut frame.next } else { &mut frame.left }, &self.state);
        self.state.ended = true;
    }

    /// `return`. Outside of a function it is ignored, as shells do not agree on its effect.
    pub(super) fn leave_function(&mut self) {
        let inner = self.frames.iter().rposition(|frame| frame.kind != FrameKind::Loop);
        let in_function = self.frames.iter().any(|frame| frame.kind == FrameKind::Function);
        if let Some(index) = inner.filter(|_| in_function) {
            self.leave(index);
        }
    }

    /// `exit`
    pub(super) fn leave_shell(&mut self) {
        let shell = self.frames.iter().rposition(|frame| frame.kind == FrameKind::Shell);
        shell.into_iter().for_each(|index| self.leave(index));
    }

    fn leave(&mut self, index: usize) {
        if let Some(frame) = self.frames.get_mut(index) {
            join(&mut frame.left, &self.state);
        }
        self.state.ended = true;
    }

    pub(super) fn if_node(&mut self, branches: &[(Script, Script)], otherwise: &Script) -> Stream {
        let mut output: Option<Stream> = None;
        let mut ends: Option<(State, Option<bool>)> = None;
        let mut decided = false;
        for (condition, body) in branches {
            if decided {
                let printed = self.aside(|this| {
                    this.script(condition);
                    this.script(body)
                });
                add_commands(&mut output, printed);
                continue;
            }
            self.script(condition);
            let status = self.status;
            if status == Some(false) {
                let printed = self.aside(|this| this.script(body));
                add_commands(&mut output, printed);
                continue;
            }
            let before = self.state.clone();
            let printed = self.script(body);
            self.end_branch(&mut output, &mut ends, printed);
            self.state = before;
            decided = status == Some(true);
        }
        let printed = if decided { self.aside(|this| this.script(otherwise)) } else { self.script(otherwise) };
        if decided {
            add_commands(&mut output, printed);
        } else {
            self.end_branch(&mut output, &mut ends, printed);
        }
        self.end_branches(output, ends)
    }

    fn end_branch(&mut self, output: &mut Option<Stream>, ends: &mut Option<(State, Option<bool>)>, printed: Stream) {
        match (output.as_mut(), ends.as_mut()) {
            (Some(output), Some(_)) => output.or(printed),
            (Some(output), None) => output.push(printed),
            (None, _) => *output = Some(printed),
        }
        match ends {
            Some((state, status)) => {
                state.merge(&self.state);
                *status = status.filter(|status| self.status == Some(*status));
            }
            None => *ends = Some((self.state.clone(), self.status)),
        }
    }

    fn end_branches(&mut self, output: Option<Stream>, ends: Option<(State, Option<bool>)>) -> Stream {
        if let Some((state, status)) = ends {
            (self.state, self.status) = (state, status);
        }
        output.unwrap_or_else(Stream::nothing)
    }

    /// `while` and `until`
    pub(super) fn loop_node(&mut self, condition: &Script, until: bool, body: &Script) -> Stream {
        let runs = |this: &mut Self| {
            this.script(condition);
            this.status.map(|status| status != until)
        };
        self.looped(runs, body, &mut |_| {})
    }

    /// `for ((first; condition; next))`
    pub(super) fn count_node(&mut self, [first, condition, next]: [&Word; 3], body: &Script) -> Stream {
        let empty = condition.parts.is_empty();
        self.arithmetic_word(first);
        let runs = |this: &mut Self| {
            if empty { Some(true) } else { this.arithmetic_word(condition).map(|number| number != 0) }
        };
        self.looped(runs, body, &mut |this| _ = this.arithmetic_word(next))
    }

    /// Walks the rounds of a loop while the condition is known. After that, any number of rounds may follow.
    fn looped(
        &mut self,
        mut runs: impl FnMut(&mut Self) -> Option<bool>,
        body: &Script,
        next: &mut dyn FnMut(&mut Self),
    ) -> Stream {
        self.loops += 1;
        let output = self.framed(FrameKind::Loop, |this| {
            let mut output = Stream::nothing();
            let mut walked = false;
            let mut last: Option<usize> = None;
            loop {
                let before = this.state.clone();
                let first = this.reading.commands.len();
                let known = runs(this);
                if known == Some(false) && !walked {
                    let printed = this.aside(|this| this.script(body));
                    output.commands.extend(printed.commands);
                }
                if known == Some(false) || this.exhausted || this.state.ended {
                    return output;
                }
                if known.is_none() || this.rounds >= MAX_ROUNDS {
                    this.open_rounds(&mut runs, body, next, &mut output);
                    return output;
                }
                this.rounds += 1;
                let printed = this.another_round(last.filter(|_| walked), |this| this.round(body, next));
                walked = true;
                last = if this.reading.commands.len() > first { Some(first) } else { last };
                output.push(printed);
                if this.state.same_names(&before) && this.state.open == before.open {
                    // An endless loop: the code that follows is only reached by `break`.
                    this.state.ended = this.state.ended || this.frames.last().is_some_and(|frame| frame.left.is_some());
                    return output;
                }
            }
        });
        self.loops -= 1;
        self.status = None;
        output
    }

    fn round(&mut self, body: &Script, next: &mut dyn FnMut(&mut Self)) -> Stream {
        let output = self.script(body);
        if let Some(state) = self.frames.last_mut().and_then(|frame| frame.next.take()) {
            self.state.merge(&state);
        }
        if !self.state.ended {
            next(self);
        }
        output
    }

    /// Walks zero, one or more rounds. The condition has just been walked.
    fn open_rounds(
        &mut self,
        runs: &mut dyn FnMut(&mut Self) -> Option<bool>,
        body: &Script,
        next: &mut dyn FnMut(&mut Self),
        output: &mut Stream,
    ) {
        let entry = self.state.clone();
        let first = self.reading.commands.len();
        let printed = self.round(body, next);
        let grows = printed.text.literal().is_some_and(|text| !text.is_empty());
        let place = printed.text.origin();
        output.push(printed);
        if grows {
            output.text.push(Value::piece(Piece::Unknown(UnknownReason::Branches), place));
        }
        let mut known = entry.clone();
        for widens in [false, true] {
            if self.exhausted || (self.state.same_names(&known) && self.state.open == known.open) || self.state.ended {
                break;
            }
            if !widens && self.loops > MAX_EXACT_LOOPS {
                continue;
            }
            self.state.merge(&known);
            if widens {
                self.state.widen(&entry);
            }
            known = self.state.clone();
            self.another_round(Some(first), |this| {
                runs(this);
                if this.state.ended { Stream::nothing() } else { this.round(body, next) }
            });
            self.state.merge(&known);
        }
        self.state.merge(&known);
        self.state.merge(&entry);
    }

    /// Walks another round. Commands that repeat those found since `first` are not listed again.
    fn another_round(&mut self, first: Option<usize>, walk: impl FnOnce(&mut Self) -> Stream) -> Stream {
        let again = self.reading.commands.len();
        let marks = (self.reading.gaps.len(), self.reading.multiplying.len(), self.reading.changes.len());
        let waiting = (self.at_exit.len(), self.called.len(), self.processes.len());
        let mut output = walk(self);
        let kept = waiting == (self.at_exit.len(), self.called.len(), self.processes.len()) && !self.exhausted;
        if first.is_some_and(|first| kept && self.repeats(first, again)) {
            self.reading.commands.truncate(again);
            self.reading.gaps.truncate(marks.0);
            self.reading.multiplying.truncate(marks.1);
            self.reading.changes.truncate(marks.2);
            output.commands.clear();
        }
        output
    }

    /// Whether the commands from `again` on repeat those from `first` on.
    fn repeats(&self, first: usize, again: usize) -> bool {
        let (before, after) = self.reading.commands.split_at(again.min(self.reading.commands.len()));
        let same = |(one, other): (&Command, &Command)| {
            one.words == other.words && one.redirects == other.redirects && one.folder == other.folder
        };
        let earlier = before.get(first..).unwrap_or(&[]);
        earlier.len() == after.len() && earlier.iter().zip(after).all(same)
    }

    pub(super) fn for_node(&mut self, name: &str, words: Option<&[Word]>, body: &Script) -> Stream {
        let values = self.loop_values(words);
        let before = self.state.clone();
        let counted = values.iter().all(|value| value.literal().is_some());
        self.loops += 1;
        let output = self.framed(FrameKind::Loop, |this| {
            let mut output = Stream::nothing();
            for value in &values {
                if this.exhausted || this.state.ended {
                    break;
                }
                this.assign_loop(name, value);
                if value.literal().is_some() {
                    let printed = this.round(body, &mut |_| {});
                    output.push(printed);
                } else {
                    // It may expand to zero, one or many values.
                    let mut assigns = |this: &mut Self| {
                        this.assign_loop(name, value);
                        None
                    };
                    this.open_rounds(&mut assigns, body, &mut |_| {}, &mut output);
                }
            }
            output
        });
        self.loops -= 1;
        if !counted {
            self.state.merge(&before);
        }
        self.status = None;
        output
    }

    fn loop_values(&mut self, words: Option<&[Word]>) -> Vec<Value> {
        match words {
            Some(words) => words.iter().flat_map(|word| self.expand(word)).collect(),
            None => self.state.parameters.iter().skip(1).cloned().collect(),
        }
    }

    fn assign_loop(&mut self, name: &str, value: &Value) {
        self.state.assign(name, vec![value.clone()]);
    }

    /// `select`: a person chooses one of the words, any number of times.
    pub(super) fn select_node(&mut self, name: &str, words: Option<&[Word]>, body: &Script) -> Stream {
        let values = self.loop_values(words);
        let before = self.state.clone();
        let mut output = Stream::nothing();
        let states = values.iter().map(|value| {
            let mut state = before.clone();
            state.assign(name, vec![value.clone()]);
            state.assign("REPLY", vec![Value::piece(Piece::Unknown(UnknownReason::Input), value.origin())]);
            state
        });
        let states: Vec<State> = states.collect();
        self.loops += 1;
        self.framed(FrameKind::Loop, |this| {
            let printed = this.over_states(states, &before, |this| this.round(body, &mut |_| {}));
            output.push(printed);
        });
        self.loops -= 1;
        self.state.merge(&before);
        self.status = None;
        output
    }

    pub(super) fn case_node(&mut self, subject: &Word, arms: &[Arm]) -> Stream {
        let subject = self.expand_fully(subject);
        let before = self.state.clone();
        let mut output: Option<Stream> = None;
        let mut ends: Option<(State, Option<bool>)> = None;
        // The state of the preceding arm, if it falls through to this one.
        let mut falls: Option<State> = None;
        let mut decided = false;
        for arm in arms {
            let matches = if decided { Some(false) } else { self.arm_matches(&subject, arm) };
            let through = falls.take();
            if matches == Some(false) && through.is_none() {
                let printed = self.aside(|this| this.script(&arm.body));
                add_commands(&mut output, printed);
                continue;
            }
            let patterns_left = self.state.clone();
            match (matches, through) {
                (Some(false), Some(through)) => self.state = through,
                (_, Some(through)) => self.state.merge(&through),
                (_, None) => {}
            }
            let printed = self.script(&arm.body);
            match arm.end {
                ArmEnd::Ends => self.end_branch(&mut output, &mut ends, printed),
                ArmEnd::FallsThrough | ArmEnd::TestsOn => output.get_or_insert_with(Stream::nothing).or(printed),
            }
            decided |= matches == Some(true) && arm.end == ArmEnd::Ends;
            let after = std::mem::replace(&mut self.state, patterns_left);
            match arm.end {
                ArmEnd::Ends => {}
                ArmEnd::FallsThrough => falls = Some(after),
                ArmEnd::TestsOn => self.state.merge(&after),
            }
        }
        if let Some(through) = falls {
            self.state = through;
            self.end_branch(&mut output, &mut ends, Stream::nothing());
            self.state = before;
        }
        if !decided {
            self.end_branch(&mut output, &mut ends, Stream::nothing());
        }
        self.status = None;
        let output = self.end_branches(output, ends);
        self.status = None;
        output
    }

    fn arm_matches(&mut self, subject: &Value, arm: &Arm) -> Option<bool> {
        let mut known = Some(false);
        for pattern in &arm.patterns {
            let pattern = self.pattern(pattern);
            match (subject.literal(), pattern) {
                (Some(subject), Some(pattern)) => match pattern.matches(&subject) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => known = None,
                },
                (None, Some(pattern)) if pattern.fits_all() => return Some(true),
                (None, _) | (_, None) => known = None,
            }
        }
        known
    }

    pub(super) fn function_node(&mut self, name: &str, body: &std::rc::Rc<Node>) -> Stream {
        self.state.define(name, body.clone());
        if self.state.is_full() {
            self.exhaust(self.place);
        }
        self.status = Some(true);
        Stream::nothing()
    }
}

fn add_commands(output: &mut Option<Stream>, printed: Stream) {
    output.get_or_insert_with(Stream::nothing).commands.extend(printed.commands);
}
