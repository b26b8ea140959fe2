//! `.nv_debug_info_reg_sass`: in which registers the values of PTX registers lie, by ranges of
//! code.
//!
//! ```text
//! name of a function, NUL, u32 number of rows, then each row
//!   u32, name of a PTX register, NUL, u32 register, u32 begin, u32 end
//! ```

use super::offsets::Offsets;

/// The name of the section.
pub const REGISTER_RANGES: &[u8] = b".nv_debug_info_reg_sass";

/// The ranges of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges<'data> {
    /// Its name.
    pub function: &'data [u8],
    /// Its rows.
    pub rows: Vec<Row<'data>>,
}

/// A range of code in which a register holds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'data> {
    /// The row without the range: what it says of the variable, and last of the register.
    pub variable: &'data [u8],
    /// Where the begin of the range lies, in bytes; its end follows it.
    pub place: usize,
    /// The range, in bytes of code.
    pub range: [u32; 2],
}

impl Row<'_> {
    /// Returns what the compiler sorts rows by: the register and the begin.
    fn key(&self) -> (Option<u32>, u32) {
        let register = self.variable.last_chunk().copied();
        (register.map(u32::from_le_bytes), self.range[0])
    }
}

/// Returns the ranges of the rows `sass` of a function in other code, by the rows `mercury` that it
/// has in the Mercury view: `None` for a range with an end that is not known, and for all if the
/// rows do not stand for each other.
pub fn in_other_code(
    sass: &[Row<'_>],
    mercury: &[Row<'_>],
    offsets: &Offsets,
) -> Vec<Option<[u32; 2]>> {
    let mut mercury = mercury.to_vec();
    mercury.sort_by_key(Row::key);
    let is_alike = |(sass, mercury): (&Row<'_>, &Row<'_>)| sass.variable == mercury.variable;
    if sass.len() != mercury.len() || !sass.iter().zip(&mercury).all(is_alike) {
        return vec![None; sass.len()];
    }
    let ranges = mercury.iter().map(|row| {
        let [begin, end] = offsets.range(row.range.map(u64::from))?;
        Some([u32::try_from(begin).ok()?, u32::try_from(end).ok()?])
    });
    ranges.collect()
}

fn name(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.get(..memchr::memchr(0, rest)?)
}

/// Returns the ranges of all functions; `None` if the section is of another form.
pub fn parse(bytes: &[u8]) -> Option<Vec<Ranges<'_>>> {
    let mut all = Vec::new();
    let mut at = 0_usize;
    while at < bytes.len() {
        let function = name(bytes, at)?;
        at += function.len() + 1;
        let count = bytes.get(at..at.checked_add(4)?)?;
        let count = u32::from_le_bytes(count.try_into().ok()?);
        at += 4;
        let mut rows = Vec::new();
        for _ in 0..count {
            let start = at;
            let register = name(bytes, at.checked_add(4)?)?;
            at += 4 + register.len() + 1 + 4;
            let range = bytes.get(at..at.checked_add(8)?)?;
            let (words, _) = range.as_chunks::<4>();
            rows.push(Row {
                variable: bytes.get(start..at)?,
                place: at,
                range: [0, 1]
                    .map(|word| words.get(word).map_or(0, |word| u32::from_le_bytes(*word))),
            });
            at += 8;
        }
        all.push(Ranges { function, rows });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn rows_are_found() {
        let mut bytes = b"f\0\x01\0\0\0\0\0\0\0%r1\0".to_vec();
        bytes.extend([4, 0, 0, 5, 1, 0, 0, 0, 2, 0, 0, 0]);
        bytes.extend(b"g\0\0\0\0\0");
        let ranges = parse(&bytes).unwrap();
        let row = ranges[0].rows[0];
        assert_eq!((ranges[0].function, row.place), (&b"f"[..], 18));
        assert_eq!((row.range, row.key()), ([1, 2], (Some(0x0500_0004), 1)));
        assert_eq!((ranges[1].function, ranges[1].rows.len()), (&b"g"[..], 0));
        assert!(parse(&bytes[..20]).is_none());
        assert!(parse(b"f").is_none());
    }
}
