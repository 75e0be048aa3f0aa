//! Changes by a patch, treated as if the call wrote them itself.

use super::files::{MAX_SOURCES, report_number};
use super::resolver::ScriptResolver;
use crate::model::effect::{Effect, EffectKind, Target, TargetPath};
use crate::model::event::{Action, AgentPath};
use crate::model::path::{self, Folders};
use crate::text::patches;
use reflex_shell::{Access, ExecTarget, Stdin, Value};

impl ScriptResolver<'_> {
    /// Adds the changes of a patch as if the call wrote them.
    pub(super) fn patched(&mut self, index: usize) {
        let Some(effect) = self.analysis.effects.get(index).filter(|effect| effect.site == ExecTarget::Here).cloned()
        else {
            return;
        };
        let named = self.patched_folder(&effect);
        let here = || effect.folder.clone().unwrap_or_else(|| self.event.workspace.clone());
        let folder = named.clone().unwrap_or_else(here);
        let texts = self.patches(&effect);
        if let (Some(folder), true) = (named, texts.is_empty()) {
            // The changes in that folder are unknown.
            let path = TargetPath::Known { text: folder.clone(), climbing: None, follows: false, contents: false };
            let targets = vec![Target::new(Value::text(folder, effect.origin), path)];
            self.analysis.effects.push(Effect {
                kind: EffectKind::Populate,
                targets,
                flags: Vec::new(),
                ..effect.clone()
            });
        }
        for text in texts {
            for file in patches::changed(&text) {
                let path = path::absolute(&file.path, &folder);
                let target = TargetPath::Known { text: path.clone(), climbing: None, follows: false, contents: false };
                let value = Value::text(path.clone(), effect.origin);
                let targets = vec![Target::new(value, target)];
                let change = Action::Edit {
                    path: AgentPath::new(path),
                    content: file.comes,
                    removed: file.goes,
                    parts: Vec::new(),
                };
                let flags = vec!["patched"];
                self.analysis.effects.push(Effect { kind: EffectKind::Edit, targets, flags, ..effect.clone() });
                self.written(effect.action, &change);
            }
        }
    }

    /// Returns the folder of `patch -d`.
    fn patched_folder(&self, effect: &Effect) -> Option<String> {
        let command = self.analysis.command(effect).filter(|command| command.name == "patch")?;
        let folder = command.invocation.as_ref()?.values("folder", &command.words).pop()?;
        let cwd = effect.folder.as_deref().unwrap_or(&self.event.cwd);
        let folders = Folders { cwd, start: cwd, workspace: &self.event.workspace, home: &self.event.home };
        match path::lexical(&folder, folders, &|name| self.world.variable(name)) {
            TargetPath::Known { text, .. } => Some(text),
            TargetPath::None | TargetPath::Unknown => None,
        }
    }

    /// Returns the texts of the patches given to a command, in files or on standard input.
    fn patches(&self, effect: &Effect) -> Vec<String> {
        report_number(effect);
        let named = effect.targets.iter().filter_map(Target::path).filter_map(|path| self.content(effect, path));
        let mut texts: Vec<String> = named.take(MAX_SOURCES).collect();
        let Some(command) = self.analysis.command(effect).filter(|_| texts.is_empty()) else { return texts };
        let folder = effect.folder.as_deref().unwrap_or("/");
        let opened = command.redirects.iter().filter(|file| file.access == Access::Read);
        let opened = opened.filter_map(|file| Some(path::absolute(&file.target.literal()?, folder)));
        texts.extend(opened.filter_map(|path| self.content(effect, &path)));
        if let Stdin::Text(text) = &command.stdin {
            texts.extend(text.literal().map(|text| text.into_owned()));
        }
        texts
    }
}
