//! Makes the lines of a function anew, from those of its Mercury code.

use std::collections::BTreeMap;

use super::super::offsets::Offsets;
use super::END;
use super::SET_ADDRESS;

/// Forms of a unit, by the bytes after the length in its head: the size of an instruction, whether
/// rows are statements, and how codes are divided.
#[derive(Clone, Copy)]
struct UnitForm {
    /// The version of DWARF.
    version: u16,
    codes: &'static [u8],
    /// The first special code.
    code_base: u8,
}

/// Up to CUDA 13.4, and the form of 13.5, whose rows also say where a prologue ends.
const FORMS: [UnitForm; 2] = [
    UnitForm {
        version: 2,
        codes: &[1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1],
        code_base: 10,
    },
    UnitForm {
        version: 3,
        codes: &[1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1],
        code_base: 13,
    },
];

const LINE_BASE: i64 = -5;
const LINE_RANGE: i64 = 14;

/// Codes of a sequence.
const EXTENDED: u8 = 0;
const COPY: u8 = 1;
const ADVANCE_ADDRESS: u8 = 2;
const ADVANCE_LINE: u8 = 3;
const SET_FILE: u8 = 4;
/// In the second of [`FORMS`].
const PROLOGUE_END: u8 = 10;

/// Extended codes at the ends of a sequence.
const END_OF_SEQUENCE: u8 = 1;
const ADDRESS: u8 = 2;

/// The extended code, of one byte, that says whether the rows that follow are of what comes before
/// the first statement of the function.
const BEFORE_STATEMENTS: u8 = 0x92;

/// A file and a line in it.
type Line = (u8, i64);

/// A row of a sequence.
struct Row<'data> {
    address: u64,
    line: Line,
    /// Extended codes that are not known, such as those of inlined functions.
    context: &'data [u8],
    /// Whether it is of what comes before the first statement.
    is_before: bool,
    ends_prologue: bool,
}

/// The rows of a sequence.
#[derive(Default)]
struct Rows {
    /// The last at each address.
    lines: BTreeMap<u64, Line>,
    /// Whether a statement begins at the first address.
    begins_statement: bool,
    /// The address of the row that ends the prologue, if one is said to.
    prologue_end: Option<u64>,
}

/// A sequence that is made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remade {
    /// Its bytes.
    pub codes: Vec<u8>,
    /// Whether it is known to be what nvlink writes.
    pub is_certain: bool,
}

/// Makes the sequence of a function in the SASS view from that in the Mercury view whose address
/// lies at `address` in a unit: each Mercury instruction has the line of the last row that does not
/// lie after it, in code of `size` bytes. `None` if the unit is of another form.
///
/// Where a row within an instruction is passed over, and the next one has the line of the one
/// before, nvlink writes no row. Sometimes it does, and it is not known when: the result is not
/// certain.
pub fn remake(unit: &[u8], address: u64, offsets: &Offsets, size: u64) -> Option<Remade> {
    let form = form(unit)?;
    let rows = rows(sequence(unit, usize::try_from(address).ok()?)?, form)?;
    let mut out = [&SET_ADDRESS[..], &[0; 8]].concat();
    let (mut last_row, mut written, mut at) = (None, None, 0);
    let mut prologue_end = rows.prologue_end;
    let mut is_certain = true;
    for (mercury, sass) in offsets.instructions() {
        let row = rows.lines.range(..=mercury).next_back();
        let Some((_, line)) = row.filter(|_| row != last_row) else {
            continue;
        };
        last_row = row;
        if written == Some(*line) {
            is_certain = false;
            continue;
        }
        let ends_prologue = prologue_end.take_if(|end| *end <= mercury).is_some();
        let advance = sass.checked_sub(at)?;
        write_row(
            written,
            *line,
            advance,
            form,
            (&[], ends_prologue),
            &mut out,
        )?;
        if written.is_none() && rows.begins_statement {
            out.extend_from_slice(&[ADVANCE_LINE, 0, COPY]);
        }
        (written, at) = (Some(*line), sass);
    }
    out.push(ADVANCE_ADDRESS);
    write_signed(i64::try_from(size.checked_sub(at)?).ok()?, &mut out);
    out.extend_from_slice(&END);
    Some(Remade {
        codes: out,
        is_certain,
    })
}

/// Makes the sequence of a function whose addresses stay those in Mercury code, from that in the
/// Mercury view whose address lies at `address` in a unit. Its last row has no code. `None` if the
/// unit is of another form.
pub fn in_mercury(unit: &[u8], address: u64) -> Option<Vec<u8>> {
    let form = form(unit)?;
    let rows = rows(sequence(unit, usize::try_from(address).ok()?)?, form)?;
    let mut out = [&SET_ADDRESS[..], &[0; 8]].concat();
    let (mut written, mut at) = (None, 0);
    for (place, line) in rows.lines {
        let ends_prologue = rows.prologue_end == Some(place);
        let advance = place.checked_sub(at)?;
        write_row(written, line, advance, form, (&[], ends_prologue), &mut out)?;
        (written, at) = (Some(line), place);
    }
    out.extend_from_slice(&END);
    Some(out)
}

/// Makes the sequence of a function in the SASS view anew, whose address lies at `address` in a unit,
/// with other addresses of its rows and of its end. `None` if the unit is of another form, or the
/// sequence is not as nvlink writes it.
pub fn with_addresses(
    unit: &[u8],
    address: u64,
    moved: impl Fn(u64) -> Option<u64>,
) -> Option<Vec<u8>> {
    let form = form(unit)?;
    let codes = sequence(unit, usize::try_from(address).ok()?)?;
    let (rows, end) = read(codes, form)?;
    let write = |moved: &dyn Fn(u64) -> Option<u64>| {
        let mut out = [&SET_ADDRESS[..], &[0; 8]].concat();
        let (mut written, mut at) = (None, 0);
        for row in &rows {
            let address = moved(row.address)?;
            if (written, at) == (Some(row.line), address) && row.context.is_empty() {
                out.extend_from_slice(&[ADVANCE_LINE, 0, COPY]);
                continue;
            }
            let advance = address.checked_sub(at)?;
            let before = (row.context, row.ends_prologue);
            write_row(written, row.line, advance, form, before, &mut out)?;
            (written, at) = (Some(row.line), address);
        }
        out.push(ADVANCE_ADDRESS);
        write_signed(i64::try_from(moved(end)?.checked_sub(at)?).ok()?, &mut out);
        out.extend_from_slice(&END);
        Some(out)
    };
    let same = write(&|address| Some(address))?;
    (codes.starts_with(same.get(SET_ADDRESS.len() + 8..)?)).then(|| write(&moved))?
}

/// Appends a row after that of the line `last`, which lies `advance` bytes before it, with the
/// extended code `context` and whether the prologue ends there.
fn write_row(
    last: Option<Line>,
    line: Line,
    advance: u64,
    form: UnitForm,
    (context, ends_prologue): (&[u8], bool),
    out: &mut Vec<u8>,
) -> Option<()> {
    let advance = i64::try_from(advance).ok()?;
    let (file, before) = last.unwrap_or((0, 1));
    if ends_prologue && last.is_some() {
        out.push(PROLOGUE_END);
    }
    if line.0 != file {
        out.extend_from_slice(&[SET_FILE, line.0]);
    }
    if !context.is_empty() {
        out.push(EXTENDED);
        out.extend_from_slice(context);
    }
    let lines = line.1.checked_sub(before)?;
    let special =
        i64::from(form.code_base) + LINE_RANGE * advance.min(255) + lines.clamp(-255, 255)
            - LINE_BASE;
    let is_in_range = (LINE_BASE..LINE_BASE + LINE_RANGE).contains(&lines);
    match u8::try_from(special) {
        Ok(special) if is_in_range && lines != 0 && last.is_some() => out.push(special),
        _ => {
            if lines != 0 || last.is_none() {
                out.push(ADVANCE_LINE);
                write_signed(lines, out);
            }
            match last {
                Some(_) if advance != 0 => {
                    out.push(ADVANCE_ADDRESS);
                    write_signed(advance, out);
                }
                None if advance != 0 => return None,
                None if ends_prologue => out.push(PROLOGUE_END),
                _ => {}
            }
            out.push(COPY);
        }
    }
    Some(())
}

/// Returns where the units of a table begin; `None` if the table is of another form.
pub fn units(table: &[u8]) -> Option<Vec<u64>> {
    let mut starts = Vec::new();
    let mut at = 0_usize;
    while at < table.len() {
        starts.push(at as u64);
        let length = u32::from_le_bytes(*table.get(at..)?.first_chunk()?);
        at = at
            .checked_add(4)?
            .checked_add(usize::try_from(length).ok()?)?;
    }
    (at == table.len()).then_some(starts)
}

/// Returns the form of a unit.
fn form(unit: &[u8]) -> Option<UnitForm> {
    let head = unit.get(4..)?;
    let version = u16::from_le_bytes(*head.first_chunk()?);
    let form = FORMS.into_iter().find(|form| form.version == version)?;
    head.get(6..)?.starts_with(form.codes).then_some(form)
}

/// Returns the sequence whose address lies at `address` in a unit, from the codes after it on.
fn sequence(unit: &[u8], address: usize) -> Option<&[u8]> {
    let sequence = unit.get(address.checked_sub(SET_ADDRESS.len())?..)?;
    sequence.strip_prefix(&SET_ADDRESS)?.get(8..)
}

/// Reads the rows of a sequence, the last at each address.
fn rows(codes: &[u8], form: UnitForm) -> Option<Rows> {
    let mut rows = Rows::default();
    for row in read(codes, form)?.0 {
        if !row.context.is_empty() {
            return None;
        }
        rows.lines.insert(row.address, row.line);
        if row.ends_prologue {
            rows.prologue_end.get_or_insert(row.address);
        }
        rows.begins_statement |= row.address == 0 && !row.is_before;
    }
    Some(rows)
}

/// Reads the rows of a sequence in their order; returns them and the address where it ends.
fn read(mut codes: &[u8], form: UnitForm) -> Option<(Vec<Row<'_>>, u64)> {
    let mut rows = Vec::new();
    let mut context: &[u8] = &[];
    let (mut address, mut line) = (0_u64, (1, 1));
    let (mut is_before, mut ends_prologue) = (false, false);
    while !codes.starts_with(&END) {
        let code;
        (code, codes) = codes.split_first().map(|(code, rest)| (*code, rest))?;
        match code {
            EXTENDED => {
                if let Some((&[2, BEFORE_STATEMENTS, value], rest)) = codes.split_first_chunk() {
                    is_before = value != 0;
                    codes = rest;
                    continue;
                }
                // Of a size of one byte.
                let size = codes.first().filter(|size| (1..0x80).contains(*size))?;
                let (extended, rest) = codes.split_at_checked(1 + usize::from(*size))?;
                if !context.is_empty() || matches!(extended[1], END_OF_SEQUENCE | ADDRESS) {
                    return None;
                }
                (context, codes) = (extended, rest);
                continue;
            }
            ADVANCE_ADDRESS => {
                address = address.checked_add(u64::try_from(signed(&mut codes)?).ok()?)?;
                continue;
            }
            ADVANCE_LINE => {
                line.1 = i64::checked_add(line.1, signed(&mut codes)?)?;
                continue;
            }
            SET_FILE => {
                // Of one byte, so that its sign is no question.
                let (file, rest) = codes.split_first().filter(|(file, _)| **file < 0x40)?;
                (line.0, codes) = (*file, rest);
                continue;
            }
            PROLOGUE_END if form.code_base > PROLOGUE_END => {
                ends_prologue = true;
                continue;
            }
            COPY => {}
            special => {
                let special = i64::from(special.checked_sub(form.code_base)?);
                address = address.checked_add(u64::try_from(special / LINE_RANGE).ok()?)?;
                line.1 = line.1.checked_add(LINE_BASE + special % LINE_RANGE)?;
            }
        }
        rows.push(Row {
            address,
            line,
            context: std::mem::take(&mut context),
            is_before,
            ends_prologue: std::mem::take(&mut ends_prologue),
        });
    }
    context.is_empty().then_some((rows, address))
}

/// Reads a signed LEB128 number.
fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (number, rest) = bytes.split_at_checked(length).filter(|_| length <= 9)?;
    *bytes = rest;
    let value = number
        .iter()
        .rev()
        .fold(0, |value, byte| value << 7 | i64::from(byte & 0x7f));
    let unused = 64 - 7 * length as u32;
    Some(value << unused >> unused)
}

/// Appends a signed LEB128 number.
fn write_signed(mut value: i64, out: &mut Vec<u8>) {
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if matches!((value, byte & 0x40), (0, 0) | (-1, 0x40)) {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::offsets::Offsets;
    use super::FORMS;
    use super::remake;
    use super::units;
    use super::with_addresses;

    /// Builds a table of one unit with these codes after the address.
    fn table(codes: &[u8]) -> Vec<u8> {
        let head = [&[2, 0, 14, 0, 0, 0][..], FORMS[0].codes].concat();
        let unit = [&head[..], &[0, 9, 2], &[0; 8], codes, &[0, 1, 1]].concat();
        [&(unit.len() as u32).to_le_bytes()[..], &unit].concat()
    }

    /// Code of instructions of one, two and one units.
    fn offsets() -> Offsets {
        let words = [1, super::super::super::capmerc::VERSION, 3, 7];
        let capsule: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = [0x202_u128, 0x810, 0x202].map(u128::to_le_bytes).concat();
        Offsets::new(&capsule, &code, 0x40).unwrap()
    }

    #[test]
    fn instructions_have_the_line_of_the_last_row_before() {
        // Line 5 before the first statement, then 7 at 0x10, 9 within it, 11 at 0x70.
        let codes = [
            &[4, 1, 0, 2, 0x92, 1, 3, 4, 1, 0, 2, 0x92, 0][..],
            &[3, 2, 2, 0x10, 1, 3, 2, 2, 0x10, 1, 3, 2, 2, 0xd0, 0, 1],
        ]
        .concat();
        let made = remake(&table(&codes), 27, &offsets(), 0x80).unwrap().codes;
        let expected = [4, 1, 3, 4, 1, 0xf1, 0xf1, 2, 0xe0, 0, 0, 1, 1];
        assert_eq!(made[11..], expected);
        // A statement that begins at once has two rows.
        let made = remake(&table(&[4, 1, 3, 4, 1]), 27, &offsets(), 0x30)
            .unwrap()
            .codes;
        assert_eq!(made[11..], [4, 1, 3, 4, 1, 3, 0, 1, 2, 0x30, 0, 1, 1]);
    }

    #[test]
    fn addresses_move_under_inlined_functions() {
        // Line 34, 37 at 0x10 by a special code, an inlined function there, and after 0x20 another.
        let context = [0, 3, 0x90, 3, 0x34];
        let codes = [
            &[4, 1, 3, 33, 1, 242, 4, 3][..],
            &context,
            &[3, 42, 1],
            &context,
            &[3, 9, 2, 0x20, 1, 3, 0, 1, 2, 0x30],
        ]
        .concat();
        let unit = table(&codes);
        let moved = |address: u64| {
            Some(if address < 0x30 {
                address
            } else {
                address + 0x30
            })
        };
        let made = with_addresses(&unit, 27, moved).unwrap();
        // The row after 0x30 lies 0x30 farther on, and the end with it.
        let (last, expected) = (codes.len() - 7, [3, 9, 2, 0xd0, 0, 1, 3, 0, 1, 2, 0x30]);
        assert_eq!(made[11..11 + last - 3], codes[..last - 3]);
        assert_eq!(made[11 + last - 3..], [&expected[..], &[0, 1, 1]].concat());
        // What nvlink would write in another way.
        let other = table(&[4, 1, 3, 33, 1, 3, 3, 2, 0x10, 1, 2, 0x30]);
        assert_eq!(with_addresses(&other, 27, Some), None);
        assert_eq!(with_addresses(&unit, 27, |_| None), None);
    }

    #[test]
    fn lines_of_the_later_form_are_read_and_written() {
        // Line 5, its prologue's end, and line 7 at 0x10 by a special code: 13 + 14 * 16 + 7.
        let codes = [4, 1, 3, 4, 1, 10, 244];
        let head = [&[3, 0, 17, 0, 0, 0][..], FORMS[1].codes].concat();
        let unit = [&head[..], &[0, 9, 2], &[0; 8], &codes, &[0, 1, 1]].concat();
        let table = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
        let made = remake(&table, 30, &offsets(), 0x30).unwrap();
        let expected = [4, 1, 3, 4, 1, 3, 0, 1, 10, 244, 2, 0x20, 0, 1, 1];
        assert_eq!(made.codes[11..], expected);
    }

    #[test]
    fn a_line_that_comes_back_after_a_row_within_an_instruction_is_not_certain() {
        // Line 5 at 0 and at 0x30, with another within the instruction between.
        let codes = [4, 1, 3, 4, 1, 3, 2, 2, 0x20, 1, 3, 0x7e, 2, 0x10, 1];
        let made = remake(&table(&codes), 27, &offsets(), 0x30).unwrap();
        assert!(!made.is_certain);
        assert_eq!(made.codes[11..], [4, 1, 3, 4, 1, 3, 0, 1, 2, 0x30, 0, 1, 1]);
    }

    #[test]
    fn another_form_is_refused() {
        for codes in [&[6, 1][..], &[0, 1, 0x90], &[4, 0x40, 1], &[2, 0x70, 1]] {
            assert_eq!(remake(&table(codes), 27, &offsets(), 0x30), None);
        }
        let mut other = table(&[1]);
        other[10] = 4;
        assert_eq!(remake(&other, 27, &offsets(), 0x30), None);
        assert_eq!(remake(&table(&[1]), 9, &offsets(), 0x30), None);
        assert_eq!(remake(&table(&[1]), 900, &offsets(), 0x30), None);
        let two = [table(&[1]), table(&[1])].concat();
        assert_eq!(units(&two), Some(vec![0, two.len() as u64 / 2]));
        assert_eq!(units(&two[1..]), None);
    }
}
