//! Compares a backup with `cp -a`: `cargo run --release -p reflex-keep --example ratio [FILES BYTES]`.

use reflex_keep::{About, BackupStore, Bounds, Request};
use std::fs;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

/// So often each is measured; the fastest counts.
const ROUNDS: usize = 15;

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (files, bytes) = (numbers.next().unwrap_or(500), numbers.next().unwrap_or(8000));
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    for number in 0..files {
        let place = root.join(format!("work/{}", number % 20));
        fs::create_dir_all(&place)?;
        fs::write(place.join(number.to_string()), vec![b'x'; bytes])?;
    }
    let store = BackupStore::new(root.join("kept"), Bounds::default());
    let request = Request { roots: vec![root.join("work")], ..Request::default() };
    let (mut kept, mut copied) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        store.keep(&request, &About::default()).map_err(|refused| io::Error::other(refused.to_string()))?;
        kept = kept.min(begun.elapsed());
        fs::remove_dir_all(store.folder())?;
        let begun = Instant::now();
        Command::new("cp").arg("-a").args([root.join("work"), root.join("copy")]).status()?;
        copied = copied.min(begun.elapsed());
        fs::remove_dir_all(root.join("copy"))?;
    }
    let ratio = kept.as_secs_f64() / copied.as_secs_f64();
    println!("{files} files of {bytes} bytes: kept in {kept:?}, `cp -a` in {copied:?}, ratio {ratio:.2}");
    Ok(())
}
