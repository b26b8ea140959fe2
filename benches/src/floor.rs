//! The least that a link has to do with bytes: read every input, unpack what is packed, write as
//! many bytes as the output has.

use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::time::Instant;

use cuweld::Target;
use cuweld::internals::archive;
use cuweld::internals::decompress::Codec;
use cuweld::internals::decompress::unpack_into;
use cuweld::internals::fatbin;
use cuweld::internals::fatbin::FatbinMember;
use cuweld::internals::host_object::DeviceCode;
use cuweld::internals::host_object::HostObject;
use cuweld::internals::identify;
use cuweld::internals::select::Selection;
use cuweld::internals::select::select;
use cuweld_ir::elf::read_object;

/// The buffer for what is read and written, as long as nothing is packed.
const BUFFER_SIZE: usize = 1 << 20;

/// A packed device image of a file.
struct Packed {
    offset: usize,
    length: usize,
    codec: Codec,
    size: usize,
}

/// What a file holds.
#[derive(Default)]
struct Contents {
    packed: Vec<Packed>,
    /// Sections, symbols and relocations of its device images.
    entities: usize,
}

/// What the floor of a link is, and what its inputs hold.
pub struct Floor {
    /// Seconds.
    pub seconds: f64,
    /// Bytes of the inputs, what is packed counted as it is unpacked.
    pub decoded: u64,
    /// Sections, symbols and relocations of the device images.
    pub entities: usize,
}

/// Reads the inputs and writes `size` bytes to a file, with plain calls and buffers that are used
/// again.
pub fn floor(inputs: &[String], target: Target, size: u64, copy: &str) -> io::Result<Floor> {
    let (mut decoded, mut entities, mut unpacked_size) = (0, 0, 0);
    let mut buffer_size = BUFFER_SIZE;
    let mut files = Vec::new();
    for input in inputs {
        let bytes = std::fs::read(input)?;
        let mut contents = Contents::default();
        contents.add(&bytes, 0, target);
        decoded += bytes.len();
        for packed in &contents.packed {
            decoded = decoded + packed.size - packed.length;
            unpacked_size = unpacked_size.max(packed.size);
            buffer_size = buffer_size.max(bytes.len());
        }
        entities += contents.entities;
        files.push((input, contents.packed));
    }
    let mut buffer = vec![1; buffer_size];
    let mut unpacked = vec![1; unpacked_size];
    let begun = Instant::now();
    for (input, packed) in files {
        let mut file = File::open(input)?;
        if packed.is_empty() {
            while file.read(&mut buffer)? != 0 {}
        }
        let mut filled = 0;
        while !packed.is_empty() {
            let free = buffer.get_mut(filled..).unwrap_or_default();
            match file.read(free)? {
                0 => break,
                length => filled += length,
            }
        }
        for row in packed {
            let from = buffer
                .get(row.offset..row.offset + row.length)
                .unwrap_or_default();
            let to = unpacked.get_mut(..row.size).unwrap_or_default();
            unpack_into(row.codec, from, to).map_err(io::Error::other)?;
        }
    }
    let mut file = File::create(copy)?;
    let mut left = usize::try_from(size).map_err(io::Error::other)?;
    while left > 0 {
        let size = left.min(buffer.len()).min(BUFFER_SIZE);
        file.write_all(buffer.get(..size).unwrap_or_default())?;
        left -= size;
    }
    drop(file);
    Ok(Floor {
        seconds: begun.elapsed().as_secs_f64(),
        decoded: decoded as u64,
        entities,
    })
}

impl Contents {
    /// Adds what bytes at an offset of the file hold.
    fn add(&mut self, bytes: &[u8], offset: usize, target: Target) {
        if identify::is_archive(bytes) {
            for member in archive::members(bytes).members {
                if let Some(data) = member.data {
                    self.add(data, offset + member.offset as usize, target);
                }
            }
        } else if fatbin::has_magic(bytes) {
            for region in std::iter::once(bytes).chain(fatbin::further_regions(bytes)) {
                let members = fatbin::parse(region).unwrap_or_default();
                if let Selection::Member(member) =
                    select(&members, (Default::default(), target), false)
                {
                    self.member(&member, bytes, offset);
                }
            }
        } else if let Ok(host) = HostObject::parse(bytes)
            && let DeviceCode::Relocatable { fatbin, offset: at } = host.device_code
        {
            self.add(fatbin, offset + at as usize, target);
        } else {
            self.image(bytes);
        }
    }

    fn member(&mut self, member: &FatbinMember<'_>, bytes: &[u8], offset: usize) {
        let codec = Codec::of(member);
        if codec == Codec::None {
            return self.image(member.stored);
        }
        let size = member.header.uncompressed_size.get() as usize;
        let mut image = vec![0; size];
        if unpack_into(codec, member.stored, &mut image).is_ok() {
            self.image(&image);
            self.packed.push(Packed {
                offset: offset + (member.stored.as_ptr().addr() - bytes.as_ptr().addr()),
                length: member.stored.len(),
                codec,
                size,
            });
        }
    }

    fn image(&mut self, image: &[u8]) {
        if let Ok(part) = read_object(image, b"", b"") {
            self.entities += part.sections.len() + part.symbols.len() + part.relocs.len();
        }
    }
}
