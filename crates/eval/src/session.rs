//! State of a sequence: the calls, files and remnants of its earlier events.

use reflex_engine::loopbreaker::{Step, WINDOW, finish};
use reflex_engine::{
    Action, Decision, Effect, EffectKind, Event, FakeWorld, Judgement, Moment, RemnantKind, Taint, Target, absolute,
    written_by,
};
use std::collections::BTreeMap;

/// Accumulated effects of the steps of a sequence.
#[derive(Default)]
pub(crate) struct Session {
    past: Vec<Step>,
    remnants: Vec<Taint>,
    files: BTreeMap<String, String>,
}

impl Session {
    /// Applies the effects of the earlier steps to the world; facts given by the event itself take precedence.
    pub(crate) fn enter(&self, world: &mut FakeWorld) {
        world.past.clone_from(&self.past);
        for (path, text) in &self.files {
            world.files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        let (links, rest): (Vec<&Taint>, Vec<&Taint>) =
            self.remnants.iter().partition(|remnant| remnant.kind == RemnantKind::Link);
        for link in links {
            world.links.entry(link.path.clone()).or_insert_with(|| link.from.clone());
        }
        world.remnants.extend(rest.into_iter().cloned());
    }

    pub(crate) fn keep(&mut self, event: &Event, judgement: &Judgement) {
        let refused = judgement.verdict.decision == Decision::Deny;
        let step = Step { refused, ..judgement.step.clone() };
        if event.moment == Moment::AfterTool {
            finish(&mut self.past, step);
        } else {
            self.past.push(step);
        }
        let excess = self.past.len().saturating_sub(WINDOW);
        self.past.drain(..excess);
        if !refused && event.moment.is_before_execution() {
            self.keep_left(event, judgement);
        } else if !refused {
            self.remnants.extend(judgement.left.iter().cloned());
        }
    }

    fn keep_left(&mut self, event: &Event, judgement: &Judgement) {
        self.remnants.extend(judgement.left.iter().cloned());
        self.files.extend(written_by(&judgement.analysis));
        self.keep_copies(&judgement.analysis.effects);
        for action in &event.actions {
            if let Action::Write { path, content } = action {
                self.files.insert(absolute(&path.with_slashes(), &event.cwd), content.clone());
            }
            if let Action::Edit { path, content, removed, .. } = action
                && let Some(text) = self.files.get_mut(&absolute(&path.with_slashes(), &event.cwd))
            {
                *text = if removed.is_empty() { content.clone() } else { text.replacen(removed.as_str(), content, 1) };
            }
        }
    }

    /// Gives files that a command copies or moves their text in the new place too.
    fn keep_copies(&mut self, effects: &[Effect]) {
        let is_direct = |effect: &&Effect| effect.script.is_none() && effect.command.is_some();
        for effect in effects.iter().filter(is_direct).filter(|effect| effect.kind == EffectKind::Overwrite) {
            let sources = effects.iter().filter(is_direct).filter(|other| {
                let gives = matches!(other.kind, EffectKind::Read | EffectKind::Move);
                gives && (other.action, other.command) == (effect.action, effect.command)
            });
            let paths: Vec<&str> = sources.flat_map(|source| &source.targets).filter_map(Target::path).collect();
            for (source, place) in paths.iter().flat_map(|source| effect.targets.iter().map(move |to| (source, to))) {
                let text = self.files.get(*source).cloned();
                self.files.extend(place.path().map(str::to_owned).zip(text));
            }
        }
    }
}
