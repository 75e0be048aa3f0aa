//! The targets of a git command: its settings, its remote, the commits that it sends, the hooks that it runs.

use crate::branches::references::Logged;
use crate::files::config::Settings;
use crate::model::fact::Fact;
use crate::repository::Repository;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// Sections that only affect the display or a person's identity, not git's actions.
const HARMLESS: [&str; 6] = ["color", "column", "gc", "maintenance", "user", "advice"];

/// Subcommands that use a remote, and whether they send to it or only receive.
const TALKERS: [(&str, Way); 5] =
    [("push", Way::To), ("fetch", Way::From), ("pull", Way::From), ("clone", Way::From), ("ls-remote", Way::From)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    To,
    From,
}

/// A target of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// The description for a person.
    pub shown: Vec<String>,
    /// The state to which a one-time approval is bound.
    pub once: String,
    /// The state to which a lasting approval is bound.
    pub lasting: String,
}

impl Repository {
    /// Every setting that affects git's actions, one per line. Of the branches, only the current one is included.
    pub fn orders(&self) -> Fact<Vec<String>> {
        let current = self.branch().ok().flatten().unwrap_or_default();
        let means = |section: &str, subsection: &[u8]| match section {
            "branch" => subsection == current.as_bytes(),
            section => !HARMLESS.contains(&section),
        };
        let values = self.settings()?.each().filter(|(section, subsection, ..)| means(section, subsection));
        let line = |(section, subsection, name, text): (&str, &[u8], &str, &[u8])| {
            let [subsection, text] = [subsection, text].map(String::from_utf8_lossy);
            format!("{section}.{subsection}.{name}={text}")
        };
        Ok(values.map(line).collect())
    }

    /// The target of each reference that a subcommand sends or receives: `pushes main at 1a2b3c4d5e6f to git@host:a/b`.
    pub fn leads(&self, subcommand: &str, words: &[String]) -> Fact<Vec<Lead>> {
        let way = TALKERS.iter().find(|(name, _)| *name == subcommand).map(|(_, way)| *way);
        let Some(way) = way else { return Ok(Vec::new()) };
        let (options, operands): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with('-'));
        let settings = self.settings()?;
        let remote = operands.first().map_or_else(|| self.usual_remote(settings, way), |word| (*word).clone());
        let urls = urls(settings, &remote, way).join(" and ");
        let always = |line: String| Lead { once: line.clone(), lasting: line.clone(), shown: vec![line] };
        if way == Way::From {
            return Ok(vec![always(format!("talks to {urls}"))]);
        }
        if !options.is_empty() {
            let all = self.references()?;
            let lines: Vec<String> =
                all.iter().map(|(name, id)| format!("{} {id}", String::from_utf8_lossy(name))).collect();
            let digest = Sha256::digest(lines.join("\n").as_bytes());
            let short: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            return Ok(vec![always(format!("pushes {} references ({short}) to {urls}", all.len()))]);
        }
        let named: Vec<&str> = operands.iter().skip(1).map(|word| word.as_str()).collect();
        let named = if named.is_empty() { vec!["HEAD"] } else { named };
        Ok(named.into_iter().map(|word| self.pushed(word, &remote, &urls)).collect())
    }

    /// The target of one refspec. Under a lasting approval, the pushed commit may change, and so may the overwritten
    /// one, as long as this repository has pushed it there itself.
    fn pushed(&self, word: &str, remote: &str, urls: &str) -> Lead {
        let pushes = format!("pushes {} to {urls}", self.commit_of(word));
        let (from, to) = match word.trim_start_matches('+').split_once(':') {
            Some((from, to)) => (from, to.to_owned()),
            None => (word.trim_start_matches('+'), word.trim_start_matches('+').to_owned()),
        };
        let to = match to.as_str() {
            "HEAD" | "@" => self.branch().ok().flatten().unwrap_or_default(),
            to => to.strip_prefix("refs/heads/").unwrap_or(to).to_owned(),
        };
        let name = format!("refs/remotes/{remote}/{to}");
        let known = self.object(name.as_bytes()).ok().flatten().map(|id| id.to_string()).unwrap_or_default();
        let mut shown = vec![pushes.clone()];
        if !known.is_empty() {
            shown.push(format!("{to} is at {} on {remote} as far as is known", known.get(..12).unwrap_or(&known)));
        }
        Lead {
            once: format!("{pushes} over {known}"),
            lasting: format!("pushes {from}:{to} to {urls} over {}", self.of_others(&name).unwrap_or(known)),
            shown,
        }
    }

    /// The last commit of a remote branch that this repository did not push itself; `None` without a reflog.
    fn of_others(&self, name: &str) -> Option<String> {
        let log = self.log_of(name).ok()?;
        let is_push = |line: &&Logged| line.message.starts_with("update by push");
        match log.iter().rev().find(|line| !is_push(line)) {
            Some(line) => Some(line.new.clone()),
            None => log.first().map(|line| line.old.trim_matches('0').to_owned()),
        }
    }

    /// The local side of a refspec, as in `main at 1a2b3c4d5e6f`.
    fn commit_of(&self, word: &str) -> String {
        let source = word.trim_start_matches('+').split(':').next().unwrap_or("");
        if source.is_empty() {
            return format!("`{word}`");
        }
        let id = self.named(source).ok().flatten().map(|id| id.to_string());
        let branch = self.branch().ok().flatten().filter(|_| source == "HEAD");
        let shown = branch.map_or_else(|| source.to_owned(), |branch| format!("{branch} (HEAD)"));
        match id {
            Some(id) => format!("{shown} at {}", id.get(..12).unwrap_or(&id)),
            None => shown,
        }
    }

    fn usual_remote(&self, settings: &Settings, way: Way) -> String {
        let branch = self.branch().ok().flatten().unwrap_or_default();
        let of_branch = |name| settings.text("branch", Some(branch.as_bytes()), name);
        let pushed = || of_branch("pushremote").or_else(|| settings.text("remote", None, "pushdefault"));
        let remote = if way == Way::To { pushed() } else { None }.or_else(|| of_branch("remote"));
        String::from_utf8_lossy(remote.unwrap_or(b"origin")).into_owned()
    }

    /// The folder of the hooks that git runs.
    pub fn hooks(&self) -> Fact<PathBuf> {
        let base = self.work_tree().unwrap_or(self.git_dir()).to_owned();
        let named = self.settings()?.path("core", "hookspath", &base);
        Ok(named.unwrap_or_else(|| self.common_dir().join("hooks")))
    }
}

/// The URLs of a remote, as git rewrites them. A word that names no remote is a URL itself.
fn urls(settings: &Settings, remote: &str, way: Way) -> Vec<String> {
    let of = |name| settings.all("remote", Some(remote.as_bytes()), name);
    let (pushed, fetched) = (of("pushurl"), of("url"));
    let uses_push_url = way == Way::To && !pushed.is_empty();
    let found = if uses_push_url { pushed } else { fetched };
    let found = if found.is_empty() { vec![remote.as_bytes().to_vec()] } else { found };
    let found = found.iter().map(|url| String::from_utf8_lossy(url).into_owned());
    found.map(|url| rewritten(settings, &url, way == Way::To && !uses_push_url)).collect()
}

/// Applies `url.BASE.insteadOf`: the longest matching prefix is replaced.
fn rewritten(settings: &Settings, url: &str, pushes: bool) -> String {
    let with = |wanted: &'static str| {
        let fitting = settings.each().filter(move |(section, _, name, _)| *section == "url" && *name == wanted);
        let fitting = fitting.filter(|(.., text)| url.as_bytes().starts_with(text) && !text.is_empty());
        let longest = fitting.max_by_key(|(.., text)| text.len());
        longest
            .and_then(|(_, base, _, text)| Some(format!("{}{}", String::from_utf8_lossy(base), url.get(text.len()..)?)))
    };
    let pushed = if pushes { with("pushinsteadof") } else { None };
    pushed.or_else(|| with("insteadof")).unwrap_or_else(|| url.to_owned())
}
