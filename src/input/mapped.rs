//! Bringing files into memory.

use std::cell::RefCell;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::SendError;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::TrySendError;
use std::sync::mpsc::sync_channel;
use std::thread::ThreadId;

use cuweld_passes::threads;
use cuweld_passes::threads::Threads;
use rayon::Yield;

use super::arena::InputArena;
use super::room::Contents;
use super::room::MAP_THRESHOLD;
use super::room::Room;
use crate::jobs::Jobs;

/// Many small files are mapped, too, once this much has been read: what is read takes memory of our own.
const BUFFER_LIMIT: u64 = 64 << 20;

/// How many files are mapped; a process may have 65530 mappings.
const MAP_LIMIT: usize = 48 << 10;

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

/// Fewer files are opened by the thread that looks into them alone: they take as long as it takes to start one.
const FILES_FOR_A_THREAD: usize = 32;

/// How many files a thread opens at a time.
const BATCH: usize = 4;

/// How many batches of the second thread wait for the first one.
const BATCHES_AHEAD: usize = 32;

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

    /// Takes over what was fetched.
    fn keep(&self, path: &str, contents: Contents<'data>) -> &'data [u8] {
        self.arena.note_opened(path);
        match contents {
            Contents::Map(map) => self.arena.keep_map(map),
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
        Ok(self.keep(path, fetched?))
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
                let keep = |(path, fetched): (&&str, io::Result<_>)| Ok(self.keep(path, fetched?));
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

    /// Opens batches until there are no more, or nobody takes them after an error.
    fn fetch_for<'data>(&self, mut room: Room<'_, 'data>, taker: SyncSender<Batch<'data>>) {
        // That one would wait for itself.
        if std::thread::current().id() == self.taker {
            return;
        }
        while let Some(batch) = self.fetch(&mut room) {
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
