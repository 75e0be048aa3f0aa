//! The guard's files contain no secrets: tests every field of every payload, and every encoding in a command.

use crate::support::Machine;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns characters of an invented secret, by number.
fn chars(length: usize, salt: usize) -> String {
    let chars = b"aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZ";
    (0..length).map(|at| char::from(chars[(at * 7 + salt * 5 + at / 3 + salt / 7) % chars.len()])).collect()
}

/// A key of a service.
fn key(salt: usize) -> String {
    match salt % 5 {
        0 => format!("ghp_{}", chars(36, salt)),
        1 => format!("glpat-{}", chars(20, salt)),
        2 => format!("npm_{}", chars(36, salt)),
        3 => format!("hf_{}", chars(34, salt).replace(|ch: char| ch.is_ascii_digit(), "w")),
        _ => format!("xoxb-{:012}-{:012}-{}", salt * 7 + 210_987_654_321, salt + 187_654_321_098, chars(24, salt)),
    }
}

/// A password that is recognizable only by its position.
fn password(salt: usize) -> String {
    format!("Qz.{}{}7k", chars(5, salt), salt * 13 + 1001)
}

/// Returns a text as is, in JSON, percent-encoded, in hexadecimal and in base64 at every alignment.
fn forms(secret: &str) -> Vec<String> {
    let json = Value::from(secret).to_string();
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let digits: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![secret.to_owned(), json.trim_matches('"').to_owned(), percent, digits];
    forms.extend((0..3).map(|before| {
        let encoded = base64(&[&vec![0; before][..], secret.as_bytes()].concat());
        encoded[[0, 2, 3][before]..encoded.len() - 2].to_owned()
    }));
    forms
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |sum, at| sum << 8 | usize::from(*part.get(at).unwrap_or(&0)));
        let ch = |at: usize| char::from(ALPHABET[number >> (18 - 6 * at) & 63]);
        text.extend((0..=part.len()).map(ch));
    }
    text
}

/// Everything in a folder: the names and the bytes of its files.
fn kept(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(kept(&path));
        } else {
            let named = path.strip_prefix(folder).unwrap().as_os_str().as_encoded_bytes();
            all.push((path.clone(), [named, b"\n", &std::fs::read(&path).unwrap()].concat()));
        }
    }
    all
}

/// Asserts that no file in the machine's home and no output contains one of these.
#[track_caller]
fn check(machine: &Machine, secrets: &[(String, String)]) {
    let mut all = kept(&machine.home());
    for view in
        ["pending --json", "audit export --format csv", "audit export --format otlp", "report --since 1h --json"]
    {
        let output = machine.reflex(view.split(' ')).run();
        all.push((PathBuf::from(view), output.stdout.into_bytes()));
    }
    let all: Vec<(PathBuf, String)> =
        all.into_iter().map(|(file, bytes)| (file, String::from_utf8_lossy(&bytes).into_owned())).collect();
    let mut found = Vec::new();
    for (place, secret) in secrets {
        let forms = forms(secret);
        let holds = |text: &str| forms.iter().any(|form| text.contains(form));
        found.extend(all.iter().find(|(_, text)| holds(text)).map(|(file, _)| format!("{place}: {}", file.display())));
    }
    assert!(found.is_empty(), "{} of {} secrets are kept:\n{}", found.len(), secrets.len(), found.join("\n"));
}

/// Returns each string of a payload, by its path.
fn texts(value: &Value, way: &str, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(way, text),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| texts(item, &format!("{way}/{at}"), each))
        }
        Value::Object(fields) => fields.iter().for_each(|(key, item)| texts(item, &format!("{way}/{key}"), each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_secret_in_any_field_of_any_payload_stands_in_no_file_of_ours() {
    const AGENTS: [&str; 8] = ["claude", "codex", "copilot", "cursor", "gemini", "opencode", "qwen", "windsurf"];
    let machine = Machine::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/fixtures");
    let mut secrets: Vec<(String, String)> = Vec::new();
    for agent in AGENTS {
        let mut seen = std::collections::BTreeSet::new();
        for file in kept(&fixtures.join(agent)) {
            let Ok(payload) =
                serde_json::from_slice::<Value>(&file.1[file.1.iter().position(|b| *b == b'\n').unwrap()..])
            else {
                continue;
            };
            let name = file.0.file_stem().unwrap().to_string_lossy().into_owned();
            let mut places = Vec::new();
            texts(&payload, "", &mut |way, text| places.push((way.to_owned(), text.to_owned())));
            // A field that occurs in many payloads is tested once for each event.
            let moment = name.split('-').next().unwrap().to_owned();
            places.retain(|(way, _)| seen.insert(format!("{moment} {way}")));
            // These fields identify a payload, so they are tested one at a time.
            let identifies =
                |way: &str| ["name", "type", "event", "tool"].iter().any(|word| way.to_lowercase().ends_with(word));
            let (alone, together): (Vec<_>, Vec<_>) = places.into_iter().partition(|(way, _)| identifies(way));
            for group in alone.into_iter().map(|place| vec![place]).chain([together]).filter(|group| !group.is_empty())
            {
                let mut planted = payload.clone();
                for (way, text) in group {
                    let secret = key(secrets.len());
                    let path = text.starts_with('/');
                    *planted.pointer_mut(&way).unwrap() =
                        if path { format!("{text}/{secret}") } else { format!("{text} {secret}") }.into();
                    secrets.push((format!("{agent} {name} {way}"), secret));
                }
                machine.reflex(["hook", "--agent", agent]).input(planted.to_string().into_bytes()).run();
            }
        }
    }
    assert!(secrets.len() > 300, "{}", secrets.len());
    check(&machine, &secrets);
}

#[test]
fn a_secret_in_any_form_in_a_command_stands_in_no_file_of_ours() {
    let machine = Machine::new();
    let mut secrets: Vec<(String, String)> = Vec::new();
    let mut plant = |command: &dyn Fn(&str) -> String, secret: String| {
        for end in ["", "; rm -rf ~"] {
            machine.bash(&machine.project(), &format!("{}{end}", command(&secret)));
        }
        secrets.push((command(&secret), secret));
    };
    let quoted = |secret: &str| Value::from(secret).to_string();
    let ways: [&dyn Fn(&str) -> String; 16] = [
        &|secret| format!("{secret} --version"),
        &|secret| format!("echo a > {secret}/a"),
        &|secret| format!("curl https://x.example/{secret}/y"),
        &|secret| format!("echo {}", base64(format!("key {secret}").as_bytes())),
        &|secret| format!("echo {}", base64(base64(secret.as_bytes()).as_bytes())),
        &|secret| format!("echo {}''{}\"\"{}", &secret[..5], &secret[5..9], &secret[9..]),
        &|secret| format!("echo {}\\\n{}", &secret[..7], &secret[7..]),
        &|secret| format!("echo {}\u{200b}{}", &secret[..7], &secret[7..]),
        &|secret| format!("curl https://x.example/{}", secret.bytes().map(|b| format!("%{b:02X}")).collect::<String>()),
        &|secret| format!("echo $'{}'", secret.bytes().map(|b| format!("\\x{b:02x}")).collect::<String>()),
        &|secret| {
            format!("curl -d '{{\"a\": {}}}' https://x.example", quoted(&format!("{{\"b\": {}}}", quoted(secret))))
        },
        &|secret| format!("echo {}{secret} {}", "x ".repeat(2035), "y".repeat(40)),
        &|secret| format!("cat > a <<'END'\nx {secret}\nEND"),
        &|secret| format!("sh -c 'python3 -c \"print(\\\"{secret}\\\")\"'"),
        &|secret| format!("git commit -m 'use {secret}'"),
        &|secret| format!("ls # {secret}"),
    ];
    ways.iter().enumerate().for_each(|(salt, way)| plant(way, key(salt + 1000)));
    let places = [
        "sshpass -p {} ssh a@b.example",
        "7z a -p{} a.7z b",
        "htpasswd -b .htpasswd app {}",
        "lftp -u app,{} ftp://x.example",
        "echo app:{} | chpasswd",
        "sudo chpasswd <<END\napp:{}\nEND",
        "curl -u app:{} https://x.example",
        "git remote add o https://app:{}@x.example/x.git",
        "curl 'https://x.example/?token={}'",
        "curl -H 'Cookie: sid={}' https://x.example",
        "mysql -u app -p{} db",
        "sh -c 'sshpass -p {} ssh a@b.example'",
        "aws configure set aws_secret_access_key {}",
        "curl -d '{\"a\": \"{\\\"password\\\": \\\"{}\\\"}\"}' https://x.example",
    ];
    for (salt, place) in places.iter().enumerate() {
        plant(&|secret| place.replace("{}", secret), password(salt));
    }
    check(&machine, &secrets);
}
