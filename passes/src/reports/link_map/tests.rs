//! Maps of layouts that no pass makes.

use cuweld_elf::Target;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::OutputLayout;
use cuweld_ir::Section;
use cuweld_ir::SectionContent;
use cuweld_ir::SectionId;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanPiece;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSymbol;
use cuweld_ir::table::EntityId;

use super::*;

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// A module with one object, whose two sections have 8 bytes each.
fn module() -> Module<'static> {
    let target = Target::parse("sm_90").unwrap();
    let mut module = Module::new(target, LinkOptions::default());
    let object = module.objects.push(Object {
        name: b"lib.a",
        member: b"x\n.o",
        ..Object::default()
    });
    for name in [&b".data.a"[..], b".data.b"] {
        module.sections.push(Section {
            object,
            name,
            align: 4,
            content: SectionContent::Bytes(b"01234567"),
            ..Section::default()
        });
    }
    module
}

fn row(name: &'static [u8], content: PlanContent<'static>) -> PlanSection<'static> {
    PlanSection {
        name,
        ty: sht::PROGBITS,
        offset: 0x40,
        size: 0x20,
        align: 8,
        content,
        ..PlanSection::default()
    }
}

fn piece(offset: u64, section: usize) -> PlanPiece {
    PlanPiece {
        offset,
        section: SectionId::new(section),
        size: None,
    }
}

fn symbol(shndx: u16, value: u64, size: u64) -> PlanSymbol {
    PlanSymbol {
        name_offset: 1,
        ty: SymbolType::OBJECT,
        shndx,
        value,
        size,
        ..PlanSymbol::default()
    }
}

fn map(plan: OutputLayout<'static>) -> LinkMap {
    let mut module = module();
    module.plan = Some(plan);
    LinkMap::new(&module, text).unwrap()
}

#[test]
fn symbols_are_in_the_piece_that_holds_them() {
    let map = map(OutputLayout {
        sections: vec![
            PlanSection::default(),
            row(b".data", PlanContent::Pieces(0..2)),
        ],
        // The second piece comes first in the layout.
        pieces: vec![piece(0x10, 1), piece(0, 0)],
        symbols: vec![
            PlanSymbol::default(),
            symbol(1, 0x30, 4),
            symbol(1, 0x18, 4),
            symbol(1, 0x10, 8),
            symbol(1, 0x8, 4),
            symbol(1, 0x8, 0),
            symbol(1, 0, 8),
        ],
        symbol_names: b"\0v\0".to_vec(),
        ..OutputLayout::default()
    });
    let found: Vec<_> = map.sections[1]
        .pieces
        .iter()
        .map(|piece| {
            let values = piece.symbols.iter().map(|symbol| symbol.value);
            (
                piece.offset,
                piece.size,
                piece.input.is_some(),
                values.collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, 8, true, vec![0, 8]),
            (8, 8, false, vec![8]),
            (0x10, 8, true, vec![0x10]),
            (0x18, 8, false, vec![0x18, 0x30]),
        ]
    );
    assert_eq!(
        map.to_string(),
        "\
Offset Address Size Align Out     In      Symbol
    40       0   20     8 .data
    40       0    8     4         lib.a:x\\n.o:(.data.a)
    40       0    8     1                 v
    48       8    0     1                 v
    48       8    8     1         <internal>:(.data)
    48       8    4     1                 v
    50      10    8     4         lib.a:x\\n.o:(.data.b)
    50      10    8     1                 v
    58      18    8     1         <internal>:(.data)
    58      18    4     1                 v
    70      30    4     1                 v
"
    );
}

#[test]
fn a_layout_that_refers_to_nothing_has_a_map() {
    let map = map(OutputLayout {
        sections: vec![
            PlanSection::default(),
            row(b".a", PlanContent::Pieces(0..9)),
            row(b".b", PlanContent::Pieces(1..2)),
            row(b".c", PlanContent::Alias(99)),
            row(b".d", PlanContent::Alias(4)),
            PlanSection {
                ty: sht::CUDA_CAPMERC,
                ..row(b".e", PlanContent::Bytes(b"\xff\xff\xff\xff"))
            },
            PlanSection {
                ty: sht::NOBITS,
                offset: u64::MAX,
                size: u64::MAX,
                info: u32::MAX,
                ..row(b".nv.global", PlanContent::None)
            },
        ],
        pieces: vec![piece(0, 99), piece(u64::MAX, 99)],
        symbols: vec![symbol(500, 0, 0), symbol(6, u64::MAX, u64::MAX)],
        ..OutputLayout::default()
    });
    assert_eq!(map.sections.len(), 7);
    let pieces = map.sections.iter().flat_map(|section| &section.pieces);
    assert!(pieces.clone().count() == 6 && pieces.clone().all(|piece| piece.input.is_none()));
    assert!(map.to_string().lines().count() > 12);
    assert_eq!(LinkMap::new(&module(), text), None);
}
