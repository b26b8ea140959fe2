use super::*;

/// `.nv.capmerc.text` of `__global__ void leaf(float* p) { p[0] = p[1] * 2.f; }`, by ptxas 13.0.88
/// for sm_100.
const LEAF: &str = "12000000010000c00800000058000000010b040af8000400000041000004000002220e06f800520000008300400002000000\
    0000000000000000000000000000010b0e0afa000500000003013904000002380e32f80040110000000082000a0000020140\
    010000000000000000000000d004";

fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .filter_map(|digit| char::from(digit).to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// Builds a section with these items after its head.
fn section(items: u32, bitmap: u32, rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [7, VERSION, items, bitmap] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.extend_from_slice(rest);
    bytes
}

#[test]
fn what_ptxas_wrote_is_understood() {
    let bytes = bytes(LEAF);
    let capmerc = Capmerc::parse(&bytes).unwrap();
    assert_eq!((capmerc.text, capmerc.items), (0x12, 8));
    let items: Vec<_> = capmerc.items().collect();
    let shape: Vec<_> = items
        .iter()
        .map(|item| match item.form {
            Form::Plain => 'p',
            Form::Record(record) if record.len() == 16 => 'r',
            Form::Record(_) => 'R',
            Form::Run(_) => 'u',
            Form::Note(_) => 'n',
        })
        .collect();
    assert_eq!(shape.iter().collect::<String>(), "rRrppRpu");
    assert_eq!(items.last().map(|item| item.count), Some(9));
    capmerc.covers(256).unwrap();
    assert_eq!(
        capmerc.covers(272),
        Err(CapmercError::Count {
            items: 16,
            code: 17
        })
    );
}

#[test]
fn runs_have_a_record_or_none() {
    let mut rest = vec![0x51, 0x02];
    rest.extend_from_slice(&[0x42, 0x33, 0, 0]);
    rest.extend_from_slice(&[0xd0, 0x00]);
    let bytes = section(3, 0b010, &rest);
    let capmerc = Capmerc::parse(&bytes).unwrap();
    let items: Vec<_> = capmerc.items().collect();
    assert_eq!((items[0].count, items[2].instruction), (4, 5));
    assert_eq!(items[0].form, Form::Run(Some(&[0x42, 0x33, 0, 0])));
    assert_eq!((items[2].count, items[2].form), (1, Form::Run(None)));
}

#[test]
fn notes_stand_for_no_instruction() {
    let mut note = vec![0x31, 0x02, 0x00, 0x58];
    note.resize(16, 0);
    let mut rest = note.clone();
    rest.extend_from_slice(&[0x42, 0x33, 0, 0]);
    let bytes = section(3, 0b010, &rest);
    let capmerc = Capmerc::parse(&bytes).unwrap();
    let items: Vec<_> = capmerc.items().collect();
    assert_eq!((items[0].count, items[0].form), (0, Form::Note(&note)));
    assert_eq!((items[1].instruction, items[2].instruction), (0, 1));
    assert_eq!(capmerc.instructions, 2);
    assert_eq!(
        Capmerc::parse(&bytes[..20]),
        Err(CapmercError::Cut { item: 0, at: 16 })
    );
}

#[test]
fn what_is_not_known_is_refused() {
    let whole = bytes(LEAF);
    let mut other = whole.clone();
    other[4] = 2;
    assert_eq!(
        Capmerc::parse(&other),
        Err(CapmercError::Version(0xc000_0002))
    );
    for length in 0..whole.len() {
        assert!(Capmerc::parse(&whole[..length]).is_err(), "{length}");
    }
    let refused = |items, bitmap, rest: &[u8]| Capmerc::parse(&section(items, bitmap, rest)).err();
    assert_eq!(refused(2, 0b111, &[]), Some(CapmercError::Bitmap(2)));
    let unknown = CapmercError::Unknown {
        item: 0,
        at: 16,
        byte: 0x52,
    };
    assert_eq!(refused(1, 0, &[0x52, 0]), Some(unknown));
    let unknown = CapmercError::Unknown {
        item: 1,
        at: 16,
        byte: 3,
    };
    assert_eq!(refused(2, 1, &[3; 16]), Some(unknown));
    assert_eq!(refused(1, 1, &[0]), Some(CapmercError::Rest(1)));
    assert_eq!(
        Capmerc::parse(&section(u32::MAX, 0, &[])),
        Err(CapmercError::Head)
    );
}

#[test]
fn a_dump_names_what_is_known() {
    let bytes = bytes(LEAF);
    let lines: Vec<String> = Capmerc::parse(&bytes).unwrap().lines().collect();
    assert_eq!(
        lines[0],
        "Mercury of section 18: 8 items, 3 plain, 4 records, 1 runs, 16 instructions"
    );
    assert_eq!(
        lines[1],
        "item 0 at 0x10 for code at 0x0: record SYSTEM_VALUE R1 STACK [010b040af80004000000410000040000]"
    );
    assert!(
        lines[2].starts_with("item 1 at 0x20 for code at 0x10: record LDC value 0x0 [02220e06")
    );
    assert_eq!(lines[4], "items 3..5 for code at 0x30: plain");
    assert_eq!(
        lines.last().unwrap(),
        "item 7 at 0x70 for code at 0x70: run of 9 without Mercury"
    );
}
