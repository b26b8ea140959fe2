//! Fatbins, host objects and archives around cubins, written byte by byte: no compiler of host code runs.

/// How a fatbin member is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As it is.
    Plain,
    /// Deflate with zlib's header.
    Zlib,
    /// An LZ4 block.
    Lz4,
    /// A Zstandard frame, what nvcc writes.
    Zstd,
}

impl Codec {
    /// All of them.
    pub const ALL: [Codec; 4] = [Codec::Plain, Codec::Zlib, Codec::Lz4, Codec::Zstd];
}

/// Flags of a fatbin member: 64 bit, made on Linux.
const MEMBER_FLAGS: u64 = 0x11;

/// A fatbin with cubins as members, each for the named target.
pub fn fatbin(members: &[(&str, &[u8])], codec: Codec) -> Vec<u8> {
    let mut body = Vec::new();
    for (arch, image) in members {
        let (flag, packed) = match codec {
            Codec::Plain => (0, None),
            Codec::Zlib => (
                0x1000,
                Some(miniz_oxide::deflate::compress_to_vec_zlib(image, 6)),
            ),
            Codec::Lz4 => (0x2000, Some(lz4_flex::block::compress(image))),
            Codec::Zstd => {
                let level = ruzstd::encoding::CompressionLevel::Fastest;
                (
                    0x8000,
                    Some(ruzstd::encoding::compress_to_vec(*image, level)),
                )
            }
        };
        let number = arch.trim_start_matches("sm_");
        let specific = match number.bytes().last() {
            Some(b'a') => 0x10_0000,
            Some(b'f') => 0x20_0000,
            _ => 0,
        };
        let sm: u32 = number.trim_end_matches(['a', 'f']).parse().unwrap_or(0);
        let sizes = packed
            .as_ref()
            .map_or((0, 0), |packed| (packed.len() as u32, image.len() as u64));
        let mut stored = packed.unwrap_or_else(|| image.to_vec());
        stored.resize(stored.len().next_multiple_of(8), 0);
        body.extend(2u16.to_le_bytes());
        body.extend(0x0101u16.to_le_bytes());
        body.extend(0x40u32.to_le_bytes());
        body.extend((stored.len() as u64).to_le_bytes());
        body.extend(sizes.0.to_le_bytes());
        body.extend(0u32.to_le_bytes());
        body.extend([8, 0, 1, 0]);
        body.extend(sm.to_le_bytes());
        body.extend([0; 8]);
        body.extend((MEMBER_FLAGS | flag | specific).to_le_bytes());
        body.extend(0u64.to_le_bytes());
        body.extend(sizes.1.to_le_bytes());
        body.extend(stored);
    }
    let mut out = 0xba55_ed50u32.to_le_bytes().to_vec();
    out.extend([1, 0, 16, 0]);
    out.extend((body.len() as u64).to_le_bytes());
    out.extend(body);
    out
}

/// Names of the sections that list what host code refers to.
const LISTS: [&str; 6] = [
    ".nvHRKE", ".nvHRKI", ".nvHRDE", ".nvHRDI", ".nvHRCE", ".nvHRCI",
];

/// A relocatable x86-64 object as nvcc makes it, as far as nvlink looks: the fatbin, the module's id, the lists of host references.
pub fn host_object(fatbin: &[u8], id: &str, lists: Option<&[Vec<u8>; 6]>) -> Vec<u8> {
    let mut sections: Vec<(&str, Vec<u8>)> = vec![
        (".nvFatBinSegment", {
            let mut wrapper = 0x4662_43b1u32.to_le_bytes().to_vec();
            wrapper.extend(1u32.to_le_bytes());
            wrapper.extend([0; 16]);
            wrapper
        }),
        ("__nv_relfatbin", fatbin.to_vec()),
        ("__nv_module_id", {
            let mut id = id.as_bytes().to_vec();
            id.resize((id.len() + 1).next_multiple_of(8), 0);
            id
        }),
    ];
    for (name, list) in LISTS.iter().zip(lists.into_iter().flatten()) {
        sections.push((name, list.clone()));
    }
    let mut names = vec![0];
    let mut name_offsets = Vec::new();
    for (name, _) in sections.iter().chain([&(".shstrtab", Vec::new())]) {
        name_offsets.push(names.len() as u32);
        names.extend(name.as_bytes());
        names.push(0);
    }
    sections.push((".shstrtab", names));
    let mut out = vec![0; 64];
    let mut headers = vec![0; 64];
    for (index, (name, contents)) in sections.iter().enumerate() {
        out.resize(out.len().next_multiple_of(8), 0);
        let (ty, flags) = if *name == ".shstrtab" {
            (3u32, 0u64)
        } else {
            (1, 2)
        };
        headers.extend(name_offsets.get(index).copied().unwrap_or(0).to_le_bytes());
        headers.extend(ty.to_le_bytes());
        headers.extend(flags.to_le_bytes());
        headers.extend(0u64.to_le_bytes());
        headers.extend((out.len() as u64).to_le_bytes());
        headers.extend((contents.len() as u64).to_le_bytes());
        headers.extend([0; 8]);
        headers.extend(8u64.to_le_bytes());
        headers.extend(0u64.to_le_bytes());
        out.extend(contents);
    }
    out.resize(out.len().next_multiple_of(8), 0);
    let table = out.len() as u64;
    out.extend(headers);
    let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    header.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    header.extend([0; 16]);
    header.extend(table.to_le_bytes());
    header.extend([0; 4]);
    for half in [
        64,
        0,
        0,
        64,
        sections.len() as u16 + 1,
        sections.len() as u16,
    ] {
        header.extend(half.to_le_bytes());
    }
    out.splice(..64, header);
    out
}

/// An archive in GNU's form; names have fewer than 16 characters.
pub fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, contents) in members {
        let name = format!("{name}/");
        let size = contents.len();
        out.extend(format!("{name:<16}{0:<12}{0:<6}{0:<6}{1:<8}{size:<10}`\n", 0, 644).bytes());
        out.extend(contents);
        if size % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}
