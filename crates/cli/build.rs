//! Tells the program its target, for `reflex --version --json`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=REFLEX_TARGET={target}");
}
