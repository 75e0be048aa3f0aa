//! Git's conversion of a file's content before a comparison, as far as it needs no program.

use crate::files::config;
use crate::files::effort::Effort;
use crate::files::index::Index;
use crate::files::read::{self, Budget};
use crate::files::scope::{joined, levels};
use crate::model::fact::{Fact, Unknown};
use crate::repository::Repository;
use crate::system::native;
use gix_attributes::search::{MetadataCollection, Outcome};
use gix_attributes::{Search, StateRef};
use gix_glob::pattern::Case;
use std::path::{Path, PathBuf};

const MAXIMUM_BYTES: u64 = 4 * 1024 * 1024;
const NAMES: [&str; 6] = ["text", "crlf", "eol", "filter", "ident", "working-tree-encoding"];

/// The conversion of content on its way into the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    None,
    /// Line endings become line feeds.
    Text,
    /// As [`Conversion::Text`], unless the content looks binary.
    TextUnlessBinary,
    /// A conversion that is not done here, such as a filter program.
    Elsewhere(&'static str),
}

impl Conversion {
    /// The converted content; `None` if it is unchanged.
    pub(crate) fn applied_to(self, content: &[u8]) -> Fact<Option<Vec<u8>>> {
        match self {
            Conversion::None => Ok(None),
            Conversion::TextUnlessBinary if looks_binary(content) => Ok(None),
            Conversion::Text | Conversion::TextUnlessBinary => Ok(with_line_feeds(content)),
            Conversion::Elsewhere(reason) => Err(Unknown(reason)),
        }
    }
}

/// Looks up attributes. Caches the rules of the last folder.
pub(crate) struct Attributes<'a> {
    repository: &'a Repository,
    index: &'a Index,
    root: &'a Path,
    rules: Option<Rules>,
}

/// The rules of one folder.
type Rules = (Vec<u8>, Search, MetadataCollection, Effort);

#[derive(Default)]
struct Chosen {
    text: Option<Vec<u8>>,
    crlf: Option<Vec<u8>>,
    eol: Option<Vec<u8>>,
    filter: Option<Vec<u8>>,
    ident: Option<Vec<u8>>,
    encoding: Option<Vec<u8>>,
}

impl<'a> Attributes<'a> {
    /// `index` has to contain the attributes files at least.
    pub(crate) fn new(repository: &'a Repository, index: &'a Index) -> Fact<Self> {
        Ok(Attributes { repository, index, root: repository.checked_out()?, rules: None })
    }

    pub(crate) fn conversion(&mut self, path: &[u8], budget: &Budget) -> Fact<Conversion> {
        let chosen = self.chosen(path, budget)?;
        let settings = self.repository.settings()?;
        if let Some(filter) = chosen.filter.as_deref().filter(|name| !matches!(*name, SET | UNSET)) {
            let runs = |key| settings.text("filter", Some(filter), key).is_some_and(|run| !run.is_empty());
            if runs("clean") || runs("process") {
                return Ok(Conversion::Elsewhere("a filter program would convert a file"));
            }
        }
        if chosen.encoding.as_deref().is_some_and(|encoding| encoding != UNSET) {
            return Ok(Conversion::Elsewhere("a file is stored in another encoding"));
        }
        if chosen.ident.as_deref() == Some(SET) {
            return Ok(Conversion::Elsewhere("a file has its identifier expanded"));
        }
        let automatic = match settings.text("core", None, "autocrlf") {
            Some(b"input") => true,
            _ => settings.boolean("core", "autocrlf").unwrap_or(false),
        };
        Ok(line_ends(&chosen, automatic))
    }

    fn chosen(&mut self, path: &[u8], budget: &Budget) -> Fact<Chosen> {
        let directory = path.iter().rposition(|byte| *byte == b'/').and_then(|end| path.get(..end));
        let directory = directory.unwrap_or_default();
        let known = self.rules.take().filter(|(known, ..)| known == directory);
        let (directory, search, collection, effort) = match known {
            Some(known) => known,
            None => self.load(directory, budget)?,
        };
        let case = match self.repository.settings()?.boolean("core", "ignorecase") {
            Some(true) => Case::Fold,
            _ => Case::Sensitive,
        };
        effort.spend(path, budget)?;
        let mut outcome = Outcome::default();
        outcome.initialize_with_selection(&collection, NAMES);
        search.pattern_matching_relative_path(path.into(), case, Some(false), &mut outcome);
        let chosen = chosen_from(&outcome);
        self.rules = Some((directory, search, collection, effort));
        Ok(chosen)
    }

    /// Weakest first: system, user, the folders from the top down, the repository's own.
    fn load(&self, directory: &[u8], budget: &Budget) -> Fact<Rules> {
        let mut collection = MetadataCollection::default();
        let (mut search, mut effort) = (Search::default(), Effort::default());
        let mut add = |content: &[u8], source: PathBuf, root: Option<&Path>, macros: bool| {
            effort.add(content)?;
            let added = search.add_patterns_buffer(content, source, root, &mut collection, macros);
            added.map_err(|_| Unknown("the attributes cannot be parsed"))
        };
        add(b"[attr]binary -diff -merge -text", "[builtin]".into(), None, true)?;
        let settings = self.repository.settings()?;
        let user = settings.path("core", "attributesfile", self.root);
        let user = Some(user.unwrap_or_else(|| config::user_directory(&self.repository.home).join("attributes")));
        for global in [Some("/etc/gitattributes".into()), user].into_iter().flatten() {
            if let Some(content) = read::file(&global, MAXIMUM_BYTES)? {
                add(&content, global, None, true)?;
            }
        }
        for level in levels(directory) {
            budget.look_up()?;
            let name = joined(level, b".gitattributes");
            let full = self.root.join(native(&name));
            match read::file_not_link(&full, MAXIMUM_BYTES)? {
                Some(content) => add(&content, full, Some(self.root), level.is_empty())?,
                None if self.index.has_entry(&name) => {
                    return Err(Unknown("a tracked attributes file is not in the work tree"));
                }
                None => {}
            }
        }
        let info_file = self.repository.common_dir.join("info/attributes");
        if let Some(content) = read::file(&info_file, MAXIMUM_BYTES)? {
            add(&content, info_file, None, true)?;
        }
        Ok((directory.to_vec(), search, collection, effort))
    }
}

const SET: &[u8] = b"\0set";
const UNSET: &[u8] = b"\0unset";

fn chosen_from(outcome: &Outcome) -> Chosen {
    let mut chosen = Chosen::default();
    for found in outcome.iter_selected() {
        let value = match found.assignment.state {
            StateRef::Set => Some(SET.to_vec()),
            StateRef::Unset => Some(UNSET.to_vec()),
            StateRef::Value(value) => Some(value.as_bstr().to_vec()),
            StateRef::Unspecified => None,
        };
        let place = match found.assignment.name.as_str() {
            "text" => &mut chosen.text,
            "crlf" => &mut chosen.crlf,
            "eol" => &mut chosen.eol,
            "filter" => &mut chosen.filter,
            "ident" => &mut chosen.ident,
            _ => &mut chosen.encoding,
        };
        *place = value;
    }
    chosen
}

fn line_ends(chosen: &Chosen, automatic: bool) -> Conversion {
    let of_value = |value: &Option<Vec<u8>>| match value.as_deref() {
        Some(SET | b"input") => Some(Conversion::Text),
        Some(UNSET) => Some(Conversion::None),
        Some(b"auto") => Some(Conversion::TextUnlessBinary),
        _ => None,
    };
    if let Some(decided) = of_value(&chosen.text).or_else(|| of_value(&chosen.crlf)) {
        return decided;
    }
    match chosen.eol.as_deref() {
        Some(b"lf" | b"crlf") => Conversion::Text,
        _ if automatic => Conversion::TextUnlessBinary,
        _ => Conversion::None,
    }
}

fn with_line_feeds(content: &[u8]) -> Option<Vec<u8>> {
    if !content.windows(2).any(|pair| pair == b"\r\n") {
        return None;
    }
    let mut converted = Vec::with_capacity(content.len());
    let mut bytes = content.iter().peekable();
    while let Some(byte) = bytes.next() {
        if *byte != b'\r' || bytes.peek() != Some(&&b'\n') {
            converted.push(*byte);
        }
    }
    Some(converted)
}

/// Git's own heuristic: a zero byte, a lone carriage return, or more than one nonprintable byte in 128.
fn looks_binary(content: &[u8]) -> bool {
    let lone = |pair: &[u8]| matches!(pair, [b'\r', next] if *next != b'\n');
    if content.contains(&0) || content.windows(2).any(lone) || content.ends_with(b"\r") {
        return true;
    }
    let content = content.strip_suffix(b"\x1a").unwrap_or(content);
    let odd = content.iter().filter(|byte| matches!(byte, 0..=7 | 11 | 14..=26 | 28..=31 | 127)).count();
    let line_ends = content.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count();
    (content.len() - odd - line_ends) >> 7 < odd
}
