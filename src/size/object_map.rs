//! Which object each byte of a linked file came from: the JSON form of a link map.

use cuweld_passes::reports::link_map::LinkMap;
use cuweld_passes::reports::link_map::MapInput;
use thiserror::Error;

use super::part::Part;
use super::part::Place;
use crate::file_name;
use crate::inspect::DeviceElf;

/// What the linker made itself.
const MADE: &str = "[linker]";

/// A link map, to be asked by section and offset.
#[derive(Clone, Debug)]
pub struct ObjectMap {
    map: LinkMap,
    /// For each section the offsets at which a piece begins or ends, in order.
    cuts: Vec<Vec<u64>>,
}

/// Why a file is no link map.
#[derive(Debug, Error)]
#[error("it is no link map in JSON: {0}")]
pub struct ObjectMapError(#[from] serde_json::Error);

impl ObjectMap {
    /// Reads the JSON form of a link map.
    ///
    /// # Errors
    ///
    /// Bytes of another form.
    pub fn parse(json: &[u8]) -> Result<Self, ObjectMapError> {
        Ok(ObjectMap::new(serde_json::from_slice(json)?))
    }

    /// Takes a link map.
    pub fn new(map: LinkMap) -> Self {
        let cuts = |section: &cuweld_passes::reports::link_map::MapSection| {
            let pieces = section.pieces.iter();
            let ends = |offset: u64, size: u64| [offset, offset.saturating_add(size)];
            let mut cuts: Vec<u64> = pieces.flat_map(|it| ends(it.offset, it.size)).collect();
            cuts.sort_unstable();
            cuts.dedup();
            cuts
        };
        let cuts = map.sections.iter().map(cuts).collect();
        ObjectMap { map, cuts }
    }

    /// Returns `true` if this is the map of a file: names, types and sizes of all sections agree.
    pub fn fits(&self, elf: &DeviceElf<'_>) -> bool {
        let sections = &self.map.sections;
        sections.len() == elf.sections.len()
            && sections.iter().zip(&elf.sections).all(|(row, section)| {
                row.ty == section.ty.value
                    && row.name == file_name::text(section.name.0)
                    && (row.number == 0 || (row.offset, row.size) == (section.offset, section.size))
            })
    }

    /// Returns the offsets in a section at which a piece begins or ends, in order.
    pub(super) fn cuts(&self, section: u32) -> &[u64] {
        self.cuts.get(section as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the object that a part came from, `FILE` or `FILE:MEMBER`; `[linker]` if from none.
    pub fn object(&self, part: &Part<'_>) -> String {
        let input = match part.place {
            Place::Section(section) => self.input(section, part.offset),
            _ => None,
        };
        input.map_or_else(|| MADE.to_owned(), object)
    }

    fn input(&self, section: u32, offset: u64) -> Option<&MapInput> {
        let pieces = &self.map.sections.get(section as usize)?.pieces;
        let after = pieces.partition_point(|piece| piece.offset <= offset);
        let piece = pieces.get(after.checked_sub(1)?)?;
        let is_within = offset - piece.offset < piece.size;
        piece.input.as_ref().filter(|_| is_within)
    }
}

/// Returns the name of the object of an input section.
fn object(input: &MapInput) -> String {
    match &input.member {
        Some(member) => format!("{}:{member}", input.name),
        None => input.name.clone(),
    }
}
