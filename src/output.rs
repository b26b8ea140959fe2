//! The output file appears whole or not at all.

use std::fs::File;
use std::fs::Metadata;
use std::io;
use std::io::Seek;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::mpsc::channel;

use cuweld_ir::elf::StreamError;
use cuweld_ir::elf::WriteError;
use cuweld_passes::threads::Threads;
use cuweld_passes::threads::Work;
use thiserror::Error;

use crate::input::InputArena;

/// How many blocks there are at most: one that is written, one that is filled, one that waits.
const BLOCKS: usize = 3;

/// Why an output file was not written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An input was written meanwhile.
    #[error("'{0}' was changed while it was linked")]
    Changed(String),
    /// A plan that no pass could have made.
    #[error("internal error: {0}")]
    Plan(WriteError),
    /// The link was stopped before the file was planned.
    #[error("internal error: there is no plan")]
    NoPlan,
}

impl OutputError {
    /// Fails if an input was written since it was read.
    pub fn if_changed(inputs: &InputArena) -> Result<(), Self> {
        match inputs.changed() {
            None => Ok(()),
            Some(name) => Err(OutputError::Changed(name)),
        }
    }

    /// Returns `true` if the error is one of the program.
    pub fn is_internal(&self) -> bool {
        matches!(self, OutputError::Plan(_) | OutputError::NoPlan)
    }
}

impl From<StreamError<io::Error>> for OutputError {
    fn from(error: StreamError<io::Error>) -> Self {
        match error {
            StreamError::Plan(error) => OutputError::Plan(error),
            StreamError::Sink(error) => OutputError::Io(error),
        }
    }
}

/// Writes the blocks of a file of this number of sections, which are made one by one: the caller
/// hands each on and gets memory for another, empty. Where there are many sections a second thread
/// writes them: large contents would come from the other processor's cache (33 MB of one section
/// take 13.5 ms with one thread and 18.2 with two).
pub fn write_blocks(
    file: &mut File,
    sections: usize,
    threads: &Threads,
    make: impl FnOnce(
        &mut dyn FnMut(Vec<u8>) -> io::Result<Vec<u8>>,
    ) -> Result<(), StreamError<io::Error>>,
) -> Result<(), OutputError> {
    let Some(second) = threads.second(Work::Sections(sections)) else {
        make(&mut |mut block| {
            file.write_all(&block)?;
            block.clear();
            Ok(block)
        })?;
        return Ok(());
    };
    let (give, take) = channel::<Vec<u8>>();
    let (give_back, take_back) = channel();
    for _ in 1..BLOCKS {
        // Both ends are here.
        let _ = give_back.send(Vec::new());
    }
    let mut written = Ok(());
    let write = || {
        written = take.into_iter().try_for_each(|mut block| {
            file.write_all(&block)?;
            block.clear();
            // Nobody takes back the last ones.
            let _ = give_back.send(block);
            Ok(())
        });
        drop(give_back);
    };
    let made = second.beside(write, move || {
        let ended = || io::Error::from(io::ErrorKind::BrokenPipe);
        make(&mut |block| {
            give.send(block).map_err(|_| ended())?;
            take_back.recv().map_err(|_| ended())
        })
    });
    // What ended the thread comes before what its end brought about.
    written.map_err(OutputError::Io)?;
    Ok(made?)
}

/// Writes a file beside its final place and renames it into place: whoever reads the old one, such as
/// a link of which it is an input, goes on to. The place is where symbolic links lead; the new file
/// has the permissions of the old one. What is no regular file (a device, a pipe) is written directly,
/// and so is a file in a folder that no other can be made in.
///
/// # Errors
///
/// Those of the system; an old file that may not be written is not replaced.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<Replaced> {
    write_atomically_with(path, bytes.len() as u64, |file| file.write_all(bytes))
}

/// Does the same as [`write_atomically`] for a file of a known size whose bytes come piece by
/// piece.
pub fn write_atomically_with<E: From<io::Error>>(
    path: &Path,
    size: u64,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<Replaced, E> {
    let old = std::fs::metadata(path).ok();
    let Some(place) = regular_place(path, old.as_ref())? else {
        write(&mut File::create(path)?)?;
        return Ok(Replaced::default());
    };
    if old.is_some() {
        // Fails if the file may not be written.
        File::options().write(true).open(&place)?;
    }
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut unfinished = match Unfinished::new(folder) {
        Ok(unfinished) => unfinished,
        Err(error) if old.is_some() && is_denied(&error) => {
            return write_in_place(&place, write);
        }
        Err(error) => return Err(error.into()),
    };
    let file = unfinished.file();
    reserve(file, size)?;
    write(file)?;
    if let Some(old) = &old {
        file.set_permissions(old.permissions())?;
    }
    let replaced = Replaced::at(&place);
    unfinished.persist(folder, &place)?;
    Ok(replaced)
}

/// How the names of unfinished files begin.
const PREFIX: &str = ".cuweld-";

/// A file that has not its name yet.
enum Unfinished {
    /// Without any name, so that nothing stays of it where the process is killed.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// Under another name, where the file system has no files without.
    Named(tempfile::NamedTempFile),
}

impl Unfinished {
    /// Makes one, with the permissions that the user's umask leaves.
    fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder) {
            return Ok(Unfinished::Unnamed(file));
        }
        let named = tempfile::Builder::new()
            .prefix(PREFIX)
            .make_in(folder, |path| File::create_new(path));
        Ok(Unfinished::Named(named?))
    }

    fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Unfinished::Unnamed(file) => file,
            Unfinished::Named(named) => named.as_file_mut(),
        }
    }

    /// Gives the file its name, in the place of an old one.
    fn persist(self, folder: &Path, place: &Path) -> io::Result<()> {
        let named = match self {
            #[cfg(target_os = "linux")]
            Unfinished::Unnamed(file) => match name(&file, place) {
                // A name cannot take the place of another at once.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let make = |path: &Path| name(&file, path);
                    let named = tempfile::Builder::new()
                        .prefix(PREFIX)
                        .make_in(folder, make)?;
                    named.into_temp_path()
                }
                named => return named,
            },
            Unfinished::Named(named) => named.into_temp_path(),
        };
        named.persist(place).map_err(|error| error.error)
    }
}

/// Makes a file without a name; `None` where there is none.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::Mode;
    use rustix::fs::OFlags;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok()?;
    // By which it gets its name.
    Path::new("/proc/self/fd").exists().then(|| file.into())
}

/// Gives a file without a name one that is not taken.
#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::AtFlags;
    use rustix::fs::CWD;
    use std::os::fd::AsRawFd;
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(
        CWD,
        unnamed,
        CWD,
        path,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

/// Symbolic links that are followed at most, as Linux does.
const MOST_LINKS: usize = 40;

/// Returns the place of the regular file that a path leads to, or will; `None` if what is there is
/// none, or has its name only as an open file of a process.
fn regular_place(path: &Path, found: Option<&Metadata>) -> io::Result<Option<PathBuf>> {
    if found.is_some_and(|found| !found.is_file()) {
        return Ok(None);
    }
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = std::fs::read_link(&place) else {
            return Ok(Some(place));
        };
        place = match place.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
        if place.starts_with("/proc") {
            return Ok(None);
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns `true` if no file can be made in a folder.
fn is_denied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

/// Writes over a file, once all of the bytes are known.
fn write_in_place<E: From<io::Error>>(
    place: &Path,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<Replaced, E> {
    let mut whole = tempfile::tempfile()?;
    write(&mut whole)?;
    whole.rewind()?;
    let mut file = File::options().write(true).truncate(true).open(place)?;
    io::copy(&mut whole, &mut file)?;
    Ok(Replaced::default())
}

/// The file that an output took the place of. It has no name any more; its blocks are freed when
/// the value is dropped, which takes ext4 1.2 ms for 18 MB.
#[derive(Debug, Default)]
#[must_use = "dropping it takes time"]
pub struct Replaced {
    #[cfg(target_os = "linux")]
    _file: Option<std::os::fd::OwnedFd>,
}

impl Replaced {
    #[cfg(target_os = "linux")]
    fn at(path: &Path) -> Self {
        use rustix::fs::Mode;
        use rustix::fs::OFlags;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Replaced {
            _file: rustix::fs::open(path, flags, Mode::empty()).ok(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn at(_path: &Path) -> Self {
        Replaced::default()
    }
}

/// Gives a new file its size, and its blocks on the disk where the file system can. Writing the
/// bytes takes ext4 nearly twice as long without these, and a rename over another file then writes
/// the new one to the disk before it returns. A disk that is full says so before anything is
/// written.
#[cfg(target_os = "linux")]
fn reserve(file: &File, size: u64) -> io::Result<()> {
    use rustix::fs::FallocateFlags;
    use rustix::io::Errno;
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size) {
        Ok(()) => Ok(()),
        Err(error @ (Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
        // Not every file system knows how to, and none does for no bytes.
        Err(_) => file.set_len(size),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(file: &File, size: u64) -> io::Result<()> {
    file.set_len(size)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;

    use cuweld_ir::elf::StreamError;
    use cuweld_ir::elf::WriteError;

    use super::OutputError;
    use super::write_atomically;
    use super::write_blocks;
    use crate::jobs;

    /// Sections that are worth a second thread.
    const MANY: usize = 1 << 16;

    #[test]
    fn blocks_come_in_order_and_errors_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.cubin");
        let blocks = || (0..200_u8).map(|number| vec![number; 10_000]);
        for threads in [1, 2].map(|count| jobs::threads(Some(count))) {
            let mut file = File::create(&path).unwrap();
            write_blocks(&mut file, MANY, &threads, |take| {
                for block in blocks() {
                    assert!(take(block).map_err(StreamError::Sink)?.is_empty());
                }
                Ok(())
            })
            .unwrap();
            assert!(std::fs::read(&path).unwrap() == blocks().collect::<Vec<_>>().concat());
            let mut closed = File::open(&path).unwrap();
            let refused = write_blocks(&mut closed, MANY, &threads, |take| {
                for block in blocks() {
                    take(block).map_err(StreamError::Sink)?;
                }
                Ok(())
            });
            let is_of_the_file = |error: &io::Error| error.kind() != io::ErrorKind::BrokenPipe;
            assert!(matches!(refused, Err(OutputError::Io(error)) if is_of_the_file(&error)));
            let planned = write_blocks(&mut file, MANY, &threads, |_| {
                Err(StreamError::Plan(WriteError::FixupOrder))
            });
            assert!(matches!(
                planned,
                Err(OutputError::Plan(WriteError::FixupOrder))
            ));
        }
    }

    #[test]
    fn the_file_appears_whole_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.cubin");
        drop(write_atomically(&path, b"one").unwrap());
        drop(write_atomically(&path, b"two").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomically(&folder.path().join("none/out"), b"x").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_is_there_of_a_file_that_is_not_whole() {
        let folder = tempfile::tempdir().unwrap();
        if super::unnamed(folder.path()).is_none() {
            return;
        }
        let path = folder.path().join("out.cubin");
        for old in [0, 1] {
            let write = |file: &mut File| {
                assert_eq!(std::fs::read_dir(folder.path())?.count(), old);
                io::Write::write_all(file, b"new")
            };
            drop(super::write_atomically_with(&path, 3, write).unwrap());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
        let fail = |_: &mut File| Err(io::Error::other("full"));
        assert!(super::write_atomically_with(&path, 3, fail).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_the_file_and_its_permissions_stay() {
        use std::os::unix::fs::MetadataExt;
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), b"old").unwrap();
        let mode = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(at("file"), mode).unwrap();
        symlink("file", at("one")).unwrap();
        symlink(at("one"), at("two")).unwrap();
        // Whoever has the old file open reads on.
        let open = File::open(at("file")).unwrap();
        let before = open.metadata().unwrap().ino();
        drop(write_atomically(&at("two"), b"new").unwrap());
        assert_eq!(io::read_to_string(&open).unwrap(), "old");
        assert_eq!(std::fs::read(at("file")).unwrap(), b"new");
        let after = std::fs::metadata(at("file")).unwrap();
        assert_eq!(
            (after.mode() & 0o777, after.ino() == before),
            (0o640, false)
        );
        assert!(std::fs::symlink_metadata(at("two")).unwrap().is_symlink());
        // A link to what is not there makes it, a circle is an error, a device is written.
        symlink("later", at("ahead")).unwrap();
        drop(write_atomically(&at("ahead"), b"made").unwrap());
        assert_eq!(std::fs::read(at("later")).unwrap(), b"made");
        symlink("circle", at("circle")).unwrap();
        assert!(write_atomically(&at("circle"), b"x").is_err());
        symlink("/dev/null", at("nothing")).unwrap();
        drop(write_atomically(&at("nothing"), b"x").unwrap());
        assert!(
            std::fs::symlink_metadata(at("nothing"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 7);
    }

    #[test]
    fn a_file_is_written_over_where_no_other_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.cubin");
        std::fs::write(&path, b"longer than before").unwrap();
        let write = |file: &mut File| io::Write::write_all(file, b"new");
        drop(super::write_in_place(&path, write).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
