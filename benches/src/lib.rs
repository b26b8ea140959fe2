//! What the benchmark program and the tests of this folder share: objects that are copies of one
//! under other names.

/// The stand-in for an object's own name, in templates.
pub const OWN: &str = "Q000000";

/// An object with a kernel, two functions and a variable, made of `shapes::lean` by ptxas.
pub const LEAN: &[u8] = include_bytes!("../templates/lean.cubin");

/// An object with kernels, functions, weak functions, tables, indirect calls and shared memory,
/// made of `shapes::mixed` by ptxas.
pub const MIXED: &[u8] = include_bytes!("../templates/mixed.cubin");

/// Returns a copy of an object with names of its own, and of the objects that it uses.
pub fn renamed(object: &[u8], own: usize, used: &[usize]) -> Vec<u8> {
    let mut bytes = object.to_vec();
    let length = OWN.len();
    let mut at = 0;
    while let Some(window) = bytes.get_mut(at..at + length) {
        let stands_for = if window == OWN.as_bytes() {
            Some(own)
        } else if window.starts_with(b"R00000") {
            let digit = window.last().and_then(|last| last.checked_sub(b'0'));
            digit.and_then(|digit| used.get(usize::from(digit)).copied())
        } else {
            None
        };
        if let Some(index) = stands_for {
            window.copy_from_slice(format!("X{index:06x}").as_bytes());
            at += length;
        } else {
            at += 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn names_are_replaced_by_others_of_their_length() {
        let copy = renamed(b"_Q000000_R000001_R000007_Q00000", 10, &[2, 300]);
        assert_eq!(copy, b"_X00000a_X00012c_R000007_Q00000");
    }
}
