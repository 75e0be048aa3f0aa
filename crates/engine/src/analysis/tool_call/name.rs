//! What the name of a tool says: its verb, and the objects of the verb.

use crate::model::words::WordList;
use reflex_tables::{Node, Tables};

/// What a tool does, the strongest first.
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
    Says,
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
        (Way::Says, "says"),
    ];

    /// What a verb says, if it is known.
    pub(super) fn of_verb(verb: &str, tools: Node<'static>) -> Option<Way> {
        let name = tools.get("verb").get(verb).text();
        Way::ALL.iter().find(|(_, known)| *known == name).map(|(way, _)| *way)
    }

    /// What a name of its own says, as far as it has a verb: `str_replace`, `run`.
    pub(super) fn of_word(name: &str, tools: Node<'static>) -> Option<Way> {
        let is_name =
            name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_name {
            return None;
        }
        words(name).iter().find_map(|word| Way::of_verb(word, tools))
    }
}

/// What the name of a tool says.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    pub(super) way: Option<Way>,
    pub(super) words: Vec<String>,
    /// How many of the words are the tool's own, and not its server's.
    own: usize,
    objects: Vec<&'static str>,
}

/// What joins two verbs of a name.
const JOINS: [&str; 4] = ["and", "or", "then", "with"];

impl Name {
    /// The name of a server's tool, or of one without a server.
    pub(super) fn parse(server: &str, tool: &str, tables: Tables) -> Name {
        let tools = tables.get("tools");
        let (space, own) = last_part(tool);
        let own = known_words(own, tools);
        let around: Vec<String> = [known_words(server, tools), known_words(space, tools)].concat();
        let verb = verb(&own, tools);
        let mut name = Name { way: None, objects: objects(&own, tools), own: own.len(), words: own };
        // What a server is for says what its tools work on, and not to which part of it.
        let served = objects(&around, tools).into_iter().filter(|object| !matches!(*object, "part" | "folder" | "far"));
        let named = name.is("file") || name.is("folder") || name.is("runner");
        name.objects.extend(served.filter(|object| *object != "spoken" || !named));
        let databases = WordList::DatabaseNames.read(tables);
        let parts = |text: &str| databases.fit(&text.to_ascii_lowercase());
        name.objects.extend((parts(server) || parts(tool)).then_some("stored"));
        // The verb of what stands around a name counts where the name says neither what it does nor what it runs.
        let runs = name.is("runner") || name.is("code");
        let verb = verb.or_else(|| if runs { None } else { self::verb(&around, tools) });
        name.way = name.way_of(verb);
        name.words.extend(around);
        name
    }

    /// The words of the tool's own name.
    pub(super) fn own(&self) -> &[String] {
        self.words.get(..self.own).unwrap_or_default()
    }

    /// Whether all its other words only say that something is run.
    pub(super) fn is_bare(&self, program: &str) -> bool {
        let says = ["run", "exec", "execute", "command", "cmd", "cli", "shell", "tool", "call"];
        self.words.iter().all(|word| word == program || says.contains(&word.as_str()))
    }

    /// Whether the name speaks of this.
    pub(super) fn is(&self, object: &str) -> bool {
        self.objects.contains(&object)
    }

    fn way_of(&self, verb: Option<Way>) -> Option<Way> {
        let named = self.is("file") || self.is("folder");
        let is_said = self.is("spoken") && !named && !self.is("runner");
        match verb {
            Some(Way::Gets | Way::Reads | Way::Looks | Way::Says) => verb,
            Some(_) | None if self.is("web") => Some(Way::Says),
            Some(Way::Runs) => Some(Way::Runs),
            Some(Way::Starts | Way::Writes | Way::Makes) if self.is("runner") && !named => Some(Way::Runs),
            None if self.is("runner") || self.is("code") => Some(Way::Runs),
            Some(_) | None if is_said => Some(Way::Says),
            Some(Way::Deletes | Way::Moves | Way::Copies) if self.is("part") => Some(Way::Edits),
            Some(Way::Edits) if self.words.iter().any(|word| word.starts_with("permission")) => Some(Way::Permits),
            Some(Way::Makes) if self.words.iter().any(|word| word.ends_with("link")) => Some(Way::Links),
            Some(Way::Starts) if named => Some(Way::Reads),
            Some(Way::Starts) | None => None,
            Some(way) => Some(way),
        }
    }

    /// Whether nothing that a person would want to know follows from such a call, whatever its arguments.
    pub(super) fn is_harmless(&self) -> bool {
        let looks = matches!(self.way, Some(Way::Says | Way::Looks | Way::Reads | Way::Gets));
        looks || (self.way == Some(Way::Makes) && self.is("folder"))
    }
}

/// `server.tool`, `server__tool`, `server/tool`: what stands before the last part, and that part.
fn last_part(tool: &str) -> (&str, &str) {
    let ends = ["__", ".", "/", ":", "::"].iter().filter_map(|mark| tool.rfind(mark).map(|at| (at, at + mark.len())));
    match ends.max_by_key(|(_, end)| *end) {
        Some((at, end)) if end < tool.len() => (tool.get(..at).unwrap_or(""), tool.get(end..).unwrap_or("")),
        Some(_) | None => ("", tool),
    }
}

/// The verb of a name: the first one, unless a stronger one is joined to it or it makes something that runs.
fn verb(words: &[String], tools: Node<'static>) -> Option<Way> {
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
        // `delete` and its kin are also said last: `set_permissions`, `make_copy`.
        () if yields(&[Way::Makes, Way::Starts, Way::Edits], Way::Permits) => strongest,
        () => Some(first),
    }
}

fn objects(words: &[String], tools: Node<'static>) -> Vec<&'static str> {
    words.iter().map(|word| tools.get("object").get(word).text()).filter(|object| !object.is_empty()).collect()
}

/// The words of a name; one that is not known but is two known words without a mark between them is those.
fn known_words(name: &str, tools: Node<'static>) -> Vec<String> {
    let known = |word: &str| !tools.get("verb").get(word).is_nil() || !tools.get("object").get(word).is_nil();
    let apart = |word: String| {
        let end = if word.len() > LONGEST_WORD { 0 } else { word.len().saturating_sub(1) };
        let halves = (2..end).filter_map(|at| word.split_at_checked(at));
        match halves.into_iter().find(|(one, other)| known(one) && known(other)).filter(|_| !known(&word)) {
            Some((one, other)) => vec![one.to_owned(), other.to_owned()],
            None => vec![word],
        }
    };
    words(name).into_iter().take(MAX_WORDS).flat_map(apart).collect()
}

/// A name has no more words than these.
const MAX_WORDS: usize = 24;

/// A longer word is not taken for two.
const LONGEST_WORD: usize = 32;

/// The words of a name: `deleteProject`, `delete-project`, `delete_project`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && !before.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}
