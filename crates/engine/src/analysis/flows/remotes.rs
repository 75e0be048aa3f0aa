//! Remotes that a text sets before it pushes to them. The address counts, not the name.

use super::owners::remotes;
use crate::analysis::effects::{EffectExtractor, Ran};
use crate::model::effect::{EffectKind, Target, TargetPath};
use crate::text::url;
use reflex_shell::{Command, Origin, Value};

/// A remote that the text sets, with its address. It replaces any previous remote of that name.
struct Remote {
    /// Name of the remote; empty if the address applies to every remote.
    name: String,
    address: Value,
}

impl EffectExtractor<'_> {
    /// `git remote add x URL && git push x`: adds a push to that address. An address on a host of the project's remotes
    /// does not count, unless everything is pushed.
    pub(super) fn pushes(&mut self, before: usize, commands: &[Command]) {
        let is_push = |command: &&Command| {
            command.name == "git"
                && command.invocation.as_ref().is_some_and(|known| known.path.first() == Some(&"push"))
        };
        if !commands.iter().any(|command| is_push(&command)) {
            return;
        }
        let config = self.world.content(&format!("{}/.git/config", self.event.workspace)).unwrap_or_default();
        let hosts: Vec<&str> = remotes(&config).filter_map(url::far_host).collect();
        if hosts.is_empty() {
            return;
        }
        let is_stranger = |address: &Value| {
            let address = address.prefix();
            url::far_host(&address).is_some_and(|host| !hosts.iter().any(|known| known.eq_ignore_ascii_case(host)))
        };
        for effect in self.effects.iter_mut().skip(before).filter(|effect| effect.flags.contains(&"push")) {
            let stranger = effect.targets.iter().any(|target| is_stranger(&target.value));
            effect.flags.extend(stranger.then_some("stranger"));
        }
        let set: Vec<Remote> = commands.iter().flat_map(remotes_set).collect();
        for (id, command) in commands.iter().enumerate().filter(|(_, command)| is_push(command)) {
            let Some(invocation) = &command.invocation else { continue };
            let named = invocation.operands.first().and_then(|at| command.words.get(*at)).and_then(Value::literal);
            let named = named.unwrap_or_else(|| "origin".into());
            let Some(remote) = set.iter().rev().find(|remote| remote.name.is_empty() || remote.name == named) else {
                continue;
            };
            let pushes_all = invocation.has("mirror") || invocation.has("all");
            if invocation.has("dry-run") || !(pushes_all || is_stranger(&remote.address)) {
                continue;
            }
            let target = Target::new(remote.address.clone(), TargetPath::None);
            let effect = self.effect_of(Ran { id, command, folder: None }, EffectKind::Send).target(target);
            let options = invocation.options.iter().map(|option| option.key);
            let stranger = is_stranger(&remote.address).then_some("stranger");
            self.push(effect.mark("push").marks(options).marks(stranger));
        }
    }
}

/// Returns the remotes that a git command sets.
fn remotes_set(command: &Command) -> Vec<Remote> {
    let Some(invocation) = command.invocation.as_ref().filter(|_| command.name == "git") else { return Vec::new() };
    let operands: Vec<&Value> = invocation.operands.iter().filter_map(|at| command.words.get(*at)).collect();
    let text = |at: usize| operands.get(at).and_then(|value| value.literal()).unwrap_or_default();
    let configured = invocation.values("config", &command.words);
    let mut set: Vec<Remote> = configured.iter().filter_map(assigned).collect();
    match invocation.path.first() {
        Some(&"remote") if matches!(&*text(0), "add" | "set-url") => {
            let rest: Vec<&&Value> = operands.iter().skip(1).filter(|value| !value.prefix().starts_with('-')).collect();
            // A replaced address follows the new one; options precede the name.
            let pair = match (&*text(0), rest.as_slice()) {
                ("set-url", [name, address, ..]) | (_, [.., name, address]) => Some((name, address)),
                _ => None,
            };
            set.extend(pair.and_then(|(name, address)| {
                Some(Remote { name: name.literal()?.into(), address: (**address).clone() })
            }));
        }
        Some(&"config") => {
            let key = operands.iter().position(|value| remote_of(&value.prefix()).is_some());
            let pair = key.and_then(|at| Some((remote_of(&text(at))?, operands.get(at + 1)?)));
            set.extend(pair.map(|(name, address)| Remote { name, address: (*address).clone() }));
            set.extend(operands.iter().find_map(|key| instead(&key.prefix())));
        }
        Some(_) | None => {}
    }
    set
}

/// Parses `remote.origin.url=ADDRESS`.
fn assigned(value: &Value) -> Option<Remote> {
    let prefix = value.prefix();
    let at = prefix.find('=')?;
    if let Some(instead) = instead(prefix.get(..at)?) {
        return Some(instead);
    }
    let name = remote_of(prefix.get(..at)?)?;
    Some(Remote { name, address: value.without_prefix(at + 1) })
}

/// Returns the remote whose address a key of git's settings holds.
fn remote_of(key: &str) -> Option<String> {
    let rest = key.get(..7).filter(|start| start.eq_ignore_ascii_case("remote.")).and(key.get(7..))?;
    let (name, part) = rest.rsplit_once('.')?;
    ["url", "pushurl"].iter().any(|known| part.eq_ignore_ascii_case(known)).then(|| name.to_owned())
}

/// `url.ADDRESS.insteadOf`: the address replaces others from then on.
fn instead(key: &str) -> Option<Remote> {
    let rest = key.get(..4).filter(|start| start.eq_ignore_ascii_case("url.")).and(key.get(4..))?;
    let (address, part) = rest.rsplit_once('.')?;
    let is_instead = ["insteadof", "pushinsteadof"].iter().any(|known| part.eq_ignore_ascii_case(known));
    is_instead.then(|| Remote { name: String::new(), address: Value::text(address, Origin::default()) })
}
