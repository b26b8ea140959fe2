//! Writing in the order of the file, through a buffer of bounded size: no more of the output is in memory than the
//! largest of its sections that is put together of parts.

use thiserror::Error;
use zerocopy::IntoBytes;

use super::WriteError;
use super::check_patches;
use super::file_header;
use super::fill_section;
use super::is_stored;
use super::patches_of;
use super::program_header;
use super::section_header;
use crate::module::Module;
use crate::plan::ElfPlan;
use crate::plan::PlanContent;
use crate::plan::PlanPiece;
use crate::section::SectionContent;

/// How much is gathered before it is handed on.
const BUFFER_SIZE: usize = 1 << 20;

/// Contents of at least this size are handed on from where they are.
const DIRECT_SIZE: usize = 64 << 10;

/// Why a file was not written whole.
#[derive(Debug, Error)]
pub enum StreamError<E> {
    /// The plan cannot be written.
    #[error(transparent)]
    Plan(#[from] WriteError),
    /// Whoever takes the bytes failed.
    #[error("{0}")]
    Sink(E),
}

/// Serialises a plan of this module, as [`write`](super::write()) does, and hands the bytes on in order.
pub fn write_in_order<E>(
    module: &Module<'_>,
    plan: &ElfPlan<'_>,
    sink: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), StreamError<E>> {
    check_patches(module)?;
    let mut stream = Stream {
        sink,
        buffer: Vec::new(),
        flushed: 0,
    };
    if !is_in_order(plan) {
        stream.buffer = super::write(module, plan)?;
        return stream.flush();
    }
    stream.room(0, 64)?.copy_from_slice(&file_header(plan)?);
    for (index, row) in plan.sections.iter().enumerate() {
        if !is_stored(&row.content) {
            continue;
        }
        if let Some(bytes) = whole_contents(module, plan, &row.content)
            && bytes.len() >= DIRECT_SIZE
            && bytes.len() as u64 == row.size
        {
            stream.direct(row.offset, bytes)?;
            continue;
        }
        let size = usize::try_from(row.size).map_err(|_| WriteError::TooLarge(row.size))?;
        let target = stream.room(row.offset, size)?;
        fill_section(target, module, plan, index, row)?;
    }
    for (index, row) in plan.sections.iter().enumerate() {
        let offset = plan.shoff.saturating_add(64 * index as u64);
        let header = section_header(row);
        stream.room(offset, 64)?.copy_from_slice(header.as_bytes());
    }
    for (index, row) in plan.segments.iter().enumerate() {
        let offset = plan.phoff.saturating_add(56 * index as u64);
        let header = program_header(row);
        stream.room(offset, 56)?.copy_from_slice(header.as_bytes());
    }
    stream.room(plan.file_size, 0)?;
    stream.flush()
}

/// Whether every part of the file begins where the one before it ends, or behind.
fn is_in_order(plan: &ElfPlan<'_>) -> bool {
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

/// The contents of a section that are one run of bytes that nothing changes.
fn whole_contents<'data>(
    module: &Module<'data>,
    plan: &ElfPlan<'data>,
    content: &PlanContent<'data>,
) -> Option<&'data [u8]> {
    match content {
        PlanContent::Bytes(bytes) => Some(bytes),
        PlanContent::Pieces(range) => {
            let pieces = plan
                .pieces
                .get(range.start as usize..range.end as usize)
                .unwrap_or(&[]);
            let [
                PlanPiece {
                    offset: 0,
                    section,
                    size: None,
                },
            ] = pieces
            else {
                return None;
            };
            match module.sections.get(*section)?.content {
                SectionContent::Bytes(bytes) if patches_of(module, *section).is_empty() => {
                    Some(bytes)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Gathers what is small, hands on what is large.
struct Stream<S> {
    sink: S,
    buffer: Vec<u8>,
    /// How many bytes were handed on.
    flushed: u64,
}

impl<E, S: FnMut(&[u8]) -> Result<(), E>> Stream<S> {
    /// Room for the bytes at an offset of the file, zeroed, as is all between it and what came before.
    fn room(&mut self, offset: u64, size: usize) -> Result<&mut [u8], StreamError<E>> {
        self.pad(offset)?;
        if self.buffer.len().saturating_add(size) > BUFFER_SIZE {
            self.flush()?;
        }
        let start = self.buffer.len();
        let missing = |_| WriteError::TooLarge(size as u64);
        self.buffer.try_reserve(size).map_err(missing)?;
        self.buffer.resize(start + size, 0);
        Ok(self.buffer.get_mut(start..).unwrap_or_default())
    }

    /// Hands on the bytes at an offset of the file.
    fn direct(&mut self, offset: u64, bytes: &[u8]) -> Result<(), StreamError<E>> {
        self.pad(offset)?;
        self.flush()?;
        (self.sink)(bytes).map_err(StreamError::Sink)?;
        self.flushed = self.flushed.saturating_add(bytes.len() as u64);
        Ok(())
    }

    /// Zeros up to an offset of the file.
    fn pad(&mut self, offset: u64) -> Result<(), StreamError<E>> {
        loop {
            let position = self.flushed.saturating_add(self.buffer.len() as u64);
            let gap = offset.saturating_sub(position).min(BUFFER_SIZE as u64) as usize;
            if gap == 0 {
                return Ok(());
            }
            if self.buffer.len() + gap > BUFFER_SIZE {
                self.flush()?;
            }
            self.buffer.resize(self.buffer.len() + gap, 0);
        }
    }

    fn flush(&mut self) -> Result<(), StreamError<E>> {
        (self.sink)(&self.buffer).map_err(StreamError::Sink)?;
        self.flushed = self.flushed.saturating_add(self.buffer.len() as u64);
        self.buffer.clear();
        Ok(())
    }
}
