//! Every file in which an agent's hook may stand is one that the library guards.

use reflex_agents::AGENTS;

/// Whether a path is in a class of `library/places`.
fn is_in(class: &str, path: &str) -> bool {
    let places = reflex_library::tables().get("places").get(class);
    assert!(!places.is_empty(), "there is no class {class}");
    let fits = |pattern: &str| reflex_engine::fits(pattern, &path.replace("~/", "/home/me/"), "/home/me");
    places.items().any(|place| place.get("paths").texts().any(fits) && !place.get("except").texts().any(fits))
}

#[test]
fn every_file_that_holds_an_agents_hook_is_guarded() {
    let mut missing = Vec::new();
    for agent in AGENTS {
        let Some(settings) = agent.settings else { continue };
        let file = |home: &str, folder: &str, name: &str| format!("{home}/{folder}/{name}").replace("//", "/");
        let user = settings.files.iter().map(|entry| file("~", entry.folder, entry.name));
        let project = settings.project.iter().map(|entry| file("/repo", entry.folder, entry.name));
        let managed = settings.managed.iter().flat_map(|managed| [managed.file, managed.on_macos]);
        let managed: Vec<String> = managed.filter(|path| !path.is_empty()).map(str::to_owned).collect();
        let for_all: Vec<String> = user.chain(managed).collect();
        for path in for_all.iter().cloned().chain(project) {
            if !is_in("agent-settings", &path) {
                missing.push(format!("{}: {path} is not in agent-settings", agent.name));
            }
        }
        for path in for_all.iter().filter(|path| !is_in("agent-hooks", path)) {
            missing.push(format!("{}: {path} is not in agent-hooks", agent.name));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
