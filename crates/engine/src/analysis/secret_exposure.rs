//! Keys and passwords that a call writes, runs, sends or receives. Each kind becomes an effect of its own.

use super::effects::{EffectExtractor, Input};
use super::replaced::replaced;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::{Action, AgentPath};
use crate::secrets::disguises::{disguised, unescaped};
use crate::secrets::scan::{Secret, find};
use crate::text::url;
use reflex_shell::{Command, CommandId, Origin, Reading, Span, Stdin, Value};
use std::borrow::Cow;

/// Maximum number of kinds reported for one text.
const MAX_KINDS: usize = 8;

/// Destination of a secret.
struct Goes {
    flag: &'static str,
    /// `home` if it goes only to hosts of its own service, `elsewhere` if it goes to another one.
    whither: Option<&'static str>,
    targets: Vec<Target>,
    command: Option<CommandId>,
}

/// Adds the effects of the secrets in a tool's output.
pub(super) fn add_of_output(input: Input<'_>, analysis: &mut Analysis) {
    if let Some(outcome) = &input.event.outcome {
        EffectExtractor::new(input, 0, &mut analysis.effects).exposed_in(&outcome.output, "output");
    }
}

impl EffectExtractor<'_> {
    /// Adds the effects of the secrets in an action's texts.
    pub(super) fn exposures(&mut self, action: &Action, reading: &Reading) {
        match action {
            Action::Shell { command, .. } => self.exposed_by(command, reading),
            Action::Write { path, content } | Action::Edit { path, content, .. } => {
                self.exposed_in_file(path, content, action);
            }
            Action::Fetch { url } => self.exposed_in_url(url),
            Action::McpCall { arguments: text, .. } => {
                self.exposed_in_json(text, "sent");
                self.exposed_in_disguise(text);
            }
            Action::Other { arguments: text } => self.exposed_in_json(text, "argument"),
            Action::SpawnAgent { prompt: text } | Action::Input { text } => self.exposed_in(text, "argument"),
            Action::Prompt { text } => self.exposed_in(text, "prompt"),
            Action::Read { .. } | Action::Delete { .. } | Action::Search { .. } | Action::Skill { .. } => {}
        }
    }

    /// Secrets already in the replaced content are not written now.
    fn exposed_in_file(&mut self, path: &AgentPath, content: &str, action: &Action) {
        let found = self.secrets_in(content);
        let old = if found.is_empty() { Cow::default() } else { replaced(action, &self.event.cwd, self.world) };
        let is_new = |secret: &Secret| !content.get(secret.span.clone()).is_some_and(|text| old.contains(text));
        for secret in found.into_iter().filter(is_new) {
            let written = path.with_slashes();
            let target =
                self.target(EffectKind::Overwrite, super::agent_paths::agent_path_value(&written), &self.event.cwd);
            self.expose(&secret, Goes { flag: "written", whither: None, targets: vec![target], command: None });
        }
    }

    fn exposed_in(&mut self, text: &str, flag: &'static str) {
        for secret in self.secrets_in(text) {
            self.expose(&secret, Goes { flag, whither: None, targets: Vec::new(), command: None });
        }
    }

    /// Like [`Self::exposed_in`], for JSON arguments: text after `\n` begins a line, and text between `\"` is quoted.
    fn exposed_in_json(&mut self, text: &str, flag: &'static str) {
        let plain = unescaped(text);
        for secret in self.secrets_in(&plain) {
            let word = plain.get(secret.span.clone()).unwrap_or("");
            let span = text.find(word).map_or(0..text.len(), |at| at..at + word.len());
            self.expose(&secret.at(span), Goes { flag, whither: None, targets: Vec::new(), command: None });
        }
    }

    fn exposed_in_url(&mut self, url: &str) {
        for secret in self.secrets_in(url) {
            let whither = whither(&secret, &mut url::far_host(url).into_iter());
            self.expose(&secret, Goes { flag: "sent", whither, targets: Vec::new(), command: None });
        }
        self.exposed_in_disguise(url);
    }

    /// Adds secrets sent in another form: a key written backwards is meant to be hidden.
    fn exposed_in_disguise(&mut self, text: &str) {
        for (span, plain) in disguised(text) {
            for secret in self.secrets_in(&plain) {
                let secret = secret.at(span.clone());
                self.expose(&secret, Goes { flag: "sent", whither: None, targets: Vec::new(), command: None });
            }
        }
    }

    /// Returns each kind of secret in a text once.
    fn secrets_in(&self, text: &str) -> Vec<Secret> {
        let mut found: Vec<Secret> = Vec::new();
        for secret in find(text, self.tables) {
            if found.len() < MAX_KINDS && found.iter().all(|known| known.id() != secret.id()) {
                found.push(secret);
            }
        }
        found
    }

    /// Handles a shell text: a secret goes to the files that its command writes, otherwise it is an argument.
    fn exposed_by(&mut self, text: &str, reading: &Reading) {
        for secret in self.secrets_in(text) {
            let word = text.get(secret.span.clone()).unwrap_or("");
            let holders = holders(word, reading);
            let written: Vec<(CommandId, Vec<Target>)> =
                holders.iter().map(|id| (*id, self.written_by(*id))).filter(|(_, files)| !files.is_empty()).collect();
            // A variable set for the program alone is not part of the message that it records.
            let records = |command: &Command| {
                let set = command.assignments.iter().any(|(_, value)| value.shown().contains(word));
                let in_words = command.words.iter().any(|value| value.shown().contains(word));
                keeps_message(command) && (in_words || !set)
            };
            let message = holders.iter().find(|id| reading.commands.get(**id).is_some_and(records));
            if let Some(id) = message {
                self.expose(&secret, Goes { flag: "message", whither: None, targets: Vec::new(), command: Some(*id) });
            }
            for (id, targets) in &written {
                self.expose(
                    &secret,
                    Goes { flag: "written", whither: None, targets: targets.clone(), command: Some(*id) },
                );
            }
            if message.is_none() && written.is_empty() {
                let whither = self.sent_by(&holders, &secret);
                let command = holders.last().copied();
                self.expose(&secret, Goes { flag: "argument", whither, targets: Vec::new(), command });
            }
        }
    }

    /// Returns whether commands send a secret to its own service or to another one.
    fn sent_by(&self, commands: &[CommandId], secret: &Secret) -> Option<&'static str> {
        let reaches = |effect: &&Effect| {
            let reached = matches!(effect.kind, EffectKind::Fetch | EffectKind::Send | EffectKind::RemoteAccess);
            let ours = effect.action == self.action && effect.script == self.script;
            reached && ours && effect.command.is_some_and(|id| commands.contains(&id))
        };
        let targets = self.effects.iter().filter(reaches).flat_map(|effect| &effect.targets);
        let addresses: Vec<String> = targets.map(Target::shown).collect();
        whither(secret, &mut addresses.iter().filter_map(|address| url::far_host(address)))
    }

    /// Returns the files that a command of the action's own text writes.
    fn written_by(&self, id: CommandId) -> Vec<Target> {
        let writes = |effect: &&Effect| {
            let filled = matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append | EffectKind::Edit);
            filled && effect.action == self.action && effect.script == self.script && effect.command == Some(id)
        };
        self.effects.iter().filter(writes).flat_map(|effect| effect.targets.iter().cloned()).collect()
    }

    fn expose(&mut self, secret: &Secret, goes: Goes) {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let origin =
            Origin { span: Span { start: place(secret.span.start), end: place(secret.span.end) }, derivation: None };
        let mut flags = vec![secret.severity().name(), goes.flag];
        flags.extend(goes.whither);
        flags.sort_unstable();
        let effect = self.effect(EffectKind::ExposeSecret).targets(goes.targets).marks(flags).at(origin);
        let effect = effect.argument(Some(Value::text(secret.about(), origin)));
        self.push(Effect { command: goes.command, ..effect });
    }
}

/// Returns the destination of a secret sent to these hosts; `None` if their owner is unknown.
fn whither(secret: &Secret, hosts: &mut dyn Iterator<Item = &str>) -> Option<&'static str> {
    let mut whither = None;
    for host in hosts {
        whither = if secret.is_of(host)? { whither.or(Some("home")) } else { Some("elsewhere") };
    }
    whither
}

/// Returns the commands with the secret in a word, an assignment or the input, including the later commands of a
/// pipeline, in the order of the text.
fn holders(secret: &str, reading: &Reading) -> Vec<CommandId> {
    let holds = |value: &Value| value.shown().contains(secret);
    let holds_it = |command: &Command| {
        let fed = match &command.stdin {
            Stdin::Text(text) | Stdin::Pipe(_, text) => holds(text),
            Stdin::Inherited | Stdin::File(_) => false,
        };
        fed || command.words.iter().any(holds) || command.assignments.iter().any(|(_, value)| holds(value))
    };
    let mut found: Vec<CommandId> = Vec::new();
    for (id, command) in reading.commands.iter().enumerate() {
        let piped = match &command.stdin {
            Stdin::Pipe(sources, _) => sources.iter().any(|source| found.contains(source)),
            Stdin::Inherited | Stdin::Text(_) | Stdin::File(_) => false,
        };
        if piped || holds_it(command) {
            found.push(id);
        }
    }
    found
}

/// Returns whether the command's words are recorded where everyone with access to the repository reads them.
pub(super) fn keeps_message(command: &Command) -> bool {
    let path = command.invocation.as_ref().map(|invocation| invocation.path.as_slice()).unwrap_or_default();
    matches!(command.name.as_str(), "git" | "gh" | "glab")
        && path
            .first()
            .is_some_and(|word| ["commit", "tag", "notes", "pr", "issue", "release", "gist", "mr"].contains(word))
}
