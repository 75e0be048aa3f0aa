//! The effect of a call on the hooks in an agent's settings, from the resulting text if it can be determined.

use super::agent_settings::SettingsFormat;
use super::call::Call;
use super::git::GitFacts;
use super::switches::{self, Change};
use crate::analysis::aliases;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Action;
use crate::model::path;
use crate::model::truth::Ternary;
use crate::model::world::Untracked;
use reflex_shell::patch::Part;
use reflex_shell::{Command, Stdin, Value};
use std::borrow::Cow;

/// The class of files that contain hooks.
const SETTINGS: &str = "agent-settings";

/// The class of files that set variables of agents.
const ENVIRONMENT: &str = "environment-files";

/// Maximum number of files that are examined of those that are copied into one file.
const MAX_SOURCES: usize = 4;

/// Programs whose arguments never change settings.
const TALKERS: [&str; 8] = ["git", "gh", "glab", "cd", "grep", "rg", "ls", "mkdir"];

/// The hooks in the settings of agents.
#[derive(Clone, Copy)]
pub(crate) struct SettingsFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) git: GitFacts<'f>,
}

impl SettingsFacts<'_> {
    /// Whether this is the effect on the hooks; unknown without a target.
    pub(super) fn hooks_are(&self, change: Change, effect: &Effect, target: Option<&Target>) -> Ternary {
        Ternary::from(target.map(|target| self.hooks(effect, target) == change))
    }

    /// Returns the effect on the hooks in the file that is changed, or on those of the agent that is started.
    fn hooks(&self, effect: &Effect, target: &Target) -> Change {
        const WRITES: [EffectKind; 4] =
            [EffectKind::Overwrite, EffectKind::Append, EffectKind::Edit, EffectKind::Truncate];
        if effect.kind == EffectKind::StartAgent {
            self.hooks_of_agent(effect, target)
        } else if WRITES.contains(&effect.kind) {
            self.hooks_of_file(effect, target)
        } else if effect.kind == EffectKind::PathArgument {
            self.hooks_by_program(effect, target)
        } else {
            Change::Within
        }
    }

    /// Whether git removes uncommitted changes that contain the guard's entry in an agent's settings. Only the usual
    /// settings files are checked, and git is queried for these alone, because the tree may be large.
    pub(super) fn puts_guard_away(&self, effect: &Effect, target: Option<&Target>) -> Ternary {
        let Some(target) = target else { return Ternary::Unknown };
        let real = self.call.real(effect, target);
        let path = self.git.meant(effect, &real);
        let cleans = effect.kind == EffectKind::DiscardUntracked;
        let takes_all = cleans || effect.flags.contains(&"untracked");
        let is_lost = |file: &String| {
            !cleans && self.call.world.uncommitted(file).is_something()
                || takes_all && self.call.world.untracked(file, Untracked::All).is_something()
        };
        let above = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let roots = [&*path, above, &self.call.event.workspace];
        let mut files = roots.into_iter().flat_map(|root| self.settings_below(root));
        Ternary::from(files.any(|file| path::is_within(&file, &path) && self.names_guard(&file) && is_lost(&file)))
    }

    fn names_guard(&self, file: &str) -> bool {
        self.call.world.content(file).is_some_and(|text| switches::names_guard(&text))
    }

    /// Returns the settings files of agents if this folder were their project.
    fn settings_below(&self, root: &str) -> Vec<String> {
        let places = self.call.tables.library().places().get(SETTINGS);
        let patterns = places.iter().flat_map(|place| place.paths().iter());
        let of_projects = patterns.filter(|pattern| !pattern.starts_with(['/', '~']));
        let files = of_projects.map(|pattern| format!("{root}/{pattern}")).flat_map(|file| match file.contains('*') {
            // Among the many files that may be there, only existing ones matter.
            true => self.call.world.expand(&file).known().unwrap_or_default(),
            false => vec![file],
        });
        files.collect()
    }

    /// Returns the effect of settings that are passed to an agent, as a text or in a file.
    fn hooks_of_agent(&self, effect: &Effect, target: &Target) -> Change {
        let class = self.call.tables.library().places().get(SETTINGS);
        let text = target.value.shown();
        if !text.trim_start().starts_with('{')
            && let Some(text) = self.call.lexical(&target.value, effect).and_then(|path| self.text_of(effect, &path))
        {
            let off = switches::switches_off(class, &text);
            return if off { Change::Off } else { Change::Within };
        }
        switches::of_program(class, &text)
    }

    fn hooks_of_file(&self, effect: &Effect, target: &Target) -> Change {
        let class = self.call.tables.library().places().get(SETTINGS);
        let real = self.call.real(effect, target);
        if !self.call.in_class(SETTINGS, &real.path) && self.call.in_class(ENVIRONMENT, &real.path) {
            return self.hooks_of_environment(effect, target, &real.path);
        }
        // Without an existing file, it is unknown which settings the new file supersedes.
        let before = self.call.world.content_before(&real.path);
        let after = match effect.command {
            None => self.written_by_tools(effect, target, before.as_deref()),
            Some(_) => self.written_by_command(effect, target, before.as_deref()),
        };
        if let Some(after) = after {
            let form = SettingsFormat::for_path(self.call.tables, &real.path, &self.call.event.home);
            let change = switches::of_texts(class, form, (before.as_deref(), &after));
            let is_toml = real.path.ends_with(".toml");
            if is_toml && switches::leaves_toml(before.as_deref().unwrap_or(""), &after) {
                return Change::Within.max(change);
            }
            let is_understood = is_toml || [".json", ".jsonc"].iter().any(|ending| real.path.ends_with(ending));
            return if is_understood { change } else { change.max(Change::Within) };
        }
        match self.call.event.actions.get(effect.action) {
            Some(action @ Action::Edit { .. }) if effect.command.is_none() => {
                let parts = parts(action);
                let joined = |text: fn(&Part) -> &str| {
                    parts.iter().flat_map(|part| [part.context.as_str(), text(part), "\n"]).collect::<String>()
                };
                let (removed, content) = (joined(|part| &part.removed), joined(|part| &part.content));
                // The context of a part is unknown.
                switches::of_texts(class, None, (Some(&removed), &content)).max(Change::Within)
            }
            _ => self.hooks_by_program(effect, target),
        }
    }

    /// Returns the effect on the hooks of agents that start with the variables of this file.
    fn hooks_of_environment(&self, effect: &Effect, target: &Target, path: &str) -> Change {
        let class = self.call.tables.library().places().get(ENVIRONMENT);
        let before = self.call.world.content_before(path);
        let after = match effect.command {
            None => self.written_by_tools(effect, target, before.as_deref()),
            Some(_) => self.written_by_command(effect, target, before.as_deref()),
        };
        let written = match (self.call.event.actions.get(effect.action), effect.command) {
            (Some(Action::Edit { content, .. }), None) => content.clone(),
            _ => String::new(),
        };
        switches::of_variables(class, before.as_deref(), after.as_deref().unwrap_or(&written))
    }

    /// Returns the text of a file after the tool actions of this call that change it.
    fn written_by_tools(&self, effect: &Effect, target: &Target, before: Option<&str>) -> Option<String> {
        let mut text = before.map(str::to_owned);
        for action in self.call.event.actions.iter().take(effect.action + 1) {
            let (Action::Write { path, .. } | Action::Edit { path, .. }) = action else { continue };
            if Some(path::absolute(&path.with_slashes(), &self.call.event.cwd).as_str()) != target.path() {
                continue;
            }
            text = if let Action::Write { content, .. } = action {
                Some(content.clone())
            } else {
                parts(action).iter().try_fold(text?, |text, part| applied(&text, part))
            };
        }
        text
    }

    /// Returns the text that a command writes, if its text or the one file that it copies is known.
    fn written_by_command(&self, effect: &Effect, target: &Target, before: Option<&str>) -> Option<String> {
        if effect.kind == EffectKind::Truncate {
            return Some(String::new());
        }
        let command = self.call.analysis.command(effect)?;
        let path = target.path()?;
        let redirected = command.redirects.iter().any(|redirect| redirect.target == target.value);
        if redirected || command.name == "tee" {
            let text = self.written_by_text(effect, path)?;
            let anew = |other: &&Effect| other.kind == EffectKind::Overwrite && other.action == effect.action;
            let mut anew = self.call.analysis.effects.iter().filter(anew).flat_map(|other| &other.targets);
            let adds = effect.kind == EffectKind::Append && !anew.any(|other| other.path() == Some(path));
            return Some(if adds { format!("{}\n{text}", before.unwrap_or("")) } else { text });
        }
        let mut sources = aliases::sources(effect, self.call.analysis).filter_map(Target::path);
        let is_copied = effect.flags.contains(&"place");
        let Some(source) = sources.next().filter(|_| is_copied) else {
            // Reading `/dev/null` is not an effect: the content is empty.
            let is_nothing = |word: &Value| word.literal().as_deref() == Some("/dev/null");
            return (is_copied && command.words.iter().skip(1).any(is_nothing)).then(String::new);
        };
        if sources.next().is_some() { None } else { self.text_of(effect, source) }
    }

    /// Returns the effect of a program of unknown behavior, from its arguments and the files that it reads.
    fn hooks_by_program(&self, effect: &Effect, target: &Target) -> Change {
        let class = self.call.tables.library().places().get(SETTINGS);
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        match self.call.event.actions.get(effect.action) {
            Some(Action::McpCall { arguments, .. } | Action::Other { arguments }) => texts.push(arguments.into()),
            _ => {
                let commands = self.call.analysis.reading(effect).into_iter().flat_map(|reading| &reading.commands);
                commands
                    .filter(|command| !TALKERS.contains(&command.name.as_str()))
                    .for_each(|one| words(one, &mut texts));
            }
        }
        let poured = target.path().map(|path| aliases::poured_into(self.call.analysis, path)).unwrap_or_default();
        texts.extend(poured.iter().take(MAX_SOURCES).filter_map(|path| self.text_of(effect, path)).map(Cow::from));
        let changes = texts.iter().map(|text| switches::of_program(class, text));
        changes.max().unwrap_or(Change::Within)
    }

    /// Returns the content of a file when the effect's command runs: as written earlier in the same text, else as on
    /// disk.
    fn text_of(&self, effect: &Effect, path: &str) -> Option<String> {
        self.written_by_text(effect, path).or_else(|| self.call.world.content(path))
    }

    fn written_by_text(&self, effect: &Effect, path: &str) -> Option<String> {
        let reading = self.call.analysis.reading(effect)?;
        let folder = effect.folder.as_deref().unwrap_or("/");
        let is_it = |name: &str| match name.strip_prefix("~/") {
            Some(rest) => path::absolute(rest, &self.call.event.home) == path,
            None => ["/", &self.call.event.cwd, folder].iter().any(|at| path::absolute(name, at) == path),
        };
        reading.files.iter().find(|(name, _)| is_it(name)).map(|(_, text)| text.clone())
    }
}

/// Adds the arguments of a command and its standard input.
fn words<'c>(command: &'c Command, texts: &mut Vec<Cow<'c, str>>) {
    texts.extend(command.words.iter().skip(1).map(|word| Cow::from(word.shown())));
    match &command.stdin {
        Stdin::Text(text) => texts.push(text.shown().into()),
        Stdin::Inherited | Stdin::Pipe(..) | Stdin::File(_) => {}
    }
}

/// Returns the individual changes of an edit.
fn parts(action: &Action) -> Cow<'_, [Part]> {
    let Action::Edit { content, removed, parts, .. } = action else { return Cow::default() };
    if parts.is_empty() {
        return vec![Part { context: String::new(), removed: removed.clone(), content: content.clone() }].into();
    }
    parts.into()
}

/// Applies one change to the text; `None` if its place is not found. The first line of the context may be a heading
/// from further above, so the context is also tried without it.
fn applied(text: &str, part: &Part) -> Option<String> {
    if part.removed.is_empty() && part.content.is_empty() {
        return Some(text.to_owned());
    }
    let below = part.context.split_once('\n').map_or("", |(_, rest)| rest);
    [part.context.as_str(), below, ""].into_iter().find_map(|context| {
        let old = format!("{context}{}", part.removed);
        let is_found = !old.is_empty() && text.contains(&old);
        is_found.then(|| text.replace(&old, &format!("{context}{}", part.content)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_where_it_belongs() {
        let check = |text: &str, [context, removed, content]: [&str; 3], expected: Option<&str>| {
            let [context, removed, content] = [context, removed, content].map(str::to_owned);
            assert_eq!(applied(text, &Part { context, removed, content }).as_deref(), expected, "{text}");
        };
        check("a b a", ["", "a", "c"], Some("c b c"));
        check("[f]\nx\ny\n", ["[f]\n", "", "z\n"], Some("[f]\nz\nx\ny\n"));
        check("[f]\nx\ny\n", ["[f]\ny\n", "", "z\n"], Some("[f]\nx\ny\nz\n"));
        check("a", ["", "b", "c"], None);
        check("a", ["", "", "c"], None);
    }
}
