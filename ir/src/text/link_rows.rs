//! The rows of the whole link, field by field: resolved symbols, placement, merged lists, fixups.

use super::fields::Row;
use super::fields::Visitor;
use super::values::*;
use super::words;
use crate::attribute::MergedInfo;
use crate::link_symbol::LinkSymbol;
use crate::merge_log::MergeEvent;
use crate::placement::BankPiece;
use crate::placement::HeaderSlot;
use crate::placement::PoolPart;
use crate::reloc::Fixup;

impl<'data> Row<'data> for LinkSymbol {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.first, Id::Named);
        v.optional("definition", &mut self.definition, Id::Named);
        v.sparse("live", &mut self.live, OneOf(words::LIVENESS));
        v.field("size", &mut self.size, Hex);
        v.sparse("common-align", &mut self.common_align, Decimal);
        v.optional("value", &mut self.value, Hex);
        v.optional("kernel", &mut self.kernel, Id::Named);
        v.flag("internal", &mut self.internal);
        v.optional("order", &mut self.order, Decimal);
    }
}

impl<'data> Row<'data> for MergeEvent {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.newcomer, Id::Named);
        v.word(&mut self.outcome, OneOf(words::MERGE_OUTCOMES));
        v.word(&mut self.prevailing, Id::Named);
    }
}

impl<'data> Row<'data> for BankPiece {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.kernel, Id::Named);
        v.field("bank", &mut self.bank, Decimal);
        v.required("section", &mut self.section, Id::Named);
        v.field("offset", &mut self.offset, Hex);
        v.field("size", &mut self.size, Hex);
        v.field("align", &mut self.align, Hex);
    }
}

impl<'data> Row<'data> for PoolPart {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.section, Id::Named);
        v.field("bank", &mut self.bank, Decimal);
        v.field("start", &mut self.start, Hex);
        v.field("size", &mut self.size, Hex);
        v.field("offset", &mut self.offset, Hex);
    }
}

impl<'data> Row<'data> for HeaderSlot {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.symbol, Id::Bare);
        v.field("offset", &mut self.offset, Hex);
    }
}

impl<'data> Row<'data> for MergedInfo {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.function, OrNone(Id::Named));
        v.list(&mut self.records);
    }
}

impl<'data> Row<'data> for Fixup {
    fn fields(&mut self, v: &mut impl Visitor<'data>) {
        v.word(&mut self.section, Id::Named);
        v.field("offset", &mut self.offset, Hex);
        v.field("bit", &mut self.bit, Decimal);
        v.field("width", &mut self.width, Decimal);
        v.field("value", &mut self.value, Hex);
        v.flag("add", &mut self.add);
        v.optional("cause", &mut self.cause, Id::Named);
    }
}
