//! Images to rows, while the files after them are looked for: their bytes are in the cache.

use cuweld_ir::elf::ObjectPart;
use cuweld_ir::elf::ObjectReader;
use cuweld_ir::elf::ReadError;
use cuweld_ir::origin::origin;
use cuweld_passes::checks::check_objects::is_too_new;

use super::Hooks;
use super::lowering::NamedImage;
use cuweld_passes::threads::Threads;
use cuweld_passes::threads::Work;

/// An image that takes part, or none.
pub(super) type Candidate<'data> = Option<NamedImage<'data>>;

/// What reading an image came to; `None` for none.
pub(super) type Outcome = Option<Result<(), ReadError>>;

/// Images on their way to rows.
pub(super) struct Reading<'r, 'data> {
    /// The number of the newest toolkit that an object may have.
    newest: u32,
    threads: &'r Threads,
    reader: ObjectReader<'data>,
    images: Vec<Candidate<'data>>,
    outcomes: Vec<Outcome>,
    /// Bytes of what was read.
    read: u64,
    /// How many images are read before room is made again.
    until_room: usize,
    hooks: Hooks,
}

/// Number of images after which room is made for as many rows as are expected, and again after
/// twice that number.
const IMAGES_BEFORE_ROOM: usize = 8;

impl<'r, 'data> Reading<'r, 'data> {
    /// Starts to read for a link of objects up to the toolkit with the number `newest`.
    pub(super) fn new(newest: u32, threads: &'r Threads, hooks: Hooks) -> Self {
        Reading {
            newest,
            threads,
            reader: ObjectReader::default(),
            images: Vec::new(),
            outcomes: Vec::new(),
            read: 0,
            until_room: IMAGES_BEFORE_ROOM,
            hooks,
        }
    }

    /// Reads all images, the first of which were read already. Returns the rows of all, and the
    /// outcome for each.
    pub(super) fn all_of(self, images: &[Candidate<'data>]) -> (ObjectPart<'data>, Vec<Outcome>) {
        let mut reading = match images.get(..self.images.len()) {
            Some(first) if *first == *self.images => self,
            _ => Reading::new(self.newest, self.threads, self.hooks),
        };
        let rest = images.get(reading.images.len()..).unwrap_or(&[]);
        let bytes: u64 = rest.iter().map(size).sum();
        reading.read(rest, reading.read.saturating_add(bytes));
        (reading.reader.part, reading.outcomes)
    }

    /// Reads images after those that were read. All images of the link have about `all` bytes.
    pub(super) fn read(&mut self, images: &[Candidate<'data>], all: u64) {
        let _span = tracing::debug_span!("read-objects", images = images.len()).entered();
        (self.hooks.reserve)(all);
        let first = IMAGES_BEFORE_ROOM.saturating_sub(self.images.len());
        let (first, rest) = images.split_at(first.min(images.len()));
        for images in [first, rest] {
            let bytes: u64 = images.iter().map(size).sum();
            self.read_divided(images, Work::Bytes(bytes as usize));
            self.images.extend_from_slice(images);
            self.read += bytes;
            if self.images.len() >= self.until_room {
                self.until_room = 2 * self.images.len();
                if self.read < all {
                    self.reader.part.reserve(self.read, all);
                }
            }
        }
    }

    /// Counts the objects that were read.
    pub(super) fn objects(&self) -> usize {
        self.reader.part.objects.len()
    }

    /// Returns the newest toolkit that made one of the objects that were read, as they record it.
    pub(super) fn newest_toolkit(&self) -> u32 {
        newest_toolkit(&self.reader.part)
    }

    /// Returns `true` if one of the objects from the `first` on ends the link, because its toolkit
    /// is newer than the link's.
    pub(super) fn ends_link(&self, first: usize) -> bool {
        let part = &self.reader.part;
        let mut objects = part.objects.iter().skip(first);
        objects.any(|object| {
            let sections = &part.sections[object.sections.indices()];
            let notes = &part.notes[object.notes.indices()];
            is_too_new(object, (sections, notes), self.newest)
        })
    }

    /// Reads images. If other threads are free for that, they read the later ones into rows of
    /// their own, which are added in the end.
    fn read_divided(&mut self, images: &[Candidate<'data>], work: Work) {
        let part = images.len().div_ceil(self.threads.count(work)).max(1);
        let (first, rest) = images.split_at(part.min(images.len()));
        let reader = &mut self.reader;
        let here = || read_all(reader, first);
        let there = || {
            let parts: Vec<_> = rest.chunks(part).collect();
            self.threads.map(work, &parts, |images| {
                let mut reader = ObjectReader::default();
                let outcomes = read_all(&mut reader, images);
                (*images, reader.part, outcomes)
            })
        };
        let (outcomes, others) = self.threads.join_if_taken(work, here, there);
        self.outcomes.extend(outcomes);
        let Some(others) = others else {
            let outcomes = read_all(&mut self.reader, rest);
            self.outcomes.extend(outcomes);
            return;
        };
        for (images, part, outcomes) in others {
            match self.reader.part.append(&part) {
                Ok(()) => self.outcomes.extend(outcomes),
                // It may be the last of them that does not fit.
                Err(_) => {
                    let outcomes = read_all(&mut self.reader, images);
                    self.outcomes.extend(outcomes);
                }
            }
        }
    }
}

/// Returns the newest toolkit that made one of these objects, as they record it; 0 for none.
pub(super) fn newest_toolkit(part: &ObjectPart<'_>) -> u32 {
    let toolkits = part.objects.iter().map(|object| {
        let sections = &part.sections[object.sections.indices()];
        let notes = &part.notes[object.notes.indices()];
        origin(object, sections, notes).toolkit
    });
    toolkits.max().unwrap_or(0)
}

/// Reads images; returns what each came to.
fn read_all<'data>(reader: &mut ObjectReader<'data>, images: &[Candidate<'data>]) -> Vec<Outcome> {
    let read = |image: &Candidate<'data>| image.map(|image| read_one(reader, &image));
    images.iter().map(read).collect()
}

fn read_one<'data>(
    reader: &mut ObjectReader<'data>,
    image: &NamedImage<'data>,
) -> Result<(), ReadError> {
    let (name, member) = (image.name.as_bytes(), image.member.as_bytes());
    reader.read(image.image, name, member)?;
    if let Some(object) = reader.part.objects.last_mut() {
        object.system_library = image.system_library;
        object.is_silent = image.is_silent;
        object.origin = image.origin;
    }
    Ok(())
}

/// Returns the bytes of an image.
fn size(image: &Candidate<'_>) -> u64 {
    image.map_or(0, |image| image.image.len() as u64)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cuweld_ir::ObjectOrigin;

    use super::*;
    use crate::jobs;

    /// Returns the objects of all link cases for sm_90.
    fn objects() -> Vec<Vec<u8>> {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
        let topics = std::fs::read_dir(cases).unwrap().flatten();
        let cases = topics.flat_map(|topic| std::fs::read_dir(topic.path()).unwrap().flatten());
        let files = cases
            .filter_map(|folder| std::fs::read_dir(folder.path().join("sm_90")).ok())
            .flatten()
            .flatten();
        let mut paths: Vec<_> = files.map(|file| file.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|name| name == "cubin"));
        paths.sort();
        let mut objects: Vec<_> = paths
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect();
        assert!(objects.len() > 300);
        for object in objects.iter_mut().step_by(7) {
            object.truncate(object.len() / 2);
        }
        objects
    }

    #[test]
    fn threads_read_what_one_reads() {
        let objects = objects();
        let image = |bytes| NamedImage {
            name: "object",
            member: "",
            image: bytes,
            system_library: false,
            is_silent: false,
            origin: ObjectOrigin::default(),
        };
        // Some inputs have no image.
        let (mut images, mut all) = (Vec::new(), 0);
        for (index, bytes) in objects.iter().enumerate() {
            images.push((index % 11 != 0).then(|| image(bytes.as_slice())));
            all += bytes.len() as u64;
        }
        let read = |threads, window: usize| {
            let threads = jobs::threads(Some(threads));
            let mut reading = Reading::new(Default::default(), &threads, Hooks::default());
            for images in images.chunks(window) {
                reading.read(images, all);
            }
            format!("{:?}", reading.all_of(&images))
        };
        let alone = read(1, 100);
        assert!(alone.contains("Err("));
        for (threads, window) in [(2, 100), (3, 1000), (7, 1000), (7, 300)] {
            assert!(read(threads, window) == alone);
        }
    }
}
