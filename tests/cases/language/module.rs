//! One file of a program as PTX.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::program::{Entity, Program};
use super::tables::{Kind, Tables};
use super::{code, variables};
use crate::mutate::mutation::Numbers;

/// What a file is made of, in parts whose order the layout says.
struct Module<'a, 'tables> {
    program: &'a Program<'tables>,
    tables: &'tables Tables,
    file: usize,
    /// Entities that it refers to.
    named: BTreeSet<usize>,
    /// Tables of functions.
    address_tables: String,
    /// Functions that call for others.
    helpers: String,
}

/// The text of a file that states an architecture.
pub fn text(
    program: &Program<'_>,
    tables: &Tables,
    file: usize,
    target: &str,
    seed: u32,
) -> String {
    let mut module = Module {
        program,
        tables,
        file,
        named: BTreeSet::new(),
        address_tables: String::new(),
        helpers: String::new(),
    };
    let link = &program.link;
    let mut numbers = Numbers::new(seed ^ (file as u32 + 1) << 27);
    let bodies = module.bodies(&mut numbers);
    let mut out = format!(".version {}\n.target {target}", link.of("version"));
    if link.is("debug", "dwarf") {
        out += ", debug";
    }
    out += "\n.address_size 64\n";
    if !link.is("debug", "none") {
        let _ = write!(out, ".file 1 \"first{file}.cu\"\n.file 2 \"common.h\"\n");
    }
    out += &module.statement_declarations();
    out += &module.declarations();
    let code = match link.is("debug", "none") {
        true => bodies,
        false => with_lines(&bodies),
    };
    let late = module.definitions(is_late);
    let tables = &module.address_tables;
    match link.of("layout") {
        "uses-first" => {
            let forward = module.forward();
            let own = module.definitions(|entity| is_own(entity) && !is_late(entity));
            let others = module.definitions(|entity| !is_own(entity) && !is_late(entity));
            let _ = write!(out, "{forward}{own}{tables}{code}{others}{late}");
        }
        _ => {
            let early = module.definitions(|entity| !is_late(entity));
            let _ = write!(out, "{early}{tables}{code}{late}");
        }
    }
    if link.is("debug", "dwarf") {
        out += &dwarf(file);
    }
    out
}

impl<'tables> Module<'_, 'tables> {
    fn entities(&self) -> impl Iterator<Item = (usize, &Entity<'tables>)> {
        self.program.entities.iter().enumerate()
    }

    /// All bodies; those that refer to entities are drawn.
    fn bodies(&mut self, numbers: &mut Numbers) -> String {
        let program = self.program;
        let file = self.file;
        let own: Vec<usize> = self
            .entities()
            .filter(|(_, entity)| entity.kind != Kind::Variable && entity.is_in(file))
            .map(|(index, _)| index)
            .collect();
        // The kernel that every file has comes last.
        let mut uses = vec![String::new(); own.len() + 1];
        for (index, entity) in program.entities.iter().enumerate() {
            if !entity.users.contains(&file) {
                continue;
            }
            self.named.insert(index);
            let at = numbers.below(uses.len());
            let text = self.usage(entity);
            if let Some(uses) = uses.get_mut(at) {
                *uses += &text;
            }
        }
        let mut out = String::new();
        for (index, uses) in own.iter().zip(&uses) {
            let Some(entity) = program.entities.get(*index) else {
                continue;
            };
            let linkage = linkage(entity, file);
            let header = match entity.kind {
                Kind::Kernel => code::kernel_header(entity, self.tables),
                _ => code::header(entity),
            };
            let mut uses = uses.clone();
            if entity.row.is("call", "recursive") && !entity.row.is("attribute", "noreturn") {
                uses += &code::call(entity, "predicated", "");
            }
            let body = code::body(entity, file, self.tables, &uses);
            let _ = write!(out, "{linkage}{header}\n{body}");
        }
        let uses = uses.last().cloned().unwrap_or_default();
        let helpers = std::mem::take(&mut self.helpers);
        format!(
            "{helpers}{out}.visible .entry main{file}(.param .b64 a0)\n{{\n.reg .b32 acc;\n.reg .b64 sink;\nmov.u64 sink, 4096;\nmov.u32 acc, %tid.x;\n{uses}\
             st.volatile.global.u32 [sink+32], acc;\nret;\n}}\n"
        )
    }

    /// A reference by code of this file.
    fn usage(&mut self, entity: &Entity<'_>) -> String {
        match entity.kind {
            Kind::Variable => code::scoped(&variables::usage(entity)),
            Kind::Kernel => code::scoped(&format!(
                "mov.u64 d0, {}; cvt.u32.u64 r0, d0; add.u32 acc, acc, r0;",
                entity.name
            )),
            _ => {
                let how = entity.row.of("call");
                let table = format!("table{}_{}", self.file, entity.name.replace('$', "_"));
                if let "global-table" | "const-table" = how {
                    let (space, name) = (how.trim_end_matches("-table"), &entity.name);
                    let _ = writeln!(
                        self.address_tables,
                        ".{space} .align 8 .u64 {table}[2] = {{{name}, {name}}};"
                    );
                }
                let call = code::call(entity, how, &table);
                if how != "from-function" {
                    return call;
                }
                let helper = format!("help{}_{}", self.file, entity.name.replace('$', "_"));
                let _ = write!(
                    self.helpers,
                    ".func {helper}()\n{{\n.reg .b32 acc;\n.reg .b64 sink;\nmov.u64 sink, 4096;\nmov.u32 acc, %tid.y;\n{call}st.volatile.global.u32 [sink+256], acc;\nret;\n}}\n"
                );
                code::scoped(&format!("call {helper};"))
            }
        }
    }

    /// What statements of this file need.
    fn statement_declarations(&self) -> String {
        let mut lines = BTreeSet::new();
        for (_, entity) in self
            .entities()
            .filter(|(_, entity)| entity.is_in(self.file))
        {
            for name in ["first", "second"] {
                if let Some(statement) = self.tables.statements.get(entity.row.of(name)) {
                    lines.insert(statement.module.replace("%F", &self.file.to_string()));
                }
            }
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// Declarations of what other files define, and prototypes of this file's functions.
    fn declarations(&self) -> String {
        let mut out = String::new();
        let mut needed = self.named.clone();
        for (_, entity) in self
            .entities()
            .filter(|(_, entity)| entity.is_in(self.file))
        {
            needed.extend(entity.pointee);
        }
        for (index, entity) in self.entities() {
            let here = entity.is_in(self.file);
            match entity.kind {
                Kind::Variable if !here && needed.contains(&index) => {
                    out += &variables::declaration(entity, self.file);
                }
                Kind::Variable if here && entity.row.is("view", "repeated") => {
                    out += &variables::declaration(entity, self.file);
                }
                Kind::Function if here || needed.contains(&index) => {
                    let linkage = if here {
                        linkage(entity, self.file)
                    } else {
                        ".extern ".to_owned()
                    };
                    let _ = writeln!(out, "{linkage}{};", code::header(entity));
                }
                Kind::Kernel if needed.contains(&index) => {
                    let linkage = if here {
                        linkage(entity, self.file)
                    } else {
                        ".extern ".to_owned()
                    };
                    let mut header = code::kernel_header(entity, self.tables);
                    header.truncate(header.find(')').map_or(header.len(), |end| end + 1));
                    let _ = writeln!(out, "{linkage}{header};");
                }
                _ => {}
            }
        }
        out
    }

    /// The definitions of those of its variables that are of a sort.
    fn definitions(&self, is_of_sort: fn(&Entity<'_>) -> bool) -> String {
        let variables = self.entities().filter(|(_, entity)| {
            entity.kind == Kind::Variable && entity.is_in(self.file) && is_of_sort(entity)
        });
        variables
            .map(|(_, entity)| variables::definition(self.program, entity, self.file))
            .collect()
    }

    /// Declarations of variables that are defined later.
    fn forward(&self) -> String {
        let visible = self.entities().filter(|(_, entity)| {
            entity.kind == Kind::Variable && entity.is_in(self.file) && !is_own(entity)
        });
        visible
            .map(|(_, entity)| variables::declaration(entity, self.file))
            .collect()
    }
}

/// Whether a definition has to come after the kernels.
fn is_late(entity: &Entity<'_>) -> bool {
    entity.row.is("initialiser", "kernel")
}

/// Whether it belongs to its file, so that nothing can declare it.
fn is_own(entity: &Entity<'_>) -> bool {
    entity.row.is("linkage", "none")
}

/// The linking directive of a definition.
fn linkage(entity: &Entity<'_>, file: usize) -> String {
    if entity.home != file && entity.row.is("copies", "strong") {
        return ".visible ".to_owned();
    }
    match entity.row.of("linkage") {
        "none" => String::new(),
        linkage => format!(".{linkage} "),
    }
}

/// The text with a line of source for each line.
fn with_lines(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for (number, line) in text.lines().enumerate() {
        let opens = line.matches('{').count();
        if depth > 0 && opens == 0 && number % 2 == 0 && !line.starts_with('}') {
            let _ = writeln!(
                out,
                ".loc {} {} {}",
                1 + number % 7 / 6,
                number + 1,
                number % 9 + 1
            );
        }
        depth = (depth + opens).saturating_sub(line.matches('}').count());
        out += line;
        out.push('\n');
    }
    out
}

/// A compile unit.
fn dwarf(file: usize) -> String {
    format!(
        ".section .debug_abbrev\n{{\n.b8 1,17,1,37,8,19,11,3,8,16,6,0,0\n.b8 0\n}}\n.section .debug_info\n{{\n.b32 20\n.b8 2,0\n\
         .b32 .debug_abbrev\n.b8 8,1,97,0,4,{},0\n.b32 .debug_line\n.b8 0,0,0\n}}\n",
        97 + file
    )
}
