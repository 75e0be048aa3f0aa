//! The files that a call runs and the scripts that it writes. Their text is read like the call's own, and their effects
//! belong to the call. File contents are requested from the world only for files that are run.

mod executed;
mod files;
mod folders;
mod forms;
mod language;
mod loaded;
mod patched;
mod queue;
mod queued_text;
mod quotes;
mod resolver;
mod sourced;
mod started;
mod tasks;
mod written;

use self::queued_text::{QueuedText, TextOrigin};
use self::resolver::ScriptResolver;
use super::effects::Input;
use super::mcp;
use crate::model::analysis::{Analysis, Starter, Usage};
use crate::model::effect::{Effect, EffectKind};
use crate::model::event::Action;
use reflex_shell::ExecTarget;

/// Adds the effects of the files that the call runs and writes, and in turn of the files that those run.
///
/// Each step puts texts into the queue, and the queue is emptied before the next: what the actions write, what each
/// effect runs, what the commands of each text load. The effects and texts of a script follow at the end of the lists,
/// so that a script which runs others needs no recursion.
pub(super) fn follow(input: Input<'_>, analysis: &mut Analysis) {
    let mut resolver = ScriptResolver::new(input, analysis);
    let (mut action, mut effect, mut text) = (0, 0, 0);
    loop {
        if resolver.read_next() {
            continue;
        }
        if action < input.event.actions.len() {
            resolver.action(action);
            action += 1;
        } else if effect < resolver.analysis.effects.len() {
            resolver.effect(effect);
            effect += 1;
        } else if text < resolver.analysis.readings.len() + resolver.analysis.scripts.len() {
            resolver.loaded(text);
            text += 1;
        } else {
            break;
        }
    }
}

impl ScriptResolver<'_> {
    /// Adds the texts that an action writes.
    fn action(&mut self, index: usize) {
        let event = self.event;
        let Some(action) = event.actions.get(index) else { return };
        if let Action::McpCall { tool, arguments, .. } = action {
            mcp::written(tool, arguments).iter().for_each(|action| self.written(index, action));
        }
        self.written(index, action);
        self.printed(index, action);
    }

    /// Adds the texts that an effect runs.
    fn effect(&mut self, index: usize) {
        let Some(effect) = self.analysis.effects.get(index) else { return };
        if self.script(effect).is_some_and(|script| script.usage == Usage::Written) {
            // A script that is only written is followed further when it is run.
            return;
        }
        if effect.kind == EffectKind::RunSqlFile {
            return self.statements(index);
        }
        if effect.kind == EffectKind::ApplyPatch {
            return self.patched(index);
        }
        if effect.kind == EffectKind::RunTask && effect.flags.contains(&"compose") {
            return self.started(index);
        }
        if effect.kind == EffectKind::RunTask && effect.flags.contains(&"dev-container") {
            return self.dev_container(index);
        }
        if effect.kind == EffectKind::Compile && effect.flags.contains(&"image") {
            return self.image(index);
        }
        if effect.site != ExecTarget::Here {
            return;
        }
        let texts: Vec<QueuedText> = match self.in_each_folder(effect) {
            Some(effects) => effects.iter().filter_map(|effect| self.text_of(effect)).collect(),
            None => self.text_of(effect).into_iter().collect(),
        };
        let is_found = !texts.is_empty();
        let unknown =
            self.analysis.effects.get_mut(index).filter(|effect| is_found && effect.kind == EffectKind::RunUnknown);
        unknown.into_iter().for_each(|effect| effect.kind = EffectKind::RunFile);
        texts.into_iter().for_each(|text| self.enqueue(text));
    }

    /// Returns the text that an effect runs.
    fn text_of(&self, effect: &Effect) -> Option<QueuedText> {
        let text = if matches!(effect.kind, EffectKind::RunFile | EffectKind::RunUnknown) {
            self.run_file(effect)
        } else if effect.kind == EffectKind::RunTask {
            self.task(effect)
        } else if effect.kind == EffectKind::Compile {
            self.compiled(effect)
        } else {
            None
        }?;
        let starter = Starter { script: effect.script, command: effect.command };
        let reports_gaps = text.usage != Usage::Written;
        Some(QueuedText { origin: TextOrigin::Command(starter), reports_gaps, ..text })
    }
}

#[cfg(test)]
mod tests {
    use super::queue::MAX_LEVELS;
    use super::*;
    use crate::analysis::analyze;
    use crate::library::{event, shell, tables, world};
    use crate::model::effect::Target;
    use crate::model::event::{AgentPath, Event};
    use reflex_shell::work;

    /// The deletions of a call, each with the usage of the script that contains it.
    fn deleted(event: &Event, files: &[(&str, &str)]) -> Vec<(String, Option<Usage>)> {
        let analysis = analyze(event, tables(), &world(files));
        let usage =
            |effect: &Effect| effect.script.and_then(|script| analysis.scripts.get(script)).map(|script| script.usage);
        let deleting = analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Delete);
        deleting.flat_map(|effect| effect.targets.iter().map(move |target| (target.shown(), usage(effect)))).collect()
    }

    #[track_caller]
    fn check(command: &str, files: &[(&str, &str)], expected: &[(&str, Option<Usage>)]) {
        let expected: Vec<_> = expected.iter().map(|(path, usage)| ((*path).to_owned(), *usage)).collect();
        assert_eq!(deleted(&shell(command), files), expected, "{command}");
    }

    #[test]
    fn a_script_does_what_its_text_does_where_it_is_run() {
        let files = [
            ("x.sh", "rm -rf build\n"),
            ("sub/y.sh", "cd ..; bash x.sh"),
            ("z.py", "import shutil\nshutil.rmtree('out')"),
        ];
        check("bash x.sh", &files, &[("/repo/build", Some(Usage::Run))]);
        check("./x.sh", &files, &[("/repo/build", Some(Usage::Run))]);
        check("cd sub && sh y.sh", &files, &[("/repo/build", Some(Usage::Run))]);
        check("python3 z.py", &files, &[("/repo/out", Some(Usage::Run))]);
        check("cat x.sh", &files, &[]);
        check("bash missing.sh", &files, &[]);
    }

    #[test]
    fn a_parameter_of_the_call_is_in_the_script() {
        check("bash x.sh /srv", &[("x.sh", "rm -rf \"$1\"")], &[("/srv", Some(Usage::Run))]);
        let run = |path| [(path, Some(Usage::Run))];
        let js = [("x.js", "require('fs').rmSync(process.argv[2], {recursive: true})")];
        check("node x.js out", &js, &run("/repo/out"));
        check("bun x.js out", &js, &run("/repo/out"));
        let options = "import argparse, shutil\np = argparse.ArgumentParser()\np.add_argument('dir')\n\
            p.add_argument('-k', '--keep', action='store_true')\np.add_argument('--log-dir', default='logs')\n\
            a = p.parse_args()\nshutil.rmtree(a.dir)\nshutil.rmtree(a.log_dir)";
        let both = |dir, logs| [(dir, Some(Usage::Run)), (logs, Some(Usage::Run))];
        check("python3 o.py --keep out", &[("o.py", options)], &both("/repo/out", "/repo/logs"));
        check("python3 o.py --log-dir=x out", &[("o.py", options)], &both("/repo/out", "/repo/x"));
    }

    #[test]
    fn the_input_of_the_call_is_that_of_the_script() {
        let files = [("x.py", "import os, sys\nfor line in sys.stdin:\n  os.remove(line.strip())\n")];
        check("echo a | python3 x.py", &files, &[("/repo/a", Some(Usage::Run))]);
        check(
            "printf 'a\\nb\\n' | python3 x.py",
            &files,
            &[("/repo/a", Some(Usage::Run)), ("/repo/b", Some(Usage::Run))],
        );
        check("ls -d out/* | python3 x.py", &files, &[("everything in /repo/out", Some(Usage::Run))]);
    }

    #[test]
    fn words_of_the_call_reach_the_task() {
        let files = [
            ("package.json", r#"{"scripts": {"w": "rm -rf"}}"#),
            ("justfile", "w DIR='build':\n  rm -rf {{DIR}}\n"),
            (
                "Taskfile.yml",
                "tasks:\n  w:\n    cmds: ['rm -rf {{.DIR}}']\n  x:\n    cmds:\n      - rm {{.CLI_ARGS}}\n",
            ),
            ("Makefile", "DIRS ?= build\nclean:\n\trm -rf $(DIRS)\n"),
        ];
        let task = |path| [(path, Some(Usage::Task))];
        check("npm run w -- out", &files, &task("/repo/out"));
        check("yarn w out", &files, &task("/repo/out"));
        check("npm run w --silent", &files, &[]);
        check("just w out", &files, &task("/repo/out"));
        check("just w", &files, &task("/repo/build"));
        check("task w DIR=out", &files, &task("/repo/out"));
        check("DIR=out task w", &files, &task("/repo/out"));
        check("task x -- out", &files, &task("/repo/out"));
        check("make clean DIRS=~/x", &files, &task("/home/me/x"));
    }

    #[test]
    fn a_task_does_what_its_recipe_does() {
        let files = [
            ("Makefile", "all:\n\ttrue\nclean:\n\trm -rf build\n"),
            ("package.json", r#"{"scripts": {"reset": "rm -rf dist"}}"#),
        ];
        check("make clean", &files, &[("/repo/build", Some(Usage::Task))]);
        check("make", &files, &[]);
        check("npm run reset", &files, &[("/repo/dist", Some(Usage::Task))]);
    }

    #[test]
    fn a_script_that_is_only_written_is_marked_so() {
        let write = |path: &str| {
            event(Action::Write { path: AgentPath::new(path), content: "#!/bin/sh\nrm -rf ~ /srv\n".into() })
        };
        assert_eq!(
            deleted(&write("clean.sh"), &[]),
            [("/home/me".to_owned(), Some(Usage::Written)), ("/srv".to_owned(), Some(Usage::Written))]
        );
        assert_eq!(deleted(&write("notes.txt"), &[]), []);
    }

    #[test]
    fn scripts_that_run_each_other_come_to_an_end() {
        let files = [("a.sh", "bash b.sh"), ("b.sh", "bash a.sh; rm x")];
        let analysis = analyze(&shell("bash a.sh"), tables(), &world(&files));
        assert!(
            analysis.scripts.len() < MAX_LEVELS
                && analysis.effects.iter().any(|effect| effect.kind == EffectKind::Delete)
        );
    }

    #[test]
    fn a_chain_that_is_too_long_is_reported() {
        let chain: Vec<_> = (0..MAX_LEVELS + 2).map(|at| (format!("{at}.sh"), format!("bash {}.sh", at + 1))).collect();
        let files: Vec<_> = chain.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let unread = work::within(u64::MAX / 2, || {
            analyze(&shell("bash 0.sh"), tables(), &world(&files));
            work::unread()
        });
        assert!(unread.is_some_and(|report| report.contains("chain of scripts")));
    }

    #[test]
    fn a_patch_changes_what_it_names() {
        let patch = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\n";
        let analysis = analyze(&shell("git apply a.patch"), tables(), &world(&[("a.patch", patch)]));
        let edited = analysis.effects.iter().filter(|effect| effect.kind == EffectKind::Edit);
        assert_eq!(
            edited.flat_map(|effect| &effect.targets).map(Target::shown).collect::<Vec<_>>(),
            ["/repo/src/x.rs"]
        );
    }
}
