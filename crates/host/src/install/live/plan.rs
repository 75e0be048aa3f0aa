//! The plan for starting a real client: its program, its settings, and the obstacles.

use crate::system::folders::Folders;
use reflex_agents::live::{Against, Live, Source, Standing, Text, client};
use reflex_git::project_root;
use std::fs;
use std::path::{Path, PathBuf};

/// The plan for a client of an agent.
pub struct Plan {
    pub(super) live: &'static Live,
    pub(super) program: PathBuf,
    pub(super) texts: Vec<Text>,
    pub(super) standing: Standing,
    pub(super) folders: Folders,
    pub(super) here: PathBuf,
}

/// The reason why a client cannot be started with our model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPlan {
    /// The client of this agent cannot run without a person.
    NotKnown,
    /// The client with this name is not on the `PATH`.
    NotFound(&'static str),
    /// The current folder cannot be found.
    NoFolder,
}

impl Plan {
    /// The plan for an agent in the current folder.
    ///
    /// # Errors
    /// The reason why the client cannot be started.
    pub fn for_agent(folders: &Folders, agent: &str) -> Result<Plan, NoPlan> {
        let live = client(agent).ok_or(NoPlan::NotKnown)?;
        // The client looks up its own files in the agents' home.
        let mut folders = folders.clone();
        folders.home.clone_from(&folders.home_of_agents);
        let here = std::env::current_dir().map_err(|_| NoPlan::NoFolder)?;
        let program = found(live.program).ok_or(NoPlan::NotFound(live.program))?;
        let texts = texts(live, &folders, &here);
        let standing = (live.standing)(&texts);
        Ok(Plan { live, program, texts, standing, folders, here })
    }

    /// The settings that name another model, key or login. If there are any, the client must not be started.
    pub fn against(&self) -> &[Against] {
        &self.standing.against
    }

    /// Other programs that the client would start.
    pub fn beside(&self) -> &[String] {
        &self.standing.beside
    }

    /// Traces that the client leaves after the run; empty if none.
    pub fn leaves(&self) -> &'static str {
        self.live.leaves
    }
}

/// Finds a program on the `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files =
        std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// Reads the client's existing settings files.
fn texts(live: &Live, folders: &Folders, here: &Path) -> Vec<Text> {
    let named = |variable: Option<&str>| {
        variable.and_then(std::env::var_os).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let project = PathBuf::from(project_root(&here.to_string_lossy(), &folders.home.to_string_lossy()));
    let mut found: Vec<Text> = Vec::new();
    for source in live.sources {
        let paths = match source {
            Source::User { variable, folder, name } => {
                let from_variable = named(*variable).map(|moved| moved.join(below_first(folder)));
                vec![from_variable.unwrap_or_else(|| folders.home.join(folder)).join(name)]
            }
            Source::Project(file) => vec![here.join(file), project.join(file)],
            Source::System { variable, file } => vec![named(*variable).unwrap_or_else(|| file.into())],
        };
        for file in paths.iter().flat_map(|path| listed(path)) {
            let shown = file.to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).ok().filter(|_| found.iter().all(|known| known.file != shown));
            found.extend(text.map(|text| Text { source: *source, file: shown, text }));
        }
    }
    found
}

/// The path below the first folder, which a variable replaces: `hooks` for `.copilot/hooks`.
fn below_first(folder: &str) -> &str {
    folder.split_once('/').map_or("", |(_, rest)| rest)
}

/// A file, or for `*ENDING` every file in the folder with that ending.
fn listed(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(ending) = name.strip_prefix('*') else { return vec![path.to_owned()] };
    let entries = fs::read_dir(path.parent().unwrap_or(Path::new("/"))).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|file| file.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    files
}
