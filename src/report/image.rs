//! Describes one image.

use super::constants;
use super::duplicates;
use super::functions;
use super::leaves;
use super::model;
use super::names::Labels;
use super::names::longest;
use super::names::variable;
use crate::inspect::DeviceElf;
use crate::inspect::Functions;
use crate::inspect::Name;
use crate::inspect::device_model::Place;
use crate::inspect::functions::symbol_table;
use crate::size;
use crate::size::ImageKind;
use crate::size::ObjectMap;
use crate::size::divide;

/// `e_type` of linked files.
const EXEC: u32 = 2;

/// Describes an image, with the first map that fits.
pub(super) fn describe(image: &size::Image<'_, '_>, maps: &[ObjectMap]) -> model::Image {
    let file = image.file.to_string();
    let mut described = model::Image {
        name: match &image.member {
            Some(member) => format!("{file}:{member}"),
            None => file,
        },
        arch: image.code(),
        size: image.size,
        ..model::Image::default()
    };
    let mut labels = Labels::default();
    let ImageKind::Elf(elf) = image.kind else {
        leaves::whole(image, &mut described, &mut labels);
        described.labels = labels.texts();
        return described;
    };
    described.linked = elf.header.file_type.value == EXEC;
    let functions = Functions::of(elf);
    let longest = longest(functions.list.len());
    let map = maps.iter().find(|map| map.fits(elf));
    let parts = divide(elf, &functions, map);
    described.memory = parts.iter().map(|part| part.memory).sum();
    let has_objects = map.is_some() || !described.linked;
    let mut part_labels = size::Labels::new(image, &functions, map, true);
    leaves::describe(
        &parts,
        &mut part_labels,
        has_objects,
        &mut described,
        (&mut labels, longest),
    );
    described.functions = functions::describe(&functions, longest);
    let object = functions::objects(&parts, &mut part_labels, functions.list.len());
    let object = object.into_iter();
    described.functions.object = object
        .map(|object| Some(labels.number(object.filter(|_| has_objects)?, longest)))
        .collect();
    described.prototypes = functions.prototypes.iter().map(Name::to_string).collect();
    described.callees.clone_from(&functions.callees);
    described.shared = shared(elf, &functions);
    described.constants = constants::describe(elf, &functions, longest);
    described.duplicates = duplicates::find(elf, &functions);
    described.labels = labels.texts();
    described
}

/// Returns the shared memory of functions, with the variables that symbols tell of.
fn shared(elf: &DeviceElf<'_>, functions: &Functions<'_>) -> Vec<model::SharedBlock> {
    let mut blocks = Vec::new();
    for section in &elf.sections {
        let function = functions.of_section(section.index);
        if let Some(function) = function.filter(|_| section.name.0.starts_with(b".nv.shared.")) {
            blocks.push((section.index, function, section.size, Vec::new()));
        }
    }
    let symbols = symbol_table(elf).map_or(&[][..], |table| &table.symbols);
    for symbol in symbols.iter().filter(|symbol| symbol.size != 0) {
        let Place::In { index, .. } = symbol.section else {
            continue;
        };
        // Sections are in order of their indices.
        let at = blocks.binary_search_by_key(&index, |block| block.0);
        if let Some(block) = at.ok().and_then(|at| blocks.get_mut(at)) {
            block
                .3
                .push((variable(symbol.name.0), symbol.value, symbol.size));
        }
    }
    let blocks = blocks.into_iter();
    let blocks = blocks.map(|(_, function, size, mut variables)| {
        variables.sort_by_key(|(_, address, _)| *address);
        model::SharedBlock {
            function,
            size,
            variables,
        }
    });
    blocks.collect()
}
