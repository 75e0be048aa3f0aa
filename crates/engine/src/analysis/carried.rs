//! Variables that hold a key, where the text shows their values: to another host than the one that gave the key out, or
//! to the agent. Only names say so; the values are not asked for.

use super::effects::{EffectExtractor, Ran};
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::text::{glob, url};
use reflex_shell::{Access, Command, CommandId, Origin, Piece, Value};
use reflex_tables::Node;

/// Parts of the names of variables in which a key or a password stands.
const KEYS: [&str; 8] =
    ["TOKEN", "SECRET", "PASSWORD", "API_KEY", "PRIVATE_KEY", "ACCESS_KEY", "SERVICE_KEY", "ROLE_KEY"];

/// More commands than these are not looked at for one text.
const MOST: usize = 64;

impl EffectExtractor<'_> {
    /// `curl -H "Authorization: $GITHUB_TOKEN" https://x.example`, `echo $GITHUB_TOKEN`.
    pub(super) fn variables_carried(&mut self, before: usize, commands: &[Command]) {
        let own = self.effects.get(before..).unwrap_or(&[]);
        let goes = |effect: &&Effect| matches!(effect.kind, EffectKind::Fetch | EffectKind::Send);
        let mut sending: Vec<CommandId> = own.iter().filter(goes).filter_map(|effect| effect.command).collect();
        sending.dedup();
        for id in sending.into_iter().take(MOST) {
            let Some(command) = commands.get(id) else { continue };
            let hosts = self.far_hosts(before, id);
            let places = self.tables.get("places");
            let foreign = |name: &str| hosts.iter().any(|host| may_get(places, name, host) == Some(false));
            let carried = keys_in(command).find(|name| foreign(name));
            if let Some(name) = carried.map(str::to_owned) {
                self.shown(id, command, &name, "carried");
            }
        }
        let own = self.script.is_none();
        let printing = commands.iter().enumerate().filter(|_| own);
        let printing = printing.filter(|(_, command)| matches!(command.name.as_str(), "echo" | "printf"));
        for (id, command) in printing.filter(|(id, _)| is_seen(*id, commands)) {
            if let Some(name) = keys_in(command).next().map(str::to_owned) {
                self.shown(id, command, &name, "variable");
            }
        }
    }

    fn shown(&mut self, id: CommandId, command: &Command, name: &str, flag: &'static str) {
        let value = Value::text(format!("${name}"), Origin::default());
        let target = Target::new(value, TargetPath::None);
        self.push_command(Ran { id, command, folder: None }, EffectKind::RevealSecret, vec![target]);
        self.effects.last_mut().into_iter().for_each(|effect| effect.flags = vec![flag]);
    }

    /// The hosts that a command reaches. An address whose host is not known may be any.
    fn far_hosts(&self, before: usize, id: CommandId) -> Vec<String> {
        let own = self.effects.iter().skip(before).filter(|effect| effect.command == Some(id));
        let reached = own.filter(|effect| matches!(effect.kind, EffectKind::Fetch | EffectKind::Send));
        let addresses = reached.flat_map(|effect| &effect.targets).map(|target| target.value.prefix().into_owned());
        let mut hosts: Vec<String> =
            addresses.filter_map(|address| url::far_host(&address).map(str::to_ascii_lowercase)).collect();
        hosts.dedup();
        hosts
    }
}

/// The variables of keys in a command's words.
fn keys_in(command: &Command) -> impl Iterator<Item = &str> {
    let pieces = command.words.iter().flat_map(|word| &word.pieces);
    pieces.filter_map(|(piece, _)| match piece {
        Piece::Variable(name) if KEYS.iter().any(|key| name.contains(key)) => Some(name.as_str()),
        Piece::Variable(_)
        | Piece::Text(_)
        | Piece::Glob(_)
        | Piece::Home(_)
        | Piece::Output(_)
        | Piece::Unknown(_) => None,
    })
}

/// Whether a host may get the key of a variable; none if it is not known whose that is.
fn may_get(places: Node<'_>, name: &str, host: &str) -> Option<bool> {
    let first = name.split('_').next()?;
    let mut services = places.get("key-hosts").items();
    let service = services.find(|service| service.get("subjects").texts().any(|known| known == first))?;
    Some(service.get("paths").texts().any(|pattern| glob::glob(pattern.as_bytes(), host.as_bytes())))
}

/// Whether what it prints is read by the agent: no file and no other command takes it.
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
