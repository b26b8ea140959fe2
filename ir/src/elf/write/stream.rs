//! Writing in the order of the file, block by block: what is larger than a block is put together
//! part by part.
//!
//! All blocks but the last are of one size, so that each begins at a multiple of it in the file:
//! the system keeps a file that is written so in few large pieces. Large contents are copied, too:
//! one call with bytes of a mapped file, whose pages come in one by one meanwhile, takes twice as
//! long as copying them into a block and writing that.

use thiserror::Error;
use zerocopy::IntoBytes;

use super::PIECES_OUTSIDE;
use super::RELOCS_MISFIT;
use super::RELOCS_OUTSIDE;
use super::SYMBOLS_MISFIT;
use super::WriteError;
use super::apply_all;
use super::file_header;
use super::fill;
use super::fill_relocs;
use super::fill_section;
use super::fixups::Patches;
use super::is_stored;
use super::piece_bytes;
use super::pieces;
use super::program_header;
use super::reloc_rows;
use super::section_error;
use super::section_header;
use crate::elf::encode::raw_symbol;
use crate::module::Module;
use crate::plan::OutputLayout;
use crate::plan::PlanContent;
use crate::plan::PlanPiece;
use crate::plan::PlanSection;
use crate::reloc::Fixup;
use crate::section::SectionContent;

/// How much is gathered before it is handed on: what stays in a processor's cache while it is
/// filled and copied away.
const BLOCK_SIZE: usize = 256 << 10;

/// Contents of at most this size are put together as one, also across the end of a block.
const SMALL: usize = BLOCK_SIZE / 16;

/// Why a file was not written whole.
#[derive(Debug, Error)]
pub enum StreamError<E> {
    /// The plan cannot be written.
    #[error(transparent)]
    Plan(#[from] WriteError),
    /// The sink that takes the bytes failed.
    #[error("{0}")]
    Sink(E),
}

/// Serialises a plan of this module, as [`write`](super::write()) does, and hands the bytes on in
/// order. The sink takes each block and gives back empty memory for another one.
pub fn write_in_order<E>(
    module: &Module<'_>,
    plan: &OutputLayout<'_>,
    mut sink: impl FnMut(Vec<u8>) -> Result<Vec<u8>, E>,
) -> Result<(), StreamError<E>> {
    let mut fixups = Patches::new(module)?;
    if !is_in_order(plan) {
        let image = super::write(module, plan)?;
        return sink(image).map(|_| ()).map_err(StreamError::Sink);
    }
    let room = plan.file_size.min((BLOCK_SIZE + SMALL) as u64);
    let mut stream = Stream {
        sink,
        block: Vec::with_capacity(room as usize),
        rest: Vec::new(),
        flushed: 0,
    };
    stream.room(0, 64)?.copy_from_slice(&file_header(plan)?);
    for (index, row) in plan.sections.iter().enumerate() {
        if !is_stored(&row.content) {
            continue;
        }
        stream.section(module, plan, &mut fixups, index, row)?;
    }
    stream.pad(plan.shoff)?;
    for row in &plan.sections {
        stream.append(section_header(row).as_bytes())?;
    }
    for (index, row) in plan.segments.iter().enumerate() {
        let offset = plan.phoff.saturating_add(56 * index as u64);
        let header = program_header(row);
        stream.room(offset, 56)?.copy_from_slice(header.as_bytes());
    }
    stream.pad(plan.file_size)?;
    let last = stream.block;
    (stream.sink)(last).map(|_| ()).map_err(StreamError::Sink)
}

/// Returns `true` if every part of the file begins where the one before it ends, or after.
fn is_in_order(plan: &OutputLayout<'_>) -> bool {
    let sections = plan.sections.iter().filter(|row| is_stored(&row.content));
    let sections = sections.map(|row| (row.offset, row.size));
    let headers = (plan.shoff, 64 * plan.sections.len() as u64);
    let segments = (plan.phoff, 56 * plan.segments.len() as u64);
    let tables = [headers, segments];
    let mut position = 64;
    let mut fits = |(offset, size): (u64, u64)| {
        let begins = offset >= position || size == 0;
        position = offset.saturating_add(size).max(position);
        begins
    };
    sections.chain(tables).all(&mut fits) && fits((plan.file_size, 1))
}

/// Returns `true` if every piece begins where the one before it ends, or after, and none ends after
/// the section.
fn are_in_order(module: &Module<'_>, pieces: &[PlanPiece], size: u64) -> bool {
    let mut position = 0;
    pieces.iter().all(|piece| {
        let length = module.sections.get(piece.section).map_or(0, |section| {
            let SectionContent::Bytes(bytes) = section.content else {
                return 0;
            };
            piece.size.unwrap_or(bytes.len() as u64)
        });
        let begins = piece.offset >= position;
        position = piece.offset.saturating_add(length);
        begins && position <= size
    })
}

/// Returns the end of the part that begins at `start`. The part takes what is left of a block or a
/// little more, so that no field of a fixup lies across its end. Fixups are in the order of their
/// offsets.
fn part_end(start: usize, length: usize, left: usize, fixups: &[Fixup]) -> usize {
    if length - start <= SMALL {
        return length;
    }
    let mut end = start.saturating_add(left.max(SMALL));
    if end >= length {
        return length;
    }
    let before = fixups.partition_point(|fixup| fixup.offset < end as u64);
    for fixup in fixups.iter().take(before).rev() {
        let bits = u64::from(fixup.bit) + u64::from(fixup.width);
        if fixup.offset.saturating_add(bits.div_ceil(8)) <= end as u64 {
            break;
        }
        end = fixup.offset as usize;
    }
    if end <= start { length } else { end }
}

/// Gathers blocks and hands them on.
struct Stream<S> {
    sink: S,
    /// What was not handed on yet: less than a block and what was added last.
    block: Vec<u8>,
    /// What is after the end of a block, on its way into the next one.
    rest: Vec<u8>,
    /// How many bytes were handed on.
    flushed: u64,
}

impl<E, S: FnMut(Vec<u8>) -> Result<Vec<u8>, E>> Stream<S> {
    /// Writes the contents of a section.
    fn section(
        &mut self,
        module: &Module<'_>,
        plan: &OutputLayout<'_>,
        fixups: &mut Patches<'_>,
        index: usize,
        row: &PlanSection<'_>,
    ) -> Result<(), StreamError<E>> {
        let error = section_error(index, row);
        let is_large = row.size > SMALL as u64;
        let whole = match &row.content {
            PlanContent::Bytes(bytes) => Some(*bytes),
            PlanContent::SectionNames => Some(plan.section_names.as_slice()),
            PlanContent::SymbolNames => Some(plan.symbol_names.as_slice()),
            _ => None,
        };
        if let Some(bytes) = whole.filter(|bytes| bytes.len() as u64 == row.size) {
            self.pad(row.offset)?;
            return self.copy(bytes);
        }
        match &row.content {
            PlanContent::Pieces(range) => {
                let pieces = pieces(plan, range).ok_or_else(|| error(PIECES_OUTSIDE))?;
                if are_in_order(module, pieces, row.size) {
                    return self.pieces(module, pieces, fixups, index, row);
                }
            }
            PlanContent::Relocs(range) if is_large => {
                let rows = reloc_rows(plan, range).ok_or_else(|| error(RELOCS_OUTSIDE))?;
                let wrong = || error(RELOCS_MISFIT);
                return self.rows(row, rows, wrong, |target, rows| {
                    fill_relocs(target, row.ty, rows)
                });
            }
            PlanContent::Symbols if is_large => {
                let wrong = || error(SYMBOLS_MISFIT);
                return self.rows(row, &plan.symbols, wrong, |target, rows| {
                    fill(target, rows.iter().map(raw_symbol))
                });
            }
            _ => {}
        }
        let size = usize::try_from(row.size).map_err(|_| WriteError::TooLarge(row.size))?;
        let target = self.room(row.offset, size)?;
        Ok(fill_section(target, module, plan, fixups, index, row)?)
    }

    /// Writes rows of one size each, a part at a time; it is an error if they do not fill the
    /// section exactly.
    fn rows<T>(
        &mut self,
        row: &PlanSection<'_>,
        rows: &[T],
        wrong: impl Fn() -> WriteError,
        fill: impl Fn(&mut [u8], &[T]) -> Option<()>,
    ) -> Result<(), StreamError<E>> {
        let count = rows.len() as u64;
        let size = row
            .size
            .checked_div(count)
            .filter(|size| size * count == row.size);
        let size = size
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(&wrong)?;
        let mut offset = row.offset;
        for part in rows.chunks((SMALL / size.max(1)).max(1)) {
            let length = size.saturating_mul(part.len());
            fill(self.room(offset, length)?, part).ok_or_else(&wrong)?;
            offset = offset.saturating_add(length as u64);
        }
        Ok(())
    }

    /// Writes pieces that come one after the other.
    fn pieces(
        &mut self,
        module: &Module<'_>,
        pieces: &[PlanPiece],
        all_fixups: &mut Patches<'_>,
        index: usize,
        row: &PlanSection<'_>,
    ) -> Result<(), StreamError<E>> {
        let error = section_error(index, row);
        for piece in pieces {
            let Some(bytes) = piece_bytes(module, piece, &error)? else {
                continue;
            };
            let offset = row.offset.saturating_add(piece.offset);
            let mut fixups = all_fixups.of(piece.section);
            self.pad(offset)?;
            if fixups.is_empty() {
                self.copy(bytes)?;
                continue;
            }
            let is_sorted = fixups.is_sorted_by_key(|fixup| fixup.offset);
            let mut start = 0;
            loop {
                let end = match is_sorted {
                    true => part_end(start, bytes.len(), self.left(), fixups),
                    false => bytes.len(),
                };
                let is_last = end == bytes.len();
                let count = match is_last {
                    true => fixups.len(),
                    false => fixups.partition_point(|fixup| fixup.offset < end as u64),
                };
                let (now, later) = fixups.split_at(count);
                let part = bytes.get(start..end).unwrap_or_default();
                apply_all(self.append(part)?, start, now)?;
                if is_last {
                    break;
                }
                (start, fixups) = (end, later);
            }
        }
        // What follows the last piece is zero.
        self.pad(row.offset.saturating_add(row.size))
    }

    /// Makes room for bytes at an offset of the file, and returns it. The room is zeroed, as are
    /// all bytes between it and what came before.
    fn room(&mut self, offset: u64, size: usize) -> Result<&mut [u8], StreamError<E>> {
        self.pad(offset)?;
        self.flush()?;
        let start = self.block.len();
        let missing = |_| WriteError::TooLarge(size as u64);
        self.block.try_reserve(size).map_err(missing)?;
        self.block.resize(start + size, 0);
        Ok(self.block.get_mut(start..).unwrap_or_default())
    }

    /// Appends bytes to those before, and returns their copy.
    fn append(&mut self, bytes: &[u8]) -> Result<&mut [u8], StreamError<E>> {
        self.flush()?;
        let start = self.block.len();
        let missing = |_| WriteError::TooLarge(bytes.len() as u64);
        self.block.try_reserve(bytes.len()).map_err(missing)?;
        self.block.extend_from_slice(bytes);
        Ok(self.block.get_mut(start..).unwrap_or_default())
    }

    /// Appends any number of bytes to those before.
    fn copy(&mut self, mut bytes: &[u8]) -> Result<(), StreamError<E>> {
        while bytes.len() > SMALL {
            let (now, later) = bytes.split_at(bytes.len().min(self.left()));
            self.append(now)?;
            bytes = later;
        }
        self.append(bytes).map(|_| ())
    }

    /// Writes zeros up to an offset of the file.
    fn pad(&mut self, offset: u64) -> Result<(), StreamError<E>> {
        loop {
            let position = self.flushed.saturating_add(self.block.len() as u64);
            let gap = offset.saturating_sub(position);
            if gap == 0 {
                return Ok(());
            }
            let gap = gap.min(self.left() as u64) as usize;
            self.flush()?;
            self.block.resize(self.block.len() + gap, 0);
        }
    }

    /// Returns the number of bytes before the end of a block.
    fn left(&self) -> usize {
        BLOCK_SIZE - self.block.len() % BLOCK_SIZE
    }

    /// Hands on whole blocks.
    fn flush(&mut self) -> Result<(), StreamError<E>> {
        let whole = self.block.len() / BLOCK_SIZE * BLOCK_SIZE;
        if whole == 0 {
            return Ok(());
        }
        self.rest.clear();
        self.rest.extend(self.block.drain(whole..));
        self.flushed = self.flushed.saturating_add(whole as u64);
        self.block = (self.sink)(std::mem::take(&mut self.block)).map_err(StreamError::Sink)?;
        self.block.reserve(BLOCK_SIZE + SMALL);
        self.block.append(&mut self.rest);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ObjectId;
    use crate::ids::SectionId;
    use crate::plan::PlanReloc;
    use crate::plan::PlanSection;
    use crate::section::Section;
    use crate::section::SectionInfo;
    use crate::section::SectionKind;
    use crate::table::EntityId;
    use crate::table::IdRange;

    fn input(bytes: &[u8]) -> Section<'_> {
        Section {
            object: ObjectId::new(0),
            name: b".nv.global.init",
            ty: 1,
            flags: 3.into(),
            align: 8,
            entsize: 0,
            link: None,
            info: SectionInfo::None,
            content: SectionContent::Bytes(bytes),
            relocs: IdRange::default(),
            attributes: IdRange::default(),
            kind: SectionKind::Unclassified,
            owner: None,
            place: None,
        }
    }

    fn output(
        ty: u32,
        offset: u64,
        size: u64,
        content: PlanContent<'static>,
    ) -> PlanSection<'static> {
        PlanSection {
            name: b"",
            name_offset: 0,
            ty,
            flags: Default::default(),
            offset,
            size,
            link: 0,
            info: 0,
            align: 8,
            entsize: 0,
            content,
        }
    }

    #[test]
    fn large_sections_in_parts_are_as_in_one_piece() {
        let bytes: Vec<u8> = (0..3 * BLOCK_SIZE + 5)
            .map(|index| (index % 251) as u8)
            .collect();
        let fixup = |section: usize, offset: usize| Fixup {
            section: SectionId::new(section),
            offset: offset as u64,
            bit: 0,
            width: 64,
            value: 0x1122_3344_5566_7788,
            add: false,
            cause: None,
        };
        let mut module = Module::default();
        for size in [bytes.len(), 70_000, 3, bytes.len()] {
            module.sections.push(input(&bytes[..size]));
        }
        // Fields across the ends of parts, one after another, one cut by the end of the section;
        // and some out of order.
        let end = bytes.len();
        let places = [
            0,
            BLOCK_SIZE - 12,
            BLOCK_SIZE - 7,
            BLOCK_SIZE - 1,
            2 * BLOCK_SIZE,
            end - 2,
        ];
        module.fixups.extend(places.map(|offset| fixup(0, offset)));
        module.fixups.push(fixup(2, 1));
        module
            .fixups
            .extend([BLOCK_SIZE, 8].map(|offset| fixup(3, offset)));
        let mut offset = 0;
        let pieces = [0, 1, 2, 3].map(|index| {
            let section = SectionId::new(index);
            let piece = PlanPiece {
                offset,
                section,
                size: None,
            };
            offset += match module.sections[section].content {
                SectionContent::Bytes(bytes) => bytes.len() as u64 + 40,
                _ => 0,
            };
            piece
        });
        let reloc = PlanReloc {
            offset: 7,
            ty: 2,
            symbol: 1,
            addend: -1,
        };
        let count = BLOCK_SIZE / 10;
        let mut plan = OutputLayout {
            pieces: pieces.to_vec(),
            relocs: vec![reloc; count],
            ..OutputLayout::default()
        };
        let relocs_at = 64 + offset + 16;
        plan.sections = vec![
            output(0, 0, 0, PlanContent::None),
            output(1, 64, offset + 3, PlanContent::Pieces(0..4)),
            output(
                4,
                relocs_at,
                24 * count as u64,
                PlanContent::Relocs(0..count as u32),
            ),
        ];
        plan.shoff = relocs_at + 24 * count as u64;
        plan.file_size = plan.shoff + 64 * 3;
        let written = |plan: &OutputLayout<'_>| {
            let mut image = Vec::new();
            write_in_order(&module, plan, |mut block| {
                assert_eq!(image.len() % BLOCK_SIZE, 0);
                image.append(&mut block);
                Ok::<_, std::convert::Infallible>(block)
            })
            .map(|()| image)
        };
        let image = written(&plan).unwrap();
        assert!(image == super::super::write(&module, &plan).unwrap());
        plan.sections[2].size += 8;
        plan.shoff += 8;
        plan.file_size += 8;
        assert!(written(&plan).is_err());
    }
}
