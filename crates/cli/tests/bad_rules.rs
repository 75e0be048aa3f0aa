//! Rules and policies that are damaged, too large or disguised are reported with their position; all others stay in
//! force.

use crate::support::Machine;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

const GOOD: &str = "name: good\nevents: [bash_command]\nconditions: [{matches_command: docker image ls}]\naction: block\n\
    message: m\n";

/// A project with one valid rule and one damaged file.
struct Damaged {
    machine: Machine,
    project: PathBuf,
}

impl Damaged {
    fn new() -> Damaged {
        let machine = Machine::new();
        let project = machine.project();
        fs::create_dir_all(project.join(".reflex/rules")).unwrap();
        fs::write(project.join(".reflex/rules/good.yaml"), GOOD).unwrap();
        Damaged { machine, project }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.project.join(".reflex").join(name)
    }

    fn decision(&self, command: &str) -> String {
        let output = self.machine.reflex(["check", "--json", command]).folder(&self.project).run();
        output.json()["decision"].as_str().unwrap().to_owned()
    }

    /// Asserts that every command and the hook report the problem, and that the other file stays in force.
    #[track_caller]
    fn check(&self, expected: &str) {
        let output = self.machine.reflex(["rules", "validate"]).folder(&self.project).run();
        assert!(output.code == 1 && output.stdout.contains(expected), "{expected}: {}", output.stdout);
        assert_eq!(self.decision("docker image ls"), "block");
        let advice = self.machine.reflex(["check", "touch a"]).folder(&self.project).run().stdout;
        assert!(advice.contains("guard/broken-rules"), "{advice}");
        let strict = self.machine.reflex(["check", "--mode", "strict", "touch a"]).folder(&self.project).run();
        assert!(strict.stdout.starts_with("ask"), "{}", strict.stdout);
        let looks = self.machine.reflex(["check", "--mode", "strict", "ls"]).folder(&self.project).run();
        assert!(!looks.stdout.starts_with("block"), "{}", looks.stdout);
    }
}

#[track_caller]
fn check(name: &str, text: impl AsRef<[u8]>, expected: &str) {
    let damaged = Damaged::new();
    fs::write(damaged.file(name), text).unwrap();
    damaged.check(expected);
}

#[test]
fn text_that_is_no_yaml_or_no_text_is_told_with_its_line() {
    check("rules/a.yaml", "name: [\n", "a.yaml:");
    check("rules/a.yaml", "name: a\nname: b\n", "a.yaml:2:1");
    check("rules/a.yaml", b"\xff\xfe\0name", "it is not valid UTF-8");
    check("rules/a.yaml", "[".repeat(5000), "a.yaml:1:");
    check("policy.yaml", "preset: balanced\nprotectedPath: [a]\n", "did you mean `protectedPaths`?");
    check("rules/a.yaml", "name: good\nevents: [any]\nconditions: []\n", "there is a rule `good` already");
}

#[test]
fn a_bomb_of_aliases_is_cut_off() {
    let mut text = String::from("a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (before, name) in ["a", "b", "c", "d", "e", "f", "g", "h"].iter().zip(["b", "c", "d", "e", "f", "g", "h", "i"])
    {
        text.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{before}"); 9].join(",")));
    }
    check("rules/a.yaml", text, "it expands beyond the size limit");
}

#[test]
fn files_that_are_too_large_alone_or_together_are_not_read() {
    check("rules/a.yaml", "#".repeat(10 << 20), "it is larger than 1024 KiB");
    let damaged = Damaged::new();
    // Sorted by name: the valid file comes first.
    for number in 0..5 {
        fs::write(damaged.file(&format!("rules/z{number}.yaml")), "#".repeat(1 << 20)).unwrap();
    }
    damaged.check("the files of this folder are larger than 4 MiB");
}

#[test]
fn links_that_lead_out_and_what_is_no_file_do_not_count() {
    let damaged = Damaged::new();
    fs::write(damaged.machine.home().join("a.yaml"), "name: a\nevents: [any]\nconditions: []\n").unwrap();
    symlink(damaged.machine.home().join("a.yaml"), damaged.file("rules/a.yaml")).unwrap();
    damaged.check("a.yaml: it leads out of the folder");
    let damaged = Damaged::new();
    symlink("a.yaml", damaged.file("rules/a.yaml")).unwrap();
    damaged.check("a.yaml: Too many levels");
    let damaged = Damaged::new();
    symlink(damaged.machine.home(), damaged.file("rules/more")).unwrap();
    damaged.check("rules/more: it leads out of the folder");
    let damaged = Damaged::new();
    symlink(".", damaged.file("rules/more")).unwrap();
    damaged.check("the folder is not read: it is reached through a link or is nested too deeply");
    let damaged = Damaged::new();
    fs::create_dir_all(damaged.file(&format!("rules/{}", "a/".repeat(17)))).unwrap();
    damaged.check("the folder is not read: it is reached through a link or is nested too deeply");
    let damaged = Damaged::new();
    fs::create_dir(damaged.file("rules/a.yaml")).unwrap();
    assert_eq!(damaged.decision("docker image ls"), "block");
}

#[test]
fn what_never_ends_is_not_read() {
    let damaged = Damaged::new();
    assert_eq!(damaged.machine.program("mkfifo", [damaged.file("rules/a.yaml")]).run().code, 0);
    damaged.check("it is not a file");
    symlink("/dev/zero", damaged.machine.home().join("b.yaml")).unwrap();
    for named in [damaged.file("rules"), damaged.machine.home().join("b.yaml")] {
        let output = damaged.machine.reflex(["rules", "validate", &named.to_string_lossy()]).run();
        assert!(output.code == 64 && output.stderr.contains("it is not a file"), "{output:?}");
    }
    let damaged = Damaged::new();
    fs::remove_dir_all(damaged.file("rules")).unwrap();
    assert_eq!(damaged.machine.program("mkfifo", [damaged.file("rules")]).run().code, 0);
    let output = damaged.machine.reflex(["rules", "validate"]).folder(&damaged.project).run();
    assert!(output.code == 1 && output.stdout.contains("rules: it is not a folder"), "{}", output.stdout);
}

#[test]
fn what_was_good_before_holds_whatever_becomes_of_the_file() {
    let damaged = Damaged::new();
    assert_eq!(damaged.decision("docker image ls"), "block");
    let file = damaged.file("rules/good.yaml");
    for text in ["name: [".to_owned(), "#".repeat(2 << 20), "\u{0}".to_owned()] {
        fs::write(&file, text).unwrap();
        assert_eq!(damaged.decision("docker image ls"), "block");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(damaged.decision("docker image ls"), "block");
    // A removed file is no longer in force.
    fs::remove_file(&file).unwrap();
    assert_eq!(damaged.decision("docker image ls"), "allow");
}

#[test]
fn a_name_that_is_taken_takes_no_rule_away() {
    let damaged = Damaged::new();
    fs::write(damaged.file("rules/a.yaml"), GOOD.replace("block", "log").replace("image ls", "image *")).unwrap();
    damaged.check("there is a rule `good` already");
}

#[test]
fn a_warning_that_had_no_place_beside_a_question_is_told_with_the_next_call() {
    let damaged = Damaged::new();
    fs::write(damaged.file("policy.yaml"), "preset: laxer\n").unwrap();
    let output = |command: &str| damaged.machine.bash(&damaged.project, command).stdout;
    assert!(!output("git push --force origin topic").contains("guard/broken-rules"));
    assert!(output("touch a").contains("guard/broken-rules"));
    assert_eq!(output("touch b"), "", "it is reported once");
}
