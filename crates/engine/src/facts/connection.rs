//! The destination of a command that works on something outside of this machine: a database, a cluster, an account.
//!
//! An entry of `library/programs` lists in `points` the sources in which its program looks for the host, context or
//! account, and in `names` other sources that can distinguish production. A word of such a list is an option (`--host`,
//! or by its key `option:host`), `operand` (the first one), `operands`, a variable (`DATABASE_URL`), an option that
//! names a settings file (`in:--config`), or the kind of a settings file (`kube`, `docker`, …). Options take
//! precedence; all other sources with a value count, because projects do not agree on an order.

use crate::model::effect::{Effect, EffectKind, Target};
use crate::model::event::{Action, Event};
use crate::model::path;
use crate::model::world::World;
use reflex_shell::{Command, ExecTarget, Piece, Program, Value};

/// Files in which projects keep variables.
const DOTENV: [&str; 5] = [".env", ".env.local", ".env.development", ".env.development.local", "prisma/.env"];

/// Variable files that a project reads only for its tests.
const DOTENV_OF_TESTS: [&str; 3] = [".env.test", ".env.testing", ".env.test.local"];

/// Variables that name the environment of a framework.
const ENVIRONMENTS: [&str; 4] = ["RAILS_ENV", "RACK_ENV", "MIX_ENV", "APP_ENV"];

/// Files that name the dependencies of a project, and words in them which show that it reads its variables from files.
const MANIFESTS: [&str; 4] = ["Gemfile", "Gemfile.lock", "mix.exs", "composer.json"];
const LOADERS: [&str; 5] = ["dotenv", "figaro", "laravel/framework", "symfony/", "envy"];

/// Programs that pass on the variables of such files.
const HANDING: [&str; 6] = ["foreman", "dotenv", "honcho", "overmind", "direnv", "dotenvx"];

/// Maximum number of effects that are searched; a person does not write a text with more.
pub(crate) const MAX_EFFECTS: usize = 4096;

/// The known destination of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointed {
    /// Hosts, contexts, profiles, accounts. The command is local only if each of them is this machine.
    pub(crate) hosts: Vec<String>,
    /// Databases, namespaces, buckets: a name can indicate production, and proves nothing else.
    pub(crate) names: Vec<String>,
    /// Whether a destination is set to an unknown value.
    pub(crate) unclear: bool,
}

/// The context of a command in the text of a call.
pub(crate) struct Text<'a> {
    /// The judged event.
    pub(crate) event: &'a Event,
    /// The machine.
    pub(crate) world: &'a dyn World,
    /// The effects before the one in question: they set variables, write files, choose contexts.
    pub(crate) before: Vec<&'a Effect>,
    /// Whether a name is typical of test data.
    pub(crate) is_test: &'a dyn Fn(&str) -> bool,
}

impl Text<'_> {
    /// Returns the destination of the first command; the others run it, the innermost first.
    pub(crate) fn pointed(&self, site: ExecTarget, commands: &[&Command]) -> Pointed {
        let mut pointed = Pointed::default();
        if self.before.len() > MAX_EFFECTS {
            return Pointed { unclear: true, ..pointed };
        }
        for (index, command) in commands.iter().enumerate() {
            if index > 0 && command.site == site && site == ExecTarget::Here {
                continue;
            }
            let before = pointed.hosts.len();
            self.command(command, commands, &mut pointed);
            let leads_away = index > 0 && commands.get(index - 1).is_some_and(|inner| inner.site != command.site);
            // An unknown other system can be any system.
            pointed.unclear |= leads_away && pointed.hosts.len() == before;
        }
        // An address of this machine can be the end of a tunnel.
        let tunnels = self.before.iter().filter(|effect| effect.kind == EffectKind::OpenTunnel);
        let ends: Vec<String> =
            tunnels.flat_map(|effect| &effect.targets).filter_map(|end| literal(&end.value)).collect();
        pointed.unclear |= !ends.is_empty() || self.before.iter().any(|effect| effect.kind == EffectKind::OpenTunnel);
        // `5433:db.prod.example:5432`, `svc/db`, `project:region:name=tcp:5432`
        let parts = ends.iter().flat_map(|end| end.split([':', '/', '=', ',']));
        pointed.names.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        pointed
    }

    fn command(&self, command: &Command, commands: &[&Command], pointed: &mut Pointed) {
        let grammars = command.invocation.iter().flat_map(|invocation| &invocation.grammars);
        let (mut points, mut names) = (Vec::new(), Vec::new());
        for grammar in grammars {
            points.extend(Program::points(*grammar));
            names.extend(Program::names(*grammar));
        }
        let mut place = Place { text: self, command, commands, means_test: false };
        place.means_test = points.iter().chain(&names).any(|word| place.is_set_for_tests(word));
        let mut servers = Pointed::default();
        points.iter().filter(|word| is_written(word)).for_each(|word| place.written(word, &mut servers));
        let urls = command.words.iter().skip(1).filter_map(literal).filter(|word| is_server(word));
        urls.for_each(|url| servers.add(&url));
        if servers.hosts.is_empty() && !servers.unclear {
            points.iter().filter(|word| !is_written(word)).for_each(|word| place.source(word, &mut servers));
        }
        // A program without a setting connects to its default. A tool's server was started elsewhere.
        let is_started_here = self.event.actions.iter().all(|action| matches!(action, Action::Shell { .. }));
        let default = points.iter().find_map(|word| word.strip_prefix("default:")).filter(|_| is_started_here);
        default.filter(|_| servers.hosts.is_empty() && !servers.unclear).into_iter().for_each(|host| servers.add(host));
        let mut besides = Pointed::default();
        for word in &names {
            if is_written(word) { place.written(word, &mut besides) } else { place.source(word, &mut besides) }
        }
        pointed.hosts.extend(servers.hosts);
        pointed.names.extend(servers.names.into_iter().chain(besides.hosts).chain(besides.names));
        pointed.unclear |= servers.unclear;
    }

    /// Returns the value that the text sets for a variable before the command.
    fn set(&self, name: &str) -> Option<Source> {
        let sets = |effect: &&&Effect| {
            effect.kind == EffectKind::SetVariable
                && effect.site == ExecTarget::Here
                && effect.targets.iter().any(|target| literal(&target.value).as_deref() == Some(name))
        };
        let last = self.before.iter().rev().find(sets)?;
        Some(last.argument.as_ref().map_or(Source::Absent, |value| Source::from_text(literal(value))))
    }

    /// Returns the context that the text selects for programs of this kind before the command.
    fn chosen(&self, kind: &str) -> Option<&Value> {
        let chooses = |effect: &&&Effect| effect.kind == EffectKind::SelectContext && effect.flags.contains(&kind);
        let last = self.before.iter().rev().find(chooses)?;
        last.targets.last().map(|target| &target.value)
    }

    /// Returns the content of a small file, unless the call writes it first.
    fn file(&self, path: &str) -> Result<Option<String>, Unclear> {
        let writes = |effect: &&Effect| {
            matches!(effect.kind, EffectKind::Overwrite | EffectKind::Append | EffectKind::Edit | EffectKind::Link)
                && effect.targets.iter().filter_map(Target::path).any(|target| path::is_within(path, target))
        };
        if self.before.iter().any(writes) { Err(Unclear) } else { Ok(self.world.content(path)) }
    }
}

/// The text changes a value that is needed.
struct Unclear;

/// The value from one source.
#[derive(Debug, PartialEq, Eq)]
enum Source {
    Absent,
    Unclear,
    Named(String),
}

impl Source {
    fn from_text(text: Option<String>) -> Source {
        text.map_or(Source::Unclear, Source::Named)
    }
}

/// A command in its call.
struct Place<'a> {
    text: &'a Text<'a>,
    command: &'a Command,
    commands: &'a [&'a Command],
    /// Whether the call itself selects tests, so that other databases in the project's files do not count.
    means_test: bool,
}

impl Place<'_> {
    /// Whether the call itself sets the variable, or the option that names the environment, to a test value.
    fn is_set_for_tests(&self, word: &str) -> bool {
        if ["--env", "--environment", "--settings"].contains(&word) {
            let mut servers = Pointed::default();
            self.written(word, &mut servers);
            return servers.hosts.iter().chain(&servers.names).any(|name| (self.text.is_test)(name));
        }
        let is_variable = word.starts_with(|first: char| first.is_ascii_uppercase());
        let source = || self.assigned(word).or_else(|| self.text.set(word));
        matches!(is_variable.then(source), Some(Some(Source::Named(text))) if (self.text.is_test)(&text))
    }

    /// Adds the values of an option or an operand.
    fn written(&self, word: &str, servers: &mut Pointed) {
        if let (Some(key), Some(invocation)) = (word.strip_prefix("option:"), &self.command.invocation) {
            let values = invocation.values(key, &self.command.words);
            return values.iter().for_each(|value| servers.take(Source::from_text(literal(value))));
        }
        if word == "operand" {
            let first = self.command.invocation.as_ref().and_then(|invocation| invocation.operands.first());
            let value = first.and_then(|index| self.command.words.get(*index));
            return value.into_iter().for_each(|value| servers.take(Source::from_text(literal(value))));
        }
        if word == "operands" {
            let operands = self.command.invocation.iter().flat_map(|invocation| &invocation.operands);
            let values = operands.filter_map(|index| self.command.words.get(*index)?.literal());
            return values.for_each(|value| servers.add(&value));
        }
        match word.strip_prefix("in:") {
            Some(option) => self.values(option).into_iter().for_each(|file| self.settings_file(file, servers)),
            None => self.values(word).into_iter().for_each(|value| servers.take(value)),
        }
    }

    /// Returns the values of an option, `--host NAME` or `--host=NAME`.
    fn values(&self, option: &str) -> Vec<Source> {
        let mut values = Vec::new();
        let mut words = self.command.words.iter().skip(1);
        while let Some(value) = words.next() {
            let prefix = value.prefix();
            let Some(rest) = prefix.strip_prefix(option) else { continue };
            let joined = rest.strip_prefix('=').or(Some(rest).filter(|_| option.len() == 2));
            match (literal(value), joined) {
                (Some(text), _) if text == option => values.push(Source::from_text(words.next().and_then(literal))),
                (Some(_), Some(joined)) => values.push(Source::Named(joined.to_owned())),
                (None, Some(_)) => values.push(Source::Unclear),
                (_, None) => {}
            }
        }
        values
    }

    /// Adds the URLs of a settings file that an option names. The file's own name counts as a database name: it can
    /// indicate production or tests.
    fn settings_file(&self, file: Source, servers: &mut Pointed) {
        let file = match file {
            Source::Named(file) => file,
            Source::Unclear | Source::Absent => return servers.take(file),
        };
        servers.names.extend(path::name_of(&file).split('.').next().map(str::to_lowercase));
        let Ok(Some(text)) = self.text.file(&path::absolute(&file, self.folder())) else {
            return servers.unclear = true;
        };
        let urls: Vec<_> = settings_of(&text).filter_map(|(_, value)| value.split_once("://")).collect();
        servers.unclear |= urls.is_empty() || self.reads_variables(&text);
        for (before, rest) in urls {
            let scheme = before.rsplit(|character: char| !character.is_ascii_alphanumeric()).next();
            let rest = rest.trim().trim_end_matches(['"', '\'', ',', ';']);
            servers.add(&format!("{}://{rest}", scheme.unwrap_or_default()));
        }
    }

    /// Whether the `env.py` of Alembic settings may replace their URL by a variable or by settings of the application.
    fn reads_variables(&self, settings: &str) -> bool {
        const READERS: [&str; 5] = ["environ", "getenv", "dotenv", "decouple", "ettings"];
        let mut folders = settings_of(settings).filter(|(key, _)| *key == "script_location");
        let Some((_, folder)) = folders.next() else { return false };
        let file = path::absolute("env.py", &path::absolute(folder, self.folder()));
        match self.text.file(&file) {
            Ok(text) => text.is_none_or(|text| READERS.iter().any(|reader| text.contains(reader))),
            Err(Unclear) => true,
        }
    }

    fn source(&self, word: &str, servers: &mut Pointed) {
        let here = self.command.site == ExecTarget::Here;
        if word.starts_with(|first: char| first.is_ascii_uppercase()) {
            return self.variable(word, here, servers);
        }
        if !here {
            return;
        }
        if let Some(target) = self.text.chosen(word) {
            return match target.pieces.as_slice() {
                // A connection whose address is in a variable.
                [(Piece::Variable(name), _)] => self.variable(name, here, servers),
                _ => servers.take(Source::from_text(literal(target))),
            };
        }
        match self.settings(word, servers) {
            Ok(named) => servers.take(named.map_or(Source::Absent, Source::Named)),
            Err(Unclear) => servers.unclear = true,
        }
    }

    /// Returns the name in this kind of settings file.
    fn settings(&self, kind: &str, servers: &mut Pointed) -> Result<Option<String>, Unclear> {
        let home = |file: &str| self.text.file(&path::absolute(file, &self.text.event.home));
        let in_folder = |file: &str| self.text.file(&path::absolute(file, self.folder()));
        let of_line = |text: Option<String>, name: &str| text.and_then(|text| field(&text, name));
        Ok(match kind {
            "kube" => match self.environment("KUBECONFIG")? {
                Some(files) => {
                    let files: Vec<_> = files.split(':').map(|file| self.text.file(file)).collect::<Result<_, _>>()?;
                    files.into_iter().flatten().find_map(|text| field(&text, "current-context:"))
                }
                None => of_line(home(".kube/config")?, "current-context:"),
            },
            "docker" => match self.environment("DOCKER_HOST")?.or(self.environment("DOCKER_CONTEXT")?) {
                Some(named) => Some(named),
                None => self.docker()?,
            },
            "gcloud" => match self.environment("CLOUDSDK_CORE_PROJECT")? {
                Some(project) => Some(project),
                None => {
                    let active = match self.environment("CLOUDSDK_ACTIVE_CONFIG_NAME")? {
                        Some(active) => active,
                        None => home(".config/gcloud/active_config")?.unwrap_or_default(),
                    };
                    let file = format!(".config/gcloud/configurations/config_{}", active.trim());
                    of_line(home(&file)?, "project =")
                }
            },
            "azure" => home(".azure/azureProfile.json")?.as_deref().and_then(default_subscription),
            "terraform" => match self.environment("TF_WORKSPACE")? {
                Some(workspace) => Some(workspace),
                None => in_folder(".terraform/environment")?.map(|name| name.trim().to_owned()),
            },
            "alembic" if self.values("-c").is_empty() && self.values("--config").is_empty() => {
                of_line(in_folder("alembic.ini")?, "sqlalchemy.url =")
            }
            "prisma" => {
                self.prisma(servers)?;
                None
            }
            _ => None,
        })
    }

    /// Returns the docker context. Without one the program uses this machine; an unreadable file makes it unknown.
    fn docker(&self) -> Result<Option<String>, Unclear> {
        let path = path::absolute(".docker/config.json", &self.text.event.home);
        let local = || Some("unix:///var/run/docker.sock".to_owned());
        Ok(match self.text.file(&path)? {
            Some(text) => match field(&text, "\"currentContext\":") {
                Some(context) if context != "default" => Some(context),
                Some(_) | None => local(),
            },
            None if self.text.world.real(&path, true).exists == Some(false) => local(),
            None => None,
        })
    }

    /// Adds the data source of a schema: its URL is in the schema, or in the variable that the schema names.
    fn prisma(&self, servers: &mut Pointed) -> Result<(), Unclear> {
        let arguments = self.command.words.iter().filter_map(literal).collect::<Vec<_>>();
        let after = arguments.iter().position(|word| word == "--schema").and_then(|at| arguments.get(at + 1));
        let file =
            after.cloned().or_else(|| arguments.iter().find_map(|word| Some(word.strip_prefix("--schema=")?.into())));
        let file = file.unwrap_or_else(|| "prisma/schema.prisma".to_owned());
        let text = self.text.file(&path::absolute(&file, self.folder()))?.unwrap_or_default();
        let mut named = Vec::new();
        for key in ["url", "directUrl"] {
            let lines =
                text.lines().filter_map(|line| line.trim_start().strip_prefix(key)?.trim_start().strip_prefix('='));
            named.extend(lines.map(|value| value.trim().to_owned()));
        }
        if named.is_empty() {
            named.extend(["env(\"DATABASE_URL\")", "env(\"DIRECT_URL\")"].map(str::to_owned));
        }
        for value in named {
            match value.strip_prefix("env(").and_then(|rest| rest.split(['"', '\'']).nth(1)) {
                Some(variable) => self.variable(variable, true, servers),
                None => servers.add(value.trim_matches(['"', '\''])),
            }
        }
        Ok(())
    }

    /// Adds a variable of the command, the text or the environment; only if none of them sets it, that of the project's
    /// files.
    fn variable(&self, name: &str, here: bool, servers: &mut Pointed) {
        let named = self.assigned(name).or_else(|| self.text.set(name).filter(|_| here));
        let named = named.filter(|source| *source != Source::Absent);
        let named = named.or_else(|| Some(Source::Named(self.text.world.variable(name).filter(|_| here)?)));
        // The environment in such a variable is not a host of that name.
        let marked = |text: String| if name.ends_with("_ENV") { format!("env:{text}") } else { text };
        match named {
            Some(Source::Named(text)) => servers.add(&marked(text)),
            Some(_) => servers.unclear = true,
            None if here && !self.means_test => self.dotenv(name).into_iter().for_each(|found| match found {
                Source::Named(text) => servers.add(&marked(text)),
                Source::Unclear | Source::Absent => servers.take(found),
            }),
            None => {}
        }
    }

    /// Returns the requested variable from the project's variable files; only its destination is used.
    fn dotenv(&self, name: &str) -> Vec<Source> {
        let start = format!("{name}=");
        let mut folders = vec![self.text.event.workspace.as_str()];
        if folders.iter().all(|folder| *folder != self.folder()) {
            folders.push(self.folder());
        }
        let read: &[&str] = if self.is_apart() { &DOTENV_OF_TESTS } else { &DOTENV };
        let files = folders.iter().flat_map(|folder| read.iter().map(|file| path::absolute(file, folder)));
        let found = files.map(|file| match self.text.file(&file) {
            Ok(text) => text.and_then(|text| field(&text, &start)).map_or(Source::Absent, Source::Named),
            Err(Unclear) => Source::Unclear,
        });
        found.filter(|source| *source != Source::Absent).collect()
    }

    /// Whether the call itself selects tests in a project that does not load variable files: the developers' own file
    /// then describes another database.
    fn is_apart(&self) -> bool {
        let of_tests = |name: &&str| {
            let value = self.assigned(name).or_else(|| self.text.set(name));
            matches!(value, Some(Source::Named(text)) if text == "test" || text == "testing")
        };
        let root = &self.text.event.workspace;
        let loads = |file: &&str| match self.text.file(&path::absolute(file, root)) {
            Ok(text) => text.is_some_and(|text| LOADERS.iter().any(|loader| text.contains(loader))),
            Err(Unclear) => true,
        };
        let is_handed = self.commands.iter().any(|command| HANDING.contains(&command.name.as_str()));
        !is_handed && ENVIRONMENTS.iter().any(of_tests) && !MANIFESTS.iter().any(loads)
    }

    fn environment(&self, name: &str) -> Result<Option<String>, Unclear> {
        match self.assigned(name).or_else(|| self.text.set(name)) {
            Some(Source::Unclear) => Err(Unclear),
            Some(Source::Named(text)) => Ok(Some(text)),
            Some(Source::Absent) => Ok(None),
            None => Ok(self.text.world.variable(name).filter(|text| !text.is_empty())),
        }
    }

    /// Returns the value that is set for this command alone, or for one that runs it.
    fn assigned(&self, name: &str) -> Option<Source> {
        let mut assigned = self.commands.iter().flat_map(|command| &command.assignments);
        let set = assigned.find(|(assigned, _)| assigned == name).map(|(_, value)| Source::from_text(literal(value)));
        set.or_else(|| self.handed_in(name))
    }

    /// Returns the value that a wrapper sets for a command elsewhere: `docker exec -e NAME=VALUE`.
    fn handed_in(&self, name: &str) -> Option<Source> {
        let start = format!("{name}=");
        let wrappers = self.commands.iter().skip(1).filter(|wrapper| wrapper.site != self.command.site);
        let mut values = wrappers.flat_map(|wrapper| {
            wrapper
                .invocation
                .iter()
                .flat_map(|invocation| invocation.values("env", &wrapper.words))
                .collect::<Vec<_>>()
        });
        let value = values.find(|value| value.prefix().starts_with(&start))?;
        Some(Source::from_text(literal(&value.without_prefix(start.len()))))
    }

    fn folder(&self) -> &str {
        &self.text.event.cwd
    }
}

impl Pointed {
    fn take(&mut self, source: Source) {
        match source {
            Source::Named(text) => self.add(&text),
            Source::Unclear => self.unclear = true,
            Source::Absent => {}
        }
    }

    /// Adds a text: of a URL its hosts and last component, never the user; likewise of `host=… dbname=…`; any other
    /// text is a host.
    fn add(&mut self, text: &str) {
        let text = text.trim().to_lowercase();
        if let Some((scheme, rest)) = text.split_once("://") {
            return self.add_url(scheme, rest);
        }
        if text.contains('=') {
            return text.split([';', ' ']).filter_map(|pair| pair.split_once('=')).for_each(|(key, value)| {
                match key.trim() {
                    "host" | "hostaddr" | "server" | "data source" => self.add_host(value),
                    "dbname" | "database" => self.names.push(value.to_owned()),
                    _ => {}
                }
            });
        }
        if !text.is_empty() {
            self.add_host(&text);
        }
    }

    fn add_url(&mut self, scheme: &str, rest: &str) {
        if matches!(scheme, "file" | "sqlite" | "unix" | "npipe" | "fd") {
            return self.hosts.push("localhost".to_owned());
        }
        let (rest, query) = rest.split_once(['?', '#']).unwrap_or((rest, ""));
        let (authority, name) = rest.split_once('/').unwrap_or((rest, ""));
        if matches!(scheme, "s3" | "gs" | "az") {
            return self.names.extend([authority, name].map(str::to_owned));
        }
        let (_, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        hosts.split(',').for_each(|host| self.add_host(host));
        query.split('&').filter_map(|pair| pair.strip_prefix("host=")).for_each(|host| self.add_host(host));
        self.names.extend(Some(name.to_owned()).filter(|name| !name.is_empty()));
    }

    /// Adds a host without its port, an IPv6 address without its brackets; a socket's path is this machine.
    fn add_host(&mut self, host: &str) {
        let (_, host) = host.rsplit_once('@').unwrap_or(("", host));
        let inner = host.strip_prefix('[').and_then(|rest| rest.split(']').next());
        let bare = inner.unwrap_or_else(|| match host.split_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        });
        let name = if bare.starts_with('/') || bare.starts_with("%2f") { "localhost" } else { bare };
        self.hosts.extend(Some(name.to_owned()).filter(|name| !name.is_empty()));
    }
}

/// Whether a source is in the command itself.
fn is_written(word: &str) -> bool {
    word.starts_with('-') || ["operand", "option:", "in:"].iter().any(|start| word.starts_with(start))
}

/// Whether the word is a URL of a server to work on; the URL of a page or file is only read.
fn is_server(word: &str) -> bool {
    let scheme = word.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| !matches!(scheme, "http" | "https" | "file" | "fileb"))
}

fn literal(value: &Value) -> Option<String> {
    value.literal().map(|text| text.into_owned())
}

/// The keys and values of an INI or properties file, without comments.
fn settings_of(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';', '!']));
    lines.filter_map(|line| line.split_once(['=', ':'])).map(|(key, value)| (key.trim(), value.trim()))
}

/// Returns the text after a word at the beginning of a line.
fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim_start().trim_start_matches("export ").strip_prefix(name))?;
    let value = value.trim().trim_matches([',', '"', '\'']).to_owned();
    (!value.is_empty()).then_some(value)
}

/// Returns the name of the subscription that Azure's settings mark as the default.
fn default_subscription(text: &str) -> Option<String> {
    let is_default = |entry: &&str| entry.split_whitespace().collect::<String>().contains("\"isDefault\":true");
    let entry = text.split("\"environmentName\"").find(is_default)?;
    let (_, name) = entry.split_once("\"name\"")?;
    name.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, hosts: &[&str], names: &[&str]) {
        let mut pointed = Pointed::default();
        pointed.add(text);
        assert_eq!((pointed.hosts, pointed.names), (strings(hosts), strings(names)), "{text}");
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_url_is_its_hosts_and_its_database() {
        check("postgres://me:pw@Db.example:5432/shop?x=1", &["db.example"], &["shop"]);
        check("postgres://localhost/shop?host=far.example", &["localhost", "far.example"], &["shop"]);
        check("mongodb://a.example:1,b.example:2/shop", &["a.example", "b.example"], &["shop"]);
        check("postgres://me@[::1]:5432/", &["::1"], &[]);
        check("postgres:///shop?host=/run/x", &["localhost"], &["shop"]);
        check("unix:///run/x.sock", &["localhost"], &[]);
        check("file:./dev.db", &["file:./dev.db"], &[]);
        check("prod-eu", &["prod-eu"], &[]);
        check("localhost:5432", &["localhost"], &[]);
        check("Server=localhost;Database=shop", &["localhost"], &["shop"]);
        check("host=far.example dbname=shop", &["far.example"], &["shop"]);
    }

    #[test]
    fn a_field_is_the_text_after_its_name() {
        assert_eq!(field("a: 1\ncurrent-context: kind-x\n", "current-context:").as_deref(), Some("kind-x"));
        assert_eq!(field("export A=\"b\"\n", "A=").as_deref(), Some("b"));
        assert_eq!(field("A=\n", "A="), None);
    }

    #[test]
    fn the_default_subscription_is_the_one_that_is_marked() {
        let text = r#"{"subscriptions": [{"name": "dev", "isDefault": false, "environmentName": "a"},
            {"id": "2", "name": "shop-prod", "isDefault": true, "environmentName": "a"}]}"#;
        assert_eq!(default_subscription(text).as_deref(), Some("shop-prod"));
    }
}
