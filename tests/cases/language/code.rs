//! PTX of functions, kernels and calls.

use std::fmt::Write as _;

use super::program::Entity;
use super::tables::Tables;

/// A parameter: alignment and size, or a type.
enum Parameter<'a> {
    Scalar(&'a str),
    Bytes(usize, usize),
    List,
}

fn parameters(text: &str) -> Vec<Parameter<'_>> {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words
        .map(|word| match word.split_once(':') {
            Some((align, size)) => {
                Parameter::Bytes(align.parse().unwrap_or(4), size.parse().unwrap_or(4))
            }
            None if word == "list" => Parameter::List,
            None => Parameter::Scalar(word),
        })
        .collect()
}

impl Parameter<'_> {
    fn declared(&self, name: &str, called: bool) -> String {
        match self {
            Parameter::Scalar(ty) => format!(".param .{ty} {name}"),
            Parameter::Bytes(align, size) => format!(".param .align {align} .b8 {name}[{size}]"),
            Parameter::List if called => format!(".param .align 8 .b8 {name}[16]"),
            Parameter::List => format!(".param .align 8 .b8 {name}[]"),
        }
    }

    /// Reads it into `acc`.
    fn load(&self, name: &str) -> String {
        match self {
            Parameter::Scalar("b64") => {
                format!("ld.param.b64 d0, [{name}]; cvt.u32.u64 r0, d0; xor.b32 acc, acc, r0;\n")
            }
            Parameter::Scalar("f64") => {
                format!(
                    "ld.param.f64 e0, [{name}]; cvt.rzi.u32.f64 r0, e0; xor.b32 acc, acc, r0;\n"
                )
            }
            Parameter::Scalar("f32") => {
                format!(
                    "ld.param.f32 f0, [{name}]; cvt.rzi.u32.f32 r0, f0; xor.b32 acc, acc, r0;\n"
                )
            }
            Parameter::Scalar(ty) => {
                format!("ld.param.{ty} r0, [{name}]; xor.b32 acc, acc, r0;\n")
            }
            Parameter::Bytes(1, size) => {
                format!(
                    "ld.param.b8 r0, [{name}+{}]; xor.b32 acc, acc, r0;\n",
                    size - 1
                )
            }
            Parameter::Bytes(_, size) => {
                format!(
                    "ld.param.b32 r0, [{name}+{}]; xor.b32 acc, acc, r0;\n",
                    size - 4
                )
            }
            Parameter::List => format!("ld.param.b32 r0, [{name}]; xor.b32 acc, acc, r0;\n"),
        }
    }

    /// Writes `acc` into it.
    fn store(&self, name: &str) -> String {
        match self {
            Parameter::Scalar("b64") => {
                format!("cvt.u64.u32 d0, acc; st.param.b64 [{name}], d0;\n")
            }
            Parameter::Scalar("f64") => {
                format!("cvt.rn.f64.u32 e0, acc; st.param.f64 [{name}], e0;\n")
            }
            Parameter::Scalar("f32") => {
                format!("cvt.rn.f32.u32 f0, acc; st.param.f32 [{name}], f0;\n")
            }
            Parameter::Scalar(ty) => format!("st.param.{ty} [{name}], acc;\n"),
            Parameter::Bytes(align, size) => {
                let step = if *align == 1 { 1 } else { 4 };
                let mut out = String::new();
                for at in (0..*size).step_by(step) {
                    let _ = write!(out, "st.param.b{} [{name}+{at}], acc; ", 8 * step);
                }
                out + "\n"
            }
            Parameter::List => format!("st.param.b32 [{name}+4], acc;\n"),
        }
    }
}

/// The registers that a statement has for itself.
const REGISTERS: &str = ".reg .b32 r<8>; .reg .b64 d<8>; .reg .f32 f<8>; .reg .f64 e<8>; .reg .b16 h<4>; .reg .pred p<4>;";

/// A statement in its own scope.
pub fn scoped(text: &str) -> String {
    format!("{{ {REGISTERS}\n{text}\n}}\n")
}

/// `(result) name (parameters)` of a function; of what is called if `name` is `_`.
pub fn signature(entity: &Entity<'_>, name: &str) -> String {
    let join = |text: &str, letter: char| {
        let all = parameters(text).into_iter().enumerate();
        let all: Vec<String> = all
            .map(|(index, parameter)| {
                let own = match name {
                    "_" => "_".to_owned(),
                    _ => format!("{letter}{index}"),
                };
                parameter.declared(&own, false)
            })
            .collect();
        all.join(", ")
    };
    let result = join(entity.row.of("result"), 'z');
    let result = match result.is_empty() {
        true => String::new(),
        false => format!("({result}) "),
    };
    let end = match entity.row.of("attribute") {
        "noreturn" => " .noreturn",
        "abi-preserve" => " .abi_preserve 8",
        _ => "",
    };
    format!(
        "{result}{name} ({}){end}",
        join(entity.row.of("parameters"), 'a')
    )
}

/// `.func` and what follows it in a declaration or definition.
pub fn header(entity: &Entity<'_>) -> String {
    let attribute = match entity.row.of("attribute") {
        "unified" => format!(".attribute(.unified({}, 11)) ", entity.number),
        _ => String::new(),
    };
    format!(".func {attribute}{}", signature(entity, &entity.name))
}

/// A body: its parameters, the statements of its row and further ones, and the end.
pub fn body(entity: &Entity<'_>, file: usize, tables: &Tables, uses: &str) -> String {
    let row = &entity.row;
    let is_kernel = entity.kind == super::tables::Kind::Kernel;
    let mut out = "{\n.reg .b32 acc;\n.reg .b64 sink;\nmov.u64 sink, 4096;\nmov.u32 acc, %tid.x;\n"
        .to_owned();
    if row.is("attribute", "pragma") || row.is("directives", "pragma") {
        out += ".pragma \"nounroll\";\n";
    }
    let mut loads = String::new();
    if is_kernel {
        loads += &kernel_loads(row.of("parameters"));
    } else {
        for (index, parameter) in parameters(row.of("parameters")).iter().enumerate() {
            loads += &parameter.load(&format!("a{index}"));
        }
    }
    out += &scoped(&loads);
    out += &frame(row.of("frame"));
    for name in ["first", "second"] {
        out += &statement(tables, row.of(name), file);
    }
    out += uses;
    if entity.home != file && row.is("copies", "other-body") {
        out += "mad.lo.u32 acc, acc, 5, 99; st.volatile.global.u32 [sink+512], acc;\n";
        out += &pressure("80");
    }
    out += &pressure(row.of("registers"));
    if is_kernel {
        out += "st.volatile.global.u32 [sink+64], acc;\n";
    } else {
        let mut stores = String::new();
        for (index, parameter) in parameters(row.of("result")).iter().enumerate() {
            stores += &parameter.store(&format!("z{index}"));
        }
        out += &scoped(&stores);
        if stores.is_empty() {
            out += "st.volatile.global.u32 [sink+128], acc;\n";
        }
    }
    out += match row.of("attribute") {
        "noreturn" => "exit;\n}\n",
        _ => "ret;\n}\n",
    };
    out
}

/// A statement of the table.
fn statement(tables: &Tables, name: &str, file: usize) -> String {
    match tables.statements.get(name) {
        Some(statement) if !statement.ptx.is_empty() => {
            scoped(&statement.ptx.replace("%F", &file.to_string()))
        }
        _ => String::new(),
    }
}

fn frame(bytes: &str) -> String {
    let Ok(size) = bytes.parse::<usize>() else {
        return String::new();
    };
    let mask = (size - 1) & !3;
    format!(
        "{{ .local .align 8 .b8 frame[{size}]; .reg .b32 r<2>; .reg .b64 d<3>;\nmov.u64 d0, frame; and.b32 r0, acc, {mask}; \
         cvt.u64.u32 d1, r0; add.u64 d2, d0, d1; st.local.u32 [d2], acc; ld.local.u32 r1, [frame]; \
         add.u32 acc, acc, r1;\n}}\n"
    )
}

/// Many values that live at once.
fn pressure(many: &str) -> String {
    let Ok(count) = many.parse::<usize>() else {
        return String::new();
    };
    let mut out = format!("{{ .reg .b32 x<{count}>;\n");
    for at in 0..count {
        let _ = writeln!(out, "mov.u32 x{at}, %clock;");
    }
    for at in 0..count {
        let _ = writeln!(out, "mad.lo.u32 acc, acc, 3, x{at};");
    }
    out + "}\n"
}

fn kernel_words(text: &str) -> &str {
    match text {
        "pointer" | "shared-pointer" => "b64",
        other => other,
    }
}

fn kernel_loads(text: &str) -> String {
    let mut out = String::new();
    for (index, parameter) in parameters(kernel_words(text)).iter().enumerate() {
        out += &parameter.load(&format!("a{index}"));
    }
    out
}

/// `.entry` with parameters and directives.
pub fn kernel_header(entity: &Entity<'_>, tables: &Tables) -> String {
    let row = &entity.row;
    let text = row.of("parameters");
    let list = match text {
        "pointer" => ".param .u64 .ptr .global .align 16 a0".to_owned(),
        "shared-pointer" => ".param .u64 .ptr .shared .align 8 a0".to_owned(),
        _ => {
            let all = parameters(text).into_iter().enumerate();
            let all: Vec<String> = all
                .map(|(index, parameter)| parameter.declared(&format!("a{index}"), false))
                .collect();
            all.join(", ")
        }
    };
    let directives = row.of("directives");
    let directives = tables.directives.get(directives).map_or("", String::as_str);
    format!(".entry {}({list}) {directives}", entity.name)
}

/// A call; `how` is the value of the dimension. What a table holds is loaded from `table`.
pub fn call(entity: &Entity<'_>, how: &str, table: &str) -> String {
    let row = &entity.row;
    let arguments = parameters(row.of("parameters"));
    let results = parameters(row.of("result"));
    let name = &entity.name;
    if how == "address" {
        return scoped(&format!(
            "mov.u64 d0, {name}; cvt.u32.u64 r0, d0; add.u32 acc, acc, r0;"
        ));
    }
    let mut text = String::new();
    let mut before = String::new();
    let mut target = name.clone();
    let mut last = String::new();
    let prototype = format!("proto: .callprototype {};\n", signature(entity, "_"));
    match how {
        "targets" => {
            before = format!("mov.u64 d7, {name};\nlist: .calltargets {name};\n");
            target = "d7".to_owned();
            last = ", list".to_owned();
        }
        "prototype" => {
            before = format!("mov.u64 d7, {name};\n{prototype}");
            target = "d7".to_owned();
            last = ", proto".to_owned();
        }
        "global-table" | "const-table" => {
            let space = how.trim_end_matches("-table");
            before = format!(
                "and.b32 r7, acc, 8; cvt.u64.u32 d6, r7; mov.u64 d5, {table}; add.u64 d5, d5, d6; ld.{space}.u64 d7, [d5];\n{prototype}"
            );
            target = "d7".to_owned();
            last = ", proto".to_owned();
        }
        "predicated" => before = "setp.gt.u32 p0, acc, 9; @!p0 bra over;\n".to_owned(),
        _ => {}
    }
    text += &before;
    for (index, parameter) in arguments.iter().enumerate() {
        let name = format!("x{index}");
        let _ = writeln!(text, "{};", parameter.declared(&name, true));
        text += &parameter.store(&name);
    }
    for (index, parameter) in results.iter().enumerate() {
        let _ = writeln!(text, "{};", parameter.declared(&format!("y{index}"), true));
    }
    let names = |letter: char, count: usize| {
        let names: Vec<String> = (0..count).map(|index| format!("{letter}{index}")).collect();
        format!("({})", names.join(", "))
    };
    let result = match results.is_empty() {
        true => String::new(),
        false => format!("{}, ", names('y', results.len())),
    };
    let list = names('x', arguments.len());
    let uniform = if how == "uniform" { ".uni" } else { "" };
    let _ = writeln!(text, "call{uniform} {result}{target}, {list}{last};");
    for (index, parameter) in results.iter().enumerate() {
        text += &parameter.load(&format!("y{index}"));
    }
    if how == "predicated" {
        text += "over: add.u32 acc, acc, 1;\n";
    }
    scoped(&text)
}
