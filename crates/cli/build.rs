//! Tells the linker of the static build which functions a hook call runs, so that they lie side by side (`hot.ld`).

fn main() {
    println!("cargo::rerun-if-changed=hot.ld");
    let is_static = std::env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "musl");
    if let (true, Ok(folder)) = (is_static, std::env::var("CARGO_MANIFEST_DIR")) {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{folder}/hot.ld");
    }
}
