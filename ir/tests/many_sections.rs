//! Files with more sections than 16 bits can number, written and read again.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use cuweld_elf::raw::SHN_COMMON;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::entry_sizes;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::validate_structure;
use cuweld_ir::Module;
use cuweld_ir::OutputLayout;
use cuweld_ir::SymbolPlace;
use cuweld_ir::elf::layout::assign_offsets;
use cuweld_ir::elf::read_object;
use cuweld_ir::elf::write;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::plan::PlanSymbol;
use cuweld_ir::table::EntityId;

fn section(ty: u32, size: usize, link: u32, content: PlanContent<'_>) -> PlanSection<'_> {
    PlanSection {
        name: b"",
        name_offset: 0,
        ty,
        flags: SectionFlags::empty(),
        offset: 0,
        size: size as u64,
        link,
        info: 0,
        align: 0,
        entsize: entry_sizes(ty).first().copied().unwrap_or(0),
        content,
    }
}

fn symbol(ty: SymbolType, shndx: u16) -> PlanSymbol {
    PlanSymbol {
        ty,
        shndx,
        ..PlanSymbol::default()
    }
}

/// Builds a plan of `count` sections, the last of which are empty, with these `st_shndx` and table
/// rows.
fn plan<'data>(
    count: usize,
    symbols: &[(SymbolType, u16)],
    table: &'data [u8],
) -> OutputLayout<'data> {
    let mut plan = OutputLayout {
        e_type: 1,
        shstrndx: 1,
        section_names: vec![0],
        symbol_names: vec![0],
        symbols: vec![symbol(SymbolType::NOTYPE, 0)],
        ..Default::default()
    };
    plan.symbols
        .extend(symbols.iter().map(|(ty, shndx)| symbol(*ty, *shndx)));
    plan.sections = vec![
        section(sht::NULL, 0, 0, PlanContent::None),
        section(sht::STRTAB, 1, 0, PlanContent::SectionNames),
        section(sht::STRTAB, 1, 0, PlanContent::SymbolNames),
        section(
            sht::SYMTAB,
            plan.symbols.len() * 24,
            2,
            PlanContent::Symbols,
        ),
        section(sht::SYMTAB_SHNDX, table.len(), 3, PlanContent::Bytes(table)),
    ];
    plan.sections
        .resize(count, section(sht::PROGBITS, 0, 0, PlanContent::None));
    assign_offsets(&mut plan);
    plan
}

#[test]
fn numbers_of_sections_above_0xff00_stand_in_the_null_section() {
    for (count, e_shnum) in [(0xff00, 0xff00), (0xff01, 0)] {
        let image = write(&Module::default(), &plan(count, &[], &[0; 4])).unwrap();
        let headers = validate_structure(&image).unwrap();
        assert_eq!(headers.file.shnum.get(), e_shnum);
        assert_eq!(headers.sections.len(), count);
    }
}

#[test]
fn symbols_in_sections_above_0xff00_come_back() {
    let rows = [0_u32, 7, 0x1_0003, 9, 0];
    let table: Vec<u8> = rows.into_iter().flat_map(u32::to_le_bytes).collect();
    let symbols = [
        // What stands in the table beside an index of 16 bits means nothing.
        (SymbolType::OBJECT, 6),
        (SymbolType::OBJECT, SHN_XINDEX),
        (SymbolType::FUNC, SHN_COMMON),
        (SymbolType::OBJECT, SHN_COMMON),
    ];
    let image = write(&Module::default(), &plan(0x1_0004, &symbols, &table));
    let image = image.map_err(|error| error.to_string());
    let mut image = image.unwrap();
    image[18] = 190;
    let part = read_object(&image, b"many.cubin", b"").unwrap();
    let places: Vec<_> = part.symbols.iter().map(|row| row.place).collect();
    let section = |index| SymbolPlace::Section(EntityId::new(index));
    assert_eq!(
        places,
        [
            section(6),
            section(0x1_0003),
            section(SHN_COMMON.into()),
            SymbolPlace::Common
        ]
    );
}
