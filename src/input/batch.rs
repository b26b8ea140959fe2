//! Files that are opened together: small ones are read into one buffer, larger ones are mapped.

use std::fs::File;
use std::io;
use std::io::Read;
use std::ops::Range;
use std::time::Duration;
use std::time::Instant;

use memmap2::Mmap;
use memmap2::MmapOptions;
use rustix::buffer::spare_capacity;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::file_identity::FileStamp;

/// Files below this size are read: a read into a buffer costs less than setting up a mapping and
/// taking its page faults.
const MAP_THRESHOLD: u64 = 16 << 10;

/// Below this size a mapping takes more memory than the file.
const SMALLEST_MAP: u64 = 2 << 10;

/// How much is read from something that is not a regular file (a pipe has no size to go by).
const STREAM_LIMIT: u64 = 4 << 30;

/// Which files are mapped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mapping {
    /// None: there are too many mappings already.
    None,
    /// Large ones.
    Large,
    /// Small ones, too: those that were read take much memory already.
    Small,
}

/// What one file of a batch holds.
pub(super) enum Contents {
    Map(Mmap, FileStamp),
    Own(Vec<u8>),
    /// A part of the batch's buffer.
    Part(Range<usize>),
}

/// Files that were opened together.
pub(super) struct Batch {
    /// The small ones.
    pub(super) buffer: Vec<u8>,
    pub(super) files: Vec<io::Result<Contents>>,
}

/// How a file is brought into memory.
enum Way {
    Map(FileStamp, u64),
    Read(u64),
    Stream,
}

impl Batch {
    /// Opens files and brings them into memory.
    pub(super) fn open(paths: &[&str], mapping: Mapping) -> Batch {
        let _span = tracing::debug_span!("read-files", files = paths.len()).entered();
        let opened = paths.iter().map(|path| open(path, mapping));
        let opened: Vec<_> = opened.collect();
        let small = opened.iter().flatten().map(|(_, way)| match way {
            Way::Read(size) => *size as usize,
            Way::Map(..) | Way::Stream => 0,
        });
        let mut buffer = Vec::with_capacity(small.sum());
        let mut load = |(file, way): (File, Way)| {
            Ok(match way {
                Way::Map(stamp, size) => Contents::Map(map(&file, size)?, stamp),
                Way::Read(size) => {
                    let start = buffer.len();
                    append(&file, size as usize, &mut buffer)?;
                    Contents::Part(start..buffer.len())
                }
                Way::Stream => stream(file)?,
            })
        };
        let files: Vec<_> = opened.into_iter().map(|file| load(file?)).collect();
        // Those before are closed by now, and other threads close theirs as soon as they are read.
        let until = Instant::now() + PATIENCE;
        let again = |(file, path): (io::Result<Contents>, &&str)| match file {
            Err(error) if is_out_of_descriptors(&error) => open_alone(path, mapping, until),
            file => file,
        };
        let files = files.into_iter().zip(paths).map(again).collect();
        Batch { buffer, files }
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::MFILE.raw_os_error())
}

/// How long the files of a batch wait for descriptors in all.
const PATIENCE: Duration = Duration::from_secs(2);

/// Brings a file into memory without others of its batch beside it, as soon as there is a
/// descriptor for it.
fn open_alone(path: &str, mapping: Mapping, until: Instant) -> io::Result<Contents> {
    let (file, way) = loop {
        match open(path, mapping) {
            Err(error) if is_out_of_descriptors(&error) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => break opened?,
        }
    };
    match way {
        Way::Map(stamp, size) => Ok(Contents::Map(map(&file, size)?, stamp)),
        Way::Read(_) | Way::Stream => stream(file),
    }
}

/// Reads a file whose size is not known.
fn stream(file: File) -> io::Result<Contents> {
    let mut bytes = Vec::new();
    file.take(STREAM_LIMIT).read_to_end(&mut bytes)?;
    Ok(Contents::Own(bytes))
}

/// Opens a file and decides how it is brought into memory.
fn open(path: &str, mapping: Mapping) -> io::Result<(File, Way)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    // The C library of the static program would ask again for what the flag says.
    let file = File::from(rustix::fs::open(
        &*crate::file_name::path(path),
        flags,
        Mode::empty(),
    )?);
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    let size = metadata.len();
    let map = || Way::Map(FileStamp::of(&metadata), size);
    let way = match (size, mapping) {
        (0, _) => Way::Stream,
        _ if !metadata.is_file() => Way::Stream,
        (SMALLEST_MAP..MAP_THRESHOLD, Mapping::Small) => map(),
        (0..MAP_THRESHOLD, _) => Way::Read(size),
        (MAP_THRESHOLD.., Mapping::None) => Way::Stream,
        (MAP_THRESHOLD.., Mapping::Large | Mapping::Small) => map(),
    };
    Ok((file, way))
}

fn map(file: &File, size: u64) -> io::Result<Mmap> {
    let mut options = MmapOptions::new();
    if let Ok(size) = usize::try_from(size) {
        options.len(size);
    }
    // SAFETY: the mapping is private and read-only, and the arena keeps it as long as the
    // slice lives. That nobody else changes or truncates the file meanwhile cannot be enforced
    // on this platform; it is the documented contract of `load` and `discover`, as it is of
    // every linker that maps its inputs. A link writes no output of a file that was changed
    // (`InputArena::changed`).
    unsafe { options.map(file) }
}

/// Reads until there are so many bytes, for which the buffer has room, or the file ends.
fn append(file: &File, size: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    let end = buffer.len() + size;
    while buffer.len() < end {
        match rustix::io::read(file, spare_capacity(buffer)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A file that grew is the one that was opened.
    buffer.truncate(end);
    Ok(())
}
