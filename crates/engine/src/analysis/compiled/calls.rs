//! Effects of functions of compiled languages, by the ends of their names.

use super::functions::is;
use super::reader::Reader;
use super::values::{script, word};

const DELETES_TREE: [&str; 9] = [
    "File.rm_rf",
    "project.delete",
    "os.RemoveAll",
    "remove_dir_all",
    "remove_all",
    "FileUtils.deleteDirectory",
    "FileUtils.forceDelete",
    "Directory.Delete",
    "removeItem",
];

const DELETES: [&str; 9] = [
    "File.rm",
    "file.remove",
    "os.Remove",
    "unlink",
    "fs.remove_file",
    "Files.delete",
    "Files.deleteIfExists",
    "File.Delete",
    "syscall.Unlink",
];

const READS: [&str; 11] = [
    "os.ReadFile",
    "ioutil.ReadFile",
    "os.Open",
    "fs.read",
    "fs.read_to_string",
    "Files.readString",
    "Files.readAllBytes",
    "Files.readAllLines",
    "File.ReadAllText",
    "File.ReadAllBytes",
    "fopen",
];

const SENDS: [&str; 5] = ["http.Post", "http.PostForm", "PostAsync", "client.post", "Client.post"];

impl Reader {
    /// Adds the effect of a call as a shell line.
    pub(super) fn call(&mut self, name: &str, open: usize) {
        let arguments = self.arguments(open, 0);
        let first = arguments.first().cloned().flatten();
        let owner = name.rsplit_once('.').and_then(|(value, _)| self.names.get(value).cloned());
        let tree = is(name, &DELETES_TREE);
        if name.eq_ignore_ascii_case("file") && self.names_in(open).any(|name| name.starts_with("REMOVE")) {
            // The files that CMake removes are a list without commas.
            let texts = self.texts(open);
            self.lines.extend(texts.iter().map(|path| format!("rm -rf -- {}", word(path))));
        } else if let Some(path) = first.clone().filter(|_| tree || name == "delete" || is(name, &DELETES)) {
            self.lines.push(format!("rm {} -- {}", if tree { "-rf" } else { "-f" }, word(&path)));
        } else if let (true, Some(path)) = (is(name, &["deleteRecursively"]), owner) {
            self.lines.push(format!("rm -rf -- {}", word(&path)));
        } else if let Some(path) = first.clone().filter(|_| is(name, &READS)) {
            let writes = arguments.get(1).cloned().flatten().is_some_and(|mode| !mode.starts_with('r'));
            if !writes {
                self.lines.push(format!("cat -- {}", word(&path)));
                self.read.push(path);
            }
        } else if let Some(text) =
            first.clone().filter(|_| matches!(name, "system" | "popen" | "std.system" | "libc.system"))
        {
            self.lines.push(script(&text));
        } else if let Some(url) = first.filter(|url| is(name, &SENDS) && url.contains("://")) {
            self.sends(&url);
        } else {
            let words = self.program(name, open, arguments);
            self.lines.extend(words.filter(|line| !line.is_empty()));
        }
        self.after(name, open);
    }

    /// Returns the program that a call runs, as a shell line.
    fn program(&mut self, name: &str, open: usize, arguments: Vec<Option<String>>) -> Option<String> {
        let quoted = |values: Vec<Option<String>>| {
            let known: Option<Vec<String>> = values.into_iter().map(|value| Some(word(&value?))).collect();
            known.map(|words| words.join(" "))
        };
        match name {
            "exec.Command" | "ProcessBuilder" => {
                let listed =
                    arguments.iter().all(Option::is_none).then(|| self.texts(open).into_iter().map(Some).collect());
                quoted(listed.unwrap_or(arguments))
            }
            "exec.CommandContext" => quoted(arguments.into_iter().skip(1).collect()),
            "execl" | "execlp" | "execle" => {
                let named = arguments.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, value)| value.clone());
                quoted(named.take_while(Option::is_some).collect())
            }
            "Process.Start" => {
                let texts: Option<Vec<String>> = arguments.into_iter().collect();
                texts.map(|texts| script(&texts.join(" ")))
            }
            name if is(name, &["Command.new"]) => {
                let mut words = arguments;
                let mut at = self.close(open) + 1;
                while let Some((method, inner)) = self.method_at(at) {
                    match method.as_str() {
                        "arg" => words.extend(self.arguments(inner, 1)),
                        "args" => words.extend(self.texts(inner).into_iter().map(Some)),
                        _ => {}
                    }
                    at = self.close(inner) + 1;
                }
                quoted(words)
            }
            _ => None,
        }
    }

    /// Adds the effect of a method on a call's result: `Runtime.getRuntime().exec("…")`, `File(x).deleteRecursively()`.
    fn after(&mut self, name: &str, open: usize) {
        let close = self.close(open);
        let Some((method, inner)) = self.method_at(close + 1) else { return };
        let arguments = self.arguments(inner, 1);
        if name.ends_with("getRuntime") && method == "exec" {
            let line = match arguments.first() {
                Some(Some(text)) => script(text),
                _ => self.texts(inner).iter().map(|text| word(text)).collect::<Vec<_>>().join(" "),
            };
            self.lines.push(line);
        } else if method == "deleteRecursively" {
            let values = self.arguments(open, 1);
            let path = self.function(name, &values, open);
            self.lines.extend(path.map(|path| format!("rm -rf -- {}", word(&path))));
        } else if method == "post" {
            let url = arguments.into_iter().next().flatten().filter(|url| url.contains("://"));
            url.into_iter().for_each(|url| self.sends(&url));
        }
    }

    /// Adds lines that send every file read before, and the environment if the program reads it: any of them may be the
    /// content.
    fn sends(&mut self, url: &str) {
        let lines: Vec<String> =
            self.read.iter().map(|path| format!("curl --data-binary @{} {}", word(path), word(url))).collect();
        let environment = self.names_in(0).any(|name| is(name, &["os.Environ", "env.vars"]));
        self.lines.extend(lines);
        if environment {
            self.lines.push(format!("env | curl -d @- {}", word(url)));
        }
    }
}
