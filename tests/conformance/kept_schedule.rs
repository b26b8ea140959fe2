//! Kernels that keep the code of their object where nvlink schedules anew (deviation D12): what has to be equal all the same.

use super::harness::link::Outcome;

/// What the message about such a kernel says.
const KEEPS: &str = "keeps its code, which NVIDIA's finalizer";

/// What the error about it says, with `--cuweld-strict-finalize`.
const NEEDS: &str = "needs NVIDIA's finalizer: ";

/// Control bits that differ then, of an instruction: barriers that are set and waited for.
const CONTROL: u128 = 0xfff << 110;

/// The name of a kernel in the message.
fn kernel(line: &str) -> Option<&str> {
    line.split_once("kernel '")?
        .1
        .split_once('\'')
        .map(|(name, _)| name)
}

/// What such kernels leave to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Everything but the control bits of their code.
    ControlBits,
    /// Nothing of the output: without a memory barrier code is shorter, and much moves.
    MemoryBarrier,
}

/// Takes what differs on purpose out of both results, `strictly` being that of the link with `--cuweld-strict-finalize`;
/// says what there was.
pub fn mask(theirs: &mut Outcome, ours: &mut Outcome, strictly: &Outcome) -> Option<Kept> {
    let kept: Vec<&String> = strictly
        .lines
        .iter()
        .filter(|line| line.contains(NEEDS))
        .collect();
    ours.lines.retain(|line| !line.contains(KEEPS));
    let lines = ours.stderr.lines().filter(|line| !line.contains(KEEPS));
    ours.stderr = lines.map(|line| format!("{line}\n")).collect();
    let what = match kept.iter().any(|line| line.contains("memory barrier")) {
        true => Kept::MemoryBarrier,
        false => Kept::ControlBits,
    };
    if what == Kept::MemoryBarrier {
        (theirs.output, ours.output) = (None, None);
    }
    let names: Vec<&str> = kept.iter().filter_map(|line| kernel(line)).collect();
    for output in [&mut theirs.output, &mut ours.output].into_iter().flatten() {
        for name in &names {
            mask_code(output, &format!(".text.{name}"));
        }
    }
    (!kept.is_empty()).then_some(what)
}

fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |value, byte| value << 8 | usize::from(*byte)),
    )
}

/// Clears the control bits of a section's instructions.
fn mask_code(file: &mut [u8], name: &str) -> Option<()> {
    let (table, count) = (number(file, 40, 8)?, number(file, 60, 2)?);
    let names = number(file, table + 64 * number(file, 62, 2)? + 24, 8)?;
    for index in 0..count {
        let header = table + 64 * index;
        let at = names + number(file, header, 4)?;
        let is_named =
            file.get(at..)?.starts_with(name.as_bytes()) && file.get(at + name.len()) == Some(&0);
        if !is_named {
            continue;
        }
        let (start, size) = (number(file, header + 24, 8)?, number(file, header + 32, 8)?);
        for word in file.get_mut(start..start + size)?.chunks_exact_mut(16) {
            let value = u128::from_le_bytes((&*word).try_into().ok()?) & !CONTROL;
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
    Some(())
}
