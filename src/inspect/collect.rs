//! Opens what wraps device code, and decodes what is within.

use std::io;

use cuweld_elf::class32::is_class32;
use cuweld_elf::class32::widen;
use cuweld_elf::raw::EM_CUDA;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::raw::string_at;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::validate::validate_structure;

use super::code_names;
use super::device::decode_device_elf;
use super::device::decode_narrow_device_elf;
use super::error::InspectError;
use super::model::*;
use super::name::Name;
use crate::input::InputArena;
use crate::input::archive;
use crate::input::decompress::Codec;
use crate::input::decompress::decompress;
use crate::input::fatbin;
use crate::input::fatbin::FatbinError;
use crate::input::fatbin::MemberKind;
use crate::input::fatbin::RegionHeader;
use crate::input::identify;
use crate::input::mapped;
use crate::input::module_id;

/// Archives within archives are entered this deep.
const DEEPEST: usize = 8;

/// All members of a file together unpack to at most this many times its size, or
/// [`ALWAYS_UNPACKED`] bytes. Real device code packs about tenfold.
const LARGEST_EXPANSION: u64 = 256;
const ALWAYS_UNPACKED: u64 = 64 << 20;

/// Host references: section, what it is about.
const REFERENCE_SECTIONS: [(&str, &str); 6] = [
    (".nvHRKE", "global kernel"),
    (".nvHRKI", "local kernel"),
    (".nvHRDE", "global variable"),
    (".nvHRDI", "local variable"),
    (".nvHRCE", "global constant"),
    (".nvHRCI", "local constant"),
];

/// Names of fatbin flags.
const FATBIN_FLAGS: [(u64, &str); 11] = [
    (fatbin::FLAG_64BIT, "64-bit"),
    (fatbin::FLAG_DEBUG, "debug"),
    (fatbin::FLAG_LINUX, "linux"),
    (fatbin::FLAG_ZLIB, "zlib"),
    (fatbin::FLAG_LZ4, "lz4"),
    (fatbin::FLAG_OTHER_CODEC, "other-codec"),
    (fatbin::FLAG_ZSTD, "zstd"),
    (fatbin::FLAG_OBFUSCATED, "obfuscated"),
    (fatbin::FLAG_SPECIFIC, "arch-specific"),
    (fatbin::FLAG_FAMILY, "family-specific"),
    (fatbin::FLAG_COMPAT, "compat-attributes"),
];

/// Collects the contents of a file. The file must not be changed meanwhile.
pub fn inspect_file<'data>(path: &'data str, arena: &'data InputArena) -> Node<'data> {
    match mapped::load(path, arena) {
        Ok(bytes) => inspect_bytes(path.as_bytes(), bytes, arena),
        Err(error) => {
            let mut node = Node::new(Name(path.as_bytes()), b"", Content::Unknown);
            node.errors.push(InspectError::Io(error.to_string()));
            node
        }
    }
}

/// Collects the contents of a file that is in memory already. Members of thin archives are read
/// from disk, their paths counting from the current folder, as they do in a link.
pub fn inspect_bytes<'data>(
    name: &'data [u8],
    bytes: &'data [u8],
    arena: &'data InputArena,
) -> Node<'data> {
    let mut collector = Collector {
        arena,
        unpack_budget: (bytes.len() as u64)
            .saturating_mul(LARGEST_EXPANSION)
            .max(ALWAYS_UNPACKED),
    };
    collector.node(Name(name), bytes, 0)
}

struct Collector<'data> {
    arena: &'data InputArena,
    /// How many more bytes are unpacked.
    unpack_budget: u64,
}

impl<'data> Collector<'data> {
    /// Decides by content: what a name ends in matters to links only.
    fn node(&mut self, name: Name<'data>, bytes: &'data [u8], depth: usize) -> Node<'data> {
        let mut node = Node::new(name, bytes, Content::Unknown);
        if depth > DEEPEST {
            node.errors.push(InspectError::TooDeep);
        } else if identify::is_archive(bytes) {
            self.archive(&mut node, bytes, depth);
        } else if fatbin::has_magic(bytes) {
            // Whatever follows the first region does not count in a file of its own.
            self.region(&mut node, bytes, true);
        } else if let Some(kind) = identify::elf_kind(bytes) {
            if kind.machine == EM_CUDA {
                self.device_elf(&mut node, bytes);
            } else {
                self.host_elf(&mut node, bytes, kind);
            }
        } else if let Some(ptx) = ptx(bytes) {
            node.content = Content::Ptx(ptx);
        } else {
            node.errors.push(InspectError::UnknownFormat);
        }
        node
    }

    fn archive(&mut self, node: &mut Node<'data>, bytes: &'data [u8], depth: usize) {
        let list = archive::members(bytes);
        let thin = bytes.starts_with(identify::THIN_ARCHIVE_MAGIC);
        let mut members = Vec::with_capacity(list.members.len());
        for member in list.members {
            let name = Name(member.name);
            members.push(match member.data {
                Some(data) => {
                    let mut inner = self.node(name, data, depth + 1);
                    inner.offset = offset_within(bytes, data);
                    inner
                }
                None => match self.thin_member(member.name) {
                    Ok(data) => self.node(name, data, depth + 1),
                    Err(error) => {
                        let mut inner = Node::new(name, b"", Content::Unknown);
                        inner.errors.push(InspectError::Io(error.to_string()));
                        inner
                    }
                },
            });
        }
        if list.cut_off.is_some() || index_is_cut_off(bytes) {
            node.errors.push(InspectError::Archive(members.len()));
        }
        node.content = Content::Archive(Archive { thin, members });
    }

    fn thin_member(&self, name: &[u8]) -> io::Result<&'data [u8]> {
        let path = std::str::from_utf8(name).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidFilename, "a name that is no text")
        })?;
        mapped::load(path, self.arena)
    }

    fn host_elf(&mut self, node: &mut Node<'data>, bytes: &'data [u8], kind: identify::ElfKind) {
        let mut host = HostElf {
            file_type: code_names::file_type(kind.e_type),
            machine: code_names::machine(kind.machine),
            module_ids: Vec::new(),
            prelinked_ids: Vec::new(),
            references: Vec::new(),
            fatbins: Vec::new(),
        };
        match validate_structure(bytes) {
            Err(error) => node.errors.push(error.into()),
            Ok(headers) => {
                let names = headers.sections.get(headers.section_names);
                let names = names.map_or(&b""[..], |names| contents(bytes, names));
                let find = |name: &str| {
                    let mut sections = headers.sections.iter();
                    let found = sections.find(|section| {
                        string_at(names, section.name.get()) == Some(name.as_bytes())
                    })?;
                    Some(contents(bytes, found))
                };
                let ids = find("__nv_module_id").unwrap_or_default();
                let ids = module_id::parse(ids, 0, "").unwrap_or_default();
                host.module_ids = ids.ids.into_iter().map(Name).collect();
                host.prelinked_ids = ids.prelinked.into_iter().map(Name).collect();
                for (section, about) in REFERENCE_SECTIONS {
                    let patterns = find(section).unwrap_or_default();
                    let patterns = patterns.split(|byte| *byte == 0);
                    host.references
                        .extend(
                            patterns
                                .filter(|pattern| !pattern.is_empty())
                                .map(|pattern| HostReference {
                                    section,
                                    about,
                                    pattern: Name(pattern),
                                }),
                        );
                }
                for (section, linkable) in [("__nv_relfatbin", true), (".nv_fatbin", false)] {
                    if let Some(data) = find(section) {
                        let regions = self.regions(section, data, linkable);
                        host.fatbins.extend(regions.into_iter().map(|mut region| {
                            region.offset += offset_within(bytes, data);
                            region
                        }));
                    }
                }
            }
        }
        node.content = Content::HostElf(host);
    }

    /// Returns the regions of a section, one after the other.
    fn regions(
        &mut self,
        section: &'static str,
        bytes: &'data [u8],
        linkable: bool,
    ) -> Vec<Node<'data>> {
        let mut regions = Vec::new();
        let mut rest = bytes;
        loop {
            // The host's linker pads pieces of a section.
            let padding = rest.iter().take_while(|byte| **byte == 0).count();
            rest = rest.get(padding..).unwrap_or_default();
            if rest.is_empty() {
                return regions;
            }
            let size = region_size(rest).unwrap_or(rest.len());
            let (region, behind) = rest.split_at_checked(size).unwrap_or((rest, b""));
            let mut node = Node::new(Name(section.as_bytes()), region, Content::Unknown);
            node.offset = offset_within(bytes, region);
            self.region(&mut node, region, linkable && regions.is_empty());
            regions.push(node);
            rest = behind;
        }
    }

    fn region(&mut self, node: &mut Node<'data>, bytes: &'data [u8], linkable: bool) {
        let (list, error) = self.whole_members(bytes);
        node.errors.extend(error.map(InspectError::from));
        let version = bytes.get(4..6).and_then(|field| field.first_chunk());
        let mut members = Vec::with_capacity(list.len());
        for member in &list {
            members.push(self.fatbin_member(member));
        }
        node.content = Content::Fatbin(Fatbin {
            version: version.map_or(0, |field| u16::from_le_bytes(*field)),
            linkable,
            members,
        });
    }

    /// Returns the members of a region up to the first damaged one, and what is wrong with that.
    fn whole_members(
        &self,
        bytes: &'data [u8],
    ) -> (Vec<fatbin::FatbinMember<'data>>, Option<FatbinError>) {
        let error = match fatbin::parse(bytes) {
            Ok(members) => return (members, None),
            Err(error) => error,
        };
        // A copy whose header ends the region before the damage reads as a sound one. A region that
        // is cut off may have its first damaged member anywhere.
        let header = size_of::<RegionHeader>();
        let mut end = match damaged_at(&error) {
            Some(offset) => offset,
            None if matches!(error, FatbinError::RegionTruncated { .. }) => bytes.len() as u64,
            None => return (Vec::new(), Some(error)),
        };
        for _ in 0..2 {
            let start = bytes.get(6..8).and_then(|field| field.first_chunk());
            let start = start.map_or(0, |field| u64::from(u16::from_le_bytes(*field)));
            let Some(size) = end.checked_sub(start) else {
                break;
            };
            let length = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
            let mut copy = bytes.get(..length).unwrap_or_default().to_vec();
            let Some(field) = copy.get_mut(8..header) else {
                break;
            };
            field.copy_from_slice(&size.to_le_bytes());
            match fatbin::parse(self.arena.keep_buffer(copy)) {
                Ok(members) => return (members, Some(error)),
                Err(inner) => match damaged_at(&inner) {
                    Some(offset) if offset < end => end = offset,
                    _ => break,
                },
            }
        }
        (Vec::new(), Some(error))
    }

    fn fatbin_member(&mut self, member: &fatbin::FatbinMember<'data>) -> Node<'data> {
        let header = member.header;
        let codec = Codec::of(member);
        let stored = member.stored.len() as u64;
        let packed = codec != Codec::None;
        let unpacked_size = if packed {
            header.uncompressed_size.get()
        } else {
            stored
        };
        let mut node = Node {
            name: Name(member.name()),
            offset: member.offset,
            size: u64::from(header.header_size.get()).saturating_add(header.stored_size.get()),
            content: Content::Unknown,
            errors: Vec::new(),
        };
        let options = member.options().unwrap_or_else(|error| {
            node.errors.push(error.into());
            b""
        });
        let flags = header.flags.get();
        let code = match member.kind() {
            MemberKind::Elf => "elf",
            MemberKind::Mercury => "mercury",
            MemberKind::Ptx => "ptx",
            MemberKind::Nvvm => "lto-ir",
            MemberKind::Other(_) => "other",
        };
        // Obfuscated LTO-IR is no damage.
        let data = match member.kind() {
            MemberKind::Nvvm => Some(Node::new(Name::default(), member.stored, Content::LtoIr)),
            _ if packed && unpacked_size > self.unpack_budget => {
                node.errors.push(InspectError::TooMuchData);
                None
            }
            kind => match decompress(member, self.arena) {
                Ok(data) => {
                    if packed {
                        self.unpack_budget = self.unpack_budget.saturating_sub(unpacked_size);
                    }
                    Some(self.image(kind, data))
                }
                Err(error) => {
                    node.errors.push(error.into());
                    None
                }
            },
        };
        node.content = Content::FatbinMember(Box::new(FatbinMember {
            code,
            code_value: header.kind.get(),
            arch: member.arch().map_or_else(
                || format!("SM {}", header.sm.get()),
                |arch| arch.to_string(),
            ),
            version: format!("{}.{}", header.major.get(), header.minor.get()),
            flags,
            flag_names: FATBIN_FLAGS
                .into_iter()
                .filter(|(bit, _)| flags & bit != 0)
                .map(|(_, name)| name)
                .collect(),
            codec: match codec {
                Codec::None => "none",
                Codec::Zlib => "zlib",
                Codec::Lz4 => "lz4",
                Codec::Zstd => "zstd",
                Codec::Unknown => "unknown",
            },
            stored_size: stored,
            unpacked_size,
            options: Name(options.strip_suffix(b"\0").unwrap_or(options)),
            data: data.map(Box::new),
        }));
        node
    }

    /// Returns the unpacked data of a fatbin member.
    fn image(&self, kind: MemberKind, data: &'data [u8]) -> Node<'data> {
        let mut node = Node::new(Name::default(), data, Content::Unknown);
        match (kind, identify::elf_kind(data), ptx(data)) {
            (MemberKind::Elf | MemberKind::Mercury, Some(elf), _) if elf.machine == EM_CUDA => {
                self.device_elf(&mut node, data)
            }
            (MemberKind::Ptx, _, Some(ptx)) => node.content = Content::Ptx(ptx),
            (MemberKind::Elf | MemberKind::Mercury | MemberKind::Ptx, ..) => {
                node.errors.push(InspectError::UnknownFormat)
            }
            _ => {}
        }
        node
    }

    fn device_elf(&self, node: &mut Node<'data>, bytes: &'data [u8]) {
        let decoded = if is_class32(bytes) {
            widen(bytes).and_then(|(wide, narrow)| {
                decode_narrow_device_elf(bytes, self.arena.keep_buffer(wide), &narrow)
            })
        } else {
            decode_device_elf(bytes)
        };
        match decoded {
            Ok((elf, errors)) => {
                node.content = Content::DeviceElf(Box::new(elf));
                node.errors = errors;
            }
            Err(error) => node.errors.push(error.into()),
        }
    }
}

/// Returns `true` if an archive ends within its first member, which is the symbol index in most;
/// the reader of members passes over that.
fn index_is_cut_off(bytes: &[u8]) -> bool {
    let size = bytes
        .get(56..66)
        .and_then(|field| std::str::from_utf8(field).ok())
        .and_then(|field| field.trim_ascii().parse::<u64>().ok());
    let thin = bytes.starts_with(identify::THIN_ARCHIVE_MAGIC);
    let is_index = matches!(bytes.get(8..10), Some(b"/ " | b"//"));
    size.is_some_and(|size| size > (bytes.len() as u64).saturating_sub(68)) && (is_index || !thin)
}

/// Returns the offset of the member that an error is about.
fn damaged_at(error: &FatbinError) -> Option<u64> {
    match *error {
        FatbinError::HeaderTruncated { offset }
        | FatbinError::HeaderSize { offset, .. }
        | FatbinError::DataTruncated { offset, .. }
        | FatbinError::CompressedSize { offset, .. }
        | FatbinError::Options { offset } => Some(offset),
        FatbinError::NotAFatbin | FatbinError::Version(_) | FatbinError::RegionTruncated { .. } => {
            None
        }
    }
}

/// Returns the size of the region at the start of `bytes`, as its header says.
fn region_size(bytes: &[u8]) -> Option<usize> {
    use zerocopy::FromBytes;
    let (header, _) = RegionHeader::ref_from_prefix(bytes).ok()?;
    if header.magic.get() != fatbin::REGION_MAGIC {
        return None;
    }
    let size = usize::try_from(header.size.get()).ok()?;
    size.checked_add(header.header_size.get().into())
        .filter(|size| *size > 0)
}

fn contents<'data>(bytes: &'data [u8], section: &SectionHeader) -> &'data [u8] {
    if is_no_bits(section.ty.get(), section.flags()) {
        return b"";
    }
    let range = || {
        let start = usize::try_from(section.offset.get()).ok()?;
        let size = usize::try_from(section.size.get()).ok()?;
        bytes.get(start..start.checked_add(size)?)
    };
    range().unwrap_or_default()
}

/// Returns the offset in `whole` at which a slice of it begins.
fn offset_within(whole: &[u8], part: &[u8]) -> u64 {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize) as u64
}

/// Reads the version and the target of PTX text, which begins with `.version` and `.target`, after
/// comments.
fn ptx(bytes: &[u8]) -> Option<Ptx<'_>> {
    let mut version = None;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        let operand = |directive: &[u8]| {
            let operand = line.strip_prefix(directive)?;
            let operand = operand.split(|byte| *byte == b'/').next()?;
            Some(Name(operand.trim_ascii()))
        };
        if let Some(found) = operand(b".version ") {
            version = Some(found);
        } else if let Some(target) = operand(b".target ") {
            return version.map(|version| Ptx { version, target });
        } else if !(line.is_empty() || line.starts_with(b"//")) {
            return None;
        }
    }
    None
}
