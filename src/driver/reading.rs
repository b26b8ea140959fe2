//! Images to rows, by threads where there is much to read.
//!
//! Windows of images are divided among the threads. The first one's rows are those of the module; what the others read moves behind them
//! while it is in the cache.

use cuweld_ir::Target;
use cuweld_ir::elf::ObjectPart;
use cuweld_ir::elf::ObjectReader;
use cuweld_ir::elf::ReadError;
use cuweld_ir::elf::origin::origin;
use cuweld_ir::elf::validate::ObjectFacts;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::compat;
use cuweld_ir::target::section_types::sht;
use cuweld_passes::finalizer::profile_of;

use super::lowering::NamedImage;
use crate::heap;
use crate::jobs::Jobs;

/// Images of so many bytes are worth a thread of their own.
const BYTES_PER_THREAD: u64 = 1 << 20;

/// How many images each thread reads before their rows come together.
const IMAGES_AHEAD: usize = 64;

/// An image that takes part, or none.
pub(super) type Candidate<'data> = Option<NamedImage<'data>>;

/// What reading an image came to; `None` for none.
pub(super) type Outcome = Option<Result<ObjectFacts, ReadError>>;

/// Images on their way to rows. What was found first can be read while more is looked for, and its bytes are in the cache.
pub(super) struct Reading<'data> {
    target: Target,
    jobs: Jobs,
    /// One for each thread. The first one's rows are those of all images that were read.
    workers: Vec<Worker<'data>>,
    images: Vec<Candidate<'data>>,
    outcomes: Vec<Outcome>,
    /// Bytes of what was read.
    read: u64,
    /// How many windows were read.
    windows: usize,
    /// Whether there is room for much to come.
    has_room: bool,
}

impl<'data> Reading<'data> {
    pub(super) fn new(target: Target, jobs: &Jobs) -> Self {
        Reading {
            target,
            jobs: jobs.clone(),
            workers: vec![Worker::default()],
            images: Vec::new(),
            outcomes: Vec::new(),
            read: 0,
            windows: 0,
            has_room: false,
        }
    }

    /// The images that were read are the first of these. The others are read, too: rows of all, and what each came to.
    pub(super) fn all_of(
        self,
        images: &[Candidate<'data>],
    ) -> Result<(ObjectPart<'data>, Vec<Outcome>), ReadError> {
        let begins = |found: &[Candidate<'data>]| images.get(..found.len()) == Some(found);
        let mut reading = if begins(&self.images) {
            self
        } else {
            Reading::new(self.target, &self.jobs)
        };
        let rest = images.get(reading.images.len()..).unwrap_or(&[]);
        let bytes: u64 = rest.iter().map(size).sum();
        reading.read(rest, reading.read.saturating_add(bytes))?;
        let first = reading.workers.into_iter().next().unwrap_or_default();
        Ok((first.reader.part, reading.outcomes))
    }

    /// Reads images behind those that were read, of files that have `all` bytes, about, with those before and behind them.
    pub(super) fn read(&mut self, images: &[Candidate<'data>], all: u64) -> Result<(), ReadError> {
        if !self.has_room {
            self.has_room = heap::prepare(all);
        }
        let pieces = usize::try_from(all / BYTES_PER_THREAD).unwrap_or(images.len());
        let team = self.jobs.team(pieces.min(images.len()));
        let threads = team.size();
        if self.workers.len() < threads {
            self.workers.resize_with(threads, Worker::default);
        }
        let target = self.target;
        for window in images.chunks(threads * IMAGES_AHEAD) {
            let shares = window.chunks(IMAGES_AHEAD);
            let mut work: Vec<_> = self.workers.iter_mut().zip(shares).collect();
            team.each(&mut work, |(worker, images)| worker.read(images, target));
            let others = work.len();
            let Some((first, rest)) = self.workers.split_first_mut() else {
                break;
            };
            self.outcomes.append(&mut first.outcomes);
            for other in rest.iter_mut().take(others.saturating_sub(1)) {
                first.reader.part.append(&other.reader.part)?;
                other.reader.part.clear();
                self.outcomes.append(&mut other.outcomes);
            }
            self.read += window.iter().map(size).sum::<u64>();
            self.windows += 1;
            if self.windows.is_power_of_two() && self.read < all {
                first.reader.part.reserve(self.read, all);
            }
        }
        self.images.extend_from_slice(images);
        Ok(())
    }
}

/// Bytes of an image.
fn size(image: &Candidate<'_>) -> u64 {
    image.map_or(0, |image| image.image.len() as u64)
}

/// What one thread reads of a window.
#[derive(Default)]
struct Worker<'data> {
    reader: ObjectReader<'data>,
    outcomes: Vec<Outcome>,
}

impl<'data> Worker<'data> {
    fn read(&mut self, images: &[Candidate<'data>], target: Target) {
        for image in images {
            let outcome = image.map(|image| self.read_one(&image, target));
            self.outcomes.push(outcome);
        }
    }

    fn read_one(
        &mut self,
        image: &NamedImage<'data>,
        target: Target,
    ) -> Result<ObjectFacts, ReadError> {
        let (name, member) = (image.name.as_bytes(), image.member.as_bytes());
        self.reader.read(image.image, name, member)?;
        let part = &mut self.reader.part;
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
