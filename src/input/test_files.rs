//! Builders of fatbins, archives and host objects for the tests of this folder.

use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::SectionHeader;
use miniz_oxide::deflate::compress_to_vec_zlib;
use ruzstd::encoding::CompressionLevel;
use ruzstd::encoding::compress_to_vec;
use zerocopy::IntoBytes;

use super::Target;
use super::decompress::Codec;
use super::fatbin;
use super::fatbin::MemberHeader;
use super::fatbin::RegionHeader;

/// A fatbin member to be.
#[derive(Clone)]
pub struct Member {
    kind: u16,
    arch: Target,
    flags: u64,
    stored: Vec<u8>,
    sizes: Option<(u32, u64)>,
    name: Vec<u8>,
    options: Option<Vec<u8>>,
}

impl Member {
    pub fn new(kind: u16, arch: &str, data: &[u8]) -> Self {
        let arch = Target::parse(arch).unwrap();
        Member {
            kind,
            arch,
            flags: fatbin::FLAG_64BIT | fatbin::FLAG_LINUX | fatbin::suffix_flag(arch.suffix),
            stored: data.to_vec(),
            sizes: None,
            name: Vec::new(),
            options: None,
        }
    }

    pub fn elf(arch: &str, data: &[u8]) -> Self {
        Member::new(2, arch, data)
    }

    pub fn ptx(arch: &str, data: &[u8]) -> Self {
        Member::new(1, arch, data).options(b"")
    }

    pub fn name(mut self, name: &[u8]) -> Self {
        self.name = name.to_vec();
        self
    }

    pub fn options(mut self, options: &[u8]) -> Self {
        self.options = Some(options.to_vec());
        self
    }

    pub fn flags(mut self, flags: u64) -> Self {
        self.flags |= flags;
        self
    }

    pub fn without_flags(mut self, flags: u64) -> Self {
        self.flags &= !flags;
        self
    }

    pub fn packed(mut self, codec: Codec) -> Self {
        let size = self.stored.len() as u64;
        let (flag, packed) = match codec {
            Codec::Zlib => (fatbin::FLAG_ZLIB, compress_to_vec_zlib(&self.stored, 6)),
            Codec::Lz4 => (fatbin::FLAG_LZ4, lz4_flex::block::compress(&self.stored)),
            _ => (
                fatbin::FLAG_ZSTD,
                compress_to_vec(self.stored.as_slice(), CompressionLevel::Fastest),
            ),
        };
        self.flags |= flag;
        self.sizes = Some((packed.len() as u32, size));
        self.stored = packed;
        self
    }

    pub fn declared_size(mut self, size: u64) -> Self {
        self.sizes = self.sizes.map(|(compressed, _)| (compressed, size));
        self
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut tails = Vec::new();
        let fixed = size_of::<MemberHeader>();
        let mut name_offset = 0;
        if !self.name.is_empty() {
            name_offset = fixed;
            tails.extend_from_slice(&self.name);
            pad(&mut tails, 1);
        }
        let mut options_offset = 0;
        if let Some(options) = &self.options {
            options_offset = fixed + tails.len();
            tails.extend_from_slice(&(options_offset as u32 + 8).to_le_bytes());
            tails.extend_from_slice(&(options.len() as u32).to_le_bytes());
            tails.extend_from_slice(options);
            pad(&mut tails, 1);
        }
        let mut stored = self.stored.clone();
        pad(&mut stored, 0);
        let (compressed, uncompressed) = self.sizes.unwrap_or_default();
        let header = MemberHeader {
            kind: self.kind.into(),
            version: fatbin::MEMBER_VERSION.into(),
            header_size: ((fixed + tails.len()) as u32).into(),
            stored_size: (stored.len() as u64).into(),
            compressed_size: compressed.into(),
            options_offset: (options_offset as u32).into(),
            minor: 0.into(),
            major: 9.into(),
            sm: u32::from(self.arch.sm).into(),
            name_offset: (name_offset as u32).into(),
            name_length: (self.name.len() as u32).into(),
            flags: self.flags.into(),
            key: 0.into(),
            uncompressed_size: uncompressed.into(),
        };
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(&tails);
        out.extend_from_slice(&stored);
    }
}

/// Appends at least `least` zeros, up to a multiple of 8.
fn pad(bytes: &mut Vec<u8>, least: usize) {
    bytes.resize((bytes.len() + least).next_multiple_of(8), 0);
}

/// Builds a fatbin of one region.
pub fn fatbin(members: &[Member]) -> Vec<u8> {
    let mut body = Vec::new();
    for member in members {
        member.write(&mut body);
    }
    let header = RegionHeader::new(body.len() as u64);
    [header.as_bytes(), &body].concat()
}

/// Builds a file header for ELF64.
fn elf_header(osabi: u8, e_type: u16, machine: u16, flags: u32) -> FileHeader {
    FileHeader {
        ident: [
            0x7f, b'E', b'L', b'F', 2, 1, 1, osabi, 8, 0, 0, 0, 0, 0, 0, 0,
        ],
        e_type: e_type.into(),
        machine: machine.into(),
        version: 1.into(),
        entry: 0.into(),
        phoff: 0.into(),
        shoff: 0.into(),
        flags: flags.into(),
        ehsize: 64.into(),
        phentsize: 56.into(),
        phnum: 0.into(),
        shentsize: 64.into(),
        shnum: 0.into(),
        shstrndx: 0.into(),
    }
}

/// Builds a device ELF of a header and some bytes, told apart by `mark`.
pub fn cubin(e_type: u16, mark: u8) -> Vec<u8> {
    let mut bytes = elf_header(0x41, e_type, 190, 0x0600_5a04)
        .as_bytes()
        .to_vec();
    bytes.resize(128, mark);
    bytes
}

/// Builds an x86-64 host object with these sections.
pub fn host_object(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let mut body = Vec::new();
    let mut headers = vec![SectionHeader::default()];
    let mut add = |body: &mut Vec<u8>, name: u32, ty: u32, contents: &[u8]| {
        headers.push(SectionHeader {
            name: name.into(),
            ty: ty.into(),
            offset: (64 + body.len() as u64).into(),
            size: (contents.len() as u64).into(),
            align: 1.into(),
            ..Default::default()
        });
        body.extend_from_slice(contents);
    };
    for (name, contents) in sections {
        add(&mut body, names.len() as u32, 1, contents);
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    let name_of_names = names.len() as u32;
    names.extend_from_slice(b".shstrtab\0");
    add(&mut body, name_of_names, 3, &names);
    let mut file = elf_header(0, 1, 62, 0);
    file.shoff = (64 + body.len() as u64).into();
    file.shnum = (headers.len() as u16).into();
    file.shstrndx = (headers.len() as u16 - 1).into();
    [file.as_bytes(), &body, headers.as_bytes()].concat()
}

/// Builds a host object in the form of nvcc -rdc=true.
pub fn cuda_object(fatbin: &[u8], id: &[u8], kernels: &[u8]) -> Vec<u8> {
    host_object(&[
        (".text", b"\x90"),
        ("__nv_module_id", id),
        ("__nv_relfatbin", fatbin),
        (".nvFatBinSegment", &[0; 24]),
        (".nvHRKE", kernels),
        (".nvHRKI", b"\0"),
    ])
}

/// Builds a GNU archive without an index.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    let member = |out: &mut Vec<u8>, name: &str, contents: &[u8]| {
        let header = format!(
            "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            0,
            0,
            0,
            644,
            contents.len()
        );
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(contents);
        if contents.len() % 2 == 1 {
            out.push(b'\n');
        }
    };
    let mut long_names = String::new();
    let mut short_names = Vec::new();
    for (name, _) in members {
        if name.len() > 15 {
            short_names.push(format!("/{}", long_names.len()));
            long_names += &format!("{name}/\n");
        } else {
            short_names.push(format!("{name}/"));
        }
    }
    if !long_names.is_empty() {
        member(&mut out, "//", long_names.as_bytes());
    }
    for (name, (_, contents)) in short_names.iter().zip(members) {
        member(&mut out, name, contents);
    }
    out
}

/// Builds a thin archive of one member.
pub fn thin_archive(path: &str) -> Vec<u8> {
    let mut names = format!("{path}/\n");
    if names.len() % 2 == 1 {
        names.push('\n');
    }
    let row =
        |name: &str, size: usize| format!("{name:<16}{0:<12}{0:<6}{0:<6}{0:<8}{size:<10}`\n", 0);
    format!(
        "!<thin>\n{}{names}{}",
        row("//", names.len()),
        row("/0", 12520)
    )
    .into_bytes()
}
