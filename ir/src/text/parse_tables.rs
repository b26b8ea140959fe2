//! Parsing tables: the word or the id that a row begins with says which table it belongs to.

use super::fields::Row;
use super::fields::Spelling;
use super::lexer::Parsed;
use super::lexer::Position;
use super::parse::Parser;
use super::values::Id;
use super::values::OrNone;
use super::values::Target;
use crate::ids::*;
use crate::module::Module;
use crate::note::Note;
use crate::plan::OutputLayout;
use crate::reloc::Reloc;
use crate::table::EntityId;
use crate::table::PrimaryMap;

/// Where a whole keeps the rows that are read.
type Part<W, P> = for<'w> fn(&'w mut W) -> &'w mut P;

impl<'data> Parser<'_, 'data, '_> {
    /// Reads a row below the module header.
    pub(super) fn row(&mut self) -> Parsed<()> {
        if self.entity_row()? {
            return self.cursor.end_row();
        }
        let position = self.cursor.position();
        let word = self.cursor.word("a row")?;
        match word {
            // Headings that only help the eye.
            "sections" | "symbols" | "functions" | "calls" | "prototypes" | "link-symbols"
            | "merge-log" | "bank-pieces" | "pool-parts" | "header-slots" | "merged" | "fixups"
            | "output-sections" | "pieces" | "output-symbols" | "output-relocs" | "segments"
            | "findings" => {}
            "object" => return self.object_block(),
            "unowned" => self.start_block(None),
            "option" => self.option()?,
            "section-names" | "symbol-names" => return self.plan_strings(position, word),
            "relocs" => {
                self.reloc_section = Some(self.entity()?);
                self.numbered_heading(RelocId::PREFIX, true);
            }
            "attributes" => {
                let section = OrNone(Id::Named).parse(self)?;
                self.attribute_section = Some(section);
                self.numbered_heading(AttributeId::PREFIX, section.is_some());
            }
            "plan" if self.numbering.is_some() => {
                return Err(position.error(
                    "rows of an output layout name each other by place: renumber the module of a \
                     phase before `laid-out`",
                ));
            }
            "notes" => self.note_section = Some(OrNone(Id::Named).parse(self)?),
            "image" => return self.image_row(position),
            _ if self.link_row(position, word)? || self.plan_row(position, word)? => {}
            _ if self.finding_row(position, word)? => {}
            _ => return Err(position.error(format!("expected a row, found `{word}`"))),
        }
        self.cursor.end_row()
    }

    /// Notes a heading of rows whose numbers follow from their places.
    fn numbered_heading(&mut self, prefix: &'static str, has_section: bool) {
        if let Some(numbering) = &mut self.numbering {
            numbering.heading(prefix, has_section);
        }
    }

    /// Reads a row that begins with the id it defines; false if no such row comes next.
    fn entity_row(&mut self) -> Parsed<bool> {
        if self.cursor.at_id(RelocId::PREFIX) {
            let section = self.below("relocs #…", self.reloc_section)?;
            let row = Reloc {
                section,
                ..Reloc::default()
            };
            self.defined_row(|module| &mut module.relocs, row)?;
        } else if self.cursor.at_id(SymbolId::PREFIX) {
            self.new_row(|module| &mut module.symbols)?;
        } else if self.cursor.at_id(AttributeId::PREFIX) {
            let section = self.below("attributes …", self.attribute_section)?;
            self.attribute(section)?;
        } else if self.cursor.at_id(SectionId::PREFIX) {
            self.new_row(|module| &mut module.sections)?;
        } else if self.cursor.at_id(LinkSymbolId::PREFIX) {
            self.new_row(|module| &mut module.link_symbols)?;
        } else if self.cursor.at_id(FunctionId::PREFIX) {
            self.new_row(|module| &mut module.functions)?;
        } else if self.cursor.at_id(CallId::PREFIX) {
            self.new_row(|module| &mut module.calls)?;
        } else if self.cursor.at_id(PrototypeId::PREFIX) {
            self.new_row(|module| &mut module.prototypes)?;
        } else if self.cursor.at_id(NoteId::PREFIX) {
            let section = self.below("notes …", self.note_section)?;
            let row = Note {
                section,
                ..Note::default()
            };
            self.defined_row(|module| &mut module.notes, row)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Returns the value that the heading above a row gives; an error if there is no such heading.
    fn below<T>(&mut self, heading: &str, given: Option<T>) -> Parsed<T> {
        let position = self.cursor.position();
        given.ok_or_else(|| {
            position.error(format!(
                "expected a heading `{heading}` above the first row"
            ))
        })
    }

    fn new_row<K: EntityId, R: Row<'data>>(
        &mut self,
        table: Part<Module<'data>, PrimaryMap<K, R>>,
    ) -> Parsed<()> {
        self.defined_row(table, R::default())
    }

    /// Reads a row and the id that it defines.
    fn defined_row<K: EntityId, R: Row<'data>>(
        &mut self,
        table: Part<Module<'data>, PrimaryMap<K, R>>,
        mut row: R,
    ) -> Parsed<()> {
        let start = self.cursor.position();
        let next = table(&mut self.module).len();
        self.defined::<K>(next)?;
        self.fields(start, &mut row)?;
        table(&mut self.module).push(row);
        Ok(())
    }

    /// Reads a row of the link that begins with this word. Returns `false` if there is no such row.
    fn link_row(&mut self, position: Position, word: &str) -> Parsed<bool> {
        match word {
            "merge" => self.listed(position, |module| &mut module.merge_log)?,
            "bank-piece" => self.listed(position, |module| &mut module.bank_pieces)?,
            "pool-part" => self.listed(position, |module| &mut module.pool_parts)?,
            "header-slot" => self.listed(position, |module| &mut module.header_slots)?,
            "merged-info" => self.listed(position, |module| &mut module.merged_info)?,
            "fixup" => self.listed(position, |module| &mut module.fixups)?,
            "merged-compat" => {
                while self.cursor.peek().is_some() {
                    let id = self.entity()?;
                    self.module.merged_compat.push(id);
                }
            }
            "merged-notes" => {
                while self.cursor.peek().is_some() {
                    let id = self.entity()?;
                    self.module.merged_notes.push(id);
                }
            }
            "attribute-refs" => {
                while self.cursor.peek().is_some() {
                    let target = Target.parse(self)?;
                    self.module.attribute_refs.push(target);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a row without an id.
    fn listed<R: Row<'data>>(
        &mut self,
        position: Position,
        rows: Part<Module<'data>, Vec<R>>,
    ) -> Parsed<()> {
        let mut row = R::default();
        self.fields(position, &mut row)?;
        rows(&mut self.module).push(row);
        Ok(())
    }

    /// Reads a row of the plan that begins with this word. Returns `false` if there is no such row.
    fn plan_row(&mut self, position: Position, word: &str) -> Parsed<bool> {
        match word {
            "plan" => {
                let mut plan = OutputLayout::default();
                self.fields(position, &mut plan)?;
                if self.module.plan.replace(plan).is_some() {
                    return Err(position.error("a second plan"));
                }
            }
            "output-section" => self.numbered(position, true, |plan| &mut plan.sections)?,
            "piece" => self.numbered(position, true, |plan| &mut plan.pieces)?,
            "output-symbol" => self.numbered(position, true, |plan| &mut plan.symbols)?,
            "output-reloc" => self.numbered(position, true, |plan| &mut plan.relocs)?,
            "segment" => self.numbered(position, false, |plan| &mut plan.segments)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a row of the plan, which begins with its number if it has one.
    fn numbered<R: Row<'data>>(
        &mut self,
        position: Position,
        has_number: bool,
        rows: Part<OutputLayout<'data>, Vec<R>>,
    ) -> Parsed<()> {
        let next = rows(self.plan_at(position)?).len() as u64;
        if has_number {
            let position = self.cursor.position();
            let number: u64 = self.cursor.number()?;
            if number != next {
                return Err(position.error(format!("expected row {next}, found {number}")));
            }
        }
        let mut row = R::default();
        self.fields(position, &mut row)?;
        rows(self.plan_at(position)?).push(row);
        Ok(())
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

    /// Returns the plan that the row at this place belongs to.
    fn plan_at(&mut self, position: Position) -> Parsed<&mut OutputLayout<'data>> {
        self.module
            .plan
            .as_mut()
            .ok_or_else(|| position.error("expected `plan` above this row"))
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
}
