//! The effects of one action of the event: of its shell text, or of the files and addresses that another tool names.

use super::agent_paths::{agent_path_value, without_scheme};
use super::effects::{EffectExtractor, Input};
use super::tool_call;
use super::tool_call::call::called;
use crate::model::analysis::Analysis;
use crate::model::effect::EffectKind;
use crate::model::event::{Action, AgentPath};
use crate::text::encoded_paths;
use reflex_shell::Reading;

/// Adds the effects of every action, and the secrets in it.
pub(super) fn add(input: Input<'_>, analysis: &mut Analysis) {
    for (index, action) in input.event.actions.iter().enumerate() {
        let mut extractor = EffectExtractor::new(input, index, &mut analysis.effects);
        let reading = extractor.action(action);
        extractor.exposures(action, &reading);
        analysis.readings.push(reading);
    }
}

impl EffectExtractor<'_> {
    fn action(&mut self, action: &Action) -> Reading {
        match action {
            Action::Shell { command, language } => return self.shell(command, *language),
            Action::Read { path } | Action::Search { path, .. } => self.file(EffectKind::Read, path),
            Action::Write { path, .. } => self.file(EffectKind::Overwrite, path),
            Action::Edit { path, .. } => self.file(EffectKind::Edit, path),
            Action::Delete { path } => self.file(EffectKind::Delete, path),
            Action::Fetch { url } => {
                self.push(self.effect_on(EffectKind::Fetch, url));
                let path = without_scheme(url);
                if path != url {
                    self.file(EffectKind::Read, &AgentPath::new(path));
                }
            }
            Action::McpCall { arguments, .. } | Action::Other { arguments } => {
                self.mention_in_arguments(arguments);
                if let Some(called) = called(self.event, action) {
                    let call = tool_call::read(called, self.tables);
                    // A search pattern is not a path; the searched folder is an action of its own.
                    if !call.is_search {
                        self.paths_in(arguments);
                    }
                    self.addresses_in(arguments);
                    self.served(called, &call);
                }
            }
            Action::Prompt { .. } | Action::SpawnAgent { .. } | Action::Skill { .. } | Action::Input { .. } => {}
        }
        Reading::default()
    }

    fn file(&mut self, kind: EffectKind, path: &AgentPath) {
        let written = path.with_slashes();
        let plain = without_scheme(&written);
        let mut targets = vec![self.target(kind, agent_path_value(plain), &self.event.cwd)];
        let hidden = encoded_paths::disguise(without_scheme(&path.text));
        for other in hidden.paths {
            let target = self.target(kind, agent_path_value(&other), &self.event.cwd);
            if targets.iter().all(|known| known.path() != target.path()) {
                targets.push(target);
            }
        }
        let is_disguised = targets.len() > 1;
        let flags = [
            is_disguised.then_some("disguised"),
            hidden.malformed.then_some("malformed"),
            is_share(&written).then_some("share"),
        ];
        self.push(self.effect(kind).targets(targets).marks(flags.into_iter().flatten()));
    }
}

/// `//host/share`: a folder of another machine, which learns who requests it.
fn is_share(path: &str) -> bool {
    let host = path.strip_prefix("//").and_then(|rest| rest.split('/').next()).unwrap_or("");
    let local = ["?", ".", "localhost", "127.0.0.1", "wsl$", "wsl.localhost"];
    !host.is_empty() && host.starts_with(|ch: char| ch.is_ascii_alphanumeric()) && !local.contains(&host)
}

#[cfg(test)]
mod tests {
    use crate::analysis::analyze;
    use crate::library::{event, shell, tables, world};
    use crate::model::event::{Action, AgentPath, Event};

    fn effects(event: &Event) -> Vec<String> {
        let shown = |target: &crate::model::effect::Target| format!(" {}", target.shown());
        let analysis = analyze(event, tables(), &world(&[]));
        let one = |effect: &crate::model::effect::Effect| {
            let targets: String = effect.targets.iter().map(shown).collect();
            let site = if effect.site == reflex_shell::ExecTarget::Here { "" } else { effect.site.name() };
            format!("{}{targets} {site}", effect.kind.name()).trim_end().to_owned()
        };
        analysis.effects.iter().map(one).collect()
    }

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        assert_eq!(effects(&shell(command)), expected, "{command}");
    }

    #[test]
    fn a_program_does_what_its_entry_says_to_its_operands() {
        check("rm -rf a /b", &["delete /repo/a /b"]);
        check("cd sub && rm a", &["delete /repo/sub/a"]);
        check("sudo env X=1 rm a", &["raise-privilege", "delete /repo/a", "set-variable X"]);
        check("true", &[]);
    }

    #[test]
    fn a_home_in_shared_memory_is_a_home() {
        let of = |home: &str, command: &str| effects(&Event { home: home.into(), ..shell(command) });
        assert_eq!(of("/dev/shm/me", "rm -rf ~ /dev/shm/x 2> /dev/null"), ["delete /dev/shm/me"]);
        assert_eq!(of("/home/me", "rm -rf /dev/shm/x"), [""; 0]);
        assert_eq!(of("/", "ls 2> /dev/null"), [""; 0]);
    }

    #[test]
    fn redirections_are_effects_of_their_own() {
        check("true > a", &["truncate /repo/a", "overwrite /repo/a"]);
    }

    #[test]
    fn on_another_system_it_happens_there() {
        let effects = effects(&shell("ssh host rm -rf /srv"));
        assert!(effects.contains(&"delete /srv remote".to_owned()), "{effects:?}");
        assert!(!effects.contains(&"delete /srv".to_owned()), "{effects:?}");
    }

    #[test]
    fn a_tool_without_a_shell_has_its_effect_too() {
        let path = || AgentPath::new("src/a.rs");
        assert_eq!(effects(&event(Action::Delete { path: path() })), ["delete /repo/src/a.rs"]);
        assert_eq!(effects(&event(Action::Read { path: path() })), ["read /repo/src/a.rs"]);
        assert_eq!(
            effects(&event(Action::Write { path: path(), content: String::new() })),
            ["overwrite /repo/src/a.rs"]
        );
    }

    #[test]
    fn every_effect_and_target_has_an_id_of_its_own() {
        let analysis = analyze(&shell("rm a b; mv c d; cat e > f"), tables(), &world(&[]));
        let effects: Vec<_> = analysis.effects.iter().map(|effect| effect.id.index()).collect();
        let targets: Vec<_> =
            analysis.effects.iter().flat_map(|effect| &effect.targets).map(|one| one.id.index()).collect();
        assert!(effects.len() > 3 && targets.len() > 5);
        assert_eq!(effects, (0..effects.len()).map(Some).collect::<Vec<_>>());
        assert_eq!(targets, (0..targets.len()).map(Some).collect::<Vec<_>>());
    }
}
