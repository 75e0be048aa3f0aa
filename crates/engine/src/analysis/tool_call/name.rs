//! The meaning of a tool's name: its verb, and the objects of the verb.

use crate::model::words::WordList;
use reflex_tables::Tables;
use reflex_tables::views::Tools;

/// The operation of a tool, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Runs,
    Deletes,
    Moves,
    Copies,
    Links,
    Permits,
    Writes,
    Edits,
    Makes,
    Starts,
    Gets,
    Reads,
    Looks,
    Communicates,
}

impl Way {
    const ALL: [(Way, &'static str); 14] = [
        (Way::Runs, "runs"),
        (Way::Deletes, "deletes"),
        (Way::Moves, "moves"),
        (Way::Copies, "copies"),
        (Way::Links, "links"),
        (Way::Permits, "permits"),
        (Way::Writes, "writes"),
        (Way::Edits, "edits"),
        (Way::Makes, "makes"),
        (Way::Starts, "starts"),
        (Way::Gets, "gets"),
        (Way::Reads, "reads"),
        (Way::Looks, "looks"),
        (Way::Communicates, "says"),
    ];

    /// Returns the operation of a known verb.
    pub(super) fn of_verb(verb: &str, tools: Tools<'static>) -> Option<Way> {
        let name = tools.verbs().get(verb);
        Way::ALL.iter().find(|(_, known)| *known == name).map(|(way, _)| *way)
    }

    /// Returns the operation of a name used as an argument, if it contains a verb: `str_replace`, `run`.
    pub(super) fn of_word(name: &str, tools: Tools<'static>) -> Option<Way> {
        let is_name =
            name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_name {
            return None;
        }
        words(name).iter().find_map(|word| Way::of_verb(word, tools))
    }
}

/// The meaning of a tool's name.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    pub(super) way: Option<Way>,
    pub(super) words: Vec<String>,
    /// Number of words that belong to the tool's name; the rest belong to its server.
    tool_count: usize,
    objects: Vec<&'static str>,
}

/// Words that join two verbs of a name.
const JOINS: [&str; 4] = ["and", "or", "then", "with"];

impl Name {
    /// Parses the name of a server's tool, or of one without a server.
    pub(super) fn parse(server: &str, tool: &str, tables: Tables) -> Name {
        let tools = tables.library().tools();
        let (space, tool_part) = last_part(tool);
        let tool_words = known_words(tool_part, tools);
        let around: Vec<String> = [known_words(server, tools), known_words(space, tools)].concat();
        let verb = verb(&tool_words, tools);
        let mut name =
            Name { way: None, objects: objects(&tool_words, tools), tool_count: tool_words.len(), words: tool_words };
        // The name of a server indicates the objects of its tools, but not the part of an object.
        let served = objects(&around, tools).into_iter().filter(|object| !matches!(*object, "part" | "folder" | "far"));
        let named = name.is("file") || name.is("folder") || name.is("runner");
        name.objects.extend(served.filter(|object| *object != "spoken" || !named));
        let databases = WordList::DatabaseNames.read(tables);
        let parts = |text: &str| databases.fit(&text.to_ascii_lowercase());
        name.objects.extend((parts(server) || parts(tool)).then_some("stored"));
        // The verb of the surrounding names counts if the tool's own name has neither a verb nor a runnable object.
        let runs = name.is("runner") || name.is("code");
        let verb = verb.or_else(|| if runs { None } else { self::verb(&around, tools) });
        name.way = name.way_of(verb);
        name.words.extend(around);
        name
    }

    /// Returns the words of the tool's own name.
    pub(super) fn tool_words(&self) -> &[String] {
        self.words.get(..self.tool_count).unwrap_or_default()
    }

    /// Returns whether all words other than the program only express that something is run.
    pub(super) fn is_bare(&self, program: &str) -> bool {
        let fillers = ["run", "exec", "execute", "command", "cmd", "cli", "shell", "tool", "call"];
        self.words.iter().all(|word| word == program || fillers.contains(&word.as_str()))
    }

    /// Returns whether the name contains this object.
    pub(super) fn is(&self, object: &str) -> bool {
        self.objects.contains(&object)
    }

    fn way_of(&self, verb: Option<Way>) -> Option<Way> {
        let named = self.is("file") || self.is("folder");
        let is_message = self.is("spoken") && !named && !self.is("runner");
        match verb {
            Some(Way::Gets | Way::Reads | Way::Looks | Way::Communicates) => verb,
            Some(_) | None if self.is("web") => Some(Way::Communicates),
            Some(Way::Runs) => Some(Way::Runs),
            Some(Way::Starts | Way::Writes | Way::Makes) if self.is("runner") && !named => Some(Way::Runs),
            None if self.is("runner") || self.is("code") => Some(Way::Runs),
            Some(_) | None if is_message => Some(Way::Communicates),
            Some(Way::Deletes | Way::Moves | Way::Copies) if self.is("part") => Some(Way::Edits),
            Some(Way::Edits) if self.words.iter().any(|word| word.starts_with("permission")) => Some(Way::Permits),
            Some(Way::Makes) if self.words.iter().any(|word| word.ends_with("link")) => Some(Way::Links),
            Some(Way::Starts) if named => Some(Way::Reads),
            Some(Way::Starts) | None => None,
            Some(way) => Some(way),
        }
    }

    /// Returns whether such a call is harmless, whatever its arguments.
    pub(super) fn is_harmless(&self) -> bool {
        let looks = matches!(self.way, Some(Way::Communicates | Way::Looks | Way::Reads | Way::Gets));
        looks || (self.way == Some(Way::Makes) && self.is("folder"))
    }
}

/// Splits `server.tool`, `server__tool` or `server/tool` at the last separator.
fn last_part(tool: &str) -> (&str, &str) {
    let ends = ["__", ".", "/", ":", "::"].iter().filter_map(|mark| tool.rfind(mark).map(|at| (at, at + mark.len())));
    match ends.max_by_key(|(_, end)| *end) {
        Some((at, end)) if end < tool.len() => (tool.get(..at).unwrap_or(""), tool.get(end..).unwrap_or("")),
        Some(_) | None => ("", tool),
    }
}

/// Returns the verb of a name: the first one, unless a stronger one is joined to it or it makes something that runs.
fn verb(words: &[String], tools: Tools<'static>) -> Option<Way> {
    let verbs: Vec<Way> = words.iter().filter_map(|word| Way::of_verb(word, tools)).collect();
    let first = *verbs.first()?;
    let strongest = verbs.iter().min().copied();
    let joined = words.iter().any(|word| JOINS.contains(&word.as_str()));
    let replaces = words.iter().any(|word| word == "replace");
    let yields = |ways: &[Way], to: Way| ways.contains(&first) && strongest <= Some(to);
    match () {
        () if joined => strongest,
        () if first == Way::Looks && replaces => Some(Way::Edits),
        () if yields(&[Way::Writes, Way::Edits, Way::Makes, Way::Starts], Way::Runs) => strongest,
        // `delete` and similar verbs may also come last: `set_permissions`, `make_copy`.
        () if yields(&[Way::Makes, Way::Starts, Way::Edits], Way::Permits) => strongest,
        () => Some(first),
    }
}

fn objects(words: &[String], tools: Tools<'static>) -> Vec<&'static str> {
    words.iter().map(|word| tools.objects().get(word)).filter(|object| !object.is_empty()).collect()
}

/// Returns the words of a name. An unknown word made of two known words without a separator is split into them.
fn known_words(name: &str, tools: Tools<'static>) -> Vec<String> {
    let known = |word: &str| tools.verbs().find(word).is_some() || tools.objects().find(word).is_some();
    let apart = |word: String| {
        let end = if word.len() > MAX_SPLIT_WORD { 0 } else { word.len().saturating_sub(1) };
        let halves = (2..end).filter_map(|at| word.split_at_checked(at));
        match halves.into_iter().find(|(one, other)| known(one) && known(other)).filter(|_| !known(&word)) {
            Some((one, other)) => vec![one.to_owned(), other.to_owned()],
            None => vec![word],
        }
    };
    words(name).into_iter().take(MAX_WORDS).flat_map(apart).collect()
}

/// Maximum number of words of a name.
const MAX_WORDS: usize = 24;

/// Maximum length, in bytes, of a word that is split in two.
const MAX_SPLIT_WORD: usize = 32;

/// Returns the words of a name: `deleteProject`, `delete-project`, `delete_project`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for ch in name.chars() {
        if !ch.is_alphanumeric() || ch.is_uppercase() && !before.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (ch.is_alphanumeric(), words.last_mut()) {
            word.extend(ch.to_lowercase());
        }
        before = ch;
    }
    words.retain(|word| !word.is_empty());
    words
}
