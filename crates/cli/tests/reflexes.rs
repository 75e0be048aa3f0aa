//! `reflex reflexes`: adds, tests and creates reflexes; only a person can put them in force.

use crate::support;
use crate::support::{Machine, Ran, at_terminal_in, files, shell_quoted, with_program};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

const MODULE: &str = r#"import { deny, pass } from "@agentreflex/core";
export default { name: "tidy", onToolCall: (ctx) => ctx.command?.includes("prune") ? deny("Name what.") : pass() };
"#;

fn manifest() -> Value {
    json!({
        "name": "tidy", "title": "Tidy", "description": "Refuses prune.", "version": "1.0.0", "license": "MIT",
        "author": "me", "events": ["onToolCall"], "entry": "index.mjs",
        "capabilities": {"decisions": ["deny"], "reads": ["command"]},
    })
}

/// A machine with a project.
struct Here {
    machine: Machine,
    project: PathBuf,
}

impl Here {
    fn new() -> Here {
        let machine = Machine::new();
        let project = machine.project();
        Here { machine, project }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let words = ["reflexes"].iter().chain(words);
        self.machine.reflex(words).folder(&self.project).run()
    }

    /// Runs as a person; `None` if no terminal can be created.
    fn person(&self, words: &str, answer: &str) -> Option<(i32, String)> {
        at_terminal_in(&self.machine, &self.project, &format!("reflexes {words}"), answer)
    }

    fn project_file(&self, name: &str) -> PathBuf {
        self.project.join(".reflex").join(name)
    }

    fn config(&self) -> Value {
        fs::read_to_string(self.project_file("config.json"))
            .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    }

    /// A reflex in a folder whose name has a blank.
    fn folder(&self) -> PathBuf {
        let folder = self.machine.root().join("my reflexes/tidy");
        write(&folder.join("index.mjs"), MODULE);
        write(&folder.join("reflex.json"), &manifest().to_string());
        let examples = json!([{"call": "docker prune", "says": "deny"}, {"call": "ls", "says": "pass"}]);
        write(&folder.join("examples.json"), &examples.to_string());
        write(&folder.join("README.md"), "# tidy\n\nRefuses prune, wherever it stands in a command.\n");
        write(&folder.join("node_modules/x/index.js"), "export default 1;");
        folder
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn quoted(path: &Path) -> String {
    shell_quoted(&path.to_string_lossy())
}

#[test]
fn a_person_takes_an_official_reflex_and_puts_it_back() {
    let here = Here::new();
    let with = r#"no-force-push --with '{"branches": ["main"]}'"#;
    let Some((code, output)) = here.person(&format!("add {with}"), "y\n") else { return };
    assert!(code == 0 && output.contains("answers   deny") && output.contains("sees      options, reflex"), "{output}");
    assert_eq!(here.config(), json!({"reflexes": [{"source": "no-force-push", "with": {"branches": ["main"]}}]}));
    let lock: Value =
        serde_json::from_str(&fs::read_to_string(here.project_file("reflexes.lock.json")).unwrap()).unwrap();
    let locked = &lock["reflexes"]["no-force-push"];
    assert_eq!(locked["from"], "official/no-force-push");
    assert!(locked["digest"].as_str().unwrap().starts_with("sha256:"), "{lock}");
    let list = here.run(&["list", "--json"]).json();
    assert_eq!(list["reflexes"][0]["state"], "as it was added", "{list}");
    assert_eq!(here.person("update", "").unwrap().0, 0);
    let (code, output) = here.person("remove no-force-push", "y\n").unwrap();
    assert_eq!(code, 0, "{output}");
    assert_eq!(here.config(), json!({"reflexes": []}));
}

#[test]
fn what_a_person_added_has_a_say_at_once_and_what_others_put_beside_it_has_none() {
    let here = Here::new();
    let folder = here.folder();
    let hook = |command: &str| here.machine.hook().input(support::bash(&here.project, command)).run();
    let Some((code, output)) = here.person(&format!("add {}", quoted(&folder)), "y\n") else { return };
    assert!(code == 0 && output.contains("tidy is added\r"), "{output}");
    assert!(hook("docker prune").stdout.contains("Name what."), "{:?}", hook("docker prune"));
    assert_eq!(hook("docker ps"), Ran::silence());
    // With a second one, and without it again, the first still counts.
    assert_eq!(here.person("add no-curl-bash", "y\n").unwrap().0, 0);
    assert!(hook("docker prune -a").stdout.contains("Name what."));
    assert!(here.person("remove no-curl-bash", "y\n").unwrap().1.contains("is removed\r"));
    assert!(hook("docker prune -f").stdout.contains("Name what."));
    // Another process adds one to the list, and a person adds a third: the person has not reviewed the other one.
    write(&here.project_file("other.mjs"), MODULE);
    write(&here.project_file("config.json"), r#"{"reflexes": ["./reflexes/tidy", "./other.mjs"]}"#);
    let (code, output) = here.person("add no-rm-rf", "y\n").unwrap();
    assert!(code == 0 && output.contains("not all files of this list are accepted"), "{output}");
    let output = hook("docker prune --all");
    assert!(output.stdout.contains("changed after a person had accepted them"), "{output:?}");
}

#[test]
fn without_a_yes_nothing_is_added() {
    let here = Here::new();
    let Some((code, output)) = here.person("add no-secrets", "n\n") else { return };
    assert!(code == 1 && output.contains("not added"), "{output}");
    assert!(!here.project.join(".reflex").exists());
}

#[test]
fn nobody_but_a_person_changes_what_decides() {
    let here = Here::new();
    write(&here.project_file("config.json"), r#"{"reflexes": ["no-secrets"]}"#);
    let before = files(&here.project);
    for words in [&["add", "no-rm-rf"][..], &["remove", "no-secrets"]] {
        let output = here.run(words);
        assert!(output.code == 1 && output.stderr.contains("only a person"), "{words:?}: {output:?}");
    }
    let marked = here.machine.reflex(["reflexes", "add", "no-rm-rf"]).folder(&here.project).env("CLAUDECODE", "1");
    assert_eq!(marked.run().code, 1);
    assert_eq!(files(&here.project), before);
    let log = fs::read_to_string(here.machine.home().join(".local/state/reflex/audit/current.jsonl")).unwrap();
    assert_eq!(log.matches(r#""kind":"attempt""#).count(), 3, "{log}");
    let payload = here.machine.bash(&here.project, "reflex reflexes remove no-secrets").answer();
    assert_eq!(payload.0, "deny", "{payload:?}");
}

#[test]
fn a_folder_a_module_and_an_archive_are_taken_as_copies() {
    let here = Here::new();
    let folder = here.folder();
    let Some((code, output)) = here.person(&format!("add {}", quoted(&folder)), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    assert_eq!(here.config(), json!({"reflexes": ["./reflexes/tidy"]}));
    let copied: Vec<String> = files(&here.project_file("reflexes/tidy"))
        .iter()
        .map(|(path, _)| path.file_name().unwrap().to_string_lossy().into())
        .collect();
    assert_eq!(copied, ["README.md", "examples.json", "index.mjs", "reflex.json"]);
    assert_eq!(here.run(&["test"]).stdout, "2 examples run, 0 failed\n");

    let module = here.machine.root().join("a b/No Such.mjs");
    write(&module, MODULE);
    let (code, output) = here.person(&format!("add {}", quoted(&module)), "y\n").unwrap();
    assert!(code == 0 && output.contains("it has no manifest that says less"), "{output}");
    let archive = here.machine.root().join("packed one.tgz");
    let tar = here
        .machine
        .program("tar", ["-czf", archive.to_str().unwrap(), "-C", folder.parent().unwrap().to_str().unwrap(), "tidy"]);
    assert_eq!(tar.run().code, 0);
    let other = Here::new();
    let (code, output) = other.person(&format!("add {}", quoted(&archive)), "y\n").unwrap();
    assert_eq!(code, 0, "{output}");
    assert_eq!(files(&other.project_file("reflexes/tidy")).len(), 4);
}

#[test]
fn what_lies_beside_the_list_is_listed_in_place() {
    let here = Here::new();
    write(&here.project_file("tidy.mjs"), MODULE);
    let Some((code, output)) = here.person("add ./tidy.mjs", "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    assert_eq!(here.config(), json!({"reflexes": ["./tidy.mjs"]}));
    assert!(!here.project_file("reflexes").exists());
}

#[test]
fn npm_and_git_are_asked_only_for_what_is_named_so() {
    let here = Here::new();
    let folder = here.folder();
    let packed = folder.parent().unwrap().to_str().unwrap().to_owned();
    // A minimal npm that packs one package.
    let npm = format!("#!/bin/sh\necho \"$@\" > '{0}/asked'\ntar -czf \"$5/tidy-1.0.0.tgz\" -C '{0}' tidy\n", packed);
    let path = with_program(&here.machine, "npm", &npm);
    if here.machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        return println!("skipped: there is no program `script`");
    }
    let line = format!("PATH={} {} reflexes add npm:tidy@1", shell_quoted(&path), here.machine.line());
    let script = here.machine.program("script", ["-qec", &line, "/dev/null"]).folder(&here.project).input("y\n").run();
    assert_eq!(script.code, 0, "{script:?}");
    let asked = fs::read_to_string(format!("{packed}/asked")).unwrap();
    assert!(asked.starts_with("pack --ignore-scripts") && asked.trim_end().ends_with("-- tidy@1"), "{asked}");
    assert_eq!(here.config(), json!({"reflexes": ["./reflexes/tidy"]}));

    let repository = here.machine.root().join("some repository");
    write(&repository.join("sub/index.mjs"), MODULE);
    write(&repository.join("sub/reflex.json"), &manifest().to_string());
    let git = |words: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
        here.machine.program("git", identity.iter().chain(words)).folder(&repository).run()
    };
    assert_eq!(git(&["init", "-q", "-b", "main"]).code, 0);
    assert_eq!(git(&["add", "."]).code, 0);
    assert_eq!(git(&["commit", "-qm", "a"]).code, 0);
    let other = Here::new();
    let source = format!("git+file://{}#main:sub", repository.display());
    let (code, output) = other.person(&format!("add {}", shell_quoted(&source)), "y\n").unwrap();
    assert_eq!(code, 0, "{output}");
    assert_eq!(other.config(), json!({"reflexes": ["./reflexes/tidy"]}));
}

#[test]
fn what_cannot_be_taken_is_refused_with_its_reason() {
    let here = Here::new();
    let folder = here.folder();
    let ends = |code: i32, source: &str, reason: &str| {
        let output = here.run(&["add", source]);
        assert!(output.code == code && output.stderr.contains(reason), "{source}: {output:?}");
        assert!(!here.project.join(".reflex").exists(), "{source}");
    };
    let is_wrong = |source: &str, reason: &str| ends(64, source, reason);
    let check = |source: &str, reason: &str| ends(1, source, reason);
    check("no-force-psuh", "did you mean `no-force-push`?");
    is_wrong("./nothing here", "the file or folder `./nothing here` does not exist");
    is_wrong("npm:--global", "not a valid npm package name");
    is_wrong("git+ext::sh -c id", "is not a repository address");
    is_wrong(folder.join("README.md").to_str().unwrap(), "neither a module");
    let broken = |change: &dyn Fn(&mut Value), reason: &str| {
        let mut changed = manifest();
        change(&mut changed);
        write(&folder.join("reflex.json"), &changed.to_string());
        check(folder.to_str().unwrap(), reason);
    };
    broken(&|manifest| manifest["entry"] = "gone.js".into(), "it contains no module");
    broken(&|manifest| manifest["name"] = "../x".into(), "not a valid name");
    broken(&|manifest| manifest["capabilities"]["decisions"] = json!(["allow"]), "known: pass, deny, ask, modify");
    broken(&|manifest| manifest["capabilities"]["exec"] = json!(["sh"]), "unknown key `capabilities.exec`");
    write(&folder.join("reflex.json"), "{");
    check(folder.to_str().unwrap(), "reflex.json: EOF");
    for (name, text, reason) in [
        ("common.js", "module.exports = { name: 'x' };", "neither `onToolCall` nor `onToolResult`"),
        ("broken.cjs", "module.exports = {", "it cannot be loaded"),
        ("absent.js", "import x from 'lodash'; export default { onToolCall: () => x };", "'lodash'"),
        ("nothing.js", "export const onToolCall = 1;", "no default export that is an object"),
        (
            "typed.ts",
            "enum A { B }\nexport default { onToolCall: () => A.B };",
            "typed.ts:1: `enum` is more than a type",
        ),
    ] {
        let module = folder.join(name);
        write(&module, text);
        check(module.to_str().unwrap(), reason);
    }
    let output = here.run(&["add", "no-secrets", "--with", r#"{"branches": []}"#]);
    assert!(output.stderr.contains("unknown option `branches`"), "{output:?}");
    let output = here.run(&["add", "no-secrets", "--with", r#"{"allow": "a"}"#]);
    assert!(output.stderr.contains("the option `allow` is not of type array"), "{output:?}");
    let output = here.run(&["remove", "tidy"]);
    assert!(output.code == 1 && output.stderr.contains("no reflex `tidy` is listed"), "{output:?}");
}

#[test]
fn a_damaged_list_is_not_written_over() {
    let here = Here::new();
    write(&here.project_file("config.json"), "{ \"reflexes\": [ // mine\n");
    let output = here.run(&["add", "no-secrets"]);
    assert!(output.code == 1 && output.stderr.contains("config.json"), "{output:?}");
    assert!(fs::read_to_string(here.project_file("config.json")).unwrap().contains("// mine"));
}

#[test]
fn a_link_in_a_repository_leads_no_copy_out_of_it() {
    let here = Here::new();
    let folder = here.folder();
    let outside = here.machine.root().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(here.project_file("")).unwrap();
    symlink(&outside, here.project_file("reflexes")).unwrap();
    let Some((code, output)) = here.person(&format!("add {}", quoted(&folder)), "y\n") else { return };
    assert!(code == 1 && output.contains("a link leads out"), "{output}");
    assert!(files(&outside).is_empty());
    assert_eq!(here.config(), Value::Null);
    // A link among the files of a reflex is not one of them.
    symlink("/etc/passwd", folder.join("stolen.md")).unwrap();
    let other = Here::new();
    let (code, output) = other.person(&format!("add {}", quoted(&folder)), "y\n").unwrap();
    assert!(code == 0 && !output.contains("stolen"), "{output}");
}

#[test]
fn an_update_shows_what_changed_and_asks_anew() {
    let here = Here::new();
    let folder = here.folder();
    let Some((code, output)) = here.person(&format!("add {}", quoted(&folder)), "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    let mut wider = manifest();
    wider["capabilities"] = json!({"decisions": ["deny"], "reads": ["command", "raw"], "network": ["evil.example"]});
    write(&folder.join("reflex.json"), &wider.to_string());
    assert!(here.run(&["update"]).stderr.contains("only a person"));
    let (code, output) = here.person("update tidy", "n\n").unwrap();
    assert_eq!(code, 1, "{output}");
    assert!(
        output.contains("! sees: command -> command, raw") && output.contains("! asks: nothing -> evil.example"),
        "{output}"
    );
    assert!(!fs::read_to_string(here.project_file("reflexes/tidy/reflex.json")).unwrap().contains("evil"));
    assert_eq!(here.person("update tidy", "y\n").unwrap().0, 0);
    assert!(fs::read_to_string(here.project_file("reflexes/tidy/reflex.json")).unwrap().contains("evil"));
    // A change to the copy is reported.
    write(&here.project_file("reflexes/tidy/index.mjs"), "export default {};");
    assert!(here.run(&["list"]).stdout.contains("changed since it was added"));
    let (code, output) = here.person("update tidy", "y\n").unwrap();
    assert!(code == 0 && output.contains("the copy here was changed since"), "{output}");
    assert!(here.run(&["list"]).stdout.contains("as it was added"));
}

#[test]
fn what_a_person_wrote_here_is_neither_replaced_nor_deleted() {
    let here = Here::new();
    assert_eq!(here.run(&["new", "tidy"]).code, 0);
    let original = fs::read_to_string(here.project_file("reflexes/tidy/index.ts")).unwrap();
    let Some((code, output)) = here.person("add .reflex/reflexes/tidy", "y\n") else { return };
    assert_eq!(code, 0, "{output}");
    let (code, output) = here.person(&format!("add {}", quoted(&here.folder())), "y\n").unwrap();
    assert!(
        code == 1 && output.contains("another reflex `tidy` is listed already; `reflex reflexes remove tidy`"),
        "{output}"
    );
    assert_eq!(fs::read_to_string(here.project_file("reflexes/tidy/index.ts")).unwrap(), original);
    assert_eq!(here.person("remove tidy", "y\n").unwrap().0, 0);
    assert_eq!(fs::read_to_string(here.project_file("reflexes/tidy/index.ts")).unwrap(), original);
    // A copy is replaced by one from another source after a notice, and deleted when it is removed.
    let other = Here::new();
    assert_eq!(other.person(&format!("add {}", quoted(&other.folder())), "y\n").unwrap().0, 0);
    let (code, output) = other.person(&format!("add {}", quoted(&here.folder())), "y\n").unwrap();
    assert!(code == 0 && output.contains("It takes the place of the one from "), "{output}");
    assert_eq!(other.person("remove tidy", "y\n").unwrap().0, 0);
    assert!(!other.project_file("reflexes/tidy").exists());
}

#[test]
fn a_new_reflex_passes_its_own_examples() {
    let here = Here::new();
    let output = here.run(&["new", "calm"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(here.run(&["test", "calm"]).stdout, "4 examples run, 0 failed\n");
    assert_eq!(here.run(&["new", "calm"]).code, 1);
    assert_eq!(here.run(&["new", "../up"]).code, 64);
    assert_eq!(here.config(), Value::Null);
}

#[test]
fn a_reflex_is_asked_about_a_call_of_any_agent() {
    let here = Here::new();
    let ask = |words: &[&str]| here.run(&[&["test", "no-force-push"], words].concat());
    let output = ask(&["--call", "git push -f", "--agent", "gemini", "--json"]);
    assert_eq!(output.code, 2, "{output:?}");
    let row = &output.json()["reflexes"][0];
    assert_eq!((&row["says"], &row["context"]["agent"]), (&"deny".into(), &"gemini".into()));
    assert_eq!(ask(&["--call", "git push"]).code, 0);
    assert_eq!(ask(&["--call", "git push -f", "--with", r#"{"branches": ["x"]}"#]).code, 2);
    assert_eq!(ask(&["--call", "git push -f origin y", "--with", r#"{"branches": ["x"]}"#]).code, 0);
    let after = ask(&["--call", "git push -f", "--event", "onToolResult", "--json"]).json();
    assert_eq!(after["reflexes"][0]["says"], "pass", "{after}");
    assert_eq!(after["reflexes"][0]["context"]["event"], "onToolResult");
    let write = r#"{"event": "pre-write", "files": ["/repo/a b.ts"], "content": "x"}"#;
    assert_eq!(here.run(&["test", "scope-check", "--call", write, "--with", r#"{"allow": []}"#]).code, 2);
    assert_eq!(here.run(&["test", "ask-on-prod", "--call", "terraform apply"]).code, 3);
    assert_eq!(ask(&["--call", "{"]).code, 64);
    assert_eq!(ask(&["--call", "{}"]).code, 64);
    assert_eq!(here.run(&["test", "npm:left-pad"]).code, 1);
    assert!(!here.project.join(".reflex").exists());
}

/// Serves the files of a folder over TLS, with a self-signed certificate.
struct Server {
    address: String,
    /// The file with the trusted certificate.
    trusted: PathBuf,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(folder: PathBuf) -> Server {
        let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let trusted = folder.with_extension("pem");
        write(&trusted, &certificate.cert.pem());
        let key = PrivateKeyDer::Pkcs8(certificate.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let (config, asked) = (Arc::new(config), Arc::new(Mutex::new(Vec::new())));
        let notes = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = BufReader::new(StreamOwned::new(connection, stream.unwrap()));
                let mut line = String::new();
                // A client that does not trust the certificate closes the connection.
                if stream.read_line(&mut line).is_err() {
                    continue;
                }
                let path = line.split(' ').nth(1).unwrap().to_owned();
                let text = fs::read(folder.join(path.trim_start_matches('/'))).unwrap();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", text.len());
                notes.lock().unwrap().push(path);
                stream.get_mut().write_all(&[head.as_bytes(), &text].concat()).unwrap();
                stream.get_mut().flush().unwrap();
            }
        });
        Server { address, trusted, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

#[test]
fn a_module_of_another_machine_is_fetched_for_a_person_only() {
    let here = Here::new();
    let public = here.machine.root().join("public");
    write(&public.join("tidy.mjs"), MODULE);
    let server = Server::start(public);
    let address = format!("{}/tidy.mjs", server.address);
    let words = ["reflexes", "add", &address, "--show"];
    let output = here.machine.reflex(words).env("SSL_CERT_FILE", &server.trusted).folder(&here.project).run();
    assert!(output.code == 1 && output.stderr.contains("not fetched: "), "{output:?}");
    assert_eq!(server.asked(), [""; 0]);
    let output = here.run(&["add", "http://a.example/tidy.mjs"]);
    assert!(output.stderr.contains("is not an https address of a module"), "{output:?}");
    if here.machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
        return println!("skipped: there is no program `script`");
    }
    let trusted = |words: &str, certificate: &str| {
        let line = format!("SSL_CERT_FILE={certificate} {} reflexes {words}", here.machine.line());
        here.machine.program("script", ["-qec", &line, "/dev/null"]).folder(&here.project).input("y\n").run()
    };
    let output = trusted(&format!("add {address}"), "/dev/null");
    assert!(output.code == 70 && server.asked().is_empty(), "nobody vouches for the server: {output:?}");
    let person = |words: &str| trusted(words, &quoted(&server.trusted));
    let output = person(&format!("add {address}"));
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(here.config(), json!({"reflexes": ["./reflexes/tidy"]}));
    assert_eq!(server.asked(), ["/tidy.mjs"]);
    let output = person("update");
    assert!(output.stdout.contains("tidy is as it was added"), "{output:?}");
}

#[test]
fn no_command_of_an_agent_fetches_prints_data_or_writes_over_the_guards_files() {
    let here = Here::new();
    let asked = here.machine.root().join("asked");
    let fake = format!("#!/bin/sh\ntouch {}\n", quoted(&asked));
    let path = with_program(&here.machine, "npm", &fake);
    with_program(&here.machine, "git", &fake);
    for source in ["npm:tidy", "git+https://evil.example/?secret"] {
        for show in [&["add", source][..], &["add", source, "--show"]] {
            let words = ["reflexes"].iter().chain(show);
            let output = here.machine.reflex(words).folder(&here.project).env("PATH", &path).run();
            assert!(output.code == 1 && output.stderr.contains("not fetched: "), "{output:?}");
        }
    }
    assert!(!asked.exists());
    let folder = here.folder();
    write(&folder.join("secrets.json"), r#"{"key": "hunter2"}"#);
    let output = here.run(&["add", folder.to_str().unwrap(), "--show"]);
    assert!(
        output.code == 0 && output.stdout.contains("onToolCall") && !output.stdout.contains("hunter2"),
        "{output:?}"
    );
    let data = here.machine.root().join("data");
    write(&data.join("config.json"), "{}");
    assert!(here.run(&["add", data.to_str().unwrap(), "--show"]).stderr.contains("it contains no module"));
    let build = here.machine.bash(&here.project, "reflex reflexes catalog build all --out .reflex").answer();
    assert_eq!(build.0, "deny", "{build:?}");
}

#[test]
fn what_ships_is_found_by_words() {
    let here = Here::new();
    let output = here.run(&["catalog", "search", "secrets", "git"]);
    assert_eq!(output.stdout.lines().count(), 1, "{output:?}");
    assert!(output.stdout.starts_with("no-env-commit"), "{output:?}");
    let all = here.run(&["catalog", "search", "--json"]).json();
    assert_eq!(all["reflexes"].as_array().unwrap().len(), 21);
}
