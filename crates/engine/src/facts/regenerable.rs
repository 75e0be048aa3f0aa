//! Whether a build recreates a path: evidence that a tool created it, and none that a person keeps files in it.

use super::call::Call;
use crate::model::affected::Affected;
use crate::model::path::{self, Place, is_within, parent};
use crate::model::session::{RemnantKind, Taint};
use crate::model::truth::Ternary;
use crate::model::world::{Known, Names, Survey, Surveyed};
use crate::text::glob;
use reflex_shell::work;
use reflex_tables::views::Place as ClassPlace;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Depth to which a folder of results is searched for a person's files.
const DEEP: usize = 3;

/// Depth for a tool's own folder. It contains packages and caches; only its top level may hold a person's files.
const TOP: usize = 1;

/// Depth for a folder without a known name; a deeper one is unknown.
const MAX_DEPTH: usize = 12;

/// Maximum number of files that are examined for all paths of one call together.
const MAX_SURVEYED: usize = 4096;

/// Class of the marks that tools leave in the folders of their results.
const BUILD_MARKS: &str = "build-marks";

/// Class of files that only tools write.
const GENERATED: &str = "generated";

/// Classes of build results, and whether the name alone suffices if git's facts are unknown. Names of the second class
/// may also be names of sources.
const CLASSES: [(&str, bool); 2] = [("regenerable", true), ("made-again", false)];

/// The claim that a name makes about its path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// Results that a build writes for people and programs.
    Results,
    /// Data that a tool keeps for its own use.
    Tool,
}

/// The build results that were found so far.
#[derive(Default)]
pub(super) struct BuildMemo {
    regenerable: RefCell<HashMap<String, Ternary>>,
    /// Number of files that were examined to detect build results.
    surveyed: Cell<usize>,
}

/// The results of builds.
#[derive(Clone, Copy)]
pub(crate) struct BuildFacts<'f> {
    pub(super) call: &'f Call<'f>,
    pub(super) memo: &'f BuildMemo,
}

impl BuildFacts<'_> {
    /// Removes the names that a build recreates and those that the session itself created.
    pub(super) fn lasting(&self, names: Affected<Names>) -> Affected<Names> {
        let Affected::These(mut names) = names else { return names };
        let before = names.names.len();
        let comes_back = |name: &String| {
            let file = path::absolute(name, &self.call.event.workspace);
            self.is_regenerable(&file) == Ternary::Yes || self.is_made_by_session(&file)
        };
        names.names.retain(|name| !comes_back(name));
        names.count -= before - names.names.len();
        names.into()
    }

    /// Whether a build recreates the path: git ignores it, a tool created it, and no person keeps files in it.
    pub(super) fn is_regenerable(&self, path: &str) -> Ternary {
        if let Some(known) = self.memo.regenerable.borrow().get(path) {
            return *known;
        }
        let truth = Ternary::from(self.is_made_again(path));
        self.memo.regenerable.borrow_mut().insert(path.to_owned(), truth);
        truth
    }

    /// Whether a tool keeps the path for its own use, as packages and caches, and makes it again.
    pub(crate) fn is_tools_own(&self, path: &str) -> bool {
        let is_one = match self.claim(path) {
            Some(claim) => claim == Claim::Tool,
            None => self.call.world.is_ignored(path) == Some(true) && self.is_marked(path),
        };
        is_one && !self.holds_handmade(path, Claim::Tool)
    }

    /// Whether a path has the name of a build result.
    pub(crate) fn is_named_like_built(&self, path: &str) -> bool {
        self.call.in_class("regenerable", path)
    }

    /// Whether a path has the name of any tool's output.
    pub(crate) fn is_named_like_made(&self, path: &str) -> bool {
        CLASSES.iter().any(|(class, _)| self.call.in_class(class, path))
    }

    fn is_made_again(&self, path: &str) -> bool {
        match self.claim(path) {
            Some(claim) => !self.holds_handmade(path, claim),
            None => self.is_evidently_built(path),
        }
    }

    /// Returns the claim of the name of the path, or of an enclosing folder, if the project has the matching manifest.
    fn claim(&self, path: &str) -> Option<Claim> {
        if !matches!(self.call.place(path), Place::Inside | Place::Temporary) {
            return None;
        }
        let within = |at: &&str| *at != "/" && *at != self.call.event.workspace;
        let mut above = std::iter::successors(Some(path), |at| Some(parent(at))).take_while(within);
        above.find_map(|at| self.claim_of(at))
    }

    fn claim_of(&self, path: &str) -> Option<Claim> {
        let compared = glob::Compared::new(path, &self.call.event.home);
        let fits = |pattern: &[u8]| compared.fits(pattern);
        let places = self.call.tables.library().places();
        let entries =
            CLASSES.iter().flat_map(|(class, by_name)| places.get(class).iter().map(move |at| (at, *by_name)));
        let mut named = entries.filter(|(place, _)| place.paths().iter().any(|pattern| fits(pattern.as_bytes())));
        let has_manifest = |place: &ClassPlace<'_>| self.has_manifest(path, &place.beside().iter().collect::<Vec<_>>());
        let (place, by_name) = named.find(|(place, _)| has_manifest(place))?;
        let is_kept_out = self.call.world.is_ignored(path).unwrap_or(by_name) && !self.is_newly_ignored(path);
        let claim = if place.own() { Claim::Tool } else { Claim::Results };
        is_kept_out.then_some(claim)
    }

    /// Whether one of the manifests is next to the path or above it in the project. An unknown answer counts as yes.
    fn has_manifest(&self, path: &str, manifests: &[&str]) -> bool {
        if manifests.is_empty() {
            return true;
        }
        let (patterns, names): (Vec<&str>, Vec<&str>) = manifests.iter().partition(|name| name.contains('*'));
        let root = &self.call.event.workspace;
        let is_below = |at: &&str| *at != root.as_str() && is_within(at, root);
        let beside = parent(path);
        let above = std::iter::successors(Some(beside), |at| (*at != "/").then(|| parent(at))).take_while(is_below);
        let has_one = |at: &str| {
            let fits = |pattern: &&str| !self.call.world.expand(&path::absolute(pattern, at)).is_nothing();
            self.call.world.has_one_of(at, &names) != Some(false) || patterns.iter().any(fits)
        };
        has_one(root) || (beside != root && has_one(beside)) || above.into_iter().skip(1).any(has_one)
    }

    /// Whether a folder of build results contains a file that tools do not create, or that was moved there.
    fn holds_handmade(&self, path: &str, claim: Claim) -> bool {
        if self.was_moved_to(path) {
            return true;
        }
        let (depth, class) = match claim {
            Claim::Results => (DEEP, "handmade"),
            Claim::Tool => (TOP, "documents"),
        };
        let Some(survey) = self.look_into(path, depth) else { return false };
        survey.files.iter().any(|file| {
            let at = below(path, &file.name);
            let is_at_top = !file.name.contains('/') && self.call.in_class("documents", &at);
            !file.is_new && (is_at_top || self.call.in_class(class, &at)) && !self.is_copy_of_source(&at, file.size)
        })
    }

    /// Whether an earlier call of the session moved a file there that it did not create.
    fn was_moved_to(&self, path: &str) -> bool {
        let lies = |known: &&Taint| is_within(&known.path, path) || is_within(path, &known.path);
        self.call.past().iter().filter(|known| known.kind == RemnantKind::Moved).any(|known| lies(&known))
    }

    /// Whether the project has a file of the same name and size outside of build folders: next to the folder, at its
    /// root, or in the folders from which sites and notebooks copy.
    fn is_copy_of_source(&self, path: &str, size: u64) -> bool {
        const SOURCES: [&str; 7] = ["", "..", "../..", "public", "static", "src", "assets"];
        let name = path::name_of(path);
        let original = name.replace("-checkpoint.", ".");
        let is_checkpoint = original != name;
        let bases = [parent(path), &self.call.event.workspace];
        let mut places = bases.iter().flat_map(|base| SOURCES.map(|source| path::absolute(source, base)));
        places.any(|place| {
            let at = path::absolute(&original, &place);
            let has_size = |survey: &Survey| survey.files.iter().any(|file| is_checkpoint || file.size == size);
            at != path && self.look_into(&at, 0).as_ref().is_some_and(has_size)
        })
    }

    /// Whether a path that git certainly ignores shows that a tool created all of it.
    fn is_evidently_built(&self, path: &str) -> bool {
        let is_inside = is_within(path, &self.call.event.workspace) && path != self.call.event.workspace;
        if !is_inside || self.call.world.is_ignored(path) != Some(true) || self.is_newly_ignored(path) {
            return false;
        }
        if self.is_marked(path) {
            return !self.holds_handmade(path, Claim::Tool);
        }
        let Some(survey) = self.look_into(path, MAX_DEPTH) else { return false };
        !survey.files.is_empty()
            && survey.is_complete
            && !self.was_moved_to(path)
            && survey.files.iter().all(|file| self.is_written_by_tool(&below(path, &file.name)))
    }

    /// Whether calls of this session wrote all of it and none of it existed before. A file that looks like a person's
    /// counts as one, regardless of its author.
    fn is_made_by_session(&self, path: &str) -> bool {
        let Some(survey) = self.look_into(path, MAX_DEPTH) else { return false };
        let is_persons = |at: &str| ["handmade", "documents"].iter().any(|class| self.call.in_class(class, at));
        let written = self.call.written_files();
        let is_sessions = |file: &Surveyed| {
            let at = below(path, &file.name);
            file.is_new && written.contains(&at) && !is_persons(&at)
        };
        survey.is_complete
            && !survey.files.is_empty()
            && survey.files.iter().all(is_sessions)
            && !self.was_moved_to(path)
    }

    /// Surveys a path; unknown once a call has reached the limit.
    fn look_into(&self, path: &str, depth: usize) -> Known<Survey> {
        if self.memo.surveyed.get() >= MAX_SURVEYED {
            return None;
        }
        let survey = self.call.world.survey(path, depth)?;
        self.memo.surveyed.set(self.memo.surveyed.get() + 1 + survey.files.len());
        Some(survey)
    }

    /// Whether the folder, or one above it in the project, contains the mark of the tool that created it.
    fn is_marked(&self, path: &str) -> bool {
        let marks: Vec<&str> = self
            .call
            .tables
            .library()
            .places()
            .get(BUILD_MARKS)
            .iter()
            .flat_map(|place| place.paths().iter())
            .collect();
        let within = |at: &&str| *at != "/" && *at != self.call.event.workspace;
        let mut above = std::iter::successors(Some(path), |at| Some(parent(at))).take_while(within);
        above.any(|at| {
            let exists = |mark: &&str| self.call.world.survey(&path::absolute(mark, at), 0).is_some();
            self.call.world.is_ignored(at) == Some(true) && marks.iter().any(exists)
        })
    }

    /// Whether only tools write files of this kind, judged by the name or the first bytes.
    fn is_written_by_tool(&self, path: &str) -> bool {
        if self.call.in_class("handmade", path) {
            return false;
        }
        if self.call.in_class(GENERATED, path) {
            return true;
        }
        work::spend(8);
        let begins = self.call.world.opening(path).unwrap_or_default();
        let is_program = PROGRAMS.iter().any(|magic| begins.starts_with(magic));
        let text = String::from_utf8_lossy(&begins);
        let has_opening = |place: ClassPlace<'_>| place.openings().iter().any(|opening| text.contains(opening));
        is_program || self.call.tables.library().places().get(GENERATED).iter().any(has_opening)
    }

    /// Whether a path is neither in git, nor a build result, nor created in this session.
    pub(crate) fn is_from_elsewhere(&self, path: &str) -> bool {
        let is_in_git = self.call.world.is_tracked(path) == Some(true);
        !is_in_git && self.is_regenerable(path) != Ternary::Yes && !self.is_made_by_session(path)
    }

    /// Whether the session itself made git ignore an older folder, which need not be a build result then.
    fn is_newly_ignored(&self, path: &str) -> bool {
        let name = path::name_of(path);
        let names = |known: &&Taint| known.from.split(' ').any(|word| word == name);
        let has_new_rule =
            self.call.past().iter().filter(|known| known.kind == RemnantKind::Ignoring).any(|known| names(&known));
        has_new_rule && self.call.world.is_of_session(path) == Some(false)
    }
}

/// Returns the path of a surveyed file; the empty name is the surveyed path itself.
fn below(path: &str, name: &str) -> String {
    if name.is_empty() { path.to_owned() } else { path::absolute(name, path) }
}

/// First bytes of compiled programs and libraries: ELF, Mach-O, PE, WebAssembly, Java classes, `ar` archives.
const PROGRAMS: [&[u8]; 7] =
    [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"\0asm", b"!<arch>\n"];
