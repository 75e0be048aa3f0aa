//! The library and a call to be judged, for the tests beside the judgement.

use crate::model::event::{Action, Event};
use crate::model::fake_world::FakeWorld;
use reflex_shell::Language;
use reflex_tables::Tables;

/// The compiled library.
pub(crate) fn tables() -> Tables {
    reflex_library::tables()
}

/// The call of a shell in the project `/repo` of somebody whose home is `/home/me`.
pub(crate) fn shell(command: &str) -> Event {
    event(Action::Shell { command: command.into(), language: Language::Shell })
}

/// A call there that is this action.
pub(crate) fn event(action: Action) -> Event {
    let [cwd, workspace, home] = ["/repo", "/repo", "/home/me"].map(str::to_owned);
    Event { cwd, workspace, home, actions: vec![action], ..Event::default() }
}

/// The machine on which the project holds these files.
pub(crate) fn world(files: &[(&str, &str)]) -> FakeWorld {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    FakeWorld { workspace: "/repo".into(), files, ..FakeWorld::default() }
}
