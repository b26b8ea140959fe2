//! Reads what `nvdisasm -plr -hex` prints: instructions, their bits, and a column for each register that the function has.
//!
//! ```text
//!                                           // |                GPR                |   PRED   |
//!                                           // |  # 0 1 2 3 4 5 6 7                | # 0 1 2  |
//! /*0060*/ IMAD.WIDE R6, R3, 0x4, R6 ; /* 0x0000000403067825 */     // |          |          |
//!                                      /* 0x001fcc00078e0206 */     // | 14  v x  |          |
//! ```

use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::{File, Registers};

/// An instruction and what nvdisasm says of its registers.
pub struct Disassembled {
    /// The SM number of its GPU.
    pub sm: u16,
    /// Its bits.
    pub word: Instruction,
    /// It, as it is printed.
    pub text: String,
    /// The registers of the function of which anything is said: not those that it reads and never
    /// writes, such as a uniform register that its caller has set.
    pub shown: Registers,
    /// Those that it writes, if something reads them later.
    pub defined: Registers,
    /// Those that it reads.
    pub used: Registers,
}

impl Disassembled {
    /// Returns the name of the operation, without modifiers.
    pub fn name(&self) -> &str {
        let mut words = self.text.split_whitespace();
        let operation = words.find(|word| !word.starts_with('@')).unwrap_or("");
        operation.split('.').next().unwrap_or("")
    }
}

/// What begins the columns of a line.
const COLUMNS: &str = "// |";

/// A register and the place of its column in a line.
struct Column {
    file: File,
    number: usize,
    at: std::ops::Range<usize>,
}

/// Reads all instructions.
pub fn disassembled(text: &str) -> Result<Vec<Disassembled>, String> {
    let mut all = Vec::new();
    let (mut sm, mut files, mut columns) = (0, Vec::new(), Vec::new());
    // The number of the function's first instruction.
    let mut first = 0;
    // The text and the lower half of an instruction whose upper half is on the next line.
    let mut begun: Option<(String, u64)> = None;
    for line in text.lines() {
        if let Some(target) = line.trim().strip_prefix(".target") {
            sm = sm_of(target).ok_or_else(|| format!("no GPU: {line}"))?;
        }
        let Some(start) = line.rfind(COLUMNS) else {
            continue;
        };
        let marks = &line[start..];
        if marks.contains("GPR") {
            files = marks
                .split('|')
                .filter_map(|name| file(name.trim()))
                .collect();
            continue;
        }
        if marks.contains('#') {
            columns = columns_of(line, start, &files);
            show(&mut all[first..]);
            first = all.len();
            continue;
        }
        let Some(half) = last_comment(&line[..start]) else {
            continue;
        };
        match begun.take() {
            None => begun = instruction_text(&line[..start]).map(|text| (text, half)),
            Some((text, low)) => {
                let marked = |marks: &[u8]| {
                    let mut registers = Registers::NONE;
                    let is_marked = |column: &&Column| {
                        let bytes = line.as_bytes().get(column.at.clone()).unwrap_or(&[]);
                        bytes.iter().any(|byte| marks.contains(byte))
                    };
                    let marked = columns.iter().filter(is_marked);
                    marked.for_each(|column| registers.add(column.file, column.number, 1));
                    registers
                };
                all.push(Disassembled {
                    sm,
                    word: Instruction(u128::from(half) << 64 | u128::from(low)),
                    text,
                    shown: marked(b":^vx"),
                    defined: marked(b"^x"),
                    used: marked(b"vx"),
                });
            }
        }
    }
    show(&mut all[first..]);
    Ok(all)
}

/// Gives each instruction of a function the registers that are shown for one of them.
fn show(function: &mut [Disassembled]) {
    let mut shown = Registers::NONE;
    for instruction in &*function {
        shown = shown.with(&instruction.shown);
    }
    function
        .iter_mut()
        .for_each(|instruction| instruction.shown = shown);
}

/// Reads `sm_90a`.
fn sm_of(target: &str) -> Option<u16> {
    let digits = target.trim().strip_prefix("sm_")?;
    digits
        .trim_end_matches(|last: char| last.is_alphabetic())
        .parse()
        .ok()
}

fn file(name: &str) -> Option<File> {
    Some(match name {
        "GPR" => File::General,
        "PRED" => File::Predicate,
        "UGPR" => File::Uniform,
        "UPRED" => File::UniformPredicate,
        _ => return None,
    })
}

/// Reads the line with the numbers of the registers, in a part for each file.
fn columns_of(line: &str, start: usize, files: &[File]) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut at = start + COLUMNS.len();
    for (file, part) in files.iter().zip(line[at..].split('|')) {
        let mut from = 0;
        for word in part.split_whitespace() {
            let place = from + part[from..].find(word).unwrap_or(0);
            from = place + word.len();
            if let Ok(number) = word.parse() {
                columns.push(Column {
                    file: *file,
                    number,
                    // A mark stands below any digit of the number.
                    at: at + place..at + from,
                });
            }
        }
        at += part.len() + 1;
    }
    columns
}

/// Returns the number in the last comment, `/* 0x0000000403067825 */`.
fn last_comment(line: &str) -> Option<u64> {
    let number = line
        .trim_end()
        .strip_suffix(" */")?
        .rsplit("/* 0x")
        .next()?;
    u64::from_str_radix(number, 16).ok()
}

/// Returns what stands between the address and the bits.
fn instruction_text(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("*/")?;
    let (text, _) = rest.rsplit_once("/*")?;
    let text = text.trim().trim_end_matches(';').trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}
