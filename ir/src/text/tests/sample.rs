//! A hand-built module with every variant of every enumeration.

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;

use super::*;
use crate::options::*;

pub(super) fn object<'data>(
    name: &'data [u8],
    image: &'data [u8],
    state: ObjectState,
) -> Object<'data> {
    Object {
        name,
        member: b"",
        image,
        e_type: 1,
        e_flags: 0x5a_0504,
        unusual_abi: None,
        legacy: None,
        state,
        system_library: false,
        is_silent: false,
        origin: ObjectOrigin::default(),
        sections: IdRange::default(),
        symbols: IdRange::default(),
        functions: IdRange::default(),
        relocs: IdRange::default(),
        attributes: IdRange::default(),
        calls: IdRange::default(),
        prototypes: IdRange::default(),
        notes: IdRange::default(),
    }
}

pub(super) fn section<'data>(
    name: &'data [u8],
    ty: u32,
    content: SectionContent<'data>,
) -> Section<'data> {
    Section {
        object: ObjectId::new(0),
        name,
        ty,
        flags: SectionFlags::empty(),
        align: 0,
        entsize: 0,
        link: None,
        info: SectionInfo::None,
        content,
        relocs: IdRange::default(),
        attributes: IdRange::default(),
        kind: SectionKind::Unclassified,
        owner: None,
        place: None,
    }
}

pub(super) fn kinds() -> Vec<SectionKind> {
    use SectionKind::*;
    vec![
        Unclassified,
        Null,
        SectionNames,
        SymbolNames,
        Symbols,
        SymbolSectionIndices,
        Relocs,
        ToolInfo,
        CudaInfo,
        Info,
        FunctionInfo,
        Compat,
        CallGraph,
        Prototypes,
        RelAction,
        ReservedShared,
        Text,
        ConstantBank(3),
        FunctionConstants(17),
        GlobalInit,
        Global,
        KernelShared,
        ModuleShared,
        Local,
        Unified,
        Debug,
        Other,
    ]
}

/// Fills in every table; ids are small and valid.
pub(super) fn sample(arena: &Arena) -> Module<'_> {
    let image = &INPUT[..];
    let mut module = Module::new(
        Target::parse("sm_100f").unwrap(),
        LinkOptions {
            relocatable: true,
            debug: true,
            preserve_relocs: true,
            keep_system_libraries: true,
            suppress_debug_info: true,
            force_rela: true,
            allow_undefined_globals: true,
            strict: true,
            whole_program: true,
            accept_newer: true,
            host: HostReferences {
                kernels_used: Some(vec!["a".to_owned(), "b c".to_owned()]),
                variables_used: Some(Vec::new()),
                kernels_external: Some(vec![String::new()]),
                kernels_internal: None,
                variables_external: Some(vec!["v".to_owned()]),
                variables_internal: Some(Vec::new()),
            },
            memory: MemoryOptions {
                reserve_null_pointer: true,
                disable_shared_reservation: true,
            },
            record: LinkRecord {
                options: "-arch sm_100f -o \"é;\" ".into(),
                output_name: b"out put\xff.cubin".to_vec(),
                stamp_nvlink: true,
                tool_name: Some(b"a tool".to_vec()),
                tool_branch: b"a branch".to_vec(),
            },
            reports: Reports {
                suppress_stack_size_warning: true,
                extra_warnings: true,
                resources: true,
                call_graph: true,
                warnings_are_errors: true,
                self_check: true,
                trace_finalizer: true,
                trace_compatibility: true,
            },
            mercury: MercuryOptions {
                copy_within_family: true,
                copy_across_families: true,
                cap_merc: true,
                finalize: crate::options::Finalize::Trust,
                strict: true,
            },
        },
    );
    let (s, y) = (SectionId::new, SymbolId::new);
    let (f, l) = (FunctionId::new, LinkSymbolId::new);
    for state in [
        ObjectState::Included,
        ObjectState::Candidate,
        ObjectState::SkippedUnneeded,
        ObjectState::SkippedExecutable,
        ObjectState::Linker,
    ] {
        module.objects.push(object(b"dir/a.cubin", b"", state));
    }
    let kinds = kinds();
    let first = &mut module.objects[ObjectId::new(0)];
    first.image = image;
    first.member = b"x y.o";
    first.system_library = true;
    first.is_silent = true;
    first.origin = ObjectOrigin::Fatbin;
    first.sections = IdRange::new(0, kinds.len());
    first.symbols = IdRange::new(0, 4);
    first.functions = IdRange::new(0, 1);
    first.relocs = IdRange::new(0, 5);
    first.attributes = IdRange::new(0, 3);
    first.calls = IdRange::new(0, 4);
    first.prototypes = IdRange::new(0, 1);
    first.notes = IdRange::new(0, 2);
    let last = &mut module.objects[ObjectId::new(4)];
    last.e_type = 0xff00;
    last.legacy = Some(128);
    last.unusual_abi = Some(0x3308);
    last.attributes = IdRange::new(3, 5);
    module.objects[ObjectId::new(3)].e_type = 77;
    for (index, kind) in kinds.into_iter().enumerate() {
        let mut row = section(
            b".text.f",
            sht::PROGBITS,
            SectionContent::Bytes(&image[64..80]),
        );
        row.kind = kind;
        row.flags = SectionFlags::from_bits_retain(1 << index);
        row.align = index as u64;
        row.place = (index % 2 == 0).then_some(index as u64);
        row.owner = (index % 3 == 0).then(|| f(0));
        match index {
            1 => row.info = SectionInfo::Section(s(2)),
            2 => {
                row.info = SectionInfo::Symbol {
                    symbol: y(1),
                    high: 24,
                }
            }
            3 => row.info = SectionInfo::Raw(0),
            4 => row.content = SectionContent::NoBits(0x1234),
            5 => row.content = SectionContent::Decoded,
            6 => row.content = SectionContent::Bytes(b""),
            7 => row.content = SectionContent::Bytes(arena.bytes(b"not in an image")),
            8 => row.name = b"odd \"name\";\0\xff",
            9 => row.name = b"",
            10 => row.ty = sht::CUDA_CONSTANT0 + 3,
            11 => row.ty = 0x1234_5678,
            12 => row.link = Some(s(0)),
            13 => row.relocs = IdRange::new(0, 5),
            14 => row.attributes = IdRange::new(1, 1),
            15 => row.content = SectionContent::Bytes(image),
            16 => (row.ty, row.entsize) = (sht::CUDA_COMPAT, 16),
            _ => {}
        }
        module.sections.push(row);
    }
    let mut unowned = section(b"unowned", 1, SectionContent::Bytes(&image[1..2]));
    unowned.object = ObjectId::new(2);
    module.sections.push(unowned);
    for (index, place) in [
        SymbolPlace::Undefined,
        SymbolPlace::Section(s(2)),
        SymbolPlace::Common,
        SymbolPlace::Absolute,
        SymbolPlace::Reserved(0xff05),
    ]
    .into_iter()
    .enumerate()
    {
        module.symbols.push(Symbol {
            object: ObjectId::new(index / 4),
            name: [&b"_Z3foov"[..], b"f", b"", b"a b", b"$x"][index],
            bind: Binding([0, 1, 2, 3, 200][index]),
            ty: SymbolType([0, 2, 10, 13, 99][index]),
            other: SymbolOther::from_bits_retain([0, 0x10, 0x20, 0x81, 0xff][index]),
            place,
            value: index as u64,
            size: u64::MAX,
            function: (index == 1).then(|| f(0)),
            link: (index > 2).then(|| l(0)),
        });
    }
    for fate in [
        Fate::Candidate,
        Fate::Prevailing,
        Fate::Replaced,
        Fate::Discarded,
        Fate::Folded,
    ] {
        let chosen = fate == Fate::Prevailing;
        let view = |text, info| FunctionView {
            text: s(text),
            info,
        };
        module.functions.push(Function {
            object: ObjectId::new(1),
            symbol: y(1),
            views: Views {
                sass: view(1, chosen.then(|| s(3))),
                merc: (!chosen).then(|| view(2, Some(s(3)))),
            },
            fate,
            remade: if chosen {
                crate::function::Remade::ForDebugger
            } else {
                crate::function::Remade::No
            },
            registers: 24,
            stack_limit: if chosen { 64 } else { 0 },
            shared: chosen.then_some(SharedFrame {
                size: 0x400,
                align: 16,
                slots_align: 8,
                present: true,
            }),
            dynamic_shared: chosen.then_some(0x70),
            unnamed_shared: chosen.then_some(0x60),
            header_kinds: if chosen {
                header::TEXTURE | header::SURFACE
            } else {
                0
            },
            merc_size: if chosen { 0x120 } else { 0 },
            flag_barriers: u8::from(chosen),
        });
    }
    for (index, plan) in [
        RelocAction::Unplanned,
        RelocAction::Keep {
            ty: 2,
            addend: i64::MIN,
            rela: true,
        },
        RelocAction::Keep {
            ty: 0x10001,
            addend: i64::MAX,
            rela: false,
        },
        RelocAction::Apply {
            ty: 0x38,
            value: u64::MAX,
            in_place: true,
        },
        RelocAction::Apply {
            ty: 0x39,
            value: 0,
            in_place: false,
        },
        RelocAction::Clear,
        RelocAction::Drop,
        RelocAction::Gone,
    ]
    .into_iter()
    .enumerate()
    {
        module.relocs.push(Reloc {
            section: s(index / 3),
            offset: index as u64 * 16,
            ty: [0x38, 0x2f, 0x7fff_ffff][index % 3],
            target: [
                SymbolRef::None,
                SymbolRef::Symbol(y(0)),
                SymbolRef::Section(s(8)),
            ][index % 3],
            addend: index as i64 - 3,
            plan,
        });
    }
    module.attribute_refs = vec![
        SymbolRef::Symbol(y(1)),
        SymbolRef::None,
        SymbolRef::Section(s(8)),
        SymbolRef::Symbol(y(0)),
    ];
    let attribute = |section: Option<usize>, format, code, value, refs, rest| Attribute {
        section: section.map(s),
        format,
        code,
        value,
        refs,
        rest,
    };
    module.attributes.extend([
        attribute(
            Some(9),
            format::SVAL,
            0x2f,
            0,
            0..1,
            &[24, 0, 0, 0, 0, 0, 1, 0][..],
        ),
        attribute(Some(9), format::HVAL, 0x1b, 0xff, 1..1, &[]),
        attribute(Some(16), format::BVAL, 2, 1, 1..1, &[]),
        attribute(
            None,
            format::SVAL,
            0x56,
            3,
            1..3,
            arena.bytes(&[1, 2, 3, 4, 5]),
        ),
        attribute(None, 9, 0xfe, 0, 0..2, &image[10..17]),
        attribute(None, format::NVAL, 9, 0, 0..0, &[]),
    ]);
    for kind in CallKind::ALL {
        let prototype = if kind.has_prototype() {
            &b"#ii"[..]
        } else {
            b""
        };
        module.calls.push(CallRecord {
            kind,
            from: SymbolRef::Symbol(y(1)),
            to: if kind.has_prototype() {
                SymbolRef::None
            } else {
                SymbolRef::Section(s(3))
            },
            prototype,
        });
    }
    let function = SymbolRef::Symbol(y(0));
    module.prototypes.push(PrototypeRecord {
        function,
        prototype: b"#",
    });
    let tool = arena.bytes(&tool_info([b"", b"ptxas", b"v", b"b", b"-O3 "]));
    for (ty, desc) in [
        (1000, arena.bytes(&cuda_info(100, 0x82))),
        (2000, tool),
        (2000, &tool[..tool.len() - 1]),
        (7, &image[3..9]),
        (8, b""),
    ] {
        module.notes.push(Note {
            section: (ty < 1500).then(|| s(8)),
            owner: b"NVIDIA Corp\0",
            ty,
            desc,
        });
    }
    for live in [
        Liveness::Unknown,
        Liveness::Live,
        Liveness::ByAddress,
        Liveness::Unreachable,
        Liveness::Unreferenced,
    ] {
        let is_live = live.is_live();
        module.link_symbols.push(LinkSymbol {
            first: y(3),
            definition: is_live.then(|| y(1)),
            live,
            size: 8,
            common_align: if is_live { 4 } else { 0 },
            value: is_live.then_some(0),
            kernel: is_live.then(|| f(1)),
            internal: is_live,
            order: is_live.then_some(3),
        });
    }
    module.bank_pieces.push(BankPiece {
        kernel: f(1),
        bank: 3,
        section: s(10),
        offset: 8,
        size: 16,
        align: 8,
    });
    module.pool_parts.push(PoolPart {
        bank: 2,
        section: s(10),
        start: 8,
        size: 4,
        offset: 16,
    });
    for outcome in [
        MergeOutcome::ReplacesWeak,
        MergeOutcome::ReplacesMoreRegisters,
        MergeOutcome::ReplacesOlder,
        MergeOutcome::ReplacesTentative,
        MergeOutcome::YieldsToStrong,
        MergeOutcome::YieldsToFewerRegisters,
        MergeOutcome::YieldsToFirst,
        MergeOutcome::YieldsToInitialised,
        MergeOutcome::YieldsToTentative,
        MergeOutcome::Grows,
        MergeOutcome::Joins,
    ] {
        module.merge_log.push(MergeEvent {
            newcomer: y(2),
            prevailing: y(1),
            outcome,
        });
    }
    module.header_slots.push(HeaderSlot {
        symbol: LinkSymbolId::new(1),
        offset: 0x210,
    });
    let a = AttributeId::new;
    module.merged_info = vec![
        MergedInfo {
            function: None,
            records: vec![a(0), a(3)],
        },
        MergedInfo {
            function: Some(f(0)),
            records: Vec::new(),
        },
    ];
    module.merged_compat = vec![a(5), a(2)];
    module.merged_notes = vec![NoteId::new(1), NoteId::new(0)];
    for add in [false, true] {
        let (section, cause) = (s(3), Some(RelocId::new(1)));
        module.fixups.push(Fixup {
            section,
            offset: 4,
            bit: 3,
            width: 8,
            value: 5,
            add,
            cause,
        });
    }
    module.findings = super::findings::every_finding();
    module.stopped = Some("check-limits");
    module
}

/// Builds a plan that can be written, with every kind of content.
pub(super) fn sample_plan<'data>(arena: &'data Arena) -> OutputLayout<'data> {
    let section = |name, ty, offset, size, content| PlanSection {
        name,
        name_offset: 1,
        ty,
        flags: SectionFlags::ALLOC | SectionFlags::EXECINSTR,
        offset,
        size,
        link: 2,
        info: 3,
        align: 4,
        entsize: 5,
        content,
    };
    let symbols =
        [(0, 0, 0), (1, 0x12, 2), (1, 0xf7, 0xfff1)].map(|(name_offset, info, shndx)| PlanSymbol {
            name_offset,
            bind: Binding::of_info(info),
            ty: SymbolType::of_info(info),
            other: SymbolOther::from_bits_retain(0x11),
            shndx,
            value: 9,
            size: 10,
        });
    OutputLayout {
        e_type: 2,
        e_flags: 0x5a_0504,
        legacy: Some(120),
        shoff: 0x200,
        phoff: 0x440,
        shstrndx: 1,
        sections: vec![
            section(b"", 0, 0, 0, PlanContent::None),
            section(
                b".shstrtab",
                sht::STRTAB,
                0x40,
                11,
                PlanContent::SectionNames,
            ),
            section(b".strtab", sht::STRTAB, 0x50, 6, PlanContent::SymbolNames),
            section(b".symtab", sht::SYMTAB, 0x60, 72, PlanContent::Symbols),
            section(
                b"odd name",
                1,
                0xb0,
                5,
                PlanContent::Bytes(arena.bytes(b"12345")),
            ),
            section(b".input", 1, 0xc0, 5, PlanContent::Bytes(&INPUT[5..10])),
            section(b".text.f", 1, 0xd0, 64, PlanContent::Pieces(0..2)),
            section(
                b".rela.text.f",
                sht::RELA,
                0x120,
                48,
                PlanContent::Relocs(0..2),
            ),
            section(b".merc", 1, 0xd0, 64, PlanContent::Alias(6)),
        ],
        symbols: symbols.to_vec(),
        section_names: b"\0.shstrtab\0".to_vec(),
        symbol_names: b"\0f\0end".to_vec(),
        pieces: [0, 32]
            .map(|offset| PlanPiece {
                offset,
                section: SectionId::new(3),
                size: (offset != 0).then_some(8),
            })
            .to_vec(),
        relocs: vec![
            PlanReloc {
                offset: 0,
                ty: 0x38,
                symbol: 1,
                addend: -1,
            },
            PlanReloc {
                offset: 8,
                ty: 0x1_0000,
                symbol: 0,
                addend: 0,
            },
        ],
        segments: [(1, 5), (6, 4), (0x7000_0000, 0x100)]
            .map(|(ty, flags)| PlanSegment {
                ty,
                flags,
                offset: 0x40,
                file_size: 8,
                mem_size: 9,
            })
            .to_vec(),
        file_size: 0x500,
    }
}
