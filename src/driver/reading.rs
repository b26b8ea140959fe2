//! Images to rows, while the files behind them are looked for: their bytes are in the cache.

use std::ops::Range;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::PoisonError;

use cuweld_elf::Target;
use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::raw::FileHeader;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::ArchitectureError;
use cuweld_elf::validate::ObjectFacts;
use cuweld_elf::validate::validate_architecture;
use cuweld_ir::elf::ObjectPart;
use cuweld_ir::elf::ObjectReader;
use cuweld_ir::elf::ReadError;
use cuweld_ir::elf::origin::origin;
use cuweld_ir::table::EntityId;
use cuweld_passes::checks::finalizer::profile_of;
use zerocopy::FromBytes;

use super::Hooks;
use super::lowering::NamedImage;
use crate::jobs::Jobs;

/// An image that takes part, or none.
pub(super) type Candidate<'data> = Option<NamedImage<'data>>;

/// What reading an image came to; `None` for none.
pub(super) type Outcome = Option<Result<ObjectFacts, ReadError>>;

/// Images on their way to rows.
pub(super) struct Reading<'r, 'data> {
    target: Target,
    jobs: &'r Jobs,
    reader: ObjectReader<'data>,
    /// What another thread reads into.
    others: Vec<ObjectReader<'data>>,
    images: Vec<Candidate<'data>>,
    outcomes: Vec<Outcome>,
    /// Bytes of what was read.
    read: u64,
    /// How many images are read before room is made again.
    until_room: usize,
    hooks: Hooks,
}

/// After so many images there is room for as many rows as are expected, and again after twice as many.
const IMAGES_BEFORE_ROOM: usize = 8;

/// Fewer bytes are read by one thread, and more: rows that another thread reads are in memory twice for a while.
const BYTES_FOR_A_THREAD: RangeInclusive<u64> = 64 << 10..=32 << 20;

impl<'r, 'data> Reading<'r, 'data> {
    pub(super) fn new(target: Target, jobs: &'r Jobs, hooks: Hooks) -> Self {
        Reading {
            target,
            jobs,
            reader: ObjectReader::default(),
            others: Vec::new(),
            images: Vec::new(),
            outcomes: Vec::new(),
            read: 0,
            until_room: IMAGES_BEFORE_ROOM,
            hooks,
        }
    }

    /// The images that were read are the first of these. The others are read, too: rows of all, and what each came to.
    pub(super) fn all_of(self, images: &[Candidate<'data>]) -> (ObjectPart<'data>, Vec<Outcome>) {
        let mut reading = match images.get(..self.images.len()) {
            Some(first) if *first == *self.images => self,
            _ => Reading::new(self.target, self.jobs, self.hooks),
        };
        let rest = images.get(reading.images.len()..).unwrap_or(&[]);
        let bytes: u64 = rest.iter().map(size).sum();
        reading.read(rest, reading.read.saturating_add(bytes));
        (reading.reader.part, reading.outcomes)
    }

    /// Reads images behind those that were read, of files that have `all` bytes, about, with those before and behind them.
    pub(super) fn read(&mut self, images: &[Candidate<'data>], all: u64) {
        (self.hooks.reserve)(all);
        let first = IMAGES_BEFORE_ROOM.saturating_sub(self.images.len());
        let (first, rest) = images.split_at(first.min(images.len()));
        for images in [first, rest] {
            let bytes: u64 = images.iter().map(size).sum();
            if !BYTES_FOR_A_THREAD.contains(&bytes) || !self.read_by_two(images) {
                let outcome =
                    |image: &Candidate<'data>| outcome(&mut self.reader, image, self.target);
                self.outcomes.extend(images.iter().map(outcome));
            }
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

    /// Whether one of the last images, so many, is of a toolkit that is newer than any that is linked, which ends the link.
    pub(super) fn is_last_too_new(&self, count: usize) -> bool {
        let start = self.images.len().saturating_sub(count);
        let last = self.images.iter().zip(&self.outcomes).skip(start);
        let mut read = last.filter_map(|(image, read)| Some((image.as_ref()?, read.as_ref()?)));
        read.any(|(image, read)| {
            let (Ok(facts), Ok((file, _))) = (read, FileHeader::ref_from_prefix(image.image))
            else {
                return false;
            };
            let checked = validate_architecture(file, *facts, self.target, false);
            file.e_type.get() != ET_EXEC && matches!(checked, Err(ArchitectureError::TooNew { .. }))
        })
    }

    /// Another thread reads the last ones meanwhile, if there is one; whether they were read.
    fn read_by_two(&mut self, images: &[Candidate<'data>]) -> bool {
        let (reader, others, target) = (&mut self.reader, &mut self.others, self.target);
        let waiting = Waiting(Mutex::new(0..images.len()));
        let (mut first, mut last) = (Vec::with_capacity(images.len()), Vec::new());
        let here = || {
            while let Some(next) = waiting.first() {
                first.push(outcome(reader, &images[next], target));
            }
        };
        let there = || {
            while let Some(next) = waiting.last() {
                if others.len() == last.len() {
                    others.push(ObjectReader::default());
                }
                let reader = &mut others[last.len()];
                let outcomes = images[next.clone()].iter();
                let outcomes: Vec<_> = outcomes
                    .map(|image| outcome(reader, image, target))
                    .collect();
                last.push((next, outcomes));
            }
        };
        if !self.jobs.join(here, there) {
            return false;
        }
        self.outcomes.append(&mut first);
        for ((range, outcomes), other) in last.into_iter().zip(&mut self.others).rev() {
            match self.reader.part.append(&other.part) {
                Ok(()) => self.outcomes.extend(outcomes),
                // It may be the last of them that does not fit.
                Err(_) => {
                    let images = images[range].iter();
                    let outcome = |image| outcome(&mut self.reader, image, target);
                    self.outcomes.extend(images.map(outcome));
                }
            }
            other.part.clear();
        }
        true
    }
}

/// Images that no thread has taken.
struct Waiting(Mutex<Range<usize>>);

impl Waiting {
    /// Takes the first one.
    fn first(&self) -> Option<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    /// Takes the last ones, less each time, so that no thread waits long for the other in the end.
    fn last(&self) -> Option<Range<usize>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = waiting.end;
        waiting.end -= waiting.len().div_ceil(4);
        (waiting.end < end).then_some(waiting.end..end)
    }
}

/// What reading an image behind those that were read comes to.
fn outcome<'data>(
    reader: &mut ObjectReader<'data>,
    image: &Candidate<'data>,
    target: Target,
) -> Outcome {
    image.map(|image| read_one(reader, &image, target))
}

fn read_one<'data>(
    reader: &mut ObjectReader<'data>,
    image: &NamedImage<'data>,
    target: Target,
) -> Result<ObjectFacts, ReadError> {
    let (name, member) = (image.name.as_bytes(), image.member.as_bytes());
    reader.read(image.image, name, member)?;
    let part = &mut reader.part;
    let mut facts = last_facts(part);
    if target.is_mercury() {
        facts.profile = profile_of(image.image);
    }
    if let Some(object) = part.objects.last_mut() {
        object.system_library = image.system_library;
        object.origin = image.origin;
    }
    Ok(facts)
}

/// Bytes of an image.
fn size(image: &Candidate<'_>) -> u64 {
    image.map_or(0, |image| image.image.len() as u64)
}

/// What the object that was read last says of its toolkit and variant.
fn last_facts(part: &ObjectPart<'_>) -> ObjectFacts {
    let Some(object) = part.objects.last() else {
        return ObjectFacts::default();
    };
    let sections = &part.sections[object.sections.indices()];
    let notes = &part.notes[object.notes.indices()];
    let is_compat = |id: cuweld_ir::SectionId| {
        let row = part.sections.get(id.index());
        row.is_some_and(|row| row.ty == sht::CUDA_COMPAT)
    };
    let mut records = part.attributes[object.attributes.indices()].iter();
    let specific = records.any(|record| {
        record.code == compat::CUDA_ACCELERATOR_TARGET
            && record.value == 1
            && record.section.is_some_and(is_compat)
    });
    ObjectFacts {
        toolkit: origin(object, sections, notes).toolkit,
        specific,
        ..ObjectFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;

    use cuweld_ir::ObjectOrigin;

    use super::*;

    /// The objects of all link cases for sm_90.
    fn objects() -> Vec<Vec<u8>> {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
        let mut folders: Vec<_> = std::fs::read_dir(cases).unwrap().flatten().collect();
        folders.sort_by_key(|folder| folder.path());
        let files = folders
            .iter()
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
    fn two_threads_read_what_one_reads() {
        let objects = objects();
        let image = |bytes| NamedImage {
            name: "object",
            member: "",
            image: bytes,
            system_library: false,
            origin: ObjectOrigin::default(),
        };
        // Some inputs have no image.
        let (mut images, mut all) = (Vec::new(), 0);
        for (index, bytes) in objects.iter().enumerate() {
            images.push((index % 11 != 0).then(|| image(bytes.as_slice())));
            all += bytes.len() as u64;
        }
        let target = Target::parse("sm_90").unwrap();
        let read = |threads, window: usize| {
            let jobs = Jobs::new(Some(threads), None);
            // The pool is started before; without one no other thread reads.
            assert!(jobs.team(8).size() == threads);
            let mut reading = Reading::new(target, &jobs, Hooks::default());
            for images in images.chunks(window) {
                reading.read(images, all);
            }
            let has_help = !reading.others.is_empty();
            (format!("{:?}", reading.all_of(&images)), has_help)
        };
        let (alone, _) = read(1, 100);
        assert!(alone.contains("Err("));
        let mut windows = [7, 100, 1000].into_iter().cycle();
        // It is a matter of time whether the other thread comes to help.
        let helped = (0..1000).any(|_| {
            let window = windows.next().unwrap();
            // A thread can be in one pool.
            let (rows, has_help) =
                thread::scope(|scope| scope.spawn(|| read(3, window)).join().unwrap());
            assert!(rows == alone);
            has_help && window == 1000
        });
        assert!(helped);
    }
}
