//! Commands and effects of a shell text, as data.

use reflex_engine::shell::Language;
use reflex_engine::{Action, Effect, Event, FakeWorld, Moment, analyze};
use serde_json::{Value, json};

/// Returns the commands that a shell text would run and their effects, as JSON:
/// `{"commands": [{"name", "words", "start", "end"}], "effects": [{"kind", "targets", "command"}], "gaps": [{"start", "end"}]}`.
///
/// Nothing is run and no file is read; `command` is an index into `commands`, and a part that is not known before it
/// runs is a gap.
///
/// ```
/// let parsed = reflex_bindings::parse("sudo rm -rf build && git push --force", "/repo");
/// assert!(parsed.contains(r#""name":"rm""#) && parsed.contains(r#""kind":"delete""#));
/// ```
pub fn parse(text: &str, cwd: &str) -> String {
    let command = Action::Shell { command: text.to_owned(), language: Language::Shell };
    let event = Event {
        cwd: cwd.to_owned(),
        workspace: cwd.to_owned(),
        moment: Moment::BeforeTool,
        actions: vec![command],
        ..Event::default()
    };
    let analysis = analyze(&event, reflex_library::tables(), &FakeWorld::default());
    let reading = analysis.readings.first();
    let commands = reading.into_iter().flat_map(|reading| &reading.commands).map(|command| {
        let words: Vec<String> = command.words.iter().map(|word| word.shown()).collect();
        let span = command.origin.span;
        json!({"name": command.name, "words": words, "start": span.start, "end": span.end})
    });
    let gaps = reading.into_iter().flat_map(|reading| &reading.gaps).map(|gap| {
        let span = gap.origin.span;
        json!({"start": span.start, "end": span.end})
    });
    let own = analysis.effects.iter().filter(|effect| effect.script.is_none());
    json!({
        "commands": commands.collect::<Vec<Value>>(),
        "effects": own.map(shown).collect::<Vec<Value>>(),
        "gaps": gaps.collect::<Vec<Value>>(),
    })
    .to_string()
}

fn shown(effect: &Effect) -> Value {
    let targets: Vec<String> =
        effect.targets.iter().map(|target| target.path().map_or_else(|| target.value.shown(), str::to_owned)).collect();
    json!({"kind": effect.kind.name(), "targets": targets, "command": effect.command})
}
