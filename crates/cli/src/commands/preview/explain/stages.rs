//! The ten stages as views of one analysis.

use super::marked::{Line, marked, short};
use crate::commands::preview::check::word;
use crate::terminal::visible::visible;
use reflex_engine::shell::{
    Access, Change, ChangeKind, Command, CommandId, Derivation, DerivationId, ExecTarget, Origin, Piece, Printed,
    Reading, Span, Stdin, UnknownReason, Value,
};
use reflex_engine::{Action, Effect, Event, Finding, Judgement, RuleTrace, Target, Ternary};

/// A stage of the analysis and its findings.
pub(super) struct Stage {
    pub(super) number: u8,
    pub(super) name: &'static str,
    pub(super) lines: Vec<Line>,
    /// Text for a stage without lines.
    pub(super) nothing: &'static str,
}

/// Maximum number of lines of a stage.
const MAX_LINES: usize = 60;

/// Maximum width of a command or value, shown in one line.
const WIDTH: usize = 90;

/// The stages of a call.
pub(super) fn stages(event: &Event, mode: &str, judgement: &Judgement) -> Vec<Stage> {
    let mut work = Work { judgement, lines: Default::default() };
    let empty = Reading::default();
    for (index, action) in event.actions.iter().enumerate() {
        let reading = judgement.analysis.readings.get(index).unwrap_or(&empty);
        work.action(View { index, action, reading });
    }
    work.patterns();
    work.context(mode);
    if !event.moment.is_before_execution() {
        work.add_text(VERDICT, "only what has not run yet is judged by its effects");
    }
    work.verdict();
    let about = work.lines.into_iter().zip(STAGES).zip(1..);
    about
        .map(|((lines, (name, nothing)), number)| Stage { number, name, lines: at_most(MAX_LINES, lines), nothing })
        .collect()
}

const STAGES: [(&str, &str); 10] = [
    ("raw capture", "nothing"),
    ("decode", "nothing to decode"),
    ("normalize whitespace", "nothing to fold"),
    ("expand aliases", "no alias and no function is used"),
    ("split compounds", "no command"),
    ("variable substitution", "nothing to substitute"),
    ("quote stripping", "nothing to strip"),
    ("pattern match", "nothing that a rule asks about"),
    ("context check", "nothing had to be asked"),
    ("verdict emit", "nothing"),
];

const RAW: usize = 0;
const DECODE: usize = 1;
const WHITESPACE: usize = 2;
const ALIASES: usize = 3;
const COMPOUNDS: usize = 4;
const VARIABLES: usize = 5;
const QUOTES: usize = 6;
const PATTERNS: usize = 7;
const CONTEXT: usize = 8;
const VERDICT: usize = 9;

fn at_most(limit: usize, mut lines: Vec<Line>) -> Vec<Line> {
    let count = lines.len();
    if count > limit {
        lines.truncate(limit - 1);
        lines.push(Line::Text(format!("… {} more", count - lines.len())));
    }
    lines
}

/// One action of the event.
#[derive(Clone, Copy)]
struct View<'a> {
    index: usize,
    action: &'a Action,
    reading: &'a Reading,
}

struct Work<'a> {
    judgement: &'a Judgement,
    lines: [Vec<Line>; 10],
}

impl<'a> Work<'a> {
    fn add_text(&mut self, stage: usize, text: &str) {
        self.add(stage, [Line::Text(visible(text))]);
    }

    fn add(&mut self, stage: usize, lines: impl IntoIterator<Item = Line>) {
        if let Some(stage_lines) = self.lines.get_mut(stage) {
            stage_lines.extend(lines);
        }
    }

    fn action(&mut self, view: View<'a>) {
        let Action::Shell { command, .. } = view.action else {
            self.other_action(view);
            return;
        };
        let (guilty, others) = self.spans(view, command);
        self.add(RAW, marked(command, guilty, &others));
        self.decoded(view, command);
        let folded = folded(command);
        if folded != command.trim_end_matches('\n') {
            self.add(WHITESPACE, [Line::Text(short(&folded, WIDTH))]);
        }
        let mut changes = view.reading.changes.iter().peekable();
        for (id, ran) in view.reading.commands.iter().enumerate() {
            while let Some(change) = changes.next_if(|change| change.before <= id) {
                self.change(change, view, command);
            }
            self.command(id, ran, view, command);
        }
        changes.for_each(|change| self.change(change, view, command));
    }

    /// Returns the span of the first finding of this action, and those of the others.
    fn spans(&self, view: View<'_>, raw: &str) -> (Option<Span>, Vec<Span>) {
        let mut spans: Vec<Span> = Vec::new();
        for finding in &self.judgement.verdict.findings {
            let effect = self.guilty_effect(finding);
            if effect.is_none_or(|effect| effect.action == view.index) {
                spans.push(effect.map_or(finding.at.span, |effect| place(effect, view, raw)));
            }
        }
        spans.retain(|span| span.start < span.end);
        spans.dedup();
        let first = spans.first().copied();
        (first, spans.into_iter().skip(1).take(8).collect())
    }

    /// Returns the effect that caused a finding.
    fn guilty_effect(&self, finding: &Finding) -> Option<&'a Effect> {
        let fired = self.judgement.weighed.iter().find(|weighed| weighed.fires && weighed.rule == finding.id)?;
        self.judgement.analysis.effects.get(fired.effect)
    }

    fn other_action(&mut self, view: View<'_>) {
        let (does, subject, content) = match view.action {
            Action::Shell { command, .. } => ("runs", command, None),
            Action::Read { path } => ("reads", &path.text, None),
            Action::Write { path, content } => ("writes", &path.text, Some(content)),
            Action::Edit { path, content, .. } => ("edits", &path.text, Some(content)),
            Action::Delete { path } => ("deletes", &path.text, None),
            Action::Search { path, .. } => ("searches", &path.text, None),
            Action::Fetch { url } => ("fetches", url, None),
            Action::McpCall { tool, arguments, .. } => ("calls", tool, Some(arguments)),
            Action::Prompt { text } => ("a prompt:", text, None),
            Action::SpawnAgent { prompt } => ("starts an agent:", prompt, None),
            Action::Skill { name } => ("uses the skill", name, None),
            Action::Input { text } => ("types", text, None),
            Action::Other { arguments } => ("arguments", arguments, None),
        };
        let effects = self.judgement.verdict.findings.iter().filter_map(|finding| self.guilty_effect(finding));
        let guilty = effects.into_iter().any(|effect| effect.action == view.index);
        let disguised = self.judgement.analysis.effects.iter().filter(|effect| effect.action == view.index);
        for target in disguised.filter(|effect| effect.flags.contains(&"disguised")).filter_map(|e| e.targets.get(1)) {
            self.add_text(DECODE, &format!("{subject} opens {}", target.path().unwrap_or("what is not known")));
        }
        let span = Span { start: does.len() as u32 + 1, end: (does.len() + 1 + subject.len()) as u32 };
        self.add(RAW, marked(&format!("{does} {subject}"), guilty.then_some(span), &[]));
        if let Some(content) = content {
            self.add(RAW, marked(content, None, &[]).into_iter().map(|line| line.indented(2)));
        }
    }

    fn decoded(&mut self, view: View<'_>, raw: &str) {
        let derivations = &view.reading.derivations;
        let guilty = self.guilty_words(view);
        for (index, derivation) in derivations.iter().enumerate().take(MAX_LINES) {
            let from = parent_of(derivations, derivation);
            if derivation.step == "alias" {
                let name = short(derivation.from.span.slice(raw), WIDTH / 2);
                self.add_text(ALIASES, &format!("{name} is {}", short(&derivation.text, WIDTH)));
                continue;
            }
            let of = match derivation.from.derivation {
                Some(DerivationId(before)) => format!("#{}", before + 1),
                None => format!("`{}`", short(derivation.from.span.slice(raw), WIDTH / 2)),
            };
            self.add_text(DECODE, &format!("#{} {} of {of}", index + 1, derivation.step));
            if from.is_some_and(|from| from.text.trim_end() == derivation.text.trim_end()) {
                continue;
            }
            // A text that is passed on unchanged is shown once, and so are its marks.
            let same = |(id, _): &&(usize, Vec<String>)| {
                derivations.get(*id).is_some_and(|other| other.text.trim_end() == derivation.text.trim_end())
            };
            let spans: Vec<Span> =
                guilty.iter().filter(same).filter_map(|(_, words)| place_of(words, &derivation.text)).collect();
            let lines = marked(&derivation.text, spans.first().copied(), spans.get(1..).unwrap_or(&[]));
            self.add(DECODE, lines.into_iter().map(|line| line.indented(3)));
        }
    }

    /// Returns the words of the guilty commands that a derivation produced, with the number of the derivation.
    fn guilty_words(&self, view: View<'_>) -> Vec<(usize, Vec<String>)> {
        let effects = self.judgement.verdict.findings.iter().filter_map(|finding| self.guilty_effect(finding));
        let here = effects.filter(|effect| effect.action == view.index);
        let words = here.filter_map(|effect| {
            let DerivationId(id) = effect.origin.derivation?;
            let command = view.reading.commands.get(effect.command?)?;
            Some((usize::from(id), command.words.iter().map(Value::shown).collect()))
        });
        words.collect()
    }

    fn change(&mut self, change: &Change, view: View<'_>, raw: &str) {
        let indent = " ".repeat(INDENT);
        match &change.kind {
            ChangeKind::Variable(name, values) => {
                let value = short(&words(values), WIDTH);
                self.add_text(VARIABLES, &format!("{name} = {value}"));
                let source = source(change.origin, raw).unwrap_or_else(|| format!("{name}={value}"));
                self.add_text(COMPOUNDS, &format!("{indent}{source}"));
            }
            ChangeKind::Builtin(of) => {
                self.add_text(COMPOUNDS, &format!("{indent}{}   (the shell itself)", short(&words(of), WIDTH)));
            }
            ChangeKind::Call(of) => {
                self.add_text(COMPOUNDS, &format!("{indent}{}   (a function)", short(&words(of), WIDTH)));
                let name = of.first().map(Value::shown).unwrap_or_default();
                let number = change.before + 1;
                if view.reading.commands.get(change.before).is_some() {
                    self.add_text(
                        ALIASES,
                        &format!("{} is a function; it goes on at {number}", short(&name, WIDTH / 2)),
                    );
                }
            }
        }
    }

    fn command(&mut self, id: CommandId, ran: &Command, view: View<'_>, raw: &str) {
        let plain = short(&words(&ran.words), WIDTH);
        let written = if ran.parent.is_none() { source(ran.origin, raw) } else { None };
        let shown = written.clone().unwrap_or_else(|| plain.clone());
        let shown = if ran.words.is_empty() { "(only files)".into() } else { shown };
        let depth = depth(ran, &view.reading.commands);
        self.add_text(COMPOUNDS, &format!("{:>2} {}{shown}{}", id + 1, "  ".repeat(depth), notes(ran)));
        if let Some(written) = written.filter(|written| is_substituted(written, &plain)) {
            self.add_text(VARIABLES, &format!("{written} is {plain}"));
        }
        let open: Vec<String> = ran.words.iter().flat_map(open_parts).collect();
        if !open.is_empty() {
            self.add_text(VARIABLES, &format!("{:>2} not known: {}", id + 1, short(&open.join(", "), WIDTH)));
        }
        let text = match ran.origin.derivation {
            Some(DerivationId(step)) => {
                view.reading.derivations.get(usize::from(step)).map_or("", |derivation| derivation.text.as_str())
            }
            None => ran.origin.span.slice(raw),
        };
        if text.contains("$'") && !ran.words.is_empty() {
            self.add_text(
                DECODE,
                &format!("the characters of {} are {}", short(&folded(text), WIDTH / 2), short(&plain, WIDTH)),
            );
        }
        if text.contains(['\'', '"', '\\']) && !ran.words.is_empty() {
            let words: Vec<String> = ran.words.iter().map(|word| format!("[{}]", word.shown())).collect();
            self.add(QUOTES, [Line::Text(format!("{:>2} {}", id + 1, short(&words.join(" "), WIDTH)))]);
        }
    }

    fn patterns(&mut self) {
        let effects = &self.judgement.analysis.effects;
        for (index, effect) in effects.iter().enumerate().take(MAX_LINES) {
            let by = effect.command.map_or(String::new(), |id| format!(", by {}", id + 1));
            self.add_text(PATTERNS, &format!("{}{by}", short(&describe(effect), WIDTH)));
            let weighed = self.judgement.weighed.iter().filter(|weighed| weighed.effect == index);
            let (fired, quiet): (Vec<&RuleTrace>, Vec<&RuleTrace>) = weighed.partition(|weighed| weighed.fires);
            for rule in fired {
                let known = if rule.truth == Ternary::Unknown { " (for what cannot be known)" } else { "" };
                self.add_text(PATTERNS, &format!("  {} fires{known}{}", rule.rule, self.weight(rule)));
            }
            if !quiet.is_empty() {
                let names: Vec<&str> = quiet.iter().map(|weighed| weighed.rule).collect();
                self.add(PATTERNS, [Line::Text(short(&format!("  quiet: {}", names.join(", ")), 4 * WIDTH))]);
            }
        }
        if effects.len() > MAX_LINES {
            self.add_text(PATTERNS, &format!("… {} more effects", effects.len() - MAX_LINES));
        }
        let gaps = self.judgement.analysis.readings.iter().flat_map(|reading| &reading.gaps).take(MAX_LINES);
        for gap in gaps {
            let Span { start, end } = gap.origin.span;
            self.add_text(PATTERNS, &format!("not known at {start}..{end}: {}", reason(gap.why)));
        }
    }

    /// Returns the weight of the finding that a fired rule produced; empty if the rule fired earlier already.
    fn weight(&self, fired: &RuleTrace) -> String {
        let first = self.judgement.weighed.iter().find(|weighed| weighed.fires && weighed.rule == fired.rule);
        let finding = self.judgement.verdict.findings.iter().find(|finding| finding.id == fired.rule);
        match finding.filter(|_| first == Some(fired)) {
            Some(Finding { category, severity, confidence, tier, .. }) => {
                format!(": {}, {category}, {}, {confidence} % sure", severity.name(), tier.name())
            }
            None => String::new(),
        }
    }

    fn context(&mut self, mode: &str) {
        for fact in &self.judgement.asked {
            self.add_text(CONTEXT, &format!("asked {}", short(fact, 2 * WIDTH)));
        }
        for step in &self.judgement.verdict.chain {
            self.add_text(CONTEXT, step);
        }
        if !self.judgement.verdict.findings.is_empty() {
            self.add_text(CONTEXT, &format!("policy {mode}"));
        }
    }

    fn verdict(&mut self) {
        let verdict = &self.judgement.verdict;
        let head = format!("{}, risk {}, {} % sure", word(verdict), verdict.risk.risk(), verdict.confidence);
        self.add_text(VERDICT, &head);
        for sentence in verdict.sentences() {
            self.add_text(VERDICT, &sentence.brief());
        }
    }
}

/// Indent of lines without a number, equal to the width of a number.
const INDENT: usize = 3;

/// Returns the parts of a word whose values are known only at run time.
fn open_parts(word: &Value) -> Vec<String> {
    let open = |piece: &Piece| match piece {
        Piece::Variable(_) | Piece::Unknown(_) => true,
        Piece::Output(printed) => matches!(printed, Printed::Program(_)),
        Piece::Text(_) | Piece::Glob(_) | Piece::Home(_) | Piece::Resolved => false,
    };
    let parts = word.pieces.iter().filter(|(piece, _)| open(piece));
    parts.map(|(piece, origin)| Value::piece(piece.clone(), *origin).shown()).collect()
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn words(values: &[Value]) -> String {
    values.iter().map(Value::shown).collect::<Vec<_>>().join(" ")
}

/// Returns the source text, if the origin is a span of the text itself.
fn source(origin: Origin, raw: &str) -> Option<String> {
    let written = origin.span.slice(raw);
    let is_verbatim = origin.derivation.is_none() && !written.is_empty();
    is_verbatim.then(|| short(&folded(written.get(..written.len().min(8 * WIDTH)).unwrap_or(written)), WIDTH))
}

fn parent_of<'r>(derivations: &'r [Derivation], derivation: &Derivation) -> Option<&'r Derivation> {
    let DerivationId(before) = derivation.from.derivation?;
    derivations.get(usize::from(before))
}

/// Returns the span of these words in a text: in sequence, separated only by blanks, quotes and backslashes.
fn place_of(words: &[String], text: &str) -> Option<Span> {
    let (first, rest) = words.split_first()?;
    if first.is_empty() {
        return None;
    }
    text.match_indices(first.as_str()).find_map(|(start, _)| {
        let end = rest.iter().try_fold(start + first.len(), |at, word| {
            let after = text.get(at..)?;
            let bare = after.trim_start_matches([' ', '\t', '\'', '"', '\\']);
            bare.starts_with(word.as_str()).then(|| at + after.len() - bare.len() + word.len())
        })?;
        Some(Span { start: start as u32, end: end as u32 })
    })
}

/// Returns the span of an effect in the text. A text that is passed on, such as a here-document, may contain the
/// command verbatim.
fn place(effect: &Effect, view: View<'_>, raw: &str) -> Span {
    let span = effect.origin.span;
    let command = effect.command.and_then(|id| view.reading.commands.get(id));
    let Some(command) = command.filter(|command| command.origin.derivation.is_some()) else { return span };
    let words: Vec<String> = command.words.iter().map(Value::shown).collect();
    match place_of(&words, span.slice(raw)) {
        Some(part) => Span { start: span.start + part.start, end: span.start + part.end },
        None => span,
    }
}

/// Returns the number of commands that enclose this one, up to `DEEPEST`.
fn depth(command: &Command, commands: &[Command]) -> usize {
    const DEEPEST: usize = 8;
    let parents = std::iter::successors(command.parent, |id| commands.get(*id)?.parent);
    parents.take(DEEPEST).count()
}

/// Returns notes about a command: its caller, its place, its input and output.
fn notes(command: &Command) -> String {
    let mut notes: Vec<String> = Vec::new();
    notes.extend(command.parent.map(|id| format!("run by {}", id + 1)));
    match command.site {
        ExecTarget::Here => {}
        ExecTarget::Remote => notes.push("on another host".into()),
        ExecTarget::Container => notes.push("in a container".into()),
    }
    match &command.folder {
        Some(folder) if folder.pieces.is_empty() => {}
        Some(folder) => notes.push(format!("in {}", short(&folder.shown(), WIDTH / 2))),
        None => notes.push("in a folder that is not known".into()),
    }
    match &command.stdin {
        Stdin::Inherited => {}
        Stdin::Pipe(from, _) => notes.extend(from.last().map(|last| format!("reads from {}", last + 1))),
        Stdin::Text(text) => notes.push(format!("reads `{}`", short(&text.shown(), WIDTH / 2))),
        Stdin::File(file) => notes.push(format!("reads {}", short(&file.shown(), WIDTH / 2))),
    }
    for (name, value) in &command.assignments {
        notes.push(format!("with {name}={}", short(&value.shown(), WIDTH / 2)));
    }
    for redirect in &command.redirects {
        let does = match redirect.access {
            Access::Read => "reads",
            Access::Overwrite => "writes",
            Access::Append => "appends to",
        };
        notes.push(format!("{does} {}", short(&redirect.target.shown(), WIDTH / 2)));
    }
    if !command.unread.is_empty() {
        notes.push("runs code that is not in the text".into());
    }
    if notes.is_empty() { String::new() } else { format!("   ({})", notes.join(", ")) }
}

/// Whether the written text and its value differ in more than quotes, blanks and redirections.
fn is_substituted(written: &str, plain: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\') && !c.is_whitespace()).collect();
    let (one, other): (String, String) = (bare(written), bare(plain));
    written.contains(['$', '`', '{']) && !one.starts_with(&other)
}

fn describe(effect: &Effect) -> String {
    let targets: Vec<String> = effect.targets.iter().take(8).map(Target::shown).collect();
    let more = effect.targets.len().saturating_sub(targets.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let flags = if effect.flags.is_empty() { String::new() } else { format!(" ({})", effect.flags.join(" ")) };
    let targets = targets.join(", ");
    let gap = if targets.is_empty() { "" } else { " " };
    format!("would {}{gap}{targets}{more}{flags}", effect.kind.name())
}

fn reason(why: UnknownReason) -> &'static str {
    match why {
        UnknownReason::Branches => "it differs between branches or rounds",
        UnknownReason::Arithmetic => "the result of arithmetic",
        UnknownReason::NotEvaluated => "it is not evaluated before it runs",
        UnknownReason::Limit => "larger or nested deeper than what is read",
        UnknownReason::Unparsed => "it cannot be parsed",
        UnknownReason::Unfinished => "it is not finished",
        UnknownReason::Input => "it is typed or read while it runs",
    }
}
