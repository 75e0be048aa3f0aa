//! Files named by other files, and files named by the environment.

use super::finder::{Finder, known};
use super::input::How;
use crate::analysis::effects::EffectExtractor;
use crate::model::path::{self, parent};
use reflex_shell::{Command, Reading, Value};
use reflex_tables::views::InputFiles;
use std::collections::BTreeSet;

/// Maximum number of files of one command searched for the names of others.
const MAX_READ: usize = 128;

/// Maximum number of lines searched in a file.
const MAX_LINES: usize = 20_000;

/// Maximum number of files named by a line.
const MAX_NAMED: usize = 32;

impl Finder<'_> {
    /// Adds the files named by variables: those of the command, of its text, and of the environment.
    pub(super) fn named_by_variables(
        &mut self,
        entry: InputFiles<'static>,
        (command, reading): (&Command, &Reading),
        folder: Option<&str>,
        drafter: &EffectExtractor<'_>,
    ) {
        for name in entry.variables().iter() {
            let assigned =
                command.assignments.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone());
            let set = reading.settings.iter().filter(|setting| setting.name == name);
            let values: Vec<Value> = assigned.chain(set.filter_map(|setting| setting.value.clone())).collect();
            let outer = if values.is_empty() { self.world.variable(name) } else { None };
            let outer = outer.iter().flat_map(|text| text.split(':')).filter(|part| !part.is_empty());
            let outer: Vec<String> = outer.map(|part| path::absolute(part, folder.unwrap_or("/"))).collect();
            outer.into_iter().for_each(|path| self.file(path, How::Configured));
            for value in values {
                let parts: Vec<String> = match value.literal() {
                    Some(text) if text.contains(':') => text.split(':').map(str::to_owned).collect(),
                    _ => Vec::new(),
                };
                let single = parts.is_empty().then(|| value.clone());
                let origin = value.origin();
                let parts = parts.iter().map(|part| Value::text(part, origin)).chain(single);
                for path in parts.filter_map(|part| known(drafter, part, folder)).collect::<Vec<_>>() {
                    self.file(path, How::Configured);
                }
            }
        }
    }

    /// Adds the files that the command's files name, and those that these name in turn.
    pub(super) fn included(&mut self, entry: InputFiles<'static>, command: &Command, folder: Option<&str>) {
        let forms: Vec<Inclusion<'static>> = entry.includes().iter().filter_map(Inclusion::parse).collect();
        if forms.is_empty() {
            return;
        }
        let options: Vec<&str> = entry.modules().iter().collect();
        let words = command.words.iter().zip(command.words.iter().skip(1));
        let modules = words.filter(|(option, _)| option.literal().is_some_and(|word| options.contains(&&*word)));
        let modules: Vec<String> = modules.filter_map(|(_, name)| Some(name.literal()?.into_owned())).collect();
        for module in modules {
            let found = forms.iter().flat_map(|form| form.file(&module));
            let found: Vec<String> = found.map(|file| path::absolute(&file, folder.unwrap_or("/"))).collect();
            found.into_iter().for_each(|path| self.file(path, How::Follows));
        }
        let mut waiting = self.touched.clone();
        let (mut seen, mut read) = (BTreeSet::new(), 0);
        while let Some(path) = waiting.pop() {
            if !seen.insert(path.clone()) || read > MAX_READ {
                continue;
            }
            if path.contains('*') {
                waiting.extend(self.world.expand(&path).known().unwrap_or_default());
                continue;
            }
            let Some(text) = self.world.content(&path) else { continue };
            read += 1;
            for file in text.lines().take(MAX_LINES).flat_map(|line| forms.iter().flat_map(|form| form.named_in(line)))
            {
                let home = file.strip_prefix("~/").map(|rest| path::absolute(rest, &self.event.home));
                let beside = path::absolute(&file, parent(&path));
                let of_command = folder.map(|folder| path::absolute(&file, folder));
                let all = match home {
                    Some(home) => vec![home],
                    None => [beside].into_iter().chain(of_command).collect(),
                };
                // A name that is a folder does not refer to a file of the same form.
                for path in all
                    .into_iter()
                    .filter(|path| self.world.real(path, true).is_folder != Some(true))
                    .collect::<Vec<_>>()
                {
                    self.file(path.clone(), How::Follows);
                    waiting.push(path);
                }
            }
        }
    }
}

/// A form in which a line names a file: `Include {path}`, `import {module}.py`.
struct Inclusion<'t> {
    /// The word that begins the line; `'` for any quoted text that begins with a dot.
    word: &'t str,
    /// The text before the name in the path.
    before: &'t str,
    after: &'t str,
    /// Whether dots separate its folders.
    is_module: bool,
}

impl<'t> Inclusion<'t> {
    fn parse(text: &'t str) -> Option<Inclusion<'t>> {
        let (word, file) = text.split_once(' ')?;
        let is_module = file.contains("{module}");
        let (before, after) = file.split_once(if is_module { "{module}" } else { "{path}" })?;
        Some(Inclusion { word, before, after, is_module })
    }

    fn file(&self, name: &str) -> Option<String> {
        let name = if self.is_module { name.trim_matches('.').replace('.', "/") } else { name.to_owned() };
        let after = if name.ends_with(self.after) { "" } else { self.after };
        (!name.is_empty() && !name.starts_with('-')).then(|| format!("{}{name}{after}", self.before))
    }

    fn named_in(&self, line: &str) -> Vec<String> {
        if self.word == "'" {
            let quoted = line.split(['\'', '"', '`']).skip(1).step_by(2).take(MAX_NAMED);
            return quoted
                .filter(|text| text.starts_with('.') && text.contains('/'))
                .filter_map(|text| self.file(text))
                .collect();
        }
        let line = line.trim();
        let Some(begin) = line.get(..self.word.len()) else { return Vec::new() };
        let rest = line.get(self.word.len()..).unwrap_or("");
        let is_sign = !self.word.ends_with(|ch: char| ch.is_alphanumeric());
        let ends = rest.starts_with(|ch: char| ch.is_whitespace() || "=\"'(".contains(ch));
        if !begin.eq_ignore_ascii_case(self.word) || !(is_sign || ends) {
            return Vec::new();
        }
        let part = |ch: char| ch.is_whitespace() || "\"'=;,()".contains(ch);
        let names: Vec<&str> = rest.split(part).filter(|name| !name.is_empty()).take(MAX_NAMED).collect();
        let mut found: Vec<String> = names.iter().filter_map(|name| self.file(name)).collect();
        // `from tools import conn` may refer to a file in the folder.
        if let (true, [from, "import", rest @ ..]) = (self.is_module, names.as_slice()) {
            found.extend(rest.iter().filter_map(|name| self.file(&format!("{from}.{name}"))));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::Inclusion;

    #[track_caller]
    fn check(form: &str, line: &str, expected: &[&str]) {
        assert_eq!(Inclusion::parse(form).unwrap().named_in(line), expected, "{form}: {line}");
    }

    #[test]
    fn a_line_names_files() {
        check("Include {path}", "  include conf.d/a \"b c\"", &["conf.d/a", "b", "c"]);
        check("Include {path}", "Included x", &[]);
        check("\\i {path}", "\\i 'db/a.sql';", &["db/a.sql"]);
        check("@ {path}", "@db/a.sql", &["db/a.sql"]);
        check(
            "from {module}.py",
            "from tools.conn import DB",
            &["tools/conn.py", "import.py", "DB.py", "tools/conn/DB.py"],
        );
        check("import {module}.py", "import tools.conn, os", &["tools/conn.py", "os.py"]);
        check("' {path}.js", "const a = require('./b'), c = require('d')", &["./b.js"]);
    }
}
