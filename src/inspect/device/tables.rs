//! Relocations, notes, the call graph and prototypes.

use cuweld_elf::note_records;
use cuweld_elf::note_records::cuda_info_fields;
use cuweld_elf::note_records::tool_info_strings;
use cuweld_elf::raw::RawPair;
use cuweld_elf::raw::RawRel;
use cuweld_elf::raw::RawRela;
use cuweld_elf::raw::string_at;
use cuweld_ir::callgraph_record::CallKind;
use zerocopy::FromBytes;
use zerocopy::Immutable;
use zerocopy::KnownLayout;

use super::Decoder;
use crate::inspect::code_names;
use crate::inspect::device_model::*;
use crate::inspect::error::SectionDamage;
use crate::inspect::name::Hex;
use crate::inspect::name::Name;

impl<'data> Decoder<'data> {
    /// Returns the whole rows of a table.
    pub(super) fn rows<T: FromBytes + Immutable + KnownLayout>(
        &mut self,
        section: u32,
        bytes: &'data [u8],
    ) -> &'data [T] {
        let size = size_of::<T>();
        if !bytes.len().is_multiple_of(size) {
            self.damage(section, SectionDamage::RowSize(size));
        }
        match <[T]>::ref_from_prefix_with_elems(bytes, bytes.len() / size) {
            Ok((rows, _)) => rows,
            Err(_) => &[],
        }
    }

    fn symbol(&mut self, section: &Section<'data>, row: usize, index: u32) -> SymbolUse<'data> {
        self.symbols.find(section.link, index).unwrap_or_else(|| {
            let symbol = index;
            self.damage(section.index, SectionDamage::Symbol { row, symbol });
            SymbolUse {
                index,
                name: Name::default(),
            }
        })
    }

    fn relocations(
        &mut self,
        section: &Section<'data>,
        rows: Vec<Relocation<'data>>,
    ) -> Relocations<'data> {
        Relocations {
            section: section.name,
            section_index: section.index,
            target: self.view.name(section.info).unwrap_or_default(),
            rows,
        }
    }

    pub(super) fn rel(&mut self, section: &Section<'data>) -> Relocations<'data> {
        let bytes = self.take(section);
        let raw = self.rows::<RawRel>(section.index, bytes);
        let mut rows = Vec::with_capacity(raw.len());
        for (number, row) in raw.iter().enumerate() {
            rows.push(Relocation {
                offset: row.offset.get(),
                ty: code_names::relocation_type(row.ty.get()),
                symbol: self.symbol(section, number, row.symbol.get()),
                addend: None,
            });
        }
        self.relocations(section, rows)
    }

    pub(super) fn rela(&mut self, section: &Section<'data>) -> Relocations<'data> {
        let bytes = self.take(section);
        let raw = self.rows::<RawRela>(section.index, bytes);
        let mut rows = Vec::with_capacity(raw.len());
        for (number, row) in raw.iter().enumerate() {
            rows.push(Relocation {
                offset: row.offset.get(),
                ty: code_names::relocation_type(row.ty.get()),
                symbol: self.symbol(section, number, row.symbol.get()),
                addend: Some(row.addend.get()),
            });
        }
        self.relocations(section, rows)
    }

    pub(super) fn notes(&mut self, section: &Section<'data>, notes: &mut Vec<Note<'data>>) {
        let bytes = self.take(section);
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = (bytes.len() - rest.len()) as u64;
            let Some(note) = split_note(rest) else {
                self.damage(section.index, SectionDamage::Record(offset));
                return;
            };
            notes.push(Note {
                section: section.name,
                owner: Name(note.owner.strip_suffix(b"\0").unwrap_or(note.owner)),
                ty: code_names::note_type(note.ty),
                value: note_value(note.ty, note.desc),
            });
            rest = note.behind;
        }
    }

    /// Returns the string table that prototypes are offsets into: that of the symbol table.
    fn prototype_names(&mut self, section: &Section<'data>) -> &'data [u8] {
        let symbols = self.view.sections.get(section.link as usize);
        match symbols.and_then(|symbols| self.view.bytes_at(symbols.link.get())) {
            Some(names) => names,
            None => {
                self.damage(section.index, SectionDamage::Link("symbol table"));
                &[]
            }
        }
    }

    fn prototype(
        &mut self,
        section: &Section<'data>,
        row: usize,
        names: &'data [u8],
        offset: u32,
    ) -> Name<'data> {
        let found = string_at(names, offset);
        if found.is_none() {
            self.damage(section.index, SectionDamage::String { row });
        }
        Name(found.unwrap_or_default())
    }

    pub(super) fn call_graph(&mut self, section: &Section<'data>, out: &mut Vec<CallRow<'data>>) {
        let bytes = self.take(section);
        let names = self.prototype_names(section);
        let mut group = None;
        for (number, row) in self
            .rows::<RawPair>(section.index, bytes)
            .iter()
            .enumerate()
        {
            let (first, second) = (row.first.get(), row.second.get());
            if first == 0 && (second as i32) < 0 {
                group = CallKind::from_marker(second as i32);
                if group.is_none() {
                    self.damage(section.index, SectionDamage::Group(number));
                }
                continue;
            }
            let Some(kind) = group else {
                self.damage(section.index, SectionDamage::Group(number));
                continue;
            };
            let from = self.symbol(section, number, first);
            let to = if kind.has_prototype() {
                CallTarget::Prototype(self.prototype(section, number, names, second))
            } else {
                CallTarget::Function(self.symbol(section, number, second))
            };
            let group = match kind {
                CallKind::Direct => CallGroup::Direct,
                CallKind::AddressTaken => CallGroup::AddressTaken,
                CallKind::Indirect => CallGroup::Indirect,
                CallKind::TakesAddress => CallGroup::TakesAddress,
            };
            out.push(CallRow { group, from, to });
        }
    }

    pub(super) fn prototypes(
        &mut self,
        section: &Section<'data>,
        out: &mut Vec<PrototypeRow<'data>>,
    ) {
        let bytes = self.take(section);
        let names = self.prototype_names(section);
        for (number, row) in self
            .rows::<RawPair>(section.index, bytes)
            .iter()
            .enumerate()
        {
            out.push(PrototypeRow {
                function: self.symbol(section, number, row.first.get()),
                prototype: self.prototype(section, number, names, row.second.get()),
            });
        }
    }
}

/// A note in its file form, and what follows it.
struct RawNote<'data> {
    owner: &'data [u8],
    ty: u32,
    desc: &'data [u8],
    behind: &'data [u8],
}

fn split_note(bytes: &[u8]) -> Option<RawNote<'_>> {
    let word =
        |at: usize| -> Option<u32> { Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)) };
    let (owner_size, desc_size, ty) = (word(0)? as usize, word(4)? as usize, word(8)?);
    let owner = bytes.get(12..12usize.checked_add(owner_size)?)?;
    let start = owner_size.checked_next_multiple_of(4)?.checked_add(12)?;
    let end = start.checked_add(desc_size)?;
    let desc = bytes.get(start..end)?;
    let behind = bytes.get(end.checked_next_multiple_of(4)?..);
    Some(RawNote {
        owner,
        ty,
        desc,
        behind: behind.unwrap_or_default(),
    })
}

fn note_value(ty: u32, desc: &[u8]) -> NoteValue<'_> {
    let value = match ty {
        note_records::NOTE_TOOL_INFO => {
            tool_info_strings(desc).map(|[object, tool, version, build, options]| NoteValue::Tool {
                object: Name(object),
                tool: Name(tool),
                version: Name(version),
                build: Name(build),
                options: Name(options),
            })
        }
        note_records::NOTE_CUDA_INFO if desc.len() == 8 => {
            cuda_info_fields(desc).map(|(version, virtual_sm, toolkit)| NoteValue::CudaInfo {
                version,
                virtual_sm,
                toolkit,
            })
        }
        _ => None,
    };
    value.unwrap_or(NoteValue::Other(Hex(desc)))
}
