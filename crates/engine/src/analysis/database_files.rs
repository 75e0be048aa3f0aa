//! Databases that are local files: statements that change or remove data are edits of the file.

use super::effects::{EffectExtractor, Text};
use crate::model::effect::{Effect, EffectKind, Target};
use crate::text::sql;
use reflex_shell::{Command, ExecTarget, Selector, Value};

/// Adds an edit of each database file in which a statement of the text changes data. Statements on databases that
/// do not exist yet lose nothing and are removed.
pub(super) fn add(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (before, commands) = (text.first, &text.reading.commands);
    let own = extractor.effects.get(before..).unwrap_or(&[]);
    if !own.iter().any(|effect| effect.kind == EffectKind::Sql) {
        return;
    }
    let edits: Vec<Effect> = own.iter().filter_map(|effect| extractor.database_edit(effect, commands)).collect();
    let fresh: Vec<bool> = own.iter().map(|effect| extractor.is_on_fresh_database(effect, commands)).collect();
    let mut fresh = std::iter::repeat_n(false, before).chain(fresh);
    extractor.effects.retain(|_| fresh.next() != Some(true));
    extractor.effects.extend(edits);
}

impl EffectExtractor<'_> {
    /// Returns the edit of the file of the database on which a statement changes data.
    pub(super) fn database_edit(&self, statement: &Effect, commands: &[Command]) -> Option<Effect> {
        let is_statement = statement.kind == EffectKind::Sql && statement.site == ExecTarget::Here;
        let text = statement.argument.as_ref().filter(|_| is_statement)?;
        if !sql::changes_data(&text.shown()) {
            return None;
        }
        let files = self.files_of(statement, commands);
        let targets: Vec<Target> = files.into_iter().filter(|file| self.exists(file) != Some(false)).collect();
        let flags = vec!["database"];
        (!targets.is_empty()).then(|| Effect {
            kind: EffectKind::Edit,
            targets,
            flags,
            argument: None,
            ..statement.clone()
        })
    }

    fn is_on_fresh_database(&self, statement: &Effect, commands: &[Command]) -> bool {
        let is_statement = statement.kind == EffectKind::Sql && statement.site == ExecTarget::Here;
        let files = if is_statement { self.files_of(statement, commands) } else { Vec::new() };
        !files.is_empty() && files.iter().all(|file| self.exists(file) == Some(false))
    }

    fn exists(&self, file: &Target) -> Option<bool> {
        self.world.real(file.path()?, true).exists
    }

    /// Returns the database file of a statement: that of its own command, or for code all that its text opens.
    fn files_of(&self, statement: &Effect, commands: &[Command]) -> Vec<Target> {
        let Some(command) = statement.command.and_then(|id| commands.get(id)) else { return Vec::new() };
        let own = self.databases_of(command);
        if !own.is_empty() || !statement.flags.contains(&"code") {
            return own;
        }
        reflex_shell::work::spend(1 + commands.len() as u64 / 8);
        commands.iter().flat_map(|command| self.databases_of(command)).collect()
    }

    /// Returns the database files that a command opens for writing.
    fn databases_of(&self, command: &Command) -> Vec<Target> {
        let Some(invocation) = &command.invocation else { return Vec::new() };
        let mut selectors = invocation.grammars.iter().map(|grammar| grammar.database());
        let selector = selectors.rfind(|selector| !selector.is_empty()).unwrap_or_default();
        if selector.is_empty() || invocation.has("readonly") {
            return Vec::new();
        }
        let folder = self.folder(command);
        let values = Selector(selector).values(invocation, &command.words);
        values.iter().filter_map(file_of).map(|file| self.path_target(file, folder.as_deref())).collect()
    }
}

/// Returns the file that a database's name or URL stands for. A database in memory has none, and one that is opened to
/// be read is not changed.
fn file_of(name: &Value) -> Option<Value> {
    let prefix = name.prefix();
    if prefix.is_empty() && name.literal().is_some() || prefix.contains(":memory:") || prefix.contains("mode=ro") {
        return None;
    }
    let (scheme, rest) = prefix.split_once(':').unwrap_or(("", &prefix));
    let is_file = scheme == "file" || scheme == "sqlite" || scheme.starts_with("sqlite+");
    if !is_file {
        return (!prefix.contains("://")).then(|| name.clone());
    }
    // `sqlite:////x` is an absolute path, `sqlite:///x` a relative one.
    let start =
        ["///", "//"].iter().find(|start| scheme != "file" && rest.starts_with(**start)).map_or(0, |one| one.len());
    let file = name.without_prefix(scheme.len() + 1 + start);
    let end = file.prefix().find('?');
    Some(match end {
        Some(end) => Value::text(file.prefix().get(..end)?, name.origin()),
        None => file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reflex_shell::Origin;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        let file = file_of(&Value::text(name, Origin::default()));
        assert_eq!(file.map(|file| file.shown()).as_deref(), expected, "{name}");
    }

    #[test]
    fn a_name_or_url_stands_for_a_file() {
        check("a.db", Some("a.db"));
        check("sqlite:///a.db", Some("a.db"));
        check("sqlite:////x/a.db", Some("/x/a.db"));
        check("sqlite+aiosqlite:///a.db", Some("a.db"));
        check("sqlite:a.db", Some("a.db"));
        check("file:a.db?mode=rw", Some("a.db"));
        check("file:///x/a.db", Some("///x/a.db"));
        check("", None);
        check(":memory:", None);
        check("file:a.db?mode=ro", None);
        check("postgres://localhost/a", None);
    }
}
