//! What one file holds: read into memory that small files share, or mapped.

use std::fs::File;
use std::io;
use std::io::Read;
use std::sync::Mutex;
use std::sync::PoisonError;

use cuweld_elf::raw::FileHeader;
use memmap2::Mmap;
use memmap2::MmapOptions;
use zerocopy::FromBytes;

use super::identify::ELF_MAGIC;

/// Files below this size are read: a read into a buffer costs less than setting up a mapping and
/// taking its page faults.
pub(super) const MAP_THRESHOLD: u64 = 16 << 10;

/// Below this size a mapping takes more memory than the file.
const SMALLEST_MAP: u64 = 2 << 10;

/// How much is read from something that is not a regular file (a pipe has no size to go by).
const STREAM_LIMIT: u64 = 4 << 30;

/// How much of it each of two threads takes at a time: what they leave at the end takes memory.
const PIECE: usize = 256 << 10;

/// What a file holds that was opened, on its way into the arena.
pub(super) enum Contents<'data> {
    Map(Mmap),
    Own(Vec<u8>),
    Shared(&'data [u8]),
}

/// What opening files takes.
#[derive(Default)]
pub(super) struct Room<'m, 'data> {
    /// Memory that small files share.
    pub(super) rest: &'data mut [u8],
    /// Where more of it comes from; `None` for nowhere.
    pub(super) more: Option<&'m Mutex<&'data mut [u8]>>,
    /// How many bytes more of files that are large enough to be mapped are read.
    pub(super) bytes: u64,
    /// How many files more are mapped.
    pub(super) maps: usize,
    /// Whether the last file was small, so that the next one is expected to be.
    was_small: bool,
}

impl<'data> Room<'_, 'data> {
    /// One for each of two threads that share this memory.
    pub(super) fn halves<'s>(
        &self,
        memory: &'s Mutex<&'data mut [u8]>,
    ) -> (Room<'s, 'data>, Room<'s, 'data>) {
        let half = || Room {
            rest: &mut [],
            more: Some(memory),
            bytes: self.bytes / 2,
            maps: self.maps / 2,
            was_small: false,
        };
        (half(), half())
    }

    /// Memory for a small file; `None` if there is none left.
    fn take(&mut self, size: usize) -> Option<&'data mut [u8]> {
        if self.rest.len() < size
            && let Some(more) = self.more
        {
            let mut more = more.lock().unwrap_or_else(PoisonError::into_inner);
            let piece = more.len().min(PIECE.max(size));
            self.rest = more.split_off_mut(..piece).unwrap_or_default();
        }
        self.rest.split_off_mut(..size)
    }

    /// A small file, read without asking for its size; `None` if it is none.
    fn at_once(&mut self, file: &File) -> Option<Contents<'data>> {
        let most = MAP_THRESHOLD as usize;
        if !self.was_small || self.bytes < MAP_THRESHOLD {
            return None;
        }
        // The last memory of a piece is left to files that fit.
        let buffer = self.rest.get_mut(..most)?;
        let end = read_at(file, buffer, 0).ok()?;
        // A file that is no regular one may have given only a part.
        let is_small = (1..most).contains(&end)
            && (ends_with_table(&buffer[..end])
                || read_at(file, &mut buffer[end..], end as u64).ok()? == 0);
        if !is_small {
            return None;
        }
        self.bytes -= end as u64;
        let bytes = self.rest.split_off_mut(..end)?;
        Some(Contents::Shared(bytes))
    }

    pub(super) fn fetch(&mut self, path: &str) -> io::Result<Contents<'data>> {
        let mut file = open(path)?;
        if let Some(contents) = self.at_once(&file) {
            return Ok(contents);
        }
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let size = metadata.len();
        let is_small = metadata.is_file() && (1..MAP_THRESHOLD).contains(&size);
        self.was_small = is_small;
        let is_mapped = match size {
            _ if !metadata.is_file() || self.maps == 0 => false,
            0..SMALLEST_MAP => false,
            SMALLEST_MAP..MAP_THRESHOLD => self.bytes == 0,
            MAP_THRESHOLD.. => true,
        };
        if is_mapped {
            let mut options = MmapOptions::new();
            if let Ok(size) = usize::try_from(size) {
                options.len(size);
            }
            // SAFETY: the mapping is private and read-only, and the arena keeps it as long as the
            // slice lives. That nobody else changes or truncates the file meanwhile cannot be enforced
            // on this platform; it is the documented contract of `load` and `discover`, as it is of
            // every linker that maps its inputs.
            let map = unsafe { options.map(&file) }?;
            self.maps -= 1;
            Ok(Contents::Map(map))
        } else if is_small {
            self.bytes = self.bytes.saturating_sub(size);
            self.read(&mut file, size as usize)
        } else {
            let mut buffer = Vec::new();
            file.take(STREAM_LIMIT).read_to_end(&mut buffer)?;
            Ok(Contents::Own(buffer))
        }
    }

    /// The bytes of a small file, which a single call reads if the file has the size that it says.
    fn read(&mut self, file: &mut File, size: usize) -> io::Result<Contents<'data>> {
        let Some(buffer) = self.take(size) else {
            let mut buffer = vec![0; size];
            let end = read_into(file, &mut buffer)?;
            buffer.truncate(end);
            return Ok(Contents::Own(buffer));
        };
        let end = read_into(file, buffer)?;
        Ok(Contents::Shared(&buffer[..end]))
    }
}

/// Opens a file for reading, with one call of the system: musl makes two.
#[cfg(unix)]
fn open(path: &str) -> io::Result<File> {
    use rustix::fs::Mode;
    use rustix::fs::OFlags;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?;
    Ok(file.into())
}

#[cfg(not(unix))]
fn open(path: &str) -> io::Result<File> {
    File::open(path)
}

/// Reads until a buffer is full or the file ends; how much was read.
fn read_into(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut end = 0;
    while end < buffer.len() {
        match file.read(&mut buffer[end..]) {
            Ok(0) => break,
            Ok(more) => end += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(end)
}

/// Reads from an offset on, without moving the place from which the file is read else.
#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether these are a whole ELF file whose section or program headers are its end: compilers put them there.
fn ends_with_table(bytes: &[u8]) -> bool {
    let Ok((header, _)) = FileHeader::ref_from_prefix(bytes) else {
        return false;
    };
    let end = |offset: u64, count: u16, size: u16| {
        offset.checked_add(u64::from(count) * u64::from(size)) == Some(bytes.len() as u64)
    };
    let sections = end(
        header.shoff.get(),
        header.shnum.get(),
        header.shentsize.get(),
    );
    let segments = end(
        header.phoff.get(),
        header.phnum.get(),
        header.phentsize.get(),
    );
    bytes.starts_with(ELF_MAGIC) && (sections || segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_elf_files_end_with_a_table() {
        let mut elf = [0; 64 + 2 * 56];
        let (file, _) = FileHeader::mut_from_prefix(&mut elf).unwrap();
        file.ident[..4].copy_from_slice(ELF_MAGIC);
        file.phoff.set(64);
        file.phentsize.set(56);
        file.phnum.set(2);
        assert!(ends_with_table(&elf));
        assert!(!ends_with_table(&elf[..175]) && !ends_with_table(&elf[..20]));
        elf[0] = 0;
        assert!(!ends_with_table(&elf));
    }
}
