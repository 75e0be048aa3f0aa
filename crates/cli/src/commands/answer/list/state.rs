//! State of the open list, and the effect of each key.

use crate::terminal::screen::Key;
use crate::terminal::visible::visible;
use reflex_host::answers::{
    clear, counts, covers, give, obstacle, once, refuse, reject, scoped, usual_length, usual_length_in_words,
    written_length,
};
use reflex_host::person::Person;
use reflex_host::signing::{InForce, Signer};
use reflex_host::store::Store;
use reflex_host::store::approvals::{Grant, Pending, Scope};
use reflex_host::{Host, Instead, Mode};
use std::time::{Duration, Instant};

/// The question at the lower edge of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// No question: keys are commands.
    None,
    /// Confirmation of a yes.
    Approval(Box<Grant>),
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

const APPROVED: &str = "approved; a hook that waits lets it run now";

/// Time after a change of the shown call in which keys do not answer: they were meant for the call before.
const SETTLES: Duration = Duration::from_millis(500);

/// Whether the list stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Stay,
    End,
}

/// The open list of waiting calls.
pub(super) struct List<'l> {
    store: &'l Store,
    person: &'l Person,
    signer: &'l Signer,
    /// Whether programs can press keys in this terminal.
    is_shared: bool,
    /// Newest first.
    pub(super) calls: Vec<Pending>,
    /// Id of the selected call. New calls do not move the selection.
    pub(super) chosen: String,
    /// When the shown call last became another one.
    changed: Instant,
    /// Index of the first visible line of the details.
    pub(super) top: usize,
    /// Number of lines in the details, and number of them that fit.
    pub(super) story: (usize, usize),
    /// Ids of the calls that were shown in full.
    pub(super) seen: Vec<String>,
    pub(super) question: Question,
    /// Text typed in answer to the question.
    pub(super) typed: String,
    /// Result of the last key.
    pub(super) message: String,
    /// Names of the modes in force.
    pub(super) mode: String,
}

impl<'l> List<'l> {
    pub(super) fn new(store: &'l Store, person: &'l Person, signer: &'l Signer, is_shared: bool) -> List<'l> {
        List {
            store,
            person,
            signer,
            is_shared,
            calls: Vec::new(),
            chosen: String::new(),
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

    /// Replaces the waiting calls. Drops a question about a call that no longer waits.
    pub(super) fn take(&mut self, calls: Vec<Pending>) {
        // A call that returns with other content counts as unseen: its effects may have changed.
        let changed = |id: &String| {
            let of = |calls: &[Pending]| calls.iter().find(|call| call.id == *id).map(|call| call.exact.clone());
            of(&calls) != of(&self.calls)
        };
        self.seen.retain(|id| !changed(id));
        let modes = self.store.modes();
        self.mode = visible(&modes.iter().map(|mode| mode.name.as_str()).collect::<Vec<_>>().join(", "));
        let (place, before) = (self.place(), self.call().map(|call| (call.id.clone(), call.exact.clone())));
        self.calls = calls;
        if self.call().is_none() {
            // The next call moves up to the place of one that is gone.
            self.choose(place.min(self.calls.len().saturating_sub(1)));
        }
        if self.call().map(|call| (call.id.clone(), call.exact.clone())) != before {
            self.changed = Instant::now();
            if !matches!(self.question, Question::None | Question::Help | Question::Clear) {
                self.question = Question::None;
                self.message = "that call no longer waits, or came again as another".into();
            }
        }
    }

    /// Returns the number of calls whose hook waits now, and of those that were stopped earlier.
    pub(super) fn counts(&self) -> (usize, usize) {
        counts(&self.calls)
    }

    /// Returns the selected call.
    pub(super) fn call(&self) -> Option<&Pending> {
        self.calls.iter().find(|call| call.id == self.chosen)
    }

    /// Returns the index of the selected call in the list.
    pub(super) fn place(&self) -> usize {
        self.calls.iter().position(|call| call.id == self.chosen).unwrap_or(0)
    }

    fn choose(&mut self, place: usize) {
        self.chosen = self.calls.get(place).map(|call| call.id.clone()).unwrap_or_default();
        self.changed = Instant::now();
        self.top = 0;
    }

    /// Handles keys that arrived at once. A person presses one after the other; more are a paste or were typed before
    /// this was on the screen, so they answer nothing.
    pub(super) fn press(&mut self, keys: &[Key]) -> Next {
        if keys.contains(&Key::Cancel) {
            return Next::End;
        }
        match keys {
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
        }
    }

    fn is_typing(&self) -> bool {
        matches!(
            self.question,
            Question::Proof(_) | Question::Length(_) | Question::Reason(..) | Question::Message | Question::Edit
        )
    }

    fn press_one(&mut self, key: Key) -> Next {
        match &self.question {
            Question::None => return self.command(key),
            Question::Help => self.question = Question::None,
            Question::Approval(_) | Question::No | Question::Scope | Question::Edited(_) | Question::Clear => {
                self.choice(key);
            }
            Question::Proof(_) | Question::Length(_) | Question::Reason(..) | Question::Message | Question::Edit => {
                self.line(key);
            }
        }
        Next::Stay
    }

    fn command(&mut self, key: Key) -> Next {
        self.message.clear();
        let (place, last) = (self.place(), self.calls.len().saturating_sub(1));
        let (lines, room) = self.story;
        let bottom = lines.saturating_sub(room);
        if matches!(key, Key::Char('a' | 'A' | 'd' | 'm' | 'e')) && self.changed.elapsed() < SETTLES {
            self.message = "the call shown has just changed: press the key again".into();
            return Next::Stay;
        }
        match key {
            Key::Char('q') | Key::Escape => return Next::End,
            Key::Char('?') => self.question = Question::Help,
            Key::Char('j') | Key::Down => self.choose(place.saturating_add(1).min(last)),
            Key::Char('k') | Key::Up => self.choose(place.saturating_sub(1)),
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
            Some(problem) => Err(problem),
            None => scoped(once(call, self.person, reason), call, scope, length),
        };
        match grant {
            Ok(grant) if self.is_shared => self.ask(Question::Proof(Box::new(grant))),
            Ok(grant) => self.question = Question::Approval(Box::new(grant)),
            Err(problem) => self.message = visible(&problem),
        }
    }

    fn ask_edit(&mut self) {
        let command = self.call().and_then(|call| call.again.as_ref()?.get("command")?.as_str().map(str::to_owned));
        match command {
            Some(command) => {
                self.question = Question::Edit;
                self.typed = command;
            }
            None => self.message = "only a command that was kept in full can be edited".into(),
        }
    }

    /// Handles a key for a question that one key answers.
    fn choice(&mut self, key: Key) {
        let question = std::mem::replace(&mut self.question, Question::None);
        if question == Question::Clear {
            if key == Key::Char('y') {
                let done = clear(self.store, self.person);
                self.done(done.map(drop), "cleared; those calls stay blocked");
            } else {
                self.message = "not cleared".into();
            }
            return;
        }
        let Some(call) = self.call().cloned() else { return };
        match (question, key) {
            (Question::Approval(grant), Key::Char('y')) => {
                let done = give(self.store, (&call, &grant), self.signer);
                self.done(done, APPROVED);
            }
            (Question::No, Key::Char('y')) => {
                let done = reject(self.store, &call, self.person, "");
                self.done(done, "denied; it stays blocked");
            }
            (Question::Scope, Key::Char(ch)) => match Scope::ALL.iter().find(|(_, name)| name.starts_with(ch)) {
                Some((scope, _)) => self.ask(Question::Length(*scope)),
                None => self.message = "not approved".into(),
            },
            (Question::Edited(instead), Key::Char('y')) => {
                let done = refuse(self.store, (&call, self.person), &instead.message, self.signer);
                self.done(done, "denied; the agent receives that command instead");
            }
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
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Cancel | Key::Nothing => {}
        }
    }

    fn entered(&mut self) {
        let question = std::mem::replace(&mut self.question, Question::None);
        let input = std::mem::take(&mut self.typed);
        let typed = input.trim();
        let Some(call) = self.call().cloned() else { return };
        match question {
            Question::Length(scope) => {
                let length = if typed.is_empty() { Ok(usual_length(scope)) } else { written_length(typed) };
                match length {
                    Ok(length) if scope == Scope::Once => self.ask_approval(scope, length, ""),
                    Ok(length) => self.ask(Question::Reason(scope, length)),
                    Err(problem) => self.message = visible(&problem),
                }
            }
            Question::Reason(scope, length) => self.ask_approval(scope, length, typed),
            Question::Proof(grant) => {
                let proof = typed.to_owned();
                self.proven((&call, &grant), if self.is_signed() { input } else { proof });
            }
            Question::Message if typed.is_empty() => self.message = "no message was entered".into(),
            Question::Message => {
                let done = refuse(self.store, (&call, self.person), typed, self.signer);
                self.done(done, "denied; the agent receives the message");
            }
            Question::Edit => match Host::new(Mode::default()).instead(&call, typed) {
                Ok(instead) => self.question = Question::Edited(Box::new(instead)),
                Err(problem) => self.message = visible(&problem),
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

    /// Records a yes that only a person can have typed: a program knows neither the passphrase nor the id.
    fn proven(&mut self, (call, grant): (&Pending, &Grant), proof: String) {
        let done = if self.is_signed() {
            let signer = self.store.signer(|| Some(proof));
            signer.and_then(|signer| give(self.store, (call, grant), &signer))
        } else if proof == call.id {
            give(self.store, (call, grant), self.signer)
        } else {
            Err("that is not the id of the call".into())
        };
        if done.is_err() {
            // Further input still belongs to the question: as list keys it could deny or edit a call.
            self.question = Question::Proof(Box::new(grant.clone()));
        }
        self.done(done, APPROVED);
    }

    fn done(&mut self, done: Result<(), String>, message: &str) {
        self.message = done.map_or_else(|problem| visible(&problem), |()| message.to_owned());
    }

    /// Returns the beginning of the selected call, for a question about it.
    fn named(&self) -> String {
        const MAX_CHARS: usize = 60;
        let text = self.call().map(|call| visible(call.text.lines().next().unwrap_or(""))).unwrap_or_default();
        let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(end, _)| end);
        let cut = if end < text.len() { "…" } else { "" };
        format!("`{}{cut}`:", text.get(..end).unwrap_or(""))
    }

    /// Returns the question at the lower edge as a sentence.
    pub(super) fn asked(&self) -> String {
        let typed = visible(&self.typed);
        match &self.question {
            Question::None | Question::Help => self.message.clone(),
            Question::Approval(grant) => {
                format!("{} {} y: yes, any other key: no", self.named(), visible(&covers(grant)))
            }
            Question::Proof(grant) => {
                let again = if self.message.is_empty() { String::new() } else { format!("{}. ", self.message) };
                let (wanted, typed) =
                    if self.is_signed() { ("Passphrase", "") } else { ("Type the call's id", typed.as_str()) };
                let (call, covers) = (self.named(), visible(&covers(grant)));
                format!("{again}{call} {covers} {wanted} to approve it (Esc: no): {typed}_")
            }
            Question::Scope => "Approve for: o once, s session, t task, r repository".into(),
            Question::Length(scope) => {
                format!("Duration, e.g. 10m or 2h (Enter: {}): {typed}_", usual_length_in_words(*scope))
            }
            Question::Reason(..) => format!("Reason: {typed}_"),
            Question::No => "Deny it? y: yes, any other key: no".into(),
            Question::Message => format!("Deny it, and tell the agent: {typed}_"),
            Question::Edit => format!("Command to run instead: {typed}_"),
            Question::Edited(instead) => {
                let (message, verdict) = (visible(&instead.message), visible(&instead.verdict));
                format!("Deny it and tell the agent: {message}? Judged: {verdict}. y: yes, any other key: no")
            }
            Question::Clear => {
                format!("Clear {} stopped earlier from the list? They stay blocked. y: yes", calls(self.counts().1))
            }
        }
    }
}

/// Returns a number of calls in words.
fn calls(count: usize) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{count} calls") }
}
