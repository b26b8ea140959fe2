//! Checks that wait until all tables are read: that ids exist and that annotations are right.

use std::borrow::Cow;

use super::lexer::Parsed;
use super::lexer::Position;
use crate::module::Module;

/// What waits to be checked.
pub(super) enum Claim<'t> {
    /// The table with this prefix has this index, and its name is this one.
    Entity {
        prefix: &'static str,
        index: u32,
        name: Option<Cow<'t, [u8]>>,
    },
    /// The table with this prefix has at least this many rows.
    Length { prefix: &'static str, end: u32 },
    /// There are at least this many references of attributes.
    AttributeRefs(u32),
    /// This name stands at this offset of the plan's symbol names.
    PlanName { offset: u32, name: Cow<'t, [u8]> },
    /// The plan has a symbol with this index, and its name is this one.
    PlanSymbol {
        index: u32,
        name: Option<Cow<'t, [u8]>>,
    },
    /// The plan has at least this many pieces.
    PlanPieces(u32),
    /// The plan has at least this many relocations.
    PlanRelocs(u32),
}

/// All claims of a text, in its order.
#[derive(Default)]
pub(super) struct References<'t> {
    claims: Vec<(Position, Claim<'t>)>,
}

impl<'t> References<'t> {
    /// Notes what is to hold of the module.
    pub(super) fn claim(&mut self, position: Position, claim: Claim<'t>) {
        self.claims.push((position, claim));
    }

    /// Returns the places of ids: line and column, counted from 1.
    #[cfg(test)]
    pub(super) fn places_of_ids(&self) -> Vec<(usize, usize)> {
        let is_id =
            |claim: &Claim<'_>| matches!(claim, Claim::Entity { .. } | Claim::Length { .. });
        let ids = self.claims.iter().filter(|(_, claim)| is_id(claim));
        ids.map(|(at, _)| (at.line, at.column)).collect()
    }

    /// Checks every claim against the module.
    pub(super) fn check(&self, module: &Module<'_>) -> Parsed<()> {
        for (position, claim) in &self.claims {
            match claim {
                Claim::Entity {
                    prefix,
                    index,
                    name,
                } => {
                    let length = module.rows_of(prefix);
                    if *index as usize >= length {
                        return Err(position.misnumbered(format!(
                            "`{prefix}{index}` is not defined: the table has {length} rows"
                        )));
                    }
                    let Some(name) = name else { continue };
                    let found = module.name_at(prefix, *index as usize);
                    same_name(*position, format_args!("{prefix}{index}"), found, name)?;
                }
                Claim::Length { prefix, end } => {
                    let length = module.rows_of(prefix);
                    if *end as usize > length {
                        return Err(position.misnumbered(format!(
                            "the range ends at `{prefix}{end}`, the table has {length} rows"
                        )));
                    }
                }
                Claim::AttributeRefs(end) => {
                    let length = module.attribute_refs.len();
                    if *end as usize > length {
                        return Err(position.error(format!(
                            "the range ends at reference {end}, attributes have {length}"
                        )));
                    }
                }
                Claim::PlanName { offset, name } => {
                    plan_name(module, *position, *offset, name)?;
                }
                Claim::PlanSymbol { index, name } => {
                    let symbols = module.plan.as_ref().map_or(&[][..], |plan| &plan.symbols);
                    let Some(symbol) = symbols.get(*index as usize) else {
                        return Err(position.error(format!("output symbol {index} is not defined")));
                    };
                    let Some(name) = name else { continue };
                    plan_name(module, *position, symbol.name_offset, name)?;
                }
                Claim::PlanPieces(end) => {
                    let length = module.plan.as_ref().map_or(0, |plan| plan.pieces.len());
                    plan_range(*position, *end, length, "pieces")?;
                }
                Claim::PlanRelocs(end) => {
                    let length = module.plan.as_ref().map_or(0, |plan| plan.relocs.len());
                    plan_range(*position, *end, length, "relocations")?;
                }
            }
        }
        Ok(())
    }
}

fn plan_range(position: Position, end: u32, length: usize, what: &str) -> Parsed<()> {
    if end as usize <= length {
        return Ok(());
    }
    Err(position.error(format!(
        "the range ends at {end}, the plan has {length} {what}"
    )))
}

/// Compares an annotation with a string of the plan, in time linear in the annotation.
fn plan_name(module: &Module<'_>, position: Position, offset: u32, name: &[u8]) -> Parsed<()> {
    let table = module
        .plan
        .as_ref()
        .map_or(&[][..], |plan| &plan.symbol_names);
    let rest = table.get(offset as usize..).unwrap_or(&[]);
    match rest.strip_prefix(name) {
        Some([0, ..]) => Ok(()),
        _ => Err(position.error(format!(
            "the name at {offset:#x} of the symbol names is not `{}`",
            String::from_utf8_lossy(name)
        ))),
    }
}

fn same_name(
    position: Position,
    id: std::fmt::Arguments<'_>,
    found: &[u8],
    name: &[u8],
) -> Parsed<()> {
    if found == name {
        return Ok(());
    }
    let (found, name) = (
        String::from_utf8_lossy(found),
        String::from_utf8_lossy(name),
    );
    Err(position.error(format!("`{id}` is named `{found}`, not `{name}`")))
}
