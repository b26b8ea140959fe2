//! Says where variables lie, and what alignment costs.

use cuweld_elf::align::align_up;
use cuweld_ir::BankPiece;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;
use crate::remark::Value;

const PLACED: RemarkInfo = RemarkInfo {
    name: "placed",
    doc: "A variable has its address",
};
const SHARED: RemarkInfo = RemarkInfo {
    name: "shared-memory",
    doc: "A kernel has its shared memory",
};
const CONSTANTS: RemarkInfo = RemarkInfo {
    name: "constants",
    doc: "Constants of a device function become part of a kernel's constant bank",
};
const SLOT: RemarkInfo = RemarkInfo {
    name: "slot",
    doc: "A texture, sampler or surface has its slot in constant bank 0",
};

pub(super) const KINDS: &[RemarkInfo] = &[PLACED, SHARED, CONSTANTS, SLOT];

/// Makes remarks about variables in the order of their addresses, section by section, and about
/// what kernels have. n log n in the variables, linear otherwise.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    variables(module, remarks);
    for (kernel, row) in module.functions.iter() {
        if let Some(frame) = row.shared.filter(|frame| frame.present) {
            remarks.emit(|| {
                Remark::about(&SHARED, kernel)
                    .words(" has ")
                    .argument("size", frame.size)
                    .words(" bytes of shared memory, ")
                    .argument("reserved", module.reserved_shared_size())
                    .words(" of them reserved, with alignment ")
                    .argument("alignment", frame.align)
            });
        }
    }
    banks(module, remarks);
    for slot in &module.header_slots {
        remarks.emit(|| {
            Remark::about(&SLOT, slot.symbol)
                .words(" has its slot at ")
                .argument("address", Value::Address(slot.offset))
                .words(" of constant bank 0")
        });
    }
}

/// Where a variable lies.
struct Placed<'data> {
    /// The first section of the link that goes into the same output section.
    first: SectionId,
    address: u64,
    link: LinkSymbolId,
    /// The name of the output section.
    section: &'data [u8],
    /// The section that holds it; none of a tentative definition.
    from: Option<SectionId>,
    size: u64,
    align: u64,
    /// Bytes of padding before it, in front of what its object adds to the section.
    padding: u64,
}

/// Makes a remark about each variable that has an address.
fn variables(module: &Module<'_>, remarks: &mut Remarks) {
    let mut paddings = Paddings::new(module);
    let mut placed: Vec<Placed<'_>> = Vec::new();
    for (link, row) in module.link_symbols.iter() {
        let Some(definition) = row.definition else {
            continue;
        };
        let symbol = &module.symbols[definition];
        let Some(address) = row.value.filter(|_| !symbol.is_function()) else {
            continue;
        };
        let (from, align, name) = match symbol.place {
            SymbolPlace::Section(id) => {
                let section = &module.sections[id];
                let is_memory = matches!(
                    section.kind,
                    SectionKind::ConstantBank(_)
                        | SectionKind::Global
                        | SectionKind::GlobalInit
                        | SectionKind::ModuleShared
                        | SectionKind::KernelShared
                );
                if !is_memory {
                    continue;
                }
                // The linker keeps what a variable in a section has of its alignment.
                let align = match symbol.is_shared() {
                    true => symbol.value,
                    false => section.align,
                };
                (Some(id), align, section.name)
            }
            SymbolPlace::Common => (None, row.common_align, &b".nv.global"[..]),
            _ => continue,
        };
        placed.push(Placed {
            first: paddings.first_of(name),
            address,
            link,
            section: name,
            from,
            size: row.size,
            align: align.max(1),
            padding: 0,
        });
    }
    placed.sort_by_key(|placed| (placed.first, placed.address, placed.link));
    let mut end: HashMap<SectionId, u64, FixedState> = HashMap::default();
    for mut variable in placed {
        let before = end.entry(variable.first).or_insert(0);
        variable.padding = match variable.from {
            // What is before it in its object's section, the compiler has placed.
            Some(section) => paddings.take(section),
            None => {
                let end = (*before).max(paddings.end_of(variable.section));
                match align_up(end, variable.align) == variable.address {
                    true => variable.address.saturating_sub(end),
                    false => 0,
                }
            }
        };
        *before = (*before).max(variable.address.saturating_add(variable.size));
        remarks.emit(|| about(module, &variable));
    }
}

fn about(module: &Module<'_>, variable: &Placed<'_>) -> Remark {
    let row = &module.link_symbols[variable.link];
    let remark = Remark::about(&PLACED, variable.link)
        .words(" lies at ")
        .argument("address", Value::Address(variable.address))
        .words(" of ");
    let is_shared = module.symbols[row.first].is_shared();
    let remark = match (is_shared, row.kernel) {
        (true, Some(kernel)) => remark
            .words("the shared memory of kernel ")
            .argument("kernel", kernel),
        (true, None) => remark.words("the shared memory of all kernels that use it"),
        (false, _) => {
            let name = String::from_utf8_lossy(variable.section).into_owned();
            remark.argument("section", name)
        }
    };
    let remark = remark
        .words(": ")
        .argument("size", variable.size)
        .words(" bytes, alignment ")
        .argument("alignment", variable.align);
    match variable.padding {
        0 => remark.silent("padding", 0_u64),
        padding => remark
            .words(", after ")
            .argument("padding", padding)
            .words(" bytes of padding"),
    }
}

/// The padding between what objects add to one section.
struct Paddings<'data> {
    /// Bytes before each section; taken by its first variable.
    before: HashMap<SectionId, u64, FixedState>,
    /// The first section of each name, and where the last one ends.
    names: HashMap<&'data [u8], (SectionId, u64), FixedState>,
}

impl<'data> Paddings<'data> {
    fn new(module: &Module<'data>) -> Self {
        let mut paddings = Paddings {
            before: HashMap::default(),
            names: HashMap::default(),
        };
        for (id, section) in module.sections.iter() {
            let (_, end) = paddings.names.entry(section.name).or_insert((id, 0));
            if let Some(place) = section.place.filter(|_| section.kind.is_concatenated()) {
                let before = place.saturating_sub(*end);
                *end = (*end).max(place.saturating_add(section.size()));
                if before != 0 {
                    paddings.before.insert(id, before);
                }
            }
        }
        paddings
    }

    /// Returns the first section of a name; that of the first section of the link if there is none.
    fn first_of(&self, name: &[u8]) -> SectionId {
        let known = self.names.get(name);
        known.map_or(SectionId::new(0), |(first, _)| *first)
    }

    /// Returns where the sections of a name end.
    fn end_of(&self, name: &[u8]) -> u64 {
        self.names.get(name).map_or(0, |(_, end)| *end)
    }

    /// Returns the padding before a section, once.
    fn take(&mut self, section: SectionId) -> u64 {
        self.before.remove(&section).unwrap_or(0)
    }
}

/// Makes a remark about constants of device functions in the banks of kernels.
fn banks(module: &Module<'_>, remarks: &mut Remarks) {
    let link = |function: FunctionId| module.symbols[module.functions[function].symbol].link;
    // Where the piece before ends, by kernel and bank.
    let mut ends: HashMap<(FunctionId, u8), u64, FixedState> = HashMap::default();
    for piece in &module.bank_pieces {
        let BankPiece {
            kernel,
            bank,
            section,
            offset,
            size,
            ..
        } = *piece;
        let end = ends.entry((kernel, bank)).or_insert(0);
        let padding = offset.saturating_sub(*end);
        *end = (*end).max(offset.saturating_add(size));
        let owner = module.sections[section].owner;
        if owner.and_then(link) == link(kernel) {
            continue;
        }
        let Some(owner) = owner else { continue };
        remarks.emit(|| {
            let remark = Remark::about(&CONSTANTS, owner)
                .words(" has ")
                .argument("size", size)
                .words(" bytes of constants, which lie at ")
                .argument("address", Value::Address(offset))
                .words(" of bank ")
                .argument("bank", u64::from(bank))
                .words(" of kernel ")
                .argument("kernel", kernel)
                .words(", which reaches it");
            match padding {
                0 => remark.silent("padding", 0_u64),
                padding => remark
                    .words(", after ")
                    .argument("padding", padding)
                    .words(" bytes of padding"),
            }
        });
    }
}
