//! The word lists in `library/words` that texts are judged by.

use reflex_tables::{Map, Tables};

macro_rules! word_lists {
    ($($(#[doc = $doc:literal])+ $list:ident = $name:literal;)+) => {
        /// A list of `library/words`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum WordList { $($(#[doc = $doc])+ $list,)+ }

        impl WordList {
            /// Every list.
            pub const ALL: &[WordList] = &[$(WordList::$list,)+];

            /// Returns its name in the library.
            pub fn name(self) -> &'static str {
                match self { $(WordList::$list => $name,)+ }
            }
        }
    };
}

word_lists! {
    /// Words in a name whose value is widely known or not a secret.
    HarmlessKeyWords = "harmless-key-words";
    /// Last words of names whose value is a key.
    KeyNames = "key-names";
    /// Words before `key` that make the key a secret. Most keys are names.
    KeyOwners = "key-owners";
    /// Words of a name that follow the one which determines the kind of the value.
    NameEndings = "name-endings";
    /// Password values that are not passwords.
    NoPasswordValues = "no-password-values";
    /// Endings of names of passwords, in the languages that people write them in.
    PasswordNames = "password-names";
    /// Owners of a password whose name is joined with `pass` or another of the short names.
    PasswordOwners = "password-owners";
    /// Placeholders for a secret. A random text contains one of these only by great chance. The last three are the
    /// prefixes of the accounts of every test chain.
    Placeholders = "placeholders";
    /// Last words of names of public values, even if the name contains a service.
    PublicValueNames = "public-value-names";
    /// Prefixes of words that name a secret, at the start of a name or within it.
    SecretWords = "secret-words";
    /// Last words of names of passwords that are also endings of other words, and those of further languages.
    ShortPasswordNames = "short-password-names";
    /// Samples, roles and field names: a password worth stealing does not contain one.
    WeakPasswords = "weak-passwords";
    /// Parts of the names of servers and tools that use a database; they match within a word too.
    DatabaseNames = "database-names";
    /// Objects for which `remove` and `reset` also mean destruction.
    HeavyThings = "heavy-things";
    /// Objects that their users do not recreate. Excludes local files and an agent's own notes.
    LastingThings = "lasting-things";
    /// First and last words of the names of read-only tools.
    LookingVerbs = "looking-verbs";
    /// Verbs that move money if their object is money.
    PayingVerbs = "paying-verbs";
    /// Objects whose stop others notice.
    RunningThings = "running-things";
    /// Words next to a program's name that only mean that it is run.
    RunningVerbs = "running-verbs";
    /// Verbs that stop, scale or hand over a running object.
    StoppingVerbs = "stopping-verbs";
    /// Agents and programs that start them. One of these names, or a name that contains it between dashes, dots or
    /// underscores, means that a command is not run by a person.
    AgentPrograms = "agent-programs";
    /// Programs that output their input, complete, in part or in another form.
    ContentFilters = "content-filters";
    /// Words that mark a line as an error, in lower case.
    ErrorWords = "error-words";
    /// Programs that only show files, unless an effect shows otherwise.
    LookingPrograms = "looking-programs";
    /// Names of hosts that are often imitated.
    ImitatedHosts = "imitated-hosts";
    /// Addresses from which the makers of common tools have them installed: a host, or a host and a path.
    Installers = "installers";
    /// Tools that developers run from a registry without adding them to a project.
    KnownTools = "known-tools";
    /// Names of files that list the packages of a project.
    PackageLists = "package-lists";
    /// Texts of transient errors.
    PassingErrors = "passing-errors";
    /// Patterns of a search that fit every line with a character.
    AnyLinePatterns = "any-line-patterns";
    /// Programs that query the state of an independent process without changing it.
    PollingPrograms = "polling-programs";
    /// Interpreters that read a script by its path, without a version.
    ScriptInterpreters = "script-interpreters";
    /// Programs that are several in one file, chosen by the name that they are started with.
    CombinedPrograms = "combined-programs";
    /// Programs that an agent's own program becomes if it is started with their name.
    ProgramsInAgents = "programs-in-agents";
    /// Shells, which print the text of a failed start and go on with their next command.
    Shells = "shells";
    /// Endings of the names of tools that report the progress of an independent process.
    PollingTools = "polling-tools";
    /// Options that make a client's request more than a query.
    SendingOptions = "sending-options";
    /// Keys of the arguments of a program in a sibling key, in lower case.
    ArgumentKeys = "argument-keys";
    /// Keys of commands in the settings of builds, hooks, tasks, hosts and editors, in lower case.
    CommandKeys = "command-keys";
    /// Parts of the paths of the guard's files and of the settings files that hold agents' hooks.
    ProtectedNames = "protected-names";
    /// Keys of a command, or of a program whose arguments have a sibling key, in lower case.
    ProgramKeys = "program-keys";
    /// Keys of texts for people at any depth, in lower case.
    DescriptionKeys = "told-keys";
    /// Prefixes of words in texts about attacks on models.
    AttackSubjects = "attack-subjects";
    /// Words that concern little else than attacks on models.
    AttackSubjectsAlone = "attack-subjects-alone";
    /// Names between placeholder marks that refer to the knowledge of a model.
    CarriedNames = "carried-names";
    /// The vocabulary of instructions whose words are run together or joined by dashes. Every part of such a text must
    /// be one of them.
    GluedWords = "glued-words";
    /// Words that an instruction follows.
    OrderOpenings = "order-openings";
    /// Words that introduce a task unrelated to the preceding text.
    TaskOpenings = "task-openings";
}

impl WordList {
    /// Returns its words; empty if the library has no such list.
    pub fn read(self, tables: Tables) -> Words {
        let list = tables.library().words().get(self.name());
        let compare = match list.compare() {
            "start" => Compare::Start,
            "end" => Compare::End,
            "part" => Compare::Part,
            _ => Compare::Equal,
        };
        Words { compare, words: list.words() }
    }
}

/// The part of a text that is compared with a word.
#[derive(Debug, Clone, Copy)]
enum Compare {
    Equal,
    Start,
    End,
    Part,
}

/// The words of a list.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    compare: Compare,
    words: Map<'static, bool>,
}

impl Words {
    /// Whether this is one of the words.
    pub fn has(self, word: &str) -> bool {
        self.words.index_of(word).is_some()
    }

    /// Whether a text equals, starts with, ends with or contains one of the words, according to the list's `compare`.
    pub fn fit(self, text: &str) -> bool {
        match self.compare {
            Compare::Equal => self.has(text),
            Compare::Start => self.iter().any(|word| text.starts_with(word)),
            Compare::End => self.iter().any(|word| text.ends_with(word)),
            Compare::Part => self.iter().any(|word| text.contains(word)),
        }
    }

    /// Returns the words, sorted by their bytes.
    pub fn iter(self) -> impl Iterator<Item = &'static str> + Clone {
        self.words.keys()
    }
}

/// A search for words at any position of many texts. The first two bytes rule out most positions.
#[derive(Debug, Clone)]
pub(crate) struct WordFinder {
    words: Words,
    /// A bit for each pair of leading bytes of a word, indexed by their low five bits.
    pairs: [u32; 32],
}

impl WordFinder {
    /// Returns a finder for a list whose words have at least two bytes.
    pub(crate) fn new(words: Words) -> WordFinder {
        let mut pairs = [0; 32];
        for word in words.iter() {
            if let [first, second, ..] = word.as_bytes()
                && let Some(seconds) = pairs.get_mut(usize::from(first & 31))
            {
                *seconds |= 1 << (second & 31);
            }
        }
        WordFinder { words, pairs }
    }

    /// Whether the text contains one of the words.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let begins = |pair: &[u8]| {
            let &[first, second] = pair else { return false };
            self.pairs.get(usize::from(first & 31)).is_some_and(|seconds| seconds & (1 << (second & 31)) != 0)
        };
        let has = |at: usize| {
            let rest = bytes.get(at..).unwrap_or_default();
            self.words.iter().any(|word| rest.starts_with(word.as_bytes()))
        };
        bytes.windows(2).enumerate().any(|(at, pair)| begins(pair) && has(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tables;

    #[test]
    fn a_list_compares_as_the_library_defines() {
        let fit = |list: WordList, text: &str| list.read(tables()).fit(text);
        assert!(fit(WordList::LookingPrograms, "cat") && !fit(WordList::LookingPrograms, "catch"));
        assert!(fit(WordList::TaskOpenings, "write it") && !fit(WordList::TaskOpenings, "rewrite it"));
        assert!(fit(WordList::PasswordNames, "dbpassword") && !fit(WordList::PasswordNames, "passwords"));
        assert!(fit(WordList::PassingErrors, "a timeout occurred") && !fit(WordList::PassingErrors, "time out"));
    }

    #[test]
    fn every_list_is_in_the_library_and_sorted() {
        for list in WordList::ALL {
            let words: Vec<&str> = list.read(tables()).iter().collect();
            assert!(!words.is_empty() && words.is_sorted(), "{}", list.name());
            assert!(words.iter().all(|word| list.read(tables()).has(word)), "{}", list.name());
        }
    }

    #[test]
    fn a_finder_finds_each_of_its_words_at_any_place() {
        let words = WordList::SecretWords.read(tables());
        let finder = WordFinder::new(words);
        assert!(words.iter().all(|word| word.len() > 1 && finder.is_in(&format!("x{word}y"))));
        assert!(!finder.is_in("git status") && !finder.is_in("") && !finder.is_in("s"));
    }

    #[test]
    fn without_a_library_nothing_fits() {
        let words = WordList::KeyNames.read(Tables::EMPTY);
        assert!(!words.fit("token") && !words.has("token") && words.iter().next().is_none());
    }
}
