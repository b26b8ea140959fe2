//! Many objects out of one: copies of `tests/opt_in/c.cubin`, or of the same for sm_100, each with names of its own.

use std::path::Path;

/// An object for sm_90 with one kernel and one function.
pub const SM_90: &[u8] = include_bytes!("../opt_in/c.cubin");

/// The same for sm_100, with its Mercury.
#[allow(dead_code, reason = "not every test links it")]
pub const SM_100: &[u8] = include_bytes!("../opt_in/c-sm_100.cubin");

/// The names in it that each copy has its own of.
const NAMES: [&str; 2] = ["kernel_c", "helper"];

/// Writes `count` copies of an object into a folder, and returns their names.
pub fn copies(object: &[u8], folder: &Path, count: usize) -> Vec<String> {
    let files: Vec<String> = (0..count).map(|number| format!("{number}.cubin")).collect();
    for (number, file) in files.iter().enumerate() {
        std::fs::write(folder.join(file), copy(object, number)).unwrap();
    }
    files
}

/// The object with its names numbered.
fn copy(object: &[u8], number: usize) -> Vec<u8> {
    let mut bytes = object.to_vec();
    for name in NAMES {
        let width = name.len() - 1;
        let new = format!("{}{number:0width$}", &name[..1]);
        let last = bytes.len() - name.len();
        for at in 0..=last {
            if bytes[at..].starts_with(name.as_bytes()) {
                bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
            }
        }
    }
    bytes
}
