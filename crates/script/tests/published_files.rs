//! Five more of what the original published, unchanged: those that read and write files, and those whose behaviour its tests
//! pin down.

use reflex_script::{Call, Capabilities, Chain, Limits, Machine, MachineError, Module, ModuleDecision, javascript};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A machine with these files, which gives what was granted at all.
#[derive(Default)]
struct Files(Mutex<BTreeMap<String, String>>);

impl Machine for Files {
    fn make_folder(&self, _path: &str, _granted: &[String]) -> Result<(), MachineError> {
        Ok(())
    }
    fn ungranted(&self, _path: &str, _granted: &[String]) -> Option<String> {
        None
    }
    fn read(&self, path: &str, granted: &[String]) -> Result<Vec<u8>, MachineError> {
        let files = self.0.lock().unwrap();
        match files.get(path).filter(|_| !granted.is_empty()) {
            Some(text) => Ok(text.clone().into_bytes()),
            None if granted.is_empty() => Err(MachineError::NotGranted(path.into())),
            None => Err(MachineError::File {
                path: path.into(),
                source: std::io::Error::new(std::io::ErrorKind::NotFound, "No such file or directory"),
            }),
        }
    }
    fn write(&self, path: &str, bytes: &[u8], granted: &[String]) -> Result<(), MachineError> {
        if granted.is_empty() {
            return Err(MachineError::NotGranted(path.into()));
        }
        self.0.lock().unwrap().insert(path.into(), String::from_utf8_lossy(bytes).into());
        Ok(())
    }
    fn list(&self, path: &str, _granted: &[String]) -> Result<Vec<String>, MachineError> {
        Err(MachineError::NotGranted(path.into()))
    }
    fn kind(&self, path: &str, granted: &[String]) -> Option<&'static str> {
        (!granted.is_empty() && self.0.lock().unwrap().contains_key(path)).then_some("file")
    }
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
    fn fetch(&self, _url: &str, _request: (&str, &str), _granted: &[String]) -> Result<(u16, String), MachineError> {
        Err(MachineError::NoNetwork("there is no network"))
    }
}

/// A module as its author wrote it, on a machine with these files.
struct Reflex {
    module: Module,
    machine: Arc<Files>,
}

impl Reflex {
    fn new(name: &str, source: &str) -> Reflex {
        let mut module = Module::single("m", "");
        module.entry = name.to_owned();
        module.files = vec![(name.to_owned(), javascript(name, source).unwrap().into_owned())];
        Reflex { module, machine: Arc::default() }
    }

    fn granted(mut self) -> Reflex {
        let all = || vec!["**".to_owned()];
        self.module.granted = Capabilities { files: all(), writes: all(), ..Capabilities::default() };
        self
    }

    fn file(self, path: &str, text: &str) -> Reflex {
        self.machine.0.lock().unwrap().insert(path.into(), text.into());
        self
    }

    fn decide(&self, tool: &str, command: &str, paths: &[&str]) -> ModuleDecision {
        let context =
            json!({"tool": tool, "agent": "claude", "command": command, "paths": paths, "cwd": "/p", "raw": {}});
        let machine = Arc::<Files>::clone(&self.machine);
        let call = Call { machine, home: "/home/me".into(), ..Call::tool_call(context) };
        let limits = Limits { watchdog: Duration::from_secs(60), ..Limits::default() };
        let outcome = Chain::new(vec![self.module.clone()], limits).run(call);
        outcome.reports[0].decision.clone().unwrap().unwrap_or_else(|problem| panic!("{problem}"))
    }

    #[track_caller]
    fn commands(&self, cases: &[(&str, &str)]) {
        for (command, expected) in cases {
            assert_eq!(self.decide("Bash", command, &[]).name(), *expected, "{command}");
        }
    }
}

/// The one that `init` writes to begin with.
#[test]
fn the_starter() {
    let starter = r#"
        /** @type {import("@agentreflex/core").Reflex} */
        const noForcePush = {
          name: "no-force-push",
          onToolCall(ctx) {
            if (ctx.tool === "Bash" && /\bgit\s+push\b.*\s(--force|-f)\b/.test(ctx.command ?? "")) {
              return { action: "deny", reason: "Force-push is blocked by a reflex." };
            }
            return { action: "pass" };
          },
        };
        export default noForcePush;"#;
    Reflex::new("no-force-push.mjs", starter).commands(&[("git push -f", "deny"), ("git push", "pass")]);
}

#[test]
fn no_rm_rf() {
    let source = r#"import { defineReflex, deny, parseCommand, pass } from "@agentreflex/core";
        const WHOLE = new Set(["/", "/*", "~", "$HOME", "${HOME}", ".", "./", "..", "../", "*"]);
        const SYSTEM = /^\/(usr|etc|bin|sbin|var|lib|opt|boot|sys|dev|root|home)(\/|$)/;
        const isRecursive = (word: string): boolean => word === "--recursive" || /^-[a-zA-Z]*[rR]/.test(word);
        export default defineReflex({
          name: "no-rm-rf",
          onToolCall(ctx) {
            for (const { argv } of parseCommand(ctx.command ?? "")) {
              const words = argv[0] === "sudo" ? argv.slice(1) : argv;
              if (words[0] !== "rm" || !words.some(isRecursive)) continue;
              const target = words.slice(1).find((word) => WHOLE.has(word) || word.startsWith("~/..") || SYSTEM.test(word));
              if (target !== undefined) return deny(`rm -rf ${target} is blocked.`);
            }
            return pass();
          },
        });"#;
    Reflex::new("index.ts", source).commands(&[
        ("rm -rf /", "deny"),
        ("cd x && sudo rm -fr ~", "deny"),
        ("rm --recursive /usr/lib", "deny"),
        ("rm -rf node_modules", "pass"),
        ("rm a", "pass"),
        ("echo 'rm -rf /'", "pass"),
    ]);
}

#[test]
fn no_secrets_in_words_and_paths() {
    let source = r#""use strict";
        Object.defineProperty(exports, "__esModule", { value: true });
        const core_1 = require("@agentreflex/core"); const node_path_1 = require("node:path");
        const NAMES = [/^\.env(\..+)?$/, /\.(pem|key|p12|pfx)$/, /^id_[a-z0-9]+$/, /^\.(npmrc|netrc|pgpass)$/, /^secrets\.(json|yaml|toml|env)$/];
        const isSecret = (path) => NAMES.some((name) => name.test((0, node_path_1.basename)(path))) || /\.aws\/credentials$/.test(path);
        exports.default = (0, core_1.defineReflex)({ name: "no-secrets", onToolCall(ctx) {
          const words = ctx.tool === "Bash" ? (0, core_1.parseCommand)(ctx.command ?? "").flatMap((one) => one.argv) : ctx.paths;
          const hit = words.find(isSecret);
          return hit ? (0, core_1.deny)(`${hit} may hold secrets.`) : (0, core_1.pass)();
        } });"#;
    let reflex = Reflex::new("index.js", source);
    reflex.commands(&[
        ("cat .env", "deny"),
        ("cat ~/.ssh/id_ed25519", "deny"),
        ("cat ~/.aws/credentials", "deny"),
        ("cat env.ts", "pass"),
    ]);
    assert_eq!(reflex.decide("Read", "", &["/p/server.pem"]).name(), "deny");
    assert_eq!(reflex.decide("Edit", "", &["/p/server.ts"]).name(), "pass");
}

#[test]
fn abide_reads_its_rules_and_has_others_where_it_cannot() {
    let source = r#"import { readFileSync } from "node:fs"; import { join, relative } from "node:path";
        import { ask, commandMatches, deny, pass } from "@agentreflex/core";
        const DEFAULTS = [
          { description: "no forced pushes", action: "deny", command: ["git push*--force*", "git push*-f*"] },
          { description: "a push is asked about", action: "ask", command: ["git push*"] },
          { description: "only inside", action: "deny", tool: ["Edit", "MultiEdit", "Write"], pathOutsideProject: true },
        ];
        const load = (cwd) => {
          try { return JSON.parse(readFileSync(join(cwd, ".reflex", "abide.json"), "utf8")).rules; } catch { return DEFAULTS; }
        };
        const outside = (cwd, path) => relative(cwd, path).startsWith("..");
        export default { name: "abide", onToolCall(ctx) {
          for (const rule of load(ctx.cwd)) {
            if (rule.tool && ![rule.tool].flat().includes(ctx.tool)) continue;
            if (rule.command && !commandMatches(ctx.command ?? "", rule.command)) continue;
            if (rule.pathOutsideProject && !ctx.paths.some((path) => outside(ctx.cwd, path))) continue;
            return rule.action === "ask" ? ask(rule.description) : deny(rule.description);
          }
          return pass();
        } };"#;
    let defaults = [("git push --force", "deny"), ("git push", "ask"), ("git status", "pass")];
    // Nobody granted it the file, or there is none.
    Reflex::new("a.mjs", source).commands(&defaults);
    let reflex = Reflex::new("a.mjs", source).granted();
    reflex.commands(&defaults);
    assert_eq!(reflex.decide("Write", "", &["/etc/x"]).name(), "deny");
    assert_eq!(reflex.decide("Write", "", &["/p/x"]).name(), "pass");
    let rules = r#"{"rules": [{"description": "no tea", "action": "deny", "tool": "Bash", "command": "tea*"}]}"#;
    Reflex::new("a.mjs", source)
        .granted()
        .file("/p/.reflex/abide.json", rules)
        .commands(&[("tea pot", "deny"), ("git push", "pass")]);
}

#[test]
fn recover_copies_before_an_edit() {
    let source = r#"const { createHash } = require("node:crypto"); const fs = require("node:fs"); const os = require("node:os"); const path = require("node:path");
        const { pass } = require("@agentreflex/core");
        module.exports = { name: "recover", async onToolCall(ctx) {
          if (!["Edit", "MultiEdit", "Write"].includes(ctx.tool)) return pass();
          const folder = path.join(os.homedir(), ".agentreflex", "recover", createHash("sha256").update(ctx.cwd).digest("hex").slice(0, 12));
          for (const file of ctx.paths) {
            if (!fs.existsSync(file)) continue;
            fs.mkdirSync(folder, { recursive: true });
            await fs.promises.copyFile(file, path.join(folder, `${Date.now() > 0 ? 1 : 0}-${path.basename(file)}`));
          }
          return pass();
        } };"#;
    let reflex = Reflex::new("recover.cjs", source).granted().file("/p/a.ts", "before é");
    assert_eq!(reflex.decide("Edit", "", &["/p/a.ts", "/p/gone.ts"]), ModuleDecision::Pass);
    let files = reflex.machine.0.lock().unwrap().clone();
    assert_eq!(
        files.get("/home/me/.agentreflex/recover/00d74baf14ea/1-a.ts").map(String::as_str),
        Some("before é"),
        "{files:?}"
    );
    assert_eq!(files.len(), 2);
}
