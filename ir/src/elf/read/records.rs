//! Decoded contents: relocations, attribute records, call graphs, prototypes and notes.

use super::*;

impl<'data> Reader<'_, 'data> {
    pub(super) fn relocs(&mut self, index: usize) -> Result<(), ReadError> {
        let start = self.part.relocs.len();
        let bytes = self.bytes(index);
        if is_rela(self.section(index).ty) {
            let rows = <[RawRela]>::ref_from_bytes(bytes)
                .map_err(|_| self.error(index, "its size is no multiple of 24"))?;
            let fields = |row: &RawRela| (row.offset.get(), row.ty.get(), row.addend.get());
            self.reloc_rows(index, rows, |row| row.symbol.get(), fields)?;
        } else {
            let rows = <[RawRel]>::ref_from_bytes(bytes)
                .map_err(|_| self.error(index, "its size is no multiple of 16"))?;
            let fields = |row: &RawRel| (row.offset.get(), row.ty.get(), 0);
            self.reloc_rows(index, rows, |row| row.symbol.get(), fields)?;
        }
        let range = IdRange::of_section(start, self.part.relocs.len());
        self.section_mut(index).relocs = range;
        Ok(())
    }

    /// Adds rows of which the symbol and offset, type and addend are read.
    fn reloc_rows<R>(
        &mut self,
        index: usize,
        rows: &[R],
        symbol: impl Fn(&R) -> u32,
        fields: impl Fn(&R) -> (u64, u32, i64),
    ) -> Result<(), ReadError> {
        let section = self.id_of(index);
        let refs = self.symbol_refs.as_slice();
        let known = rows.iter().map_while(|row| {
            let (offset, ty, addend) = fields(row);
            Some(Reloc {
                section,
                offset,
                ty,
                target: *refs.get(symbol(row) as usize)?,
                addend,
                plan: RelocAction::Unplanned,
            })
        });
        let start = self.part.relocs.len();
        self.part.relocs.reserve(rows.len());
        self.part.relocs.extend(known);
        let read = self.part.relocs.len() - start;
        match rows.get(read) {
            None => Ok(()),
            Some(row) => {
                let symbol = symbol(row);
                let what = format!("row {read} refers to symbol {symbol}, which is none");
                Err(self.error(index, what))
            }
        }
    }

    /// Reads the rows of 32 bytes that begin with a symbol.
    pub(super) fn unified_entries(&mut self, index: usize) -> Result<(), ReadError> {
        let start = self.part.attributes.len();
        let mut rows = self.bytes(index).chunks_exact(UNIFIED_ENTRY_SIZE);
        for row in &mut rows {
            let (symbol, rest) = row.split_at(4);
            let symbol = u32::from_le_bytes([symbol[0], symbol[1], symbol[2], symbol[3]]);
            let target = self.symbol_ref(symbol).ok_or_else(|| {
                self.error(
                    index,
                    format!("a row refers to symbol {symbol}, which is none"),
                )
            })?;
            let refs_start = self.part.attribute_refs.len() as u32;
            self.part.attribute_refs.push(target);
            self.part.attributes.push(Attribute {
                section: Some(self.id_of(index)),
                format: format::SVAL,
                code: UNIFIED_ENTRY,
                value: 0,
                refs: refs_start..refs_start + 1,
                rest,
            });
        }
        if !rows.remainder().is_empty() {
            return Err(self.error(index, "its size is no multiple of 32"));
        }
        let range = IdRange::of_section(start, self.part.attributes.len());
        self.section_mut(index).attributes = range;
        Ok(())
    }

    pub(super) fn attributes(&mut self, index: usize) -> Result<(), ReadError> {
        let section = self.id_of(index);
        let start = self.part.attributes.len();
        let has_references = is_info(self.section(index).ty);
        let mut rest = self.bytes(index);
        while !rest.is_empty() {
            let &[format, code, low, high, ref tail @ ..] = rest else {
                return Err(self.error(index, "a record reaches past its end"));
            };
            let value = u16::from_le_bytes([low, high]);
            let refs_start = self.part.attribute_refs.len() as u32;
            let mut payload: &'data [u8] = &[];
            rest = tail;
            if format == format::SVAL {
                let Some((own, further)) = tail.split_at_checked(value.into()) else {
                    return Err(self.error(index, "a record reaches past its end"));
                };
                (payload, rest) = (own, further);
                let words = if has_references {
                    reference_words(code, payload.len() / 4)
                } else {
                    0
                };
                for word in payload.chunks_exact(4).take(words) {
                    let symbol = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                    let Some(target) = self.symbol_ref(symbol) else {
                        let what =
                            format!("record {code:#04x} refers to symbol {symbol}, which is none");
                        return Err(self.error(index, what));
                    };
                    self.part.attribute_refs.push(target);
                }
                payload = &payload[words * 4..];
            }
            self.part.attributes.push(Attribute {
                section: Some(section),
                format,
                code,
                value: if format == format::SVAL { 0 } else { value },
                refs: refs_start..self.part.attribute_refs.len() as u32,
                rest: payload,
            });
        }
        let range = IdRange::of_section(start, self.part.attributes.len());
        self.section_mut(index).attributes = range;
        Ok(())
    }

    /// Returns the string table that prototypes are offsets into: that of the symbol table.
    pub(super) fn prototype_names(&self, index: usize) -> &'data [u8] {
        let symtab = self
            .headers
            .sections
            .get(index)
            .map_or(0, |row| row.link.get() as usize);
        let names = self
            .headers
            .sections
            .get(symtab)
            .map_or(0, |row| row.link.get() as usize);
        self.bytes(names)
    }

    pub(super) fn calls(&mut self, index: usize) -> Result<(), ReadError> {
        let names = self.prototype_names(index);
        let rows = <[RawPair]>::ref_from_bytes(self.bytes(index))
            .map_err(|_| self.error(index, "its size is no multiple of 8"))?;
        let mut group = None;
        let mut groups = CallKind::ALL.into_iter();
        for (number, row) in rows.iter().enumerate() {
            let (first, second) = (row.first.get(), row.second.get());
            if first == 0 && (second as i32) < 0 {
                let opened = second as i32;
                group = groups.next();
                if group.is_none_or(|group| group.marker() != opened) {
                    let what = format!("row {number} opens group {opened}, which is not the next");
                    return Err(self.error(index, what));
                }
                continue;
            }
            let Some(kind) = group else {
                return Err(
                    self.error(index, format!("row {number} stands before the first group"))
                );
            };
            let symbol = |word: u32| {
                self.symbol_ref(word).ok_or_else(|| {
                    self.error(
                        index,
                        format!("row {number} refers to symbol {word}, which does not exist"),
                    )
                })
            };
            let from = symbol(first)?;
            let mut record = CallRecord {
                kind,
                from,
                to: SymbolRef::None,
                prototype: b"",
            };
            if kind.has_prototype() {
                record.prototype = string_at(names, second).ok_or_else(|| {
                    self.error(
                        index,
                        format!("the prototype of row {number} is outside the string table"),
                    )
                })?;
            } else {
                record.to = symbol(second)?;
            }
            self.part.calls.push(record);
        }
        match groups.next().filter(|_| group.is_some()) {
            // CUDA 11 does not know it.
            None | Some(CallKind::TakesAddress) => Ok(()),
            Some(missing) => {
                let what = format!("it has no group {}", missing.marker());
                Err(self.error(index, what))
            }
        }
    }

    pub(super) fn prototypes(&mut self, index: usize) -> Result<(), ReadError> {
        let names = self.prototype_names(index);
        let rows = <[RawPair]>::ref_from_bytes(self.bytes(index))
            .map_err(|_| self.error(index, "its size is no multiple of 8"))?;
        for (number, row) in rows.iter().enumerate() {
            let function = self.symbol_ref(row.first.get()).ok_or_else(|| {
                self.error(
                    index,
                    format!("row {number} refers to a symbol that does not exist"),
                )
            })?;
            let prototype = string_at(names, row.second.get()).ok_or_else(|| {
                self.error(
                    index,
                    format!("the prototype of row {number} is outside the string table"),
                )
            })?;
            self.part.prototypes.push(PrototypeRecord {
                function,
                prototype,
            });
        }
        Ok(())
    }

    pub(super) fn notes(&mut self, index: usize) -> Result<(), ReadError> {
        let section = self.id_of(index);
        let expected = match self.section(index).name {
            b".note.nv.tkinfo" => Some(NOTE_TOOL_INFO),
            b".note.nv.cuinfo" | b".note.nv.cuver" => Some(NOTE_CUDA_INFO),
            _ => None,
        };
        let mut rest = self.bytes(index);
        while !rest.is_empty() {
            let Some((note, further)) = first_note(rest) else {
                return Err(self.error(index, "a note reaches past its end"));
            };
            rest = further;
            if expected.is_some_and(|ty| (note.owner, note.ty) != (NOTE_OWNER, ty)) {
                let what = format!("a note of type {} is not the section's", note.ty);
                return Err(self.error(index, what));
            }
            let version = note
                .desc
                .first_chunk::<4>()
                .copied()
                .map(u32::from_le_bytes);
            if expected == Some(NOTE_TOOL_INFO) && version.is_none_or(|version| version > 0xff) {
                return Err(self.error(index, "a note of tools has no version that is known"));
            }
            self.part.notes.push(Note {
                section: Some(section),
                owner: note.owner,
                ty: note.ty,
                desc: note.desc,
            });
        }
        Ok(())
    }
}

/// Returns the number of attribute records in these bytes.
pub(super) fn records_in(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while let &[format, _, low, high, ref tail @ ..] = bytes {
        let payload = match format {
            format::SVAL => u16::from_le_bytes([low, high]).into(),
            _ => 0,
        };
        bytes = tail.get(payload..).unwrap_or(&[]);
        count += 1;
    }
    count
}
