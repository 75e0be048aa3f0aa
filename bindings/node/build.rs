//! Sets the linker flags of a Node.js addon.

fn main() {
    napi_build::setup();
}
