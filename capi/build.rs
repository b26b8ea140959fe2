//! Gives the shared library the name by which programs ask for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Programs go on with a later version as long as this number is the same.
    println!(
        "cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuweld.so.{}",
        env!("CARGO_PKG_VERSION_MAJOR")
    );
}
