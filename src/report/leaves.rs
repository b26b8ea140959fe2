//! The parts of an image, for the treemap.

use std::collections::BTreeMap;

use super::model;
use super::names::Labels;
use crate::size;
use crate::size::Part;
use crate::size::Source;

/// Describes an image that is one part.
pub(super) fn whole(
    image: &size::Image<'_, '_>,
    described: &mut model::Image,
    labels: &mut Labels,
) {
    let functions = crate::inspect::Functions::default();
    let mut of_part = size::Labels::new(image, &functions, None, true);
    let mut label = |source| {
        let label = of_part.label(source, None).unwrap_or_default();
        labels.number(label, usize::MAX)
    };
    let kind = label(Source::Kinds);
    described.symbols.name.push(kind);
    described.symbols.kernel.push(kind);
    described.symbols.template.push(kind);
    described.symbols.function.push(None);
    described.leaves.kind.push(kind);
    described.leaves.symbol.push(0);
    described.leaves.object.push(label(Source::Members));
    described.leaves.file.push(image.size);
    described.leaves.memory.push(0);
}

/// Describes parts: those of one kind of section, symbol and object are one.
pub(super) fn describe<'data>(
    parts: &[Part<'data>],
    of_part: &mut size::Labels<'_, 'data>,
    has_objects: bool,
    described: &mut model::Image,
    (labels, longest): (&mut Labels, usize),
) {
    let mut leaves: BTreeMap<(u32, u32, u32), (u64, u64)> = BTreeMap::new();
    let mut symbols: BTreeMap<(u32, Option<usize>), u32> = BTreeMap::new();
    for part in parts {
        let mut label = |source| {
            // Only objects can be unknown.
            let label = of_part.label(source, Some(part)).unwrap_or_default();
            labels.number(label, longest)
        };
        let (kind, name) = (label(Source::Kinds), label(Source::Symbols));
        let object = if has_objects {
            label(Source::Objects)
        } else {
            0
        };
        let known = symbols.get(&(name, part.function)).copied();
        let symbol = known.unwrap_or_else(|| {
            let row = described.symbols.name.len() as u32;
            described.symbols.name.push(name);
            described.symbols.kernel.push(label(Source::Kernels));
            described.symbols.template.push(label(Source::Templates));
            described.symbols.function.push(part.function);
            symbols.insert((name, part.function), row);
            row
        });
        let sizes = leaves.entry((symbol, kind, object)).or_default();
        sizes.0 += part.file;
        sizes.1 = sizes.1.saturating_add(part.memory);
    }
    for ((symbol, kind, object), (file, memory)) in leaves {
        if file == 0 && memory == 0 {
            continue;
        }
        let columns = &mut described.leaves;
        columns.symbol.push(symbol);
        columns.kind.push(kind);
        if has_objects {
            columns.object.push(object);
        }
        columns.file.push(file);
        columns.memory.push(memory);
    }
}
