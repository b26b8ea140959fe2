//! The fixups of each section, for a writer that goes over most sections in order.

use super::WriteError;
use crate::ids::SectionId;
use crate::module::Module;
use crate::reloc::Fixup;

/// Finds the fixups of sections.
pub(super) struct Patches<'m> {
    /// All of them, sorted by section.
    rows: &'m [Fixup],
    /// The end of those that were found last.
    last: usize,
}

impl<'m> Patches<'m> {
    /// Returns the fixups of a module. They must be sorted by section.
    pub(super) fn new(module: &'m Module<'_>) -> Result<Self, WriteError> {
        let rows = module.fixups.as_slice();
        match rows.is_sorted_by_key(|fixup| fixup.section) {
            true => Ok(Patches { rows, last: 0 }),
            false => Err(WriteError::FixupOrder),
        }
    }

    /// Returns the fixups of a section, in order.
    pub(super) fn of(&mut self, section: SectionId) -> &'m [Fixup] {
        let start = self.start(section);
        let end = self.first_behind(start, |fixup| fixup.section <= section);
        self.last = end;
        self.rows.get(start..end).unwrap_or(&[])
    }

    /// Returns the place of a section's fixups: most often a little after those that were found
    /// last.
    fn start(&self, section: SectionId) -> usize {
        let is_before = |fixup: &Fixup| fixup.section < section;
        let last = self
            .last
            .checked_sub(1)
            .and_then(|last| self.rows.get(last));
        let from = if last.is_some_and(is_before) {
            self.last
        } else {
            0
        };
        self.first_behind(from, is_before)
    }

    /// Returns the index of the first fixup from `from` on for which `is_before` does not hold; it
    /// holds for all fixups before that one. The fixup is looked for nearby first, as fixups far
    /// from each other are not in the processor's cache.
    fn first_behind(&self, mut from: usize, is_before: impl Fn(&Fixup) -> bool) -> usize {
        let mut step = 1;
        while self.rows.get(from + step - 1).is_some_and(&is_before) {
            from += step;
            step *= 2;
        }
        let end = self.rows.len().min(from + step);
        let between = self.rows.get(from..end).unwrap_or(&[]);
        from + between.partition_point(is_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::EntityId;

    #[test]
    fn fixups_are_found_in_any_order() {
        let mut module = Module::default();
        for (section, count) in [(1, 3), (2, 1), (5, 20), (6, 0), (7, 9), (30, 2)] {
            for offset in 0..count {
                module.fixups.push(Fixup {
                    section: SectionId::new(section),
                    offset,
                    bit: 0,
                    width: 1,
                    value: 0,
                    add: false,
                    cause: None,
                });
            }
        }
        let mut fixups = Patches::new(&module).unwrap();
        for first in 0..33 {
            for second in 0..33 {
                for section in [first, second] {
                    let id = SectionId::new(section);
                    let all = module.fixups.iter();
                    let expected: Vec<_> = all.filter(|fixup| fixup.section == id).collect();
                    let found: Vec<_> = fixups.of(id).iter().collect();
                    assert_eq!(found, expected, "{section}");
                }
            }
        }
    }
}
