//! `reflex update`: says how this program is updated, which is the way it was installed. Changes nothing.

use crate::exit_code;
use crate::terminal::output::{print, print_in_full};
use crate::terminal::table::print_table;
use crate::terminal::visible::visible;
use std::path::Path;

/// A way in which the program is installed, and updated.
#[derive(Debug, PartialEq, Eq)]
struct Installer {
    name: &'static str,
    command: &'static str,
    /// Consecutive folders in the path of a program that was installed so; none if its path does not show it.
    folders: &'static [&'static str],
}

/// The first whose folders fit counts.
const INSTALLERS: [Installer; 10] = [
    Installer { name: "npx", command: "npx reflex-guard@latest init", folders: &["_npx"] },
    Installer { name: "npm", command: "npm install --global reflex-guard@latest", folders: &["node_modules"] },
    Installer { name: "uvx", command: "uvx reflex-guard@latest init", folders: &[".cache", "uv"] },
    Installer { name: "uv", command: "uv tool upgrade reflex-guard", folders: &["uv", "tools"] },
    Installer { name: "pipx", command: "pipx upgrade reflex-guard", folders: &["pipx", "venvs"] },
    Installer { name: "pip", command: "pip install --upgrade reflex-guard", folders: &[] },
    Installer { name: "cargo", command: "cargo binstall reflex-guard", folders: &[".cargo", "bin"] },
    Installer {
        name: "a checkout",
        command: "git pull && cargo install --locked --path crates/cli",
        folders: &["target", "release"],
    },
    Installer { name: "the script", command: "the command in the README, with the new version", folders: &[] },
    Installer { name: "the plugin", command: "/plugin marketplace update reflex (in Claude Code)", folders: &[] },
];

pub(in crate::commands) fn run() -> u8 {
    let program = std::env::current_exe().unwrap_or_default();
    print(&format!("reflex {} is {}", env!("CARGO_PKG_VERSION"), visible(&program.display().to_string())));
    match installer(&program) {
        Some(installer) => {
            print(&format!("It comes from {}. To update it:", installer.name));
            print_in_full(&format!("  {}", installer.command));
        }
        None => {
            print("Update it the way you installed it:");
            let row = |installer: &Installer| vec![installer.name.to_owned(), installer.command.to_owned()];
            print_table(2, &INSTALLERS.iter().map(row).collect::<Vec<_>>());
        }
    }
    print("Afterwards `reflex doctor` checks the hook entries; `reflex init` mends them. Nothing was changed.");
    exit_code::OK
}

/// Returns the installer that puts programs where this one is.
fn installer(program: &Path) -> Option<&'static Installer> {
    let parts: Vec<&str> = program.iter().filter_map(|part| part.to_str()).collect();
    let fits =
        |installer: &&Installer| parts.windows(installer.folders.len().max(1)).any(|part| part == installer.folders);
    INSTALLERS.iter().find(fits)
}

#[cfg(test)]
mod tests {
    use super::installer;
    use std::path::Path;

    #[track_caller]
    fn check(program: &str, expected: Option<&str>) {
        assert_eq!(installer(Path::new(program)).map(|installer| installer.name), expected, "{program}");
    }

    #[test]
    fn the_place_of_a_program_names_its_installer() {
        check("/home/me/.npm/_npx/1a2b/node_modules/@reflex-guard/linux-x64/bin/reflex", Some("npx"));
        check("/usr/lib/node_modules/reflex-guard/node_modules/@reflex-guard/linux-x64/bin/reflex", Some("npm"));
        check("/home/me/.cache/uv/archive-v0/1a2b/bin/reflex", Some("uvx"));
        check("/home/me/.local/share/uv/tools/reflex-guard/bin/reflex", Some("uv"));
        check("/home/me/.local/share/pipx/venvs/reflex-guard/bin/reflex", Some("pipx"));
        check("/home/me/.cargo/bin/reflex", Some("cargo"));
        check("/home/me/reflex/target/release/reflex", Some("a checkout"));
    }

    #[test]
    fn a_place_that_several_installers_share_names_none() {
        check("/home/me/.local/bin/reflex", None);
        check("/usr/local/bin/reflex", None);
        check("/home/me/target/reflex", None);
        check("", None);
    }
}
