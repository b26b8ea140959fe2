//! What lies at a byte of a device ELF.

use super::Category;
use super::Difference;
use crate::inspect::DeviceElf;

/// Returns the first byte that differs, for files whose models are equal.
pub(super) fn first_byte(
    left: &[u8],
    right: &[u8],
    left_elf: &DeviceElf<'_>,
    right_elf: &DeviceElf<'_>,
) -> Difference {
    let at = left.iter().zip(right).position(|(a, b)| a != b);
    let at = at.unwrap_or(left.len().min(right.len()));
    // Beyond the end of one file only the other one has something there.
    let (elf, size) = if at < left.len() {
        (left_elf, left.len())
    } else {
        (right_elf, right.len())
    };
    let byte = |bytes: &[u8]| match bytes.get(at) {
        Some(byte) => Some(format!("{byte:02x}")),
        None => Some("end of the file".to_owned()),
    };
    Difference {
        category: Category::Byte,
        subject: format!("file offset {at:#x}"),
        source_name: None,
        field: Some("byte"),
        left: byte(left),
        right: byte(right),
        within: Some(locate(elf, at as u64, size as u64)),
    }
}

/// Returns a description of what lies at an offset of the file.
fn locate(elf: &DeviceElf<'_>, at: u64, size: u64) -> String {
    let header = &elf.header;
    if at < 64 {
        return format!("file header+{at:#x}");
    }
    let table = |start: u64, count: u64, row: u64| {
        let into = at.checked_sub(start)?;
        (into < count.saturating_mul(row)).then_some((into / row, into % row))
    };
    if let Some((index, into)) = table(header.section_headers_offset, elf.sections.len() as u64, 64)
    {
        let section = usize::try_from(index)
            .ok()
            .and_then(|index| elf.sections.get(index));
        let name = section.map_or_else(String::new, |section| section.name.to_string());
        return format!("section header {index} ('{name}')+{into:#x}");
    }
    if let Some((index, into)) = table(header.program_headers_offset, elf.segments.len() as u64, 56)
    {
        return format!("program header {index}+{into:#x}");
    }
    let mut before = (64, "the file header".to_owned());
    let mut ends_at = |end: u64, name: String| {
        if end <= at && before.0 < end {
            before = (end, name);
        }
    };
    let table_end = |start: u64, count: usize, row: u64| {
        start.saturating_add((count as u64).saturating_mul(row))
    };
    ends_at(
        table_end(header.section_headers_offset, elf.sections.len(), 64),
        "the section headers".to_owned(),
    );
    ends_at(
        table_end(header.program_headers_offset, elf.segments.len(), 56),
        "the program headers".to_owned(),
    );
    for section in &elf.sections {
        let length = section.contents.len() as u64;
        let end = section.offset.saturating_add(length);
        if section.offset <= at && at < end {
            let into = at - section.offset;
            return format!("{} '{}'+{into:#x}", section.ty, section.name);
        }
        if length > 0 {
            ends_at(end, format!("section '{}'", section.name));
        }
    }
    if at >= size {
        return "after the end".to_owned();
    }
    format!("padding after {}", before.1)
}
