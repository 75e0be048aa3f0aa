//! The word lists of `library/words`, by which texts are judged.

use reflex_tables::{Node, Tables};

macro_rules! word_lists {
    ($($(#[doc = $doc:literal])+ $list:ident = $name:literal;)+) => {
        /// A list of `library/words`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum WordList { $($(#[doc = $doc])+ $list,)+ }

        impl WordList {
            /// Every list.
            pub const ALL: &[WordList] = &[$(WordList::$list,)+];

            /// Its name in the library.
            pub fn name(self) -> &'static str {
                match self { $(WordList::$list => $name,)+ }
            }
        }
    };
}

word_lists! {
    /// With one of these in its name a value is known to many, or no secret at all.
    HarmlessKeyWords = "harmless-key-words";
    /// Last words of a name by which its value is a key.
    KeyNames = "key-names";
    /// Words before `key` with which it is one that must not be known. Most keys are names.
    KeyOwners = "key-owners";
    /// Words of a name behind the one that says what the value is.
    NameEndings = "name-endings";
    /// Values given as a password that are none.
    NoPasswordValues = "no-password-values";
    /// Ends of names of passwords, in the languages in which people write them.
    PasswordNames = "password-names";
    /// Whose password it is, where that is written in one word with `pass` or another of the short names.
    PasswordOwners = "password-owners";
    /// What people write where a secret would stand. No random text holds one of these but by great chance. The last three begin the accounts of every chain for tests.
    Placeholders = "placeholders";
    /// Last words of names of what everybody may know, also where a service stands in the name.
    PublicValueNames = "public-value-names";
    /// What a word begins with, at its start or within, that names a secret.
    SecretWords = "secret-words";
    /// Last words of names of passwords that other words end with too, and those of further languages.
    ShortPasswordNames = "short-password-names";
    /// Samples, roles and names of fields: no password that anybody would steal holds one.
    WeakPasswords = "weak-passwords";
    /// Parts of the names of servers and tools that have a database behind them, also within a word.
    DatabaseNames = "database-names";
    /// Of these also `remove` and `reset` say that they are gone.
    HeavyThings = "heavy-things";
    /// What is not made again by those who use it. A local file or a note of the agent's own is none.
    LastingThings = "lasting-things";
    /// First and last words of the names of tools that only look.
    LookingVerbs = "looking-verbs";
    /// Verbs that move money, where the object is money.
    PayingVerbs = "paying-verbs";
    /// What others notice when it stops.
    RunningThings = "running-things";
    /// Words beside a program's name that only say that it is run.
    RunningVerbs = "running-verbs";
    /// Verbs that stop, scale or hand over what runs.
    StoppingVerbs = "stopping-verbs";
    /// Agents and programs that start them: one of these names, or a name that holds it between dashes, dots or underscores, says that no person runs a command.
    AgentPrograms = "agent-programs";
    /// Programs that hand on what they read, whole or in part or in another form.
    ContentFilters = "content-filters";
    /// Words by which a line tells an error, in small letters.
    ErrorWords = "error-words";
    /// Programs that show files and do nothing else, as long as no effect says otherwise.
    LookingPrograms = "looking-programs";
    /// Names of hosts that others pass for.
    ImitatedHosts = "imitated-hosts";
    /// Addresses from which the makers of common tools have them installed, a host or a host and a path.
    Installers = "installers";
    /// Names of files that list the packages of a project.
    PackageLists = "package-lists";
    /// What an error says that passes by itself.
    PassingErrors = "passing-errors";
    /// Programs that ask for the state of something that goes on by itself, and do nothing to it.
    PollingPrograms = "polling-programs";
    /// How the names of tools end that show how far something is that goes on by itself.
    PollingTools = "polling-tools";
    /// Options with which a client's request is more than a question.
    SendingOptions = "sending-options";
    /// Keys of the arguments of a program that stands beside them, in small letters.
    ArgumentKeys = "argument-keys";
    /// Keys under which commands stand in the settings of builds, hooks, tasks, hosts and editors, in small letters.
    CommandKeys = "command-keys";
    /// Parts of the paths of the guard's files and of the settings files that hold agents' hooks.
    ProtectedNames = "protected-names";
    /// Keys under which a command stands, or a program whose arguments stand beside it, in small letters.
    ProgramKeys = "program-keys";
    /// Keys of texts that tell a person something, wherever they stand, in small letters.
    ToldKeys = "told-keys";
    /// Words of texts that speak about attacks on models, by how they begin.
    AttackSubjects = "attack-subjects";
    /// Words that are about little else than attacks on models.
    AttackSubjectsAlone = "attack-subjects-alone";
    /// What stands between signs of a place to be filled in, as far as it means what a model knows.
    CarriedNames = "carried-names";
    /// The words that orders are made of whose words are run together or joined by dashes. All of such a text must be made of them.
    GluedWords = "glued-words";
    /// Words behind which an order begins.
    OrderOpenings = "order-openings";
    /// Words with which one gives a task that has nothing to do with the text before it.
    TaskOpenings = "task-openings";
}

impl WordList {
    /// Its words; none where the library has no such list.
    pub fn read(self, tables: Tables) -> Words {
        let list = tables.get("words").get(self.name());
        let compare = match list.get("compare").text() {
            "start" => Compare::Start,
            "end" => Compare::End,
            "part" => Compare::Part,
            _ => Compare::Whole,
        };
        Words { compare, words: list.get("words") }
    }
}

/// What of a text is compared with a word.
#[derive(Debug, Clone, Copy)]
enum Compare {
    Whole,
    Start,
    End,
    Part,
}

/// The words of a list.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    compare: Compare,
    words: Node<'static>,
}

impl Words {
    /// Whether this is one of the words.
    pub fn has(self, word: &str) -> bool {
        self.words.index_of(word).is_some()
    }

    /// Whether a text is, begins with, ends with or holds one of the words, as the list says.
    pub fn fit(self, text: &str) -> bool {
        match self.compare {
            Compare::Whole => self.has(text),
            Compare::Start => self.iter().any(|word| text.starts_with(word)),
            Compare::End => self.iter().any(|word| text.ends_with(word)),
            Compare::Part => self.iter().any(|word| text.contains(word)),
        }
    }

    /// The words, sorted by their bytes.
    pub fn iter(self) -> impl Iterator<Item = &'static str> + Clone {
        self.words.entries().map(|(word, _)| word)
    }
}

/// Words that are looked for at any place of many texts: two bytes tell of most places that no word begins there.
#[derive(Debug, Clone)]
pub(crate) struct WordFinder {
    words: Words,
    /// A bit for each pair of bytes with which a word begins, by their last five bits.
    pairs: [u32; 32],
}

impl WordFinder {
    /// Of a list whose words have two bytes or more.
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

    /// Whether the text holds one of the words.
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
    fn a_list_compares_as_the_library_says() {
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
