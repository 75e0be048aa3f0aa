//! What people wrote for other guards and agents, as rules and allowances of ours: every line with what became of it.

mod claude;
mod codex;
mod gemini;
mod hookify;
mod other_guards;

use crate::problem::Level;
use crate::rule::rules_of;
use serde_json::{Map, Value, json};

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It says the same here, or more.
    Imported,
    /// It says less here.
    Narrowed,
    /// It is left out.
    Refused,
    /// It never had an effect where it stands: a stricter line covers it.
    Dead,
    /// Another line says the same already.
    Shadowed,
}

impl Fate {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Imported => "imported",
            Fate::Narrowed => "narrowed",
            Fate::Refused => "refused",
            Fate::Dead => "dead",
            Fate::Shadowed => "shadowed",
        }
    }
}

/// A line of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// `file:line`
    pub at: String,
    /// As it stands there.
    pub text: String,
    /// What became of it.
    pub fate: Fate,
    /// Why; empty where nothing is to say.
    pub why: String,
}

/// What was made of a file.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// Rules, each a map with the keys of a rule.
    pub rules: Vec<Value>,
    /// Entries for a policy's `allow`.
    pub allow: Vec<Value>,
    /// Entries for a policy's `allowed_roots`.
    pub roots: Vec<String>,
    /// Every line.
    pub told: Vec<Told>,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `permissions` of Claude Code's settings.
    Claude,
    /// Codex CLI's prefix rules.
    Codex,
    /// Gemini CLI's policies.
    Gemini,
    /// Hookify's markdown.
    Hookify,
    /// cc-safety-net's own rules.
    SafetyNet,
    /// Allowlists of destructive_command_guard.
    Dcg,
}

impl Source {
    /// Every source with its word.
    pub const ALL: [(Source, &'static str); 6] = [
        (Source::Claude, "claude"),
        (Source::Codex, "codex"),
        (Source::Gemini, "gemini"),
        (Source::Hookify, "hookify"),
        (Source::SafetyNet, "safety-net"),
        (Source::Dcg, "dcg"),
    ];

    /// The source of this word.
    pub fn named(name: &str) -> Option<Source> {
        Source::ALL.iter().find(|(_, known)| *known == name).map(|(source, _)| *source)
    }

    /// The source that a file's name tells.
    pub fn of_file(path: &str) -> Option<Source> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ends = |end: &str| name.ends_with(end);
        Some(match () {
            () if ends(".md") => Source::Hookify,
            () if ends(".rules") || ends(".codexpolicy") => Source::Codex,
            () if name == "allowlist.toml" => Source::Dcg,
            () if ends(".toml") => Source::Gemini,
            () if name == ".safety-net.json" || path.contains("cc-safety-net") => Source::SafetyNet,
            () if ends(".json") => Source::Claude,
            () => return None,
        })
    }

    fn name(self) -> &'static str {
        Source::ALL.iter().find(|(source, _)| *source == self).map_or("", |(_, name)| name)
    }
}

/// Reads a file of another guard.
///
/// # Errors
/// It is not what it should be as a whole; then nothing of it is taken.
pub fn import(source: Source, file: &str, text: &str) -> Result<Import, String> {
    let mut reader = Reader { source, file, text, import: Import::default(), entries: Vec::new() };
    match source {
        Source::Claude => claude::read(&mut reader),
        Source::Codex => codex::read(&mut reader),
        Source::Gemini => gemini::read(&mut reader),
        Source::Hookify => hookify::read(&mut reader),
        Source::SafetyNet => other_guards::safety_net(&mut reader),
        Source::Dcg => other_guards::dcg(&mut reader),
    }
    .map_err(|problem| format!("{file}: {problem}"))?;
    reader.settle();
    Ok(reader.import)
}

/// What a line wants of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    Allow,
    Ask,
    Block,
}

/// A line that is about commands by their first words: those can be compared with each other.
struct Entry {
    told: usize,
    wish: Wish,
    words: Vec<String>,
    /// Where it counts more than others; the strictest wins among equals.
    priority: i64,
}

struct Reader<'t> {
    source: Source,
    file: &'t str,
    text: &'t str,
    import: Import,
    entries: Vec<Entry>,
}

/// Where a line stands, and its words.
#[derive(Clone)]
struct Line {
    number: usize,
    text: String,
}

/// Programs that run whatever stands behind them: who allows them allows everything.
const RUNNERS: [&str; 34] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "pwsh",
    "powershell",
    "cmd",
    "sudo",
    "doas",
    "su",
    "env",
    "xargs",
    "eval",
    "exec",
    "command",
    "nohup",
    "nice",
    "time",
    "timeout",
    "find",
    "ssh",
    "docker",
    "podman",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "npx",
    "bunx",
    "uvx",
    "awk",
];

impl Reader<'_> {
    /// The line on which a text first stands, from the one given on.
    fn line(&self, wanted: &str, from: usize) -> usize {
        let numbered = self.text.lines().enumerate().skip(from);
        numbered.filter(|(_, line)| line.contains(wanted)).map(|(index, _)| index + 1).next().unwrap_or(from.max(1))
    }

    fn tell(&mut self, line: &Line, fate: Fate, why: impl Into<String>) -> usize {
        let at = format!("{}:{}", self.file, line.number);
        self.import.told.push(Told { at, text: line.text.clone(), fate, why: why.into() });
        self.import.told.len() - 1
    }

    fn refuse(&mut self, line: &Line, why: impl Into<String>) {
        self.tell(line, Fate::Refused, why);
    }

    /// A line about commands by their first words.
    fn command(&mut self, line: &Line, wish: Wish, words: &[String], (message, priority): (&str, i64)) {
        let told = if wish == Wish::Allow {
            let Some(told) = self.allow(line, words) else { return };
            told
        } else {
            let pattern = format!("{} *", words.join(" "));
            let conditions = json!([{"matches_command": pattern}]);
            let Some(told) = self.rule(line, wish, (&["bash_command"], &conditions), message) else { return };
            told
        };
        self.entries.push(Entry { told, wish, words: words.to_vec(), priority });
    }

    /// An allowance for one plain command that begins so.
    fn allow(&mut self, line: &Line, words: &[String]) -> Option<usize> {
        let first = words.first().map(String::as_str).unwrap_or("");
        let plain = |word: &String| {
            !word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`', ';', '|', '&', '<', '>', '(', ')', '*', ' '])
        };
        if first.is_empty() || !words.iter().all(plain) {
            self.refuse(line, "only plain words can be allowed: no pattern in front, no quotes, no compound");
            return None;
        }
        if words.len() == 1 && RUNNERS.contains(&first) {
            self.refuse(line, format!("`{first}` runs whatever stands behind it, so this would allow everything"));
            return None;
        }
        // Without a reason: what the others allowed lifts nothing of the core.
        self.import.allow.push(json!({"argv": words}));
        let why =
            "it lifts a question of ours about this one plain command, never a block, and never the agent's own prompt";
        Some(self.tell(line, Fate::Narrowed, why))
    }

    /// An allowance for exactly one text.
    fn allow_exactly(&mut self, line: &Line, command: &str) {
        self.import.allow.push(json!({"command": command}));
        self.tell(line, Fate::Narrowed, "it lifts a question of ours about exactly this text, never a block");
    }

    /// A rule, if our reader takes it.
    fn rule(&mut self, line: &Line, wish: Wish, about: (&[&str], &Value), message: &str) -> Option<usize> {
        let (events, conditions) = about;
        let action = if wish == Wish::Block { "block" } else { "ask" };
        self.whole_rule(line, json!({"events": events, "conditions": conditions, "action": action, "message": message}))
    }

    /// The same with all of its keys; the name is made where none is given.
    fn whole_rule(&mut self, line: &Line, rule: Value) -> Option<usize> {
        let Value::Object(mut keys) = rule else { return None };
        let wanted = keys.get("name").and_then(Value::as_str).map_or_else(|| line.text.clone(), str::to_owned);
        keys.insert("name".into(), self.name(&wanted).into());
        keys.entry("severity").or_insert_with(|| "high".into());
        keys.entry("category").or_insert_with(|| "policy".into());
        let is_empty = keys.get("message").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty());
        if is_empty {
            let message = format!("A line of {} speaks against it.", self.source.name());
            keys.insert("message".into(), message.into());
        }
        keys.insert("description".into(), format!("from {}:{}", self.file, line.number).into());
        let text = yaml(&Value::Object(keys.clone()));
        let (_, problems) = rules_of("rule", &text, Some(&crate::Variables::new()));
        if let Some(problem) = problems.iter().find(|problem| problem.level == Level::Error) {
            let help = if problem.help.is_empty() { String::new() } else { format!("; {}", problem.help) };
            self.refuse(line, format!("{}{help}", problem.message));
            return None;
        }
        self.import.rules.push(Value::Object(keys));
        Some(self.tell(line, Fate::Imported, ""))
    }

    fn name(&self, wanted: &str) -> String {
        let letters = wanted.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
        let words: String = letters.collect();
        let joined = words.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").to_lowercase();
        let base: String = format!("{}-{joined}", self.source.name()).chars().take(60).collect();
        let taken =
            |name: &String| self.import.rules.iter().any(|rule| rule.get("name") == Some(&Value::from(name.as_str())));
        let more = (2..).map(|number| format!("{base}-{number}"));
        std::iter::once(base.clone()).chain(more).find(|name| !taken(name)).unwrap_or(base)
    }

    /// Says of an imported line that it means less here.
    fn narrow(&mut self, told: Option<usize>, why: &str) {
        if let Some(told) = told.and_then(|index| self.import.told.get_mut(index)) {
            (told.fate, told.why) = (Fate::Narrowed, why.into());
        }
    }

    /// Finds the lines that never had an effect where they stand.
    fn settle(&mut self) {
        for (index, entry) in self.entries.iter().enumerate() {
            let covers =
                |other: &Entry| other.words.len() <= entry.words.len() && entry.words.starts_with(&other.words);
            let others = || self.entries.iter().enumerate().filter(|(at, other)| *at != index && covers(other));
            let stronger = |other: &Entry| {
                other.priority > entry.priority || (other.priority == entry.priority && other.wish > entry.wish)
            };
            let same = |at: usize, other: &Entry| {
                other.wish == entry.wish && (other.words.len() < entry.words.len() || at < index)
            };
            let over = others().find(|(_, other)| other.wish != entry.wish && stronger(other));
            let twin = others().find(|(at, other)| same(*at, other));
            let (fate, other) = match (over, twin) {
                (Some((_, other)), _) => (Fate::Dead, other),
                (None, Some((_, other))) => (Fate::Shadowed, other),
                (None, None) => continue,
            };
            let by =
                self.import.told.get(other.told).map_or(String::new(), |told| format!("{} (`{}`)", told.at, told.text));
            if let Some(told) = self.import.told.get_mut(entry.told) {
                (told.fate, told.why) = (fate, format!("{by} covers it"));
            }
        }
        self.drop_covered();
    }

    /// What a line that never counted was made into is not kept.
    fn drop_covered(&mut self) {
        let gone: Vec<(Wish, Vec<String>)> = self
            .entries
            .iter()
            .filter(|entry| {
                let fate = self.import.told.get(entry.told).map(|told| told.fate);
                matches!(fate, Some(Fate::Dead | Fate::Shadowed))
            })
            .map(|entry| (entry.wish, entry.words.clone()))
            .collect();
        for (wish, words) in gone {
            let (is_allowed, pattern) = (json!(words), format!("{} *", words.join(" ")));
            if wish == Wish::Allow {
                let at = self.import.allow.iter().rposition(|entry| entry.get("argv") == Some(&is_allowed));
                at.map(|at| self.import.allow.remove(at));
            } else {
                let conditions = json!([{"matches_command": pattern}]);
                let at = self.import.rules.iter().rposition(|rule| rule.get("conditions") == Some(&conditions));
                at.map(|at| self.import.rules.remove(at));
            }
        }
    }
}

impl Import {
    /// The rules as a file of ours.
    pub fn rules_text(&self) -> String {
        self.rules.iter().map(yaml).collect::<Vec<_>>().join("---\n")
    }

    /// The rest as a part of a policy; empty where there is none.
    pub fn policy_text(&self) -> String {
        let mut text = String::new();
        if !self.roots.is_empty() {
            text.push_str(&format!("allowed_roots: {}\n", json!(self.roots)));
        }
        if !self.allow.is_empty() {
            text.push_str("allow:\n");
            self.allow.iter().for_each(|entry| text.push_str(&format!("  - {entry}\n")));
        }
        text
    }

    /// Takes what was made of another file too.
    pub fn join(&mut self, other: Import) {
        self.rules.extend(other.rules);
        self.allow.extend(other.allow);
        self.roots.extend(other.roots);
        self.told.extend(other.told);
    }
}

/// A map as YAML: each key on a line of its own, what it holds in the form of JSON, which YAML contains.
fn yaml(rule: &Value) -> String {
    const ORDER: [&str; 10] = [
        "name",
        "description",
        "category",
        "enabled",
        "events",
        "conditions",
        "action",
        "severity",
        "message",
        "examples",
    ];
    let empty = Map::new();
    let keys = rule.as_object().unwrap_or(&empty);
    let line = |key: &str| keys.get(key).map(|value| format!("{key}: {value}\n"));
    ORDER.iter().filter_map(|key| line(key)).collect()
}

/// A pattern with stars as a regular expression over the whole text.
fn regex_of(glob: &str) -> String {
    let escaped = |letter: char| match letter {
        '*' => ".*".to_owned(),
        letter if letter.is_alphanumeric() || " -_/:@=,\"'<>!#%&~".contains(letter) => letter.to_string(),
        letter => format!("\\{letter}"),
    };
    format!("^{}$", glob.chars().map(escaped).collect::<String>())
}

/// The plain words of a prefix.
fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
