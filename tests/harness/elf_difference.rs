//! Where two device ELF files differ first, in terms of sections. A reader of its own, so that a fault of ours cannot hide a fault of ours.

use std::collections::BTreeMap;

struct Section<'a> {
    name: &'a [u8],
    /// type, flags, address, offset, size, link, info, alignment, entry size
    header: [u64; 9],
    contents: &'a [u8],
}

const FIELDS: [&str; 9] = [
    "type",
    "flags",
    "addr",
    "offset",
    "size",
    "link",
    "info",
    "addralign",
    "entsize",
];
const OFFSET: usize = 3;
const SIZE: usize = 4;
const NOBITS: [u64; 4] = [8, 0x7000_0007, 0x7000_000a, 0x7000_0015];

/// The sections with code, constants and initialised variables that are not the same in two files, by name.
#[allow(dead_code, reason = "only the cases of toolkits have use for it")]
pub fn other_code(ours: &[u8], theirs: &[u8]) -> Vec<String> {
    const PREFIXES: [&[u8]; 4] = [
        b".text.",
        b".nv.capmerc.text.",
        b".nv.constant",
        b".nv.global.init",
    ];
    let of = |file| -> BTreeMap<&[u8], &[u8]> {
        let sections = sections(file).unwrap_or_default().into_iter();
        let code =
            sections.filter(|section| PREFIXES.iter().any(|with| section.name.starts_with(with)));
        code.map(|section| (section.name, section.contents))
            .collect()
    };
    let (ours, theirs) = (of(ours), of(theirs));
    let names = ours.keys().chain(theirs.keys());
    let others = names.filter(|name| ours.get(*name) != theirs.get(*name));
    others.map(|name| text(name)).collect()
}

/// One sentence about the first difference of two files, by section where that can be said.
pub fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let position = ours
        .iter()
        .zip(theirs)
        .position(|(a, b)| a != b)
        .unwrap_or(ours.len().min(theirs.len()));
    let sizes = format!(
        "{} bytes, nvlink {}; first at file offset {position:#x}",
        ours.len(),
        theirs.len()
    );
    match (sections(ours), sections(theirs)) {
        (Some(our), Some(their)) => format!(
            "{sizes}; {}",
            by_section(&our, &their).unwrap_or_else(|| in_file(theirs, position))
        ),
        (None, Some(_)) => format!("{sizes}; our output has no readable section table"),
        _ => sizes,
    }
}

fn by_section(ours: &[Section], theirs: &[Section]) -> Option<String> {
    let names = |sections: &[Section]| -> Vec<String> {
        sections.iter().map(|section| text(section.name)).collect()
    };
    let (our_names, their_names) = (names(ours), names(theirs));
    if our_names != their_names {
        let index = our_names
            .iter()
            .zip(&their_names)
            .position(|(a, b)| a != b)
            .unwrap_or(our_names.len().min(their_names.len()));
        let missing = multiset_difference(&their_names, &our_names);
        let extra = multiset_difference(&our_names, &their_names);
        let at = |names: &[String]| {
            names
                .get(index)
                .cloned()
                .unwrap_or_else(|| "nothing".to_owned())
        };
        return Some(format!(
            "section {index} is {}, nvlink has {}; missing {missing:?}, extra {extra:?}",
            at(&our_names),
            at(&their_names)
        ));
    }
    // Contents say more than headers, and sizes more than the offsets that follow from them.
    let pairs = || ours.iter().zip(theirs).enumerate();
    for (index, (our, their)) in pairs() {
        let same = our
            .contents
            .iter()
            .zip(their.contents)
            .position(|(a, b)| a != b);
        if let Some(at) = same.or((our.contents.len() != their.contents.len())
            .then(|| our.contents.len().min(their.contents.len())))
        {
            return Some(format!(
                "section {index} {} differs from offset {at:#x} on (size {:#x}, nvlink {:#x}):\n    ours   {}\n    nvlink {}",
                text(our.name),
                our.contents.len(),
                their.contents.len(),
                hex(our.contents, at),
                hex(their.contents, at),
            ));
        }
    }
    for pass in [false, true] {
        for (index, (our, their)) in pairs() {
            for (field, (a, b)) in our.header.iter().zip(&their.header).enumerate() {
                if a != b && (field == OFFSET) == pass {
                    return Some(format!(
                        "section {index} {}: sh_{} {a:#x}, nvlink {b:#x}",
                        text(our.name),
                        FIELDS.get(field)?
                    ));
                }
            }
        }
    }
    None
}

fn multiset_difference(from: &[String], minus: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in minus {
        *counts.entry(name).or_default() += 1;
    }
    let mut left = Vec::new();
    for name in from {
        match counts.get_mut(name) {
            Some(count) if *count > 0 => *count -= 1,
            _ => left.push(name.clone()),
        }
    }
    left
}

fn in_file(file: &[u8], position: usize) -> String {
    let table = word(file, 0x28, 8).unwrap_or(0) as usize;
    let segments = word(file, 0x20, 8).unwrap_or(0) as usize;
    if position < 0x40 {
        "in the file header".to_owned()
    } else if segments > 0 && position >= segments {
        format!(
            "in the program headers, entry {}",
            (position - segments) / 56
        )
    } else if position >= table {
        format!(
            "in the section header table, entry {}",
            (position - table) / 64
        )
    } else {
        "in the padding between sections".to_owned()
    }
}

fn sections(file: &[u8]) -> Option<Vec<Section<'_>>> {
    if !file.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = usize::try_from(word(file, 0x28, 8)?).ok()?;
    let count = usize::try_from(word(file, 0x3c, 2)?).ok()?;
    let names = usize::try_from(word(file, 0x3e, 2)?).ok()?;
    let mut headers = Vec::new();
    for index in 0..count {
        let at = table.checked_add(index * 64)?;
        let mut fields = [0; 9];
        let layout = [
            (4, 4),
            (8, 8),
            (16, 8),
            (24, 8),
            (32, 8),
            (40, 4),
            (44, 4),
            (48, 8),
            (56, 8),
        ];
        for (field, (offset, length)) in fields.iter_mut().zip(layout) {
            *field = word(file, at.checked_add(offset)?, length)?;
        }
        headers.push((usize::try_from(word(file, at, 4)?).ok()?, fields));
    }
    let contents = |header: &[u64; 9]| -> Option<&[u8]> {
        if header.first().is_some_and(|kind| NOBITS.contains(kind)) {
            return Some(&[]);
        }
        let start = usize::try_from(*header.get(OFFSET)?).ok()?;
        file.get(start..start.checked_add(usize::try_from(*header.get(SIZE)?).ok()?)?)
    };
    let strings = contents(&headers.get(names)?.1)?;
    headers
        .iter()
        .map(|(name, header)| {
            let name = strings.get(*name..)?.split(|byte| *byte == 0).next()?;
            Some(Section {
                name,
                header: *header,
                contents: contents(header)?,
            })
        })
        .collect()
}

fn word(file: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(length)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)),
    )
}

fn text(name: &[u8]) -> String {
    if name.is_empty() {
        "(null)".to_owned()
    } else {
        String::from_utf8_lossy(name).into_owned()
    }
}

/// The 16 bytes of the row that holds `at`, and the next row.
fn hex(contents: &[u8], at: usize) -> String {
    let row = at & !0xf;
    let bytes = contents.get(row..).unwrap_or_default();
    let text: Vec<_> = bytes
        .iter()
        .take(32)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{row:#x}: {}{}",
        text.join(" "),
        if bytes.is_empty() { "(end)" } else { "" }
    )
}
