//! Files that a program runs or takes commands from unasked, examined when they are written. The same entries of
//! `library/loads` list the files that a program reads when it runs.

use super::forms::{self, Wanted};
use super::queued_text::{Counted, QueuedText};
use super::resolver::ScriptResolver;
use super::written::made;
use crate::analysis::config_files::later::{Counts, Text};
use crate::analysis::replaced::replaced;
use crate::model::event::Action;
use crate::model::path;
use crate::model::world::MAX_CONTENT;
use crate::text::glob;
use reflex_shell::{ExecTarget, work};
use reflex_tables::views::{LoadedFile, NamedPattern};
use std::borrow::Cow;

impl ScriptResolver<'_> {
    /// Reads the commands that a written file makes its program run. Returns whether such a program exists.
    pub(super) fn executed(&mut self, index: usize, path: &str, action: &Action) -> bool {
        let entries = self.readers_of(path);
        let (Action::Write { content, .. } | Action::Edit { content, .. }) = action else { return false };
        if entries.is_empty() {
            return false;
        }
        if content.len() > MAX_CONTENT {
            work::cut(|| format!("what is written to {path} is larger than {} KiB", MAX_CONTENT / 1024));
            return true;
        }
        let before = self.world.content_before(path).unwrap_or_default();
        let (old, new) = match made(action, &before) {
            Some(made) => (Cow::Owned(before), Cow::Owned(made)),
            None => (replaced(action, &self.event.cwd, self.world), Cow::Borrowed(content.as_str())),
        };
        let mut done = Vec::new();
        for entry in entries {
            for form in entry.forms().iter() {
                // Two programs may read the same file.
                if done.contains(&form) {
                    continue;
                }
                done.push(form);
                self.executed_as(index, path, (entry, form), (&new, &old));
            }
        }
        true
    }

    /// Whether a client or tool runs the file without a call that would be judged.
    pub(super) fn starts_by_itself(&self, path: &str) -> bool {
        self.readers_of(path).iter().any(|entry| entry.unasked())
    }

    /// Returns the entries whose programs read this file.
    fn readers_of(&self, path: &str) -> Vec<LoadedFile<'static>> {
        let files = self.tables.library().loads().files();
        let compared = glob::Compared::new(path, &self.event.home);
        let fits = |pattern: &NamedPattern<'static>| compared.fits(pattern.path());
        let by_name = files.names().get(path::name_of(path)).iter();
        let by_pattern = files.patterns().iter().filter(fits).map(|pattern| pattern.entry());
        let mut found: Vec<usize> = by_name.chain(by_pattern).map(|entry| entry as usize).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|at| files.entries().at(at)).collect()
    }

    fn executed_as(
        &mut self,
        index: usize,
        path: &str,
        (entry, form): (LoadedFile<'_>, &str),
        (new, old): (&str, &str),
    ) {
        let wanted = Wanted { names: Vec::new(), assignments: Vec::new(), only: false, arguments: "" };
        let read = |text: &str| forms::read(form, (self.tables, path, text), &wanted);
        let Some((language, text)) = read(new).filter(|(_, text)| !text.trim().is_empty()) else { return };
        let previous = if old.is_empty() { None } else { read(old) };
        let site = match entry.site() {
            "remote" => ExecTarget::Remote,
            "container" => ExecTarget::Container,
            _ => ExecTarget::Here,
        };
        let counts = match (entry.unasked(), entry.whole()) {
            (true, _) => Counts::Unasked,
            (false, true) => Counts::All,
            (false, false) => Counts::Lasting,
        };
        let old = previous.map(|(_, text)| text).unwrap_or_default();
        let script = Text { text, language, site, counts };
        let text = QueuedText::of_written_file(path.to_owned(), script, index, &self.event.workspace);
        self.enqueue(QueuedText { counted: Counted::Deferred { site, counts, old }, ..text });
    }
}
