//! Random modules whose references are all valid, and nothing else: phases and tables need not
//! agree with each other, as the text form must show broken modules too.

use std::ops::Range;

use cuweld_elf::Target;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::arch::Suffix;
use cuweld_ir::attribute::MergedInfo;
use cuweld_ir::function::Fate;
use cuweld_ir::plan::*;
use cuweld_ir::table::EntityId;
use cuweld_ir::*;

/// A stream of numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 16) % end.max(1) as u64) as usize
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Returns numbers of all sizes, the extremes among them.
    fn number(&mut self) -> u64 {
        match self.below(5) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << self.below(64),
            3 => self.next(),
            _ => self.below(300) as u64,
        }
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn id<K: EntityId>(&mut self, length: usize) -> K {
        K::new(self.below(length))
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| value(self))
    }

    fn list<T>(&mut self, most: usize, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| value(self)).collect()
    }

    fn range(&mut self, length: usize) -> Range<usize> {
        let (a, b) = (self.below(length + 1), self.below(length + 1));
        a.min(b)..a.max(b)
    }

    fn id_range<K: EntityId>(&mut self, length: usize) -> IdRange<K> {
        let range = self.range(length);
        IdRange::new(range.start, range.end)
    }

    fn slice<'data>(&mut self, bytes: &'data [u8]) -> &'data [u8] {
        &bytes[self.range(bytes.len())]
    }

    /// Returns a name, which may or may not need quotes.
    fn name<'data>(&mut self, arena: &'data Arena) -> &'data [u8] {
        match self.below(4) {
            0 => b"_Z3foov",
            1 => b".text.f",
            2 => b"",
            _ => {
                let bytes = self.list(6, |r| r.next() as u8);
                arena.bytes(&bytes)
            }
        }
    }

    fn text(&mut self) -> String {
        self.pick(&["", "plain", "two words", "\"\\\n\t;\u{e9}\0"])
            .to_owned()
    }

    fn bytes_of_text(&mut self) -> Vec<u8> {
        self.pick(&[&b""[..], b"plain", b"two words", b"\"\\\n\xff\0"])
            .to_vec()
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        self.maybe(|r| r.list(3, Self::text))
    }
}

/// How many rows each table has.
struct Lengths {
    objects: usize,
    sections: usize,
    symbols: usize,
    functions: usize,
    relocs: usize,
    attributes: usize,
    attribute_refs: usize,
    calls: usize,
    prototypes: usize,
    notes: usize,
    link_symbols: usize,
}

/// Builds a module with up to `rows` rows in each table.
pub fn random_module<'data>(seed: u64, rows: usize, arena: &'data Arena) -> Module<'data> {
    let mut r = Random::new(seed);
    let r = &mut r;
    let mut length = |least: usize| least + r.below(rows + 1);
    // Rows refer to these tables, so that none of them is empty if there are rows.
    let n = Lengths {
        objects: length(1),
        sections: length(1),
        symbols: length(1),
        functions: length(1),
        relocs: length(1),
        attributes: length(1),
        attribute_refs: length(0),
        calls: length(0),
        prototypes: length(0),
        notes: length(1),
        link_symbols: length(1),
    };
    let images: Vec<&'data [u8]> = (0..n.objects)
        .map(|_| {
            let bytes = r.list(100, |r| r.next() as u8);
            arena.bytes(&bytes)
        })
        .collect();
    let bytes = |r: &mut Random| -> &'data [u8] {
        if r.coin() {
            let image = r.pick(&images);
            r.slice(image)
        } else {
            let bytes = r.list(9, |r| r.next() as u8);
            arena.bytes(&bytes)
        }
    };
    let mut module = Module::new(
        Target {
            sm: r.number() as u16,
            suffix: r.pick(&[Suffix::None, Suffix::Specific, Suffix::Family]),
        },
        LinkOptions {
            relocatable: r.coin(),
            debug: r.coin(),
            preserve_relocs: r.coin(),
            keep_system_libraries: r.coin(),
            suppress_debug_info: r.coin(),
            force_rela: r.coin(),
            allow_undefined_globals: r.coin(),
            strict: r.coin(),
            whole_program: r.coin(),
            accept_newer: r.coin(),
            host: HostReferences {
                kernels_used: r.texts(),
                variables_used: r.texts(),
                kernels_external: r.texts(),
                kernels_internal: r.texts(),
                variables_external: r.texts(),
                variables_internal: r.texts(),
            },
            memory: MemoryOptions {
                reserve_null_pointer: r.coin(),
                disable_shared_reservation: r.coin(),
            },
            record: LinkRecord {
                options: r.bytes_of_text(),
                output_name: r.bytes_of_text(),
                stamp_nvlink: r.coin(),
                tool_name: r.coin().then(|| r.bytes_of_text()),
                tool_branch: r.bytes_of_text(),
            },
            reports: Reports {
                suppress_stack_size_warning: r.coin(),
                extra_warnings: r.coin(),
                resources: r.coin(),
                call_graph: r.coin(),
                warnings_are_errors: r.coin(),
                self_check: r.coin(),
                trace_finalizer: r.coin(),
                trace_compatibility: r.coin(),
            },
            mercury: MercuryOptions {
                copy_within_family: r.coin(),
                copy_across_families: r.coin(),
                cap_merc: r.coin(),
                finalize: r.pick(&[Finalize::Certified, Finalize::Keep, Finalize::Trust]),
                strict: r.coin(),
            },
        },
    );
    module.phase = r.pick(&Phase::ALL);
    for image in &images {
        module.objects.push(Object {
            name: r.name(arena),
            member: r.name(arena),
            image,
            e_type: r.pick(&[1, 2, 0xff00, 9]),
            e_flags: r.number() as u32,
            unusual_abi: r.coin().then(|| r.number() as u16),
            legacy: r.coin().then(|| r.number() as u32),
            state: r.pick(&[
                ObjectState::Candidate,
                ObjectState::Included,
                ObjectState::SkippedUnneeded,
                ObjectState::SkippedExecutable,
                ObjectState::Linker,
            ]),
            system_library: r.coin(),
            is_silent: r.coin(),
            origin: r.pick(&[
                ObjectOrigin::Cubin,
                ObjectOrigin::Fatbin,
                ObjectOrigin::Compiled,
            ]),
            sections: r.id_range(n.sections),
            symbols: r.id_range(n.symbols),
            functions: r.id_range(n.functions),
            relocs: r.id_range(n.relocs),
            attributes: r.id_range(n.attributes),
            calls: r.id_range(n.calls),
            prototypes: r.id_range(n.prototypes),
            notes: r.id_range(n.notes),
        });
    }
    for _ in 0..n.sections {
        module.sections.push(Section {
            object: r.id(n.objects),
            name: r.name(arena),
            ty: section_type(r),
            flags: r.number().into(),
            align: r.number(),
            entsize: r.number(),
            link: r.maybe(|r| r.id(n.sections)),
            info: match r.below(4) {
                0 => SectionInfo::None,
                1 => SectionInfo::Section(r.id(n.sections)),
                2 => SectionInfo::Symbol {
                    symbol: r.id(n.symbols),
                    high: r.number() as u8,
                },
                _ => SectionInfo::Raw(r.number() as u32),
            },
            content: match r.below(3) {
                0 => SectionContent::Bytes(bytes(r)),
                1 => SectionContent::NoBits(r.number()),
                _ => SectionContent::Decoded,
            },
            relocs: r.id_range(n.relocs),
            attributes: r.id_range(n.attributes),
            kind: section_kind(r),
            owner: r.maybe(|r| r.id(n.functions)),
            place: r.maybe(Random::number),
        });
    }
    for _ in 0..n.symbols {
        module.symbols.push(Symbol {
            object: r.id(n.objects),
            name: r.name(arena),
            bind: Binding(r.pick(&[0, 1, 2, 3, 255])),
            ty: SymbolType(r.pick(&[0, 1, 2, 3, 10, 13, 14, 255])),
            other: SymbolOther::from_bits_retain(r.next() as u8),
            place: match r.below(5) {
                0 => SymbolPlace::Undefined,
                1 => SymbolPlace::Section(r.id(n.sections)),
                2 => SymbolPlace::Common,
                3 => SymbolPlace::Absolute,
                _ => SymbolPlace::Reserved(r.number() as u16),
            },
            value: r.number(),
            size: r.number(),
            function: r.maybe(|r| r.id(n.functions)),
            link: r.maybe(|r| r.id(n.link_symbols)),
        });
    }
    for _ in 0..n.functions {
        let view = |r: &mut Random| FunctionView {
            text: r.id(n.sections),
            info: r.maybe(|r| r.id(n.sections)),
        };
        module.functions.push(Function {
            object: r.id(n.objects),
            symbol: r.id(n.symbols),
            views: Views {
                sass: view(r),
                merc: r.maybe(view),
            },
            fate: r.pick(&[
                Fate::Candidate,
                Fate::Prevailing,
                Fate::Replaced,
                Fate::Discarded,
                Fate::Folded,
            ]),
            remade: r.pick(&[Remade::No, Remade::Scheduled, Remade::ForDebugger]),
            registers: r.number() as u32,
            shared: r.maybe(|r| SharedFrame {
                size: r.number(),
                align: r.number(),
                slots_align: r.number(),
                present: r.coin(),
            }),
            dynamic_shared: r.maybe(|r| r.number()),
            unnamed_shared: r.maybe(|r| r.number()),
            header_kinds: r.below(8) as u8,
            merc_size: r.below(2) as u64 * 0x130,
            flag_barriers: r.below(3) as u8,
            stack_limit: r.below(3) as u32,
        });
    }
    let target = |r: &mut Random| match r.below(3) {
        0 => SymbolRef::None,
        1 => SymbolRef::Symbol(r.id(n.symbols)),
        _ => SymbolRef::Section(r.id(n.sections)),
    };
    for _ in 0..n.relocs {
        let ty = |r: &mut Random| r.below(0x90) as u32;
        module.relocs.push(Reloc {
            section: r.id(n.sections),
            offset: r.number(),
            ty: ty(r),
            target: target(r),
            addend: r.number() as i64,
            plan: match r.below(6) {
                0 => RelocAction::Unplanned,
                1 => RelocAction::Keep {
                    ty: ty(r),
                    addend: r.number() as i64,
                    rela: r.coin(),
                },
                2 => RelocAction::Apply {
                    ty: ty(r),
                    value: r.number(),
                    in_place: r.coin(),
                },
                3 => RelocAction::Clear,
                4 => RelocAction::Drop,
                _ => RelocAction::Gone,
            },
        });
    }
    module.attribute_refs = (0..n.attribute_refs).map(|_| target(r)).collect();
    let mut refs_end = 0;
    for _ in 0..n.attributes {
        // Mostly as lowering leaves them, each after the one before.
        let refs = if r.below(4) > 0 {
            let end = refs_end + r.below(n.attribute_refs - refs_end + 1).min(2);
            let refs = refs_end..end;
            refs_end = end;
            refs
        } else {
            r.range(n.attribute_refs)
        };
        module.attributes.push(Attribute {
            section: r.maybe(|r| r.id(n.sections)),
            format: r.pick(&[1, 2, 3, 4, 7]),
            code: r.next() as u8,
            value: r.number() as u16,
            refs: refs.start as u32..refs.end as u32,
            rest: bytes(r),
        });
    }
    for _ in 0..n.calls {
        module.calls.push(CallRecord {
            kind: r.pick(&CallKind::ALL),
            from: target(r),
            to: target(r),
            prototype: r.name(arena),
        });
    }
    for _ in 0..n.prototypes {
        module.prototypes.push(PrototypeRecord {
            function: target(r),
            prototype: r.name(arena),
        });
    }
    for _ in 0..n.notes {
        module.notes.push(Note {
            section: r.maybe(|r| r.id(n.sections)),
            owner: r.name(arena),
            ty: r.pick(&[1000, 2000, 5]),
            desc: bytes(r),
        });
    }
    for _ in 0..n.link_symbols {
        module.link_symbols.push(LinkSymbol {
            first: r.id(n.symbols),
            definition: r.maybe(|r| r.id(n.symbols)),
            live: r.pick(&[
                Liveness::Unknown,
                Liveness::Live,
                Liveness::ByAddress,
                Liveness::Unreachable,
                Liveness::Unreferenced,
            ]),
            size: r.number(),
            common_align: r.number(),
            value: r.maybe(Random::number),
            kernel: r.maybe(|r| r.id(n.functions)),
            internal: r.coin(),
            order: r.maybe(|r| r.number() as u32),
        });
    }
    module.bank_pieces = r.list(rows, |r| BankPiece {
        kernel: r.id(n.functions),
        bank: r.number() as u8,
        section: r.id(n.sections),
        offset: r.number(),
        size: r.number(),
        align: r.number(),
    });
    module.pool_parts = r.list(rows, |r| PoolPart {
        bank: r.number() as u8,
        section: r.id(n.sections),
        start: r.number(),
        size: r.number(),
        offset: r.number(),
    });
    module.merge_log = r.list(rows, |r| MergeEvent {
        newcomer: r.id(n.symbols),
        prevailing: r.id(n.symbols),
        outcome: r.pick(&[
            MergeOutcome::ReplacesWeak,
            MergeOutcome::YieldsToFirst,
            MergeOutcome::Grows,
        ]),
    });
    module.header_slots = r.list(rows, |r| HeaderSlot {
        symbol: r.id(n.link_symbols),
        offset: r.number(),
    });
    module.merged_info = r.list(rows, |r| MergedInfo {
        function: r.maybe(|r| r.id(n.functions)),
        records: r.list(rows, |r| r.id(n.attributes)),
    });
    module.merged_compat = r.list(rows, |r| r.id(n.attributes));
    module.merged_notes = r.list(rows, |r| r.id(n.notes));
    module.fixups = r.list(rows, |r| Fixup {
        section: r.id(n.sections),
        offset: r.number(),
        bit: r.number() as u8,
        width: r.number() as u8,
        value: r.number(),
        add: r.coin(),
        cause: r.maybe(|r| r.id(n.relocs)),
    });
    module.plan = r.maybe(|r| random_plan(r, rows, n.sections, arena, &bytes));
    module.image = r.maybe(|r| r.list(100, |r| r.next() as u8));
    module
}

fn section_type(r: &mut Random) -> u32 {
    match r.below(3) {
        0 => r.below(20) as u32,
        1 => 0x7000_0000 + r.below(0x90) as u32,
        _ => r.number() as u32,
    }
}

fn section_kind(r: &mut Random) -> SectionKind {
    let bank = r.below(18) as u8;
    r.pick(&[
        SectionKind::Unclassified,
        SectionKind::Text,
        SectionKind::ConstantBank(bank),
        SectionKind::FunctionConstants(bank),
        SectionKind::SymbolSectionIndices,
        SectionKind::Other,
        SectionKind::ReservedShared,
        SectionKind::Stripped,
    ])
}

fn random_plan<'data>(
    r: &mut Random,
    rows: usize,
    input_sections: usize,
    arena: &'data Arena,
    bytes: &dyn Fn(&mut Random) -> &'data [u8],
) -> OutputLayout<'data> {
    let strings = |r: &mut Random| r.list(20, |r| r.pick(b"\0ab."));
    let mut plan = OutputLayout {
        e_type: r.number() as u16,
        e_flags: r.number() as u32,
        legacy: r.coin().then(|| r.number() as u32),
        shoff: r.number(),
        phoff: r.number(),
        shstrndx: r.number() as u32,
        sections: Vec::new(),
        symbols: r.list(rows, |r| PlanSymbol {
            name_offset: r.below(24) as u32,
            bind: Binding(r.below(16) as u8),
            ty: SymbolType(r.below(16) as u8),
            other: SymbolOther::from_bits_retain(r.next() as u8),
            shndx: r.pick(&[0, 1, 0xfff1, 0xfff2, 0xffff]),
            value: r.number(),
            size: r.number(),
        }),
        section_names: strings(r),
        symbol_names: strings(r),
        pieces: r.list(rows, |r| PlanPiece {
            offset: r.number(),
            section: r.id(input_sections),
            size: r.maybe(|r| r.number()),
        }),
        relocs: Vec::new(),
        segments: r.list(rows, |r| PlanSegment {
            ty: r.pick(&[1, 6, 7]),
            flags: r.number() as u32,
            offset: r.number(),
            file_size: r.number(),
            mem_size: r.number(),
        }),
        file_size: r.number(),
    };
    if !plan.symbols.is_empty() {
        let symbols = plan.symbols.len();
        plan.relocs = r.list(rows, |r| PlanReloc {
            offset: r.number(),
            ty: r.below(0x90) as u32,
            symbol: r.below(symbols) as u32,
            addend: r.number() as i64,
        });
    }
    let narrow = |range: Range<usize>| range.start as u32..range.end as u32;
    plan.sections = r.list(rows, |r| PlanSection {
        name: r.name(arena),
        name_offset: r.number() as u32,
        ty: section_type(r),
        flags: r.number().into(),
        offset: r.number(),
        size: r.number(),
        link: r.number() as u32,
        info: r.number() as u32,
        align: r.number(),
        entsize: r.number(),
        content: match r.below(7) {
            0 => PlanContent::None,
            1 => PlanContent::Bytes(bytes(r)),
            2 => PlanContent::Pieces(narrow(r.range(plan.pieces.len()))),
            3 => PlanContent::Relocs(narrow(r.range(plan.relocs.len()))),
            6 => PlanContent::Alias(r.below(9) as u32),
            4 => PlanContent::SectionNames,
            5 => PlanContent::SymbolNames,
            _ => PlanContent::Symbols,
        },
    });
    plan
}
