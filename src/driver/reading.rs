//! Images to rows, while the files behind them are looked for: their bytes are in the cache.

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

/// An image that takes part, or none.
pub(super) type Candidate<'data> = Option<NamedImage<'data>>;

/// What reading an image came to; `None` for none.
pub(super) type Outcome = Option<Result<ObjectFacts, ReadError>>;

/// Images on their way to rows.
pub(super) struct Reading<'data> {
    target: Target,
    reader: ObjectReader<'data>,
    images: Vec<Candidate<'data>>,
    outcomes: Vec<Outcome>,
    /// Bytes of what was read.
    read: u64,
    /// How many images are read before room is made again.
    until_room: usize,
    /// Whether the heap has room for much to come.
    has_heap: bool,
}

/// After so many images there is room for as many rows as are expected, and again after twice as many.
const IMAGES_BEFORE_ROOM: usize = 8;

impl<'data> Reading<'data> {
    pub(super) fn new(target: Target) -> Self {
        Reading {
            target,
            reader: ObjectReader::default(),
            images: Vec::new(),
            outcomes: Vec::new(),
            read: 0,
            until_room: IMAGES_BEFORE_ROOM,
            has_heap: false,
        }
    }

    /// The images that were read are the first of these. The others are read, too: rows of all, and what each came to.
    pub(super) fn all_of(self, images: &[Candidate<'data>]) -> (ObjectPart<'data>, Vec<Outcome>) {
        let mut reading = match images.get(..self.images.len()) {
            Some(first) if *first == *self.images => self,
            _ => Reading::new(self.target),
        };
        let rest = images.get(reading.images.len()..).unwrap_or(&[]);
        let bytes: u64 = rest.iter().map(size).sum();
        reading.read(rest, reading.read.saturating_add(bytes));
        (reading.reader.part, reading.outcomes)
    }

    /// Reads images behind those that were read, of files that have `all` bytes, about, with those before and behind them.
    pub(super) fn read(&mut self, images: &[Candidate<'data>], all: u64) {
        if !self.has_heap {
            self.has_heap = heap::prepare(all);
        }
        for image in images {
            let outcome = image.map(|image| self.read_one(&image));
            self.outcomes.push(outcome);
            self.images.push(*image);
            self.read += size(image);
            if self.images.len() == self.until_room {
                self.until_room *= 2;
                if self.read < all {
                    self.reader.part.reserve(self.read, all);
                }
            }
        }
    }

    fn read_one(&mut self, image: &NamedImage<'data>) -> Result<ObjectFacts, ReadError> {
        let (name, member) = (image.name.as_bytes(), image.member.as_bytes());
        self.reader.read(image.image, name, member)?;
        let part = &mut self.reader.part;
        let mut facts = last_facts(part);
        if self.target.is_mercury() {
            facts.profile = profile_of(image.image);
        }
        if let Some(object) = part.objects.last_mut() {
            object.system_library = image.system_library;
            object.origin = image.origin;
        }
        Ok(facts)
    }
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
