//! PTX of random kernels: statements of the PTX ISA over a few variables, with branches, loops and memory.

use std::fmt::Write as _;

use crate::mutate::mutation::Numbers;

/// The kernels of a program.
pub const KERNELS: usize = 12;

/// What the kernels of a program have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// One block.
    Straight,
    /// Branches and loops.
    Branches,
    /// Branches, loops, and memory barriers.
    Fences,
}

impl Shape {
    /// The word of a report.
    pub fn word(self) -> &'static str {
        match self {
            Shape::Straight => "straight",
            Shape::Branches => "branches",
            Shape::Fences => "fences",
        }
    }

    /// The shape of a seed: half of all have branches.
    pub fn of_seed(seed: u32) -> Self {
        match seed / 5 % 4 {
            0 => Shape::Straight,
            1 | 2 => Shape::Branches,
            _ => Shape::Fences,
        }
    }
}

/// Variables that a kernel has of each type.
const VARIABLES: usize = 6;

/// Returns the PTX of a program of [`KERNELS`] kernels, `k0` and on.
pub fn program(seed: u32, arch: &str) -> String {
    let mut text = format!(".version 9.0\n.target {arch}\n.address_size 64\n");
    for number in 0..KERNELS {
        let kernel = Kernel {
            numbers: Numbers::new(seed * KERNELS as u32 + number as u32),
            shape: Shape::of_seed(seed),
            labels: 0,
            temporaries: 0,
        };
        text += &kernel.entry(number);
    }
    text
}

/// A kernel that is written.
struct Kernel {
    numbers: Numbers,
    shape: Shape,
    labels: usize,
    temporaries: usize,
}

impl Kernel {
    fn entry(mut self, number: usize) -> String {
        let depth = match self.shape {
            Shape::Straight => 0,
            Shape::Branches | Shape::Fences => 1 + self.numbers.below(3),
        };
        let count = 3 + self.numbers.below(12);
        let body = self.statements(depth, count);
        let mut text = format!(
            ".visible .entry k{number}(.param .u64 from, .param .u64 to, .param .u32 count)\n{{\n\
             .shared .align 16 .b8 tile[4096];\n.reg .b64 in, out;\n.reg .pred p<{0}>;\n.reg .b32 r<{0}>;\n\
             .reg .b64 d<{0}>;\n.reg .b32 v<{VARIABLES}>;\n.reg .f32 f<{VARIABLES}>;\n.reg .f64 e<{VARIABLES}>;\n\
             ld.param.u64 in, [from];\nld.param.u64 out, [to];\n",
            self.temporaries + 1,
        );
        for at in 0..VARIABLES {
            let source = ["%tid.x", "%ctaid.x", "%laneid", "%ntid.x", "7", "100"];
            let source = self.of(&source);
            let _ = writeln!(text, "mov.u32 v{at}, {source};");
            let _ = writeln!(text, "cvt.rn.f32.u32 f{at}, v{at};");
            let _ = writeln!(text, "cvt.rn.f64.u32 e{at}, v{at};");
        }
        text += &body;
        // What is never looked at would not be computed.
        for at in 0..1 + self.numbers.below(VARIABLES) {
            let _ = writeln!(text, "st.global.u32 [out+{}], v{at};", 4 * at);
            if self.chance(50) {
                let _ = writeln!(text, "st.global.f32 [out+{}], f{at};", 64 + 4 * at);
            }
        }
        if self.chance(10) {
            text += "st.global.f64 [out+128], e0;\n";
        }
        text + "ret;\n}\n"
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.numbers.below(100) < percent
    }

    fn of<'t>(&mut self, words: &[&'t str]) -> &'t str {
        words[self.numbers.below(words.len())]
    }

    /// Returns a variable of a type, by its letter.
    fn variable(&mut self, letter: char) -> String {
        format!("{letter}{}", self.numbers.below(VARIABLES))
    }

    /// Returns the number of registers that a statement has for itself: `rN`, `dN` and `pN`.
    fn temporary(&mut self) -> usize {
        self.temporaries += 1;
        self.temporaries - 1
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn statements(&mut self, depth: usize, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            text += &match self.numbers.below(100) {
                0..25 if depth > 0 => self.structure(depth),
                _ => self.statement(),
            };
        }
        text
    }

    /// Writes a branch or a loop.
    fn structure(&mut self, depth: usize) -> String {
        let inside = 1 + self.numbers.below(5);
        match self.numbers.below(10) {
            0..3 => {
                let (decision, taken) = self.decision();
                let (end, body) = (self.label(), self.statements(depth - 1, inside));
                format!("{decision}@!{taken} bra {end};\n{body}{end}:\n")
            }
            3..6 => {
                let (decision, taken) = self.decision();
                let (other, end) = (self.label(), self.label());
                let one = self.statements(depth - 1, inside);
                let inside = 1 + self.numbers.below(5);
                let two = self.statements(depth - 1, inside);
                format!(
                    "{decision}@!{taken} bra {other};\n{one}bra {end};\n{other}:\n{two}{end}:\n"
                )
            }
            6..9 => self.counted_loop(depth, inside),
            _ => {
                let (decision, taken) = self.decision();
                format!("{decision}@{taken} exit;\n")
            }
        }
    }

    fn counted_loop(&mut self, depth: usize, inside: usize) -> String {
        let number = self.temporary();
        let body = self.statements(depth - 1, inside);
        let (head, end) = (self.label(), self.label());
        let bound = match self.numbers.below(3) {
            0 => format!("ld.param.u32 r{number}, [count];\n"),
            1 => format!("and.b32 r{number}, {}, 15;\n", self.variable('v')),
            _ => format!("mov.u32 r{number}, {};\n", 2 + self.numbers.below(30)),
        };
        let leaves = match self.chance(25) {
            true => {
                let (decision, taken) = self.decision();
                format!("{decision}@{taken} bra {end};\n")
            }
            false => String::new(),
        };
        let unrolled = self.of(&["", ".pragma \"nounroll\";\n"]);
        format!(
            "{bound}setp.eq.u32 p{number}, r{number}, 0;\n@p{number} bra {end};\n{head}:\n{unrolled}{body}{leaves}\
             sub.u32 r{number}, r{number}, 1;\nsetp.ne.u32 p{number}, r{number}, 0;\n@p{number} bra {head};\n{end}:\n"
        )
    }

    /// Writes what decides a branch; returns the predicate's name, too.
    fn decision(&mut self) -> (String, String) {
        let number = self.temporary();
        let relation = self.of(&["eq", "ne", "lt", "gt"]);
        let text = match self.numbers.below(4) {
            0 => format!(
                "setp.{relation}.f32 p{number}, {}, {};\n",
                self.variable('f'),
                self.variable('f')
            ),
            1 => format!(
                "setp.{relation}.u32 p{number}, {}, {};\n",
                self.variable('v'),
                self.variable('v')
            ),
            2 => format!(
                "ld.param.u32 r{number}, [count];\nsetp.{relation}.u32 p{number}, r{number}, {};\n",
                self.numbers.below(100)
            ),
            _ => format!(
                "and.b32 r{number}, {}, {};\nsetp.{relation}.u32 p{number}, r{number}, 0;\n",
                self.variable('v'),
                1 << self.numbers.below(6)
            ),
        };
        (text, format!("p{number}"))
    }

    /// Writes a statement, under a guard now and then.
    fn statement(&mut self) -> String {
        if self.shape == Shape::Fences && self.chance(10) {
            return self.fence();
        }
        let number = self.temporary();
        let (before, text) = match self.numbers.below(100) {
            0..22 => (String::new(), self.integers()),
            22..34 => (String::new(), self.singles()),
            34..37 => (String::new(), self.doubles()),
            37..42 => (String::new(), self.conversion()),
            42..60 => (self.address(number), self.load(number)),
            60..70 => (self.address(number), self.store(number)),
            70..80 => (self.shared_address(number), self.shared(number)),
            80..88 => (self.address(number), self.atomic(number)),
            88..95 => (String::new(), self.threads()),
            97 => (String::new(), "bar.sync 0;\n".to_owned()),
            98 => (
                String::new(),
                format!("mov.u32 {}, %clock;\n", self.variable('v')),
            ),
            _ => {
                let (decision, taken) = self.decision();
                let [to, one, other] = [(); 3].map(|()| self.variable('v'));
                (
                    decision,
                    format!("selp.b32 {to}, {one}, {other}, {taken};\n"),
                )
            }
        };
        if self.chance(12) && !text.contains(".sync") {
            let (decision, taken) = self.decision();
            return format!("{decision}{before}@{taken} {text}");
        }
        before + &text
    }

    fn integers(&mut self) -> String {
        let [to, one, two, three] = [(); 4].map(|()| self.variable('v'));
        let small = 1 + self.numbers.below(99);
        match self.numbers.below(9) {
            0..4 => {
                let operation = self.of(&[
                    "add.u32",
                    "sub.u32",
                    "mul.lo.u32",
                    "and.b32",
                    "or.b32",
                    "xor.b32",
                    "min.s32",
                    "max.u32",
                    "shl.b32",
                    "shr.u32",
                    "mul.hi.u32",
                    "min.u32",
                ]);
                let second = if self.chance(40) {
                    small.to_string()
                } else {
                    two
                };
                format!("{operation} {to}, {one}, {second};\n")
            }
            4 | 5 => format!("mad.lo.u32 {to}, {one}, {two}, {three};\n"),
            6 => {
                let operation = self.of(&[
                    "popc.b32",
                    "clz.b32",
                    "brev.b32",
                    "bfind.u32",
                    "abs.s32",
                    "not.b32",
                ]);
                format!("{operation} {to}, {one};\n")
            }
            7 => {
                let operation = self.of(&[
                    "bfe.u32",
                    "prmt.b32",
                    "shf.l.wrap.b32",
                    "dp4a.u32.u32",
                    "sad.u32",
                    "vadd.u32.u32.u32.max",
                ]);
                format!("{operation} {to}, {one}, {two}, {three};\n")
            }
            _ => format!("rem.u32 {to}, {one}, {small};\n"),
        }
    }

    fn singles(&mut self) -> String {
        let [to, one, two, three] = [(); 4].map(|()| self.variable('f'));
        match self.numbers.below(8) {
            0..3 => {
                let operation = self.of(&["add.f32", "mul.f32", "sub.f32", "min.f32", "max.f32"]);
                format!("{operation} {to}, {one}, {two};\n")
            }
            3..5 => format!("fma.rn.f32 {to}, {one}, {two}, {three};\n"),
            _ => {
                let operation = self.of(&[
                    "rcp.approx.ftz.f32",
                    "sqrt.approx.f32",
                    "rsqrt.approx.f32",
                    "ex2.approx.ftz.f32",
                    "lg2.approx.f32",
                    "sin.approx.f32",
                    "cos.approx.ftz.f32",
                    "tanh.approx.f32",
                ]);
                format!("{operation} {to}, {one};\n")
            }
        }
    }

    fn doubles(&mut self) -> String {
        let [to, one, two, three] = [(); 4].map(|()| self.variable('e'));
        match self.numbers.below(3) {
            0 => format!("add.f64 {to}, {one}, {two};\n"),
            1 => format!("mul.f64 {to}, {one}, {two};\n"),
            _ => format!("fma.rn.f64 {to}, {one}, {two}, {three};\n"),
        }
    }

    fn conversion(&mut self) -> String {
        let (kind, to, from) = match self.numbers.below(6) {
            0 => ("rn.f32.u32", 'f', 'v'),
            1 => ("rn.f32.s32", 'f', 'v'),
            2 => ("rzi.u32.f32", 'v', 'f'),
            3 => ("rn.f64.s32", 'e', 'v'),
            4 => ("f64.f32", 'e', 'f'),
            _ => ("rzi.s32.f64", 'v', 'e'),
        };
        format!(
            "cvt.{kind} {}, {};\n",
            self.variable(to),
            self.variable(from)
        )
    }

    /// Writes `dN`, an address of global memory.
    fn address(&mut self, number: usize) -> String {
        let array = self.of(&["in", "out"]);
        match self.chance(15) {
            true => format!("mov.u64 d{number}, {array};\n"),
            false => format!(
                "and.b32 r{number}, {}, 1008;\nmad.wide.u32 d{number}, r{number}, {}, {array};\n",
                self.variable('v'),
                self.of(&["4", "16"])
            ),
        }
    }

    fn load(&mut self, number: usize) -> String {
        let [to, other] = [(); 2].map(|()| self.variable('v'));
        let offset = 16 * self.numbers.below(20);
        match self.numbers.below(10) {
            0 => format!("ld.global.nc.u32 {to}, [d{number}+{offset}];\n"),
            1 => format!(
                "ld.global.f32 {}, [d{number}+{offset}];\n",
                self.variable('f')
            ),
            2 if to != other => {
                format!("ld.global.v2.u32 {{{to}, {other}}}, [d{number}+{offset}];\n")
            }
            3 => format!("ld.volatile.global.u32 {to}, [d{number}+{offset}];\n"),
            4 => format!("ld.global.u8 {to}, [d{number}+{offset}];\n"),
            5 => format!("ld.u32 {to}, [d{number}+{offset}];\n"),
            6 => format!(
                "ld.global.f64 {}, [d{number}+{offset}];\n",
                self.variable('e')
            ),
            _ => format!("ld.global.u32 {to}, [d{number}+{offset}];\n"),
        }
    }

    fn store(&mut self, number: usize) -> String {
        let [one, other] = [(); 2].map(|()| self.variable('v'));
        let offset = 16 * self.numbers.below(20);
        match self.numbers.below(6) {
            0 => format!("st.global.v2.u32 [d{number}+{offset}], {{{one}, {other}}};\n"),
            1 => format!(
                "st.global.f32 [d{number}+{offset}], {};\n",
                self.variable('f')
            ),
            2 => format!("st.global.u16 [d{number}+{offset}], {one};\n"),
            _ => format!("st.global.u32 [d{number}+{offset}], {one};\n"),
        }
    }

    /// Writes `rN`, an address of shared memory.
    fn shared_address(&mut self, number: usize) -> String {
        format!(
            "and.b32 r{number}, {}, 1008;\n{{ .reg .b32 base; mov.u32 base, tile; add.u32 r{number}, r{number}, base; }}\n",
            self.variable('v')
        )
    }

    fn shared(&mut self, number: usize) -> String {
        let to = self.variable('v');
        match self.numbers.below(8) {
            0..3 => format!("ld.shared.u32 {to}, [r{number}];\n"),
            3..6 => format!("st.shared.u32 [r{number}+16], {to};\n"),
            6 => format!(
                "atom.shared.add.u32 {to}, [r{number}], {};\n",
                self.variable('v')
            ),
            _ => format!("ld.shared.f32 {}, [r{number}+32];\n", self.variable('f')),
        }
    }

    fn atomic(&mut self, number: usize) -> String {
        let [to, one, other] = [(); 3].map(|()| self.variable('v'));
        let operation = self.of(&["add.u32", "max.u32", "xor.b32", "min.s32", "exch.b32"]);
        match self.numbers.below(8) {
            0..4 => format!("atom.global.{operation} {to}, [d{number}], {one};\n"),
            4 => format!("atom.global.cas.b32 {to}, [d{number}], {one}, {other};\n"),
            5 => format!("red.global.add.f32 [d{number}], {};\n", self.variable('f')),
            _ => format!("red.global.add.u32 [d{number}], {one};\n"),
        }
    }

    /// Writes what threads of a warp do together.
    fn threads(&mut self) -> String {
        let [to, one] = [(); 2].map(|()| self.variable('v'));
        match self.numbers.below(7) {
            0..3 => {
                let mode = self.of(&["bfly", "down", "up", "idx"]);
                format!(
                    "shfl.sync.{mode}.b32 {to}, {one}, {}, 31, -1;\n",
                    1 << self.numbers.below(5)
                )
            }
            3 => {
                let (decision, taken) = self.decision();
                format!("{decision}vote.sync.ballot.b32 {to}, {taken}, -1;\n")
            }
            4 => format!("redux.sync.add.u32 {to}, {one}, -1;\n"),
            5 => format!("activemask.b32 {to};\n"),
            _ => "bar.warp.sync -1;\n".to_owned(),
        }
    }

    fn fence(&mut self) -> String {
        let kind = self.of(&[
            "membar.cta",
            "membar.gl",
            "membar.sys",
            "fence.acq_rel.gpu",
            "fence.sc.cta",
            "fence.sc.sys",
        ]);
        format!("{kind};\n")
    }
}
