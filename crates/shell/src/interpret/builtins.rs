//! Builtins: their effects on the shell.

use super::draft::Draft;
use super::interpreter::Interpreter;
use super::output;
use super::streams::Stream;
use crate::cli_grammar::program::Program;
use crate::model::value::{Origin, Piece, UnknownReason, Value};
use crate::syntax::names::is_name;
use std::sync::Arc;

/// Commands that succeed with any arguments.
const SUCCEEDING: [&str; 7] = ["true", ":", "echo", "printf", "export", "set", "local"];

impl Interpreter<'_> {
    /// Runs a builtin that only changes the state of the shell and is not listed as a command. Returns `None` for any
    /// other.
    pub(super) fn builtin(&mut self, name: &str, draft: &Draft) -> Option<Stream> {
        let words = draft.words.get(1..).unwrap_or(&[]);
        match name {
            "cd" | "chdir" => self.change_folder(words, draft.origin),
            "pushd" => self.push_folder(words),
            "popd" if words.is_empty() => self.state.folders.pop(),
            "popd" => self.state.folders.rotate(),
            "unset" => self.unset(words, draft.origin),
            // Without arguments, it prints all variables.
            "set" if words.is_empty() => return None,
            "set" => {
                self.switch(words, draft.origin);
                self.state.errexit |= sets_errexit(words);
                self.set_parameters(words);
            }
            "shift" => self.shift(words),
            "read" => self.read_variables(words, draft),
            "readarray" | "mapfile" => self.read_lines(words, draft),
            "alias" => operands(words).for_each(|word| self.define_alias(word)),
            "unalias" => {}
            "getopts" => self.next_option(words),
            "printf" if words.first().is_some_and(|word| word.prefix().starts_with("-v")) => {
                self.print_into(words, draft)
            }
            _ => return None,
        }
        if matches!(name, "set" | "alias") {
            self.status = Some(true);
        }
        let mut output = Stream::nothing();
        self.list_group(draft.redirects.clone(), draft.origin, &mut output);
        Some(output)
    }

    /// Applies the effects of a listed command on the shell.
    pub(super) fn after_program(&mut self, name: &str, draft: &Draft) {
        let words = draft.words.get(1..).unwrap_or(&[]);
        match name {
            "false" => self.status = Some(false),
            "test" | "[" => self.status = self.test_command(name, words),
            "let" => {
                let last = words.iter().map(|word| self.evaluate(word)).last().flatten();
                self.status = last.map(|number| number != 0);
            }
            "exit" | "logout" if is_certain(words, draft) => self.leave_shell(),
            "return" if is_certain(words, draft) => self.leave_function(),
            "break" | "continue" if draft.redirects.is_empty() && words.len() <= 1 => {
                let count = words.first().map_or(Some(1), |word| word.literal()?.parse().ok());
                // An unknown count may be any number: no loop is left.
                count.into_iter().for_each(|count| self.leave_loop(count, name == "continue"));
            }
            "shopt" if words.iter().any(|word| word.literal().as_deref() == Some("extglob")) => {
                self.state.extended = words.iter().any(|word| word.prefix().starts_with("-s"));
            }
            "exec" if self.replaces_shell(words, draft) => self.leave_shell(),
            "hash" if !draft.by_program => self.remember_programs(words),
            "export" | "declare" | "typeset" | "readonly" if draft.by_program => self.declare_operands(draft),
            _ if SUCCEEDING.contains(&name) => self.status = Some(true),
            _ => self.take_input(name, words),
        }
    }

    /// Whether `exec` certainly replaces the shell: only for a known program, as the shell may continue if it does not
    /// exist.
    fn replaces_shell(&self, words: &[Value], draft: &Draft) -> bool {
        let Some(program) = words.first().and_then(Value::literal) else { return false };
        let known = Program::find(self.surroundings.programs, &program).is_some();
        known && !draft.by_program && draft.redirects.is_empty()
    }

    /// Consumes the input that a program reads and that later ones cannot; an unknown program consumes none.
    fn take_input(&mut self, name: &str, words: &[Value]) {
        let from_files = operands(words).next().is_some();
        match name {
            "tee" | "tr" | "xargs" | "cat" | "rev" | "sort" | "wc" | "uniq" | "base64" | "xxd" | "sh" | "bash"
            | "dash" | "zsh" | "ksh"
                if !from_files || matches!(name, "tee" | "tr" | "xargs") =>
            {
                self.state.open.take_all(0);
            }
            "head" | "tail" | "cut" | "sed" | "awk" | "grep" | "perl" | "python" | "python3" | "ruby" | "node" => {
                self.state.open.take(0, None);
            }
            _ => {}
        }
    }

    fn change_folder(&mut self, words: &[Value], origin: Origin) {
        let physical = words.iter().any(|word| word.prefix().starts_with('-') && word.prefix().contains('P'));
        let mut targets = operands(words);
        match (targets.next(), targets.next()) {
            // The target of `..` then depends on symlinks; shells disagree on two operands.
            (Some(_), Some(_)) => self.state.folders.forget(),
            (Some(_), None) if physical => self.state.folders.forget(),
            (Some(target), None) if target.literal().as_deref() == Some("-") => self.state.folders.change_back(),
            (Some(target), None) if self.searches_elsewhere(target) => self.state.folders.forget(),
            (Some(target), None) => self.state.folders.try_change(target.clone()),
            (None, _) => {
                let home = self.state.variable("HOME").and_then(|values| values.first().cloned());
                let home = home.unwrap_or_else(|| Value::piece(Piece::Home(String::new()), origin));
                self.state.folders.change(home);
            }
        }
    }

    /// Whether `CDPATH` may resolve the name in other folders.
    fn searches_elsewhere(&self, target: &Value) -> bool {
        let start = target.prefix();
        let starts_here = start.starts_with(['/', '.', '~']) || start.is_empty();
        let set = self
            .state
            .variable("CDPATH")
            .is_some_and(|values| values.iter().any(|value| value.literal().is_none_or(|text| !text.is_empty())));
        set && !starts_here
    }

    fn push_folder(&mut self, words: &[Value]) {
        match words {
            [] => self.state.folders.push(None),
            [target] if !target.prefix().starts_with(['-', '+']) => {
                if self.searches_elsewhere(target) {
                    self.state.folders.rotate();
                } else {
                    self.state.folders.push(Some(target.clone()));
                }
            }
            _ => self.state.folders.rotate(),
        }
    }

    fn unset(&mut self, words: &[Value], origin: Origin) {
        let has = |option: &str| words.iter().any(|word| word.prefix() == option);
        for word in operands(words) {
            self.run_subscript(word);
            let Some(name) = word.literal() else { continue };
            if has("-n") {
                self.state.set_kind(&name, None);
                continue;
            }
            if !has("-f") {
                self.changed(&name, None, origin);
                self.state.unset(&name);
            }
            if !has("-v") {
                self.state.unset_function(&name);
            }
        }
    }

    fn shift(&mut self, words: &[Value]) {
        let count = words.first().map_or(Some(1), |word| word.literal()?.parse::<usize>().ok());
        let Some(count) = count else {
            let unknown = |value: &Value| Value::piece(Piece::Unknown(UnknownReason::NotEvaluated), value.origin());
            let parameters = self.state.parameters.iter().map(unknown).collect();
            self.state.replace_parameters(Arc::new(parameters));
            return;
        };
        self.status = self.state.shift(count);
    }

    /// `set +o NAME`
    fn switch(&mut self, words: &[Value], origin: Origin) {
        let known: Vec<_> = words.iter().filter_map(Value::literal).collect();
        for pair in known.windows(2).filter(|pair| matches!(pair.first().map(|sign| &**sign), Some("+o" | "-o"))) {
            let name: String = pair.iter().map(|word| &**word).collect();
            self.changed(&name.replacen('o', "", 1), Some(Value::default()), origin);
        }
    }

    /// `set [OPTIONS] [--] WORD…`: the words replace the positional parameters.
    fn set_parameters(&mut self, words: &[Value]) {
        let mut at = 0;
        while let Some(text) = words.get(at).map(|word| word.prefix()).filter(|text| text.starts_with(['-', '+'])) {
            at += 1;
            if text == "--" || text == "-" {
                let rest = words.get(at..).unwrap_or(&[]);
                if text == "--" || !rest.is_empty() {
                    self.set_words(rest);
                }
                return;
            }
            // `-euo pipefail`: the next word is the name of an option.
            at += usize::from(text.ends_with('o'));
        }
        if at < words.len() {
            self.set_words(words.get(at..).unwrap_or(&[]));
        }
    }

    fn set_words(&mut self, words: &[Value]) {
        let shell_name = self.state.parameters.first().cloned().unwrap_or_default();
        let parameters = std::iter::once(shell_name).chain(words.iter().cloned()).collect();
        self.state.replace_parameters(Arc::new(parameters));
    }

    /// `getopts OPTIONS NAME`: the option that it finds is unknown.
    fn next_option(&mut self, words: &[Value]) {
        let place = words.first().map_or(Origin::default(), Value::origin);
        let name = words.get(1).and_then(Value::literal).unwrap_or_default().into_owned();
        for name in [name.as_str(), "OPTARG", "OPTIND"].into_iter().filter(|name| is_name(name)) {
            self.state.assign(name, vec![Value::piece(Piece::Unknown(UnknownReason::Input), place)]);
        }
    }

    /// `printf -v NAME FORMAT …`
    fn print_into(&mut self, words: &[Value], draft: &Draft) {
        let joined = words.first().map(|word| word.without_prefix(2)).filter(|name| !name.pieces.is_empty());
        let skipped = if joined.is_some() { 1 } else { 2 };
        let format = draft.words.iter().take(1).chain(words.get(skipped..).unwrap_or(&[]));
        let printed = output::printed(self, &format.cloned().collect::<Vec<_>>(), None, &draft.stdin);
        let Some(name) = joined.or_else(|| words.get(1).cloned()) else { return };
        let Some(text) = name.literal() else { return self.run_subscript(&name) };
        match text.split_once('[') {
            Some((array, subscript)) => {
                let subscript = Value::text(subscript.trim_end_matches(']'), name.origin());
                let index = self.evaluate(&subscript).and_then(|index| usize::try_from(index).ok());
                self.state.assign_element(array, index, printed);
            }
            None => self.assign(&text, vec![printed]),
        }
        self.status = Some(true);
    }
}

fn operands(words: &[Value]) -> impl Iterator<Item = &Value> {
    words.iter().filter(|word| !word.prefix().starts_with('-') || word.prefix() == "-")
}

/// Whether no shell rejects this `exit` or `return`: it has a number or no argument.
fn is_certain(words: &[Value], draft: &Draft) -> bool {
    let is_number = |word: &Value| match word.pieces.as_slice() {
        // `$?` and results of arithmetic.
        [(Piece::Glob(_), _)] => true,
        _ => word.literal().is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())),
    };
    draft.redirects.is_empty() && words.len() <= 1 && words.iter().all(is_number)
}

/// `set -e`, `set -euo pipefail`, `set -o errexit`
fn sets_errexit(words: &[Value]) -> bool {
    words.iter().map_while(Value::literal).take_while(|word| word != "--").any(|word| {
        let is_short = word.starts_with('-') && !word.starts_with("--");
        is_short && word.contains('e') || word == "errexit"
    })
}
