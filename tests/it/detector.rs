//! Kernels that nvlink schedules anew, against nvlink: random kernels are compiled and linked by both, and what cuweld says of each is compared with
//! whether nvlink changed its code. Nothing without nvlink; `CUWELD_KERNELS=2000` takes more kernels.
#![allow(clippy::print_stdout, reason = "what was measured is shown")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::harness::link::Linker;
use crate::harness::oracle;
use cuweld_elf::check::{self, View};
use cuweld_elf::raw::RawRela;

/// Targets, each with a part of the kernels.
const TARGETS: [&str; 5] = ["sm_100", "sm_103", "sm_110", "sm_120", "sm_121"];

/// Kernels of one object.
const IN_OBJECT: usize = 25;

/// Numbers that are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// A kernel of some statements.
fn kernel(numbers: &mut Numbers, name: &str) -> String {
    let mut body = String::new();
    let count = 1 + numbers.below(8);
    let (mut labels, mut local) = (0, false);
    for _ in 0..count {
        let k = numbers.below(60);
        let _ = match numbers.below(24) {
            0 => writeln!(
                body,
                "ld.global.u32 %a, [%p+{}]; add.u32 %b, %b, %a;",
                4 * k
            ),
            1 => writeln!(body, "st.global.u32 [%p+{}], %b;", 4 * k),
            2 => writeln!(body, "mov.u32 %a, %tid.x; mad.lo.u32 %b, %a, {k}, %b;"),
            3 => writeln!(body, "mov.u32 %a, %ctaid.x; xor.b32 %b, %b, %a;"),
            4 => writeln!(
                body,
                "st.shared.u32 [s+{}], %b; bar.sync 0; ld.shared.u32 %a, [s+{}]; add.u32 %b, %b, %a;",
                4 * k,
                4 * (k / 2)
            ),
            5 => writeln!(body, "membar.gl;"),
            6 => writeln!(body, "membar.sys;"),
            7 => writeln!(body, "membar.cta;"),
            8 => writeln!(body, "fence.acq_rel.gpu;"),
            9 => writeln!(body, "st.release.gpu.global.u32 [%p+{}], %b;", 4 * k),
            10 => writeln!(
                body,
                "ld.acquire.gpu.global.u32 %a, [%p+{}]; add.u32 %b, %b, %a;",
                4 * k
            ),
            11 => writeln!(
                body,
                "atom.global.add.u32 %a, [%p+{}], %b; add.u32 %b, %b, %a;",
                4 * k
            ),
            12 => writeln!(body, "red.global.add.u32 [%p+{}], %b;", 4 * k),
            13 => writeln!(
                body,
                "cvt.rn.f32.u32 %f, %b; sqrt.approx.f32 %f, %f; cvt.rzi.u32.f32 %b, %f;"
            ),
            14 => writeln!(
                body,
                "cvt.rn.f64.u32 %d, %b; fma.rn.f64 %d, %d, %d, %d; cvt.rzi.u32.f64 %b, %d;"
            ),
            15 => {
                labels += 1;
                writeln!(
                    body,
                    "L{labels}: sub.u32 %n, %n, 1; ld.global.u32 %a, [%p]; add.u32 %b, %b, %a; setp.ne.u32 %q, %n, 0; @%q bra L{labels};"
                )
            }
            16 => {
                labels += 1;
                writeln!(
                    body,
                    "setp.lt.u32 %q, %b, {k}; @%q bra E{labels}; st.global.u32 [%p+{}], %n; E{labels}:",
                    4 * k
                )
            }
            17 => writeln!(
                body,
                "{{ .param .b32 x; .param .b32 y; st.param.b32 [x], %b; call (y), callee, (x); ld.param.b32 %b, [y]; }}"
            ),
            18 => {
                local = true;
                writeln!(
                    body,
                    "and.b32 %a, %b, 60; cvt.u64.u32 %l, %a; add.u64 %l, %l, %s; st.local.u32 [%l], %b; ld.local.u32 %a, [%s+8]; add.u32 %b, %b, %a;"
                )
            }
            19 => writeln!(body, "mov.u32 %a, %clock; add.u32 %b, %b, %a;"),
            20 => writeln!(body, "div.u32 %b, %b, %n;"),
            21 => writeln!(
                body,
                "shfl.sync.bfly.b32 %a, %b, {}, 31, -1; add.u32 %b, %b, %a;",
                k % 32
            ),
            22 => writeln!(
                body,
                "div.rn.f32 %f, %f, 0f40490fdb; cvt.rzi.u32.f32 %a, %f; add.u32 %b, %b, %a;"
            ),
            _ => writeln!(body, "mad.lo.u32 %b, %b, %n, {k};"),
        };
    }
    let depot = if local {
        ".local .align 4 .b8 depot[64];\nmov.u64 %s, depot;\n"
    } else {
        ""
    };
    let stored = if numbers.below(4) == 0 {
        ""
    } else {
        "st.global.u32 [%p], %b;\n"
    };
    format!(
        ".visible .entry {name}(.param .u64 p, .param .u32 n) {{\n.reg .b32 %a, %b, %n; .reg .b64 %p, %l, %s; .reg .f32 %f; .reg .f64 %d; .reg .pred %q;\n\
         {depot}ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; cvta.to.global.u64 %p, %p; mov.u32 %b, %n; mov.f32 %f, 0f3f800000;\n{body}{stored}ret;\n}}\n"
    )
}

fn object(numbers: &mut Numbers, target: &str) -> String {
    let mut text = format!(
        ".version 9.0\n.target {target}\n.address_size 64\n.shared .align 4 .b8 s[1024];\n\
         .extern .func (.param .b32 y) callee(.param .b32 x);\n"
    );
    for index in 0..IN_OBJECT {
        text.push_str(&kernel(numbers, &format!("k{index}")));
    }
    text
}

fn compile(tools: &Path, folder: &Path, name: &str, target: &str, text: &str, debug: bool) {
    std::fs::write(folder.join(format!("{name}.ptx")), text).unwrap();
    let done = Command::new(tools.join("ptxas"))
        .args([
            "-c",
            "-arch",
            target,
            &format!("{name}.ptx"),
            "-o",
            &format!("{name}.cubin"),
        ])
        .args(debug.then_some("-g"))
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}\n{text}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// The code of a function, with the instructions that relocations change left out.
fn code(view: &View<'_>, name: &str, skip: &BTreeSet<usize>) -> Vec<u8> {
    let section = format!(".text.{name}");
    let found = view
        .sections
        .iter()
        .find(|row| row.name == section.as_bytes());
    let instructions = found
        .map_or(&[][..], |row| row.bytes)
        .chunks(16)
        .enumerate();
    let kept = instructions.filter(|(index, _)| !skip.contains(index));
    kept.flat_map(|(_, bytes)| bytes.iter().copied()).collect()
}

fn relocated(view: &View<'_>, name: &str) -> BTreeSet<usize> {
    let section = format!(".rela.text.{name}");
    let found = view
        .sections
        .iter()
        .find(|row| row.name == section.as_bytes());
    let rows: &[RawRela] = found.map_or(&[], |row| check::rows(row.bytes));
    rows.iter()
        .map(|row| row.offset.get() as usize / 16)
        .collect()
}

/// The kernels that cuweld names in what it says.
fn named(lines: &[String]) -> BTreeSet<String> {
    let kernels = lines.iter().filter_map(|line| line.split_once("kernel '"));
    kernels
        .filter_map(|(_, rest)| Some(rest.split_once('\'')?.0.to_owned()))
        .collect()
}

#[test]
fn kernels_that_nvlink_changes_are_known() {
    let Some(tools) = oracle::tools() else { return };
    let wanted = std::env::var("CUWELD_KERNELS")
        .ok()
        .and_then(|text| text.parse().ok());
    let wanted: usize = wanted.unwrap_or(TARGETS.len() * IN_OBJECT);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let callee = |target: &str| {
        format!(
            ".version 9.0\n.target {target}\n.address_size 64\n.visible .func (.param .b32 y) callee(.param .b32 x) {{\n.reg .b32 %a;\n\
             ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, 7; st.param.b32 [y], %a; ret;\n}}\n"
        )
    };
    for target in TARGETS {
        for (name, debug) in [("callee", false), ("callee-debug", true)] {
            let name = format!("{name}-{target}");
            compile(&tools, folder, &name, target, &callee(target), debug);
        }
    }
    let (mut kernels, mut changed, mut refused, mut wrong) = (0, 0, 0, Vec::new());
    for (seed, target) in (1_u64..).zip(TARGETS.into_iter().cycle()) {
        if kernels + refused >= wanted {
            break;
        }
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let text = object(&mut numbers, target);
        // Every other round over the targets is compiled for the debugger.
        let debug = (seed - 1) / TARGETS.len() as u64 % 2 == 1;
        compile(&tools, folder, "a", target, &text, debug);
        let arguments = [
            format!("-arch={target}"),
            "a.cubin".to_owned(),
            format!("callee{}-{target}.cubin", if debug { "-debug" } else { "" }),
        ];
        let nvlink = Linker::nvlink(tools.join("nvlink"))
            .link(folder, &arguments)
            .unwrap();
        let output = nvlink
            .output
            .unwrap_or_else(|| panic!("{target}: {}", nvlink.stderr));
        let mut named_each = arguments.to_vec();
        named_each.push("--cuweld-explain=all".to_owned());
        // What it makes anew is told once for all.
        named_each.push("--cuweld-skip=mercury-schedule".to_owned());
        let ours = Linker::ours_explaining().link(folder, &named_each).unwrap();
        // What cannot be linked as yet says nothing of kernels.
        if ours.output.is_none() {
            assert!(
                ours.stderr.contains("cuweld: unsupported"),
                "{}",
                ours.stderr
            );
            refused += IN_OBJECT;
            continue;
        }
        let hits = named(&ours.lines);
        let image = std::fs::read(folder.join("a.cubin")).unwrap();
        let (input, output) = (
            check::read(&image, &mut Default::default()).unwrap(),
            check::read(&output, &mut Default::default()).unwrap(),
        );
        for index in 0..IN_OBJECT {
            let name = format!("k{index}");
            let skip = relocated(&input, &name);
            let is_changed = code(&input, &name, &skip) != code(&output, &name, &skip);
            kernels += 1;
            changed += usize::from(is_changed);
            if is_changed != hits.contains(&name) {
                wrong.push(format!(
                    "seed {seed} {target} {name}: nvlink changed it: {is_changed}"
                ));
                let kept = std::env::temp_dir().join(format!("cuweld-detector-{seed}.ptx"));
                let _ = std::fs::write(kept, &text);
            }
        }
    }
    println!(
        "{kernels} kernels, {changed} changed by nvlink, {} wrong; {refused} in links that are refused",
        wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{} wrong of {kernels}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
