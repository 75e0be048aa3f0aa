//! Deferred effects of a written file: the texts that other programs run, and its settings.

use crate::injection::scan::scan;
use reflex_shell::{ExecTarget, Language};
use reflex_tables::Tables;

/// Deferred effects of a written file.
#[derive(Debug, Default)]
pub(crate) struct DeferredExecution {
    /// Texts that would be run.
    pub(crate) scripts: Vec<Text>,
    /// Its settings: flags known to the rules, and the offending value.
    pub(crate) settings: Vec<(Vec<&'static str>, String)>,
}

/// A text that a written file makes other programs run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) language: Language,
    /// The system on which it runs.
    pub(crate) site: ExecTarget,
    pub(crate) counts: Counts,
}

/// The part of a deferred text's effects that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// All effects. A client or tool runs the text by itself, so no call of its own will be judged.
    Unasked,
    /// All effects.
    All,
    /// Effects that take from others, give to them or persist on the machine. Effects of a build on its own files do
    /// not count.
    Lasting,
    /// Effects that take from others or give to them. The rest is judged when the text is run.
    Taken,
}

impl Text {
    /// Whether a client or tool runs it on this machine by itself, without a call that would be judged.
    pub(crate) fn is_unasked(&self) -> bool {
        self.counts == Counts::Unasked && self.site == ExecTarget::Here
    }
}

impl DeferredExecution {
    /// Returns whether the file has no deferred effects.
    pub(crate) fn is_empty(&self) -> bool {
        self.scripts.is_empty() && self.settings.is_empty()
    }

    pub(super) fn set(&mut self, flags: &[&'static str], value: impl Into<String>) {
        let setting = (flags.to_vec(), value.into());
        if !self.settings.contains(&setting) {
            self.settings.push(setting);
        }
    }

    /// Removes settings and scripts that the previous content also has, since they are not a change.
    pub(crate) fn beyond(mut self, before: &DeferredExecution) -> DeferredExecution {
        self.settings.retain(|setting| !before.settings.contains(setting));
        self.scripts.retain(|script| !before.scripts.iter().any(|known| known.text == script.text));
        self
    }

    /// Reports instructions that no legitimate file for an agent contains.
    pub(super) fn orders(&mut self, tables: Tables, content: &str) {
        let content = without_prohibitions(content);
        let found = scan(&content, tables);
        if found.unread > 0 {
            self.set(&["orders"], "more than is read");
        }
        // No legitimate instructions make an agent conceal something from the person.
        let conceals = || found.signs.iter().find(|sign| sign.family == "secrecy");
        let reported = found.signs.first().filter(|_| found.is_reported()).or_else(conceals);
        let Some(sign) = reported else { return };
        let part = content.get(sign.span.start..sign.span.end).unwrap_or("").trim();
        self.set(&["orders"], if part.is_empty() { &sign.name } else { part });
    }

    /// Adds the commands that a text instructs an agent to run: code spans and code blocks that begin with a program.
    pub(super) fn guard_commands(&mut self, tables: Tables, content: &str) {
        let content = without_prohibitions(content);
        let is_command = |text: &&str| {
            let mut words = text.split_whitespace();
            let program = words.next().unwrap_or_default();
            words.next().is_some() && tables.library().programs().find(program).is_some()
        };
        let (mut is_block, mut runs) = (false, false);
        for line in content.lines() {
            if let Some(info) = line.trim_start().strip_prefix("```") {
                // Claude Code runs the lines of a block that is marked so before the model sees the text.
                runs = info.trim() == "!";
                is_block = !is_block;
                continue;
            }
            let line = line.trim_start().trim_start_matches("$ ");
            let block = is_block.then_some((line, if runs { Counts::Unasked } else { Counts::Taken }));
            let mut parts = line.split('`').filter(|_| !is_block).peekable();
            let mut spans = Vec::new();
            while let (Some(before), Some(span)) = (parts.next(), parts.next()) {
                // The same holds for a span that follows `!`.
                let counts = if before.ends_with('!') { Counts::Unasked } else { Counts::Taken };
                spans.push((span, counts));
            }
            for (text, counts) in block.into_iter().chain(spans).filter(|(text, _)| is_command(text)) {
                let (text, language) = (text.to_owned(), Language::Shell);
                self.scripts.push(Text { text, language, site: ExecTarget::Here, counts });
            }
        }
    }

    pub(super) fn run(&mut self, text: impl Into<String>, site: ExecTarget) {
        self.scripts.push(Text { text: text.into(), language: Language::Shell, site, counts: Counts::Lasting });
    }

    pub(super) fn run_all(&mut self, text: impl Into<String>, site: ExecTarget) {
        self.scripts.push(Text { text: text.into(), language: Language::Shell, site, counts: Counts::Unasked });
    }
}

/// Hosts from which packages come by default.
pub(super) const USUAL_REGISTRIES: [&str; 8] = [
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.pkg.github.com",
    "pypi.org",
    "files.pythonhosted.org",
    "test.pypi.org",
    "download.pytorch.org",
    "index.crates.io",
];

/// Returns the first invisible or direction-changing character, as `U+XXXX`, or else the first word that mixes Latin
/// with similar-looking Cyrillic or Greek characters.
pub(super) fn hidden_chars(content: &str) -> Option<String> {
    let unseen = |ch: char| matches!(ch, '\u{200b}' | '\u{2060}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0001}'..='\u{e007f}');
    if let Some(ch) = content.chars().find(|ch| unseen(*ch)) {
        return Some(format!("U+{:04X}", u32::from(ch)));
    }
    let alike = |ch: char| matches!(ch, '\u{400}'..='\u{45f}' | '\u{391}'..='\u{3c9}');
    let mixed = |word: &&str| word.contains(alike) && word.contains(|ch: char| ch.is_ascii_alphabetic());
    let mut words = content.split(|ch: char| !ch.is_alphabetic());
    words.find(mixed).map(str::to_owned)
}

/// Returns the text without sentences that forbid something, such as `never override the rules`, which are the purpose
/// of such files. A sentence with an exception stays.
fn without_prohibitions(content: &str) -> String {
    const NEGATIONS: [&str; 6] = ["never", "not", "don't", "don\u{2019}t", "cannot", "avoid"];
    const EXCEPTIONS: [&str; 6] = ["unless", "except", "but", "if", "when", "until"];
    // A later negation is about something else.
    const FIRST_WORDS: usize = 5;
    // A sentence that forbids informing a person does not protect anyone.
    const INFORMS: [&str; 9] = ["tell", "mention", "inform", "notify", "reveal", "disclose", "show", "report", "alert"];
    const PEOPLE: [&str; 7] = ["user", "human", "person", "developer", "anyone", "anybody", "operator"];
    let forbids = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        let words = || lower.split(|ch: char| ch.is_whitespace() || ch == ',' || ch == '.');
        let named = |known: &[&str], max: usize| {
            words().filter(|word| !word.is_empty()).take(max).any(|word| known.contains(&word))
        };
        let conceals = named(&INFORMS, usize::MAX) && named(&PEOPLE, usize::MAX);
        named(&NEGATIONS, FIRST_WORDS) && !named(&EXCEPTIONS, usize::MAX) && !conceals
    };
    content.split_inclusive(['.', '!', '?', '\n', ';']).filter(|sentence| !forbids(sentence)).collect()
}
