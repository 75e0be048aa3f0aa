//! Remnants of a call that matter for later calls: copies of secrets, files from elsewhere, secrets that the agent has
//! seen. Apart from them, each call is judged alone.

use crate::analysis::aliases;
use crate::analysis::clones::cloned;
use crate::facts::cache::Facts;
use crate::model::analysis::Analysis;
use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::Action;
use crate::model::finding::Finding;
use crate::model::path::{self, is_within};
use crate::model::session::{RemnantKind, Taint};
use crate::model::truth::Ternary;
use reflex_shell::{Command, CommandId, ENTIRE_ENVIRONMENT, ExecTarget, Origin, Piece, Selector, Stdin};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of remnants that are kept per call.
const MAX_REMNANTS: usize = 32;

/// Maximum number of commands over which a pipeline is followed back.
const MAX_MEMBERS: usize = 32;

/// Pseudo path that represents a secret printed by a secret store. No file has it.
const REVEALED_SECRET: &str = "/proc/self/revealed-secret";

/// Classes of paths whose content is tracked.
const FOLLOWED: [&str; 5] = ["secret", "environment", "key-files", "secret-folders", "history"];

/// Returns the remnants of the judged call, provided that it runs.
pub(crate) fn left_by(facts: &Facts<'_>, findings: &[Finding]) -> Vec<Taint> {
    let mut left: Vec<Taint> = Vec::new();
    // Reading a file only counts as seeing a secret if a rule reported a credential.
    let shown = findings.iter().any(|finding| finding.category == "credential");
    let happens = |effect: &&Effect| effect.site == ExecTarget::Here && !is_of_text(facts, effect);
    let givers = Givers::from_analysis(facts.analysis);
    for effect in facts.analysis.effects.iter().filter(happens) {
        let is = |kinds: &[EffectKind]| kinds.contains(&effect.kind);
        if is(&[EffectKind::Overwrite, EffectKind::Append]) {
            left.extend(filled(facts, &givers, effect));
        }
        if is(&[EffectKind::Overwrite, EffectKind::Append, EffectKind::Edit]) {
            left.extend(ignoring(facts, effect));
        }
        if is(&[EffectKind::Overwrite]) && effect.flags.contains(&"place") {
            left.extend(moved(facts, effect));
        }
        if is(&[EffectKind::Fetch]) {
            left.extend(cloned(facts.analysis, effect, facts.tables));
        }
        if is(&[EffectKind::Fetch, EffectKind::Read]) {
            left.extend(flowing(facts, effect));
        }
        if is(&[EffectKind::Read]) && effect.flags.contains(&UNPACKED) {
            let unpacked = unpacked(facts, effect, &left);
            left.extend(unpacked);
        }
        if is(&[EffectKind::Read]) && shown {
            left.extend(seen(facts, effect));
        }
        if is(&[EffectKind::SetTimes]) {
            left.extend(dated(facts, effect));
        }
        if is(&[EffectKind::Link]) {
            left.extend(facts.call.link(effect).map(|(path, from)| remnant(RemnantKind::Link, &path, &from)));
        }
        if left.len() >= MAX_REMNANTS {
            break;
        }
    }
    left.truncate(MAX_REMNANTS);
    left
}

/// A text with instructions taints the session, because later calls may follow them.
pub(crate) fn left_by_orders(findings: &[Finding]) -> Vec<Taint> {
    let order = findings.iter().find(|finding| finding.category == "injection");
    order.map(|finding| remnant(RemnantKind::Orders, "", &finding.id)).into_iter().collect()
}

fn remnant(kind: RemnantKind, path: &str, from: &str) -> Taint {
    Taint { kind, path: path.into(), from: from.into() }
}

/// Maximum number of names that are kept per call that writes an ignore file.
const MAX_IGNORED: usize = 16;

/// Names of build folders in a call that writes ignore rules: ignoring the user's work makes it look like build output.
fn ignoring(facts: &Facts<'_>, effect: &Effect) -> Option<Taint> {
    let is_rules = |path: &&str| path::name_of(path) == ".gitignore" || path.ends_with("/.git/info/exclude");
    let file = effect.targets.iter().filter_map(Target::path).find(is_rules)?;
    let action = facts.event.actions.get(effect.action)?;
    let text = if let Action::Shell { command, .. } = action { command } else { action.content()? };
    let ends = |ch: char| ch.is_whitespace() || "\"'`;,&|<>()\\".contains(ch);
    let words = text.split(ends).map(|word| path::name_of(word.trim_matches(['/', '*', '!'])));
    let is_built = |name: &&str| {
        !name.is_empty() && facts.builds().is_named_like_made(&path::absolute(name, &facts.event.workspace))
    };
    let names: BTreeSet<&str> = words.filter(is_built).take(MAX_IGNORED).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty()).then(|| remnant(RemnantKind::Ignoring, file, &names.join(" ")))
}

/// A move of a file that neither the session created nor git tracks. At its new place it still belongs to its owner.
fn moved(facts: &Facts<'_>, effect: &Effect) -> Option<Taint> {
    let place = effect.targets.first().and_then(Target::path)?;
    let sources = aliases::moved(effect, facts.analysis).filter_map(Target::path);
    let from = sources.take(MAX_REMNANTS).find(|source| facts.builds().is_from_elsewhere(source))?;
    Some(remnant(RemnantKind::Moved, place, from))
}

/// Whether an effect belongs to a script that is only written, so that it did not occur.
fn is_of_text(facts: &Facts<'_>, effect: &Effect) -> bool {
    let script = effect.script.and_then(|script| facts.analysis.scripts.get(script));
    script.is_some_and(|script| script.usage == crate::model::analysis::Usage::Written)
}

/// Effects from which data can flow on, indexed by text and command. The index keeps calls with many writing commands
/// from scanning all effects for each of them.
struct Givers<'a> {
    by: BTreeMap<Place, Vec<&'a Effect>>,
    /// Foreign-language texts that output the complete environment, by a call next to the writing one.
    environment: BTreeSet<Place>,
}

/// A command of one of the call's texts.
type Place = (usize, Option<usize>, CommandId);

impl<'a> Givers<'a> {
    fn from_analysis(analysis: &'a Analysis) -> Givers<'a> {
        let mut by: BTreeMap<_, Vec<&Effect>> = BTreeMap::new();
        let mut environment = BTreeSet::new();
        for effect in &analysis.effects {
            let kinds = [EffectKind::Read, EffectKind::Move, EffectKind::PrintEnvironment, EffectKind::RevealSecret];
            let gives = fetches(effect) || kinds.contains(&effect.kind);
            if let (true, Some(command)) = (gives, effect.command) {
                by.entry((effect.action, effect.script, command)).or_default().push(effect);
            }
            if effect.kind == EffectKind::PrintEnvironment
                && let Some(text) = text_of(analysis, effect)
            {
                environment.insert((effect.action, effect.script, text));
            }
        }
        Givers { by, environment }
    }

    /// Whether a foreign-language text that writes or feeds this effect outputs the complete environment.
    fn hand_out(&self, analysis: &Analysis, effect: &Effect, feeding: &[CommandId]) -> bool {
        let mut texts = text_of(analysis, effect).into_iter().chain(feeding.iter().copied());
        !self.environment.is_empty() && texts.any(|id| self.environment.contains(&(effect.action, effect.script, id)))
    }

    /// The effects of `commands` in the same text as `effect`.
    fn beside(&self, effect: &Effect, commands: &[CommandId]) -> impl Iterator<Item = &'a Effect> {
        let of = |command: &CommandId| self.by.get(&(effect.action, effect.script, *command));
        commands.iter().filter_map(of).flatten().copied().collect::<Vec<_>>().into_iter()
    }
}

/// The command whose foreign-language text contains the call.
fn text_of(analysis: &Analysis, effect: &Effect) -> Option<CommandId> {
    analysis.command(effect).filter(|command| command.name.contains(':'))?.parent
}

fn fetches(effect: &Effect) -> bool {
    effect.kind == EffectKind::Fetch && !effect.flags.contains(&"cloned")
}

/// Taints of a file that a command fills with data it reads, or with the output of its pipeline.
fn filled(facts: &Facts<'_>, givers: &Givers<'_>, effect: &Effect) -> Vec<Taint> {
    if givers.by.is_empty() {
        return Vec::new();
    }
    let mut left = Vec::new();
    let feeding = feeding(facts.analysis, effect);
    if givers.hand_out(facts.analysis, effect, &feeding) {
        let places = effect.targets.iter().filter_map(Target::path);
        left.extend(places.map(|place| remnant(RemnantKind::Copy, place, ENTIRE_ENVIRONMENT)));
    }
    for other in givers.beside(effect, &feeding) {
        let environment = (other.kind == EffectKind::PrintEnvironment).then_some(ENTIRE_ENVIRONMENT);
        let computed = environment.or((other.kind == EffectKind::RevealSecret).then_some(REVEALED_SECRET));
        if let Some(from) = computed.filter(|_| !other.flags.contains(&"names")) {
            let places = effect.targets.iter().filter_map(Target::path);
            left.extend(places.map(|place| remnant(RemnantKind::Copy, place, from)));
        }
        for source in &other.targets {
            let elsewhere = fetches(other).then(|| from_elsewhere(facts, source));
            let Some((kind, from)) = elsewhere.or_else(|| origin(facts, other, source)) else { continue };
            for place in places(effect, source) {
                left.push(remnant(kind, &place, &from));
            }
        }
    }
    left
}

/// Source of a fetched file. It is redacted because an address may contain a password and the remnant is stored.
fn from_elsewhere(facts: &Facts<'_>, source: &Target) -> (RemnantKind, String) {
    (RemnantKind::Fetched, crate::secrets::redaction::redacted(&source.shown(), facts.tables))
}

/// Files that a program writes in addition to its effects, according to `flows` in its entry: a download, an archive.
fn flowing(facts: &Facts<'_>, effect: &Effect) -> Vec<Taint> {
    let Some(command) = facts.analysis.command(effect) else { return Vec::new() };
    let Some(invocation) = &command.invocation else { return Vec::new() };
    let fetched = effect.kind == EffectKind::Fetch;
    let sources: Vec<(RemnantKind, String)> = match effect.targets.first() {
        Some(target) if fetched => vec![from_elsewhere(facts, target)],
        Some(_) | None => effect.targets.iter().filter_map(|source| origin(facts, effect, source)).collect(),
    };
    let Some((kind, from)) = sources.first() else { return Vec::new() };
    let mut left = Vec::new();
    for entry in invocation.grammars.iter().flat_map(|grammar| grammar.copies()) {
        let of_output = entry.from() == "output";
        if of_output != fetched || !reflex_shell::applies(entry.conditions(), invocation) {
            continue;
        }
        let mut values = Selector(entry.to()).values(invocation, &command.words);
        reflex_shell::narrow(entry.narrowing(), &mut values);
        let paths = values.iter().filter_map(|value| facts.call.lexical(value, effect));
        left.extend(paths.map(|path| remnant(*kind, &path, from)));
    }
    left
}

/// Flag of an archive that a program unpacks.
const UNPACKED: &str = "unpacked";

/// The folder into which an archive from elsewhere is unpacked: the named folder, or else the one with the archive's
/// name, which such archives usually contain. `left` has the earlier remnants of the same call.
fn unpacked(facts: &Facts<'_>, effect: &Effect, left: &[Taint]) -> Option<Taint> {
    let (archive, from) = archive(facts, effect, left)?;
    let command = facts.analysis.command(effect)?;
    let here = effect.folder.as_deref().unwrap_or(&facts.event.cwd);
    // The effect of `tar` already has the target as its working directory.
    let named = match command.name.as_str() {
        "tar" => effect.flags.contains(&"directory").then(|| here.to_owned()),
        _ => command.invocation.as_ref().and_then(|invocation| {
            let values = Selector("option:directory").values(invocation, &command.words);
            values.iter().find_map(|value| facts.call.lexical(value, effect))
        }),
    };
    // Unpacking into the project does not make the project foreign.
    let is_elsewhere =
        |folder: &String| !is_within(&facts.event.cwd, folder) && !is_within(&facts.event.workspace, folder);
    let folder = named.clone().filter(is_elsewhere).or_else(|| {
        let name = stem(path::name_of(&archive));
        (!name.is_empty()).then(|| path::absolute(name, named.as_deref().unwrap_or(here)))
    })?;
    Some(remnant(RemnantKind::Fetched, &folder, &from))
}

/// The unpacked archive and its source, if it came from elsewhere: a fetched file, or the output of a pipeline.
fn archive(facts: &Facts<'_>, effect: &Effect, left: &[Taint]) -> Option<(String, String)> {
    let fetched = |path: &str| {
        let known =
            left.iter().chain(facts.call.past()).find(|known| known.kind == RemnantKind::Fetched && known.path == path);
        known.map(|known| (path.to_owned(), known.from.clone()))
    };
    // `tar` opens the archive before it changes to the folder.
    let before = |target: &Target| fetched(&path::absolute(&target.value.shown(), &facts.event.cwd));
    let file = effect.targets.iter().find_map(|target| target.path().and_then(fetched).or_else(|| before(target)));
    file.or_else(|| {
        let feeding = feeding(facts.analysis, effect);
        let fed = |other: &&Effect| {
            fetches(other)
                && (other.action, other.script) == (effect.action, effect.script)
                && other.command.is_some_and(|command| feeding.contains(&command))
        };
        let source = facts.analysis.effects.iter().find(fed)?.targets.first()?;
        Some((source.shown(), from_elsewhere(facts, source).1))
    })
}

/// `a-1.2.tar.gz`, `a-1.2.zip`: `a-1.2`.
fn stem(name: &str) -> &str {
    const ENDS: [&str; 12] = [
        ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tbz2", ".tar", ".zip", ".7z", ".whl", ".crate",
    ];
    ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or_default()
}

/// Existing files whose times are set. A newly created file has no earlier times.
fn dated(facts: &Facts<'_>, effect: &Effect) -> Vec<Taint> {
    let real = effect.targets.iter().map(|target| facts.real(effect, target));
    real.filter(|real| real.exists == Some(true)).map(|real| remnant(RemnantKind::Dated, &real.path, "")).collect()
}

/// The files to which a source is written: the target, and the source's name inside the target if that is a folder.
fn places(effect: &Effect, source: &Target) -> Vec<String> {
    let mut places = Vec::new();
    for target in effect.targets.iter().filter_map(Target::path) {
        places.push(target.to_owned());
        if let (true, Some(source)) = (effect.flags.contains(&"place"), source.path()) {
            places.push(path::absolute(path::name_of(source), target));
        }
    }
    places
}

/// The secret or fetched file that a source is, or is a copy of.
fn origin(facts: &Facts<'_>, effect: &Effect, source: &Target) -> Option<(RemnantKind, String)> {
    let path = source.path()?;
    if FOLLOWED.iter().any(|class| facts.is(effect, source, class) == Ternary::Yes) {
        return Some((RemnantKind::Copy, path.to_owned()));
    }
    let past =
        facts.call.past().iter().find(|known| {
            matches!(known.kind, RemnantKind::Copy | RemnantKind::Fetched) && is_within(path, &known.path)
        })?;
    Some((past.kind, past.from.clone()))
}

/// The command of an effect, and the commands that feed its input.
fn feeding(analysis: &Analysis, effect: &Effect) -> Vec<CommandId> {
    let Some(reading) = analysis.reading(effect) else { return Vec::new() };
    let mut feeding: Vec<CommandId> = effect.command.into_iter().collect();
    let mut next = 0;
    while let Some(id) = feeding.get(next).copied().filter(|_| feeding.len() < MAX_MEMBERS) {
        next += 1;
        let piped = match reading.commands.get(id).map(|command| &command.stdin) {
            Some(Stdin::Pipe(members, _)) => members.as_slice(),
            Some(Stdin::Inherited | Stdin::Text(_) | Stdin::File(_)) | None => &[],
        };
        let printing = reading.commands.get(id).map(|command| printing(command, &reading.commands)).unwrap_or_default();
        let fresh = piped.iter().chain(&printing).filter(|id| !feeding.contains(id));
        feeding.extend(fresh.copied().collect::<Vec<_>>());
    }
    feeding
}

/// The commands whose output is part of a command's words: `echo "$X"` after it was stored in a variable.
fn printing(command: &Command, commands: &[Command]) -> Vec<CommandId> {
    let pieces = command.words.iter().skip(1).flat_map(|word| &word.pieces);
    let printed = pieces.filter(|(piece, _)| matches!(piece, Piece::Output(_))).map(|(_, origin)| *origin);
    let printed: Vec<Origin> = printed.take(MAX_MEMBERS).collect();
    if printed.is_empty() {
        return Vec::new();
    }
    reflex_shell::work::spend(1 + commands.len() as u64 / 16);
    let prints = |command: &Command| command.words.first().is_some_and(|word| printed.contains(&word.origin()));
    commands.iter().enumerate().filter(|(_, command)| prints(command)).map(|(id, _)| id).collect()
}

fn seen(facts: &Facts<'_>, effect: &Effect) -> Vec<Taint> {
    let shows = !effect.flags.contains(&"copied");
    let secret = |target: &&Target| origin(facts, effect, target).is_some_and(|(kind, _)| kind == RemnantKind::Copy);
    let targets = effect.targets.iter().filter(|_| shows).filter(secret);
    targets.filter_map(Target::path).map(|path| remnant(RemnantKind::Seen, path, "")).collect()
}

/// Files that the texts of a call write, with their content where it is known, for later calls that run them.
pub fn written_by(analysis: &Analysis) -> Vec<(String, String)> {
    let mut written = Vec::new();
    let fills = |effect: &&Effect| {
        matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append)
            && effect.script.is_none()
            && effect.site == ExecTarget::Here
    };
    // Paths of the written files, by text and folder.
    let mut known: BTreeMap<(usize, &str), BTreeMap<String, &str>> = BTreeMap::new();
    for effect in analysis.effects.iter().filter(fills) {
        let Some(reading) = analysis.readings.get(effect.action).filter(|reading| !reading.files.is_empty()) else {
            continue;
        };
        let folder = effect.folder.as_deref().unwrap_or("/");
        let files = known.entry((effect.action, folder)).or_insert_with(|| paths_of(&reading.files, folder));
        for path in effect.targets.iter().filter_map(Target::path) {
            written.extend(files.get(path).map(|text| (path.to_owned(), (*text).to_owned())));
        }
    }
    written
}

fn paths_of<'a>(files: &'a [(String, String)], folder: &str) -> BTreeMap<String, &'a str> {
    let mut paths = BTreeMap::new();
    // The home of `~` is unknown here.
    for (name, text) in files.iter().filter(|(name, _)| !name.starts_with('~')) {
        for base in ["/", folder] {
            paths.entry(path::absolute(name, base)).or_insert(text.as_str());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyze;
    use crate::library::{shell, tables, world};
    use crate::model::fake_world::FakeWorld;

    fn left(command: &str, world: &FakeWorld, findings: &[Finding]) -> Vec<Taint> {
        let event = shell(command);
        let analysis = analyze(&event, tables(), world);
        let mut left = left_by(&Facts::new(&event, &analysis, tables(), world), findings);
        // Two effects may leave equal remnants.
        left.dedup();
        left
    }

    #[track_caller]
    fn check(command: &str, past: &[(RemnantKind, &str, &str)], expected: &[(RemnantKind, &str, &str)]) {
        let all = |list: &[(RemnantKind, &str, &str)]| {
            list.iter().map(|(kind, path, from)| remnant(*kind, path, from)).collect()
        };
        let world = FakeWorld { remnants: all(past), ..world(&[]) };
        let expected: Vec<Taint> = all(expected);
        assert_eq!(left(command, &world, &[]), expected, "{command}");
    }

    const KEY: &str = "/home/me/.ssh/id_rsa";

    #[test]
    fn a_copy_of_a_secret_is_one_wherever_it_goes() {
        let copies = [(RemnantKind::Copy, "/tmp/x", KEY), (RemnantKind::Copy, "/tmp/x/id_rsa", KEY)];
        check("cp ~/.ssh/id_rsa /tmp/x", &[], &copies);
    }

    #[test]
    fn what_comes_from_elsewhere_is_known_by_its_place() {
        check("curl -o a.sh https://x.example/a", &[], &[(RemnantKind::Fetched, "/repo/a.sh", "https://x.example/a")]);
    }

    #[test]
    fn the_password_of_an_address_is_not_kept() {
        let left = left("curl -o a https://me:Bluebird2291!@x.example/a", &world(&[]), &[]);
        assert!(left.iter().all(|known| !known.from.contains("Bluebird")) && left.len() == 1, "{left:?}");
    }

    #[test]
    fn a_secret_is_seen_where_a_rule_states_that_it_was_shown() {
        let shown = [Finding { category: "credential".into(), ..Finding::default() }];
        let seen = vec![remnant(RemnantKind::Seen, KEY, "")];
        assert_eq!(left("cat ~/.ssh/id_rsa", &world(&[]), &shown), seen);
        assert_eq!(left("cat ~/.ssh/id_rsa", &world(&[]), &[]), []);
    }

    #[test]
    fn a_key_of_a_store_is_one_in_a_file_too() {
        let copy = |path| [(RemnantKind::Copy, path, REVEALED_SECRET)];
        check("gh auth token > t", &[], &copy("/repo/t"));
        check("X=$(gh auth token); echo \"$X\" > t", &[], &copy("/repo/t"));
        check("pass show a | wc -c > t", &[], &[]);
    }

    #[test]
    fn what_does_not_happen_here_leaves_nothing() {
        check("ssh host cp .ssh/id_rsa /tmp/x", &[], &[]);
        check("cat > a.sh <<'E'\ncp ~/.ssh/id_rsa /tmp/x\nE", &[], &[]);
    }

    #[test]
    fn of_one_call_no_more_is_kept_than_is_remembered() {
        let command: String = (0..100).map(|at| format!("cat ~/.ssh/id_rsa > {at}\n")).collect();
        let left = left(&command, &world(&[]), &[]);
        assert!((1..=MAX_REMNANTS).contains(&left.len()), "{}", left.len());
    }

    #[test]
    fn an_order_taints_and_other_findings_do_not() {
        let finding = |category: &str| Finding { id: "x/y".into(), category: category.into(), ..Finding::default() };
        let tainted = left_by_orders(&[finding("loop"), finding("injection"), finding("injection")]);
        assert_eq!(tainted, [remnant(RemnantKind::Orders, "", "x/y")]);
        assert_eq!(left_by_orders(&[finding("loop")]), []);
    }

    #[test]
    fn a_file_that_the_text_writes_is_known_by_its_content() {
        let written = |command: &str| written_by(&analyze(&shell(command), tables(), &world(&[])));
        assert_eq!(written("echo hi > a/b; cat a/b"), [("/repo/a/b".to_owned(), "hi\n".to_owned())]);
        assert_eq!(written("date > a"), []);
    }
}
