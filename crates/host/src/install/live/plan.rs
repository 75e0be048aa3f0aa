//! The plan for starting a real client: its program, its settings, and what speaks against it.

use crate::system::folders::{Folders, home_of_agents};
use reflex_agents::live::{Against, Live, Source, Standing, Text, client};
use reflex_git::project_root;
use std::fs;
use std::path::{Path, PathBuf};

/// What a client of an agent would be started with.
pub struct Plan {
    pub(super) live: &'static Live,
    pub(super) program: PathBuf,
    pub(super) texts: Vec<Text>,
    pub(super) standing: Standing,
    pub(super) folders: Folders,
    pub(super) here: PathBuf,
}

/// Why a client cannot be started with a model of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPlan {
    /// No client of this agent can be started without a person.
    NotKnown,
    /// The client is not on the `PATH`; its name.
    NotThere(&'static str),
    /// The folder here cannot be found.
    NoFolder,
}

impl Plan {
    /// The plan for an agent in the folder here.
    ///
    /// # Errors
    /// Why there is none.
    pub fn for_agent(agent: &str) -> Result<Plan, NoPlan> {
        let live = client(agent).ok_or(NoPlan::NotKnown)?;
        // The client looks for its own files where agents do.
        let mut folders = Folders::of_user();
        folders.home = home_of_agents();
        let here = std::env::current_dir().map_err(|_| NoPlan::NoFolder)?;
        let program = found(live.program).ok_or(NoPlan::NotThere(live.program))?;
        let texts = texts(live, &folders, &here);
        let standing = (live.standing)(&texts);
        Ok(Plan { live, program, texts, standing, folders, here })
    }

    /// What in its settings names another model, key or login: then it must not be started.
    pub fn against(&self) -> &[Against] {
        &self.standing.against
    }

    /// What would run beside it.
    pub fn beside(&self) -> &[String] {
        &self.standing.beside
    }

    /// What the client leaves behind of such a start; empty if nothing.
    pub fn leaves(&self) -> &'static str {
        self.live.leaves
    }
}

/// A program on the `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files =
        std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// The files that the client reads and that are there.
fn texts(live: &Live, folders: &Folders, here: &Path) -> Vec<Text> {
    let named = |variable: Option<&str>| {
        variable.and_then(std::env::var_os).map(PathBuf::from).filter(|path| path.is_absolute())
    };
    let project = PathBuf::from(project_root(&here.to_string_lossy(), &folders.home.to_string_lossy()));
    let mut found: Vec<Text> = Vec::new();
    for source in live.sources {
        let paths = match source {
            Source::User { variable, folder, name } => {
                let given = named(*variable).map(|moved| moved.join(below_first(folder)));
                vec![given.unwrap_or_else(|| folders.home.join(folder)).join(name)]
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

/// `hooks` of `.copilot/hooks`: a variable stands for the first folder.
fn below_first(folder: &str) -> &str {
    folder.split_once('/').map_or("", |(_, rest)| rest)
}

/// A file, or every file with the ending that a `*` stands before.
fn listed(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some(ending) = name.strip_prefix('*') else { return vec![path.to_owned()] };
    let entries = fs::read_dir(path.parent().unwrap_or(Path::new("/"))).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|file| file.to_string_lossy().ends_with(ending)).collect();
    files.sort();
    files
}
