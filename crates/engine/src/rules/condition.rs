//! The condition language of all rules: conditions over effects, targets and facts, with a ternary result.

use crate::analysis::command_pattern;
use crate::facts::cache::{Accompanied, Facts, Source};
use crate::facts::fact::Fact;
use crate::model::effect::{Effect, Target};
use crate::model::truth::Ternary;
use crate::model::words::WordList;
use crate::rules::field;
use crate::rules::rule_event::RuleEvent;
use crate::text::{sql, url};
use reflex_tables::Node;

/// Subject of a condition: an effect, and inside of `target:` one of its targets; or an event raised by a call.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// The effect.
    pub effect: Option<&'a Effect>,
    /// The target.
    pub target: Option<&'a Target>,
    /// The raised event, for rules that people write.
    pub raised: Option<&'a RuleEvent<'a>>,
    /// Origin of the rule.
    pub source: Source,
}

impl<'a> Subject<'a> {
    /// An effect as the subject.
    pub(crate) fn effect(source: Source, effect: &'a Effect) -> Subject<'a> {
        Subject { effect: Some(effect), target: None, raised: None, source }
    }

    /// A raised event as the subject.
    pub(crate) fn raised(source: Source, raised: &'a RuleEvent<'a>) -> Subject<'a> {
        Subject { effect: None, target: None, raised: Some(raised), source }
    }

    /// The same subject, narrowed to one target of the effect.
    pub(crate) fn target(self, target: &'a Target) -> Subject<'a> {
        Subject { target: Some(target), ..self }
    }

    /// Index of the action that the subject belongs to.
    fn action(self) -> Option<usize> {
        self.effect.map(|effect| effect.action).or(self.raised.and_then(|raised| raised.action))
    }
}

/// Evaluates a condition. A map or list holds if all of its entries hold; an empty or missing condition always holds.
/// Any other node is unknown.
pub(crate) fn evaluate(condition: Node<'_>, subject: Subject<'_>, facts: &Facts<'_>) -> Ternary {
    if condition.is_map() {
        let mut entries: Vec<_> = condition.entries().collect();
        if entries.len() > 1 {
            entries.sort_by_key(|(key, _)| cost(key));
        }
        return all(entries.into_iter().map(|(key, value)| operator(key, value, subject, facts)));
    }
    if condition.is_list() || condition.is_nil() {
        return all(condition.items().map(|item| evaluate(item, subject, facts)));
    }
    Ternary::Unknown
}

/// All operators. The library's tests reject an entry with any other key.
pub const OPERATORS: [&str; 18] = [
    "all", "any", "not", "target", "flag", "program", "site", "argument", "text", "sql", "url", "is", "fact", "effect",
    "also", "field", "runs", "path",
];

/// Relative cost of an operator. Cheap ones are evaluated first, because most conditions fail there and then need no
/// fact.
fn cost(key: &str) -> u8 {
    match key {
        "flag" | "program" | "site" | "effect" | "is" | "argument" | "text" => 0,
        "not" | "sql" | "url" => 1,
        "target" | "all" => 2,
        "any" | "also" | "runs" | "path" => 3,
        _ => 4,
    }
}

fn operator(key: &str, value: Node<'_>, subject: Subject<'_>, facts: &Facts<'_>) -> Ternary {
    match key {
        "all" => return evaluate(value, subject, facts),
        "any" => return any(value.items().map(|item| evaluate(item, subject, facts))),
        "not" => return evaluate(value, subject, facts).not(),
        "field" => return subject.raised.map_or(Ternary::No, |raised| field::holds(value, raised, facts)),
        "runs" => {
            return Ternary::from(
                subject.action().is_some_and(|action| command_pattern::holds(value, action, facts.analysis)),
            );
        }
        "also" => {
            let fits = |effect: &Effect| evaluate(value, Subject::effect(subject.source, effect), facts);
            return subject.action().map_or(Ternary::No, |action| {
                let condition = Accompanied { action, source: subject.source, record: value.record() };
                facts.also(condition, &fits)
            });
        }
        _ => {}
    }
    subject.effect.map_or(Ternary::No, |effect| of_effect(key, value, effect, subject, facts))
}

fn of_effect(key: &str, value: Node<'_>, effect: &Effect, subject: Subject<'_>, facts: &Facts<'_>) -> Ternary {
    let target = subject.target;
    let of_target = |truth: &dyn Fn(&Target) -> Ternary| target.map_or(Ternary::No, truth);
    match key {
        "target" => any(effect.targets.iter().map(|one| evaluate(value, subject.target(one), facts))),
        "flag" => Ternary::from(value.texts().any(|flag| effect.flags.contains(&flag))),
        "program" => {
            let program = facts.analysis.command(effect).map_or("", |command| command.name.as_str());
            // A shell of another system may run `reg` as `reg.exe`.
            let plain = program.strip_suffix(".exe").or(program.strip_suffix(".EXE")).unwrap_or(program);
            Ternary::from(value.texts().any(|name| name == program || name == plain))
        }
        "site" => Ternary::from(value.texts().any(|site| site == effect.site.name())),
        "argument" => argument(value, effect, target, str::to_owned),
        "text" => argument(value, effect, target, folded),
        "sql" => {
            let written = written(effect, target);
            Ternary::from(sql::consequences(&written).any(|word| value.texts().any(|wanted| wanted == word)))
        }
        "url" => {
            let imitated = || WordList::ImitatedHosts.read(facts.tables);
            Ternary::from(value.texts().any(|wanted| match wanted {
                "disguised" => url::is_disguised(&written(effect, target), imitated()),
                "installer" => url::is_one_of(&written(effect, target), WordList::Installers.read(facts.tables)),
                wanted => url::has(&written(effect, target), wanted),
            }))
        }
        "effect" => Ternary::from(value.texts().any(|name| name == effect.kind.name())),
        "is" => of_target(&|target| any(value.texts().map(|class| facts.is(effect, target, class)))),
        "path" => of_target(&|target| any(value.texts().map(|pattern| facts.user().lies_at(effect, target, pattern)))),
        "fact" => any(value
            .texts()
            .map(|name| Fact::named(name).map_or(Ternary::Unknown, |fact| facts.fact(effect, target, fact)))),
        _ => Ternary::No,
    }
}

/// Matches the argument against patterns in which `*` matches any text. `argument` compares it literally, `text`
/// ignores case and the width of blanks.
fn argument(value: Node<'_>, effect: &Effect, target: Option<&Target>, read: fn(&str) -> String) -> Ternary {
    // A slash is an ordinary character here.
    let plain = |text: &str| read(text).replace('/', "\u{1}");
    let written = plain(&written(effect, target));
    let fits = |pattern: &str| {
        may_end(pattern, &written) && crate::text::glob::glob(plain(pattern).as_bytes(), written.as_bytes())
    };
    Ternary::from(value.texts().any(fits))
}

/// Cheap pretest of the last byte before the full match, because a call may have thousands of targets. Only lowercase
/// characters and digits are tested, because folding of case and blanks does not change them.
fn may_end(pattern: &str, written: &str) -> bool {
    let last = pattern.as_bytes().last().copied().unwrap_or(b'*');
    let is_plain = last.is_ascii_lowercase() || last.is_ascii_digit();
    !is_plain || written.as_bytes().last() == Some(&last)
}

/// The target in its spelling, or outside of `target` the operand that specifies the operation.
fn written(effect: &Effect, target: Option<&Target>) -> String {
    match target {
        Some(target) => target.value.shown(),
        None => effect.argument.as_ref().map(|value| value.shown()).unwrap_or_default(),
    }
}

fn folded(text: &str) -> String {
    let blank = text.starts_with(char::is_whitespace);
    let words: Vec<&str> = text.split_whitespace().collect();
    format!("{}{}", if blank { " " } else { "" }, words.join(" ")).to_lowercase()
}

fn all(mut answers: impl Iterator<Item = Ternary>) -> Ternary {
    let mut worst = Ternary::Yes;
    // A `No` decides the result, so the remaining conditions request no facts.
    while worst != Ternary::No {
        match answers.next() {
            Some(answer) => worst = worst.min(answer),
            None => break,
        }
    }
    worst
}

fn any(mut answers: impl Iterator<Item = Ternary>) -> Ternary {
    let mut best = Ternary::No;
    while best != Ternary::Yes {
        match answers.next() {
            Some(answer) => best = best.max(answer),
            None => break,
        }
    }
    best
}
