//! The programs that are linked: each shape grows along one variable.

use std::path::Path;

use cuweld_benches::OWN;
use cuweld_benches::renamed;

use crate::ptx;
use crate::ptx::call;
use crate::ptx::foreign;
use crate::tools::Failure;
use crate::tools::Tools;
use crate::wrap;
use crate::wrap::Wrapping;

/// How the inputs of a shape come about.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Two objects of a function each.
    Tiny,
    /// Objects with a kernel and two functions; with calls of two other objects.
    Lean,
    /// The same without these calls.
    Flat,
    /// Objects with kernels, functions, weak functions, data, shared memory; with tables of
    /// functions and indirect calls.
    Mixed,
    /// The same without tables.
    MixedWithoutTables,
    /// Objects that define the same weak functions, this many.
    Weak(usize),
    /// Objects with a table of four functions and a kernel that calls through it.
    VirtualObjects,
    /// Objects with a function each that calls that of the next.
    Chain,
    /// Objects that no kernel needs.
    Dead,
    /// One object of kernels.
    Kernels,
    /// One object of functions, 50 of which are called.
    Leaves,
    /// One object of kernels that call through a table of as many functions.
    Indirect,
    /// One object of kernels that begin the same chain of functions, this long.
    Fan(usize),
    /// One object with layers of two functions, each of which calls both of the next.
    Diamond,
    /// One object with an array of this many MiB.
    Data,
    /// One object with a table of addresses.
    Table,
    /// Objects with an array of 256 KiB, in one of these wrappings.
    Blocks(Wrapping),
    /// Host objects of a program in C++ with templates and virtual functions.
    Classes,
}

/// One link.
pub struct Case {
    /// Its name, with that of the target unless that is sm_90.
    pub name: &'static str,
    /// The target.
    pub sm: &'static str,
    /// The shape.
    pub shape: Shape,
    /// How large it is.
    pub size: usize,
    /// How many times faster than nvlink it is to be.
    pub aim: Option<f64>,
    /// Whether it is measured only when all is.
    pub long: bool,
}

const fn case(name: &'static str, shape: Shape, size: usize, aim: f64) -> Case {
    Case {
        name,
        sm: "sm_90",
        shape,
        size,
        aim: if aim > 0.0 { Some(aim) } else { None },
        long: false,
    }
}

const fn mercury(case: Case) -> Case {
    Case {
        sm: "sm_100",
        ..case
    }
}

const fn long(case: Case) -> Case {
    Case { long: true, ..case }
}

/// Every link that is measured, smaller sizes of a shape first.
pub const CASES: &[Case] = &[
    case("tiny", Shape::Tiny, 2, 1.5),
    mercury(case("tiny-sm100", Shape::Tiny, 2, 3.0)),
    case("flat-1000", Shape::Flat, 1000, 0.0),
    case("flat-10000", Shape::Flat, 10_000, 50.0),
    case("lean-1000", Shape::Lean, 1000, 10.0),
    long(case("lean-5000", Shape::Lean, 5000, 200.0)),
    long(case("lean-10000", Shape::Lean, 10_000, 1000.0)),
    mercury(case("lean-1000-sm100", Shape::Lean, 1000, 50.0)),
    case("mixed-40", Shape::Mixed, 40, 0.0),
    case("mixed-100", Shape::Mixed, 100, 10.0),
    long(case("mixed-1000", Shape::Mixed, 1000, 1000.0)),
    mercury(case("mixed-100-sm100", Shape::Mixed, 100, 50.0)),
    case("mixednoic-150", Shape::MixedWithoutTables, 150, 0.0),
    long(case(
        "mixednoic-1500",
        Shape::MixedWithoutTables,
        1500,
        300.0,
    )),
    case("weak-100x100", Shape::Weak(100), 100, 10.0),
    case("weak-1000x100", Shape::Weak(100), 1000, 50.0),
    case("vtobj-100", Shape::VirtualObjects, 100, 0.0),
    case("vtobj-400", Shape::VirtualObjects, 400, 300.0),
    case("vtobj-800", Shape::VirtualObjects, 800, 0.0),
    case("chain-1000", Shape::Chain, 1000, 0.0),
    case("chain-10000", Shape::Chain, 10_000, 0.0),
    case("dead-1000", Shape::Dead, 1000, 0.0),
    case("dead-10000", Shape::Dead, 10_000, 0.0),
    case("kern-1000", Shape::Kernels, 1000, 0.0),
    case("kern-10000", Shape::Kernels, 10_000, 15.0),
    mercury(case("kern-4000-sm100", Shape::Kernels, 4000, 100.0)),
    case("leaf-4000", Shape::Leaves, 4000, 0.0),
    mercury(case("leaf-4000-sm100", Shape::Leaves, 4000, 50.0)),
    case("icall-400x400", Shape::Indirect, 400, 50.0),
    case("icall-1600x1600", Shape::Indirect, 1600, 0.0),
    case("kfan-300x100", Shape::Fan(100), 300, 0.0),
    case("kfan-1000x1000", Shape::Fan(1000), 1000, 1000.0),
    case("diamond-30", Shape::Diamond, 30, 1000.0),
    case("diamond-40", Shape::Diamond, 40, 0.0),
    case("diamond-2000", Shape::Diamond, 2000, 0.0),
    case("data-4", Shape::Data, 4, 0.0),
    case("data-32", Shape::Data, 32, 0.0),
    case("table-100000", Shape::Table, 100_000, 0.0),
    case("table-1000000", Shape::Table, 1_000_000, 0.0),
    case("blocks-160", Shape::Blocks(Wrapping::None), 160, 0.0),
    case(
        "blocks-zstd-160",
        Shape::Blocks(Wrapping::Fatbin("default")),
        160,
        0.0,
    ),
    case(
        "blocks-lz4-160",
        Shape::Blocks(Wrapping::Fatbin("speed")),
        160,
        0.0,
    ),
    case(
        "blocks-ar-160",
        Shape::Blocks(Wrapping::Archive("default")),
        160,
        0.0,
    ),
    case("classes-40", Shape::Classes, 40, 10.0),
];

/// A sequence of numbers that is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

impl Case {
    /// Returns `true` if two cases differ in their size alone.
    pub fn is_smaller_of(&self, other: &Case) -> bool {
        std::mem::discriminant(&self.shape) == std::mem::discriminant(&other.shape)
            && self.sm == other.sm
            && self.size < other.size
    }

    /// Returns `true` if nvlink's time for the shape explodes.
    pub fn is_explosive(&self) -> bool {
        matches!(
            self.shape,
            Shape::Diamond | Shape::Indirect | Shape::VirtualObjects
        )
    }

    /// Makes the inputs in a folder; returns their names in link order, and options that they need.
    pub fn make(&self, tools: &Tools, folder: &Path) -> Result<Vec<String>, Failure> {
        let size = self.size;
        match self.shape {
            Shape::Tiny => {
                let b = self.compile(tools, &ptx::leaf(".visible", "b", 7))?;
                let a = ptx::external("b") + &ptx::kernel("k", &call("b"));
                let a = self.compile(tools, &a)?;
                write_all(folder, [a, b])
            }
            Shape::Lean => self.clones(
                tools,
                folder,
                &[lean(0, true), lean(1, true)],
                &[lean(2, false)],
            ),
            Shape::Flat => self.clones(
                tools,
                folder,
                &[lean(0, false), lean(1, false)],
                &[lean(2, false)],
            ),
            Shape::Mixed => self.clones(
                tools,
                folder,
                &[mixed(0, true, true), mixed(1, true, true)],
                &[mixed(2, true, false)],
            ),
            Shape::MixedWithoutTables => self.clones(
                tools,
                folder,
                &[mixed(0, false, true), mixed(1, false, true)],
                &[mixed(2, false, false)],
            ),
            Shape::Weak(count) => self.clones(tools, folder, &[weak(count)], &[weak(count)]),
            Shape::VirtualObjects => {
                self.clones(tools, folder, &[virtual_object()], &[virtual_object()])
            }
            Shape::Chain => {
                let middle = ptx::external(&name(&foreign(0), 0))
                    + &ptx::function(".visible", &name(OWN, 0), &call(&name(&foreign(0), 0)));
                let end = ptx::leaf(".visible", &name(OWN, 0), 1);
                let middle = self.compile(tools, &middle)?;
                let end = self.compile(tools, &end)?;
                let top = ptx::external(&name(&foreign(0), 0))
                    + &ptx::kernel("k", &call(&name(&foreign(0), 0)));
                let top = renamed(&self.compile(tools, &top)?, 0, &[0]);
                let objects = (0..size).map(|index| {
                    let object = if index + 1 == size { &end } else { &middle };
                    renamed(object, index, &[index + 1])
                });
                write_all(folder, std::iter::once(top).chain(objects))
            }
            Shape::Dead => {
                let dead = ptx::leaf(".visible", &name(OWN, 0), 1)
                    + &ptx::function(".visible", &name(OWN, 1), &call(&name(OWN, 0)));
                let dead = self.compile(tools, &dead)?;
                let top = self.compile(tools, &ptx::kernel("k", ""))?;
                let objects = (0..size).map(|index| renamed(&dead, index, &[]));
                write_all(folder, objects.chain([top]))
            }
            Shape::Kernels => {
                let mut text = ptx::leaf(".visible", "f", 3);
                for index in 0..size {
                    text += &ptx::kernel(&format!("k_{index:06}"), &call("f"));
                }
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Leaves => {
                let mut text = String::new();
                let mut calls = String::new();
                for index in 0..size {
                    let name = format!("fn_{index:06}");
                    text += &ptx::leaf(".visible", &name, index);
                    if index % (size / 50).max(1) == 0 {
                        calls += &call(&name);
                    }
                }
                text += &ptx::kernel("k", &calls);
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Indirect => {
                let names: Vec<String> = (0..size).map(|index| format!("fn_{index:06}")).collect();
                let mut text: String = names.iter().map(|name| ptx::forward(name)).collect();
                text += &ptx::table("tab", &names);
                for (index, name) in names.iter().enumerate() {
                    text += &ptx::leaf(".visible", name, index);
                }
                for index in 0..size {
                    text += &ptx::kernel(
                        &format!("k_{index:05}"),
                        &ptx::indirect_call("tab", index, index),
                    );
                }
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Fan(length) => {
                let names: Vec<String> =
                    (0..length).map(|index| format!("fn_{index:06}")).collect();
                let mut text: String = names.iter().map(|name| ptx::forward(name)).collect();
                for pair in names.windows(2) {
                    text += &ptx::function(".visible", &pair[0], &call(&pair[1]));
                }
                text += &ptx::leaf(".visible", &names[length - 1], 1);
                for index in 0..size {
                    text += &ptx::kernel(&format!("k_{index:05}"), &call(&names[0]));
                }
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Diamond => {
                let name = |layer: usize, side: usize| format!("f_{layer}_{side}");
                let both = |layer| call(&name(layer, 0)) + &call(&name(layer, 1));
                let mut text = String::new();
                for layer in 0..size {
                    text += &(ptx::forward(&name(layer, 0)) + &ptx::forward(&name(layer, 1)));
                }
                for side in 0..2 {
                    text += &ptx::leaf(".visible", &name(size - 1, side), side);
                    for layer in 0..size - 1 {
                        text += &ptx::function(".visible", &name(layer, side), &both(layer + 1));
                    }
                }
                text += &ptx::kernel("k", &both(0));
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Data => {
                let mut numbers = Numbers(5);
                let words: Vec<u32> = (0..size << 18)
                    .map(|_| numbers.below(1 << 31) as u32)
                    .collect();
                let text = ptx::variable("big", &words)
                    + &ptx::kernel("k", " mov.u64 %rd4,big; ld.global.u32 %r1,[%rd4+64];\n");
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Table => {
                let names = vec!["f".to_owned(); size];
                let text = ptx::leaf(".visible", "f", 3)
                    + &ptx::table("tab", &names)
                    + &ptx::kernel("k", &ptx::indirect_call("tab", 0, 0));
                write_all(folder, [self.compile(tools, &text)?])
            }
            Shape::Blocks(wrapping) => {
                let mut numbers = Numbers(7);
                let words: Vec<u32> = (0..64 << 10).map(|_| numbers.below(1000) as u32).collect();
                let text = ptx::variable(&format!("{OWN}_big"), &words)
                    + &ptx::kernel(
                        &format!("{OWN}_k"),
                        &format!(" mov.u64 %rd4,{OWN}_big; ld.global.u32 %r1,[%rd4+64];\n"),
                    );
                let object = self.compile(tools, &text)?;
                let objects = (0..size).map(|index| renamed(&object, index, &[]));
                let names = write_all(folder, objects)?;
                wrap::wrap(folder, self.sm, names, wrapping)
            }
            Shape::Classes => wrap::classes(folder, &[self.sm], size),
        }
    }

    fn compile(&self, tools: &Tools, text: &str) -> Result<Vec<u8>, Failure> {
        tools.compile(self.sm, &(ptx::header(self.sm) + text))
    }

    /// Returns the objects that are copies of templates with other names; the last ones, which use
    /// no other object, of `ends`.
    fn clones(
        &self,
        tools: &Tools,
        folder: &Path,
        templates: &[String],
        ends: &[String],
    ) -> Result<Vec<String>, Failure> {
        let compiled = |texts: &[String]| -> Result<Vec<Vec<u8>>, Failure> {
            texts.iter().map(|text| self.compile(tools, text)).collect()
        };
        let (templates, ends) = (compiled(templates)?, compiled(ends)?);
        let count = self.size;
        let free = (count / 10).clamp(1, 64);
        let mut numbers = Numbers(1);
        let objects = (0..count).map(|index| {
            if index + free >= count {
                return renamed(&ends[index % ends.len()], index, &[]);
            }
            let window = 64.min(count - 1 - index);
            let used: Vec<usize> = (0..8).map(|_| index + 1 + numbers.below(window)).collect();
            renamed(&templates[index % templates.len()], index, &used)
        });
        write_all(folder, objects)
    }
}

/// Compiles the objects that tests and benchmarks are given where there is no ptxas.
pub fn write_templates(tools: &Tools, folder: &Path) -> Result<(), Failure> {
    for (name, text) in [("lean", lean(2, false)), ("mixed", mixed(2, true, false))] {
        let object = tools.compile("sm_90", &(ptx::header("sm_90") + &text))?;
        let path = folder.join(name).with_extension("cubin");
        std::fs::write(path, object).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Returns a mangled name of a function of an object.
fn name(object: &str, index: usize) -> String {
    format!("_ZN7{object}3fn{index}Eii")
}

/// Returns the name of a weak function, the same in all objects.
fn weak_name(index: usize) -> String {
    format!(
        "_ZN6commonI6Widget{}E7combineILi{index}EEEiiT0_",
        index % 10
    )
}

fn lean(seed: usize, uses: bool) -> String {
    let mut text = String::new();
    let mut calls = String::new();
    for index in 0..if uses { 2 } else { 0 } {
        let callee = name(&foreign(index), (seed + index) % 2);
        text += &ptx::external(&callee);
        calls += &call(&callee);
    }
    text += &ptx::variable(&format!("_ZN7{OWN}2gvE"), &[1, 2, 3, seed as u32]);
    text += &ptx::function(".visible", &name(OWN, 0), &calls);
    text += &ptx::leaf(".visible", &name(OWN, 1), seed + 3);
    text + &ptx::kernel(
        &format!("_ZN7{OWN}4kernEPii"),
        &(call(&name(OWN, 0))
            + &call(&name(OWN, 1))
            + &format!(" mov.u64 %rd4,_ZN7{OWN}2gvE; ld.global.u32 %r1,[%rd4];\n")),
    )
}

fn mixed(seed: usize, tables: bool, uses: bool) -> String {
    const FUNCTIONS: usize = 8;
    let mut numbers = Numbers(seed as u64 + 10);
    let mut text = String::new();
    let mut foreign_calls: Vec<String> = Vec::new();
    for index in 0..if uses { 6 } else { 0 } {
        let callee = name(&foreign(index % 4), index);
        text += &ptx::external(&callee);
        foreign_calls.push(call(&callee));
    }
    text += ".extern .shared .align 16 .b8 dynamic[];\n";
    let own: Vec<String> = (0..FUNCTIONS).map(|index| name(OWN, index)).collect();
    for function in &own {
        text += &ptx::forward(function);
    }
    for index in 0..3 {
        text += &ptx::variable(&format!("_ZN7{OWN}3gv{index}E"), &[7; 16]);
    }
    let weak: Vec<usize> = (0..6).map(|index| index * 10 + numbers.below(10)).collect();
    for index in &weak {
        text += &ptx::leaf(".weak", &weak_name(*index), *index);
    }
    let table = format!("_ZTVN7{OWN}5TableE");
    if tables {
        text += &ptx::table(&table, &own[..4]);
    }
    let local: Vec<String> = (0..3)
        .map(|index| format!("_ZN7{OWN}3hp{index}Eii"))
        .collect();
    for (index, function) in local.iter().enumerate() {
        text += &ptx::leaf("", function, index + 5);
    }
    for (index, function) in own.iter().enumerate() {
        let mut body = call(&local[numbers.below(3)]) + &call(&weak_name(weak[numbers.below(6)]));
        if let Some(foreign) = foreign_calls.get(index) {
            body += foreign;
        }
        if index + 1 < FUNCTIONS {
            body += &call(&own[index + 1 + numbers.below(FUNCTIONS - index - 1)]);
        }
        text += &ptx::function(".visible", function, &body);
    }
    for index in 0..2 {
        let kernel = format!("_ZN7{OWN}5kern{index}EPii");
        let mut body: String = own[..3].iter().map(|function| call(function)).collect();
        body += &format!(" mov.u64 %rd4,_ZN7{OWN}3gv{index}E; ld.global.u32 %r1,[%rd4+4];\n");
        body += match index {
            0 => " st.shared.u32 [tile+4],%r1; bar.sync 0; ld.shared.u32 %r1,[tile+8];\n",
            _ => " st.shared.u32 [dynamic+4],%r1; bar.sync 1; ld.shared.u32 %r1,[dynamic];\n",
        };
        if tables {
            body += &ptx::indirect_call(&table, index, index);
        }
        let shared = if index == 0 {
            " .shared .align 4 .b8 tile[512];\n"
        } else {
            ""
        };
        text += &ptx::kernel(&kernel, &(shared.to_owned() + &body));
    }
    text
}

fn weak(count: usize) -> String {
    let mut text: String = (0..count)
        .map(|index| ptx::leaf(".weak", &weak_name(index), index))
        .collect();
    let calls: String = (0..count)
        .step_by((count / 10).max(1))
        .map(|index| call(&weak_name(index)))
        .collect();
    text += &ptx::kernel(&format!("{OWN}_k"), &calls);
    text
}

fn virtual_object() -> String {
    let names: Vec<String> = (0..4).map(|index| format!("{OWN}_v{index}")).collect();
    let mut text: String = names.iter().map(|name| ptx::forward(name)).collect();
    text += &ptx::table(&format!("{OWN}_vt"), &names);
    for (index, name) in names.iter().enumerate() {
        text += &ptx::leaf(".visible", name, index);
    }
    text + &ptx::kernel(
        &format!("{OWN}_k"),
        &ptx::indirect_call(&format!("{OWN}_vt"), 0, 0),
    )
}

fn write_all(
    folder: &Path,
    objects: impl IntoIterator<Item = Vec<u8>>,
) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for (index, bytes) in objects.into_iter().enumerate() {
        let name = format!("o{index:05}.cubin");
        std::fs::write(folder.join(&name), bytes).map_err(|error| error.to_string())?;
        names.push(name);
    }
    Ok(names)
}
