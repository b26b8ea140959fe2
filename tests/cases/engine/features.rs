//! What of the format a link has to do with: counted, so that a generator that stops making something is seen.

use std::collections::BTreeSet;

use cuweld_elf::symbol::{Binding, SymbolOther, SymbolType};
use cuweld_elf::target::attributes::attribute_name;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::elf::{ObjectPart, read_object};
use cuweld_ir::section::SectionKind;
use cuweld_ir::symbol::{Symbol, SymbolPlace, SymbolRef};
use cuweld_ir::table::EntityId as _;

/// The features of one object; empty for what cannot be read.
pub fn of_object(image: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let Ok(part) = read_object(image, b"", b"") else {
        return found;
    };
    for section in &part.sections {
        if section.kind != SectionKind::Null {
            found.insert(format!("section {}", section_family(section.name)));
        }
    }
    for symbol in &part.symbols {
        found.insert(format!(
            "symbol {} {}",
            binding(symbol.bind),
            symbol_kind(&part, symbol)
        ));
    }
    for reloc in &part.relocs {
        let ty = reloc_type(reloc.ty).map_or("?", |ty| ty.name);
        let against = match reloc.target {
            SymbolRef::None => "null".to_owned(),
            SymbolRef::Section(id) => {
                let name = part
                    .sections
                    .get(id.index())
                    .map_or(&b""[..], |section| section.name);
                format!("section {}", section_family(name))
            }
            SymbolRef::Symbol(id) => part.symbols.get(id.index()).map_or_else(
                || "?".to_owned(),
                |symbol| format!("{} {}", binding(symbol.bind), symbol_kind(&part, symbol)),
            ),
        };
        found.insert(format!("relocation {ty} against {against}"));
    }
    for attribute in &part.attributes {
        let section = attribute
            .section
            .and_then(|id| part.sections.get(id.index()));
        if section.is_some_and(|section| section.name == b".nv.compat") {
            found.insert(format!("compat {}", attribute.code));
            continue;
        }
        let name = attribute_name(attribute.code)
            .map_or_else(|| format!("{:#x}", attribute.code), str::to_owned);
        let format = match attribute.format {
            1 => "N",
            2 => "B",
            3 => "H",
            4 => "S",
            _ => "?",
        };
        found.insert(format!("attribute {name} {format}"));
    }
    for call in &part.calls {
        found.insert(format!("call {}", first_word(&format!("{:?}", call.kind))));
    }
    found
}

/// The name without what names a function: `.text.`, `.nv.constant2.`, `.debug_line`.
fn section_family(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let known = [
        ".text.",
        ".nv.info.",
        ".nv.shared.",
        ".nv.local.",
        ".rela.text.",
        ".rel.text.",
        ".nv.capmerc.text.",
    ];
    for prefix in known {
        if name.starts_with(prefix) {
            return format!("{prefix}*");
        }
    }
    if let Some(at) = name.find(".nv.constant") {
        let rest = name.get(at + 12..).unwrap_or_default();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (bank, function) = rest.split_at(digits);
        let star = if function.is_empty() { "" } else { ".*" };
        return format!(
            "{}.nv.constant{bank}{star}",
            name.get(..at).unwrap_or_default()
        );
    }
    // `.nv_debug_ptx_txt.` and a hash.
    match name.rsplit_once('.') {
        Some((head, tail)) if tail.len() > 3 && tail.bytes().all(|c| c.is_ascii_digit()) => {
            format!("{head}.*")
        }
        _ => name.into_owned(),
    }
}

fn binding(bind: Binding) -> String {
    match bind {
        Binding::LOCAL => "local".to_owned(),
        Binding::GLOBAL => "global".to_owned(),
        Binding::WEAK => "weak".to_owned(),
        other => format!("binding {}", other.0),
    }
}

fn symbol_kind(part: &ObjectPart, symbol: &Symbol) -> String {
    let what = match symbol.ty {
        SymbolType::FUNC if symbol.is_entry() => "kernel".to_owned(),
        SymbolType::FUNC => "function".to_owned(),
        SymbolType::CUDA_TEXTURE => "texture".to_owned(),
        SymbolType::CUDA_SAMPLER => "sampler".to_owned(),
        SymbolType::CUDA_SURFACE => "surface".to_owned(),
        SymbolType::NOTYPE | SymbolType::OBJECT | SymbolType::CUDA_OBJECT
            if symbol.is_compiler_constant() =>
        {
            "compiler constant".to_owned()
        }
        SymbolType::CUDA_OBJECT if symbol.is_dynamic_shared() => {
            "dynamic shared variable".to_owned()
        }
        SymbolType::CUDA_OBJECT if symbol.is_shared() => "shared variable".to_owned(),
        SymbolType::CUDA_OBJECT if symbol.is_global_memory() => "global variable".to_owned(),
        SymbolType::CUDA_OBJECT if symbol.other.contains(SymbolOther::CONSTANT) => {
            "constant variable".to_owned()
        }
        other => format!("type {}", other.0),
    };
    let place = match symbol.place {
        SymbolPlace::Undefined if !what.starts_with("dynamic") => "undefined ".to_owned(),
        SymbolPlace::Common => "common ".to_owned(),
        SymbolPlace::Absolute => "absolute ".to_owned(),
        SymbolPlace::Reserved(_) => "reserved ".to_owned(),
        SymbolPlace::Section(id) if what.starts_with("type") => {
            let name = part
                .sections
                .get(id.index())
                .map_or(&b""[..], |section| section.name);
            format!("{} ", section_family(name))
        }
        _ => String::new(),
    };
    format!("{place}{what}")
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or(text)
}

/// An option without its value.
pub fn option_name(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}
