//! The page: a browser needs a code to view it, and a tab needs the passphrase to answer.

use crate::support::{Machine, Ran, Running, at_terminal, calls};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PASSPHRASE: &str = "correct horse";

/// A command that a non-core rule asks about.
const PUSH: &str = "git push --force origin feature";

const MOMENT: Duration = Duration::from_millis(20);

const LONG: Duration = Duration::from_secs(90);

/// A machine with the page open in a separate terminal.
struct Page {
    machine: Machine,
    /// Ended on drop.
    terminal: Option<Running>,
    port: u16,
    code: String,
    /// The public key of the passphrase; empty without one.
    key: String,
}

impl Page {
    /// `None` if no terminal can be created.
    fn open() -> Option<Page> {
        Page::on(Machine::new(), "")
    }

    /// The same on a machine where a passphrase is set.
    fn protected() -> Option<Page> {
        let machine = Machine::new();
        fs::create_dir_all(machine.home().join(".claude")).unwrap();
        assert_eq!(machine.reflex(["init", "--agent", "claude", "--yes"]).run().code, 0);
        let (code, output) = at_terminal(&machine, "pin", &format!("{PASSPHRASE}\n{PASSPHRASE}\ny\n"))?;
        assert_eq!(code, 0, "{output}");
        let key = machine.reflex(["pin", "--show"]).run().stdout.trim().to_owned();
        Page::on(machine, &key)
    }

    fn on(machine: Machine, key: &str) -> Option<Page> {
        if machine.program("sh", ["-c", "command -v script"]).run().stdout.is_empty() {
            println!("skipped: there is no program `script`");
            return None;
        }
        let typescript = machine.root().join("typescript");
        let line = format!("{} ui --no-open", machine.line());
        let words = ["-qefc", &line, typescript.to_str().unwrap()];
        let terminal = machine.program("script", words).env("TERM", "xterm").start_waiting();
        let begun = Instant::now();
        let (port, code) = loop {
            let output = fs::read_to_string(&typescript).unwrap_or_default();
            if let Some((before, code)) = output.split_once("once: ").filter(|(_, code)| code.contains('\n')) {
                let port = before.split_once("http://127.0.0.1:").unwrap().1.split('/').next().unwrap();
                break (port.parse().unwrap(), code.lines().next().unwrap().trim().to_owned());
            }
            assert!(begun.elapsed() < LONG, "the page did not open: {output}");
            std::thread::sleep(MOMENT);
        };
        Some(Page { machine, terminal: Some(terminal), port, code, key: key.into() })
    }

    /// Opens the page again after its server was killed.
    fn again(mut self) -> Page {
        self.terminal.take().unwrap().finish();
        let machine = std::mem::replace(&mut self.machine, Machine::new());
        let key = std::mem::take(&mut self.key);
        fs::remove_file(machine.root().join("typescript")).unwrap();
        Page::on(machine, &key).unwrap()
    }

    fn ask(&self, method: &str, path: &str) -> Ask<'_> {
        let origin = format!("http://127.0.0.1:{}", self.port);
        let headers = if method == "POST" { vec![("origin".to_owned(), origin)] } else { Vec::new() };
        Ask { page: self, method: method.into(), path: path.into(), headers, body: String::new() }
    }

    /// Logs a browser in with the code and returns its cookie.
    fn browser(&self) -> String {
        let answer = self.ask("POST", "/api/session").json(&json!({"code": self.code})).send();
        assert_eq!(answer.status, 204, "{answer:?}");
        answer.cookie()
    }

    /// Unlocks a tab with the passphrase and returns its key.
    fn tab(&self, cookie: &str) -> String {
        let answer = self.ask("POST", "/api/unlock").cookie(cookie).json(&json!({"passphrase": PASSPHRASE})).send();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body()["tab"].as_str().unwrap().to_owned()
    }

    fn pending(&self, cookie: &str) -> Vec<Value> {
        let answer = self.ask("GET", "/api/hook/pending").cookie(cookie).send();
        answer.body()["calls"].as_array().unwrap().clone()
    }

    /// Starts Codex's hook before a command: this client cannot ask.
    fn hook(&self, command: &str) -> Running {
        let payload = json!({
            "session_id": "s1", "turn_id": "t", "transcript_path": null, "cwd": self.machine.project(), "model": "m",
            "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": format!("c{:?}", Instant::now()),
        });
        let mut words = vec!["hook", "--agent", "codex", "--event", "PreToolUse"];
        if !self.key.is_empty() {
            words.extend(["--key", &self.key]);
        }
        self.machine.reflex(words).input(payload.to_string()).start_and_close()
    }

    /// Returns the call that a hook waits for.
    #[track_caller]
    fn awaited(&self, cookie: &str) -> Value {
        let begun = Instant::now();
        loop {
            let all = self.pending(cookie);
            if let Some(call) = all.iter().find(|call| call["until"].as_u64().unwrap() > 0) {
                return call.clone();
            }
            assert!(begun.elapsed() < LONG, "no hook waits: {all:?}");
            std::thread::sleep(MOMENT);
        }
    }

    /// Opens a tab: hooks wait as long as it is open.
    fn watching(&self, cookie: &str) -> TcpStream {
        let mut stream = self.ask("GET", "/api/events").cookie(cookie).begin();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        // Hooks wait once the first list was sent.
        let mut received = Vec::new();
        while !received.ends_with(b"event: waiting") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            received.extend(byte);
        }
        stream
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(mut terminal) = self.terminal.take() {
            terminal.press("\u{3}");
            terminal.finish();
        }
    }
}

/// A request.
struct Ask<'p> {
    page: &'p Page,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Ask<'_> {
    /// Sets this header, replacing one of the same name.
    fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.into(), value.into()));
        self
    }

    fn cookie(self, cookie: &str) -> Self {
        self.header("cookie", cookie)
    }

    fn json(self, body: &Value) -> Self {
        Ask { body: body.to_string(), ..self.header("content-type", "application/json") }
    }

    fn form(self, body: &str) -> Self {
        Ask { body: body.into(), ..self.header("content-type", "application/x-www-form-urlencoded") }
    }

    fn begin(self) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.page.port)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let host = format!("127.0.0.1:{}", self.page.port);
        let mut request = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let fixed = [("host", host), ("connection", "close".into()), ("content-length", self.body.len().to_string())];
        let named = |name: &str| self.headers.iter().any(|(known, _)| known == name);
        for (name, value) in fixed.iter().filter(|(name, _)| !named(name)) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        self.headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        request.push_str(&format!("\r\n{}", self.body));
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn send(self) -> Answer {
        let mut text = Vec::new();
        // The server may close an early refusal without reading the rest of the request.
        let _ = self.begin().read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_ascii_lowercase(), text: body.into(), cookies: cookies(head) }
    }
}

fn cookies(head: &str) -> Vec<String> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).map(|(_, value)| value.to_owned()).collect()
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    text: String,
    cookies: Vec<String>,
}

impl Answer {
    #[track_caller]
    fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("{self:?}"))
    }

    fn cookie(&self) -> String {
        self.cookies[0].split(';').next().unwrap().to_owned()
    }
}

fn answer(call: &Value, decision: &str) -> Value {
    json!({"id": call["id"], "exact": call["exact"], "decision": decision})
}

#[test]
fn a_yes_from_an_unlocked_tab_lets_the_call_that_waits_run_once() {
    let Some(page) = Page::protected() else { return };
    let cookie = page.browser();
    let _open = page.watching(&cookie);
    let hook = page.hook(PUSH);
    let call = page.awaited(&cookie);
    assert_eq!(call["text"], PUSH);
    let tab = page.tab(&cookie);
    let send = |body: &Value| {
        page.ask("POST", "/api/hook/approve").cookie(&cookie).header("x-reflex-tab", &tab).json(body).send()
    };
    let response = page.ask("POST", "/api/hook/preview").cookie(&cookie).json(&answer(&call, "allow")).send();
    assert!(response.body()["grant"].as_str().unwrap().starts_with("Approving runs exactly this once"));
    let other = json!({"id": call["id"], "exact": "another", "decision": "allow"});
    assert_eq!(send(&other).status, 409, "another call under this id was not seen");
    assert_eq!(send(&json!({"id": call["id"], "exact": call["exact"], "decision": "maybe"})).status, 400);
    assert_eq!(send(&answer(&call, "allow")).status, 200);
    assert_eq!(hook.finish(), Ran::silence());
    let response =
        page.ask("GET", &format!("/api/hook/response/{}", call["id"].as_str().unwrap())).cookie(&cookie).send();
    assert_eq!(response.body()["decision"], "allow");
    // It counts once.
    let hook = page.hook(PUSH);
    let call = page.awaited(&cookie);
    let no = json!({"id": call["id"], "exact": call["exact"], "decision": "deny", "message": "not this branch"});
    assert_eq!(send(&no).status, 200);
    assert!(hook.finish().answer().1.contains("and this: not this branch"));
    let records = page.ask("GET", "/api/audit?text=kind%3Dapproval").cookie(&cookie).send().body();
    assert!(records["records"][0]["by"].as_str().unwrap().starts_with("uid "), "{records}");
    let unknown = page.ask("GET", "/api/audit?text=decision%3Dbloc").cookie(&cookie).send();
    assert_eq!(unknown.status, 400);
    assert!(unknown.body()["problem"].as_str().unwrap().contains("did you mean `block`?"), "{}", unknown.body());
}

/// The process that serves the page of this machine.
fn server(machine: &Machine) -> u32 {
    let home = machine.home();
    let is_it = |words: &[&[u8]]| {
        words.first().is_some_and(|program| program.ends_with(b"/reflex"))
            && words.contains(&b"ui".as_slice())
            && words.contains(&home.as_os_str().as_encoded_bytes())
    };
    let all =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    let mut all = all.filter(|id| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        is_it(&line.split(|byte| *byte == 0).collect::<Vec<_>>())
    });
    all.next().unwrap()
}

#[test]
fn a_server_that_is_killed_doubles_and_loses_no_answer() {
    const ROUNDS: u64 = 12;
    let mut seed = 88_172_645_463_325_252_u64;
    if !std::path::Path::new("/proc/self/cmdline").exists() {
        println!("skipped: the process of the server is found in /proc");
        return;
    }
    let Some(mut page) = Page::protected() else { return };
    for round in 0..ROUNDS {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let cookie = page.browser();
        let open = page.watching(&cookie);
        let tab = page.tab(&cookie);
        let command = format!("git push --force origin f{round}");
        let hook = page.hook(&command);
        let call = page.awaited(&cookie);
        let id = server(&page.machine);
        let kill = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(seed % 30_000));
            std::process::Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap();
        });
        let body = answer(&call, "allow");
        let ask = page.ask("POST", "/api/hook/approve").cookie(&cookie).header("x-reflex-tab", &tab).json(&body);
        let is_said =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask.send().status == 200)).unwrap_or(false);
        kill.join().unwrap();
        drop(open);
        let first = usize::from(hook.finish() == Ran::silence());
        let is_given = calls::is_answered(&page.machine, call["id"].as_str().unwrap());
        let runs = (0..2).filter(|_| page.hook(&command).finish() == Ran::silence()).count();
        assert_eq!(first + runs, usize::from(is_given), "round {round}");
        assert!(!is_said || is_given, "round {round}: an answer was lost");
        page = page.again();
    }
}

#[test]
fn another_command_in_its_place_is_judged_first() {
    let Some(page) = Page::protected() else { return };
    let cookie = page.browser();
    let _open = page.watching(&cookie);
    let tab = page.tab(&cookie);
    let hook = page.hook(PUSH);
    let call = page.awaited(&cookie);
    let instead = |command: &str| {
        let body = json!({"id": call["id"], "exact": call["exact"], "decision": "deny", "command": command});
        page.ask("POST", "/api/hook/approve").cookie(&cookie).header("x-reflex-tab", &tab).json(&body).send()
    };
    let worse = instead("rm -rf ~");
    assert!(worse.status == 409 && worse.body()["problem"].as_str().unwrap().contains("stopped too"), "{worse:?}");
    assert_eq!(instead("git push origin feature").status, 200);
    assert!(hook.finish().answer().1.contains("run exactly `git push origin feature` instead"));
}

#[test]
fn who_sees_does_not_answer_without_the_passphrase_in_that_tab() {
    let Some(page) = Page::protected() else { return };
    let cookie = page.browser();
    let _open = page.watching(&cookie);
    let hook = page.hook(PUSH);
    let call = page.awaited(&cookie);
    let approval = answer(&call, "allow");
    let approve = || page.ask("POST", "/api/hook/approve").json(&approval);
    let tab = page.tab(&cookie);
    let unlocked = |ask: Ask<'_>| ask.header("x-reflex-tab", &tab).send().status;
    assert_eq!(approve().send().status, 401, "no browser");
    assert_eq!(approve().cookie(&cookie).send().status, 423, "a cookie alone, as another program may read it");
    assert_eq!(approve().cookie(&cookie).header("x-reflex-tab", "x").send().status, 423);
    assert_eq!(unlocked(approve()), 401, "a key alone");
    let passphrase = json!({"passphrase": PASSPHRASE});
    let other = page.ask("POST", "/api/session").json(&passphrase).send().cookie();
    assert_eq!(unlocked(approve().cookie(&other)), 423, "the key of a tab in another browser");
    assert_eq!(unlocked(approve().cookie(&cookie).header("origin", "http://127.0.0.1:3000")), 403, "another port");
    assert_eq!(unlocked(approve().cookie(&cookie).header("origin", "null")), 403);
    assert_eq!(unlocked(approve().cookie(&cookie).header("host", "evil.example")), 421, "another name of this machine");
    let plain = approve().cookie(&cookie).header("x-reflex-tab", &tab).header("content-type", "text/plain").send();
    assert_eq!(plain.status, 400, "what a form of another site can send without asking");
    assert_eq!(
        page.ask("POST", "/api/lock").cookie(&cookie).header("x-reflex-tab", &tab).json(&json!({})).send().status,
        204
    );
    assert_eq!(unlocked(approve().cookie(&cookie)), 423, "it was locked");
    for wrong in ["", "correct hors"] {
        let body = json!({"passphrase": wrong});
        assert_eq!(page.ask("POST", "/api/unlock").cookie(&cookie).json(&body).send().status, 403, "{wrong}");
    }
    assert_eq!(page.pending(&cookie).len(), 1, "nobody has answered");
    hook.signal_if_running("KILL");
    hook.finish();
}

#[test]
fn without_a_passphrase_the_page_shows_and_does_not_answer() {
    let Some(page) = Page::open() else { return };
    let cookie = page.browser();
    let output = page.ask("GET", "/api/session").cookie(&cookie).send().body();
    assert!(output["answers"] == false && output["why"].as_str().unwrap().contains("reflex pin"), "{output}");
    let unlock = page.ask("POST", "/api/unlock").cookie(&cookie).json(&json!({"passphrase": "anything"})).send();
    assert!(unlock.status == 403 && unlock.text.contains("reflex pin"), "{unlock:?}");
    let agents = page.ask("GET", "/api/status").cookie(&cookie).send().body();
    assert!(agents["agents"].is_array(), "{agents}");
    let judged = page.ask("POST", "/api/explain").cookie(&cookie).json(&json!({"command": "rm -rf ~"})).send().body();
    assert!(judged["decision"] == "block" && judged["replies"].as_array().unwrap().len() > 5, "{judged}");
}

#[test]
fn a_code_works_once_and_whoever_guesses_waits() {
    let Some(page) = Page::open() else { return };
    page.browser();
    let enter = |code: &str| page.ask("POST", "/api/session").json(&json!({"code": code})).send();
    assert_eq!(enter(&page.code).status, 403, "a link that was used");
    assert_eq!(enter("x").status, 403);
    assert_eq!(enter("y").status, 403);
    assert_eq!(enter("z").status, 429);
}

#[test]
fn what_is_asked_for_in_another_way_is_turned_away() {
    let Some(page) = Page::open() else { return };
    let shell = page.ask("GET", "/").send();
    assert!(shell.status == 200 && shell.head.contains("content-security-policy: default-src 'none'"), "{shell:?}");
    assert!(shell.head.contains("x-frame-options: deny") && !shell.text.contains(&page.code));
    for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/app.js/..", "//etc/passwd", "/api/none"] {
        assert_eq!(page.ask("GET", path).send().status, 404, "{path}");
    }
    let long = json!({"code": "x".repeat(300 * 1024)});
    assert!(matches!(page.ask("POST", "/api/session").json(&long).send().status, 400 | 413));
    let mut slow = TcpStream::connect(("127.0.0.1", page.port)).unwrap();
    slow.set_read_timeout(Some(LONG)).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: 127").unwrap();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"), "half a request is dropped in time");
}

#[test]
fn the_description_names_every_address_and_each_is_answered() {
    let Some(page) = Page::open() else { return };
    let described = page.ask("GET", "/api/openapi.json").send().body();
    let paths = described["paths"].as_object().unwrap();
    let mut count = 0;
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            let needs_browser = operation["security"][0].get("browser").is_some();
            let asked = page.ask(&method.to_uppercase(), &path.replace("{id}", "x")).json(&json!({})).send();
            assert_eq!(asked.status == 401, needs_browser, "{method} {path}: {asked:?}");
            assert!(!matches!(asked.status, 404 | 405), "{method} {path}");
            count += 1;
        }
    }
    assert!(count >= 16, "{count}");
}

#[test]
fn a_browser_without_javascript_answers_with_a_form() {
    let Some(page) = Page::protected() else { return };
    let entered = page.ask("POST", "/plain/enter").form(&format!("proof={}", page.code)).send();
    assert_eq!(entered.status, 303, "{entered:?}");
    let cookie = entered.cookie();
    let _open = page.watching(&cookie);
    let hook = page.hook(PUSH);
    let call = page.awaited(&cookie);
    let listed = page.ask("GET", "/plain").cookie(&cookie).send();
    assert!(listed.text.contains(PUSH) && listed.text.contains("Approve once"), "{listed:?}");
    let form = |passphrase: &str| {
        let (id, exact) = (call["id"].as_str().unwrap(), call["exact"].as_str().unwrap());
        let body = format!("passphrase={passphrase}&id={id}&exact={exact}&message=&decision=allow");
        page.ask("POST", "/plain/answer").cookie(&cookie).form(&body).send()
    };
    assert!(form("wrong").text.contains("not the passphrase"));
    assert!(form("correct+horse").text.contains("approved"));
    assert_eq!(hook.finish(), Ran::silence());
}

#[test]
fn no_page_opens_for_an_agent() {
    let machine = Machine::new();
    let output = machine.reflex(["ui", "--no-open"]).run();
    assert!(output.code != 0 && output.stderr.contains("only a person at a terminal"), "{output:?}");
    let line = format!("{} ui --no-open", machine.line());
    let output = machine.program("script", ["-qec", &line, "/dev/null"]).env("CLAUDECODE", "1").run();
    assert!(output.code != 0 && !output.stdout.contains("http://"), "{output:?}");
}
