//! Rules that the verifier has too, so that `tests/passes` can show no module which breaks them.

use cuweld_diagnostics::Diagnostics;
use cuweld_ir::Arena;
use cuweld_ir::text;

use super::*;
use crate::analyses::Analyses;
use crate::pass::Statistics;
use crate::threads::Threads;

const SOUND: &str = include_str!("../../../../tests/passes/check-link/sound.lir");

/// Runs the check on the sound module with some words of its text replaced, and returns the
/// outcome.
fn said(changes: &[(&str, &str)]) -> Result<Changed, PassError> {
    said_by(Threads::default(), changes)
}

fn said_by(threads: Threads, changes: &[(&str, &str)]) -> Result<Changed, PassError> {
    let mut input = SOUND.to_owned();
    for (from, to) in changes {
        assert_eq!(input.matches(from).count(), 1, "{from}");
        input = input.replace(from, to);
    }
    let arena = Arena::new();
    let mut module = text::parse(&input, &arena, &|_| None).unwrap();
    let mut cx = PassCx {
        arena: &arena,
        analyses: &mut Analyses::default(),
        diagnostics: &mut Diagnostics::default(),
        statistics: &mut Statistics::default(),
        remarks: &mut crate::Remarks::default(),
        threads: &threads,
    };
    CheckLink.run(&mut module, &mut cx)
}

fn broken(what: &str) -> Result<Changed, PassError> {
    Err(PassError::Internal(format!(
        "the link breaks the rule {what}"
    )))
}

#[test]
fn a_sound_link_passes() {
    assert_eq!(said(&[]), Ok(Changed::No));
}

#[test]
fn a_record_refers_to_what_is_left_out() {
    let dead = ("$3 %4:h live=live", "$3 %4:h live=unreachable");
    let what =
        "'record-target': a record with the code 0x0f refers to 'h', which is not in the output";
    assert_eq!(said(&[dead]), broken(what));
}

#[test]
fn a_relocation_that_is_kept_refers_to_what_is_left_out() {
    let target = ("0x0 R_CUDA_64 %2:g keep", "0x0 R_CUDA_64 %4:h keep");
    let dead = ("$3 %4:h live=live", "$3 %4:h live=unreachable");
    let externs = ("a12 a7 a6", "a12 a6");
    let what = "'relocation-target': r2 at 0x0 of '.nv.global.init' in 'a.cubin' against 'h': \
                it refers to what is not in the output";
    assert_eq!(said(&[target, dead, externs]), broken(what));
}

#[test]
fn nothing_was_decided_on_a_relocation() {
    let plan = (
        "R_CUDA_64 %2:g keep=(R_CUDA_64 addend=0x0 rela)",
        "R_CUDA_64 %2:g",
    );
    let what = "'relocation-fate': r2 at 0x0 of '.nv.global.init' in 'a.cubin' against 'g': \
                nothing was decided on it";
    assert_eq!(said(&[plan]), broken(what));
}

#[test]
fn every_part_of_a_divided_table_is_checked() {
    const ROWS: usize = 20_000;
    let row = |index| format!("r{index} 0x0 R_CUDA_64 %2:g");
    for broken_at in [2, 8_000, ROWS - 1] {
        let keep = |index| match index == broken_at {
            true => "",
            false => " keep=(R_CUDA_64 addend=0x0 rela)",
        };
        let rows = (2..ROWS).map(|index| row(index) + keep(index));
        let rows: Vec<String> = rows.collect();
        let changes = [
            ("r0..3", format!("r0..{ROWS}")),
            ("r2..3", format!("r2..{ROWS}")),
            (
                "r2 0x0 R_CUDA_64 %2:g keep=(R_CUDA_64 addend=0x0 rela)",
                rows.join("\n    "),
            ),
        ];
        let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
        let what = format!(
            "'relocation-fate': r{broken_at} at 0x0 of '.nv.global.init' in 'a.cubin' against 'g': \
             nothing was decided on it"
        );
        assert_eq!(said_by(Threads::new(|| (2, ())), &changes), broken(&what));
    }
}
