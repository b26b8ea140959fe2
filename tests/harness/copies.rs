//! Many objects out of one: copies of `tests/opt_in/c.cubin`, each with names of its own.

use std::path::Path;

/// An object with one kernel and one function.
const OBJECT: &[u8] = include_bytes!("../opt_in/c.cubin");

/// The names in it that each copy has its own of.
const NAMES: [&str; 2] = ["kernel_c", "helper"];

/// Writes so many copies into a folder; their names.
pub fn copies(folder: &Path, count: usize) -> Vec<String> {
    let files: Vec<String> = (0..count).map(|number| format!("{number}.cubin")).collect();
    for (number, file) in files.iter().enumerate() {
        std::fs::write(folder.join(file), copy(number)).unwrap();
    }
    files
}

/// The object with its names numbered.
fn copy(number: usize) -> Vec<u8> {
    let mut bytes = OBJECT.to_vec();
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
