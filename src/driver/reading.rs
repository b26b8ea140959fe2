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

/// Reads images: their rows, and what each came to.
pub(super) fn read_images<'data>(
    images: &[Candidate<'data>],
    target: Target,
    jobs: &Jobs,
) -> Result<(ObjectPart<'data>, Vec<Outcome>), ReadError> {
    let size = |image: &Candidate<'_>| image.map_or(0, |image| image.image.len() as u64);
    let all: u64 = images.iter().map(size).sum();
    heap::prepare(all);
    let pieces = usize::try_from(all / BYTES_PER_THREAD).map_or(images.len(), |pieces| pieces);
    let team = jobs.team(pieces.min(images.len()));
    let mut workers: Vec<Worker<'data, '_>> = Vec::new();
    workers.resize_with(team.size(), Worker::default);
    let mut outcomes = Vec::with_capacity(images.len());
    let mut read = 0;
    for (number, window) in (1usize..).zip(images.chunks(workers.len() * IMAGES_AHEAD)) {
        let mut shares = window.chunks(IMAGES_AHEAD);
        for worker in &mut workers {
            worker.images = shares.next().unwrap_or(&[]);
        }
        team.each(&mut workers, |worker| worker.read(target));
        let Some((first, others)) = workers.split_first_mut() else {
            break;
        };
        outcomes.append(&mut first.outcomes);
        for other in others {
            first.reader.part.append(&other.reader.part)?;
            other.reader.part.clear();
            outcomes.append(&mut other.outcomes);
        }
        read += window.iter().map(size).sum::<u64>();
        if number.is_power_of_two() && read < all {
            first.reader.part.reserve(read, all);
        }
    }
    let first = workers.into_iter().next();
    Ok((first.unwrap_or_default().reader.part, outcomes))
}

/// What one thread reads of a window.
#[derive(Default)]
struct Worker<'data, 'window> {
    images: &'window [Candidate<'data>],
    reader: ObjectReader<'data>,
    outcomes: Vec<Outcome>,
}

impl<'data> Worker<'data, '_> {
    fn read(&mut self, target: Target) {
        for image in self.images {
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
