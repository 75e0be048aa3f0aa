//! State of the open list, and the effect of each key.

use crate::terminal::screen::Key;
use crate::terminal::visible::visible;
use reflex_host::answers::{
    AnswerError, clear, counts, covers, give, obstacle, once, refuse, reject, scoped, usual_length,
    usual_length_in_words, written_length,
};
use reflex_host::person::Person;
use reflex_host::signing::{InForce, Signer};
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::{Context, Instead, Mode};
use std::time::{Duration, Instant};

/// The question at the lower edge of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// No question: keys are commands.
    None,
    /// Confirmation of a yes.
    Approval(Box<Grant>),
    /// The call's id, as the yes to a call that no hook waits for: that takes more than a key.
    Id(Box<Grant>),
    /// Confirmation where programs can press keys too. The passphrase is the yes; without one it is the call's id,
    /// which an agent may not write.
    Proof(Box<Grant>),
    /// Scope of the yes.
    Scope,
    /// Duration of the yes.
    Length(Scope),
    /// Reason for the yes.
    Reason(Scope, u64),
    /// Confirmation of a denial.
    No,
    /// Message passed to the agent with the denial.
    Message,
    /// Command that the agent should run instead.
    Edit,
    /// Confirmation of that command, whose verdict is shown.
    Edited(Box<Instead>),
    /// Confirmation that the calls stopped earlier leave the list.
    Clear,
    /// Overview of the keys.
    Help,
}

/// The part of the list that is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    /// The calls that wait, and the selected one of them in full.
    Waiting,
    /// The calls that were stopped earlier, one line each. None of them can be answered here.
    Earlier,
    /// One of those calls, opened.
    Opened,
}

/// Time after a change of the shown call in which keys do not answer: they were meant for the call before.
const SETTLES: Duration = Duration::from_millis(500);

/// Interval at which an answer that is being typed extends the wait of its hook.
const EXTENDS: Duration = Duration::from_secs(5);

/// Whether the list stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Stay,
    End,
}

/// The open list of waiting calls.
pub(super) struct List<'l> {
    context: &'l Context,
    store: Store,
    person: &'l Person,
    signer: &'l Signer,
    /// Whether programs can press keys in this terminal.
    is_shared: bool,
    /// First those that wait, then those that were stopped earlier, each newest first.
    pub(super) calls: Vec<Pending>,
    pub(super) pane: Pane,
    /// Id of the call on the screen; empty without one.
    chosen: String,
    /// Id of the marked line among the calls that were stopped earlier.
    marked: String,
    /// The call as it was shown when its answer was begun.
    answered: Option<Pending>,
    /// When the wait for that answer was last extended.
    extended: Instant,
    /// When the shown call last became another one.
    pub(super) changed: Instant,
    /// Index of the first visible line of the details.
    pub(super) top: usize,
    /// Number of lines in the details, and number of them that fit.
    pub(super) story: (usize, usize),
    /// Ids of the calls that were shown in full.
    pub(super) seen: Vec<String>,
    pub(super) question: Question,
    /// Text typed in answer to the question.
    pub(super) typed: String,
    /// Result of the last key, or what happened since.
    pub(super) message: String,
    /// Names of the modes in force.
    pub(super) mode: String,
}

impl<'l> List<'l> {
    pub(super) fn new(context: &'l Context, person: &'l Person, signer: &'l Signer, is_shared: bool) -> List<'l> {
        List {
            context,
            store: context.store(),
            person,
            signer,
            is_shared,
            calls: Vec::new(),
            pane: Pane::Waiting,
            chosen: String::new(),
            marked: String::new(),
            answered: None,
            extended: Instant::now(),
            changed: Instant::now(),
            top: 0,
            story: (0, 0),
            seen: Vec::new(),
            question: Question::None,
            typed: String::new(),
            message: String::new(),
            mode: String::new(),
        }
    }

    /// Replaces the calls. A call that begins to wait takes the screen, unless an answer was begun. Drops a question
    /// about a call that was answered elsewhere or came again as another.
    pub(super) fn take(&mut self, calls: Vec<Pending>) {
        // A call that returns with other content counts as unseen: its effects may have changed.
        let changed = |id: &String| {
            let of = |calls: &[Pending]| calls.iter().find(|call| call.id == *id).map(|call| call.exact.clone());
            of(&calls) != of(&self.calls)
        };
        self.seen.retain(|id| !changed(id));
        let is_replaced = !self.chosen.is_empty() && changed(&self.chosen);
        let waited = |call: &Pending| self.calls.iter().any(|old| old.id == call.id && old.waits());
        let arrived: Vec<Pending> = calls.iter().filter(|call| call.waits() && !waited(call)).cloned().collect();
        let modes = self.store.modes();
        self.mode = visible(&modes.iter().map(|mode| mode.name.as_str()).collect::<Vec<_>>().join(", "));
        self.calls = calls;
        if is_replaced {
            self.answered = None;
            self.question = Question::None;
            self.message = "the call shown was answered elsewhere, or came again as another".into();
        }
        if self.answered.is_some() {
            return;
        }
        self.mark_one();
        if let Some(next) = soonest(&arrived).filter(|_| self.pane != Pane::Waiting || !self.shows_waiting()) {
            if !is_replaced {
                self.message.clear();
            }
            self.question = Question::None;
            self.pane = Pane::Waiting;
            self.show(&next.id);
        } else if is_replaced || self.pane == Pane::Waiting && !self.shows_waiting() {
            if !is_replaced && let Some(call) = self.call() {
                self.message = format!("{}: its hook has ended; Tab shows what was stopped earlier", named(call));
            }
            self.leave();
        }
    }

    /// Shows the waiting call whose hook gives up first, or no call.
    fn show_waiting(&mut self) {
        self.pane = Pane::Waiting;
        let next = soonest(&self.calls).map(|call| call.id.clone());
        self.show(&next.unwrap_or_default());
    }

    /// Shows no call, but the lines of those that were stopped earlier.
    fn show_earlier(&mut self) {
        self.mark_one();
        self.pane = Pane::Earlier;
        self.show("");
    }

    /// Leaves the call on the screen for the next one that waits, or for the list that it was opened in.
    fn leave(&mut self) {
        if self.pane == Pane::Waiting || self.counts().0 > 0 { self.show_waiting() } else { self.show_earlier() }
    }

    fn show(&mut self, id: &str) {
        if self.chosen != id {
            self.changed = Instant::now();
        }
        self.chosen = id.to_owned();
        self.top = 0;
    }

    /// Whether the call on the screen waits.
    fn shows_waiting(&self) -> bool {
        self.call().is_some_and(Pending::waits)
    }

    /// Returns the number of calls whose hook waits now, and of those that were stopped earlier.
    pub(super) fn counts(&self) -> (usize, usize) {
        counts(&self.calls)
    }

    /// Returns the calls of the list on the screen.
    pub(super) fn listed(&self) -> Vec<&Pending> {
        self.calls.iter().filter(|call| call.waits() == (self.pane == Pane::Waiting)).collect()
    }

    /// Returns the call on the screen.
    pub(super) fn call(&self) -> Option<&Pending> {
        self.calls.iter().find(|call| call.id == self.chosen)
    }

    /// Whether the line of this call is marked.
    pub(super) fn is_marked(&self, call: &Pending) -> bool {
        call.id == if self.pane == Pane::Waiting { &*self.chosen } else { &*self.marked }
    }

    /// Handles keys that arrived at once. A person presses one after the other; more are a paste or were typed before
    /// this was on the screen, so they answer nothing.
    pub(super) fn press(&mut self, keys: &[Key]) -> Next {
        if keys.contains(&Key::Cancel) {
            return Next::End;
        }
        let next = match keys {
            [key] => self.press_one(*key),
            keys if self.is_typing() => {
                let typed = keys.iter().filter_map(|key| if let Key::Char(ch) = key { Some(*ch) } else { None });
                self.typed.extend(typed);
                Next::Stay
            }
            _ => {
                self.message = "several keys came at once and were ignored".into();
                Next::Stay
            }
        };
        self.begin_or_end_answer();
        next
    }

    /// Notes the call that a question is about, as it was shown, and gives its person time.
    fn begin_or_end_answer(&mut self) {
        if matches!(self.question, Question::None | Question::Help | Question::Clear) {
            // Calls that began to wait meanwhile did not take the screen.
            let is_over = self.answered.take().is_some() && !self.shows_waiting();
            if is_over && (self.pane == Pane::Waiting || self.counts().0 > 0) {
                self.leave();
            }
        } else if self.answered.is_none() {
            self.answered = self.call().cloned();
            self.extend();
        }
    }

    /// Extends the wait of the hook for whose call an answer is being typed.
    pub(super) fn keep_waiting(&mut self) {
        if self.answered.is_some() && self.extended.elapsed() >= EXTENDS {
            self.extend();
        }
    }

    fn extend(&mut self) {
        let Some(call) = &self.answered else { return };
        self.extended = Instant::now();
        if let Some(until) = self.store.extend_wait(&call.id)
            && let Some(shown) = self.calls.iter_mut().find(|shown| shown.id == call.id)
        {
            shown.until = until;
        }
    }

    fn is_typing(&self) -> bool {
        matches!(
            self.question,
            Question::Id(_)
                | Question::Proof(_)
                | Question::Length(_)
                | Question::Reason(..)
                | Question::Message
                | Question::Edit
        )
    }

    fn press_one(&mut self, key: Key) -> Next {
        match &self.question {
            Question::None => return self.command(key),
            Question::Help => self.question = Question::None,
            Question::Approval(_) | Question::No | Question::Scope | Question::Edited(_) | Question::Clear => {
                self.choice(key);
            }
            Question::Id(_)
            | Question::Proof(_)
            | Question::Length(_)
            | Question::Reason(..)
            | Question::Message
            | Question::Edit => self.line(key),
        }
        Next::Stay
    }

    fn command(&mut self, key: Key) -> Next {
        if key == Key::Nothing {
            return Next::Stay;
        }
        self.message.clear();
        let (lines, room) = self.story;
        let bottom = lines.saturating_sub(room);
        if matches!(key, Key::Char('a' | 'A' | 'd' | 'm' | 'e')) && self.changed.elapsed() < SETTLES {
            self.message = "the call shown has just changed: press the key again".into();
            return Next::Stay;
        }
        match key {
            Key::Escape if self.pane != Pane::Waiting => self.back(),
            Key::Char('q') | Key::Escape => return Next::End,
            Key::Char('?') => self.question = Question::Help,
            Key::Tab => self.turn(),
            Key::Enter if self.pane == Pane::Earlier => self.open(),
            Key::Char('j') | Key::Down => self.step(1),
            Key::Char('k') | Key::Up => self.step(-1),
            Key::Char(' ') | Key::PageDown => self.top = (self.top + room.max(1)).min(bottom),
            Key::Char('b') | Key::PageUp => self.top = self.top.saturating_sub(room.max(1)),
            Key::Char('a') => self.ask_approval(Scope::Once, usual_length(Scope::Once), ""),
            Key::Char('A') => self.ask(Question::Scope),
            Key::Char('d') => self.ask(Question::No),
            Key::Char('m') => self.ask(Question::Message),
            Key::Char('e') => self.ask_edit(),
            Key::Char('C') if self.counts().1 > 0 => self.question = Question::Clear,
            Key::Char(_) | Key::Enter | Key::Backspace | Key::Cancel | Key::Nothing => {}
        }
        Next::Stay
    }

    /// Switches between the calls that wait and those that were stopped earlier.
    fn turn(&mut self) {
        if self.pane == Pane::Waiting { self.show_earlier() } else { self.show_waiting() }
    }

    /// Marks the first of the calls that were stopped earlier if the marked one is gone.
    fn mark_one(&mut self) {
        let mut earlier = self.calls.iter().filter(|call| !call.waits());
        if !earlier.clone().any(|call| call.id == self.marked) {
            self.marked = earlier.next().map(|call| call.id.clone()).unwrap_or_default();
        }
    }

    fn back(&mut self) {
        if self.pane == Pane::Opened { self.show_earlier() } else { self.show_waiting() }
    }

    /// Opens the marked call.
    fn open(&mut self) {
        let marked = self.marked.clone();
        if self.listed().iter().any(|call| call.id == marked) {
            self.pane = Pane::Opened;
            self.show(&marked);
        }
    }

    /// Marks the next or the previous call of the list on the screen; one that was opened stays open.
    fn step(&mut self, by: isize) {
        let listed = self.listed();
        let at = listed.iter().position(|call| self.is_marked(call)).unwrap_or(0);
        let at = at.saturating_add_signed(by).min(listed.len().saturating_sub(1));
        let id = listed.get(at).map(|call| call.id.clone()).unwrap_or_default();
        match self.pane {
            Pane::Waiting => self.show(&id),
            Pane::Earlier => self.marked = id,
            Pane::Opened => {}
        }
    }

    fn ask(&mut self, question: Question) {
        if self.call().is_some() {
            self.typed.clear();
            self.question = question;
        }
    }

    /// Asks for confirmation of a yes, if the call that was shown can be approved.
    fn ask_approval(&mut self, scope: Scope, length: u64, reason: &str) {
        self.question = Question::None;
        let Some(call) = self.call() else { return };
        if !self.seen.contains(&call.id) {
            self.message = "this call continues below: view all of it first (space)".into();
            return;
        }
        let grant = match obstacle(call) {
            Some(problem) => Err(AnswerError::Obstacle(problem)),
            None => scoped(once(call, self.person, reason), call, scope, length),
        };
        match grant {
            Ok(grant) if self.pane == Pane::Opened => self.ask(Question::Id(Box::new(grant))),
            Ok(grant) if self.is_shared => self.ask(Question::Proof(Box::new(grant))),
            Ok(grant) => self.question = Question::Approval(Box::new(grant)),
            Err(problem) => self.message = visible(&problem.to_string()),
        }
    }

    fn ask_edit(&mut self) {
        let Some(call) = self.call() else { return };
        match call.again.as_ref().and_then(|again| again.get("command")?.as_str()).map(str::to_owned) {
            Some(command) => {
                self.question = Question::Edit;
                self.typed = command;
            }
            None => self.message = "only a command that was kept in full can be edited".into(),
        }
    }

    /// Handles a key for a question that one key answers.
    fn choice(&mut self, key: Key) {
        if key == Key::Nothing {
            return;
        }
        let question = std::mem::replace(&mut self.question, Question::None);
        if question == Question::Clear {
            self.message = if key != Key::Char('y') {
                "not cleared".into()
            } else if let Err(problem) = clear(&self.store, self.person) {
                visible(&problem.to_string())
            } else {
                "cleared; those calls stay blocked".into()
            };
            return;
        }
        let Some(call) = self.answered.clone() else { return };
        match (question, key) {
            (Question::Approval(grant), Key::Char('y')) => self.give(&call, &grant, self.signer),
            (Question::No, Key::Char('y')) => {
                let done = reject(&self.store, &call, self.person, "");
                self.done(&call, done.map(|()| "denied; it stays blocked"));
            }
            (Question::Scope, Key::Char(ch)) => match Scope::ALL.iter().find(|(_, name)| name.starts_with(ch)) {
                Some((scope, _)) => self.ask(Question::Length(*scope)),
                None => self.message = "not approved".into(),
            },
            (Question::Edited(instead), Key::Char('y')) => self.refuse(&call, &instead.message),
            (Question::Edited(_), _) => self.message = "not sent".into(),
            (Question::Approval(_) | Question::Scope, _) => self.message = "not approved".into(),
            _ => {}
        }
    }

    /// Handles a key while a line is typed.
    fn line(&mut self, key: Key) {
        match key {
            Key::Char(ch) => self.typed.push(ch),
            Key::Backspace => drop(self.typed.pop()),
            Key::Escape => self.question = Question::None,
            Key::Enter => self.entered(),
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Tab | Key::Cancel | Key::Nothing => {}
        }
    }

    fn entered(&mut self) {
        let question = std::mem::replace(&mut self.question, Question::None);
        let input = std::mem::take(&mut self.typed);
        let typed = input.trim();
        let Some(call) = self.answered.clone() else { return };
        match question {
            Question::Length(scope) => {
                let length = if typed.is_empty() { Ok(usual_length(scope)) } else { written_length(typed) };
                match length {
                    Ok(length) if scope == Scope::Once => self.ask_approval(scope, length, ""),
                    Ok(length) => self.ask(Question::Reason(scope, length)),
                    Err(problem) => self.message = visible(&problem.to_string()),
                }
            }
            Question::Reason(scope, length) => self.ask_approval(scope, length, typed),
            Question::Id(grant) if typed != call.id => {
                self.message = "that is not the id of the call".into();
                self.question = Question::Id(grant);
            }
            // Programs can press keys here, so with a passphrase an id proves nothing.
            Question::Id(grant) if self.is_shared && self.is_signed() => self.ask(Question::Proof(grant)),
            Question::Id(grant) => self.give(&call, &grant, self.signer),
            Question::Proof(grant) => self.prove(&call, *grant, input),
            Question::Message if typed.is_empty() => self.message = "no message was entered".into(),
            Question::Message => self.refuse(&call, typed),
            Question::Edit => match self.context.host(Mode::default()).instead(&call, typed) {
                Ok(instead) => self.question = Question::Edited(Box::new(instead)),
                Err(problem) => self.message = visible(&problem.to_string()),
            },
            Question::None
            | Question::Approval(_)
            | Question::Scope
            | Question::No
            | Question::Edited(_)
            | Question::Clear
            | Question::Help => {}
        }
    }

    /// Whether a yes requires the passphrase.
    fn is_signed(&self) -> bool {
        *self.store.key_in_force() != InForce::Unprotected
    }

    fn give(&mut self, call: &Pending, grant: &Grant, signer: &Signer) {
        let done = give(&self.store, (call, grant), signer);
        self.done(call, done.map(|reaches| reaches.approved()));
    }

    fn refuse(&mut self, call: &Pending, message: &str) {
        let done = refuse(&self.store, (call, self.person), message, self.signer);
        self.done(call, done.map(|reaches| reaches.refused()));
    }

    /// Records a yes that only a person can have typed: a program knows neither the passphrase nor the id.
    fn prove(&mut self, call: &Pending, grant: Grant, input: String) {
        let done = if self.is_signed() {
            let signer = self.store.signer(|| Some(input));
            signer.map_err(AnswerError::from).and_then(|signer| give(&self.store, (call, &grant), &signer))
        } else if input.trim() == call.id {
            give(&self.store, (call, &grant), self.signer)
        } else {
            Err(AnswerError::OtherId)
        };
        if done.is_err() {
            // Further input still belongs to the question: as list keys it could deny or edit a call.
            self.question = Question::Proof(Box::new(grant));
        }
        self.done(call, done.map(|reaches| reaches.approved()));
    }

    /// Says what became of an answer, and shows the next call that waits.
    fn done(&mut self, call: &Pending, done: Result<&'static str, AnswerError>) {
        match done {
            Ok(said) => {
                self.message = format!("{}: {said}", named(call));
                self.answered = None;
                self.calls.retain(|other| other.id != call.id);
                self.leave();
            }
            Err(problem) => self.message = visible(&problem.to_string()),
        }
    }

    /// Returns the question at the lower edge as a sentence.
    pub(super) fn asked(&self) -> String {
        let typed = visible(&self.typed);
        let call = self.answered.as_ref().map(named).unwrap_or_default();
        let again = if self.message.is_empty() { String::new() } else { format!("{}. ", self.message) };
        match &self.question {
            Question::None | Question::Help => self.message.clone(),
            Question::Approval(grant) => format!("{call}: {} y: yes, any other key: no", visible(&covers(grant))),
            Question::Id(grant) => {
                let covers = visible(&covers(grant));
                format!(
                    "{again}{call}: {covers} No hook waits for it. Type its id to approve its next try (Esc: no): {typed}_"
                )
            }
            Question::Proof(grant) => {
                let (wanted, typed) =
                    if self.is_signed() { ("Passphrase", "") } else { ("Type the call's id", typed.as_str()) };
                format!("{again}{call}: {} {wanted} to approve it (Esc: no): {typed}_", visible(&covers(grant)))
            }
            Question::Scope => format!("{call}: approve for o once, s session, t task, r repository"),
            Question::Length(scope) => {
                let usual = usual_length_in_words(*scope);
                format!("{call}: approve for how long, e.g. 10m or 2h (Enter: {usual}): {typed}_")
            }
            Question::Reason(..) => format!("{call}: approve, because: {typed}_"),
            Question::No => format!("{call}: deny it? y: yes, any other key: no"),
            Question::Message => format!("{call}: deny it, and tell the agent: {typed}_"),
            Question::Edit => format!("{call}: command to run instead: {typed}_"),
            Question::Edited(instead) => {
                let (message, verdict) = (visible(&instead.message), visible(&instead.verdict));
                format!("{call}: deny it and tell the agent: {message}? Judged: {verdict}. y: yes, any other key: no")
            }
            Question::Clear => {
                format!("Clear {} stopped earlier from the list? They stay blocked. y: yes", calls(self.counts().1))
            }
        }
    }

    /// Returns a line about other calls for a person who answers one; empty if nothing changed.
    pub(super) fn news(&self) -> String {
        let Some(answered) = &self.answered else { return String::new() };
        let is_over = answered.until > 0 && !self.shows_waiting();
        let over = if is_over { "too late for this try: its hook has ended. " } else { "" };
        let others: Vec<&Pending> = self.calls.iter().filter(|call| call.waits() && call.id != answered.id).collect();
        let next = soonest(&others).map(|call| format!("waits too: {}", named(call))).unwrap_or_default();
        format!("{over}{next}").trim_end().to_owned()
    }
}

/// Returns the waiting call whose hook gives up first.
fn soonest<C: std::borrow::Borrow<Pending>>(calls: &[C]) -> Option<&Pending> {
    calls.iter().map(std::borrow::Borrow::borrow).filter(|call| call.waits()).min_by_key(|call| call.until)
}

/// Returns the beginning of a call, for a sentence about it.
fn named(call: &Pending) -> String {
    format!("`{}`", visible(&call.title()))
}

/// Returns a number of calls in words.
fn calls(count: usize) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}
