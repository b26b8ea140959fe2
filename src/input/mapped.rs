//! Bringing files into memory.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::io::Read;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::SendError;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::TrySendError;
use std::sync::mpsc::sync_channel;
use std::thread::ThreadId;

use cuweld_ir::elf::raw::FileHeader;
use cuweld_passes::threads;
use cuweld_passes::threads::Threads;
use memmap2::Mmap;
use memmap2::MmapOptions;
use rayon::Yield;
use zerocopy::FromBytes;

use super::arena::InputArena;
use super::identify::ELF_MAGIC;
use super::touch::touch;
use super::touch::touch_beside;
use crate::jobs::Jobs;

/// Files below this size are read: a read into a buffer costs less than setting up a mapping and
/// taking its page faults.
const MAP_THRESHOLD: u64 = 16 << 10;

/// Many small files are mapped, too, once this much has been read: what is read takes memory of our own.
const BUFFER_LIMIT: u64 = 64 << 20;

/// Below this size a mapping takes more memory than the file.
const SMALLEST_MAP: u64 = 2 << 10;

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

/// Small files beyond so many bytes are read into shared memory.
const FIRST_BUFFERS: u64 = 256 << 10;

/// How much memory small files share; the system can give it as one page.
const SHARED_BUFFER: u64 = 2 << 20;

/// How much of it each of two threads takes at a time: what they leave at the end takes memory.
const PIECE: usize = 256 << 10;

/// Fewer files are opened by the thread that looks into them alone: 48 of 7 KB take as long with two threads as with one, 96 a tenth less.
const FILES_FOR_A_THREAD: usize = 32;

/// How many files a thread opens at a time.
const BATCH: usize = 16;

/// How many batches of the second thread wait for the first one.
const BATCHES_AHEAD: usize = 8;

/// Reads or maps a file, all of it. The file must not be changed while the link runs.
pub fn load<'data>(path: &str, arena: &'data InputArena) -> io::Result<&'data [u8]> {
    Loader::new(arena, None).open(path)
}

/// What files of a window hold, in their order.
pub(super) type Window<'data> = Vec<io::Result<&'data [u8]>>;

/// Where files come from.
pub(super) trait Files<'data> {
    /// A file's contents.
    fn open(&self, path: &str) -> io::Result<&'data [u8]>;

    /// Which file it is.
    fn identity(&self, path: &str) -> FileIdentity;

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
    room: RefCell<Room<'data, 'data>>,
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

    /// Takes over what was fetched. `idle` has a thread that does not fetch.
    fn keep(&self, path: &str, contents: Contents<'data>, idle: Option<&Jobs>) -> &'data [u8] {
        self.arena.note_opened(path);
        match contents {
            Contents::Map(map) => {
                let map = Arc::new(map);
                if let Some(jobs) = idle {
                    touch_beside(&map, jobs);
                }
                self.arena.keep_map(map)
            }
            Contents::Own(buffer) => self.arena.keep_buffer(buffer),
            Contents::Shared(bytes) => {
                self.arena.count_buffered(bytes.len());
                bytes
            }
        }
    }

    /// The room for further files, with memory for small ones that they share once there are many.
    fn room(&self, files: usize) -> Room<'data, 'data> {
        let mut room = self.room.take();
        let buffered = self.arena.bytes_buffered();
        room.bytes = BUFFER_LIMIT.saturating_sub(buffered);
        room.maps = MAP_LIMIT.saturating_sub(self.arena.maps_kept());
        let most = MAP_THRESHOLD.saturating_mul(files as u64);
        let most = most.min(room.bytes);
        if (room.rest.len() as u64) < most
            && buffered + most >= FIRST_BUFFERS
            && let Ok(size) = usize::try_from(most.next_multiple_of(SHARED_BUFFER))
            && let Ok(shared) = self.arena.keep_shared(size)
        {
            room.rest = shared;
        }
        room
    }
}

impl<'data> Files<'data> for Loader<'_, 'data> {
    fn open(&self, path: &str) -> io::Result<&'data [u8]> {
        let mut room = self.room(1);
        let fetched = room.fetch(path);
        self.room.replace(room);
        Ok(self.keep(path, fetched?, self.jobs))
    }

    fn identity(&self, path: &str) -> FileIdentity {
        identity(path).unwrap_or_else(|| FileIdentity::Name(path.to_owned()))
    }

    /// With many files another thread opens the next ones meanwhile, and this one helps where it would wait.
    fn in_windows<E>(
        &self,
        paths: &[&str],
        size: usize,
        mut take: impl FnMut(Window<'data>) -> Result<(), E>,
    ) -> Result<(), E> {
        let is_worth_it = paths.len() >= FILES_FOR_A_THREAD;
        let Some(second) = self
            .jobs
            .filter(|_| is_worth_it)
            .and_then(|jobs| jobs.second())
        else {
            return one_by_one(self, paths, size, take);
        };
        let mut room = self.room(paths.len());
        let memory = Mutex::new(std::mem::take(&mut room.rest));
        let (room, other) = room.halves(&memory);
        let batches = Batches {
            batches: paths.chunks(BATCH).collect(),
            next: AtomicUsize::new(0),
            taker: std::thread::current().id(),
        };
        let (give, fetched) = sync_channel(BATCHES_AHEAD);
        let fetch = || batches.fetch_for(other, give);
        threads::beside(&second, fetch, || {
            let mut files = batches.in_order(room, fetched);
            for paths in paths.chunks(size) {
                let keep =
                    |(path, fetched): (&&str, io::Result<_>)| Ok(self.keep(path, fetched?, None));
                take(paths.iter().zip(&mut files).map(keep).collect())?;
            }
            Ok(())
        })
    }
}

/// Files on their way from two threads.
struct Batches<'p> {
    batches: Vec<&'p [&'p str]>,
    /// The first that nobody took.
    next: AtomicUsize,
    /// The thread that wants them.
    taker: ThreadId,
}

/// What files of a batch hold, with its number.
type Batch<'data> = (usize, Vec<io::Result<Contents<'data>>>);

impl Batches<'_> {
    /// Opens the next batch; `None` behind the last.
    fn fetch<'data>(&self, room: &mut Room<'_, 'data>) -> Option<Batch<'data>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let paths = self.batches.get(number)?;
        Some((number, paths.iter().map(|path| room.fetch(path)).collect()))
    }

    /// Opens batches until there are no more, or nobody takes them after an error; mapped files are touched, too.
    fn fetch_for<'data>(&self, mut room: Room<'_, 'data>, taker: SyncSender<Batch<'data>>) {
        // That one would wait for itself.
        if std::thread::current().id() == self.taker {
            return;
        }
        while let Some(batch) = self.fetch(&mut room) {
            for file in batch.1.iter().flatten() {
                if let Contents::Map(map) = file {
                    touch(map);
                }
            }
            if send(&taker, batch).is_err() {
                return;
            }
        }
    }

    /// All files in order, from another thread and, where it has not come to them, from this one.
    fn in_order<'data>(
        &self,
        mut room: Room<'_, 'data>,
        other: Receiver<Batch<'data>>,
    ) -> impl Iterator<Item = io::Result<Contents<'data>>> {
        let mut waiting: Vec<Option<Vec<_>>> = self.batches.iter().map(|_| None).collect();
        (0..self.batches.len()).flat_map(move |number| {
            loop {
                if let Some(batch) = waiting[number].take() {
                    return batch;
                }
                let batch = other.try_recv().ok();
                let batch = batch.or_else(|| self.fetch(&mut room));
                // A thread that has ended without it has panicked, which the end of its scope sees.
                let Some((number, batch)) = batch.or_else(|| other.recv().ok()) else {
                    return Vec::new();
                };
                waiting[number] = Some(batch);
            }
        })
    }
}

/// How often the second thread looks for something else to do before it sleeps.
const LOOKS: usize = 2000;

/// Sends a batch. Where there are enough already, this thread does what others of its pool want to have done, until there is room.
fn send<'data>(
    taker: &SyncSender<Batch<'data>>,
    mut batch: Batch<'data>,
) -> Result<(), SendError<Batch<'data>>> {
    for _ in 0..LOOKS {
        batch = match taker.try_send(batch) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Disconnected(batch)) => return Err(SendError(batch)),
            Err(TrySendError::Full(batch)) => batch,
        };
        if rayon::yield_now() != Some(Yield::Executed) {
            std::hint::spin_loop();
        }
    }
    taker.send(batch)
}

/// What a file holds that was opened, on its way into the arena.
enum Contents<'data> {
    Map(Mmap),
    Own(Vec<u8>),
    Shared(&'data [u8]),
}

/// What opening files takes.
#[derive(Default)]
struct Room<'m, 'data> {
    /// Memory that small files share, all zeros.
    rest: &'data mut [u8],
    /// Where more of it comes from; `None` for nowhere.
    more: Option<&'m Mutex<&'data mut [u8]>>,
    /// How many bytes more of files that are large enough to be mapped are read.
    bytes: u64,
    /// How many files more are mapped.
    maps: usize,
    /// Whether the last file was small, so that the next one is expected to be.
    was_small: bool,
}

impl<'data> Room<'_, 'data> {
    /// One for each of two threads that share this memory.
    fn halves<'s>(&self, memory: &'s Mutex<&'data mut [u8]>) -> (Room<'s, 'data>, Room<'s, 'data>) {
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
        self.refill(size);
        self.rest.split_off_mut(..size)
    }

    /// Gets more memory if there is less than so much.
    fn refill(&mut self, size: usize) {
        if self.rest.len() < size
            && let Some(more) = self.more
        {
            let mut more = more.lock().unwrap_or_else(PoisonError::into_inner);
            let piece = more.len().min(PIECE.max(size));
            self.rest = more.split_off_mut(..piece).unwrap_or_default();
        }
    }

    /// A small file, read without asking for its size; `None` if it is none.
    fn at_once(&mut self, file: &File) -> Option<Contents<'data>> {
        let most = MAP_THRESHOLD as usize;
        if !self.was_small || self.bytes < MAP_THRESHOLD {
            return None;
        }
        self.refill(most);
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

    fn fetch(&mut self, path: &str) -> io::Result<Contents<'data>> {
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

#[cfg(unix)]
fn identity(path: &str) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some(FileIdentity::Inode {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}

#[cfg(not(unix))]
fn identity(path: &str) -> Option<FileIdentity> {
    let name = std::fs::canonicalize(path).ok()?;
    Some(FileIdentity::Name(name.to_string_lossy().into_owned()))
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
            assert_eq!(loaded, bytes);
        }
        assert_eq!((arena.buffers_kept(), arena.maps_kept()), (3, 2));
    }

    #[test]
    fn what_follows_a_small_file_loads_as_alone() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        let loader = Loader::new(&arena, None);
        let path = folder.path().join("file");
        let path = path.to_str().unwrap();
        // Reading all of it at once needs memory that files share.
        let shared = loader.room(1000);
        assert!(!shared.rest.is_empty());
        loader.room.replace(shared);
        let mut elf = super::super::test_files::cubin(1, 2);
        for size in [10, 16383, 10, 16384, 10, 0, 10, 300_000, 10, 10] {
            let bytes: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
            std::fs::write(path, &bytes).unwrap();
            assert_eq!(loader.open(path).unwrap(), bytes);
            if size == 10 {
                assert!(loader.open(folder.path().to_str().unwrap()).is_err());
                assert!(loader.open("missing").is_err());
            }
        }
        for _ in 0..2 {
            assert!(elf.len() < 16000);
            std::fs::write(path, &elf).unwrap();
            assert_eq!(loader.open(path).unwrap(), elf);
            elf.extend([0; 100]);
        }
    }

    #[test]
    fn whole_elf_files_end_with_a_table() {
        let mut elf = [0; 64 + 2 * 56];
        let (mut file, _) = FileHeader::mut_from_prefix(&mut elf).unwrap();
        file.ident[..4].copy_from_slice(ELF_MAGIC);
        file.phoff.set(64);
        file.phentsize.set(56);
        file.phnum.set(2);
        assert!(ends_with_table(&elf));
        assert!(!ends_with_table(&elf[..175]) && !ends_with_table(&elf[..20]));
        elf[0] = 0;
        assert!(!ends_with_table(&elf));
    }

    #[test]
    fn folders_and_missing_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        assert!(load(folder.path().to_str().unwrap(), &arena).is_err());
        assert!(load(folder.path().join("x").to_str().unwrap(), &arena).is_err());
    }

    #[test]
    fn files_of_two_threads_come_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<String> = (0..300)
            .map(|index| folder.path().join(index.to_string()).display().to_string())
            .collect();
        for (index, path) in paths.iter().enumerate().filter(|(index, _)| *index != 170) {
            std::fs::write(path, vec![index as u8; 100 * index]).unwrap();
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        for threads in [1, 2] {
            let (arena, jobs) = (InputArena::new(), Jobs::new(Some(threads), None));
            let loader = Loader::new(&arena, Some(&jobs));
            let mut sizes = Vec::new();
            let all = loader.in_windows(&paths, 128, |files| {
                for (index, file) in (sizes.len()..).zip(files) {
                    let bytes = file.ok();
                    assert!(
                        bytes.is_none_or(|bytes| bytes.iter().all(|byte| *byte == index as u8))
                    );
                    sizes.push(bytes.map(<[u8]>::len));
                }
                Ok::<(), ()>(())
            });
            assert_eq!(all, Ok(()));
            let expected = (0..300).map(|index| (index != 170).then_some(100 * index));
            assert!(expected.eq(sizes));
            assert_eq!(loader.in_windows(&paths, 128, |_| Err("stop")), Err("stop"));
        }
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
        let loader = Loader::new(&arena, None);
        let identity = |name: &str| loader.identity(&path(name));
        assert_eq!(identity("a"), identity("hard"));
        assert_eq!(identity("a"), identity("soft"));
        assert_ne!(identity("a"), identity("copy"));
    }
}
