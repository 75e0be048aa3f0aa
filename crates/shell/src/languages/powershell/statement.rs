//! Statements: their order of evaluation, and the state after branches and loops.

use super::reader::{Items, Reader};
use super::strings::{is_block, without_scope};
use super::{scan, strings};
use crate::interpret::state::State;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::text_tools::windows_words;

/// Maximum number of rounds of a loop; more values are one round with an unknown value.
const MAX_ROUNDS: usize = 64;

impl<'a> Reader<'_, '_, 'a> {
    /// Evaluates all statements to the end of the text.
    pub(super) fn statements(&mut self) -> Items {
        let mut items = Items::default();
        loop {
            self.skip(true);
            let start = self.at;
            let origin = self.origin_of(start, self.text.len());
            if self.at >= self.text.len() || !self.on.steps(origin) {
                return items;
            }
            items.extend(self.statement());
            if self.at == start {
                self.bump();
                self.gap(start, UnknownReason::Unparsed);
            }
        }
    }

    fn statement(&mut self) -> Items {
        if self.ch() == Some(':') && self.peek_at(1).is_some_and(strings::begins_name) {
            // The label of a loop.
            self.bump();
            self.take(strings::begins_name);
            self.skip(true);
        }
        let start = self.at;
        let keyword = self.keyword();
        let items = match keyword.as_str() {
            "if" => self.if_statement(),
            "switch" => self.switch(),
            "for" | "while" => self.counted_loop(),
            "foreach" => self.foreach(),
            "do" => self.do_loop(),
            "try" => self.try_statement(),
            "function" | "filter" | "workflow" | "configuration" => self.function(),
            "class" | "enum" | "interface" => self.class(),
            "param" => self.parameters(),
            "begin" | "process" | "end" | "dynamicparam" | "clean" | "finally" | "else" | "data" | "parallel"
            | "sequence" | "inlinescript" | "trap" | "catch" => self.plain_block(),
            "using" => {
                self.at = scan::past_line(self.text, self.at);
                Some(Items::default())
            }
            "return" | "throw" | "exit" | "break" | "continue" => {
                self.skip(false);
                Some(if self.ends() { Items::default() } else { self.chain() })
            }
            _ => None,
        };
        items.unwrap_or_else(|| {
            self.at = start;
            self.chain()
        })
    }

    /// Reads the word that may begin a statement, in lower case.
    fn keyword(&mut self) -> String {
        let word = self.take(|ch| ch.is_ascii_alphabetic()).to_ascii_lowercase();
        let apart = !self.ch().is_some_and(|ch| strings::begins_name(ch) || "-.\\/:`'\"=$%*?!~".contains(ch));
        if apart { word } else { String::new() }
    }

    fn ends(&self) -> bool {
        self.ch().is_none_or(|ch| "\n\r;)}".contains(ch))
    }

    /// Reads and evaluates `( … )`.
    fn condition(&mut self) -> Option<Items> {
        self.skip(true);
        if self.ch() != Some('(') {
            return None;
        }
        let part = self.bracket();
        Some(self.inside(part))
    }

    /// Reads `{ … }` without evaluating it.
    pub(super) fn block(&mut self) -> Option<Value> {
        self.skip(true);
        if self.ch() != Some('{') {
            return None;
        }
        let start = self.at;
        self.bracket();
        let text = self.text.get(start..self.at).unwrap_or("");
        let text = if text.ends_with('}') { text.to_owned() } else { format!("{text}}}") };
        Some(Value::text(text, self.origin_from(start)))
    }

    fn run_block(&mut self) -> Option<Items> {
        let block = self.block()?;
        Some(self.walk(&block, &[]))
    }

    /// Reads the next word, if it is `word`.
    fn follows(&mut self, word: &str) -> bool {
        let before = self.at;
        self.skip(true);
        let found = self.keyword() == word;
        if !found {
            self.at = before;
        }
        found
    }

    fn if_statement(&mut self) -> Option<Items> {
        self.condition()?;
        let mut items = Items::default();
        let mut ends = Vec::new();
        loop {
            items.extend(self.branch(&mut ends)?);
            if self.follows("elseif") {
                self.condition()?;
            } else {
                break;
            }
        }
        if self.follows("else") {
            items.extend(self.run_block()?);
        }
        self.merge(&ends);
        Some(items)
    }

    /// Evaluates a block that may not run. Adds the state after it to `ends` and restores the state before it.
    fn branch(&mut self, ends: &mut Vec<State>) -> Option<Items> {
        let before = self.on.state.clone();
        let items = self.run_block();
        ends.push(std::mem::replace(&mut self.on.state, before));
        items
    }

    fn merge(&mut self, ends: &[State]) {
        ends.iter().for_each(|end| self.on.state.merge(end));
    }

    fn switch(&mut self) -> Option<Items> {
        self.skip(false);
        while self.ch() == Some('-') {
            self.bump();
            self.take(|ch| ch.is_alphabetic());
            self.skip(false);
        }
        let subject = match self.ch() {
            Some('(') => self.condition()?,
            _ => Items::from_values(self.primary_with_members()),
        };
        self.skip(true);
        if self.ch() != Some('{') {
            return None;
        }
        let part = self.bracket();
        self.set("_", subject.values);
        self.deeper(part.0, part.1, |reader| reader.cases())
    }

    /// Evaluates patterns, each with its block.
    fn cases(&mut self) -> Items {
        let mut items = Items::default();
        let mut ends = Vec::new();
        loop {
            self.skip(true);
            let start = self.at;
            if self.at >= self.text.len() {
                break;
            }
            if self.ch() == Some('{') {
                items.extend(self.run_block().unwrap_or_default());
            } else {
                self.expression();
            }
            self.skip(true);
            items.extend(self.branch(&mut ends).unwrap_or_default());
            if self.at == start {
                self.bump();
            }
        }
        self.merge(&ends);
        items
    }

    /// `for (a; b; c) { … }` and `while (b) { … }`: the parentheses are evaluated before each round.
    fn counted_loop(&mut self) -> Option<Items> {
        self.skip(true);
        if self.ch() != Some('(') {
            return None;
        }
        let part = self.bracket();
        let body = self.block()?;
        Some(self.rounds(|reader| {
            reader.inside(part);
            reader.walk(&body, &[])
        }))
    }

    fn do_loop(&mut self) -> Option<Items> {
        let body = self.block()?;
        let items = self.rounds(|reader| reader.walk(&body, &[]));
        if self.follows("while") || self.follows("until") {
            self.condition();
        }
        Some(items)
    }

    /// Evaluates two rounds: the second begins with any state that the first may have left.
    fn rounds(&mut self, mut round: impl FnMut(&mut Self) -> Items) -> Items {
        let before = self.on.state.clone();
        let mut items = round(self);
        if !self.on.state.same_names(&before) {
            self.on.state.merge(&before);
            let again = self.on.state.clone();
            items.extend(round(self));
            self.on.state.merge(&again);
        }
        items
    }

    fn foreach(&mut self) -> Option<Items> {
        self.skip(false);
        while self.ch() == Some('-') {
            self.bump();
            self.take(|ch| ch.is_alphabetic());
            self.skip(false);
        }
        if self.ch() != Some('(') {
            return None;
        }
        let (text, start) = self.bracket();
        let body = self.block()?;
        let (name, values) = self.deeper(text, start, |reader| {
            reader.skip(true);
            reader.bump();
            let name = reader.take(|ch| strings::begins_name(ch) || ch == ':').to_owned();
            reader.skip(true);
            reader.keyword();
            (name, reader.statements().values)
        })?;
        Some(self.each(&name, values, &body))
    }

    /// Evaluates a round for each value.
    pub(super) fn each(&mut self, name: &str, values: Vec<Value>, body: &Value) -> Items {
        let many = values.len() > MAX_ROUNDS;
        let origin = body.origin();
        let mut rounds = values;
        if many || rounds.is_empty() {
            rounds = vec![Value::piece(Piece::Unknown(UnknownReason::Branches), origin)];
        }
        let before = self.on.state.clone();
        let mut ends = vec![before];
        let mut items = Items::default();
        for value in rounds {
            self.set(without_scope(name), vec![value]);
            items.extend(self.walk(body, &[]));
            ends.push(self.on.state.clone());
        }
        self.merge(&ends);
        items
    }

    fn try_statement(&mut self) -> Option<Items> {
        let before = self.on.state.clone();
        let mut items = self.run_block()?;
        let mut ends = vec![before];
        while self.follows("catch") {
            self.skip_types();
            items.extend(self.branch(&mut ends).unwrap_or_default());
        }
        self.merge(&ends);
        if self.follows("finally") {
            items.extend(self.run_block().unwrap_or_default());
        }
        Some(items)
    }

    fn skip_types(&mut self) {
        self.skip(true);
        while self.ch() == Some('[') {
            self.bracket();
            self.skip(true);
            if self.ch() == Some(',') {
                self.bump();
                self.skip(true);
            }
        }
    }

    /// Evaluates a keyword with its block, whatever the keyword is. The block may not run.
    fn plain_block(&mut self) -> Option<Items> {
        self.skip(false);
        if self.ch() == Some('[') {
            self.skip_types();
        } else if self.ch() != Some('{') && self.ch() != Some('\n') && self.ch() != Some('\r') {
            // `data NAME { … }`
            self.take(|ch| strings::begins_name(ch) || "-, ".contains(ch));
        }
        let mut ends = Vec::new();
        let items = self.branch(&mut ends);
        self.merge(&ends);
        items
    }

    /// Stores a function until it is called.
    fn function(&mut self) -> Option<Items> {
        self.skip(false);
        let name = self.take(|ch| !ch.is_whitespace() && !"({".contains(ch)).to_lowercase();
        if name.is_empty() {
            return None;
        }
        self.skip(true);
        let mut values = Vec::new();
        if self.ch() == Some('(') {
            let (text, start) = self.bracket();
            values.push(Value::text(text, self.origin_of(start, start + text.len())));
        }
        values.insert(0, self.block()?);
        self.on.state.assign(&format!("function:{}", without_scope(&name)), values);
        if self.on.state.is_full() {
            let origin = self.origin;
            self.on.exhaust(origin);
        }
        Some(Items::default())
    }

    /// Evaluates every method of a class, since their callers are not tracked.
    fn class(&mut self) -> Option<Items> {
        self.skip(false);
        self.take(|ch| ch != '{' && ch != '\n' && ch != ';');
        self.skip(true);
        if self.ch() != Some('{') {
            return None;
        }
        let (text, start) = self.bracket();
        self.deeper(text, start, |reader| {
            let mut items = Items::default();
            while let Some(ch) = reader.ch() {
                match ch {
                    '{' => items.extend(reader.run_block().unwrap_or_default()),
                    '(' | '[' => drop(reader.bracket()),
                    '\'' => drop(reader.single_quoted()),
                    '"' => drop(reader.double_quoted()),
                    '=' => {
                        reader.bump();
                        reader.skip(true);
                        items.extend(reader.chain());
                    }
                    _ => {
                        reader.bump();
                        reader.skip(true);
                    }
                }
            }
            items
        })
    }

    /// `param($a, [switch]$b = 1)`: each parameter takes one of the block's arguments.
    fn parameters(&mut self) -> Option<Items> {
        self.skip(true);
        if self.ch() != Some('(') {
            return None;
        }
        let (text, start) = self.bracket();
        let arguments = std::mem::take(&mut self.arguments);
        self.deeper(text, start, |reader| reader.bind(&arguments));
        Some(Items::default())
    }

    /// Binds parameter names, with their defaults, to the given arguments.
    pub(super) fn bind(&mut self, arguments: &[Value]) {
        let mut arguments = BoundArguments::parse(arguments);
        while self.at < self.text.len() {
            self.skip(true);
            match self.ch() {
                Some('[') => drop(self.bracket()),
                Some('$') => {
                    let start = self.at;
                    self.bump();
                    let name = self.take(|ch| strings::begins_name(ch) || ch == ':').to_lowercase();
                    let origin = self.origin_from(start);
                    self.skip(true);
                    let default = if self.ch() == Some('=') {
                        self.bump();
                        self.skip(true);
                        Some(self.expression_above_commas())
                    } else {
                        None
                    };
                    let values = arguments.take(&name).or(default);
                    let unknown = || vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
                    self.set(without_scope(&name), values.unwrap_or_else(unknown));
                }
                Some(_) => self.bump(),
                None => {}
            }
        }
        let left = std::mem::take(&mut arguments.positional);
        self.set("args", left);
    }

    /// Evaluates pipelines joined by `&&` and `||`.
    pub(super) fn chain(&mut self) -> Items {
        let mut items = self.pipeline();
        loop {
            self.skip(false);
            if self.eat("&&") || self.eat("||") {
                self.skip(true);
                items.extend(self.pipeline());
            } else if self.ch() == Some('&') {
                // Runs in the background.
                self.bump();
            } else {
                return items;
            }
        }
    }

    fn pipeline(&mut self) -> Items {
        let first = self.on.reading.commands.len();
        let mut items = self.element(None, first);
        loop {
            self.skip(false);
            if !self.next_is_pipe() {
                return items;
            }
            self.bump();
            self.skip(true);
            let before = items.commands.clone();
            items = self.element(Some(items), first);
            items.commands.splice(0..0, before);
        }
    }

    /// Whether a pipe follows, here or at the start of the next line.
    fn next_is_pipe(&mut self) -> bool {
        let before = self.at;
        let mut at = self.at;
        for ch in self.rest().chars().take_while(|ch| ch.is_whitespace()) {
            at += ch.len_utf8();
        }
        self.at = at;
        let found = self.ch() == Some('|') && self.peek_at(1) != Some('|');
        if !found {
            self.at = before;
        }
        found
    }

    /// Evaluates one member of a pipeline: an expression, an assignment or a command.
    fn element(&mut self, input: Option<Items>, first: usize) -> Items {
        if !self.begins_expression() {
            return self.command(input, first);
        }
        let start = self.at;
        let values = self.expression();
        let end = self.at;
        self.skip(false);
        if let Some(operator) = self.assignment_operator() {
            let target = self.text.get(start..end).unwrap_or("");
            self.skip(true);
            // A script block that is assigned does not run yet.
            let block = self.ch() == Some('{');
            let value = if block { Items::from_values(self.expression()) } else { self.statement() };
            let origin = self.origin_of(start, end);
            self.assign(target, operator, value.values.clone(), origin);
            return Items { values: Vec::new(), commands: value.commands };
        }
        self.at = end;
        let mut items = Items::from_values(values);
        if let Some(input) = input {
            items.commands = input.commands;
        }
        self.redirect_expression(&mut items, start);
        // A script block as a statement is only a value, but other code may run it.
        if let [block] = items.values.as_slice()
            && is_block(block)
            && self.text.get(start..end).is_some_and(|text| text.starts_with('{'))
        {
            let block = block.clone();
            items.extend(self.walk(&block, &[]));
        }
        items
    }

    fn assignment_operator(&mut self) -> Option<&'static str> {
        if self.rest().starts_with("==") {
            return None;
        }
        ["=", "+=", "-=", "*=", "/=", "%=", "??="].into_iter().find(|operator| self.eat(operator))
    }

    /// Assigns values to the variables of the target. Several variables take one value each if the counts match;
    /// otherwise each takes all values.
    fn assign(&mut self, target: &str, operator: &str, values: Vec<Value>, origin: Origin) {
        let targets = Targets::parse(target);
        let known = targets.names.len() == values.len();
        for (index, name) in targets.names.iter().enumerate() {
            let assigned = match values.get(index) {
                Some(value) if targets.names.len() > 1 && known => vec![value.clone()],
                _ => values.clone(),
            };
            match (&targets.key, operator) {
                (Some(key), _) => self.assign_member(name, key, assigned),
                (None, "=") => self.assign_name(name, assigned),
                (None, "+=") => {
                    let before = self.variable(name, self.at);
                    let sum = self.sum(before, assigned, origin);
                    self.assign_name(name, sum);
                }
                (None, _) => {
                    self.assign_name(name, vec![Value::piece(Piece::Unknown(UnknownReason::Arithmetic), origin)]);
                }
            }
        }
        if self.on.state.is_full() {
            self.on.exhaust(origin);
        }
    }

    pub(super) fn assign_name(&mut self, name: &str, values: Vec<Value>) {
        let name = without_scope(name);
        let lower = name.to_lowercase();
        if let Some(variable) = lower.strip_prefix("env:").and_then(|_| name.get(4..)) {
            let value = values.into_iter().next().unwrap_or_default();
            self.on.state.assign(variable, vec![value]);
            self.on.state.export(variable);
        } else if lower.starts_with("function:") || lower.starts_with("alias:") {
            self.on.state.assign(&lower, values);
        } else {
            self.set(&lower, values);
        }
    }

    /// `$p.Path = …`, `$p['Path'] = …`: an entry of a table that may be passed to a command.
    fn assign_member(&mut self, name: &str, key: &str, values: Vec<Value>) {
        let mut table = self.get(without_scope(name)).unwrap_or_default();
        let mut entry = Value::text(format!("-{key}:"), values.first().map_or(self.origin, Value::origin));
        entry.push(windows_words::list(values));
        table.push(entry);
        self.set(without_scope(name), table);
    }
}

/// The left side of an assignment.
struct Targets {
    names: Vec<String>,
    /// The member or key that is assigned, if any.
    key: Option<String>,
}

impl Targets {
    fn parse(target: &str) -> Targets {
        let mut names = Vec::new();
        let mut rest = target;
        let mut member = "";
        while let Some(dollar) = rest.find('$') {
            let after = rest.get(dollar + 1..).unwrap_or("");
            let (name, left) = match after.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
                Some(braced) => braced,
                None => {
                    let fits = |ch: char| strings::begins_name(ch) || ch == ':';
                    let end = after.find(|ch| !fits(ch)).unwrap_or(after.len());
                    after.split_at(end)
                }
            };
            if names.is_empty() {
                member = left;
            }
            if member.is_empty() || names.is_empty() || !member.starts_with(['.', '[']) {
                names.push(name.to_owned());
            }
            rest = left;
        }
        let key = member.strip_prefix(['.', '[']).map(|key| key.trim_matches(['\'', '"', ']', ' ']).to_owned());
        Targets { names, key }
    }
}

/// The arguments of a call, as parameters take them.
struct BoundArguments {
    named: Vec<(String, Vec<Value>)>,
    positional: Vec<Value>,
}

impl BoundArguments {
    fn parse(arguments: &[Value]) -> BoundArguments {
        let mut bound = BoundArguments { named: Vec::new(), positional: Vec::new() };
        let mut words = arguments.iter().peekable();
        while let Some(word) = words.next() {
            let text = word.prefix().into_owned();
            let name = text.strip_prefix('-').filter(|name| name.starts_with(char::is_alphabetic));
            let Some(name) = name else {
                bound.positional.push(word.clone());
                continue;
            };
            let (name, joined) = name.split_once(':').map_or((name, None), |(name, _)| (name, Some(name.len() + 2)));
            let values = match joined {
                Some(length) => vec![word.without_prefix(length)],
                None => words.next_if(|next| !next.prefix().starts_with('-')).cloned().into_iter().collect(),
            };
            bound.named.push((name.to_lowercase(), values));
        }
        bound
    }

    fn take(&mut self, name: &str) -> Option<Vec<Value>> {
        if let Some((_, values)) = self.named.iter().find(|(named, _)| name.starts_with(named.as_str())) {
            return Some(values.iter().flat_map(Value::listed).collect());
        }
        (!self.positional.is_empty()).then(|| self.positional.remove(0).listed())
    }
}
