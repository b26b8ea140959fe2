//! Making an input smaller while a check keeps failing.
//!
//! The method is delta debugging: parts are left out in halves, quarters and so on down to single
//! ones, as long as what is left still fails, and this is repeated until no single part can go. A
//! set of files is reduced by files, a module in text form by entities (`rows.rs`).

mod rows;

pub use rows::KINDS;
pub use rows::Rows;

/// Leaves out as many of `parts` as it can while `fails` says yes of those that are kept, in order.
/// Takes O(n log n) calls if few parts matter, O(n²) at worst.
pub fn minimize<E>(
    mut parts: Vec<usize>,
    mut fails: impl FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    let mut size = parts.len().div_ceil(2).max(1);
    while !parts.is_empty() {
        let mut shrunk = false;
        let mut start = 0;
        while start < parts.len() {
            let end = parts.len().min(start + size);
            let left: Vec<usize> = parts[..start]
                .iter()
                .chain(&parts[end..])
                .copied()
                .collect();
            if fails(&left)? {
                parts = left;
                shrunk = true;
            } else {
                start = end;
            }
        }
        match size {
            1 if !shrunk => break,
            1 => {}
            _ => size = size.div_ceil(2),
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        let mut calls = 0;
        let needed = [3, 58, 59];
        let found: Result<_, ()> = minimize((0..100).collect(), |kept| {
            calls += 1;
            Ok(needed.iter().all(|part| kept.contains(part)))
        });
        assert_eq!(found.unwrap(), needed);
        assert!(calls < 100, "{calls}");
        let nothing: Result<_, ()> = minimize((0..9).collect(), |_| Ok(true));
        assert!(nothing.unwrap().is_empty());
    }
}
