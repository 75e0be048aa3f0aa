//! The command line of a start: what its program is called, and what its arguments are.

use reflex_engine::WordList;
use reflex_engine::shell::quoted;
use reflex_supervise::Start;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The command line by which a start is judged.
///
/// An installed program has the name under which it was found, `cc` and not `gcc-12`, unless that is a link that is not
/// installed, such as `./tidy` to `/bin/rm`. Any other program has its path, so that a script is read. The first
/// argument counts only for programs that choose by it what they are, as the program of an agent may (`agent` is the file of
/// the one that runs). A script stands for itself, as its interpreter
/// reads it; an interpreter that reads no scripts is judged with the words that the kernel gives it.
pub(super) fn command(start: &Start, agent: &Path, is_installed: &dyn Fn(&Path) -> bool) -> String {
    if let Some((interpreter, words)) = start.interpreted.split_first()
        && (!has(WordList::ScriptInterpreters, unversioned(interpreter))
            || (has(WordList::Shells, unversioned(interpreter)) && !is_installed(&start.file)))
    {
        return line([interpreter.as_os_str()].into_iter().chain(words.iter().map(OsString::as_os_str)));
    }
    let found = start.cwd.join(&start.path);
    let name = match (found.file_name(), start.file.file_name()) {
        (Some(name), Some(_)) if is_installed(&found) && is_installed(&start.file) => name,
        (_, Some(name)) if is_installed(&start.file) => name,
        _ if start.path.as_os_str().is_empty() => start.file.as_os_str(),
        _ => found.as_os_str(),
    };
    let rest = start.argv.iter().skip(1).map(OsString::as_os_str);
    if let Some(inner) = inside_agent(start, agent) {
        return line([inner].into_iter().chain(rest));
    }
    let given = start.argv.first().and_then(|name| Path::new(name).file_name());
    let is_combined = |file: &&OsStr| file.to_str().is_some_and(|file| has(WordList::CombinedPrograms, file));
    let chooses = start.file.file_name().filter(is_combined);
    match (chooses, given) {
        (Some(file), Some(given)) if file != given => line([file, given].into_iter().chain(rest)),
        _ => line([name].into_iter().chain(rest)),
    }
}

/// The program that an agent's own program becomes, by its first argument or by `ARGV0`, as with zsh: Claude Code is also
/// `bfs`, and the shells that it prepares have a function `find` for it.
fn inside_agent<'s>(start: &'s Start, agent: &Path) -> Option<&'s OsStr> {
    let names = [start.path.file_name(), start.file.file_name()].into_iter().flatten().filter_map(OsStr::to_str);
    if start.file != agent && !names.into_iter().any(|name| has(WordList::AgentPrograms, name)) {
        return None;
    }
    let variable = start.environment.iter().find_map(|pair| pair.to_str()?.strip_prefix("ARGV0=")).map(OsStr::new);
    let given = start.argv.first().and_then(|name| Path::new(name).file_name());
    [variable, given].into_iter().flatten().find(|name| has(WordList::ProgramsInAgents, &name.to_string_lossy()))
}

pub(super) fn has(list: WordList, word: &str) -> bool {
    list.read(reflex_library::tables()).has(word)
}

/// The name of a program without its folder and version: `python` for `/usr/bin/python3.11`.
pub(super) fn unversioned(program: &OsStr) -> &str {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '.')
}

pub(super) fn line<'w>(words: impl Iterator<Item = &'w OsStr>) -> String {
    words.map(|word| shown(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a person would write it: quoted only if a shell would read it otherwise.
/// Unlike `as_word`, it quotes `=`: a program whose name contains it must not be read as an assignment.
fn shown(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) { word.to_owned() } else { quoted(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(path: &str, file: &str, argv: &[&str], interpreted: &[&str]) -> Start {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect();
        Start {
            cwd: "/repo".into(),
            path: path.into(),
            file: file.into(),
            argv: words(argv),
            interpreted: words(interpreted),
            ..Start::default()
        }
    }

    fn installed(file: &Path) -> bool {
        !file.starts_with("/repo")
    }

    #[test]
    fn a_program_is_judged_by_the_name_under_which_it_was_found() {
        for (path, file, argv, expected) in [
            ("/usr/bin/cc", "/usr/bin/x86_64-linux-gnu-gcc-12", ["cc", "-c"], "cc -c"),
            ("./tidy", "/usr/bin/rm", ["./tidy", "x y"], "rm 'x y'"),
            ("/usr/bin/stat", "/usr/bin/stat", ["echo", "f"], "stat f"),
            ("/bin/busybox", "/bin/busybox", ["rm", "f"], "busybox rm f"),
            ("/bin/rm", "/bin/busybox", ["rm", "f"], "busybox rm f"),
            ("/bin/busybox", "/bin/busybox", ["busybox", "rm"], "busybox rm"),
            ("/home/u/.cargo/bin/cargo", "/home/u/.cargo/bin/rustup", ["cargo", "test"], "cargo test"),
            ("/usr/bin/claude", "/home/u/.local/share/claude/versions/2.1", ["bfs", "-delete"], "bfs -delete"),
            ("./x", "/opt/agent", ["/bin/bfs", "-delete"], "bfs -delete"),
            ("/usr/bin/stat", "/usr/bin/stat", ["bfs", "-delete"], "stat -delete"),
            ("/opt/agent", "/opt/agent", ["ls", "-p"], "agent -p"),
            ("build/tool", "/repo/build/tool", ["tool", "x"], "/repo/build/tool x"),
            ("", "", ["x", "y"], "'' y"),
        ] {
            assert_eq!(
                command(&start(path, file, &argv, &[]), Path::new("/opt/agent"), &installed),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn a_script_stands_for_itself_unless_its_interpreter_reads_none() {
        let npm = ["/usr/bin/env", "node", "/usr/local/bin/npm", "ci"];
        let file = "/usr/local/lib/node_modules/npm/bin/npm-cli.js";
        assert_eq!(
            command(&start("/usr/local/bin/npm", file, &["npm", "ci"], &npm), Path::new(""), &installed),
            "npm ci"
        );
        let script = ["/usr/bin/python3.11", "./a", "x"];
        assert_eq!(command(&start("./a", "/repo/a", &["./a", "x"], &script), Path::new(""), &installed), "/repo/./a x");
        let echo = ["/bin/rm", "-rf", "./a", "x"];
        assert_eq!(
            command(&start("./a", "/repo/a", &["./a", "x"], &echo), Path::new(""), &installed),
            "/bin/rm -rf ./a x"
        );
        let shell = ["/bin/sh", "./a", "x"];
        assert_eq!(
            command(&start("./a", "/repo/a", &["./a", "x"], &shell), Path::new(""), &installed),
            "/bin/sh ./a x"
        );
    }
}
