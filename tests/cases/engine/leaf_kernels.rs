//! Kernels that call nothing and have no memory barriers: nvlink schedules them anew, and changes control bits only.

use std::fmt::Write as _;

use super::link::Source;
use crate::mutate::mutation::Numbers;

/// Two modules of such kernels, by number.
pub fn modules(number: u32, target: &str) -> Vec<Source> {
    let mut numbers = Numbers::new(number);
    (0..2)
        .map(|module| {
            let mut text = format!(
                ".version 9.0\n.target {target}\n.address_size 64\n.global .align 4 .b32 v{module}[8] = {{1, 2, 3}};\n\
                 .const .align 4 .b32 c{module}[8] = {{4, 5, 6}};\n.shared .align 4 .b8 s{module}[256];\n"
            );
            for kernel in 0..1 + numbers.below(3) {
                text += &entry(&mut numbers, &format!("k{module}_{kernel}"), module);
            }
            Source {
                file: format!("m{module}.ptx"),
                text: text.into(),
                header: None,
                options: Vec::new(),
            }
        })
        .collect()
}

fn entry(numbers: &mut Numbers, name: &str, module: usize) -> String {
    let mut body = String::new();
    for label in 0..1 + numbers.below(6) {
        let at = 4 * numbers.below(8);
        let _ = match numbers.below(8) {
            0 => writeln!(body, "ld.global.u32 %a, [%p+{at}]; add.u32 %b, %b, %a;"),
            1 => writeln!(body, "st.global.u32 [%p+{at}], %b;"),
            2 => writeln!(body, "mov.u32 %a, %tid.x; mad.lo.u32 %b, %a, {at}, %b;"),
            3 => writeln!(
                body,
                "ld.global.u32 %a, [v{module}+{at}]; xor.b32 %b, %b, %a;"
            ),
            4 => writeln!(
                body,
                "ld.const.u32 %a, [c{module}+{at}]; add.u32 %b, %b, %a;"
            ),
            5 => writeln!(
                body,
                "st.shared.u32 [s{module}+{at}], %b; ld.shared.u32 %a, [s{module}+{at}]; add.u32 %b, %b, %a;"
            ),
            6 => writeln!(
                body,
                "setp.lt.u32 %q, %b, {at}; @%q bra E{label}; st.global.u32 [%p+{at}], %n; E{label}:"
            ),
            _ => writeln!(
                body,
                "cvt.rn.f32.u32 %f, %b; sqrt.approx.f32 %f, %f; cvt.rzi.u32.f32 %b, %f;"
            ),
        };
    }
    format!(
        ".visible .entry {name}(.param .u64 p, .param .u32 n) {{\n.reg .b32 %a, %b, %n; .reg .b64 %p; .reg .f32 %f; .reg .pred %q;\n\
         ld.param.u64 %p, [p]; ld.param.u32 %n, [n]; cvta.to.global.u64 %p, %p; mov.u32 %b, %n;\n\
         mov.u32 %a, %tid.x; setp.ge.u32 %q, %a, %n; @%q ret;\n{body}st.global.u32 [%p], %b;\nret;\n}}\n"
    )
}
