//! Where a command points that works on something outside of this machine: a database, a cluster, an account.

use crate::event::Event;
use crate::path;
use crate::world::World;
use reflex_shell::{Command, Value};

/// Options whose value names what a command points to.
const OPTIONS: [&str; 9] = ["host", "context", "profile", "database", "project", "stack", "region", "account", "url"];

/// The names of what a command points to: hosts, contexts, profiles, databases. `points` says where its program looks
/// for them when it is not told: a variable, or one of `kube`, `docker`, `aws`, `gcloud`. Empty if none is known.
/// The command stands first, then those that run it.
pub(crate) fn names(event: &Event, world: &dyn World, commands: &[&Command], points: &[&str]) -> Vec<String> {
    let Some(command) = commands.first() else { return Vec::new() };
    let invocation = command.invocation.as_ref();
    let given = |key: &&str| invocation.map(|invocation| invocation.values(key, &command.words)).unwrap_or_default();
    let mut names: Vec<String> = OPTIONS.iter().flat_map(given).filter_map(|value| literal(&value)).collect();
    names.extend(command.words.iter().skip(1).filter_map(literal).filter(|word| word.contains("://")));
    if names.is_empty() {
        let place = Place { event, world, commands };
        names.extend(points.iter().filter_map(|source| place.source(source)));
    }
    names.iter().flat_map(|name| parts(name)).collect()
}

fn literal(value: &Value) -> Option<String> {
    value.literal().map(|text| text.into_owned())
}

/// What a call is made in.
struct Place<'a> {
    event: &'a Event,
    world: &'a dyn World,
    commands: &'a [&'a Command],
}

impl Place<'_> {
    fn source(&self, source: &str) -> Option<String> {
        let home = |file: &str| self.world.content(&path::absolute(file, &self.event.home));
        match source {
            "kube" => field(&home(".kube/config")?, "current-context:"),
            "docker" => {
                let own = self.variable("DOCKER_HOST").or_else(|| self.variable("DOCKER_CONTEXT"));
                own.or_else(|| field(&home(".docker/config.json")?, "\"currentContext\":"))
            }
            "aws" => self.variable("AWS_PROFILE").or_else(|| self.variable("AWS_DEFAULT_PROFILE")),
            "gcloud" => {
                let active = home(".config/gcloud/active_config")?;
                field(&home(&format!(".config/gcloud/configurations/config_{}", active.trim()))?, "project =")
            }
            name => self.variable(name).or_else(|| self.dotenv(name)),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        let mut assigned = self.commands.iter().flat_map(|command| &command.assignments);
        let own = assigned.find(|(assigned, _)| assigned == name);
        own.and_then(|(_, value)| literal(value)).or_else(|| self.world.variable(name))
    }

    /// Of the project's own variables only the one that is asked for is looked at, and of that only where it leads.
    fn dotenv(&self, name: &str) -> Option<String> {
        let text = self.world.content(&path::absolute(".env", &self.event.workspace))?;
        field(&text, &format!("{name}="))
    }
}

/// What stands behind a word at the beginning of a line.
fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim_start().trim_start_matches("export ").strip_prefix(name))?;
    let value = value.trim().trim_matches([',', '"', '\'']).to_owned();
    (!value.is_empty()).then_some(value)
}

/// A URL by its host and its last part, never by who signs in; any other name as it is.
fn parts(name: &str) -> Vec<String> {
    let Some((scheme, rest)) = name.split_once("://") else { return vec![name.to_lowercase()] };
    if matches!(scheme, "file" | "sqlite" | "unix") {
        return vec!["localhost".to_owned()];
    }
    let rest = rest.split(['?', '#']).next().unwrap_or("");
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or("");
    let host =
        host.strip_prefix('[').and_then(|v6| v6.split(']').next()).unwrap_or(host.split(':').next().unwrap_or(""));
    let parts = [host, database].into_iter().filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_its_host_and_its_database() {
        assert_eq!(parts("postgres://me:pw@Db.example:5432/shop?x=1"), ["db.example", "shop"]);
        assert_eq!(parts("postgres://me@[::1]:5432/"), ["::1"]);
        assert_eq!(parts("file:./dev.db"), ["file:./dev.db"]);
        assert_eq!(parts("prod-eu"), ["prod-eu"]);
    }

    #[test]
    fn a_field_is_what_stands_behind_its_name() {
        assert_eq!(field("a: 1\ncurrent-context: kind-x\n", "current-context:").as_deref(), Some("kind-x"));
        assert_eq!(field("export A=\"b\"\n", "A=").as_deref(), Some("b"));
        assert_eq!(field("A=\n", "A="), None);
    }
}
