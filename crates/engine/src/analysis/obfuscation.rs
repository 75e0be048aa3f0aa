//! Obfuscated text: program names in pieces, invisible characters, code that is decoded where it runs.

use super::effects::{EffectExtractor, Text};
use super::unread::is_decoder;
use crate::model::effect::{EffectKind, Target, TargetPath};
use reflex_shell::{Command, Derivation, DerivationId, Invocation, Language, Origin, Span, Value};

/// Steps whose input a person cannot read.
const HIDING: [&str; 10] =
    ["base64", "base32", "basenc", "xxd", "openssl", "gunzip", "rot13", "uudecode", "hexadecimal", "rev"];

/// Adds an effect for encoded code in the text whose decoded form is known. The decoded code is judged like any
/// other.
pub(super) fn add_decoded(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let reading = text.reading;
    let hidden = |derivation: &&Derivation| runs(derivation) && is_hidden(derivation, &reading.derivations);
    let Some((id, code)) = reading.derivations.iter().enumerate().find(|(_, derivation)| hidden(derivation)) else {
        return;
    };
    let id = u16::try_from(id).ok().map(DerivationId);
    let site = reading.commands.iter().find(|command| command.origin.derivation == id).map(|command| command.site);
    let effect = extractor.effect(EffectKind::RunDecoded).target(name(code.text.as_str(), code.from)).mark("known");
    let origin = Origin { span: code.from.span, derivation: None };
    extractor.push(effect.at(origin).on(site.unwrap_or_default()));
}

/// Adds an effect for programs whose name is written in pieces, with escapes or with expansions that yield the
/// empty string.
pub(super) fn add_disguises(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let (text, commands) = (text.source, &text.reading.commands);
    extractor.hidden_chars(text);
    let disguised = commands.iter().filter_map(|command| {
        let first = command.words.first().filter(|_| command.language == Language::Shell)?;
        let (origin, plain) = (first.origin(), first.literal()?);
        let written = origin.span.slice(text);
        let is_known = || command.invocation.as_ref().and_then(Invocation::grammar).is_some();
        let apart = origin.derivation.is_none()
            && written.len() > plain.len()
            && is_in_pieces(written)
            && (!is_windows_path(written) || is_known());
        apart.then(|| (name(&plain, origin), command.site))
    });
    let disguised: Vec<_> = disguised.collect();
    let Some((first, site)) = disguised.first() else { return };
    let effect = extractor.effect(EffectKind::Disguise).at(first.value.origin()).on(*site);
    extractor.push(effect.targets(disguised.into_iter().map(|(target, _)| target).collect()));
}

/// Adds an effect for a decoder nested so deeply in texts within texts that its purpose is hard to see.
pub(super) fn add_nested(extractor: &mut EffectExtractor<'_>, text: &Text<'_>) {
    let commands = &text.reading.commands;
    const DEEP: usize = 3;
    // Each check visits all commands.
    const MAX_DECODERS: usize = 16;
    let decoders = commands.iter().filter(|command| is_decoder(Some(command)) && decodes(command));
    let mut deep = decoders.take(MAX_DECODERS).filter(|command| texts_around(command, commands) >= DEEP);
    if let Some(command) = deep.next() {
        let effect = extractor.effect(EffectKind::NestedDecoding).target(name(&command.name, command.origin));
        extractor.push(effect.at(command.origin).on(command.site));
    }
}

impl EffectExtractor<'_> {
    /// Adds an effect for invisible characters, or those that change the direction of the following text.
    fn hidden_chars(&mut self, text: &str) {
        if text.is_ascii() {
            return;
        }
        let mut before = ' ';
        let hidden = text.char_indices().find(|(_, ch)| {
            // After a black flag, tag characters form the flag of a region.
            let is_flag = before == '\u{1f3f4}' || ('\u{e0020}'..='\u{e007f}').contains(&before);
            before = *ch;
            matches!(ch, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                || (('\u{e0001}'..='\u{e007f}').contains(ch) && !is_flag)
        });
        let Some((at, ch)) = hidden else { return };
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { start, end: start.saturating_add(u32::try_from(ch.len_utf8()).unwrap_or(1)) };
        let origin = Origin { span, derivation: None };
        let target = name(&format!("U+{:04X}", u32::from(ch)), origin);
        self.push(self.effect(EffectKind::Disguise).target(target).mark("hidden").at(origin));
    }
}

/// Returns whether the command decodes. Some programs encode unless an option says otherwise.
fn decodes(command: &Command) -> bool {
    let has_option = |ends: &[&str]| {
        let words = command.words.iter().skip(1).filter_map(|word| word.literal());
        words.into_iter().any(|word| ends.iter().any(|end| word.starts_with(end)))
    };
    match command.name.as_str() {
        "base64" | "base32" | "basenc" => has_option(&["-d", "-D", "--d"]),
        "xxd" => has_option(&["-r"]),
        "openssl" => has_option(&["-d"]),
        _ => true,
    }
}

/// Returns the number of nested texts around a command: substitutions, and texts passed to a shell. A program that
/// passes on its words does not count.
fn texts_around(command: &Command, commands: &[Command]) -> usize {
    const MAX_COMMANDS: usize = 64;
    let mut around: Vec<&Command> = Vec::new();
    let mut inner = command;
    while let Some(outer) = inner.parent.and_then(|id| commands.get(id)).filter(|_| around.len() < MAX_COMMANDS) {
        around.push(outer);
        inner = outer;
    }
    let span = command.origin.span;
    let holds = |other: &&Command| {
        let outer = other.origin.span;
        let is_wider = outer.start <= span.start && span.end <= outer.end && outer != span;
        is_wider && other.origin.derivation == command.origin.derivation
    };
    for other in commands.iter().filter(holds).take(MAX_COMMANDS) {
        if !around.iter().any(|known| std::ptr::eq(*known, other)) {
            around.push(other);
        }
    }
    let names: Vec<&str> = around.iter().map(|outer| &*outer.name).chain([command.name.as_str()]).collect();
    let passes_on = |outer: &&&Command| {
        outer.words.iter().skip(1).any(|word| word.literal().is_some_and(|word| names.contains(&&*word)))
    };
    around.len() - around.iter().filter(passes_on).count()
}

fn name(text: &str, origin: Origin) -> Target {
    Target::new(Value::text(text, origin), TargetPath::None)
}

/// Returns whether a shell or an interpreter runs the derived text.
fn runs(derivation: &Derivation) -> bool {
    derivation.step.ends_with(" text") || matches!(derivation.step, "eval" | "standard input")
}

fn is_hidden(derivation: &Derivation, all: &[Derivation]) -> bool {
    let before = |derivation: &Derivation| all.get(usize::from(derivation.from.derivation?.0));
    std::iter::successors(before(derivation), |derivation| before(derivation))
        .any(|derivation| HIDING.contains(&derivation.step))
}

/// Returns whether a name is interrupted without need: `r""m`, `c\at`, `$'\x72m'`, `pr${*}intf`. Quotes around a
/// complete name, a backslash before it and variables for folders are ordinary.
fn is_in_pieces(written: &str) -> bool {
    let bytes = written.as_bytes();
    let ch = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric());
    let opens = |at: usize, text: &str| bytes.get(at..).is_some_and(|rest| rest.starts_with(text.as_bytes()));
    (0..bytes.len()).any(|at| {
        let before = at > 0 && ch(at - 1);
        match bytes.get(at) {
            // Escapes in place of characters.
            Some(b'$') if opens(at, "$'") => bytes.get(at + 2..).is_some_and(|rest| rest.contains(&b'\\')),
            Some(b'$') => {
                ["$*", "$@", "${*", "${@", "${!*", "${!@"].iter().any(|nothing| opens(at, nothing)) && written.len() > 2
            }
            Some(b'\\') => before && ch(at + 1),
            Some(quote @ (b'\'' | b'"')) => {
                let empty = bytes.get(at + 1) == Some(quote) && (before || ch(at + 2));
                empty || (before && ch(at + 1))
            }
            _ => false,
        }
    })
}

/// `venv\Scripts\activate`, `build\app.exe`: returns whether the text is the path of a Windows program, which hides no
/// shell command.
fn is_windows_path(written: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'\\' | b'/' | b':');
    let of_programs = |part: &str| [".bin", "bin", "scripts"].iter().any(|name| part.eq_ignore_ascii_case(name));
    let ending = written.rsplit('.').next().unwrap_or("");
    written.bytes().all(is_plain)
        && (written.split('\\').any(of_programs)
            || ["exe", "bat", "cmd", "ps1"].iter().any(|name| ending.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::{is_in_pieces, is_windows_path};

    #[test]
    fn windows_paths_are_not_names_in_pieces() {
        for written in
            ["venv\\Scripts\\activate", ".venv\\Scripts\\python.exe", "build\\a.exe", "node_modules\\.bin\\a"]
        {
            assert!(is_windows_path(written), "{written}");
        }
        for written in ["c\\at", "ev\\al", "c\"\"at\\bin\\x", "so\\ur\\ce"] {
            assert!(!is_windows_path(written), "{written}");
        }
    }

    #[test]
    fn names_in_pieces_are_distinguished_from_ordinary_quotes() {
        for written in ["r\"\"m", "c\\at", "$'\\x72m'", "pr${*}intf", "ba''sh", "\"p\"rin''tf", "b$@ash"] {
            assert!(is_in_pieces(written), "{written}");
        }
        for written in ["\"git\"", "'my tool'", "\\rm", "\"$HOME\"/bin/x", "./a\\ b", "\"$D/x\"", "$'git'", "$@", "''"]
        {
            assert!(!is_in_pieces(written), "{written}");
        }
    }
}
