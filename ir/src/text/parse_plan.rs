//! Parsing the plan of the output file.

use std::borrow::Cow;

use super::lexer::Parsed;
use super::lexer::Position;
use super::parse::Parser;
use super::parse::unknown;
use super::words;
use crate::plan::ElfPlan;
use crate::plan::PlanContent;
use crate::plan::PlanPiece;
use crate::plan::PlanReloc;
use crate::plan::PlanSection;
use crate::plan::PlanSegment;
use crate::plan::PlanSymbol;

/// A number, its place, and the name that annotates it.
type NamedNumber<'t> = (Position, u32, Option<Cow<'t, [u8]>>);

impl<'t, 'data> Parser<'t, 'data, '_> {
    /// Reads a row of the plan that begins with this word; false if there is none.
    pub(super) fn plan_row(&mut self, position: Position, word: &str) -> Parsed<bool> {
        match word {
            "plan" => {
                let plan = self.plan_header()?;
                if self.module.plan.replace(plan).is_some() {
                    return Err(position.error("a second plan"));
                }
            }
            "output-section" => {
                let next = self.plan_at(position)?.sections.len();
                let row = self.plan_section(next)?;
                self.plan_at(position)?.sections.push(row);
            }
            "piece" => {
                let next = self.plan_at(position)?.pieces.len();
                let row = self.piece(next)?;
                self.plan_at(position)?.pieces.push(row);
            }
            "output-symbol" => {
                let next = self.plan_at(position)?.symbols.len();
                let row = self.plan_symbol(next)?;
                self.plan_at(position)?.symbols.push(row);
            }
            "output-reloc" => {
                let next = self.plan_at(position)?.relocs.len();
                let row = self.plan_reloc(next)?;
                self.plan_at(position)?.relocs.push(row);
            }
            "segment" => {
                let row = self.segment()?;
                self.plan_at(position)?.segments.push(row);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a string table, rows of strings at their offsets.
    pub(super) fn plan_strings(&mut self, position: Position, word: &str) -> Parsed<()> {
        let strings = self.strings()?;
        let plan = self.plan_at(position)?;
        let table = match word {
            "section-names" => &mut plan.section_names,
            _ => &mut plan.symbol_names,
        };
        if !table.is_empty() {
            return Err(position.error("a second table of this name"));
        }
        *table = strings;
        Ok(())
    }

    fn plan_at(&mut self, position: Position) -> Parsed<&mut ElfPlan<'data>> {
        self.module
            .plan
            .as_mut()
            .ok_or_else(|| position.error("expected `plan` above this row"))
    }

    /// The number of a row, which counts up.
    fn ordinal(&mut self, next: usize) -> Parsed<()> {
        let position = self.cursor.position();
        let index = self.cursor.number()?;
        if index != next as u64 {
            return Err(position.error(format!("expected row {next}, found {index}")));
        }
        Ok(())
    }

    fn plan_header(&mut self) -> Parsed<ElfPlan<'data>> {
        let mut plan = ElfPlan::default();
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "type" => {
                    self.cursor.expect("=")?;
                    plan.e_type = self.known(&words::FILE_TYPES, "a file type")?;
                }
                "flags" => plan.e_flags = self.narrow_value()?,
                "legacy" => plan.legacy = Some(self.narrow_value()?),
                "shoff" => plan.shoff = self.number_value()?,
                "phoff" => plan.phoff = self.number_value()?,
                "shstrndx" => plan.shstrndx = self.narrow_value()?,
                "file-size" => plan.file_size = self.number_value()?,
                _ => {
                    let known = "type, flags, legacy, shoff, phoff, shstrndx, file-size";
                    return Err(unknown(position, key, known));
                }
            }
        }
        Ok(plan)
    }

    fn strings(&mut self) -> Parsed<Vec<u8>> {
        self.cursor.end_row()?;
        let mut table = Vec::new();
        while self.offset_row(table.len())? {
            table.extend_from_slice(&self.cursor.name()?);
            if !self.cursor.eat_word("unterminated") {
                table.push(0);
            }
            self.cursor.end_row()?;
        }
        Ok(table)
    }

    fn plan_section(&mut self, next: usize) -> Parsed<PlanSection<'data>> {
        self.ordinal(next)?;
        let mut row = PlanSection {
            name: self.name()?,
            name_offset: 0,
            ty: 0,
            flags: 0,
            offset: 0,
            size: 0,
            link: 0,
            info: 0,
            align: 0,
            entsize: 0,
            content: PlanContent::None,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "name" => row.name_offset = self.narrow_value()?,
                "type" => {
                    self.cursor.expect("=")?;
                    row.ty = self.known_by(words::section_type_value, "a section type")?;
                }
                "flags" => row.flags = self.flags(&words::SECTION_FLAGS)?,
                "offset" => row.offset = self.number_value()?,
                "size" => row.size = self.number_value()?,
                "link" => row.link = self.narrow_value()?,
                "info" => row.info = self.narrow_value()?,
                "align" => row.align = self.number_value()?,
                "entsize" => row.entsize = self.number_value()?,
                "no-bytes" => row.content = PlanContent::None,
                "bytes" => row.content = PlanContent::Bytes(self.content()?),
                "pieces" | "relocs" => {
                    self.cursor.expect("=")?;
                    let (start, end) = self.cursor.range()?;
                    row.content = if key == "pieces" {
                        self.references.plan_pieces(position, end);
                        PlanContent::Pieces(start..end)
                    } else {
                        self.references.plan_relocs(position, end);
                        PlanContent::Relocs(start..end)
                    };
                }
                "alias" => row.content = PlanContent::Alias(self.narrow_value()?),
                "section-names" => row.content = PlanContent::SectionNames,
                "symbol-names" => row.content = PlanContent::SymbolNames,
                "symbols" => row.content = PlanContent::Symbols,
                _ => {
                    let known = "name, type, flags, offset, size, link, info, align, entsize, \
                                 no-bytes, bytes, pieces, relocs, alias, section-names, \
                                 symbol-names, symbols";
                    return Err(unknown(position, key, known));
                }
            }
        }
        Ok(row)
    }

    fn piece(&mut self, next: usize) -> Parsed<PlanPiece> {
        self.ordinal(next)?;
        let (mut offset, mut section, mut size) = (0, None, None);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "offset" => offset = self.number_value()?,
                "section" => section = Some(self.entity_value()?),
                "size" => size = Some(self.number_value()?),
                _ => return Err(unknown(position, key, "offset, section, size")),
            }
        }
        match section {
            Some(section) => Ok(PlanPiece {
                offset,
                section,
                size,
            }),
            None => Err(self.cursor.expected("the field `section`")),
        }
    }

    /// The value of a field that is a number, with or without a name.
    fn named_value(&mut self) -> Parsed<NamedNumber<'t>> {
        self.cursor.expect("=")?;
        let position = self.cursor.position();
        let number = self.cursor.narrow()?;
        let name = if self.cursor.eat(":") {
            Some(self.cursor.name()?)
        } else {
            None
        };
        Ok((position, number, name))
    }

    fn plan_symbol(&mut self, next: usize) -> Parsed<PlanSymbol> {
        self.ordinal(next)?;
        let (mut bind, mut ty) = (0u8, 0u8);
        let mut row = PlanSymbol {
            name_offset: 0,
            info: 0,
            other: 0,
            shndx: 0,
            value: 0,
            size: 0,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "name" => {
                    let (position, offset, name) = self.named_value()?;
                    row.name_offset = offset;
                    if let Some(name) = name {
                        self.references.plan_name(position, offset, name);
                    }
                }
                "bind" => {
                    self.cursor.expect("=")?;
                    bind = self.known(&words::BINDINGS, "a binding")?;
                }
                "type" => {
                    self.cursor.expect("=")?;
                    ty = self.known(&words::SYMBOL_TYPES, "a symbol type")?;
                }
                "other" => row.other = self.flags(&words::SYMBOL_OTHERS)?,
                "section" => {
                    self.cursor.expect("=")?;
                    row.shndx = self.known(&words::RESERVED_INDICES, "ABS, COMMON")?;
                }
                "value" => row.value = self.number_value()?,
                "size" => row.size = self.number_value()?,
                _ => {
                    let known = "name, bind, type, other, section, value, size";
                    return Err(unknown(position, key, known));
                }
            }
            if bind > 15 || ty > 15 {
                return Err(position.error("expected a number of at most 4 bits"));
            }
        }
        row.info = bind << 4 | ty;
        Ok(row)
    }

    fn plan_reloc(&mut self, next: usize) -> Parsed<PlanReloc> {
        self.ordinal(next)?;
        let mut row = PlanReloc {
            offset: 0,
            ty: 0,
            symbol: 0,
            addend: 0,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "offset" => row.offset = self.number_value()?,
                "type" => {
                    self.cursor.expect("=")?;
                    row.ty = self.reloc_type()?;
                }
                "symbol" => {
                    let (position, symbol, name) = self.named_value()?;
                    row.symbol = symbol;
                    self.references.plan_symbol(position, symbol, name);
                }
                "addend" => {
                    self.cursor.expect("=")?;
                    row.addend = self.cursor.signed()?;
                }
                _ => return Err(unknown(position, key, "offset, type, symbol, addend")),
            }
        }
        Ok(row)
    }

    fn segment(&mut self) -> Parsed<PlanSegment> {
        let mut row = PlanSegment {
            ty: 0,
            flags: 0,
            offset: 0,
            file_size: 0,
            mem_size: 0,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "type" => {
                    self.cursor.expect("=")?;
                    row.ty = self.known(&words::SEGMENT_TYPES, "a segment type")?;
                }
                "flags" => row.flags = self.flags(&words::SEGMENT_FLAGS)?,
                "offset" => row.offset = self.number_value()?,
                "file-size" => row.file_size = self.number_value()?,
                "mem-size" => row.mem_size = self.number_value()?,
                _ => {
                    return Err(unknown(
                        position,
                        key,
                        "type, flags, offset, file-size, mem-size",
                    ));
                }
            }
        }
        Ok(row)
    }
}
