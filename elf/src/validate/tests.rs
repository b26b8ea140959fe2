use zerocopy::IntoBytes;

use super::*;
use crate::toolkit::V13_0;

/// Builds a file with a null section, a name table and one section of the given type and range.
fn file(ty: u32, offset: u64, length: u64) -> Vec<u8> {
    let header = FileHeader {
        ident: [
            0x7f, b'E', b'L', b'F', 2, 1, 1, 0x41, 8, 0, 0, 0, 0, 0, 0, 0,
        ],
        e_type: ET_REL.into(),
        machine: EM_CUDA.into(),
        version: 1.into(),
        entry: 0.into(),
        phoff: 0.into(),
        shoff: 64.into(),
        flags: 0x0600_5a04.into(),
        ehsize: 64.into(),
        phentsize: 56.into(),
        phnum: 0.into(),
        shentsize: 64.into(),
        shnum: 3.into(),
        shstrndx: 1.into(),
    };
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(SectionHeader::default().as_bytes());
    bytes.extend_from_slice(
        SectionHeader {
            ty: 3.into(),
            ..Default::default()
        }
        .as_bytes(),
    );
    let section = SectionHeader {
        ty: ty.into(),
        offset: offset.into(),
        size: length.into(),
        ..Default::default()
    };
    bytes.extend_from_slice(section.as_bytes());
    bytes
}

fn error(bytes: &[u8]) -> StructureError {
    validate_structure(bytes).map(|_| ()).unwrap_err()
}

#[test]
fn a_small_file_is_well_formed() {
    let bytes = file(1, 64, 192);
    let headers = validate_structure(&bytes).unwrap();
    assert_eq!(validate_extent(&headers, bytes.len() as u64), Ok(256));
}

/// Checks that numbers that do not fit into the file header are read from the null section.
#[test]
fn large_numbers_stand_in_the_null_section() {
    let mut bytes = file(1, 64, 192);
    (bytes[60], bytes[64 + 32]) = (0, 3);
    bytes[62..64].copy_from_slice(&SHN_XINDEX.to_le_bytes());
    bytes[64 + 40] = 2;
    let headers = validate_structure(&bytes).unwrap();
    assert_eq!((headers.sections.len(), headers.section_names), (3, 2));
    bytes[64 + 40] = 3;
    assert_eq!(error(&bytes), StructureError::NameTable(3));
    bytes[64 + 39] = 0xff;
    assert!(matches!(error(&bytes), StructureError::TableRange { .. }));
}

#[test]
fn every_prefix_is_refused() {
    let bytes = file(1, 64, 192);
    for length in 0..bytes.len() {
        assert!(validate_structure(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn entry_sizes_are_those_of_elf64() {
    let mut bytes = file(1, 0, 0);
    bytes[58] = 40;
    assert_eq!(
        error(&bytes),
        StructureError::EntrySize {
            table: "section",
            found: 40,
            expected: 64
        }
    );
    let mut bytes = file(1, 0, 0);
    (bytes[54], bytes[56]) = (32, 1);
    assert_eq!(
        error(&bytes),
        StructureError::EntrySize {
            table: "program",
            found: 32,
            expected: 56
        }
    );
}

#[test]
fn header_tables_lie_within_the_file() {
    let mut bytes = file(1, 0, 0);
    bytes[60] = 4;
    assert!(matches!(
        error(&bytes),
        StructureError::TableRange {
            table: "section",
            ..
        }
    ));
    let mut bytes = file(1, 0, 0);
    bytes[56] = 1;
    bytes[32] = 0xff;
    assert!(matches!(
        error(&bytes),
        StructureError::TableRange {
            table: "program",
            ..
        }
    ));
    let mut bytes = file(1, 0, 0);
    bytes[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(error(&bytes), StructureError::TableRange { .. }));
}

#[test]
fn section_bytes_lie_within_the_file() {
    assert!(matches!(
        error(&file(1, 250, 7)),
        StructureError::SectionRange {
            index: 2,
            offset: 250,
            length: 7,
            ..
        }
    ));
}

/// Checks that both forms of layer 2 look at segments.
#[test]
fn segments_lie_within_the_file() {
    let mut bytes = file(1, 64, 192);
    // The null section is one, of 65536 bytes.
    (bytes[32], bytes[54], bytes[56], bytes[64 + 34]) = (64, 56, 1, 1);
    let headers = validate_structure(&bytes).unwrap();
    let extent = |size| StructureError::Extent {
        extent: 0x10000,
        size,
    };
    assert_eq!(validate_extent(&headers, 256), Err(extent(256)));
    assert_eq!(validate_tables(&headers, 256), Err(extent(256)));
    assert_eq!(validate_tables(&headers, 0xffff), Err(extent(0xffff)));
    assert_eq!(validate_tables(&headers, 0x10000), Ok(()));
}

#[test]
fn types_without_bytes_are_exempt() {
    for ty in [8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015] {
        let bytes = file(ty, 250, 1 << 40);
        let headers = validate_structure(&bytes).unwrap();
        assert_eq!(validate_extent(&headers, 256), Ok(256), "{ty:#x}");
    }
    assert!(validate_structure(&file(0x7000_0008, 250, 1 << 40)).is_err());
}

#[test]
fn ranges_do_not_overflow() {
    assert!(matches!(
        error(&file(1, u64::MAX - 3, 8)),
        StructureError::Overflow {
            what: "section",
            index: 2,
            ..
        }
    ));
}

#[test]
fn extent_covers_segments() {
    let mut bytes = file(1, 64, 192);
    let segment = ProgramHeader {
        ty: 1.into(),
        flags: 5.into(),
        offset: 256.into(),
        vaddr: 0.into(),
        paddr: 0.into(),
        filesz: 1000.into(),
        memsz: 1000.into(),
        align: 8.into(),
    };
    bytes[32] = 0;
    bytes[33] = 1;
    bytes[56] = 1;
    bytes.extend_from_slice(segment.as_bytes());
    let headers = validate_structure(&bytes).unwrap();
    assert_eq!(
        validate_extent(&headers, bytes.len() as u64),
        Err(StructureError::Extent {
            extent: 1256,
            size: 312
        })
    );
}

fn architecture(
    change: impl Fn(&mut [u8]),
    toolkit: u32,
    after_ewp: bool,
) -> Result<(), ArchitectureError> {
    let mut bytes = file(1, 0, 0);
    change(&mut bytes);
    let headers = validate_structure(&bytes).unwrap();
    let facts = ObjectFacts {
        after_ewp,
        ..facts(headers.file, toolkit)
    };
    let target = Target::parse("sm_90").unwrap();
    validate_architecture(&facts, (&V13_0, target))
}

fn facts(file: &FileHeader, toolkit: u32) -> ObjectFacts {
    ObjectFacts {
        abi: [file.ident[7], file.ident[8]],
        e_type: file.e_type.get(),
        flags: file.flags.get(),
        toolkit,
        specific: false,
        profile: None,
        after_mercury: false,
        after_ewp: false,
    }
}

#[test]
fn architecture_and_toolkit_must_fit() {
    assert_eq!(architecture(|_| (), 0x82, false), Ok(()));
    assert!(matches!(
        architecture(|bytes| bytes[49] = 80, 0x82, false),
        Err(ArchitectureError::Sm { found: 80, .. })
    ));
    assert!(matches!(
        architecture(|bytes| bytes[8] = 7, 0x82, false),
        Err(ArchitectureError::Abi { version: 7, .. })
    ));
    for (toolkit, expected) in [
        (0x77, Err(ArchitectureError::TooOld)),
        (0, Err(ArchitectureError::TooOld)),
        (
            131,
            Err(ArchitectureError::TooNew {
                found: 131,
                known: 0x82,
            }),
        ),
        (0x78, Ok(())),
    ] {
        assert_eq!(architecture(|_| (), toolkit, false), expected);
    }
    let flags = |bytes: &mut [u8]| bytes[48] = 6;
    assert_eq!(
        architecture(flags, 0x82, false),
        Err(ArchitectureError::MercuryFlags { flags: 0x0600_5a06 })
    );
}

#[test]
fn ewp_objects_are_locked_to_the_toolkit() {
    let ewp = |bytes: &mut [u8]| bytes[16..18].copy_from_slice(&ET_EWP.to_le_bytes());
    assert_eq!(architecture(ewp, 0x82, false), Ok(()));
    let locked = Err(ArchitectureError::EwpToolkit);
    assert_eq!(architecture(ewp, 0x81, false), locked);
    assert_eq!(architecture(|_| (), 0x81, true), locked);
    assert_eq!(architecture(|_| (), 0x82, true), Ok(()));
}

#[test]
fn the_legacy_header_is_read() {
    let legacy = |flags: u32| {
        move |bytes: &mut [u8]| {
            bytes[7..9].copy_from_slice(&[OSABI_LEGACY, ABI_VERSION_LEGACY]);
            bytes[48..52].copy_from_slice(&flags.to_le_bytes());
        }
    };
    assert_eq!(architecture(legacy(0x005a_055a), 0x78, false), Ok(()));
    assert_eq!(architecture(legacy(0x005a_0d5a), 0x78, false), Ok(()));
    assert!(matches!(
        architecture(legacy(0x0050_0550), 0x78, false),
        Err(ArchitectureError::Sm { found: 80, .. })
    ));
    assert!(matches!(
        architecture(legacy(0x805a_055a), 0x78, false),
        Err(ArchitectureError::Abi { .. })
    ));
    let mut bytes = file(1, 0, 0);
    legacy(0x005a_015a)(&mut bytes);
    let headers = validate_structure(&bytes).unwrap();
    assert!(facts(headers.file, 0x78).lacks_64bit_flag());
}

#[test]
fn a_file_is_finalized_once() {
    assert!(validate_finalizer(0x0600_6402, FinalizerStage::PreLink).is_ok());
    assert!(validate_finalizer(0x0600_5a04, FinalizerStage::PreLink).is_err());
    assert!(validate_finalizer(0x0600_5a04, FinalizerStage::PostLink).is_ok());
    assert!(validate_finalizer(0x0600_5a00, FinalizerStage::PostLink).is_err());
}
