//! Tells the program its target, for `reflex --version --json`, and the linker the order of functions, which
//! `cargo xtask release` names in a variable.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=REFLEX_TARGET={target}");
    println!("cargo::rerun-if-env-changed=REFLEX_ORDER");
    if let Ok(order) = std::env::var("REFLEX_ORDER") {
        println!("cargo::rerun-if-changed={order}");
        println!("cargo::rustc-link-arg-bin=reflex=-Wl,-T,{order}");
    }
}
