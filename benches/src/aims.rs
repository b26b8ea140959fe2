//! What is aimed at for a link, and whether it holds.

use crate::run::Measured;
use crate::run::Taken;
use crate::run::median;
use crate::shapes::Case;
use crate::shapes::Shape;

/// The floor is an aim for inputs of at least this many bytes: below, a link is the start of a
/// process.
const SMALLEST_FOR_FLOOR: u64 = 1_000_000;

/// Returns the aims of a case, each with whether it holds; `smaller` is the next smaller link of
/// the shape.
pub fn aims(case: &Case, measured: &Measured, smaller: Option<(&Case, &Measured)>) -> String {
    let mut said = Vec::new();
    if !measured.before.is_empty() {
        said.push(verdict_on_before(measured));
    }
    let ratio = nvlink_ratio(measured);
    if let Some(aim) = case.aim {
        let ended = measured.nvlink.iter().any(|run| run.code == -1);
        said.push(match ratio {
            _ if ratio >= aim => format!("nvlink {aim} holds"),
            _ if ratio.is_nan() || ended => format!("nvlink {aim} open"),
            _ => format!("nvlink {aim} missed by {:.2}", aim / ratio),
        });
    }
    let mut at_most = |what: &str, value: f64, limit: f64| {
        let verdict = if value <= limit {
            "holds".to_owned()
        } else {
            format!("missed by {:.2}", value / limit)
        };
        said.push(format!("{what} {verdict}"));
    };
    let peak = |runs: &[crate::run::Taken]| median(runs.iter().map(|run| run.peak as f64));
    if matches!(case.shape, Shape::Tiny) && !measured.nvlink.is_empty() {
        at_most("peak", peak(&measured.cuweld), peak(&measured.nvlink));
    }
    let floor = measured.floor_ratio(&measured.cuweld);
    if measured.is_heavy() {
        at_most(
            "floor 3 with -j1",
            measured.floor_ratio(&measured.single),
            3.0,
        );
        at_most("floor 2", floor, 2.0);
    } else if measured.is_dense() && measured.decoded >= SMALLEST_FOR_FLOOR {
        at_most("floor 6", floor, 6.0);
    }
    if let Some((before, earlier)) = smaller {
        if case.size >= 10 * before.size {
            let grown = floor / earlier.floor_ratio(&earlier.cuweld);
            at_most("floor growth 1.5", grown, 1.5);
        }
        if case.is_explosive() {
            at_most("growth 1.2", growth(case, measured, before, earlier), 1.2);
        }
    }
    let (anonymous, limit) = (measured.anonymous as f64, measured.memory_limit() as f64);
    at_most("memory", anonymous, limit);
    said.join("; ")
}

/// Returns the factor by which the link is faster than nvlink's.
pub fn nvlink_ratio(measured: &Measured) -> f64 {
    times_faster(&measured.cuweld, &measured.nvlink)
}

/// Returns the factor by which `ours` are faster than `others`: run by run where there are as many,
/// so that what slows the machine slows both.
pub fn times_faster(ours: &[Taken], others: &[Taken]) -> f64 {
    let pairs = others.iter().rev().zip(ours.iter().rev());
    median(pairs.map(|(other, own)| other.wall / own.wall))
}

/// A change may make a link a tenth slower.
const LEAST_OF_BEFORE: f64 = 0.9;

fn verdict_on_before(measured: &Measured) -> String {
    let ratio = times_faster(&measured.cuweld, &measured.before);
    match ratio >= LEAST_OF_BEFORE {
        true => format!("before {LEAST_OF_BEFORE} holds"),
        false => format!("before {LEAST_OF_BEFORE} missed"),
    }
}

/// Returns the exponent of a link's time over its size.
pub fn growth(case: &Case, measured: &Measured, before: &Case, earlier: &Measured) -> f64 {
    let step = (case.size as f64 / before.size as f64).ln();
    let [first, second] =
        [earlier, measured].map(|measured| median(measured.cuweld.iter().map(|run| run.wall)));
    (second / first).ln() / step
}
