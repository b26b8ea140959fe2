//! `.nv.merc.nv.shared.reserved.0`: memory without bytes, to which nvlink gives some
//! [reserved-shared-bytes].
//!
//! nvlink copies what lies at its place in the file of the Mercury view, which it makes first. That
//! file has no bytes for it, so what lies there is padding and, at the end of the file, the headers
//! of sections from the first on. The file is that of the view alone: without the names of sections
//! that the second view adds, without the records that are added to `.nv.compat` for it, and
//! with the sizes that code, lists, rows and debug information have in the Mercury view.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours;
use cuweld_elf::behaviours::attributes;
use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use zerocopy::IntoBytes;

use super::Encode;
use super::Refusal;
use super::fast_path::RECORD;
use super::second::RESERVED_SHARED;

/// How many headers are made: the null section, the names of sections and those of symbols. Their
/// fields are the same in both views.
const HEADERS: usize = 3;

/// Bytes of a record of `.nv.compat` whose value lies in its head.
const RECORD_HEAD: u64 = 4;

/// Sizes in bytes of the tables of the Mercury view before anything is added for the second view.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewTables {
    section_names: u64,
    symbol_names: u64,
    symbols: u64,
}

/// A section in the file of the Mercury view.
struct Place {
    offset: u64,
    size: u64,
    has_bytes: bool,
}

impl Encode<'_, '_> {
    /// Returns the tables as the view was laid out.
    pub(super) fn view_tables(&self) -> ViewTables {
        ViewTables {
            section_names: self.plan.section_names.len() as u64,
            symbol_names: self.plan.symbol_names.len() as u64,
            symbols: self.plan.symbols.len() as u64 * 24,
        }
    }

    /// Gives the section of the Mercury view its bytes, when all sizes of that view are known.
    pub(super) fn reserved_bytes(&mut self, tables: ViewTables) {
        let view = &self.plan.sections[..self.view];
        let Some(own) = view
            .iter()
            .position(|section| section.name == RESERVED_SHARED)
        else {
            return;
        };
        let Some(twin) = self.twin[own].map(|twin| twin as usize) else {
            return;
        };
        let rule = &behaviours::memory::RESERVED_SHARED_BYTES;
        if !self.module.toolkit.has(rule) {
            self.plan.sections[twin].content = PlanContent::None;
            return;
        }
        let size = self.plan.sections.get(twin).map_or(0, |row| row.size);
        match self.bytes_at(own, size, tables) {
            Some(bytes) => {
                self.plan.sections[twin].content = PlanContent::Bytes(self.arena.bytes(&bytes));
            }
            None => {
                let what = mercury::RESERVED_SHARED;
                self.refusals.push(Refusal::new(what, None));
            }
        }
    }

    /// Returns the bytes that lie in the file of the Mercury view where section `own` begins;
    /// `None` if that is neither padding nor the first headers.
    fn bytes_at(&self, own: usize, size: u64, tables: ViewTables) -> Option<Vec<u8>> {
        // After stubs of unified functions nvlink's file has the section elsewhere, which shows
        // where memory after it is aligned more.
        let (before, after) = self.plan.sections[..self.view].split_at(own);
        let is_stub = |row: &PlanSection<'_>| row.ty == sht::CUDA_UNIFIED_FUNCTION;
        let align = after.first().map_or(1, |own| own.align);
        let is_before_more = after.iter().any(|row| row.align > align);
        if before.iter().any(is_stub) && is_before_more {
            return None;
        }
        let (mut places, mut offset) = (Vec::new(), size_of::<FileHeader>() as u64);
        for (index, section) in self.plan.sections[..self.view].iter().enumerate() {
            if section.ty == sht::NULL {
                continue;
            }
            let (size, align) = self.in_view(index, section, tables);
            offset = align_up(offset, align);
            let has_bytes = !is_no_bits(section.ty, section.flags);
            places.push((
                index,
                Place {
                    offset,
                    size,
                    has_bytes,
                },
            ));
            if has_bytes {
                offset = offset.saturating_add(size);
            }
        }
        let start = places.iter().find(|(index, _)| *index == own)?.1.offset;
        let end = start.checked_add(size)?;
        let is_beside = |place: &Place| !place.has_bytes || place.size == 0 || place.offset >= end;
        let mut behind = places.iter().filter(|(index, _)| *index > own);
        if !behind.all(|(_, place)| is_beside(place)) {
            return None;
        }
        let length = usize::try_from(size).ok()?;
        let padding = align_up(offset, 8).checked_sub(start)?.min(size);
        let mut bytes = vec![0; usize::try_from(padding).ok()?];
        for index in 0..HEADERS {
            let place = places.iter().find(|(of, _)| *of == index);
            let header = match place {
                Some((_, place)) => self.header(index, place),
                None => SectionHeader::default(),
            };
            bytes.extend_from_slice(header.as_bytes());
        }
        (length <= bytes.len()).then(|| {
            bytes.truncate(length);
            bytes
        })
    }

    /// Returns the size and alignment of a section in the file of the Mercury view.
    fn in_view(&self, index: usize, section: &PlanSection<'_>, tables: ViewTables) -> (u64, u64) {
        let twin = self.twin[index].and_then(|twin| self.plan.sections.get(twin as usize));
        let size = match section.content {
            PlanContent::SectionNames => tables.section_names,
            PlanContent::SymbolNames => tables.symbol_names,
            PlanContent::Symbols => tables.symbols,
            _ if section.ty == sht::CUDA_COMPAT => section.size.saturating_sub(self.added_compat()),
            _ => match (self.functions[index], twin) {
                (Some(function), _) => self.module.functions[function].merc_size,
                (None, Some(twin)) => twin.size,
                (None, None) => section.size,
            },
        };
        let align = match (self.functions[index], twin) {
            (Some(_), Some(twin)) => twin.align,
            _ => section.align,
        };
        (size, align)
    }

    /// Returns the bytes of the records that `.nv.compat` of the Mercury view does not have yet.
    fn added_compat(&self) -> u64 {
        let toolkit = self.module.toolkit;
        // [compat-fast-path-everywhere]
        let has_fast_path = toolkit.has(&attributes::COMPAT_FAST_PATH_EVERYWHERE);
        let fast_path = if has_fast_path { 0 } else { RECORD };
        // [compat-finalizer-version]
        let adds_finalizer = toolkit.has(&attributes::COMPAT_FINALIZER_VERSION);
        fast_path + if adds_finalizer { RECORD_HEAD } else { 0 }
    }

    fn header(&self, index: usize, place: &Place) -> SectionHeader {
        let section = &self.plan.sections[index];
        SectionHeader {
            name: section.name_offset.into(),
            ty: section.ty.into(),
            flags: section.flags.bits().into(),
            offset: place.offset.into(),
            size: place.size.into(),
            link: section.link.into(),
            info: section.info.into(),
            align: section.align.into(),
            entsize: section.entsize.into(),
            ..Default::default()
        }
    }
}
