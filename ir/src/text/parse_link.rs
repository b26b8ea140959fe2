//! Parsing what the passes add to the whole link.

use super::lexer::Parsed;
use super::parse::Parser;
use super::parse::unknown;
use super::words;
use crate::attribute::MergedInfo;
use crate::ids::*;
use crate::link_symbol::LinkSymbol;
use crate::link_symbol::Liveness;
use crate::merge_log::MergeEvent;
use crate::placement::BankPiece;
use crate::placement::HeaderSlot;
use crate::placement::PoolPart;
use crate::reloc::Patch;
use crate::table::EntityId;

impl Parser<'_, '_, '_> {
    /// Reads a row of the link that begins with this word; false if there is none.
    pub(super) fn link_row(&mut self, word: &str) -> Parsed<bool> {
        match word {
            "merge" => {
                let newcomer = self.entity()?;
                let outcome = self.one_of(&words::MERGE_OUTCOMES)?;
                let prevailing = self.entity()?;
                self.module.merge_log.push(MergeEvent {
                    newcomer,
                    prevailing,
                    outcome,
                });
            }
            "bank-piece" => self.bank_piece()?,
            "pool-part" => self.pool_part()?,
            "header-slot" => self.header_slot()?,
            "merged-info" => {
                let function = if self.cursor.eat_word("none") {
                    None
                } else {
                    Some(self.entity()?)
                };
                let records = self.ids()?;
                self.module
                    .merged_info
                    .push(MergedInfo { function, records });
            }
            "merged-compat" => {
                let ids: Vec<AttributeId> = self.ids()?;
                self.module.merged_compat.extend(ids);
            }
            "merged-notes" => {
                let ids: Vec<NoteId> = self.ids()?;
                self.module.merged_notes.extend(ids);
            }
            "patch" => self.patch()?,
            "attribute-refs" => {
                while self.cursor.peek().is_some() {
                    let target = self.target()?;
                    self.module.attribute_refs.push(target);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn ids<K: EntityId>(&mut self) -> Parsed<Vec<K>> {
        let mut ids = Vec::new();
        while self.cursor.peek().is_some() {
            ids.push(self.entity()?);
        }
        Ok(ids)
    }

    pub(super) fn link_symbol(&mut self) -> Parsed<()> {
        self.defined::<LinkSymbolId>(self.module.link_symbols.len())?;
        let mut row = LinkSymbol {
            first: self.entity()?,
            definition: None,
            live: Liveness::Unknown,
            size: 0,
            common_align: 0,
            value: None,
            kernel: None,
            internal: false,
            order: None,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "definition" => row.definition = Some(self.entity_value()?),
                "live" => {
                    self.cursor.expect("=")?;
                    row.live = self.one_of(&words::LIVENESS)?;
                }
                "size" => row.size = self.number_value()?,
                "common-align" => row.common_align = self.number_value()?,
                "value" => row.value = Some(self.number_value()?),
                "kernel" => row.kernel = Some(self.entity_value()?),
                "internal" => row.internal = true,
                "order" => row.order = Some(self.narrow_value()?),
                _ => {
                    return Err(unknown(
                        position,
                        key,
                        "definition, live, size, common-align, value, kernel, internal, order",
                    ));
                }
            }
        }
        self.module.link_symbols.push(row);
        Ok(())
    }

    fn bank_piece(&mut self) -> Parsed<()> {
        let kernel = self.entity()?;
        let (mut bank, mut section, mut offset, mut size, mut align) = (0, None, 0, 0, 1);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "bank" => bank = self.narrow_value()?,
                "section" => section = Some(self.entity_value()?),
                "offset" => offset = self.number_value()?,
                "size" => size = self.number_value()?,
                "align" => align = self.number_value()?,
                _ => return Err(unknown(position, key, "bank, section, offset, size, align")),
            }
        }
        let Some(section) = section else {
            return Err(self.cursor.expected("the field `section`"));
        };
        self.module.bank_pieces.push(BankPiece {
            kernel,
            bank,
            section,
            offset,
            size,
            align,
        });
        Ok(())
    }

    fn pool_part(&mut self) -> Parsed<()> {
        let section = self.entity()?;
        let mut part = PoolPart {
            bank: 0,
            section,
            start: 0,
            size: 0,
            offset: 0,
        };
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "bank" => part.bank = self.narrow_value()?,
                "start" => part.start = self.number_value()?,
                "size" => part.size = self.number_value()?,
                "offset" => part.offset = self.number_value()?,
                _ => return Err(unknown(position, key, "bank, start, size, offset")),
            }
        }
        self.module.pool_parts.push(part);
        Ok(())
    }

    fn header_slot(&mut self) -> Parsed<()> {
        let symbol = self.entity()?;
        let mut offset = 0;
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "offset" => offset = self.number_value()?,
                _ => return Err(unknown(position, key, "offset")),
            }
        }
        self.module.header_slots.push(HeaderSlot { symbol, offset });
        Ok(())
    }

    fn patch(&mut self) -> Parsed<()> {
        let section = self.entity()?;
        let (mut offset, mut bit, mut width, mut value) = (0, 0, 0, 0);
        let (mut add, mut cause) = (false, None);
        while let Some((position, key)) = self.cursor.field()? {
            match key {
                "offset" => offset = self.number_value()?,
                "bit" => bit = self.narrow_value()?,
                "width" => width = self.narrow_value()?,
                "value" => value = self.number_value()?,
                "add" => add = true,
                "cause" => cause = Some(self.entity_value()?),
                _ => {
                    return Err(unknown(
                        position,
                        key,
                        "offset, bit, width, value, add, cause",
                    ));
                }
            }
        }
        self.module.patches.push(Patch {
            section,
            offset,
            bit,
            width,
            value,
            add,
            cause,
        });
        Ok(())
    }
}
