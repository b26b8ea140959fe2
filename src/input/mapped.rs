//! Bringing files into memory.

use std::cell::RefCell;
use std::fs::File;
use std::fs::Metadata;
use std::io;
use std::io::Read;
use std::sync::mpsc::sync_channel;

use cuweld_passes::threads::Threads;
use memmap2::Mmap;
use memmap2::MmapOptions;

use super::arena::InputArena;
use crate::jobs::Jobs;

/// Files below this size are read: a read into a buffer costs less than setting up a mapping and
/// taking its page faults.
const MAP_THRESHOLD: u64 = 16 << 10;

/// Many small files are mapped, too, once this much has been read: what is read takes memory of our own.
const BUFFER_LIMIT: u64 = 64 << 20;

/// Below this size a mapping takes more memory than the file.
const SMALLEST_MAP: u64 = 2 << 10;

/// All pages of smaller files are mapped at once, as most of them are read: one call in place of a page fault for every 64 KiB. Of
/// larger files, archives first of all, a part may do.
const POPULATE_LIMIT: u64 = 1 << 20;

/// How many files are mapped; a process may have 65530 mappings.
const MAP_LIMIT: usize = 48 << 10;

/// How much is read from something that is not a regular file (a pipe has no size to go by).
const STREAM_LIMIT: u64 = 4 << 30;

/// What makes two names the same file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileIdentity {
    /// Device and inode: links and other spellings of a path are the same file.
    Inode {
        /// Device number.
        device: u64,
        /// Inode number on that device.
        inode: u64,
    },
    /// A name, where there is nothing better: inputs given as bytes.
    Name(String),
}

/// A file's contents.
#[derive(Clone, Debug)]
pub struct LoadedFile<'data> {
    /// All its bytes.
    pub bytes: &'data [u8],
    /// Which file it is.
    pub identity: FileIdentity,
}

/// Small files beyond so many bytes are read into shared memory.
const FIRST_BUFFERS: u64 = 256 << 10;

/// How much memory small files share; the system can give it as one page.
const SHARED_BUFFER: u64 = 2 << 20;

/// Fewer files are opened by the thread that looks into them.
const FILES_FOR_A_THREAD: usize = 128;

/// How many windows are opened before the first of them is looked into.
const WINDOWS_AHEAD: usize = 2;

/// Reads or maps a file. The file must not be changed while the link runs.
pub fn load<'data>(path: &str, arena: &'data InputArena) -> io::Result<LoadedFile<'data>> {
    Loader::new(arena, None).open(path)
}

/// What files of a window hold, in their order.
pub(super) type Window<'data> = Vec<io::Result<LoadedFile<'data>>>;

/// Where files come from.
pub(super) trait Files<'data> {
    /// A file's contents.
    fn open(&self, path: &str) -> io::Result<LoadedFile<'data>>;

    /// Opens files, and gives the contents of so many at a time to somebody, until that fails.
    fn in_windows<E>(
        &self,
        paths: &[&str],
        size: usize,
        take: impl FnMut(Window<'data>) -> Result<(), E>,
    ) -> Result<(), E> {
        one_by_one(self, paths, size, take)
    }
}

/// Opens the files of a window when it is their turn.
fn one_by_one<'data, E>(
    files: &(impl Files<'data> + ?Sized),
    paths: &[&str],
    size: usize,
    mut take: impl FnMut(Window<'data>) -> Result<(), E>,
) -> Result<(), E> {
    let mut windows = paths.chunks(size);
    windows.try_for_each(|paths| take(paths.iter().map(|path| files.open(path)).collect()))
}

/// Reads or maps files.
pub(super) struct Loader<'a, 'data> {
    arena: &'data InputArena,
    /// What leaves to use a second thread are asked of; `None` for none.
    jobs: Option<&'a Jobs>,
    room: RefCell<Room<'data>>,
}

impl<'a, 'data> Loader<'a, 'data> {
    /// One that has read nothing.
    pub(super) fn new(arena: &'data InputArena, jobs: Option<&'a Jobs>) -> Self {
        Loader {
            arena,
            jobs,
            room: RefCell::default(),
        }
    }

    /// Takes over what was fetched.
    fn keep(&self, path: &str, fetched: Fetched<'data>) -> LoadedFile<'data> {
        self.arena.note_opened(path);
        let bytes = match fetched.contents {
            Contents::Map(map) => self.arena.keep_map(map),
            Contents::Own(buffer) => self.arena.keep_buffer(buffer),
            Contents::Shared(bytes) => {
                self.arena.count_buffered(bytes.len());
                bytes
            }
        };
        LoadedFile {
            bytes,
            identity: fetched.identity,
        }
    }

    /// The room for further files, with memory for small ones that they share once there are many.
    fn room(&self, files: usize) -> Room<'data> {
        let mut room = self.room.take();
        room.buffered = self.arena.bytes_buffered();
        room.mapped = self.arena.maps_kept();
        let most = MAP_THRESHOLD.saturating_mul(files as u64);
        let most = most.min(BUFFER_LIMIT.saturating_sub(room.buffered));
        if (room.rest.len() as u64) < most
            && room.buffered + most >= FIRST_BUFFERS
            && let Ok(size) = usize::try_from(most.next_multiple_of(SHARED_BUFFER))
            && let Ok(shared) = self.arena.keep_shared(size)
        {
            room.rest = shared;
        }
        room
    }
}

impl<'data> Files<'data> for Loader<'_, 'data> {
    fn open(&self, path: &str) -> io::Result<LoadedFile<'data>> {
        let mut room = self.room(1);
        let fetched = room.fetch(path);
        self.room.replace(room);
        Ok(self.keep(path, fetched?))
    }

    /// With many files another thread opens the next ones meanwhile.
    fn in_windows<E>(
        &self,
        paths: &[&str],
        size: usize,
        mut take: impl FnMut(Window<'data>) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_worth_it = paths.len() >= FILES_FOR_A_THREAD;
        let Some(_leave) = self
            .jobs
            .filter(|_| is_worth_it)
            .and_then(|jobs| jobs.second())
        else {
            return one_by_one(self, paths, size, take);
        };
        let mut room = self.room(paths.len());
        std::thread::scope(|scope| {
            let (give, windows) = sync_channel(WINDOWS_AHEAD);
            scope.spawn(move || {
                for paths in paths.chunks(size) {
                    let fetched: Vec<_> = paths.iter().map(|path| room.fetch(path)).collect();
                    // Nobody takes more after an error.
                    if give.send(fetched).is_err() {
                        return;
                    }
                }
            });
            for (paths, fetched) in paths.chunks(size).zip(windows) {
                let keep = |(path, fetched): (&&str, io::Result<_>)| Ok(self.keep(path, fetched?));
                take(paths.iter().zip(fetched).map(keep).collect())?;
            }
            Ok(())
        })
    }
}

/// A file that was opened, on its way into the arena.
struct Fetched<'data> {
    contents: Contents<'data>,
    identity: FileIdentity,
}

enum Contents<'data> {
    Map(Mmap),
    Own(Vec<u8>),
    Shared(&'data [u8]),
}

/// What opening files takes.
#[derive(Default)]
struct Room<'data> {
    /// Memory that small files share, all zeros.
    rest: &'data mut [u8],
    /// Bytes of all buffers.
    buffered: u64,
    /// How many files are mapped.
    mapped: usize,
}

impl<'data> Room<'data> {
    fn fetch(&mut self, path: &str) -> io::Result<Fetched<'data>> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let size = metadata.len();
        let is_mapped = match size {
            _ if !metadata.is_file() || self.mapped >= MAP_LIMIT => false,
            0..SMALLEST_MAP => false,
            SMALLEST_MAP..MAP_THRESHOLD => self.buffered >= BUFFER_LIMIT,
            MAP_THRESHOLD.. => true,
        };
        let contents = if is_mapped {
            let mut options = MmapOptions::new();
            if size < POPULATE_LIMIT {
                options.populate();
            }
            if let Ok(size) = usize::try_from(size) {
                options.len(size);
            }
            // SAFETY: the mapping is private and read-only, and the arena keeps it as long as the
            // slice lives. That nobody else changes or truncates the file meanwhile cannot be enforced
            // on this platform; it is the documented contract of `load` and `discover`, as it is of
            // every linker that maps its inputs.
            let map = unsafe { options.map(&file) }?;
            self.mapped += 1;
            Contents::Map(map)
        } else if metadata.is_file() && (1..MAP_THRESHOLD).contains(&size) {
            self.buffered = self.buffered.saturating_add(size);
            self.read(&mut file, size as usize)?
        } else {
            let mut buffer = Vec::new();
            file.by_ref().take(STREAM_LIMIT).read_to_end(&mut buffer)?;
            Contents::Own(buffer)
        };
        Ok(Fetched {
            contents,
            identity: identity(path, &metadata),
        })
    }

    /// The bytes of a small file, which a single call reads if the file has the size that it says.
    fn read(&mut self, file: &mut File, size: usize) -> io::Result<Contents<'data>> {
        if self.rest.len() < size {
            let mut buffer = vec![0; size];
            let end = read_into(file, &mut buffer)?;
            buffer.truncate(end);
            return Ok(Contents::Own(buffer));
        }
        let (buffer, rest) = std::mem::take(&mut self.rest).split_at_mut(size);
        self.rest = rest;
        let end = read_into(file, buffer)?;
        Ok(Contents::Shared(&buffer[..end]))
    }
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

#[cfg(unix)]
fn identity(_path: &str, metadata: &Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    FileIdentity::Inode {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn identity(path: &str, _metadata: &Metadata) -> FileIdentity {
    let name = std::fs::canonicalize(path).map(|path| path.to_string_lossy().into_owned());
    FileIdentity::Name(name.unwrap_or_else(|_| path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_files_load_alike() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        for size in [0usize, 1, 16383, 16384, 300_000] {
            let path = folder.path().join(format!("{size}"));
            let bytes: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            let loaded = load(path.to_str().unwrap(), &arena).unwrap();
            assert_eq!(loaded.bytes, bytes);
        }
        assert_eq!((arena.buffers_kept(), arena.maps_kept()), (3, 2));
    }

    #[test]
    fn folders_and_missing_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        assert!(load(folder.path().to_str().unwrap(), &arena).is_err());
        assert!(load(folder.path().join("x").to_str().unwrap(), &arena).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_the_same_file_and_copies_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("a"), b"x").unwrap();
        std::fs::copy(path("a"), path("copy")).unwrap();
        std::fs::hard_link(path("a"), path("hard")).unwrap();
        std::os::unix::fs::symlink(path("a"), path("soft")).unwrap();
        let identity = |name: &str| load(&path(name), &arena).unwrap().identity;
        assert_eq!(identity("a"), identity("hard"));
        assert_eq!(identity("a"), identity("soft"));
        assert_ne!(identity("a"), identity("copy"));
    }
}
