//! PTX of variables: definitions, declarations, initialisers and uses.

use std::fmt::Write as _;

use super::program::{Entity, Program};

/// How a definition differs from that of the home file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copy {
    Home,
    Other,
}

fn copy(entity: &Entity<'_>, file: usize) -> Copy {
    match entity.home == file {
        true => Copy::Home,
        false => Copy::Other,
    }
}

/// Bytes of an element.
fn size(ty: &str) -> usize {
    match ty {
        "b128" => 16,
        _ => ty
            .trim_start_matches(char::is_alphabetic)
            .trim_end_matches("x2")
            .parse::<usize>()
            .map_or(4, |bits| {
                if ty.ends_with("x2") {
                    bits / 4
                } else {
                    bits / 8
                }
            }),
    }
}

/// How many elements of a vector.
fn lanes(entity: &Entity<'_>) -> usize {
    match entity.row.of("vector") {
        "v2" => 2,
        "v4" => 4,
        _ => 1,
    }
}

/// The lengths behind the name.
fn lengths(entity: &Entity<'_>, copy: Copy) -> Vec<usize> {
    match (entity.row.of("shape"), entity.row.of("copies"), copy) {
        ("array", "smaller", Copy::Other) => vec![3],
        ("array", "larger", Copy::Other) => vec![9],
        ("array", ..) => vec![5],
        ("array-2d", ..) => vec![3, 4],
        ("large", ..) => vec![700],
        ("unsized", ..) => vec![8],
        _ => Vec::new(),
    }
}

fn is_unsized(entity: &Entity<'_>) -> bool {
    entity.row.is("shape", "unsized")
}

fn dimensions(entity: &Entity<'_>, copy: Copy) -> String {
    if is_unsized(entity) {
        return "[]".to_owned();
    }
    let mut out = String::new();
    for length in lengths(entity, copy) {
        let _ = write!(out, "[{length}]");
    }
    out
}

/// What stands between the linking directive and the name.
fn head(entity: &Entity<'_>, copy: Copy, ty: &str) -> String {
    let row = &entity.row;
    let attribute = match row.of("attribute") {
        "managed" => ".attribute(.managed) ".to_owned(),
        "unified" => format!(".attribute(.unified({}, 95)) ", entity.number),
        _ => String::new(),
    };
    let align = match (row.of("align"), row.of("copies"), copy) {
        ("none", ..) => String::new(),
        ("64", "other-alignment", Copy::Other) => ".align 16 ".to_owned(),
        (_, "other-alignment", Copy::Other) => ".align 64 ".to_owned(),
        (align, ..) => format!(".align {align} "),
    };
    let vector = match row.of("vector") {
        "none" => String::new(),
        vector => format!(".{vector} "),
    };
    let vector = if ty == row.of("type") {
        vector
    } else {
        String::new()
    };
    format!(".{} {attribute}{align}{vector}.{ty}", row.of("space"))
}

/// The definition of a variable in a file.
pub fn definition(program: &Program<'_>, entity: &Entity<'_>, file: usize) -> String {
    let row = &entity.row;
    let copy = copy(entity, file);
    let strong = copy == Copy::Other && row.is("copies", "strong");
    let linkage = match row.of("linkage") {
        _ if strong => ".visible ".to_owned(),
        "none" => String::new(),
        linkage => format!(".{linkage} "),
    };
    let head = head(entity, copy, row.of("type"));
    let value = initialiser(program, entity, copy);
    let dimensions = dimensions(entity, copy);
    format!("{linkage}{head} {}{dimensions}{value};\n", entity.name)
}

/// Its declaration in a file: as the file defines it, or as it sees what another defines.
pub fn declaration(entity: &Entity<'_>, file: usize) -> String {
    let row = &entity.row;
    let (view, copy) = match entity.is_in(file) {
        true => ("exact", copy(entity, file)),
        false => (row.of("view"), Copy::Home),
    };
    let all: usize = lengths(entity, copy).iter().product();
    let bytes = size(row.of("type")) * lanes(entity) * all;
    let (ty, dimensions) = match view {
        "unsized" => (row.of("type"), "[]".to_owned()),
        "other-type" if !is_unsized(entity) => ("b8", format!("[{bytes}]")),
        _ => (row.of("type"), dimensions(entity, copy)),
    };
    let head = head(entity, copy, ty);
    let line = format!(".extern {head} {}{dimensions};\n", entity.name);
    match view {
        "repeated" => line.repeat(2),
        _ => line,
    }
}

/// A number as a constant of a type.
fn number(ty: &str, value: usize) -> String {
    match ty {
        "f32" => format!("0f{:08x}", 0x3f80_0000 + value),
        "f64" => format!("0d{:016x}", 0x3ff0_0000_0000_0000 + value),
        "b8" | "u8" => (value % 250).to_string(),
        "s8" => (value % 120).to_string(),
        _ => value.to_string(),
    }
}

fn zero(ty: &str) -> &'static str {
    match ty {
        "f32" => "0f00000000",
        "f64" => "0d0000000000000000",
        _ => "0",
    }
}

fn initialiser(program: &Program<'_>, entity: &Entity<'_>, copy: Copy) -> String {
    let row = &entity.row;
    let ty = row.of("type");
    let kind = row.of("initialiser");
    let other = copy == Copy::Other && row.is("copies", "other-value");
    let strong = copy == Copy::Other && row.is("copies", "strong");
    let base = if other { 50 } else { 1 };
    let pointee = entity
        .pointee
        .and_then(|index| program.entities.get(index))
        .map_or("", |pointee| pointee.name.as_str());
    let all = lengths(entity, copy).iter().product::<usize>();
    let element = |at: usize| -> Option<String> {
        let lanes = lanes(entity);
        let many = match kind {
            "zero" => 1,
            "part" => all.div_ceil(2).min(90),
            _ => all.min(300),
        };
        if at >= many {
            return None;
        }
        Some(match kind {
            "address" | "function" | "kernel" => pointee.to_owned(),
            "generic" => format!("generic({pointee})"),
            "offset" => format!("{pointee}+{}", 4 * at + 4),
            "generic-offset" => format!("generic({pointee})+{}", 4 * at + 4),
            "mask" => format!("0x{:X}({pointee})", 0xff_u64 << (8 * (at % 8))),
            "mixed" => match at % 4 {
                0 => number(ty, at + 7),
                1 => pointee.to_owned(),
                2 => format!("generic({pointee})"),
                _ => format!("{pointee}+8"),
            },
            "zero" => match lanes {
                1 => zero(ty).to_owned(),
                _ => format!("{{{}}}", vec![zero(ty); lanes].join(", ")),
            },
            _ if lanes > 1 => {
                let lanes: Vec<String> = (0..lanes)
                    .map(|lane| number(ty, base + at + lane))
                    .collect();
                format!("{{{}}}", lanes.join(", "))
            }
            _ => number(ty, base + at),
        })
    };
    if kind == "none" && !strong {
        return String::new();
    }
    let lengths = lengths(entity, copy);
    let list = |from: usize, to: usize| {
        let some: Vec<String> = (from..to).map_while(element).collect();
        (!some.is_empty()).then(|| format!("{{{}}}", some.join(", ")))
    };
    match lengths[..] {
        [] => element(0).map_or_else(String::new, |value| format!(" = {value}")),
        [rows, columns] => {
            let rows: Vec<String> = (0..rows)
                .map_while(|row| list(row * columns, (row + 1) * columns))
                .collect();
            format!(" = {{{}}}", rows.join(", "))
        }
        _ => format!(" = {}", list(0, all).unwrap_or_default()),
    }
}

/// A use of a variable by code.
pub fn usage(entity: &Entity<'_>) -> String {
    let row = &entity.row;
    let (name, space) = (&entity.name, row.of("space"));
    let width = match row.of("align") {
        "1" => 1,
        _ => size(row.of("type")).min(4),
    };
    let ty = format!("u{}", 8 * width);
    let volatile = if space == "const" { "" } else { ".volatile" };
    match row.of("use") {
        "store" => format!("st.{space}.{ty} [{name}], acc;"),
        "address" => format!("mov.u64 d0, {name}; cvt.u32.u64 r0, d0; add.u32 acc, acc, r0;"),
        "narrow-address" => format!("mov.u32 r0, {name}; add.u32 acc, acc, r0;"),
        "generic" => format!(
            "mov.u64 d0, {name}; cvta.{space}.u64 d1, d0; ld.{ty} r0, [d1]; add.u32 acc, acc, r0;"
        ),
        "generic-store" => {
            format!("mov.u64 d0, {name}; cvta.{space}.u64 d1, d0; st.{ty} [d1], acc;")
        }
        "atomic" => format!("atom.{space}.add.u32 r0, [{name}], acc; add.u32 acc, acc, r0;"),
        "index" => format!(
            "mov.u64 d0, {name}; mul.wide.u32 d1, acc, {width}; add.u64 d2, d0, d1; ld{volatile}.{space}.{ty} r0, [d2]; \
             add.u32 acc, acc, r0;"
        ),
        _ => format!("ld{volatile}.{space}.{ty} r0, [{name}]; add.u32 acc, acc, r0;"),
    }
}
