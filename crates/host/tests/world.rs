//! What a hostile folder holds never hangs the guard, and what cannot be known is not guessed.

use reflex_engine::{Files, MAX_CONTENT};
use reflex_host::LocalWorld;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Ground {
    fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Ground { _folder: folder, root }
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    fn world(&self) -> LocalWorld<'_> {
        crate::world_of_nobody(&self.root)
    }
}

#[test]
fn only_regular_files_of_text_and_of_some_size_have_a_content() {
    let ground = Ground::new();
    fs::write(ground.path("script"), "ls\n").unwrap();
    fs::write(ground.path("binary"), b"\x7fELF\0\0").unwrap();
    fs::write(ground.path("latin"), b"\xe9").unwrap();
    fs::write(ground.path("large"), "x".repeat(MAX_CONTENT + 1)).unwrap();
    fs::create_dir(ground.path("folder")).unwrap();
    symlink("script", ground.path("link")).unwrap();
    symlink("loop", ground.path("loop")).unwrap();
    symlink("/dev/zero", ground.path("device")).unwrap();
    assert!(Command::new("mkfifo").arg(ground.path("pipe")).status().unwrap().success());
    let world = ground.world();
    for name in ["script", "link"] {
        assert_eq!(world.content(&ground.path(name)).as_deref(), Some("ls\n"), "{name}");
    }
    for name in ["binary", "latin", "large", "folder", "loop", "device", "pipe", "missing"] {
        assert_eq!(world.content(&ground.path(name)), None, "{name}");
    }
}

#[test]
fn links_in_a_ring_lead_nowhere_else() {
    let ground = Ground::new();
    symlink("b", ground.path("a")).unwrap();
    symlink("a", ground.path("b")).unwrap();
    let real = ground.world().real(&ground.path("a/x"), true);
    assert_eq!(real.path, ground.path("a/x"));
}

#[test]
fn patterns_are_expanded_as_the_shell_does_it_up_to_a_limit() {
    let ground = Ground::new();
    for name in ["one.txt", "two.txt", ".hidden.txt", "three.rs"] {
        fs::write(ground.path(name), "").unwrap();
    }
    let world = ground.world();
    let expanded = |pattern: &str| {
        let mut found = world.expand(&ground.path(pattern)).known()?;
        found.sort();
        Some(found)
    };
    let paths = |names: &[&str]| Some(names.iter().map(|name| ground.path(name)).collect::<Vec<_>>());
    assert_eq!(expanded("*.txt"), paths(&["one.txt", "two.txt"]));
    assert_eq!(expanded(".h*"), paths(&[".hidden.txt"]));
    assert_eq!(expanded("[!o]*.txt"), paths(&["two.txt"]));
    assert_eq!(expanded("*.none"), paths(&[]));
    assert_eq!(expanded("**/x"), None);
    fs::create_dir_all(ground.path("a/in")).unwrap();
    fs::create_dir_all(ground.path("b")).unwrap();
    assert_eq!(expanded("[ab]/in"), paths(&["a/in"]));
    fs::create_dir(ground.path("many")).unwrap();
    (0..10_001).for_each(|index| drop(fs::File::create(ground.path(&format!("many/{index}"))).unwrap()));
    assert_eq!(expanded("many/*"), None);
}
