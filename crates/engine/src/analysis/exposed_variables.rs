//! Variables that hold a key and whose values the text shows to the agent. Only the names are considered; the values
//! are not requested.

use super::effects::{EffectExtractor, Ran};
use super::flows::is_key_name;
use reflex_shell::{Access, Command, CommandId, Piece};

impl EffectExtractor<'_> {
    /// Adds an effect for a key shown by `echo $GITHUB_TOKEN`.
    pub(super) fn variables_shown(&mut self, commands: &[Command]) {
        let in_call = self.script.is_none();
        let printing = commands.iter().enumerate().filter(|_| in_call);
        let printing = printing.filter(|(_, command)| matches!(command.name.as_str(), "echo" | "printf"));
        for (id, command) in printing.filter(|(id, _)| is_seen(*id, commands)) {
            if let Some(name) = keys_in(command).next().map(str::to_owned) {
                self.shown(Ran { id, command, folder: None }, &name, "variable");
            }
        }
    }
}

/// Returns the key variables in a command's words.
fn keys_in(command: &Command) -> impl Iterator<Item = &str> {
    let pieces = command.words.iter().flat_map(|word| &word.pieces);
    pieces.filter_map(|(piece, _)| match piece {
        Piece::Variable(name) if is_key_name(name) => Some(name.as_str()),
        Piece::Variable(_)
        | Piece::Text(_)
        | Piece::Glob(_)
        | Piece::Home(_)
        | Piece::Output(_)
        | Piece::Unknown(_) => None,
    })
}

/// Returns whether the agent sees the command's output, because neither a file nor another command receives it.
fn is_seen(id: CommandId, commands: &[Command]) -> bool {
    reflex_shell::work::spend(1 + commands.len() as u64 / 32);
    let taken = |id: CommandId, command: &Command| {
        let kept = command.redirects.iter().any(|file| matches!(file.access, Access::Overwrite | Access::Append));
        kept || commands.iter().any(|other| other.stdin.sources().contains(&id))
    };
    let mut at = Some(id);
    while let Some((id, command)) = at.and_then(|id| Some((id, commands.get(id)?))) {
        if taken(id, command) {
            return false;
        }
        at = command.parent.filter(|parent| *parent < id);
    }
    true
}
