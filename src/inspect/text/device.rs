//! The tables of a device ELF as text.

use std::fmt;
use std::io;

use super::Printer;
use super::count;
use crate::inspect::code_names::SECTION_FLAGS;
use crate::inspect::device_model::*;
use crate::inspect::name::Name;

impl Printer<'_> {
    pub(super) fn device_elf(&mut self, elf: &DeviceElf<'_>) -> io::Result<()> {
        let selection = &self.options.selection;
        let hex = selection.hex;
        if selection.headers && selection.only_sections.is_empty() {
            self.header(&elf.header)?;
            self.segments(&elf.segments, elf.header.program_headers_offset)?;
        }
        if self.options.selection.sections {
            self.sections(&elf.sections)?;
        }
        for table in &elf.symbol_tables {
            self.symbols(table)?;
        }
        for list in &elf.relocations {
            self.relocations(list)?;
        }
        for list in &elf.attributes {
            self.attributes(list)?;
        }
        for code in &elf.mercury {
            self.mercury(code)?;
        }
        self.notes(&elf.notes)?;
        self.call_graph(&elf.call_graph)?;
        self.prototypes(&elf.prototypes)?;
        if hex {
            for section in &elf.sections {
                self.hex_dump(section)?;
            }
        }
        Ok(())
    }

    fn header(&mut self, header: &Header) -> io::Result<()> {
        self.line(format_args!("header:"))?;
        self.depth += 1;
        self.line(format_args!(
            "type {}, machine {}, version {}, entry {:#x}",
            header.file_type, header.machine, header.version, header.entry
        ))?;
        self.line(format_args!(
            "class {}, OS ABI {:#x}, ABI version {}",
            header.class, header.os_abi, header.abi_version
        ))?;
        match header.legacy {
            None => self.line(format_args!(
                "flags {:#x}: {}, {} code, CUDA info in section {}",
                header.flags, header.arch, header.code, header.cuda_info_section
            ))?,
            Some(legacy) => self.line(format_args!(
                "flags {:#x}, legacy layout: {}, compute_{}, {}-bit addresses{}{}",
                header.flags,
                header.arch,
                legacy.virtual_sm,
                if legacy.addresses_64 { 64 } else { 32 },
                if legacy.sass { ", SASS" } else { "" },
                if legacy.relocatable {
                    ", relocatable"
                } else {
                    ""
                }
            ))?,
        }
        self.line(format_args!(
            "{} program headers at {:#x}, {} section headers at {:#x}, names in section {}",
            header.program_header_count,
            header.program_headers_offset,
            header.section_header_count,
            header.section_headers_offset,
            header.section_names_section
        ))?;
        self.depth -= 1;
        Ok(())
    }

    fn segments(&mut self, segments: &[Segment<'_>], table: u64) -> io::Result<()> {
        if segments.is_empty() {
            return Ok(());
        }
        self.line(format_args!("program headers ({}):", segments.len()))?;
        self.depth += 1;
        self.line(format_args!(
            "{:<8} {:<10} {:<10} {:<10} {:<5} {:<6} Sections",
            "Type", "Offset", "FileSize", "MemSize", "Flags", "Align"
        ))?;
        for segment in segments {
            let letters: String = [(4, 'R'), (2, 'W'), (1, 'X')]
                .into_iter()
                .map(|(bit, letter)| {
                    if segment.flags & bit != 0 {
                        letter
                    } else {
                        '-'
                    }
                })
                .collect();
            let sections = match &segment.sections {
                Some((first, last)) if first == last => first.to_string(),
                Some((first, last)) => format!("{first} .. {last}"),
                None if segment.offset == table => "(program headers)".to_owned(),
                None => "-".to_owned(),
            };
            self.line(format_args!(
                "{:<8} {:<#10x} {:<#10x} {:<#10x} {letters:<5} {:<#6x} {sections}",
                segment.ty, segment.offset, segment.file_size, segment.memory_size, segment.align
            ))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn sections(&mut self, sections: &[Section<'_>]) -> io::Result<()> {
        if sections.is_empty() {
            return Ok(());
        }
        let types = sections.iter().map(|section| section.ty.to_string().len());
        let width = types.max().unwrap_or(0);
        let letters: Vec<String> = SECTION_FLAGS
            .iter()
            .map(|(_, letter, name)| format!("{letter} {name}"))
            .collect();
        self.line(format_args!(
            "sections ({}; flags: {}):",
            sections.len(),
            letters.join(", ")
        ))?;
        self.depth += 1;
        self.line(format_args!(
            "{:>4} {:<width$} {:<9} {:<9} {:<4} {:<6} {:<6} {:>4} {:>6}  Name",
            "Nr", "Type", "Offset", "Size", "Row", "Align", "Flags", "Link", "Info"
        ))?;
        for section in sections {
            let refers = match section.refers_to {
                Some(Reference::Section(name)) => format!(" (of {name})"),
                Some(Reference::Function { symbol, high: 0 }) => {
                    format!(" (of {})", self.source_name(symbol))
                }
                Some(Reference::Function { symbol, high }) => {
                    format!(" (of {}, {high} registers)", self.source_name(symbol))
                }
                None => String::new(),
            };
            let address = match section.address {
                0 => String::new(),
                address => format!(" address {address:#x}"),
            };
            self.line(format_args!(
                "{:>4} {:<width$} {:<#9x} {:<#9x} {:<#4x} {:<#6x} {:<6} {:>4} {:>6}  {}{refers}{address}",
                section.index,
                section.ty,
                section.offset,
                section.size,
                section.entry_size,
                section.align,
                flag_letters(section.flags),
                section.link,
                section.info,
                section.name,
            ))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn symbols(&mut self, table: &SymbolTable<'_>) -> io::Result<()> {
        self.line(format_args!(
            "symbols in {} ({}):",
            table.section,
            table.symbols.len()
        ))?;
        self.depth += 1;
        self.line(format_args!(
            "{:>4} {:<9} {:<9} {:<6} {:<11} {:<8} {:<28} Name",
            "Nr", "Value", "Size", "Bind", "Type", "Other", "Section"
        ))?;
        for symbol in &table.symbols {
            let place = match symbol.section {
                Place::Undefined => "UNDEF".to_owned(),
                Place::Absolute => "ABS".to_owned(),
                Place::Common => "COMMON".to_owned(),
                Place::In { name, .. } => name.to_string(),
                Place::Reserved(index) => format!("{index:#x}"),
            };
            let other = match (symbol.other, &symbol.other_names[..]) {
                (0, _) => "-".to_owned(),
                (other, []) => format!("{other:#x}"),
                (_, names) => names.join("|"),
            };
            self.line(format_args!(
                "{:>4} {:<#9x} {:<#9x} {:<6} {:<11} {other:<8} {place:<28} {}",
                symbol.index,
                symbol.value,
                symbol.size,
                symbol.binding,
                symbol.ty,
                self.both_names(symbol.name)
            ))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn relocations(&mut self, list: &Relocations<'_>) -> io::Result<()> {
        self.line(format_args!(
            "relocations in {} for {} ({}):",
            list.section,
            list.target,
            list.rows.len()
        ))?;
        self.depth += 1;
        for row in &list.rows {
            let addend = match row.addend {
                None | Some(0) => String::new(),
                Some(addend) if addend < 0 => format!(" - {:#x}", addend.unsigned_abs()),
                Some(addend) => format!(" + {addend:#x}"),
            };
            let symbol = self.symbol(row.symbol);
            self.line(format_args!(
                "{:<#9x} {:<26} {symbol}{addend}",
                row.offset, row.ty
            ))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn attributes(&mut self, list: &Attributes<'_>) -> io::Result<()> {
        let about = match list.function {
            Some(function) => format!(" of {}", self.source_name(function)),
            None => String::new(),
        };
        self.line(format_args!(
            "attributes in {}{about} ({}):",
            list.section,
            list.records.len()
        ))?;
        self.depth += 1;
        for record in &list.records {
            let value = AttributeText(&record.value);
            self.line(format_args!(
                "{:<#6x} {:<4} {:<34} {value}",
                record.offset, record.format, record.code
            ))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn mercury(&mut self, code: &MercuryCode<'_>) -> io::Result<()> {
        self.line(format_args!("Mercury code in {}:", code.section))?;
        self.depth += 1;
        for line in code.code.lines() {
            self.line(format_args!("{line}"))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn notes(&mut self, notes: &[Note<'_>]) -> io::Result<()> {
        if notes.is_empty() {
            return Ok(());
        }
        self.line(format_args!("notes ({}):", notes.len()))?;
        self.depth += 1;
        for note in notes {
            let head = format!("{} {} of '{}'", note.section, note.ty, note.owner);
            match note.value {
                NoteValue::Tool {
                    object,
                    tool,
                    version,
                    build,
                    options,
                } => {
                    self.line(format_args!("{head}: {tool}, {version}, {build}"))?;
                    self.depth += 1;
                    if !object.is_empty() {
                        self.line(format_args!("object '{object}'"))?;
                    }
                    self.line(format_args!("options '{options}'"))?;
                    self.depth -= 1;
                }
                NoteValue::CudaInfo {
                    version,
                    virtual_sm,
                    toolkit,
                } => {
                    let (major, minor) = (toolkit / 10, toolkit % 10);
                    self.line(format_args!(
                        "{head}: version {version}, compute_{virtual_sm}, toolkit {major}.{minor}"
                    ))?;
                }
                NoteValue::Other(bytes) => self.line(format_args!("{head}: {bytes}"))?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn call_graph(&mut self, rows: &[CallRow<'_>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.line(format_args!("call graph ({}):", count(rows.len(), "row")))?;
        self.depth += 1;
        for row in rows {
            let from = self.symbol(row.from);
            let to = match row.to {
                CallTarget::Function(symbol) => self.symbol(symbol),
                CallTarget::Prototype(prototype) => prototype.to_string(),
            };
            self.line(format_args!("{:<13} {from} -> {to}", row.group.name()))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn prototypes(&mut self, rows: &[PrototypeRow<'_>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.line(format_args!("prototypes ({}):", rows.len()))?;
        self.depth += 1;
        for row in rows {
            let function = self.symbol(row.function);
            self.line(format_args!("{function}: {}", row.prototype))?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Returns the name as in the source, or as it is.
    fn source_name(&self, name: Name<'_>) -> String {
        self.options
            .demangle
            .then(|| name.demangled())
            .flatten()
            .unwrap_or_else(|| name.to_string())
    }

    /// Returns the name as it is, and as in the source after it.
    fn both_names(&self, name: Name<'_>) -> String {
        match self.options.demangle.then(|| name.demangled()).flatten() {
            Some(demangled) => format!("{name} ({demangled})"),
            None => name.to_string(),
        }
    }

    fn symbol(&self, symbol: SymbolUse<'_>) -> String {
        if symbol.name.is_empty() {
            format!("#{}", symbol.index)
        } else {
            self.source_name(symbol.name)
        }
    }
}

/// Returns the letters of section flags, and the bits that have none.
fn flag_letters(flags: u64) -> String {
    let mut rest = flags;
    let mut text = String::new();
    for (bit, letter, _) in SECTION_FLAGS {
        if flags & bit != 0 {
            text.push(letter);
            rest &= !bit;
        }
    }
    if rest != 0 {
        text.push_str(&format!("+{rest:#x}"));
    }
    if text.is_empty() {
        text.push('-');
    }
    text
}

/// The value of a record, as inspection and comparison show it.
pub(crate) struct AttributeText<'a, 'data>(pub(crate) &'a AttributeValue<'data>);

impl fmt::Display for AttributeText<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AttributeValue::Number(number) => write!(f, "{number:#x}"),
            AttributeValue::Payload {
                symbols,
                words,
                bytes,
            } => {
                let mut gap = "";
                for symbol in symbols {
                    if symbol.name.is_empty() {
                        write!(f, "{gap}#{}", symbol.index)?;
                    } else {
                        write!(f, "{gap}{}", symbol.name)?;
                    }
                    gap = " ";
                }
                for word in words {
                    write!(f, "{gap}{word:#x}")?;
                    gap = " ";
                }
                if !bytes.0.is_empty() {
                    write!(f, "{gap}{bytes}")?;
                }
                Ok(())
            }
            AttributeValue::Parameter {
                index,
                ordinal,
                offset,
                size,
                word,
            } => {
                write!(f, "parameter {ordinal}, offset {offset:#x}, size {size:#x}")?;
                if *index != 0 {
                    write!(f, ", index {index}")?;
                }
                // What is left of the word: alignment, space and bank.
                match word & 0x3_ffff {
                    0x1_f000 => Ok(()),
                    rest => write!(f, ", attributes {rest:#x}"),
                }
            }
            AttributeValue::ParameterBank {
                section,
                offset,
                size,
            } => write!(f, "{}, offset {offset:#x}, size {size:#x}", section.name),
        }
    }
}
