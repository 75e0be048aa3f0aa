//! Commands: functions, aliases, cmdlets and programs, with their arguments and their output to the pipeline.

use super::arguments::Arguments;
use super::methods::Member;
use super::reader::{Items, Reader};
use super::strings::is_block;
use crate::cli_grammar::invocation::Invocation;
use crate::cli_grammar::program::{Program, Style};
use crate::cli_grammar::selector::Selector;
use crate::interpret::draft::Draft;
use crate::interpret::streams::Stream;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::reading::CommandId;
use crate::text_tools::windows_words;

/// Maximum length of a chain of aliases.
const MAX_ALIASES: usize = 8;

/// A command with its arguments and input.
struct Call {
    words: Vec<Value>,
    arguments: Arguments,
    input: Option<Items>,
    /// The first command of its pipeline.
    first: CommandId,
    origin: Origin,
}

impl<'a> Reader<'_, '_, 'a> {
    pub(super) fn command(&mut self, input: Option<Items>, first: CommandId) -> Items {
        let start = self.at;
        let name = self.command_name();
        let arguments = self.arguments();
        let origin = self.origin_from(start);
        if let Some(block) = Self::block_of(&name) {
            let mut input = input.unwrap_or_default();
            self.set("_", std::mem::take(&mut input.values));
            let mut items = self.walk(&block, &arguments.words);
            self.write(arguments, origin, &mut items);
            return items;
        }
        if name.is_empty() && arguments.words.is_empty() {
            let mut items = Items::default();
            self.write(arguments, origin, &mut items);
            return items;
        }
        let name = name.into_iter().next().unwrap_or_default();
        let words = if name.prefix().starts_with('{') {
            // A script block from an unknown text.
            vec![Value::text("Invoke-Expression", origin), name.without_prefix(1)]
        } else {
            vec![self.unaliased(name)]
        };
        self.call(Call { words, arguments, input, first, origin })
    }

    /// Writes the output of a block or function to its redirections.
    fn write(&mut self, arguments: Arguments, origin: Origin, items: &mut Items) {
        if arguments.redirects.is_empty() {
            return;
        }
        let mut output = std::mem::take(items).stream();
        self.on.redirected_group(arguments.redirects, origin, &mut output);
        items.commands = output.commands;
    }

    /// Resolves the aliases of a name.
    fn unaliased(&self, mut name: Value) -> Value {
        for _ in 0..MAX_ALIASES {
            let alias = name.literal().map(|name| format!("alias:{}", name.to_lowercase()));
            let Some(values) = alias.and_then(|alias| self.on.state.variable(&alias)) else { break };
            name = values.first().cloned().unwrap_or_default();
        }
        name
    }

    fn call(&mut self, mut call: Call) -> Items {
        let name = call.words.first().and_then(Value::literal).unwrap_or_default().to_lowercase();
        if let Some(items) = self.function_call(&name, &mut call) {
            return items;
        }
        if self.builtin(&name, &call.arguments.words) {
            return Items::default();
        }
        self.external(&name, call)
    }

    fn function_call(&mut self, name: &str, call: &mut Call) -> Option<Items> {
        let values = self.on.state.variable(&format!("function:{name}"))?.to_vec();
        let body = values.first()?.clone();
        let arguments = std::mem::take(&mut call.arguments);
        let input = call.input.take().unwrap_or_default();
        if !self.on.calls_function(name) {
            return Some(Items::default());
        }
        self.set("_", input.values);
        let parameters = values.get(1).and_then(Value::literal).map(|text| text.into_owned());
        let mut words = arguments.words.clone();
        if let Some(parameters) = parameters {
            let origin = values.get(1).map_or(self.origin, Value::origin);
            let mut reader = Reader::new(&mut *self.on, &parameters, origin);
            reader.bind(&words);
            words = reader.get("args").unwrap_or_default();
        }
        let mut items = self.walk(&body, &words);
        self.on.returns();
        let origin = call.origin;
        self.write(arguments, origin, &mut items);
        Some(items)
    }

    /// Evaluates commands that only change the known state; returns whether `name` is one of them.
    fn builtin(&mut self, name: &str, words: &[Value]) -> bool {
        match name {
            "cd" | "chdir" | "sl" | "set-location" | "pushd" | "push-location" => {
                let place = words.iter().find(|word| !word.prefix().starts_with('-') || word.prefix() == "-");
                match place {
                    Some(place) if matches!(place.literal().as_deref(), Some("-" | "+")) => {
                        self.on.state.folders.change_back();
                    }
                    Some(place) if name.starts_with("push") => {
                        self.on.state.folders.push(Some(windows_words::with_slashes(place)));
                    }
                    Some(place) => self.on.state.folders.change(windows_words::with_slashes(place)),
                    None if name == "cd" => {
                        let origin = self.origin;
                        self.on.state.folders.change(Value::piece(Piece::Home(String::new()), origin));
                    }
                    None => {}
                }
            }
            "popd" | "pop-location" => self.on.state.folders.pop(),
            "set-alias" | "new-alias" | "sal" | "nal" => {
                let mut names = operands(words);
                if let (Some(alias), Some(command)) = (names.next(), names.next()) {
                    let alias = alias.literal().unwrap_or_default().to_lowercase();
                    self.on.state.assign(&format!("alias:{alias}"), vec![command.clone()]);
                }
            }
            "set-variable" | "new-variable" | "sv" | "nv" => {
                let mut names = operands(words);
                if let (Some(name), Some(value)) = (names.next(), names.next()) {
                    let name = name.literal().unwrap_or_default().into_owned();
                    self.assign_name(&name, value.listed());
                }
            }
            _ => return false,
        }
        true
    }

    /// Runs a command from its words.
    pub(super) fn run(&mut self, words: Vec<Value>, origin: Origin) -> Items {
        let first = self.on.reading.commands.len();
        self.external("", Call { words, arguments: Arguments::default(), input: None, first, origin })
    }

    fn external(&mut self, name: &str, call: Call) -> Items {
        let Call { mut words, arguments, input, first, origin } = call;
        let program = words.first().and_then(|word| self.on.program_of(word));
        let bound = program.filter(|program| program.style() == Style::PowerShell);
        words.extend(arguments.words);
        if let (Some(program), Some(input)) = (bound, &input) {
            words.extend(piped(program, input, origin));
        }
        let blocks: Vec<Value> = words.iter().flat_map(Value::listed).filter(is_block).collect();
        let passed: Vec<Value> = match bound {
            Some(_) => {
                let rest = words.iter().skip(1).map(windows_words::with_patterns);
                words.iter().take(1).cloned().chain(rest).collect()
            }
            None => words.iter().flat_map(Value::listed).collect(),
        };
        let stdin = match &input {
            Some(input) => input.clone().stream(),
            None => Stream::default(),
        };
        let expanded = first..self.on.reading.commands.len();
        let output = self.on.command(Draft {
            words: passed.into(),
            assignments: Vec::new(),
            redirects: arguments.redirects,
            stdin,
            expanded,
            origin,
            by_program: true,
        });
        let of_blocks = self.blocks(&blocks, &words, input.as_ref(), output.commands.first().copied());
        let printed = self.printed(name, bound, &words, input);
        let mut items = Items { values: Vec::new(), commands: output.commands.clone() };
        items.values = match printed {
            Some(values) => values,
            None if !blocks.is_empty() => of_blocks.values,
            None => self.of_stream(&output).values,
        };
        items.commands.extend(of_blocks.commands);
        items
    }

    /// Runs the script blocks among a command's arguments, once for each pipeline item if the command has input.
    fn blocks(&mut self, blocks: &[Value], words: &[Value], input: Option<&Items>, id: Option<CommandId>) -> Items {
        let mut items = Items::default();
        if blocks.is_empty() {
            return items;
        }
        let outer = self.on.enters_command(id);
        for block in blocks {
            items.extend(match input {
                Some(input) => self.each("_", input.values.clone(), block),
                None => self.walk(block, &arguments_of(words)),
            });
        }
        self.on.leaves_command(outer);
        items
    }

    /// Returns the output of a cmdlet as declared in the library; `None` if the output is that of an ordinary program.
    fn printed(
        &mut self,
        name: &str,
        program: Option<Program>,
        words: &[Value],
        input: Option<Items>,
    ) -> Option<Vec<Value>> {
        let program = program?;
        let invocation = Invocation::read(program, words);
        let selected = |selector: &str| Selector(selector).values(&invocation, words);
        match program.prints(|option| invocation.has_option(option)) {
            "input" => Some(input.map(|input| input.values).unwrap_or_else(|| selected("operands[0]"))),
            "operands" => Some(selected("operands option:input")),
            "paths operands" => Some(selected("option:path operands")),
            "joined path" => {
                let parts = selected("option:path option:child operands");
                let origin = words.first().map_or(self.origin, Value::origin);
                Some(vec![self.joined(&parts, "/", origin)])
            }
            "above" => Some(selected("option:path operands[0]").iter().map(above).collect()),
            "children" => {
                let mut roots = selected("option:path operands[0]");
                if roots.is_empty() {
                    roots.push(Value::text(".", words.first().map_or(self.origin, Value::origin)));
                }
                let names = selected("option:name operands[1]");
                Some(children(&roots, &names, invocation.has("recursive")))
            }
            _ if matches!(name, "foreach-object" | "%" | "foreach") => {
                // `% Name`: a member of each item.
                if words.iter().any(is_block) {
                    return None;
                }
                let name = selected("option:member operands[0]").first().and_then(Value::literal)?.into_owned();
                let values = input.map(|input| input.values).unwrap_or_default();
                let arguments = Some(Vec::new());
                let member = Member { name, type_name: None, values: values.clone(), arguments };
                let found = self.member(member, self.at);
                Some(if found.iter().any(Value::is_unknown) { values } else { found })
            }
            _ => None,
        }
    }
}

/// Returns the words that are not parameters.
fn operands(words: &[Value]) -> impl Iterator<Item = &Value> {
    words.iter().filter(|word| !word.prefix().starts_with('-'))
}

/// Returns the pipeline input as the parameter that takes it.
fn piped(program: Program, input: &Items, origin: Origin) -> Vec<Value> {
    let parameter = program.piped();
    if parameter.is_empty() {
        return Vec::new();
    }
    let unknown = || vec![Value::piece(Piece::Unknown(UnknownReason::Input), origin)];
    let values = if input.values.is_empty() { unknown() } else { input.values.clone() };
    vec![Value::text(parameter, origin), windows_words::list(values)]
}

/// Returns the arguments that a command passes to its script block.
fn arguments_of(words: &[Value]) -> Vec<Value> {
    let at = words.iter().position(|word| word.prefix().to_lowercase().starts_with("-arg"));
    at.and_then(|at| words.get(at + 1)).map(Value::listed).unwrap_or_default()
}

/// Returns the content of directories: all of it, or the entries that match a name.
fn children(roots: &[Value], names: &[Value], deep: bool) -> Vec<Value> {
    let mut found = Vec::new();
    for root in roots {
        let origin = root.origin();
        let mut value = windows_words::with_patterns(root);
        let ends = matches!(value.pieces.last(), Some((Piece::Glob(_), _)));
        let pattern = names.first().map_or("*".into(), Value::shown);
        if ends && !deep && names.is_empty() {
            found.push(value);
            continue;
        }
        if !root.prefix().ends_with(['/', '\\']) {
            value.push_text("/", origin);
        }
        if deep {
            value.pieces.push((Piece::Glob("**".into()), origin));
        }
        if deep && !names.is_empty() {
            value.push_text("/", origin);
        }
        if !deep || !names.is_empty() {
            value.pieces.push((Piece::Glob(pattern), origin));
        }
        found.push(value);
    }
    found
}

/// Returns the parent directory of a path.
fn above(path: &Value) -> Value {
    let mut value = path.clone();
    value.push_text("/..", path.origin());
    value
}
