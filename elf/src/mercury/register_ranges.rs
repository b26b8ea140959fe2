//! `.nv_debug_info_reg_sass`: in which registers the values of PTX registers lie, by ranges of
//! code.
//!
//! ```text
//! name of a function, NUL, u32 number of rows, then each row
//!   u32, name of a PTX register, NUL, u32 register, u32 begin, u32 end
//! ```

/// The ranges of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges<'data> {
    /// Its name.
    pub function: &'data [u8],
    /// Where each begin lies, in bytes; its end follows it.
    pub places: Vec<usize>,
}

fn name(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.get(..rest.iter().position(|byte| *byte == 0)?)
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
        let mut places = Vec::new();
        for _ in 0..count {
            let register = name(bytes, at.checked_add(4)?)?;
            at += 4 + register.len() + 1 + 4;
            places.push(at);
            at += 8;
            if at > bytes.len() {
                return None;
            }
        }
        all.push(Ranges { function, places });
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
        assert_eq!(
            (ranges[0].function, &ranges[0].places[..]),
            (&b"f"[..], &[18][..])
        );
        assert_eq!((ranges[1].function, ranges[1].places.len()), (&b"g"[..], 0));
        assert!(parse(&bytes[..20]).is_none());
        assert!(parse(b"f").is_none());
    }
}
