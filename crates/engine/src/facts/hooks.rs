//! What a call makes of the hooks in an agent's settings: by the text that stands there afterwards, where that can be
//! told.

use super::agent_settings::SettingsFormat;
use super::cache::Facts;
use super::switches::{self, Change};
use crate::analysis::aliases;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Action;
use crate::model::path;
use crate::model::truth::Ternary;
use crate::model::world::{Names, Untracked};
use reflex_shell::patch::Part;
use reflex_shell::{Command, Stdin, Value};
use std::borrow::Cow;

/// The class of the files in which hooks stand.
const SETTINGS: &str = "agent-settings";

/// The class of the files from which agents get their variables.
const ENVIRONMENT: &str = "environment-files";

/// Of what is poured into a file so many files are looked into.
const MAX_SOURCES: usize = 4;

/// Programs whose words are talk: they change no settings.
const TALKERS: [&str; 8] = ["git", "gh", "glab", "cd", "grep", "rg", "ls", "mkdir"];

impl Facts<'_> {
    /// What an effect makes of the hooks in the file that it changes, or of those of the agent that it starts.
    pub(super) fn hooks(&self, effect: &Effect, target: &Target) -> Change {
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

    /// Whether git takes changes out of the work tree with which the guard would leave an agent's settings. Their files
    /// are looked for where agents look, and git is asked about these alone: the tree may be large.
    pub(super) fn puts_guard_away(&self, effect: &Effect, target: &Target) -> Ternary {
        let real = self.real(effect, target);
        let path = self.meant(effect, &real);
        let cleans = effect.kind == EffectKind::DiscardUntracked;
        let takes_all = cleans || effect.flags.contains(&"untracked");
        let names_guard = |file: &String| {
            path::is_within(file, &path) && self.world.content(file).is_some_and(|text| switches::names_guard(&text))
        };
        let is_lost = |file: &String| {
            let changed = (!cleans).then(|| self.world.uncommitted(file)).flatten();
            let loose = takes_all.then(|| self.world.untracked(file, Untracked::All)).flatten();
            [changed, loose].iter().flatten().any(Names::any)
        };
        let above = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let roots = [&*path, above, &self.event.workspace];
        let mut files = roots.into_iter().flat_map(|root| self.settings_below(root));
        Ternary::from(files.any(|file| names_guard(&file) && is_lost(&file)))
    }

    /// The files in which agents would keep their settings if this folder were their project.
    fn settings_below(&self, root: &str) -> Vec<String> {
        let places = self.tables.get("places").get(SETTINGS);
        let patterns = places.items().flat_map(|place| place.get("paths").texts());
        let of_projects = patterns.filter(|pattern| !pattern.starts_with(['/', '~']));
        let files = of_projects.map(|pattern| format!("{root}/{pattern}")).flat_map(|file| match file.contains('*') {
            true => self.world.expand(&file).unwrap_or_default(),
            false => vec![file],
        });
        files.collect()
    }

    /// Settings that are given to an agent: as a text, or in a file.
    fn hooks_of_agent(&self, effect: &Effect, target: &Target) -> Change {
        let class = self.tables.get("places").get(SETTINGS);
        let text = target.value.shown();
        if !text.trim_start().starts_with('{')
            && let Some(text) = self.lexical(&target.value, effect).and_then(|path| self.text_of(effect, &path))
        {
            let off = switches::switches_off(class, &text);
            return if off { Change::Off } else { Change::Within };
        }
        switches::of_program(class, &text)
    }

    fn hooks_of_file(&self, effect: &Effect, target: &Target) -> Change {
        let class = self.tables.get("places").get(SETTINGS);
        let real = self.real(effect, target);
        if !self.in_class(SETTINGS, &real.path) && self.in_class(ENVIRONMENT, &real.path) {
            return self.hooks_of_environment(effect, target, &real.path);
        }
        // Of a file that is not there yet nobody knows what it takes the place of.
        let before = self.world.content_before(&real.path);
        let after = match effect.command {
            None => self.written_by_tools(effect, target, before.as_deref()),
            Some(_) => self.written_by_command(effect, target, before.as_deref()),
        };
        if let Some(after) = after {
            let form = SettingsFormat::for_path(self.tables, &real.path, &self.event.home);
            let change = switches::of_texts(class, form, (before.as_deref(), &after));
            let is_toml = real.path.ends_with(".toml");
            if is_toml && switches::leaves_toml(before.as_deref().unwrap_or(""), &after) {
                return Change::Within.max(change);
            }
            let is_understood = is_toml || [".json", ".jsonc"].iter().any(|ending| real.path.ends_with(ending));
            return if is_understood { change } else { change.max(Change::Within) };
        }
        match self.event.actions.get(effect.action) {
            Some(action @ Action::Edit { .. }) if effect.command.is_none() => {
                let parts = parts(action);
                let joined = |text: fn(&Part) -> &str| {
                    parts.iter().flat_map(|part| [part.context.as_str(), text(part), "\n"]).collect::<String>()
                };
                let (gone, content) = (joined(|part| &part.gone), joined(|part| &part.content));
                // Of a part nobody knows what stands around it.
                switches::of_texts(class, None, (Some(&gone), &content)).max(Change::Within)
            }
            _ => self.hooks_by_program(effect, target),
        }
    }

    /// What becomes of the hooks of agents that are started with the variables of this file.
    fn hooks_of_environment(&self, effect: &Effect, target: &Target, path: &str) -> Change {
        let class = self.tables.get("places").get(ENVIRONMENT);
        let before = self.world.content_before(path);
        let after = match effect.command {
            None => self.written_by_tools(effect, target, before.as_deref()),
            Some(_) => self.written_by_command(effect, target, before.as_deref()),
        };
        let written = match (self.event.actions.get(effect.action), effect.command) {
            (Some(Action::Edit { content, .. }), None) => content.clone(),
            _ => String::new(),
        };
        switches::of_variables(class, before.as_deref(), after.as_deref().unwrap_or(&written))
    }

    /// The text of a file after the tools of this call that change it.
    fn written_by_tools(&self, effect: &Effect, target: &Target, before: Option<&str>) -> Option<String> {
        let mut text = before.map(str::to_owned);
        for action in self.event.actions.iter().take(effect.action + 1) {
            let (Action::Write { path, .. } | Action::Edit { path, .. }) = action else { continue };
            if Some(path::absolute(&path.with_slashes(), &self.event.cwd).as_str()) != target.path() {
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

    /// The text that a command writes, where its text or the one file that it copies is known.
    fn written_by_command(&self, effect: &Effect, target: &Target, before: Option<&str>) -> Option<String> {
        if effect.kind == EffectKind::Truncate {
            return Some(String::new());
        }
        let command = self.analysis.command(effect)?;
        let path = target.path()?;
        let redirected = command.redirects.iter().any(|redirect| redirect.target == target.value);
        if redirected || command.name == "tee" {
            let text = self.written_by_text(effect, path)?;
            let anew = |other: &&Effect| other.kind == EffectKind::Overwrite && other.action == effect.action;
            let mut anew = self.analysis.effects.iter().filter(anew).flat_map(|other| &other.targets);
            let adds = effect.kind == EffectKind::Append && !anew.any(|other| other.path() == Some(path));
            return Some(if adds { format!("{}\n{text}", before.unwrap_or("")) } else { text });
        }
        let mut sources = aliases::sources(effect, self.analysis).filter_map(Target::path);
        let is_copied = effect.flags.contains(&"place");
        let Some(source) = sources.next().filter(|_| is_copied) else {
            // To read it is no effect: there is nothing in it.
            let is_nothing = |word: &Value| word.literal().as_deref() == Some("/dev/null");
            return (is_copied && command.words.iter().skip(1).any(is_nothing)).then(String::new);
        };
        if sources.next().is_some() { None } else { self.text_of(effect, source) }
    }

    /// What a program does that is not followed: its words may say it, and so may the files that it reads.
    fn hooks_by_program(&self, effect: &Effect, target: &Target) -> Change {
        let class = self.tables.get("places").get(SETTINGS);
        let mut texts: Vec<Cow<'_, str>> = Vec::new();
        match self.event.actions.get(effect.action) {
            Some(Action::McpCall { arguments, .. } | Action::Other { arguments }) => texts.push(arguments.into()),
            _ => {
                let commands = self.analysis.reading(effect).into_iter().flat_map(|reading| &reading.commands);
                commands
                    .filter(|command| !TALKERS.contains(&command.name.as_str()))
                    .for_each(|one| words(one, &mut texts));
            }
        }
        let poured = target.path().map(|path| aliases::poured_into(self.analysis, path)).unwrap_or_default();
        texts.extend(poured.iter().take(MAX_SOURCES).filter_map(|path| self.text_of(effect, path)).map(Cow::from));
        let changes = texts.iter().map(|text| switches::of_program(class, text));
        changes.max().unwrap_or(Change::Within)
    }

    /// What stands in a file when the effect's command runs: what the same text wrote to it, else what the world has.
    fn text_of(&self, effect: &Effect, path: &str) -> Option<String> {
        self.written_by_text(effect, path).or_else(|| self.world.content(path))
    }

    fn written_by_text(&self, effect: &Effect, path: &str) -> Option<String> {
        let reading = self.analysis.reading(effect)?;
        let folder = effect.folder.as_deref().unwrap_or("/");
        let is_it = |name: &str| match name.strip_prefix("~/") {
            Some(rest) => path::absolute(rest, &self.event.home) == path,
            None => ["/", &self.event.cwd, folder].iter().any(|at| path::absolute(name, at) == path),
        };
        reading.files.iter().find(|(name, _)| is_it(name)).map(|(_, text)| text.clone())
    }
}

/// The words of a command and what it is fed.
fn words<'c>(command: &'c Command, texts: &mut Vec<Cow<'c, str>>) {
    texts.extend(command.words.iter().skip(1).map(|word| Cow::from(word.shown())));
    match &command.stdin {
        Stdin::Text(text) => texts.push(text.shown().into()),
        Stdin::Inherited | Stdin::Pipe(..) | Stdin::File(_) => {}
    }
}

/// The single changes of an edit.
fn parts(action: &Action) -> Cow<'_, [Part]> {
    let Action::Edit { content, gone, parts, .. } = action else { return Cow::default() };
    if parts.is_empty() {
        return vec![Part { context: String::new(), gone: gone.clone(), content: content.clone() }].into();
    }
    parts.into()
}

/// The text with one change made; nothing where its place is not found. The first line of what stands around it may
/// be a heading that stands further above.
fn applied(text: &str, part: &Part) -> Option<String> {
    if part.gone.is_empty() && part.content.is_empty() {
        return Some(text.to_owned());
    }
    let below = part.context.split_once('\n').map_or("", |(_, rest)| rest);
    [part.context.as_str(), below, ""].into_iter().find_map(|context| {
        let old = format!("{context}{}", part.gone);
        let is_there = !old.is_empty() && text.contains(&old);
        is_there.then(|| text.replace(&old, &format!("{context}{}", part.content)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_where_it_belongs() {
        let check = |text: &str, [context, gone, content]: [&str; 3], expected: Option<&str>| {
            let [context, gone, content] = [context, gone, content].map(str::to_owned);
            assert_eq!(applied(text, &Part { context, gone, content }).as_deref(), expected, "{text}");
        };
        check("a b a", ["", "a", "c"], Some("c b c"));
        check("[f]\nx\ny\n", ["[f]\n", "", "z\n"], Some("[f]\nz\nx\ny\n"));
        check("[f]\nx\ny\n", ["[f]\ny\n", "", "z\n"], Some("[f]\nx\ny\nz\n"));
        check("a", ["", "b", "c"], None);
        check("a", ["", "", "c"], None);
    }
}
