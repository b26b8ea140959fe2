//! Bringing files into memory.

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;

use cuweld_passes::threads::Threads;
use cuweld_passes::threads::Work;

use super::arena::InputArena;
use super::arena::ToldInput;
use super::batch::Batch;
use super::batch::Contents;
use super::file_identity::FileIdentity;
use super::loaded::Loaded;
use super::shared::SharedFiles;

/// How many files are opened together.
const BATCH: usize = 16;

/// How many files are opened before the first of them is looked into, once some were.
const WINDOW: usize = 64;

/// Reads or maps a file, all of it. The file must not be changed while the link runs.
pub fn load<'data>(path: &str, arena: &'data InputArena) -> io::Result<&'data [u8]> {
    match arena.shared() {
        Some(files) => Sharing { arena, files }.open(path),
        None => Loader::new(arena, None).open(path),
    }
}

/// What files of a window hold, in their order.
pub(super) type Window<'data> = Vec<io::Result<&'data [u8]>>;

/// Where files come from.
pub(super) trait Files<'data> {
    /// Opens a file and returns its contents.
    fn open(&self, path: &str) -> io::Result<&'data [u8]>;

    /// Returns the identity of a file.
    fn identity(&self, path: &str) -> FileIdentity;

    /// Returns what the caller has told of a file.
    fn told(&self, _path: &str) -> Option<&ToldInput> {
        None
    }

    /// Opens files, and gives their contents to somebody, window after window, until that fails.
    /// The first window has `first` files at most.
    fn in_windows<E>(
        &self,
        paths: &[&str],
        first: usize,
        mut take: impl FnMut(Window<'data>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut windows = paths.chunks(first);
        windows.try_for_each(|paths| take(paths.iter().map(|path| self.open(path)).collect()))
    }
}

/// Reads or maps files.
pub(super) struct Loader<'a, 'data> {
    arena: &'data InputArena,
    /// What opens many files.
    threads: Option<&'a Threads>,
}

impl<'a, 'data> Loader<'a, 'data> {
    /// Builds a loader that has read nothing.
    pub(super) fn new(arena: &'data InputArena, threads: Option<&'a Threads>) -> Self {
        Loader { arena, threads }
    }

    /// Returns the counts of what is in memory already.
    fn loaded(&self) -> Loaded {
        Loaded::new(self.arena.maps_kept(), self.arena.bytes_buffered())
    }

    /// Takes over files that were opened.
    fn keep(&self, paths: &[&str], batch: Batch) -> Window<'data> {
        let buffer: &[u8] = match batch.buffer.is_empty() {
            true => &[],
            false => self.arena.keep_buffer(batch.buffer),
        };
        let keep = |(path, contents): (&&str, io::Result<Contents>)| {
            let contents = contents?;
            self.arena.note_opened(path);
            Ok(match contents {
                Contents::Map(map, stamp) => self.arena.keep_map(map, path, stamp),
                Contents::Own(bytes) => self.arena.keep_buffer(bytes),
                Contents::Part(range) => &buffer[range],
            })
        };
        paths.iter().zip(batch.files).map(keep).collect()
    }
}

impl<'data> Files<'data> for Loader<'_, 'data> {
    fn open(&self, path: &str) -> io::Result<&'data [u8]> {
        let paths = [path];
        let mut files = self.keep(&paths, Batch::open(&paths, self.loaded().mapping()));
        files.pop().unwrap_or(Ok(&[]))
    }

    fn identity(&self, path: &str) -> FileIdentity {
        identity_of(path)
    }

    /// Opens many files on other threads while the caller takes the first ones.
    fn in_windows<E>(
        &self,
        paths: &[&str],
        first: usize,
        mut take: impl FnMut(Window<'data>) -> Result<(), E>,
    ) -> Result<(), E> {
        let alone = Threads::default();
        let threads = self.threads.unwrap_or(&alone);
        let (first, rest) = paths.split_at(first.min(paths.len()));
        let windows: Vec<&[&str]> = rest.chunks(WINDOW).collect();
        let loaded = self.loaded();
        let open = |paths: &[&str]| {
            let mapping = loaded.mapping();
            let batches: Vec<&[&str]> = paths.chunks(BATCH).collect();
            let open = |paths: &&[&str]| Batch::open(paths, mapping);
            let opened = threads.map(Work::Files(paths.len()), &batches, open);
            opened.iter().for_each(|batch| loaded.add(batch));
            opened
        };
        let mut take = |paths: &[&str], opened: Vec<Batch>| {
            let opened = paths.chunks(BATCH).zip(opened);
            let files = opened.flat_map(|(paths, batch)| self.keep(paths, batch));
            take(files.collect())
        };
        let Some(second) = threads.second(Work::Files(rest.len())) else {
            let mut windows = [first].into_iter().chain(windows);
            return windows.try_for_each(|paths| take(paths, open(paths)));
        };
        let opened = AtomicUsize::new(0);
        let open_next = || {
            let index = opened.fetch_add(1, Ordering::Relaxed);
            windows.get(index).map(|paths| (index, open(paths)))
        };
        let (give, others) = channel();
        let open_all = || {
            // It fails once the files are not wanted any more.
            while open_next().is_some_and(|window| give.send(window).is_ok()) {}
            drop(give);
        };
        second.beside(open_all, || {
            take(first, open(first))?;
            let mut ready: Vec<_> = windows.iter().map(|_| None).collect();
            for (index, paths) in windows.iter().enumerate() {
                while ready.get(index).is_some_and(Option::is_none) {
                    // While it would have to wait for the other thread, this one opens files, too.
                    let other = others.try_recv().ok().or_else(open_next);
                    let Some((index, window)) = other.or_else(|| others.recv().ok()) else {
                        break;
                    };
                    if let Some(place) = ready.get_mut(index) {
                        *place = Some(window);
                    }
                }
                let window = ready.get_mut(index).and_then(Option::take);
                take(paths, window.unwrap_or_else(|| open(paths)))?;
            }
            Ok(())
        })
    }
}

/// The files of one link among those that share them.
pub(super) struct Sharing<'data> {
    pub(super) arena: &'data InputArena,
    pub(super) files: &'data SharedFiles,
}

impl<'data> Files<'data> for Sharing<'data> {
    fn open(&self, path: &str) -> io::Result<&'data [u8]> {
        let file = self.files.open(path)?;
        self.arena.note_opened(path);
        Ok(self.arena.keep_shared(file, path))
    }

    fn identity(&self, path: &str) -> FileIdentity {
        identity_of(path)
    }
}

/// Returns what makes another name the same file.
pub(super) fn identity_of(path: &str) -> FileIdentity {
    identity(path).unwrap_or_else(|| FileIdentity::Name(path.to_owned()))
}

fn identity(path: &str) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(crate::file_name::path(path)).ok()?;
    FileIdentity::of(&metadata).or_else(|| {
        let name = std::fs::canonicalize(crate::file_name::path(path)).ok()?;
        Some(FileIdentity::Name(name.to_string_lossy().into_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs;

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
    fn folders_and_missing_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let arena = InputArena::new();
        assert!(load(folder.path().to_str().unwrap(), &arena).is_err());
        assert!(load(folder.path().join("x").to_str().unwrap(), &arena).is_err());
    }

    #[test]
    fn files_of_all_threads_come_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<String> = (0..300)
            .map(|index| folder.path().join(index.to_string()).display().to_string())
            .collect();
        for (index, path) in paths.iter().enumerate().filter(|(index, _)| *index != 170) {
            std::fs::write(path, vec![index as u8; 100 * index]).unwrap();
        }
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        for threads in [1, 2] {
            let (arena, threads) = (InputArena::new(), jobs::threads(Some(threads)));
            let loader = Loader::new(&arena, Some(&threads));
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
