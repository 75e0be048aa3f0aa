//! The guard's hook entries in a user's home: the programs that they start, and the settings files that are symlinks.

use reflex_agents::AGENTS;
use reflex_agents::settings::guard_hooks;
use std::fs;
use std::path::Path;

/// Maximum size of a settings file, in bytes. Longer files are skipped.
const MAX_BYTES: u64 = 1 << 20;

/// The hook entries of the guard in a home.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// Absolute paths of the executables that entries name, as written and with symlinks resolved.
    pub(super) programs: Vec<String>,
    /// Targets of the settings files that are symlinks, as in a folder of dotfiles.
    pub(super) linked_files: Vec<String>,
}

impl Entries {
    /// Reads the settings files of all agents. Unreadable files have no entries.
    pub(super) fn read(home: &Path) -> Entries {
        let mut found = Entries::default();
        let forms = AGENTS.iter().filter_map(|agent| agent.settings).flat_map(|settings| settings.files);
        for form in forms {
            let file = home.join(form.folder).join(form.name);
            // Most people have the settings of one or two agents, and resolving links asks about every folder.
            if file.symlink_metadata().is_err() {
                continue;
            }
            let Ok(real) = file.canonicalize() else { continue };
            if real != file {
                found.linked_files.push(real.to_string_lossy().into_owned());
            }
            if !fs::metadata(&real).is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES) {
                continue;
            }
            let text = fs::read_to_string(&real).unwrap_or_default();
            let hooks = guard_hooks(text.trim_start_matches('\u{feff}'));
            for program in hooks.iter().filter_map(|(_, start)| start.program()).filter(|path| path.starts_with('/')) {
                let followed = Path::new(&program).canonicalize().map(|path| path.to_string_lossy().into_owned());
                for path in followed.into_iter().chain([program]) {
                    if !found.programs.contains(&path) {
                        found.programs.push(path);
                    }
                }
            }
        }
        found
    }
}
